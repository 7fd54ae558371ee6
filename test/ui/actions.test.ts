import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { waitFor } from '../host/wait-for.ts'
import type { Workbench } from '../host/workbench.ts'
import { ConversationPage } from './support/conversation-page.ts'
import { fixtureAgent } from './support/fixture-agent.ts'
import { VsCodeSuite } from './support/vscode-suite.ts'

describe('actions', () => {
  const vscode = new VsCodeSuite({
    settings: root => ({ 'parley.agents': { fixture: fixtureAgent(root, 'Fixture') } }),
  })
  let workbench: Workbench
  let conversation: ConversationPage

  beforeEach(async () => {
    workbench = await vscode.sharedWindow()
    conversation = await ConversationPage.startSession(workbench, 'Fixture')
  })

  it('open the conversation as a document, and export it to a file', async () => {
    await conversation.runTurn('[[think of it]] [[tool a]] [[say All is **well**.]]')
    const heading = conversation.frame.getByRole('heading').first()
    await workbench.chooseFromContextMenu(heading, 'Open Conversation as Document', 'Copy and Export')
    const editor = workbench.page.locator('.editor-instance .view-lines')
    await editor.filter({ hasText: 'All is' }).waitFor()
    await editor.filter({ hasText: '<details>' }).waitFor()
    await workbench.runCommand('View: Revert and Close Editor')

    await workbench.runCommand('Parley: Export Conversation…')
    const file = join(vscode.server.root.directory, 'exported.md')
    const input = workbench.paletteInput
    await input.waitFor()
    await waitFor('dialog', async () => (await input.inputValue()).endsWith('.md'))
    await input.fill(file)
    // the dialog ignores Enter until it has listed the folder
    await workbench.palette.locator('.monaco-list-row', { hasText: 'user-data' }).waitFor()
    await input.press('Enter')
    await waitFor('file', () => existsSync(file) && readFileSync(file, 'utf8').includes('All is **well**.'))
    await workbench.notification('Conversation exported to exported.md').waitFor()
  })
})
