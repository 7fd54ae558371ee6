import assert from 'node:assert/strict'
import type { McpServer } from '../../src/acp/model.ts'
import { waitFor } from '../host/wait-for.ts'
import { StdioAgent } from '../support/mcp/bridge-program.ts'
import { HttpProbe } from '../support/mcp/http-server.ts'
import { OAuthServer } from '../support/mcp/oauth-server.ts'
import { PageSuite } from '../support/page/page-suite.ts'
import { ConversationPage } from '../ui/support/conversation-page.ts'
import { fixtureAgent, receivedParams } from '../ui/support/fixture-agent.ts'

describe('the sign-in of an MCP server', () => {
  let oauth: OAuthServer
  let probe: HttpProbe
  const vscode = new PageSuite({
    settings: async root => {
      oauth = await OAuthServer.start()
      probe = await HttpProbe.start({ before: (request, response) => oauth.protect(request, response) })
      return {
        'parley.agents': { wide: fixtureAgent(root, 'Wide') },
        'parley.mcpServers': { servers: { docs: { url: probe.url } } },
      }
    },
  })
  after(async () => {
    await probe?.stop()
    await oauth?.stop()
  })

  /** The server as the agent of the newest session got it. */
  const given = () =>
    (receivedParams(vscode.root, 'Wide', 'session/new').at(-1)?.mcpServers as McpServer[] | undefined)?.[0]

  it('is asked for before the browser opens, reaches agents through the bridge, and ends with a sign-out', async () => {
    const workbench = await vscode.open()
    const { page } = workbench
    await workbench.runCommand('Parley: Sign In to MCP Server…')
    await page.getByText('docs', { exact: true }).click()
    await page.getByText(/The MCP server "docs" requires you to sign in at 127\.0\.0\.1:\d+\./).waitFor()
    const opened = async () => (await workbench.host.call('openedUrls')) as string[]
    assert.deepEqual(await opened(), [])
    await page.getByRole('button', { name: 'Open Browser' }).click()
    await waitFor('the browser', async () => (await opened()).length === 1)
    const answer = await fetch((await opened())[0] ?? '')
    assert.match(await answer.text(), /You can close this page and return to VS Code\./)
    await page.getByText('Signed in to docs. New sessions use this sign-in.').waitFor()

    const conversation = await ConversationPage.startSession(workbench, 'Wide')
    const details = await conversation.openDetails()
    await details.getByText('Bridged by Parley, which signs in to the server.').waitFor()
    const bridge = given()
    assert.ok(bridge && 'command' in bridge)
    const [token] = oauth.tokens
    assert.ok(token && !JSON.stringify(bridge).includes(token))
    const agent = await new StdioAgent({ ...bridge, type: 'stdio' }).connect()
    try {
      assert.equal(await agent.call('reverse_text', { text: 'abc' }), 'cba')
      oauth.expire()
      assert.equal(await agent.call('reverse_text', { text: 'abc' }), 'cba')
    } finally {
      await agent.client.close()
    }

    await workbench.runCommand('Parley: Sign Out of MCP Server…')
    await page.getByText(probe.url, { exact: true }).click()
    await page.getByRole('button', { name: 'Sign Out', exact: true }).click()
    await page.getByText(`Signed out of ${probe.url}.`).waitFor()
    await ConversationPage.startSession(workbench, 'Wide')
    await waitFor('a session without the bridge', () => given()?.type === 'http')
  })

  it('is offered by a check in MCP Servers, which then lists the tools', async () => {
    const workbench = await vscode.open()
    await workbench.runCommand('Parley: MCP Servers')
    const page = await workbench.webview('body[data-view="mcp"]')
    await page.getByRole('button', { name: 'Check: docs' }).click()
    await page.getByText('The server requires you to sign in (status 401).').waitFor()
    await page.getByRole('button', { name: 'Sign In…: docs' }).click()
    await workbench.page.getByRole('button', { name: 'Open Browser' }).click()
    const opened = async () => (await workbench.host.call('openedUrls')) as string[]
    await waitFor('the browser', async () => (await opened()).length === 1)
    await fetch((await opened())[0] ?? '')
    await page.getByText('probe 1.2.3 · 6 tools').waitFor()
    await workbench.screenshot('mcp-sign-in')
    await page.getByRole('button', { name: 'Sign Out: docs' }).click()
    await workbench.page.getByRole('button', { name: 'Sign Out', exact: true }).click()
    await page.getByRole('button', { name: 'Sign Out: docs' }).waitFor({ state: 'detached' })
  })
})
