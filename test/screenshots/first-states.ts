import { walkthroughSteps } from '../ui/support/walkthrough-steps.ts'
import type { State } from './studio.ts'

/** What a user sees first: Restricted Mode, then a machine without any agent. */
export const firstStates: State[] = [
  {
    name: 'first-untrusted',
    needsWorkbench: true,
    async take(studio) {
      const { workbench } = studio
      await workbench.openViewContainer('Parley')
      await studio.resetWidth()
      const conversation = await studio.conversation()
      const card = conversation.card('Restricted Mode')
      await card.waitFor()
      await studio.captureWidths('first-untrusted')
      await studio.captureWindow('first-untrusted-window')
      await card.getByRole('button', { name: 'Manage Trust' }).click()
      const trust = workbench.page.locator('.workspace-trust-editor').getByRole('button', { name: 'Trust' })
      await trust.first().click()
      await card.waitFor({ state: 'detached' })
      await workbench.runCommand('View: Close All Editors')
    },
  },
  {
    name: 'first-no-agents',
    async take(studio) {
      const { workbench } = studio
      await workbench.openViewContainer('Parley')
      await studio.resetWidth()
      const { frame } = await studio.conversation()
      await frame.getByText('Set Up an Agent').waitFor()
      await studio.captureWidths('first-no-agents')
      await workbench.runCommand('Parley: Open History')
      const history = await workbench.webview('main.history')
      await history.locator('.history-empty, .history-nothing').first().waitFor()
      await studio.captureSideBar('first-no-sessions')
      await history.getByRole('button', { name: 'Back to Conversation' }).click()
      // it goes back to the conversation that is active then: before the next state opens a tab
      await history.locator('main.history').waitFor({ state: 'hidden' })
    },
  },
  {
    name: 'first-in-tabs',
    async take(studio) {
      const { workbench } = studio
      await workbench.openViewContainer('Parley')
      await workbench.runCommand('Parley: New Session in Editor Tab')
      const tab = await studio.conversationTab()
      await tab.button(/^Try the Demo Agent/).click()
      await tab.waitForPhase('ready')
      await tab.send('Look at planets.js, please')
      await tab.permission.waitFor()
      // neither in the preview of the page, which is there until the page is drawn, nor in the history behind it
      const sessions = '#root section.sessions'
      const sideBar = await workbench.webview(`${sessions} .session-text`)
      await sideBar.locator(sessions).getByText('Needs your answer').waitFor()
      await studio.captureWindow('first-in-tabs-window')
      await studio.captureWidths('first-in-tabs')
      await workbench.runCommand('View: Close All Editors')
    },
  },
  {
    name: 'first-walkthrough',
    needsWorkbench: true,
    async take(studio) {
      const { workbench } = studio
      const shown = workbench.page.locator('.gettingStartedContainer')
      // wide enough for the images
      await workbench.runCommand('View: Toggle Primary Side Bar Visibility')
      for (const [title, picture] of walkthroughSteps) {
        await workbench.runAndPick('Welcome: Open Walkthrough...', 'Get Started with Parley')
        const step = shown.locator('.getting-started-step', { hasText: title })
        await step.click()
        await step.and(shown.locator('.expanded')).waitFor()
        await workbench.webview(`svg#${picture}`)
        await studio.captureWindow(`first-walkthrough-${picture}`)
      }
      await workbench.runCommand('View: Toggle Primary Side Bar Visibility')
      await workbench.runCommand('View: Close All Editors')
    },
  },
]
