import assert from 'node:assert/strict'
import { waitFor } from '../host/wait-for.ts'
import { ConversationPage } from './support/conversation-page.ts'
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
  it("say why they can't run, and aren't offered where they can't do anything", async () => {
    // a new window, without a conversation
    const workbench = await vscode.open()
    await workbench.runCommand('Parley: Restore Last Reverted Changes')
    const why = workbench.notification('There are no reverted changes to restore.')
    await why.waitFor()
    await why.locator('.codicon-info').waitFor()
    const offered = async (title: string) => (await workbench.commandTitles(title)).includes(title)
    for (const title of [
      'Change Model…',
      'Fork or Continue Session…',
      'Export Conversation…',
      'Go to Pending Request',
    ])
      assert.ok(!(await offered(`Parley: ${title}`)), title)

    const conversation = await ConversationPage.startSession(workbench, 'Demo Agent')
    await waitFor('Change Model in the palette', () => offered('Parley: Change Model…'))
    await conversation.send('/help')
    await waitFor('Export in the palette', () => offered('Parley: Export Conversation…'))
    await waitFor('the outline in the palette', () => offered('Parley: Go to Prompt (Outline)…'))
    assert.ok(!(await offered('Parley: Go to Pending Request')))

    await ConversationPage.startSession(workbench, 'Honest')
    await waitFor('no Change Model in the palette', async () => !(await offered('Parley: Change Model…')))
  })
})
