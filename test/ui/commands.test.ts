import assert from 'node:assert/strict'
import { waitFor } from '../host/wait-for.ts'
import type { Workbench } from '../host/workbench.ts'
import { ConversationPage } from './support/conversation-page.ts'
import { openFile, outputLine, selectLines } from './support/editor.ts'
import { fixtureAgent, receivedParams } from './support/fixture-agent.ts'
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

  it('show the protocol traffic with secrets redacted', async () => {
    await ConversationPage.startSession(workbench, 'Honest')
    await workbench.runCommand('Parley: Show Protocol Traffic')
    await outputLine(workbench, 'Recording protocol messages').waitFor()
    await ConversationPage.startSession(workbench, 'Honest')
    await outputLine(workbench, /"session\/new"/).waitFor()
    const frame = await outputLine(workbench, /VAULT_KEY/).innerText()
    assert.match(frame, /•••/)
    assert.equal(await outputLine(workbench, 'open-sesame').count(), 0)
    assert.equal(
      await outputLine(workbench, '"initialize"').count(),
      0,
      'It was recorded before it was asked for',
    )
    const given = receivedParams(vscode.server.root, 'Honest', 'session/new').at(-1)
    const [vault] = (given?.mcpServers ?? []) as Array<{ env: unknown }>
    assert.deepEqual(vault?.env, [{ name: 'VAULT_KEY', value: 'open-sesame' }])
  })

  it('show the log of the agent', async () => {
    await ConversationPage.startSession(workbench, 'Honest')
    await workbench.runCommand('Parley: Show Agent Log')
    await outputLine(workbench, /Starting\s.*node\sin\s.*planets-api/).waitFor()
  })

  it('change the mode and the model, which the agent uses', async () => {
    const conversation = await ConversationPage.startSession(workbench, 'Demo Agent')
    const choose = async (option: string, value: string) => {
      await conversation.button(new RegExp(`^${option}: `)).click()
      await conversation.frame.getByRole('option', { name: value }).click()
      await conversation.button(`${option}: ${value}`).waitFor()
    }
    await choose('Mode', 'Edit freely')
    await choose('Model', 'Demo Thorough')
    await conversation.send('/edit planets.js')
    await conversation.text('The change is written').waitFor()
    assert.equal(await conversation.permission.count(), 0)
    await conversation.frame.getByRole('button', { name: /of 1,000,000 tokens/ }).waitFor()
  })

  it('complete a command of the agent', async () => {
    const conversation = await ConversationPage.startSession(workbench, 'Demo Agent')
    await conversation.waitUntilReady()
    await conversation.composer.click()
    await conversation.waitForFocus(conversation.composer)
    await workbench.page.keyboard.type('/p')
    const commands = conversation.frame.getByRole('listbox', { name: 'Commands' })
    await commands.getByRole('option', { name: /^\/plan/, selected: true }).waitFor()
    await workbench.page.keyboard.press('Tab')
    await waitFor('the command', async () => (await conversation.composerText()) === '/plan ')
    await conversation.text('what to plan').waitFor()
    await workbench.page.keyboard.type('a trip')
    await workbench.page.keyboard.press('Enter')
    await conversation.text(/A plan for: a trip/).waitFor()
  })

  it('go to a pending request', async () => {
    const conversation = await ConversationPage.startSession(workbench, 'Demo Agent')
    await conversation.send('/slow 2')
    await conversation.composer.fill('/edit planets.js')
    await conversation.composer.press('Enter')
    await workbench.openViewContainer('Search (Ctrl+Shift+F)')
    const call = workbench.notification(/Demo Agent asks:.*planets\.js/)
    await call.getByRole('link', { name: 'Show' }).click()
    const shown = await ConversationPage.find(workbench)
    await shown.permission.getByRole('button', { name: 'Reject', exact: true }).click()
    await shown.text('You rejected the edit').waitFor()
  })

  it("say why they can't run, and aren't offered if the agent doesn't support them", async () => {
    // a new window, without a conversation
    const workbench = await vscode.open()
    await workbench.runCommand('Parley: Go to Next Turn')
    const why = workbench.notification('No conversation is open.')
    await why.waitFor()
    await why.locator('.codicon-info').waitFor()
    const offered = async (title: string) => (await workbench.commandTitles(title)).includes(title)
    for (const title of ['Parley: Change Model…', 'Parley: Fork Session'])
      assert.ok(!(await offered(title)), title)

    await ConversationPage.startSession(workbench, 'Demo Agent')
    await waitFor('Change Model in the palette', () => offered('Parley: Change Model…'))
    await workbench.runCommand('Parley: Go to Next Pending Request')
    await workbench.notification('No pending requests').waitFor()

    await ConversationPage.startSession(workbench, 'Honest')
    await waitFor('no Change Model in the palette', async () => !(await offered('Parley: Change Model…')))
  })

  it('fork a session into two independent ones', async () => {
    const conversation = await ConversationPage.startSession(workbench, 'Demo Agent')
    await conversation.send('/where')
    await conversation.text('What the client offers').waitFor()
    await workbench.runCommand('Parley: Fork Session')
    await conversation.text(/^Forked session/).waitFor()
    await conversation.send('/think about it')
    await conversation.text('What the client offers').waitFor()
  })
})
