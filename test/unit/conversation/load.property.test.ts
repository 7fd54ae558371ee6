import assert from 'node:assert/strict'
import fc from 'fast-check'
import type { PermissionOutcome, SessionUpdate } from '../../../src/acp/model.ts'
import { AgentSessions } from '../../../src/conversation/agent-sessions.ts'
import { reduce } from '../../../src/conversation/reducer/reduce.ts'
import { reduceLocal } from '../../../src/conversation/reducer/reduce-local.ts'
import { createSessionState, type ReducingState } from '../../../src/conversation/reducer/reducing-state.ts'
import { scaledRuns } from '../../support/property-tests.ts'
import { Clock } from './clock.ts'
import { FakeAgent } from './fake-agent.ts'
import { chunk, idle, running, text, tool } from './updates.ts'

const setup = { cwd: '/w', additionalDirectories: [], mcpServers: [] }
const TOOLS = 30

interface Turn {
  id: number
  isKnown: boolean
  isReplayed: boolean
}

/** The updates that replay a turn. */
function replayOf({ id }: Turn): SessionUpdate[] {
  const tools = Array.from({ length: TOOLS }, (_, i) =>
    tool(`t${id}-${i}`, { title: `Read ${i}`, status: 'completed' }),
  )
  return [chunk('user', `prompt ${id} of many`), ...tools, chunk('agent', `the answer to prompt ${id}`)]
}

function knownOf(turns: readonly Turn[]): ReducingState {
  const state = createSessionState()
  for (const turn of turns.filter(({ isKnown }) => isKnown)) {
    const [, ...work] = replayOf(turn)
    reduceLocal(state, { type: 'prompt', content: [text(`prompt ${turn.id} of many`)] }, 1000)
    for (const update of [running, ...work, idle('end_turn')]) reduce(state, update, 2000)
  }
  return state
}

/** What can happen between two steps of a merge, or right after it. */
type Meanwhile =
  | { type: 'said'; text: string }
  | { type: 'replayed'; turn: Turn }
  | { type: 'notice' }
  | { type: 'asked' }
  | { type: 'title' }
  | { type: 'running' }

async function load(turns: readonly Turn[]) {
  const agent = new FakeAgent()
  const clock = new Clock()
  const sessions = new AgentSessions(agent, { now: () => clock.now, schedule: clock.schedule })
  const { session, opened } = sessions.loadSession('s', setup, undefined, () => knownOf(turns))
  for (const turn of turns) if (turn.isReplayed) agent.say('s', ...replayOf(turn))
  const outcomes: Array<Promise<PermissionOutcome>> = []
  const doIt = (what: Meanwhile) => {
    switch (what.type) {
      case 'said':
        return agent.say('s', chunk('agent', what.text))
      case 'replayed':
        return agent.say('s', ...replayOf(what.turn))
      case 'notice':
        return session.notify({ severity: 'info', title: 'A notice' })
      case 'asked': {
        const request = {
          sessionId: 's',
          title: 'May I?',
          subject: { type: 'tool_call', toolCall: { toolCallId: 'asked', title: 'Run' } },
          options: [{ optionId: 'yes', name: 'Yes', kind: 'allow_once' }],
        } as const
        outcomes.push(
          session.requests.requestPermission(
            { ...request, options: [...request.options] },
            new AbortController().signal,
          ),
        )
        return
      }
      case 'title':
        return agent.say('s', { type: 'info', title: 'Told meanwhile' })
      case 'running':
        return agent.say('s', running, chunk('agent', 'by itself'), idle('end_turn'))
    }
  }
  const answer = () => agent.loads[0]?.resolve({ sessionId: 's' })
  return { session, opened, clock, doIt, answer, outcomes }
}

describe('a long load that is merged in several steps', () => {
  const turns = fc
    .array(fc.record({ isKnown: fc.boolean(), isReplayed: fc.boolean() }), { minLength: 60, maxLength: 90 })
    .map(list => list.map((turn, id): Turn => ({ id, ...turn })))

  it('has the same result as a merge in one step, whatever the agent sends meanwhile', async () => {
    const fresh = (id: number): Turn => ({ id, isKnown: false, isReplayed: false })
    const said = fc.oneof(
      fc.record({ type: fc.constant('said' as const), text: fc.constantFrom('more words', 'and more') }),
      fc.record({
        type: fc.constant('replayed' as const),
        turn: fc.integer({ min: 500, max: 505 }).map(fresh),
      }),
      fc.constantFrom<Meanwhile>({ type: 'title' }, { type: 'running' }),
    )
    const steps = fc.array(fc.array(said, { maxLength: 2 }), { minLength: 1, maxLength: 6 })
    let inBetween = 0
    await fc.assert(
      fc.asyncProperty(turns, steps, async (list, meanwhile) => {
        const sliced = await load(list)
        sliced.answer()
        for (const one of meanwhile) {
          await new Promise(setImmediate)
          if (sliced.session.phase === 'loading') inBetween += 1
          for (const what of one) sliced.doIt(what)
        }
        await sliced.opened
        const plain = await load(list)
        plain.answer()
        await plain.opened
        for (const what of meanwhile.flat()) plain.doIt(what)
        for (const { clock, session } of [sliced, plain]) {
          for (let i = 0; i < 12; i++) {
            clock.pass(250)
            for (let task = 0; task < 12; task++) await new Promise(setImmediate)
          }
          assert.equal(session.phase, 'ready')
        }
        assert.deepEqual(sliced.session.state.entries, plain.session.state.entries)
        assert.equal(sliced.session.state.title, plain.session.state.title)
      }),
      { numRuns: scaledRuns(25) },
    )
    assert.ok(inBetween > 25, 'there are steps to come between')
  })

  it('neither loses nor duplicates a turn, and keeps what Parley adds between the steps', async () => {
    const own = fc.constantFrom<Meanwhile>({ type: 'notice' }, { type: 'asked' })
    await fc.assert(
      fc.asyncProperty(turns, fc.array(own, { maxLength: 3 }), async (list, meanwhile) => {
        const { session, opened, doIt, answer, outcomes } = await load(list)
        answer()
        for (const what of meanwhile) {
          await new Promise(setImmediate)
          doIt(what)
        }
        await opened
        const prompts = session.state.entries.flatMap(entry =>
          entry.kind === 'message' && entry.role === 'user' && entry.blocks[0]?.type === 'text'
            ? entry.blocks[0].text
            : [],
        )
        const wanted = list.filter(({ isKnown, isReplayed }) => isKnown || isReplayed)
        assert.deepEqual(prompts.toSorted(), wanted.map(({ id }) => `prompt ${id} of many`).toSorted())
        const ids = session.state.entries.flatMap(entry =>
          entry.kind === 'tool_call' ? entry.toolCallId : [],
        )
        assert.equal(new Set(ids).size, ids.length)
        const count = (type: string) => meanwhile.filter(what => what.type === type).length
        const notices = session.state.entries.filter(
          entry => entry.kind === 'notice' && entry.title === 'A notice',
        )
        assert.equal(notices.length, count('notice'))
        assert.equal(session.requests.open.length, count('asked'))
        for (const { requestId } of session.requests.open) session.requests.answerPermission(requestId, 'yes')
        for (const outcome of await Promise.all(outcomes)) assert.equal(outcome.type, 'selected')
      }),
      { numRuns: scaledRuns(25) },
    )
  })

  it('ends immediately if the session ends', async () => {
    const list = Array.from({ length: 90 }, (_, id): Turn => ({ id, isKnown: true, isReplayed: true }))
    const { session, opened, answer } = await load(list)
    answer()
    await new Promise(setImmediate)
    assert.equal(session.phase, 'loading')
    session.agentEnded({ reason: 'exited', exitCode: 1, stderrTail: '' })
    await opened
    const prompts = session.state.entries.filter(entry => entry.kind === 'message' && entry.role === 'user')
    assert.equal(prompts.length, 90)
    assert.equal(session.phase, 'ended')
  })
})
