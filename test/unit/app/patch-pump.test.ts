import assert from 'node:assert/strict'
import { pendingNotes } from '../../../src/app/conversation/head.ts'
import { PatchPump } from '../../../src/app/conversation/patch-pump.ts'
import type {
  ConversationHead,
  ConversationPatch,
  ConversationSnapshot,
} from '../../../src/bridge/conversation.ts'
import type { Draft } from '../../../src/common/draft.ts'
import type { ConversationEnd } from '../../../src/conversation/replay/restore-state.ts'
import { Session } from '../../../src/conversation/session.ts'
import { until } from '../../support/until.ts'
import { FakeAgent } from '../conversation/fake-agent.ts'
import { head as someHead } from '../webview/conversation/entries.ts'

const draft: Draft<never> = { text: 'a draft', chips: [], items: [] }
const head = someHead({ key: 'k' })

describe('PatchPump', () => {
  let session: Session
  let current: ConversationHead
  let snapshots: ConversationSnapshot[]
  let patches: ConversationPatch[]
  let pump: PatchPump
  let end: ConversationEnd | undefined

  beforeEach(() => {
    end = undefined
    current = head
    snapshots = []
    patches = []
    session = new Session({
      agent: new FakeAgent(),
      sessionId: 's',
      setup: { cwd: '/', additionalDirectories: [], mcpServers: [] },
      phase: 'ready',
    })
    pump = new PatchPump({
      session: () => session,
      end: () => end,
      head: () => current,
      running: () => undefined,
      draft: () => draft,
      composerHeight: () => undefined,
      returned: () => [],
      sendReturned: () => {},
      sendSnapshot: snapshot => snapshots.push(structuredClone(snapshot)),
      sendPatch: patch => patches.push(structuredClone(patch)),
    })
    session.onDidChange(changes => pump.add(changes))
  })
  afterEach(() => pump.dispose())

  const chunk = (text: string) =>
    session.receive({ type: 'message_chunk', role: 'agent', messageId: 'm', content: { type: 'text', text } })

  it('sends nothing while hidden, and everything when shown', async () => {
    chunk('one ')
    chunk('two')
    pump.headChanged()
    assert.equal(snapshots.length + patches.length, 0)
    pump.begin()
    await until(() => snapshots.length === 1)
    const [entry] = snapshots[0]?.entries ?? []
    assert.ok(entry?.kind === 'message')
    assert.deepEqual(entry.blocks, [{ type: 'text', text: 'one two' }])
    assert.deepEqual(snapshots[0]?.draft, draft)
  })

  it('sends nothing to a view that was hidden before its page loaded', async () => {
    pump.setVisible(false)
    chunk('one ')
    pump.begin()
    chunk('two')
    pump.headChanged()
    pump.sendNow()
    assert.equal(snapshots.length + patches.length, 0)
    pump.setVisible(true)
    await until(() => snapshots.length === 1)
    pump.setVisible(false)
    chunk(' three')
    pump.sendNow()
    assert.deepEqual([snapshots.length, patches.length], [1, 0])
  })

  it('sends the end of a conversation until it has the session, and then the session', async () => {
    const saved = session
    for (let i = 0; i < 300; i++) saved.notify({ severity: 'info', title: `${i}` })
    saved.conversation.applyLocal({ type: 'terminal', terminal: { terminalId: 't', output: 'x' } })
    const { entries, terminals } = saved.state
    session = undefined as never
    pump.begin()
    end = { first: 290, entries: entries.slice(290), terminals, plans: [] }
    await until(() => snapshots.length === 1)
    const [first] = snapshots
    assert.deepEqual([first?.first, first?.total, first?.more], [290, 300, true])
    assert.deepEqual(first?.entries, entries.slice(290))
    end = undefined
    pump.headChanged()
    await until(() => snapshots.length === 2)
    assert.deepEqual([snapshots[1]?.total, snapshots[1]?.more], [0, undefined], 'it was canceled')
    end = { first: 290, entries: entries.slice(290), terminals, plans: [] }
    pump.headChanged()
    await until(() => snapshots.length === 3)
    assert.equal(snapshots[2]?.total, 300)
    session = saved
    end = undefined
    pump.reset()
    await until(() => snapshots.length === 4)
    const whole = snapshots[3]
    assert.deepEqual([whole?.first, whole?.total, whole?.more], [200, 300, undefined])
  })

  const call = (toolCallId: string, rawInput?: unknown) =>
    session.receive({ type: 'tool_call', toolCall: { toolCallId, title: toolCallId, rawInput } })
  /** Nested so deeply that it can't be serialized. */
  const deep = () => JSON.parse('['.repeat(50_000) + ']'.repeat(50_000)) as unknown

  for (const how of ['throws', 'rejects'] as const) {
    it(`sends the other entries if one can't be sent because sending ${how}`, async () => {
      const sent: Array<ConversationSnapshot | ConversationPatch> = []
      const send = (message: ConversationSnapshot | ConversationPatch) => {
        const write = () => void sent.push(JSON.parse(JSON.stringify(message)))
        return how === 'throws' ? write() : Promise.resolve().then(write)
      }
      pump.dispose()
      pump = new PatchPump({
        session: () => session,
        end: () => end,
        head: () => current,
        running: () => undefined,
        draft: () => draft,
        composerHeight: () => undefined,
        returned: () => [],
        sendReturned: () => {},
        sendSnapshot: send,
        sendPatch: send,
      })
      session.onDidChange(changes => pump.add(changes))
      const entries = () => sent.flatMap(message => ('entries' in message ? message.entries : []))
      call('before')
      call('bad', deep())
      call('after')
      pump.begin()
      await until(() => entries().length === 3)
      assert.deepEqual(
        entries().map(entry => entry.kind === 'tool_call' && entry.title),
        ['before', 'bad', 'after'],
      )
      call('worse', deep())
      call('last')
      const ops = () => sent.flatMap(message => ('ops' in message ? message.ops : []))
      await until(() => ops().some(op => op.op === 'entry' && op.index === 4))
      assert.ok(ops().some(op => op.op === 'entry' && op.index === 3))
    })
  }

  it("sends a pending request's entries, however far back they are", async () => {
    const never = new AbortController().signal
    const ask = (sessionId: string, toolCallId: string) =>
      void session.requests.requestPermission(
        {
          sessionId,
          title: 'May I?',
          subject: { type: 'tool_call', toolCall: { toolCallId, title: toolCallId } },
          options: [{ optionId: 'yes', name: 'Yes', kind: 'allow_once' }],
        },
        never,
      )
    session.receive({ type: 'subagent', subagent: { sessionId: 'child', title: 'Helper' } })
    session.receive({ type: 'tool_call', toolCall: { toolCallId: 'late', title: 'late' } })
    ask('child', 'old')
    const many = () => {
      for (let i = 0; i < 250; i++) {
        session.receive({ type: 'message', role: 'agent', messageId: `m${i}`, content: [] })
      }
    }
    many()
    current = { ...head, pendingRequests: pendingNotes(session) }
    pump.begin()
    await until(() => snapshots.length === 1)
    const sent = snapshots[0]?.pendingEntries ?? []
    assert.deepEqual(
      sent.map(({ index, entry }) => [index, entry.kind]),
      [
        [0, 'subagent'],
        [2, 'tool_call'],
        [3, 'permission'],
      ],
    )
    assert.deepEqual(
      snapshots[0]?.head.pendingRequests.map(({ index }) => index),
      [3],
    )
    ask('s', 'late')
    current = { ...head, pendingRequests: pendingNotes(session) }
    await until(() => patches.length === 1)
    const entries = patches[0]!.ops.flatMap(op => (op.op === 'entry' ? [op.index] : []))
    assert.deepEqual(entries.includes(1), true, 'the tool call that the new one is about')
    const reported = patches[0]!.ops.find(op => op.op === 'head')
    assert.equal(reported?.head.pendingRequests?.length, 2)
    for (const { requestId } of session.requests.open) session.requests.answerPermission(requestId, 'yes')
    current = { ...head, pendingRequests: pendingNotes(session) }
    await until(() => patches.length === 2)
    assert.deepEqual(patches[1]!.ops.find(op => op.op === 'head')?.head.pendingRequests, [])
  })

  it('joins all changes within a frame into one patch', async () => {
    pump.begin()
    await until(() => snapshots.length === 1)
    chunk('a')
    await until(() => patches.length === 1)
    for (let count = 0; count < 1000; count++) chunk('x')
    await until(() => patches.length === 2)
    const [op, ...more] = patches[1]?.ops ?? []
    assert.deepEqual(more, [])
    assert.ok(op?.op === 'text')
    assert.equal(op.text, 'x'.repeat(1000))
  })

  it('sends less often what comes faster than anyone reads', async () => {
    pump.begin()
    await until(() => snapshots.length === 1)
    chunk('a')
    await until(() => patches.length === 1)
    chunk('x'.repeat(5000))
    await until(() => patches.length === 2)
    const sent = performance.now()
    chunk('y')
    await new Promise(setImmediate)
    await until(() => patches.length === 3)
    // the clocks of the timer and of this test may differ by a millisecond; polling can only make it longer
    assert.ok(performance.now() - sent >= 20, `${performance.now() - sent} ms`)
    assert.deepEqual(patches[2]?.ops, [{ op: 'text', id: 'e0', block: 0, text: 'y' }])
  })

  it('numbers patches consecutively', async () => {
    pump.begin()
    await until(() => snapshots.length === 1)
    for (const text of ['a', 'b', 'c']) {
      const before = patches.length
      chunk(text)
      await until(() => patches.length > before)
    }
    assert.deepEqual([snapshots[0]?.revision, ...patches.map(patch => patch.revision)], [1, 2, 3, 4])
  })

  it('sends only changed properties of the head, and names removed ones', async () => {
    current = { ...head, progress: 'Starting…' }
    pump.begin()
    await until(() => snapshots.length === 1)
    current = { ...head, queuePaused: true }
    pump.headChanged()
    await until(() => patches.length === 1)
    assert.deepEqual(patches[0]?.ops, [{ op: 'head', head: { queuePaused: true }, cleared: ['progress'] }])
    pump.headChanged()
    chunk('x')
    await until(() => patches.length === 2)
    assert.deepEqual(
      patches[1]?.ops.map(op => op.op),
      ['entry'],
    )
  })

  it('contains only the last entries of a long conversation', async () => {
    for (let index = 0; index < 500; index++) {
      session.receive({
        type: 'message_chunk',
        role: index % 2 ? 'agent' : 'thought',
        content: { type: 'text', text: `${index}` },
      })
    }
    pump.begin()
    await until(() => snapshots.length === 1)
    const [snapshot] = snapshots
    assert.equal(snapshot?.total, 500)
    assert.equal(snapshot?.first, 400)
    assert.equal(snapshot?.entries.length, 100)
  })

  const message = (messageId: string, text = messageId) =>
    session.receive({ type: 'message_chunk', role: 'agent', messageId, content: { type: 'text', text } })

  it('sends the end of many new entries, and the changes of known ones', async () => {
    message('known')
    pump.begin()
    await until(() => snapshots.length === 1)
    message('known', ' goes on')
    for (let index = 0; index < 1000; index++) message(`new ${index}`)
    await until(() => patches.length === 1)
    const last = snapshots[1]
    assert.deepEqual([last?.first, last?.total, last?.entries.length, last?.revision], [901, 1001, 100, 2])
    assert.deepEqual(patches[0], {
      revision: 3,
      ops: [{ op: 'text', id: 'e0', block: 0, text: ' goes on' }],
    })
    message('new 999', ' and on')
    await until(() => patches.length === 2)
    assert.deepEqual(patches[1]?.ops, [{ op: 'text', id: 'e1000', block: 0, text: ' and on' }])
  })

  it('sends patches rarely during a load, with only the last entries', async () => {
    const loading = new Session({
      agent: new FakeAgent(),
      sessionId: 's',
      setup: { cwd: '/', additionalDirectories: [], mcpServers: [] },
      phase: 'loading',
    })
    session = loading
    session.onDidChange(changes => pump.add(changes))
    session.onDidChangeStatus(() => pump.headChanged())
    pump.begin()
    await until(() => snapshots.length === 1)
    const begun = performance.now()
    for (let index = 0; index < 10_000; index++) {
      message(`${index}`)
      if (index % 100 === 99) await new Promise(resolve => setTimeout(resolve, 2))
    }
    const sent = [...snapshots, ...patches.flatMap(({ ops }) => ops)].length
    const most = (performance.now() - begun) / 100 + 2
    assert.ok(snapshots.length <= most, `${snapshots.length} snapshots in ${most / 10} s`)
    assert.ok(sent <= most + 100, `${sent} parts`)
    session.loaded()
    const indexes = () => patches.flatMap(({ ops }) => ops.map(op => (op.op === 'entry' ? op.index : 0)))
    await until(() => snapshots.at(-1)?.total === 10_000 || indexes().includes(9999))
  })

  it('sends only the new parts of a tool call that it sent before', async () => {
    pump.begin()
    await until(() => snapshots.length === 1)
    const tool = (text: string) =>
      session.receive({
        type: 'tool_call',
        toolCall: {
          toolCallId: 't',
          title: 'Run',
          content: [{ type: 'content', content: { type: 'text', text } }],
        },
      })
    tool('one ')
    await until(() => patches.length === 1)
    assert.equal(patches[0]?.ops[0]?.op, 'entry')
    tool('one two ')
    await until(() => patches.length === 2)
    assert.deepEqual(patches[1]?.ops, [
      { op: 'tool', id: 'e0', set: {}, content: { keep: 0, append: 'two ', add: [] } },
    ])
    // the view is shown again, without what is far back
    for (let i = 0; i < 100; i++)
      session.receive({
        ...{ type: 'message_chunk', role: 'agent', messageId: `m${i}` },
        content: { type: 'text', text: `${i}` },
      })
    pump.setVisible(false)
    pump.setVisible(true)
    await until(() => snapshots.length === 2)
    assert.equal(snapshots[1]?.first, 1)
    const before = patches.length
    tool('one two three')
    await until(() => patches.length > before)
    assert.equal(patches.at(-1)?.ops[0]?.op, 'entry')
  })

  it('sends the output of a terminal only while the view shows it', async () => {
    const terminal = (terminalId: string) => {
      session.receive({
        type: 'tool_call',
        toolCall: { toolCallId: `of ${terminalId}`, content: [{ type: 'terminal', terminalId }] },
      })
      session.receive({ type: 'terminal', terminal: { terminalId, output: 'begun ' } })
    }
    terminal('seen')
    terminal('folded')
    pump.begin()
    await until(() => snapshots.length === 1)
    assert.deepEqual(
      snapshots[0]?.terminals.map(({ terminalId, output }) => [terminalId, output]),
      [
        ['seen', undefined],
        ['folded', undefined],
      ],
    )
    pump.watchTerminals(['seen', 'never told of'])
    await until(() => patches.length === 1)
    assert.deepEqual(
      patches[0]?.ops.map(op => op.op === 'terminal' && [op.terminal.terminalId, op.terminal.output]),
      [['seen', 'begun ']],
    )
    for (const terminalId of ['seen', 'folded'])
      session.receive({ type: 'terminal_output', terminalId, text: 'more' })
    await until(() => patches.length === 2)
    assert.deepEqual(patches[1]?.ops, [{ op: 'terminal_output', terminalId: 'seen', text: 'more' }])
    // the view is shown again after it was hidden
    pump.setVisible(false)
    pump.setVisible(true)
    await until(() => snapshots.length === 2)
    assert.deepEqual(
      snapshots[1]?.terminals.map(({ terminalId, output }) => [terminalId, output]),
      [
        ['seen', 'begun more'],
        ['folded', undefined],
      ],
    )
    // its page loads again
    pump.begin()
    await until(() => snapshots.length === 3)
    assert.deepEqual(
      snapshots[2]?.terminals.map(({ output }) => output),
      [undefined, undefined],
    )
  })
})
