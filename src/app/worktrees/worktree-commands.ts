import * as l10n from '@vscode/l10n'
import { UnavailableError } from '../../common/errors.ts'
import { type CommandHandlers, CommandId } from '../ids.ts'
import type { WorktreeCommandOptions } from './worktree-command-options.ts'

/** Returns *New Session in Worktree…* and *Worktree…*. Their code is loaded on first use. */
export function worktreeCommands(options: WorktreeCommandOptions) {
  const checkTrust = () => {
    if (options.workbench.isTrusted) return
    throw new UnavailableError(l10n.t("Agents don't start until you trust this workspace."))
  }
  return {
    [CommandId.newSessionInWorktree]: async () => {
      checkTrust()
      const { newSessionInWorktree } = await import('./new-session-in-worktree.ts')
      await newSessionInWorktree(options)
    },
    [CommandId.worktree]: async () => {
      checkTrust()
      const { showWorktree } = await import('./worktree-menu.ts')
      await showWorktree(options)
    },
  } satisfies Partial<CommandHandlers>
}
