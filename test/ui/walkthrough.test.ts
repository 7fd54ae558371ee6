import assert from 'node:assert/strict'
import { ConversationPage } from './support/conversation-page.ts'
import { VsCodeSuite } from './support/vscode-suite.ts'

describe('the walkthrough', () => {
  const vscode = new VsCodeSuite({
    // the default, with which VS Code opens the walkthrough of a newly installed extension
    settings: { 'workbench.welcomePage.walkthroughs.openOnInstall': undefined, 'parley.agentRegistry': '' },
  })

  it('never opens automatically, and has a button for each step', async () => {
    const workbench = await vscode.open()
    const { page } = workbench
    const tab = page.getByRole('tab', { name: /Get Started with Parley|Walkthrough|Welcome/ })
    const conversation = await ConversationPage.open(workbench)
    await conversation.button(/^Try the Demo Agent/).waitFor()
    // no step offers to install an agent, since the registry is disabled
    await conversation.frame.getByText('Add an agent in settings, or try the demo.').waitFor()
    assert.doesNotMatch(await conversation.frame.locator('body').innerText(), /install/i)
    assert.equal(
      await page
        .getByRole('tab')
        .filter({ hasText: /Get Started|Walkthrough|Welcome/ })
        .count(),
      0,
    )

    const shown = page.locator('.gettingStartedContainer')
    const open = async () => {
      await workbench.runAndPick('Welcome: Open Walkthrough...', 'Get Started with Parley')
      await shown.getByText('Install an agent, sign in and send your first prompt.').first().waitFor()
    }
    const step = (title: string) => shown.locator('.getting-started-step', { hasText: title })
    const begin = async (title: string, button: string, picture: string) => {
      await open()
      await step(title).click()
      const action = step(title).getByRole('button', { name: button })
      await action.waitFor()
      await workbench.screenshot(`walkthrough-${picture}`)
      await action.click()
    }

    await begin('Choose an agent', 'Manage Agents', 'agent')
    const agents = await workbench.webview('body[data-view="agents"]')
    await agents.getByText('The agent registry is turned off in the settings.').waitFor()
    assert.equal(await agents.getByRole('button', { name: /^Install/ }).count(), 0)
    await begin('Sign in', 'Sign In', 'sign-in')
    await workbench.palette.getByText('Demo Agent').first().waitFor()
    await workbench.closePalette()
    await begin('Send a prompt', 'New Session', 'prompt')
    await conversation.button(/^Try the Demo Agent/).waitFor()
    assert.ok(await tab.count())
  })
})
