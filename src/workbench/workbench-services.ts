import type { EditorServices } from '../app/editor-services.ts'
import { CommandId, ContextKey, HiddenCommandId, ProposalId } from '../app/ids.ts'
import type { Platform } from '../app/platform.ts'
import type { DisposableStore } from '../common/disposable.ts'
import { messageOf } from '../common/errors.ts'
import { ChangeDecorations } from './changes/change-decorations.ts'
import { ChangeEditors } from './changes/change-editors.ts'
import { OldTexts } from './changes/old-texts.ts'
import { ReviewCursor } from './changes/review-cursor.ts'
import { ReviewKeys } from './changes/review-keys.ts'
import { ReviewTree } from './changes/review-tree.ts'
import { ChangesSourceControl } from './changes/source-control.ts'
import { changeCommands } from './commands/change-commands.ts'
import { commitMessageCommand } from './commands/commit-message-command.ts'
import { codeCommands, contextCommands } from './commands/editor-commands.ts'
import type { VsCodeComments } from './comments/comment-threads.ts'
import { AgentHighlights } from './editor/agent-highlights.ts'
import type { Proposals } from './editor/diffs.ts'
import { PlanEditors } from './editor/plan-editors.ts'
import { noticeLocalSettings } from './local-settings-notice.ts'
import { answerNotification } from './notifications.ts'

/** Creates VS Code's own views: changes in editors and Source Control. */
export function createWorkbenchServices(
  platform: Platform & { proposals: Proposals; comments: VsCodeComments },
  services: EditorServices,
  own: DisposableStore,
) {
  const { storage, log, proposals } = platform
  const answerProposal = async (accept: boolean, uri: unknown) => {
    if (proposals.answer(accept, uri)) return
    const { answerEditableDiff } = await import('./changes/editable-diffs.ts')
    await answerEditableDiff(accept, uri)
  }
  own.add(noticeLocalSettings(storage, platform.workbench))
  const { changes, decisions } = services
  const changeEditors = own.add(new ChangeEditors(changes, log))
  const lensCommands = {
    keep: CommandId.keepChange,
    revert: CommandId.revertChange,
    showOld: CommandId.showOld,
    next: CommandId.nextChange,
  }
  const cursor = own.add(new ReviewCursor(changes, changeEditors))
  const reviewKeys = own.add(new ReviewKeys(changeEditors, decisions))
  own.add(
    decisions.onDidReturn(position => {
      reviewKeys.resume()
      cursor.go(position).catch(error => log.warn(`A change couldn't be shown: ${messageOf(error)}`))
    }),
  )
  const reviewTree = own.add(new ReviewTree(changes, changeEditors))
  const oldTexts = own.add(new OldTexts(changes, cursor))
  own.add(new ChangeDecorations(changes, cursor, lensCommands, ContextKey))
  own.add(new AgentHighlights(services.followAgentLines))
  const sourceControl = own.add(new ChangesSourceControl(changes))
  const commands = {
    ...changeCommands({
      ...{ decisions, sourceControl, cursor, reviewKeys, oldTexts, reviewTree },
      pathOf: path => changes.pathOf(path),
      reviews: changeEditors,
    }),
    ...platform.comments.commands,
    ...contextCommands(services.prompt),
    ...codeCommands(services.prompt),
    ...commitMessageCommand(services.commitMessages),
    [HiddenCommandId.answerNotification]: answerNotification,
    ...own.add(new PlanEditors(services.plans)).commands,
    [ProposalId.accept]: (uri: unknown) => answerProposal(true, uri),
    [ProposalId.reject]: (uri: unknown) => answerProposal(false, uri),
  }
  return { changeEditors, commands }
}
