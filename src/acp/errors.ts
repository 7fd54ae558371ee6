import { isCancelled, messageOf } from '../common/errors.ts'
import { shortened } from '../common/visible.ts'
import { AgentClosedError, AgentRequestError } from './agent.ts'

/** The error codes of JSON-RPC and ACP that Parley distinguishes. */
export const RpcCode = {
  parseError: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internalError: -32603,
  requestCancelled: -32800,
  authRequired: -32000,
  resourceNotFound: -32002,
  unsupportedVersion: -32022,
} as const

/** The error codes of `mcp/message` for failures outside of the MCP server (unstable). */
export const McpCode = { tooMany: -33_000, unavailable: -33_001, failed: -33_002 } as const

/** The peer answered with an error. */
export class RpcError extends Error {
  override readonly name = 'RpcError'
  readonly code: number
  readonly data: unknown
  readonly detail: string | undefined

  constructor(code: number, message: string, data?: unknown) {
    const said = errorText(message, data)
    super(said.message || `The agent answered error ${code}.`)
    this.code = code
    this.data = data
    this.detail = said.detail
  }
}

/** Error messages without information. The reason, if there is one, is in `data`. */
const EMPTY_WORDS =
  /^(internal( server)? error|(an )?(unknown|unexpected)( error)?( occurred)?|server error|error)[.!]?$/i

/**
 * Returns the message and the detail of an error. Several agents always answer "Internal error" and put the reason that the user needs into
 * `data`.
 */
export function errorText(message: unknown, data: unknown): { message?: string; detail?: string } {
  const whole = typeof message === 'string' ? message.trim() : ''
  const inJson = reasonInJson(whole)
  const said = inJson ?? whole
  const reason = words(data, 0, false)?.trim().slice(0, DETAIL_LENGTH)
  const shown = said === '' || (reason && EMPTY_WORDS.test(said)) ? reason || errorDetail(data) : said
  const detail = errorDetail(data) ?? (inJson === undefined ? undefined : shortened(whole, DETAIL_LENGTH))
  return {
    ...(shown !== undefined && { message: shown }),
    ...(detail !== undefined && detail !== shown && shown !== reason && { detail }),
  }
}

/** the maximum number of shown characters of a detail */
const DETAIL_LENGTH = 4000
/** The maximum length of a message that is parsed as JSON, in characters. */
const MAX_JSON = 100_000

/**
 * Returns the text in an error's `data`. Agents send a string, an object with `details` (or `message`, `error`, `reason`, `detail`), a list
 * of these, or a tree of validation errors, which is shown as JSON.
 */
export function errorDetail(data: unknown): string | undefined {
  const text = words(data, 0)?.trim()
  if (!text) return undefined
  return shortened(text, DETAIL_LENGTH)
}

const WORD_KEYS = ['details', 'detail', 'message', 'error', 'reason', 'description', 'additionalDetails']

/** Returns the text in a part of `data`. `asJson`: whether data without a text is returned as JSON. */
function words(data: unknown, depth: number, asJson = true): string | undefined {
  if (typeof data === 'string') return data
  if (typeof data !== 'object' || data === null || depth > 3) return undefined
  if (Array.isArray(data)) {
    const lines = data.map(item => words(item, depth + 1)).filter(line => line)
    return lines.length > 0 ? lines.join('\n') : undefined
  }
  for (const key of WORD_KEYS) {
    const found = words((data as { [key: string]: unknown })[key], depth + 1)
    if (found) return found
  }
  if (!asJson || depth > 0 || Object.keys(data).length === 0) return undefined
  try {
    return JSON.stringify(data)
  } catch {
    return undefined
  }
}

/** Returns the reason in a message that is JSON. Some agents pass on a service's response in this form. */
function reasonInJson(message: string): string | undefined {
  if (!message.startsWith('{') || message.length > MAX_JSON) return undefined
  try {
    return words(JSON.parse(message), 0, false)?.trim().slice(0, DETAIL_LENGTH) || undefined
  } catch {
    return undefined
  }
}

/** The agent doesn't support the request. The message is a sentence for the user. */
export class NotSupportedError extends Error {
  override readonly name = 'NotSupportedError'
}

/** The agent's answer doesn't have the form that the method requires. */
export class InvalidResponseError extends Error {
  override readonly name = 'InvalidResponseError'
}

/** Returns any failure of a request as an error that other layers know. */
export function toAgentError(method: string, error: unknown): AgentRequestError | AgentClosedError {
  if (error instanceof AgentRequestError || error instanceof AgentClosedError) return error
  if (isCancelled(error)) {
    return new AgentRequestError(method, 'cancelled', {
      code: RpcCode.requestCancelled,
      message: error.message,
    })
  }
  if (error instanceof NotSupportedError) {
    return new AgentRequestError(method, 'unsupported', {
      code: RpcCode.methodNotFound,
      message: error.message,
    })
  }
  if (error instanceof RpcError) return new AgentRequestError(method, errorKind(method, error), error)
  const kind = error instanceof InvalidResponseError ? 'invalid-response' : 'other'
  return new AgentRequestError(method, kind, { code: RpcCode.internalError, message: messageOf(error) })
}

function errorKind(method: string, error: RpcError): AgentRequestError['kind'] {
  switch (error.code) {
    case RpcCode.authRequired:
      return 'auth-required'
    case RpcCode.requestCancelled:
      return 'cancelled'
    case RpcCode.methodNotFound:
      return 'unsupported'
    case RpcCode.resourceNotFound:
      return 'not-found'
    default:
      return method.startsWith('session/') && saysNoSession(error) ? 'not-found' : 'other'
  }
}

// The protocol has an error code for an unknown session, but agents also use others. Then only the message identifies the error.
const NO_SESSION = [
  /\bsessions?\b.*\b(not found|unknown|does not exist|doesn't exist|not exist|no longer|expired)\b/i,
  /\b(unknown|invalid|no such|no previous|could not find|cannot find)\b.*\bsessions?\b/i,
  /\bno (saved )?(sessions?|conversations?|threads?|rollouts?)\b.*\bfound\b/i,
]

function saysNoSession(error: RpcError): boolean {
  if (error.code !== RpcCode.invalidParams && error.code !== RpcCode.internalError) return false
  // Splits names, so that "session" is also found in "sessionId" and "session_id".
  const text = `${error.message}\n${error.detail ?? ''}`.replace(/([a-z])(?=[A-Z])|_/g, '$1 ')
  return NO_SESSION.some(pattern => pattern.test(text))
}
