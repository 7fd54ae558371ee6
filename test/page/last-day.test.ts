import { CountedTasks } from '../support/page/counted-tasks.ts'
import { PageSuite } from '../support/page/page-suite.ts'
import type { PageWindow } from '../support/page/page-window.ts'
import { ConversationPage } from '../ui/support/conversation-page.ts'
import { fixtureAgent } from '../ui/support/fixture-agent.ts'

describe('the tasks of a long day, by keyboard alone', () => {
  const vscode = new PageSuite({
    settings: root => ({
      'parley.agents': { ada: fixtureAgent(root, 'Ada'), bob: fixtureAgent(root, 'Bob') },
    }),
  })
  const { task } = new CountedTasks()
  let workbench: PageWindow
  let conversation: ConversationPage
  const permission = () => conversation.permission.and(conversation.frame.locator('.first'))
  const idle = () => conversation.button(/^Stop \(/).waitFor({ state: 'detached' })
  const focusInput = async () => {
    await conversation.composer.focus()
    await conversation.waitForFocus(conversation.composer)
  }
  const focusedOption = (text: string) =>
    conversation.waitForFocus(permission().getByRole('button', { name: text, exact: true }))

  beforeEach(async () => {
    const window = await vscode.sharedWindow()
    if (window === workbench) return focusInput()
    workbench = window
    conversation = await ConversationPage.startSession(workbench, 'Ada')
    await conversation.send('[[replay 66 2]]')
    await conversation.text('Answer 66').waitFor()
    await idle()
    await focusInput()
  })

  it('goes to a prompt of sixty-seven', async () => {
    await task('go to a prompt', workbench, { clicks: 0, keys: 13 }, async hands => {
      await hands.press('Control+Shift+o')
      await workbench.palette.getByText('Question 1 of 66').waitFor()
      await hands.type('Question 20')
      await hands.press('Enter')
      await conversation.frame.locator('.row-prompt', { hasText: 'Question 20 of 66' }).waitFor()
    })
  })

  it('collapses all turns', async () => {
    await task('collapse all turns', workbench, { clicks: 0, keys: 2 }, async hands => {
      await hands.press('Control+k', 'Control+0')
      await conversation.frame
        .locator('.row-markdown', { hasText: 'Answer 66' })
        .waitFor({ state: 'detached' })
    })
  })

  it('answers twelve requests in a row, each of which has the focus when it comes', async () => {
    await conversation.send('[[edits 12]] [[say All twelve.]]')
    await task('twelve permissions', workbench, { clicks: 0, keys: 12 }, async hands => {
      for (let at = 0; at < 12; at++) {
        await permission()
          .filter({ hasText: `e${at}.txt` })
          .waitFor()
        await focusedOption('Allow')
        await hands.press('Enter')
      }
      await conversation.agentMessage('All twelve.').waitFor()
    })
    await idle()
    await conversation.button(/^Edited 12 files/).waitFor()
  })

  it('rejects an edit with a reason', async () => {
    await conversation.send('[[permission no.txt]]')
    await focusedOption('Allow')
    await task('reject with a reason', workbench, { clicks: 0, keys: 10 }, async hands => {
      await hands.press('4')
      const reason = conversation.frame.getByRole('textbox', { name: 'Reason' })
      await conversation.waitForFocus(reason)
      await hands.ask('Use tabs')
      await conversation.frame.getByText('You said: Use tabs').waitFor()
    })
    await conversation.waitForFocus(conversation.composer)
    await idle()
  })

  it('lets the agent edit in this session', async () => {
    const chip = conversation.frame.locator('.allowance-chip', { hasText: 'Edits allowed' })
    await task('accept edits', workbench, { clicks: 0, keys: 1 }, async hands => {
      await hands.press('Control+.')
      await chip.waitFor()
    })
    await conversation.waitForFocus(conversation.composer)
    await conversation.frame.getByRole('status').getByText('Edits allowed').waitFor()
    await workbench.page.keyboard.press('Control+.')
    await chip.waitFor({ state: 'detached' })
  })

  it('edits the last prompt', async () => {
    await conversation.runTurn('[[say Three]]')
    await task('edit the last prompt', workbench, { clicks: 0, keys: 15 }, async hands => {
      await hands.press('ArrowUp')
      const editor = conversation.frame.getByRole('textbox', { name: 'Edit Prompt' })
      await conversation.waitForFocus(editor)
      await hands.press('ControlOrMeta+a')
      await hands.ask('[[say Four]]')
      await conversation.agentMessage('Four').waitFor()
    })
    await idle()
  })

  it('goes on with another agent', async () => {
    await task('change the agent', workbench, { clicks: 0, keys: 12 }, async hands => {
      await workbench.runCommand('Parley: Fork or Continue Session…')
      // the palette: F1, the word, Enter
      hands.keys += 'continue'.length + 2
      await workbench.palette.getByText('Continue with Bob').waitFor()
      await hands.press('Enter')
      await conversation.waitForAgent('Bob')
      await conversation.waitForPhase('ready')
    })
    await task('change the agent by mouse', workbench, { clicks: 2, keys: 0 }, async hands => {
      await hands.click(conversation.frame.locator('.header-agent'))
      await hands.click(conversation.frame.getByRole('option', { name: 'Continue with Ada' }))
      await conversation.waitForAgent('Ada')
      await conversation.waitForPhase('ready')
    })
  })
})
