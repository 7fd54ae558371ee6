import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { projectDirectory } from '../host/paths.ts'
import { waitFor } from '../host/wait-for.ts'
import type { Workbench } from '../host/workbench.ts'
import { LoopbackServer } from '../support/loopback-server.ts'
import { NpmRegistry } from '../support/npm-registry.ts'
import { readThemeLooks, violationsIn } from './support/axe.ts'
import { ConversationPage } from './support/conversation-page.ts'
import { VsCodeSuite } from './support/vscode-suite.ts'

describe('installing an agent', () => {
  const env: Record<string, string> = {}
  let npm: NpmRegistry
  let registry: LoopbackServer
  let workbench: Workbench
  let conversation: ConversationPage

  // before the suite's own hook, which reads both
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

  /** The bundled demo agent, as a package. */
  const publish = () =>
    npm.publish({
      name: '@example/codex',
      version: '1.0.0',
      bin: 'agent.mjs',
      files: {
        'agent.mjs': `#!/usr/bin/env node\n${readFileSync(join(projectDirectory, 'dist/demo-agent.mjs'), 'utf8')}`,
      },
    })
  const row = () => conversation.frame.locator('.offer', { hasText: 'Codex' })
  const click = (name: string) => row().getByRole('button', { name }).click()

  beforeEach(async () => {
    workbench = await vscode.window()
    conversation = await ConversationPage.open(workbench)
  })

  it('is offered if there is none, and fetches nothing before the user requests it', async () => {
    for (const name of ['Claude Code', 'Codex', 'Gemini CLI', 'GitHub Copilot CLI', 'OpenCode'])
      await conversation.frame.getByRole('button', { name: `Install ${name}` }).waitFor()
    await conversation.button(/^Try the Demo Agent/).waitFor()
    // nobody selected the demo agent
    await conversation.composer.getByText('Choose or install an agent first').waitFor()
    assert.equal(registry.requests.length, 0)
  })

  it('shows in place what failed, with the output and a way to retry', async () => {
    await click('Install Codex')
    await row().getByText('Runs: npm install @example/codex@1.0.0').waitFor()
    assert.equal(npm.server.requests.length, 0, 'it was installed before it was said what runs')
    await click('Install Codex')
    await row()
      .getByRole('alert')
      .getByText("The npm registry doesn't have the package @example/codex@1.0.0.")
      .waitFor()
    await row().getByText('Output', { exact: true }).click()
    await row()
      .getByText(/npm (error|ERR!) code E404/)
      .waitFor()
    await row().getByRole('button', { name: 'Retry installing Codex' }).waitFor()
  })

  it('can be canceled', async () => {
    let open = () => {}
    npm.gate = new Promise(resolve => {
      open = resolve
    })
    publish()
    await click('Retry installing Codex')
    await row().getByRole('progressbar', { name: 'Installing Codex' }).waitFor()
    await click('Cancel installing Codex')
    await row().getByRole('button', { name: 'Install Codex' }).waitFor()
    open()
    npm.gate = Promise.resolve()
  })

  it('sends a prompt that was written meanwhile: one click and one prompt', async () => {
    let open = () => {}
    npm.gate = new Promise(resolve => {
      open = resolve
    })
    await click('Install Codex')
    await row().getByRole('progressbar', { name: 'Installing Codex' }).waitFor()
    await conversation.composer.getByText(/^Ask Codex…/).waitFor()
    await conversation.send('/markdown')
    await conversation.frame.locator('.prompt.outgoing', { hasText: '/markdown' }).waitFor()
    open()
    await conversation.text('That was all of it.').waitFor()
    await conversation.agent('Codex')
  })

  it('is managed on a separate page: search, check, make default, capabilities as text', async () => {
    await workbench.runCommand('Parley: Manage Agents')
    const page = await workbench.webview('body[data-view="agents"]')
    const agent = page.getByRole('region', { name: 'Installed' }).locator('.agent', { hasText: 'Codex' })
    await agent.getByText('@example/codex@1.0.0').waitFor()
    await agent.getByText('Running').waitFor()
    await agent.getByRole('button', { name: 'Check: Codex' }).click()
    await agent.getByText(/started and uses ACP version 1\./).waitFor()
    await agent.getByText('load, resume, list').waitFor()
    await agent.getByRole('button', { name: 'Set as Default: Codex' }).click()
    await agent.getByText('Default', { exact: true }).waitFor()
    await workbench.screenshot('manage-agents')
    await page.getByRole('textbox', { name: 'Search agents' }).fill('nothing like it')
    await page.getByText('No agents match “nothing like it”.').waitFor()
    await page.getByRole('textbox', { name: 'Search agents' }).press('Escape')
    await agent.waitFor()
    const looks = await readThemeLooks(workbench, 'body[data-view="agents"]')
    const current = await workbench.webview('body[data-view="agents"]')
    assert.deepEqual(await violationsIn(current, looks), [])
    const wide = 'document.documentElement.scrollWidth <= document.documentElement.clientWidth'
    await waitFor('a page no wider than its tab', () => current.evaluate<boolean>(wide))
  })

  it('is shown on the same page after a reload, with its icon, without reading the registry again', async () => {
    const asked = registry.requests.length
    await workbench.reload()
    const page = await workbench.webview('body[data-view="agents"]')
    const agent = page.getByRole('region', { name: 'Installed' }).locator('.agent', { hasText: 'Codex' })
    await agent.locator('.agent-glyph').waitFor()
    await agent.getByText('Default', { exact: true }).waitFor()
    await page.getByRole('region', { name: 'In the Registry' }).waitFor({ state: 'detached' })
    assert.equal(registry.requests.length, asked)
    // only one of them, also if it's opened again
    await workbench.runCommand('Parley: Manage Agents')
    const tabs = workbench.page.getByRole('tab', { name: 'Manage Agents' })
    await waitFor('one tab', async () => (await tabs.count()) === 1)
  })

  it('is undone with all of its files', async () => {
    await workbench.choose('Parley: Remove Agent…', 'Codex')
    await workbench.page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
    await workbench.notification('Codex was removed.').waitFor()
  })
})
