import assert from 'node:assert/strict'
import fc from 'fast-check'
import { AgentRequestError } from '../../../src/acp/agent.ts'
import type { SteeringOutcome } from '../../../src/acp/model.ts'
import { EMPTY_DRAFT } from '../../../src/common/draft.ts'
import { PromptQueue } from '../../../src/conversation/prompts/prompt-queue.ts'
import { Session } from '../../../src/conversation/session.ts'
import { isPrompt } from '../../../src/conversation/user-prompts.ts'
import { Clock } from './clock.ts'
import { FakeAgent, type PromptCall, type SteerCall, settle } from './fake-agent.ts'
import { chunk, idle, running, text } from './updates.ts'

/** A session whose user writes prompts for the running turn, and whose agent does anything with them. */
class World {
  readonly agent = new FakeAgent()
  readonly clock = new Clock()
  /** the prompts on disk */
  stored: string[] = []
  readonly queue = new PromptQueue('k', {
    save: (_key, prompts) => {
      this.stored = prompts.map(({ id }) => id)
    },
    holds: () => true,
  })
  readonly session: Session
  /** what the user wrote and didn't take away */
  readonly written = new Set<string>()
  /** prompts that the agent has, as often as it has them */
  readonly taken: string[] = []
  readonly outcomes = new Map<string, boolean>()
  readonly #answered = new Set<PromptCall | SteerCall>()
  #count = 0
  #preparing: Array<() => void> = []

  constructor() {
    this.agent.capabilities.steering = true
    const { agent, clock } = this
    const prompt = agent.prompt.bind(agent)
    agent.prompt = (sessionId, content) => {
      this.taken.push(idOf(content))
      return prompt(sessionId, content)
    }
    const setup = { cwd: '/w', additionalDirectories: [], mcpServers: [] }
    const { schedule } = clock
    this.session = new Session({ agent, sessionId: 's', setup, phase: 'ready', now: () => 1, schedule })
    agent.onUpdate(({ update }) => this.session.receive(update))
    agent.onDidClose(exit => this.session.agentEnded(exit))
    this.session.turns.queue = this.queue
  }

  write(joins: boolean): void {
    const id = `p${++this.#count}`
    this.written.add(id)
    const prepare = async () => {
      await new Promise<void>(resolve => this.#preparing.push(resolve))
      return [text(id)]
    }
    const prompt = this.queue.enqueue({ id, draft: { ...EMPTY_DRAFT, text: id } }, prepare, { joins })
    void prompt.outcome.then(() => this.outcomes.set(id, true))
  }

  prepare(): void {
    this.#preparing.shift()?.()
  }

  endTurn(fails: boolean): void {
    const call = this.agent.prompts.find(one => !this.#answered.has(one))
    if (!call) return
    this.#answered.add(call)
    if (fails)
      call.answer.reject(new AgentRequestError('session/prompt', 'other', { code: 1, message: 'no' }))
    else this.agent.endTurn(call)
  }

  answer(which: number, outcome: SteeringOutcome | 'error'): void {
    const open = this.agent.steered.filter(one => !this.#answered.has(one))
    const call = open[which % Math.max(open.length, 1)]
    if (!call) return
    const id = idOf(call.content)
    // the user sent it again after the agent hadn't answered: no agent has reported since that it has it
    if (this.taken.includes(id) || !this.queue.prompts.some(one => one.id === id)) return
    this.#answered.add(call)
    if (this.session.phase === 'ready' && (outcome === 'injected' || outcome === 'startedNewTurn')) {
      if (this.isInComposer(id)) return
      this.taken.push(id)
    }
    if (outcome === 'error')
      call.answer.reject(
        new AgentRequestError('_session/steering', 'other', { code: 1, message: 'No images' }),
      )
    else call.answer.resolve(outcome)
  }

  isInComposer(id: string): boolean {
    return this.queue.returned.some(one => one.id === id)
  }

  first(): string {
    return this.queue.queued[0]?.id ?? ''
  }

  remove(): void {
    const id = this.first()
    if (this.queue.remove(id)) this.written.delete(id)
  }

  check(): void {
    const inQueue = this.queue.prompts.map(({ id }) => id)
    const waiting = this.queue.prompts.filter(({ state }) => state !== 'steering').map(({ id }) => id)
    const shown = this.session.state.entries
      .filter(isPrompt)
      .filter(({ blocks }) => blocks.length > 0)
      .map(({ blocks }) => idOf(blocks))
    for (const id of this.written) {
      const times = this.taken.filter(one => one === id).length
      assert.ok(times <= 1, `${id} was sent ${times} times`)
      assert.equal(inQueue.includes(id), times === 0, `${id} is in the queue, or with the agent`)
      const seen = [...shown, ...waiting].filter(one => one === id)
      assert.equal(seen.length, 1, `${id} is shown once`)
    }
    assert.deepEqual(this.stored, inQueue, 'the disk has what the agent lacks')
  }
}

function idOf(content: readonly { type: string; text?: string }[]): string {
  return content.flatMap(block => block.text ?? []).join()
}

type Act = [name: string, run: (world: World) => unknown]
const act = (weight: number, name: string, run: Act[1]) => ({
  weight,
  arbitrary: fc.constant<Act>([name, run]),
})
const outcome = fc.constantFrom('injected', 'startedNewTurn', 'promptRequired', 'failed', 'error' as const)
const acts: fc.Arbitrary<Act> = fc.oneof(
  act(4, 'write', world => world.write(false)),
  act(5, 'write for the turn', world => world.write(true)),
  act(8, 'prepare', world => world.prepare()),
  act(3, 'send now', world => world.session.turns.steer(world.queue.queued.at(-1)?.id ?? '')),
  act(1, 'stop and send', world => world.session.turns.sendNow(world.queue.queued.at(-1)?.id ?? '')),
  {
    weight: 8,
    arbitrary: fc
      .tuple(fc.nat(3), outcome)
      .map(([which, how]): Act => [`answer ${which}: ${how}`, world => world.answer(which, how)]),
  },
  act(4, 'the turn ends', world => world.endTurn(false)),
  act(1, 'the turn fails', world => world.endTurn(true)),
  act(2, 'stop', world => world.session.turns.cancel()),
  act(1, 'abandon', world => world.session.turns.abandon()),
  act(2, 'time passes', world => world.clock.pass(6000)),
  act(1, 'resume', world => world.queue.resume()),
  act(1, 'edit', world => world.queue.edit(world.first())),
  act(1, 'remove', world => world.remove()),
  act(2, 'the agent works', world => world.agent.say('s', running, chunk('agent', 'x', 'a'))),
  act(2, 'the agent is idle', world => world.agent.say('s', idle('end_turn'))),
)

describe('prompts for the running turn', () => {
  it('are each with the agent once or in the queue, whatever the agent does and the user wants', async () => {
    const list = fc.array(fc.tuple(acts, fc.boolean()), { maxLength: 40, size: 'max' })
    await fc.assert(
      fc.asyncProperty(list, fc.boolean(), async (steps, dies) => {
        const world = new World()
        for (const [[, run], waits] of steps) {
          await run(world)
          if (!waits) continue
          await settle()
          world.check()
        }
        await settle()
        world.check()
        if (dies) {
          world.agent.exit()
          await settle()
          world.check()
          const left = world.queue.prompts.filter(({ state }) => state !== 'sending')
          assert.deepEqual(
            left.map(({ id }) => id),
            world.queue.returned.map(({ id }) => id),
          )
          return
        }
        // an agent that answers, and a user who wants everything to be sent
        for (let quiet = 0; quiet < 3; quiet++) {
          const before = JSON.stringify([world.taken, world.queue.prompts.map(({ state }) => state)])
          world.prepare()
          world.answer(0, 'injected')
          await settle()
          world.agent.say('s', idle('end_turn'))
          world.endTurn(false)
          await settle()
          world.clock.pass(6000)
          world.session.turns.abandon()
          world.queue.resume()
          await settle()
          world.check()
          if (JSON.stringify([world.taken, world.queue.prompts.map(({ state }) => state)]) !== before)
            quiet = 0
        }
        const waiting = world.queue.prompts.filter(({ state }) => state !== 'returned')
        assert.deepEqual(
          waiting.map(({ id, state }) => [id, state]),
          [],
        )
        const sent = [...world.written].filter(id => !world.isInComposer(id))
        assert.deepEqual([...world.outcomes.keys()].filter(id => sent.includes(id)).sort(), sent.sort())
      }),
    )
  })
})
