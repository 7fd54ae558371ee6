import assert from 'node:assert/strict'
import { waitFor } from '../host/wait-for.ts'
import type { Workbench } from '../host/workbench.ts'
import { ConversationPage } from './support/conversation-page.ts'
import { fixtureAgent } from './support/fixture-agent.ts'
import { HistoryPage } from './support/history-page.ts'
import { storedDrafts } from './support/stored.ts'
import { VsCodeSuite } from './support/vscode-suite.ts'

describe('sessions', () => {
  const vscode = new VsCodeSuite({
    settings: root => ({ 'parley.agents': { lister: fixtureAgent(root, 'Lister', 'quirk-22') } }),
  })
  let workbench: Workbench

  beforeEach(async () => {
    workbench = await vscode.sharedWindow()
  })

  /** Starts a session with the demo agent and runs a turn. */
  async function talk(prompt: string, answer: RegExp): Promise<ConversationPage> {
    const conversation = await ConversationPage.startSession(workbench, 'Demo Agent')
    await conversation.send(prompt)
    await conversation.text(answer).waitFor()
    await conversation.button(/^Stop/).waitFor({ state: 'detached' })
    return conversation
  }

  it('are restored with title and draft when the window reloads during a turn', async () => {
    const before = await talk('/think first', /Both were scripted/)
    await before.send('/slow 600')
    await before.button(/^Tool: Work for 600 seconds/).waitFor()
    await before.composer.fill('what I was about to say')
    await waitFor('draft on disk', () => storedDrafts(vscode.server.root).includes('what I was about to say'))
    await workbench.reload()

    const after = await ConversationPage.find(workbench)
    await after.text(/Both were scripted/).waitFor()
    await after.frame.getByRole('heading', { name: '/think first' }).waitFor()
    await after.waitForPhase('ready')
    const draft = await waitFor('draft', async () => (await after.composerText()) || undefined)
    assert.equal(draft, 'what I was about to say')
    await after.send('/where')
    await after.text(/The working directory|the working directory/).waitFor()
  })

  it('that were running in the background are listed as interrupted after a reload, with all messages', async () => {
    const behind = await talk('/think behind', /Both were scripted/)
    await behind.send('/slow 600')
    await behind.button(/^Tool: Work for 600 seconds/).waitFor()
    await behind.send('what waits in the queue')
    await waitFor('queue on disk', () => storedDrafts(vscode.server.root).includes('what waits in the queue'))
    await talk('/help in front', /\/compact/)
    await workbench.reload()

    const history = await HistoryPage.open(workbench)
    await history.find('/think behind')
    await history.row('/think behind').filter({ hasText: 'interrupted' }).waitFor()
    await history.search.press('Enter')
    const after = await ConversationPage.find(workbench)
    await after.text(/Both were scripted/).waitFor()
    await after.frame.getByText('/slow 600').first().waitFor()
    const draft = await waitFor('draft', async () => (await after.composerText()) || undefined)
    assert.equal(draft, 'what waits in the queue')
    const looked = await HistoryPage.open(workbench)
    await looked.row('/think behind').filter({ hasNotText: 'interrupted' }).waitFor()
    await looked.search.press('Escape')
  })
})
