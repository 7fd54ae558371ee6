import { strict as assert } from 'node:assert'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import fc from 'fast-check'
import type { SessionUpdate } from '../../../src/acp/model.ts'
import { Emitter } from '../../../src/common/event.ts'
import { reduce } from '../../../src/conversation/reducer/reduce.ts'
import { createSessionState } from '../../../src/conversation/reducer/reducing-state.ts'
import type { Change } from '../../../src/conversation/state.ts'
import { dayOf, LocalSessions } from '../../../src/history/local-sessions.ts'
import { forkUsage, UsageMeter } from '../../../src/sessions/usage-meter.ts'

const HOUR = 3_600_000
const START = new Date(2026, 10, 22, 20).getTime()

/** A simulated open session: reduces its updates and reports every change. */
class FakeSession {
  readonly state = createSessionState()
  phase: 'loading' | 'ready' = 'ready'
  readonly #change = new Emitter<Change[]>()
  readonly onDidChange = this.#change.event
  readonly sessionId: string

  constructor(sessionId: string) {
    this.sessionId = sessionId
  }

  receive(update: SessionUpdate, now: number): void {
    this.#change.fire(reduce(this.state, update, now))
  }
}

/** The true state of a session, whether or not anyone knows it. */
interface Truth {
  agentId: string
  sessionId: string
  currency: string
  /** all costs that the agent has reported */
  told: number[]
  cost: number
  runs: boolean
  open: { session: FakeSession; meter: UsageMeter }
}

/** The total of an agent on a day, in thousandths and tokens. */
type Sums = Map<string, number>

class World {
  readonly #directory = mkdtempSync(path.join(tmpdir(), 'parley-usage-'))
  records = this.#records()
  now = START
  readonly sessions: Truth[] = []
  readonly expected: Sums = new Map()
  /** Whether agents continue counting when a session is resumed. Others restart at zero. */
  readonly countsOn: boolean

  constructor(countsOn: boolean) {
    this.countsOn = countsOn
  }

  #records(): LocalSessions {
    return new LocalSessions({ file: path.join(this.#directory, 'sessions.db'), now: () => this.now })
  }

  begin(agentId: string, currency: string): void {
    const sessionId = `s${this.sessions.length}`
    const open = this.#open(agentId, sessionId, true)
    this.sessions.push({ agentId, sessionId, currency, told: [], cost: 0, runs: false, open })
  }

  #open(agentId: string, sessionId: string, isNew: boolean): Truth['open'] {
    const session = new FakeSession(sessionId)
    const meter = new UsageMeter({ agentId, session, records: this.records, isNew, now: () => this.now })
    return { session, meter }
  }

  turn(truth: Truth): void {
    if (truth.runs) return
    truth.runs = true
    this.#say(truth, { type: 'state', state: 'running' })
  }

  spend(truth: Truth, thousandths: number): void {
    if (!truth.runs) return
    truth.cost += thousandths
    this.#add(truth.agentId, truth.currency, thousandths)
    this.#tell(truth, truth.cost)
  }

  end(truth: Truth, tokens: number): void {
    if (!truth.runs) return
    truth.runs = false
    // the last report of a turn is the session's cost; earlier ones can be of any time
    if (truth.told.length > 0) this.#tell(truth, truth.cost)
    this.#add(truth.agentId, '', tokens)
    const idle = { type: 'state', state: 'idle', tokens: tokensOf(tokens) } as const
    this.#say(truth, idle)
    // a snapshot of an idle session repeats how its turn ended
    this.#say(truth, { ...idle, tokens: tokensOf(tokens) })
  }

  /** The agent repeats its last report, or reports only the context. */
  repeat(truth: Truth, index: number): void {
    const told = truth.told[index % Math.max(1, truth.told.length)]
    if (told === undefined) this.#say(truth, { type: 'usage', usage: { used: 1, size: 9 } })
    else this.#tell(truth, told)
  }

  /** The window reloads: `how` the session is restored, and whether the meter wrote before. */
  reload(truth: Truth, how: 'load' | 'resume', crash: boolean, order: number): void {
    if (!crash) truth.open.meter.dispose()
    truth.runs = false
    truth.open = this.#open(truth.agentId, truth.sessionId, false)
    if (!this.countsOn) {
      truth.cost = 0
      truth.told = []
      return
    }
    const { session } = truth.open
    if (how === 'resume') return
    session.phase = 'loading'
    const replayed = truth.told.map((_, index) => truth.told[(index * 7 + order) % truth.told.length] ?? 0)
    for (const told of replayed) this.#tell(truth, told)
    this.#say(truth, { type: 'state', state: 'running' })
    this.#say(truth, { type: 'state', state: 'idle', tokens: tokensOf(99) })
    session.phase = 'ready'
    if (order % 2) this.#tell(truth, truth.cost)
  }

  /** Another client continues a session while it's closed here; a load reports its cost since then. */
  elsewhere(truth: Truth, thousandths: number): void {
    if (truth.runs || !this.countsOn) return
    truth.cost += thousandths
    this.reload(truth, 'load', false, 1)
  }

  fork(truth: Truth): void {
    if (truth.runs) return
    const sessionId = `s${this.sessions.length}`
    const { agentId, currency } = truth
    forkUsage(this.records, agentId, truth.sessionId, sessionId, this.now)
    const open = this.#open(agentId, sessionId, false)
    const cost = this.countsOn ? truth.cost : 0
    const told = this.countsOn ? [...truth.told] : []
    this.sessions.push({ agentId, sessionId, currency, told, cost, runs: false, open })
  }

  pass(hours: number): void {
    this.now += hours * HOUR
  }

  counted(): Sums {
    const sums: Sums = new Map()
    for (const { day, agentId, currency, cost, totalTokens } of this.records.usage(dayOf(START))) {
      sums.set(`${day} ${agentId} ${currency}`, currency === '' ? totalTokens : Math.round(cost * 1000))
    }
    for (const agentId of ['a', 'b']) {
      const days = new Map<string, number>()
      for (const { day, totalTokens } of this.records.modelUsage(agentId, dayOf(START)))
        days.set(day, (days.get(day) ?? 0) + totalTokens)
      for (const [day, tokens] of days)
        assert.equal(tokens, sums.get(`${day} ${agentId} `), 'tokens by model')
    }
    return sums
  }

  close(): void {
    for (const { open } of this.sessions) open.meter.dispose()
  }

  dispose(): void {
    this.records.dispose()
    rmSync(this.#directory, { recursive: true, force: true })
  }

  #add(agentId: string, currency: string, amount: number): void {
    if (amount === 0) return
    const key = `${dayOf(this.now)} ${agentId} ${currency}`
    this.expected.set(key, (this.expected.get(key) ?? 0) + amount)
  }

  #tell(truth: Truth, thousandths: number): void {
    truth.told.push(thousandths)
    const cost = { amount: thousandths / 1000, currency: truth.currency }
    this.#say(truth, { type: 'usage', usage: { used: 1, size: 9, cost } })
  }

  #say(truth: Truth, update: SessionUpdate): void {
    truth.open.session.receive(update, this.now)
  }
}

function tokensOf(total: number) {
  const half = Math.floor(total / 2)
  const models = [
    { model: 'large', total: half, input: half, output: 0 },
    { model: 'small', total: total - half, input: total - half, output: 0 },
  ]
  return { of: 'turn' as const, total, input: total, output: 0, models }
}

type Action = (world: World) => void

const small = fc.nat(500)
const onSession = (act: (world: World, truth: Truth, a: number, b: boolean) => void) =>
  fc.tuple(fc.nat(2), small, fc.boolean()).map(
    ([index, a, b]): Action =>
      world => {
        const truth = world.sessions[index % Math.max(1, world.sessions.length)]
        if (truth) act(world, truth, a, b)
      },
  )

const actions = fc.array(
  fc.oneof(
    {
      weight: 2,
      arbitrary: fc.tuple(fc.constantFrom('a', 'b'), fc.constantFrom('USD', 'EUR', 'credits')).map(
        ([agent, currency]): Action =>
          world =>
            world.begin(agent, currency),
      ),
    },
    { weight: 4, arbitrary: onSession((world, truth) => world.turn(truth)) },
    { weight: 6, arbitrary: onSession((world, truth, a) => world.spend(truth, a)) },
    { weight: 4, arbitrary: onSession((world, truth, a) => world.end(truth, a)) },
    { weight: 2, arbitrary: onSession((world, truth, a) => world.repeat(truth, a)) },
    {
      weight: 2,
      arbitrary: onSession((world, truth, a, b) =>
        world.reload(truth, b ? 'load' : 'resume', a % 3 === 0, a),
      ),
    },
    { weight: 1, arbitrary: onSession((world, truth) => world.fork(truth)) },
    { weight: 1, arbitrary: onSession((world, truth, a) => world.elsewhere(truth, a)) },
    {
      weight: 2,
      arbitrary: fc.integer({ min: 1, max: 30 }).map(
        (hours): Action =>
          world =>
            world.pass(hours),
      ),
    },
  ),
  { maxLength: 60, size: 'max' },
)

function run(countsOn: boolean, steps: readonly Action[], check: (world: World) => void): void {
  const world = new World(countsOn)
  try {
    world.begin('a', 'USD')
    for (const step of steps) step(world)
    world.close()
    check(world)
  } finally {
    world.dispose()
  }
}

describe('usage and cost', () => {
  it('match what was spent per day and agent, whatever is repeated, loaded, resumed or forked', () => {
    fc.assert(
      fc.property(actions, steps =>
        run(true, steps, world => assert.deepEqual(sorted(world.counted()), sorted(world.expected))),
      ),
    )
  })

  it('never exceed what was spent with an agent that restarts at zero', () => {
    fc.assert(
      fc.property(actions, steps =>
        run(false, steps, world => {
          const spent = totals(world.expected)
          for (const [key, amount] of totals(world.counted()))
            assert.ok(amount <= (spent.get(key) ?? 0), `${key}: ${amount} of ${spent.get(key)}`)
        }),
      ),
    )
  })

  it('include a turn that costs less than all earlier ones, after the agent restarted at zero', () => {
    run(
      false,
      [
        world => world.turn(world.sessions[0]!),
        world => world.spend(world.sessions[0]!, 500),
        world => world.end(world.sessions[0]!, 0),
        world => world.reload(world.sessions[0]!, 'resume', true, 0),
        world => world.turn(world.sessions[0]!),
        world => world.spend(world.sessions[0]!, 100),
        world => world.end(world.sessions[0]!, 0),
        world => world.turn(world.sessions[0]!),
        world => world.spend(world.sessions[0]!, 50),
      ],
      world => assert.deepEqual([...world.counted().values()], [650]),
    )
  })
})

function sorted(sums: Sums): Array<[string, number]> {
  return [...sums].sort(([a], [b]) => (a < b ? -1 : 1))
}

/** The total of all days. */
function totals(sums: Sums): Sums {
  const all: Sums = new Map()
  for (const [key, amount] of sums) {
    const agent = key.slice(key.indexOf(' ') + 1)
    all.set(agent, (all.get(agent) ?? 0) + amount)
  }
  return all
}
