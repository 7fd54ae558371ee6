import * as l10n from '@vscode/l10n'
import * as vscode from 'vscode'
import { DisposableStore } from '../common/disposable.ts'
import { messageOf } from '../common/errors.ts'
import type { Logger } from '../common/logger.ts'
import type { AgentHost } from '../sessions/agent-host.ts'
import type { AgentDirectory } from '../sessions/ports.ts'
import { signOut } from '../sessions/sign-out.ts'
import type { ConversationSurfaces } from './conversation/conversation-surface.ts'
import { CommandId } from './ids.ts'

export interface SignInCommandParts {
  surfaces: ConversationSurfaces
  agents: AgentDirectory
  host: (agentId: string) => AgentHost
  signInValues: { forget(agentId: string): Promise<boolean> }
  log: Logger
}

/** *Sign In…* and *Sign Out…*: for the agent of the conversation, else for one that the person picks. */
export function registerSignInCommands(parts: SignInCommandParts): vscode.Disposable {
  const { surfaces, agents, host, log } = parts
  const registered = new DisposableStore()
  const on = (id: string, run: (agentId: string) => Promise<void>) =>
    registered.add(
      vscode.commands.registerCommand(id, async (wanted?: unknown) => {
        try {
          const agentId = typeof wanted === 'string' ? wanted : await agentOf(surfaces, agents)
          if (agentId !== undefined) await run(agentId)
        } catch (error) {
          log.error(`${id}: ${messageOf(error)}`)
          void vscode.window.showErrorMessage(messageOf(error))
        }
      }),
    )

  on(CommandId.signIn, async agentId => {
    await surfaces.active.reveal()
    await surfaces.active.controller.offerSignIn(agentId)
  })
  on(CommandId.signOut, async agentId => {
    if (!vscode.workspace.isTrusted)
      throw new Error(l10n.t('No agent is started until you trust this workspace.'))
    const name = host(agentId).name
    const done = await signOut(host(agentId), () => parts.signInValues.forget(agentId))
    void vscode.window.showInformationMessage(
      done
        ? l10n.t('You are signed out of {0}.', name)
        : l10n.t('{0} has no way to sign out from here, and nothing of it is kept.', name),
    )
  })
  return registered
}

async function agentOf(surfaces: ConversationSurfaces, agents: AgentDirectory): Promise<string | undefined> {
  const current = surfaces.active.controller.agentId
  if (current !== undefined) return current
  await agents.ready()
  const items = agents
    .list()
    .map(({ agentId, name, icon }) => ({ label: `$(${icon ?? 'robot'}) ${name}`, agentId }))
  const picked = await vscode.window.showQuickPick(items, { placeHolder: l10n.t('Which agent?') })
  return picked?.agentId
}
