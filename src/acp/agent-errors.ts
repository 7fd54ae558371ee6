import { CancelledError, messageOf } from '../common/errors.ts'
import { AgentClosedError, AgentRequestError } from './agent.ts'
import { RpcCode, RpcError } from './rpc-error.ts'

/** What a request would say is nothing this agent takes; its message is a sentence for the person. */
export class NotSupportedError extends Error {
  override readonly name = 'NotSupportedError'
}

/** The agent's answer is not what the method answers. */
export class InvalidResponseError extends Error {
  override readonly name = 'InvalidResponseError'
}

/** Makes of any failure of a request the error that other layers know. */
export function toAgentError(method: string, error: unknown): AgentRequestError | AgentClosedError {
  if (error instanceof AgentRequestError || error instanceof AgentClosedError) return error
  if (error instanceof CancelledError) {
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
  if (error instanceof RpcError) return new AgentRequestError(method, kindOf(method, error), error)
  const kind = error instanceof InvalidResponseError ? 'invalid-response' : 'other'
  return new AgentRequestError(method, kind, { code: RpcCode.internalError, message: messageOf(error) })
}

function kindOf(method: string, error: RpcError): AgentRequestError['kind'] {
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

// There is a code for it, but agents answer an unknown session with others: then only the words tell.
const NO_SESSION = [
  /\bsessions?\b.*\b(not found|unknown|does not exist|doesn't exist|not exist|no longer|expired)\b/i,
  /\b(unknown|invalid|no such|no previous|could not find|cannot find)\b.*\bsessions?\b/i,
]

function saysNoSession(error: RpcError): boolean {
  if (error.code !== RpcCode.invalidParams && error.code !== RpcCode.internalError) return false
  const text = `${error.message}\n${error.detail ?? ''}`
  return NO_SESSION.some(pattern => pattern.test(text))
}
