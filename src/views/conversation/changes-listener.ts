import path from 'node:path'
import * as l10n from '@vscode/l10n'
import * as vscode from 'vscode'
import { type Disposable, DisposableStore, toDisposable } from '../../common/disposable.ts'
import { messageOf } from '../../common/errors.ts'
import { plainMessage } from '../../common/plain-message.ts'
import type { ChangedFile, ChangedFiles } from '../../editor/changes/changed-files.ts'
import { type ChangeEditors, removeFile } from '../../editor/changes/vscode-changes.ts'
import type { ConversationController } from '../../sessions/conversation-controller.ts'
import type { SessionManager } from '../../sessions/session-manager.ts'
import { sessionTitle } from '../../sessions/session-title.ts'
import * as bridge from '../bridge/changed-files.ts'
import * as incoming from '../bridge/incoming-changed-files.ts'
import type { WebviewConnection } from '../webview-connection.ts'

export interface ChangesParts {
  manager: Pick<SessionManager, 'changesOf'>
  editors: ChangeEditors
}

/** The view is told of changes at most this often, in milliseconds. */
const TELL_MS = 50

export interface ChangesListener extends Disposable {
  /** Tells the webview anew. */
  tell(): void
}

/** Tells a conversation's webview what its session changed, and does what the person asks for with it. */
export function listenForChanges(
  connection: WebviewConnection,
  controller: ConversationController,
  { manager, editors }: ChangesParts,
): ChangesListener {
  const own = new DisposableStore()
  let following: Disposable | undefined
  const changesOf = (key: string): ChangedFiles | undefined => {
    const open = key === controller.key ? controller.current : undefined
    return open && manager.changesOf(open)
  }
  const tell = () => {
    const { key } = controller
    connection.send(bridge.ChangedFilesShown, { key, files: changesOf(key)?.list() ?? [] })
  }
  // an agent may change many files at once
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
    following = current && manager.changesOf(current).onDidChange(tellSoon)
    tell()
  }
  follow()
  own.add(controller.onDidSwitch(follow))
  own.add(toDisposable(() => following?.dispose()))

  connection.onNotification(bridge.OpenChange, incoming.oneChange, async ({ key, path }) => {
    const changes = changesOf(key)
    await changes?.refresh()
    const file = changes?.list().find(one => one.path === path)
    if (changes && file) await editors.open(key, changes, file)
  })
  connection.onNotification(bridge.ReviewChanges, incoming.allChanges, async ({ key }) => {
    const changes = changesOf(key)
    const { current } = controller
    if (!changes || !current) return
    await changes.refresh()
    const title = sessionTitle(current.session.state) ?? current.agentName
    await editors.review(key, changes, l10n.t('{0}: changed files', title))
  })
  connection.onNotification(bridge.KeepChanges, incoming.someChanges, ({ key, path }) => {
    const changes = changesOf(key)
    changes?.keep(path === undefined ? changes.list().map(file => file.path) : [path])
  })
  connection.onNotification(bridge.UndoChanges, incoming.someChanges, async ({ key, path }) => {
    const changes = changesOf(key)
    await changes?.refresh()
    const files = changes?.list().filter(file => path === undefined || file.path === path) ?? []
    if (changes && files.length > 0) await undo(key, changes, files, editors)
  })
  return { tell, dispose: () => own.dispose() }
}

/** Asks first; what the person changed since stays as it is, and is shown. */
async function undo(
  key: string,
  changes: ChangedFiles,
  files: readonly ChangedFile[],
  editors: ChangeEditors,
): Promise<void> {
  const [first] = files
  if (!first) return
  const question =
    files.length === 1
      ? l10n.t('Undo all that this session changed in {0}?', path.basename(first.path))
      : l10n.t('Undo all that this session changed in {0} files?', files.length)
  const details = [
    ...(files.some(file => file.status === 'added')
      ? [l10n.t('Files that the agent added go to the trash.')]
      : []),
    ...(files.some(file => file.meanwhile)
      ? [
          l10n.t(
            'Some changed while the agent worked and it did not say how: it may have been somebody else.',
          ),
        ]
      : []),
  ]
  const yes = l10n.t('Undo')
  const options = { modal: true, ...(details.length > 0 && { detail: details.join('\n') }) }
  if ((await vscode.window.showWarningMessage(question, options, yes)) !== yes) return
  const since: ChangedFile[] = []
  for (const file of files) {
    try {
      if ((await changes.undo(file.path, removeFile)) === 'changed-since') since.push(file)
    } catch (error) {
      void vscode.window.showWarningMessage(plainMessage(messageOf(error)))
    }
  }
  const [changed] = since
  if (!changed) return
  const names = since.map(file => path.basename(file.path)).join(', ')
  void vscode.window.showWarningMessage(
    l10n.t(
      '{0}: changed since the agent left it, so nothing was undone there. Look at the differences.',
      plainMessage(names),
    ),
  )
  await editors.open(key, changes, changed)
}
