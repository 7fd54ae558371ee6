import type { McpServer } from '../../acp/model.ts'
import { isRecord } from '../../common/is-record.ts'
import { type Environment, environmentLookUp } from '../../common/processes/spawn-process.ts'
import type { RemoteServer } from './remote-transport.ts'

export type StdioServer = Extract<McpServer, { type: 'stdio' }>
export type RemoteMcpServer = Exclude<McpServer, StdioServer>

/** How the bridge's program starts. */
export interface BridgeProgram {
  /** A Node executable; an Electron one runs as Node. */
  execPath: string
  script: string
}

/** Where a bridge reaches the window. */
export interface WindowSocket {
  /** The path of a socket, or the name of a pipe on Windows. */
  socket: string
  secret: string
}

interface BridgeSockets {
  /** Gives the token of the server, if the user has signed in to it. */
  tokens?: WindowSocket
  /** Takes how the bridge is doing. */
  window?: WindowSocket
}

export interface BridgeSettings extends BridgeSockets {
  server: RemoteServer & { name: string }
}

/** The variable with the program's configuration, since every user of the machine can list arguments. */
export const BRIDGE_VARIABLE = 'PARLEY_MCP_BRIDGE'

/** Agents pass an MCP server only a few variables, so the network variables are added. */
const NETWORK_VARIABLES = ['HTTP_PROXY', 'HTTPS_PROXY', 'NODE_EXTRA_CA_CERTS', 'NODE_USE_SYSTEM_CA']
const LOOPBACK = ['127.0.0.1', 'localhost', '::1']

/** A server for an agent that supports only commands: the program that connects to the given server. */
export function bridgedServer(
  server: Exclude<McpServer, { type: 'stdio' }>,
  program: BridgeProgram,
  environment: { env: Readonly<Environment>; platform: NodeJS.Platform },
  sockets: BridgeSockets = {},
): StdioServer {
  const settings: BridgeSettings = { server, ...sockets }
  const env: Environment = {
    ELECTRON_RUN_AS_NODE: '1',
    ...networkVariables(environment),
    [BRIDGE_VARIABLE]: JSON.stringify(settings),
  }
  return {
    type: 'stdio',
    name: server.name,
    command: program.execPath,
    args: [program.script],
    env: Object.entries(env).map(([name, value]) => ({ name, value })),
  }
}

function networkVariables({
  env,
  platform,
}: {
  env: Readonly<Environment>
  platform: NodeJS.Platform
}): Environment {
  const variable = (name: string) =>
    environmentLookUp(env, name, platform) ?? environmentLookUp(env, name.toLowerCase(), platform)
  const found: Environment = {}
  for (const name of NETWORK_VARIABLES) {
    const value = variable(name)
    if (value) found[name] = value
  }
  if (found.HTTP_PROXY === undefined && found.HTTPS_PROXY === undefined) return found
  const exceptions = (variable('NO_PROXY') ?? '').split(',').map(name => name.trim())
  const NO_PROXY = [...new Set([...exceptions, ...LOOPBACK])].filter(name => name !== '').join(',')
  return { ...found, NO_PROXY, NODE_USE_ENV_PROXY: '1' }
}

export function parseSettings(text: string | undefined): BridgeSettings | undefined {
  try {
    const value: unknown = JSON.parse(text ?? '')
    const server = isRecord(value) ? value.server : undefined
    const isServer =
      isRecord(server) &&
      (server.type === 'http' || server.type === 'sse') &&
      [server.name, server.url].every(part => typeof part === 'string') &&
      Array.isArray(server.headers)
    return isServer ? (value as unknown as BridgeSettings) : undefined
  } catch {
    return undefined
  }
}
