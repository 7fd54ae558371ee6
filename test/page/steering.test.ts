import assert from 'node:assert/strict'
import { waitFor } from '../host/wait-for.ts'
import { PageSuite } from '../support/page/page-suite.ts'
import type { PageWindow } from '../support/page/page-window.ts'
import { ConversationPage } from '../ui/support/conversation-page.ts'
import { fixtureAgent, openGate, receivedParams } from '../ui/support/fixture-agent.ts'

type Block = { text?: string }

const steers = { results: { initialize: { _meta: { steering: { supported: true } } } } }

describe('a prompt for the running turn', () => {
  const vscode = new PageSuite({
    settings: root => ({
      'parley.agents': {
        steerable: fixtureAgent(root, 'Steerable', steers),
        plain: fixtureAgent(root, 'Plain'),
      },
    }),
  })
  let workbench: PageWindow
  let conversation: ConversationPage

  const textsOf = (agent: string, method: string) =>
    receivedParams(vscode.root, agent, method).map(({ prompt }) =>
      (prompt as Block[]).map(block => block.text).join(),
    )
  const press = (key: string) => workbench.page.keyboard.press(key)
  const begin = async (agent: string) => {
    workbench = await vscode.clearedWindow()
    conversation = await ConversationPage.startSession(workbench, agent)
    await conversation.send('[[gate]] [[say Done.]]')
    await conversation.button(/^Stop/).waitFor()
  }
  const write = async (text: string) => {
    await conversation.composer.click()
    await workbench.page.keyboard.type(text)
  }
  const notes = () => conversation.frame.locator('.prompt-steering').allTextContents()
  const queued = () => conversation.frame.locator('.queue-text').allTextContents()

  it('goes to the agent at once with Ctrl+Enter or its button, and is shown where it was sent', async () => {
    await begin('Steerable')
    await write('Use tabs')
    await conversation.button('Send Now (Ctrl+Enter)').waitFor()
    await press('Control+Enter')
    await conversation.frame.getByText('You added: Use tabs').waitFor()
    await conversation.frame.getByText('Added to the running turn').waitFor()
    await write('And no semicolons')
    await conversation.button('Send Now (Ctrl+Enter)').click()
    await conversation.frame.getByText('You added: And no semicolons').waitFor()
    await write('Later')
    await press('Enter')
    const row = conversation.frame.getByRole('listitem').filter({ hasText: 'Later' })
    await row.getByRole('button', { name: 'Send Now', exact: true }).click()
    await conversation.frame.getByText('You added: Later').waitFor()
    openGate(vscode.root, 'Steerable')
    await conversation.button(/^Stop/).waitFor({ state: 'detached' })
    assert.deepEqual(textsOf('Steerable', '_session/steering'), ['Use tabs', 'And no semicolons', 'Later'])
    assert.equal(textsOf('Steerable', 'session/prompt').length, 1)
    await waitFor('all three where they were sent', async () => (await notes()).length === 3)
  })

  it('is in the queue with the reason if the agent fails, and is sent after the turn', async () => {
    await begin('Steerable')
    await write('Look [[steer error]]')
    await press('Control+Enter')
    await conversation.frame.getByText('The model sees no images').waitFor()
    await waitFor('the prompt in the queue', async () => (await queued())[0]?.startsWith('Look'))
    await waitFor('the prompt nowhere else', async () => (await notes()).length === 0)
    openGate(vscode.root, 'Steerable')
    await waitFor('the prompt', () => textsOf('Steerable', 'session/prompt').at(-1)?.startsWith('Look'))
    await conversation.frame.locator('.queue').waitFor({ state: 'detached' })
  })

  it('is in the composer again if the agent exits', async () => {
    await begin('Steerable')
    await write('Look [[steer crash]]')
    await press('Control+Enter')
    await waitFor('the text', async () => (await conversation.composerText()) === 'Look [[steer crash]]')
    await waitFor('nothing elsewhere', async () => [...(await notes()), ...(await queued())].length === 0)
  })

  it('is queued for an agent that cannot add it, whose button says that it stops the turn', async () => {
    await begin('Plain')
    await write('Use tabs')
    assert.equal(await conversation.button(/^Send Now/).count(), 0)
    await press('Control+Enter')
    await conversation.button('Stop and Send Now').click()
    await conversation.frame.getByText('You said: Use tabs').waitFor()
    assert.deepEqual(textsOf('Plain', '_session/steering'), [])
  })

  for (const agent of ['Steerable', 'Plain'])
    it(`is the reason why a request is rejected, which ${agent === 'Plain' ? 'an agent gets next' : 'the agent gets at once'}`, async () => {
      const sent = textsOf(agent, 'session/prompt').length
      workbench = await vscode.clearedWindow()
      conversation = await ConversationPage.startSession(workbench, agent)
      await conversation.send('[[permissions 1]] [[gate]] [[say Done.]]')
      await write('Later')
      await press('Enter')
      await waitFor('the queue', async () => (await queued()).join() === 'Later')
      const openReason = async () => {
        await conversation.permission.getByRole('button', { name: 'Reject with Reason…' }).click()
        const dialog = conversation.frame.getByRole('dialog', { name: 'Reject with Reason' })
        const reason = dialog.getByRole('textbox', { name: 'Reason' })
        await reason.and(dialog.locator(':focus')).waitFor()
        return dialog
      }
      const dialog = await openReason()
      await workbench.page.keyboard.type('Use the tests')
      // opened again, also on a new page, it has what was written, and neither key answers the request
      await press('Escape')
      await dialog.waitFor({ state: 'detached' })
      await workbench.openViewContainer('Explorer')
      conversation = await ConversationPage.open(workbench)
      await openReason()
      await press('End')
      await workbench.page.keyboard.type(' of last week')
      await press('Control+Backspace')
      await press('Control+Enter')
      const { permission } = conversation
      await permission.waitFor({ state: 'detached' })
      if (agent === 'Steerable')
        await waitFor(
          'the steering',
          () => textsOf(agent, '_session/steering').at(-1) === 'Use the tests of last',
        )
      else await waitFor('the queue', async () => (await queued()).join() === 'Use the tests of last,Later')
      openGate(vscode.root, agent)
      await waitFor('the prompts', () => textsOf(agent, 'session/prompt').at(-1) === 'Later')
      const prompts = textsOf(agent, 'session/prompt').slice(sent + 1)
      assert.deepEqual(prompts, agent === 'Plain' ? ['Use the tests of last', 'Later'] : ['Later'])
    })
})
