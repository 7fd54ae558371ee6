import {
  Client,
  type FetchLike,
  ProtocolError,
  SdkError,
  SdkErrorCode,
  type Transport,
} from '@modelcontextprotocol/client'
import * as l10n from '@vscode/l10n'
import type { McpServer } from '../acp/model.ts'
import { redactText } from '../acp/redact-text.ts'
import { AgentProcess } from '../acp/transport/agent-process.ts'
import { QUICK_STOP, type RunningProcess } from '../acp/transport/running-process.ts'
import { raceAbort } from '../common/async.ts'
import {
  CHECK_MCP_SERVER_MS,
  KILL_AFTER_MS,
  MANY_TOOLS,
  MAX_CHECK_BYTES,
  MAX_CHECKED_TOOLS,
  MCP_SERVER_EXIT_MS,
} from '../common/limits.ts'
import { networkProblem, statusProblem } from '../common/network-problem.ts'
import { mergeEnvironment, SpawnError } from '../common/processes/spawn-process.ts'
import type { SecretRegistry } from '../common/secrets.ts'
import { remoteTransport } from './bridge/remote-transport.ts'
import { httpStatusOf } from './http-status.ts'
import { ProcessTransport, TooMuchError } from './process-transport.ts'
import type { CheckedServer, CheckedTool, CheckOptions, CheckProblem, ServerCheck } from './server-check.ts'
import { secretsOf } from './server-secrets.ts'

/** The first revision of MCP without `initialize`. */
const MODERN = '2026-07-28'
const MAX_MESSAGE = 300

/** See `checkServer`. */
export async function runCheck(server: McpServer, options: CheckOptions): Promise<ServerCheck> {
  const check = new Check(server, options)
  return check.run()
}

class Check {
  readonly #server: McpServer
  readonly #options: CheckOptions
  readonly #ms: number
  /** A field, since a composed signal doesn't keep it from being collected as garbage, after which it never aborts. */
  readonly #deadline: AbortSignal
  readonly #limit: AbortSignal
  readonly #secrets: SecretRegistry
  #process: RunningProcess | undefined
  #transport: Transport | undefined
  #isListing = false
  #hasTooMuch = false
  /** Why the last request didn't reach the server: some errors of the SDK don't say it. */
  #networkError: unknown

  constructor(server: McpServer, options: CheckOptions) {
    this.#server = server
    this.#options = options
    this.#ms = options.timeoutMs ?? CHECK_MCP_SERVER_MS
    this.#deadline = AbortSignal.timeout(this.#ms)
    const signals = [this.#deadline, options.signal]
    this.#limit = AbortSignal.any(signals.filter(signal => signal !== undefined))
    this.#secrets = secretsOf(server)
  }

  async run(): Promise<ServerCheck> {
    let check = await this.#attempt('any')
    // A server that supports only newer revisions answers `initialize` with an error; over HTTP, the SDK detects this.
    if (
      this.#server.type === 'stdio' &&
      'problem' in check &&
      check.problem === 'refused' &&
      !this.#isListing
    ) {
      const modern = await this.#attempt('modern')
      if ('server' in modern) check = modern
    }
    return check
  }

  async #attempt(revisions: 'any' | 'modern'): Promise<ServerCheck> {
    let outcome: { server: CheckedServer } | { problem: CheckProblem; message: string }
    try {
      outcome = { server: await raceAbort(this.#connect(revisions), this.#limit) }
    } catch (error) {
      outcome = await this.#failure(error)
    }
    await this.#transport?.close().catch(() => {})
    await this.#process?.stop(
      'server' in outcome ? { terminateAfterMs: MCP_SERVER_EXIT_MS, killAfterMs: KILL_AFTER_MS } : QUICK_STOP,
    )
    const stderr = this.#redacted(this.#process?.stderrTail ?? '')
    if ('problem' in outcome) return { ...outcome, message: this.#redacted(outcome.message), stderr }
    return { ...outcome, stderr }
  }

  async #connect(revisions: 'any' | 'modern'): Promise<CheckedServer> {
    const { type } = this.#server
    const transport = await this.#open()
    this.#transport = transport
    this.#limit.throwIfAborted()
    transport.onerror = error => {
      if (error instanceof TooMuchError) this.#hasTooMuch = true
    }
    const mode = revisions === 'modern' ? { pin: MODERN } : type === 'http' ? 'auto' : 'legacy'
    const client = new Client(
      { name: 'parley', title: 'Parley', version: this.#options.version },
      { versionNegotiation: { mode } },
    )
    const request = { signal: this.#limit, timeout: this.#ms }
    await client.connect(transport, request)
    this.#isListing = true
    const { tools, notes } = await listTools(client, request)
    const { name, version } = client.getServerVersion() ?? {}
    const protocolVersion = client.getNegotiatedProtocolVersion()
    return {
      ...(name !== undefined && { name }),
      ...(version !== undefined && { version }),
      ...(protocolVersion !== undefined && { protocolVersion }),
      tools,
      notes,
    }
  }

  async #open(): Promise<Transport> {
    const { environment, cwd, guard, secrets, token } = this.#options
    if (this.#server.type !== 'stdio')
      return remoteTransport(this.#server, { fetch: this.#fetch, ...(token && { auth: { token } }) })
    const { command, args, env } = this.#server
    const own = Object.fromEntries(env.map(({ name, value }) => [name, value]))
    this.#process = await AgentProcess.start(
      { command, args, cwd, env: mergeEnvironment(environment.env, own, environment.platform) },
      { ...(guard && { guard }), ...(secrets && { secrets }) },
    )
    return new ProcessTransport(this.#process)
  }

  /** Ends a response that is too long, including one that is too long only after decompression. */
  readonly #fetch: FetchLike = async (url, init) => {
    let response: Response
    try {
      response = await fetch(url, init)
    } catch (error) {
      this.#networkError = error
      throw error
    }
    if (!response.body) return response
    const { status, statusText, headers } = response
    let bytes = 0
    const limited = new TransformStream<Uint8Array, Uint8Array>({
      transform: (chunk, controller) => {
        bytes += chunk.byteLength
        if (bytes <= MAX_CHECK_BYTES) return controller.enqueue(chunk)
        this.#hasTooMuch = true
        controller.error(new TooMuchError())
        void this.#transport?.close()
      },
    })
    return new Response(response.body.pipeThrough(limited), { status, statusText, headers })
  }

  async #failure(error: unknown): Promise<{ problem: CheckProblem; message: string }> {
    if (this.#hasTooMuch)
      return {
        problem: 'too-much',
        message: l10n.t('The server sent more than {0} MB.', MAX_CHECK_BYTES / (1024 * 1024)),
      }
    if (this.#options.signal?.aborted)
      return { problem: 'canceled', message: l10n.t('The check was canceled.') }
    if (error instanceof SpawnError) return { problem: 'not-started', message: error.message }
    const exit = await this.#exit(error)
    if (exit !== undefined) return { problem: 'exited', message: exit }
    if (this.#limit.aborted) {
      const noise = this.#transport instanceof ProcessTransport ? this.#transport.noise : undefined
      if (noise !== undefined && !this.#isListing)
        return {
          problem: 'not-mcp',
          message: l10n.t("The program isn't an MCP server. It wrote: {0}", noise),
        }
      return { problem: 'timeout', message: this.#timeout(Math.max(1, Math.round(this.#ms / 1000))) }
    }
    const status = httpStatusOf(error)
    if (status !== undefined) return this.#statusFailure(status)
    if (this.#server.type !== 'stdio' && this.#networkError !== undefined) {
      const { reason, advice } = networkProblem(this.#networkError, this.#server.url)
      return { problem: 'unreachable', message: l10n.t("Can't connect: {0}. {1}", reason, advice) }
    }
    if (error instanceof ProtocolError)
      return {
        problem: 'refused',
        message: l10n.t('The server answered with an error: {0}', error.message.slice(0, MAX_MESSAGE)),
      }
    if (error instanceof SdkError && error.code === SdkErrorCode.InvalidResult && this.#isListing)
      return { problem: 'not-mcp', message: l10n.t("The server's list of tools isn't valid.") }
    return {
      problem: 'not-mcp',
      message:
        this.#server.type === 'stdio'
          ? l10n.t("The program isn't an MCP server: its answer isn't valid.")
          : l10n.t(
              'There\'s no MCP server over {0} at this URL. Check the URL and "type".',
              nameOf(this.#server),
            ),
    }
  }

  #timeout(seconds: number): string {
    if (this.#isListing)
      return seconds === 1
        ? l10n.t("The server connected, but didn't list its tools within 1 second.")
        : l10n.t("The server connected, but didn't list its tools within {0} seconds.", seconds)
    return seconds === 1
      ? l10n.t("The server didn't answer within 1 second.")
      : l10n.t("The server didn't answer within {0} seconds.", seconds)
  }

  /** How the program ended, if that is the reason for a missing answer. */
  async #exit(error: unknown): Promise<string | undefined> {
    if (!this.#process) return undefined
    const isClosed = error instanceof SdkError && error.code === SdkErrorCode.ConnectionClosed
    if (!isClosed && !this.#process.hasExited) return undefined
    await this.#process.stop(QUICK_STOP)
    const { exitCode, signal } = await this.#process.exited
    const end = signal ?? exitCode ?? 0
    return this.#isListing
      ? l10n.t('The server exited while it listed its tools ({0}).', end)
      : l10n.t('The server exited before it answered ({0}).', end)
  }

  #statusFailure(status: number): { problem: CheckProblem; message: string } {
    const server = this.#server as Exclude<McpServer, { type: 'stdio' }>
    if (status === 401) {
      const isConfigured = server.headers.some(({ name }) => name.toLowerCase() === 'authorization')
      return {
        // a sign-in isn't used beside a header of the configuration
        problem: isConfigured ? 'refused' : 'sign-in',
        message: isConfigured
          ? l10n.t('The server didn\'t accept the header "Authorization" (status {0}).', status)
          : l10n.t('The server requires you to sign in (status {0}).', status),
      }
    }
    const message =
      status === 404 || status === 405
        ? l10n.t(
            'There\'s no MCP server over {0} at this URL (status {1}). Check the URL and "type".',
            nameOf(server),
            status,
          )
        : l10n.t("Can't connect: {0}.", statusProblem(status, server.url).reason)
    return { problem: 'refused', message }
  }

  #redacted(text: string): string {
    return redactText(this.#secrets.redact(this.#options.secrets?.redact(text) ?? text))
  }
}

async function listTools(
  client: Client,
  request: { signal: AbortSignal; timeout: number },
): Promise<Pick<CheckedServer, 'tools' | 'notes'>> {
  const tools: CheckedTool[] = []
  const notes: string[] = []
  if (!client.getServerCapabilities()?.tools) return { tools, notes: [l10n.t('The server offers no tools.')] }
  const cursors = new Set<string>()
  let cursor: string | undefined
  do {
    const page = await client.request(
      { method: 'tools/list', params: cursor === undefined ? {} : { cursor } },
      request,
    )
    for (const { name, title, annotations, description } of page.tools) {
      const shown = title ?? annotations?.title
      tools.push({
        name,
        ...(shown !== undefined && { title: shown }),
        ...(description !== undefined && { description }),
      })
    }
    cursor = page.nextCursor
    if (cursor !== undefined && cursors.has(cursor)) {
      notes.push(l10n.t('The server sent the same page of tools again, so the list may be incomplete.'))
      break
    }
    if (cursor !== undefined) cursors.add(cursor)
  } while (cursor !== undefined && tools.length < MAX_CHECKED_TOOLS)
  if (tools.length > MAX_CHECKED_TOOLS || (cursor !== undefined && tools.length >= MAX_CHECKED_TOOLS))
    notes.push(l10n.t('The server has more tools. The first {0} are listed.', MAX_CHECKED_TOOLS))
  tools.splice(MAX_CHECKED_TOOLS)
  if (tools.length > MANY_TOOLS)
    notes.push(l10n.t('The server has {0} tools. Many models accept at most {1}.', tools.length, MANY_TOOLS))
  const names = tools.map(({ name }) => name)
  const repeated = [...new Set(names.filter((name, at) => names.indexOf(name) !== at))]
  if (repeated.length > 0)
    notes.push(l10n.t('Several tools have the same name: {0}', repeated.slice(0, 10).join(', ')))
  return { tools, notes }
}

function nameOf({ type }: McpServer): string {
  return type === 'sse' ? 'SSE' : 'HTTP'
}
