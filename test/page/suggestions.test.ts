import assert from 'node:assert/strict'
import { waitFor } from '../host/wait-for.ts'
import { PageSuite } from '../support/page/page-suite.ts'
import { ConversationPage } from '../ui/support/conversation-page.ts'
import { fixtureAgent, receivedParams } from '../ui/support/fixture-agent.ts'

describe('what an agent suggests and reports of its limits', () => {
  const vscode = new PageSuite({
    settings: root => ({
      'parley.agents': {
        plain: fixtureAgent(root, 'Plain'),
        counting: fixtureAgent(root, 'Counting', {
          results: {
            'session/prompt': {
              stopReason: 'end_turn',
              usage: { totalTokens: 3150, inputTokens: 3000, outputTokens: 150 },
            },
          },
        }),
      },
    }),
  })

  it('is in the empty input, where Tab takes it, and next to the usage', async () => {
    const workbench = await vscode.sharedWindow()
    const conversation = await ConversationPage.startSession(workbench, 'Plain')
    const { keyboard } = workbench.page
    await conversation.send('[[suggest Now run the tests]] [[say Changed.]]')
    await conversation.agentMessage('Changed.').waitFor()
    await conversation.frame
      .locator('.cm-placeholder')
      .getByText(/^Now run the tests/)
      .waitFor()
    await conversation.composer.click()
    await keyboard.press('Tab')
    await waitFor('the text', async () => (await conversation.composerText()) === 'Now run the tests')
    assert.equal(receivedParams(vscode.root, 'Plain', 'session/prompt').length, 1)
    // it's text like any other
    await keyboard.press('Control+z')
    await waitFor('nothing', async () => (await conversation.composerText()) === '')
    await conversation.send('[[limit five_hour 0.5 allowed]] [[say Fine.]]')
    await conversation.agentMessage('Fine.').waitFor()
    await conversation.frame.locator('button.usage').waitFor()
    assert.equal(await conversation.frame.locator('.usage-limit').count(), 0)
    await conversation.send('[[limit]] [[say Hurry.]]')
    await conversation.frame.locator('.usage-limit').getByText('92% used').waitFor()
    await conversation.frame.locator('button.usage').click()
    await conversation.frame
      .getByRole('dialog', { name: 'Usage' })
      .getByText(/Resets Jan 1, 2100/)
      .waitFor()
    await keyboard.press('Escape')
    await workbench.runCommand('Parley: Show Usage and Cost')
    await workbench.page.getByText('Plain Usage Limits').waitFor()
    await workbench.page.getByText(/92% used · Resets/).waitFor()
  })

  it('leaves the room of a narrow side bar to the options, if it is only a count', async () => {
    const workbench = await vscode.sharedWindow()
    const conversation = await ConversationPage.startSession(workbench, 'Counting')
    await conversation.runTurn('Count')
    const usage = conversation.frame.locator('button.usage')
    for (const [width, text] of [
      [280, '3.2K'],
      [500, '3,150 tokens'],
    ] as const) {
      await workbench.setSideBarWidth(width)
      await waitFor(text, async () => (await usage.innerText()) === text)
    }
    assert.equal(await usage.getAttribute('aria-label'), '3,150 tokens')
  })
})
