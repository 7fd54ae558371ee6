import { homedir } from 'node:os'
import * as l10n from '@vscode/l10n'
import { type AgentLaunch, AgentStartError } from '../../acp/agent.ts'
import type { AgentCatalog } from '../../agents/agent-catalog.ts'
import type { AgentDefinition } from '../../agents/definition.ts'
import type { LaunchEnvironmentSource } from '../../agents/launch-environment.ts'
import { agentPresets } from '../../agents/presets.ts'
import type { InstalledAgents } from '../../agents/registry/installed-agents.ts'
import { launchFingerprint, resolveLaunch } from '../../agents/resolve-launch.ts'
import { describeProblem } from '../../agents/setting-problem.ts'
import { iconInColor } from '../../common/agent-icon.ts'
import { DisposableStore } from '../../common/disposable.ts'
import type { Logger } from '../../common/logger.ts'
import type { McpServers } from '../../mcp/mcp-servers.ts'
import type { PermissionRules } from '../../sessions/permission-rules/permission-rules.ts'
import type { AgentDirectory, AgentEntry } from '../../sessions/ports.ts'
import type { AgentEnvironments } from './agent-environments.ts'
import type { LaunchConsent } from './launch-consent.ts'
import { type RemoteLaunchOptions, resolveRemoteLaunch } from './remote-launch.ts'

export interface AgentDirectoryParts {
  catalog: AgentCatalog
  installed: Pick<InstalledAgents, 'read'>
  mcp: McpServers
  rules: Pick<PermissionRules, 'problems' | 'onDidChange'>
  environment: LaunchEnvironmentSource
  environments: Pick<AgentEnvironments, 'environmentFor'>
  consent: Pick<LaunchConsent, 'agent'>
  /** The inputs, secrets and network of agents on servers. */
  remote: Pick<RemoteLaunchOptions, 'inputs' | 'secrets'> & { network(): RemoteLaunchOptions['network'] }
  /** The workspace folders. */
  folders: () => ReadonlyArray<{ name: string; path: string }>
  logFor: (agentId: string) => Logger
  /** Resolves to the values that the user signed in with. Only the agent's process gets them. */
  signInEnvironment: (agentId: string) => Promise<Record<string, string>>
}

/** Provides the catalog of agents to the sessions. */
export function agentDirectory(parts: AgentDirectoryParts): AgentDirectory {
  const { catalog, mcp, rules, signInEnvironment } = parts
  const entryOf = (agent: AgentCatalog['agents'][number]): AgentEntry => ({
    agentId: agent.id,
    name: agent.name,
    icon: iconInColor(agent.icon, agent.color),
    description: agent.description,
    source: agent.source,
    isElsewhere:
      agent.remote !== undefined && (!agent.remote.sharesFiles || agent.remote.pathMappings !== undefined),
  })
  return {
    list: () => catalog.agents.map(entryOf),
    get: agentId => {
      const agent = catalog.get(agentId)
      return agent && entryOf(agent)
    },
    ready: () => catalog.ready(),
    problems: () => [...catalog.problems, ...mcp.problems, ...rules.problems].map(describeProblem),
    defaultAgentId: () => catalog.defaultAgent?.id,
    defaultProblem: () => {
      const { defaultProblem } = catalog
      if (!defaultProblem) return undefined
      const { agentId, problem } = defaultProblem
      const installable = agentId === undefined ? undefined : installableOf(agentId)
      const message = describeProblem(problem)
      return { message, ...(agentId !== undefined && { agentId }), ...(installable && { installable }) }
    },
    isSearched: () => catalog.isSearched,
    used: agentId => void catalog.markUsed(agentId),
    resolveLaunch: async agentId => {
      for (;;) {
        const { definition, launch } = await launchOf(parts, agentId)
        // While the user was asked, the settings may have changed. The answer is only for the launch that the user saw.
        const now = catalog.get(agentId)
        if (!now || launchFingerprint(now) !== launchFingerprint(definition)) continue
        Object.assign(launch.env, await signInEnvironment(agentId))
        return launch
      }
    },
    onDidChange: listener => {
      const both = new DisposableStore()
      both.add(catalog.onDidChange(listener))
      both.add(mcp.onDidChange(listener))
      both.add(rules.onDidChange(listener))
      return both
    },
  }
}

/** Returns the id in the registry and the name of a well-known agent. */
function installableOf(agentId: string): { id: string; name: string } | undefined {
  const preset = agentPresets.find(({ id }) => id === agentId)
  const [id] = preset?.registryIds ?? []
  return preset && id !== undefined ? { id, name: preset.name } : undefined
}

async function launchOf(
  { catalog, consent, environment, folders, environments, installed, remote, logFor }: AgentDirectoryParts,
  agentId: string,
): Promise<{ definition: AgentDefinition; launch: AgentLaunch }> {
  // another window may have updated the agent and removed the version that this window knows
  if (catalog.get(agentId)?.source === 'installed') await installed.read()
  const definition = catalog.get(agentId)
  const fail = (message: string) =>
    new AgentStartError({ kind: 'spawn', command: definition?.command ?? agentId, message }, message)
  if (!definition?.startable) throw fail(definition?.reason ?? `There is no agent "${agentId}".`)
  if (definition.startedByWorkspace && !(await consent.agent(definition)))
    throw fail(
      l10n.t(
        "The settings of this workspace define how {0} starts, and you didn't allow that. Try again to be asked again.",
        definition.name,
      ),
    )
  const log = logFor(agentId)
  if (definition.remote) {
    const launch = await resolveRemoteLaunch(
      { ...definition, remote: definition.remote },
      { ...remote, network: remote.network(), folders: folders(), environment: await environment.get() },
    )
    log.info(`Connecting to ${launch.command}`)
    return { definition, launch }
  }
  const context = {
    folders: folders(),
    userHome: homedir(),
    environmentIn: (folder: string) => environments.environmentFor(agentId, folder),
  }
  let resolution = await resolveLaunch(definition, { ...context, environment: await environment.get() })
  if ('failure' in resolution && resolution.failure.kind === 'command-missing') {
    // The command may have been installed after the shell's environment was read.
    environment.refresh()
    resolution = await resolveLaunch(definition, { ...context, environment: await environment.get() })
  }
  if ('failure' in resolution) throw new AgentStartError(resolution.failure, resolution.message)
  for (const note of resolution.notes) log.warn(note)
  log.info(`Starting ${resolution.ok.command} in ${resolution.ok.cwd}`)
  return { definition, launch: resolution.ok }
}
