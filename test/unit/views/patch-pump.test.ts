import assert from 'node:assert/strict'
import type { Draft } from '../../../src/common/draft.ts'
import { Session } from '../../../src/conversation/session.ts'
import type {
  ConversationHead,
  ConversationPatch,
  ConversationSnapshot,
} from '../../../src/views/bridge/conversation.ts'
import { PatchPump } from '../../../src/views/conversation/patch-pump.ts'
import { until } from '../../support/until.ts'
import { FakeAgent } from '../conversation/fake-agent.ts'
import { head as someHead } from '../webview/conversation/entries.ts'

const draft: Draft<never> = { text: 'a draft', marks: [], items: [] }
const head = someHead({ key: 'k' })

describe('PatchPump', () => {
  let session: Session
  let current: ConversationHead
  let snapshots: ConversationSnapshot[]
  let patches: ConversationPatch[]
  let pump: PatchPump

  beforeEach(() => {
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
      head: () => current,
      draft: () => draft,
      composerHeight: () => undefined,
      waiting: () => [],
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
    pump.pageReady()
    await until(() => snapshots.length === 1)
    const [entry] = snapshots[0]?.entries ?? []
    assert.ok(entry?.kind === 'message')
    assert.deepEqual(entry.blocks, [{ type: 'text', text: 'one two' }])
    assert.deepEqual(snapshots[0]?.draft, draft)
  })

  it('sends nothing to a view that was hidden before its page had loaded', async () => {
    pump.setVisible(false)
    chunk('one ')
    pump.pageReady()
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

  it('joins all that comes within a frame into one patch', async () => {
    pump.pageReady()
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

  it('numbers what it sends without a gap', async () => {
    pump.pageReady()
    await until(() => snapshots.length === 1)
    for (const text of ['a', 'b', 'c']) {
      const before = patches.length
      chunk(text)
      await until(() => patches.length > before)
    }
    assert.deepEqual([snapshots[0]?.revision, ...patches.map(patch => patch.revision)], [1, 2, 3, 4])
  })

  it('sends of the head only what changed, and names what is gone', async () => {
    current = { ...head, progress: 'Starting…' }
    pump.pageReady()
    await until(() => snapshots.length === 1)
    current = { ...head, queueHeld: true }
    pump.headChanged()
    await until(() => patches.length === 1)
    assert.deepEqual(patches[0]?.ops, [{ op: 'head', head: { queueHeld: true }, cleared: ['progress'] }])
    pump.headChanged()
    chunk('x')
    await until(() => patches.length === 2)
    assert.deepEqual(
      patches[1]?.ops.map(op => op.op),
      ['entry'],
    )
  })

  it('carries the last entries of a long conversation only', async () => {
    for (let index = 0; index < 500; index++) {
      session.receive({
        type: 'message_chunk',
        role: index % 2 ? 'agent' : 'thought',
        content: { type: 'text', text: `${index}` },
      })
    }
    pump.pageReady()
    await until(() => snapshots.length === 1)
    const [snapshot] = snapshots
    assert.equal(snapshot?.total, 500)
    assert.equal(snapshot?.first, 400)
    assert.equal(snapshot?.entries.length, 100)
  })

  const message = (messageId: string, text = messageId) =>
    session.receive({ type: 'message_chunk', role: 'agent', messageId, content: { type: 'text', text } })

  it('sends of a lot that comes at once the end, and what changed of what was there', async () => {
    message('known')
    pump.pageReady()
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

  it('sends a load seldom, and of it the last entries only', async () => {
    const loading = new Session({
      agent: new FakeAgent(),
      sessionId: 's',
      setup: { cwd: '/', additionalDirectories: [], mcpServers: [] },
      phase: 'loading',
    })
    session = loading
    session.onDidChange(changes => pump.add(changes))
    session.onDidChangeStatus(() => pump.headChanged())
    pump.pageReady()
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
})
