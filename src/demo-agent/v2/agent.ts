import { randomUUID } from 'node:crypto'
import type * as v1 from '@agentclientprotocol/sdk'
import type {
  CreateElicitationRequest,
  RequestPermissionRequest,
  SessionNotification,
} from '@agentclientprotocol/sdk'
import * as v2 from '@agentclientprotocol/sdk/experimental/v2'
import type { DemoAgentOptions } from '../agent.ts'
import { COMMANDS } from '../scenes/index.ts'
import { type DemoSession, forkRequest, Sessions } from '../session.ts'
import { configOptions } from '../settings.ts'
import { takeTurn } from '../take-turn.ts'
import { type DemoClient, featuresOf, type OwnTerminal, usageOf } from '../turn.ts'
import { commandToV2, IDLE, optionToV2, promptToV1, toolCallToV2, updateToV2 } from './to-v2.ts'

type Options = { cancellationSignal?: AbortSignal; stopWaitingOnCancel?: boolean }

/** Adapts a v2 client to the interface of the scenes, which use the terms of v1. */
function clientOfV2(client: v2.AgentContext): DemoClient {
  const notify = async (method: string, params: unknown): Promise<void> => {
    if (method !== 'session/update') return client.notify(method, params)
    const { sessionId, update } = params as SessionNotification
    const reported = updateToV2(update)
    if (reported) await client.notify('session/update', { sessionId, update: reported })
  }
  const say = (sessionId: string, update: v2.SessionUpdate) =>
    client.notify('session/update', { sessionId, update })

  const askPermission = async (params: RequestPermissionRequest, options: Options) => {
    const { sessionId, toolCall } = params
    // The whole turn waits for the user.
    await say(sessionId, { sessionUpdate: 'state_update', state: 'requires_action' })
    const answer = await client.request(
      'session/request_permission',
      {
        sessionId,
        title: toolCall.title ?? 'May I?',
        subject: { type: 'tool_call', toolCall: toolCallToV2(toolCall) },
        options: params.options,
      },
      options,
    )
    await say(sessionId, { sessionUpdate: 'state_update', state: 'running' })
    return answer
  }

  const request = async (method: string, params: unknown, options: Options = {}): Promise<unknown> => {
    if (method === 'session/request_permission') {
      return askPermission(params as RequestPermissionRequest, options)
    }
    return client.request(method, params as CreateElicitationRequest, options)
  }

  const showTerminal = (
    sessionId: string,
    { id: terminalId, command, cwd }: { id: string; command: string; cwd: string },
  ): OwnTerminal => {
    const tell = (update: v2.SessionUpdate) => void say(sessionId, update).catch(() => {})
    tell({ sessionUpdate: 'terminal_update', terminalId, command, cwd })
    return {
      output: data =>
        tell({
          sessionUpdate: 'terminal_output_chunk',
          terminalId,
          data: Buffer.from(data).toString('base64'),
        }),
      end: exitStatus => tell({ sessionUpdate: 'terminal_update', terminalId, exitStatus }),
    }
  }
  // The type assertion is needed because one function for all methods doesn't match the overloads of v1.
  return { notify, request, createTerminal: refuse, showTerminal } as unknown as DemoClient
}

function refuse(): never {
  throw new Error('In v2 a client runs no commands.')
}

/** The demo agent for a v2 client: it reports turns as states and runs commands itself. */
export function createDemoAgentV2(options: DemoAgentOptions): { app: v2.AgentApp; stop(): Promise<void> } {
  const { store, pace, log } = options
  const sessions = new Sessions(store)
  /** by session id: resolves when a turn was reported completely */
  const turns = new Map<string, Promise<void>>()
  let features = featuresOf(() => false)

  const startOf = (session: DemoSession) => ({
    configOptions: configOptions(session.settings, true).map(optionToV2),
    availableCommands: COMMANDS.map(commandToV2),
  })
  const say = (client: v2.AgentContext, session: DemoSession, update: v2.SessionUpdate) =>
    client.notify('session/update', { sessionId: session.id, update })

  /** Runs the scene of an accepted prompt. */
  const tellUsage = async (client: v2.AgentContext, session: DemoSession) => {
    const usage = updateToV2(usageOf(session))
    if (usage) await say(client, session, usage)
  }

  const play = async (
    session: DemoSession,
    client: v2.AgentContext,
    prompt: v1.ContentBlock[],
    messageId: string,
  ) => {
    await say(client, session, { sessionUpdate: 'user_message', messageId, content: prompt })
    await say(client, session, { sessionUpdate: 'state_update', state: 'running' })
    try {
      const { stopReason, usage } = await takeTurn({
        session,
        client: clientOfV2(client),
        features,
        signal: new AbortController().signal,
        prompt,
        messageId,
        pace,
      })
      await say(client, session, { ...IDLE, stopReason, usage } as v2.SessionUpdate)
    } catch (error) {
      const { code = -32603, message = String(error) } = error as { code?: number; message?: string }
      await say(client, session, {
        ...IDLE,
        stopReason: 'error',
        error: { code, message },
      })
    }
  }

  const app = v2
    .agent({ name: 'parley-demo-agent' })
    .onRequest('initialize', ({ params }) => {
      const { elicitation } = params.capabilities ?? {}
      const offered = { booleans: true, notices: true, compaction: true, subagents: true }
      const has: Record<string, unknown> = { ...offered, forms: elicitation?.form, visits: elicitation?.url }
      features = featuresOf(name => has[name])
      return {
        protocolVersion: v2.PROTOCOL_VERSION,
        info: { name: 'parley-demo-agent', title: 'Demo Agent', version: '1.0.0' },
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
      if (replayFrom) {
        for (const update of sessions.replay(session)) {
          const reported = updateToV2(update)
          if (reported) await say(client, session, reported)
        }
      }
      await say(client, session, IDLE)
      if (session.meta.prompts > 0) await tellUsage(client, session)
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
    .onRequest('session/delete', async ({ params }) => {
      await sessions.delete(params.sessionId)
    })
    .onRequest('session/set_config_option', ({ params }) => {
      const session = sessions.get(params.sessionId)
      session.choose(params.configId, params.value)
      return { configOptions: startOf(session).configOptions }
    })
    .onRequest('session/prompt', ({ params, client }) => {
      const session = sessions.get(params.sessionId)
      const prompt = promptToV1(params.prompt)
      if (!prompt) throw v2.RequestError.invalidParams({}, 'the prompt contains an unknown kind of content')
      session.checkPrompt(prompt)
      const messageId = randomUUID()
      const turn = play(session, client, prompt, messageId)
        .catch(error => log(`Not reported: ${String(error)}`))
        .finally(() => turns.delete(session.id))
      turns.set(session.id, turn)
      return { messageId }
    })
    .onNotification('session/cancel', ({ params }) => {
      // If the session was closed meanwhile, there is nothing to cancel.
      void sessions.find(params.sessionId)?.cancel()
    })

  return { app, stop: () => sessions.stop() }
}
