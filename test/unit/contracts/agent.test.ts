import type { SessionUpdate } from '../../../src/acp/model.ts'
import { agentContract } from '../../support/contracts/agent.ts'
import { memoryAgent } from '../../support/memory-agent.ts'
import { FakeAgent } from '../conversation/fake-agent.ts'

const setup = { cwd: '/work', additionalDirectories: [], mcpServers: [] }
const said: SessionUpdate = { type: 'message_chunk', role: 'agent', content: { type: 'text', text: 'hi' } }

// A real agent is tested with the same contract in `test/agents/sdk-example.test.ts`.
describe('the fake agent', () => {
  agentContract(async () => {
    const agent = new FakeAgent()
    let started = 0
    const work = (sessionId: string) => agent.say(sessionId, said)
    return {
      agent,
      lacks: ['logout'],
      setup,
      answerStart: () => agent.newSessions.at(-1)?.resolve({ sessionId: `s${++started}` }),
      work,
      finishTurn(sessionId) {
        work(sessionId)
        agent.endTurn(agent.prompts.at(-1)!)
      },
      stopTurn: () => agent.endTurn(agent.prompts.at(-1)!, 'cancelled'),
      exit: () => agent.exit(),
    }
  })
})

describe('the in-memory agent', () => {
  agentContract(async () => {
    const { agent, pipe, exit } = memoryAgent()
    let started = 0
    const answer = async (method: string, result: object) => {
      const { id } = await pipe.waitForMethod(method)
      pipe.send({ id, result })
    }
    const work = (sessionId: string) =>
      pipe.send({
        method: 'session/update',
        params: {
          sessionId,
          update: { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: 'hi' } },
        },
      })
    return {
      agent,
      lacks: ['load', 'resume', 'list', 'close', 'delete', 'logout'],
      setup,
      answerStart: () => void answer('session/new', { sessionId: `s${++started}` }),
      work,
      finishTurn(sessionId) {
        work(sessionId)
        void answer('session/prompt', { stopReason: 'end_turn' })
      },
      stopTurn: () => void answer('session/prompt', { stopReason: 'cancelled' }),
      exit,
    }
  })
})
