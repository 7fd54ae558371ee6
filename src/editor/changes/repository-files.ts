/** What Git tells of a repository's files: which differ from the last commit, and what commits have of them. */
import { join } from 'node:path'
import { runGit } from '../git.ts'

const MOST_OUTPUT = 10_000_000
/** Of what commits have no more is read at a time. Bytes. */
export const MOST_BYTES = 20_000_000
/** A Git command may take this long; a repository in which a look takes longer is not looked at again. Milliseconds. */
export const TIMEOUT_MS = 5000

/** Where a folder's repository is, and its last commit; `undefined`: there is none. */
export async function repositoryOf(root: string): Promise<{ top: string; commit: string } | undefined> {
  const where = await git(root, ['rev-parse', '--show-toplevel', 'HEAD'])
  const [top, commit] = where?.split('\n') ?? []
  return top && commit ? { top, commit } : undefined
}

/** How a checkout makes files of what commits have of them; asked for once, and only where it matters. */
export class Checkout {
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
  most = MOST_OUTPUT,
): Promise<string | undefined> {
  const options = { timeoutMs: TIMEOUT_MS, most, ...(input !== undefined && { input }) }
  const output = await runGit(cwd, args, options)
  return output && !output.cut ? output.text : undefined
}

/** Absolute paths of what differs from the last commit within a folder; `undefined` when that cannot be told. */
export async function statusOf(root: string, top: string): Promise<string[] | undefined> {
  const args = ['status', '--porcelain=v1', '-z', '--untracked-files=all', '--no-renames']
  const text = await git(root, [...args, '--ignore-submodules=all', '--', '.'])
  return text
    ?.split('\0')
    .filter(line => line.length > 3)
    .map(line => join(top, line.slice(3)))
}

/** What commits made since then changed within a folder. */
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

/** A file as a commit has it. */
export interface Committed {
  /** absent: there is none */
  bytes?: Buffer
  mode: number
}
/** How Git says that a file is a link. */
export const LINK = 0o120000

/** What a commit has of files; nothing of one that is too large, or stored elsewhere. */
export async function committedContents(
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
