import assert from 'node:assert/strict'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Frame } from 'playwright-core'
import type { McpServer } from '../../src/acp/model.ts'
import { testDirectory } from '../host/paths.ts'
import { waitFor } from '../host/wait-for.ts'
import { StdioAgent } from '../support/mcp/bridge-program.ts'
import { HttpProbe } from '../support/mcp/http-server.ts'
import { PageSuite } from '../support/page/page-suite.ts'
import type { PageWindow } from '../support/page/page-window.ts'
import { ConversationPage } from '../ui/support/conversation-page.ts'
import { fixtureAgent, receivedParams } from '../ui/support/fixture-agent.ts'

describe('MCP Servers', () => {
  const vscode = new PageSuite({
    settings: root => ({
      'parley.agents': {
        wide: fixtureAgent(root, 'Wide'),
        // has no transport but stdio
        narrow: fixtureAgent(root, 'Narrow', {
          results: { initialize: { agentCapabilities: { mcpCapabilities: { http: null, sse: null } } } },
        }),
      },
      'parley.mcpServers': { servers: { clock: { command: 'node', args: ['clock.mjs'] } } },
    }),
  })
  const folder = (name: string) => join(dirname(vscode.workspace), name)
  const write = (path: string, content: unknown) => {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content))
  }
  /** The names of the servers that the newest session was given, beside the editor's own. */
  const given = () =>
    (receivedParams(vscode.root, 'Wide', 'session/new').at(-1)?.mcpServers as Array<{ name: string }>)
      ?.map(({ name }) => name)
      .filter(name => name !== 'vscode')

  let workbench: PageWindow
  beforeEach(async () => {
    const theirs = { command: 'node', args: ['theirs.mjs'] }
    const clock = { type: 'http', url: 'https://clock.invalid/mcp' }
    write(join(folder('planets-api'), '.vscode/mcp.json'), { servers: { theirs, clock } })
    write(join(folder('planets-web'), '.mcp.json'), '{ "mcpServers": {')
    write(join(vscode.root.userData, 'User/mcp.json'), { servers: { mine: { command: 'node' } } })
    workbench = await vscode.open()
  })

  async function manage(): Promise<Frame> {
    await workbench.runCommand('Parley: MCP Servers')
    const page = await workbench.webview('body[data-view="mcp"]')
    await page.getByRole('heading', { name: 'MCP Servers' }).waitFor()
    return page
  }
  const place = (page: Frame, name: string | RegExp) => page.getByRole('region', { name })
  const answer = (button: string) => workbench.page.getByRole('button', { name: button }).click()

  it('shows what a session got and why it got nothing else, and a broken file stops no session', async () => {
    const starting = ConversationPage.startSession(workbench, 'Wide')
    await workbench.page.getByText('Pass the MCP servers of this workspace to agents?').waitFor()
    await answer('Cancel')
    const conversation = await starting
    await waitFor('a session', () => given() !== undefined)
    assert.deepEqual(given(), ['clock', 'mine'])

    const details = await conversation.openDetails()
    await details
      .getByText(/planets-web\/\.mcp\.json: the file isn't valid JSON \(line 1, column 18\)/)
      .waitFor()
    await details.getByRole('button', { name: 'Manage MCP Servers' }).click()
    const page = await workbench.webview('body[data-view="mcp"]')
    const session = place(page, /Wide$/)
    await session.getByText('not allowed yet. Allow it').waitFor()
    await session.getByText('A server with the same name in user settings is used instead.').waitFor()
    await place(page, 'planets-web/.mcp.json')
      .getByText(/isn't valid JSON/)
      .waitFor()
    // clock, mine and the editor's own
    const passed = session.getByText('Passed to the agent', { exact: true })
    const others = session.getByText('Not passed to the agent')
    await waitFor(
      'three servers of each',
      async () => (await passed.count()) === 3 && (await others.count()) === 3,
    )
    await workbench.screenshot('mcp-servers')
  })

  it('checks a server on request: its tools, or what is wrong with its output', async () => {
    const program = (...args: string[]) => ({
      command: process.execPath,
      args: [join(testDirectory, 'fixtures/mcp', args[0]!), ...args.slice(1)],
    })
    write(join(vscode.root.userData, 'User/mcp.json'), {
      servers: {
        good: program('stdio-server.mjs'),
        bad: program('bad-server.mjs', 'exits'),
        missing: { command: 'a-command-that-nobody-has' },
      },
    })
    const page = await manage()
    const server = (name: string) =>
      place(page, 'user mcp.json').getByRole('listitem').filter({ hasText: name }).first()
    for (const name of ['good', 'bad', 'missing'])
      await page.getByRole('button', { name: `Check: ${name}` }).click()
    await server('good')
      .getByText(/· 6 tools$/)
      .waitFor()
    await server('good').getByText('Tools', { exact: true }).click()
    await server('good').getByText('reverse_text').waitFor()
    await server('bad').getByText('starting with no token').waitFor()
    await server('missing')
      .getByText(/wasn't found on the PATH/)
      .waitFor()
    await workbench.screenshot('mcp-servers-checked')

    // a server of the workspace isn't started for a check without consent
    await page.getByRole('button', { name: 'Check: theirs' }).click()
    await workbench.page.getByText('Command: node theirs.mjs').waitFor()
    await answer('Cancel')
    await place(page, 'planets-api/.vscode/mcp.json').getByText('not allowed yet. Allow it').waitFor()
  })

  it('shows how a bridge is doing, as the agent runs it, and restarts it', async () => {
    const probe = await HttpProbe.start()
    const { port } = probe
    write(join(vscode.root.userData, 'User/mcp.json'), { servers: { docs: { url: probe.url } } })
    write(join(folder('planets-api'), '.vscode/mcp.json'), { servers: {} })
    await ConversationPage.startSession(workbench, 'Narrow')
    const given = () => receivedParams(vscode.root, 'Narrow', 'session/new').at(-1)?.mcpServers
    await waitFor('a session', () => given() !== undefined)
    const server = (given() as McpServer[]).find(({ name }) => name === 'docs')!
    const page = await manage()
    const session = place(page, /Narrow$/)
    // that of the editor's own server is the other one
    const docs = session.locator('.mcp-passed').filter({ hasText: 'docs' })
    await docs.getByText("The agent hasn't started the bridge").waitFor()
    assert.equal(await docs.getByRole('button', { name: 'Restart: docs' }).count(), 0)

    const agent = await new StdioAgent({ ...server, type: 'stdio' } as McpServer).connect()
    try {
      await docs.getByText('Connected', { exact: true }).waitFor()
      await agent.client.listTools()
      await docs.getByText('Connected · 6 tools').waitFor()
      await docs.getByText('Tools', { exact: true }).click()
      await docs.getByText('Writes a text backwards').waitFor()
      await probe.stop()
      await assert.rejects(agent.client.callTool({ name: 'fail', arguments: {} }))
      await docs.getByText(/Not connected · Can't reach the MCP server "docs": ECONNREFUSED/).waitFor()
      await workbench.screenshot('mcp-servers-bridge')
      const again = await HttpProbe.start({ port })
      try {
        await docs.getByRole('button', { name: 'Restart: docs' }).click()
        await docs.getByText('Connected · 6 tools').waitFor()
        await docs.getByText('Log', { exact: true }).click()
        await docs.getByText('Restarting.').waitFor()
        assert.ok(!(await agent.client.callTool({ name: 'count', arguments: { to: 0 } })).isError)
        await workbench.screenshot('mcp-servers-restarted')
      } finally {
        await again.stop()
      }
    } finally {
      await agent.client.close()
    }
    await docs.getByText('The bridge has ended').waitFor()
  })

  // what it turns off and adds stays for the tests after it
  it('lets the user agree to a server, and turn servers, places, agents and sessions off', async () => {
    const page = await manage()
    const theirs = place(page, 'planets-api/.vscode/mcp.json')
    await theirs.getByText('Not allowed yet').first().waitFor()
    await theirs.getByRole('button', { name: 'Allow…: theirs' }).click()
    await workbench.page.getByText('Command: node theirs.mjs').waitFor()
    await answer('Allow MCP Servers')
    await theirs.getByRole('button', { name: 'Allow…: theirs' }).waitFor({ state: 'detached' })

    await page.getByRole('button', { name: 'Turn Off: clock' }).first().click()
    await place(page, 'user settings').getByText('Off', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Turn Off: user mcp.json' }).click()
    await place(page, 'user mcp.json').getByText('Off', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Turn Off: planets-web/.mcp.json' }).click()
    await page.getByRole('button', { name: 'Turn On: planets-web/.mcp.json' }).waitFor()

    // clock is that of the folder now, which is still asked about
    const starting = ConversationPage.startSession(workbench, 'Wide')
    await workbench.page.getByText('URL: https://clock.invalid/mcp').waitFor()
    await answer('Allow MCP Servers')
    await starting
    await waitFor('a session', () => given() !== undefined)
    assert.deepEqual(given(), ['theirs', 'clock'])

    const again = await manage()
    const session = place(again, / · Wide$/)
    await session.getByRole('button', { name: 'Turn Off: theirs' }).click()
    await session.getByText('Changes apply when the session is loaded again').waitFor()
    await again.getByRole('button', { name: 'Turn Off All: Wide' }).click()
    await again.getByText('Turned off for this agent', { exact: true }).waitFor()
    await ConversationPage.startSession(workbench, 'Wide')
    await waitFor('a session without servers', () => given()?.length === 0)
    // once for an agent, whatever number of sessions it has
    const both = await manage()
    await waitFor('both sessions', async () => (await place(both, / · Wide$/).count()) === 2)
    assert.equal(await both.getByRole('button', { name: 'Turn On All: Wide' }).count(), 1)
    await both.getByRole('button', { name: 'Turn On All: Wide' }).click()
    await both.getByRole('button', { name: 'Turn Off All: Wide' }).waitFor()
  })

  it('adds a server by its command, checks it and saves it for me or in a folder', async () => {
    const page = await manage()
    const input = workbench.paletteInput
    const add = async (text: string, name: string) => {
      await page.getByRole('button', { name: 'Add Server…' }).click()
      await input.fill(text)
      await input.press('Enter')
      await workbench.page.getByText('Name of the server').waitFor()
      await input.fill('clock')
      await workbench.page.getByText('A server with this name is already in').waitFor()
      await input.fill(name)
      await input.press('Enter')
    }
    const server = join(testDirectory, 'fixtures/mcp/stdio-server.mjs')
    await add(`"${process.execPath}" ${server}`, 'new')
    await waitFor(
      'the result',
      async () => (await input.getAttribute('placeholder')) === 'probe 1.2.3 · 6 tools',
    )
    await workbench.pick('Save in User Settings')
    await workbench.notification('MCP server "new" added.').waitFor()
    const own = place(page, 'user settings').getByRole('listitem').filter({ hasText: 'new' })
    // as checked before
    await own.getByText('probe 1.2.3 · 6 tools').waitFor()
    await workbench.runCommand('Notifications: Clear All Notifications')

    await add('a-command-that-nobody-has', 'later')
    await waitFor('the problem', async () =>
      /wasn't found on the PATH/.test((await input.getAttribute('placeholder')) ?? ''),
    )
    await workbench.pick('Save in planets-web')
    const folderFile = place(page, 'planets-web/.vscode/mcp.json')
    await folderFile.getByText('later', { exact: true }).waitFor()
    // who has just entered it isn't asked about it; the page may show the file before that is stored
    await folderFile.getByText('Not allowed yet').waitFor({ state: 'detached' })
    const text = () => readFileSync(join(folder('planets-web'), '.vscode/mcp.json'), 'utf8')
    assert.match(text(), /"later"/)

    await page.getByRole('button', { name: 'Remove: later' }).click()
    const asked = workbench.page.getByText('Remove the MCP server "later" from planets-web/.vscode/mcp.json?')
    await asked.waitFor()
    await answer('Cancel')
    // otherwise its button would be pressed once more
    await asked.waitFor({ state: 'detached' })
    assert.match(text(), /"later"/)
    await page.getByRole('button', { name: 'Remove: later' }).click()
    await answer('Remove')
    await folderFile.getByText('later', { exact: true }).waitFor({ state: 'detached' })
    assert.doesNotMatch(text(), /"later"/)
    await page.getByRole('button', { name: 'Remove: new' }).click()
    await answer('Remove')
    await own.waitFor({ state: 'detached' })
    await place(page, 'user settings').getByText('clock', { exact: true }).waitFor()
  })
})
