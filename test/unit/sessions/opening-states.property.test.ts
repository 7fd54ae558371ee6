import assert from 'node:assert/strict'
import { mock } from 'node:test'
import fc from 'fast-check'
import { AgentRequestError } from '../../../src/acp/agent.ts'
import { type Deferred, deferred } from '../../../src/common/async.ts'
import { silentLogger } from '../../../src/common/logger.ts'
import { viewPhase } from '../../../src/conversation/phases.ts'
import { DisplayedSession } from '../../../src/sessions/displayed-session.ts'
import { type Attempt, Failures, type Reopening } from '../../../src/sessions/failures.ts'
import type { OpenSession, SessionReference } from '../../../src/sessions/open-session.ts'
import { OpeningFailures } from '../../../src/sessions/opening-failures.ts'
import { OPENING_TRANSITIONS, type Opening, stepOf, taskOf } from '../../../src/sessions/opening-states.ts'
import { SessionElsewhereError } from '../../../src/sessions/session-leases.ts'
import { SessionOpener, type SessionOpenerOptions } from '../../../src/sessions/session-opener.ts'
import type { OpenProgress } from '../../../src/sessions/session-starter.ts'

const types = Object.keys(OPENING_TRANSITIONS) as Array<Opening['type']>
const settle = () => new Promise<void>(resolve => setImmediate(resolve))

const reference = (sessionId: string): SessionReference => ({ agentId: 'one', sessionId, cwd: '/w' })
/** Its saved conversation is read at once; of `long`, its end first; of `absent`, nothing is saved. */
const SAVED = ['saved', 'long']

function openSession(agentId: string, sessionId: string, phase: 'ready' | 'ended'): OpenSession {
  const listen = () => ({ dispose() {} })
  return {
    agentId,
    agentName: agentId,
    key: `${agentId}/${sessionId}`,
    plan: { setup: { cwd: '/w', additionalDirectories: [] } },
    session: {
      sessionId,
      phase,
      state: { configOptions: [], entries: [] },
      conversation: {},
      agent: { capabilities: { load: true, resume: true } },
      onDidChangeStatus: listen,
      onDidEnd: listen,
    },
  } as unknown as OpenSession
}

/** What the user wants now: only this may be asked of an agent, and displayed. */
type Wanted = Pick<Attempt, 'agentId'> & { how: string; sessionId?: string }

/** Something that the opener waits for. */
interface Wait {
  for: 'agents' | 'prepared' | 'continued' | 'process' | 'window' | 'session'
  /** the actions of the user before it began */
  action: number
  answer: Deferred<OpenSession | undefined>
  wanted?: Wanted
  signal?: AbortSignal
  progress?: OpenProgress
}

/** One view. Everything that it waits for is answered by the test, in any order; nothing heeds an abort. */
class World {
  readonly waits: Wait[] = []
  readonly unexpected: unknown[] = []
  action = 0
  /** `undefined`: nothing is being opened; `any`: what the view attempts at that moment */
  wanted: Wanted | 'any' | undefined
  unsettled = 0
  hasPrompts = false
  hasDefault = true
  #sessions = 0
  readonly #pending = new Set<Promise<void>>()
  readonly failures = new Failures(() => {})
  readonly displayed: DisplayedSession
  readonly opener: SessionOpener

  constructor() {
    const runner = ((agentId: string) => ({
      name: agentId,
      renew: async () => {},
    })) as unknown as SessionOpenerOptions['runner']
    const starter = {
      create: (agentId: string, signal: AbortSignal, progress: OpenProgress) =>
        this.#asked({ how: 'new', agentId }, signal, progress),
      reopen: (
        how: Reopening,
        { agentId, sessionId }: SessionReference,
        signal: AbortSignal,
        progress: OpenProgress,
      ) => this.#asked({ how, agentId, sessionId }, signal, progress),
      fork: ({ agentId, sessionId }: SessionReference, signal: AbortSignal, progress: OpenProgress) =>
        this.#asked({ how: 'fork', agentId, sessionId }, signal, progress),
    } as unknown as SessionOpenerOptions['starter']
    const saved = {
      open: ({ agentId, sessionId }: SessionReference) =>
        SAVED.includes(sessionId) ? openSession(agentId, sessionId, 'ended') : undefined,
      end: ({ sessionId }: SessionReference) => (sessionId === 'long' ? {} : undefined),
      follow: () => ({ dispose() {} }),
      catchUp() {},
    } as unknown as SessionOpenerOptions['saved']
    const held = { takeOver: () => this.#wait('window') } as unknown as SessionOpenerOptions['held']
    const agents = {
      ready: () => this.#wait('agents'),
      defaultAgentId: () => (this.hasDefault ? 'one' : undefined),
      defaultProblem: () => undefined,
      get: (agentId: string) => (agentId === 'gone' ? undefined : { agentId }),
      used() {},
    } as unknown as SessionOpenerOptions['agents']
    const records = { agent: () => undefined, get: () => undefined }
    const options = { starter, saved, held, records, agents, runner, trusted: () => true, log: silentLogger }
    this.displayed = new DisplayedSession({
      newKey: 'new',
      expected: () => this.opener.expected,
      statusChanged() {},
      sessionEnded() {},
    })
    this.opener = new SessionOpener(
      {
        ...options,
        reports: new OpeningFailures(options, this.displayed, this.failures),
        hasPrompts: () => this.hasPrompts,
        agentChosen() {},
        agentReplaced() {},
        moved() {},
        store: { get: () => undefined, set() {} },
        continued: () => this.#wait('continued'),
      },
      this.displayed,
      this.failures,
      () => {},
    )
  }

  #wait(what: Wait['for'], more: Partial<Wait> = {}): Promise<OpenSession | undefined> {
    const wait: Wait = { for: what, action: this.action, answer: deferred(), ...more }
    this.waits.push(wait)
    return wait.answer.promise
  }

  #asked(wanted: Wanted, signal: AbortSignal, progress: OpenProgress) {
    if (this.wanted !== 'any') assert.deepEqual(wanted, this.wanted, 'something else is wanted by now')
    return this.#wait('session', { wanted, signal, progress })
  }

  /** The user begins something; `undefined` for what doesn't take the place of what is in progress. */
  act(wanted: Wanted | 'any', begin: () => Promise<void> | void): void {
    this.action++
    this.wanted = wanted
    this.#watch(begin())
  }

  #watch(working: Promise<void> | void): void {
    if (!working) return
    this.unsettled++
    working
      .catch(error => /doesn't become|wanted by now/.test(String(error)) && this.unexpected.push(error))
      .finally(() => this.unsettled--)
  }

  stop(how: () => void): void {
    this.action++
    this.wanted = undefined
    how()
  }

  prepare(): void {
    this.act({ how: 'new', agentId: 'two' }, () =>
      this.opener.startAfter('Two', this.#wait('prepared') as Promise<{ agentId: string } | undefined>),
    )
  }

  replace(): void {
    const attempt = this.displayed.continuation()
    if (!attempt || this.opener.attempt || !OPENING_TRANSITIONS[this.opener.state.type].includes('replacing'))
      return
    const { type: how, agentId, sessionId } = attempt
    this.act({ how, agentId, sessionId }, () =>
      this.opener.continueAfter(this.#wait('process') as Promise<unknown> as Promise<void>, attempt),
    )
  }

  restore(): void {
    const { state } = this.opener
    if (state.type !== 'idle' || this.displayed.current || this.failures.all.size > 0) return
    this.act({ how: 'restore', agentId: 'one', sessionId: 'saved' }, () =>
      this.opener.restore(reference('saved')),
    )
  }

  takeOver(): void {
    const found = [...this.failures.all].find(([, { type }]) => type === 'elsewhere')
    if (found) this.act('any', () => this.opener.takeOver(found[0]))
  }

  /** One of what the view waits for is answered, or fails. What isn't wanted anymore changes nothing. */
  async answer(at: number, error?: Error): Promise<void> {
    const [wait] = this.waits.splice(at % Math.max(1, this.waits.length), 1)
    if (!wait) return
    const isNewest = wait.action === this.action && this.wanted !== undefined
    const before = this.#seen()
    const agentId = wait.wanted?.agentId ?? 'two'
    const opened = openSession(agentId, wait.wanted?.sessionId ?? `s${++this.#sessions}`, 'ready')
    if (error) wait.answer.reject(error)
    else if (wait.for === 'continued') wait.answer.resolve(this.#sessions++ % 2 ? opened : undefined)
    else wait.answer.resolve(opened)
    await settle()
    if (!isNewest) assert.deepEqual(this.#seen(), before, `a late answer to ${wait.for} changed the view`)
    else if (wait.for === 'session' && !error) assert.equal(this.displayed.current, opened)
    if (wait.for === 'session' && !isNewest) assert.ok(wait.signal?.aborted, 'it was canceled')
    if (isNewest && !this.opener.pending) this.wanted = undefined
  }

  /** An agent replays the history of a session that is being opened, perhaps of one that isn't wanted anymore. */
  replay(): void {
    const [wait] = this.waits.filter(({ progress }) => progress)
    if (!wait) return
    const isNewest = wait.action === this.action && this.wanted !== undefined
    const before = this.#seen()
    wait.progress?.onSession?.(openSession('one', 'replayed', 'ready'), true)
    if (isNewest) assert.equal(this.opener.phase, 'loading')
    else assert.deepEqual(this.#seen(), before)
  }

  #seen() {
    const { opener, displayed, failures } = this
    return [opener.state, displayed.current, displayed.key, [...failures.all.keys()]]
  }

  /** Prompts wait for it. */
  #awaited(pending: Promise<void> | undefined): void {
    if (!pending || this.#pending.has(pending)) return
    this.#pending.add(pending)
    const settled = () => void this.#pending.delete(pending)
    pending.then(settled, settled)
  }

  check(): void {
    const { opener, displayed } = this
    this.#awaited(opener.pending)
    for (const pending of this.#pending)
      assert.equal(pending, opener.pending, 'prompts wait for something that is no longer opened')
    assert.deepEqual(this.unexpected, [])
    assert.ok(types.includes(opener.state.type))
    assert.equal(opener.phase, viewPhase(stepOf(opener.state), displayed.current?.session))
    assert.equal(opener.pending !== undefined, taskOf(opener.state) !== undefined)
    if (this.wanted === undefined) assert.equal(opener.pending, undefined)
    // its failures are for no other session
    if (opener.state.type === 'failed') assert.equal(displayed.current, undefined)
  }

  async end(): Promise<void> {
    while (this.waits.length > 0) await this.answer(0)
    mock.timers.tick(1000)
    await settle()
    while (this.waits.length > 0) await this.answer(0)
    this.check()
    assert.equal(this.unsettled, 0, 'something hangs')
    assert.equal(this.opener.pending, undefined)
  }
}

const signIn = () =>
  new AgentRequestError('session/new', 'auth-required', { code: -32000, message: 'Sign in.' })

const steps = {
  start: world => world.act({ how: 'new', agentId: 'one' }, () => world.opener.start()),
  startTwo: world => world.act({ how: 'new', agentId: 'two' }, () => world.opener.start('two')),
  load: world =>
    world.act({ how: 'load', agentId: 'one', sessionId: 'absent' }, () =>
      world.opener.reopen('load', reference('absent')),
    ),
  resume: world =>
    world.act({ how: 'resume', agentId: 'one', sessionId: 'saved' }, () =>
      world.opener.reopen('resume', reference('saved')),
    ),
  loadLong: world =>
    world.act({ how: 'load', agentId: 'one', sessionId: 'long' }, () =>
      world.opener.reopen('load', reference('long')),
    ),
  fork: world =>
    world.act({ how: 'fork', agentId: 'one', sessionId: 'saved' }, () =>
      world.opener.fork(reference('saved')),
    ),
  prepare: world => world.prepare(),
  restore: world => world.restore(),
  replace: world => world.replace(),
  restart: world => {
    if (world.opener.agentId !== undefined || world.hasDefault) world.act('any', () => world.opener.restart())
  },
  taken: ({ displayed, opener }) => {
    const attempt = displayed.continuation()
    if (attempt && !opener.attempt) opener.showElsewhere(attempt, 'window', true)
  },
  takeOver: world => world.takeOver(),
  cancel: world => {
    if (world.opener.attempt || world.opener.step === 'searching')
      world.stop(() => assert.ok(world.opener.cancel()))
  },
  leave: world =>
    world.stop(() => {
      world.opener.abort()
      world.failures.clear()
      world.displayed.display(undefined)
    }),
  dispose: world => world.stop(() => world.opener.dispose()),
  drawn: ({ opener }) => opener.end?.drawn.resolve(),
  wait: () => mock.timers.tick(400),
  prompts: world => {
    world.hasPrompts = !world.hasPrompts
  },
  default: world => {
    world.hasDefault = !world.hasDefault
  },
  first: world => world.answer(0),
  second: world => world.answer(1),
  third: world => world.answer(2),
  fails: world => world.answer(0, new Error('No.')),
  secondFails: world => world.answer(1, new Error('No.')),
  refuses: world => world.answer(0, signIn()),
  isElsewhere: world => world.answer(0, new SessionElsewhereError()),
  replay: world => world.replay(),
} satisfies Record<string, (world: World) => unknown>

async function play(names: ReadonlyArray<keyof typeof steps>): Promise<void> {
  mock.timers.enable({ apis: ['setTimeout'] })
  try {
    const world = new World()
    for (const name of names) {
      await steps[name](world)
      await settle()
      world.check()
    }
    await world.end()
  } finally {
    mock.timers.reset()
  }
}

describe('the state in which a view opens a session', () => {
  it('is left for whatever the user begins, or stops', () => {
    for (const type of types)
      for (const next of ['idle', 'preparing', 'searching', 'opening', 'restarting', 'takingOver'] as const)
        assert.ok(OPENING_TRANSITIONS[type].includes(next), `${type} becomes ${next}`)
  })

  it('fails, or is found in another window, only if a session was being opened', () => {
    for (const type of types) {
      assert.equal(OPENING_TRANSITIONS[type].includes('failed'), type === 'opening', type)
      assert.equal(
        OPENING_TRANSITIONS[type].includes('elsewhere'),
        type === 'opening' || type === 'idle',
        type,
      )
    }
  })

  it('is that of the newest attempt, whatever is answered, fails, is canceled or closed in whatever order', async () => {
    const often = ['start', 'first', 'first', 'replace', 'taken', 'takeOver', 'restore'] as const
    const step = fc.oneof(
      fc.constantFrom(...often),
      fc.constantFrom(...(Object.keys(steps) as Array<keyof typeof steps>)),
    )
    await fc.assert(fc.asyncProperty(fc.array(step, { maxLength: 30, size: 'max' }), play))
  })
})
