import assert from 'node:assert/strict'
import { waitFor } from '../host/wait-for.ts'
import { PageSuite } from '../support/page/page-suite.ts'
import type { PageWindow } from '../support/page/page-window.ts'
import { ConversationPage } from '../ui/support/conversation-page.ts'
import { fixtureAgent } from '../ui/support/fixture-agent.ts'
import { HistoryPage } from '../ui/support/history-page.ts'
import { storedConversations, storedDrafts } from '../ui/support/stored.ts'

/** Types into the composer the moment that the page shows or focuses it, which is earlier than any user can. */
async function typeAtOnce({ frame }: ConversationPage, text: string): Promise<void> {
  await frame.evaluate(`
    addEventListener('message', function type({ data }) {
      const isShown = data?.method === 'view/page' && [data.params].flat()[0].page === 'conversation'
      if (!isShown && data?.method !== 'conversation/focus') return
      removeEventListener('message', type)
      document.querySelector('.composer .cm-content').focus()
      document.execCommand('insertText', false, ${JSON.stringify(text)})
    })`)
}

describe('sessions', () => {
  const vscode = new PageSuite({
    settings: root => ({ 'parley.agents': { lister: fixtureAgent(root, 'Lister', 'quirk-22') } }),
  })
  let workbench: PageWindow

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

  it('are listed in History with their agent, folder and time, and can be searched', async () => {
    await talk('/where are we', /the working directory/)
    await talk('/help me', /\/compact/)
    const history = await HistoryPage.open(workbench)
    await history
      .row('/help me')
      .filter({ hasText: /Open.*Demo Agent · planets-api · (just now|\d+ min ago)/s })
      .waitFor()
    await history.frame.getByText('Today', { exact: true }).waitFor()

    await history.search.fill('where')
    await history.row('/help me').waitFor({ state: 'detached' })
    await history.row('/where are we').waitFor()
    await history.search.fill('nothing of that kind')
    await history.frame.getByText('No sessions match “nothing of that kind”.').waitFor()
    await history.search.press('Escape')
    await history.row('/help me').waitFor()
  })

  it("of an agent that isn't running are listed once it starts, including those of other folders", async () => {
    const history = await HistoryPage.open(workbench)
    const note = history.frame.getByText(/Lister isn't running/)
    await note.getByRole('button').click()
    await history.row('Milliseconds').waitFor()
    await history.rows.filter({ hasText: 'Lister · in elsewhere' }).first().waitFor()
    await note.waitFor({ state: 'detached' })
  })

  it('can be closed, loaded and resumed from History', async () => {
    const conversation = await talk('/help once more', /\/compact/)
    const history = await HistoryPage.open(workbench)
    await history.clickAction('/help once more', 'Close')
    await conversation.waitForPhase('empty')
    const closed = history.row('/help once more').filter({ hasNotText: 'Open' })
    await closed.waitFor()
    await history.back()
    await conversation.button(/^Try the Demo Agent/).waitFor()
    await HistoryPage.open(workbench)

    await history.clickAction('/help once more', 'Resume')
    await conversation.waitForPhase('ready')
    await conversation.send('/stop refusal')
    await conversation.text('The agent refused to continue').waitFor()
    await HistoryPage.open(workbench)
    await history.clickAction('/help once more', 'Close')
    await conversation.waitForPhase('empty')
    await closed.waitFor()

    await history.search.fill('once more')
    await history.search.press('Enter')
    await conversation.text(/\/compact/).waitFor()
    await conversation.text(/stop reason/).waitFor()
    await HistoryPage.open(workbench)
    await history.search.press('Escape')
  })

  it('are listed on the start page and in the switcher, with those that need the user first', async () => {
    await talk('/think of the past', /Both were scripted/)
    const waiting = await ConversationPage.startSession(workbench, 'Demo Agent')
    await waiting.send('Look at planets.js, please')
    await waiting.permission.waitFor()
    await talk('/help the last', /\/compact/)
    const conversation = await ConversationPage.find(workbench)
    await conversation.button(/^\/help the last/).click()
    const menu = conversation.frame.getByRole('listbox', { name: 'Switch Session' })
    const first = menu.getByRole('option').first()
    await first.filter({ hasText: /Look at planets.js, please.*Needs your answer.*Demo Agent/s }).waitFor()
    await first.click()
    await conversation.permission.waitFor()
    await conversation.frame.getByRole('heading', { name: 'Look at planets.js' }).waitFor()

    // as a tab shows it, it's in the side bar's list
    await workbench.runCommand('Parley: Open Conversation in Editor Tab')
    const sessions = (await workbench.webview('.sessions .session-text')).getByRole('region', {
      name: 'Sessions',
    })
    await sessions.getByRole('button', { name: /^Look at planets.js, please Needs your answer/ }).waitFor()
    await sessions.getByRole('button', { name: /^\/think of the past/ }).click()
    await conversation.frame.locator('.row-prompt', { hasText: '/think of the past' }).waitFor()
    await workbench.runCommand('View: Close All Editors')
  })

  it('get what is typed at once, as soon as their composer can be seen', async () => {
    const conversation = await talk('/think of what is opened', /Both were scripted/)
    const history = await HistoryPage.open(workbench)
    await history.clickAction('/think of what is opened', 'Close')
    await conversation.waitForPhase('empty')
    await talk('/help what is left', /\/compact/)

    await HistoryPage.open(workbench)
    await typeAtOnce(conversation, 'for the one from History')
    await history.row('/think of what is opened').click()
    await conversation.frame.getByRole('heading', { name: '/think of what is opened' }).waitFor()
    await conversation.waitForPhase('ready')
    assert.equal(await conversation.composerText(), 'for the one from History')
    await conversation.composer.fill('')

    await typeAtOnce(conversation, 'for the new one')
    const started = await ConversationPage.startSession(workbench, 'Demo Agent')
    assert.equal(await started.composerText(), 'for the new one')
    await started.composer.fill('')
  })

  it('are restored with title and draft when the window reloads during a turn, which was interrupted', async () => {
    const before = await talk('/think first', /Both were scripted/)
    await before.send('/slow 600')
    await before.button(/^Tool: Work for 600 seconds/).waitFor()
    await waitFor('the turn on disk', () => storedConversations(vscode.root).includes('/slow 600'))
    await before.composer.fill('what I was about to say')
    await waitFor('draft on disk', () => storedDrafts(vscode.root).includes('what I was about to say'))
    await workbench.reload()

    const after = await ConversationPage.find(workbench)
    await after.text(/Both were scripted/).waitFor()
    await after.frame.getByRole('heading', { name: '/think first' }).waitFor()
    await after.waitForPhase('ready')
    await after.text('The turn was interrupted').waitFor()
    await after.button('Resend Prompt').waitFor()
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
    await waitFor('queue on disk', () => storedDrafts(vscode.root).includes('what waits in the queue'))
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
