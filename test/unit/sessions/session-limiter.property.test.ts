import assert from 'node:assert/strict'
import fc from 'fast-check'
import { EMPTY_DRAFT } from '../../../src/common/draft.ts'
import { Emitter } from '../../../src/common/event.ts'
import { PromptQueue } from '../../../src/conversation/prompts/prompt-queue.ts'
import { Session } from '../../../src/conversation/session.ts'
import { LIMIT_KINDS, type Limits, usedAmount } from '../../../src/conversation/session-limit.ts'
import type { PermissionEntry } from '../../../src/conversation/state.ts'
import { MemoryStore } from '../../../src/history/session-store.ts'
import { SessionLimiter } from '../../../src/sessions/session-limiter.ts'
import { UsageMeter } from '../../../src/sessions/usage-meter.ts'
import { Clock } from '../conversation/clock.ts'
import { FakeAgent, settle } from '../conversation/fake-agent.ts'
import { text } from '../conversation/updates.ts'

const MINUTE = 60_000
const setup = { cwd: '/w', additionalDirectories: [], mcpServers: [] }

/** A session with limits, whose agent reports anything. */
class World {
  readonly agent = new FakeAgent()
  readonly clock = new Clock()
  readonly records = new MemoryStore()
  readonly queue = new PromptQueue('k', { save() {}, holds: () => true })
  readonly session: Session
  readonly limiter: SessionLimiter
  /** the limit that the user enters */
  entered: number | undefined
  /** what Parley did in spite of a limit */
  readonly wrong: string[] = []
  #count = 0

  constructor(limits: Limits) {
    const { agent, clock, records } = this
    const { schedule } = clock
    agent.capabilities.steering = true
    const now = () => clock.now
    this.session = new Session({ agent, sessionId: 's', setup, phase: 'ready', now, schedule })
    const { session } = this
    const send = agent.prompt.bind(agent)
    agent.prompt = (sessionId, content) => {
      this.#checkNotReached('a prompt')
      return send(sessionId, content)
    }
    const steer = agent.steer.bind(agent)
    agent.steer = (sessionId, content) => {
      this.#checkNotReached('a prompt for the turn')
      return steer(sessionId, content)
    }
    session.requests.answerByRule = () => {
      this.#checkNotReached('the answer of a rule')
      return Promise.resolve({ optionId: 'yes', rule: { text: 'r', scope: 'user' } as never })
    }
    agent.onUpdate(({ update }) => session.receive(update))
    const meter = new UsageMeter({ agentId: 'a', session, records, isNew: true, now })
    this.limiter = new SessionLimiter({
      ...{ agentId: 'a', session, meter, records, schedule },
      settings: {
        read: () => limits,
        edit: async limiter => limiter.set('cost', this.entered),
        language: 'en',
      },
      cancel: () => session.turns.cancel(),
      time: { now, clock: now },
    })
    session.turns.queue = this.queue
  }

  #checkNotReached(what: string): void {
    const { limits, use } = this.limiter.standing
    for (const kind of LIMIT_KINDS) {
      const limit = limits[kind]
      if (limit !== undefined && usedAmount(kind, use) >= limit) this.wrong.push(`${what}: ${kind}`)
    }
  }

  get questions(): PermissionEntry[] {
    return this.session.requests.open.filter(
      (entry): entry is PermissionEntry => entry.kind === 'permission' && entry.outlastsTurn === true,
    )
  }

  get warnings(): string[] {
    return this.session.state.entries.flatMap(entry => (entry.kind === 'notice' ? [entry.title] : []))
  }

  write(joins: boolean): void {
    const id = `p${++this.#count}`
    this.queue.enqueue({ id, draft: { ...EMPTY_DRAFT, text: id } }, async () => [text(id)], { joins })
  }

  spend(amount: number, currency: string): void {
    this.agent.say('s', { type: 'usage', usage: { used: 1, size: 9, cost: { amount, currency } } })
  }

  endTurn(total: number): void {
    const call = this.agent.prompts.at(-1)
    if (!call || !this.session.turns.isWorking) return
    const tokens = { of: 'turn', total, input: total, output: 0 } as const
    this.agent.say('s', { type: 'state', state: 'idle', stopReason: 'end_turn', tokens })
    call.answer.resolve()
  }

  permission(): void {
    const options = [{ optionId: 'yes', name: 'Yes', kind: 'allow_once' as const }]
    const request = { sessionId: 's', title: 'Run?', subject: { type: 'none' as const }, options }
    void this.session.requests.requestPermission(request, new AbortController().signal)
  }

  answer(optionId: string | undefined): void {
    const [question] = this.questions
    if (question) this.session.requests.answerPermission(question.requestId, optionId)
  }

  check(): void {
    assert.deepEqual(this.wrong, [])
    assert.ok(this.questions.length <= 1, 'one question at a time')
    assert.equal(new Set(this.warnings).size, this.warnings.length, 'each warning once')
    const { limits, use } = this.limiter.standing
    const isReached = LIMIT_KINDS.some(kind => usedAmount(kind, use) >= (limits[kind] ?? Infinity))
    // a prompt that waits for the limit alone isn't left without a question
    const isWorking = this.session.turns.isWorking || this.queue.isSteering
    if (isReached && !isWorking && this.queue.queued.length > 0 && !this.queue.isPaused)
      assert.equal(this.questions.length, 1, 'a prompt waits without a question')
    if (!isReached && this.questions.length === 0 && !isWorking)
      assert.ok(this.queue.queued.length === 0 || this.queue.isPaused, 'nothing holds the prompt')
  }
}

type Act = (world: World) => void
const amounts = fc.oneof(
  fc.double({ min: 0, max: 12, noNaN: true }),
  fc.constantFrom(Number.NaN, -1, 1e308, 0, Number.POSITIVE_INFINITY, 4, 5),
)
const act: fc.Arbitrary<Act> = fc.oneof(
  fc.boolean().map(
    (joins): Act =>
      world =>
        world.write(joins),
  ),
  fc.tuple(amounts, fc.constantFrom('USD', 'EUR', 'a unit that is much too long')).map(
    ([amount, currency]): Act =>
      world =>
        world.spend(amount, currency),
  ),
  fc.oneof(fc.nat(1500), amounts).map(
    (tokens): Act =>
      world =>
        world.endTurn(tokens),
  ),
  fc.nat(6 * MINUTE).map(
    (ms): Act =>
      world =>
        world.clock.pass(ms),
  ),
  fc.constantFrom('continue', 'stop', 'set', undefined).map(
    (option): Act =>
      world =>
        world.answer(option),
  ),
  fc.option(fc.double({ min: 0.1, max: 50, noNaN: true }), { nil: undefined }).map(
    (limit): Act =>
      world => {
        world.entered = limit
      },
  ),
  fc.constant<Act>(world => world.permission()),
  fc.boolean().map(
    (taken): Act =>
      world => {
        for (const { answer } of world.agent.steered) answer.resolve(taken ? 'injected' : 'failed')
      },
  ),
  fc.constant<Act>(world => world.session.turns.cancel()),
  fc.constant<Act>(world => world.queue.resume()),
)

describe("a session's limit", () => {
  it('is never exceeded by what Parley sends, whatever the agent reports and the user answers', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(act, { minLength: 10, maxLength: 60, size: 'max' }), async acts => {
        const world = new World({ cost: 5, minutes: 10, tokens: 2000 })
        for (const one of acts) {
          one(world)
          await settle()
          world.check()
        }
      }),
    )
  })

  it('asks nothing more once the user stops the turn, or what waits after it', async () => {
    const world = new World({ cost: 5 })
    world.write(false)
    await settle()
    world.spend(6, 'USD')
    await settle()
    assert.equal(world.questions.length, 1)
    world.session.turns.cancel()
    await settle()
    assert.equal(world.questions.length, 0, 'while the turn ends')
    world.endTurn(0)
    await settle()
    assert.equal(world.questions.length, 0)

    world.write(false)
    await settle()
    assert.equal(world.questions.length, 1)
    // between turns
    world.session.turns.cancel()
    await settle()
    assert.deepEqual([world.questions.length, world.queue.isPaused], [0, true])
    world.queue.resume()
    await settle()
    world.session.turns.sendNow('p2')
    await settle()
    assert.equal(world.questions.length, 1)
    assert.equal(world.agent.prompts.length, 1)
  })

  it('counts the time of turns alone, also of one that ran on without a window', async () => {
    const world = new World({ minutes: 10 })
    world.clock.pass(60 * MINUTE)
    world.write(false)
    await settle()
    world.clock.pass(4 * MINUTE)
    world.endTurn(0)
    await settle()
    world.clock.pass(60 * MINUTE)
    assert.equal(world.limiter.standing.use.minutes, 4)
    world.write(false)
    await settle()
    world.clock.pass(4 * MINUTE)
    await settle()
    assert.deepEqual(world.warnings, ['Session limit nearly reached: 8 of 10 min'])
    world.clock.pass(2 * MINUTE)
    await settle()
    const [question] = world.questions
    assert.match(question?.description ?? '', /10 of 10 min/)
    assert.deepEqual(
      question?.options.map(({ name }) => name),
      ['Continue to 20 min', 'Set Limit…', 'Stop'],
    )
    // the agent works while the user is asked
    world.clock.pass(MINUTE)
    assert.equal(world.limiter.standing.use.minutes, 11)
    // the next window
    world.limiter.dispose()
    world.clock.pass(5 * MINUTE)
    const next = new SessionLimiter({
      ...{ agentId: 'a', session: world.session, records: world.records },
      meter: { used: { costs: [], tokens: 0 }, onDidChange: new Emitter<void>().event },
      settings: { read: () => ({}), edit: async () => {}, language: 'en' },
      cancel: () => {},
      schedule: world.clock.schedule,
      time: { now: () => world.clock.now, clock: () => world.clock.now },
    })
    assert.deepEqual(next.standing.limits, { minutes: 10 })
    await settle()
    assert.equal(Math.floor(next.standing.use.minutes), 16)
  })
})
