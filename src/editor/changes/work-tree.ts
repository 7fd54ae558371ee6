import { lstat, realpath } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import { runGit } from '../git.ts'
import { ABSENT, type FileState, sameState } from './file-state.ts'
import {
  type FolderScan,
  type FolderSnapshot,
  FRESH_MS,
  type NoticedState,
  type StateOf,
} from './folder-scan.ts'

/** Of more files that differ from what was committed nothing is kept at the beginning of a turn. */
const MAX_DIRTY = 2000
/** Of more files that change in one turn nothing is looked up: a build, or another branch. How many there are is told. */
const MAX_CHANGED = 1000
const MOST_OUTPUT = 10_000_000
/** Of what differs no more is kept at a time. Bytes. */
const MOST_BYTES = 20_000_000
/** A repository in which a look takes longer is not looked at again. Milliseconds. */
const TIMEOUT_MS = 5000

export interface Noticed {
  changes: NoticedState[]
  /** files that changed, too, and whose content from before is not known: there are too many, or they are too large */
  omitted: number
  /** folders in which nobody can tell what changed: they are too large, or Git takes too long */
  unseen: string[]
}

/** How a repository was at a time: what differed from its last commit then, and what that was. */
interface RepositorySnapshot {
  root: string
  top: string
  commit: string
  /** by absolute path */
  dirty: Map<string, Dirty>
}

/** How folders were at a time. */
export interface Snapshot {
  repositories: RepositorySnapshot[]
  folders: FolderSnapshot[]
  unseen: string[]
  /** folders in which the user did something to all files */
  accepted: string[]
}

interface Dirty {
  /** `undefined`: it is not kept */
  state: FileState | undefined
  /** another one whenever the file was written */
  stamp: string
  /** It was written just before: a write right after may have left the same stamp. */
  isFresh: boolean
}

/** What a session may know of files. */
export interface StateReader {
  /** As it is on disk; `undefined`: it is none of the session's, or it can't be told. Never rejects. */
  stateOf(path: string): Promise<FileState | undefined>
  /** What a file is that holds these bytes. */
  stateWith: StateOf
  /** For what is in no repository. */
  scan: Pick<FolderScan, 'snapshot' | 'accept' | 'changed'>
}

/**
 * Notices which files of a session's folders change while its agent works, whoever changes them: by what Git says of
 * them before and after, or by a look at all files where there is no repository. What Git leaves out is left out.
 */
export class WorkTree {
  readonly #reader: StateReader
  /** folders in which a look took too long */
  readonly #slow = new Set<string>()
  /** by root: what differed at the last look, so that nothing is read again that was not written since */
  readonly #last = new Map<string, ReadonlyMap<string, Dirty>>()

  constructor(reader: StateReader) {
    this.#reader = reader
  }

  /** Looks at folders without a repository for the first time, so that the look before a turn is short. */
  async prepare(folders: readonly string[]): Promise<void> {
    for (const folder of folders) {
      const root = await realpath(folder).catch(() => folder)
      if (!(await repositoryOf(root))) await this.#reader.scan.snapshot(root)
    }
  }

  /** Remembers how the folders are now. */
  async snapshot(folders: readonly string[]): Promise<Snapshot> {
    const taken: Snapshot = { repositories: [], folders: [], unseen: [], accepted: [] }
    const places = await Promise.all(folders.map(folder => realpath(folder).catch(() => folder)))
    await Promise.all(
      [...new Set(places)].map(async root => {
        const repository = await repositoryOf(root)
        const known = repository && (await this.#snapshot(root, repository))
        const scanned = repository ? undefined : await this.#reader.scan.snapshot(root)
        if (known) taken.repositories.push(known)
        else if (scanned) taken.folders.push(scanned)
        else if (await isFolder(root)) taken.unseen.push(root)
      }),
    )
    return taken
  }

  /** The user did something with a file or a folder: what is there now is what was there before. Links resolved. */
  async accept({ repositories, folders, accepted }: Snapshot, path: string): Promise<void> {
    const state = await this.#reader.stateOf(path)
    if (!state || state.attributes.type === 'absent') accepted.push(path)
    if (!state) return
    const isIn = (root: string) => !relative(root, path).startsWith('..')
    const { stamp, isFresh } = await stampOf(path)
    for (const { top, dirty } of repositories) if (isIn(top)) dirty.set(path, { state, stamp, isFresh })
    for (const folder of folders) if (isIn(folder.root)) await this.#reader.scan.accept(folder, path)
  }

  /** What differs from a snapshot now. */
  async changed({ repositories, folders, unseen, accepted }: Snapshot): Promise<Noticed> {
    const isAccepted = (path: string) => accepted.some(folder => path.startsWith(`${folder}${sep}`))
    const byPath = new Map<string, NoticedState>()
    const found: Noticed = { changes: [], omitted: 0, unseen: [...unseen] }
    const add = (root: string, one: { changes: NoticedState[]; omitted: number } | undefined) => {
      if (!one) found.unseen.push(root)
      for (const change of one?.changes ?? []) if (!isAccepted(change.path)) byPath.set(change.path, change)
      found.omitted += one?.omitted ?? 0
    }
    await Promise.all([
      ...repositories.map(async one => add(one.root, await this.#changed(one))),
      ...folders.map(async one => add(one.root, await this.#scanned(one))),
    ])
    return { ...found, changes: [...byPath.values()] }
  }

  async #scanned(
    snapshot: FolderSnapshot,
  ): Promise<{ changes: NoticedState[]; omitted: number } | undefined> {
    const { changes, omitted, isSeen } = await this.#reader.scan.changed(snapshot)
    if (!isSeen) return undefined
    return { changes: await this.#different(changes), omitted }
  }

  /** What was only touched is as it was. */
  async #different(changes: readonly NoticedState[]): Promise<NoticedState[]> {
    const different: NoticedState[] = []
    for (const change of changes) {
      const now = await this.#reader.stateOf(change.path)
      if (now && !sameState(now, change.before)) different.push(change)
    }
    return different
  }

  async #snapshot(
    root: string,
    { top, commit }: { top: string; commit: string },
  ): Promise<RepositorySnapshot | undefined> {
    if (this.#slow.has(root)) return undefined
    const start = performance.now()
    const paths = await statusOf(root, top)
    if (performance.now() - start > TIMEOUT_MS) this.#slow.add(root)
    if (!paths) return undefined
    const known = this.#last.get(root)
    const dirty: RepositorySnapshot['dirty'] = new Map()
    let sum = 0
    for (const path of paths) {
      const { stamp, isFresh, size } = await stampOf(path)
      const isKept = sum + size < MOST_BYTES && dirty.size < MAX_DIRTY
      if (isKept) sum += size
      const before = known?.get(path)
      const isSame = before?.stamp === stamp && !before.isFresh && before.state !== undefined
      const state = isKept && !isSame ? await this.#reader.stateOf(path) : before?.state
      dirty.set(path, { state: isKept ? state : undefined, stamp, isFresh })
    }
    this.#last.set(root, dirty)
    return { root, top, commit, dirty }
  }

  async #changed({
    root,
    top,
    commit,
    dirty,
  }: RepositorySnapshot): Promise<{ changes: NoticedState[]; omitted: number } | undefined> {
    const now = await statusOf(root, top)
    const committed = await committedSince(root, top, commit)
    if (!now || !committed) return undefined
    const changes: NoticedState[] = []
    let omitted = 0
    for (const [path, { state: before, stamp, isFresh }] of dirty) {
      const isSame = (await stampOf(path)).stamp === stamp
      if (isSame && (!isFresh || !before)) continue
      const state = before && (await this.#reader.stateOf(path))
      if (!before || !state) omitted++
      else if (!sameState(state, before)) changes.push({ path, before })
    }
    const clean = [...new Set([...now, ...committed])].filter(path => !dirty.has(path))
    if (clean.length > MAX_CHANGED) return { changes, omitted: omitted + clean.length }
    const contents = await committedContents(root, top, commit, clean)
    const checkout = new Checkout(root, clean)
    for (const path of clean) {
      const state = await this.#reader.stateOf(path)
      const known = contents.get(path)
      const before = known && state && (await this.#asCheckedOut(checkout, path, known, state))
      if (!before) omitted++
      else if (!sameState(state, before)) changes.push({ path, before })
    }
    return { changes, omitted }
  }

  /** What a commit has of a file, as it was in the work tree: a commit knows little of modes, and ends lines its own way. */
  async #asCheckedOut(
    checkout: Checkout,
    path: string,
    { bytes, mode }: Committed,
    now: FileState,
  ): Promise<FileState> {
    if (!bytes) return ABSENT
    if (mode === LINK) return { attributes: { type: 'link', target: bytes.toString() }, text: '' }
    const is = now.attributes
    const canRun = (mode & 0o100) !== 0
    const isMode = 'mode' in is ? is.mode : undefined
    const wasMode =
      isMode === undefined
        ? mode
        : canRun === ((isMode & 0o100) !== 0)
          ? isMode
          : canRun
            ? isMode | ((isMode & 0o444) >> 2)
            : isMode & ~0o111
    const before = await this.#reader.stateWith(bytes, path, wasMode)
    if (before.attributes.type !== 'text') return before
    const hasEnds = before.text.includes('\n') && !before.text.includes('\r\n')
    const isCrlf =
      hasEnds && (is.type === 'text' ? now.text.includes('\r\n') : await checkout.endsWithCrlf(path))
    const text = isCrlf ? before.text.replaceAll('\n', '\r\n') : before.text
    // a commit may have another encoding than the work tree
    const isConverted =
      is.type === 'text' && before.attributes.encoding !== is.encoding && (await checkout.isEncoded(path))
    const { encoding, bom } = isConverted ? is : before.attributes
    return { text, attributes: { ...before.attributes, encoding, bom } }
  }
}

/** Where a folder's repository is, and its last commit; `undefined`: there is none. */
async function repositoryOf(root: string): Promise<{ top: string; commit: string } | undefined> {
  const where = await git(root, ['rev-parse', '--show-toplevel', 'HEAD'])
  const [top, commit] = where?.split('\n') ?? []
  return top && commit ? { top, commit } : undefined
}

async function isFolder(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => undefined))?.isFile() === false
}

async function stampOf(path: string): Promise<{ stamp: string; isFresh: boolean; size: number }> {
  const info = await lstat(path).catch(() => undefined)
  if (!info) return { stamp: '', isFresh: false, size: 0 }
  const isFresh = Date.now() - info.ctimeMs < FRESH_MS
  return { stamp: `${info.mtimeMs} ${info.ctimeMs} ${info.size}`, isFresh, size: info.size }
}

/** How a checkout makes files of what commits have of them; asked for once, and only where it matters. */
class Checkout {
  readonly #root: string
  readonly #paths: readonly string[]
  #attributes: Promise<Map<string, Map<string, string>>> | undefined
  #settings: Promise<string | undefined> | undefined

  constructor(root: string, paths: readonly string[]) {
    this.#root = root
    this.#paths = paths
  }

  /** The work tree has the file in an encoding that Git does not store. */
  async isEncoded(path: string): Promise<boolean> {
    return (await this.#attributesOf(path)).has('working-tree-encoding')
  }

  /** Lines of the file that end with a line feed get another end. */
  async endsWithCrlf(path: string): Promise<boolean> {
    const attributes = await this.#attributesOf(path)
    const eol = attributes.get('eol')
    if (eol !== undefined) return eol === 'crlf'
    if (attributes.get('text') === 'unset') return false
    this.#settings ??= git(this.#root, ['config', '--get-regexp', '^core\\.(autocrlf|eol)$'])
    const settings = (await this.#settings) ?? ''
    const valueOf = (name: string) => new RegExp(`^core\\.${name} (.*)$`, 'm').exec(settings)?.[1]
    if (valueOf('autocrlf') === 'true') return true
    if (!attributes.has('text') || valueOf('autocrlf') === 'input') return false
    const native = process.platform === 'win32' ? 'crlf' : 'lf'
    return (valueOf('eol') ?? 'native').replace('native', native) === 'crlf'
  }

  async #attributesOf(path: string): Promise<ReadonlyMap<string, string>> {
    this.#attributes ??= this.#load()
    return (await this.#attributes).get(path) ?? new Map()
  }

  async #load(): Promise<Map<string, Map<string, string>>> {
    const args = ['check-attr', '-z', '--stdin', 'text', 'eol', 'working-tree-encoding']
    const text = await git(this.#root, args, `${this.#paths.join('\0')}\0`)
    const fields = text?.split('\0') ?? []
    const all = new Map<string, Map<string, string>>()
    for (let at = 0; at + 2 < fields.length; at += 3) {
      const [path = '', name = '', value = ''] = fields.slice(at, at + 3)
      if (value === 'unspecified') continue
      const known = all.get(path) ?? new Map<string, string>()
      all.set(path, known.set(name, value))
    }
    return all
  }
}

async function git(
  cwd: string,
  args: string[],
  input?: string,
  most = MOST_OUTPUT,
): Promise<string | undefined> {
  const options = { timeoutMs: TIMEOUT_MS, most, ...(input !== undefined && { input }) }
  const output = await runGit(cwd, args, options)
  return output && !output.cut ? output.text : undefined
}

/** Absolute paths of what differs from the last commit within a folder; `undefined` when that cannot be told. */
async function statusOf(root: string, top: string): Promise<string[] | undefined> {
  const args = ['status', '--porcelain=v1', '-z', '--untracked-files=all', '--no-renames']
  const text = await git(root, [...args, '--ignore-submodules=all', '--', '.'])
  return text
    ?.split('\0')
    .filter(line => line.length > 3)
    .map(line => join(top, line.slice(3)))
}

/** What commits made since then changed within a folder. */
async function committedSince(root: string, top: string, commit: string): Promise<string[] | undefined> {
  const head = await git(root, ['rev-parse', 'HEAD'])
  if (head?.trim() === commit) return []
  const args = ['diff', '--name-only', '-z', '--no-renames', '--ignore-submodules=all']
  const text = await git(root, [...args, commit, 'HEAD', '--', '.'])
  return text?.split('\0').flatMap(line => (line === '' ? [] : join(top, line)))
}

/** A file as a commit has it. */
interface Committed {
  /** absent: there is none */
  bytes?: Buffer
  mode: number
}
/** How Git says that a file is a link. */
const LINK = 0o120000

/** What a commit has of files; nothing of one that is too large, or stored elsewhere. */
async function committedContents(
  root: string,
  top: string,
  commit: string,
  paths: readonly string[],
): Promise<Map<string, Committed>> {
  const contents = new Map<string, Committed>()
  // a line of input cannot hold such a name
  const named = paths.filter(path => !path.includes('\n'))
  if (named.length === 0) return contents
  const names = named.map(path => `${commit}:${path.slice(top.length + 1).replaceAll('\\', '/')}`)
  const sizes = await git(
    root,
    ['cat-file', '--batch-check=%(objecttype) %(objectsize)'],
    `${names.join('\n')}\n`,
  )
  const lines = sizes?.split('\n') ?? []
  const modes = await modesOf(top, commit, paths)
  const wanted: Array<{ path: string; name: string }> = []
  let sum = 0
  for (const [i, path] of named.entries()) {
    const line = lines[i] ?? ''
    if (line.endsWith(' missing')) contents.set(path, { mode: 0 })
    const size = Number(/^blob (\d+)$/.exec(line)?.[1] ?? Number.NaN)
    if (Number.isNaN(size) || sum + size > MOST_BYTES) continue
    sum += size
    wanted.push({ path, name: names[i]! })
  }
  const blobs = await blobsOf(root, wanted)
  for (const [i, { path }] of wanted.entries()) {
    const bytes = blobs[i]
    if (!bytes || isPointer(bytes)) continue
    contents.set(path, { bytes, mode: modes.get(path) ?? 0o644 })
  }
  return contents
}

/** What is stored under these names, as far as it could be read. */
async function blobsOf(root: string, wanted: ReadonlyArray<{ name: string }>): Promise<Buffer[]> {
  if (wanted.length === 0) return []
  const output = await runGit(root, ['cat-file', '--batch'], {
    timeoutMs: TIMEOUT_MS,
    most: MOST_BYTES + MOST_OUTPUT,
    input: wanted.map(({ name }) => `${name}\n`).join(''),
    encoding: 'latin1',
  })
  const blobs: Buffer[] = []
  const text = output?.text ?? ''
  for (let at = 0; blobs.length < wanted.length; ) {
    const end = text.indexOf('\n', at)
    const size = Number(/ blob (\d+)$/.exec(text.slice(at, Math.max(at, end)))?.[1] ?? Number.NaN)
    const begin = end + 1
    if (Number.isNaN(size) || begin + size > text.length) break
    blobs.push(Buffer.from(text.slice(begin, begin + size), 'latin1'))
    at = begin + size + 1
  }
  return blobs
}

/** The permission bits that a commit has of files, whether they can be run; or {@link LINK}. */
async function modesOf(top: string, commit: string, paths: readonly string[]): Promise<Map<string, number>> {
  const names = paths.map(path => path.slice(top.length + 1).replaceAll('\\', '/'))
  const text = await git(top, ['ls-tree', '-z', '--full-tree', commit, '--', ...names])
  const modes = new Map<string, number>()
  for (const line of text?.split('\0') ?? []) {
    const [, mode, name] = /^(100\d{3}|120000) blob \w+\t([\s\S]+)$/.exec(line) ?? []
    if (mode === undefined || name === undefined) continue
    const bits = Number.parseInt(mode, 8)
    modes.set(join(top, name), bits === LINK ? LINK : bits & 0o777)
  }
  return modes
}

/** Where the content is that is stored elsewhere. */
function isPointer(bytes: Buffer): boolean {
  return bytes.subarray(0, 30).toString('latin1').startsWith('version https://git-lfs.')
}
