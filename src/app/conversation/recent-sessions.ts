import type { HistoryRow } from '../../bridge/history.ts'
import { newestFirst } from '../../common/date-groups.ts'
import { Owner } from '../../common/disposable.ts'
import { Emitter, type Event } from '../../common/event.ts'

/** The number of sessions on the start page and in the session switcher. */
const MAX_SHOWN = 6

/**
 * Returns the first sessions of the list: sessions of this workspace, and all open ones, including those in the background or in other
 * windows. Sessions that need the user come first, then running ones, then the most recent.
 */
export function firstSessions(rows: readonly HistoryRow[], hasFolder: boolean): HistoryRow[] {
  // The list isn't sorted: there may be thousands of sessions, and every change of a session calls this.
  const first: HistoryRow[] = []
  for (const row of rows) {
    if (!isListed(row, hasFolder)) continue
    let at = first.length
    while (at > 0 && inOrder(row, first[at - 1]!) < 0) at--
    if (at >= MAX_SHOWN) continue
    first.splice(at, 0, row)
    first.length = Math.min(first.length, MAX_SHOWN)
  }
  return first
}

function isListed(row: HistoryRow, hasFolder: boolean): boolean {
  const { open, inWindow, archived, canLoad, canResume, here } = row
  return open || inWindow !== undefined || (!archived && (canLoad || canResume) && (here || !hasFolder))
}

function inOrder(a: HistoryRow, b: HistoryRow): number {
  return rankOf(a) - rankOf(b) || newestFirst(a, b)
}

function rankOf({ activity, ended }: HistoryRow): number {
  if (activity === 'requires_action') return 0
  if (activity === 'running') return 1
  if (ended === 'failed' || ended === 'interrupted') return 2
  return ended === 'done' ? 3 : 4
}

export interface RecentSessionsOptions {
  /** all sessions */
  rows: () => readonly HistoryRow[]
  /** the paths of the workspace folders */
  folders: () => string[]
  /** Shows the session in the active place, or where it's already shown, which may be another window. */
  open: (agentId: string, sessionId: string) => Promise<void>
  /** Lists the sessions of running agents again. */
  refresh: () => void
  /** events after which the rows may have changed */
  changes: ReadonlyArray<Event<void>>
}

/** The part of `RecentSessions` that a conversation page uses. */
export type SessionsToOpen = Pick<RecentSessions, 'list' | 'open' | 'refresh' | 'onDidChange'>

/**
 * The sessions that the start page and the session switcher list. The list is cached until one of its sessions changes, since every change
 * of the conversation requests the list.
 */
export class RecentSessions extends Owner {
  readonly #options: RecentSessionsOptions
  readonly #change = this.register(new Emitter<void>())
  #known: { rows: HistoryRow[]; folders: string } | undefined
  readonly open: RecentSessionsOptions['open']
  readonly refresh: RecentSessionsOptions['refresh']

  readonly onDidChange = this.#change.event

  constructor(options: RecentSessionsOptions) {
    super()
    this.#options = options
    this.open = options.open
    this.refresh = options.refresh
    for (const event of options.changes)
      this.register(
        event(() => {
          this.#known = undefined
          this.#change.fire()
        }),
      )
  }

  list(): HistoryRow[] {
    const paths = this.#options.folders()
    const folders = paths.join('\n')
    if (this.#known?.folders !== folders)
      this.#known = { rows: firstSessions(this.#options.rows(), paths.length > 0), folders }
    return this.#known.rows
  }
}
