/** The protected files of a session's folders as they are at a time, to see which of them a turn changes. */
import { readdir } from 'node:fs/promises'
import path from 'node:path'
import type { FileText } from './changes/original-text.ts'
import { AGENT_FOLDERS, isProtectedPath } from './protected-files.ts'

/** More files than these are not compared, and none that is deeper. */
const MAX_FILES = 500
const MAX_DEPTH = 3
/** Folders that are looked at whole. `.git` holds much that every command changes, so only parts of it count. */
const FOLDERS = ['.vscode', '.husky', '.githooks', '.devcontainer', '.git/hooks', ...AGENT_FOLDERS]
const GIT_FILES = ['.git/config', '.git/config.worktree', '.git/info/attributes']

export interface ProtectedChange {
  /** absolute */
  path: string
  before: FileText
}

/** A file's text; `null` where there is no file, `undefined` where it has no text that can be compared. */
export type ReadText = (path: string) => Promise<FileText | undefined>

export class ProtectedSnapshot {
  readonly #roots: readonly string[]
  readonly #hooks: readonly string[]
  readonly #read: ReadText
  #texts: Map<string, FileText | undefined>

  private constructor(
    roots: readonly string[],
    hooks: readonly string[],
    read: ReadText,
    texts: Map<string, FileText | undefined>,
  ) {
    this.#roots = roots
    this.#hooks = hooks
    this.#read = read
    this.#texts = texts
  }

  /** `hooks`: folders that Git takes hooks from besides its own. */
  static async take(
    roots: readonly string[],
    hooks: readonly string[],
    read: ReadText,
  ): Promise<ProtectedSnapshot> {
    return new ProtectedSnapshot(roots, hooks, read, await textsOf(roots, hooks, read))
  }

  /** Takes a file as it is now for how it was: its change is known. */
  async accept(file: string): Promise<void> {
    const now = await textsOf(this.#roots, this.#hooks, this.#read)
    if (now.has(file)) this.#texts.set(file, now.get(file))
    else this.#texts.delete(file)
  }

  /** What changed since the last call, or since the snapshot was taken. */
  async changes(): Promise<ProtectedChange[]> {
    const before = this.#texts
    const now = await textsOf(this.#roots, this.#hooks, this.#read)
    for (const file of before.keys()) if (!now.has(file)) now.set(file, null)
    this.#texts = now
    return [...now].flatMap(([file, text]) => {
      // one that was not there has no text yet
      const was = before.has(file) ? before.get(file) : null
      if (text === undefined || was === undefined || matters(file, text) === matters(file, was)) return []
      return { path: file, before: was }
    })
  }
}

async function textsOf(
  roots: readonly string[],
  hooks: readonly string[],
  read: ReadText,
): Promise<Map<string, FileText | undefined>> {
  const files: string[] = []
  for (const root of new Set(roots)) {
    const inRoot = (file: string) => isProtectedPath(path.relative(root, file))
    await list(root, 0, inRoot, files)
    for (const folder of FOLDERS) await list(path.join(root, folder), 1, inRoot, files)
    files.push(...GIT_FILES.map(name => path.join(root, name)))
  }
  for (const folder of hooks) await list(folder, 1, () => true, files)
  const texts = new Map<string, FileText | undefined>()
  for (const file of new Set(files)) {
    const text = await read(file)
    if (text !== null) texts.set(file, text)
  }
  return texts
}

/** Protected files of a folder; `depth` 0 is a root, of which only the files themselves are looked at. */
async function list(
  folder: string,
  depth: number,
  counts: (file: string) => boolean,
  files: string[],
): Promise<void> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => [])
  for (const entry of entries) {
    if (files.length >= MAX_FILES) return
    const file = path.join(folder, entry.name)
    if (entry.isDirectory()) {
      if (depth > 0 && depth < MAX_DEPTH) await list(file, depth + 1, counts, files)
    } else if (!entry.name.endsWith('.sample') && counts(file)) files.push(file)
  }
}

/** Of Git's configuration what every `git push -u` writes is left out: branches, and where remotes are. */
function matters(file: string, text: FileText): string | null {
  if (text === null || !/[\\/]\.git[\\/]config$/.test(file)) return text
  let section = ''
  const lines = text.split('\n').filter(line => {
    const name = /^\s*\[([\w.-]+)/.exec(line)?.[1]
    if (name !== undefined) {
      section = name.toLowerCase()
      return section !== 'branch' && section !== 'remote'
    }
    if (line.trim() === '') return false
    if (section === 'branch') return !/^\s*(?:remote|merge|rebase|vscode-merge-base)\s*=/i.test(line)
    if (section === 'remote') return !/^\s*(?:url|fetch|tagopt|prune|gh-resolved)\s*=/i.test(line)
    return true
  })
  return lines.join('\n')
}
