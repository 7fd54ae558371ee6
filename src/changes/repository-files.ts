/** Reads a repository's files with Git: which differ from the last commit, and their content in commits. */

import { join } from 'node:path'
import { CHANGES_GIT_MS } from '../common/limits.ts'
import { runGit } from '../editor/git.ts'

const MAX_OUTPUT = 10_000_000
/** The same for the list of all files in an index. */
const MAX_INDEX = 100_000_000
/** Maximum size of committed content read at a time. Bytes. */
export const MAX_READ_BYTES = 20_000_000
/** Maximum length of the paths in one command: systems limit it. UTF-16 units. */
const MAX_ARGUMENTS = 20_000

/** How a checkout converts committed content to files; read once, and only if needed. */
export class Checkout {
  readonly #root: string
  readonly #paths: readonly string[]
  #attributes: Promise<Map<string, Map<string, string>>> | undefined
  #settings: Promise<string | undefined> | undefined

  constructor(root: string, paths: readonly string[]) {
    this.#root = root
    this.#paths = paths
  }

  /** In the work tree, the file has another encoding than in Git's storage. */
  async isEncoded(path: string): Promise<boolean> {
    return (await this.#attributesOf(path)).has('working-tree-encoding')
  }

  /** A checkout replaces line feeds with other line ends. */
  async endsWithCrlf(path: string): Promise<boolean> {
    const attributes = await this.#attributesOf(path)
    const eol = attributes.get('eol')
    if (eol !== undefined) return eol === 'crlf'
    if (attributes.get('text') === 'unset') return false
    this.#settings ??= git(this.#root, ['config', '--get-regexp', '^core\\.(autocrlf|eol)$'])
    const settings = (await this.#settings) ?? ''
    const setting = (name: string) => new RegExp(`^core\\.${name} (.*)$`, 'm').exec(settings)?.[1]
    if (setting('autocrlf') === 'true') return true
    if (!attributes.has('text') || setting('autocrlf') === 'input') return false
    const native = process.platform === 'win32' ? 'crlf' : 'lf'
    return (setting('eol') ?? 'native').replace('native', native) === 'crlf'
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

export async function git(
  cwd: string,
  args: string[],
  input?: string,
  most = MAX_OUTPUT,
): Promise<string | undefined> {
  const options = { timeoutMs: CHANGES_GIT_MS, most, ...(input !== undefined && { input }) }
  const output = await runGit(cwd, args, options)
  return output && !output.cut ? output.text : undefined
}

/** What differs from the last commit. */
export interface Status {
  /** absolute paths of files */
  paths: string[]
  /** absolute paths of untracked repositories */
  nested: string[]
}

/** The files in a folder that differ from the last commit; `undefined` if that is unknown. */
export async function statusOf(root: string, top: string): Promise<Status | undefined> {
  const args = ['status', '--porcelain=v1', '-z', '--untracked-files=all', '--no-renames']
  const text = await git(root, [...args, '--ignore-submodules=all', '--', '.'])
  const names = text?.split('\0').flatMap(line => (line.length > 3 ? line.slice(3) : []))
  // of a repository, Git lists only the folder
  return (
    names && {
      paths: names.filter(name => !name.endsWith('/')).map(name => join(top, name)),
      nested: names.filter(name => name.endsWith('/')).map(name => join(top, name.slice(0, -1))),
    }
  )
}

/** A folder within a repository that Git ignores: its files have no status. */
export async function isIgnored(root: string, top: string): Promise<boolean> {
  return root !== top && (await git(root, ['check-ignore', '--', '.'])) !== undefined
}

/** What the status of a folder doesn't contain. */
export interface Hidden {
  /** absolute paths of files whose changes Git was told to ignore (`skip-worktree`, `assume-unchanged`) */
  paths: string[]
  /** absolute paths of submodules, and of repositories that were added like one */
  submodules: string[]
}

/** `undefined` if that is unknown. */
export async function hiddenIn(root: string): Promise<Hidden | undefined> {
  const text = await git(root, ['ls-files', '-z', '-v', '-s'], undefined, MAX_INDEX)
  if (text === undefined) return undefined
  const hidden: Hidden = { paths: [], submodules: [] }
  const skipped: string[] = []
  for (const [, tag = '', mode, name = ''] of text.matchAll(
    /([a-zS]|\w(?= 160000)) (\d+) \w+ \d\t([^\0]+)\0/g,
  )) {
    if (mode === '160000') hidden.submodules.push(join(root, name))
    else (tag.toUpperCase() === 'S' ? skipped : hidden.paths).push(join(root, name))
  }
  // in a sparse checkout, these aren't there, or Git has noticed that they are
  const isSparse =
    skipped.length > 0 &&
    (await git(root, ['config', '--type=bool', 'core.sparseCheckout']))?.trim() === 'true'
  if (!isSparse) hidden.paths.push(...skipped)
  return hidden
}

/** Paths in a folder that commits since then changed. */
export async function committedSince(
  root: string,
  top: string,
  commit: string,
): Promise<string[] | undefined> {
  const head = await git(root, ['rev-parse', 'HEAD'])
  if (head?.trim() === commit) return []
  const args = ['diff', '--name-only', '-z', '--no-renames', '--ignore-submodules=all']
  const text = await git(root, [...args, commit, 'HEAD', '--', '.'])
  return text?.split('\0').flatMap(line => (line === '' ? [] : join(top, line)))
}

/** A file in a commit. */
export interface Committed {
  /** absent if the commit doesn't have the file */
  bytes?: Buffer
  mode: number
}
/** Git's mode of a symbolic link. */
export const LINK = 0o120000

/** The content of files in a commit; without those that are too large or stored elsewhere. */
export async function committedContents(
  root: string,
  top: string,
  commit: string,
  paths: readonly string[],
): Promise<Map<string, Committed>> {
  const contents = new Map<string, Committed>()
  const wanted: CommittedFile[] = []
  let sum = 0
  for (const batch of batchesOf(paths)) {
    const files = await committedFiles(top, commit, batch)
    if (!files) continue
    for (const path of batch) {
      const file = files.get(path)
      if (!file) contents.set(path, { mode: 0 })
      if (file?.size === undefined || sum + file.size > MAX_READ_BYTES) continue
      sum += file.size
      wanted.push(file)
    }
  }
  const blobs = await blobsOf(
    root,
    wanted.map(({ object }) => object),
  )
  for (const [i, { path, mode }] of wanted.entries()) {
    const bytes = blobs[i]
    if (!bytes || isPointer(bytes)) continue
    contents.set(path, { bytes, mode })
  }
  return contents
}

/** Paths that fit into the arguments of a command. */
function batchesOf(paths: readonly string[]): string[][] {
  const batches: string[][] = []
  let length = MAX_ARGUMENTS
  for (const path of paths) {
    length += path.length + 1
    if (length > MAX_ARGUMENTS) {
      batches.push([])
      length = path.length + 1
    }
    batches.at(-1)!.push(path)
  }
  return batches
}

/** A file that a commit has. */
interface CommittedFile {
  /** absolute */
  path: string
  object: string
  /** in bytes; absent for a submodule */
  size?: number
  /** the permission bits (whether it's executable), or {@link LINK} */
  mode: number
}

/** By absolute path; `undefined` if the commit can't be read. */
async function committedFiles(
  top: string,
  commit: string,
  paths: readonly string[],
): Promise<Map<string, CommittedFile> | undefined> {
  // Git takes a name that begins with `:` for a pattern
  const names = paths.map(path => `./${path.slice(top.length + 1).replaceAll('\\', '/')}`)
  const text = await git(top, ['ls-tree', '-z', '-l', '--full-tree', commit, '--', ...names])
  if (text === undefined) return undefined
  const files = new Map<string, CommittedFile>()
  for (const line of text.split('\0')) {
    // where the commit has a folder, it has no file
    const [, mode, object, size, name] = /^(\d+) (?!tree)\w+ (\w+) +(\d+|-)\t([\s\S]+)$/.exec(line) ?? []
    if (mode === undefined || object === undefined || name === undefined) continue
    const bits = Number.parseInt(mode, 8)
    const path = join(top, name)
    const file = { path, object, mode: bits === LINK ? LINK : bits & 0o777 }
    files.set(path, size === '-' ? file : { ...file, size: Number(size) })
  }
  return files
}

/** The content of these objects, if it can be read. */
async function blobsOf(root: string, wanted: readonly string[]): Promise<Buffer[]> {
  if (wanted.length === 0) return []
  const output = await runGit(root, ['cat-file', '--batch'], {
    timeoutMs: CHANGES_GIT_MS,
    most: MAX_READ_BYTES + MAX_OUTPUT,
    input: wanted.map(object => `${object}\n`).join(''),
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

/** Where content is that is stored elsewhere. */
function isPointer(bytes: Buffer): boolean {
  return bytes.subarray(0, 30).toString('latin1').startsWith('version https://git-lfs.')
}
