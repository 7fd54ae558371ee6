import { waitFor } from '../host/wait-for.ts'
import { PageSuite } from '../support/page/page-suite.ts'
import type { PageWindow } from '../support/page/page-window.ts'
import { ConversationPage } from '../ui/support/conversation-page.ts'
import { fixtureAgent } from '../ui/support/fixture-agent.ts'
import { HistoryPage } from '../ui/support/history-page.ts'

describe('a session from an earlier window', () => {
  const vscode = new PageSuite()

  /** Opens a window with a session of the demo agent. */
  async function talk(): Promise<PageWindow> {
    const workbench = await vscode.open()
    const conversation = await ConversationPage.open(workbench)
    await conversation.button(/Try the Demo Agent/).click()
    await conversation.waitUntilReady()
    await conversation.send('/help')
    await conversation.text(/\/compact/).waitFor()
    return workbench
  }

  it('is listed in a new window', async () => {
    const workbench = await talk()
    await workbench.reopen()
    const conversation = await ConversationPage.open(workbench)
    await conversation.text(/\/compact/).waitFor()
    await conversation.send('/where')
    await conversation.text(/workspace\/notes/).waitFor()
  })
})

describe('History', () => {
  /** more sessions than fit into the view */
  const sessions = Array.from({ length: 30 }, (_, at) => ({
    sessionId: `earlier-${at}`,
    cwd: '/elsewhere',
    title: `Session of day ${at}`,
    updatedAt: new Date(Date.UTC(2026, 0, 31 - at, 12)).toISOString(),
  }))
  const vscode = new PageSuite({
    settings: root => ({
      'parley.agents': {
        able: fixtureAgent(root, 'Able', { results: { 'session/list': { sessions, nextCursor: null } } }),
      },
      'parley.defaultAgent': 'able',
    }),
  })

  it('gives way to a session that starts', async () => {
    const workbench = await vscode.clearedWindow()
    await ConversationPage.startSession(workbench, 'Able')
    const history = await HistoryPage.open(workbench)
    await history.rows.first().waitFor()
    await workbench.runAndPick('Parley: New Session with Agent…', 'Demo Agent')
    const conversation = await ConversationPage.find(workbench)
    await conversation.waitForAgent('Demo Agent')
    await conversation.waitForFocus(conversation.composer)
    await history.search.waitFor({ state: 'detached' })
  })

  it('shows at least ten sessions in a window of 800 pixels, and is restored after a reload', async () => {
    // VS Code's title bar, and that of its side bar, take 70 of the 800 pixels
    const workbench = await vscode.clearedWindow({ width: 1280, height: 730 })
    await ConversationPage.startSession(workbench, 'Able')
    const history = await HistoryPage.open(workbench)
    await history.row('Session of day 5').waitFor()
    const seen = () =>
      history.frame.evaluate<number>(`
      [...document.querySelectorAll('.history-row')]
        .filter(row => row.getBoundingClientRect().top >= 0 && row.getBoundingClientRect().bottom <= innerHeight).length
    `)
    await waitFor('ten sessions in sight', async () => (await seen()) >= 10)
    await workbench.reload()
    const after = await workbench.webview('main.history')
    await after.getByRole('option').first().waitFor()
    await workbench.runCommand('Parley: Show Conversation')
    const conversation = await ConversationPage.find(workbench)
    await conversation.composer.waitFor()
    await conversation.waitForFocus(conversation.composer)
  })
})
