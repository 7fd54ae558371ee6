import assert from 'node:assert/strict'
import { existsSync, mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { waitFor } from '../host/wait-for.ts'
import { endAgentHosts } from '../support/agent-hosts-of.ts'
import { PageSuite } from '../support/page/page-suite.ts'
import type { PageWindow } from '../support/page/page-window.ts'
import { ConversationPage } from '../ui/support/conversation-page.ts'
import { fixtureAgent } from '../ui/support/fixture-agent.ts'

describe('what the user accepts for a session', () => {
  const vscode = new PageSuite({
    settings: root => ({
      // the default
      'parley.keepAgentsRunning': undefined,
      'parley.agents': { second: fixtureAgent(root, 'Second') },
    }),
  })
  let workbench: PageWindow
  let conversation: ConversationPage

  // each test has its window: one that is open while its agents end may start a session with an agent that is ending
  beforeEach(async () => {
    workbench = await vscode.open()
  })
  afterEach(() => endAgentHosts(vscode.root.directory))

  const inFolder = (name: string) => join(dirname(vscode.workspace), 'planets-api', name)
  const start = async (agent: string) => {
    conversation = await ConversationPage.startSession(workbench, agent)
  }
  const choose = async (before: string, name: string) => {
    await conversation.button(`Accept for This Session: ${before}`).click()
    await conversation.frame.getByRole('option', { name }).click()
  }
  const chip = (text: string) => conversation.frame.locator('.allowance-chip').filter({ hasText: text })
  const allow = () => conversation.permission.getByRole('button', { name: 'Allow', exact: true })

  it('is edits, also the one that waits, until the user turns it off', async () => {
    await start('Second')
    await conversation.send('[[permission one.txt]]')
    await allow().waitFor()
    await choose('Ask', 'Accept Edits')
    await chip('Edits allowed').waitFor()
    await conversation.button(/allowed for this session/).click()
    await conversation.frame.locator('.answered-rule').getByText('Allowed for this session').waitFor()
    // the row leads to the switch
    await conversation.frame.locator('.answered-rule').getByRole('button', { name: 'Change…' }).click()
    await conversation.frame.getByRole('option', { name: 'Accept Everything' }).waitFor()
    await workbench.page.keyboard.press('Escape')
    await conversation.send('[[permission two.txt]]')
    await conversation.button(/two\.txt.*allowed for this session/).waitFor()
    await waitFor('the file', () => existsSync(inFolder('two.txt')))

    await conversation.send('[[permissions 1]]')
    await conversation.permission.getByRole('button', { name: 'Reject', exact: true }).click()
    await chip('Edits allowed').getByRole('button', { name: 'Ask Again' }).click()
    await chip('').waitFor({ state: 'detached' })
    await conversation.send('[[permission three.txt]]')
    await allow().click()
    await conversation.button(/three\.txt.*allowed once/).waitFor()
  })

  it('is nothing in another session, nor for what is outside of the folders or protected', async () => {
    await start('Second')
    await choose('Ask', 'Accept Edits')
    await chip('Edits allowed').waitFor()
    mkdirSync(inFolder('.vscode'), { recursive: true })
    for (const path of ['.vscode/tasks.json', '../outside.txt']) {
      await conversation.send(`[[permission ${path}]]`)
      await conversation.permission.getByText('The rule “Accept Edits”').waitFor()
      await conversation.permission.getByRole('button', { name: 'Reject', exact: true }).click()
      await conversation.permission.waitFor({ state: 'detached' })
    }
    await start('Second')
    await conversation.button('Accept for This Session: Ask').waitFor()
    assert.equal(await chip('').count(), 0)
  })

  it('is everything only after the user confirmed it, once, and not if the setting takes it away', async () => {
    await start('Demo Agent')
    await choose('Ask', 'Accept Everything')
    const dialog = workbench.page
      .locator('.monaco-dialog-box')
      .filter({ hasText: 'Accept everything in this session?' })
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    await dialog.waitFor({ state: 'detached' })
    await conversation.button('Accept for This Session: Ask').waitFor()
    await workbench.runAndPick('Parley: Accept for This Session…', 'Accept Everything')
    await dialog.getByRole('button', { name: 'Accept Everything' }).click()
    await chip('Everything allowed').waitFor()
    await conversation.send('/run echo one')
    await conversation.button(/allowed for this session/).waitFor()
    await choose('Accept Everything', 'Ask')
    await chip('').waitFor({ state: 'detached' })
    await choose('Ask', 'Accept Everything')
    await chip('Everything allowed').waitFor()
    vscode.root.updateSettings({ 'parley.acceptEverything': false })
    await chip('').waitFor({ state: 'detached' })
    await conversation.button('Accept for This Session: Ask').click()
    await conversation.frame.getByRole('option', { name: 'Accept Edits' }).waitFor()
    assert.equal(await conversation.frame.getByRole('option', { name: 'Accept Everything' }).count(), 0)
    await workbench.page.keyboard.press('Escape')
    vscode.root.updateSettings({ 'parley.acceptEverything': undefined })
  })

  it('goes on in sight after a reload, with the same process, and ends with it', async () => {
    await start('Second')
    await conversation.send('[[say Hello.]]')
    await conversation.agentMessage('Hello.').waitFor()
    await choose('Ask', 'Accept Edits')
    await chip('Edits allowed').waitFor()
    const find = async () => {
      await workbench.reload()
      await workbench.openViewContainer('Parley')
      conversation = await ConversationPage.find(workbench)
      await conversation.waitForPhase('ready')
    }
    await find()
    await chip('Edits allowed').waitFor()
    await conversation.send('[[permission four.txt]]')
    await conversation.button(/four\.txt.*allowed for this session/).waitFor()
    await workbench.runCommand('Parley: Restart Agent')
    await conversation.button('Accept for This Session: Ask').waitFor()
    assert.equal(await chip('').count(), 0)
  })

  it('is what a rule for this session alone allows', async () => {
    await start('Demo Agent')
    await conversation.send('/run echo one')
    await conversation.permission.getByRole('button', { name: 'Create Rule…' }).click()
    const offers = conversation.frame.getByRole('dialog', { name: 'Create Permission Rule' })
    await offers.getByRole('radio', { name: 'Commands that start with echo' }).check()
    await offers.getByRole('button', { name: 'Only in This Session' }).click()
    await conversation.button(/allowed once/).waitFor()
    await conversation.send('/run echo two')
    await conversation.button(/echo two.*allowed by your rule/).waitFor()
    await workbench.runCommand('Parley: Manage Permission Rules')
    await workbench.paletteRow('Commands that start with echo').getByText('This session').waitFor()
    await workbench.closePalette()

    await start('Demo Agent')
    await conversation.send('/run echo three')
    await conversation.permission.getByRole('button', { name: 'Allow once' }).click()
    await conversation.button(/echo three.*allowed once/).waitFor()
  })
})
