import assert from 'node:assert/strict'
import type { ElicitationRequest } from '../../../src/acp/model.ts'
import { answerElicitation } from '../../../src/app/conversation/answer-elicitation.ts'
import { settle } from '../conversation/fake-agent.ts'
import { form } from '../conversation/updates.ts'
import { SessionsFixture } from './sessions-fixture.ts'

const never = new AbortController().signal
const ofNoSession = { ...form(), sessionId: undefined } as unknown as ElicitationRequest
const visit: ElicitationRequest = {
  sessionId: 's',
  message: 'There',
  mode: 'url',
  elicitationId: 'v',
  url: 'https://Example.com',
}

async function begin() {
  const fixture = new SessionsFixture()
  const started = fixture.controller.opener.start('one')
  await settle()
  fixture.agent.newSessions[0]!.resolve({ sessionId: 's' })
  await started
  const client = fixture.clients.of('one', () => fixture.runners.get('one').running?.sessions)
  const question = () => fixture.controller.current?.session.state.entries.at(-1)
  const session = () => fixture.controller.current!.session
  const pending = () => session().requests.open[0]!.requestId
  return { fixture, client, question, session, pending }
}

describe('forms and URLs', () => {
  it('are shown in the conversation that they name', async () => {
    const { fixture, client, question, session, pending } = await begin()
    const asked = client.createElicitation!(form(), never)
    assert.equal(question()?.kind, 'elicitation')
    assert.equal(
      session().requests.answerElicitation(pending(), { action: 'accept', content: { name: 'Ada' } }),
      true,
    )
    assert.deepEqual(await asked, { action: 'accept', content: { name: 'Ada' } })
    await assert.rejects(client.createElicitation!(form({ sessionId: 'nobody' }), never), /No session/)
    assert.deepEqual(fixture.nativeQuestions, [])
  })

  it('accept an answer from a page that already shows another conversation', async () => {
    const { fixture, client, pending } = await begin()
    const asked = client.createElicitation!(form(), never)
    const { key } = fixture.controller.current!
    const requestId = pending()
    const started = fixture.controller.opener.start('one')
    await settle()
    fixture.agent.newSessions[1]!.resolve({ sessionId: 'next' })
    await started
    assert.notEqual(fixture.controller.key, key)
    const { session } = fixture.controller.shownAs(key)!
    await answerElicitation(session.requests, { openLink: () => Promise.resolve() }, requestId, {
      action: 'accept',
      content: { name: 'Ada' },
    })
    assert.deepEqual(await asked, { action: 'accept', content: { name: 'Ada' } })
    assert.equal(fixture.controller.shownAs('nobody'), undefined)
  })

  it('are shown where the user works with the agent, if anywhere, if they name no session', async () => {
    const { fixture, client, question } = await begin()
    void client.createElicitation!(ofNoSession, never)
    assert.equal(question()?.kind, 'elicitation')
    const other = fixture.clients.of('two', () => undefined)
    assert.deepEqual(await other.createElicitation!(ofNoSession, never), { action: 'decline' })
    assert.deepEqual(fixture.nativeQuestions, ['two Who are you?'])
    client.elicitationComplete!('v')
    assert.deepEqual(fixture.completed, ['v'])
  })

  it('that belong to a client request end with it, not with a turn or a conversation', async () => {
    const { fixture, client, pending } = await begin()
    const { session } = fixture.controller.current!
    const request = new AbortController()
    let answer: unknown
    const asked = client.createElicitation!(ofNoSession, request.signal).then(outcome => {
      answer = outcome
    })
    void session.prompt([{ type: 'text', text: 'go' }])
    fixture.agent.endTurn(fixture.agent.prompts[0]!)
    session.turns.cancel()
    await settle()
    assert.equal(answer, undefined)
    assert.equal(session.requests.elicitation(pending())?.message, 'Who are you?')
    await fixture.manager.openSessions.close(fixture.controller.current!)
    await asked
    assert.deepEqual(fixture.nativeQuestions, ['one Who are you?'], 'asked on outside of the conversation')
    assert.deepEqual(answer, { action: 'decline' })
  })

  it('are removed from the conversation when the client request ends', async () => {
    const { fixture, client } = await begin()
    const request = new AbortController()
    const asked = client.createElicitation!(ofNoSession, request.signal)
    request.abort()
    assert.deepEqual(await asked, { action: 'cancel' })
    assert.deepEqual(fixture.controller.current?.session.requests.open, [])
    assert.deepEqual(fixture.nativeQuestions, [])
  })

  it('open no URL after they were canceled', async () => {
    const { client, session, pending } = await begin()
    const request = new AbortController()
    const asked = client.createElicitation!(visit, request.signal)
    const requestId = pending()
    request.abort()
    await asked
    const opened: string[] = []
    const actions = { openLink: async (href: string) => void opened.push(href) }
    await answerElicitation(session().requests, actions, requestId, { action: 'accept' })
    assert.deepEqual(opened, [])
  })

  it("open a URL before they send the user's consent, and send none if that fails", async () => {
    const { client, session, pending } = await begin()
    const asked = client.createElicitation!(visit, never)
    const refuse = { openLink: () => Promise.reject(new Error("The link couldn't be opened.")) }
    await assert.rejects(
      answerElicitation(session().requests, refuse, pending(), { action: 'accept' }),
      /couldn't be opened/,
    )
    const opened: string[] = []
    const actions = { openLink: async (href: string) => void opened.push(href) }
    await answerElicitation(session().requests, actions, pending(), { action: 'accept' })
    assert.deepEqual(opened, ['https://example.com/'])
    assert.deepEqual(await asked, { action: 'accept' })

    void client.createElicitation!({ ...visit, url: 'file:///etc/passwd' }, never)
    await assert.rejects(
      answerElicitation(session().requests, actions, pending(), { action: 'accept' }),
      /http and https/,
    )
    await answerElicitation(session().requests, actions, pending(), { action: 'decline' })
    assert.deepEqual(opened, ['https://example.com/'])
  })

  it('report invalid values', async () => {
    const { client, session, pending } = await begin()
    void client.createElicitation!(form(), never)
    const actions = { openLink: async () => {} }
    const answer = { action: 'accept' as const, content: { name: 'far too long' } }
    await assert.rejects(answerElicitation(session().requests, actions, pending(), answer), /doesn't accept/)
    await answerElicitation(session().requests, actions, 'gone', answer)
  })
})
