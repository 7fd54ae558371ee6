import { randomUUID } from 'node:crypto'
import type * as v1 from '@agentclientprotocol/sdk'
import * as v2 from '@agentclientprotocol/sdk/experimental/v2'
import { type DemoAgentOptions, INFO } from '../agent.ts'
import { type DemoClient, featuresOf } from '../client.ts'
import { COMMANDS } from '../scenes/index.ts'
import { type DemoSession, forkRequest, Sessions } from '../session.ts'
import { configOptions } from '../settings.ts'
import { takeTurn } from '../take-turn.ts'
import { usageOf } from '../turn.ts'
import { startTerminal } from './terminal.ts'
import { commandToV2, optionToV2, promptToV1, toolCallToV2, updateToV2 } from './to-v2.ts'

/** The update that reports a session without a running turn. */
const IDLE = { sessionUpdate: 'state_update', state: 'idle' } as const

type Tell = (update: v2.SessionUpdate) => Promise<void>

/** Adapts a v2 client to the interface of the scenes, which use the terms of v1. */
function clientOfV2(client: v2.AgentContext): DemoClient {
  const teller =
    (sessionId: string): Tell =>
    update =>
      client.notify('session/update', { sessionId, update })

  const notify = (method: string, params: unknown): Promise<void> => {
    if (method !== 'session/update') return client.notify(method, params)
    const { sessionId, update } = params as v1.SessionNotification
    return teller(sessionId)(updateToV2(update))
  }

  const request = async (
    method: string,
    params: unknown,
    sent: v1.SendRequestOptions = {},
  ): Promise<unknown> => {
    if (method !== 'session/request_permission') return client.request(method, params, sent)
    const { sessionId, toolCall, options } = params as v1.RequestPermissionRequest
    const tell = teller(sessionId)
    const subject = { type: 'tool_call' as const, toolCall: toolCallToV2(toolCall) }
    // The whole turn waits for the user.
    await tell({ sessionUpdate: 'state_update', state: 'requires_action' })
    const asked = { sessionId, title: toolCall.title ?? 'May I?', subject, options }
    const answer = await client.request('session/request_permission', asked, sent)
    await tell({ sessionUpdate: 'state_update', state: 'running' })
    return answer
  }

  const createTerminal = async (params: v1.CreateTerminalRequest) => {
    const tell = teller(params.sessionId)
    return startTerminal(params, update => void tell(update).catch(() => {}))
  }
  // The type assertion is needed because one function for all methods doesn't match the overloads of v1.
  return { notify, request, createTerminal } as unknown as DemoClient
}

/** Returns an app that is the demo agent for a v2 client: it reports turns as states and runs commands itself. */
export function createDemoAgentV2({ store, pace, log }: DemoAgentOptions): {
  app: v2.AgentApp
  stop(): Promise<void>
} {
  const sessions = new Sessions(store)
  /** promises that resolve when a turn was reported completely, by session id */
  const turns = new Map<string, Promise<void>>()
  let features = featuresOf(() => false)

  const startOf = (session: DemoSession) => ({
    configOptions: configOptions(session.settings, true).map(optionToV2),
    availableCommands: COMMANDS.map(commandToV2),
  })

  /** Runs the scene of an accepted prompt. */
  const play = async (
    tell: Tell,
    session: DemoSession,
    prompt: v1.ContentBlock[],
    messageId: string,
    client: v2.AgentContext,
  ) => {
    await tell({ sessionUpdate: 'user_message', messageId, content: prompt })
    await tell({ sessionUpdate: 'state_update', state: 'running' })
    try {
      const { signal } = new AbortController()
      const context = { session, client: clientOfV2(client), features, signal, prompt, pace }
      const end = await takeTurn(context, messageId)
      await tell({ ...IDLE, ...end } as v2.SessionUpdate)
    } catch (error) {
      const { code = -32603, message = String(error) } = error as { code?: number; message?: string }
      await tell({ ...IDLE, stopReason: 'error', error: { code, message } })
    }
  }

  const app = v2
    .agent({ name: INFO.name })
    .onRequest('initialize', ({ params }) => {
      const { elicitation } = params.capabilities ?? {}
      const offered = { terminal: true, booleans: true, notices: true, compaction: true, subagents: true }
      const has: Record<string, unknown> = { ...offered, forms: elicitation?.form, visits: elicitation?.url }
      features = featuresOf(name => has[name])
      return {
        protocolVersion: v2.PROTOCOL_VERSION,
        info: INFO,
        capabilities: {
          session: {
            prompt: { image: {}, audio: {}, embeddedContext: {} },
            mcp: { stdio: {}, http: {} },
            delete: {},
            fork: {},
            additionalDirectories: {},
          },
        },
      }
    })
    .onRequest('session/new', ({ params }) => {
      const session = sessions.create(params)
      return { sessionId: session.id, ...startOf(session) }
    })
    .onRequest('session/resume', async ({ params, client }) => {
      const { sessionId, replayFrom } = params
      if (replayFrom && replayFrom.type !== 'start') {
        throw v2.RequestError.invalidParams({ replayFrom }, 'replays begin at the start')
      }
      const session = await sessions.reopen(sessionId, params)
      const tell: Tell = update => client.notify('session/update', { sessionId, update })
      for (const update of replayFrom ? sessions.replay(session) : []) await tell(updateToV2(update))
      await tell(IDLE)
      if (session.meta.prompts > 0) await tell(updateToV2(usageOf(session)))
      return startOf(session)
    })
    .onRequest('session/fork', forkRequest, ({ params }) => {
      const session = sessions.fork(params.sessionId, params)
      return { sessionId: session.id, ...startOf(session) }
    })
    .onRequest('session/list', ({ params }) => sessions.list(params))
    .onRequest('session/close', async ({ params }) => {
      await sessions.close(params.sessionId)
      await turns.get(params.sessionId)
    })
    .onRequest('session/delete', ({ params }) => sessions.delete(params.sessionId))
    .onRequest('session/set_config_option', ({ params }) => {
      const session = sessions.get(params.sessionId)
      session.choose(params.configId, params.value)
      return { configOptions: startOf(session).configOptions }
    })
    .onRequest('session/prompt', ({ params, client }) => {
      const { sessionId } = params
      const session = sessions.get(sessionId)
      const prompt = promptToV1(params.prompt)
      if (!prompt) throw v2.RequestError.invalidParams({}, 'the prompt contains an unknown kind of content')
      session.checkPrompt(prompt)
      const messageId = randomUUID()
      const tell: Tell = update => client.notify('session/update', { sessionId, update })
      const turn = play(tell, session, prompt, messageId, client)
        .catch(error => log(`Not reported: ${String(error)}`))
        .finally(() => turns.delete(sessionId))
      turns.set(sessionId, turn)
      return { messageId }
    })
    .onNotification('session/cancel', ({ params }) => {
      // If the session was closed meanwhile, there is nothing to cancel.
      void sessions.find(params.sessionId)?.cancel()
    })

  return { app, stop: () => sessions.stop() }
}
