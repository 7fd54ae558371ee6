/**
 * Runs Git for Parley itself: to list files and to see what changed. A repository's configuration names programs that
 * Git runs by itself, and a repository may come from anywhere, so none of them is run here.
 */

import { spawn } from 'node:child_process'
import path from 'node:path'
import which from 'which'
import { GIT_MS } from '../common/limits.ts'

export interface GitOptions {
  /** Git is ended after this time, in milliseconds. */
  timeoutMs: number
  /** Git is ended once it printed more, in UTF-16 units. */
  most: number
  input?: string
  /** How the output is read; UTF-8 unless told. With `latin1` each byte is one character. */
  encoding?: BufferEncoding
}

export interface GitOutput {
  text: string
  /** There was more than `most`. */
  cut: boolean
}

/** Settings that name a program, or make Git look into submodules, whose settings are their own. */
const SAFE_SETTINGS = [
  'core.fsmonitor=false',
  'core.hooksPath=/dev/null',
  'core.pager=cat',
  'core.editor=false',
  'core.askPass=',
  'core.sshCommand=false',
  'core.gitProxy=',
  'core.alternateRefsCommand=',
  'credential.helper=',
  'diff.external=',
  'diff.submodule=short',
  'diff.ignoreSubmodules=dirty',
  'status.submoduleSummary=false',
  'submodule.recurse=false',
  'log.showSignature=false',
  'gc.auto=0',
  'maintenance.auto=false',
  'protocol.allow=never',
]
/** Commands that never read a file of the work tree through a filter. */
const WITHOUT_FILTERS = new Set(['config', 'rev-parse', 'ls-files', 'cat-file'])
/** Commands that may run a program to show a difference. */
const SHOWS_DIFFERENCES = new Set(['diff', 'diff-index', 'diff-files', 'diff-tree', 'log', 'show'])

/**
 * What a Git command prints; `undefined` when it fails. It takes no locks that others would have to wait for, connects
 * to no other machine, and runs no program that the repository names.
 */
export async function runGit(
  cwd: string,
  args: readonly string[],
  options: GitOptions,
): Promise<GitOutput | undefined> {
  const [command = '', ...others] = args
  const filters = WITHOUT_FILTERS.has(command) ? [] : await withoutFilters(cwd, options)
  if (!filters) return undefined
  const shows = SHOWS_DIFFERENCES.has(command) ? ['--no-ext-diff', '--no-textconv'] : []
  return start(cwd, [...settings(filters), command, ...shows, ...others], options)
}

/**
 * Settings that switch off every filter (`filter.<name>.clean` and the like) that the configuration names. `undefined`
 * when that is not possible.
 */
async function withoutFilters(cwd: string, { timeoutMs }: GitOptions): Promise<string[] | undefined> {
  const args = [...settings([]), 'config', '--null', '--name-only', '--get-regexp', '^filter\\.']
  const output = await start(cwd, args, { timeoutMs, most: 1_000_000 }, [0, 1])
  if (!output || output.cut) return undefined
  const names = new Set(output.text.split('\0').flatMap(key => /^filter\.(.*)\.[^.]+$/s.exec(key)?.[1] ?? []))
  // the name of a setting ends at its first `=`
  if ([...names].some(name => name.includes('='))) return undefined
  return [...names].flatMap(name => [
    `filter.${name}.clean=`,
    `filter.${name}.smudge=`,
    `filter.${name}.process=`,
    `filter.${name}.required=false`,
  ])
}

function settings(more: readonly string[]): string[] {
  return ['--no-pager', ...[...SAFE_SETTINGS, ...more].flatMap(setting => ['-c', setting])]
}

/** `codes`: exit codes of a success. */
async function start(
  cwd: string,
  args: readonly string[],
  options: GitOptions,
  codes: readonly number[] = [0],
): Promise<GitOutput | undefined> {
  const program = await findGit()
  if (!program) return undefined
  return new Promise(resolve => {
    const git = spawn(program, args, {
      cwd,
      stdio: ['pipe', 'pipe', 'ignore'],
      timeout: options.timeoutMs,
      env: environment(),
      windowsHide: true,
    })
    let text = ''
    let cut = false
    git.stdout.setEncoding(options.encoding ?? 'utf8')
    git.stdout.on('data', (chunk: string) => {
      if (cut) return
      text += chunk
      if (text.length <= options.most) return
      cut = true
      git.kill()
    })
    git.stdin.on('error', () => {})
    git.stdin.end(options.input ?? '')
    git.on('error', () => resolve(undefined))
    git.on('close', code => resolve(cut || codes.includes(code ?? -1) ? { text, cut } : undefined))
  })
}

/** Without variables of Git that this process was started with: they name repositories and programs. */
function environment(): NodeJS.ProcessEnv {
  const env: NodeJS.ProcessEnv = {}
  for (const [name, value] of Object.entries(process.env)) {
    if (!/^(?:GIT_|PAGER$|SSH_ASKPASS$)/i.test(name)) env[name] = value
  }
  return {
    ...env,
    GIT_OPTIONAL_LOCKS: '0',
    GIT_TERMINAL_PROMPT: '0',
    // no object is fetched from elsewhere when it is missing
    GIT_NO_LAZY_FETCH: '1',
    GIT_ALLOW_PROTOCOL: '',
    LC_ALL: 'C',
  }
}

let git: Promise<string | undefined> | undefined

/** On the PATH alone: Windows would take a `git.exe` of the work tree first. */
function findGit(): Promise<string | undefined> {
  git ??= (async () => {
    const folders = (process.env.PATH ?? '').split(path.delimiter).filter(folder => path.isAbsolute(folder))
    if (folders.length === 0) return undefined
    const found = await which('git', { path: folders.join(path.delimiter), all: true, nothrow: true })
    const inPath = found?.find(one => folders.some(folder => path.resolve(folder) === path.dirname(one)))
    // it may be installed later
    if (inPath === undefined) git = undefined
    return inPath
  })()
  return git
}

/** A longer diff is cut, and says so. UTF-16 units. */
const MOST = 400_000

/** What changed in the repositories of the folders, as one diff; empty when nothing did. */
export async function gitChanges(folders: readonly string[], staged: boolean): Promise<string> {
  const tops = await Promise.all(folders.map(folder => run(folder, ['rev-parse', '--show-toplevel'])))
  const repositories = [...new Set(tops.flatMap(top => top?.trim() || []))]
  const diffs = await Promise.all(
    repositories.map(async top => {
      const args = ['diff', '--no-color', '--ignore-submodules=dirty']
      const text = (await run(top, [...args, ...(staged ? ['--cached'] : [])])) ?? ''
      return repositories.length > 1 && text !== '' ? `# ${top}\n${text}` : text
    }),
  )
  const whole = diffs.filter(text => text !== '').join('\n')
  return whole.length > MOST ? `${whole.slice(0, MOST)}\n[… the rest of the diff is left out]` : whole
}

/** What a git command prints; `undefined` when it fails. */
async function run(cwd: string, args: string[]): Promise<string | undefined> {
  return (await runGit(cwd, args, { timeoutMs: GIT_MS, most: MOST }))?.text
}
