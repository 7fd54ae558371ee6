import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import type { IsolatedRoot } from '../host/isolated-root.ts'
import { waitFor } from '../host/wait-for.ts'
import { demoAgentProgram } from '../support/demo-agent-program.ts'
import { LoopbackServer } from '../support/loopback-server.ts'
import { NpmRegistry } from '../support/npm-registry.ts'
import { PageSuite } from '../support/page/page-suite.ts'
import type { PageWindow } from '../support/page/page-window.ts'
import { ConversationPage } from '../ui/support/conversation-page.ts'
import { runInstall } from '../ui/support/run-install.ts'

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
  let workbench: PageWindow
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
  const vscode = new PageSuite({
    env,
    settings: () => ({ 'parley.agentRegistry': `${registry.origin}/registry.json` }),
  })
  after(() => Promise.all([npm.server.stop(), registry.stop()]))

  const publish = () => npm.publish(demoPackage())
  const row = () => conversation.frame.locator('.offer', { hasText: 'Codex' })
  const click = (name: string) => row().getByRole('button', { name }).click()
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

  it('is offered if there are no agents, and downloads nothing before the user asks for it', async () => {
    for (const name of ['Claude Code', 'Codex', 'Gemini CLI', 'GitHub Copilot CLI', 'OpenCode'])
      await conversation.frame.getByRole('button', { name: `Install ${name}` }).waitFor()
    await conversation.button(/^Try the Demo Agent/).waitFor()
    // the demo agent isn't selected automatically
    await conversation.composer.getByText('Choose or install an agent first').waitFor()
    assert.equal(registry.requests.length, 0)
  })

  it('asks in place, with the focus on Run Install, and installs nothing after Escape or Cancel', async () => {
    const asked = npm.server.requests.length
    const button = (name: string) => row().getByRole('button', { name })
    const { keyboard } = workbench.page
    await button('Install Codex').focus()
    for (const cancel of ['Escape', 'Enter']) {
      await keyboard.down('Enter')
      await conversation.waitForFocus(button('Run Install: Codex'))
      // still held down
      await keyboard.down('Enter')
      await keyboard.up('Enter')
      if (cancel === 'Enter') {
        await keyboard.press('Tab')
        await conversation.waitForFocus(button('Cancel: Codex'))
      }
      await keyboard.press(cancel)
      await conversation.waitForFocus(button('Install Codex'))
    }
    assert.equal(npm.server.requests.length, asked)
  })

  it('shows an error in place, with the output and a way to retry', async () => {
    const asked = npm.server.requests.length
    await click('Install Codex')
    const question = row().getByRole('group', { name: 'Install Codex 1.0.0?' })
    await question.getByText('Runs: npm install --ignore-scripts @example/codex@1.0.0').waitFor()
    assert.equal(await row().getByRole('button', { name: 'Install Codex' }).count(), 0)
    await workbench.screenshot('install-confirmation')
    assert.equal(npm.server.requests.length, asked, 'it was installed before it was said what runs')
    await runInstall(row())
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

  it('can be canceled and started again, and then sends the prompt that was written meanwhile', async () => {
    holdNpm()
    publish()
    await install()
    await click('Cancel installing Codex')
    await click('Install Codex')
    await runInstall(row())
    await row().getByRole('progressbar', { name: 'Installing Codex' }).waitFor()
    await conversation.composer.getByText(/^Ask Codex…/).waitFor()
    await conversation.send('/markdown')
    await conversation.frame.locator('.prompt.outgoing', { hasText: '/markdown' }).waitFor()
    letNpm()
    await conversation.text('That was all of it.').waitFor()
    await conversation.waitForAgent('Codex')
  })

  it('can be undone, which deletes all files', async () => {
    await installed()
    await conversation.waitForAgent('Codex')
    await conversation.waitForPhase('ready')
    const installedFiles = join(vscode.root.userData, 'User/globalStorage/parley.parley/agents/codex-acp')
    assert.ok(existsSync(installedFiles))
    await workbench.runAndPick('Parley: Remove Agent…', 'Codex')
    await workbench.page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
    // its session is open
    const told = 'Codex was removed, but still runs. Its files are deleted when it ends.'
    await workbench.notification(told).waitFor()
    await workbench.reload()
    await ConversationPage.open(workbench)
    await waitFor('end of all files', () => !existsSync(installedFiles))
  })
})

describe('an agent whose package manager is missing', () => {
  const env: Record<string, string> = { SHELL: '/bin/bash' }
  let npm: NpmRegistry
  let registry: LoopbackServer

  // must run before the suite's own hook, which uses this
  before(async () => {
    npm = await NpmRegistry.start()
    npm.publish(demoPackage())
    env.npm_config_registry = npm.server.origin
    const about = { version: '1.0.0', description: 'An agent' }
    const agents = [
      {
        id: 'codex-acp',
        name: 'Codex',
        ...about,
        distribution: { npx: { package: '@example/codex@1.0.0' } },
      },
      { id: 'snake', name: 'Snake', ...about, distribution: { uvx: { package: 'snake@1.0.0' } } },
    ]
    registry = await LoopbackServer.start((_request, response) =>
      response.end(JSON.stringify({ version: '1.0.0', agents, extensions: [] })),
    )
  })
  const bin = (root: IsolatedRoot) => join(root.home, 'programs')
  const paths = (process.env.PATH ?? '').split(delimiter)
  const vscode = new PageSuite({
    env,
    settings: root => {
      // every program on this machine except package managers
      mkdirSync(bin(root))
      const programs = paths.flatMap(folder => {
        try {
          return readdirSync(folder).map(name => [name, join(folder, name)] as const)
        } catch {
          return []
        }
      })
      for (const [name, path] of new Map(programs.reverse()))
        if (!/^(npm|npx|uvx?)$/.test(name)) symlinkSync(path, join(bin(root), name))
      env.PATH = bin(root)
      writeFileSync(join(root.home, '.bash_profile'), `PATH='${bin(root)}'\n`)
      return { 'parley.agentRegistry': `${registry.origin}/registry.json` }
    },
  })
  after(() => Promise.all([npm.server.stop(), registry.stop()]))

  it('says what is missing and where to get it, downloads nothing, and can be installed once that is available', async () => {
    const workbench = await vscode.open()
    const conversation = await ConversationPage.open(workbench)
    const { frame } = conversation
    const offer = frame.locator('.offer', { hasText: 'Codex' })
    const asked = npm.server.requests.length
    await offer.getByRole('button', { name: 'Install Codex' }).click()
    await offer.getByText('Requires Node.js with npm.', { exact: true }).waitFor()
    await runInstall(offer)
    const why = offer.getByRole('alert')
    await why
      .getByText('npm is needed to install this agent. Install Node.js, which includes npm, and try again.')
      .waitFor()
    assert.match(
      (await why.getByRole('link', { name: 'Get Node.js' }).getAttribute('href')) ?? '',
      /nodejs\.org/,
    )

    await workbench.runCommand('Parley: Manage Agents')
    const page = await workbench.webview('body[data-view="agents"]')
    const row = (section: string, name: string) =>
      page.getByRole('region', { name: section }).getByRole('listitem').filter({ hasText: name })
    await row('In the Registry', 'Codex').getByRole('link', { name: 'Get Node.js' }).waitFor()
    const snake = row('In the Registry', 'Snake')
    await snake.getByText('Requires uv. Runs: uv tool install snake@1.0.0').waitFor()
    await snake.getByRole('button', { name: 'Install: Snake' }).click()
    await runInstall(snake)
    const reason = snake.getByRole('alert')
    await reason.getByText('uv is needed to install this agent. Install uv and try again.').waitFor()
    assert.match(
      (await reason.getByRole('link', { name: 'Get uv' }).getAttribute('href')) ?? '',
      /astral\.sh\/uv/,
    )
    // neither the agent nor npm was downloaded
    assert.equal(npm.server.requests.length, asked)

    const real = paths.map(folder => join(folder, 'npm')).find(path => existsSync(path))
    symlinkSync(real!, join(bin(vscode.root), 'npm'))
    await row('In the Registry', 'Codex')
      .getByRole('button', { name: /^Retry/ })
      .click()
    const installed = row('Installed', 'Codex')
    await installed.getByRole('button', { name: 'Check: Codex' }).click()
    await installed.getByText(/started and uses ACP version 1\./).waitFor()
    assert.ok(npm.server.requests.length > asked)
  })
})
