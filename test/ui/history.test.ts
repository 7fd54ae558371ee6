import type { Frame, Locator } from 'playwright-core'
import type { Workbench } from '../host/workbench.ts'
import { ConversationPage } from './support/conversation-page.ts'
import { VsCodeSuite } from './support/vscode-suite.ts'

describe('a session of an earlier window', () => {
  const vscode = new VsCodeSuite()

  /** A window in which the demo agent has said what it can do. */
  async function talk(): Promise<Workbench> {
    const workbench = await vscode.open()
    const conversation = await ConversationPage.open(workbench)
    await conversation.button(/Try the Demo Agent/).click()
    await conversation.ready()
    await conversation.send('/help')
    await conversation.text(/\/compact/).waitFor()
    return workbench
  }

  /** The line of the newest session in a window that knows nothing of it but what History tells. */
  async function findInHistory(): Promise<{ workbench: Workbench; history: Frame; row: Locator }> {
    await (await talk()).close()
    const workbench = await vscode.open()
    await workbench.runCommand('Parley: Open History')
    const history = await workbench.webview('body[data-view="history"]')
    const row = history.getByRole('option', { name: /^\/help/ }).first()
    await row.waitFor()
    return { workbench, history, row }
  }

  it('is there again when the window is', async () => {
    const workbench = await talk()
    await workbench.reopen()
    const conversation = await ConversationPage.open(workbench)
    await conversation.text(/\/compact/).waitFor()
    await conversation.send('/where')
    await conversation.text(/workspace\/notes/).waitFor()
  })

  it('loads from History with all that was said', async () => {
    const { workbench, row } = await findInHistory()
    await row.click()
    const conversation = await ConversationPage.find(workbench)
    await conversation.text(/\/compact/).waitFor()
    await conversation.send('/where')
    await conversation.text(/workspace\/notes/).waitFor()
  })

  it('goes on from History when it is resumed', async () => {
    const { workbench, row } = await findInHistory()
    await row.hover()
    await row.getByTitle(/^Resume/).click()
    const conversation = await ConversationPage.find(workbench)
    await conversation.ready()
    await conversation.send('/where')
    await conversation.text(/workspace\/notes/).waitFor()
  })
})
