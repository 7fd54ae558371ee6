import assert from 'node:assert/strict'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Frame, Locator } from 'playwright-core'
import { processesStartedIn } from '../host/processes.ts'
import { waitFor } from '../host/wait-for.ts'
import { demoAgentProgram } from '../support/demo-agent-program.ts'
import { LoopbackServer } from '../support/loopback-server.ts'
import { NpmRegistry } from '../support/npm-registry.ts'
import { PageSuite } from '../support/page/page-suite.ts'
import type { PageWindow } from '../support/page/page-window.ts'
import { chooseAction } from '../ui/support/agents-page.ts'
import { axeViolations, readThemeLooks } from '../ui/support/axe.ts'
import { ConversationPage } from '../ui/support/conversation-page.ts'
import { outputLine } from '../ui/support/editor.ts'
import { fixtureAgent } from '../ui/support/fixture-agent.ts'
import { Focus } from '../ui/support/focus.ts'
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
  /** how often the registry was read */
  let requests = 0
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
      requests += 1
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
  const codex = (page: Frame) => installed(page, 'Codex')
  const account = (page: Frame) => row(page, 'From Settings', 'Account')
  const storage = () => join(vscode.root.userData, 'User/globalStorage/parley.parley/agents')
  const commands = () => processesStartedIn(vscode.root.directory).map(({ command }) => command)
  let letNpm = () => {}
  /** Holds npm's requests until the returned function is called. */
  const holdNpm = () => {
    let open = () => {}
    npm.gate = new Promise(resolve => {
      open = resolve
    })
    letNpm = open
    return open
  }
  // a failed test must not hold up the next one
  afterEach(() => letNpm())

  it('can be used with the keyboard: to search, move, install and check an agent', async () => {
    const workbench = await vscode.sharedWindow()
    const { keyboard } = workbench.page
    const page = await manage(workbench)
    const focus = await Focus.in(page)
    await focus.waitFor(/^Search agents/)
    await keyboard.type('codex')
    await row(page, 'From Settings', 'Account').waitFor({ state: 'detached' })
    await keyboard.press('Enter')
    await focus.waitFor(/^Install: Codex/)
    await keyboard.press('ArrowUp')
    await focus.waitFor(/^Search agents/)
    await keyboard.press('ArrowDown')
    await focus.waitFor(/^Install: Codex/)

    const open = holdNpm()
    await keyboard.press('Enter')
    await focus.waitFor(/^Run Install: Codex/)
    await keyboard.press('Escape')
    await focus.waitFor(/^Install: Codex/)
    await keyboard.press('Enter')
    await focus.waitFor(/^Run Install: Codex/)
    await keyboard.press('Enter')
    await focus.waitFor(/^Cancel: Codex/)
    open()
    await focus.waitFor(/^New Session: Codex/)
    await keyboard.press('ArrowRight')
    await focus.waitFor(/^Check: Codex/)
    await keyboard.press('Enter')
    await codex(page)
      .getByText(/started and uses ACP version 1\./)
      .waitFor()
    await focus.waitFor(/^Check: Codex/)
    await keyboard.press('ArrowRight')
    await focus.waitFor(/^More Actions: Codex/)
    await keyboard.press('Enter')
    await page.getByRole('option', { name: 'Set as Default' }).and(page.locator('[data-active]')).waitFor()
    await keyboard.press('Enter')
    await codex(page).getByText('Default', { exact: true }).waitFor()
    await focus.waitFor(/^More Actions: Codex/)

    // Escape goes back to the search, then clears it
    await keyboard.press('Escape')
    await focus.waitFor(/^Search agents/)
    await keyboard.press('Escape')
    await row(page, 'From Settings', 'Account').waitFor()
    await keyboard.press('ArrowDown')
    await keyboard.press('ArrowDown')
    await focus.waitFor(/^New Session: Account/)
    await keyboard.press('End')
    await focus.waitFor(/^Install: (?!Codex)/)
    await keyboard.press('Home')
    await focus.waitFor(/^New Session: Codex/)
    await keyboard.press('ArrowUp')
    await focus.waitFor(/^Search agents/)
    assert.ok((await focus.announcements()).includes('1 agent'), JSON.stringify(await focus.announcements()))

    // Tab reaches every button, which has a name and shows the focus
    const stops = await focus.tabThrough('Tab')
    for (const { name, shown, inView } of stops) assert.ok(name !== '' && shown && inView, name)
    const names = stops.map(({ name }) => name)
    assert.deepEqual(
      names.filter(name => name.endsWith(': Codex')),
      ['New Session', 'Check', 'More Actions'].map(words => `${words}: Codex`),
    )
  })

  it('has no problems for axe in four themes, and is the same after a reload, without another request to the registry', async () => {
    const workbench = await vscode.open()
    const page = await manage(workbench)
    await account(page).getByRole('button', { name: 'Check: Account' }).waitFor()
    const looks = await readThemeLooks(workbench, 'body[data-view="agents"]')
    const current = await workbench.webview('body[data-view="agents"]')
    assert.deepEqual(await axeViolations(current, looks), [])
    const wide = 'document.documentElement.scrollWidth <= document.documentElement.clientWidth'
    await waitFor('a page no wider than its tab', () => current.evaluate<boolean>(wide))
    const asked = requests
    await workbench.reload()
    const again = await workbench.webview('body[data-view="agents"]')
    await account(again).getByRole('button', { name: 'Check: Account' }).waitFor()
    assert.equal(requests, asked)
    // opening the page again doesn't create a second tab
    await workbench.runCommand('Parley: Manage Agents')
    const tabs = workbench.page.locator('.tab', { hasText: 'Manage Agents' })
    await waitFor('one tab', async () => (await tabs.count()) === 1)
  })

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
    await workbench.page.getByRole('button', { name: 'Sign Out', exact: true }).click()
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

  it('starts a session, and deletes all files of an uninstalled agent once nothing uses them', async () => {
    const workbench = await vscode.sharedWindow()
    const page = await manage(workbench)
    const unwanted = installed(page, 'Unwanted')
    await press(offered(page, 'Unwanted'), 'Install: Unwanted')
    await runInstall(page)
    await press(unwanted, 'New Session: Unwanted')
    const conversation = await ConversationPage.find(workbench)
    await conversation.waitForAgent('Unwanted')
    await conversation.waitForPhase('ready')
    await chooseAction(page, unwanted, 'Remove')
    const dialog = workbench.page.getByRole('dialog')
    await dialog.getByText('Remove Unwanted 1.0.0?').waitFor()
    await dialog.getByRole('button', { name: 'Remove' }).click()
    await workbench.notification('Unwanted was removed, but still runs.').waitFor()
    await offered(page, 'Unwanted').getByRole('button', { name: 'Install: Unwanted' }).waitFor()
    // the running session still uses the program
    await conversation.send('/markdown')
    await conversation.text('That was all of it.').waitFor()
    await workbench.reload()
    await waitFor('the end of its files', () => !existsSync(join(storage(), 'unwanted')))
  })

  it('installs an agent once if two windows install it at the same time', async () => {
    const workbenches = [await vscode.open(), await vscode.open()]
    const pages = await Promise.all(workbenches.map(manage))
    const open = holdNpm()
    const packages = () => npm.server.requests.filter(({ url }) => url?.endsWith('.tgz')).length
    const before = packages()
    for (const page of pages) {
      await press(offered(page, 'Shared'), 'Install: Shared')
      await runInstall(page)
    }
    await waitFor('a window that waits', async () => {
      const waits = pages.map(page => page.getByText('Waiting for another window…').count())
      return (await Promise.all(waits)).some(count => count > 0)
    })
    await workbenches[1]!.screenshot('manage-agents-waiting')
    open()
    for (const page of pages) await installed(page, 'Shared').getByText('1.0.0', { exact: true }).waitFor()
    assert.equal(packages() - before, 1)
    await waitFor(
      'nothing beside the version and its record',
      () => readdirSync(join(storage(), 'shared')).length === 2,
    )
    await chooseAction(pages[0]!, installed(pages[0]!, 'Shared'), 'Remove')
    await workbenches[0]!.page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
    await waitFor('the end of its files', () => !existsSync(join(storage(), 'shared')))
  })

  it('removes what an installation left behind when the extension host was killed, and installs again', async () => {
    const workbench = await vscode.open()
    const page = await manage(workbench)
    const open = holdNpm()
    const asked = npm.server.requests.length
    await press(offered(page, 'Interrupted'), 'Install: Interrupted')
    await runInstall(page)
    await waitFor('a request of npm', () => npm.server.requests.length > asked)
    assert.ok(existsSync(join(storage(), 'interrupted')))
    await workbench.host.kill()
    await waitFor('the end of npm', () => !commands().some(command => /\bnpm\b.*\binstall\b/.test(command)))
    open()
    await workbench.crash()
    const again = await manage(workbench)
    await waitFor('the end of its files', () => !existsSync(join(storage(), 'interrupted')))
    await press(offered(again, 'Interrupted'), 'Install: Interrupted')
    await runInstall(again)
    await installed(again, 'Interrupted').getByText('1.0.0', { exact: true }).waitFor()
  })
})
