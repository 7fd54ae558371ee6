// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables in settings have this syntax
import assert from 'node:assert/strict'
import { type AgentApp, agent } from '@agentclientprotocol/sdk'
import { waitFor } from '../host/wait-for.ts'
import { PageSuite } from '../support/page/page-suite.ts'
import { RemoteAgentServer } from '../support/remote-agent-server.ts'
import { ConversationPage } from '../ui/support/conversation-page.ts'

const KEY = 'the-key-of-the-server'

/** Answers prompts with what it got, except `wait`, whose turn never ends. */
function createAgent(loaded: string[]): AgentApp {
  return agent({ name: 'remote' })
    .onRequest('initialize', () => ({
      protocolVersion: 1,
      agentInfo: { name: 'remote', version: '1' },
      agentCapabilities: { loadSession: true },
    }))
    .onRequest('session/new', () => ({ sessionId: 's1' }))
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
        'parley.agents': {
          remote: {
            name: 'Remote',
            url: server.url('ws'),
            headers: { Authorization: 'Bearer ${input:key}' },
          },
        },
      }
    },
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
})
