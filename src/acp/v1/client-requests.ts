import * as z from 'zod'
import { raceAbort } from '../../common/async.ts'
import { isRecord } from '../../common/is-record.ts'
import { type AgentClient, FileMissingError } from '../agent.ts'
import type { PermissionRequest, PermissionSubject } from '../model.ts'
import { given } from '../wire/content.ts'
import { anything, maybe, maybeText, type Report, readList } from '../wire/lenient.ts'
import { answer, type outcomeToWire, readPermissionOptions } from '../wire/requests.ts'
import { readToolCall } from '../wire/tool-call.ts'

const count = maybe(z.number().int().nonnegative())
const session = { sessionId: z.string() }
export const readFileSchema = z.object({ ...session, path: z.string().min(1), line: count, limit: count })
export const writeFileSchema = z.object({ ...session, path: z.string().min(1), content: z.string() })
export const createTerminalSchema = z.object({
  ...session,
  command: z.string().min(1),
  args: maybe(z.array(z.string())),
  env: anything,
  cwd: maybeText,
  outputByteLimit: count,
})
export const terminalSchema = z.object({ ...session, terminalId: z.string() })
export const permissionSchema = z.object({ ...session, toolCall: anything, options: anything })
export const envVariableSchema = z.object({ name: z.string().min(1), value: z.string() })

/** Asks the user for a permission. Resolves to the response for the agent. */
export type AskPermission = (
  request: PermissionRequest,
  signal: AbortSignal,
) => Promise<ReturnType<typeof outcomeToWire>>

/** Answers a client request of a v1 agent. Returns `undefined` for a method that isn't in v1. */
export function answerRequest(
  client: AgentClient,
  askPermission: AskPermission,
  report: Report,
  method: string,
  params: unknown,
  signal: AbortSignal,
): Promise<unknown> | undefined {
  switch (method) {
    case 'session/request_permission':
      return answer(permissionSchema, params, async ({ sessionId, toolCall, options }) =>
        askPermission(readPermission(sessionId, toolCall, options, report), signal),
      )
    case 'fs/read_text_file':
      return answer(readFileSchema, params, ({ sessionId, path, line, limit }) =>
        readTextFile(
          client,
          { sessionId, path, ...given('line', line ? line : undefined), ...given('limit', limit) },
          signal,
        ),
      )
    case 'fs/write_text_file':
      return answer(writeFileSchema, params, request => client.writeTextFile(request, signal))
    case 'terminal/create':
      return answer(createTerminalSchema, params, ({ sessionId, command, args, env, cwd, outputByteLimit }) =>
        client.createTerminal({
          sessionId,
          command,
          args: args ?? [],
          env: readEnv(env, report),
          ...given('cwd', cwd),
          ...given('outputByteLimit', outputByteLimit),
        }),
      )
    case 'terminal/output':
      return answer(terminalSchema, params, async ({ sessionId, terminalId }) => {
        const { output, truncated, exit } = await client.terminalOutput(sessionId, terminalId)
        return { output, truncated, ...(exit ? { exitStatus: exit } : {}) }
      })
    case 'terminal/wait_for_exit':
      return answer(terminalSchema, params, ({ sessionId, terminalId }) =>
        raceAbort(client.waitForTerminalExit(sessionId, terminalId), signal),
      )
    case 'terminal/kill':
      return answer(terminalSchema, params, ({ sessionId, terminalId }) =>
        client.killTerminal(sessionId, terminalId),
      )
    case 'terminal/release':
      return answer(terminalSchema, params, ({ sessionId, terminalId }) =>
        client.releaseTerminal(sessionId, terminalId),
      )
    default:
      return undefined
  }
}

/**
 * Answers `fs/read_text_file`. Agents read a file before they create it, and some give up on any error, so the text of a missing file is
 * empty.
 */
async function readTextFile(
  client: AgentClient,
  request: Parameters<AgentClient['readTextFile']>[0],
  signal: AbortSignal,
): Promise<{ content: string }> {
  try {
    return { content: await client.readTextFile(request, signal) }
  } catch (error) {
    if (error instanceof FileMissingError) return { content: '' }
    throw error
  }
}

/** Reads a permission request. `title` is empty if the agent didn't send a title; an earlier update of the tool call may have it. */
export function readPermission(
  sessionId: string,
  toolCall: unknown,
  options: unknown,
  report: Report,
): PermissionRequest {
  const patch = isRecord(toolCall) ? readToolCall(toolCall, report) : undefined
  const subject: PermissionSubject = patch ? { type: 'tool_call', toolCall: patch } : { type: 'none' }
  return {
    sessionId,
    title: patch?.title ?? '',
    subject,
    options: readPermissionOptions(options, report),
  }
}

/** Reads environment variables from a list of `{name, value}`, or from an object of names and values. */
function readEnv(raw: unknown, report: Report): Array<{ name: string; value: string }> {
  const list = isRecord(raw) ? Object.entries(raw).map(([name, value]) => ({ name, value })) : raw
  return readList(list, item => envVariableSchema.safeParse(item).data, report, 'env')
}
