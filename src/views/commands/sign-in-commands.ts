import * as l10n from '@vscode/l10n'
import * as vscode from 'vscode'
import { DisposableStore } from '../../common/disposable.ts'
import type { Logger } from '../../common/logger.ts'
import type { AgentHost } from '../../sessions/hosts/agent-host.ts'
import type { AgentDirectory, SignedInAccounts } from '../../sessions/ports.ts'
import { signOut } from '../../sessions/sign-in/sign-out.ts'
import type { ConversationSurfaces } from '../conversation/conversation-surface.ts'
import { CommandId } from '../ids.ts'
import { waitForAgent } from '../wait-for-agent.ts'
import { agentOf } from './pick-agent.ts'
import { registerCommand } from './register-command.ts'

export interface SignInCommandParts {
  surfaces: ConversationSurfaces
  agents: AgentDirectory
  host: (agentId: string) => AgentHost
  accounts: SignedInAccounts
  signInValues: { forget(agentId: string): Promise<boolean> }
  log: Logger
}

/** *Sign In…* and *Sign Out…*: for the agent of the conversation, else for one that the person picks. */
export function registerSignInCommands(parts: SignInCommandParts): vscode.Disposable {
  const { surfaces, agents, host, log } = parts
  const registered = new DisposableStore()
  const on = (id: string, run: (agentId: string) => Promise<void>) =>
    registered.add(
      registerCommand(log, id, async (wanted?: unknown) => {
        const agentId = typeof wanted === 'string' ? wanted : await agentOf(surfaces, agents)
        if (agentId !== undefined) await run(agentId)
      }),
    )

  on(CommandId.signIn, async agentId => {
    await surfaces.active.reveal()
    await waitForAgent(host(agentId).name, l10n.t('Sign In'), () =>
      surfaces.active.controller.offerSignIn(agentId),
    )
  })
  on(CommandId.signOut, async agentId => {
    if (!vscode.workspace.isTrusted)
      throw new Error(l10n.t('No agent is started until you trust this workspace.'))
    const name = host(agentId).name
    await waitForAgent(name, l10n.t('Sign Out'), async givenUp => {
      const done = await signOut(host(agentId), () => parts.signInValues.forget(agentId), givenUp)
      void parts.accounts.refresh(agentId)
      void vscode.window.showInformationMessage(
        done
          ? l10n.t('You are signed out of {0}.', name)
          : l10n.t('{0} has no way to sign out from here, and nothing of it is kept.', name),
      )
    })
  })
  return registered
}
