// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables in settings have this syntax
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type AgentApp, type AgentContext, agent, type SessionUpdate } from '@agentclientprotocol/sdk'
import { waitFor } from '../host/wait-for.ts'
import { PageSuite } from '../support/page/page-suite.ts'
import { RemoteAgentServer } from '../support/remote-agent-server.ts'
import { ConversationPage } from '../ui/support/conversation-page.ts'

const KEY = 'the-key-of-the-server'
/** Where one of the agents has the folder of the workspace. */
const THERE = '/srv/nowhere'

/** Edits a file of its machine that has the path of one here, names it in all ways, and asks whether it may. */
async function edit(client: AgentContext, sessionId: string, path: string): Promise<void> {
  const update = (one: SessionUpdate) => client.notify('session/update', { sessionId, update: one })
  const uri = pathToFileURL(path).href
  await update({
    ...{ sessionUpdate: 'tool_call', toolCallId: 'edit', title: 'Edit planets', kind: 'edit' },
    ...{ status: 'pending', locations: [{ path, line: 2 }] },
    content: [{ type: 'diff', path, oldText: 'theirs', newText: 'changed by the server' }],
  })
  await client.request('session/request_permission', {
    sessionId,
    toolCall: { toolCallId: 'edit', kind: 'edit', locations: [{ path }] },
    options: [{ optionId: 'once', name: 'Allow', kind: 'allow_once' }],
  })
  await update({ sessionUpdate: 'tool_call_update', toolCallId: 'edit', status: 'completed' })
  for (const content of [
    { type: 'text' as const, text: `See [the planets](${path}:2).` },
    { type: 'resource_link' as const, uri, name: 'linked planets' },
  ])
    await update({ sessionUpdate: 'agent_message_chunk', content })
}

/** Answers prompts with what it got, except `wait`, whose turn never ends. */
function createAgent(loaded: string[]): AgentApp {
  let folder = ''
  return agent({ name: 'remote' })
    .onRequest('initialize', () => ({
      protocolVersion: 1,
      agentInfo: { name: 'remote', version: '1' },
      agentCapabilities: { loadSession: true },
    }))
    .onRequest('session/new', ({ params }) => {
      folder = params.cwd
      return { sessionId: 's1' }
    })
    .onRequest('session/load', ({ params }) => {
      loaded.push(params.sessionId)
      return {}
    })
    .onRequest('session/prompt', async ({ params, client }) => {
      const [block] = params.prompt
      const said = block?.type === 'text' ? block.text : ''
      const text = `You said: ${said}`
      const update = {
        sessionUpdate: 'agent_message_chunk' as const,
        content: { type: 'text' as const, text },
      }
      await client.notify('session/update', { sessionId: params.sessionId, update })
      if (said === 'edit') await edit(client, params.sessionId, join(folder, 'planets.js'))
      if (said === 'wait') await new Promise(() => {})
      return { stopReason: 'end_turn' as const }
    })
}

describe('an agent on a server', () => {
  const loaded: string[] = []
  let server: RemoteAgentServer
  const start = async (port?: number) => {
    server = await RemoteAgentServer.start(() => createAgent(loaded), {
      ...(port !== undefined && { port }),
      refuse: ({ headers }) => (headers.authorization === `Bearer ${KEY}` ? undefined : 401),
    })
  }
  const vscode = new PageSuite({
    settings: async () => {
      await start()
      return {
        'parley.agents': agents(),
        'parley.permissionRules': [{ kind: 'edit', path: '**', action: 'allow' }],
      }
    },
  })
  const agents = () => ({
    remote: {
      name: 'Remote',
      url: server.url('ws'),
      headers: { Authorization: 'Bearer ${input:key}' },
    },
    mapped: {
      ...{ name: 'Mapped', url: server.url('ws'), headers: { Authorization: `Bearer ${KEY}` } },
      pathMappings: [{ localRoot: '${workspaceFolder}', remoteRoot: THERE }],
    },
    other: { name: 'Other', url: server.url('http'), headers: { Authorization: `Bearer ${KEY}` } },
  })
  after(() => server.kill())

  it('asks for its key, again if the server refuses it, and goes on when the server is back', async () => {
    const window = await vscode.open()
    const conversation = await ConversationPage.open(window)
    const enter = async (value: string) => {
      const input = window.paletteInput
      await input.waitFor()
      await input.fill(value)
      await input.press('Enter')
      await input.waitFor({ state: 'hidden' })
    }
    await conversation.button(/^Remote/).click()
    await enter('wrong')
    const refused = conversation.card("Remote couldn't be reached")
    await refused.getByText(/denied access \(status 401\)/).waitFor()
    await refused.getByRole('button', { name: 'Retry' }).click()
    await enter(KEY)
    await conversation.waitForAgent('Remote')
    await conversation.send('remember me')
    await conversation.text('You said: remember me').waitFor()
    await conversation.send('wait')
    await conversation.text('You said: wait').waitFor()
    const { port } = server
    await server.kill()
    await conversation
      .text(/The connection failed/)
      .first()
      .waitFor()
    await start(port)
    await conversation.waitForPhase('ready')
    assert.deepEqual(loaded, ['s1'])
    await conversation.button('Resend Prompt').waitFor()
    await conversation.send('go on')
    await conversation.text('You said: go on').waitFor()
    await conversation.text('You said: remember me').waitFor()
    // the user may stop waiting
    await server.kill()
    await conversation.text('Starting Remote…').waitFor()
    await conversation.button('Cancel').click()
    const lost = conversation.card('The connection to Remote was lost')
    await lost.waitFor()
    await start(port)
    await lost.getByRole('button', { name: 'Reconnect and Continue' }).click()
    await conversation.waitForPhase('ready')
    assert.deepEqual(loaded, ['s1', 's1'])
    const secrets = server.requests.filter(({ headers }) => headers.authorization !== `Bearer ${KEY}`)
    await waitFor('only the right key', () => secrets.length === 0)
  })

  it('has files of its own, which are never taken for the files at the same paths here', async () => {
    const window = await vscode.open()
    const conversation = await ConversationPage.startSession(window, 'Other')
    const { frame } = conversation
    await conversation.send('edit')
    // the rule is about files here
    await frame.getByText(/works on another machine/).waitFor()
    assert.equal(await conversation.button(/Accept for This Session/).count(), 0)
    await conversation.permission.getByRole('button', { name: 'Allow', exact: true }).click()
    await conversation.button(/linked planets/).waitFor()
    const refused = async () => {
      const message = window.notification(/planets\.js.* is on the server of Other/)
      await message.waitFor()
      await window.runCommand('Notifications: Clear All Notifications')
      await message.waitFor({ state: 'hidden' })
    }
    await frame.getByText('the planets', { exact: true }).click()
    await refused()
    await conversation.button(/linked planets/).click()
    await refused()
    await conversation
      .button(/Edit planets/)
      .first()
      .click()
    await frame.locator('.change-path').click()
    await refused()
    await conversation.button('Open Diff').click()
    await window.page.getByText("planets.js (Agent's edit)").first().waitFor()
    assert.equal(await frame.locator('.changed-files').count(), 0)
    // the saved conversation knows as much
    const { port } = server
    const { other: _other, ...others } = agents()
    await server.kill()
    await window.reload()
    const saved = await ConversationPage.find(window)
    await saved.frame.getByText('the planets', { exact: true }).click()
    await refused()
    // also if the agent is removed
    vscode.root.updateSettings({ 'parley.agents': others })
    await window.reload()
    const orphaned = await ConversationPage.find(window)
    await orphaned.frame.getByText('the planets', { exact: true }).click()
    await refused()
    await start(port)
    vscode.root.updateSettings({ 'parley.agents': agents() })
  })

  it('has folders at other paths, whose files open here', async () => {
    const window = await vscode.open()
    const conversation = await ConversationPage.startSession(window, 'Mapped')
    const { frame } = conversation
    await conversation.send('edit')
    await conversation.permission.getByRole('button', { name: 'Allow', exact: true }).click()
    await conversation.button(/linked planets/).waitFor()
    const opened = async (line: number) => {
      await waitFor('the file here', async () => {
        const active = (await window.host.call('activeLine')) as { path: string; line: number } | null
        return active?.line === line && active.path.endsWith('/planets.js')
      })
      await window.runCommand('View: Close All Editors')
    }
    await frame.getByText('the planets', { exact: true }).click()
    await opened(2)
    await conversation.button(/linked planets/).click()
    await opened(1)
    await conversation
      .button(/Edit planets/)
      .first()
      .click()
    await frame.locator('.change-path').click()
    await opened(1)
    // the copy there changed, not the file here
    assert.equal(await frame.locator('.changed-files').count(), 0)
  })
})
