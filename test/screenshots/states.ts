import { waitFor } from '../host/wait-for.ts'
import type { ConversationPage } from '../ui/support/conversation-page.ts'
import { names } from './agents.ts'
import { featureStates } from './feature-states.ts'
import type { State, Studio } from './studio.ts'

/**
 * Everything that the views can show, one state after the other in one window. A state may contain what earlier ones
 * left.
 */
export const states: State[] = [
  {
    name: 'empty',
    async take(studio) {
      const { frame } = await openView(studio)
      await frame.getByRole('button', { name: /Try the Demo Agent/ }).waitFor()
      await studio.captureSideBar('empty')
    },
  },
  {
    name: 'starting',
    async take(studio) {
      const { frame } = await studio.startSession('Slow Starter')
      await frame.locator('body[data-phase="starting"]').waitFor()
      await studio.captureSideBar('starting')
    },
  },
  {
    name: 'outgoing',
    async take(studio) {
      const conversation = await studio.startSession('Slow Starter')
      await conversation.waitForPhase('starting')
      await conversation.send(
        'Find out why the parser test fails one time in ten, and mend it where it begins.',
      )
      await conversation.send('Then run all tests.')
      const outgoing = conversation.frame.locator('.outgoing')
      await outgoing.getByText('Then run all tests.').waitFor()
      await studio.captureSideBar('outgoing')
      await studio.captureNarrow('outgoing')
      await conversation.button('Cancel').click()
      await outgoing.first().waitFor({ state: 'detached' })
      await conversation.composer.fill('')
    },
  },
  {
    name: 'first-turn',
    async take(studio) {
      const conversation = await studio.startReadySession('Demo Agent')
      await studio.captureSideBar('new-session')
      await conversation.send('Hello!')
      await conversation.text(/\/compact/).waitFor()
      await studio.waitForTurnEnd(conversation)
      await studio.captureSideBar('first-turn')
    },
  },
  {
    name: 'thoughts-open',
    async take(studio) {
      const conversation = await studio.startReadySession('Demo Agent')
      await conversation.send('/think')
      await conversation.text('Both were scripted').waitFor()
      await studio.waitForTurnEnd(conversation)
      for (const line of await conversation.frame.locator('.thought-line').all()) await line.click()
      await conversation.text('The prompt asks for nothing').waitFor()
      await studio.captureSideBar('thoughts-open')
    },
  },
  {
    name: 'permission',
    async take(studio) {
      const conversation = await studio.startReadySession('Demo Agent')
      await conversation.send('Look at planets.js, please')
      await conversation.permission.filter({ hasText: 'edit' }).waitFor()
      await studio.captureSideBar('permission-edit')
      await allow(conversation, 'Allow this edit?')
      await conversation.permission.filter({ hasText: 'Allow running this command?' }).waitFor()
      await studio.captureSideBar('permission-command')
      // it's gone with the end of the turn
      const plan = conversation.frame.getByRole('region', { name: 'Plan' }).getByRole('button')
      await plan.click()
      await studio.captureSideBar('plan-open')
      await plan.click()
      await allow(conversation, 'Allow running this command?')
      await conversation.text('exit code 0').waitFor()
      await studio.waitForTurnEnd(conversation)
      await studio.captureSideBar('whole-turn')
    },
  },
  {
    name: 'tools-open',
    async take(studio) {
      const conversation = await studio.conversation()
      for (const row of [/^Command: ls -la/, /^Edit: Edit planets\.js/])
        await conversation.button(row).first().click()
      await conversation.frame.locator('.diff').first().waitFor()
      await conversation
        .button(/^Edit: Edit planets\.js/)
        .first()
        .scrollIntoViewIfNeeded()
      await studio.captureSideBar('tools-open')
      await studio.workbench.setSideBarWidth(280)
      await studio.captureSideBar('narrow-tools-open')
      await conversation.button(/Scroll to Latest Message|new$/).click()
      await conversation.frame.locator('.jump').waitFor({ state: 'detached' })
      await studio.captureSideBar('narrow-turn')
      await studio.resetWidth()
    },
  },
  {
    name: 'wide-tab',
    async take(studio) {
      const { workbench } = studio
      await workbench.runCommand('Parley: Open Conversation in Editor Tab')
      await workbench.runCommand('View: Close Primary Side Bar')
      const conversation = await studio.conversationTab()
      await conversation
        .button(/^Edit: Edit planets\.js/)
        .first()
        .click()
      await conversation.frame.locator('.diff').first().waitFor()
      await studio.captureEditor('wide-tab')
      await studio.captureWindow('wide-window')
      await workbench.runCommand('View: Close All Editors')
      await workbench.openViewContainer('Parley')
    },
  },
  {
    name: 'permissions',
    async take(studio) {
      const conversation = await studio.startReadySession('Fixture')
      await conversation.send('[[permissions 4]]')
      await conversation.permission.nth(3).waitFor()
      await studio.captureSideBar('permissions-many')
      await conversation.button(/^Stop \(/).click()
      await studio.waitForTurnEnd(conversation)
      await studio.captureSideBar('permissions-stopped')
    },
  },
  {
    name: 'question',
    async take(studio) {
      const conversation = await studio.startReadySession('Demo Agent')
      await conversation.send('/ask')
      await conversation.text('How do you like your demo?').waitFor()
      await studio.captureSideBar('question-form')
      await conversation.button(/^Stop \(/).click()
      await studio.waitForTurnEnd(conversation)
    },
  },
  {
    name: 'queue',
    async take(studio) {
      const conversation = await studio.startReadySession('Fixture')
      await conversation.send('[[say I begin.]] [[slow 600000]]')
      await conversation.text('I begin.').waitFor()
      await conversation.send('Then run the tests, and tell me which of them fail and since when.')
      await conversation.send('And update the documentation.')
      await conversation.text('And update the documentation.').waitFor()
      await studio.captureSideBar('queue')
      await conversation.button(/^Stop \(/).click()
      await conversation.text('Stopped by you').waitFor()
      await studio.captureSideBar('queue-held')
    },
  },
  card('failure-missing', 'Not Installed'),
  card('failure-start', 'Broken'),
  card('failure-version', 'From the Future'),
  {
    name: 'failure-in-a-turn',
    async take(studio) {
      const conversation = await studio.startReadySession('Crashing')
      await conversation.send('Read all the files')
      await conversation.frame.locator('.card').first().waitFor()
      await studio.captureSideBar('failure-in-a-turn')
    },
  },
  card('sign-in', 'Members Only'),
  said('markdown', 'Demo Agent', '/markdown', 'That was all of it.', true),
  said('media', 'Demo Agent', '/media', ''),
  said('notices', 'Demo Agent', '/notice', ''),
  said('failed-tool', 'Demo Agent', '/fail', ''),
  said('long-names', names.long.slice(0, 30), 'Begin', 'averylongword', true),
  said('right-to-left', 'Right to Left', 'اقرأ الملف وشغّل الاختبارات من فضلك', names.endOfRightToLeft),
  said('table', 'Tables', 'Compare them', 'goes on below', true),
  {
    name: 'formulas',
    async take(studio) {
      const conversation = await studio.startReadySession('Formulas')
      await conversation.send('Explain')
      await conversation.frame.locator('.diagram[data-state="drawn"] img').waitFor()
      await conversation.frame.locator('.diagram[data-state="failed"]').waitFor()
      await conversation.frame.locator('.katex').first().waitFor()
      await studio.waitForTurnEnd(conversation)
      await studio.captureSideBar('formulas')
      await studio.captureNarrow('formulas')
    },
  },
  {
    name: 'diff',
    async take(studio) {
      const { workbench } = studio
      const conversation = await studio.startReadySession('Edits')
      await conversation.send(
        'Tokens may be longer than one character: let the parser move on by their length.',
      )
      await conversation.text('Done.').waitFor()
      await conversation.button(/^Edit: Edit parser/).click()
      await conversation.frame.locator('.diff .hljs-keyword').first().waitFor()
      await studio.captureSideBar('diff')
      await workbench.runCommand('Parley: Open Conversation in Editor Tab')
      await workbench.runCommand('View: Close Primary Side Bar')
      const tab = await studio.conversationTab()
      await tab.button(/^Edit: Edit parser/).click()
      await tab.frame.locator('.diff-side .hljs-keyword').first().waitFor()
      await studio.captureEditor('wide-diff')
      await workbench.runCommand('View: Close All Editors')
      await workbench.openViewContainer('Parley')
    },
  },
  said('code', 'Code', 'Show me', 'export default', true),
  ...featureStates,
  {
    name: 'scrolled-up',
    async take(studio) {
      const conversation = await studio.startReadySession('Demo Agent')
      await conversation.send('/long 60')
      await conversation.text('paragraph 61').waitFor()
      await studio.waitForTurnEnd(conversation)
      const transcript = conversation.frame.locator('.transcript')
      await transcript.hover()
      await studio.workbench.page.mouse.wheel(0, -1200)
      await conversation.frame.locator('.jump').waitFor()
      await studio.captureSideBar('scrolled-up')
    },
  },
  {
    name: 'history',
    async take(studio) {
      const { workbench } = studio
      // of its own, since earlier states may have been in another window
      const conversation = await studio.startReadySession('Code')
      await conversation.send('Show me how a lighthouse is drawn')
      await conversation.text('export default').waitFor()
      await studio.waitForTurnEnd(conversation)
      await workbench.runCommand('Parley: Open History')
      const history = await workbench.webview('main.history')
      await history.getByRole('option', { name: 'lighthouse' }).waitFor()
      await studio.captureSideBar('history')
      await studio.captureNarrow('history')
      await history.getByRole('combobox').or(history.getByRole('searchbox')).first().fill('lighthouse')
      await waitFor('search', async () => (await history.getByRole('option').count()) === 1)
      await studio.captureSideBar('history-search')
      await history.getByRole('combobox').or(history.getByRole('searchbox')).first().fill('')
      await history.getByRole('button', { name: 'Back to Conversation' }).click()
    },
  },
]

/** The Conversation view, opened from the activity bar. */
async function openView(studio: Studio): Promise<ConversationPage> {
  await studio.workbench.openViewContainer('Parley')
  return studio.conversation()
}

async function allow(conversation: ConversationPage, question: string): Promise<void> {
  const permission = conversation.permission.filter({ hasText: question })
  await permission.getByRole('button', { name: 'Allow once' }).click()
  await permission.waitFor({ state: 'detached' })
}

/** An agent that never becomes ready. */
function card(name: string, agent: string): State {
  return {
    name,
    async take(studio) {
      // the conversation that stays displayed when the next session doesn't start
      await studio.startReadySession('Demo Agent')
      const { frame } = await studio.startSession(agent)
      await frame.locator('.card').filter({ hasText: agent }).waitFor()
      await studio.captureSideBar(name)
    },
  }
}

/** A prompt and its answer; `alsoNarrow`: also in a side bar of 280 pixels. */
function said(name: string, agent: string, prompt: string, waitFor: string, alsoNarrow = false): State {
  return {
    name,
    async take(studio) {
      const conversation = await studio.startReadySession(agent)
      await conversation.runTurn(prompt)
      if (waitFor !== '') await conversation.text(waitFor).waitFor()
      await studio.captureSideBar(name)
      if (!alsoNarrow) return
      await studio.captureNarrow(name)
    },
  }
}
