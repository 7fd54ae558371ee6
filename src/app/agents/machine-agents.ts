import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { AgentHosts } from '../../acp/start-hosted.ts'
import { withNetworkSettings } from '../../agents/environment.ts'
import { LaunchEnvironmentSource } from '../../agents/launch-environment.ts'
import { AgentIcons } from '../../agents/registry/agent-icons.ts'
import { InstalledAgents } from '../../agents/registry/installed-agents.ts'
import { RegistryClient } from '../../agents/registry/registry-client.ts'
import type { DisposableStore } from '../../common/disposable.ts'
import type { ProcessGuard } from '../../common/processes/process-guard.ts'
import { OFFICIAL_REGISTRY } from '../../common/settings.ts'
import type { Windows } from '../../history/windows.ts'
import { Bridges } from '../../mcp/bridge/bridges.ts'
import { ProtocolRecorder } from '../inspector/protocol-recorder.ts'
import type { ProcessPlatform } from '../platform.ts'
import type { ProcessWindows } from '../process-windows.ts'

export const MiB = 1024 * 1024

/** Creates the agent services that windows share: the registry, the installed agents, the launch environment and the agent hosts. */
export function createMachineAgents(
  platform: ProcessPlatform,
  { network, setting }: ProcessWindows,
  guard: ProcessGuard,
  processRow: Windows,
  own: DisposableStore,
) {
  const { fileInExtension, globalFolder: directory, log, secrets } = platform
  const fetch = fetchAsSet(network)
  const environment = own.add(new LaunchEnvironmentSource({ log }))
  const installed = own.add(new InstalledAgents(path.join(directory, 'agents'), processRow, log))
  const url = () => setting('agentRegistry').trim() || undefined
  const bundled = async () =>
    url() === OFFICIAL_REGISTRY
      ? readFile(fileInExtension('media', 'registry.json'), 'utf8')
      : '{"agents":[]}'
  const bundledFile = fileInExtension('dist', 'agent-icons.json')
  const program = { execPath: process.execPath, script: fileInExtension('dist', 'mcp-bridge.js') }
  return {
    environment,
    fetch,
    installed,
    registry: new RegistryClient({ url, directory, bundled, fetch, log }),
    icons: own.add(new AgentIcons({ directory, bundledFile, registryUrl: url, fetch, log })),
    installer: async () => {
      const { AgentInstaller } = await import('../../agents/registry/agent-installer.ts')
      return new AgentInstaller({
        environment: async ({ fresh } = { fresh: false }) => {
          if (fresh) environment.refresh()
          const { env, platform } = await environment.get()
          return { env: withNetworkSettings(env, network()), platform }
        },
        ...{ guard, installed, log, fetch },
      })
    },
    bridges: own.add(new Bridges({ program, environment, secrets, log })),
    recorder: new ProtocolRecorder(secrets),
    /** The agent hosts, which run this user's agents outside of windows. */
    hosts: new AgentHosts({
      folder: path.join(directory, 'hosts'),
      script: fileInExtension('dist', 'agent-host.mjs'),
      guardScript: fileInExtension('dist', 'process-guard.cjs'),
      maxFrameBytes: () => setting('maximumFrameSize') * MiB,
    }),
  }
}

/**
 * Returns a `fetch` that respects `http.proxyStrictSSL`. VS Code's own `fetch` respects the other proxy settings and the system's
 * certificates.
 */
function fetchAsSet(network: ProcessWindows['network']): typeof fetch {
  return async (input, init) => {
    const address = String(input)
    if (network().strictSSL !== false || !address.startsWith('https:')) return fetch(input, init)
    const { lenientFetch } = await import('../../agents/registry/lenient-fetch.ts')
    return lenientFetch(address, init)
  }
}
