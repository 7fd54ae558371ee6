/**
 * Files that decide what programs run or what agents may do: settings of the editor and of agents, MCP servers, Git's
 * configuration and hooks. Git and the editor act on them by themselves, so changing one is as good as running a program.
 */
import { realpath as fsRealpath } from 'node:fs/promises'
import { homedir } from 'node:os'
import { runGit } from './git.ts'
import type { LocatedPath } from './path-guard.ts'
import type { PathRules } from './path-rules.ts'

/** Folders of which every file counts. */
const FOLDERS = new Set(['.git', '.vscode', '.husky', '.githooks', '.devcontainer'])
const FILES = new Set(['.mcp.json', '.gitconfig', '.gitmodules', '.devcontainer.json'])
/** Folders of agents, and what counts in them: permissions, hooks, MCP servers. */
export const AGENT_FOLDERS: ReadonlySet<string> = new Set([
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
/** Characters without a width, which some file systems leave out of names. */
const INVISIBLE = /[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\u206a-\u206f\ufeff]/g

/** Whether a path names a protected file. `path` is relative to a root or absolute, with links resolved. */
export function isProtectedPath(path: string): boolean {
  const names = path
    .replace(INVISIBLE, '')
    .toLowerCase()
    .split(/[/\\]+/)
  const last = names.at(-1) ?? ''
  if (FILES.has(last) || last.endsWith('.code-workspace')) return true
  return names.some((name, at) => {
    if (FOLDERS.has(name)) return true
    return AGENT_FOLDERS.has(name) && at < names.length - 1 && AGENT_FILES.test(last)
  })
}

/** How long the place of a repository's hooks is taken to be known, in milliseconds. */
const HOOKS_KNOWN_MS = 30_000

/**
 * Tells which files are protected, those included that only this machine knows: Git's hooks folder when it is set to
 * another one, and the folder of the editor's user settings.
 */
export class ProtectedFiles {
  readonly #rules: PathRules
  readonly #settings: readonly string[]
  readonly #hooks = new Map<string, { at: number; folder: Promise<string | undefined> }>()

  /** `settings`: absolute paths of folders with the editor's own settings. */
  constructor(rules: PathRules, settings: readonly string[] = []) {
    this.#rules = rules
    this.#settings = settings
  }

  /** `roots`: the session's folders. Never rejects. */
  async includes(
    file: Pick<LocatedPath, 'realPath' | 'relative'>,
    roots: readonly string[],
  ): Promise<boolean> {
    if (file.relative.some(isProtectedPath)) return true
    if (this.#settings.some(folder => this.#isSettings(folder, file.realPath))) return true
    const folders = await this.hookFolders(roots)
    return folders.some(folder => this.#rules.contains(folder, file.realPath))
  }

  /** Where Git takes hooks from, for roots whose repository sets that. Never rejects. */
  async hookFolders(roots: readonly string[]): Promise<string[]> {
    const hooks = await Promise.all(roots.map(root => this.#hooksOf(root)))
    return hooks.filter(folder => folder !== undefined)
  }

  /** Settings are right in the folder, or in that of a profile; what is deeper are data of extensions. */
  #isSettings(folder: string, path: string): boolean {
    if (!/\.jsonc?$/i.test(path) || !this.#rules.contains(folder, path)) return false
    const names = this.#rules.names(this.#rules.relative(this.#rules.normalize(folder), path))
    return names.length === 1 || (names.length === 3 && names[0] === 'profiles')
  }

  #hooksOf(root: string): Promise<string | undefined> {
    const known = this.#hooks.get(root)
    if (known && Date.now() - known.at < HOOKS_KNOWN_MS) return known.folder
    const folder = this.#readHooks(root)
    this.#hooks.set(root, { at: Date.now(), folder })
    return folder
  }

  async #readHooks(root: string): Promise<string | undefined> {
    const options = { timeoutMs: 5000, most: 10_000 }
    const output = await runGit(root, ['config', '--null', '--get-all', 'core.hooksPath'], options)
    // the last one is of our own command line
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
