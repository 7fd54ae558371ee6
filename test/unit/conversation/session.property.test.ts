import { strict as assert } from 'node:assert'
import fc from 'fast-check'
import { AgentRequestError } from '../../../src/acp/agent.ts'
import type { ElicitationOutcome, PermissionOutcome } from '../../../src/acp/model.ts'
import type { TurnOutcome } from '../../../src/conversation/prompts/prompt.ts'
import { Session } from '../../../src/conversation/session.ts'
import { update } from './arbitrary-updates.ts'
import { Clock } from './clock.ts'
import { FakeAgent, type PromptCall, settle } from './fake-agent.ts'
import { form, idle, permissionRequest, running, snapshotOf, text } from './updates.ts'

/** A session in which the user and the agent do anything at any time. */
class World {
  readonly agent = new FakeAgent()
  readonly clock = new Clock()
  readonly session = new Session({
    agent: this.agent,
    sessionId: 's',
    setup: { cwd: '/w', additionalDirectories: [], mcpServers: [] },
    phase: 'ready',
    now: () => this.clock.now,
    schedule: this.clock.schedule,
  })
  readonly outcomes: Array<TurnOutcome | undefined> = []
  readonly answers: Array<PermissionOutcome | undefined> = []
  readonly filled: Array<ElicitationOutcome | undefined> = []
  readonly follower = snapshotOf(this.session.state)
  ended = false

  constructor() {
    this.session.onDidChange(changes => this.follower.apply(this.session.state, changes))
    this.agent.onUpdate(event => this.session.receive(event.update))
  }

  open(): PromptCall[] {
    return this.agent.prompts.filter(call => !this.#settled.has(call))
  }

  readonly #settled = new Set<PromptCall>()

  pending(n: number): string {
    return this.session.requests.open[n]?.requestId ?? ''
  }

  prompt(): void {
    const index = this.outcomes.push(undefined) - 1
    void this.session.prompt([text(`prompt ${index}`)]).then(outcome => {
      this.outcomes[index] = outcome
    })
  }

  ask(signal: AbortSignal): void {
    const index = this.answers.push(undefined) - 1
    void this.session.requests.requestPermission(permissionRequest(), signal).then(answer => {
      this.answers[index] = answer
    })
  }

  askForm(signal: AbortSignal): void {
    const index = this.filled.push(undefined) - 1
    void this.session.requests.createElicitation(form(), signal).then(answer => {
      this.filled[index] = answer
    })
  }

  answer(which: number, how: 'resolve' | 'reject' | 'v1'): void {
    const open = this.open()
    const call = open[which % Math.max(open.length, 1)]
    if (!call) return
    this.#settled.add(call)
    if (how === 'v1') this.agent.endTurn(call)
    else if (how === 'resolve') call.answer.resolve({})
    else call.answer.reject(new AgentRequestError('session/prompt', 'other', { code: -32603, message: 'no' }))
  }

  end(): void {
    this.ended = true
    this.session.agentEnded({ reason: 'exited', exitCode: 1, stderrTail: '' })
  }
}

type Act = [name: string, run: (world: World) => unknown]
const act = (weight: number, name: string, run: (world: World) => unknown) => ({
  weight,
  arbitrary: fc.constant<Act>([name, run]),
})
const acts: fc.Arbitrary<Act> = fc.oneof(
  act(4, 'prompt', world => world.prompt()),
  act(2, 'cancel', world => world.session.turns.cancel()),
  act(2, 'time passes', world => world.clock.pass(10_000)),
  act(2, 'abandon', world => world.session.turns.abandon()),
  act(1, 'send queued', world => world.session.turns.queue.resume()),
  act(1, 'withdraw', world =>
    world.session.turns.queue.remove(world.session.turns.queue.queued[0]?.id ?? ''),
  ),
  act(2, 'ask', world => world.ask(new AbortController().signal)),
  act(1, 'ask and withdraw', world => {
    const abort = new AbortController()
    world.ask(abort.signal)
    abort.abort()
  }),
  {
    weight: 2,
    arbitrary: fc
      .nat(5)
      .map(
        (n): Act => [
          `answer ${n}`,
          world => world.session.requests.answerPermission(world.pending(n), 'yes'),
        ],
      ),
  },
  act(2, 'ask with a form', world => world.askForm(new AbortController().signal)),
  {
    weight: 2,
    arbitrary: fc.tuple(fc.nat(5), fc.constantFrom('Ada', '')).map(
      ([n, name]): Act => [
        `fill in ${n}: ${name}`,
        world =>
          world.session.requests.answerElicitation(world.pending(n), {
            action: 'accept',
            content: { name },
          }),
      ],
    ),
  },
  act(3, 'running', world => world.agent.say('s', running)),
  act(2, 'idle', world => world.agent.say('s', idle())),
  act(2, 'idle end_turn', world => world.agent.say('s', idle('end_turn'))),
  {
    weight: 4,
    arbitrary: fc
      .tuple(fc.nat(3), fc.constantFrom('resolve', 'reject', 'v1'))
      .map(([which, how]): Act => [`prompt ${which}: ${how}`, world => world.answer(which, how)]),
  },
  {
    weight: 4,
    arbitrary: update.map((one): Act => [JSON.stringify(one), world => world.agent.say('s', one)]),
  },
  act(1, 'load', world => {
    if (world.ended || world.session.state.activity !== 'idle') return
    world.session.beginLoad(world.session.setup)
  }),
  act(2, 'loaded', world => world.session.loaded()),
  act(1, 'load failed', world => world.session.loadFailed()),
)

describe('Session (property)', () => {
  it('never has two turns, answers every request in the end, and shows the current state', async () => {
    const list = fc.array(fc.tuple(acts, fc.boolean()), { maxLength: 50, size: 'max' })
    await fc.assert(
      fc.asyncProperty(list, async steps => {
        const world = new World()
        for (const [[, run], wait] of steps) {
          run(world)
          if (wait) await settle()
          const { session, agent } = world
          assert(agent.prompts.length <= world.outcomes.length)
          const open = session.state.entries.filter(entry => entry.kind === 'permission' && !entry.outcome)
          if (open.length > 0) assert.equal(session.state.activity, 'requires_action')
          if (session.turns.cancelState !== 'none') assert.notEqual(session.phase, 'ended')
          assert.deepEqual(world.follower, snapshotOf(session.state))
        }
        world.end()
        await settle()
        assert(world.outcomes.every(outcome => outcome !== undefined))
        assert(world.answers.every(answer => answer !== undefined))
        assert(world.filled.every(answer => answer !== undefined))
        assert.equal(world.session.state.activity, 'idle')
        assert.equal(world.session.turns.cancelState, 'none')
        assert.deepEqual(world.session.optionChanges.ids, [])
      }),
    )
  })

  it('sends prompts once each, one at a time and in the displayed order, if the agent follows the protocol', async () => {
    const keeps = fc.array(
      fc.oneof(
        act(4, 'prompt', world => world.prompt()),
        act(3, 'end', world => world.answer(0, 'v1')),
        act(1, 'cancel', world => world.session.turns.cancel()),
        act(1, 'ask', world => world.ask(new AbortController().signal)),
        act(1, 'send queued', world => world.session.turns.queue.resume()),
      ),
      { maxLength: 50, size: 'max' },
    )
    await fc.assert(
      fc.asyncProperty(keeps, async steps => {
        const world = new World()
        let count = 0
        for (const [, run] of steps) {
          const shown = world.session.turns.queue.queued.map(({ content }) => content)
          const before = world.agent.prompts.length
          run(world)
          assert(world.open().length <= 1)
          await settle()
          const sent = world.agent.prompts.slice(before).map(({ content }) => content)
          const now = world.session.turns.queue.queued.map(({ content }) => content)
          // the first displayed prompt is sent, unless another was inserted before it
          if (sent.length > 0 && shown.length > 0 && world.outcomes.length === count)
            assert.deepEqual(sent[0], shown[0])
          assert.deepEqual(
            now.filter(one => shown.includes(one)),
            shown.filter(one => now.includes(one)),
          )
          count = world.outcomes.length
        }
        world.session.turns.queue.resume()
        while (world.open().length > 0) {
          world.answer(0, 'v1')
          await settle()
          world.session.turns.queue.resume()
        }
        const sent = world.agent.prompts.map(({ content }) => JSON.stringify(content))
        assert.deepEqual(
          sent.toSorted(),
          world.outcomes.map((_, index) => JSON.stringify([text(`prompt ${index}`)])).toSorted(),
        )
        assert(world.outcomes.every(outcome => outcome?.type === 'ended'))
        assert.equal(world.clock.waiting, 0)
      }),
    )
  })
})
