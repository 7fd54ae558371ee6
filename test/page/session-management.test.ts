import assert from 'node:assert/strict'
import type { IsolatedRoot } from '../host/isolated-root.ts'
import { waitFor } from '../host/wait-for.ts'
import { PageSuite } from '../support/page/page-suite.ts'
import type { PageWindow } from '../support/page/page-window.ts'
import { ConversationPage } from '../ui/support/conversation-page.ts'
import { fixtureAgent, receivedParams } from '../ui/support/fixture-agent.ts'
import { HistoryPage } from '../ui/support/history-page.ts'

const everything = {
  results: {
    initialize: {
      agentCapabilities: {
        sessionCapabilities: { fork: {}, title: {}, archive: {}, status: {} },
      },
    },
  },
}
const agents = (root: IsolatedRoot) => ({
  plain: fixtureAgent(root, 'Plain'),
  able: fixtureAgent(root, 'Able', everything),
})

describe('managing a session', () => {
  const vscode = new PageSuite({ settings: root => ({ 'parley.agents': agents(root) }) })
  const asked = (agent: string, method: string) => receivedParams(vscode.root, agent, method)

  async function begin(
    agent: string,
    prompt: string,
    window?: PageWindow,
  ): Promise<{ workbench: PageWindow; conversation: ConversationPage }> {
    const workbench = window ?? (await vscode.sharedWindow())
    const conversation = await ConversationPage.startSession(workbench, agent)
    await conversation.send(prompt)
    await conversation.text(`You said: ${prompt}`).waitFor()
    return { workbench, conversation }
  }

  it('forks it from its header and from History', async () => {
    const { workbench, conversation } = await begin('Able', 'a fork')
    await conversation.chooseFromAgentMenu('Fork or Continue Session…')
    await workbench.pick('Fork Session')
    await waitFor('the fork', () => asked('Able', 'session/fork').length > 0)
    await (await conversation.openDetails()).getByText(/^fork-/).waitFor()
    await workbench.page.keyboard.press('Escape')
    await conversation.text('You said: a fork').waitFor()
    await conversation.send('in the fork')
    await conversation.text('You said: in the fork').waitFor()
    const [prompt] = asked('Able', 'session/prompt').slice(-1)
    assert.match(String(prompt?.sessionId), /^fork-/)
    const history = await HistoryPage.open(workbench)
    await waitFor('both in History', async () => (await history.rows.count()) >= 2)
    await history.clickAction('a fork', 'Fork')
    await waitFor('another fork', () => asked('Able', 'session/fork').length > 1)
  })

  it("keeps the user's title after a reload, although the agent doesn't support renaming", async () => {
    const { workbench, conversation } = await begin('Plain', 'plain name')
    await conversation.frame.getByRole('button', { name: 'plain name' }).dblclick()
    const field = conversation.frame.getByRole('textbox', { name: 'Session title' })
    await conversation.waitForFocus(field)
    await field.fill('Greetings')
    await field.press('Enter')
    await conversation.frame.getByRole('heading', { name: /^Greetings/ }).waitFor()
    const history = await HistoryPage.open(workbench)
    await history.row('Greetings').waitFor()
    await history.back()
    await workbench.reopen()
    const again = await ConversationPage.open(workbench)
    await again.frame.getByRole('heading', { name: /^Greetings/ }).waitFor()
    assert.deepEqual(asked('Plain', 'session/set_title'), [])
  })

  it('renames it with F2 in History, with its menu and with the command, and notifies the agent', async () => {
    // unique for each try, since earlier sessions are also listed
    const name = `three names ${Date.now()}`
    const before = asked('Able', 'session/set_title').length
    const { workbench, conversation } = await begin('Able', name)
    const history = await HistoryPage.open(workbench)
    await history.row(name).waitFor()
    // filters until only this row is left, so that the keys apply to it
    await history.search.fill(name)
    await waitFor('one row', async () => (await history.rows.count()) === 1)
    await history.search.press('F2')
    const field = history.frame.getByRole('textbox', { name: 'Session title' })
    await field.fill('By key')
    await field.press('Enter')
    await history.search.fill('')
    await history.row('By key').waitFor()
    await history.back()
    await conversation.frame.getByRole('heading', { name: /^By key/ }).waitFor()
    await HistoryPage.open(workbench)
    await history.chooseFromMenu(workbench, 'By key', 'Rename…')
    await field.fill('By menu')
    await field.press('Enter')
    await history.row('By menu').waitFor()
    await workbench.runCommand('Parley: Rename Session…')
    const input = workbench.paletteInput
    await waitFor('the title in the box', async () => (await input.inputValue()) === 'By menu')
    await input.fill('By command')
    await input.press('Enter')
    await history.back()
    await conversation.frame.getByRole('heading', { name: /^By command/ }).waitFor()
    const told = () => asked('Able', 'session/set_title').map(({ title }) => title)
    await waitFor('all names told', () => told().slice(before).length === 3)
    assert.deepEqual(told().slice(before), ['By key', 'By menu', 'By command'])
  })

  it('archives and unarchives it', async () => {
    const { workbench, conversation } = await begin('Able', 'an archive')
    const history = await HistoryPage.open(workbench)
    await history.find('an archive')
    await history.chooseFromMenu(workbench, 'an archive', 'Archive')
    await waitFor('the archiving', () => asked('Able', 'session/archive').length > 0)
    // open sessions are always listed
    await history.frame.getByRole('button', { name: 'Include Archived Sessions' }).waitFor()
    await ConversationPage.startSession(workbench, 'Able')
    await HistoryPage.open(workbench)
    await history.clickAction('an archive', 'Close')
    // once closed, it has the agent's title
    const title = `Session ${asked('Able', 'session/archive').at(-1)?.sessionId}`
    await history.search.fill(title)
    await history.frame.getByText('No sessions match').waitFor()
    await history.frame.getByRole('button', { name: 'Include Archived Sessions' }).click()
    await history.row(title).waitFor()
    await history.clickAction(title, 'Unarchive')
    await waitFor('the return', () => asked('Able', 'session/unarchive').length > 0)
    await history.frame.getByRole('button', { name: 'Include Archived Sessions' }).click()
    await history.row(title).waitFor()
    assert.ok(conversation)
  })

  it('deletes it once that can no longer be undone', async () => {
    const { workbench } = await begin('Able', 'a deletion')
    await ConversationPage.startSession(workbench, 'Able')
    const history = await HistoryPage.open(workbench)
    await history.find('a deletion')
    await history.clickAction('a deletion', 'Delete')
    await history.row('a deletion').waitFor({ state: 'detached' })
    await waitFor('the deletion', () => asked('Able', 'session/delete').length > 0)
    assert.equal(asked('Able', 'session/delete').length, 1)
  })

  it('is there again if the window crashed while that could be undone', async () => {
    // as long as the test may take
    const patient = await vscode.open({ env: { PARLEY_PATIENCE_MS: '600000' } })
    const { workbench } = await begin('Able', 'a crash', patient)
    await ConversationPage.startSession(workbench, 'Able')
    const history = await HistoryPage.open(workbench)
    await history.find('a crash')
    const deletions = asked('Able', 'session/delete').length
    await history.clickAction('a crash', 'Delete')
    await history.row('a crash').waitFor({ state: 'detached' })
    await workbench.crash()
    await workbench.openViewContainer('Parley')
    const next = await HistoryPage.open(workbench)
    await next.find('a crash')
    assert.equal(asked('Able', 'session/delete').length, deletions)
  })
})
