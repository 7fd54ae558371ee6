import type {
  CreateElicitationRequest,
  RequestPermissionRequest,
  SessionNotification,
} from '@agentclientprotocol/sdk'
import type * as v2 from '@agentclientprotocol/sdk/experimental/v2'
import type { DemoClient, OwnTerminal } from '../turn.ts'
import { toolCallToV2, updateToV2 } from './to-v2.ts'

type Options = { cancellationSignal?: AbortSignal; stopWaitingOnCancel?: boolean }

/** A client that speaks v2, as the scenes know one: they speak of all in the terms of v1. */
export function clientOfV2(client: v2.AgentContext): DemoClient {
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
    // The whole turn waits for the person.
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
  // The overloads of v1 cannot be written down for one function of any method.
  return { notify, request, createTerminal: refuse, showTerminal } as unknown as DemoClient
}

function refuse(): never {
  throw new Error('In v2 a client runs no commands.')
}
