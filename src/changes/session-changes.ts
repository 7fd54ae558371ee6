/** Agents' changes that the window tracks, of all sessions or of one, which the user can keep or undo. */
import { randomUUID } from 'node:crypto'
import { basename } from 'node:path'
import type { FileChange, Roots } from '../acp/model.ts'
import { forEachConcurrent, KeyedQueue } from '../common/async.ts'
import { messageOf } from '../common/errors.ts'
import type { Event } from '../common/event.ts'
import type { FileText } from '../editor/diff-texts.ts'
import type { TrackedWrite } from '../editor/files/agent-write.ts'
import type { FilesShared } from '../editor/files/files.ts'
import { countChanges, type LineCounts, splitLines } from '../editor/line-edits.ts'
import { PathGuard } from '../editor/path-guard.ts'
import type { ChangeTracker } from './change-tracker.ts'
import type { Omitted, TurnStart } from './detect/agent-turns.ts'
import type { FolderScan } from './detect/folder-scan.ts'
import type { RealFolders } from './detect/work-tree.ts'
import type { AgentAuthor, Matches, TurnRef } from './model/change-versions.ts'
import { type ContentHolders, contentsOf } from './model/content-use.ts'
import type { Hunk } from './model/file-log.ts'
import type { ToolChange } from './model/file-past.ts'
import { type FileState, sameState } from './model/file-state.ts'
import { type Rename, type RenameSide, renamesAmong } from './model/renames.ts'
import type { TrackedFile } from './model/tracked-file.ts'
import type { Undone } from './model/undo-log.ts'
import { type ChangedFile, describe, describeAll, type Share, shareOf } from './review/changed-file.ts'
import type { UndoOptions, UndoOutcome } from './review/review.ts'

/** The effect of restoring a checkpoint on a file. */
export interface CheckpointFile {
  /** absolute */
  path: string
  action: 'change' | 'create' | 'delete'
  /** numbers of added and removed lines */
  added: number
  removed: number
  /** Whether some or all changes of the file are uncertain: they happened during a turn, and the agent didn't report them. */
  uncertain?: Share
  /**
   * Why the file, or a part of it, is left unchanged.
   * - `user`, `agent`: the user or another session changed the same lines.
   * - `unsaved`: the file has unsaved changes that conflict with the checkpoint.
   * - `conflict`: the file has unsaved changes and was written on disk meanwhile.
   * - `gone`: the user has deleted the file.
   * - `large`: the file was too large to be saved.
   * - `age`, `size`: the checkpoint of the file was dropped because it was too old, or checkpoints were too large.
   */
  unchangedBecause?: 'user' | 'agent' | 'unsaved' | 'conflict' | 'gone' | 'large' | 'age' | 'size'
}

/** Selects what to keep or undo: all changes of the session, or some. */
export interface ChangeSelection {
  paths?: readonly string[]
  turn?: number
  /** Selects this turn and all later turns, including kept changes. Undoing the selection restores the checkpoint before this turn. */
  since?: number
  /** hunks of one file, by id */
  hunks?: { path: string; ids: ReadonlySet<number> }
  /** Whether to skip uncertain changes. */
  certain?: boolean
  /** Selects only turns of the session itself, not of earlier sessions of its conversation. */
  own?: true
}

export interface UndoReport {
  /** The undo, which can be reverted; absent if nothing was undone. */
  undone?: Undone
  /** The files that were left unchanged, and why. */
  unchanged: Array<{ path: string; why: Exclude<UndoOutcome, 'undone'> | Error }>
}

/** The changes that the user kept. */
export interface KeptChanges {
  /** the id of the decision */
  id: string
  /** paths of the kept files, without those whose keep was undone */
  readonly paths: string[]
  /**
   * Undoes the keep, so that the changes are the agents' again. `only`: undoes the keep only for this file and the file that it was renamed
   * from. Resolves to the paths of files that an agent has changed since: their changes stay kept.
   */
  undo(only?: string): Promise<string[]>
}

/** How many files are undone at the same time. */
const MAX_UNDOING = 8

/** The changes of one session's agents, or of all sessions. */
export class ChangeScope {
  /** id of the session; absent: all sessions */
  readonly session: string | undefined
  /**
   * The sessions that this session was forked from, or that its conversation used before (`continued`), each with its last turn that is
   * part of this conversation.
   */
  origins: () => ReadonlyArray<TurnRef & { continued?: true }> = () => []
  protected readonly tracker: ChangeTracker
  readonly #described = new WeakMap<TrackedFile, { version: number; described: ChangedFile | undefined }>()
  readonly #hunks = new WeakMap<TrackedFile, { version: number; hunks: readonly Hunk[] }>()
  readonly #sides = new WeakMap<TrackedFile, { version: number; side: RenameSide }>()
  /** the renames found last, and the deleted and added files that were compared */
  #known: { deleted: RenameSide[]; added: RenameSide[]; renames: Rename[] } | undefined
  readonly #counts = new WeakMap<RenameSide, { from: RenameSide; counts: LineCounts }>()

  constructor(tracker: ChangeTracker, session?: string) {
    this.tracker = tracker
    this.session = session
  }

  /** The sessions whose changes this scope contains; `undefined`: all sessions. */
  get sessions(): ReadonlySet<string> | undefined {
    if (this.session === undefined) return undefined
    return new Set([this.session, ...this.#originsFor({}).map(({ session }) => session)])
  }

  /** Fires when files of this or another session change. */
  get onDidChange(): Event<ReadonlySet<string>> {
    return this.tracker.files.onDidChange
  }

  /** The changed files, in the order of their first change. */
  list(turn?: number): ChangedFile[] {
    const views = this.tracker.views.changed()
    const files = views.flatMap(file => this.#describe(file, turn) ?? [])
    const renames = this.#renames(turn, views)
    if (renames.length === 0) return files
    const gone = new Set(renames.map(rename => rename.from.file.path))
    const to = new Map(renames.map(rename => [rename.to.file.path, rename]))
    const described = new Map(files.map(file => [file.path, file]))
    return files.flatMap(file => {
      if (gone.has(file.path)) return []
      const rename = to.get(file.path)
      if (!rename) return file
      const from = rename.from.file.path
      const shares = [file.uncertain, described.get(from)?.uncertain]
      const known = shareOf(shares, share => share !== undefined)
      const uncertain = known && (shares.every(share => share === 'all') ? 'all' : 'some')
      return {
        path: file.path,
        status: 'renamed',
        from,
        ...(uncertain && { uncertain }),
        ...this.#changedLines(rename),
        ...(file.opaque && { opaque: true as const }),
      }
    })
  }

  /** One file of {@link list}; a renamed file can also be found by its previous path. */
  file(path: string): ChangedFile | undefined {
    const view = this.tracker.views.at(path)
    const file = view?.hasChanges && !view.gone ? this.#describe(view) : undefined
    if (!file || file.status === 'modified') return file
    return this.list().find(one => one.path === file.path || one.from === file.path)
  }

  /** The object that reads and writes the files. */
  get shared(): FilesShared {
    return this.tracker.shared
  }

  /** Reads all tracked files from disk again, or only those at these paths and at the paths that they were renamed from. Never rejects. */
  async refresh(paths?: readonly string[]): Promise<void> {
    const { disk, files } = this.tracker
    if (!paths) return disk.refresh()
    await files.ready
    const keys = new Set(
      paths.flatMap(path => [path, this.file(path)?.from ?? path].map(one => files.paths.ownKey(one))),
    )
    return disk.refreshIn(path => keys.has(files.paths.key(path)))
  }

  /** The file's state without the changes of this scope. */
  before(path: string): FileState | undefined {
    return this.tracker.views.at(path)?.without(this.#matches({}))
  }

  /** The changes of a file, in the order of their lines, with the user's unsaved changes taken into account. */
  hunks(path: string): readonly Hunk[] {
    const file = this.tracker.views.at(path)
    if (!file) return []
    const known = this.#hunks.get(file)
    if (known?.version === file.version) return known.hunks
    const hunks = file.hunks(this.#matches({}))
    this.#hunks.set(file, { version: file.version, hunks })
    return hunks
  }

  keep(selection: ChangeSelection = {}): KeptChanges {
    const matches = this.#matches(selection)
    const changesOf = this.#changesOf(selection)
    const selected = this.#selected(selection)
    // earlier decisions about a file that an agent renamed move to its new path
    const keptPaths = new Set(selection.hunks ? [] : selected.map(({ path }) => path))
    for (const { path, from } of this.list())
      if (from !== undefined && keptPaths.has(path) && keptPaths.has(from))
        this.tracker.progress.renamed(one => (one === from ? path : undefined))
    const renames = this.#renames(selection.turn)
    const renamed = new Map(renames.map(({ from, to }) => [from.file.path, to.file.path]))
    const id = randomUUID()
    const files = selected.map(file => {
      const { path } = file
      const changes = changesOf(file).map(({ sessions }) => sessions)
      const undo = this.tracker.review.keep(path, matches, this.#idsOf(path, selection))
      // when a session is replaced, its changes are kept without a decision by the user
      const isDecision = selection.own === undefined
      const isGone = file.attributes.type === 'absent'
      const withdraw = isDecision
        ? this.tracker.progress.add({ path, outcome: 'kept', changes, undo: id, ...(isGone && { isGone }) })
        : () => {}
      return { path, undo, withdraw }
    })
    const rest = new Set(files)
    return {
      id,
      get paths() {
        return [...rest].map(({ path }) => path)
      },
      async undo(only) {
        const chosen = [...rest].filter(
          ({ path }) => only === undefined || path === only || renamed.get(path) === only,
        )
        const results = await Promise.all(
          chosen.map(async one => {
            if (!(await one.undo())) return one.path
            rest.delete(one)
            one.withdraw()
            return []
          }),
        )
        return results.flat()
      },
    }
  }

  /**
   * Undoes the selected changes unless that would lose other changes. `force`: also discards the user's edits within the agent's changes.
   * `into`: the earlier undo to add the files to, so that one command reverts both.
   */
  async undo(
    selection: ChangeSelection = {},
    { force, into }: Pick<UndoOptions, 'force'> & { into?: Undone } = {},
  ): Promise<UndoReport> {
    const matches = this.#matches(selection)
    const isShared = this.#originsFor(selection).length > 0
    const begun = await this.tracker.review.beginUndo(isShared ? undefined : this.session, into)
    const { undone, note, end } = begun
    const unchanged: UndoReport['unchanged'] = []
    /** by the new path of a renamed file: why the file couldn't be restored at its old path */
    const blocked = new Map<string, UndoReport['unchanged'][number]['why']>()
    const renames = selection.since === undefined ? this.#renames(selection.turn) : []
    const stays = (path: string, why: UndoReport['unchanged'][number]['why']) => {
      unchanged.push({ path, why })
      const rename = renames.find(({ from }) => from.file.path === path)
      if (rename) blocked.set(rename.to.file.path, why)
    }
    const selected = this.#selected(selection)
    const changesOf = this.#changesOf(selection)
    const undo = async (file: TrackedFile) => {
      const { path } = file
      // keep the renamed file until it's restored at its previous path
      const why = blocked.get(path)
      if (why) {
        unchanged.push({ path, why })
        return
      }
      try {
        const kept = selection.since !== undefined
        const ids = this.#idsOf(path, selection)
        const options = { ...(ids && { ids }), ...(force && { force }), ...(kept && { kept }) }
        const before = kept ? [] : changesOf(file)
        const wasAbsent = this.before(path)?.attributes.type === 'absent'
        let isNoted = false
        const outcome = await this.tracker.review.undo(path, matches, options, noted => {
          isNoted = true
          return note(noted)
        })
        if (outcome !== 'undone') stays(path, outcome)
        // nothing is recorded if another undo of the same changes came first
        if (!isNoted || before.length === 0) return
        const now = outcome === 'undone' ? undefined : this.tracker.views.at(path)
        const rest = new Set(now && changesOf(now).map(({ id }) => id))
        const changes = before.flatMap(({ id, sessions }) => (rest.has(id) ? [] : [sessions]))
        const isGone = wasAbsent && outcome === 'undone' && rest.size === 0
        this.tracker.progress.add({
          ...{ path, outcome: 'reverted', changes, undo: undone.id },
          ...(isGone && { isGone }),
        })
      } catch (error) {
        stays(path, error instanceof Error ? error : new Error(messageOf(error)))
      }
    }
    const undoAll = async (files: readonly TrackedFile[]) => {
      for (const file of files) await undo(file)
    }
    const inTheWay = this.#inTheWay(selected)
    const others = selected.filter(file => !inTheWay.has(file))
    const position = new Map([...inTheWay, ...others].map(({ path }, at) => [path, at]))
    const inOrder = (one: string, other: string) => position.get(one)! - position.get(other)!
    const earlier = undone.files.length
    try {
      await undoAll([...inTheWay])
      await forEachConcurrent(this.#groups(others, renames), MAX_UNDOING, undoAll)
    } finally {
      end()
    }
    unchanged.sort((one, other) => inOrder(one.path, other.path))
    const added = undone.files.splice(earlier)
    undone.files.push(...added.sort(({ before: one }, { before: other }) => inOrder(one.path, other.path)))
    return { ...(undone.files.length > 0 && { undone }), unchanged }
  }

  /** Returns the selected changes of a file, each with the sessions that made it; none for the old path of a renamed file. */
  #changesOf(
    selection: ChangeSelection,
  ): (file: TrackedFile) => Array<{ id?: number; sessions: readonly string[] }> {
    const matches = this.#matches(selection)
    const old = new Set(this.#renames(selection.turn).map(({ from }) => from.file.path))
    return file => {
      if (old.has(file.path)) return []
      const ids = this.#idsOf(file.path, selection)
      const hunks = file.hunks(matches).filter(({ id }) => !ids || ids.has(id))
      if (hunks.length === 0) return [{ sessions: file.sessions }]
      return hunks.map(({ id, authors }) => ({
        id,
        sessions: authors.flatMap(({ turns }) => turns.map(({ session }) => session)),
      }))
    }
  }

  /**
   * The files to undo first: where a folder replaced a file, or a file replaced a folder, the new one must be removed before the old one
   * returns.
   */
  #inTheWay(files: readonly TrackedFile[]): ReadonlySet<TrackedFile> {
    const gone = new Set<string>()
    const aboveGone = new Set<string>()
    for (const { path, attributes } of files) {
      if (attributes.type !== 'absent') continue
      gone.add(this.tracker.files.paths.key(path))
      for (const folder of this.#keysAbove(path)) aboveGone.add(folder)
    }
    const isInTheWay = ({ attributes, path }: TrackedFile) =>
      attributes.type !== 'absent' &&
      (aboveGone.has(this.tracker.files.paths.key(path)) || this.#keysAbove(path).some(key => gone.has(key)))
    return new Set(files.filter(isInTheWay))
  }

  /**
   * Groups the files. The files of one group are undone one after the other: both paths of a renamed file, and files that the editor
   * changes.
   */
  #groups(files: readonly TrackedFile[], renames: readonly Rename[]): TrackedFile[][] {
    const from = new Map(renames.map(rename => [rename.to.file, rename.from.file]))
    const groups = new Map<TrackedFile, TrackedFile[]>()
    for (const file of files) {
      const first = from.get(file) ?? file
      groups.set(first, [...(groups.get(first) ?? []), file])
    }
    const open: TrackedFile[] = []
    const others: TrackedFile[][] = []
    for (const group of groups.values()) {
      if (group.some(({ path }) => this.tracker.files.document(path) !== undefined)) open.push(...group)
      else others.push(group)
    }
    return [open, ...others]
  }

  /** The keys of the folders that contain this path. */
  #keysAbove(path: string): string[] {
    const { rules } = this.tracker.shared
    const keys: string[] = []
    for (let below = path, at = rules.dirname(path); at !== below; below = at, at = rules.dirname(at))
      keys.push(this.tracker.files.paths.key(at))
    return keys
  }

  /** The ids of the selected hunks of a file; `undefined` selects all of its changes, such as at the other path of a renamed file. */
  #idsOf(path: string, { hunks }: ChangeSelection): ReadonlySet<number> | undefined {
    return hunks && this.tracker.files.paths.key(path) === this.tracker.files.paths.key(hunks.path)
      ? hunks.ids
      : undefined
  }

  /** Files that an agent renamed, in the order of their first change. */
  #renames(turn?: number, views = this.tracker.views.changed()): Rename[] {
    const deleted: TrackedFile[] = []
    const added: TrackedFile[] = []
    for (const file of views) {
      const status = this.#describe(file, turn)?.status
      if (status === 'deleted') deleted.push(file)
      else if (status === 'added') added.push(file)
    }
    if (deleted.length === 0 || added.length === 0) return []
    const sides = (files: TrackedFile[]) => files.map(file => this.#side(file, turn))
    const [from, to] = [sides(deleted), sides(added)]
    const known = this.#known
    if (known && isSame(known.deleted, from) && isSame(known.added, to)) return known.renames
    const renames = renamesAmong(from, to)
    if (turn === undefined) this.#known = { deleted: from, added: to, renames }
    return renames
  }

  #changedLines({ from, to }: Rename): LineCounts {
    const known = this.#counts.get(to)
    if (known?.from === from) return known.counts
    const isText = from.attributes.type === 'text' && to.attributes.type === 'text' && from.text !== to.text
    const counts = isText ? countChanges(from.lines, to.lines) : { added: 0, removed: 0 }
    this.#counts.set(to, { from, counts })
    return counts
  }

  #side(file: TrackedFile, turn?: number): RenameSide {
    const known = turn === undefined ? this.#sides.get(file) : undefined
    if (known?.version === file.version) return known.side
    const matches = this.#matches({ ...(turn !== undefined && { turn }) })
    let lines = file.attributes.type === 'absent' ? file.linesWithout(matches) : undefined
    const side: RenameSide = {
      file,
      text: lines ? lines.join('') : file.text,
      attributes: lines ? file.attributesWithout(matches) : file.attributes,
      // computed on demand: only needed for files without a match of the same content
      get lines() {
        lines ??= file.lines
        return lines
      },
      turns: file.attributeAuthors(matches).flatMap(({ turns }) => turns),
    }
    if (turn === undefined) this.#sides.set(file, { version: file.version, side })
    return side
  }

  #selected(selection: ChangeSelection): TrackedFile[] {
    const { paths, hunks, turn, since } = selection
    const keys = hunks ? [hunks.path] : paths
    const wanted = keys && new Set(keys.map(path => this.tracker.files.paths.key(path)))
    if (since !== undefined) {
      const files = this.tracker.views.checkpointed(this.#matches(selection))
      return files.filter(file => !wanted || wanted.has(this.tracker.files.paths.key(file.path)))
    }
    const isWanted = ({ path }: TrackedFile) => !wanted || wanted.has(this.tracker.files.paths.key(path))
    const files = this.tracker.views.changed().filter(file => this.#describe(file, turn))
    const chosen = new Set(files.filter(isWanted))
    for (const rename of this.#renames(turn)) {
      const both = [rename.from.file, rename.to.file]
      if (!both.some(file => chosen.has(file))) continue
      for (const file of both) chosen.delete(file)
      // undoing half of a rename would leave two copies of the file, or none
      if (selection.certain && both.some(file => this.#describe(file, turn)?.uncertain)) continue
      if (!hunks || this.#isWhole(rename, hunks)) for (const file of both) chosen.add(file)
      else for (const file of both.filter(isWanted)) chosen.add(file)
    }
    return [...chosen]
  }

  /** Whether these hunks are all changes of a renamed file, so that the rename itself is selected, too. */
  #isWhole({ from, to }: Rename, { path, ids }: NonNullable<ChangeSelection['hunks']>): boolean {
    const file = [from.file, to.file].find(
      one => this.tracker.files.paths.key(one.path) === this.tracker.files.paths.key(path),
    )
    return this.hunks(file?.path ?? path).every(({ id }) => ids.has(id))
  }

  #matches(selection: ChangeSelection): Matches {
    const { turn, since, certain } = selection
    const { session } = this
    const origins = this.#originsFor(selection)
    return author => {
      if (certain && author.uncertain) return false
      if (session === undefined) return true
      return author.turns.some(
        one =>
          (one.session === session ||
            origins.some(origin => one.session === origin.session && one.turn <= origin.turn)) &&
          (turn === undefined || one.turn === turn) &&
          (since === undefined || one.turn >= since),
      )
    }
  }

  /** The origins that a selection includes: only restoring a checkpoint affects turns before a fork. */
  #originsFor({ since, own }: ChangeSelection) {
    return own ? [] : this.origins().filter(({ continued }) => continued || since !== undefined)
  }

  /** The effect of {@link undo} for all turns since this one, file by file, including files that can't be changed. */
  checkpoint(since: number): CheckpointFile[] {
    const matches = this.#matches({ since })
    const { tracker } = this
    const files = tracker.views.checkpointed(matches).flatMap(file => {
      const { path } = file
      const share = shareOf(file.historyAuthors(matches), author => author.uncertain)
      const uncertain = share && { uncertain: share }
      const unchanged = (why: CheckpointFile['unchangedBecause']) =>
        ({
          path,
          action: 'change',
          added: 0,
          removed: 0,
          ...uncertain,
          ...(why && { unchangedBecause: why }),
        }) as const
      if (file.gone) return unchanged('gone')
      const found = tracker.views.rewound(path, matches)
      if (found === 'unsaved') return unchanged(found)
      // the content on disk can be restored once the user has merged the unsaved changes
      const rewound = found === 'conflict' ? file.rewound(matches) : found
      if (!rewound) return []
      const { file: target } = rewound
      const conflict = found === 'conflict' ? found : rewound.conflict
      const [is, will] = [file.attributes.type, target.attributes.type]
      if (will === 'large') return unchanged('large')
      if (!conflict && sameState(file.state, target.state)) return []
      const action = will === 'absent' ? 'delete' : is === 'absent' ? 'create' : 'change'
      const counts = countChanges(splitLines(file.text), splitLines(target.text))
      return {
        path,
        action,
        ...counts,
        ...uncertain,
        ...(conflict && { unchangedBecause: conflict }),
      } as const
    })
    const known = new Set(files.map(({ path }) => path))
    const dropped = tracker.checkpoints.dropped(turn => matches({ turns: [turn] }))
    for (const { path, why } of dropped) {
      if (known.has(path)) continue
      known.add(path)
      files.push({ path, action: 'change', added: 0, removed: 0, unchangedBecause: why })
    }
    return files
  }

  /** A tracked file as it is now, with unsaved changes. */
  current(path: string): FileState | undefined {
    return this.tracker.views.at(path)?.state
  }

  /** A file's state after restoring the checkpoint before this turn; `undefined` if it doesn't change. */
  restored(path: string, since: number): FileState | undefined {
    const rewound = this.tracker.views.rewound(path, this.#matches({ since }))
    return typeof rewound === 'object' ? rewound.file.state : undefined
  }

  /** Describes the changes of this scope in a file; `undefined` if there are none. */
  #describe(file: TrackedFile, turn?: number): ChangedFile | undefined {
    if (turn !== undefined) return describe(file, this.#matches({ turn }))
    if (this.session === undefined || file.sessions.every(one => one === this.session))
      return describeAll(file)
    const known = this.#described.get(file)
    if (known?.version === file.version) return known.described
    const described = describe(file, this.#matches({}))
    this.#described.set(file, { version: file.version, described })
    return described
  }
}

/** The changes of one session's agent, past and ongoing. */
export class SessionChanges extends ChangeScope {
  declare readonly session: string
  #roots: Roots
  #guard: PathGuard
  #turn = 0
  #before: Promise<unknown> = Promise.resolve()
  /** Reports of tool calls that the tracker doesn't have yet, because their paths are being checked. */
  readonly #reports = new Set<Promise<void>>()
  /** Reports about a file are applied in the order in which the agent sent them, however long a check of the path takes. */
  readonly #ofPath = new KeyedQueue()

  constructor(tracker: ChangeTracker, session: string, roots: Roots) {
    super(tracker, session)
    this.#roots = roots
    this.#guard = this.#guardOf(roots)
  }

  /** Replaces the session's roots. */
  setRoots(roots: Roots): void {
    this.#roots = roots
    this.#guard = this.#guardOf(roots)
  }

  /**
   * Records that a turn starts. `isWorking`: whether the turn may be changing files now. `ranGit`: whether the agent itself may have run
   * Git.
   */
  beginTurn(
    turn: number,
    isWorking: () => boolean,
    ranGit: () => boolean = () => false,
    start: TurnStart = { began: Date.now() },
  ): void {
    this.#turn = turn
    const { files, progress, views } = this.tracker
    const sessions = this.sessions ?? new Set()
    void files.ready.then(() => progress.beginTurn(sessions, views.sessions()))
    this.#before = Promise.resolve(start.before).catch(() => {})
    const { cwd, additionalDirectories } = this.#roots
    const roots = [cwd, ...additionalDirectories]
    this.tracker.turns.beginTurn(this.session, this.#author(), roots, isWorking, ranGit, start)
  }

  /** Settles when the state before the running turn is known: a command that starts earlier could change files undetected. */
  get begun(): Promise<unknown> {
    return this.#before
  }

  endTurn(): Promise<void> {
    return this.tracker.turns.endTurn(this.session, this.reported)
  }

  /** Like the inherited method, but first waits until the tracker knows what tool calls have reported. */
  override async refresh(paths?: readonly string[]): Promise<void> {
    await this.reported
    await super.refresh(paths)
  }

  /** Settles when the tracker knows everything that tool calls have reported so far. */
  get reported(): Promise<unknown> {
    return Promise.all(this.#reports)
  }

  /** The current text of a file in the roots; `undefined` if the file has no text or is outside of the roots. Never rejects. */
  async textOf(path: string): Promise<FileText | undefined> {
    const file = await this.#guard.check(path).catch(() => undefined)
    return file?.inside ? this.tracker.reader.textOf(file.realPath) : undefined
  }

  /**
   * Reads a file in the roots from disk, without following links. `undefined` if the file is outside of the roots or can't be read.
   * `before`: the file's earlier state, if known. `folders`: see `StateReader`.
   */
  async stateOf(path: string, before?: FileState, folders?: RealFolders): Promise<FileState | undefined> {
    const realPath = await this.#realPathOf(path, folders)
    if (realPath === undefined) return undefined
    return this.tracker.reader.stateOf(realPath, before, folders !== undefined)
  }

  stateWith(bytes: Uint8Array, path: string, mode: number): Promise<FileState> {
    return this.tracker.reader.stateWith(bytes, path, mode)
  }

  isKnown(path: string): boolean {
    return this.tracker.files.at(path) !== undefined
  }

  get holders(): ContentHolders {
    return this.tracker.holders
  }

  get scan(): FolderScan {
    return this.tracker.scan
  }

  /** The real path of a file or link in the roots; a link itself isn't followed. */
  async #realPathOf(path: string, folders: RealFolders = new Map()): Promise<string | undefined> {
    const { rules } = this.tracker.shared
    const folder = rules.dirname(path)
    const checking =
      folders.get(folder) ??
      this.#guard.check(folder).then(
        ({ inside, realPath }) => (inside ? realPath : undefined),
        () => undefined,
      )
    folders.set(folder, checking)
    const realFolder = await checking
    return realFolder === undefined ? undefined : rules.join(realFolder, basename(path))
  }

  /** Returns a function that tells whether the user has kept or undone changes of the file since this call. */
  watchDecisions(): (path: string) => boolean {
    return this.tracker.files.watchDecisions()
  }

  /** Fires with the path of a file in which the user kept or undid changes of any session. */
  get onDidDecide(): Event<string> {
    return this.tracker.files.onDidDecide
  }

  /** Fires with the path of a file that the user begins to edit before the agents' changes in it are known. */
  get onDidBeginEdit(): Event<string> {
    return this.tracker.edits.onDidBeginEdit
  }

  /** Runs `work`, which writes a file through the client, and tracks this write. */
  async writing<T>(path: string, content: string, work: (tracked: TrackedWrite) => Promise<T>): Promise<T> {
    const file = await this.#guard.check(path).catch(() => undefined)
    if (!file?.inside) return work({})
    this.tracker.files.paths.alias(file.realPath, [file.path, ...file.aliases])
    return this.tracker.writes.writing(file.realPath, content, this.#author(), work)
  }

  /** Records the changes that a tool call reported, and the files that the tool call works on. Never rejects. */
  tool(
    reported: Omit<ToolChange, 'change' | 'patch'>,
    diffs: ReadonlyArray<{ changes: readonly FileChange[]; patch?: { format: string; text: string } }>,
    named: readonly string[],
  ): Promise<void> {
    const report = this.#tool(reported, diffs, named).finally(() => this.#reports.delete(report))
    this.#reports.add(report)
    return report
  }

  async #tool(...[reported, diffs, named]: Parameters<SessionChanges['tool']>): Promise<void> {
    const byPath = new Map<string, ToolChange[]>()
    const add = (path: string, change: ToolChange) => byPath.set(path, [...(byPath.get(path) ?? []), change])
    for (const { changes, patch } of diffs) {
      for (const change of changes) {
        const { operation, oldPath } = change
        if (operation === 'move' && oldPath !== undefined)
          add(oldPath, { ...reported, change: { operation: 'delete', path: oldPath } })
        add(change.path, { ...reported, change, ...(patch && { patch }) })
      }
    }
    for (const path of named) if (!byPath.has(path)) add(path, reported)
    const author = { ...this.#author(), toolCallId: reported.toolCallId }
    let last: Promise<unknown> = Promise.resolve()
    for (const [path, changes] of byPath) {
      const before = last
      last = this.#ofPath.run(path, () => before.then(() => this.#toolOn(path, author, changes)))
    }
    await last
  }

  async #toolOn(path: string, author: AgentAuthor, changes: readonly ToolChange[]): Promise<void> {
    try {
      const file = await this.#guard.check(path)
      if (!file.inside) return
      this.tracker.files.paths.alias(file.realPath, [file.path, ...file.aliases])
      await this.tracker.turns.tool(file.realPath, author, changes)
    } catch (error) {
      this.tracker.shared.log.debug(`A changed file couldn't be checked: ${messageOf(error)}`)
    }
  }

  /**
   * Records files that changed during this turn or an earlier one, most of them without a report. `isDecided`: whether the user has kept,
   * undone or saved changes of a file since the search for changes began.
   */
  async noticed(
    changes: ReadonlyArray<{ path: string; before: FileText | FileState; mode?: number; unsure?: true }>,
    turn = this.#turn,
    isDecided: (path: string) => boolean = () => false,
  ): Promise<void> {
    const release = this.holders.add(changes, all =>
      contentsOf(all.flatMap(({ before }) => (isState(before) ? { value: before.attributes } : []))),
    )
    for (const { path, before, mode, unsure } of changes) {
      // at the path of a link, a state is that of the link itself, and a text that of the link's target
      const file = isState(before) ? undefined : await this.#guard.check(path).catch(() => undefined)
      const realPath = isState(before)
        ? await this.#realPathOf(path)
        : file?.inside
          ? file.realPath
          : undefined
      if (realPath !== undefined)
        await this.tracker.turns
          .noticed(realPath, before, this.#author(turn), { mode, unsure, isDecided: () => isDecided(path) })
          .catch(() => {})
    }
    release()
  }

  /** The files that changed during the turn but aren't listed. */
  get omitted(): Omitted {
    return this.tracker.turns.omitted(this.session)
  }

  set omitted(omitted: Omitted) {
    this.tracker.turns.omit(this.session, omitted)
  }

  /** Forgets everything stored for the session's id: the session is new, and the data belongs to an earlier session with the same id. */
  clear(): void {
    void this.tracker.files.ready.then(() => {
      this.keep({ own: true })
      this.tracker.files.forgetCheckpoints(({ turns }) =>
        turns.some(({ session }) => session === this.session),
      )
    })
  }

  #author(turn = this.#turn): AgentAuthor {
    return { turns: [{ session: this.session, turn }] }
  }

  #guardOf(roots: Roots): PathGuard {
    const { rules, fileSystem, folders } = this.tracker.shared
    return new PathGuard(roots, { rules, links: fileSystem, ...(folders && { folders }) })
  }
}

function isState(before: FileText | FileState): before is FileState {
  return typeof before === 'object' && before !== null
}

function isSame<T>(one: readonly T[], other: readonly T[]): boolean {
  return one.length === other.length && one.every((item, i) => item === other[i])
}
