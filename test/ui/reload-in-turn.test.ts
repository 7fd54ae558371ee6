import assert from 'node:assert/strict'
import { waitFor } from '../host/wait-for.ts'
import type { Workbench } from '../host/workbench.ts'
import { endAgentHosts } from '../support/agent-hosts-of.ts'
import { ConversationPage } from './support/conversation-page.ts'
import { agentLog, fixtureAgent, openGate, receivedParams } from './support/fixture-agent.ts'
import { storedDrafts } from './support/stored.ts'
import { waitForStoredContainer } from './support/stored-layout.ts'
import { VsCodeSuite } from './support/vscode-suite.ts'

describe('a reload of the window in the middle of a turn', () => {
  const vscode = new VsCodeSuite({
    settings: root => ({
      // the default
      'parley.keepAgentsRunning': undefined,
      'parley.agents': { fixture: fixtureAgent(root, 'Fixture') },
    }),
  })
  let workbench: Workbench
  let page: ConversationPage

  afterEach(() => endAgentHosts(vscode.server.root.directory))

  const reload = async () => {
    await workbench.reload()
    page = await ConversationPage.find(workbench)
    await page.waitForPhase('ready')
  }
  const methods = () =>
    agentLog(vscode.server.root, 'Fixture').flatMap(({ received }) => received?.method ?? [])

  it("isn't noticed by the agent: text, a permission, queued prompts and the draft are there, and all goes on", async () => {
    workbench = await vscode.open()
    page = await ConversationPage.startSession(workbench, 'Fixture')
    await page.send('[[say One]] [[gate]] [[say two.]] [[permission notes.txt]] [[say Three.]]')
    await page.text(/^One/).waitFor()
    for (const prompt of ['[[say Second.]]', '[[say Last.]]']) await page.send(prompt)
    const twoQueued = () => page.frame.getByText('2 prompts queued').waitFor()
    await twoQueued()
    await page.composer.fill('a draft')
    await waitFor('the draft on disk', () => storedDrafts(vscode.server.root).includes('a draft'))

    await reload()
    await page.text(/^One/).waitFor()
    await twoQueued()
    await page.button('Stop (Escape)').waitFor()
    openGate(vscode.server.root, 'Fixture')
    await page.text(/^One\s*two\.$/).waitFor()
    const allow = () => page.permission.getByRole('button', { name: 'Allow', exact: true })
    await allow().waitFor()

    await reload()
    await twoQueued()
    await page.text(/^One\s*two\.$/).waitFor()
    assert.equal(await page.frame.getByText(/^One\s*two\.$/).count(), 1)
    await allow().click()
    await page.text(/Three\.$/).waitFor()
    const prompts = () => receivedParams(vscode.server.root, 'Fixture', 'session/prompt')
    await waitFor('all prompts', () => prompts().length === 3)
    await page.text(/^Last\.$/).waitFor()
    assert.equal(await page.composerText(), 'a draft')
    assert.deepEqual(
      methods().filter(method => /^(initialize|session\/(new|load|resume|cancel))$/.test(method)),
      ['initialize', 'session/new'],
    )
  })

  it('is noticed by a window that shows nothing of Parley: it asks what the agent asks, in a notification with the answers', async () => {
    workbench = await vscode.open()
    page = await ConversationPage.startSession(workbench, 'Fixture')
    await page.send('[[say One]] [[gate]] [[permission notes.txt]] [[say Two.]]')
    await page.text(/^One/).waitFor()
    await workbench.openViewContainer('Search (Ctrl+Shift+F)')
    await waitForStoredContainer(workbench.page, 'workbench.view.search')
    await workbench.reload()
    openGate(vscode.server.root, 'Fixture')
    const asked = workbench.notification(/Fixture asks:/)
    await asked.hover()
    const status = workbench.page.locator('.statusbar')
    await status.getByRole('button', { name: 'Fixture: needs your answer' }).waitFor()
    assert.deepEqual(await asked.getByRole('link').allInnerTexts(), ['Show Diff', 'Allow once', 'Reject'])
    // this button only closes the notification
    await asked.getByRole('button', { name: 'Dismiss', exact: true }).waitFor()
    await asked.getByRole('link', { name: 'Allow once' }).click()
    await asked.waitFor({ state: 'detached' })
    page = await ConversationPage.open(workbench)
    await page.text(/Two\.$/).waitFor()
  })
})
