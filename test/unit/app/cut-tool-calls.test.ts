import assert from 'node:assert/strict'
import fc from 'fast-check'
import type { ToolCallContent } from '../../../src/acp/model.ts'
import { PatchPump } from '../../../src/app/conversation/patch-pump.ts'
import { cutToolCall } from '../../../src/app/conversation/tool-call-delta.ts'
import { isCut } from '../../../src/bridge/conversation.ts'
import { Session } from '../../../src/conversation/session.ts'
import type { Entry, ToolCallEntry } from '../../../src/conversation/state.ts'
import { ConversationStore } from '../../../src/webview/conversation/store.ts'
import { until } from '../../support/until.ts'
import { FakeAgent } from '../conversation/fake-agent.ts'
import { head } from '../webview/conversation/entries.ts'

const text = (text: string): ToolCallContent => ({ type: 'content', content: { type: 'text', text } })
const OUTPUT = 'a line of a file that was read\n'.repeat(10_000)
const long: readonly ToolCallContent[] = [
  text(OUTPUT),
  { type: 'content', content: { type: 'image', mimeType: 'image/png', data: 'A'.repeat(100_000) } },
  {
    type: 'diff',
    changes: [{ operation: 'modify', path: '/w/a.ts', oldText: OUTPUT, newText: `${OUTPUT}x` }],
  },
  { type: 'unknown', kind: 'new', raw: { text: OUTPUT } },
]

describe('a tool call that is shown as one line', () => {
  let session: Session
  let pump: PatchPump
  let store: ConversationStore
  let bytes: number
  let messages: number

  beforeEach(() => {
    ;[bytes, messages] = [0, 0]
    const setup = { cwd: '/', additionalDirectories: [], mcpServers: [] }
    session = new Session({ agent: new FakeAgent(), sessionId: 's', setup, phase: 'ready' })
    const cross = <T>(message: T): T => {
      const json = JSON.stringify(message)
      bytes += json.length
      messages++
      return JSON.parse(json)
    }
    pump = new PatchPump({
      session: () => session,
      end: () => undefined,
      head: () => head({ key: 'k' }),
      running: () => undefined,
      draft: () => ({ text: '', chips: [], items: [] }),
      composerHeight: () => undefined,
      returned: () => [],
      sendReturned: () => {},
      sendSnapshot: snapshot => store.applySnapshot(cross(snapshot)),
      sendPatch: patch => assert.ok(store.applyPatch(cross(patch))),
    })
    store = new ConversationStore(
      async (_key, from, to) => cross(pump.entriesFetched(session.state.entries.slice(from, to))),
      undefined,
      ids => pump.showToolCalls(ids),
    )
    session.onDidChange(changes => pump.add(changes))
  })
  afterEach(() => pump.dispose())

  const tell = (toolCallId: string, patch: object) =>
    session.receive({ type: 'tool_call', toolCall: { toolCallId, ...patch } })
  const whole = (id: string) => session.state.entries.find(entry => entry.id === id) as ToolCallEntry
  const known = (id: string) => store.slot(id)?.entry.peek() as ToolCallEntry
  const seen = (entry: Entry | undefined) => JSON.parse(JSON.stringify(entry))

  it('costs only as much as the line, whatever its content', async () => {
    const snapshotOf = (content: readonly ToolCallContent[], more: object = {}) => {
      for (let i = 0; i < 100; i++) tell(`t${i}`, { status: 'completed', kind: 'read', content, ...more })
      pump.reset()
      pump.begin()
      bytes = 0
      pump.sendNow()
      return bytes
    }
    const short = snapshotOf([text('done')])
    const much = snapshotOf(long, { rawInput: { path: '/w/a.ts', text: OUTPUT }, rawOutput: OUTPUT })
    assert.ok(much / short < 2, `${(much / short).toFixed(1)} times the bytes of short ones`)
    // the loaded entry
    bytes = 0
    pump.entriesFetched(session.state.entries)
    const fetched = JSON.stringify(pump.entriesFetched(session.state.entries)).length
    assert.ok(fetched / short < 2, `${(fetched / short).toFixed(1)} times the bytes when fetched`)
    // the rest is sent once it's expanded
    bytes = 0
    const close = store.wholeToolCalls.show('e7')
    await until(() => messages > 0 && !isCut(known('e7')))
    assert.deepEqual(known('e7'), seen(whole('e7')))
    assert.equal(session.state.entries.filter(({ id }) => !isCut(known(id))).length, 1)
    close()
  })

  it('shows the end of output that continues', () => {
    pump.begin()
    pump.sendNow()
    const lines = (count: number) => Array.from({ length: count }, (_, i) => `line ${i}`).join('\n')
    for (const count of [100, 1000, 10_000]) {
      tell('t', { kind: 'execute', status: 'in_progress', content: [text(lines(count))] })
      bytes = 0
      pump.sendNow()
      assert.ok(bytes < 6000, `${bytes} bytes`)
      const [content] = known('e0').content
      assert.ok(content?.type === 'content' && content.content.type === 'text')
      assert.ok(content.content.text.endsWith(`line ${count - 1}`))
    }
  })

  it('is sent completely if a permission request is about it', () => {
    pump.begin()
    pump.sendNow()
    tell('t', { kind: 'edit', status: 'pending', content: long, rawInput: { text: OUTPUT } })
    pump.sendNow()
    assert.ok(isCut(known('e0')))
    void session.requests.requestPermission(
      {
        sessionId: 's',
        title: 'May I?',
        subject: { type: 'tool_call', toolCall: { toolCallId: 't' } },
        options: [{ optionId: 'yes', name: 'Yes', kind: 'allow_once' }],
      },
      new AbortController().signal,
    )
    pump.sendNow()
    assert.deepEqual(known('e0'), seen(whole('e0')))
    pump.reset()
    pump.sendNow()
    assert.deepEqual(known('e0'), seen(whole('e0')))
  })

  it('is complete where it is expanded, and never a mix of complete and shortened', async () => {
    const content = fc.array(
      fc.oneof(
        fc.constantFrom(...long, text('short'), { type: 'terminal', terminalId: 'x' } as const),
        fc.nat(5000).map(length => text('abc\n'.repeat(length))),
      ),
      { maxLength: 3 },
    )
    const step = fc.oneof(
      fc.record({
        toolCallId: fc.constantFrom('a', 'b', 'c'),
        status: fc.constantFrom('in_progress', 'completed', 'failed'),
        kind: fc.constantFrom('execute', 'read', 'edit'),
        content,
        rawOutput: fc.constantFrom(undefined, null, 'x', OUTPUT, { text: OUTPUT }),
      }),
      fc.record({ show: fc.nat(2) }),
      fc.record({ hide: fc.nat(2) }),
      fc.constantFrom('reset', 'again', 'frame'),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 25 }), async steps => {
        const setup = { cwd: '/', additionalDirectories: [], mcpServers: [] }
        session = new Session({ agent: new FakeAgent(), sessionId: 's', setup, phase: 'ready' })
        session.onDidChange(changes => pump.add(changes))
        pump.begin()
        const closing = new Map<number, () => void>()
        for (const each of steps) {
          if (each === 'reset') pump.reset()
          else if (each === 'again') {
            pump.setVisible(false)
            pump.setVisible(true)
          } else if (each === 'frame') pump.sendNow()
          else if ('toolCallId' in each) tell(each.toolCallId, each)
          else if ('show' in each && !closing.has(each.show))
            closing.set(each.show, store.wholeToolCalls.show(`e${each.show}`))
          else if ('hide' in each) {
            closing.get(each.hide)?.()
            closing.delete(each.hide)
          }
          await Promise.resolve()
        }
        await new Promise(setImmediate)
        pump.sendNow()
        for (const entry of session.state.entries) {
          const [all, cut] = [seen(entry), seen(cutToolCall(entry as ToolCallEntry))]
          const now = seen(known(entry.id))
          if (closing.has(Number(entry.id.slice(1)))) assert.deepEqual(now, all)
          else assert.deepEqual(now, isCut(now) ? cut : all)
        }
        for (const close of closing.values()) close()
        await new Promise(setImmediate)
      }),
    )
  })
})
