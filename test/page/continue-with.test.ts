import assert from 'node:assert/strict'
import { waitFor } from '../host/wait-for.ts'
import { PageSuite } from '../support/page/page-suite.ts'
import type { PageWindow } from '../support/page/page-window.ts'
import { ConversationPage } from '../ui/support/conversation-page.ts'
import { fixtureAgent, openGate, receivedParams } from '../ui/support/fixture-agent.ts'
import { HistoryPage } from '../ui/support/history-page.ts'
import { storedDrafts } from '../ui/support/stored.ts'

describe('a conversation that goes on with another agent', () => {
  const vscode = new PageSuite({
    settings: root => ({
      'parley.agents': {
        fixture: fixtureAgent(root, 'Fixture'),
        other: fixtureAgent(root, 'Other'),
        forgetful: fixtureAgent(root, 'Forgetful', {
          on: { 'session/resume': [{ fail: { code: -32002, message: 'Resource not found' } }] },
        }),
        broken: { name: 'Broken', command: process.execPath, args: ['-e', 'process.exit(3)'] },
      },
    }),
  })
  let workbench: PageWindow
  let conversation: ConversationPage
  let title = 'Talk 0'
  let talks = 0

  beforeEach(async () => {
    workbench = await vscode.clearedWindow()
    conversation = await ConversationPage.startSession(workbench, 'Fixture')
    title = `Talk ${++talks} of them`
    await conversation.runTurn(`[[title ${title}]] [[say The secret word is swordfish.]]`)
  })

  const sent = (agent: string) =>
    receivedParams(vscode.root, agent, 'session/prompt').map(({ prompt }) => JSON.stringify(prompt))
  const line = (agent: string) => conversation.frame.locator('.notice-title', { hasText: `with ${agent}` })
  const said = () => conversation.frame.locator('.row-markdown', { hasText: 'swordfish' })

  const continueWith = (agent: string) => conversation.chooseFromAgentMenu(`Continue with ${agent}`)

  it('stays on its page with its draft, shows a line, and the next prompt takes the conversation along', async () => {
    await conversation.composer.fill('And what now?')
    const before = sent('Other').length
    await continueWith('Other')
    await line('Other').waitFor()
    await conversation.waitForAgent('Other')
    await conversation.waitForPhase('ready')
    await said().first().waitFor()
    await conversation.composer.filter({ hasText: 'And what now?' }).waitFor()
    assert.equal(sent('Other').length, before)
    await conversation.composer.press('Enter')
    await waitFor('prompt', () => sent('Other').length === before + 1)
    assert.match(sent('Other').at(-1)!, /And what now\?.*swordfish/s)
    await conversation.frame.locator('.row-prompt').nth(1).waitFor()
  })

  it('returns to the first agent, which gets only the missing turns, and is one row of History after a reload', async () => {
    await conversation.runTurn('[[edit planets.js Mercury Hermes]]')
    const changed = () => conversation.frame.locator('.changes', { hasText: '1 file' }).waitFor()
    await changed()
    await continueWith('Other')
    await line('Other').waitFor()
    await conversation.waitForPhase('ready')
    await changed()
    await conversation.send('[[say The color is teal.]] [[gate]]')
    await conversation.button(/^Stop/).waitFor()
    const back = conversation.button(/^Go Back to/)
    // not while a turn runs
    await back.waitFor({ state: 'detached' })
    openGate(vscode.root, 'Other')
    await back.filter({ hasText: 'Go Back to Fixture' }).click()
    await line('Fixture').waitFor()
    await back.filter({ hasText: 'Go Back to Other' }).waitFor()
    assert.equal(await back.count(), 1)
    await conversation.waitForPhase('ready')
    const before = sent('Fixture').length
    await conversation.send('And now?')
    await waitFor('prompt', () => sent('Fixture').length === before + 1)
    assert.match(sent('Fixture').at(-1)!, /And now\?.*teal/s)
    assert.doesNotMatch(sent('Fixture').at(-1)!, /## Fixture/)
    await conversation.frame.getByText('You said: And now?').waitFor()
    await workbench.reload()
    conversation = await ConversationPage.find(workbench)
    await conversation.waitForAgent('Fixture')
    await conversation.waitForPhase('ready')
    for (const text of ['swordfish', 'teal'])
      await conversation.frame.locator('.row-markdown', { hasText: text }).first().waitFor()
    await changed()
    const history = await HistoryPage.open(workbench)
    const rows = history.rows.filter({ hasText: title })
    await rows.first().waitFor()
    assert.equal(await rows.count(), 1)
    // all of its sessions go
    await history.clickAction(title, 'Delete')
    await history.frame.locator('.history-bar-text', { hasText: '2 sessions deleted' }).waitFor()
    await rows.first().waitFor({ state: 'detached' })
    assert.equal(await rows.count(), 0)
  })

  it('asks while a turn runs, and takes the queued prompts along', async () => {
    await conversation.send('[[gate]]')
    await conversation.button(/^Stop/).waitFor()
    await conversation.composer.fill('queued for whoever comes')
    await conversation.composer.press('Enter')
    await conversation.frame.getByText('queued for whoever comes').waitFor()
    await continueWith('Other')
    const dialog = workbench.page.locator('.monaco-dialog-box', { hasText: 'is working' })
    await dialog.getByRole('button', { name: 'Continue after This Turn' }).click()
    await workbench.page.getByText('Other continues when the turn of Fixture ends').first().waitFor()
    const before = sent('Other').length
    openGate(vscode.root, 'Fixture')
    await line('Other').waitFor()
    await waitFor('prompt', () => sent('Other').length === before + 1)
    assert.match(sent('Other').at(-1)!, /queued for whoever comes.*swordfish/s)
    assert.ok(!sent('Fixture').some(prompt => prompt.includes('whoever comes')))
  })

  it("stays with its agent if the other one doesn't start, and keeps the draft", async () => {
    await conversation.composer.fill('half a thought')
    await continueWith('Broken')
    await conversation.card(/Broken/).waitFor()
    await conversation.waitForAgent('Fixture')
    await conversation.waitForPhase('ready')
    await said().first().waitFor()
    await conversation.composer.filter({ hasText: 'half a thought' }).waitFor()
    assert.equal(await line('Broken').count(), 0)
  })

  it('continues in a new session when its agent lost the first one, with its row and its draft', async () => {
    await continueWith('Forgetful')
    await line('Forgetful').waitFor()
    await conversation.waitForPhase('ready')
    await conversation.composer.fill('Where were we?')
    await waitFor('the draft on disk', () => storedDrafts(vscode.root).includes('Where were we?'))
    await workbench.reload()
    conversation = await ConversationPage.find(workbench)
    await conversation.button('Continue in a New Session').click()
    await conversation.frame
      .locator('.notice-title', { hasText: 'Continued with Forgetful in a new session' })
      .waitFor()
    await conversation.waitForPhase('ready')
    await conversation.composer.filter({ hasText: 'Where were we?' }).waitFor()
    await conversation.composer.press('Enter')
    await waitFor('prompt', () => sent('Forgetful').length === 1)
    assert.match(sent('Forgetful')[0]!, /Where were we\?.*swordfish/s)
    await conversation.frame.getByText('You said: Where were we?').waitFor()
    const history = await HistoryPage.open(workbench)
    const rows = history.rows.filter({ hasText: title })
    await rows.first().waitFor()
    assert.equal(await rows.count(), 1)
  })
})
