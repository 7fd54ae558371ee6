import assert from 'node:assert/strict'
import type { ElicitationRequest } from '../../../src/acp/model.ts'
import { answerElicitation } from '../../../src/views/conversation/answer-elicitation.ts'
import { settle } from '../conversation/fake-agent.ts'
import { form } from '../conversation/updates.ts'
import { House } from './house.ts'

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
  const house = new House()
  const started = house.controller.start('one')
  await settle()
  house.agent.news[0]!.resolve({ sessionId: 's' })
  await started
  const client = house.manager.client('one', () => house.hosts.get('one').running?.sessions)
  const question = () => house.controller.current?.session.state.entries.at(-1)
  return { house, client, question }
}

describe('Forms and addresses, on their way to the person', () => {
  it('stand in the conversation they name', async () => {
    const { house, client, question } = await begin()
    const asked = client.createElicitation!(form(), never)
    assert.equal(question()?.kind, 'elicitation')
    assert.equal(
      house.controller.answerElicitation('f1', { action: 'accept', content: { name: 'Ada' } }),
      true,
    )
    assert.deepEqual(await asked, { action: 'accept', content: { name: 'Ada' } })
    assert.deepEqual(await client.createElicitation!(form({ sessionId: 'nobody' }), never), {
      action: 'cancel',
    })
    assert.deepEqual(house.nativeQuestions, [])
  })

  it('stand where the person works with the agent when they name none, and else nowhere', async () => {
    const { house, client, question } = await begin()
    void client.createElicitation!(ofNoSession, never)
    assert.equal(question()?.kind, 'elicitation')
    const other = house.manager.client('two', () => undefined)
    assert.deepEqual(await other.createElicitation!(ofNoSession, never), { action: 'decline' })
    assert.deepEqual(house.nativeQuestions, ['two Who are you?'])
    client.elicitationComplete!('v')
    assert.deepEqual(house.completed, ['v'])
  })

  it('open an address before the agent hears of the consent, and not when it cannot be opened', async () => {
    const { house, client } = await begin()
    const asked = client.createElicitation!(visit, never)
    const refuse = { openLink: () => Promise.reject(new Error('The link was not opened.')) }
    await assert.rejects(
      answerElicitation(house.controller, refuse, 'f1', { action: 'accept' }),
      /not opened/,
    )
    const opened: string[] = []
    const actions = { openLink: async (href: string) => void opened.push(href) }
    await answerElicitation(house.controller, actions, 'f1', { action: 'accept' })
    assert.deepEqual(opened, ['https://example.com/'])
    assert.deepEqual(await asked, { action: 'accept' })

    void client.createElicitation!({ ...visit, url: 'file:///etc/passwd' }, never)
    await assert.rejects(
      answerElicitation(house.controller, actions, 'f2', { action: 'accept' }),
      /of the web/,
    )
    await answerElicitation(house.controller, actions, 'f2', { action: 'decline' })
    assert.deepEqual(opened, ['https://example.com/'])
  })

  it('say so when the form does not take the values', async () => {
    const { house, client } = await begin()
    void client.createElicitation!(form(), never)
    const actions = { openLink: async () => {} }
    const answer = { action: 'accept' as const, content: { name: 'far too long' } }
    await assert.rejects(answerElicitation(house.controller, actions, 'f1', answer), /does not take/)
    await answerElicitation(house.controller, actions, 'gone', answer)
  })
})
