import { lstat, realpath } from 'node:fs/promises'
import { join, sep } from 'node:path'
import { forEachConcurrent } from '../../common/async.ts'
import { isWithin, onDisk } from '../../common/file-names.ts'
import { CHANGES_GIT_MS } from '../../common/limits.ts'
import { isWrittenAfter, isWrittenSince } from '../../editor/files/file-system.ts'
import { goneSince } from '../model/change-time.ts'
import { type ContentHolders, contentsOf } from '../model/content-use.ts'
import { type FileState, sameState } from '../model/file-state.ts'
import {
  type FolderScan,
  type FolderSnapshot,
  type NoticedState,
  type ReadState,
  scannedContents,
} from './folder-scan.ts'
import {
  Checkout,
  committedContents,
  committedSince,
  type Hidden,
  hiddenIn,
  isIgnored,
  MAX_READ_BYTES,
  readGitStatus,
  type Status,
} from './repository-files.ts'
import {
  asCheckedOut,
  indexStamp,
  isWriting,
  movedSince,
  type RepositoryPosition,
  repositoryOf,
  untilWritten,
  writtenByGit,
} from './repository-moves.ts'
import { SlowFolders } from './slow-folders.ts'
import { isUnchangedBetween } from './unchanged-between.ts'

/** Number of repositories compared at the same time. Git's output for each of them is in memory. */
const MAX_REPOSITORIES = 8
/** Number of files read at the same time. */
const MAX_READS = 8
/** Number of files whose stamps are read at the same time, and number of stamps in memory. */
const MAX_STAMPING = 32
const MAX_STAMPS = 1000
/** How often a repository is read at most if Git keeps writing its work tree meanwhile. */
const MAX_LOOKS = 3
/** If more files differ from the last commit, the content of the further files isn't stored at the start of a turn. */
const MAX_DIRTY = 2000
/**
 * If more files that were as in the last commit change in one turn (by a build, a checkout), none of them is read. Only their number is
 * reported, without files that are already listed.
 */
const MAX_CHANGED = 1000
/** Number of submodules and nested repositories that are compared. In further ones, changes aren't detected, which is reported. */
const MAX_NESTED = 100

export interface Noticed {
  changes: NoticedState[]
  /** number of further changed files, whose previous content is unknown because they were too many or too large */
  omitted: number
  /** folders where changes can't be detected because they're too large, Git takes too long, or a repository was created in them */
  unseen: string[]
}

/** A snapshot of a repository: the files that differed from its last commit, with their content. */
interface RepositorySnapshot {
  root: string
  top: string
  commit: string
  position: RepositoryPosition
  /** by absolute path: the files in Git's status, including those whose changes Git was told to ignore */
  dirty: Map<string, Dirty>
  /** paths of files that became different from the last commit only while the snapshot was being taken */
  early: Set<string>
  /** paths of submodules and nested repositories, which have snapshots of their own */
  nested: string[]
}

export interface Snapshot {
  repositories: RepositorySnapshot[]
  folders: FolderSnapshot[]
  unseen: string[]
  /** folders that the user created, renamed or deleted: all changes in them are the user's */
  accepted: string[]
}

interface Dirty {
  /** `undefined` if the state isn't stored */
  state: FileState | undefined
  /** changes each time the file is written */
  stamp: string
  /** when the file was written, in milliseconds since the epoch */
  changed: number
  /** The file was written just before the stamp was read: another write immediately afterward may have left the same stamp. */
  isFresh: boolean
  /** The file was written while the snapshot was being taken. */
  unsure: boolean
}

/** The stamp of a file whose previous content is unknown because a turn has overwritten it: it differs from all other stamps. */
const OVERWRITTEN = { stamp: 'overwritten', changed: 0, isFresh: false, unsure: true }

/** The changes in one folder. */
interface Found {
  changes: NoticedState[]
  omitted: number
  /** paths of repositories that were created since the snapshot */
  created?: string[]
}

/**
 * Maps the path of a folder to its real path; `undefined` if that is outside of the session's folders. A file that is opened must still be
 * at that real path.
 */
export type RealFolders = Map<string, Promise<string | undefined>>

/** Gives a session access to files. */
export interface StateReader {
  /**
   * Reads the state of a file on disk; `undefined` if the file is outside of the session's folders or can't be read. `before`: the earlier
   * state, if known. `folders`: the real folders that were found in the same scan, which also listed the file. Never rejects.
   */
  stateOf(path: string, before?: FileState, folders?: RealFolders): Promise<FileState | undefined>
  /** Returns the file state for these bytes. */
  stateWith: ReadState
  /** Whether the file is tracked already, so that its changes don't have to be detected. */
  isKnown(path: string): boolean
  /** Keeps contents in the store as long as objects use them. */
  holders?: ContentHolders
  /** Scans folders without a repository. */
  scan: Pick<FolderScan, 'snapshot' | 'accept' | 'changed'>
}

/**
 * Detects which files in a session's folders change while its agent works, no matter who changes them. Compares Git's status before and
 * after, or all files in folders without a repository. Files that Git ignores are ignored.
 */
export class WorkTree {
  readonly #reader: StateReader
  readonly #slow: SlowFolders
  /** by root: the files that differed from the last commit when it was last read, so that only files written since then are read again */
  readonly #last = new Map<string, ReadonlyMap<string, Dirty>>()
  /** Settles when the scan in advance, before any turn, has ended. */
  #preparing: Promise<unknown> | undefined
  /** by root: files that the status doesn't list but the index contains */
  readonly #hidden = new Map<string, { index: string; hidden: Hidden }>()
  /** by path: identifies the user's last change of the file, since the read of an earlier change may end later */
  readonly #accepts = new WeakMap<Snapshot, Map<string, symbol>>()

  constructor(reader: StateReader, slow = new SlowFolders(CHANGES_GIT_MS)) {
    this.#reader = reader
    this.#slow = slow
    reader.holders?.add(this, one => [...one.#last.values()].flatMap(dirtyContents))
  }

  /**
   * Scans the folders in advance, so that the scan before a turn is quick, and the earlier content of files is known if they're written
   * before that scan.
   */
  async prepare(folders: readonly string[]): Promise<void> {
    const preparing = this.snapshot(folders, Number.POSITIVE_INFINITY)
    this.#preparing = preparing.catch(() => {})
    await preparing
  }

  /** Takes a snapshot of the folders. `began`: when the caller asked for the snapshot, in milliseconds since the epoch. */
  async snapshot(folders: readonly string[], began = Date.now()): Promise<Snapshot> {
    const taken: Snapshot = { repositories: [], folders: [], unseen: [], accepted: [] }
    const places = await Promise.all(folders.map(folder => realpath(folder).catch(() => folder)))
    const known = new Set<string>()
    const take = async (roots: readonly string[]): Promise<void> => {
      const added = roots.filter(root => !known.has(root) && known.add(root))
      const nested: string[] = []
      await forEachConcurrent(added, MAX_REPOSITORIES, async root => {
        nested.push(...(await this.#take(taken, root, began)))
      })
      if (nested.length > 0) await take(nested)
    }
    await take(places)
    return taken
  }

  /** Adds the snapshot of a folder; resolves with the repositories in it. */
  async #take(taken: Snapshot, root: string, began: number): Promise<readonly string[]> {
    const repository = await statusRepository(root)
    const known = repository && (await this.#snapshot(root, repository, began))
    const scanned = repository ? undefined : await this.#reader.scan.snapshot(root, began)
    if (known) taken.repositories.push(known)
    else if (scanned) taken.folders.push(scanned)
    else if (await isFolder(root)) taken.unseen.push(root)
    const nested = known?.nested ?? []
    taken.unseen.push(...nested.slice(MAX_NESTED))
    return nested.slice(0, MAX_NESTED)
  }

  /** Updates the snapshot to the current content of a file or folder that the user changed. `path` is a real path, without links. */
  async accept(snapshot: Snapshot, path: string): Promise<void> {
    const { repositories, folders, accepted } = snapshot
    const accepts = this.#accepts.get(snapshot) ?? new Map<string, symbol>()
    this.#accepts.set(snapshot, accepts)
    const latest = Symbol()
    accepts.set(path, latest)
    // read the stamp first: a write during the read changes it
    const { stamp, changed, isFresh } = await stampOf(path)
    const state = await this.#reader.stateOf(path)
    if (accepts.get(path) !== latest) return
    if (!state || state.attributes.type === 'absent') accepted.push(path)
    if (!state) return
    const isIn = (root: string) => isWithin(root, path)
    const accepting = { state, stamp, changed, isFresh, unsure: false }
    for (const { top, dirty } of repositories) if (isIn(top)) dirty.set(path, accepting)
    for (const folder of folders) if (isIn(folder.root)) await this.#reader.scan.accept(folder, path)
  }

  /**
   * Finds the differences from a snapshot. `isDecided`: whether the user kept or undid changes of the file meanwhile. `ranGit`: whether the
   * agent itself may have run Git; otherwise, the writes of a checkout, a pull or a stash aren't the agent's. `next`: the snapshot of the
   * next turn, if that turn has begun: later changes belong to it.
   */
  async changed(
    snapshot: Snapshot,
    {
      isDecided = () => false,
      ranGit = false,
      next = () => undefined,
    }: {
      isDecided?: (path: string) => boolean
      ranGit?: boolean
      next?: () => Promise<Snapshot> | undefined
    } = {},
  ): Promise<Noticed> {
    const { repositories, folders, unseen, accepted } = snapshot
    // don't count files that are listed now, or were listed until the user kept or undid their changes
    const isKnown = (path: string) => this.#reader.isKnown(path) || isDecided(path)
    const isAccepted = (path: string) => accepted.some(folder => path.startsWith(`${folder}${sep}`))
    const byPath = new Map<string, NoticedState>()
    const found: Noticed = { changes: [], omitted: 0, unseen: [...unseen] }
    const add = (root: string, one: Found | undefined) => {
      if (!one) found.unseen.push(root)
      found.unseen.push(...(one?.created ?? []))
      for (const change of one?.changes ?? []) if (!isAccepted(change.path)) byPath.set(change.path, change)
      found.omitted += one?.omitted ?? 0
    }
    const { holders } = this.#reader
    /** contents that were read or are in the last commit; nothing else refers to them until the comparison ends */
    const states: FileState[] = []
    // keeps the contents in the store even if the turn ends meanwhile
    const held = [
      holders?.add(states, all => contentsOf(all.map(({ attributes: value }) => ({ value })))),
      ...repositories.map(({ dirty }) => holders?.add(dirty, dirtyContents)),
      ...folders.map(({ files }) => holders?.add(files, scannedContents)),
    ]
    try {
      await forEachConcurrent(repositories, MAX_REPOSITORIES, async one =>
        add(one.root, await atRest(one, () => this.#changed(one, isKnown, ranGit, states))),
      )
      await forEachConcurrent(folders, MAX_REPOSITORIES, async one =>
        add(one.root, await this.#scanned(one, isKnown)),
      )
      const later = await next()
      const all = [...byPath.values()]
      const changes = later ? all.filter(({ path }) => !isUnchangedBetween(snapshot, later, path)) : all
      // keeps the contents in the store until the caller has noticed the changes
      holders?.add(changes, noticedContents, true)
      return { ...found, changes }
    } finally {
      // until here, the references to the states prevent that their contents are removed
      states.length = 0
      for (const release of held) release?.()
    }
  }

  async #scanned(snapshot: FolderSnapshot, isKnown: (path: string) => boolean): Promise<Found | undefined> {
    const { changes, omitted, isSeen } = await this.#reader.scan.changed(snapshot, isKnown)
    if (!isSeen) return undefined
    return { changes: await this.#different(changes), omitted }
  }

  /** The files whose state differs: a file that was only touched hasn't changed. */
  async #different(changes: readonly NoticedState[]): Promise<NoticedState[]> {
    const different: NoticedState[] = []
    const folders: RealFolders = new Map()
    for (const change of changes) {
      const now = await this.#reader.stateOf(change.path, change.before, folders)
      if (now && !sameState(now, change.before)) different.push(change)
    }
    return different
  }

  async #snapshot(
    root: string,
    position: RepositoryPosition,
    began: number,
  ): Promise<RepositorySnapshot | undefined> {
    if (this.#slow.skips(root)) return undefined
    const { top, commit } = position
    const start = performance.now()
    const status = await this.#status(root, position)
    this.#slow.looked(root, performance.now() - start)
    if (!status) return undefined
    const { paths, nested } = status
    if (began !== Number.POSITIVE_INFINITY) await this.#preparing
    const known = this.#last.get(root)
    const dirty: RepositorySnapshot['dirty'] = new Map()
    const early = new Set<string>()
    // outside of turns, nothing else keeps the contents in the store
    const release = this.#reader.holders?.add(dirty, dirtyContents)
    const folders: RealFolders = new Map()
    /** Whether the turn has already written the file. Before that, its state was the one that was read last, or that of the commit. */
    const isEarly = async (path: string, { stamp, changed, created }: Stamp) => {
      if (!isWrittenAfter(stamp === '' ? await goneSince(path) : changed, began)) return false
      const before = known?.get(path)
      const isKnown = before !== undefined && !isWrittenAfter(before.changed, began)
      // a replaced file also counts as created
      const isNew = known !== undefined && isWrittenAfter(created, began)
      const isUnknown = !isKnown && !isNew && stamp !== '' && !status.committed.files.get(path)
      if (isKnown || isUnknown) dirty.set(path, { ...OVERWRITTEN, state: isKnown ? before.state : undefined })
      else {
        dirty.delete(path)
        early.add(path)
      }
      return true
    }
    let sum = 0
    for await (const stamped of stampsOf(paths)) {
      const unread: Array<[string, Dirty]> = []
      for (const [path, found] of stamped) {
        if (await isEarly(path, found)) continue
        const { stamp, isFresh, size, changed } = found
        const isRead = sum + size < MAX_READ_BYTES && dirty.size < MAX_DIRTY
        const unsure = isWrittenSince(changed, began)
        const one: Dirty = { state: undefined, stamp, changed, isFresh, unsure }
        dirty.set(path, one)
        if (!isRead) continue
        sum += size
        const before = known?.get(path)
        const isSame = before?.stamp === stamp && !before.isFresh && before.state !== undefined
        if (isSame) one.state = unlessEmptied(before.state, unsure)
        else unread.push([path, one])
      }
      await forEachConcurrent(unread, MAX_READS, async ([path, one]) => {
        const state = await this.#reader.stateOf(path, undefined, folders)
        const read = await stampOf(path)
        if (await isEarly(path, read)) return
        one.unsure = isWrittenSince(read.changed, began)
        one.state = unlessEmptied(state, one.unsure)
      })
    }
    this.#last.set(root, dirty)
    release?.()
    this.#reader.holders?.add(dirty, dirtyContents, true)
    return { root, top, commit, position, dirty, early, nested }
  }

  /** Git's status, plus the files and submodules that the status doesn't list. */
  async #status(
    root: string,
    { top, index }: RepositoryPosition,
    skipped?: Pick<ReadonlySet<string>, 'has'>,
  ): Promise<Status | undefined> {
    const known = this.#hidden.get(root)
    const [status, hidden] = await Promise.all([
      readGitStatus(root, top, skipped),
      known?.index === index ? known.hidden : hiddenIn(root),
    ])
    if (!status || !hidden) return undefined
    this.#hidden.set(root, { index, hidden })
    // a submodule that isn't checked out is an empty folder, and is left out
    const places = await Promise.all(
      hidden.submodules.map(async path => ((await isRepository(path)) ? path : [])),
    )
    for (const path of hidden.paths) if (!skipped?.has(path)) status.paths.add(path)
    return {
      ...status,
      nested: [...new Set([...status.nested, ...places.flat()])],
    }
  }

  async #changed(
    snapshot: RepositorySnapshot,
    isKnown: (path: string) => boolean,
    ranGit: boolean,
    held: FileState[],
  ): Promise<Found | undefined> {
    const { root, top, position, dirty, early } = snapshot
    const moved = ranGit ? undefined : await movedSince(position)
    const commit = moved?.head ?? snapshot.commit
    const there = await repositoryOf(root)
    const status = there && (await this.#status(root, there, dirty))
    const committed = status && (await committedSince(root, top, commit, status.committed.commit))
    if (!status || !committed) return undefined
    const created = status.nested.filter(path => !snapshot.nested.includes(path))
    const differing = new Map<string, NoticedState>()
    const states = new Map<string, FileState>()
    const folders: RealFolders = new Map()
    const hold = <T extends FileState | undefined>(state: T): T => {
      if (state) held.push(state)
      return state
    }
    const last = new Map<string, Dirty>()
    this.#reader.holders?.add(last, dirtyContents, true)
    let size = 0
    const remember = (path: string, { stamp, changed, isFresh }: Stamp, state: FileState | undefined) => {
      size += state?.text.length ?? 0
      last.set(path, {
        state: size < MAX_READ_BYTES ? state : undefined,
        stamp,
        changed,
        isFresh,
        unsure: false,
      })
    }
    let omitted = 0
    for await (const stamped of stampsOf(dirty.keys())) {
      const written = stamped.filter(([path, now]) => {
        const { stamp, isFresh, state } = dirty.get(path)!
        return now.stamp !== stamp || (isFresh && state)
      })
      await forEachConcurrent(written, MAX_READS, async ([path]) => {
        const { state: before, unsure } = dirty.get(path)!
        const state = before && hold(await this.#reader.stateOf(path, before, folders))
        if (!before || !state) omitted += isKnown(path) ? 0 : 1
        else if (!sameState(state, before)) differing.set(path, { path, before, ...(unsure && { unsure }) })
        if (state) states.set(path, state)
      })
      for (const [path, now] of stamped) {
        const one = dirty.get(path)!
        remember(path, now, states.get(path) ?? (now.stamp === one.stamp ? one.state : undefined))
      }
    }
    this.#last.set(root, last)
    const clean = [...status.paths]
    for (const path of committed) if (!dirty.has(path) && !status.paths.has(path)) clean.push(path)
    if (clean.length > MAX_CHANGED) {
      omitted += clean.filter(path => !isKnown(path)).length
      return { changes: [...differing.values()], omitted, created }
    }
    const reading = forEachConcurrent(clean, MAX_READS, async path => {
      const stamp = await stampOf(path)
      const state = hold(await this.#reader.stateOf(path, undefined, folders))
      if (state) states.set(path, state)
      remember(path, stamp, state)
    })
    // Git reads the committed contents while this process reads the files
    const [contents] = await Promise.all([
      committedContents(root, top, commit, clean, status.committed),
      reading,
    ])
    const checkout = new Checkout(root, clean)
    const stateWith: ReadState = (...file) => this.#reader.stateWith(...file)
    await forEachConcurrent(clean, MAX_READS, async path => {
      const state = states.get(path)
      const known = contents.get(path)
      const before = known && state && hold(await asCheckedOut(stateWith, checkout, path, known, state))
      if (!before) omitted += isKnown(path) ? 0 : 1
      else if (!sameState(state, before))
        differing.set(path, { path, before, ...(early.has(path) && { unsure: true }) })
    })
    const changes: NoticedState[] = []
    for (const paths of [dirty.keys(), clean]) {
      for (const path of paths) {
        const change = differing.get(path)
        if (change) changes.push(change)
      }
    }
    if (!moved) return { changes, omitted, created }
    const written = await writtenByGit(position, moved, pick(states, changes), stateWith)
    for (const path of written) dirty.set(path, { ...last.get(path)!, state: states.get(path) })
    snapshot.commit = moved.head
    snapshot.position = moved.position
    return { changes: changes.filter(({ path }) => !written.has(path)), omitted, created }
  }
}

/** Calls `look` while Git isn't writing the work tree: otherwise, the result would contain only a part of Git's changes. */
async function atRest<T>({ position }: RepositorySnapshot, look: () => Promise<T>): Promise<T> {
  for (let looks = 1; ; looks++) {
    await untilWritten(position)
    const index = await indexStamp(position)
    const found = await look()
    const isSame = (await indexStamp(position)) === index && !(await isWriting(position))
    if (isSame || looks === MAX_LOOKS) return found
  }
}

function dirtyContents(dirty: ReadonlyMap<string, Dirty>): string[] {
  return contentsOf([...dirty.values()].flatMap(({ state }) => (state ? { value: state.attributes } : [])))
}

/**
 * The contents of these changes. A closure in `changed` would refer to more, so this is a function of its own, and the contents can be
 * garbage-collected.
 */
function noticedContents(changes: readonly NoticedState[]): string[] {
  return contentsOf(changes.map(({ before }) => ({ value: before.attributes })))
}

function pick<T>(all: ReadonlyMap<string, T>, changes: readonly NoticedState[]): Map<string, T> {
  return new Map(changes.flatMap(({ path }) => (all.has(path) ? [[path, all.get(path)!]] : [])))
}

/** The repository whose status contains a folder's files; `undefined` if there is none. */
async function statusRepository(root: string): Promise<RepositoryPosition | undefined> {
  const repository = await repositoryOf(root)
  return repository && !(await isIgnored(root, repository.top)) ? repository : undefined
}

async function isRepository(path: string): Promise<boolean> {
  return (await lstat(join(path, '.git')).catch(() => undefined)) !== undefined
}

async function isFolder(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => undefined))?.isFile() === false
}

/** The state, unless the file may be empty only because a program is about to write it: then its state is unknown. */
function unlessEmptied(state: FileState | undefined, unsure: boolean): FileState | undefined {
  return unsure && state?.attributes.type === 'text' && state.text === '' ? undefined : state
}

interface Stamp extends Pick<Dirty, 'stamp' | 'isFresh' | 'changed'> {
  size: number
  /** when the file was created, in milliseconds since the epoch */
  created: number
}

/** Yields the stamps of files in their order, at most `MAX_STAMPS` at a time. */
async function* stampsOf(paths: Iterable<string>): AsyncGenerator<Array<[path: string, stamp: Stamp]>> {
  let batch: string[] = []
  const stamped = async () => {
    const stamps: Stamp[] = []
    await forEachConcurrent([...batch.entries()], MAX_STAMPING, async ([i, path]) => {
      stamps[i] = await stampOf(path)
    })
    return batch.map((path, i): [string, Stamp] => [path, stamps[i]!])
  }
  for (const path of [...paths]) {
    if (batch.push(path) < MAX_STAMPS) continue
    yield await stamped()
    batch = []
  }
  yield await stamped()
}

async function stampOf(path: string): Promise<Stamp> {
  const info = await lstat(onDisk(path)).catch(() => undefined)
  if (!info) return { stamp: '', isFresh: false, size: 0, changed: 0, created: 0 }
  const isFresh = isWrittenSince(info.ctimeMs, Date.now())
  return {
    stamp: `${info.mtimeMs} ${info.ctimeMs} ${info.size}`,
    isFresh,
    size: info.size,
    changed: info.ctimeMs,
    created: info.birthtimeMs,
  }
}
