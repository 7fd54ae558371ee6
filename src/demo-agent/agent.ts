import { type AgentApp, type AgentContext, agent, type ClientCapabilities } from '@agentclientprotocol/sdk'
import * as z from 'zod'
import { FEATURES, featuresOf } from './client.ts'
import { COMMANDS } from './scenes/index.ts'
import { type DemoSession, forkRequest, Sessions } from './session.ts'
import { configOptions } from './settings.ts'
import type { SessionStore } from './store.ts'
import { takeTurn } from './take-turn.ts'
import { usageOf } from './turn.ts'

export interface DemoAgentOptions {
  store: SessionStore
  /** Factor of every pause; 0 for no pauses. */
  pace: number
  log: (message: string) => void
}

export const INFO = { name: 'parley-demo-agent', title: 'Demo Agent', version: '1.0.0' }

/** The raw parameters: the released schema would drop the draft's capabilities. */
const initializeRequest = z.object({
  clientCapabilities: z.custom<ClientCapabilities>(value => typeof value === 'object').optional(),
})

/** Returns an app with the demo agent's protocol methods; other modules create the content of turns. */
export function createDemoAgent({ store, pace, log }: DemoAgentOptions): {
  app: AgentApp
  stop(): Promise<void>
} {
  const sessions = new Sessions(store)
  let features = featuresOf(() => false)

  const optionsOf = (session: DemoSession) => ({
    configOptions: configOptions(session.settings, features.booleans),
  })
  const start = (session: DemoSession, client: AgentContext) => {
    // Send the first update after the response with the session's id, because a client may not know the session before.
    setImmediate(() => sendStart(session, client).catch(error => log(`Not sent: ${String(error)}`)))
    return optionsOf(session)
  }

  const app = agent({ name: INFO.name })
    .onRequest('initialize', initializeRequest, ({ params }) => {
      features = featuresOf(name => FEATURES[name][1](params.clientCapabilities ?? {}))
      return {
        protocolVersion: 1,
        agentInfo: INFO,
        authMethods: [],
        agentCapabilities: {
          loadSession: true,
          promptCapabilities: { image: true, audio: true, embeddedContext: true },
          mcpCapabilities: { http: true, sse: true },
          sessionCapabilities: {
            list: {},
            resume: {},
            close: {},
            delete: {},
            fork: {},
            additionalDirectories: {},
          },
        },
      }
    })
    .onRequest('session/new', ({ params, client }) => {
      const session = sessions.create(params)
      return { sessionId: session.id, ...start(session, client) }
    })
    .onRequest('session/load', async ({ params, client }) => {
      const session = await sessions.reopen(params.sessionId, params)
      for (const update of sessions.replay(session)) {
        await client.notify('session/update', { sessionId: session.id, update })
      }
      return start(session, client)
    })
    .onRequest('session/resume', async ({ params, client }) => {
      return start(await sessions.reopen(params.sessionId, params), client)
    })
    .onRequest('session/fork', forkRequest, ({ params, client }) => {
      const session = sessions.fork(params.sessionId, params)
      return { sessionId: session.id, ...start(session, client) }
    })
    .onRequest('session/list', ({ params }) => sessions.list(params))
    .onRequest('session/close', ({ params }) => sessions.close(params.sessionId))
    .onRequest('session/delete', ({ params }) => sessions.delete(params.sessionId))
    .onRequest('session/set_config_option', ({ params }) => {
      const session = sessions.get(params.sessionId)
      session.choose(params.configId, params.value)
      return optionsOf(session)
    })
    .onRequest('session/prompt', async ({ params, client, signal }) => {
      const session = sessions.get(params.sessionId)
      session.checkPrompt(params.prompt)
      return takeTurn({ session, client, features, signal, prompt: params.prompt, pace })
    })
    .onNotification('session/cancel', ({ params }) => {
      // If the session was closed meanwhile, there is nothing to cancel.
      void sessions.find(params.sessionId)?.cancel()
    })

  return { app, stop: () => sessions.stop() }
}

/** Reports the session's commands, and its usage if it has a history. */
async function sendStart(session: DemoSession, client: AgentContext): Promise<void> {
  const { id: sessionId } = session
  const commands = {
    sessionUpdate: 'available_commands_update' as const,
    availableCommands: COMMANDS,
  }
  await client.notify('session/update', { sessionId, update: commands })
  if (session.meta.prompts > 0) await client.notify('session/update', { sessionId, update: usageOf(session) })
}
