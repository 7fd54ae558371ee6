import * as l10n from '@vscode/l10n'
import type { Handlers } from '../../bridge/contract.ts'
import type { ChangedFiles } from '../../bridge/conversation.ts'
import type { ConversationHostMessages, ConversationMessages } from '../../bridge/conversation-messages.ts'
import { decidedCount, outcomeOf } from '../../changes/review/review-progress.ts'
import type { SessionChanges } from '../../changes/session-changes.ts'
import { type Disposable, DisposableStore, toDisposable } from '../../common/disposable.ts'
import type { ConversationController } from '../../sessions/conversation-controller.ts'
import { showFailure } from '../ask-agent.ts'
import { confirmUndo, restoreUndone, type UndoServices } from '../changes/undo-changes.ts'
import type { WebviewConnection } from '../webview-connection.ts'

/** Minimum interval between updates for the page, in milliseconds. */
const TELL_MS = 50

/** Sends the files that the session changed to the conversation's webview, and handles its requests about them. */
export function connectChanges(
  connection: WebviewConnection<ConversationHostMessages>,
  controller: ConversationController,
  services: UndoServices,
) {
  const { editors } = services.workbench
  const own = new DisposableStore()
  let following: Disposable | undefined
  const changesOf = (key: string): SessionChanges | undefined => {
    const open = key === controller.key ? controller.current : undefined
    return open?.changes
  }
  const tell = () => {
    const { key } = controller
    const changes = changesOf(key)
    const { files: omitted = 0, folders: unseen = [] } = changes?.omitted ?? {}
    connection.send('changes/shown', {
      key,
      ...(changes ? reviewed(changes, services) : { files: [] }),
      ...(omitted > 0 && { omitted }),
      ...(unseen.length > 0 && { unseen: [...unseen] }),
    })
  }
  // sends the files soon, since an agent may change many at once
  let timer: NodeJS.Timeout | undefined
  const tellSoon = () => {
    timer ??= setTimeout(() => {
      timer = undefined
      tell()
    }, TELL_MS)
  }
  own.add(toDisposable(() => clearTimeout(timer)))
  const follow = () => {
    following?.dispose()
    const { current } = controller
    following = current?.changes.onDidChange(tellSoon)
    tell()
  }
  follow()
  own.add(controller.onDidSwitch(follow))
  own.add(services.tracker.progress.onDidChange(tellSoon))
  own.add(toDisposable(() => following?.dispose()))

  const handlers = {
    'changes/open': async ({ key, path }) => {
      const changes = changesOf(key)
      await changes?.refresh([path])
      if (!changes) return
      const file = changes.list().find(one => one.path === path)
      if (file) await editors.openChanges(key, file)
      // if no changes are left to compare, the file itself is opened
      else if (services.tracker.progress.files(changes).some(one => one.path === path))
        await showFailure(services.workbench.dialogs, editors.openFile({ path }))
    },
    'changes/review': async ({ key }) => {
      const changes = changesOf(key)
      const { current } = controller
      if (!changes || !current) return
      await changes.refresh()
      // the title of an open editor can't change, so it contains the agent's name and not the session's title
      await editors.reviewChanges(key, l10n.t('{0}: Changed Files', current.agentName))
    },
    'changes/keep': ({ key, path }) => {
      const changes = changesOf(key)
      if (changes) services.decisions.keep(changes, path === undefined ? {} : { paths: [path] })
    },
    'changes/undecide': async ({ key, path }) => {
      const find = () => {
        const changes = changesOf(key)
        return changes && services.tracker.progress.files(changes).find(one => one.path === path)
      }
      await services.decisions.undoIn(find, (revert, only) => restoreUndone(revert, services, only))
    },
    'changes/undo': async ({ key, path, turn }) => {
      const changes = changesOf(key)
      await changes?.refresh(path === undefined ? undefined : [path])
      if (!changes) return
      if (turn !== undefined && changes.list(turn).length === 0)
        services.workbench.dialogs.showStatus(l10n.t('This turn has no changes left to revert'))
      else
        await confirmUndo(
          changes,
          { ...(path !== undefined && { paths: [path] }), ...(turn !== undefined && { turn }) },
          services,
        )
    },
  } satisfies Partial<Handlers<ConversationMessages>>
  return { handlers, tell, dispose: () => own.dispose() }
}

/** Returns the files in the form in which the page lists them. */
function reviewed(
  changes: SessionChanges,
  { tracker, decisions }: UndoServices,
): Pick<ChangedFiles, 'files' | 'count'> {
  const files = tracker.progress.files(changes)
  if (files.every(({ undecided }) => undecided === 0)) return { files: [] }
  const count = decidedCount(files)
  const undoable = decisions.undoable(files)
  return {
    files: files.map(one => {
      const { path, file = { path, added: 0, removed: 0 }, undecided, kept, reverted, isGone } = one
      const outcome = outcomeOf(one)
      if (!outcome) return file
      return {
        ...file,
        decided: {
          ...{ outcome, kept, reverted, undecided },
          ...(isGone && { isGone }),
          ...(undoable.has(path) && { canUndo: true }),
        },
      }
    }),
    ...(count.decided > 0 && { count }),
  }
}
