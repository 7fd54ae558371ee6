import assert from 'node:assert/strict'
import { waitFor } from '../host/wait-for.ts'
import type { Workbench } from '../host/workbench.ts'
import { demoAgentProgram } from '../support/demo-agent-program.ts'
import { LoopbackServer } from '../support/loopback-server.ts'
import { NpmRegistry } from '../support/npm-registry.ts'
import { chooseAction } from './support/agents-page.ts'
import { axeViolations, readThemeLooks } from './support/axe.ts'
import { ConversationPage } from './support/conversation-page.ts'
import { runInstall } from './support/run-install.ts'
import { waitForStoredTabs } from './support/stored-tabs.ts'
import { VsCodeSuite } from './support/vscode-suite.ts'

/** The bundled demo agent, as a package. */
const demoPackage = () => ({
  name: '@example/codex',
  version: '1.0.0',
  bin: 'agent.mjs',
  files: {
    'agent.mjs': demoAgentProgram(),
  },
})

describe('installing an agent', () => {
  const env: Record<string, string> = {}
  let npm: NpmRegistry
  let registry: LoopbackServer
  let workbench: Workbench
  let conversation: ConversationPage

  // must run before the suite's own hook, which uses this
  before(async () => {
    npm = await NpmRegistry.start()
    env.npm_config_registry = npm.server.origin
    const version = '1.0.0'
    const codex = {
      ...{ id: 'codex-acp', name: 'Codex', version, description: 'An agent' },
      distribution: { npx: { package: `@example/codex@${version}` } },
    }
    const icon = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><path d="M2 2h12v12H2z"/></svg>'
    registry = await LoopbackServer.start(({ url }, response) => {
      if (url === '/codex.svg') return void response.end(icon)
      const agents = [{ ...codex, icon: `${registry.origin}/codex.svg` }]
      response.end(JSON.stringify({ version: '1.0.0', agents, extensions: [] }))
    })
  })
  const vscode = new VsCodeSuite({
    env,
    settings: () => ({ 'parley.agentRegistry': `${registry.origin}/registry.json` }),
  })
  after(() => Promise.all([npm.server.stop(), registry.stop()]))

  const publish = () => npm.publish(demoPackage())
  const row = () => conversation.frame.locator('.offer', { hasText: 'Codex' })
  /** Clicks *Install* and confirms what will run, unless it's a retry. */
  async function install(): Promise<void> {
    const button = row().getByRole('button', { name: /^(Install|Retry installing) Codex$/ })
    await button.waitFor()
    const isRetry = await row().getByRole('button', { name: 'Retry installing Codex' }).isVisible()
    await button.click()
    if (!isRetry) await runInstall(row())
    await row().getByRole('progressbar', { name: 'Installing Codex' }).waitFor()
  }
  let letNpm = () => {}
  const holdNpm = () => {
    npm.gate = new Promise(resolve => {
      letNpm = resolve
    })
  }
  afterEach(() => letNpm())

  beforeEach(async () => {
    workbench = await vscode.sharedWindow()
    conversation = await ConversationPage.open(workbench)
  })
  /** Installs the agent unless an earlier test did; a retried test has a new VS Code. */
  async function installed(): Promise<void> {
    await row().or(conversation.frame.locator('.header-agent-name')).first().waitFor()
    if (!(await row().isVisible())) return
    holdNpm()
    publish()
    await install()
    letNpm()
    await conversation.composer.getByText(/^Ask Codex…/).waitFor()
    await row().waitFor({ state: 'detached' })
  }

  it('is managed on a page that can check agents and set the default, and survives a reload', async () => {
    await installed()
    await workbench.runCommand('Parley: Manage Agents')
    const page = await workbench.webview('body[data-view="agents"]')
    const agent = page.getByRole('region', { name: 'Installed' }).locator('.agent', { hasText: 'Codex' })
    await agent.getByText('@example/codex@1.0.0').waitFor()
    await agent.getByRole('button', { name: 'Check: Codex' }).click()
    await agent.getByText(/started and uses ACP version 1\./).waitFor()
    await agent.getByText('Running').waitFor()
    await agent.getByText('load, resume, list').waitFor()
    await chooseAction(page, agent, 'Set as Default')
    await agent.getByText('Default', { exact: true }).waitFor()
    await workbench.screenshot('manage-agents')
    const looks = await readThemeLooks(workbench, 'body[data-view="agents"]')
    const current = await workbench.webview('body[data-view="agents"]')
    assert.deepEqual(await axeViolations(current, looks), [])
    const wide = 'document.documentElement.scrollWidth <= document.documentElement.clientWidth'
    await waitFor('a page no wider than its tab', () => current.evaluate<boolean>(wide))

    // after a reload the page is the same, with the icon, and the registry isn't read again
    const asked = registry.requests.length
    await waitForStoredTabs(workbench.page, 'parley.manageAgents')
    await workbench.reload()
    const again = await workbench.webview('body[data-view="agents"]')
    const same = again.getByRole('region', { name: 'Installed' }).locator('.agent', { hasText: 'Codex' })
    await same.locator('.agent-glyph').waitFor()
    await same.getByText('Default', { exact: true }).waitFor()
    await again.getByRole('region', { name: 'In the Registry' }).waitFor({ state: 'detached' })
    assert.equal(registry.requests.length, asked)
    // opening the page again doesn't create a second tab
    await workbench.runCommand('Parley: Manage Agents')
    const tabs = workbench.page.getByRole('tab', { name: 'Manage Agents' })
    await waitFor('one tab', async () => (await tabs.count()) === 1)
  })
})
