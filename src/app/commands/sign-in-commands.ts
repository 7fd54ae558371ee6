import * as l10n from '@vscode/l10n'
import { UnavailableError } from '../../common/errors.ts'
import type { AgentDirectory } from '../../sessions/ports.ts'
import type { AgentRunner } from '../../sessions/runners/agent-runner.ts'
import type { Accounts } from '../../sessions/sign-in/accounts.ts'
import { signOut } from '../../sessions/sign-in/sign-in.ts'
import { confirmSignOut, waitForAgent } from '../ask-agent.ts'
import type { ConversationSurfaces } from '../conversation/conversation-surface.ts'
import { type CommandHandlers, CommandId } from '../ids.ts'
import type { Workbench } from '../workbench.ts'
import { agentOf } from './pick-agent.ts'

export interface SignInCommandOptions {
  surfaces: ConversationSurfaces
  agents: AgentDirectory
  runner: (agentId: string) => AgentRunner
  accounts: Pick<Accounts, 'signedOut' | 'refresh'>
  workbench: Workbench
  signInValues: { forget(agentId: string): Promise<boolean> }
}

/** *Sign In…* and *Sign Out…*, for the agent of the conversation, or else for an agent that the user picks. */
export function signInCommands(options: SignInCommandOptions) {
  const { surfaces, agents, runner, workbench } = options
  const { dialogs } = workbench
  const on = (run: (agentId: string) => Promise<void>) => async (wanted?: unknown) => {
    const agentId = typeof wanted === 'string' ? wanted : await agentOf(workbench, surfaces, agents)
    if (agentId !== undefined) await run(agentId)
  }
  return {
    [CommandId.signIn]: on(async agentId => {
      await surfaces.active.reveal()
      await waitForAgent(dialogs, runner(agentId).name, l10n.t('Sign In'), () =>
        surfaces.active.controller.signIn.offer(agentId),
      )
    }),
    [CommandId.signOut]: on(async agentId => {
      if (!workbench.isTrusted)
        throw new UnavailableError(l10n.t("Agents don't start until you trust this workspace."))
      const name = runner(agentId).name
      if (!(await confirmSignOut(dialogs, name))) return
      await waitForAgent(dialogs, name, l10n.t('Sign Out'), async givenUp => {
        const done = await signOut(runner(agentId), () => options.signInValues.forget(agentId), givenUp)
        void (done ? options.accounts.signedOut(agentId) : options.accounts.refresh(agentId))
        void dialogs.info(
          done
            ? l10n.t('Signed out of {0}.', name)
            : l10n.t("{0} doesn't support signing out from VS Code, and no credentials are stored.", name),
        )
      })
    }),
  } satisfies Partial<CommandHandlers>
}
