import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { IsolatedRoot } from '../host/isolated-root.ts'
import { PageSuite } from '../support/page/page-suite.ts'
import type { PageWindow } from '../support/page/page-window.ts'
import { ConversationPage } from '../ui/support/conversation-page.ts'
import { fixtureAgent, openGate } from '../ui/support/fixture-agent.ts'
import { HistoryPage } from '../ui/support/history-page.ts'

const hangs = { 'session/load': [{ hang: true }], 'session/list': [{ hang: true }] }

const web = { id: 'web', name: 'Web search', type: 'boolean', currentValue: false }
const stuck = {
  results: {
    'session/new': { sessionId: '$session', configOptions: [web] },
    'session/list': { sessions: [] },
  },
  on: { 'session/set_config_option': [{ hang: true }], 'session/delete': [{ do: 'gate' }] },
}

/** An agent that doesn't list its sessions, so only Parley stores their titles. */
const listless = (root: IsolatedRoot) =>
  fixtureAgent(root, 'Kept', { results: { 'session/list': { sessions: [] } } })

describe('if something goes wrong,', () => {
  const vscode = new PageSuite({
    env: { PARLEY_PATIENCE_MS: '3000' },
    settings: root => ({
      'parley.agents': {
        kept: listless(root),
        mute: fixtureAgent(root, 'Mute', 'hang-new'),
        stuck: fixtureAgent(root, 'Stuck', stuck),
        forgetful: fixtureAgent(root, 'Forgetful', { on: hangs }),
      },
    }),
  })
  let workbench: PageWindow
  let conversation: ConversationPage

  it("the user can stop waiting for an agent with Escape, with a click, or with the card's button", async () => {
    workbench = await vscode.sharedWindow()
    conversation = await ConversationPage.startSession(workbench, 'Kept')
    await conversation.send('[[title Before]] [[say Still here.]]')
    await conversation.text(/^Still here/).waitFor()
    const begin = async () => {
      await workbench.runAndPick('Parley: New Session with Agent…', 'Mute')
      // not the text for screen readers, which stays for a moment
      await conversation.frame.locator('.progress-text', { hasText: /^Starting Mute/ }).waitFor()
    }
    const isBack = async () => {
      await conversation.text(/^Still here/).waitFor()
      await conversation.waitForPhase('ready')
    }
    await begin()
    await conversation.composer.press('Escape')
    await isBack()
    await begin()
    await conversation.button('Cancel').click()
    await isBack()
    await begin()
    const card = conversation.card('Mute is taking longer than expected')
    await card.getByText(/hasn't responded for 3 seconds/).waitFor()
    await card.getByRole('button', { name: 'Stop Waiting' }).click()
    await isBack()
    await card.waitFor({ state: 'detached' })
  })

  it('other unanswered requests are reported and can be abandoned, and late responses still count', async () => {
    workbench = await vscode.sharedWindow()
    conversation = await ConversationPage.startSession(workbench, 'Stuck')
    await conversation.send('[[title To be deleted]] [[say Not for long.]]')
    await conversation.text(/^Not for long/).waitFor()
    const option = conversation.frame.getByRole('switch', { name: 'Web search' })
    await option.click()
    const card = conversation.card("“Web search” hasn't changed yet")
    await card.getByText(/Stuck hasn't responded for 3 seconds/).waitFor()
    const isOn = (value: boolean) =>
      option.and(conversation.frame.locator(`[aria-checked="${value}"]`)).waitFor()
    await isOn(true)
    await card.getByRole('button', { name: 'Stop Waiting' }).click()
    await card.waitFor({ state: 'detached' })
    await isOn(false)
    await conversation.waitForPhase('ready')

    const history = await HistoryPage.open(workbench)
    await history.find('To be deleted')
    await history.clickAction('To be deleted', 'Delete')
    await history.row('To be deleted').waitFor({ state: 'detached' })
    const notice = workbench.notification("Stuck hasn't responded for 3 seconds: Delete Session")
    await notice.getByRole('button', { name: 'Cancel' }).click()
    await notice.waitFor({ state: 'detached' })
    await history.row('To be deleted').waitFor()
    openGate(vscode.root, 'Stuck')
    await history.row('To be deleted').waitFor({ state: 'detached' })
  })

  it("a conversation can be read from History while its agent can't load it", async () => {
    workbench = await vscode.sharedWindow()
    conversation = await ConversationPage.startSession(workbench, 'Forgetful')
    await conversation.send('[[title Once said]] [[say What was said once.]]')
    await conversation.text(/^What was said once/).waitFor()
    const history = await HistoryPage.open(workbench)
    await history.find('Once said')
    await history.clickAction('Once said', 'Close')
    await conversation.text(/^What was said once/).waitFor({ state: 'detached' })
    await history.clickAction('Once said', 'Load')
    await conversation.frame.getByRole('heading', { name: 'Once said', exact: true }).waitFor()
    await conversation.text(/^What was said once/).waitFor()
    await conversation.button('Cancel').click()
    await conversation.text(/^What was said once/).waitFor({ state: 'detached' })
    await HistoryPage.open(workbench)
    await history.search.fill('')
    await history.frame
      .getByText(/Forgetful couldn't list its sessions: The agent hasn't responded/)
      .waitFor()
    await history.frame.getByRole('button', { name: 'Retry' }).waitFor()
  })

  it('a conversation can be read from History after its agent was removed from the settings', async () => {
    workbench = await vscode.sharedWindow()
    conversation = await ConversationPage.startSession(workbench, 'Kept')
    await conversation.send('[[title Of one that went]] [[say It can still be read.]]')
    await conversation.text(/^It can still be read/).waitFor()
    const history = await HistoryPage.open(workbench)
    await history.find('Of one that went')
    await history.clickAction('Of one that went', 'Close')
    await conversation.text(/^It can still be read/).waitFor({ state: 'detached' })
    await history.back()
    const { root } = vscode
    const offered = conversation.frame.locator('.choice-name', { hasText: /^Kept$/ })
    await offered.waitFor()
    root.updateSettings({ 'parley.agents': { mute: fixtureAgent(root, 'Mute', 'hang-new') } })
    try {
      await offered.waitFor({ state: 'detached' })
      await HistoryPage.open(workbench)
      await history.clickAction('Of one that went', 'Load')
      await conversation.text(/^It can still be read/).waitFor()
      await conversation.card('Agent “Kept” not found').waitFor()
      await conversation.frame.locator('.header-agent-name', { hasText: /^Kept$/ }).waitFor()
    } finally {
      root.updateSettings({ 'parley.agents': { kept: listless(root) } })
    }
  })
})

// in a suite of its own: another open window may find the damage first, and is then the one that reports it
describe('a damaged conversation file', () => {
  const vscode = new PageSuite({ settings: root => ({ 'parley.agents': { kept: listless(root) } }) })

  it('is moved aside, and later messages are saved', async () => {
    const { userData } = vscode.root
    const storage = join(userData, 'User/globalStorage/parley.parley')
    let workbench = await vscode.open()
    let conversation = await ConversationPage.startSession(workbench, 'Kept')
    await conversation.send('[[say Lost with the file.]]')
    await conversation.text(/^Lost with the file/).waitFor()
    await workbench.close()
    for (const name of readdirSync(storage).filter(one => one.startsWith('conversations.db')))
      writeFileSync(join(storage, name), 'no database any more '.repeat(500))
    workbench = await vscode.open()
    conversation = await ConversationPage.open(workbench)
    conversation = await ConversationPage.startSession(workbench, 'Kept')
    await conversation.send('[[say Kept from now on.]]')
    await conversation.text(/^Kept from now on/).waitFor()
    await workbench.notification('stores conversations was damaged').waitFor()
    await workbench.reload()
    conversation = await ConversationPage.find(workbench)
    await conversation.text(/^Kept from now on/).waitFor()
  })
})
