import path from 'node:path'
import * as l10n from '@vscode/l10n'
import type { HostedAgentInfo } from '../../acp/start-hosted.ts'
import { type Disposable, toDisposable } from '../../common/disposable.ts'
import type { Logger } from '../../common/logger.ts'
import type { Documents } from '../../editor/files/documents.ts'
import type { HistoryList } from '../../sessions/listing/history-list.ts'
import type { SessionDeleter } from '../../sessions/listing/session-deleter.ts'
import type { OpenSessions } from '../../sessions/open-sessions.ts'
import type { SessionRecords } from '../../sessions/ports.ts'
import type { HeldSessions } from '../../sessions/session-leases.ts'
import type { ConversationSurfaces } from '../conversation/conversation-surface.ts'
import { sessionRoots, type WindowSessions } from '../window-sessions.ts'
import type { StartingAgents, WindowWorktrees } from '../window-worktrees.ts'
import type { Workbench } from '../workbench.ts'
import { directoriesOf } from './hosted-directories.ts'

/** The delay after the start, in milliseconds. Sessions of the previous window may still be opened again. */
const AFTER_START_MS = 30_000
/** The delay after a session was opened, closed or deleted, in milliseconds. */
const AFTER_CHANGE_MS = 2000

interface UnusedWorktreesOptions {
  workbench: Workbench
  worktrees: WindowWorktrees
  openSessions: Pick<OpenSessions, 'list' | 'onDidChange'>
  held: HeldSessions
  deleter: Pick<SessionDeleter, 'onDidDelete'>
  records: Pick<SessionRecords, 'agentIds' | 'list' | 'get'>
  history: Pick<HistoryList, 'directories'>
  surfaces: Pick<ConversationSurfaces, 'list'>
  comparisons: StartingAgents
  windows: Pick<WindowSessions, 'refresh' | 'others' | 'busy' | 'used'>
  documents: Pick<Documents, 'unsaved'>
  /** The agents in the agent host, whether or not a window is attached. */
  hosts: { list(): Promise<HostedAgentInfo[]> }
  log: Logger
}

/** Removes empty worktrees once no session uses them, and the folders of worktrees that were discarded a day ago. */
export function watchUnusedWorktrees(options: UnusedWorktreesOptions): Disposable {
  const { workbench, worktrees, openSessions, held, deleter, records, log } = options
  let timer: NodeJS.Timeout | undefined
  let work = Promise.resolve()
  const clean = async () => {
    if (!worktrees.hasRepository || !workbench.isTrusted) return
    const [{ removeUnusedWorktrees }, { tidyDiscarded }] = await Promise.all([
      import('./remove-unused-worktrees.ts'),
      import('../../editor/worktrees/discarded-worktrees.ts'),
    ])
    for (const common of worktrees.gitFolders()) await tidyDiscarded(common, log)
    const paths = worktrees.paths()
    if (paths.length === 0) return
    const used = async () => {
      const { history, surfaces, comparisons, windows, documents, hosts } = options
      const agents = await hosts.list()
      if (!windows.refresh()) throw new Error("It isn't known what other windows use.")
      return [
        ...workbench.folders.map(folder => folder.path),
        ...documents.unsaved(),
        ...openSessions.list().flatMap(sessionRoots),
        ...surfaces.list().flatMap(({ controller }) => controller.opener.expected?.cwd ?? []),
        ...comparisons.starting(),
        ...history.directories(),
        ...windows.others().map(({ cwd }) => cwd),
        ...windows.busy(),
        ...windows.used(),
        ...agents.flatMap(agent => directoriesOf(agent, records)),
      ]
    }
    const onRemove = (removed: string) => {
      void worktrees.refresh()
      workbench.dialogs.showStatus(l10n.t('Removed the empty worktree {0}', path.basename(removed)))
    }
    await removeUnusedWorktrees({ paths, used, records, held, onRemove, log })
  }
  const later = (ms: number) => {
    clearTimeout(timer)
    timer = setTimeout(() => {
      work = work.then(clean)
    }, ms)
    timer.unref()
  }
  later(AFTER_START_MS)
  const watching = [openSessions.onDidChange, deleter.onDidDelete].map(event =>
    event(() => later(AFTER_CHANGE_MS)),
  )
  return toDisposable(() => {
    clearTimeout(timer)
    for (const one of watching) one.dispose()
  })
}
