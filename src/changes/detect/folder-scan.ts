/**
 * Detects changes in folders without a Git repository, by scanning all of their files before and after a turn. Contents are in the store by
 * their hash. A file that wasn't written since the last scan isn't read again.
 */

import { constants } from 'node:fs'
import { lstat, readlink } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join, parse } from 'node:path'
import { forEachConcurrent } from '../../common/async.ts'
import { FOLDER_SCAN_MS } from '../../common/limits.ts'
import { readHandle } from '../../common/read-bounded.ts'
import {
  isTemporary,
  isWrittenAfter,
  isWrittenSince,
  removeTemporary,
} from '../../editor/files/file-system.ts'
import { withFile } from '../../editor/files/no-follow.ts'
import { listOnDisk } from '../../editor/list-files.ts'
import { goneSince } from '../model/change-time.ts'
import type { ContentHolders } from '../model/content-use.ts'
import { ABSENT, type BlobStore, type FileState } from '../model/file-state.ts'
import { SlowFolders } from './slow-folders.ts'

/** Maximum number of files in a folder. One with more isn't scanned, which is reported. */
const MAX_FILES = 20_000
/** Of larger files, and of files beyond the total size, only whether they changed is known. Bytes. */
const MAX_FILE_BYTES = 5_000_000
const MAX_BYTES = 64_000_000
/** The limit of the store's size as a multiple of `MAX_BYTES`: it grows while the window is open, since files change. */
const MAX_ROUNDS = 4
/** If more files change in one turn (a build or an installation), none of them is read, and only their number is reported. */
const MAX_CHANGED = 1000
/** Number of files read at the same time. */
const MAX_READS = 8
/** Folders with generated content, excluded even if no `.gitignore` lists them. */
const FILLED = ['__pycache__/', '.venv/', 'venv/', '.tox/', '.mypy_cache/', '.pytest_cache/', '.gradle/']

/** A file that changed, with its previous state. */
export interface NoticedState {
  /** absolute */
  path: string
  before: FileState
  /** The file was written while the snapshot was taken, so `before` may contain only a part of an agent's text. */
  unsure?: true
}

/** The data of a file at a point in time. */
interface FileStamp {
  /** changes each time the file is written */
  stamp: string
  /** when the file was written and created, in milliseconds since the epoch */
  changed: number
  created: number
  /** The file was written just before the stamp was read: another write immediately afterward may have left the same stamp. */
  isFresh: boolean
  mode: number
  size: number
  /** hash of the file's bytes in the store; absent if they aren't stored */
  hash?: string
  /** target of a link */
  target?: string
}

/** The data of a folder's files at a point in time. */
export interface FolderSnapshot {
  root: string
  /** by absolute path */
  files: Map<string, FileStamp>
  /** paths of files that were written while the snapshot was being taken */
  unsure: Set<string>
}

/** Returns the file state for these bytes. The state of binary content contains its hash in the store. */
export type ReadState = (bytes: Uint8Array, path: string, mode: number) => Promise<FileState>

export interface FolderScanOptions {
  store: BlobStore
  holders?: ContentHolders
  stateOf: ReadState
  /** Globs of files that the user hides. */
  excluded?: () => readonly string[]
  /** The space that checkpoints may use. Bytes. */
  maxBytes?: () => number
  limits?: Partial<Record<'files' | 'fileBytes' | 'bytes' | 'changed', number>>
  slow?: SlowFolders
}

export class FolderScan {
  readonly #store: BlobStore
  readonly #holders: ContentHolders | undefined
  readonly #stateOf: ReadState
  readonly #excluded: () => readonly string[]
  readonly #maxBytes: () => number
  readonly #limits: Record<'files' | 'fileBytes' | 'bytes' | 'changed', number>
  /** by root: the last scan */
  readonly #last = new Map<string, Map<string, FileStamp>>()
  /** by root: the scan in progress */
  readonly #scans = new Map<string, Promise<FolderSnapshot | undefined>>()
  /** Bytes added to the store since unused contents were last removed. */
  #written = 0
  readonly #slow: SlowFolders

  constructor({
    store,
    holders,
    stateOf,
    excluded = () => [],
    maxBytes = () => Number.POSITIVE_INFINITY,
    limits = {},
    slow = new SlowFolders(FOLDER_SCAN_MS),
  }: FolderScanOptions) {
    this.#slow = slow
    this.#maxBytes = maxBytes
    this.#store = store
    this.#holders = holders
    this.#stateOf = stateOf
    this.#excluded = excluded
    holders?.add(this, one => [...one.#last.values()].flatMap(scannedContents))
    const most = { files: MAX_FILES, fileBytes: MAX_FILE_BYTES, bytes: MAX_BYTES, changed: MAX_CHANGED }
    this.#limits = { ...most, ...limits }
  }

  /**
   * Takes a snapshot of a folder; `undefined` if the folder has too many files or can't be read. `began`: when the caller asked for the
   * snapshot, in milliseconds since the epoch.
   */
  async snapshot(root: string, began = Date.now()): Promise<FolderSnapshot | undefined> {
    if (isTooWide(root) || this.#slow.skips(root)) return undefined
    // don't reuse a scan in progress, which may have missed changes since it started
    await this.#scans.get(root)?.catch(() => {})
    const scan = this.#snapshot(root, began).finally(() => {
      if (this.#scans.get(root) === scan) this.#scans.delete(root)
    })
    this.#scans.set(root, scan)
    return scan
  }

  async #snapshot(root: string, began: number): Promise<FolderSnapshot | undefined> {
    const start = performance.now()
    const paths = await this.#list(root)
    if (!paths) return undefined
    const known = this.#last.get(root)
    const files = new Map<string, FileStamp>()
    const unsure = new Set<string>()
    /** the earlier states of files that the turn has already written, as far as they're known */
    const overwritten = new Map<string, FileStamp | undefined>()
    const unread: Array<[string, FileStamp]> = []
    const release = this.#holders?.add(files, scannedContents)
    let bytes = 0
    await forEachConcurrent(paths, MAX_READS, async path => {
      const stamped = await stampOf(path)
      if (!stamped) return
      const before = known?.get(path)
      const isSame = before?.stamp === stamped.stamp && !before.isFresh && isKnown(before)
      const isUnsure = isWrittenSince(stamped.changed, began)
      if (isUnsure) unsure.add(path)
      const isEarly = isWrittenAfter(stamped.changed, began)
      // a replaced file also counts as created
      const isNew = known !== undefined && !before && isWrittenAfter(stamped.created, began)
      if (isEarly && (isNew || (before && !isWrittenAfter(before.changed, began) && isKnown(before))))
        overwritten.set(path, before)
      // programs empty a file before they write it
      const isEmptied = isUnsure && stamped.size === 0
      files.set(path, isSame && !isEmptied ? before : stamped)
      if (isEmptied) return
      if (isSame) bytes += stamped.size
      // a link isn't read: its target may be endless, and isn't in the folder
      else if (stamped.target === undefined && stamped.size <= this.#limits.fileBytes)
        unread.push([path, stamped])
    })
    for (const [path, before] of known ?? []) {
      if (files.has(path) || !isWrittenAfter(await goneSince(path), began)) continue
      overwritten.set(path, before)
      unsure.add(path)
    }
    this.#slow.looked(root, performance.now() - start)
    const most = Math.min(this.#limits.bytes, this.#maxBytes())
    await forEachConcurrent(unread, MAX_READS, async ([path, stamped]) => {
      if (bytes + stamped.size > most || this.#written + stamped.size > most * MAX_ROUNDS) return
      bytes += stamped.size
      await this.#keep(path, stamped).catch(() => {})
    })
    this.#last.set(root, files)
    release?.()
    const taken = new Map(files)
    for (const [path, before] of overwritten) {
      if (before) taken.set(path, before)
      else taken.delete(path)
    }
    this.#holders?.add(taken, scannedContents, true)
    return { root, files: taken, unsure }
  }

  /** Records that unused contents were removed from the store. */
  collected(): void {
    this.#written = 0
    for (const files of this.#last.values())
      for (const { hash, size } of files.values()) if (hash !== undefined) this.#written += size
  }

  /** Updates one file in the snapshot to its current state. */
  async accept({ files, unsure }: FolderSnapshot, path: string): Promise<void> {
    unsure.delete(path)
    const stamped = await stampOf(path)
    if (stamped && stamped.target === undefined && stamped.size <= this.#limits.fileBytes)
      await this.#keep(path, stamped).catch(() => {})
    if (stamped) files.set(path, stamped)
    else files.delete(path)
  }

  /** The differences from a snapshot. `omitted` doesn't count known files. `isSeen: false`: the differences can't be determined. */
  async changed(
    { root, files: before, unsure }: FolderSnapshot,
    isKnown: (path: string) => boolean,
  ): Promise<{ changes: NoticedState[]; omitted: number; isSeen: boolean }> {
    const paths = await this.#list(root)
    if (!paths) return { changes: [], omitted: 0, isSeen: false }
    const now = new Set(paths)
    // a file that isn't listed anymore because a new rule ignores it still exists
    for (const path of before.keys()) now.add(path)
    const found: Array<[string, FileStamp | undefined]> = []
    await forEachConcurrent([...now], MAX_READS, async path => {
      const was = before.get(path)
      const isSame = was?.stamp === (await stampOf(path))?.stamp
      // with an equal stamp, only stored contents can be compared
      if (!isSame || (was?.isFresh && was.hash !== undefined)) found.push([path, was])
    })
    // the current content isn't read here, so the next scan must read it
    const last = this.#last.get(root)
    for (const [path] of found) last?.set(path, UNREAD)
    if (found.length > this.#limits.changed)
      return { changes: [], omitted: found.filter(([path]) => !isKnown(path)).length, isSeen: true }
    const changes: NoticedState[] = []
    let omitted = 0
    for (const [path, was] of found.sort(([one], [other]) => (one < other ? -1 : 1))) {
      const state = await this.#before(path, was)
      if (state) changes.push({ path, before: state, ...(unsure.has(path) && { unsure: true }) })
      else if (!isKnown(path)) omitted++
    }
    return { changes, omitted, isSeen: true }
  }

  async #before(path: string, was: FileStamp | undefined): Promise<FileState | undefined> {
    if (!was) return ABSENT
    if (was.target !== undefined) return { attributes: { type: 'link', target: was.target }, text: '' }
    const bytes = was.hash === undefined ? undefined : await this.#store.get(was.hash)
    return bytes && this.#stateOf(bytes, path, was.mode)
  }

  /** Lists the files of a folder; `undefined` if there are too many or they can't be listed. */
  async #list(root: string): Promise<string[] | undefined> {
    const excluded = [...FILLED, ...this.#excluded().flatMap(expanded)]
    const most = this.#limits.files
    const names = await listOnDisk(root, most + 1, { links: true, excluded }).catch(() => undefined)
    if (!names || names.length > most) return undefined
    const paths: string[] = []
    for (const path of names.map(name => join(root, name))) {
      if (isTemporary(path)) await removeTemporary(path)
      else paths.push(path)
    }
    return paths
  }

  async #keep(path: string, stamped: FileStamp): Promise<void> {
    this.#written += stamped.size
    const { fileBytes } = this.#limits
    const bytes = await withFile(path, constants.O_RDONLY, handle => readHandle(handle, path, fileBytes))
    // only if the file wasn't written while it was read
    if ((await stampOf(path))?.stamp === stamped.stamp) stamped.hash = await this.#store.put(bytes)
  }
}

const UNREAD: FileStamp = { stamp: 'unread', changed: 0, created: 0, isFresh: true, mode: 0, size: 0 }

/** Whether the content of the file or the target of the link is known. */
function isKnown({ hash, target }: FileStamp): boolean {
  return (hash ?? target) !== undefined
}

export function scannedContents(files: ReadonlyMap<string, FileStamp>): string[] {
  return [...files.values()].flatMap(({ hash }) => hash ?? [])
}

/** Whether the folder is the home directory or the root of a disk. */
function isTooWide(root: string): boolean {
  return root === homedir() || root === parse(root).root
}

/** Reads a file's stamp; `undefined` if there is neither a file nor a link. */
async function stampOf(path: string): Promise<FileStamp | undefined> {
  const info = await lstat(path).catch(() => undefined)
  if (!info || !(info.isFile() || info.isSymbolicLink())) return undefined
  const target = info.isSymbolicLink() ? await readlink(path).catch(() => undefined) : undefined
  return {
    isFresh: isWrittenSince(info.ctimeMs, Date.now()),
    changed: info.ctimeMs,
    created: info.birthtimeMs,
    stamp: `${info.mtimeMs} ${info.ctimeMs} ${info.size}${target === undefined ? '' : ` ${target}`}`,
    mode: info.mode & 0o7777,
    size: info.size,
    ...(target !== undefined && { target }),
  }
}

/** Expands the choices `{a,b}` in a glob, which `.gitignore` doesn't support. */
function expanded(glob: string): string[] {
  const [, before, choices, after] = /^(.*?)\{([^{}]*)\}(.*)$/.exec(glob) ?? []
  return choices === undefined
    ? [glob]
    : choices.split(',').flatMap(choice => expanded(`${before}${choice}${after}`))
}
