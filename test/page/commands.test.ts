import assert from 'node:assert/strict'
import { waitFor } from '../host/wait-for.ts'
import { PageSuite } from '../support/page/page-suite.ts'
import type { PageWindow } from '../support/page/page-window.ts'
import { ConversationPage } from '../ui/support/conversation-page.ts'
import { outputLine } from '../ui/support/editor.ts'
import { fixtureAgent, receivedParams } from '../ui/support/fixture-agent.ts'

/** A restart leaves its mode and model as in a new session. */
const choices = (...names: string[]) =>
  names.map(name => ({ value: name.toLowerCase(), name, id: name.toLowerCase() }))
const options = {
  modes: { currentModeId: 'default', availableModes: choices('Default', 'Plan') },
  configOptions: [
    ...[{ id: 'model', name: 'Model', category: 'model', type: 'select', currentValue: 'small' }].map(
      model => ({ ...model, options: choices('Small', 'Large') }),
    ),
  ],
}
const forgetful = {
  results: {
    'session/new': { sessionId: '$session', ...options },
    'session/load': options,
    'session/resume': options,
    'session/set_mode': {},
    'session/set_config_option': {},
  },
}

describe('commands', () => {
  const vscode = new PageSuite({
    settings: root => ({
      'parley.agents': {
        honest: fixtureAgent(root, 'Honest'),
        forgetful: fixtureAgent(root, 'Forgetful', forgetful),
      },
    }),
  })
  let workbench: PageWindow

  beforeEach(async () => {
    workbench = await vscode.sharedWindow()
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

  it('restart an agent that then has another mode, which is said and can be switched back', async () => {
    const conversation = await ConversationPage.startSession(workbench, 'Forgetful')
    await conversation.send('Hello')
    await conversation.text('Hello').last().waitFor()
    await conversation.button('Mode: Default').click()
    await conversation.frame.getByRole('option', { name: 'Plan' }).click()
    await conversation.frame.locator('.option[aria-label="Mode: Plan"][aria-busy=false]').waitFor()
    await workbench.runCommand('Parley: Restart Agent')
    const line = conversation.frame.getByRole('region', {
      name: 'Mode is now “Default”. It was “Plan” before.',
    })
    await line.waitFor()
    await line.getByRole('button', { name: 'Switch Back' }).click()
    // shown at once, and busy until the agent has answered
    await conversation.frame.locator('.option[aria-label="Mode: Plan"][aria-busy=false]').waitFor()
    await line.waitFor({ state: 'detached' })
    const set = receivedParams(vscode.root, 'Forgetful', 'session/set_mode')
    assert.deepEqual(
      set.map(({ modeId }) => modeId),
      ['plan', 'plan'],
    )
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
    await workbench.openViewContainer('Search')
    const call = workbench.notification(/Demo Agent asks:.*planets\.js/)
    await call.getByRole('link', { name: 'Show Diff' }).click()
    const shown = await ConversationPage.find(workbench)
    await shown.permission.getByRole('button', { name: 'Reject', exact: true }).click()
    await shown.text('You rejected the edit').waitFor()
  })
})
