import { isDeepStrictEqual } from 'node:util'
import * as l10n from '@vscode/l10n'
import { type AccountDefinition, accountEnvironmentOf } from '../../agents/account-definitions.ts'
import type { AgentDefinition } from '../../agents/definition.ts'
import { agentIdOf, agentPresets } from '../../agents/presets.ts'
import type { InstallManager } from '../../agents/registry/install-manager.ts'
import { configuredLaunch } from '../../agents/resolve-launch.ts'
import { describeProblem } from '../../agents/setting-problem.ts'
import type { AgentCheck, AgentRow } from '../../bridge/agents.ts'
import type { AccountNote } from '../../bridge/conversation.ts'
import { AGENT_ICON, iconInColor } from '../../common/agent-icon.ts'
import { planText, statusNotes } from './agent-offers.ts'

export interface AgentRowsOptions {
  installs: Pick<
    InstallManager,
    'agents' | 'installed' | 'find' | 'iconOf' | 'updateOf' | 'planOf' | 'status'
  >
  agents: readonly AccountDefinition[]
  /** the id in the settings */
  defaultAgentId: string | undefined
  isRunning: (agentId: string) => boolean
  account: (agentId: string) => AccountNote
  checks: ReadonlyMap<string, CheckedAgent>
}

/** The result of *Check*, with the agent's definition at the time of the check. */
export interface CheckedAgent {
  agent: AgentDefinition
  check: AgentCheck | 'running'
}

/** Returns the rows of the Manage Agents page: agents that can be started, then agents of the registry that aren't installed. */
export function agentRows(options: AgentRowsOptions): AgentRow[] {
  const { installs, agents } = options
  const startable = agents
    .filter(({ source }) => source !== 'demo')
    .map(agent => startableRow(agent, options))
  const installedIds = new Set(installs.installed.map(({ id }) => id))
  // An installed agent that the settings override can still be removed.
  const replaced = installs.installed
    .filter(({ id }) => !startable.some(row => row.registryId === id && row.section === 'installed'))
    .map(
      (agent): AgentRow => ({
        section: 'installed',
        key: `installed/${agent.id}`,
        registryId: agent.id,
        name: agent.name,
        description: l10n.t('Not used: settings define another agent with this ID.'),
        icon: installs.iconOf(agent.id),
        version: agent.version,
        source: agent.source,
        ...installNotes(agent.id, options),
      }),
    )
  const offered = installs.agents
    .filter(({ id }) => !installedIds.has(id))
    .map(
      (agent): AgentRow => ({
        section: 'registry',
        key: `registry/${agent.id}`,
        registryId: agent.id,
        name: agent.name,
        description: agent.description,
        icon: installs.iconOf(agent.id),
        version: agent.version,
        ...(agent.license !== undefined && { license: agent.license }),
        source: l10n.t('ACP registry'),
        ...(agent.repository !== undefined && { hasRepository: true }),
        ...installNotes(agent.id, options),
      }),
    )
  return [...startable, ...replaced, ...offered]
}

const SECTIONS = { installed: 'installed', preset: 'found', settings: 'settings', demo: 'found' } as const

function startableRow(agent: AccountDefinition, options: AgentRowsOptions): AgentRow {
  const { installs, defaultAgentId, isRunning, account, checks } = options
  const check = currentCheck(agent, checks.get(agent.id))
  const there =
    agent.source === 'installed' ? installs.installed.find(({ id }) => agentIdOf(id) === agent.id) : undefined
  const listed = there && installs.find(there.id)
  const update = there && installs.updateOf(there)
  const license = there?.license ?? listed?.license
  return {
    section: SECTIONS[agent.source],
    key: `agent/${agent.id}`,
    agentId: agent.id,
    name: agent.name,
    description: agent.description ?? '',
    icon: iconInColor(agent.icon ?? AGENT_ICON, agent.color),
    ...(agent.version !== undefined && { version: agent.version }),
    ...(update && { update: update.version }),
    ...(license !== undefined && { license }),
    source: there ? there.source : sourceOf(agent, options.agents),
    ...(agent.command !== '' && { command: [agent.command, ...agent.args].join(' ') }),
    ...(agent.remote && { server: hostOf(agent.remote.url) }),
    account: account(agent.id),
    ...(agent.id === defaultAgentId && { isDefault: true }),
    ...(isRunning(agent.id) && { isRunning: true }),
    ...(check === 'running' ? { checking: true } : check && { check }),
    ...(there && { registryId: there.id, ...installNotes(there.id, options) }),
    ...(listed?.repository !== undefined && { hasRepository: true }),
    ...(agent.account && { folder: agent.account.folder }),
    ...(agent.problem && { problem: describeProblem(agent.problem) }),
    ...(!agent.account &&
      !agent.remote &&
      accountEnvironmentOf(agent.id, agentPresets) && { canAddAccount: true }),
  }
}

/** Returns only the host of a URL, because the rest may contain a secret. */
function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : url
}

function sourceOf({ account, source }: AgentDefinition, agents: readonly AgentDefinition[]): string {
  if (account) {
    const of = agents.find(({ id }) => id === account.of)
    return of ? l10n.t('Account of {0}', of.name) : l10n.t('Account')
  }
  return source === 'settings' ? 'parley.agents' : l10n.t('Found on the PATH')
}

/** Returns the check's result; `undefined` if the agent was updated or its settings changed after the check. */
function currentCheck(
  agent: AgentDefinition,
  checked: CheckedAgent | undefined,
): CheckedAgent['check'] | undefined {
  const isSame =
    checked?.agent.version === agent.version &&
    checked !== undefined &&
    isDeepStrictEqual(configuredLaunch(checked.agent), configuredLaunch(agent))
  return isSame ? checked.check : undefined
}

function installNotes(
  id: string,
  { installs }: AgentRowsOptions,
): Pick<AgentRow, 'plan' | 'asking' | 'running' | 'failed'> {
  const plan = installs.planOf(id)
  return { ...(plan && { plan: planText(plan) }), ...statusNotes(installs.status(id)) }
}
