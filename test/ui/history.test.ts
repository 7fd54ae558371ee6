import assert from 'node:assert/strict'
import { waitFor } from '../host/wait-for.ts'
import { ConversationPage } from './support/conversation-page.ts'
import { openFile } from './support/editor.ts'
import { fixtureAgent, openGate } from './support/fixture-agent.ts'
import { HistoryPage } from './support/history-page.ts'
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
})
