/**
 * Protects files that determine which programs run or what agents may do: settings of the editor and of agents, MCP servers, Git's
 * configuration and hooks. Git and the editor use these files automatically, so changing one is equivalent to running a program.
 */

import { realpath as fsRealpath, readdir, stat } from 'node:fs/promises'
import { homedir } from 'node:os'
import path from 'node:path'
import { HOOKS_GIT_MS } from '../common/limits.ts'
import type { FileText } from './diff-texts.ts'
import { isWrittenSince } from './files/file-system.ts'
import { runGit } from './git.ts'
import type { LocatedPath } from './path-guard.ts'
import type { PathRules } from './path-rules.ts'

/** Folders in which every file is protected. */
const FOLDERS = new Set(['.git', '.vscode', '.husky', '.githooks', '.devcontainer'])
const FILES = new Set([
  '.mcp.json',
  '.gitconfig',
  '.gitmodules',
  '.devcontainer.json',
  // direnv asks again after a change, except in folders that the user's configuration allows
  '.envrc',
  '.tool-versions',
])
/** Folders of agents, in which {@link AGENT_FILES} are protected: permissions, hooks, MCP servers. */
const AGENT_FOLDERS: ReadonlySet<string> = new Set([
  '.claude',
  '.codex',
  '.cursor',
  '.gemini',
  '.kilocode',
  '.kiro',
  '.opencode',
  '.qwen',
  '.roo',
])
const AGENT_FILES = /^(?:settings(?:\.local)?|config|mcp|mcp_settings|hooks|opencode)\.(?:jsonc?|toml|ya?ml)$/
/** Zero-width characters, which some file systems ignore in names. */
const INVISIBLE = /[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\u206a-\u206f\ufeff]/g

/** Files with commands that mise runs in a trusted folder, even if the file is new: for each terminal and, through Parley, each agent. */
const MISE_FILE = /^\.?mise(?:rc)?(?:\.[\w-]+)*\.toml$/
const MISE_FOLDERS: ReadonlySet<string> = new Set(['mise', '.mise'])

/** Whether a path names a protected file. `path` is relative to a root or absolute, with links resolved. */
export function isProtectedPath(path: string): boolean {
  const names = path
    .replace(INVISIBLE, '')
    .toLowerCase()
    .split(/[/\\]+/)
  const last = names.at(-1) ?? ''
  if (FILES.has(last) || last.endsWith('.code-workspace') || MISE_FILE.test(last)) return true
  if (MISE_FOLDERS.has(names.at(-2) ?? '') && /^config(?:\.[\w-]+)*\.toml$/.test(last)) return true
  if (MISE_FOLDERS.has(names.at(-3) ?? '') && names.at(-2) === 'conf.d' && last.endsWith('.toml')) return true
  return names.some((name, at) => {
    if (FOLDERS.has(name)) return true
    return AGENT_FOLDERS.has(name) && at < names.length - 1 && AGENT_FILES.test(last)
  })
}

/** How long the location of a repository's hooks is cached, in milliseconds. */
const HOOKS_KNOWN_MS = 30_000

/**
 * Determines which files are protected, including files that depend on this machine: Git's configured hooks folder, and the folder of the
 * editor's user settings.
 */
export class ProtectedFiles {
  readonly #rules: PathRules
  readonly #settings: readonly string[]
  readonly #agentFolders: () => readonly string[]
  readonly #hooks = new Map<string, { at: number; folder: Promise<string | undefined> }>()

  /**
   * `settings`: absolute paths of the editor's own settings folders. `agentFolders`: settings folders that agents use instead of their
   * default folders; they may have any name.
   */
  constructor(
    rules: PathRules,
    settings: readonly string[] = [],
    agentFolders: () => readonly string[] = () => [],
  ) {
    this.#rules = rules
    this.#settings = settings
    this.#agentFolders = agentFolders
  }

  /** Whether a file is protected. `roots`: the session's folders. Never rejects. */
  async includes(
    file: Pick<LocatedPath, 'realPath' | 'relative'>,
    roots: readonly string[],
  ): Promise<boolean> {
    if (file.relative.some(isProtectedPath)) return true
    if (this.#settings.some(folder => this.#isSettings(folder, file.realPath))) return true
    if (await this.#isOfAgent(file.realPath)) return true
    const folders = await this.hookFolders(roots)
    return folders.some(folder => this.#rules.contains(folder, file.realPath))
  }

  /** Resolves to the Git hooks folders of roots whose repository configures one. Never rejects. */
  async hookFolders(roots: readonly string[]): Promise<string[]> {
    const hooks = await Promise.all(roots.map(root => this.#findHooks(root)))
    return hooks.filter(folder => folder !== undefined)
  }

  async #isOfAgent(file: string): Promise<boolean> {
    if (!AGENT_FILES.test((this.#rules.names(file).at(-1) ?? '').replace(INVISIBLE, '').toLowerCase()))
      return false
    for (const folder of this.#agentFolders()) {
      const real = await fsRealpath(folder).catch(() => folder)
      if (this.#rules.contains(real, file)) return true
    }
    return false
  }

  /**
   * Whether a file contains settings. Settings are directly in this folder or in a profile's folder; deeper files are data of extensions.
   */
  #isSettings(folder: string, path: string): boolean {
    if (!/\.jsonc?$/i.test(path) || !this.#rules.contains(folder, path)) return false
    const names = this.#rules.names(this.#rules.relative(this.#rules.normalize(folder), path))
    return names.length === 1 || (names.length === 3 && names[0] === 'profiles')
  }

  #findHooks(root: string): Promise<string | undefined> {
    const known = this.#hooks.get(root)
    if (known && performance.now() - known.at < HOOKS_KNOWN_MS) return known.folder
    const folder = this.#readHooks(root)
    this.#hooks.set(root, { at: performance.now(), folder })
    return folder
  }

  async #readHooks(root: string): Promise<string | undefined> {
    const options = { timeoutMs: HOOKS_GIT_MS, most: 10_000 }
    const output = await runGit(root, ['config', '--null', '--get-all', 'core.hooksPath'], options)
    // the last value is from our own command line
    const reported = output?.text
      .split('\0')
      .filter(value => value !== '')
      .at(-2)
    if (!reported) return undefined
    const top = (await runGit(root, ['rev-parse', '--show-toplevel'], options))?.text.trim() || root
    const path = this.#rules.resolve(top, reported.replace(/^~(?=[/\\]|$)/, homedir()))
    return fsRealpath(path).catch(() => path)
  }
}

/** Maximum number of files in a snapshot, and maximum depth of folders. */
const MAX_FILES = 500
const MAX_DEPTH = 3
/**
 * Folders with protected files that a snapshot includes. Of `.git`, in which every Git command changes files, it includes only some files.
 */
const SNAPSHOT_FOLDERS = [
  '.vscode',
  '.husky',
  '.githooks',
  '.devcontainer',
  '.git/hooks',
  '.config/mise',
  ...MISE_FOLDERS,
  ...AGENT_FOLDERS,
]
const GIT_FILES = ['.git/config', '.git/config.worktree', '.git/info/attributes']

export interface ProtectedChange {
  /** absolute */
  path: string
  /** The text before the change; absent if it's unknown, since the file was written while the snapshot was taken. */
  before?: FileText
}

/** Resolves to the text of a file; `null` if the file doesn't exist, `undefined` if it has no text to compare. */
export type ReadText = (path: string) => Promise<FileText | undefined>

/** A snapshot of the protected files in a session's folders, to detect which of them a turn changes. */
export class ProtectedSnapshot {
  readonly #roots: readonly string[]
  readonly #hooks: readonly string[]
  readonly #read: ReadText
  #texts: Map<string, FileText | undefined>
  /** files that were written while the snapshot was taken, so their texts in it may be incomplete */
  readonly #unsure: Set<string>

  private constructor(
    roots: readonly string[],
    hooks: readonly string[],
    read: ReadText,
    texts: Map<string, FileText | undefined>,
    unsure: Set<string>,
  ) {
    this.#roots = roots
    this.#hooks = hooks
    this.#read = read
    this.#texts = texts
    this.#unsure = unsure
  }

  /**
   * Takes a snapshot. `hooks`: additional folders of Git's hooks. `began`: when the snapshot was requested, in milliseconds since the
   * epoch.
   */
  static async take(
    roots: readonly string[],
    hooks: readonly string[],
    read: ReadText,
    began: number,
  ): Promise<ProtectedSnapshot> {
    const texts = await textsOf(roots, hooks, read)
    const unsure = new Set<string>()
    for (const file of texts.keys()) {
      const info = await stat(file).catch(() => undefined)
      if (info && isWrittenSince(info.ctimeMs, began)) unsure.add(file)
    }
    return new ProtectedSnapshot(roots, hooks, read, texts, unsure)
  }

  /** Updates a file in the snapshot, because its change is already known. */
  async accept(file: string): Promise<void> {
    const now = await textsOf(this.#roots, this.#hooks, this.#read)
    this.#unsure.delete(file)
    if (now.has(file)) this.#texts.set(file, now.get(file))
    else this.#texts.delete(file)
  }

  /** Resolves to the files that changed since the last call, or since the snapshot was taken. */
  async changes(): Promise<ProtectedChange[]> {
    const before = this.#texts
    const now = await textsOf(this.#roots, this.#hooks, this.#read)
    for (const file of before.keys()) if (!now.has(file)) now.set(file, null)
    this.#texts = now
    return [...now].flatMap(([file, text]) => {
      // a file that didn't exist had no text
      const was = before.has(file) ? before.get(file) : null
      if (text === undefined || was === undefined || matters(file, text) === matters(file, was)) return []
      return this.#unsure.delete(file) ? { path: file } : { path: file, before: was }
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
    await list(path.join(root, '.config'), 0, inRoot, files)
    for (const folder of SNAPSHOT_FOLDERS) await list(path.join(root, folder), 1, inRoot, files)
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

/** Lists protected files of a folder; with `depth` 0, only files directly in the folder. */
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

/** Settings that `git init` and `git push -u` write, by section of Git's configuration: these settings run no programs. */
const HARMLESS_SETTINGS = new Map([
  [
    'core',
    /^\s*(?:repositoryformatversion|filemode|bare|logallrefupdates|ignorecase|precomposeunicode|symlinks)\s*=\s*\w+\s*$/i,
  ],
  ['branch', /^\s*(?:remote|merge|rebase|vscode-merge-base)\s*=/i],
  ['remote', /^\s*(?:url|fetch|tagopt|prune|gh-resolved)\s*=/i],
])
/** Matches the first line of a section, perhaps with a setting after it. */
const SECTION = /^\s*\[([\w.-]+)(?:\s+"(?:[^"\\]|\\.)*")?\s*\](.*)$/

/** Returns Git's configuration without harmless settings; `null` if there are no other settings. */
function matters(file: string, text: FileText): string | null {
  if (text === null || !/[\\/]\.git[\\/]config$/.test(file)) return text
  let harmless: RegExp | undefined
  let header: string | undefined
  const lines = text.split('\n').flatMap(line => {
    const [, name, setting] = SECTION.exec(line) ?? []
    if (name !== undefined) {
      harmless = HARMLESS_SETTINGS.get(name.toLowerCase())
      header = line
      if (setting?.trim() === '') return []
    } else if (line.trim() === '' || harmless?.test(line)) return []
    const above = header === undefined || header === line ? [] : [header]
    header = undefined
    return [...above, line]
  })
  return lines.length === 0 ? null : lines.join('\n')
}
