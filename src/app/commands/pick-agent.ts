import * as l10n from '@vscode/l10n'
import { effectiveScope, type SettingsSource } from '../../agents/setting-layers.ts'
import { AGENT_ICON } from '../../common/agent-icon.ts'
import type { AgentDirectory } from '../../sessions/ports.ts'
import { type Accounts, describeAccount } from '../../sessions/sign-in/accounts.ts'
import type { ConversationSurfaces } from '../conversation/conversation-surface.ts'
import { CommandId } from '../ids.ts'
import { type PickItem, settingOf, type Workbench } from '../workbench.ts'

/** Resolves to the agent of the active conversation, or else to one that the user selects. */
export async function agentOf(
  { dialogs }: Workbench,
  surfaces: ConversationSurfaces,
  agents: AgentDirectory,
): Promise<string | undefined> {
  const current = surfaces.active.controller.agentId
  if (current !== undefined) return current
  await agents.ready()
  const items = agents.list().map(agent => ({
    ...{ label: agent.name, icon: agent.icon ?? AGENT_ICON, agentId: agent.agentId },
  }))
  const picked = await dialogs.pick(items, { placeholder: l10n.t('Select an agent') })
  return picked?.agentId
}

type AgentItem = PickItem & { agentId?: string }

/** Lets the user pick one of all agents. */
export async function pickAgent(
  workbench: Workbench,
  agents: AgentDirectory,
  accounts: Pick<Accounts, 'get'>,
  title: string,
): Promise<string | undefined> {
  await agents.ready()
  const picked = await pickOrManage(
    workbench,
    title,
    l10n.t('Select an agent'),
    allAgents(agents, accounts),
    [],
  )
  return picked?.agentId
}

/** Lets the user pick an agent or one of `others`, or open *Manage Agents* instead. */
async function pickOrManage(
  { dialogs, execute }: Workbench,
  title: string,
  placeholder: string,
  agents: readonly AgentItem[],
  others: readonly AgentItem[],
): Promise<AgentItem | undefined> {
  const manage: AgentItem = { label: l10n.t('Manage Agents'), icon: 'extensions' }
  const items = [...agents, { label: '', isSeparator: true }, ...others, manage]
  const picked = await dialogs.pick<AgentItem>(items, { title, placeholder, matchOnDescription: true })
  if (picked !== manage) return picked
  await execute(CommandId.manageAgents)
  return undefined
}

function allAgents(agents: AgentDirectory, accounts: Pick<Accounts, 'get'>, current?: string): AgentItem[] {
  const sources = {
    settings: l10n.t('settings'),
    installed: l10n.t('installed'),
    preset: l10n.t('installed'),
    demo: l10n.t('no account required'),
  }
  return agents.list().map(agent => ({
    label: agent.name,
    icon: agent.icon ?? AGENT_ICON,
    description: [
      agent.agentId === current && l10n.t('current'),
      sources[agent.source],
      describeAccount(accounts.get(agent.agentId)),
    ]
      .filter(Boolean)
      .join(' · '),
    detail: agent.description,
    agentId: agent.agentId,
  }))
}

/**
 * Lets the user pick the agent of `parley.defaultAgent`. Changes the workspace's value if there is one, since it overrides
 * the user's. Otherwise the user also picks where to save it, if a workspace is open.
 */
export async function selectDefaultAgent(
  workbench: Workbench,
  source: SettingsSource,
  agents: AgentDirectory,
  accounts: Pick<Accounts, 'get'>,
): Promise<void> {
  const { dialogs, settings, roots } = workbench
  await agents.ready()
  const title = l10n.t('Select Default Agent')
  const current = settingOf(workbench, 'defaultAgent').trim()
  const lastUsed: AgentItem = {
    label: l10n.t('Most Recently Used Agent'),
    icon: 'history',
    ...(current === '' && { description: l10n.t('current') }),
  }
  const placeholder = l10n.t('Select the agent that New Session starts')
  const listed = allAgents(agents, accounts, current)
  const picked = await pickOrManage(workbench, title, placeholder, listed, [lastUsed])
  if (!picked) return

  let scope: 'user' | 'workspace' | undefined = effectiveScope(source, 'defaultAgent')
  if (scope === 'user' && roots.length > 0) {
    const places = [
      { label: l10n.t('User Settings'), description: l10n.t('for all workspaces'), scope: 'user' as const },
      {
        label: l10n.t('Workspace Settings'),
        description: l10n.t('for this one'),
        scope: 'workspace' as const,
      },
    ]
    scope = (await dialogs.pick(places, { title, placeholder: l10n.t('Select where to save it') }))?.scope
  }
  if (scope === undefined) return
  const userHasOne = source.layers('defaultAgent').some(layer => layer.scope === 'user')
  await settings.update('defaultAgent', picked.agentId ?? emptyValue(scope, userHasOne), scope)
}

/**
 * Returns the value that removes the default agent: an empty one in the workspace if the user has a value, to override that; otherwise
 * none.
 */
function emptyValue(scope: 'user' | 'workspace', userHasOne: boolean): '' | undefined {
  return scope === 'workspace' && userHasOne ? '' : undefined
}
