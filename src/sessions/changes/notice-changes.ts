import { type Disposable, DisposableStore } from '../../common/disposable.ts'
import { messageOf } from '../../common/errors.ts'
import type { Event } from '../../common/event.ts'
import type { Logger } from '../../common/logger.ts'
import { isFinalStatus } from '../../conversation/reducer/reduce-tool-calls.ts'
import type { Session } from '../../conversation/session.ts'
import type { ToolCallEntry } from '../../conversation/state.ts'
import type { SessionChanges } from '../../editor/changes/session-changes.ts'
import { WorkTree } from '../../editor/changes/work-tree.ts'

/** Kinds of tools that change no file. */
const HARMLESS = new Set<ToolCallEntry['toolKind']>(['read', 'search', 'fetch', 'think'])
/** Looks take this share of the time at most, and come so often at most, in milliseconds. */
const SHARE = 1 / 8
const LEAST_WAIT_MS = 2000

interface Turn {
  before: ReturnType<WorkTree['snapshot']>
  /** what the user saved meanwhile */
  saved: Set<string>
  /** what the user kept or undid meanwhile */
  isDecided: (path: string) => boolean
  /** something was done that may have changed files */
  worked: boolean
}

/**
 * Tells the change tracker when turns run, and which files changed meanwhile that no tool call named: most often by
 * commands. What the user saves in the editor meanwhile is theirs.
 */
export function noticeChanges(
  session: Session,
  files: SessionChanges,
  onDidSave: Event<string>,
  log: Logger,
  tree: Pick<WorkTree, 'snapshot' | 'changed'> = new WorkTree(path => files.textOf(path)),
): Disposable {
  const own = new DisposableStore()
  let turn: Turn | undefined
  let timer: NodeJS.Timeout | undefined
  let cost = 0

  const look = async ({ before, saved, isDecided }: Turn): Promise<void> => {
    try {
      const start = performance.now()
      const { changes, omitted } = await tree.changed(await before)
      cost = performance.now() - start
      await files.noticed(changes.filter(({ path }) => !saved.has(path) && !isDecided(path)))
      files.omitted = omitted
    } catch (error) {
      log.debug(`What changed in the folders could not be told: ${messageOf(error)}`)
    }
  }
  const lookSoon = (looked: Turn): void => {
    timer ??= setTimeout(
      () => {
        timer = undefined
        if (turn === looked) void look(looked)
      },
      Math.max(LEAST_WAIT_MS, cost / SHARE),
    )
  }
  own.add({
    dispose: () => {
      clearTimeout(timer)
      void files.endTurn()
    },
  })
  own.add(onDidSave(path => turn?.saved.add(path)))
  own.add(
    session.onDidChange(changes => {
      if (session.phase !== 'ready') return
      const works = session.state.activity !== 'idle' || (session.state.background ?? 0) > 0
      if (works && !turn) {
        const { cwd, additionalDirectories } = session.setup
        const before = tree.snapshot([cwd, ...additionalDirectories])
        before.catch(() => {})
        const begun: Turn = { before, saved: new Set(), isDecided: files.watchDecided(), worked: false }
        turn = begun
        // while the user is asked, nothing happens
        const isWorking = () => begun.worked && session.state.activity !== 'requires_action'
        files.beginTurn(session.state.turn, isWorking)
      }
      if (!turn) return
      for (const change of changes) {
        if (change.type !== 'entry') continue
        const entry = session.state.entries[session.state.index.get(change.id) ?? -1]
        if (entry?.kind !== 'tool_call' || HARMLESS.has(entry.toolKind)) continue
        turn.worked = true
        if (isFinalStatus(entry.status)) lookSoon(turn)
      }
      if (works) return
      const ended = turn
      turn = undefined
      void (ended.worked ? look(ended) : Promise.resolve()).then(() => {
        if (!turn) return files.endTurn()
      })
    }),
  )
  return own
}
