import * as l10n from '@vscode/l10n'
import type { AgentCapabilities, McpServer } from '../acp/model.ts'
import type { LaunchEnvironment } from '../agents/launch-environment.ts'
import { mergeLayers, type SettingsSource } from '../agents/setting-layers.ts'
import { describeProblem, type SettingProblem } from '../agents/setting-problem.ts'
import { Owner } from '../common/disposable.ts'
import { messageOf } from '../common/errors.ts'
import { Emitter, type Event } from '../common/event.ts'
import type { Logger } from '../common/logger.ts'
import type { RemoteMcpServer, WindowSocket } from './bridge/bridged-server.ts'
import type { BridgedServer, BridgeFollower, Bridges } from './bridge/bridges.ts'
import { type InputAnswer, inputOf, type McpInputs } from './inputs.ts'
import { type McpFileLocations, mcpFiles, readMcpFile } from './mcp-files.ts'
import {
  describePlace,
  inputsIn,
  isOfWorkspace,
  type McpInput,
  type McpServerDefinition,
  type McpSource,
  readMcpSource,
  serverKey,
  textsOf,
} from './mcp-settings.ts'
import { type PlannedServer, planServers, type ServerExclusion } from './plan-servers.ts'
import {
  type EnvFile,
  environmentVariablesOf,
  readEnvFile,
  resolveServer,
  resolveUrl,
  type ServerContext,
  type ServerResolution,
} from './resolve-server.ts'
import type { McpServerNote } from './server-note.ts'
import type { McpSwitch, McpSwitches } from './switches.ts'

/** A server that may be started only after the user agreed to it. */
export interface ServerToAllow {
  key: string
  server: McpServerDefinition
  /** The inputs that the server uses. */
  inputs: McpInput[]
  /** For a workspace server: where its command and relative paths start. */
  folders: string[]
  /** The place of the definition, as users know it. */
  place: string
  /** The names of the environment variables whose values the server gets. */
  variables: string[]
  /** Everything that determines the server's effect. After a change, the user is asked again. */
  content: unknown
}

/**
 * Asks whether servers may be passed to an agent, and resolves to the keys of those that the user agreed to, now or before. `once`: doesn't
 * ask again about servers that the user declined in this window. `agreed`: the user has already agreed in another way.
 */
export type AllowServers = (
  servers: readonly ServerToAllow[],
  asks: 'once' | 'again' | 'never' | 'agreed',
) => Promise<ReadonlySet<string>>

export interface McpServersOptions {
  settings: SettingsSource
  /** The environment of a session's folder; by default, of the first workspace folder. */
  environment: { get(folder?: string): Promise<LaunchEnvironment> }
  inputs: McpInputs
  allow: AllowServers
  switches: McpSwitches
  /** Connect agents to servers whose transport they lack. */
  bridges: Pick<Bridges, 'bridge'>
  /** The user's sign-ins. Only the bridge can use them: a token that an agent got would expire. */
  signIns: {
    isSignedIn(url: string): Promise<boolean>
    /** How a bridge gets the tokens of a server. */
    tokensFor(url: string): Promise<WindowSocket>
  }
  /** Where the files with servers are. */
  locations: () => McpFileLocations
  /** The user trusts the workspace. */
  trusted: () => boolean
  userHome: string
  log: Logger
}

/** The session that servers are for. */
export interface McpSession {
  agentId: string
  /** The key of the session; absent for a new one. */
  session?: string
  /** `${workspaceFolder}` is the folder with that path, or else the first one. */
  cwd?: string
}

/** The allowed servers, by key, each with its `envFile` at that time. */
type Allowed = ReadonlyMap<string, { envFile?: EnvFile }>

/** The servers of a session, and a note for each entry of each place. */
interface ServerSelection {
  passed: McpServer[]
  notes: McpServerNote[]
  /** The followers of the bridges, to keep until the session ends. */
  links: BridgeFollower[]
}

/**
 * The MCP servers of the settings and of the files that users already have. The only one that decides which of them a session
 * gets, and why it doesn't get the others; the views show that.
 */
export class McpServers extends Owner {
  readonly #options: McpServersOptions
  readonly #changed = this.register(new Emitter<void>())
  #fromSettings: McpSource[]
  /** The paths of the files that {@link McpServers.sources} read last. */
  #files: readonly string[] = []
  /** Servers from files that lacked an input: the user isn't asked at each start of a session. */
  readonly #withoutInput = new Set<string>()

  constructor(options: McpServersOptions) {
    super()
    this.#options = options
    this.#fromSettings = this.#readSettings()
    this.register(
      options.settings.onDidChange(() => {
        this.#fromSettings = this.#readSettings()
        this.#changed.fire()
      }),
    )
    this.register(options.switches.onDidChange(() => this.#changed.fire()))
  }

  get onDidChange(): Event<void> {
    return this.#changed.event
  }

  /** Problems of `parley.mcpServers`. Problems of files are shown only at their place, since others may have written the files. */
  get problems(): SettingProblem[] {
    return this.#fromSettings.flatMap(({ problems }) => problems)
  }

  /** The user saved a file. */
  fileSaved(file: string): void {
    if (this.#files.includes(file)) this.#changed.fire()
  }

  /** Everything that defines servers, in order of precedence. Reads the files. */
  async sources(): Promise<McpSource[]> {
    const { settings, locations } = this.#options
    const wanted = mergeLayers(settings.layers('mcpDiscovery'))
    const files = await mcpFiles(locations())
    this.#files = files.map(({ file }) => file)
    const read = await Promise.all(
      files.map(async place => {
        const source = await readMcpFile(place)
        if (!source || wanted[place.kind] !== false) return source
        const off: McpSource = { ...place, entries: [], inputs: [], problems: [], off: true }
        return off
      }),
    )
    return [...this.#fromSettings, ...read.filter(source => source !== undefined)]
  }

  /** Returns each entry of each source once, with the reason if no session gets it. */
  async plan(): Promise<{ sources: McpSource[]; planned: PlannedServer[] }> {
    const sources = await this.sources()
    return { sources, planned: this.#plan(sources) }
  }

  /**
   * The servers to send with `session/new`, `load` and `resume`, and the notes about each server. May ask the user to agree
   * and for inputs. Never rejects.
   */
  async select(capabilities: AgentCapabilities['mcp'], session: McpSession): Promise<ServerSelection> {
    const { log } = this.#options
    const sources = await this.sources()
    // the bridge is a server that runs a command
    const reachable = capabilities.stdio ? { stdio: true, http: true, sse: true } : capabilities
    const planned = this.#plan(sources, session, reachable)
    const candidates = planned.filter(({ exclusion }) => !exclusion)
    const allowed = await this.#allowed(candidates, session, 'once')
    const passed: McpServer[] = []
    const notes: McpServerNote[] = []
    const links: BridgeFollower[] = []
    // resolved one after the other, since each may ask the user
    for (const one of planned) {
      const resolution = await this.#resolve(one, session, allowed)
      const { key, name, source, server } = one
      const note = { key, name, type: server?.type ?? 'unknown', source: describePlace(source) }
      if ('reason' in resolution) {
        const exclusion = one.exclusion?.because
        notes.push({ ...note, passed: false, ...(exclusion && { exclusion }), reason: resolution.reason })
      } else {
        const bridged = await this.#bridged(resolution.server, capabilities)
        passed.push(bridged?.server ?? resolution.server)
        if (bridged?.link) links.push(bridged.link)
        const reason = [bridged?.reason, resolution.note].filter(text => text !== undefined).join(' ')
        notes.push({
          ...note,
          passed: true,
          ...(bridged && { isBridged: true }),
          ...(bridged?.link && { link: bridged.link.id }),
          ...(reason === '' ? {} : { reason }),
        })
      }
    }
    for (const source of sources) {
      const problem = problemOfAll(source)
      if (problem === undefined) continue
      const name = describePlace(source)
      notes.push({ name, type: '', source: name, passed: false, reason: problem })
    }
    for (const { name, passed, reason } of notes) {
      if (!passed) log.warn(`The MCP server "${name}" wasn't passed to the agent: ${reason}`)
      else if (reason !== undefined) log.info(`The MCP server "${name}": ${reason}`)
    }
    return { passed, notes, links }
  }

  /** The bridge to a server whose transport the agent lacks, or to which the user has signed in. Never rejects. */
  async #bridged(
    server: McpServer,
    capabilities: AgentCapabilities['mcp'],
  ): Promise<(BridgedServer & { reason: string }) | undefined> {
    if (server.type === 'stdio' || !capabilities.stdio) return undefined
    const tokens = await this.#tokensFor(server)
    if (!tokens && capabilities[server.type]) return undefined
    const reason = tokens
      ? l10n.t('Bridged by Parley, which signs in to the server.')
      : server.type === 'http'
        ? l10n.t("Bridged by Parley, because the agent doesn't support MCP servers over HTTP.")
        : l10n.t("Bridged by Parley, because the agent doesn't support MCP servers over SSE.")
    return { ...(await this.#options.bridges.bridge(server, tokens)), reason }
  }

  /** Whether a server gets the token of the user's sign-in: a header of its configuration comes first. */
  async usesSignIn({ url, headers }: RemoteMcpServer): Promise<boolean> {
    if (headers.some(({ name }) => name.toLowerCase() === 'authorization')) return false
    return this.#options.signIns.isSignedIn(url)
  }

  async #tokensFor(server: RemoteMcpServer): Promise<WindowSocket | undefined> {
    const { signIns, log } = this.#options
    try {
      return (await this.usesSignIn(server)) ? await signIns.tokensFor(server.url) : undefined
    } catch (error) {
      log.error(`The sign-in to ${new URL(server.url).host} can't be used: ${messageOf(error)}`)
      return undefined
    }
  }

  /** A server as an agent would get it, for a check: asks the user to agree and for inputs, also if they declined before. */
  async resolve(key: string): Promise<ServerResolution> {
    const one = this.#plan(await this.sources()).find(each => each.key === key)
    if (!one?.server) return { reason: l10n.t('This server is no longer defined, or its entry is invalid.') }
    if (!this.#options.trusted())
      return { reason: l10n.t("MCP servers don't start until you trust this workspace.") }
    this.#withoutInput.delete(key)
    // the check is for any session, so an exclusion is ignored
    const { exclusion: _, ...candidate } = one
    const allowed = await this.#allowed([candidate], {}, 'again')
    return this.#resolve(candidate, {}, allowed)
  }

  /** The URL that a server is contacted at, without asking for inputs. `undefined`: it has none, or it isn't known yet. */
  async urlOf({ server, source }: PlannedServer): Promise<string | undefined> {
    if (!server || server.type === 'stdio') return undefined
    const context = await this.#context(server, {}, source)
    const input = (id: string) => this.#options.inputs.storedValue(id, server, this.#allInputs(source))
    return resolveUrl(server, { ...context, input }).catch(() => undefined)
  }

  /** A server that isn't saved yet, as an agent would get it. */
  async resolveNew(name: string, server: object): Promise<ServerResolution> {
    const source = readMcpSource(
      { kind: 'settings', label: 'parley.mcpServers', scope: 'user' },
      { servers: { [name]: server } },
    )
    const definition = source.entries[0]?.server
    if (!definition) return { reason: invalidReason(source, name) }
    return resolveServer(definition, await this.#context(definition, {}, source))
  }

  /** The user has just written a server of the workspace. */
  async agree(file: string, name: string): Promise<void> {
    const isNew = (one: PlannedServer) => one.source.file === file && one.name === name
    await this.#allowed((await this.plan()).planned.filter(isNew), {}, 'agreed')
    this.#changed.fire()
  }

  /** Asks the user to agree to a server, also if they declined before. */
  async allow(key: string): Promise<void> {
    const one = this.#plan(await this.sources()).find(each => each.key === key)
    if (!one?.server || !this.#options.trusted()) return
    await this.#allowed([one], {}, 'again')
    this.#changed.fire()
  }

  /** The servers of a plan that the user still has to agree to. */
  async notAgreed(planned: readonly PlannedServer[]): Promise<ReadonlySet<string>> {
    // in Restricted Mode, files that workspace servers name aren't even read
    const mayAsk = ({ server, source }: PlannedServer) =>
      server && (this.#options.trusted() || !isOfWorkspace(source))
    const candidates = planned.filter(one => needsConsent(one) && mayAsk(one))
    const allowed = await this.#allowed(candidates, {}, 'never')
    return new Set(candidates.map(({ key }) => key).filter(key => !allowed.has(key)))
  }

  #plan(
    sources: readonly McpSource[],
    session: Omit<McpSwitch, 'server'> = {},
    capabilities?: AgentCapabilities['mcp'],
  ): PlannedServer[] {
    const { switches, trusted } = this.#options
    return planServers(sources, {
      ...(capabilities && { capabilities }),
      isOff: key => switches.isOff(key, session),
      trusted: trusted(),
    })
  }

  async #allowed(
    planned: readonly PlannedServer[],
    session: Pick<McpSession, 'cwd'>,
    asks: Parameters<AllowServers>[1],
  ): Promise<Allowed> {
    const needing = planned.filter(needsConsent)
    if (needing.length === 0) return new Map()
    const envFiles = new Map<string, { envFile?: EnvFile }>()
    try {
      const servers = await Promise.all(
        needing.map(async ({ key, server, source }): Promise<ServerToAllow[]> => {
          if (!server) return []
          const context = await this.#context(server, session)
          const envFile = await readEnvFile(server, context)
          envFiles.set(key, envFile ? { envFile } : {})
          const inputs = this.#inputsOf(server, source)
          const folders = isOfWorkspace(source) && server.type === 'stdio' ? foldersOf(server, context) : []
          const variables = environmentVariablesOf(server)
          const content = contentOf(server, source, { inputs, folders, variables, envFile })
          return [{ key, server, inputs, folders, place: describePlace(source), variables, content }]
        }),
      )
      const keys = await this.#options.allow(servers.flat(), asks)
      return new Map([...envFiles].filter(([key]) => keys.has(key)))
    } catch (error) {
      this.#options.log.error(`The MCP servers of the workspace weren't passed: ${messageOf(error)}`)
      return new Map()
    }
  }

  async #resolve(
    one: PlannedServer,
    session: Pick<McpSession, 'cwd'>,
    allowed: Allowed,
  ): Promise<ServerResolution> {
    const { server, source, exclusion, key } = one
    if (exclusion) return { reason: exclusionReason(exclusion, source, one.name) }
    if (!server) return { reason: invalidReason(source, one.name) }
    if (needsConsent(one) && !allowed.has(key)) return { reason: notAgreedReason(source) }
    try {
      const context = await this.#context(server, session, source)
      return await resolveServer(server, { ...context, ...allowed.get(key) })
    } catch (error) {
      return { reason: l10n.t("The server couldn't be prepared: {0}", messageOf(error)) }
    }
  }

  async #context(
    server: McpServerDefinition,
    { cwd }: Pick<McpSession, 'cwd'>,
    source?: McpSource,
  ): Promise<ServerContext> {
    const { environment, locations, userHome } = this.#options
    // a file's variables are about its own folder
    const isFirst = (folder: { name: string; path: string }) =>
      server.file !== undefined && server.folder !== undefined
        ? server.folder === folder.name
        : folder.path === cwd
    return {
      environment: await environment.get(cwd),
      folders: locations().folders.toSorted((a, b) => Number(isFirst(b)) - Number(isFirst(a))),
      userHome,
      input: (id, of) => this.#input(id, of, source),
    }
  }

  async #input(id: string, server: McpServerDefinition, source: McpSource | undefined): Promise<InputAnswer> {
    const key = serverKey(server, server.name)
    const isOfFile = server.file !== undefined
    if (isOfFile && this.#withoutInput.has(key))
      return { missing: l10n.t('No value was entered for "{0}". Select Check to enter it.', id) }
    const answer = await this.#options.inputs.value(id, server, this.#allInputs(source))
    if (isOfFile && 'missing' in answer) this.#withoutInput.add(key)
    return answer
  }

  #allInputs(source: McpSource | undefined): McpInput[] {
    return [...(source?.inputs ?? []), ...this.#fromSettings.flatMap(one => one.inputs)]
  }

  #inputsOf(server: McpServerDefinition, source: McpSource): McpInput[] {
    const inputs = this.#allInputs(source)
    return [...new Set(inputsIn(textsOf(server)))]
      .map(id => inputOf(id, server, inputs))
      .filter(input => input !== undefined)
  }

  #readSettings(): McpSource[] {
    const { settings, log } = this.#options
    const sources = settings
      .layers('mcpServers')
      .map(({ scope, folder, value }) =>
        readMcpSource(
          {
            kind: 'settings',
            label: 'parley.mcpServers',
            scope,
            ...(folder !== undefined && { folder }),
          },
          value,
        ),
      )
      .filter(({ scope, entries }) => scope !== 'default' || entries.length > 0)
      .reverse()
    for (const { problems } of sources) for (const problem of problems) log.warn(describeProblem(problem))
    return sources
  }
}

/**
 * Consent is needed for servers of the workspace, which others may have written, and for servers that would run without the sandbox that
 * they're meant to have.
 */
function needsConsent({ source, server }: PlannedServer): boolean {
  return isOfWorkspace(source) || (server?.type === 'stdio' && server.sandboxEnabled === true)
}

/** Where a server's command and relative paths may start: in the folder of its file, or in any session's folder. */
function foldersOf({ file, folder }: McpServerDefinition, { folders }: ServerContext): string[] {
  const paths = folders.map(({ path }) => path)
  return file !== undefined && folder !== undefined ? paths.slice(0, 1) : paths.toSorted()
}

/** The same text has another meaning in another source, where other variables are known. */
function contentOf(
  { scope: _scope, folder, file: _file, disabled: _disabled, ...server }: McpServerDefinition,
  { kind }: McpSource,
  {
    inputs,
    folders,
    variables,
    envFile,
  }: Pick<ServerToAllow, 'inputs' | 'folders' | 'variables'> & { envFile: EnvFile | undefined },
): unknown {
  return {
    mcpServer: server,
    place: [kind, folder ?? null],
    ...(variables.length > 0 && { variables }),
    ...(inputs.length > 0 && {
      inputs: inputs.map(({ id, type, default: preset, options }) => ({
        ...{ id, type, options },
        ...(preset !== undefined && { default: preset }),
      })),
    }),
    ...(folders.length > 0 && { folders }),
    ...(envFile && 'text' in envFile && { envFile: envFile.text }),
  }
}

/** The problem of a whole file, if it has one. */
function problemOfAll({ problems, file }: McpSource): string | undefined {
  const problem = problems.find(({ fatal, path }) => fatal && path.length <= 1)
  return file !== undefined && problem ? describeProblem(problem) : undefined
}

/** The server that a problem is about, if any. */
function nameIn({ path }: SettingProblem): string | undefined {
  const [first, second] = path
  if (first === 'inputs' || first === undefined) return undefined
  const name = first === 'servers' || first === 'mcpServers' ? second : first
  return typeof name === 'string' ? name : undefined
}

function invalidReason({ problems }: McpSource, name: string): string {
  const problem = problems.find(one => one.fatal && nameIn(one) === name)
  return problem ? describeProblem(problem) : l10n.t("The server's entry is invalid.")
}

function notAgreedReason(source: McpSource): string {
  return isOfWorkspace(source)
    ? l10n.t('This server is defined in the workspace and not allowed yet. Allow it in MCP Servers.')
    : l10n.t(
        "This server is configured to run in VS Code's sandbox, which agents don't have. Allow it in MCP Servers.",
      )
}

/** Why a server isn't used, as a sentence. */
export function exclusionReason(exclusion: ServerExclusion, source: McpSource, name: string): string {
  switch (exclusion.because) {
    case 'invalid':
      return invalidReason(source, name)
    case 'disabled':
      return source.file === undefined
        ? l10n.t('Disabled in settings.')
        : l10n.t('Disabled in {0}.', source.label)
    case 'off':
      switch (exclusion.where) {
        case 'everywhere':
          return l10n.t('Turned off in MCP Servers.')
        case 'agent':
          return l10n.t('Turned off for this agent.')
        case 'session':
          return l10n.t('Turned off for this session.')
      }
      break
    case 'shadowed':
      return l10n.t('A server with the same name in {0} is used instead.', exclusion.by)
    case 'restricted':
      return l10n.t(
        "MCP servers defined in the workspace aren't passed to agents until you trust the workspace.",
      )
    case 'transport':
      switch (exclusion.type) {
        case 'stdio':
          return l10n.t("The agent doesn't support MCP servers that run a command.")
        case 'http':
          return l10n.t("The agent doesn't support MCP servers over HTTP.")
        case 'sse':
          return l10n.t("The agent doesn't support MCP servers over SSE.")
      }
  }
}
