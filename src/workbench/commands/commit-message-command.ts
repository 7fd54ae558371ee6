import * as l10n from '@vscode/l10n'
import * as vscode from 'vscode'
import * as z from 'zod'
import { showFailureOrSignIn } from '../../app/ask-agent.ts'
import type { ConversationSurfaces } from '../../app/conversation/conversation-surface.ts'
import { type CommandHandlers, CommandId } from '../../app/ids.ts'
import type { Workbench } from '../../app/workbench.ts'
import { CancelledError, UnavailableError } from '../../common/errors.ts'
import type { Logger } from '../../common/logger.ts'
import { plainMessage } from '../../common/plain-message.ts'
import { commitChanges, commitMessageIn, commitMessagePrompt } from '../../editor/commit-changes.ts'
import { ensureScratchFolder } from '../../editor/roots.ts'
import { askInHiddenSession, type HiddenSessionOptions } from '../../sessions/hidden-session.ts'
import type { AgentDirectory } from '../../sessions/ports.ts'
import type { AgentRunner } from '../../sessions/runners/agent-runner.ts'
import { gitApi, type Repository } from '../editor/git-extension.ts'

const sourceControl = z.object({ rootUri: z.custom<vscode.Uri>(value => value instanceof vscode.Uri) })

export interface CommitMessageOptions {
  surfaces: ConversationSurfaces
  agents: AgentDirectory
  runner: (agentId: string) => AgentRunner
  records: HiddenSessionOptions['records']
  /** The directory of Parley's own files. */
  globalStorage: string
  log: Logger
  workbench: Workbench
}

/**
 * *Generate Commit Message*: the agent of the conversation, else the default agent, describes the staged changes, or all changes if nothing
 * is staged, in the input of Source Control. The agent works in a folder of Parley's, so that nothing that the repository configures for
 * agents runs.
 */
export function commitMessageCommand(options: CommitMessageOptions) {
  const { surfaces, agents, runner, workbench } = options
  /** repositories with a message in progress */
  const busy = new Set<string>()
  return {
    [CommandId.generateCommitMessage]: async (pressed?: unknown) => {
      if (!vscode.workspace.isTrusted)
        throw new UnavailableError(l10n.t("Agents don't start until you trust this workspace."))
      const repository = await repositoryFor(pressed)
      if (!repository) return
      const root = repository.rootUri.fsPath
      if (busy.has(root)) throw new UnavailableError(l10n.t('A commit message is already being generated.'))
      busy.add(root)
      try {
        const agentId = await agentFor(surfaces, agents)
        const changes = await commitChanges(root)
        if (!changes) throw new UnavailableError(l10n.t('There are no changes to commit.'))
        const begun = repository.inputBox.value
        const text = commitMessagePrompt(changes, begun.trim())
        const { controller } = surfaces.active
        await showFailureOrSignIn(
          workbench.dialogs,
          agentId,
          (id, then) => controller.signIn.offer(id, then),
          async () => {
            const message = await withProgress(runner(agentId).name, async signal => {
              const cwd = await ensureScratchFolder(options.globalStorage)
              return askInHiddenSession(text, { ...options, runner: runner(agentId), cwd }, signal)
            })
            await write(repository, begun, commitMessageIn(message), runner(agentId).name)
          },
        )
      } finally {
        busy.delete(root)
      }
    },
  } satisfies Partial<CommandHandlers>
}

async function agentFor(surfaces: ConversationSurfaces, agents: AgentDirectory): Promise<string> {
  const current = surfaces.active.controller.agentId
  if (current !== undefined) return current
  await agents.ready()
  const agentId = agents.defaultAgentId()
  if (agentId !== undefined) return agentId
  // the conversation shows the available agents, or the problem with the default one
  await surfaces.active.reveal()
  throw new UnavailableError(agents.defaultProblem()?.message ?? l10n.t('Choose an agent first.'))
}

/** The repository of the clicked Source Control provider, else the only repository, or one that the user selects. */
async function repositoryFor(pressed: unknown): Promise<Repository | undefined> {
  const git = await gitApi()
  if (!git) throw new UnavailableError(l10n.t("VS Code's Git extension is turned off."))
  const named = sourceControl.safeParse(pressed)
  const known = named.success ? git.getRepository(named.data.rootUri) : undefined
  if (known) return known
  const { repositories } = git
  if (repositories.length === 0)
    throw new UnavailableError(l10n.t('There is no Git repository in this workspace.'))
  if (repositories.length === 1) return repositories[0]
  const items = repositories.map(repository => ({
    label: vscode.workspace.asRelativePath(repository.rootUri),
    repository,
  }))
  const placeHolder = l10n.t('Select a repository')
  return (await vscode.window.showQuickPick(items, { placeHolder }))?.repository
}

/** Rejects with `CancelledError` if the user cancels. */
function withProgress(agentName: string, work: (signal: AbortSignal) => Promise<string>): Promise<string> {
  const title = plainMessage(l10n.t('{0} is writing a commit message…', agentName))
  const options = { location: vscode.ProgressLocation.Notification, title, cancellable: true }
  return new Promise((resolve, reject) => {
    void vscode.window.withProgress(options, async (_progress, token) => {
      const abort = new AbortController()
      token.onCancellationRequested(() => abort.abort(new CancelledError()))
      await work(abort.signal).then(resolve, error =>
        reject(abort.signal.aborted ? new CancelledError() : error),
      )
    })
  })
}

/** Doesn't replace what the user wrote meanwhile. */
async function write(
  repository: Repository,
  begun: string,
  message: string,
  agentName: string,
): Promise<void> {
  if (message === '') throw new Error(l10n.t("{0} didn't write a commit message.", agentName))
  if (repository.inputBox.value !== begun) {
    const replace = l10n.t('Replace')
    const text = l10n.t('You edited the commit message in the meantime. Replace it with the generated one?')
    if ((await vscode.window.showInformationMessage(text, replace)) !== replace) return
  }
  repository.inputBox.value = message
}
