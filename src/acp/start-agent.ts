import { z } from 'zod'
import { CancelledError, messageOf } from '../common/errors.ts'
import {
  type Agent,
  AgentClosedError,
  type AgentLaunch,
  AgentStartError,
  type AgentStartFailure,
  type ConnectOptions,
  type StartAgent,
} from './agent.ts'
import { AgentLink } from './agent-link.ts'
import type { ConnectionHandlers } from './connection.ts'
import { RpcCode, RpcError } from './rpc-error.ts'
import { QUICK_STOP, SpawnError } from './transport/agent-process.ts'
import { AgentV1 } from './v1/agent-v1.ts'
import { initializeRequest, initializeSchema } from './wire/initialize.ts'
import { problemOf } from './wire/lenient.ts'

/** The protocol versions Parley speaks. */
const SUPPORTED_VERSIONS = [1]

export const startAgent: StartAgent = async (launch, client, options) => {
  const { log, signal } = options
  if (signal?.aborted) throw failed({ kind: 'cancelled' })
  // Before the agent has said which version it speaks there is nothing it may ask.
  let surface: ConnectionHandlers = { notification: () => false, request: () => undefined }
  let link: AgentLink
  try {
    link = await AgentLink.open(launch, options, {
      notification: (method, params) => surface.notification(method, params),
      request: (method, params, withdrawn) => surface.request(method, params, withdrawn),
    })
  } catch (error) {
    throw failed(spawnFailure(error, launch))
  }
  const deadline = AbortSignal.timeout(options.initializeTimeoutMs)
  try {
    const result = await link.connection.request(
      'initialize',
      initializeRequest(Math.max(...SUPPORTED_VERSIONS), client, options),
      signal ? AbortSignal.any([signal, deadline]) : deadline,
    )
    const answer = initializeSchema.safeParse(result)
    if (!answer.success) {
      const message = `The agent's answer to initialize is malformed (${problemOf(answer.error)}).`
      throw new RpcError(RpcCode.internalError, message)
    }
    const { protocolVersion } = answer.data
    if (!SUPPORTED_VERSIONS.includes(protocolVersion)) throw new VersionError(protocolVersion)
    const agent = new AgentV1({ link, answer: answer.data, client, log })
    surface = agent
    return agent satisfies Agent
  } catch (error) {
    const failure = startFailure(error, launch, link, options)
    await link.stop(QUICK_STOP)
    throw failed(failure)
  }
}

/** The agent answered a version that Parley does not speak. */
class VersionError extends Error {
  readonly offered: number

  constructor(offered: number) {
    super(`The agent speaks version ${offered}`)
    this.offered = offered
  }
}

function spawnFailure(error: unknown, { command }: AgentLaunch): AgentStartFailure {
  if (error instanceof SpawnError && error.kind === 'command-missing') {
    return { kind: 'command-missing', command, searched: error.searched }
  }
  return { kind: 'spawn', command, message: messageOf(error) }
}

function startFailure(
  error: unknown,
  { command }: AgentLaunch,
  link: AgentLink,
  options: ConnectOptions,
): AgentStartFailure {
  const { stderrTail, stdoutNoise } = link
  if (error instanceof CancelledError) {
    if (options.signal?.aborted) return { kind: 'cancelled' }
    const seconds = options.initializeTimeoutMs / 1000
    return { kind: 'initialize-timeout', command, seconds, stderrTail, stdoutNoise }
  }
  if (error instanceof AgentClosedError) return { kind: 'exited', command, exit: error.exit, stdoutNoise }
  if (error instanceof VersionError) {
    return { kind: 'version', command, offered: error.offered, supported: SUPPORTED_VERSIONS }
  }
  if (error instanceof RpcError) {
    const offered = offeredVersion(error)
    if (offered !== undefined) return { kind: 'version', command, offered, supported: SUPPORTED_VERSIONS }
    const { code, message, detail } = error
    return {
      kind: 'initialize-error',
      command,
      error: { code, message, ...(detail ? { detail } : {}) },
      stderrTail,
    }
  }
  const message = messageOf(error)
  return { kind: 'initialize-error', command, error: { code: RpcCode.internalError, message }, stderrTail }
}

const versionDataSchema = z.object({ supported: z.array(z.number()).min(1) })

/** The newest version of an agent that refused ours with an error, as v2's negotiation has it. */
function offeredVersion(error: RpcError): number | undefined {
  const supported = versionDataSchema.safeParse(error.data).data?.supported
  if (supported) return Math.max(...supported)
  return error.code === RpcCode.unsupportedVersion ? 0 : undefined
}

function failed(failure: AgentStartFailure): AgentStartError {
  return new AgentStartError(failure, sentence(failure))
}

function sentence(failure: AgentStartFailure): string {
  switch (failure.kind) {
    case 'command-missing':
      return `There is no command ${failure.command}.`
    case 'spawn':
      return failure.message
    case 'exited':
      return failure.exit.message ?? 'The agent ended before it was ready.'
    case 'initialize-timeout':
      return `The agent did not answer within ${failure.seconds} seconds.`
    case 'initialize-error':
      return failure.error.message
    case 'version':
      return `The agent speaks version ${failure.offered} of the protocol, Parley ${failure.supported.join(', ')}.`
    case 'cancelled':
      return 'Cancelled'
  }
}
