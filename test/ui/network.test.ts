import assert from 'node:assert/strict'
import { rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Frame } from 'playwright-core'
import { selfSigned } from '../support/certificate.ts'
import { demoAgentProgram } from '../support/demo-agent-program.ts'
import { HttpProxy } from '../support/http-proxy.ts'
import { LoopbackServer } from '../support/loopback-server.ts'
import { NpmRegistry } from '../support/npm-registry.ts'
import { runInstall } from './support/run-install.ts'
import { VsCodeSuite } from './support/vscode-suite.ts'

const version = '1.0.0'

/** The registry, an archive and npm's packages are on servers whose names only the proxy can resolve. */
describe("VS Code's network settings", () => {
  const env: Record<string, string> = { npm_config_fetch_retries: '0' }
  let proxy: HttpProxy
  const servers: Array<{ stop(): Promise<void> }> = []

  // must run before the suite's own hook, which uses this
  before(async () => {
    const vouched = selfSigned('vouched.example')
    const unknown = selfSigned('unknown.example', 'npm-unknown.example')
    const registry = (agents: object[]) => (url: string | undefined) =>
      url === '/registry.json' ? JSON.stringify({ version, agents, extensions: [] }) : demoAgentProgram()
    const agent = (name: string, distribution: object) => ({
      ...{ id: name.toLowerCase(), name, version, description: 'An agent', distribution },
    })
    const target = { archive: 'https://vouched.example/agent', cmd: './agent' }
    const answers = {
      vouched: registry([
        agent('Packed', { binary: { 'linux-x86_64': target, 'linux-aarch64': target } }),
        agent('Package', { npx: { package: `plain-package@${version}` } }),
        agent('Later', { npx: { package: `later-package@${version}` } }),
      ]),
      unknown: registry([agent('Scoped', { npx: { package: `@scope/package@${version}` } })]),
    }
    const vouchedServer = await LoopbackServer.start(
      ({ url }, response) => response.end(answers.vouched(url)),
      vouched,
    )
    const unknownServer = await LoopbackServer.start(
      ({ url }, response) => response.end(answers.unknown(url)),
      unknown,
    )
    const npm = await NpmRegistry.start()
    const npmUnknown = await NpmRegistry.start(unknown)
    const about = { version, bin: 'agent.mjs', files: { 'agent.mjs': demoAgentProgram() } }
    npm.publish({ name: 'plain-package', ...about })
    npmUnknown.publish({ name: '@scope/package', ...about })
    const ports: Record<string, number> = {
      'vouched.example': vouchedServer.port,
      'unknown.example': unknownServer.port,
      'npm.example': npm.server.port,
      'npm-unknown.example': npmUnknown.server.port,
    }
    proxy = await HttpProxy.start(host => ports[host])
    servers.push(vouchedServer, unknownServer, npm.server, npmUnknown.server, proxy)
    Object.assign(env, {
      npm_config_registry: 'http://npm.example/',
      // a certificate that the system trusts
      SSL_CERT_FILE: join(tmpdir(), `parley-vouched-${process.pid}.pem`),
    })
    writeFileSync(env.SSL_CERT_FILE!, vouched.cert)
  })
  const vscode = new VsCodeSuite({
    env,
    settings: root => {
      writeFileSync(join(root.home, '.npmrc'), '@scope:registry=https://npm-unknown.example/\n')
      return {}
    },
  })
  after(() => {
    rmSync(env.SSL_CERT_FILE!)
    return Promise.all(servers.map(server => server.stop()))
  })

  /** Opens Manage Agents in a window with these settings. */
  async function manage(settings: Record<string, unknown>, host = 'vouched.example'): Promise<Frame> {
    vscode.server.root.updateSettings({
      'parley.agentRegistry': `https://${host}/registry.json`,
      'http.proxy': proxy.url,
      'http.systemCertificatesNode': true,
      'http.proxySupport': undefined,
      'http.proxyStrictSSL': undefined,
      ...settings,
    })
    const workbench = await vscode.open()
    await workbench.runCommand('Parley: Manage Agents')
    const page = await workbench.webview('body[data-view="agents"]')
    // the button is disabled while the registry loads
    await page.getByRole('button', { name: 'Refresh', disabled: false }).waitFor()
    return page
  }
  /** A new window has the settings late, so the registry may be asked for without them first. */
  const isReached = (page: Frame) => {
    const alert = page.getByRole('alert')
    return alert.waitFor({ state: 'detached' }).catch(async error => {
      throw new Error(`${await alert.textContent()} Requested: ${proxy.requests.join(', ')}`, {
        cause: error,
      })
    })
  }
  const row = (page: Frame, section: string, name: string) =>
    page.getByRole('region', { name: section }).getByRole('listitem').filter({ hasText: name })
  const install = async (page: Frame, name: string) => {
    await row(page, 'In the Registry', name)
      .getByRole('button', { name: `Install: ${name}` })
      .click()
    await runInstall(page)
  }
  const isInstalled = (page: Frame, name: string) =>
    row(page, 'Installed', name)
      .getByRole('button', { name: `Check: ${name}` })
      .waitFor()

  it("can disable the proxy: it isn't used, and an alert says that nothing can be reached", async () => {
    const page = await manage({ 'http.proxySupport': 'off' })
    await page
      .getByRole('alert')
      .getByText(/^The agent registry can't be reached: .*vouched\.example/)
      .waitFor()
    assert.deepEqual(proxy.requests, [])
  })

  it('apply the proxy to the registry, archives and npm, until it is disabled, which npm respects, too', async () => {
    const page = await manage({})
    await isReached(page)
    await install(page, 'Packed')
    await isInstalled(page, 'Packed')
    await install(page, 'Package')
    await isInstalled(page, 'Package')
    const asked = new Set(proxy.requests)
    assert.ok(asked.has('CONNECT vouched.example:443'), proxy.requests.join('\n'))
    assert.ok(asked.has('GET http://npm.example/plain-package'), proxy.requests.join('\n'))
    await row(page, 'Installed', 'Packed').getByRole('button', { name: 'Check: Packed' }).click()
    await row(page, 'Installed', 'Packed')
      .getByText(/started and uses ACP version 1\./)
      .waitFor()

    // the registry stays cached
    const later = await manage({ 'http.proxySupport': 'off' })
    const before = proxy.requests.length
    await install(later, 'Later')
    await row(later, 'In the Registry', 'Later')
      .getByRole('alert')
      .getByText("npm can't reach its registry. Check the network connection and the proxy settings.")
      .waitFor()
    assert.equal(proxy.requests.length, before)
  })

  it('reject untrusted certificates unless http.proxyStrictSSL is off', async () => {
    const strict = await manage({}, 'unknown.example')
    await strict
      .getByRole('alert')
      .getByText(/^The agent registry can't be reached: the server's certificate isn't trusted\./)
      .waitFor()
    const page = await manage({ 'http.proxyStrictSSL': false }, 'unknown.example')
    await isReached(page)
    await install(page, 'Scoped')
    await isInstalled(page, 'Scoped')
    assert.ok(proxy.requests.includes('CONNECT npm-unknown.example:443'), proxy.requests.join('\n'))
  })
})
