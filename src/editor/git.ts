/**
 * Runs Git for Parley itself, to list files and to read changes. The configuration of a repository can name programs that Git runs, and a
 * repository may come from anywhere, so none of these programs runs here.
 */

import { homedir } from 'node:os'
import * as l10n from '@vscode/l10n'
import { delay } from '../common/async.ts'
import { GIT_LOCK_MS, GIT_LOCK_PAUSE_MS, GIT_MS, KILL_AFTER_MS, USER_GIT_MS } from '../common/limits.ts'
import { plainMessage } from '../common/plain-message.ts'
import { type Environment, findCommand, spawnProcess } from '../common/processes/spawn-process.ts'
import { pinnedEnvironment } from './git-folders.ts'

export interface GitOptions {
  /** Time in milliseconds after which Git and its child processes are ended. */
  timeoutMs: number
  /** Maximum length of the output, in UTF-16 units; the command fails if its output is longer. */
  most: number
  input?: string | Uint8Array
  /** Encoding of the output; UTF-8 by default. With `latin1`, each byte is one character. */
  encoding?: BufferEncoding
  /** Returns whether to keep an entry of output with `-z`, so that a long list doesn't fill the memory. */
  only?: (entry: string) => boolean
  /**
   * Called with each entry of output with `-z` as it arrives, so that a long list neither fills the memory nor blocks for long. `text` is
   * empty then.
   */
  each?: (entry: string) => void
}

export interface GitOutput {
  text: string
  /** Whether the output was longer than `most`. */
  cut: boolean
}

/** Settings that prevent hooks, questions to the user, and background work. */
const QUIET_SETTINGS = [
  'core.fsmonitor=false',
  'core.hooksPath=/dev/null',
  'core.pager=cat',
  'core.editor=false',
  'submodule.recurse=false',
  // otherwise, Git would run in submodules with the submodules' own settings
  'diff.ignoreSubmodules=dirty',
  'gc.auto=0',
  'maintenance.auto=false',
]
/** Settings for programs that Git would run, or for reading submodules, which have their own settings. */
const SAFE_SETTINGS = [
  ...QUIET_SETTINGS,
  'core.askPass=',
  'core.sshCommand=false',
  'core.gitProxy=',
  'core.alternateRefsCommand=',
  'credential.helper=',
  'diff.external=',
  'diff.submodule=short',
  'status.submoduleSummary=false',
  'log.showSignature=false',
  'protocol.allow=never',
]
/** Number of entries that are handled without a pause, within a few milliseconds; Git may print entries faster. */
const YIELD_AFTER = 500
/** Maximum output of a command that the user requested. UTF-16 units. */
const MAX_USER_OUTPUT = 50_000_000
/** Maximum length of each part of Git's error output that is kept. UTF-16 units. */
const MAX_SAID = 2000
/** Matches the error of a command that did nothing, since another program has the lock. */
const LOCKED = /Unable to create '.*\.lock': File exists/
/** Commands that never read a file of the work tree through a filter of the configuration. */
const WITHOUT_FILTERS = new Set([
  'config',
  'rev-parse',
  'ls-files',
  'ls-tree',
  'cat-file',
  'check-attr',
  'check-ignore',
  'for-each-ref',
])
/** Names of commands that may run a program to show a difference. */
const SHOWS_DIFFERENCES = new Set(['diff', 'diff-index', 'diff-files', 'diff-tree', 'log', 'show'])

/**
 * Runs a Git command. Resolves to the output; `undefined` if the command fails. The command takes no locks that block others, doesn't
 * access the network, and runs no program that the repository names.
 */
export async function runGit(
  cwd: string,
  args: readonly string[],
  options: GitOptions & ErrorListener,
): Promise<GitOutput | undefined> {
  const [command = '', ...others] = args
  const filters = WITHOUT_FILTERS.has(command) ? [] : await withoutFilters(cwd, options)
  if (!filters) return undefined
  const shows = SHOWS_DIFFERENCES.has(command) ? ['--no-ext-diff', '--no-textconv'] : []
  return start(cwd, [...settings(filters), command, ...shows, ...others], options)
}

interface ErrorListener {
  /** Receives Git's error output, or the reason why Git wasn't run or was ended. */
  onError?: (text: string) => void
}

/** Thrown when Git failed. The message is Git's error output, for the user. */
export class GitError extends Error {
  override readonly name = 'GitError'
}

/**
 * Like {@link runGit}, but rejects with a message for the user.
 * @throws GitError
 */
export async function readGit(cwd: string, args: readonly string[], options: GitOptions): Promise<GitOutput> {
  let said = ''
  const onError = (text: string) => {
    said += text
  }
  const output = await runGit(cwd, args, { ...options, onError })
  if (!output) throw await failure(said)
  return output
}

async function failure(said: string): Promise<GitError> {
  if ((await findGit()) === undefined) return new GitError(l10n.t("Git isn't installed."))
  return new GitError(plainMessage(said.replace(/^(?:fatal|error): /gm, '').trim()) || l10n.t('Git failed.'))
}

export interface UserGitOptions {
  /** variables added to the environment */
  env?: Environment
  input?: string
  /** Exit codes that count as success; by default only 0. */
  codes?: readonly number[]
  timeoutMs?: number
  only?: GitOptions['only']
}

/**
 * Runs a Git command that changes something at the user's request, which is possible only in a trusted workspace. Filters of the
 * configuration run, since Git LFS is a filter, but hooks don't.
 * @throws GitError
 */
export async function runUserGit(
  cwd: string,
  args: readonly string[],
  { codes = [0], timeoutMs = USER_GIT_MS, ...options }: UserGitOptions = {},
): Promise<string> {
  const settings = [...QUIET_SETTINGS, 'core.quotePath=false'].flatMap(setting => ['-c', setting])
  const env: Environment = { ...environment(), ...options.env }
  // the user's command may use the network: a partial clone fetches the files of a commit when they are checked out
  for (const name of ['GIT_NO_LAZY_FETCH', 'GIT_ALLOW_PROTOCOL']) delete env[name]
  const end = performance.now() + GIT_LOCK_MS
  for (;;) {
    let said = ''
    const onError = (text: string) => {
      said += text
    }
    const output = await start(
      cwd,
      ['--no-pager', ...settings, ...args],
      {
        ...{ timeoutMs, most: MAX_USER_OUTPUT, env, onError },
        ...(options.input !== undefined && { input: options.input }),
        ...(options.only && { only: options.only }),
      },
      codes,
    )
    if (output && !output.cut) return output.text
    // another program, such as the editor's own `git status`, holds the lock of the index for a moment
    if (LOCKED.test(said) && performance.now() < end) {
      await delay(GIT_LOCK_PAUSE_MS)
      continue
    }
    if (output) throw new GitError(l10n.t('Git lists more files than Parley can read.'))
    throw await failure(said)
  }
}

/**
 * Resolves to settings that disable every filter of the configuration (`filter.<name>.clean` and others); `undefined` if that's impossible.
 */
async function withoutFilters(
  cwd: string,
  { timeoutMs, onError }: GitOptions & ErrorListener,
): Promise<string[] | undefined> {
  const args = [...settings([]), 'config', '--null', '--name-only', '--get-regexp', '^filter\\.']
  const output = await start(cwd, args, { timeoutMs, most: 1_000_000, ...(onError && { onError }) }, [0, 1])
  if (!output || output.cut) return undefined
  const names = new Set(output.text.split('\0').flatMap(key => /^filter\.(.*)\.[^.]+$/s.exec(key)?.[1] ?? []))
  // Git's option `-c` ends the name of a setting at the first `=`.
  const unnamable = [...names].find(name => name.includes('='))
  if (unnamable !== undefined) {
    onError?.(l10n.t("Parley can't turn off the Git filter “{0}”, because its name has a “=”.", unnamable))
    return undefined
  }
  return [...names].flatMap(name => [
    `filter.${name}.clean=`,
    `filter.${name}.smudge=`,
    `filter.${name}.process=`,
    `filter.${name}.required=false`,
  ])
}

/** Removes the line end from a one-line output. */
export function withoutLineEnd(text: string): string {
  return text.replace(/\r?\n$/, '')
}

function settings(more: readonly string[]): string[] {
  return ['--no-pager', ...[...SAFE_SETTINGS, ...more].flatMap(setting => ['-c', setting])]
}

/** Starts Git. `codes`: exit codes that count as success. */
async function start(
  cwd: string,
  args: readonly string[],
  options: GitOptions & Pick<UserGitOptions, 'env'> & ErrorListener,
  codes: readonly number[] = [0],
): Promise<GitOutput | undefined> {
  const command = await findGit()
  if (command === undefined) return undefined
  const started = await spawnProcess(
    { command, args, cwd, env: { ...pinnedEnvironment(cwd), ...(options.env ?? environment()) } },
    { stdio: ['pipe', 'pipe', options.onError ? 'pipe' : 'ignore'] },
  ).catch(() => undefined)
  if (!started) return undefined
  const { child, tree } = started
  const { stdin, stdout } = child
  return new Promise(resolve => {
    let text = ''
    let rest = ''
    const keep = (entry: string) => {
      if (options.only?.(entry)) text += `${entry}\0`
    }
    const take = options.each ?? (options.only && keep)
    let waiting: string[] = []
    let whenTaken: (() => void) | undefined
    const takeSome = () => {
      for (const entry of waiting.slice(0, YIELD_AFTER)) take?.(entry)
      waiting = waiting.slice(YIELD_AFTER)
      if (text.length > options.most) return stop({ text, cut: true })
      if (waiting.length > 0) return setImmediate(takeSome)
      stdout?.resume()
      return whenTaken?.()
    }
    // Git's child processes may keep its output open, so don't wait for the end of the output.
    const stop = (output?: GitOutput) => {
      finish(output)
      stdout?.destroy()
      void tree.end(KILL_AFTER_MS)
    }
    const timer = setTimeout(() => {
      options.onError?.(`\n${l10n.t('Git took too long.')}`)
      stop()
    }, options.timeoutMs)
    const finish = (output?: GitOutput) => {
      clearTimeout(timer)
      resolve(output)
    }
    stdout?.setEncoding(options.encoding ?? 'utf8').on('data', (chunk: string) => {
      if (take) {
        const entries = (rest + chunk).split('\0')
        rest = entries.pop()!
        stdout.pause()
        // Node resumes the output when Git has ended, so entries may be waiting already
        if (waiting.length === 0) setImmediate(takeSome)
        waiting.push(...entries)
      } else text += chunk
      if (text.length + rest.length > options.most) stop({ text, cut: true })
    })
    child.stderr
      ?.setEncoding('utf8')
      .on('data', (chunk: string) => options.onError?.(chunk.slice(0, MAX_SAID)))
    stdin?.on('error', () => {})
    stdin?.end(options.input ?? '')
    child.on('close', code => {
      whenTaken = () => {
        const isWhole = codes.includes(code ?? -1) && (!options.each || rest === '')
        finish(isWhole ? { text, cut: false } : undefined)
      }
      if (waiting.length === 0) whenTaken()
    })
  })
}

/** Returns the environment without this process's variables for Git, which name repositories and programs. */
function environment(): Environment {
  const env: Environment = {}
  for (const [name, value] of Object.entries(process.env)) {
    if (value !== undefined && !/^(?:GIT_|PAGER$|SSH_ASKPASS$)/i.test(name)) env[name] = value
  }
  return {
    ...env,
    GIT_OPTIONAL_LOCKS: '0',
    GIT_TERMINAL_PROMPT: '0',
    // Git must not fetch missing objects.
    GIT_NO_LAZY_FETCH: '1',
    GIT_ALLOW_PROTOCOL: '',
    LC_ALL: 'C',
  }
}

let git: Promise<string | undefined> | undefined

function findGit(): Promise<string | undefined> {
  git ??= (async () => {
    const { platform } = process
    const found = await findCommand('git', { env: environment(), cwd: homedir(), platform })
    if ('path' in found) return found.path
    // Git may be installed later, so don't remember that it wasn't found.
    git = undefined
    return undefined
  })()
  return git
}

/** Maximum length of a diff; a longer diff is truncated, with a note at its end. UTF-16 units. */
export const MAX_DIFF = 400_000

/** Resolves to the changes in the repositories of the folders, as one diff; empty if there are no changes. */
export async function gitChanges(folders: readonly string[], staged: boolean): Promise<string> {
  const repositories = await repositoriesOf(folders)
  const diffs = await Promise.all(
    repositories.map(async top => {
      const args = ['diff', '--no-color', '--ignore-submodules=dirty']
      const text = (await run(top, [...args, ...(staged ? ['--cached'] : [])])) ?? ''
      return repositories.length > 1 && text !== '' ? `# ${top}\n${text}` : text
    }),
  )
  return shortDiff(diffs.filter(text => text !== '').join('\n'))
}

/** Resolves to the top folders of the repositories that contain the folders. */
export async function repositoriesOf(folders: readonly string[]): Promise<string[]> {
  const tops = await Promise.all(folders.map(folder => run(folder, ['rev-parse', '--show-toplevel'])))
  return [...new Set(tops.flatMap(top => (top && withoutLineEnd(top)) || []))]
}

/** Returns a diff of at most {@link MAX_DIFF} characters, with a note if it was cut. */
export function shortDiff(text: string): string {
  return text.length > MAX_DIFF ? `${text.slice(0, MAX_DIFF)}\n[… the rest of the diff is left out]` : text
}

async function run(cwd: string, args: string[]): Promise<string | undefined> {
  return (await runGit(cwd, args, { timeoutMs: GIT_MS, most: MAX_DIFF }))?.text
}
