import * as l10n from '@vscode/l10n'
import { type AccountEntry, AGENTS_SETTING } from './agent-settings.ts'
import type { AgentDefinition } from './definition.ts'
import type { AgentPreset } from './presets.ts'
import { type SettingProblem, settingProblem } from './setting-problem.ts'

/** An account as a separate agent, with its problem if it can't start. */
export type AccountDefinition = AgentDefinition & { problem?: SettingProblem }

/**
 * Returns the agents with each account after its agent. An account gets the properties that its entry doesn't set from the agent.
 * @param agents by id; an account replaces the agent with its id
 * @param isSearched whether the search for agents has ended. If it has, an unknown agent of an account is reported as missing. Otherwise,
 * accounts of unknown agents are omitted.
 */
export function withAccounts(
  agents: ReadonlyMap<string, AgentDefinition>,
  accounts: readonly AccountEntry[],
  presets: readonly AgentPreset[],
  isSearched: boolean,
): AccountDefinition[] {
  const ids = new Set(accounts.map(({ id }) => id))
  const others: AccountDefinition[] = []
  const byAgent = new Map<string, AccountDefinition[]>()
  for (const entry of accounts) {
    const of = entry.account?.of
    const agent = of === undefined || ids.has(of) ? undefined : agents.get(of)
    const definition = accountDefinition(entry, agent, presets)
    if (agent) {
      const its = byAgent.get(agent.id) ?? []
      byAgent.set(agent.id, its)
      its.push(definition)
    } else if (isSearched || entry.problem !== undefined) others.push(definition)
  }
  const listed = [...agents.values()].filter(({ id }) => !ids.has(id))
  return [...listed.flatMap(agent => [agent, ...(byAgent.get(agent.id) ?? [])]), ...others]
}

/** Returns a function from an account's folder to the environment variables that select the account; `undefined` if the agent has none. */
export function accountEnvironmentOf(
  agentId: string,
  presets: readonly AgentPreset[],
): AgentPreset['accountEnvironment'] {
  return presets.find(({ id }) => id === agentId)?.accountEnvironment
}

function accountDefinition(
  { id, account, change, problem }: AccountEntry,
  agent: AgentDefinition | undefined,
  presets: readonly AgentPreset[],
): AccountDefinition {
  const cannot = (reason: SettingProblem): AccountDefinition => ({
    ...(agent ?? { command: '', args: [], env: {}, source: 'settings' }),
    ...{ id, name: change.name ?? id, account: account ?? { of: '', folder: '' }, problem: reason },
    ...(change.color !== undefined && { color: change.color }),
  })
  const wrongAgent = (message: string) =>
    cannot(settingProblem(AGENTS_SETTING, [id, 'account', 'of'], { scope: 'user' }, message))
  if (problem) return cannot(problem)
  if (!account || !agent)
    return wrongAgent(l10n.t("the agent of this account isn't available: {0}", account?.of ?? ''))
  const environment = accountEnvironmentOf(agent.id, presets)
  if (!environment || agent.remote)
    return wrongAgent(
      l10n.t("{0} can't have accounts: it isn't known to keep its sign-in in a folder", agent.name),
    )
  const own = environment(account.folder)
  // On Windows, names of variables are case-insensitive.
  const isOwn = (name: string) => Object.hasOwn(own, name.toUpperCase())
  const inherited = Object.entries({ ...agent.env, ...change.env }).filter(([name]) => !isOwn(name))
  return {
    ...agent,
    ...change,
    id,
    name: (change.name ?? `${id} (${agent.name})`).trim(),
    env: { ...Object.fromEntries(inherited), ...own },
    ...((agent.defaultOptions ?? change.defaultOptions) && {
      defaultOptions: { ...agent.defaultOptions, ...change.defaultOptions },
    }),
    account,
  }
}
