import assert from 'node:assert/strict'
import { waitFor } from '../host/wait-for.ts'
import type { Workbench } from '../host/workbench.ts'
import { ConversationPage } from './support/conversation-page.ts'
import { openFile, selectLines } from './support/editor.ts'
import { fixtureAgent } from './support/fixture-agent.ts'
import { VsCodeSuite } from './support/vscode-suite.ts'

describe('commands', () => {
  const vscode = new VsCodeSuite({
    settings: root => ({
      'parley.agents': { honest: fixtureAgent(root, 'Honest') },
      'parley.mcpServers': {
        servers: { vault: { command: 'node', args: ['vault.mjs'], env: { VAULT_KEY: 'open-sesame' } } },
      },
    }),
  })
  let workbench: Workbench

  beforeEach(async () => {
    workbench = await vscode.sharedWindow()
  })

  it('add the selection in the editor to the prompt, before and after the session starts', async () => {
    await openFile(workbench, 'planets.js')
    await waitFor('selection in the composer', async () => {
      await selectLines(workbench, 2)
      await workbench.runCommand('Parley: Add Selection to Conversation')
      const view = await ConversationPage.find(workbench)
      return view.frame
        .locator('.composer')
        .getByText('planets.js:1-2')
        .first()
        .waitFor({ timeout: 3000 })
        .then(
          () => true,
          () => false,
        )
    })
    const conversation = await ConversationPage.find(workbench)
    await conversation.waitForFocus(conversation.composer)
    await conversation.button(/^Try the Demo Agent/).click()
    await conversation.waitForPhase('ready')

    await selectLines(workbench, 5)
    await conversation.frame.getByRole('button', { name: 'Add Context', exact: true }).click()
    await conversation.frame.getByRole('option', { name: 'Selection' }).click()
    await conversation.frame.locator('.composer .chip', { hasText: 'planets.js:1-5' }).waitFor()
    await conversation.send('/help')
    for (const lines of ['L1-L2', 'L1-L5'])
      await conversation.text(new RegExp(`planets-api/planets\\.js#${lines}`)).waitFor()
    await conversation.frame.locator('.composer .chip').first().waitFor({ state: 'detached' })
  })

  it('go to a pending request', async () => {
    const conversation = await ConversationPage.startSession(workbench, 'Demo Agent')
    await conversation.send('/slow 2')
    await conversation.composer.fill('/edit planets.js')
    await conversation.composer.press('Enter')
    await workbench.openViewContainer('Search (Ctrl+Shift+F)')
    const call = workbench.notification(/Demo Agent asks:.*planets\.js/)
    await call.getByRole('link', { name: 'Show Diff' }).click()
    const shown = await ConversationPage.find(workbench)
    await shown.permission.getByRole('button', { name: 'Reject', exact: true }).click()
    await shown.text('You rejected the edit').waitFor()
  })

  it("say why they can't run, and aren't offered where they can't do anything", async () => {
    // a new window, without a conversation
    const workbench = await vscode.open()
    await workbench.runCommand('Parley: Restore Last Reverted Changes')
    const why = workbench.notification('There are no reverted changes to restore.')
    await why.waitFor()
    await why.locator('.codicon-info').waitFor()
    const offered = async (title: string) => (await workbench.commandTitles(title)).includes(title)
    for (const title of ['Change Model…', 'Fork Session', 'Go to Next Turn', 'Go to Next Pending Request'])
      assert.ok(!(await offered(`Parley: ${title}`)), title)

    const conversation = await ConversationPage.startSession(workbench, 'Demo Agent')
    await waitFor('Change Model in the palette', () => offered('Parley: Change Model…'))
    await conversation.send('/help')
    await waitFor('Go to Next Turn in the palette', () => offered('Parley: Go to Next Turn'))
    assert.ok(!(await offered('Parley: Go to Next Pending Request')))

    await ConversationPage.startSession(workbench, 'Honest')
    await waitFor('no Change Model in the palette', async () => !(await offered('Parley: Change Model…')))
  })
})
