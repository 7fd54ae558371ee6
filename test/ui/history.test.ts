import assert from 'node:assert/strict'
import { waitFor } from '../host/wait-for.ts'
import { ConversationPage } from './support/conversation-page.ts'
import { openFile } from './support/editor.ts'
import { fixtureAgent, openGate } from './support/fixture-agent.ts'
import { HistoryPage } from './support/history-page.ts'
import { waitForStoredTabs } from './support/stored-tabs.ts'
import { VsCodeSuite } from './support/vscode-suite.ts'

describe('History', () => {
  /** more sessions than fit into the view */
  const sessions = Array.from({ length: 30 }, (_, at) => ({
    sessionId: `earlier-${at}`,
    cwd: '/elsewhere',
    title: `Session of day ${at}`,
    updatedAt: new Date(Date.UTC(2026, 0, 31 - at, 12)).toISOString(),
  }))
  const vscode = new VsCodeSuite({
    settings: root => ({
      'parley.agents': {
        able: fixtureAgent(root, 'Able', { results: { 'session/list': { sessions, nextCursor: null } } }),
      },
      'parley.defaultAgent': 'able',
    }),
  })

  it('opens and closes with the same shortcut while the conversation continues in the background', async () => {
    const workbench = await vscode.clearedWindow()
    const { keyboard } = workbench.page
    await ConversationPage.open(workbench)
    const conversation = await ConversationPage.startSession(workbench, 'Able')
    await conversation.send('[[title Behind it]] [[say It begins.]] [[gate]] [[say It goes on.]]')
    await conversation.agentMessage('It begins.').waitFor()
    await conversation.composer.fill('not sent yet')
    // while the focus is elsewhere, if only for a moment, VS Code drops what is typed
    await conversation.frame.evaluate(`
      globalThis.timesLeft = 0
      addEventListener('blur', () => { timesLeft++ })`)

    await keyboard.press("Control+'")
    await keyboard.press('h')
    const history = await HistoryPage.find(workbench)
    await history.row('Behind it').filter({ hasText: 'Running' }).waitFor()
    await history.search.and(history.frame.locator(':focus')).waitFor()
    // the hidden conversation can't be focused
    await conversation.composer.waitFor({ state: 'detached' })
    // typing searches History, and doesn't go to the composer
    await keyboard.type('Behind')
    await waitFor('one row', async () => (await history.rows.count()) === 1)
    openGate(vscode.server.root, 'Able')
    await history.row('Behind it').filter({ hasText: 'Done' }).waitFor()

    await keyboard.press("Control+'")
    await keyboard.press('h')
    await conversation.waitForFocus(conversation.composer)
    await conversation.text('It goes on.').waitFor()
    await waitFor('the draft', async () => (await conversation.composerText()) === 'not sent yet')
    await history.search.waitFor({ state: 'detached' })
    assert.equal(await conversation.frame.evaluate('timesLeft'), 0)

    // the shortcut also works in an editor, and Escape goes back
    await openFile(workbench, 'planets.js')
    await workbench.page.locator('.editor-instance .monaco-editor.focused').waitFor()
    await keyboard.press("Control+'")
    await keyboard.press('h')
    await history.search.and(history.frame.locator(':focus')).waitFor()
    await waitFor('the search of before', async () => (await history.search.inputValue()) === 'Behind')
    await keyboard.press('Escape')
    await waitFor('an empty search', async () => (await history.search.inputValue()) === '')
    await keyboard.press('Escape')
    await conversation.waitForFocus(conversation.composer)
  })

  it('opens in an editor tab, which is restored after a reload', async () => {
    const workbench = await vscode.clearedWindow()
    const conversation = await ConversationPage.startSession(workbench, 'Able')
    await conversation.send('[[title From a tab]] [[say It is here.]]')
    await conversation.agentMessage('It is here.').waitFor()
    const history = await HistoryPage.openTab(workbench)
    await history.chooseFromMenu(workbench, 'From a tab', 'Copy Link to Session', 'Copy and Export')
    // the status bar says so for a moment only
    await waitFor('the copied link', async () =>
      /parley\.parley\/.*able/.test(await workbench.page.evaluate<string>('navigator.clipboard.readText()')),
    )
    await history.chooseFromMenu(workbench, 'From a tab', 'Rename…')
    await history.frame.getByRole('textbox', { name: 'Session title' }).fill('Named in a tab')
    await workbench.page.keyboard.press('Enter')
    await conversation.frame.getByRole('heading', { name: /^Named in a tab/ }).waitFor()
    await history.search.press('Enter')
    await conversation.waitForFocus(conversation.composer)
    await waitForStoredTabs(workbench.page, 'parley.historyTab')
    await workbench.reload()
    const after = await HistoryPage.findTab(workbench)
    await after.row('Named in a tab').waitFor()
  })
})
