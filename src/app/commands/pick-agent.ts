import * as l10n from '@vscode/l10n'
import type { AgentDirectory, AgentEntry } from '../../sessions/ports.ts'
import { type Accounts, describeAccount } from '../../sessions/sign-in/accounts.ts'
import type { ConversationSurfaces } from '../conversation/conversation-surface.ts'
import { CommandId } from '../ids.ts'
import type { PickItem, Workbench } from '../workbench.ts'

/** The agent of the active conversation, else one that the user picks. */
export async function agentOf(
  { dialogs }: Workbench,
  surfaces: ConversationSurfaces,
  agents: AgentDirectory,
): Promise<string | undefined> {
  const current = surfaces.active.controller.agentId
  if (current !== undefined) return current
  await agents.ready()
  const items = agents.list().map(agent => ({ label: labelOf(agent), agentId: agent.agentId }))
  const picked = await dialogs.pick(items, { placeholder: l10n.t('Select an agent') })
  return picked?.agentId
}

/** Quick picks support only codicons. */
function labelOf({ icon, name }: AgentEntry): string {
  return `$(${icon !== undefined && /^[a-z0-9-]+$/.test(icon) ? icon : 'sparkle'}) ${name}`
}

/** Lets the user pick one of all agents for a new session. */
export async function pickAgent(
  { dialogs, execute }: Workbench,
  agents: AgentDirectory,
  accounts: Pick<Accounts, 'get'>,
): Promise<string | undefined> {
  const sources = {
    settings: l10n.t('settings'),
    installed: l10n.t('installed'),
    preset: l10n.t('installed'),
    demo: l10n.t('no account required'),
  }
  await agents.ready()
  const items: Array<PickItem & { agentId?: string }> = [
    ...agents.list().map(agent => ({
      label: labelOf(agent),
      description: [sources[agent.source], describeAccount(accounts.get(agent.agentId))]
        .filter(Boolean)
        .join(' · '),
      detail: agent.description,
      agentId: agent.agentId,
    })),
    { label: '', isSeparator: true },
    { label: `$(extensions) ${l10n.t('Manage Agents')}` },
  ]
  const picked = await dialogs.pick(items, {
    title: l10n.t('New Session with Agent'),
    placeholder: l10n.t('Select an agent'),
    matchOnDescription: true,
  })
  if (picked && picked.agentId === undefined) await execute(CommandId.manageAgents)
  return picked?.agentId
}
