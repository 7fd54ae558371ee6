import assert from 'node:assert/strict'
import { dirname, join } from 'node:path'
import { waitFor } from '../host/wait-for.ts'
import { endAgentHosts } from '../support/agent-hosts-of.ts'
import { PageSuite } from '../support/page/page-suite.ts'
import type { PageWindow } from '../support/page/page-window.ts'
import { ConversationPage } from '../ui/support/conversation-page.ts'
import { agentLog, fixtureAgent, openGate, receivedParams } from '../ui/support/fixture-agent.ts'
import { HistoryPage } from '../ui/support/history-page.ts'

describe('a session in two windows, whose agent outlives them', () => {
  const vscode = new PageSuite({
    settings: root => ({
      // the default
      'parley.keepAgentsRunning': undefined,
      'parley.agents': { fixture: fixtureAgent(root, 'Fixture'), other: fixtureAgent(root, 'Other') },
    }),
  })

  afterEach(() => endAgentHosts(vscode.root.directory))

  /** The session in the other window, found in its History. */
  const follow = async (window: PageWindow, text: string) => {
    const history = await HistoryPage.open(window)
    await waitFor('the session in History', async () => {
      await history.search.fill(text)
      return (await history.rows.count()) === 1
    })
    await history.search.press('Enter')
    return ConversationPage.open(window)
  }
  const takeOver = async (from: ConversationPage, to: ConversationPage) => {
    await to.frame.getByRole('button', { name: 'Take Over' }).click()
    await from.frame.getByText('This session was taken over by another window', { exact: true }).waitFor()
    await to.waitForPhase('ready')
  }
  const prompts = () =>
    receivedParams(vscode.root, 'Fixture', 'session/prompt').map(({ prompt }) =>
      (prompt as Array<{ text?: string }>).map(({ text }) => text).join(),
    )
  const methods = () => agentLog(vscode.root, 'Fixture').flatMap(({ received }) => received?.method ?? [])

  it('is followed live, and a turn goes on in the window that takes it over, with its queued prompts', async () => {
    const one = await vscode.open()
    const first = await ConversationPage.startSession(one, 'Fixture')
    await first.send('[[say One]] [[gate]] [[say two.]] [[permission notes.txt]] [[say Three.]]')
    await first.text(/^One/).waitFor()
    for (const prompt of ['[[say Second.]]', '[[say Last.]]']) await first.send(prompt)
    await first.frame.getByText('2 prompts queued').waitFor()
    await first.composer.click()
    await one.page.keyboard.type('a draft')

    const two = await vscode.open()
    const history = await HistoryPage.open(two)
    await history.search.fill('is:running')
    await history.rows.getByText('in another window').waitFor()
    const second = await follow(two, 'One')
    await second.frame.getByText('This session is open in another window', { exact: true }).waitFor()
    await second.frame
      .getByText(/its turn continues here/)
      .first()
      .waitFor()
    await second.text(/^One/).waitFor()

    await takeOver(first, second)
    await second.button('Stop (Escape)').waitFor()
    await second.frame.getByText('2 prompts queued').waitFor()
    assert.equal(await first.composerText(), 'a draft')
    openGate(vscode.root, 'Fixture')
    const allow = (page: ConversationPage) =>
      page.permission.getByRole('button', { name: 'Allow', exact: true })
    await allow(second).waitFor()
    for (const page of [first, second]) {
      await page.text(/^One\s*two\.$/).waitFor()
      assert.equal(await page.frame.getByText(/^One\s*two\.$/).count(), 1)
    }

    // and back, while it waits for the user
    await takeOver(second, first)
    await first.frame.getByText('2 prompts queued').waitFor()
    await allow(first).click()
    for (const page of [first, second])
      for (const answer of [/Three\.$/, /^Second\.$/, /^Last\.$/]) await page.text(answer).waitFor()
    assert.equal(await first.composerText(), 'a draft')
    assert.equal(prompts().length, 3)
    assert.deepEqual(
      methods().filter(method => /^(initialize|session\/(new|load|resume|cancel|close))$/.test(method)),
      ['initialize', 'session/new'],
    )
  })

  it('is followed to another agent that its conversation goes on with, also after a reload', async () => {
    const one = await vscode.open()
    const first = await ConversationPage.startSession(one, 'Fixture')
    await first.runTurn('[[say The word is kingfisher.]]')
    const two = await vscode.open()
    let second = await follow(two, 'kingfisher')
    await second.frame.getByText('This session is open in another window', { exact: true }).waitFor()
    await second.composer.fill('a draft')
    await first.chooseFromAgentMenu('Fork or Continue Session…')
    await one.pick('Continue with Other')
    await first.waitForAgent('Other')
    await first.waitForPhase('ready')
    await second.waitForAgent('Other')
    await second.text('Continued with Other').waitFor()
    await second.frame.getByText('This session is open in another window', { exact: true }).waitFor()
    assert.equal(await second.composerText(), 'a draft')
    await first.runTurn('[[say And the color is teal.]]')
    await second.text(/color is teal/).waitFor()
    await two.reload()
    second = await ConversationPage.find(two)
    await takeOver(first, second)
    await second.waitForAgent('Other')
    await second.runTurn('[[say Going on.]]')
    await first.text(/^Going on/).waitFor()
  })

  it("isn't listed as interrupted in the window that had it, if its turn went on and ended in another one", async () => {
    const one = await vscode.open()
    const first = await ConversationPage.startSession(one, 'Fixture')
    await first.send('[[title Left behind]] [[say Halfway]] [[gate]] [[say ended there.]]')
    await first.text(/^Halfway/).waitFor()
    await one.close()
    const two = await vscode.open({ workspace: join(dirname(vscode.workspace), 'planets-api') })
    const second = await follow(two, 'Left behind')
    await second.button('Stop (Escape)').waitFor()
    openGate(vscode.root, 'Fixture')
    await second.text(/ended there\.$/).waitFor()
    await second.button('Stop (Escape)').waitFor({ state: 'detached' })

    const again = await vscode.open()
    const page = await ConversationPage.open(again)
    await page.frame.getByText('This session is open in another window', { exact: true }).waitFor()
    const history = await HistoryPage.open(again)
    const row = history.rows.filter({ hasText: 'Left behind' })
    await row.waitFor()
    assert.doesNotMatch(await row.innerText(), /interrupted/i)
    await two.close()
    await history.search.fill('is:interrupted')
    await history.frame.getByText('No sessions match').first().waitFor()
  })

  it('gets a prompt that is sent during the takeover, after the queued ones', async () => {
    const one = await vscode.open()
    const first = await ConversationPage.startSession(one, 'Fixture')
    await first.send('[[say Begun]] [[gate]] [[say two.]]')
    await first.text(/^Begun/).waitFor()
    await first.send('[[say Second.]]')
    await first.frame.getByText('1 prompt queued').waitFor()
    const two = await vscode.open()
    const second = await follow(two, 'Begun')
    await second.text(/^Begun/).waitFor()
    await second.composer.fill('[[say Typed.]]')
    await second.button('Take Over').click()
    await second.composer.press('Enter')
    await second.frame.getByText('2 prompts queued').waitFor()
    openGate(vscode.root, 'Fixture')
    for (const page of [first, second])
      for (const answer of [/two\.$/, /^Second\.$/, /^Typed\.$/]) await page.text(answer).waitFor()
    assert.deepEqual(prompts().slice(prompts().findIndex(text => text.includes('Begun')) + 1), [
      '[[say Second.]]',
      '[[say Typed.]]',
    ])
  })
})
