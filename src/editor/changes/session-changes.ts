/** What agents changed, as the tracker of the window knows it: of all sessions or of one, to be kept and undone. */
import { basename } from 'node:path'
import type { FileChange, Roots } from '../../acp/model.ts'
import { messageOf } from '../../common/errors.ts'
import type { Event } from '../../common/event.ts'
import type { FilesShared } from '../files/files.ts'
import { PathGuard } from '../path-guard.ts'
import type {
  ChangeTracker,
  Omitted,
  ToolChange,
  Undone,
  UndoOptions,
  UndoOutcome,
} from './change-tracker.ts'
import type { AgentAuthor, Matches, TurnRef } from './change-versions.ts'
import type { FileText } from './diff-texts.ts'
import type { Hunk } from './file-log.ts'
import { type FileState, sameState } from './file-state.ts'
import type { FolderScan } from './folder-scan.ts'
import { lineEdits, splitLines } from './line-edits.ts'
import { type Rename, type RenameSide, renamesAmong } from './renames.ts'
import type { TrackedFile } from './tracked-file.ts'

export interface ChangedFile {
  /** absolute */
  path: string
  status: 'added' | 'modified' | 'deleted' | 'renamed'
  /** Of a renamed file: where it was. Absolute. */
  from?: string
  /** All of it changed while a turn ran, and nothing says that the agent did it; of a renamed file: some of it. */
  uncertain?: boolean
  added: number
  removed: number
}

/** What restoring a checkpoint does to a file. */
export interface CheckpointFile {
  /** absolute */
  path: string
  action: 'change' | 'create' | 'delete'
  /** of lines that come and go */
  added: number
  removed: number
  /** All of it changed while a turn ran, and nothing says that the agent did it. */
  uncertain?: true
  /**
   * Why some or all of it stays as it is.
   * - `user`, `agent`: changes of the user, or of another session, are in the same lines.
   * - `unsaved`: it has unsaved changes that don't go with it.
   * - `gone`: the user deleted it since.
   * - `large`: it was too large to be saved.
   * - `age`, `size`: what was saved of it was dropped.
   */
  left?: 'user' | 'agent' | 'unsaved' | 'gone' | 'large' | 'age' | 'size'
}

/** What is kept or undone: all that the session changed, or a part of it. */
export interface ChangeSelection {
  paths?: readonly string[]
  turn?: number
  /** This turn and all later ones, kept or not: to undo them is to restore the checkpoint before this turn. */
  since?: number
  /** by path */
  hunks?: { path: string; ids: ReadonlySet<number> }
  /** Leaves what is uncertain. */
  certain?: boolean
}

export interface UndoReport {
  /** To bring it back; absent: nothing was undone. */
  undone?: Undone
  /** What was left as it is, and why. */
  left: Array<{ path: string; why: Exclude<UndoOutcome, 'undone'> | Error }>
}

/** What agents of one session changed, or of all. */
export class ChangeScope {
  /** absent: all sessions */
  readonly session: string | undefined
  /** What the session was forked from: the turns until then are part of its conversation, too. */
  origins: () => readonly TurnRef[] = () => []
  protected readonly tracker: ChangeTracker
  readonly #described = new WeakMap<TrackedFile, { version: number; described: ChangedFile | undefined }>()
  readonly #sides = new WeakMap<TrackedFile, { version: number; side: RenameSide }>()
  /** what was found last, and in what */
  #known: { deleted: RenameSide[]; added: RenameSide[]; renames: Rename[] } | undefined
  readonly #counts = new WeakMap<RenameSide, { from: RenameSide; counts: ReturnType<typeof changedLines> }>()

  constructor(tracker: ChangeTracker, session?: string) {
    this.tracker = tracker
    this.session = session
  }

  /** A file changed, of this session or of another. */
  get onDidChange(): Event<ReadonlySet<string>> {
    return this.tracker.onDidChange
  }

  /** What differs from before, in the order of the first changes. */
  list(turn?: number): ChangedFile[] {
    const files = this.tracker.views().flatMap(file => this.#describe(file, turn) ?? [])
    const renames = this.#renames(turn)
    if (renames.length === 0) return files
    const gone = new Set(renames.map(rename => rename.from.file.path))
    const to = new Map(renames.map(rename => [rename.to.file.path, rename]))
    const described = new Map(files.map(file => [file.path, file]))
    return files.flatMap(file => {
      if (gone.has(file.path)) return []
      const rename = to.get(file.path)
      if (!rename) return file
      const from = rename.from.file.path
      const isUncertain = file.uncertain || described.get(from)?.uncertain
      const uncertain = isUncertain && { uncertain: isUncertain }
      return { path: file.path, status: 'renamed', from, ...uncertain, ...this.#changedLines(rename) }
    })
  }

  /** One file as {@link list} has it; a renamed one also by its name from before. */
  file(path: string): ChangedFile | undefined {
    const view = this.tracker.view(path)
    const file = view?.hasChanges && !view.gone ? this.#describe(view) : undefined
    if (!file || file.status === 'modified') return file
    return this.list().find(one => one.path === file.path || one.from === file.path)
  }

  /** What files are read and written with. */
  get shared(): FilesShared {
    return this.tracker.shared
  }

  /** Looks at all files as they are now. Never rejects. */
  refresh(): Promise<void> {
    return this.tracker.refresh()
  }

  /** The file without these changes. */
  before(path: string): FileState | undefined {
    return this.tracker.view(path)?.without(this.#matches({}))
  }

  /** The changes of a file, in the order of their lines, unsaved changes of the user included. */
  hunks(path: string): Hunk[] {
    return this.tracker.view(path)?.hunks(this.#matches({})) ?? []
  }

  keep(selection: ChangeSelection = {}): void {
    const matches = this.#matches(selection)
    for (const { path } of this.#selected(selection))
      this.tracker.keep(path, matches, this.#idsOf(path, selection))
  }

  /**
   * Undoes what it can without a loss. `force`: the user's own changes within what the agent changed are given up.
   * `into`: it is brought back together with this.
   */
  async undo(
    selection: ChangeSelection = {},
    { force, into }: Pick<UndoOptions, 'force'> & { into?: Undone } = {},
  ): Promise<UndoReport> {
    const matches = this.#matches(selection)
    const isShared = selection.since !== undefined && this.origins().length > 0
    const { undone, note } = await this.tracker.beginUndone(isShared ? undefined : this.session, into)
    const left: UndoReport['left'] = []
    /** by the new path of a renamed file: why the old one could not come back */
    const blocked = new Map<string, UndoReport['left'][number]['why']>()
    const renames = selection.since === undefined ? this.#renames(selection.turn) : []
    const stays = (path: string, why: UndoReport['left'][number]['why']) => {
      left.push({ path, why })
      const rename = renames.find(({ from }) => from.file.path === path)
      if (rename) blocked.set(rename.to.file.path, why)
    }
    for (const { path } of this.#selected(selection)) {
      // a renamed file stays where it is until it is back where it was
      const why = blocked.get(path)
      if (why) {
        left.push({ path, why })
        continue
      }
      try {
        const kept = selection.since !== undefined
        const ids = this.#idsOf(path, selection)
        const options = { ...(ids && { ids }), ...(force && { force }), ...(kept && { kept }) }
        const outcome = await this.tracker.undo(path, matches, options, note)
        if (outcome !== 'undone') stays(path, outcome)
      } catch (error) {
        stays(path, error instanceof Error ? error : new Error(messageOf(error)))
      }
    }
    return { ...(undone.files.length > 0 && { undone }), left }
  }

  /** The other half of a renamed file goes with all of its changes. */
  #idsOf(path: string, { hunks }: ChangeSelection): ReadonlySet<number> | undefined {
    return hunks && this.tracker.key(path) === this.tracker.key(hunks.path) ? hunks.ids : undefined
  }

  /** Files that an agent renamed, in the order of the first changes. */
  #renames(turn?: number): Rename[] {
    const views = this.tracker.views()
    const of = (status: ChangedFile['status']) =>
      views.filter(file => this.#describe(file, turn)?.status === status)
    const deleted = of('deleted')
    if (deleted.length === 0) return []
    const sides = (files: TrackedFile[]) => files.map(file => this.#side(file, turn))
    const [from, to] = [sides(deleted), sides(of('added'))]
    const known = this.#known
    if (known && isSame(known.deleted, from) && isSame(known.added, to)) return known.renames
    const renames = renamesAmong(from, to)
    if (turn === undefined) this.#known = { deleted: from, added: to, renames }
    return renames
  }

  #changedLines({ from, to }: Rename): ReturnType<typeof changedLines> {
    const known = this.#counts.get(to)
    if (known?.from === from) return known.counts
    const isText = from.attributes.type === 'text' && to.attributes.type === 'text' && from.text !== to.text
    const counts = isText ? changedLines(from.lines, to.lines) : { added: 0, removed: 0 }
    this.#counts.set(to, { from, counts })
    return counts
  }

  #side(file: TrackedFile, turn?: number): RenameSide {
    const known = turn === undefined ? this.#sides.get(file) : undefined
    if (known?.version === file.version) return known.side
    const matches = this.#matches({ ...(turn !== undefined && { turn }) })
    const state = file.attributes.type === 'absent' ? file.without(matches) : file.state
    let lines: string[] | undefined
    const side: RenameSide = {
      file,
      ...state,
      // needed of those that have no other of the same content
      get lines() {
        lines ??= splitLines(this.text)
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
    const wanted = keys && new Set(keys.map(path => this.tracker.key(path)))
    if (since !== undefined) {
      const files = this.tracker.checkpointed(this.#matches(selection))
      return files.filter(file => !wanted || wanted.has(this.tracker.key(file.path)))
    }
    const isWanted = ({ path }: TrackedFile) => !wanted || wanted.has(this.tracker.key(path))
    const files = this.tracker.views().filter(file => this.#describe(file, turn))
    const chosen = new Set(files.filter(isWanted))
    for (const rename of this.#renames(turn)) {
      const both = [rename.from.file, rename.to.file]
      if (!both.some(file => chosen.has(file))) continue
      for (const file of both) chosen.delete(file)
      // half of a rename would leave the file twice, or not at all
      if (selection.certain && both.some(file => this.#describe(file, turn)?.uncertain)) continue
      if (!hunks || this.#isWhole(rename, hunks)) for (const file of both) chosen.add(file)
      else for (const file of both.filter(isWanted)) chosen.add(file)
    }
    return [...chosen]
  }

  /** With all changes of a renamed file its name is chosen, too. */
  #isWhole({ from, to }: Rename, { path, ids }: NonNullable<ChangeSelection['hunks']>): boolean {
    const file = [from.file, to.file].find(one => this.tracker.key(one.path) === this.tracker.key(path))
    return this.hunks(file?.path ?? path).every(({ id }) => ids.has(id))
  }

  #matches({ turn, since, certain }: ChangeSelection): Matches {
    const { session } = this
    // only a checkpoint goes back into what came before a fork
    const origins = since === undefined ? [] : this.origins()
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

  /** What {@link undo} of all turns since this one does, file by file; what it has to leave is listed, too. */
  checkpoint(since: number): CheckpointFile[] {
    const matches = this.#matches({ since })
    const { tracker } = this
    const files = tracker.checkpointed(matches).flatMap(file => {
      const { path } = file
      const uncertain = file.historyAuthors(matches).every(author => author.uncertain) && {
        uncertain: true as const,
      }
      const left = (why: CheckpointFile['left']) =>
        ({ path, action: 'change', added: 0, removed: 0, ...uncertain, ...(why && { left: why }) }) as const
      if (file.gone) return left('gone')
      const rewound = tracker.rewound(path, matches)
      if (rewound === 'unsaved') return left('unsaved')
      if (!rewound) return []
      const { file: target, conflict } = rewound
      const [is, will] = [file.attributes.type, target.attributes.type]
      if (will === 'large') return left('large')
      if (!conflict && sameState(file.state, target.state)) return []
      const action = will === 'absent' ? 'delete' : is === 'absent' ? 'create' : 'change'
      const counts = changedLines(splitLines(file.text), splitLines(target.text))
      return { path, action, ...counts, ...uncertain, ...(conflict && { left: conflict }) } as const
    })
    const known = new Set(files.map(({ path }) => path))
    const dropped = tracker.dropped(turn => matches({ turns: [turn] }))
    for (const { path, why } of dropped) {
      if (known.has(path)) continue
      known.add(path)
      files.push({ path, action: 'change', added: 0, removed: 0, left: why })
    }
    return files
  }

  /** `undefined`: it is as it was before. */
  #describe(file: TrackedFile, turn?: number): ChangedFile | undefined {
    if (turn !== undefined) return describe(file, this.#matches({ turn }))
    const known = this.#described.get(file)
    if (known?.version === file.version) return known.described
    const described = describe(file, this.#matches({}))
    this.#described.set(file, { version: file.version, described })
    return described
  }
}

/** What one session's agent changed, and what it changes. */
export class SessionChanges extends ChangeScope {
  declare readonly session: string
  #roots: Roots
  #guard: PathGuard
  #turn = 0
  /** What tool calls told and is not known to the tracker yet: their paths are checked first. */
  readonly #reports = new Set<Promise<void>>()

  constructor(tracker: ChangeTracker, session: string, roots: Roots) {
    super(tracker, session)
    this.#roots = roots
    this.#guard = this.#guardOf(roots)
  }

  /** The session goes on with these roots. */
  setRoots(roots: Roots): void {
    this.#roots = roots
    this.#guard = this.#guardOf(roots)
  }

  /** A turn runs. `isWorking`: it may be changing files now. */
  beginTurn(turn: number, isWorking: () => boolean): void {
    this.#turn = turn
    const { cwd, additionalDirectories } = this.#roots
    this.tracker.beginTurn(this.session, this.#author(), [cwd, ...additionalDirectories], isWorking)
  }

  endTurn(): Promise<void> {
    return this.tracker.endTurn(this.session, Promise.all(this.#reports))
  }

  /** The text of a file of the roots now; `undefined`: it has none. Never rejects. */
  async textOf(path: string): Promise<FileText | undefined> {
    const file = await this.#guard.check(path).catch(() => undefined)
    return file?.inside ? this.tracker.textOf(file.realPath) : undefined
  }

  /** A file of the roots as it is on disk, a link as such; `undefined`: it is in no root, or it can't be told. */
  async stateOf(path: string): Promise<FileState | undefined> {
    const place = await this.#placeOf(path)
    return place === undefined ? undefined : this.tracker.stateOf(place)
  }

  stateWith(bytes: Uint8Array, path: string, mode: number): Promise<FileState> {
    return this.tracker.stateWith(bytes, path, mode)
  }

  isKnown(path: string): boolean {
    return this.tracker.isKnown(path)
  }

  get scan(): FolderScan {
    return this.tracker.scan
  }

  /** Where a file or a link is that is in the roots; a link is not followed. */
  async #placeOf(path: string): Promise<string | undefined> {
    const { rules } = this.tracker.shared
    const folder = await this.#guard.check(rules.dirname(path)).catch(() => undefined)
    return folder?.inside ? rules.join(folder.realPath, basename(path)) : undefined
  }

  /** Tells of a file, from now on, whether the user kept or undid changes of it since. */
  watchDecided(): (path: string) => boolean {
    return this.tracker.watchDecided()
  }

  /** The user kept or undid changes of a file, of this session or of another: its path. */
  get onDidDecide(): Event<string> {
    return this.tracker.onDidDecide
  }

  /** A file is about to be written through the client: `work` does it. */
  async writing<T>(path: string, content: string, work: () => Promise<T>): Promise<T> {
    const file = await this.#guard.check(path).catch(() => undefined)
    if (!file?.inside) return work()
    this.tracker.alias(file.realPath, [file.path, ...file.aliases])
    return this.tracker.writing(file.realPath, content, this.#author(), work)
  }

  /** A tool call told of these changes, and of these files that it works on. Never rejects. */
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
    for (const [path, changes] of byPath) {
      try {
        const file = await this.#guard.check(path)
        if (!file.inside) continue
        this.tracker.alias(file.realPath, [file.path, ...file.aliases])
        await this.tracker.tool(file.realPath, author, changes)
      } catch (error) {
        this.tracker.shared.log.debug(`A changed file could not be looked at: ${messageOf(error)}`)
      }
    }
  }

  /** Files changed while a turn ran, this one or one that is over; nobody spoke of most of them. */
  async noticed(
    changes: ReadonlyArray<{ path: string; before: FileText | FileState; mode?: number }>,
    turn = this.#turn,
  ): Promise<void> {
    for (const { path, before, mode } of changes) {
      // a text is that of what a link leads to
      const isState = typeof before === 'object' && before !== null
      const file = isState ? undefined : await this.#guard.check(path).catch(() => undefined)
      const place = isState ? await this.#placeOf(path) : file?.inside ? file.realPath : undefined
      if (place !== undefined)
        await this.tracker.noticed(place, before, this.#author(turn), mode).catch(() => {})
    }
  }

  /** What changed in the turn and is not listed. */
  get omitted(): Omitted {
    return this.tracker.omitted(this.session)
  }

  set omitted(omitted: Omitted) {
    this.tracker.omit(this.session, omitted)
  }

  /** Forgets all: the session is new, what was stored under its id is of another one. */
  clear(): void {
    void this.tracker.ready.then(() => {
      this.keep()
      this.tracker.forgetCheckpoints(({ turns }) => turns.some(({ session }) => session === this.session))
    })
  }

  #author(turn = this.#turn): AgentAuthor {
    return { turns: [{ session: this.session, turn }] }
  }

  #guardOf(roots: Roots): PathGuard {
    const { rules, fileSystem } = this.tracker.shared
    return new PathGuard(roots, { rules, links: fileSystem })
  }
}

function describe(file: TrackedFile, matches: Matches): ChangedFile | undefined {
  const hunks = file.hunks(matches)
  const authors = [...hunks.flatMap(hunk => hunk.authors), ...file.attributeAuthors(matches)]
  if (authors.length === 0) return undefined
  let added = 0
  let removed = 0
  for (const { before, after } of hunks) {
    const counts = changedLines(before, after)
    added += counts.added
    removed += counts.removed
  }
  const was = file.attributesWithout(matches).type
  const is = file.attributes.type
  const status = was === 'absent' && is !== 'absent' ? 'added' : is === 'absent' ? 'deleted' : 'modified'
  const uncertain = authors.every(author => author.uncertain)
  return { path: file.path, status, ...(uncertain && { uncertain }), added, removed }
}

function isSame<T>(one: readonly T[], other: readonly T[]): boolean {
  return one.length === other.length && one.every((item, i) => item === other[i])
}

function changedLines(
  before: readonly string[],
  after: readonly string[],
): { added: number; removed: number } {
  const edits = lineEdits(before, after)
  return {
    added: edits.reduce((sum, { lines }) => sum + lines.length, 0),
    removed: edits.reduce((sum, { start, end }) => sum + end - start, 0),
  }
}
