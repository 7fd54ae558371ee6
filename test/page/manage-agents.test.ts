import assert from 'node:assert/strict'
import type { Frame, Locator } from 'playwright-core'
import { processesStartedIn } from '../host/processes.ts'
import { waitFor } from '../host/wait-for.ts'
import { demoAgentProgram } from '../support/demo-agent-program.ts'
import { LoopbackServer } from '../support/loopback-server.ts'
import { NpmRegistry } from '../support/npm-registry.ts'
import { PageSuite } from '../support/page/page-suite.ts'
import type { PageWindow } from '../support/page/page-window.ts'
import { chooseAction } from '../ui/support/agents-page.ts'
import { ConversationPage } from '../ui/support/conversation-page.ts'
import { outputLine } from '../ui/support/editor.ts'
import { fixtureAgent } from '../ui/support/fixture-agent.ts'
import { HistoryPage } from '../ui/support/history-page.ts'
import { runInstall } from '../ui/support/run-install.ts'

const variable = { name: 'FIXTURE_KEY', label: 'Key', secret: true, optional: false }
const key = { id: 'key', type: 'env_var', name: 'With a key', vars: [variable] }
const initialize = { agentCapabilities: { auth: { logout: {}, status: {} } }, authMethods: [key] }
const script = { authRequired: true, results: { initialize }, authKey: 'FIXTURE_KEY' }

describe('Manage Agents', () => {
  const env: Record<string, string> = {}
  let npm: NpmRegistry
  let registry: LoopbackServer
  /** The registry by id, with the newest versions. Tests that install have an agent each, to be independent. */
  const agents: Record<string, { name: string; version: string }> = {
    'codex-acp': { name: 'Codex', version: '1.0.0' },
    outdated: { name: 'Outdated', version: '1.0.0' },
    unwanted: { name: 'Unwanted', version: '1.0.0' },
    shared: { name: 'Shared', version: '1.0.0' },
    interrupted: { name: 'Interrupted', version: '1.0.0' },
  }

  // must run before the suite's own hook, which uses this
  before(async () => {
    npm = await NpmRegistry.start()
    env.npm_config_registry = npm.server.origin
    registry = await LoopbackServer.start((_request, response) => {
      const entries = Object.entries(agents).map(([id, { name, version }]) => ({
        ...{ id, name, version, description: 'An agent', license: 'MIT' },
        distribution: { npx: { package: `@example/${id}@${version}` } },
      }))
      response.end(JSON.stringify({ version: '1.0.0', agents: entries, extensions: [] }))
    })
    const files = { 'agent.mjs': demoAgentProgram() }
    for (const id of Object.keys(agents))
      for (const version of ['1.0.0', '1.1.0'])
        npm.publish({ name: `@example/${id}`, version, bin: 'agent.mjs', files })
  })
  const vscode = new PageSuite({
    env,
    settings: root => ({
      'parley.agentRegistry': `${registry.origin}/registry.json`,
      'parley.agents': {
        account: fixtureAgent(root, 'Account', script),
        logged: fixtureAgent(root, 'Logged'),
        missing: { name: 'An Agent Whose Name Is Rather Long', command: '/nowhere/agent' },
      },
    }),
  })
  after(() => Promise.all([npm.server.stop(), registry.stop()]))

  async function manage(workbench: PageWindow): Promise<Frame> {
    await workbench.runCommand('Parley: Manage Agents')
    const page = await workbench.webview('body[data-view="agents"]')
    // the button is disabled while the registry loads
    await page.getByRole('button', { name: 'Refresh', disabled: false }).waitFor()
    return page
  }
  const row = (page: Frame, section: string, name: string) =>
    page.getByRole('region', { name: section }).getByRole('listitem').filter({ hasText: name })
  const offered = (page: Frame, name: string) => row(page, 'In the Registry', name)
  const installed = (page: Frame, name: string) => row(page, 'Installed', name)
  const press = (agent: Locator, name: string) => agent.getByRole('button', { name }).click()
  const account = (page: Frame) => row(page, 'From Settings', 'Account')
  const commands = () => processesStartedIn(vscode.root.directory).map(({ command }) => command)
  const letNpm = () => {}
  // a failed test must not hold up the next one
  afterEach(() => letNpm())

  it('updates an agent and restarts it with the new version', async () => {
    // an earlier try may have published the update
    agents.outdated!.version = '1.0.0'
    const workbench = await vscode.sharedWindow()
    const page = await manage(workbench)
    const outdated = installed(page, 'Outdated')
    await press(offered(page, 'Outdated'), 'Install: Outdated')
    await runInstall(page)
    await press(outdated, 'Check: Outdated')
    await outdated.getByText('Running', { exact: true }).waitFor()
    agents.outdated!.version = '1.1.0'
    await page.getByRole('button', { name: 'Refresh' }).click()
    await outdated.getByText('Update: 1.1.0').waitFor()
    await outdated.getByText('Runs: npm install --ignore-scripts @example/outdated@1.1.0').waitFor()
    await workbench.screenshot('manage-agents-update')
    await press(outdated, 'Update: Outdated')
    await runInstall(page)
    await workbench.notification('Restart Outdated to use the new version.').waitFor()
    await outdated.getByText('1.1.0', { exact: true }).waitFor()
    await outdated.getByRole('button', { name: 'Update: Outdated' }).waitFor({ state: 'detached' })
    const runs = (one: string) => commands().some(command => command.includes(`outdated/${one}-`))
    assert.ok(runs('1.0.0') && !runs('1.1.0'), commands().join('\n'))
    await chooseAction(page, outdated, 'Restart')
    await waitFor('the new version', () => runs('1.1.0') && !runs('1.0.0'))
    await outdated.getByText('Running', { exact: true }).waitFor()
  })

  it('shows who is signed in, as do the empty view and History, and can sign in and out', async () => {
    const workbench = await vscode.sharedWindow()
    const conversation = await ConversationPage.open(workbench)
    const listed = (text: string) =>
      conversation.frame.getByRole('button', { name: /^Account/ }).getByText(text)
    const choice = conversation.frame.getByRole('button', { name: /^Account/ })
    await waitFor('a hint', async () => /not checked yet$/.test((await choice.getAttribute('title')) ?? ''))
    const page = await manage(workbench)
    await account(page).getByText('Sign-in status not checked yet').waitFor()
    await account(page).getByRole('button', { name: 'Check: Account' }).click()
    await account(page)
      .getByText(/Not signed in$/)
      .waitFor()
    await listed('Not signed in').waitFor()
    await workbench.screenshot('manage-agents-not-signed-in')

    await account(page).getByRole('button', { name: 'Sign In: Account' }).click()
    await conversation.button('With a key').click()
    await workbench.paletteInput.fill('s3cret-value')
    await workbench.paletteInput.press('Enter')
    await account(page).getByText('Signed in as ada@example.org').waitFor()
    const history = await HistoryPage.open(workbench)
    await history.frame.getByText('Account · Signed in as ada@example.org').waitFor()
    await workbench.screenshot('manage-agents-signed-in')
    await history.back()

    await chooseAction(page, account(page), 'Sign Out')
    await workbench.notification('Signed out of Account.').waitFor()
    await account(page)
      .getByText(/Not signed in$/)
      .waitFor()
  })

  it("explains why an agent can't be used, and shows its log", async () => {
    const workbench = await vscode.sharedWindow()
    const page = await manage(workbench)
    const missing = row(page, 'From Settings', 'An Agent Whose Name Is Rather Long')
    await missing.getByRole('button', { name: /^Check:/ }).click()
    await missing.getByText(/isn't installed\. The command “\/nowhere\/agent”/).waitFor()
    await workbench.screenshot('manage-agents-missing')
    const logged = row(page, 'From Settings', 'Logged')
    await press(logged, 'Check: Logged')
    await logged.locator('.agent-check').waitFor()
    await chooseAction(page, logged, 'Show Log')
    await outputLine(workbench, /Starting\s/).waitFor()
  })
})
