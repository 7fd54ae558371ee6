import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { processesStartedIn } from '../host/processes.ts'
import { floor } from '../host/vscode-versions.ts'
import { waitFor } from '../host/wait-for.ts'
import type { Workbench } from '../host/workbench.ts'
import { ConversationPage } from './support/conversation-page.ts'
import { VsCodeSuite } from './support/vscode-suite.ts'

describe('a conversation with the demo agent', () => {
  const vscode = new VsCodeSuite()
  const planets = () => readFileSync(join(dirname(vscode.workspace), 'planets-api/planets.js'), 'utf8')

  /** Starts a session with the demo agent. */
  async function begin(workbench?: Workbench): Promise<ConversationPage> {
    const conversation = await ConversationPage.startSession(
      workbench ?? (await vscode.sharedWindow()),
      'Demo Agent',
    )
    await conversation.waitUntilReady()
    return conversation
  }

  it('logs no warnings or errors in the extension host', async () => {
    const workbench = await vscode.clearedWindow()
    const conversation = await begin(workbench)
    await conversation.send('/edit planets.js')
    await conversation.permission.getByRole('button', { name: 'Allow once' }).click()
    await conversation.text('The change is written').waitFor()
    await workbench.runCommand('Parley: Manage Agents')
    await workbench.webview('body[data-view="agents"] main')
    await workbench.runCommand('Parley: Open History in Editor Tab')
    await workbench.webview('body[data-view="history"] main')
    await conversation.runTurn('/help')
    assert.deepEqual(workbench.extensionHostProblems(), [])
  })

  it('stops the agent when the window closes', async () => {
    const agents = () =>
      processesStartedIn(vscode.server.root.directory)
        .filter(({ command }) => command.includes('demo-agent'))
        .map(({ pid }) => pid)
    const ofOthers = agents()
    const mine = () => agents().filter(pid => !ofOthers.includes(pid))
    const workbench = await vscode.open()
    const conversation = await begin(workbench)
    await conversation.send('/slow 600')
    await conversation.button(/Stop/).waitFor()
    assert.ok(mine().length > 0)
    await workbench.close()
    await waitFor('end of the agent', () => mine().length === 0)
  })

  it('reports usage and cost per agent and day', async () => {
    const workbench = await vscode.clearedWindow()
    const conversation = await begin(workbench)
    await conversation.send('/think')
    await conversation.button(/^Context: .*Cost: [\d.]+ credits$/s).click()
    const usage = conversation.frame.getByRole('dialog', { name: 'Usage' })
    await usage.getByText(/^[\d,]+ tokens in, [\d,]+ tokens out$/).waitFor()
    const cost = await usage.getByText(/credits$/).innerText()
    await usage.getByRole('button', { name: 'Show Usage and Cost' }).click()
    const row = (period: string) => workbench.palette.locator('.monaco-list-row', { hasText: period })
    await row('This Session').getByText(`${cost} · `).waitFor()
    await row('Today')
      .getByText(/^[\d.]+ credits · [\d,]+ tokens$/)
      .waitFor()
    await workbench.paletteInput.press('Enter')
    // today is the only day so far
    await workbench.palette.getByText('Usage and Cost of Demo Agent').waitFor()
    await row(`, ${new Date().getFullYear()}`)
      .getByText(/credits/)
      .waitFor()
    // back to the overview
    await workbench.paletteInput.press('Enter')
    await row('Today').waitFor()
    await workbench.closePalette()
  })

  it('links to a line, which opens in the editor', async () => {
    const workbench = await vscode.clearedWindow()
    const conversation = await begin(workbench)
    await conversation.runTurn('/read planets.js')
    const lengths = planets()
      .split('\n')
      .map(line => line.length)
    const line = lengths.indexOf(Math.max(...lengths)) + 1
    await conversation.frame.getByRole('link', { name: `planets.js:${line}`, exact: true }).click()
    await workbench.page.locator('.tabs-container .tab.active', { hasText: 'planets.js' }).waitFor()
    await workbench.page.locator('.statusbar').getByText(`Ln ${line}, Col 1`).waitFor()
  })
})

describe('the oldest supported VS Code', () => {
  const vscode = new VsCodeSuite({ version: floor })

  it('shows a conversation', async () => {
    const conversation = await ConversationPage.open(await vscode.open())
    await conversation.button(/Try the Demo Agent/).click()
    await conversation.waitUntilReady()
    await conversation.send('/help')
    await conversation.text(/\/edit/).waitFor()
  })
})

describe('Restricted Mode', () => {
  const vscode = new VsCodeSuite({
    workspaceTrust: true,
    settings: { 'security.workspace.trust.startupPrompt': 'never' },
  })

  it('starts no agent and explains why', async () => {
    const conversation = await ConversationPage.open(await vscode.open())
    const reason = conversation.text(/trust this folder/)
    await reason.waitFor()
    assert.equal(await conversation.button(/Try the Demo Agent/).count(), 0, 'It is offered all the same')
    await conversation.send('/help')
    await reason.waitFor()
    const agents = processesStartedIn(vscode.server.root.directory).filter(({ command }) =>
      command.includes('demo-agent'),
    )
    assert.deepEqual(agents, [])
  })
})
