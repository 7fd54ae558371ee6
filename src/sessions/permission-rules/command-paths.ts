/** Determines which files the words of a command may name, and whether all these files are in the session's folders. */
import { access, readdir, realpath, stat } from 'node:fs/promises'
import path from 'node:path'
import picomatch from 'picomatch'
import type { LocatedPath, PathGuard } from '../../editor/path-guard.ts'
import type { PathRules } from '../../editor/path-rules.ts'
import { programOf } from './command-effects.ts'
import { type CommandLine, isGlob, isPatternAt, type Word } from './command-line.ts'

/** Maximum number of paths that are checked. */
const MAX_PATHS = 400
/** Maximum number of folder entries that are matched against a file name pattern. */
const MAX_ENTRIES = 5000
/** Programs that follow the links in folders: always, or only with an option that matches the expression. */
const FOLLOWS_LINKS: Readonly<Record<string, RegExp | 'always'>> = {
  diff: 'always',
  zip: 'always',
  scp: 'always',
  grep: /^(?:-[a-zA-Z]*[RS]|--dereference-recursive)/,
  egrep: /^(?:-[a-zA-Z]*[RS]|--dereference-recursive)/,
  fgrep: /^(?:-[a-zA-Z]*[RS]|--dereference-recursive)/,
  rg: /^(?:-[a-zA-Z]*L|--fol)/,
  find: /^-(?:L|follow)/,
  fd: /^(?:-[a-zA-Z]*L|--fol)/,
  tree: /^-[a-zA-Z]*l/,
  ls: /^(?:-[a-zA-Z]*L|--deref)/,
  du: /^(?:-[a-zA-Z]*L|--deref)/,
  cp: /^(?:-[a-zA-Z]*[rRL]|--recursive|--deref)/,
  tar: /^(?:-?[a-zA-Z]*h|--deref)/,
  rsync: /^(?:-[a-zA-Z]*[Lk]|--copy-)/,
}
/** Programs that read the current folder if no operand names another one. */
const WORKS_HERE = new Set(['grep', 'egrep', 'fgrep', 'rg', 'find', 'fd', 'tree', 'ls', 'du'])
/** Programs for which `name:path` is a path on another machine. */
const REMOTE_COPY = new Set(['scp', 'rsync', 'sftp', 'docker', 'podman', 'kubectl', 'rclone'])

/** Windows programs whose options begin with a slash. For other programs, such as the `dir` of PowerShell and bash, `/x` is a path. */
const SLASH_OPTIONS = new Set(['findstr', 'tasklist', 'tree', 'where'])
/** An option of such a program. Its value may be a file or folder, except for `/c:`, the text that `findstr` looks for. */
const SLASH_OPTION = /^\/(?:c:[^\\/]*|[a-z]+(?::(?<path>[^\\/]*))?)$/i
/** Build tools that aren't also PowerShell commands. In their arguments, `name:` isn't a PowerShell drive such as `env:`. */
const NATIVE = /^(?:npm|pnpm|yarn|bun|git|cargo|go|dotnet|mvnw?|gradlew?|make)$/

/** Programs that change all files in a folder. */
const CHANGES_FOLDERS = /^(?:rm|mv|chmod|chown|chgrp)$/

export interface CommandPathsOptions {
  guard: PathGuard
  rules: PathRules
  /** Whether a file controls which programs run or what agents may do. */
  isProtected: (file: LocatedPath) => Promise<boolean>
}

export interface CommandPaths {
  /** Whether no word leads out of the session's folders, as far as known. */
  inside: boolean
  /** Whether a word names a protected file. */
  protected: boolean
}

/**
 * Checks every word of the commands: each argument may be a path, also after an option or within a word. If a command changes the
 * directory, also checks the following commands relative to the new directory. Rejects with the file system's errors.
 */
export async function pathsOfCommands(
  lines: readonly CommandLine[],
  cwd: string | undefined,
  options: CommandPathsOptions,
): Promise<CommandPaths> {
  const check = new PathCheck(options)
  const start = options.rules.resolve(options.guard.cwd, cwd ?? '.')
  const directories = [start]
  for (const { words } of lines.flatMap(line => line.commands)) {
    const [program, ...others] = words
    const name = programOf(program?.text ?? '')
    // a relative path is a program of the project, so check it; a full path is written in the rule
    const isRelative = program && /[/\\]/.test(program.text) && !options.rules.isAbsolute(program.text)
    if (isRelative) for (const directory of directories) await check.path(program.text, directory)
    if (name === 'git')
      for (const directory of directories) if (await isBareRepository(directory)) check.leave()
    for (const word of others) {
      if (REMOTE_COPY.has(name) && /^[\w.@-]+:/.test(word.text)) check.leave()
      for (const directory of directories) {
        await check.word(word, directory, name)
        if (CHANGES_FOLDERS.test(name)) await check.whole(word.text, directory)
      }
      if (!check.inside) return check
    }
    await check.links(name, others, directories)
    if (name !== 'cd' && name !== 'pushd') continue
    const [to, ...more] = others.filter(word => !word.text.startsWith('-'))
    // without a name, the target is the home directory or the previous one; with two names, zsh replaces one by the other in the path
    if (to === undefined || more.length > 0 || directories.length > 8)
      return { inside: false, protected: check.protected }
    const next = options.rules.resolve(directories.at(-1) ?? start, to.text)
    directories.push(next)
    const real = await options.guard.within(next)
    if (real && real.realPath !== next) directories.push(real.realPath)
  }
  return check
}

/**
 * Whether Git takes the folder or one of its parents for a bare repository. The configuration of a bare repository is an ordinary file
 * that any edit may have written.
 */
async function isBareRepository(directory: string): Promise<boolean> {
  const has = (folder: string, name: string) =>
    access(path.join(folder, name)).then(
      () => true,
      () => false,
    )
  // Git searches the parents of the real folder
  const real = await realpath(directory).catch(() => directory)
  for (let folder = real; ; folder = path.dirname(folder)) {
    if (await has(folder, '.git')) return false
    const parts = await Promise.all(['HEAD', 'objects', 'refs'].map(name => has(folder, name)))
    if (parts.every(Boolean)) return true
    if (path.dirname(folder) === folder) return false
  }
}

class PathCheck implements CommandPaths {
  inside = true
  protected = false
  readonly #options: CommandPathsOptions
  #paths = MAX_PATHS
  #entries = MAX_ENTRIES

  constructor(options: CommandPathsOptions) {
    this.#options = options
  }

  leave(): void {
    this.inside = false
  }

  async word(word: Word, directory: string, program = ''): Promise<void> {
    const isWindows = this.#options.rules.platform === 'win32'
    const option = isWindows && SLASH_OPTIONS.has(program) ? SLASH_OPTION.exec(word.text) : null
    if (option) return option.groups?.path ? this.path(option.groups.path, directory) : undefined
    const dropped = isWindows && word.text.includes('\\') ? pathsInWord(inBash(word.text)) : []
    for (const path of [...pathsInWord(word.text), ...dropped]) {
      if (isWindows && isRestOfDrive(path, word.text)) continue
      const isNative = isWindows && NATIVE.test(program)
      // a name such as `test:unit` isn't a path, but the parts around the colon are checked, too
      if (isNative && /^(?!file:)[^:]{2,}:/i.test(path)) continue
      // a home directory
      if (path.startsWith('~')) this.leave()
      // for Go, `folder/...` names all packages below the folder
      await this.path(isNative ? path.replace(/\/\.\.\.$/, '') : path, directory)
      if (!this.inside) return
    }
    if (isGlob(word)) await this.#expand(word, directory)
  }

  /** Checks a folder that the command changes as a whole: one of the session's folders contains protected files. */
  async whole(path: string, directory: string): Promise<void> {
    const { guard, rules } = this.#options
    const file = await guard.within(rules.isAbsolute(path) ? path : rules.join(directory, path))
    if (file?.relative.includes('')) this.protected = true
  }

  async path(path: string, directory: string): Promise<void> {
    const { guard, rules, isProtected } = this.#options
    this.#paths -= 1
    // no file can have such a long name
    if (path.length > 255 && !/[\\/]/.test(path)) return
    const isWhole = rules.isAbsolute(path) || /^file:/i.test(path)
    const isRooted = !isWhole && rules.platform === 'win32' && /^[\\/]/.test(path)
    const directories = [
      isWhole ? path : isRooted ? rules.resolve(directory, path) : rules.join(directory, path),
    ]
    // in the bash of Git for Windows, `/c/dir` is `C:\dir`
    const [drive, letter] = (isRooted && /^[\\/]([a-z])(?=[\\/]|$)/i.exec(path)) || []
    if (drive !== undefined) directories.push(`${letter}:\\${path.slice(drive.length + 1)}`)
    if (!/^file:/i.test(path) && rules.names(path).includes('..'))
      directories.push(await this.#physical(isWhole ? rules.root(path) : directory, path))
    for (const one of directories) {
      const file = this.#paths < 0 ? undefined : await guard.within(one)
      // a device, a pipe or a socket leads to another program
      if (!file || (await isSpecial(file.realPath))) return this.leave()
      if (!this.protected) this.protected = await isProtected(file)
    }
  }

  /** Resolves a path as the operating system does: after a link, `..` is the parent of the link's target. */
  async #physical(start: string, path: string): Promise<string> {
    const { guard, rules } = this.#options
    const names = rules.names(path.slice(rules.isAbsolute(path) ? rules.root(path).length : 0))
    let here = start
    for (const name of names) {
      here = name === '..' ? rules.dirname((await guard.check(here)).realPath) : rules.join(here, name)
    }
    return here
  }

  /** Checks the links that the program follows in folders, and links in a target folder. */
  async links(name: string, words: readonly Word[], directories: readonly string[]): Promise<void> {
    const follows = Object.hasOwn(FOLLOWS_LINKS, name) ? FOLLOWS_LINKS[name] : undefined
    const all = follows === 'always' || words.some(({ text }) => follows?.test(text))
    if (!all && name !== 'cp' && name !== 'install') return
    const operands = words.filter(({ text }) => !text.startsWith('-'))
    const folders = (all ? operands : operands.slice(-1)).map(({ text }) => text)
    const here = all && WORKS_HERE.has(name)
    for (const directory of directories) {
      const seen = new Set<string>()
      for (const folder of here ? ['.', ...folders] : folders) {
        if (!this.inside) return
        const full = this.#options.rules.isAbsolute(folder)
          ? folder
          : this.#options.rules.join(directory, folder)
        await this.#walk(full, all, seen)
      }
    }
  }

  async #walk(folder: string, deep: boolean, seen: Set<string>): Promise<void> {
    const file = await this.#options.guard.within(folder)
    if (!file || seen.has(file.realPath)) return
    seen.add(file.realPath)
    const isFolder = await stat(file.realPath).then(
      found => found.isDirectory(),
      () => false,
    )
    if (!isFolder) return
    const entries = await readdir(file.realPath, { withFileTypes: true }).catch(() => [])
    this.#entries -= entries.length
    if (this.#entries < 0) return this.leave()
    for (const entry of entries) {
      if (!this.inside) return
      const path = this.#options.rules.join(file.realPath, entry.name)
      if (entry.isSymbolicLink()) await this.path(path, file.realPath)
      if (deep && this.inside && !entry.isFile()) await this.#walk(path, deep, seen)
    }
  }

  /** Expands a pattern to names on disk, as a shell does, and resolves links. */
  async #expand(word: Word, directory: string): Promise<void> {
    const segments = splitSegments(word)
    // a dot followed by a pattern matches the parent directory
    if (segments.some(({ glob, text }) => glob && /^\.[*?[]/.test(text))) return this.leave()
    const absolute = this.#options.rules.isAbsolute(word.text)
    await this.#match(absolute ? this.#options.rules.root(word.text) : directory, segments, !absolute)
  }

  async #match(folder: string, segments: readonly Segment[], isStart = false): Promise<void> {
    const { rules } = this.#options
    const [first, ...rest] = segments
    if (!first || !this.inside) return
    if (!first.glob) {
      await this.path(first.text, folder)
      return this.inside ? this.#match(await this.#physical(folder, first.text), rest) : undefined
    }
    const deep = first.text.includes('**')
    const fits = picomatch(deep ? '*' : first.text, { dot: first.text.startsWith('.'), nonegate: true })
    const entries = await readdir(folder, { withFileTypes: true }).catch(() => [])
    this.#entries -= entries.length
    if (this.#entries < 0) return this.leave()
    if (deep) await this.#match(folder, rest, isStart)
    for (const entry of entries) {
      if (!fits(entry.name) && !fits(entry.name.toLowerCase())) continue
      // the program would take the name for an option
      if (isStart && entry.name.startsWith('-')) return this.leave()
      const path = rules.join(folder, entry.name)
      // only links can lead out of the folder; hidden files and workspace files may be protected
      const isPlain = entry.isFile() || entry.isDirectory()
      if (!isPlain || entry.name.startsWith('.') || /\.code-workspace$/i.test(entry.name))
        await this.path(path, folder)
      if (!this.inside) return
      if (deep && entry.isDirectory()) await this.#match(path, segments)
      else if (!deep && !entry.isFile()) await this.#match(path, rest)
    }
  }
}

/** Whether a path is only the part of a word after a drive: `\dir` of `C:\dir`, which is checked as a whole. */
function isRestOfDrive(path: string, word: string): boolean {
  const at = /^[\\/]/.test(path) ? word.indexOf(`:${path}`) : -1
  return at > 0 && /(?:^|[=:,@;])[a-z]$/i.test(word.slice(0, at))
}

/** Returns the word as bash reads it, which removes backslashes, without a drive: `C:\dir` becomes `dir`. */
function inBash(word: string): string {
  return word.replace(/(^|[=:,@;])[a-z]:(?=\\)/gi, '$1').replaceAll('\\', '')
}

async function isSpecial(file: string): Promise<boolean> {
  return stat(file).then(
    found => !found.isFile() && !found.isDirectory(),
    () => false,
  )
}

interface Segment {
  /** with `glob`, a pattern in which quoted characters are escaped */
  text: string
  glob: boolean
}

function splitSegments(word: Word): Segment[] {
  const { text, literal } = word
  const segments: Segment[] = []
  let plain = ''
  let pattern = ''
  let glob = false
  let ended = false
  const end = () => {
    if (plain !== '') segments.push({ text: glob ? pattern : plain, glob })
    plain = ''
    pattern = ''
    glob = false
    ended = false
  }
  for (let at = 0; at < text.length; at++) {
    const char = text.charAt(at)
    if (char === '/') {
      end()
      continue
    }
    plain += char
    const isPattern = isPatternAt(word, at)
    glob ||= isPattern
    if (ended) continue
    // shells differ on brackets, and only zsh knows the other characters; before `#`, a character may be missing
    ended = isPattern && '[#^~'.includes(char)
    if (ended) {
      pattern = `${char === '#' ? pattern.replace(/\\?.$/, '') : pattern}*`
      continue
    }
    const isQuoted = (literal[at] && !/\w/.test(char)) || '{}()!+@|\\]'.includes(char)
    pattern += isQuoted ? `\\${char}` : char
  }
  end()
  return segments
}

/** Separators of possible paths in a word: `--output=x`, `F=@file`, `src:target`, `a,b`. */
const SEPARATORS = /[=:,@;]/

/** The possible paths in a word: the word, its parts, and the value joined to a short option. */
export function pathsInWord(word: string): string[] {
  const found = new Set<string>()
  collect(word, found)
  return [...found]
}

function collect(word: string, found: Set<string>): void {
  if (word === '' || word === '-' || word === '--') return
  if (/^file:/i.test(word)) {
    found.add(word)
    return
  }
  // a URL, or an option with a URL as its value
  const address = /^(?:-{1,2}[\w-]+=)?[a-z][\w+.-]*:\/\//i.exec(word)
  if (address && !/file:\/\/$/i.test(address[0])) {
    found.add(word)
    return
  }
  if (word.startsWith('--')) {
    const value = /^--[^=:]*[=:](.*)$/s.exec(word)?.[1]
    if (value !== undefined) collect(value, found)
    return
  }
  if (word.startsWith('-')) {
    // one or more option letters, the last of which may be joined to its value
    for (let at = 2; at <= Math.min(word.length - 1, 5); at++) collectParts(word.slice(at), found)
    const path = word.search(/[/~.=]/)
    if (path > 0) collectParts(word.slice(path), found)
    return
  }
  collectParts(word, found)
}

function collectParts(text: string, found: Set<string>): void {
  if (text === '') return
  found.add(text)
  for (let at = 0; at < text.length && found.size < MAX_PATHS; at++) {
    if (!SEPARATORS.test(text.charAt(at))) continue
    const rest = text.slice(at + 1)
    if (/^\/\/[^/]/.test(rest) && /^[a-z][\w+.-]*$/i.test(text.slice(0, at))) return
    if (rest !== '') found.add(rest)
    const part = rest.split(SEPARATORS)[0]
    if (part) found.add(part)
  }
  const [first] = text.split(SEPARATORS)
  if (first) found.add(first)
}
