import { isCancelled, messageOf } from '../common/errors.ts'
import { shortened } from '../common/visible.ts'
import { AgentClosedError, AgentRequestError } from './agent.ts'

/** The codes of JSON-RPC and ACP that Parley distinguishes. */
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

/** The codes of `mcp/message` for what isn't an outcome of MCP (unstable). */
export const McpCode = { tooMany: -33_000, unavailable: -33_001, failed: -33_002 } as const

/** The peer answered with an error. `detail` is the text in its `data`. */
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

/** Messages without information: the reason is in `data`, if anywhere. */
const EMPTY_WORDS =
  /^(internal( server)? error|(an )?(unknown|unexpected)( error)?( occurred)?|server error|error)[.!]?$/i

/**
 * The message and detail of an error. Several agents always answer "Internal error" and put the reason into `data`; the
 * user needs the reason.
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

/** maximum number of characters of a detail that are shown */
const DETAIL_LENGTH = 4000
/** Characters of a message that is read as JSON. */
const MAX_JSON = 100_000

/**
 * The text in an error's `data`. Agents put it into a string, an object with `details` (or `message`,
 * `error`, `reason`, `detail`), a list of such, or a tree of validation errors; the last is shown as JSON.
 */
export function errorDetail(data: unknown): string | undefined {
  const text = words(data, 0)?.trim()
  if (!text) return undefined
  return shortened(text, DETAIL_LENGTH)
}

const WORD_KEYS = ['details', 'detail', 'message', 'error', 'reason', 'description', 'additionalDetails']

/** `asJson`: data without text becomes JSON. */
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

/** Some agents pass on a service's response: JSON that contains the reason. */
function reasonInJson(message: string): string | undefined {
  if (!message.startsWith('{') || message.length > MAX_JSON) return undefined
  try {
    return words(JSON.parse(message), 0, false)?.trim().slice(0, DETAIL_LENGTH) || undefined
  } catch {
    return undefined
  }
}

/** The agent doesn't support the request; the message is a sentence for the user. */
export class NotSupportedError extends Error {
  override readonly name = 'NotSupportedError'
}

/** The agent's answer doesn't fit the method. */
export class InvalidResponseError extends Error {
  override readonly name = 'InvalidResponseError'
}

/** Converts any failure of a request to the error that other layers know. */
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

// There is a code for an unknown session, but agents use others: then only the message identifies the error.
const NO_SESSION = [
  /\bsessions?\b.*\b(not found|unknown|does not exist|doesn't exist|not exist|no longer|expired)\b/i,
  /\b(unknown|invalid|no such|no previous|could not find|cannot find)\b.*\bsessions?\b/i,
  /\bno (saved )?(sessions?|conversations?|threads?|rollouts?)\b.*\bfound\b/i,
]

function saysNoSession(error: RpcError): boolean {
  if (error.code !== RpcCode.invalidParams && error.code !== RpcCode.internalError) return false
  // "sessionId" and "session_id" are words, too
  const text = `${error.message}\n${error.detail ?? ''}`.replace(/([a-z])(?=[A-Z])|_/g, '$1 ')
  return NO_SESSION.some(pattern => pattern.test(text))
}
