/** The model of agents' changes for the editor's own views: Source Control, decorations, code lenses, reviews and their commands. */
import type { ChangeTracker } from '../../changes/change-tracker.ts'
import type { ChangedFile } from '../../changes/review/changed-file.ts'
import { type HunkPosition, hunkPositions } from '../../changes/review/hunk-navigation.ts'
import type { ReviewedFile } from '../../changes/review/review-progress.ts'
import { ChangeScope } from '../../changes/session-changes.ts'
import { type Disposable, Owner } from '../../common/disposable.ts'
import { Emitter, type Event } from '../../common/event.ts'
import { isText } from '../../common/file-names.ts'
import { summaryOf } from './file-summary.ts'
import { followList, type ListChange } from './follow-list.ts'

/**
 * Selects the changes of `session`, or of all sessions without one. `and` adds the changes of the sessions in which the same conversation
 * was before (`earlier`), or from which it was forked (`origins`).
 */
export interface WhichChanges {
  session?: string
  and?: 'earlier' | 'origins'
}

export interface ChangedSession {
  /** the session's key */
  session: string
  title: string
}

export interface ShownHunk {
  id: number
  /** 0-based line */
  start: number
  before: string[]
  after: string[]
}

/** The changes of a file that code lenses are for. */
export interface FileLenses {
  path: string
  /** absent if the file has no such changes */
  status?: ChangedFile['status']
  /**
   * A change without an id stands for the whole file. `at` is the change's 0-based number in the review, or -1 if the review doesn't
   * contain the change.
   */
  changes: Array<{ id?: number; line: number; hasOld: boolean; at: number }>
  /** number of changes in the review */
  total: number
}

/** A file without agents' changes. */
export interface BaseFile {
  path: string
  /** The session whose changes are left out. Without a session, all agents' changes are left out. */
  session?: string
  /** the new path of a renamed file. After the user keeps the rename, the file is only there. */
  to?: string
  /** asks for a description of a file that isn't text instead of its content, with or without the changes */
  summary?: 'before' | 'now'
}

/** The maximum number of cached scopes, more than windows show at once. */
const MAX_SCOPES = 200

export interface EditorChangesOptions {
  tracker: ChangeTracker
  /** The changes of a session that is, or was, open. */
  changesOf: (session: string) => ChangeScope | undefined
  titleOf: (session: string) => string
  /** Fires when the title of a session may have changed. */
  onDidChangeTitles: Event<unknown>
}

export class EditorChanges extends Owner {
  readonly #options: EditorChangesOptions
  readonly #tracker: ChangeTracker
  readonly #scopes = new Map<string, ChangeScope>()
  /** For code lenses: the changes in review order, and each change's number. Cached until a change of the scope. */
  readonly #positions = new Map<ChangeScope, { list: HunkPosition[]; numbers: Map<string, number> }>()
  readonly #change = this.register(new Emitter<string[]>())
  /** Paths that `onDidChange` hasn't reported yet. */
  readonly #changed = new Set<string>()

  /** Fires with the paths of files whose changes differ now. */
  readonly onDidChange: Event<string[]> = this.#change.event

  constructor(options: EditorChangesOptions) {
    super()
    this.#options = options
    this.#tracker = options.tracker
    this.register(
      this.#tracker.files.onDidChange(paths => {
        this.#positions.clear()
        for (const path of paths) this.#changed.add(path)
        // a decision changes each of its files by itself, so the event waits for all of them
        queueMicrotask(() => this.#tell())
      }),
    )
  }

  #tell(): void {
    const paths = [...this.#changed]
    this.#changed.clear()
    if (paths.length > 0) this.#change.fire(paths)
  }

  // ---- lists that report only their differences ------------------------------------------------------------------------

  /** Reports the sessions with changes soon, and later each session that is added, removed or renamed. */
  followSessions(listener: (change: ListChange<ChangedSession>) => void): Disposable {
    return followList({
      events: [this.#tracker.files.onDidChange, this.#options.onDidChangeTitles],
      read: () =>
        [...this.#tracker.views.sessions()].map(session => ({
          session,
          title: this.#options.titleOf(session),
        })),
      keyOf: ({ session }) => session,
      tell: listener,
    })
  }

  /** Reports the changed files by path soon, and later each file that changes. */
  followFiles(which: WhichChanges, listener: (change: ListChange<ChangedFile>) => void): Disposable {
    return followList({
      events: [this.#tracker.files.onDidChange],
      read: () => this.scope(which).list(),
      keyOf: ({ path }) => path,
      tell: listener,
    })
  }

  /** Reports the files of a review by path soon, decided or not, and later each file that changes. */
  followReview(which: WhichChanges, listener: (change: ListChange<ReviewedFile>) => void): Disposable {
    const { files, progress } = this.#tracker
    return followList({
      events: [files.onDidChange, progress.onDidChange],
      read: () => progress.files(this.scope(which)),
      keyOf: ({ path }) => path,
      tell: listener,
    })
  }

  // ---- what is shown -------------------------------------------------------------------------------------------------

  async list(which: WhichChanges): Promise<ChangedFile[]> {
    return this.scope(which).list()
  }

  async isEmpty(which: WhichChanges): Promise<boolean> {
    return this.scope(which).list().length === 0
  }

  async file(which: WhichChanges, path: string): Promise<ChangedFile | undefined> {
    return this.scope(which).file(path)
  }

  async hunks(which: WhichChanges, path: string): Promise<ShownHunk[]> {
    const hunks = this.scope(which).hunks(path)
    return hunks.map(({ id, start, before, after }) => ({ id, start, before, after }))
  }

  /** Resolves to the first change in review order. */
  async first(which: WhichChanges): Promise<HunkPosition | undefined> {
    return this.positions(this.scope(which))[0]
  }

  /**
   * Resolves to the changes of a file for code lenses; `undefined` if the file isn't tracked. `review` selects the changes that are
   * numbered.
   */
  async lenses(which: WhichChanges, review: WhichChanges, given: string): Promise<FileLenses | undefined> {
    const path = this.#tracker.views.at(given)?.path
    if (path === undefined) return undefined
    const scope = this.scope(which)
    const status = scope.file(path)?.status
    const hunks = scope.hunks(path)
    const { list, numbers } = this.#numbered(this.scope(review))
    const at = (id?: number) => numbers.get(numberKey(path, id)) ?? -1
    return {
      path,
      ...(status && { status }),
      changes:
        hunks.length > 0
          ? hunks.map(({ id, start, before }) => ({ id, line: start, hasOld: before.length > 0, at: at(id) }))
          : [{ line: 0, hasOld: false, at: at() }],
      total: list.length,
    }
  }

  /** Resolves to the path of the tracked file to which a path leads. */
  async pathOf(path: string): Promise<string | undefined> {
    return this.#tracker.views.at(path)?.path
  }

  /** Whether agents changed the file and the file still exists. */
  async isChanged(path: string): Promise<boolean> {
    const { hasChanges = false, gone } = this.#tracker.views.at(path) ?? {}
    return hasChanges && !gone
  }

  /** Resolves to the text of a tracked file. */
  async text(path: string): Promise<string | undefined> {
    return this.#tracker.views.at(path)?.text
  }

  /** Resolves to the content of a file without agents' changes; text is in UTF-8. */
  async before({ path, session, to, summary }: BaseFile): Promise<Uint8Array> {
    const { views } = this.#tracker
    const old = await views.before(path, session)
    const isKept = to !== undefined && (old?.attributes.type ?? 'absent') === 'absent'
    if (summary) {
      const file = isKept ? to : path
      // a file without changes is described as it is on disk
      const now = summary === 'now' ? views.at(file)?.state : undefined
      return Buffer.from(summaryOf(now ?? (await views.before(file, session))))
    }
    const state = isKept ? await views.before(to, session) : old
    return state ? views.bytesOf(state) : new Uint8Array()
  }

  // ---- for the decisions ----------------------------------------------------------------------------------------------

  scope({ session, and }: WhichChanges): ChangeScope {
    const open = and === 'origins' && session !== undefined ? this.#options.changesOf(session) : undefined
    if (open) return open
    const key = `${and ?? ''} ${session ?? ''}`
    let scope = this.#scopes.get(key)
    if (!scope) {
      scope = new ChangeScope(this.#tracker, session)
      if (session !== undefined && and) scope.origins = () => this.#earlierOf(session)
      this.#scopes.set(key, scope)
      const [oldest] = this.#scopes.keys()
      if (this.#scopes.size > MAX_SCOPES && oldest !== undefined) this.#scopes.delete(oldest)
    }
    return scope
  }

  #earlierOf(session: string) {
    const earlier = this.#tracker.views.earlierSessions(session)
    return earlier.map(one => ({ session: one, turn: Number.POSITIVE_INFINITY, continued: true as const }))
  }

  /** Returns the changes of text files in review order. */
  positions(scope: ChangeScope): HunkPosition[] {
    return hunkPositions(scope).filter(({ path }) => isText(path))
  }

  #numbered(scope: ChangeScope) {
    let numbered = this.#positions.get(scope)
    if (!numbered) {
      const list = this.positions(scope)
      numbered = { list, numbers: new Map(list.map(({ path, id }, at) => [numberKey(path, id), at])) }
      this.#positions.set(scope, numbered)
    }
    return numbered
  }
}

function numberKey(path: string, id: number | undefined): string {
  return `${id ?? ''} ${path}`
}
