import { homedir } from 'node:os'
import type { SettingsSource } from '../../agents/setting-layers.ts'
import type { Disposable } from '../../common/disposable.ts'
import type { ProcessGuard } from '../../common/processes/process-guard.ts'
import type { Bridges } from '../../mcp/bridge/bridges.ts'
import { checkServer } from '../../mcp/check-server.ts'
import { McpInputs } from '../../mcp/inputs.ts'
import { McpServers, type McpServersOptions } from '../../mcp/mcp-servers.ts'
import type { ServerResolution } from '../../mcp/resolve-server.ts'
import type { ServerCheck } from '../../mcp/server-check.ts'
import { McpSignIns } from '../../mcp/sign-in/mcp-sign-ins.ts'
import { McpSwitches } from '../../mcp/switches.ts'
import type { CheckedSecrets } from '../checked-secrets.ts'
import type { Platform } from '../platform.ts'
import { inputPrompter } from './mcp-inputs.ts'
import { askMcpClient, confirmMcpSignIn } from './mcp-sign-in.ts'

interface McpServicesOptions {
  platform: Platform
  bridges: Bridges
  /** Resolves to the environment of a folder's project; without a folder, to that of the first workspace folder. */
  environmentIn: McpServersOptions['environment']['get']
  secretStore: CheckedSecrets
  settings: SettingsSource
  trusted: () => boolean
  fetch: typeof fetch
  /** Asks the user whether a workspace's servers may be used. */
  allow: McpServersOptions['allow']
  guard: ProcessGuard
  own: { add<T extends Disposable>(item: T): T }
}

export interface McpServices {
  mcp: McpServers
  mcpSignIns: McpSignIns
  mcpSwitches: McpSwitches
  /** The stored values for which servers ask. */
  inputs: McpInputs
  /** Connects once to the MCP server with a key. */
  checkMcpServer: (key: string) => Promise<ServerCheck>
  /** Checks a server that isn't saved yet. */
  checkNewMcpServer: (name: string, server: object, signal: AbortSignal) => Promise<ServerCheck>
}

/** Creates the MCP servers of the settings and the machine, with their inputs, sign-ins and bridges. */
export function createMcpServices(options: McpServicesOptions): McpServices {
  const { platform, bridges, environmentIn, secretStore, settings, trusted, fetch, allow, guard, own } =
    options
  const { workbench, storage, log, secrets } = platform
  const { dialogs } = workbench
  const inputs = new McpInputs(inputPrompter(dialogs), secretStore, platform.workspaceIdentity, secrets)
  const mcpSwitches = own.add(new McpSwitches(storage.workspace, storage.global))
  const mcpSignIns = own.add(
    new McpSignIns({
      ...{ secretStore, secrets, log, fetch },
      confirm: confirmMcpSignIn(dialogs),
      askClient: askMcpClient(dialogs),
      openExternal: url => workbench.openExternal(url),
      externalUrl: url => platform.externalUrl(url),
    }),
  )
  const mcp = own.add(
    new McpServers({
      ...{ settings, inputs, log, bridges, trusted },
      environment: { get: environmentIn },
      allow,
      switches: mcpSwitches,
      signIns: mcpSignIns,
      locations: () => ({ folders: workbench.folders, ...platform.mcpLocations }),
      userHome: homedir(),
    }),
  )
  own.add(platform.onDidSaveFile(file => mcp.fileSaved(file)))
  const checkResolved = async (resolution: ServerResolution, signal?: AbortSignal): Promise<ServerCheck> => {
    if ('reason' in resolution) return { problem: 'not-started', message: resolution.reason, stderr: '' }
    const { server } = resolution
    const check = await checkServer(server, {
      environment: await environmentIn(),
      cwd: workbench.folders[0]?.path ?? homedir(),
      version: platform.version,
      guard,
      secrets,
      ...(server.type !== 'stdio' &&
        (await mcp.usesSignIn(server)) && { token: () => mcpSignIns.token(server.url) }),
      ...(signal && { signal }),
    })
    if ('problem' in check) log.warn(`The check of the MCP server "${server.name}": ${check.message}`)
    else log.info(`The check of the MCP server "${server.name}": ${check.server.tools.length} tools`)
    if (check.stderr !== '') log.info(`The MCP server "${server.name}" wrote:\n${check.stderr}`)
    return check
  }
  return {
    ...{ mcp, mcpSignIns, mcpSwitches, inputs },
    checkMcpServer: async key => checkResolved(await mcp.resolve(key)),
    checkNewMcpServer: async (name, server, signal) =>
      checkResolved(await mcp.resolveNew(name, server), signal),
  }
}
