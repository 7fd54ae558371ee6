import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { waitFor } from '../host/wait-for.ts'
import { PageSuite } from '../support/page/page-suite.ts'
import { ConversationPage } from '../ui/support/conversation-page.ts'
import { fixtureAgent, receivedParams } from '../ui/support/fixture-agent.ts'
import { HistoryPage } from '../ui/support/history-page.ts'

describe('the list of History', () => {
  const vscode = new PageSuite({
    settings: root => ({
      'parley.agents': {
        able: fixtureAgent(root, 'Able', { madeUp: 2 }),
        other: fixtureAgent(root, 'Other', { madeUp: 3 }),
        large: fixtureAgent(root, 'Large', { madeUp: 10_000, pageSize: 100 }),
      },
    }),
  })
  const asked = (agent: string, method: string) => receivedParams(vscode.root, agent, method)

  it('has all sessions of an agent, however many, and later requests only what is new', async () => {
    const workbench = await vscode.sharedWindow()
    const conversation = await ConversationPage.startSession(workbench, 'Large')
    await conversation.send('the newest')
    await conversation.text('You said: the newest').waitFor()
    const history = await HistoryPage.open(workbench)
    // the oldest of all, which is on the last page
    await history.search.fill('9999')
    await history.row('Old session 9999').waitFor()
    const pages = asked('Large', 'session/list')
    assert.equal(pages.filter(({ cursor }) => cursor === '9900').length, 1)
    await history.back()
    const before = pages.length
    await HistoryPage.open(workbench)
    await waitFor('the latest page', () => asked('Large', 'session/list').length > before)
    await history.search.fill('')
    await history.row('the newest').waitFor()
    const later = asked('Large', 'session/list').slice(before)
    assert.ok(later.length <= 2, `${later.length} pages`)
  })

  it('is loaded while the conversation is idle, so that it opens at once', async () => {
    // a new window shows what the last one did
    const before = await HistoryPage.open(await vscode.sharedWindow())
    await before.back()
    const workbench = await vscode.open()
    const { frame } = await ConversationPage.open(workbench)
    await frame.locator('link[href$="later.css"]').waitFor({ state: 'attached' })
    await frame.locator('main.history').waitFor({ state: 'detached' })
    await HistoryPage.open(workbench)
  })

  it('is filtered and grouped with a menu, which writes filters into the search text', async () => {
    const workbench = await vscode.sharedWindow()
    for (const agent of ['Able', 'Other']) {
      const conversation = await ConversationPage.startSession(workbench, agent)
      await conversation.send(`[[title Told to ${agent}]] [[say Here it is.]]`)
      await conversation.agentMessage('Here it is.').waitFor()
    }
    const history = await HistoryPage.open(workbench)
    await history.search.fill('told')
    const [able, other] = [history.row('Told to Able'), history.row('Told to Other')]
    await able.waitFor()
    const choose = async (choice: string) => {
      await history.frame.getByRole('button', { name: 'Filter and Group' }).click()
      const menu = history.frame.getByRole('listbox', { name: 'Filter and Group' })
      await menu
        .locator('.menu-row', { has: history.frame.getByText(choice, { exact: true }) })
        .last()
        .click()
    }
    const field = () => history.search.inputValue()
    const menuOf = history.frame.locator('.menu')
    await history.frame.getByRole('button', { name: 'Filter and Group' }).click()
    const list = history.frame.getByRole('listbox', { name: 'Filter and Group' })
    assert.equal(await list.getAttribute('aria-multiselectable'), 'true')
    await list.getByRole('group', { name: 'Last Used' }).getByRole('option', { name: 'Today' }).waitFor()
    const groups = await menuOf.locator('.menu-group').allTextContents()
    assert.deepEqual(groups.slice(0, 4), ['State', 'Last Used', 'Agent', 'Group By'])
    await menuOf.getByRole('combobox').fill('oth')
    await history.frame.getByRole('option', { name: 'Other' }).last().waitFor()
    await workbench.page.keyboard.press('Enter')
    await able.waitFor({ state: 'detached' })
    await other.waitFor()
    assert.equal(await field(), 'told agent:"Other"')
    await choose('Today')
    await waitFor('both filters', async () => (await field()) === 'told agent:"Other" after:today')
    await other.waitFor()
    // again takes it back
    await choose('Today')
    await waitFor('one filter', async () => (await field()) === 'told agent:"Other"')
    await choose('Reset Filters and Grouping')
    await able.waitFor()
    assert.equal(await field(), 'told')
    await history.search.fill('before:2100')
    await history.frame.getByRole('button', { name: 'Filter and Group (active)' }).waitFor()
    await history.search.fill('is:open is:unlisted')
    await choose('Currently Open')
    await waitFor('the other state', async () => (await field()) === 'is:unlisted')
    await history.search.fill('is:open')
    await history.frame.getByRole('button', { name: 'Filter and Group' }).click()
    await menuOf.getByRole('combobox').fill('group by agent')
    await workbench.page.keyboard.press('Enter')
    const heads = history.frame.locator('.history-group')
    await heads.getByText('Other', { exact: true }).waitFor()
    assert.equal(await heads.getByText('Today').count(), 0)
    await choose('Reset Filters and Grouping')
    await heads.getByText('Today').waitFor()
    assert.equal(await field(), '')
  })

  it('previews the selected conversation without starting its agent', async () => {
    const workbench = await vscode.open()
    const conversation = await ConversationPage.startSession(workbench, 'Other')
    await conversation.send('[[title To be previewed]] [[tool Read it]] [[say The end of it.]]')
    await conversation.agentMessage('The end of it.').waitFor()
    // the one that the reload restores
    await ConversationPage.startSession(workbench, 'Able')
    await workbench.reload()
    await workbench.openViewContainer('Parley')
    const starts = asked('Other', 'initialize').length
    const history = await HistoryPage.open(workbench)
    await history.search.fill('"The end of it"')
    await history.rows.first().waitFor()
    const preview = history.frame.locator('.history-preview')
    assert.equal(await preview.count(), 0)
    const button = history.frame.getByRole('button', { name: 'Preview Selected Session' })
    await button.click()
    await preview.getByText('The end of it.', { exact: true }).waitFor()
    await preview.getByRole('heading', { name: 'Other' }).waitFor()
    await button.click()
    await preview.waitFor({ state: 'detached' })
    assert.equal(asked('Other', 'initialize').length, starts)
  })

  it('exports a conversation from its menu, and reads it on a machine without its agent', async () => {
    const workbench = await vscode.sharedWindow()
    const conversation = await ConversationPage.startSession(workbench, 'Other')
    await conversation.send('[[title To be exported]] [[tool a]] [[say It is all here.]]')
    await conversation.agentMessage('It is all here.').waitFor()
    const history = await HistoryPage.open(workbench)
    await history.find('To be exported')
    const row = history.row('To be exported')
    const context = await row.evaluate(
      element => element.closest('[data-vscode-context]')?.getAttribute('data-vscode-context') ?? '',
    )
    const file = join(vscode.root.directory, 'exported.jsonl')
    await workbench.host.call('willPick', file)
    // VS Code shows the menu
    void workbench.host.call('run', 'parley.history.export', JSON.parse(context))
    await workbench.notification('Conversation exported to exported.jsonl.').waitFor()
    const lines = readFileSync(file, 'utf8').trim().split('\n')
    const methods = lines.map(line => JSON.parse(line).method)
    assert.ok(methods.includes('session/prompt') && methods.includes('session/update'), methods.join())

    const elsewhere = join(vscode.root.directory, 'elsewhere.jsonl')
    const [first = '', ...others] = lines
    const params = { ...JSON.parse(first).params, agent: { id: 'far', name: 'Far Agent' } }
    const about = { ...params, title: 'From afar', givenTitle: undefined, formerTitles: undefined }
    const header = JSON.stringify({ ...JSON.parse(first), params: about })
    writeFileSync(elsewhere, [header, ...others].join('\n'))
    await workbench.host.call('willPick', elsewhere)
    await workbench.runCommand('Parley: Import Conversations…')
    await workbench.notification('Imported: 1 conversation.').waitFor()
    await history.find('From afar')
    await history.row('From afar').getByText('Far Agent').waitFor()
    await history.row('From afar').click()
    const imported = await ConversationPage.find(workbench)
    await imported.text('It is all here.').waitFor()
  })
})

describe('what was deleted in History', () => {
  const vscode = new PageSuite({
    // as long as a test may take
    env: { PARLEY_PATIENCE_MS: '600000' },
    settings: root => ({
      'parley.agents': {
        able: fixtureAgent(root, 'Able', { madeUp: 2 }),
        other: fixtureAgent(root, 'Other', { madeUp: 3 }),
      },
    }),
  })
  const asked = (agent: string, method: string) => receivedParams(vscode.root, agent, method)

  it('is there again after Undo', async () => {
    const workbench = await vscode.sharedWindow()
    const conversation = await ConversationPage.startSession(workbench, 'Able')
    await conversation.send('[[title To be deleted]] [[say Not for long.]]')
    await conversation.text(/^Not for long/).waitFor()
    const history = await HistoryPage.open(workbench)
    await history.find('To be deleted')
    await history.search.fill('')
    await history.clickAction('To be deleted', 'Delete')
    await history.row('To be deleted').waitFor({ state: 'detached' })
    await history.frame.getByText('Deleted “To be deleted”.', { exact: true }).waitFor()
    await workbench.page.keyboard.press('Control+z')
    // it was closed, and has the agent's title now
    const title = `Session ${asked('Able', 'session/prompt').at(-1)?.sessionId}`
    await history.row(title).waitFor()
    assert.deepEqual(asked('Able', 'session/delete'), [])
  })

  it('of an agent, except what is open, is there again after Undo', async () => {
    const workbench = await vscode.sharedWindow()
    await ConversationPage.startSession(workbench, 'Able')
    const conversation = await ConversationPage.startSession(workbench, 'Other')
    await conversation.send('[[title Still open]] [[say Here it is.]]')
    await conversation.agentMessage('Here it is.').waitFor()
    const history = await HistoryPage.open(workbench)
    await history.search.fill('agent:Other')
    const old = [0, 1, 2].map(number => `Old session ${number}`)
    const openOne = history.row('Still open')
    for (const title of old) await history.row(title).waitFor()
    await workbench.runAndPick('Parley: Delete Sessions…', 'Other')
    const question = workbench.page.locator('.monaco-dialog-box', {
      hasText: 'Delete all sessions of Other?',
    })
    await question.getByText('3 sessions').waitFor()
    await question.getByRole('button', { name: 'Delete All' }).click()
    for (const title of old) await history.row(title).waitFor({ state: 'detached' })
    await openOne.waitFor()
    const told = workbench.notification('3 sessions deleted.')
    await told.getByRole('button', { name: 'Undo' }).click()
    for (const title of old) await history.row(title).waitFor()
    assert.deepEqual(asked('Other', 'session/delete'), [])
  })
})
