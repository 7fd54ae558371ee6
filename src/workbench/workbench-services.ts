import type { AppServices } from '../app/app-services.ts'
import type { EditorServices } from '../app/editor-services.ts'
import { CommandId, ContextKey, HiddenCommandId, ProposalId } from '../app/ids.ts'
import type { Platform } from '../app/platform.ts'
import type { DisposableStore } from '../common/disposable.ts'
import { sessionOfKey } from '../common/session-key.ts'
import { recordedTitle, titleOf } from '../sessions/session-title.ts'
import { ChangeDecorations } from './changes/change-decorations.ts'
import { ChangeEditors, followUserEdits } from './changes/change-editors.ts'
import { OldTexts } from './changes/old-texts.ts'
import { ReviewCursor } from './changes/review-cursor.ts'
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

/** Creates VS Code's own views: changes in editors and Source Control, notifications, the status bar. */
export function createWorkbenchServices(
  platform: Platform & { proposals: Proposals; comments: VsCodeComments },
  services: AppServices,
  { plans, prompt, commitMessages, followAgentLines }: EditorServices,
  own: DisposableStore,
) {
  const { workbench, storage, log, proposals } = platform
  const answerProposal = async (accept: boolean, uri: unknown) => {
    if (proposals.answer(accept, uri)) return
    const { answerEditableDiff } = await import('./changes/editable-diffs.ts')
    await answerEditableDiff(accept, uri)
  }
  const { tracker, manager, surfaces, records, nameOf } = services
  own.add(noticeLocalSettings(storage, platform.settings))
  own.add(followUserEdits(tracker))
  const changeEditors = own.add(new ChangeEditors(tracker, key => manager.changesOf(key), log))
  const lensCommands = {
    keep: CommandId.keepChange,
    revert: CommandId.revertChange,
    showOld: CommandId.showOld,
    next: CommandId.nextChange,
  }
  const cursor = own.add(new ReviewCursor(tracker, changeEditors))
  const reviewTree = own.add(new ReviewTree(tracker, changeEditors))
  const oldTexts = own.add(new OldTexts(tracker, cursor))
  own.add(new ChangeDecorations(tracker, cursor, lensCommands, ContextKey))
  own.add(new AgentHighlights(followAgentLines))
  const sourceControl = own.add(
    new ChangesSourceControl(tracker, key => {
      const { agentId, sessionId } = sessionOfKey(key)
      const open = manager.find(agentId, sessionId)
      const title = open ? titleOf(open.session) : recordedTitle(records.get(agentId, sessionId))
      return title || nameOf(agentId)
    }),
  )
  own.add(manager.onDidChange(() => sourceControl.updateSoon()))
  const activeChanges = () => {
    const { current } = surfaces.active.controller
    return current && { changes: current.changes, turn: current.session.state.turn }
  }
  const commands = {
    ...changeCommands({
      tracker,
      workbench,
      sessions: manager,
      decisions: services.decisions,
      sourceControl,
      cursor,
      oldTexts,
      reviewTree,
      reviews: changeEditors,
      activeChanges,
    }),
    ...platform.comments.commands,
    ...contextCommands(prompt),
    ...codeCommands(prompt),
    ...commitMessageCommand(commitMessages),
    [HiddenCommandId.answerNotification]: answerNotification,
    ...own.add(new PlanEditors(plans)).commands,
    [ProposalId.accept]: (uri: unknown) => answerProposal(true, uri),
    [ProposalId.reject]: (uri: unknown) => answerProposal(false, uri),
  }
  return { changeEditors, commands }
}
