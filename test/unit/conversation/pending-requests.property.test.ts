import { strict as assert } from 'node:assert'
import fc from 'fast-check'
import type { ElicitationOutcome, PermissionOutcome, SessionStart } from '../../../src/acp/model.ts'
import { AgentSessions } from '../../../src/conversation/agent-sessions.ts'
import type { ReducingState } from '../../../src/conversation/reducer/reducing-state.ts'
import { continueState, forkState, restoreState } from '../../../src/conversation/replay/restore-state.ts'
import type { Session } from '../../../src/conversation/session.ts'
import { Clock } from './clock.ts'
import { FakeAgent, settle } from './fake-agent.ts'
import { chunk, form, idle, permissionRequest, running, text, tool } from './updates.ts'

const SETUP = { cwd: '/w', additionalDirectories: [], mcpServers: [] }

class ForkingAgent extends FakeAgent {
  readonly forks: Array<(start: SessionStart) => void> = []

  forkSession(): Promise<SessionStart> {
    return new Promise(resolve => this.forks.push(resolve))
  }
}

/** A request of an agent, identified by its title. */
interface Asked {
  title: string
  from: string | undefined
  abort: AbortController
  /** Sends it to the window that is open then. */
  send: () => void
  outcome?: PermissionOutcome | ElicitationOutcome
}

/** A user, and an agent that sends requests, as do its subagents, while its session is restarted, forked and loaded. */
class World {
  readonly clock = new Clock()
  readonly #time = { now: () => this.clock.now, schedule: this.clock.schedule }
  agent = new ForkingAgent()
  sessions = new AgentSessions(this.agent, this.#time)
  session!: Session
  readonly asked: Asked[] = []
  /** the titles of the requests that the user allowed */
  readonly allowed = new Set<string>()
  /** every displayed id, and its request */
  readonly ids = new Map<string, string>()
  /** of windows that were closed: what they answer doesn't reach the agent */
  readonly #closed = new Set<AgentSessions>()
  #forks = 0

  async begin(): Promise<void> {
    const making = this.sessions.newSession(SETUP)
    this.agent.newSessions[0]!.resolve({ sessionId: 's' })
    this.session = await making
  }

  ask(from: string | undefined, kind: 'permission' | 'tool call' | 'form'): void {
    const sessionId = from ?? this.session.sessionId
    const title = `request ${this.asked.length}`
    const abort = new AbortController()
    const subject = { type: 'tool_call', toolCall: { toolCallId: 't' } } as const
    const send = () => {
      const { sessions } = this
      const answer =
        kind === 'form'
          ? sessions.createElicitation(sessionId, form({ sessionId, message: title }), abort.signal)
          : sessions.requestPermission(
              permissionRequest({ sessionId, title, ...(kind === 'tool call' && { subject }) }),
              abort.signal,
            )
      // a form of an unknown session is refused with an error
      void answer
        .catch((): ElicitationOutcome => ({ action: 'cancel' }))
        .then(outcome => {
          if (!this.#closed.has(sessions)) asked.outcome = outcome
        })
    }
    const asked: Asked = { title, from, abort, send }
    this.asked.push(asked)
    send()
  }

  pending() {
    return this.session.requests.open.map(entry => {
      // the message of an unknown session says so below
      const title = entry.kind === 'permission' ? entry.title : entry.message.split('\n')[0]!
      assert.equal(this.ids.get(entry.requestId) ?? title, title, 'an id names one request for good')
      this.ids.set(entry.requestId, title)
      return { requestId: entry.requestId, title }
    })
  }

  allow(which: number): void {
    const pending = this.pending()
    const one = pending[which % Math.max(pending.length, 1)]
    if (!one) return
    assert.equal(this.#answer(one.requestId), true)
    this.allowed.add(one.title)
  }

  /** An answer from a late notification or webview, to a request that may have ended. */
  allowOld(which: number): void {
    const old = [...this.ids.keys()]
    const requestId = old[which % Math.max(old.length, 1)]
    if (requestId === undefined) return
    const one = this.pending().find(request => request.requestId === requestId)
    assert.equal(this.#answer(requestId), one !== undefined)
    if (one) this.allowed.add(one.title)
  }

  #answer(requestId: string): boolean {
    return this.session.requests.elicitation(requestId)
      ? this.session.requests.answerElicitation(requestId, { action: 'accept', content: { name: 'Ada' } })
      : this.session.requests.answerPermission(requestId, 'yes')
  }

  turn(): void {
    if (this.session.state.activity !== 'idle') return
    void this.session.prompt([text('go')])
    this.agent.say(this.session.sessionId, running)
  }

  endTurn(): void {
    const { sessionId } = this.session
    const call = this.agent.prompts.findLast(prompt => prompt.sessionId === sessionId)
    if (call) this.agent.endTurn(call)
    else this.agent.say(sessionId, idle('end_turn'))
  }

  subagent(sessionId: string, patch: object): void {
    this.agent.say(this.session.sessionId, { type: 'subagent', subagent: { sessionId, ...patch } })
  }

  /** Continues the conversation with another process, as after a crash, a restart or a sign-in. */
  async restart(how: 'exit' | 'dispose'): Promise<void> {
    const previous = this.session
    if (how === 'exit') this.agent.exit()
    else this.sessions.dispose()
    await this.#resume(previous.conversation.state)
  }

  /** Resumes the saved conversation, as after a reload of the window. */
  async reload(): Promise<void> {
    const { entries, terminals } = this.session.state
    const kept = JSON.parse(JSON.stringify({ entries, terminals: [...terminals.values()], head: {} }))
    this.agent.exit()
    await this.#resume(restoreState(kept))
  }

  /** The next window goes on with the agent. `meanwhile`: before the agent has repeated what it asks. */
  async nextWindow(meanwhile: Act[]): Promise<void> {
    const { agent, session, sessions } = this
    const { sessionId } = session
    const { entries, terminals } = session.state
    const head = { working: session.turns.isWorking }
    const kept = JSON.parse(JSON.stringify({ entries, terminals: [...terminals.values()], head }))
    const call = session.turns.isWorking
      ? agent.prompts.findLast(prompt => prompt.sessionId === sessionId)
      : undefined
    const open = this.asked.filter(({ outcome }) => !outcome)
    // what announced it would arrive again
    const { subagentStates } = session.conversation.state.memory
    if (open.some(({ from }) => from !== undefined && sessions.of(from) && !subagentStates.has(from))) return
    this.#closed.add(sessions)
    sessions.dispose()
    this.sessions = new AgentSessions(agent, this.#time)
    const note = { configOptions: [], commands: [], isPaused: false }
    const prompt = call && { settle: () => call.answer.promise }
    const left = { sessionId, start: { sessionId }, note, ...(prompt && { prompt }) }
    this.session = this.sessions.reattachSession(left, SETUP, continueState(kept), -1)
    for (const [, run] of meanwhile) {
      run(this)
      await settle()
    }
    for (const { send, outcome } of open) if (!outcome) send()
    this.session.requests.repeated()
  }

  async #resume(previous: ReducingState): Promise<void> {
    const { sessionId } = this.session
    this.agent = new ForkingAgent()
    this.sessions = new AgentSessions(this.agent, this.#time)
    const opening = this.sessions.resumeSession(sessionId, SETUP, undefined, previous)
    this.agent.resumes[0]!.resolve({ sessionId })
    await opening.opened
    this.session = opening.session
  }

  /** Continues in a fork, and closes the original, since only one of them is checked here. */
  async fork(): Promise<void> {
    const before = this.session
    const making = this.sessions.forkSession(
      's',
      SETUP,
      undefined,
      forkState(before.conversation.state, 'a/s'),
    )
    this.agent.forks.at(-1)!({ sessionId: `fork ${++this.#forks}` })
    this.session = await making
    before.dispose()
  }

  /** `failed`: the agent returns an error after the replay; `asks`: it sends a request during the replay. */
  async load(asks: boolean, failed: boolean): Promise<void> {
    const { session, sessions, agent } = this
    if (session.state.activity !== 'idle') return
    const opening = sessions.loadSession(session.sessionId, SETUP)
    agent.say(session.sessionId, tool('t', { title: 'replayed', status: 'completed' }))
    if (asks) this.ask(undefined, 'permission')
    await settle()
    this.check()
    if (failed) agent.loads.at(-1)!.reject(new Error('no'))
    else agent.loads.at(-1)!.resolve({ sessionId: session.sessionId })
    await opening.opened.catch(() => {})
  }

  /** Checks what must always be true. */
  check(): void {
    for (const { title, outcome } of this.asked) {
      const allowed =
        outcome && ('action' in outcome ? outcome.action === 'accept' : outcome.type === 'selected')
      if (outcome) assert.equal(allowed, this.allowed.has(title), `${title}: only its own answer is sent`)
    }
    const unanswered = this.asked.filter(one => !one.outcome).map(one => one.title)
    const shown = this.pending().map(one => one.title)
    assert.deepEqual(shown.sort(), unanswered.sort(), 'what waits for an answer is what is shown to wait')
    if (shown.length > 0) assert.equal(this.session.state.activity, 'requires_action')
    for (const entry of this.session.state.entries) {
      if (entry.kind !== 'permission' || entry.outcome?.type !== 'selected') continue
      assert(this.allowed.has(entry.title), `${entry.title} is shown as allowed`)
    }
  }
}

type Act = [name: string, run: (world: World) => unknown]
const act = (weight: number, name: string, run: (world: World) => unknown) => ({
  weight,
  arbitrary: fc.constant<Act>([name, run]),
})
const from = fc.constantFrom(undefined, undefined, 'a', 'b')
const child = fc.constantFrom('a', 'b')
const late = fc.nat(20).map((n): Act => [`late answer ${n}`, world => world.allowOld(n)])
const rests = child.map(
  (id): Act => [`${id} rests`, world => world.subagent(id, { state: { activity: 'idle' } })],
)
const allow = fc.nat(4).map((n): Act => [`allow ${n}`, world => world.allow(n)])
const stop = act(1, 'stop', world => world.session.turns.cancel())
const endOfTurn = act(3, 'end of turn', world => world.endTurn())
const meanwhile = fc.oneof(
  { weight: 4, arbitrary: allow },
  { weight: 1, arbitrary: late },
  { weight: 1, arbitrary: rests },
  stop,
  endOfTurn,
)
const acts: fc.Arbitrary<Act> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc
      .tuple(from, fc.constantFrom('permission', 'tool call', 'form'))
      .map(([who, kind]): Act => [`${who ?? 'session'} asks: ${kind}`, world => world.ask(who, kind)]),
  },
  { weight: 4, arbitrary: allow },
  { weight: 3, arbitrary: late },
  {
    weight: 1,
    arbitrary: fc
      .nat(20)
      .map(
        (n): Act => [
          `withdraw ${n}`,
          world => world.asked[n % Math.max(world.asked.length, 1)]?.abort.abort(),
        ],
      ),
  },
  act(3, 'turn', world => world.turn()),
  endOfTurn,
  stop,
  {
    weight: 3,
    arbitrary: child.map(
      (id): Act => [`${id} begins`, world => world.subagent(id, { state: { activity: 'running' } })],
    ),
  },
  {
    weight: 2,
    arbitrary: child.map((id): Act => [`${id} is updated`, world => world.subagent(id, { title: 'x' })]),
  },
  { weight: 2, arbitrary: rests },
  {
    weight: 1,
    arbitrary: child.map((id): Act => [`${id} says it rests`, world => world.agent.say(id, idle())]),
  },
  act(2, 'time passes', world => world.clock.pass(10_000)),
  act(2, 'late replay', world => world.agent.say(world.session.sessionId, chunk('user', 'go'))),
  act(2, 'restart', world => world.restart('exit')),
  act(1, 'renewed sign-in', world => world.restart('dispose')),
  act(1, 'reload', world => world.reload()),
  {
    weight: 2,
    arbitrary: fc
      .array(meanwhile, { maxLength: 3 })
      .map((steps): Act => ['next window', world => world.nextWindow(steps)]),
  },
  act(2, 'fork', world => world.fork()),
  {
    weight: 2,
    arbitrary: fc
      .tuple(fc.boolean(), fc.boolean())
      .map(([asks, failed]): Act => [`load ${asks} ${failed}`, world => world.load(asks, failed)]),
  },
)

describe('pending requests', () => {
  it('get their own answer or none, whatever happens to the session', async () => {
    const list = fc.array(acts, { maxLength: 40, size: 'max' })
    await fc.assert(
      fc.asyncProperty(list, async steps => {
        const world = new World()
        await world.begin()
        for (const [, run] of steps) {
          await run(world)
          await settle()
          world.check()
        }
        world.agent.exit()
        await settle()
        world.check()
        assert(world.asked.every(one => one.outcome))
      }),
    )
  })
})
