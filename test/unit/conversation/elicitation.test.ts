import { strict as assert } from 'node:assert'
import type { ElicitationRequest } from '../../../src/acp/model.ts'
import { AgentSessions } from '../../../src/conversation/agent-sessions.ts'
import { FakeAgent, settle } from './fake-agent.ts'
import { chunk, form, idle, running, summarize, text } from './updates.ts'

const setup = { cwd: '/w', additionalDirectories: [], mcpServers: [] }
const never = new AbortController().signal
const visit: ElicitationRequest = {
  sessionId: 's',
  message: 'Sign in there.',
  mode: 'url',
  elicitationId: 'v1',
  url: 'https://example.com/',
}

async function open() {
  const agent = new FakeAgent()
  const sessions = new AgentSessions(agent)
  const making = sessions.newSession(setup)
  agent.newSessions[0]!.resolve({ sessionId: 's' })
  return { agent, sessions, session: await making }
}

describe('Session: forms and URLs', () => {
  it('shows several forms at once and sends each its own validated answer', async () => {
    const { session } = await open()
    const one = session.requests.createElicitation(form(), never)
    const two = session.requests.createElicitation(form({ message: 'And you?' }), never)
    assert.equal(session.state.activity, 'requires_action')
    const [first, second] = session.requests.open.map(({ requestId }) => requestId)
    assert.equal(
      session.requests.answerElicitation(second!, { action: 'accept', content: { name: 'Ada', more: 'x' } }),
      true,
    )
    assert.deepEqual(await two, { action: 'accept', content: { name: 'Ada' } })
    assert.equal(session.state.activity, 'requires_action')
    session.requests.answerElicitation(first!, { action: 'decline' })
    assert.deepEqual(await one, { action: 'decline' })
    assert.equal(session.state.activity, 'idle')
    assert.deepEqual(summarize(session.state), [
      'elicitation Who are you?: decline',
      'elicitation And you?: accept',
    ])
  })

  it('keeps the request pending if the form rejects the values', async () => {
    const { session } = await open()
    void session.requests.createElicitation(form(), never)
    const wrong: Array<Record<string, string | number>> = [
      {},
      { name: '' },
      { name: 'far too long a name' },
      { name: 5 },
    ]
    for (const content of wrong)
      assert.equal(
        session.requests.answerElicitation(session.requests.open[0]!.requestId, {
          action: 'accept',
          content,
        }),
        false,
      )
    assert.deepEqual(summarize(session.state), ['elicitation Who are you?: open'])
    assert.equal(session.requests.answerElicitation('another', { action: 'decline' }), false)
  })

  it('cancels the request if the agent cancels it, the turn is stopped or ends, or the agent exits', async () => {
    const { agent, session } = await open()
    const withdrawn = new AbortController()
    const first = session.requests.createElicitation(form(), withdrawn.signal)
    withdrawn.abort()
    assert.deepEqual(await first, { action: 'cancel' })

    void session.prompt([text('go')])
    agent.say('s', running)
    const second = session.requests.createElicitation(form(), never)
    session.turns.cancel()
    assert.deepEqual(await second, { action: 'cancel' })

    const third = session.requests.createElicitation(form(), never)
    agent.say('s', idle('cancelled'))
    assert.deepEqual(await third, { action: 'cancel' })

    const fourth = session.requests.createElicitation(form(), never)
    agent.exit()
    assert.deepEqual(await fourth, { action: 'cancel' })
    assert.deepEqual(await session.requests.createElicitation(form(), never), { action: 'cancel' })
  })

  it('waits until the agent reports that the action at a URL is complete', async () => {
    const { sessions, session } = await open()
    const asked = session.requests.createElicitation(visit, never)
    assert.equal(session.requests.elicitation(session.requests.open[0]!.requestId)?.mode, 'url')
    session.requests.answerElicitation(session.requests.open[0]!.requestId, {
      action: 'accept',
      content: { stray: 'x' },
    })
    assert.deepEqual(await asked, { action: 'accept' })
    assert.equal(session.state.activity, 'idle')
    assert.deepEqual(summarize(session.state), ['elicitation Sign in there.: accept waiting'])
    sessions.elicitationComplete('another')
    assert.deepEqual(summarize(session.state), ['elicitation Sign in there.: accept waiting'])
    sessions.elicitationComplete('v1')
    assert.deepEqual(summarize(session.state), ['elicitation Sign in there.: accept done'])
  })

  it('stops waiting when the turn ends, and still handles the completion', async () => {
    const { agent, sessions, session } = await open()
    void session.prompt([text('go')])
    void session.requests.createElicitation(visit, never)
    session.requests.answerElicitation(session.requests.open[0]!.requestId, { action: 'accept' })
    agent.say('s', running, chunk('agent', 'On it.'))
    agent.endTurn(agent.prompts[0]!)
    assert.equal(summarize(session.state)[1], 'elicitation Sign in there.: accept ended')
    sessions.elicitationComplete('v1')
    assert.equal(summarize(session.state)[1], 'elicitation Sign in there.: accept done')
  })

  it('keeps a request of a session that is being created', async () => {
    const agent = new FakeAgent()
    const sessions = new AgentSessions(agent)
    const making = sessions.newSession(setup)
    const early = sessions.createElicitation('s', form(), never)
    const stranger = assert.rejects(sessions.createElicitation('t', form(), never), /No session "t" is open/)
    agent.newSessions[0]!.resolve({ sessionId: 's' })
    const session = await making
    await settle()
    session.requests.answerElicitation(session.requests.open[0]!.requestId, {
      action: 'accept',
      content: { name: 'Ada' },
    })
    assert.deepEqual(await early, { action: 'accept', content: { name: 'Ada' } })
    await stranger
    await assert.rejects(sessions.createElicitation('t', form(), never), /No session "t" is open/)
  })
})
