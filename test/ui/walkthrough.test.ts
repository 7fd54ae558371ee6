import assert from 'node:assert/strict'
import { ConversationPage } from './support/conversation-page.ts'
import { VsCodeSuite } from './support/vscode-suite.ts'
import { walkthroughSteps } from './support/walkthrough-steps.ts'

describe('the walkthrough', () => {
  const vscode = new VsCodeSuite({
    ownServer: true,
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
      // opened again, it would be drawn again, and a click in the meantime would be lost
      if (await shown.isVisible()) return
      await workbench.runAndPick('Welcome: Open Walkthrough...', 'Get Started with Parley')
      await shown.getByText('From the first agent to its first reviewed change.').first().waitFor()
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

    // a step is complete when the user did what it says, not when its button was pressed
    const isDone = (title: string) => step(title).getByRole('checkbox', { checked: true })
    await begin('Choose an agent', 'Manage Agents', 'agent')
    const agents = await workbench.webview('body[data-view="agents"]')
    await agents.getByText('The agent registry is turned off in the settings.').waitFor()
    assert.equal(await agents.getByRole('button', { name: /^Install/ }).count(), 0)
    await begin('Sign in', 'Sign In', 'sign-in')
    await workbench.palette.getByText('Demo Agent').first().waitFor()
    await workbench.closePalette()
    await begin('Send a prompt', 'New Session', 'prompt')
    await conversation.button(/^Try the Demo Agent/).waitFor()
    await open()
    for (const [title] of walkthroughSteps) assert.equal(await isDone(title).count(), 0, title)

    await conversation.button(/^Try the Demo Agent/).click()
    await conversation.waitForAgent('Demo Agent')
    await conversation.waitForPhase('ready')
    await conversation.send('/edit planets.js')
    // the question takes the focus once it's in its place
    const allow = conversation.permission.getByRole('button', { name: 'Allow once' })
    await conversation.waitForFocus(allow)
    await allow.click()
    await conversation.text('The change is written').waitFor()
    await isDone('Send a prompt').waitFor()
    await isDone('Decide what the agent may do').waitFor()
    await begin('Find earlier sessions', 'Open History', 'history')
    await isDone('Find earlier sessions').waitFor()
    for (const [title, picture] of walkthroughSteps.slice(3, 5)) {
      await step(title).click()
      await workbench.webview(`svg#${picture}`)
      await workbench.screenshot(`walkthrough-${picture}`)
    }
    assert.equal(await isDone('Review the changes').count(), 0)
    assert.equal(await isDone('Choose an agent').count(), 0)
    assert.ok(await tab.count())
  })
})
