import assert from 'node:assert/strict'
import fc from 'fast-check'
import { AgentRequestError } from '../../../src/acp/agent.ts'
import { EMPTY_DRAFT } from '../../../src/common/draft.ts'
import type { PromptQueue } from '../../../src/conversation/prompts/prompt-queue.ts'
import { isReturned } from '../../../src/conversation/prompts/prompt-states.ts'
import { scaledRuns } from '../../support/property-tests.ts'
import type { FakeAgent, PromptCall } from '../conversation/fake-agent.ts'
import { SessionsFixture } from './sessions-fixture.ts'

const signInRequired = (method: string) =>
  new AgentRequestError(method, 'auth-required', { code: -32000, message: 'Sign in' })
const rest = async () => {
  for (let turns = 0; turns < 5; turns++) await new Promise<void>(resolve => setImmediate(resolve))
}

/** A window with two agents, whose view a user works with: each prompt has a unique id, which is also its text. */
class World {
  readonly fixture = new SessionsFixture()
  /** prompts that the user wrote and neither removed nor took back, with the agent that was chosen then */
  readonly written = new Map<string, string | undefined>()
  /** prompts that agents received, in order, with how often they refused each for a sign-in */
  readonly received: Array<{ id: string; agentId: string }> = []
  readonly refused = new Map<string, number>()
  readonly answered = new Set<PromptCall>()
  readonly #queues = new Set<PromptQueue>()
  count = 0
  sessions = 0
  broken: string[] = []

  constructor() {
    this.fixture.prepare = agent => {
      const prompt = agent.prompt.bind(agent)
      agent.prompt = (sessionId, content) => {
        const { agentId } = this.fixture.started.find(one => one.agent === agent)!
        const id = content.flatMap(block => (block.type === 'text' ? block.text : [])).join()
        this.received.push({ id, agentId })
        const call = prompt(sessionId, content)
        call.catch(() => {})
        return call
      }
    }
    this.fixture.queues.onDidChange(queue => {
      this.#queues.add(queue)
      this.checkStates()
    })
  }

  get controller() {
    return this.fixture.controller
  }

  get agent(): FakeAgent | undefined {
    return this.fixture.started.at(-1)?.agent
  }

  get openCalls(): PromptCall[] {
    return this.fixture.started.flatMap(({ agent }) => agent.prompts).filter(call => !this.answered.has(call))
  }

  get stored(): string[] {
    return this.fixture.unsent.prompts.map(({ id }) => id)
  }

  /** What reads the disk when the window crashes now: everything unsent must be there. */
  checkDisk(): void {
    const waiting = [...this.#queues].flatMap(({ prompts }) => prompts.map(({ id }) => id))
    const unsent = new Set(
      [...this.written.keys()].filter(id => this.#timesReceived(id) === 0).concat(waiting),
    )
    const { stored } = this
    for (const id of unsent) if (!stored.includes(id)) this.broken.push(`${id} is not on disk`)
    for (const id of new Set(stored))
      if (stored.indexOf(id) !== stored.lastIndexOf(id)) this.broken.push(`${id} is on disk twice`)
  }

  #timesReceived(id: string): number {
    return this.received.filter(one => one.id === id).length
  }

  checkStates(): void {
    for (const { id, agentId } of this.received) {
      const chosen = this.written.get(id)
      if (chosen !== undefined && chosen !== agentId)
        this.broken.push(`${id} was written for ${chosen}, and ${agentId} got it`)
      const times = this.#timesReceived(id)
      if (times > 1 + (this.refused.get(id) ?? 0)) this.broken.push(`${id} was sent ${times} times`)
    }
  }

  write(): void {
    const id = `p${++this.count}`
    const { controller } = this
    this.written.set(id, controller.agentId)
    controller.prompts.enqueue(controller.key, { id, draft: { ...EMPTY_DRAFT, text: id } })
    if (this.#timesReceived(id) === 0 && !this.stored.includes(id))
      this.broken.push(`${id} is not on disk after Enter`)
  }

  answer(end: (call: PromptCall, agent: FakeAgent) => void): void {
    const call = this.openCalls[0]
    if (!call) return
    this.answered.add(call)
    const owner = this.fixture.started.find(({ agent }) => agent.prompts.includes(call))!
    end(call, owner.agent)
  }

  refuse(call: PromptCall): void {
    const id = call.content.flatMap(block => (block.type === 'text' ? block.text : [])).join()
    this.refused.set(id, (this.refused.get(id) ?? 0) + 1)
    call.answer.reject(signInRequired('session/prompt'))
  }

  opens(end: 'open' | 'fail' | 'signIn'): void {
    const agent = this.agent
    if (!agent) return
    for (const start of [...agent.newSessions.splice(0), ...agent.resumes.splice(0)]) {
      if (end === 'open') start.resolve({ sessionId: `s${++this.sessions}` })
      else if (end === 'signIn') start.reject(signInRequired('session/new'))
      else start.reject(new AgentRequestError('session/new', 'other', { code: 1, message: 'No.' }))
    }
  }

  signInCard(): string | undefined {
    return [...this.controller.failures].find(([, { type }]) => type === 'sign-in')?.[0]
  }
}

const steps: Record<string, (world: World) => unknown> = {
  write: world => world.write(),
  opens: world => world.opens('open'),
  failsToOpen: world => world.opens('fail'),
  opensAfterSignIn: world => world.opens('signIn'),
  endTurn: world => world.answer((call, agent) => agent.endTurn(call)),
  failTurn: world => world.answer(call => call.answer.reject(new Error('broken'))),
  requireSignIn: world => world.answer(call => world.refuse(call)),
  signIn: world => {
    const card = world.signInCard()
    if (card) void world.controller.signIn.signIn(card, 'login').catch(() => {})
  },
  dismiss: world => {
    const card = world.signInCard()
    if (card) world.controller.dismiss(card)
  },
  agentExits: world => world.agent?.exit(),
  restart: world => void world.controller.opener.restart().catch(() => {}),
  startOne: world => void world.controller.opener.start('one').catch(() => {}),
  startTwo: world => void world.controller.opener.start('two').catch(() => {}),
  leave: world => world.controller.leave(),
  show: world => {
    const [open] = world.fixture.manager.list()
    if (open) world.controller.show(open)
  },
  cancel: world => world.controller.cancel(),
  resume: world => world.controller.prompts.queue.resume(),
  sendNow: world => world.controller.current?.sendNow(world.controller.prompts.queue.queued.at(-1)?.id ?? ''),
  edit: world => world.controller.prompts.queue.edit(world.controller.prompts.queue.queued[0]?.id ?? ''),
  remove: world => {
    const id = world.controller.prompts.queue.queued[0]?.id
    if (id === undefined) return
    world.controller.prompts.queue.remove(id)
    world.written.delete(id)
  },
  composerTakes: world => {
    const { controller } = world
    const ids = controller.prompts.queue.returned.map(({ id }) => id)
    controller.prompts.movedToComposer(controller.key, ids, EMPTY_DRAFT)
    for (const id of ids) world.written.delete(id)
  },
}

async function play(names: readonly string[]): Promise<World> {
  const world = new World()
  for (const name of names) {
    await steps[name]!(world)
    await rest()
    world.checkDisk()
    world.checkStates()
    assert.deepEqual(world.broken, [], names.join(' '))
  }
  return world
}

describe('the prompts of a view', () => {
  it('are each sent once or still in the queue and on disk, whatever happens to agents and sessions', async () => {
    const often = [
      'write',
      'write',
      'opens',
      'opens',
      'endTurn',
      'requireSignIn',
      'signIn',
      'startOne',
      'startTwo',
    ]
    const step = fc.oneof(
      { weight: 3, arbitrary: fc.constantFrom(...often) },
      { weight: 2, arbitrary: fc.constantFrom(...Object.keys(steps)) },
    )
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 30, size: 'max' }), async names => {
        const world = await play(names)
        const { queues, unsent } = world.fixture
        const mineOf = new Map(
          unsent.prompts.map(({ key }) => [key, queues.of(key).prompts.map(({ id }) => id)]),
        )
        // another window reads what this one left, and sends nothing
        const next = world.fixture.nextWindow().queues
        for (const [key, mine] of mineOf) {
          assert.deepEqual(
            next.of(key).prompts.map(({ id, state }) => [id, isReturned(state)]),
            mine.map(id => [id, true]),
          )
        }
      }),
      { numRuns: scaledRuns(100) },
    )
  })
})
