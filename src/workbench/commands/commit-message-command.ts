import * as l10n from '@vscode/l10n'
import * as vscode from 'vscode'
import * as z from 'zod'
import type { CommitMessages } from '../../app/commands/commit-message.ts'
import { type CommandHandlers, CommandId } from '../../app/ids.ts'
import { UnavailableError } from '../../common/errors.ts'
import { gitApi, type Repository } from '../editor/git-extension.ts'
import { pathOnDisk } from '../path-on-disk.ts'

const sourceControl = z.object({ rootUri: z.custom<vscode.Uri>(value => value instanceof vscode.Uri) })

/** Returns the command *Generate Commit Message*, for the chosen repository. */
export function commitMessageCommand(messages: Pick<CommitMessages, 'generate'>) {
  return {
    [CommandId.generateCommitMessage]: async (pressed?: unknown) => {
      const repository = await repositoryFor(pressed)
      if (repository) await messages.generate(pathOnDisk(repository.rootUri), repository.inputBox.value)
    },
  } satisfies Partial<CommandHandlers>
}

/** Resolves to the repository of the clicked Source Control provider, else the only repository, or one that the user selects. */
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

/** Writes the message into the input of Source Control, unless the user changed the input's text (`begun`) meanwhile. */
export async function writeCommitMessage(root: string, begun: string, message: string): Promise<void> {
  const repository = (await gitApi())?.getRepository(vscode.Uri.file(root))
  if (!repository) throw new Error(l10n.t('There is no Git repository in this workspace.'))
  if (repository.inputBox.value !== begun) {
    const replace = l10n.t('Replace')
    const text = l10n.t('You edited the commit message in the meantime. Replace it with the generated one?')
    if ((await vscode.window.showInformationMessage(text, replace)) !== replace) return
  }
  repository.inputBox.value = message
}
