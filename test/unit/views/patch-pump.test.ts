import assert from 'node:assert/strict'
import { Session } from '../../../src/conversation/session.ts'
import type {
  ConversationHead,
  ConversationPatch,
  ConversationSnapshot,
} from '../../../src/views/bridge/conversation.ts'
import { PatchPump } from '../../../src/views/conversation/patch-pump.ts'
import { until } from '../../support/until.ts'
import { FakeAgent } from '../conversation/fake-agent.ts'

const head: ConversationHead = {
  phase: 'ready',
  key: 'k',
  activity: 'idle',
  queue: [],
  queueHeld: false,
  mcpServers: [],
  plans: [],
  configOptions: [],
  pendingOptions: [],
  commands: [],
  prompt: { image: false, audio: false, embeddedContext: false },
  cards: [],
  agents: [],
}

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
      draft: () => 'a draft',
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
    pump.setVisible(true)
    await until(() => snapshots.length === 1)
    const [entry] = snapshots[0]?.entries ?? []
    assert.ok(entry?.kind === 'message')
    assert.deepEqual(entry.blocks, [{ type: 'text', text: 'one two' }])
    assert.equal(snapshots[0]?.draft, 'a draft')
  })

  it('joins all that comes within a frame into one patch', async () => {
    pump.setVisible(true)
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
    pump.setVisible(true)
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
    pump.setVisible(true)
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
    pump.setVisible(true)
    await until(() => snapshots.length === 1)
    const [snapshot] = snapshots
    assert.equal(snapshot?.total, 500)
    assert.equal(snapshot?.first, 400)
    assert.equal(snapshot?.entries.length, 100)
  })
})
