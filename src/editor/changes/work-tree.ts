import { lstat } from 'node:fs/promises'
import { join } from 'node:path'
import { runGit } from '../git.ts'
import type { FileText } from './diff-texts.ts'

/** Of more files that differ from what was committed no text is kept at the beginning of a turn. */
const MAX_DIRTY = 2000
/** Of more files that change in one turn no text is looked up: a build, or another branch. How many there are is told. */
const MAX_CHANGED = 1000
const MOST_OUTPUT = 10_000_000
/** Of what differs no more text is kept at a time. UTF-16 units. */
const MOST_TEXT = 20_000_000
/** A repository in which a look takes longer is not looked at again. Milliseconds. */
const TIMEOUT_MS = 5000

/** A file that is not as it was, with its text from before. */
export interface NoticedChange {
  /** absolute */
  path: string
  before: FileText
  /** its permission bits before, where they are known */
  mode?: number
}

export interface Noticed {
  changes: NoticedChange[]
  /** files that changed, too, and whose text from before is not known: there are too many, or they are too large */
  omitted: number
}

/** How a repository was at a time: what differed from its last commit then, with the texts. */
interface Snapshot {
  root: string
  top: string
  commit: string
  /** by absolute path */
  dirty: Map<string, Dirty>
}

interface Dirty {
  /** `undefined`: it has no text that is kept */
  text: FileText | undefined
  mode?: number
  /** another one whenever the file was written */
  stamp: string
}

/** A file's text now; `undefined` where it has none. */
export type ReadText = (path: string) => Promise<FileText | undefined>

/**
 * Notices which files of a session's folders change while its agent works, whoever changes them: by what git says of
 * them before and after. What git leaves out is left out; folders without a repository have nothing to be told by.
 */
export class WorkTree {
  readonly #read: ReadText
  /** folders in which a look took too long */
  readonly #slow = new Set<string>()

  constructor(read: ReadText) {
    this.#read = read
  }

  /** Remembers how the folders are now. */
  async snapshot(folders: readonly string[]): Promise<Snapshot[]> {
    const all = await Promise.all(folders.map(folder => this.#snapshot(folder)))
    return all.flatMap(one => one ?? [])
  }

  /** What differs from a snapshot now. */
  async changed(snapshots: readonly Snapshot[]): Promise<Noticed> {
    const all = await Promise.all(snapshots.map(one => this.#changed(one)))
    const byPath = new Map(all.flatMap(({ changes }) => changes).map(change => [change.path, change]))
    return { changes: [...byPath.values()], omitted: all.reduce((sum, { omitted }) => sum + omitted, 0) }
  }

  async #snapshot(root: string): Promise<Snapshot | undefined> {
    if (this.#slow.has(root)) return undefined
    const start = performance.now()
    const where = await git(root, ['rev-parse', '--show-toplevel', 'HEAD'])
    const [top, commit] = where?.split('\n') ?? []
    if (!top || !commit) return undefined
    const paths = await statusOf(root, top)
    if (performance.now() - start > TIMEOUT_MS) this.#slow.add(root)
    if (!paths) return undefined
    const dirty: Snapshot['dirty'] = new Map()
    let sum = 0
    for (const path of paths) {
      const isKept = sum < MOST_TEXT && dirty.size < MAX_DIRTY
      const text = isKept ? await this.#read(path) : undefined
      sum += text?.length ?? 0
      dirty.set(path, { text, ...(await stampOf(path)) })
    }
    return { root, top, commit, dirty }
  }

  async #changed({ root, top, commit, dirty }: Snapshot): Promise<Noticed> {
    const now = await statusOf(root, top)
    const committed = await committedSince(root, top, commit)
    if (!now || !committed) return { changes: [], omitted: 0 }
    const changes: NoticedChange[] = []
    let omitted = 0
    for (const [path, { text: before, mode, stamp }] of dirty) {
      if ((await stampOf(path)).stamp === stamp) continue
      const text = before === undefined ? undefined : await this.#read(path)
      if (before === undefined || text === undefined) omitted++
      else if (text !== before) changes.push({ path, before, ...(mode !== undefined && { mode }) })
    }
    const clean = [...new Set([...now, ...committed])].filter(path => !dirty.has(path))
    if (clean.length > MAX_CHANGED) return { changes, omitted: omitted + clean.length }
    const texts = await committedTexts(root, top, commit, clean)
    for (const path of clean) {
      const text = await this.#read(path)
      const known = texts.get(path)
      if (text === undefined || known === undefined) {
        omitted++
        continue
      }
      const { text: before, mode } = known
      // a checkout may give lines another end than the commit has
      const crlf = before !== null && text?.includes('\r\n') && !before.includes('\r\n')
      const asCheckedOut = crlf ? before.replaceAll('\n', '\r\n') : before
      if (text !== asCheckedOut)
        changes.push({ path, before: asCheckedOut, ...(mode !== undefined && { mode }) })
    }
    return { changes, omitted }
  }
}

async function stampOf(path: string): Promise<{ stamp: string; mode?: number }> {
  const info = await lstat(path).catch(() => undefined)
  if (!info) return { stamp: '' }
  return { stamp: `${info.mtimeMs} ${info.ctimeMs} ${info.size}`, mode: info.mode & 0o7777 }
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

/** The texts that a commit has of files; `null` for one that it does not have, none where it is no text. */
async function committedTexts(
  root: string,
  top: string,
  commit: string,
  paths: readonly string[],
): Promise<Map<string, { text: FileText; mode?: number }>> {
  const texts = new Map<string, { text: FileText; mode?: number }>()
  // a line of input cannot hold such a name
  const named = paths.filter(path => !path.includes('\n'))
  if (named.length === 0) return texts
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
    if (line.endsWith(' missing')) texts.set(path, { text: null })
    const size = Number(/^blob (\d+)$/.exec(line)?.[1] ?? Number.NaN)
    if (Number.isNaN(size) || sum + size > MOST_TEXT) continue
    sum += size
    wanted.push({ path, name: names[i]! })
  }
  const contents = await blobsOf(root, wanted)
  for (const [i, { path }] of wanted.entries()) {
    const text = contents[i]?.toString()
    if (text === undefined || !isText(text)) continue
    const mode = modes.get(path)
    const bare = text.startsWith('\ufeff') ? text.slice(1) : text
    texts.set(path, { text: bare, ...(mode !== undefined && { mode }) })
  }
  return texts
}

/** What is stored under these names, as far as it could be read. */
async function blobsOf(root: string, wanted: ReadonlyArray<{ name: string }>): Promise<Buffer[]> {
  if (wanted.length === 0) return []
  const output = await runGit(root, ['cat-file', '--batch'], {
    timeoutMs: TIMEOUT_MS,
    most: MOST_TEXT + MOST_OUTPUT,
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

/** The permission bits that a commit has of files: whether they can be run. */
async function modesOf(top: string, commit: string, paths: readonly string[]): Promise<Map<string, number>> {
  const names = paths.map(path => path.slice(top.length + 1).replaceAll('\\', '/'))
  const text = await git(top, ['ls-tree', '-z', '--full-tree', commit, '--', ...names])
  const modes = new Map<string, number>()
  for (const line of text?.split('\0') ?? []) {
    const [, mode, name] = /^100(\d{3}) blob \w+\t([\s\S]+)$/.exec(line) ?? []
    if (mode !== undefined && name !== undefined) modes.set(join(top, name), Number.parseInt(mode, 8))
  }
  return modes
}

/** Whole, of this encoding, and no pointer to what is stored elsewhere. */
function isText(text: string): boolean {
  return !/[\0\ufffd]/.test(text) && !text.startsWith('version https://git-lfs.')
}
