/** Reads with Git which files of a repository differ from the last commit, and the content of files in commits. */

import { basename, dirname, join, sep } from 'node:path'
import { decodeFileName, isText, onDisk } from '../../common/file-names.ts'
import { CHANGES_GIT_MS } from '../../common/limits.ts'
import { hostPlatform } from '../../common/platform.ts'
import { isTemporary, removeTemporary } from '../../editor/files/file-system.ts'
import { type GitOptions, runGit } from '../../editor/git.ts'

const MAX_OUTPUT = 10_000_000
/** Matches entries of `git ls-files -v -s` for files whose changes Git was told to ignore, and for submodules. */
const HIDDEN = /^([a-zS]|\w(?= 160000)) (\d+) \w+ \d\t(.+)$/s
/**
 * Matches an entry of `git status`: a changed file with its mode and object in the last commit, a conflicting file, or an untracked one.
 */
const STATUS_ENTRY = /^(?:1 \S+ \S+ (\d+) \d+ \d+ (\w+) \w+ |u (?:\S+ ){9}|\? )(.+)$/s
/** Maximum size of committed content that is read at a time. Bytes. */
export const MAX_READ_BYTES = 20_000_000
/** Maximum length of the paths in one command, since systems limit the length of arguments. UTF-16 units. */
const MAX_ARGUMENTS = 20_000

/** How a checkout converts committed content to files. Git's attributes are read once, and only if they're needed. */
export class Checkout {
  readonly #root: string
  readonly #paths: readonly string[]
  #attributes: Promise<Map<string, Map<string, string>>> | undefined
  #settings: Promise<string | undefined> | undefined

  constructor(root: string, paths: readonly string[]) {
    this.#root = root
    this.#paths = paths
  }

  /** Whether the file has another encoding in the work tree than in Git's storage. */
  async isEncoded(path: string): Promise<boolean> {
    return (await this.#attributesOf(path)).has('working-tree-encoding')
  }

  /** Whether a checkout replaces line feeds in the file with CRLF. */
  async endsWithCrlf(path: string, platform: NodeJS.Platform = hostPlatform): Promise<boolean> {
    const attributes = await this.#attributesOf(path)
    const eol = attributes.get('eol')
    if (eol !== undefined) return eol === 'crlf'
    if (attributes.get('text') === 'unset') return false
    this.#settings ??= git(this.#root, ['config', '--get-regexp', '^core\\.(autocrlf|eol)$'])
    const settings = (await this.#settings) ?? ''
    const setting = (name: string) => new RegExp(`^core\\.${name} (.*)$`, 'm').exec(settings)?.[1]
    if (setting('autocrlf') === 'true') return true
    if (!attributes.has('text') || setting('autocrlf') === 'input') return false
    const native = platform === 'win32' ? 'crlf' : 'lf'
    return (setting('eol') ?? 'native').replace('native', native) === 'crlf'
  }

  async #attributesOf(path: string): Promise<ReadonlyMap<string, string>> {
    this.#attributes ??= this.#load()
    return (await this.#attributes).get(path) ?? new Map()
  }

  async #load(): Promise<Map<string, Map<string, string>>> {
    const args = ['check-attr', '-z', '--stdin', 'text', 'eol', 'working-tree-encoding']
    const text = await git(this.#root, args, { input: onDisk(`${this.#paths.join('\0')}\0`) })
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
  options: Pick<GitOptions, 'input' | 'each'> = {},
): Promise<string | undefined> {
  const { input, each } = options
  const output = await runGit(cwd, args, {
    timeoutMs: CHANGES_GIT_MS,
    most: MAX_OUTPUT,
    encoding: 'latin1',
    ...(input !== undefined && { input }),
    ...(each && { each: entry => each(inText(entry)) }),
  })
  return output && !output.cut ? inText(output.text) : undefined
}

/** Decodes file names in output in which each character stands for one byte. */
function inText(output: string): string {
  return /^[\0-\x7f]*$/.test(output) ? output : decodeFileName(Buffer.from(output, 'latin1'))
}

/**
 * Passes each entry of the output of a Git command with `-z` to `take`. Resolves to false if there are too many entries or the command
 * fails.
 */
async function eachEntry(cwd: string, args: string[], take: (entry: string) => void): Promise<boolean> {
  let length = 0
  const each = (entry: string) => {
    length += entry.length + 1
    if (length <= MAX_OUTPUT) take(entry)
  }
  return (await git(cwd, args, { each })) !== undefined && length <= MAX_OUTPUT
}

/** The differences from the last commit. */
export interface Status {
  /** absolute paths of files */
  paths: Set<string>
  /** absolute paths of untracked repositories */
  nested: string[]
  committed: CommittedFiles
}

/** The versions of some files in a commit, by absolute path; `undefined` for a file that the commit doesn't have. */
export interface CommittedFiles {
  commit: string
  files: Map<string, CommittedFile | undefined>
}

/** The files in a folder that differ from the last commit; `undefined` if that is unknown. `skipped`: files to leave out. */
export async function readGitStatus(
  root: string,
  top: string,
  skipped: Pick<ReadonlySet<string>, 'has'> = new Set(),
): Promise<Status | undefined> {
  const paths = new Set<string>()
  const nested: string[] = []
  const temporary: string[] = []
  const files: CommittedFiles['files'] = new Map()
  let commit = ''
  const take = (line: string) => {
    if (line.startsWith('#')) {
      commit = /^# branch\.oid (\w+)$/.exec(line)?.[1] ?? commit
      return
    }
    const [, mode, object, name] = STATUS_ENTRY.exec(line) ?? []
    if (name === undefined) return
    // of a nested repository, Git lists only the folder
    if (name.endsWith('/')) {
      nested.push(join(top, name.slice(0, -1)))
      return
    }
    const path = join(top, name)
    if (line.startsWith('?') && isTemporary(path)) {
      temporary.push(path)
      return
    }
    if (skipped.has(path)) return
    if (mode !== undefined && object !== undefined)
      files.set(path, Number(mode) === 0 ? undefined : { path, object, mode: Number.parseInt(mode, 8) })
    // a file that was removed from the index is listed twice
    else if (line.startsWith('?') && !paths.has(path)) files.set(path, undefined)
    paths.add(path)
  }
  const args = ['status', '--porcelain=v2', '--branch', '--no-ahead-behind', '-z', '--untracked-files=all']
  const rest = ['--no-renames', '--ignore-submodules=all', '--', '.']
  // all files of a large repository may differ
  if (!(await eachEntry(root, [...args, ...rest], take))) return undefined
  for (const path of temporary) await removeTemporary(path)
  return { paths, nested, committed: { commit, files } }
}

/** Whether Git ignores the folder, so that its files have no status. */
export async function isIgnored(root: string, top: string): Promise<boolean> {
  return root !== top && (await git(root, ['check-ignore', '--', '.'])) !== undefined
}

/** Whether Git ignores a file, so that no status contains the file. */
export async function isIgnoredFile(path: string): Promise<boolean> {
  return (await git(dirname(path), ['check-ignore', '--', basename(path)])) !== undefined
}

/** Files that the status of a folder doesn't list. */
export interface Hidden {
  /** absolute paths of files whose changes Git was told to ignore (`skip-worktree`, `assume-unchanged`) */
  paths: string[]
  /** absolute paths of submodules, and of repositories that were added to the index like submodules */
  submodules: string[]
}

/** Finds the hidden files and submodules; `undefined` if they're unknown. */
export async function hiddenIn(root: string): Promise<Hidden | undefined> {
  const hidden: Hidden = { paths: [], submodules: [] }
  const skipped: string[] = []
  const each = (entry: string) => {
    if (!mayBeHidden(entry)) return
    const [, tag = '', mode, name = ''] = HIDDEN.exec(entry) ?? []
    if (mode === undefined) return
    if (mode === '160000') hidden.submodules.push(join(root, name))
    else (tag.toUpperCase() === 'S' ? skipped : hidden.paths).push(join(root, name))
  }
  if ((await git(root, ['ls-files', '-z', '-v', '-s'], { each })) === undefined) return undefined
  // in a sparse checkout, the skipped files don't exist, unless Git has noticed that they do
  const isSparse =
    skipped.length > 0 &&
    (await git(root, ['config', '--type=bool', 'core.sparseCheckout']))?.trim() === 'true'
  if (!isSparse) hidden.paths.push(...skipped)
  return hidden
}

/** Whether {@link HIDDEN} may match the entry: quickly excludes most of the many entries of a large repository. */
function mayBeHidden(entry: string): boolean {
  const tag = entry[0] ?? ''
  return tag === 'S' || tag >= 'a' || entry.startsWith('160000', 2)
}

/** The paths in a folder that commits after `commit` have changed. `head`: the last commit. */
export async function committedSince(
  root: string,
  top: string,
  commit: string,
  head: string,
): Promise<string[] | undefined> {
  if (head === commit) return []
  const args = ['diff', '--name-only', '-z', '--no-renames', '--ignore-submodules=all']
  const paths: string[] = []
  const take = (name: string) => void paths.push(join(top, name))
  return (await eachEntry(root, [...args, commit, head, '--', '.'], take)) ? paths : undefined
}

/** A file in a commit. */
export interface Committed {
  /** absent if the commit doesn't have the file */
  bytes?: Buffer
  /** the permission bits (Git stores only whether a file is executable), or {@link LINK} */
  mode: number
}
/** Git's mode of a symbolic link. */
export const LINK = 0o120000
/** Git's mode of a submodule, whose files are in commits of another repository. */
const SUBMODULE = 0o160000

/** The content of files in a commit, except files that are too large or stored elsewhere. `known`: versions from Git's status. */
export async function committedContents(
  root: string,
  top: string,
  commit: string,
  paths: readonly string[],
  known?: CommittedFiles,
): Promise<Map<string, Committed>> {
  const files = new Map(known?.commit === commit ? known.files : [])
  // paths that aren't text can't be arguments
  for (const batch of batchesOf(paths.filter(path => !files.has(path) && isText(path)))) {
    const found = await committedFiles(top, commit, batch)
    if (found) for (const path of batch) files.set(path, found.get(path))
  }
  const contents = new Map<string, Committed>()
  const there: CommittedFile[] = []
  for (const path of paths) {
    const file = files.get(path)
    if (file && file.mode !== SUBMODULE) there.push(file)
    else if (!file && files.has(path)) contents.set(path, { mode: 0 })
  }
  const sizes = await sizesOf(root, there)
  let sum = 0
  const wanted = there.filter(({ object }) => {
    const size = sizes.get(object)
    if (size === undefined || sum + size > MAX_READ_BYTES) return false
    sum += size
    return true
  })
  const blobs = await blobsOf(
    root,
    wanted.map(({ object }) => object),
  )
  for (const [i, { path, mode }] of wanted.entries()) {
    const bytes = blobs[i]
    if (!bytes || isPointer(bytes)) continue
    contents.set(path, { bytes, mode: mode === LINK ? mode : mode & 0o777 })
  }
  return contents
}

/** Splits the paths into batches that fit into the arguments of a command. */
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
  /** the mode as Git stores it */
  mode: number
}

/** The files in a commit, by absolute path; `undefined` if the commit can't be read. */
async function committedFiles(
  top: string,
  commit: string,
  paths: readonly string[],
): Promise<Map<string, CommittedFile> | undefined> {
  // the prefix is needed since Git takes a name that begins with `:` for a pattern
  const names = paths.map(path => `./${path.slice(top.length + 1).replaceAll(sep, '/')}`)
  const text = await git(top, ['ls-tree', '-z', '--full-tree', commit, '--', ...names])
  if (text === undefined) return undefined
  const files = new Map<string, CommittedFile>()
  for (const line of text.split('\0')) {
    // an entry for a folder in the commit isn't a file
    const [, mode, object, name] = /^(\d+) (?!tree)\w+ (\w+)\t([\s\S]+)$/.exec(line) ?? []
    if (mode === undefined || object === undefined || name === undefined) continue
    const path = join(top, name)
    files.set(path, { path, object, mode: Number.parseInt(mode, 8) })
  }
  return files
}

/** The sizes of readable files in bytes, by object. */
async function sizesOf(root: string, files: readonly CommittedFile[]): Promise<Map<string, number>> {
  if (files.length === 0) return new Map()
  const input = files.map(({ object }) => `${object}\n`).join('')
  const text = await git(root, ['cat-file', '--batch-check'], { input })
  const lines = text?.split('\n') ?? []
  return new Map(
    lines.flatMap((line): [string, number][] => {
      const [, object, size] = /^(\w+) blob (\d+)$/.exec(line) ?? []
      return object === undefined ? [] : [[object, Number(size)]]
    }),
  )
}

/** The readable contents of these objects. */
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

/** Whether the content is only a pointer of Git LFS to content that is stored elsewhere. */
function isPointer(bytes: Buffer): boolean {
  return bytes.subarray(0, 30).toString('latin1').startsWith('version https://git-lfs.')
}
