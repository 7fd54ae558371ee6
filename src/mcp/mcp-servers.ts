import * as l10n from '@vscode/l10n'
import type { AgentCapabilities, McpServer } from '../acp/model.ts'
import type { LaunchEnvironment } from '../agents/launch-environment.ts'
import type { SettingsSource } from '../agents/setting-layers.ts'
import { describeProblem, type SettingProblem } from '../agents/setting-problem.ts'
import { Owner } from '../common/disposable.ts'
import { messageOf } from '../common/errors.ts'
import { Emitter, type Event } from '../common/event.ts'
import type { Logger } from '../common/logger.ts'
import type { McpInputs } from './inputs.ts'
import {
  type McpServerDefinition,
  type McpServerNote,
  type McpSettings,
  readMcpSettings,
} from './mcp-settings.ts'
import { resolveServer, type ServerResolution } from './resolve-server.ts'

export interface McpServersOptions {
  settings: SettingsSource
  environment: { get(): Promise<LaunchEnvironment> }
  inputs: McpInputs
  /** Asks whether servers that the workspace defines may be passed to an agent. */
  allowWorkspaceServers: (servers: readonly McpServerDefinition[]) => Promise<boolean>
  /** The workspace folders on this machine's disk, absolute. */
  folders: () => ReadonlyArray<{ name: string; path: string }>
  userHome: string
  log: Logger
}

/** The MCP servers of `parley.mcpServers`, resolved for a session. */
export class McpServers extends Owner {
  readonly #options: McpServersOptions
  readonly #changed = this.register(new Emitter<void>())
  #settings: McpSettings

  constructor(options: McpServersOptions) {
    super()
    this.#options = options
    this.#settings = this.#read()
    this.register(
      options.settings.onDidChange(() => {
        this.#settings = this.#read()
        this.#changed.fire()
      }),
    )
  }

  get onDidChange(): Event<void> {
    return this.#changed.event
  }

  get definitions(): readonly McpServerDefinition[] {
    return this.#settings.servers
  }

  get problems(): SettingProblem[] {
    return [...this.#settings.problems]
  }

  /**
   * The servers to send with `session/new`, `load` and `resume`, and the notes about each server. May ask the user for
   * inputs. Never rejects.
   *
   * @param cwd the session's; `${workspaceFolder}` is the folder with that path, or else the first one
   */
  async select(capabilities: AgentCapabilities['mcp'], cwd?: string): Promise<ServerSelection> {
    const { servers, inputs } = this.#settings
    const { environment, folders, userHome, log } = this.#options
    const ofWorkspace = servers.filter(server => isOfWorkspace(server) && capabilities[server.type])
    const isAllowed = ofWorkspace.length === 0 || (await this.#mayPass(ofWorkspace))
    const selection = await selectServers(servers, capabilities, async server => {
      if (!isAllowed && isOfWorkspace(server))
        return {
          reason: l10n.t(
            "Defined in workspace settings, which you didn't allow. Reload the window to be asked again.",
          ),
        }
      return resolveServer(server, {
        environment: await environment.get(),
        folders: folders().toSorted((a, b) => Number(b.path === cwd) - Number(a.path === cwd)),
        userHome,
        input: (id, of) => this.#options.inputs.value(id, of, inputs),
      })
    })
    for (const { name, passed, reason } of selection.notes) {
      if (!passed) log.warn(`The MCP server "${name}" wasn't passed to the agent: ${reason}`)
      else if (reason !== undefined) log.info(`The MCP server "${name}": ${reason}`)
    }
    // Invalid entries are also shown with the session, not only in the log.
    for (const problem of this.#settings.problems) {
      if (!problem.fatal) continue
      const name = nameIn(problem)
      if (name === undefined || selection.notes.some(note => note.name === name)) continue
      selection.notes.push({ name, type: 'unknown', passed: false, reason: describeProblem(problem) })
    }
    return selection
  }

  async #mayPass(servers: readonly McpServerDefinition[]): Promise<boolean> {
    try {
      return await this.#options.allowWorkspaceServers(servers)
    } catch (error) {
      this.#options.log.error(`The MCP servers of the workspace weren't passed: ${messageOf(error)}`)
      return false
    }
  }

  #read(): McpSettings {
    const settings = readMcpSettings(this.#options.settings.layers('mcpServers'))
    for (const problem of settings.problems) this.#options.log.warn(describeProblem(problem))
    return settings
  }
}

/** The server that a problem is about, if it is about one. */
function nameIn({ path }: SettingProblem): string | undefined {
  const [first, second] = path
  if (first === 'inputs' || first === undefined) return undefined
  const name = first === 'servers' || first === 'mcpServers' ? second : first
  return typeof name === 'string' ? name : undefined
}

/** Whether a server that is turned on comes from the files of the workspace, which others may have written. */
function isOfWorkspace({ scope, disabled }: McpServerDefinition): boolean {
  return !disabled && (scope === 'workspace' || scope === 'folder')
}

/** The servers of a session, and a note for each configured server. */
interface ServerSelection {
  passed: McpServer[]
  notes: McpServerNote[]
}

/**
 * Selects the servers that an agent can connect to and that can be resolved. The others aren't resolved, so that the user
 * isn't asked for values that have no use. Never rejects.
 */
async function selectServers(
  servers: readonly McpServerDefinition[],
  capabilities: AgentCapabilities['mcp'],
  resolve: (server: McpServerDefinition) => Promise<ServerResolution>,
): Promise<ServerSelection> {
  const passed: McpServer[] = []
  const notes: McpServerNote[] = []
  for (const server of servers) {
    const { name, type } = server
    const resolution = await selectOne(server, capabilities, resolve)
    if ('reason' in resolution) {
      notes.push({ name, type, passed: false, reason: resolution.reason })
      continue
    }
    passed.push(resolution.server)
    const { note } = resolution
    notes.push({ name, type, passed: true, ...(note === undefined ? {} : { reason: note }) })
  }
  return { passed, notes }
}

async function selectOne(
  server: McpServerDefinition,
  capabilities: AgentCapabilities['mcp'],
  resolve: (server: McpServerDefinition) => Promise<ServerResolution>,
): Promise<ServerResolution> {
  if (server.disabled) return { reason: l10n.t('Disabled in settings.') }
  if (!capabilities[server.type]) {
    return { reason: unable(server.type) }
  }
  try {
    return await resolve(server)
  } catch (error) {
    return { reason: l10n.t("The server couldn't be prepared: {0}", messageOf(error)) }
  }
}

function unable(type: McpServerDefinition['type']): string {
  switch (type) {
    case 'stdio':
      return l10n.t("The agent doesn't support MCP servers that run a command.")
    case 'http':
      return l10n.t("The agent doesn't support MCP servers over HTTP.")
    case 'sse':
      return l10n.t("The agent doesn't support MCP servers over SSE.")
  }
}
