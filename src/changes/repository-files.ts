/** Reads a repository's files with Git: which differ from the last commit, and their content in commits. */
import { join } from 'node:path'
import { runGit } from '../editor/git.ts'

const MAX_OUTPUT = 10_000_000
/** Maximum size of committed content read at a time. Bytes. */
export const MAX_READ_BYTES = 20_000_000
/** Time limit for a Git command; a repository where one takes longer isn't checked again. Milliseconds. */
export const TIMEOUT_MS = 5000

/** A folder's repository and its last commit; `undefined` if there is none. */
export async function repositoryOf(root: string): Promise<{ top: string; commit: string } | undefined> {
  const where = await git(root, ['rev-parse', '--show-toplevel', 'HEAD'])
  const [top, commit] = where?.split('\n') ?? []
  return top && commit ? { top, commit } : undefined
}

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

async function git(
  cwd: string,
  args: string[],
  input?: string,
  most = MAX_OUTPUT,
): Promise<string | undefined> {
  const options = { timeoutMs: TIMEOUT_MS, most, ...(input !== undefined && { input }) }
  const output = await runGit(cwd, args, options)
  return output && !output.cut ? output.text : undefined
}

/** Absolute paths of the files in a folder that differ from the last commit; `undefined` if that is unknown. */
export async function statusOf(root: string, top: string): Promise<string[] | undefined> {
  const args = ['status', '--porcelain=v1', '-z', '--untracked-files=all', '--no-renames']
  const text = await git(root, [...args, '--ignore-submodules=all', '--', '.'])
  return text
    ?.split('\0')
    .filter(line => line.length > 3)
    .map(line => join(top, line.slice(3)))
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
  // such a name doesn't fit on a line of input
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
    if (Number.isNaN(size) || sum + size > MAX_READ_BYTES) continue
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

/** The content of these objects, if it can be read. */
async function blobsOf(root: string, wanted: ReadonlyArray<{ name: string }>): Promise<Buffer[]> {
  if (wanted.length === 0) return []
  const output = await runGit(root, ['cat-file', '--batch'], {
    timeoutMs: TIMEOUT_MS,
    most: MAX_READ_BYTES + MAX_OUTPUT,
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

/** The permission bits of files in a commit (whether they are executable), or {@link LINK}. */
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

/** Where content is that is stored elsewhere. */
function isPointer(bytes: Buffer): boolean {
  return bytes.subarray(0, 30).toString('latin1').startsWith('version https://git-lfs.')
}
