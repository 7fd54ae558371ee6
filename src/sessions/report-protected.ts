import path from 'node:path'
import * as l10n from '@vscode/l10n'
import type { SessionChanges } from '../changes/session-changes.ts'
import { type Disposable, DisposableStore } from '../common/disposable.ts'
import { messageOf } from '../common/errors.ts'
import type { Event } from '../common/event.ts'
import type { Logger } from '../common/logger.ts'
import type { Session } from '../conversation/session.ts'
import type { FilesShared } from '../editor/files/files.ts'
import { isProtectedPath, ProtectedSnapshot } from '../editor/protected-files.ts'

/** Changes within this time are reported together, in milliseconds. */
const GATHER_MS = 150

export interface ReportProtectedOptions {
  session: Session
  changes: Pick<SessionChanges, 'textOf' | 'noticed' | 'watchDecisions'>
  /** `watch` reports files that change on disk */
  files: Pick<FilesShared, 'watch' | 'protectedFiles'>
  /** Fires when the user saved a file in the editor. */
  onDidSave: Event<string>
  /** Fires when the client wrote a file for the agent, after the user allowed it. */
  onDidWrite: Event<string>
  log: Logger
}

/**
 * Reports in the conversation when a protected file changes during a turn other than through the client: agents that
 * write with their own tools don't ask. The report offers the diff and a way to undo the change.
 */
export function reportProtected(options: ReportProtectedOptions): Disposable {
  const { session, changes, files: shared, onDidSave, onDidWrite, log } = options
  const own = new DisposableStore()
  let snapshot: Promise<ProtectedSnapshot> | undefined
  let turn = new DisposableStore()
  let timer: NodeJS.Timeout | undefined
  let checks = Promise.resolve()
  let decided = changes.watchDecisions()

  const check = () => {
    const current = snapshot
    if (current) checks = checks.then(() => report(current)).catch(failed)
  }
  const report = async (current: Promise<ProtectedSnapshot>) => {
    const isDecided = decided
    decided = changes.watchDecisions()
    // don't report what the user has just undone
    const found = (await (await current).changes()).filter(file => !isDecided(file.path))
    if (found.length === 0) return
    const files = found.map(file => file.path)
    const [first = ''] = files
    const known = found.flatMap(({ path, before }) => (before === undefined ? [] : { path, before }))
    await changes.noticed(known, undefined, isDecided)
    session.notify({
      severity: 'warning',
      title:
        files.length === 1
          ? l10n.t('{0} was changed without asking you', path.basename(first))
          : l10n.t('{0} protected files were changed without asking you', files.length),
      description: l10n.t(
        'This file controls which programs run or what agents can do. It was changed on disk during the turn by the agent, one of its commands or another program. Check the change before you continue.',
      ),
      files,
    })
  }
  const failed = (error: unknown) => log.debug(`Protected files couldn't be compared: ${messageOf(error)}`)
  const accept = (file: string) => {
    const current = snapshot
    // before a later check, and after a running one
    if (current) checks = checks.then(async () => (await current).accept(file)).catch(failed)
  }
  const begin = () => {
    const { cwd, additionalDirectories } = session.setup
    const roots = [cwd, ...additionalDirectories]
    const began = Date.now()
    snapshot = shared.protectedFiles
      .hookFolders(roots)
      .then(hooks => ProtectedSnapshot.take(roots, hooks, file => changes.textOf(file), began))
    snapshot.catch(failed)
    turn = own.add(new DisposableStore())
    const watching = shared.watch?.(file => {
      if (!isProtectedPath(file)) return
      timer ??= setTimeout(() => {
        timer = undefined
        check()
      }, GATHER_MS)
    })
    if (watching) turn.add(watching)
    turn.add(onDidSave(accept))
    turn.add(onDidWrite(accept))
  }
  const end = () => {
    clearTimeout(timer)
    timer = undefined
    check()
    own.release(turn)
    snapshot = undefined
  }

  const follow = () => {
    const works = session.phase === 'ready' && session.isAtWork
    if (works && !snapshot) begin()
    else if (!works && snapshot) end()
  }
  own.add(session.onDidChange(follow))
  own.add({ dispose: () => clearTimeout(timer) })
  follow()
  return own
}
