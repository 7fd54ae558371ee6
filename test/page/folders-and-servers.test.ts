import assert from 'node:assert/strict'
import { dirname, join } from 'node:path'
import { openFile } from '../support/page/editor.ts'
import { PageSuite } from '../support/page/page-suite.ts'
import type { PageWindow } from '../support/page/page-window.ts'
import { connect } from '../support/tool-rig.ts'
import { ConversationPage } from '../ui/support/conversation-page.ts'
import { fixtureAgent, receivedParams } from '../ui/support/fixture-agent.ts'

interface Header {
  name: string
  value: string
}

/** An agent that supports one folder and local MCP servers only. */
const narrow = {
  results: {
    initialize: {
      agentCapabilities: {
        mcpCapabilities: { http: null, sse: null },
        sessionCapabilities: { additionalDirectories: null },
      },
    },
  },
}

describe('the folders and servers of a session', () => {
  const vscode = new PageSuite({
    settings: root => ({
      'parley.agents': {
        narrow: fixtureAgent(root, 'Narrow', narrow),
        wide: fixtureAgent(root, 'Wide'),
      },
      'parley.mcpServers': {
        servers: {
          clock: { command: 'node', args: ['clock.mjs'], env: { ZONE: 'UTC' } },
          library: { type: 'http', url: 'https://library.invalid/mcp', headers: { 'X-Shelf': '7' } },
          missing: { command: 'a-command-that-nobody-has' },
        },
      },
    }),
  })
  let workbench: PageWindow

  beforeEach(async () => {
    workbench = await vscode.sharedWindow()
  })

  const folder = (name: string) => join(dirname(vscode.workspace), name)
  const lastSession = (agent: string) => receivedParams(vscode.root, agent, 'session/new').at(-1)

  it('are complete if the agent supports all of them, as the details show', async () => {
    const conversation = await ConversationPage.startSession(workbench, 'Wide')
    const details = await conversation.openDetails()
    await details.getByText(/planets-api\s*working directory/).waitFor()
    for (const name of ['planets-web', 'notes'])
      await details.getByText(new RegExp(`${name}\\s*accessible`)).waitFor()
    for (const name of ['clock', 'library'])
      await row(details, name)
        .getByLabel('Passed to the agent')
        .and(details.locator('.codicon-server'))
        .waitFor()
    // the agent has no way to sign in
    assert.equal(await details.getByRole('button', { name: /^Sign In/ }).count(), 0)

    const given = lastSession('Wide')
    assert.equal(given?.cwd, folder('planets-api'))
    assert.deepEqual(given.additionalDirectories, [folder('planets-web'), folder('notes')])
    const [clock, library, ...more] = given.mcpServers as Array<Record<string, unknown>>
    assert.match(String(clock?.command), /^\/.*\/node$/)
    assert.deepEqual(clock?.args, ['clock.mjs'])
    assert.deepEqual(clock?.env, [{ name: 'ZONE', value: 'UTC' }])
    assert.deepEqual(library?.headers, [{ name: 'X-Shelf', value: '7' }])
    assert.deepEqual(
      more.map(({ name }) => name),
      ['vscode'],
    )
  })

  it("have the editor's tools, which are turned off and on in the details", async () => {
    const conversation = await ConversationPage.startSession(workbench, 'Wide')
    const details = await conversation.openDetails()
    await row(details, 'vscode').getByLabel('Passed to the agent').waitFor()
    const given = lastSession('Wide')?.mcpServers as Array<{ name: string; url: string; headers: Header[] }>
    const { url, headers } = given.find(({ name }) => name === 'vscode')!
    const token = headers[0]!.value.replace('Bearer ', '')
    const client = await connect({ url, token })
    const count = async () => (await client.listTools()).tools.length
    try {
      assert.ok((await count()) > 20)
      await details.getByText('On for this session').waitFor()
      await details.getByRole('button', { name: 'Turn Off' }).click()
      await details.getByText('Off for this session').waitFor()
      assert.equal(await count(), 0)
      await details.getByRole('button', { name: 'Turn On' }).click()
      await details.getByText('On for this session').waitFor()
      assert.ok((await count()) > 20)
    } finally {
      await client.close()
    }
  })

  it("don't include what the agent doesn't support, and the details explain what is bridged or missing and why", async () => {
    const conversation = await ConversationPage.startSession(workbench, 'Narrow')
    const details = await conversation.openDetails()
    for (const name of ['planets-web', 'notes']) {
      const unseen = row(details, name)
      await unseen.getByLabel('Not visible to the agent').waitFor()
      await unseen.getByText("The agent can't work in more than one folder.").waitFor()
    }
    const library = row(details, 'library')
    await library.getByLabel('Bridged to the agent').waitFor()
    await library
      .getByText("Bridged by Parley, because the agent doesn't support MCP servers over HTTP.")
      .waitFor()
    const missing = row(details, 'missing')
    await missing.getByLabel('Not passed to the agent').waitFor()
    await missing.getByText(/a-command-that-nobody-has/).waitFor()

    const given = lastSession('Narrow')
    assert.equal(given?.additionalDirectories, undefined)
    const servers = given?.mcpServers as Array<{ name: string }> | undefined
    assert.deepEqual(
      servers?.map(({ name }) => name),
      ['clock', 'library', 'vscode'],
    )
  })

  it('start with the folder of the active file', async () => {
    await openFile(workbench, 'app.js')
    const conversation = await ConversationPage.startSession(workbench, 'Wide')
    const details = await conversation.openDetails()
    await details.getByText(/planets-web\s*working directory/).waitFor()
    assert.equal(lastSession('Wide')?.cwd, folder('planets-web'))
  })
})

function row(details: ReturnType<ConversationPage['text']>, name: string) {
  return details.locator('.details-row', { hasText: name })
}
