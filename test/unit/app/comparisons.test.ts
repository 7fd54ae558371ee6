import assert from 'node:assert/strict'
import fc from 'fast-check'
import { Comparisons, draftKeyOf, type ParticipantId } from '../../../src/app/compare/comparisons.ts'
import { Emitter } from '../../../src/common/event.ts'
import type { KeyValueStore } from '../../../src/common/key-value-store.ts'
import type { OpenSession } from '../../../src/sessions/open-session.ts'

/** What a comparison reads of an open session. */
class FakeSession {
  readonly changes = new Emitter<unknown[]>()
  readonly status = new Emitter<void>()
  readonly end = new Emitter<unknown>()
  readonly state: Record<string, unknown> = { activity: 'idle', entries: [], turn: 0 }
  readonly queue = { awaitingSignIn: [] as object[], returned: [] as object[] }
  readonly open: OpenSession
  canceled = 0

  constructor(agentId: string, sessionId: string) {
    const { changes, status, end, state, queue } = this
    const session = {
      ...{ sessionId, state, turns: { queue }, requests: { open: [] }, phase: 'ready' },
      ...{ onDidChange: changes.event, onDidChangeStatus: status.event, onDidEnd: end.event },
    }
    this.open = { agentId, session, cancel: () => this.canceled++ } as unknown as OpenSession
  }

  turn(activity: string, entries: object[] = []): void {
    Object.assign(this.state, { activity, entries, turn: 1, turnStartedAt: 1000 })
    this.changes.fire([{ type: 'head', key: 'activity' }])
  }
}

class MemoryStore implements KeyValueStore {
  readonly values = new Map<string, string>()
  get<T>(key: string): T | undefined {
    const text = this.values.get(key)
    return text === undefined ? undefined : (JSON.parse(text) as T)
  }
  set(key: string, value: unknown): void {
    if (value === undefined) this.values.delete(key)
    else this.values.set(key, JSON.stringify(value))
  }
}

describe('the comparisons of a workspace', () => {
  let store: MemoryStore
  let open: FakeSession[]
  let opened: Emitter<void>
  /** the keys with a draft or an unsent prompt */
  let unsent: string[]
  let items: Emitter<string>
  let deleted: Emitter<{ agentId: string; sessionId: string }>
  let now = 0
  const manager = () => ({
    list: () => open.map(one => one.open),
    find: (agentId: string, sessionId: string) =>
      open.find(one => one.open.agentId === agentId && one.open.session.sessionId === sessionId)?.open,
    onDidChange: opened.event,
  })
  const create = () =>
    new Comparisons({
      store,
      manager: manager(),
      drafts: { keys: () => unsent, onDidChangeItems: items.event },
      onDidDelete: deleted.event,
      redact: text => text.replace('secret', '•••'),
      now: () => now,
    })
  const add = (comparisons: Comparisons, id: string, agents = ['one', 'two']) =>
    comparisons.add(
      { id, title: `The secret of ${id}`, at: Number(id), from: { top: '/p', within: '', commit: 'abc' } },
      agents.map(agentId => ({ agentId, name: agentId.toUpperCase() })),
    )
  const started = (comparisons: Comparisons, participantId: ParticipantId, session: FakeSession) => {
    const begun = comparisons.begin(participantId)!
    comparisons.worktreeMade(participantId, {
      path: `/p.worktrees/${participantId.agent}`,
      name: `${participantId.agent}`,
    })
    open.push(session)
    opened.fire()
    comparisons.sessionStarted(participantId, session.open)
    begun.end()
  }

  beforeEach(() => {
    store = new MemoryStore()
    open = []
    opened = new Emitter()
    unsent = []
    items = new Emitter()
    deleted = new Emitter()
    now = 5000
  })

  it('follow the sessions of their agents, and remember how they ended', () => {
    const comparisons = create()
    add(comparisons, '1')
    const participantId = { id: '1', agent: 0 }
    const session = new FakeSession('one', 's')
    started(comparisons, participantId, session)
    assert.equal(comparisons.runOf(participantId).state, 'starting')
    session.turn('running')
    assert.deepEqual(comparisons.runOf(participantId), { state: 'working', worked: 0, since: 1000 })
    session.turn('requires_action')
    assert.equal(comparisons.runOf(participantId).state, 'waiting')
    session.state.usage = { used: 1, size: 2, cost: { amount: 0.5, currency: 'USD' }, tokens: { total: 7 } }
    session.turn('idle', [
      { kind: 'message', role: 'agent', turn: 1, blocks: [{ type: 'text', text: 'All **done**.' }] },
    ])
    assert.deepEqual(comparisons.runOf(participantId), { state: 'done', worked: 4000 })
    open = []
    opened.fire()
    const later = create()
    assert.deepEqual(later.runOf(participantId), { state: 'done', worked: 4000 })
    assert.deepEqual(later.usageOf(participantId), {
      line: 'All done.',
      cost: { amount: 0.5, currency: 'USD' },
      tokens: 7,
    })
    assert.equal(later.get('1')?.title, 'The ••• of 1')
    assert.equal(later.of('/p.worktrees/0')?.id, '1')
    assert.equal(later.of('/elsewhere'), undefined)
  })

  it('know in which worktrees agents are being started', () => {
    const comparisons = create()
    add(comparisons, '1')
    const begun = comparisons.begin({ id: '1', agent: 1 })!
    assert.deepEqual(comparisons.starting(), [])
    comparisons.worktreeMade({ id: '1', agent: 1 }, { path: '/p.worktrees/1', name: '1' })
    comparisons.worktreeMade({ id: '1', agent: 0 }, { path: '/p.worktrees/0', name: '0' })
    assert.deepEqual(comparisons.starting(), ['/p.worktrees/1'])
    begun.end()
    assert.deepEqual(comparisons.starting(), [])
  })

  it('say why an agent failed: an error, a sign-in, a prompt that came back, its end', () => {
    const comparisons = create()
    add(comparisons, '1', ['a', 'b', 'c', 'd', 'e'])
    const sessions = ['a', 'b', 'c', 'd', 'e'].map((agentId, agent) => {
      const session = new FakeSession(agentId, 's')
      started(comparisons, { id: '1', agent }, session)
      return session
    })
    const [error, signIn, returned, ended, stopped] = sessions as [
      FakeSession,
      FakeSession,
      FakeSession,
      FakeSession,
      FakeSession,
    ]
    for (const session of [error, signIn, ended, stopped]) session.turn('running')
    error.turn('idle', [{ kind: 'turn_end', turn: 1, stopReason: 'error', error: { message: 'Overloaded' } }])
    signIn.turn('idle')
    signIn.queue.awaitingSignIn.push({ reason: 'Sign in first.' })
    signIn.status.fire()
    returned.queue.returned.push({ reason: "It doesn't support images." })
    returned.status.fire()
    ended.end.fire({ reason: 'exited', message: 'The agent exited with code 3.', stderrTail: '' })
    stopped.turn('idle', [{ kind: 'turn_end', turn: 1, stopReason: 'cancelled' }])
    const runs = sessions.map((_, agent) => comparisons.runOf({ id: '1', agent }))
    assert.deepEqual(
      runs.map(({ state, reason, needsSignIn }) => [state, reason, needsSignIn]),
      [
        ['failed', 'Overloaded', undefined],
        ['failed', 'Sign in first.', true],
        ['failed', "It doesn't support images.", undefined],
        ['failed', 'The agent exited with code 3.', undefined],
        ['stopped', undefined, undefined],
      ],
    )
  })

  it('leave a worktree to the agent that it was made for last', () => {
    const comparisons = create()
    add(comparisons, '1')
    add(comparisons, '2')
    const worktree = { path: '/p.worktrees/task-one', name: 'task-one' }
    comparisons.worktreeMade({ id: '1', agent: 0 }, worktree)
    comparisons.worktreeMade({ id: '1', agent: 1 }, { path: '/p.worktrees/task-two', name: 'task-two' })
    comparisons.worktreeMade({ id: '2', agent: 0 }, worktree)
    for (const known of [comparisons, create()]) {
      assert.equal(known.at({ id: '1', agent: 0 })?.worktree, undefined)
      assert.equal(known.at({ id: '1', agent: 1 })?.worktree?.name, 'task-two')
      assert.deepEqual(known.at({ id: '2', agent: 0 })?.worktree, worktree)
      assert.equal(known.of(worktree.path)?.id, '2')
    }
  })

  it('stop a start, or the turn', () => {
    const comparisons = create()
    add(comparisons, '1')
    const participantId = { id: '1', agent: 0 }
    const begun = comparisons.begin(participantId)!
    assert.equal(comparisons.begin(participantId), undefined)
    comparisons.step(participantId, 'Creating the worktree…')
    assert.deepEqual(comparisons.usageOf(participantId), { line: 'Creating the worktree…' })
    comparisons.stop(participantId)
    assert.ok(begun.signal.aborted)
    begun.end()
    const session = new FakeSession('one', 's')
    started(comparisons, participantId, session)
    session.turn('running')
    comparisons.stop(participantId)
    assert.equal(session.canceled, 1)
  })

  it('count an agent as interrupted whose window is gone, also when its session is opened again', () => {
    const before = create()
    add(before, '1')
    const session = new FakeSession('one', 's')
    started(before, { id: '1', agent: 0 }, session)
    session.turn('running')
    open = []
    opened = new Emitter()
    const after = create()
    assert.equal(after.runOf({ id: '1', agent: 0 }).state, 'interrupted')
    assert.equal(after.runOf({ id: '1', agent: 1 }).state, 'interrupted')
    open = [new FakeSession('one', 's')]
    opened.fire()
    assert.deepEqual(after.runOf({ id: '1', agent: 0 }), { state: 'interrupted', worked: 0 })
    open[0]!.turn('running')
    assert.equal(after.runOf({ id: '1', agent: 0 }).state, 'working')
  })

  it('are at most 20, and a damaged one is left out', () => {
    const comparisons = create()
    for (let id = 1; id <= 25; id++) add(comparisons, String(id))
    assert.deepEqual(
      comparisons.list().map(({ id }) => id),
      Array.from({ length: 20 }, (_, at) => String(25 - at)),
    )
    assert.equal(store.values.size, 21)
    store.values.set('parley.comparison.24', '{"id":"24"}')
    const later = create()
    assert.equal(later.list().length, 19)
    assert.equal(later.shown?.id, '25')
    later.show('10')
    assert.equal(create().shown?.id, '10')
  })

  it('forget what was said when that is deleted', () => {
    const comparisons = create()
    add(comparisons, '1')
    const participantId = { id: '1', agent: 0 }
    const session = new FakeSession('one', 's')
    started(comparisons, participantId, session)
    session.turn('running')
    session.turn('idle', [
      { kind: 'message', role: 'agent', turn: 1, blocks: [{ type: 'text', text: 'Said.' }] },
    ])
    open = []
    opened.fire()
    deleted.fire({ agentId: 'two', sessionId: 's' })
    assert.equal(comparisons.usageOf(participantId).line, 'Said.')
    deleted.fire({ agentId: 'one', sessionId: 's' })
    for (const known of [comparisons, create()]) assert.deepEqual(known.usageOf(participantId), {})
    assert.doesNotMatch(JSON.stringify([...store.values]), /Said/)
  })

  it('forget the prompt when it is deleted in all sessions, and no agent is still to get it', () => {
    const comparisons = create()
    add(comparisons, '1', ['one', 'two', 'three'])
    started(comparisons, { id: '1', agent: 0 }, new FakeSession('one', 's'))
    started(comparisons, { id: '1', agent: 1 }, new FakeSession('two', 't'))
    unsent = [draftKeyOf({ id: '1', agent: 2 })]
    const titles = () => [comparisons, create()].map(known => known.get('1')?.title)
    const kept = ['The ••• of 1', 'The ••• of 1']
    deleted.fire({ agentId: 'one', sessionId: 's' })
    assert.deepEqual(titles(), kept)
    deleted.fire({ agentId: 'two', sessionId: 't' })
    assert.deepEqual(titles(), kept)
    unsent = []
    items.fire(draftKeyOf({ id: '1', agent: 2 }))
    assert.deepEqual(titles(), ['', ''])
    assert.doesNotMatch(JSON.stringify([...store.values]), /The ••• of/)
    // with a new session, the comparison goes on
    add(comparisons, '2', ['one'])
    started(comparisons, { id: '2', agent: 0 }, new FakeSession('one', 's'))
    deleted.fire({ agentId: 'one', sessionId: 'other' })
    assert.equal(comparisons.get('2')?.title, 'The ••• of 2')
  })

  it('know which prompts were not sent, and stay as long as there are any', () => {
    const comparisons = create()
    const changed: ParticipantId[] = []
    comparisons.onDidChange(participantId => changed.push(participantId))
    const participantId = { id: '1', agent: 1 }
    for (const id of ['1', '2']) add(comparisons, id)
    assert.ok(!comparisons.hasPrompt(participantId))
    unsent = ['session', draftKeyOf(participantId)]
    for (const key of unsent) items.fire(key)
    assert.deepEqual(changed, [participantId])
    assert.ok(comparisons.hasPrompt(participantId))
    assert.ok(!comparisons.hasPrompt({ id: '1', agent: 0 }))
    for (let id = 3; id <= 25; id++) add(comparisons, String(id))
    assert.equal(create().at(participantId)?.agentId, 'two')
    assert.equal(comparisons.get('2'), undefined)
    unsent = []
    add(comparisons, '26')
    assert.equal(create().get('1'), undefined)
  })

  it('lose nothing in a reload, whatever happened before', () => {
    const step = fc.record({
      agent: fc.nat(1),
      what: fc.constantFrom('running', 'requires_action', 'idle', 'exit', 'stop', 'sign-in'),
    })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 20 }), steps => {
        store = new MemoryStore()
        open = []
        opened = new Emitter()
        const comparisons = create()
        add(comparisons, '1')
        const sessions = ['one', 'two'].map((agentId, agent) => {
          const session = new FakeSession(agentId, 's')
          started(comparisons, { id: '1', agent }, session)
          return session
        })
        for (const { agent, what } of steps) {
          const session = sessions[agent]!
          if (what === 'exit') session.end.fire({ reason: 'exited', stderrTail: '' })
          else if (what === 'stop') comparisons.stop({ id: '1', agent })
          else if (what === 'sign-in') {
            session.queue.awaitingSignIn = [{ reason: 'Sign in first.' }]
            session.status.fire()
            session.queue.awaitingSignIn = []
          } else session.turn(what)
        }
        const before = comparisons.get('1')!
        open = []
        opened = new Emitter()
        const later = create()
        assert.deepEqual(later.get('1'), before)
        for (const agent of [0, 1]) {
          const { state } = later.runOf({ id: '1', agent })
          assert.ok(!['starting', 'working', 'waiting'].includes(state))
        }
      }),
    )
  })
})
