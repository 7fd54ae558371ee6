import type { ConversationPage } from '../ui/support/conversation-page.ts'
import { HistoryPage } from '../ui/support/history-page.ts'
import { names } from './agents.ts'
import { composerStates } from './composer-states.ts'
import { inSession, type State, type Studio } from './studio.ts'

/**
 * What a conversation shows, one state after the other in one window. A state may contain what earlier ones left.
 */
export const states: State[] = [
  {
    name: 'empty',
    async take(studio) {
      await studio.workbench.openViewContainer('Parley')
      const conversation = await studio.conversation()
      await conversation.button(/Try the Demo Agent/).waitFor()
      await studio.captureSideBar('empty')
    },
  },
  {
    name: 'starting',
    async take(studio) {
      const conversation = await studio.startSession('Slow Starter')
      await conversation.waitForPhase('starting')
      await studio.captureSideBar('starting')
      await conversation.send(
        'Find out why the parser test fails one time in ten, and mend it where it begins.',
      )
      await conversation.send('Then run all tests.')
      const outgoing = conversation.frame.locator('.outgoing')
      await outgoing.getByText('Then run all tests.').waitFor()
      await studio.captureWidths('outgoing')
      await conversation.button('Cancel').click()
      await outgoing.first().waitFor({ state: 'detached' })
      await conversation.composer.fill('')
    },
  },
  inSession('first-turn', 'Demo Agent', async (conversation, studio) => {
    await studio.captureSideBar('new-session')
    await conversation.runTurn('Hello!')
    await studio.captureSideBar('first-turn')
  }),
  inSession('thoughts-open', 'Demo Agent', async (conversation, studio) => {
    await conversation.runTurn('/think')
    for (const line of await conversation.frame.locator('.thought-line').all()) await line.click()
    await conversation.text('The prompt asks for nothing').waitFor()
    await studio.captureSideBar('thoughts-open')
  }),
  inSession('permission', 'Demo Agent', async (conversation, studio) => {
    const edit = conversation.permission.filter({ hasText: 'Allow this edit?' })
    const command = conversation.permission.filter({ hasText: 'Allow running this command?' })
    const plan = conversation.frame.getByRole('region', { name: 'Plan' }).getByRole('button')
    await conversation.send('Look at planets.js, please')
    await edit.waitFor()
    await studio.captureSideBar('permission-edit')
    await edit.getByRole('button', { name: 'Allow once' }).click()
    await command.waitFor()
    await studio.captureSideBar('permission-command')
    // it's gone with the end of the turn
    await plan.click()
    await studio.captureSideBar('plan-open')
    await plan.click()
    await command.getByRole('button', { name: 'Allow once' }).click()
    await conversation.text('exit code 0').waitFor()
    await studio.waitForTurnEnd(conversation)
    await studio.captureSideBar('whole-turn')
    for (const row of [/^Command: ls -la/, /^Edit: Edit planets\.js/])
      await conversation.button(row).first().click()
    await conversation.frame.locator('.diff').first().waitFor()
    await conversation
      .button(/^Edit: Edit planets\.js/)
      .first()
      .scrollIntoViewIfNeeded()
    await studio.captureWidths('tools-open')
    await captureTab(studio, 'wide-tab', async tab => {
      await tab
        .button(/^Edit: Edit planets\.js/)
        .first()
        .click()
      await tab.frame.locator('.diff').first().waitFor()
    })
  }),
  inSession('permissions', 'Fixture', async (conversation, studio) => {
    await conversation.send('[[permissions 30]]')
    await conversation.text('1 of 30').waitFor()
    await studio.captureWidths('permissions-many')
    await studio.stopTurn(conversation)
    await studio.captureSideBar('permissions-stopped')
  }),
  inSession('question', 'Demo Agent', async (conversation, studio) => {
    await conversation.send('/ask')
    await conversation.text('How do you like your demo?').waitFor()
    await studio.captureWidths('question-form')
    await studio.stopTurn(conversation)
  }),
  inSession('queue', 'Fixture', async (conversation, studio) => {
    await conversation.send('[[say I begin.]] [[slow 600000]]')
    await conversation.text('I begin.').waitFor()
    await conversation.send('Then run the tests, and tell me which of them fail and since when.')
    await conversation.send('And update the documentation.')
    await conversation.send('Thanks')
    await conversation.frame.getByRole('listitem').filter({ hasText: 'Thanks' }).waitFor()
    await studio.captureSideBar('queue')
    await studio.stopTurn(conversation)
    await conversation.text('Stopped by you').waitFor()
    await studio.captureSideBar('queue-held')
  }),
  ...(
    [
      ['failure-missing', 'Not Installed'],
      ['failure-start', 'Broken'],
      ['failure-version', 'From the Future'],
      ['sign-in', 'Members Only'],
    ] as const
  ).map(([name, agent]) =>
    // its conversation stays displayed when the next session doesn't start
    inSession(name, 'Demo Agent', async (_conversation, studio) => {
      const { frame } = await studio.startSession(agent)
      await frame.locator('.card').filter({ hasText: agent }).waitFor()
      await studio.captureSideBar(name)
    }),
  ),
  inSession('failure-in-a-turn', 'Crashing', async (conversation, studio) => {
    await conversation.send('Read all the files')
    await conversation.frame.locator('.card').first().waitFor()
    await studio.captureSideBar('failure-in-a-turn')
  }),
  answered('markdown', 'Demo Agent', '/markdown', textSeen('That was all of it.')),
  answered('media', 'Demo Agent', '/media'),
  answered('notices', 'Demo Agent', '/notice'),
  answered('failed-tool', 'Demo Agent', '/fail'),
  answered('subagents', 'Demo Agent', '/delegate'),
  answered('long-paths', 'Paths', 'Go'),
  answered('long-names', names.long.slice(0, 30), 'Begin', textSeen('averylongword')),
  answered(
    'right-to-left',
    'Right to Left',
    'اقرأ الملف وشغّل الاختبارات من فضلك',
    textSeen(names.endOfRightToLeft),
  ),
  answered('table', 'Tables', 'Compare them', textSeen('goes on below')),
  answered('code', 'Code', 'Show me', textSeen('export default')),
  answered('formulas', 'Formulas', 'Explain', async ({ frame }) => {
    for (const drawn of ['.diagram[data-state="drawn"] img', '.diagram[data-state="failed"]', '.katex'])
      await frame.locator(drawn).first().waitFor()
  }),
  inSession('diff', 'Edits', async (conversation, studio) => {
    await conversation.runTurn(
      'Tokens may be longer than one character: let the parser move on by their length.',
    )
    await conversation.button(/^Edit: Edit parser/).click()
    await conversation.frame.locator('.diff .hljs-keyword').first().waitFor()
    await studio.captureSideBar('diff')
    await captureTab(studio, 'wide-diff', async tab => {
      await tab.button(/^Edit: Edit parser/).click()
      await tab.frame.locator('.diff-side .hljs-keyword').first().waitFor()
    })
  }),
  ...composerStates,
  inSession('find', 'Demo Agent', async (conversation, studio) => {
    await conversation.runTurn('/markdown')
    await conversation.composer.press('ControlOrMeta+f')
    await conversation.waitForFocus(conversation.frame.getByRole('search').getByRole('textbox'))
    await studio.workbench.page.keyboard.type('line')
    await conversation.frame.locator('.find-count', { hasText: / of / }).waitFor()
    await studio.captureWidths('find')
    await studio.workbench.page.keyboard.press('Escape')
  }),
  inSession('scrolled-up', 'Demo Agent', async (conversation, studio) => {
    await conversation.runTurn('/long 60')
    await conversation.frame.locator('.transcript').hover()
    await studio.workbench.page.mouse.wheel(0, -1200)
    await conversation.frame.locator('.jump').waitFor()
    await studio.captureSideBar('scrolled-up')
  }),
  inSession('history', 'Code', async (conversation, studio) => {
    await conversation.runTurn('Show me how a lighthouse is drawn')
    const history = await HistoryPage.open(studio.workbench)
    await history.row('Show me how a lighthouse').waitFor()
    await studio.captureWidths('history')
    await history.back()
  }),
]

/** Captures the conversation in a tab that has the width of the window. */
async function captureTab(
  studio: Studio,
  name: string,
  show: (tab: ConversationPage) => Promise<void>,
): Promise<void> {
  const { workbench } = studio
  await workbench.runCommand('Parley: Open Conversation in Editor Tab')
  await workbench.runCommand('View: Close Primary Side Bar')
  await show(await studio.conversationTab())
  await studio.captureEditor(name)
  await workbench.runCommand('View: Close All Editors')
  await workbench.openViewContainer('Parley')
}

function textSeen(text: string) {
  return (conversation: ConversationPage) => conversation.text(text).waitFor()
}

/** A prompt and its answer. */
function answered(
  name: string,
  agent: string,
  prompt: string,
  waitForAnswer?: (conversation: ConversationPage) => Promise<void>,
): State {
  return inSession(name, agent, async (conversation, studio) => {
    await conversation.runTurn(prompt)
    await waitForAnswer?.(conversation)
    await studio.captureWidths(name)
  })
}
