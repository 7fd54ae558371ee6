import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Locator } from 'playwright-core'
import type { IsolatedRoot } from '../host/isolated-root.ts'
import { waitFor } from '../host/wait-for.ts'
import type { Workbench } from '../host/workbench.ts'
import { ConversationPage } from './support/conversation-page.ts'
import { outputLine } from './support/editor.ts'
import { fixtureAgent } from './support/fixture-agent.ts'
import { storedConversations } from './support/stored.ts'
import { VsCodeSuite } from './support/vscode-suite.ts'

const agents = (root: IsolatedRoot) => ({
  absent: { name: 'Absent', command: 'an-agent-that-comes-later' },
  misplaced: { name: 'Misplaced', command: '/nowhere/agent' },
  broken: { name: 'Broken', command: 5 },
  exits: fixtureAgent(root, 'Exits', 'exit-start'),
  talks: fixtureAgent(root, 'Talks', 'garbage-start'),
  newer: fixtureAgent(root, 'Newer', 'version-99'),
  silent: fixtureAgent(root, 'Silent', 'hang-initialize'),
  locked: fixtureAgent(root, 'Locked', 'auth-required'),
  honest: fixtureAgent(root, 'Honest'),
})

describe('an agent that fails', () => {
  const vscode = new VsCodeSuite({
    settings: root => {
      writeFileSync(join(root.home, '.profile'), 'export PATH="$HOME/bin:$PATH"\n')
      mkdirSync(join(root.home, 'bin'))
      return { 'parley.agents': agents(root) }
    },
  })
  let workbench: Workbench
  let conversation: ConversationPage

  beforeEach(async () => {
    workbench = await vscode.sharedWindow()
    conversation = await ConversationPage.open(workbench)
  })

  /** Selects an agent like a user: in the empty view if that's visible, else in the quick pick. */
  async function pick(name: string): Promise<void> {
    const inView = conversation.button(new RegExp(`^${name} `))
    if (await inView.isVisible()) return inView.click()
    await workbench.runAndPick('Parley: New Session with Agent…', name)
  }

  async function detailsOf(card: Locator): Promise<Locator> {
    await card.waitFor()
    // the details contain the last output of the process
    if (!(await card.locator('details[open]').isVisible())) await card.getByText('Details').click()
    return card.locator('.card-detail')
  }

  it('shows that a turn was interrupted by a reload of the window', async () => {
    await ConversationPage.startSession(workbench, 'Honest')
    const prompt = '[[slow 600000]]'
    await conversation.send(prompt)
    await waitFor('the turn on disk', () => storedConversations(vscode.server.root).includes(prompt))
    await workbench.reload()
    conversation = await ConversationPage.find(workbench)
    await conversation.waitForPhase('ready')
    await conversation.text('The turn was interrupted').waitFor()
    await conversation.button('Resend Prompt').waitFor()
  })

  it("is stopped if it doesn't respond within the configured time", async () => {
    const { root } = vscode.server
    const silent = fixtureAgent(root, 'Silent now', 'hang-initialize')
    root.updateSettings({ 'parley.agents': { ...agents(root), silent }, 'parley.initializeTimeout': 5 })
    // the new name shows that the settings were read; 5 seconds, because processes start slowly on a slow machine
    await pick('Silent now')
    const card = conversation.card("Silent now didn't respond")
    await card.getByText(/within 5 seconds/).waitFor()
    await (await detailsOf(card)).getByText('fixture: thinking about it').waitFor()
    await card.getByRole('button', { name: 'Open Log' }).click()
    await outputLine(workbench, 'fixture: thinking about it').waitFor()
    await card.getByRole('button', { name: 'Open Settings' }).click()
    await workbench.page.locator('.settings-editor .setting-item', { hasText: 'Parley' }).first().waitFor()
  })
})
