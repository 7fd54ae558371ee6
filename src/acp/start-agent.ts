import * as z from 'zod'
import { withDeadline } from '../common/async.ts'
import { isCancelled, messageOf } from '../common/errors.ts'
import { SpawnError } from '../common/processes/spawn-process.ts'
import {
  type Agent,
  type AgentClient,
  AgentClosedError,
  AgentGoneError,
  type AgentLaunch,
  AgentStartError,
  type AgentStartFailure,
  type ConnectOptions,
  type StartAgent,
} from './agent.ts'
import { AgentLink } from './agent-link.ts'
import type { ConnectionHandlers } from './connection.ts'
import { RpcCode, RpcError } from './errors.ts'
import type { AuthMethod } from './model.ts'
import { ConnectionError, type ConnectionProblem, type RemoteAddress } from './remote-address.ts'
import { QUICK_STOP } from './transport/running-process.ts'
import { AgentV1 } from './v1/agent-v1.ts'
import { AgentV2 } from './v2/agent-v2.ts'
import { initializeRequest, initializeSchema, readAuthMethods } from './wire/initialize.ts'
import { validationProblem } from './wire/lenient.ts'

const STABLE_VERSION = 1
const DRAFT_VERSION = 2
/** The protocol versions that Parley supports, oldest first. */
const SUPPORTED_VERSIONS = [STABLE_VERSION, DRAFT_VERSION]

export const startAgent: StartAgent = async (launch, client, given) => {
  const { remote } = launch
  const options = remote ? { ...given, features: { ...given.features, ...featuresOf(remote) } } : given
  const { signal } = options
  if (signal?.aborted) throw failed({ kind: 'cancelled' })
  // Requests of the agent are refused until the version is negotiated.
  let handlers: ConnectionHandlers = { notification: () => false, request: () => undefined }
  let link: AgentLink
  try {
    link = await AgentLink.open(launch, options, {
      notification: (method, params) => handlers.notification(method, params),
      request: (method, params, withdrawn) => handlers.request(method, params, withdrawn),
    })
  } catch (error) {
    if (error instanceof AgentGoneError) throw error
    if (signal?.aborted) throw failed({ kind: 'cancelled' })
    throw failed(spawnFailure(error, launch))
  }
  try {
    const agent = await withDeadline(options.initializeTimeoutMs, signal, limited =>
      negotiate(link, client, options, limited),
    )
    handlers = agent
    return agent
  } catch (error) {
    const failure = startFailure(error, launch, link, options)
    await link.stop(QUICK_STOP)
    throw failed(failure)
  }
}

/**
 * Offers a version and uses the version that the agent answers. If the agent answers with an error, offers another version once: the newest
 * version that the error names, or the released version if the draft was offered.
 */
async function negotiate(
  link: AgentLink,
  client: AgentClient,
  options: ConnectOptions,
  signal: AbortSignal,
): Promise<Agent & ConnectionHandlers> {
  const { earlier } = link
  // An earlier window has initialized the agent.
  if (earlier) return createAgent(earlier.initialize?.result, link, client, options)
  const offer = (version: number) =>
    link.connection.request('initialize', initializeRequest(version, client, options), signal)
  const offered = options.protocol === 'latest' ? DRAFT_VERSION : STABLE_VERSION
  let result: unknown
  try {
    result = await offer(offered)
  } catch (error) {
    const other = error instanceof RpcError ? otherVersion(error, offered) : undefined
    if (other === undefined) throw error
    options.log.info(`The agent refused version ${offered} of the protocol; offering ${other}`)
    result = await offer(other)
  }
  return createAgent(result, link, client, options)
}

function createAgent(
  result: unknown,
  link: AgentLink,
  client: AgentClient,
  options: ConnectOptions,
): Agent & ConnectionHandlers {
  const answer = initializeSchema.safeParse(result)
  if (!answer.success) {
    const message = `The agent's answer to initialize is malformed (${validationProblem(answer.error)}).`
    throw new RpcError(RpcCode.internalError, message)
  }
  const { protocolVersion } = answer.data
  if (options.tap) options.tap.version = protocolVersion
  const { isRemote = false, pathMappings } = options.features ?? {}
  const base = {
    ...{ link, answer: answer.data, client, log: options.log, isRemote },
    ...(pathMappings && { pathMappings }),
  }
  if (protocolVersion === STABLE_VERSION) return new AgentV1(base)
  if (protocolVersion === DRAFT_VERSION) return new AgentV2(base)
  throw new VersionError(protocolVersion)
}

function featuresOf({ sharesFiles, pathMappings }: RemoteAddress): ConnectOptions['features'] {
  const mappings = pathMappings ?? (sharesFiles ? undefined : [])
  return {
    // A terminal on this machine can't sign in on the agent's machine.
    terminalAuth: false,
    isRemote: !sharesFiles,
    ...(mappings && { pathMappings: mappings }),
  }
}

const authDataSchema = z.object({ authMethods: z.unknown() })
const versionDataSchema = z.object({ supported: z.array(z.number()).min(1) })

/** Returns the version to offer to an agent that answered the first offer with an error; `undefined` if no other version makes sense. */
function otherVersion(error: RpcError, offered: number): number | undefined {
  if (error.code === RpcCode.authRequired) return undefined
  const supported = versionDataSchema.safeParse(error.data).data?.supported
  if (supported)
    return SUPPORTED_VERSIONS.findLast(version => version !== offered && supported.includes(version))
  return offered === STABLE_VERSION ? undefined : STABLE_VERSION
}

/** The agent answered with a version that Parley doesn't support. */
class VersionError extends Error {
  readonly offered: number

  constructor(offered: number) {
    super(`The agent uses version ${offered}`)
    this.offered = offered
  }
}

function spawnFailure(error: unknown, { command }: AgentLaunch): AgentStartFailure {
  if (error instanceof SpawnError && error.kind === 'command-missing') {
    return { kind: 'command-missing', command, searched: error.searched }
  }
  if (error instanceof ConnectionError) return unreachable(command, error.problem)
  return { kind: 'spawn', command, message: messageOf(error) }
}

function unreachable(command: string, problem: ConnectionProblem): AgentStartFailure {
  return { kind: 'unreachable', command, message: new ConnectionError(problem).message, problem }
}

function startFailure(
  error: unknown,
  { command }: AgentLaunch,
  link: AgentLink,
  options: ConnectOptions,
): AgentStartFailure {
  const { stderrTail, stdoutNoise } = link
  if (isCancelled(error)) {
    if (options.signal?.aborted) return { kind: 'cancelled' }
    const seconds = options.initializeTimeoutMs / 1000
    return { kind: 'initialize-timeout', command, seconds, stderrTail, stdoutNoise }
  }
  if (error instanceof AgentClosedError && error.exit.problem) return unreachable(command, error.exit.problem)
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
      ...(code === RpcCode.authRequired && { authMethods: methodsIn(error, options) }),
      stderrTail,
    }
  }
  const message = messageOf(error)
  return { kind: 'initialize-error', command, error: { code: RpcCode.internalError, message }, stderrTail }
}

/**
 * Returns the sign-in methods in an error. Agents that refuse to start before a sign-in include the response to `initialize` in the error.
 */
function methodsIn({ data }: RpcError, { log }: ConnectOptions): AuthMethod[] {
  const { authMethods } = authDataSchema.safeParse(data).data ?? {}
  return readAuthMethods(authMethods, problem => log.warn(`Dropped: ${problem}`))
}

/**
 * Returns the newest version that an agent supports which refused the offered version with an error, as v2's negotiation defines the error.
 */
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
    case 'unreachable':
      return failure.message
    case 'exited':
      return failure.exit.message ?? 'The agent ended before it was ready.'
    case 'initialize-timeout':
      return `The agent didn't respond within ${failure.seconds} seconds.`
    case 'initialize-error':
      return failure.error.message
    case 'version':
      return `The agent uses version ${failure.offered} of the protocol, but Parley supports ${failure.supported.join(', ')}.`
    case 'cancelled':
      return 'Cancelled'
  }
}
