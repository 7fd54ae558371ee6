import type { Message } from 'vscode-jsonrpc/node'

/** A JSON-RPC message in the shape vscode-jsonrpc works with. `id` is absent on a response nobody can be found for. */
export interface WireMessage extends Message {
  id?: string | number | null
  method?: string
  params?: unknown
  result?: unknown
  error?: { code: number; message: string; data?: unknown }
}

/**
 * Makes a JSON-RPC message of a parsed value, or returns `undefined` when it is none (a log line in JSON, say).
 * Agents differ: `jsonrpc` may be missing, an error may be a bare string or carry its code as text, a response may
 * hold neither result nor error (taken as a null result). The value is changed in place where it must be.
 */
export function asMessage(value: unknown): WireMessage | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
  const message = value as { [key: string]: unknown }
  const id = message.id
  if (typeof message.method === 'string') {
    // A request that cannot be answered is a notification.
    if (id !== undefined && typeof id !== 'string' && typeof id !== 'number') delete message.id
    return value as WireMessage
  }
  if (message.method !== undefined) return undefined
  if (message.error !== undefined && message.error !== null) {
    message.error = asError(message.error)
    if (typeof id !== 'string' && typeof id !== 'number') message.id = null
    return value as WireMessage
  }
  if (typeof id !== 'string' && typeof id !== 'number') return undefined
  if (message.error === null) delete message.error
  if (message.result === undefined) message.result = null
  return value as WireMessage
}

function asError(error: unknown): { code: number; message: string; data?: unknown } {
  if (typeof error !== 'object' || error === null) {
    return { code: UNKNOWN_CODE, message: typeof error === 'string' ? error : 'The agent answered an error.' }
  }
  const { code, message, data } = error as { [key: string]: unknown }
  return {
    code: asCode(code),
    message: typeof message === 'string' ? message : '',
    ...(data === undefined ? {} : { data }),
  }
}

const UNKNOWN_CODE = -32603

function asCode(code: unknown): number {
  const number = typeof code === 'string' ? Number.parseInt(code, 10) : code
  return typeof number === 'number' && Number.isFinite(number) ? number : UNKNOWN_CODE
}
