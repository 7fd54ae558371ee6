import * as l10n from '@vscode/l10n'
import * as vscode from 'vscode'
import type { AgentDirectory } from '../../sessions/ports.ts'
import type { ConversationSurfaces } from '../conversation/conversation-surface.ts'

/** The agent of the conversation that the person works in, else one that they pick. */
export async function agentOf(
  surfaces: ConversationSurfaces,
  agents: AgentDirectory,
): Promise<string | undefined> {
  const current = surfaces.active.controller.agentId
  if (current !== undefined) return current
  await agents.ready()
  const items = agents
    .list()
    .map(({ agentId, name, icon }) => ({ label: `$(${icon ?? 'robot'}) ${name}`, agentId }))
  const picked = await vscode.window.showQuickPick(items, { placeHolder: l10n.t('Which agent?') })
  return picked?.agentId
}

/** The agent that a new session is to be with, of all there are. */
export async function pickAgent(agents: AgentDirectory): Promise<string | undefined> {
  const sources = {
    settings: l10n.t('settings'),
    preset: l10n.t('found on this machine'),
    demo: l10n.t('no account needed'),
  }
  const items = agents.list().map(agent => ({
    label: `$(${agent.icon ?? 'robot'}) ${agent.name}`,
    description: sources[agent.source],
    detail: agent.description,
    agentId: agent.agentId,
  }))
  const picked = await vscode.window.showQuickPick(items, {
    title: l10n.t('New Session with Agent'),
    placeHolder: l10n.t('Which agent?'),
    matchOnDescription: true,
  })
  return picked?.agentId
}
