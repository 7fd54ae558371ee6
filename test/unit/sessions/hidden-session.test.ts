import assert from 'node:assert/strict'
import { AgentRequestError } from '../../../src/acp/agent.ts'
import { CancelledError } from '../../../src/common/errors.ts'
import { silentLogger } from '../../../src/common/logger.ts'
import { MemoryStore, type ModelUsage, type UsageRecord } from '../../../src/history/session-store.ts'
import { isSignInAsked } from '../../../src/sessions/failures.ts'
import { askInHiddenSession } from '../../../src/sessions/hidden-session.ts'
import { until } from '../../support/until.ts'
import type { FakeAgent } from '../conversation/fake-agent.ts'
import { SessionsFixture } from './sessions-fixture.ts'

describe('a prompt in a hidden session', () => {
  const said = (text: string, messageId = 'm') =>
    ({ type: 'message_chunk', role: 'agent', messageId, content: { type: 'text', text } }) as const

  /** Starts a hidden session whose agent has received the prompt. */
  async function asked(can: Partial<FakeAgent['capabilities']> & { archive?: boolean } = {}) {
    const fixture = new SessionsFixture()
    const usage = new MemoryStore()
    const deleted: string[] = []
    const archived: string[] = []
    fixture.prepare = agent => {
      Object.assign(agent, {
        capabilities: { ...agent.capabilities, ...can },
        deleteSession: async (id: string) => void deleted.push(id),
        archiveSession: async (id: string) => void archived.push(id),
      })
    }
    const abort = new AbortController()
    const options = {
      runner: fixture.runners.get('one'),
      records: Object.assign(fixture.records, {
        addUsage: (record: UsageRecord) => usage.addUsage(record),
        addModelUsage: (record: ModelUsage) => usage.addModelUsage(record),
        sessionUsage: (agentId: string, sessionId: string) => usage.sessionUsage(agentId, sessionId),
      }),
      cwd: '/own',
      log: silentLogger,
    }
    const answer = askInHiddenSession('Say something.', options, abort.signal)
    answer.catch(() => {})
    await until(() => fixture.started[0]?.agent.newSessions.length === 1)
    const { agent } = fixture.started[0]!
    agent.newSessions[0]!.resolve({ sessionId: 'aside' })
    await until(() => agent.prompts.length === 1)
    return { fixture, agent, abort, answer, deleted, archived, usage }
  }

  it('returns the last message of the turn and leaves no session behind', async () => {
    const { fixture, agent, answer, deleted } = await asked()
    assert.deepEqual(agent.prompts[0]?.content, [{ type: 'text', text: 'Say something.' }])
    assert.deepEqual(fixture.manager.list(), [])
    // a list that is requested meanwhile includes it among the archived sessions
    assert.equal(fixture.records.get('one', 'aside')?.archived, true)
    agent.say('aside', said('Let me see.', 'a'))
    agent.say('aside', said('Some', 'b'), said('thing ', 'b'))
    agent.endTurn(agent.prompts[0]!)
    assert.equal(await answer, 'Something')
    await until(() => deleted.length === 1)
    assert.deepEqual(agent.closes, ['aside'])
    assert.deepEqual(deleted, ['aside'])
    await until(() => fixture.records.get('one', 'aside') === undefined)
    assert.equal(fixture.transcripts.kept.size, 0)
  })

  it('counts the cost', async () => {
    const { agent, answer, usage } = await asked()
    const cost = { amount: 0.25, currency: 'USD' }
    agent.say('aside', { type: 'usage', usage: { used: 1, size: 9, cost } })
    agent.endTurn(agent.prompts[0]!)
    await answer
    assert.deepEqual(
      usage.usage('').map(row => [row.agentId, row.cost, row.currency]),
      [['one', 0.25, 'USD']],
    )
  })

  it("archives the session if the agent lists sessions and can't delete them", async () => {
    const { fixture, agent, answer, deleted, archived } = await asked({ delete: false, archive: true })
    agent.endTurn(agent.prompts[0]!)
    assert.equal(await answer, '')
    await until(() => archived.length === 1)
    assert.deepEqual(deleted, [])
    assert.equal(fixture.records.get('one', 'aside')?.archived, true)
  })

  it("rejects all of the agent's requests, so that it can't change anything in the editor", async () => {
    const { fixture, agent, answer } = await asked()
    const running = fixture.runners.get('one').running!
    const client = fixture.clients.of('one', () => running.sessions)
    const permission = await client.requestPermission(
      {
        sessionId: 'aside',
        title: 'Delete everything',
        subject: { type: 'none' },
        options: [
          { optionId: 'yes', name: 'Yes', kind: 'allow_once' },
          { optionId: 'no', name: 'No', kind: 'reject_once' },
        ],
      },
      new AbortController().signal,
    )
    assert.deepEqual(permission, { type: 'selected', optionId: 'no' })
    await assert.rejects(client.readTextFile({ sessionId: 'aside', path: '/w/a/x' }), /No session "aside"/)
    agent.endTurn(agent.prompts[0]!)
    await answer
  })

  it('stops the turn when the user cancels', async () => {
    const { agent, abort, answer, deleted } = await asked()
    abort.abort(new CancelledError())
    await assert.rejects(answer, CancelledError)
    assert.deepEqual(agent.cancels, ['aside'])
    await until(() => deleted.length === 1)
  })

  it('distinguishes a required sign-in from other errors', async () => {
    const refused = await asked()
    refused.agent.prompts[0]!.answer.reject(
      new AgentRequestError('session/prompt', 'auth-required', { code: -32000, message: 'Sign in first.' }),
    )
    await assert.rejects(refused.answer, error => isSignInAsked(error))
    const failed = await asked()
    failed.agent.prompts[0]!.answer.reject(
      new AgentRequestError('session/prompt', 'other', { code: 1, message: 'No credit.' }),
    )
    await assert.rejects(failed.answer, /No credit/)
    const ended = await asked()
    ended.agent.exit()
    await assert.rejects(ended.answer)
  })
})
