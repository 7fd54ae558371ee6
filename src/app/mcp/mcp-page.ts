import type { SettingsSource } from '../../agents/setting-layers.ts'
import { describeProblem } from '../../agents/setting-problem.ts'
import type { McpAgentRow, McpServerRow, McpSessionRow, McpSourceRow } from '../../bridge/mcp.ts'
import { type McpHostMessages, mcpMessages } from '../../bridge/mcp-messages.ts'
import type { DisposableStore } from '../../common/disposable.ts'
import { messageOf } from '../../common/errors.ts'
import { plainMessage } from '../../common/plain-message.ts'
import type { Bridges } from '../../mcp/bridge/bridges.ts'
import { exclusionReason, type McpServers } from '../../mcp/mcp-servers.ts'
import {
  DISCOVERED_SOURCES,
  describePlace,
  isOfWorkspace,
  type McpServerDefinition,
  type McpSource,
} from '../../mcp/mcp-settings.ts'
import type { PlannedServer } from '../../mcp/plan-servers.ts'
import type { ServerCheck } from '../../mcp/server-check.ts'
import type { McpSignIns } from '../../mcp/sign-in/mcp-sign-ins.ts'
import type { McpSwitches } from '../../mcp/switches.ts'
import type { OpenSession } from '../../sessions/open-session.ts'
import type { SessionManager } from '../../sessions/session-manager.ts'
import { titleOf } from '../../sessions/session-title.ts'
import { confirmSignOut } from '../ask-agent.ts'
import { CommandId, MCP_SERVERS_VIEW_TYPE } from '../ids.ts'
import { quoted } from '../quoted.ts'
import type { WebviewConnection } from '../webview-connection.ts'
import { WebviewTab, type WebviewTabOptions } from '../webview-tab.ts'
import { settingOf } from '../workbench.ts'
import { canRemoveFrom, removeServer } from './saved-servers.ts'

interface McpPageOptions extends WebviewTabOptions {
  mcp: McpServers
  settings: Pick<SettingsSource, 'layers'>
  switches: McpSwitches
  bridges: Pick<Bridges, 'status' | 'restart' | 'onDidChange'>
  manager: Pick<SessionManager, 'list' | 'onDidChange'>
  nameOf: (agentId: string) => string
  /** Connects once to the server with this key, and returns the result. */
  check: (key: string) => Promise<ServerCheck>
  /** Resolves to whether the user has signed in. */
  signIn: (key: string, name: string) => Promise<boolean>
  signIns: Pick<McpSignIns, 'urls' | 'needsSignIn' | 'signOut' | 'onDidChange'>
}

/** How long the reports of bridges are collected before the page gets them, in milliseconds, since a server may log a lot. */
const BRIDGE_MS = 100

interface SignedIn {
  url: string
  isRefused: boolean
}

/** The editor tab *MCP Servers*: which servers agents get and why, with switches. */
export class McpPage extends WebviewTab<McpHostMessages> {
  readonly #options: McpPageOptions
  /** the results of checks by the server's key; `running` during a check */
  readonly #checks = new Map<string, ServerCheck | 'running'>()
  #sources: McpSource[] = []
  #planned: PlannedServer[] = []
  #notAgreed: ReadonlySet<string> = new Set()
  /** the sign-ins of servers by the server's key: the URL for which the user signed in, and whether the user must sign in again */
  #signedIn: ReadonlyMap<string, SignedIn> = new Map()
  #isLoading = false
  #isStale = false

  constructor(options: McpPageOptions) {
    super(options, { viewType: MCP_SERVERS_VIEW_TYPE, page: 'mcp' })
    this.#options = options
  }

  protected connect(connection: WebviewConnection<McpHostMessages>, own: DisposableStore): void {
    const { mcp, bridges, signIns, switches, manager, workbench } = this.#options
    const server = (key: string) => this.#planned.find(one => one.key === key)
    connection.handle(mcpMessages, {
      'mcp/ready': () => this.#load(),
      'mcp/refresh': () => this.#load(),
      'mcp/add': async () => void (await workbench.execute(CommandId.addMcpServer)),
      'mcp/open': ({ source }) => this.#open(source),
      'mcp/switchSource': ({ kind, on }) => this.#switchSource(kind, on),
      'mcp/switchServer': ({ key, on }) => {
        const one = server(key)
        if (one) switches.set({ server: key }, on, isOfWorkspace(one.source))
      },
      'mcp/switchAgent': ({ agentId, on }) => switches.set({ agentId }, on),
      'mcp/switchInSession': ({ session, key, on }) => switches.set({ server: key, session }, on),
      'mcp/restart': ({ link }) => bridges.restart(link),
      'mcp/allow': ({ key }) => mcp.allow(key),
      'mcp/check': ({ key }) => this.#check(key),
      'mcp/remove': async ({ key }) => {
        const one = server(key)
        if (!one || !canRemoveFrom(one.source)) return
        await removeServer(this.#options, one.source, one.name).catch((error: unknown) => {
          void workbench.dialogs.error(plainMessage(messageOf(error)))
        })
        await this.#load()
      },
      'mcp/signIn': async ({ key }) => {
        const one = server(key)
        if (!one) return
        const isSignedIn = await this.#options.signIn(key, one.name).catch((error: unknown) => {
          void workbench.dialogs.error(plainMessage(messageOf(error)))
        })
        if (isSignedIn) await this.#check(key)
      },
      'mcp/signOut': async ({ key }) => {
        const signedIn = this.#signedIn.get(key)
        if (!signedIn || !(await confirmSignOut(workbench.dialogs, signedIn.url))) return
        await signIns.signOut(signedIn.url)
        this.#checks.delete(key)
      },
    })
    own.add(mcp.onDidChange(() => void this.#load()))
    own.add(signIns.onDidChange(() => void this.#load()))
    own.add(manager.onDidChange(() => this.#send()))
    let timer: ReturnType<typeof setTimeout> | undefined
    own.add(
      bridges.onDidChange(() => {
        timer ??= setTimeout(() => {
          timer = undefined
          this.#send()
        }, BRIDGE_MS)
      }),
    )
    own.add({ dispose: () => clearTimeout(timer) })
    own.add(workbench.settings.onDidChange('mcpDiscovery', () => void this.#load()))
  }

  /** Reads the servers again, since their files may have changed while the tab was hidden. */
  protected shown(): void {
    void this.#load()
  }

  /** Shows the result for a server that was checked before it was saved. */
  checked(key: string, check: ServerCheck): void {
    this.#checks.set(key, check)
    this.#send()
  }

  async #load(): Promise<void> {
    this.#isStale = true
    if (this.#isLoading) return
    this.#isLoading = true
    try {
      while (this.#isStale) {
        this.#isStale = false
        const { sources, planned } = await this.#options.mcp.plan()
        this.#notAgreed = await this.#options.mcp.notAgreed(planned)
        this.#signedIn = await this.#signedInOf(planned)
        this.#sources = sources
        this.#planned = planned
      }
    } finally {
      this.#isLoading = false
    }
    this.#send()
  }

  async #signedInOf(planned: readonly PlannedServer[]): Promise<ReadonlyMap<string, SignedIn>> {
    const { mcp, signIns } = this.#options
    const known = await signIns.urls()
    if (known.length === 0) return new Map()
    const found = await Promise.all(
      planned.map(async (one): Promise<[string, SignedIn][]> => {
        const url = await mcp.urlOf(one)
        if (url === undefined || !known.includes(url)) return []
        return [[one.key, { url, isRefused: await signIns.needsSignIn(url) }]]
      }),
    )
    return new Map(found.flat())
  }

  async #open(id: string): Promise<void> {
    const { editors, settings, dialogs } = this.#options.workbench
    const source = this.#sources.find(one => idOf(one) === id)
    if (!source) return
    if (source.file === undefined) return settings.open('mcpServers')
    await editors
      .openFile({ path: source.file })
      .catch((error: unknown) => void dialogs.error(plainMessage(messageOf(error))))
  }

  async #switchSource(kind: string, on: boolean): Promise<void> {
    const { workbench } = this.#options
    const { settings, dialogs } = workbench
    const known: readonly string[] = DISCOVERED_SOURCES
    if (!known.includes(kind)) return
    await settings
      .update('mcpDiscovery', { ...settingOf(workbench, 'mcpDiscovery'), [kind]: on })
      .catch((error: unknown) => void dialogs.error(plainMessage(messageOf(error))))
  }

  async #check(key: string): Promise<void> {
    if (this.#checks.get(key) === 'running') return
    this.#checks.set(key, 'running')
    this.#send()
    this.#checks.set(key, await this.#options.check(key))
    // the user may have consented to the server during the check
    await this.#load()
  }

  #send(): void {
    if (!this.isVisible) return
    const { manager, workbench } = this.#options
    this.send('mcp/state', {
      trusted: workbench.isTrusted,
      sources: this.#sources.map(source => this.#sourceRow(source)),
      agents: this.#agentRows(manager.list()),
    })
  }

  #agentRows(sessions: OpenSession[]): McpAgentRow[] {
    const { switches, nameOf } = this.#options
    return [...new Set(sessions.map(({ agentId }) => agentId))].map(agentId => ({
      agentId,
      name: nameOf(agentId),
      ...(switches.isAgentOff(agentId) && { isOff: true }),
      sessions: sessions.filter(open => open.agentId === agentId).map(open => this.#sessionRow(open)),
    }))
  }

  #sourceRow(source: McpSource): McpSourceRow {
    const servers = this.#planned.filter(one => one.source === source)
    return {
      id: idOf(source),
      label: headingOf(source),
      ...(source.kind !== 'settings' && { kind: source.kind }),
      ...(source.off && { isOff: true }),
      // the problem of a single server is shown at the server
      problems: source.problems.filter(({ path, fatal }) => !fatal || path.length <= 1).map(describeProblem),
      servers: servers.map(one => this.#serverRow(one)),
    }
  }

  #serverRow({ key, name, server, source, exclusion }: PlannedServer): McpServerRow {
    const check = this.#checks.get(key)
    const signedIn = this.#signedIn.get(key)
    return {
      key,
      name,
      type: server?.type ?? 'unknown',
      ...(server && { target: targetOf(server) }),
      ...(canRemoveFrom(source) && { canRemove: true }),
      ...(exclusion?.because === 'off' && { isOff: true }),
      ...(exclusion && exclusion.because !== 'off' && { reason: exclusionReason(exclusion, source, name) }),
      ...(this.#notAgreed.has(key) && { needsConsent: true }),
      ...(signedIn && { isSignedIn: true }),
      ...(signedIn?.isRefused && { needsSignIn: true }),
      ...(check === 'running' ? { checking: true } : check && { check }),
    }
  }

  #sessionRow({ agentId, key, plan, session }: OpenSession): McpSessionRow {
    const { switches, bridges } = this.#options
    const title = titleOf(session)
    return {
      key,
      ...(title !== undefined && { title }),
      servers: plan.mcpServers.map(note => {
        const bridge = note.link === undefined ? undefined : bridges.status(note.link)
        const shown = { ...note, ...(bridge && { bridge }) }
        if (note.key === undefined) return shown
        const where = switches.isOff(note.key, { agentId, session: key })
        const isOutdated = note.passed ? where !== undefined : note.exclusion === 'off' && where === undefined
        return {
          ...shown,
          ...(switches.isOffIn(key, note.key) && { isOffHere: true }),
          ...(isOutdated && { isOutdated }),
        }
      }),
    }
  }
}

/** Returns the name of a place as a heading. The names of files don't change. */
function headingOf(source: McpSource): string {
  const place = describePlace(source)
  const isName = source.file !== undefined && source.scope !== 'user'
  return isName ? place : place.charAt(0).toUpperCase() + place.slice(1)
}

function idOf({ file, scope, folder }: McpSource): string {
  return JSON.stringify([file ?? null, scope, folder ?? null])
}

function targetOf(server: McpServerDefinition): string {
  return server.type === 'stdio' ? [server.command, ...server.args].map(quoted).join(' ') : server.url
}
