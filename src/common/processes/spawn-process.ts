import type { ChildProcess, SpawnOptions } from 'node:child_process'
import { existsSync, statSync } from 'node:fs'
import { dirname, isAbsolute, resolve } from 'node:path'
import { delimiter as posixDelimiter } from 'node:path/posix'
import { delimiter as windowsDelimiter } from 'node:path/win32'
import * as l10n from '@vscode/l10n'
import spawn from 'cross-spawn'
import which from 'which'
import { hasProcessGroups, hostPlatform } from '../platform.ts'
import { ProcessTree } from './process-tree.ts'

/** The process to start, with the whole environment and an absolute working directory. */
export interface SpawnRequest {
  command: string
  args: readonly string[]
  env: Environment
  cwd: string
}

export type SpawnErrorKind =
  | 'command-missing'
  | 'folder-missing'
  /** the program that a script's first line names */
  | 'interpreter-missing'
  | 'not-executable'
  | 'too-long'
  | 'other'

/** The error for a process that couldn't be started. The message is for the user. */
export class SpawnError extends Error {
  override readonly name = 'SpawnError'
  readonly kind: SpawnErrorKind
  /** the directories searched for a missing command; empty if the command is a path */
  readonly searched: string[]

  constructor(kind: SpawnErrorKind, message: string, options?: ErrorOptions & { searched?: string[] }) {
    super(message, options)
    this.kind = kind
    this.searched = options?.searched ?? []
  }
}

/**
 * Starts a process that can be ended with all of its children: on POSIX, it leads its own process group. Resolves when the process runs.
 * @throws SpawnError
 */
export async function spawnProcess(
  request: SpawnRequest,
  options: Pick<SpawnOptions, 'stdio' | 'shell'>,
): Promise<{ child: ChildProcess; tree: ProcessTree }> {
  let child: ChildProcess
  try {
    child = spawn(request.command, [...request.args], {
      ...options,
      cwd: request.cwd,
      env: request.env,
      detached: hasProcessGroups(),
      windowsHide: true,
    })
  } catch (error) {
    throw explainSpawnError(error as NodeJS.ErrnoException, request)
  }
  // Ignore later errors, such as a signal that couldn't be sent.
  child.on('error', () => {})
  if (child.pid === undefined) {
    const error = await new Promise<NodeJS.ErrnoException>(resolve => child.once('error', resolve))
    throw explainSpawnError(error, request)
  }
  const tree = new ProcessTree(child.pid)
  child.once('exit', () => tree.rootExited())
  return { child, tree }
}

/** Explains a failed spawn to the user, from the system's error. */
export function explainSpawnError(
  error: NodeJS.ErrnoException,
  request: SpawnRequest,
  platform: NodeJS.Platform = hostPlatform,
): SpawnError {
  const { command, cwd, env } = request
  const cause = error
  switch (error.code) {
    case 'EACCES': {
      const reason = l10n.t("the file isn't executable")
      return new SpawnError('not-executable', notStarted(command, reason), { cause })
    }
    case 'E2BIG':
    case 'ENAMETOOLONG':
      return new SpawnError('too-long', notStarted(command, error.message), { cause })
    case 'ENOENT':
      break
    default:
      return new SpawnError('other', notStarted(command, error.message), { cause })
  }
  // A missing working directory and a missing interpreter have the same error code.
  if (!isDirectory(cwd)) {
    const message = l10n.t("{0} couldn't start: the working directory {1} doesn't exist.", command, cwd)
    return new SpawnError('folder-missing', message, { cause })
  }
  const isPath = isCommandPath(command, platform)
  if (isPath && existsSync(resolve(cwd, command))) {
    const message = l10n.t("{0} couldn't start: the program that runs it isn't installed.", command)
    return new SpawnError('interpreter-missing', message, { cause })
  }
  const searched = isPath
    ? []
    : pathVariable(env, platform)
        .split(pathDelimiter(platform))
        .filter(entry => entry !== '')
  return new SpawnError('command-missing', l10n.t("The command {0} doesn't exist.", command), {
    cause,
    searched,
  })
}

function notStarted(command: string, reason: string): string {
  return l10n.t("{0} couldn't start: {1}.", command, reason)
}

function isDirectory(folder: string): boolean {
  try {
    return statSync(folder).isDirectory()
  } catch {
    return false
  }
}

/** The environment of a process, without undefined values. */
export type Environment = Record<string, string>

/** The value of an environment variable; on Windows, names are case-insensitive. */
export function environmentLookUp(
  env: Readonly<Record<string, string | undefined>>,
  name: string,
  platform: NodeJS.Platform,
): string | undefined {
  if (Object.hasOwn(env, name)) return env[name]
  if (platform !== 'win32') return undefined
  const wanted = name.toUpperCase()
  for (const [key, value] of Object.entries(env)) if (key.toUpperCase() === wanted) return value
  return undefined
}

/** Merges `over` into `under`; on Windows, names are case-insensitive. */
export function mergeEnvironment(
  under: Readonly<Environment>,
  over: Readonly<Environment>,
  platform: NodeJS.Platform,
): Environment {
  const merged: Environment = { ...under }
  for (const [name, value] of Object.entries(over)) {
    removeVariable(merged, name, platform)
    merged[name] = value
  }
  return merged
}

/** Removes an environment variable; on Windows, in all spellings of its name. */
export function removeVariable(env: Environment, name: string, platform: NodeJS.Platform): void {
  delete env[name]
  if (platform !== 'win32') return
  const wanted = name.toUpperCase()
  for (const other of Object.keys(env)) if (other.toUpperCase() === wanted) delete env[other]
}

/** Whether a command is a path, so that it isn't searched for. */
function isCommandPath(command: string, platform: NodeJS.Platform): boolean {
  return command.includes('/') || (platform === 'win32' && command.includes('\\'))
}

export function pathDelimiter(platform: NodeJS.Platform): string {
  return platform === 'win32' ? windowsDelimiter : posixDelimiter
}

/** The value of PATH; on Windows, its name is case-insensitive. */
export function pathVariable(
  env: Readonly<Record<string, string | undefined>>,
  platform: NodeJS.Platform,
): string {
  return environmentLookUp(env, 'PATH', platform) ?? ''
}

/** The path of a command, or the directories that were searched. */
type CommandSearch = { path: string } | { searched: string[] }

interface CommandSearchOptions {
  /** The environment that contains PATH, and PATHEXT on Windows. */
  env: Readonly<Environment>
  /** The directory to which a command with a slash is relative. */
  cwd: string
  platform: NodeJS.Platform
}

/**
 * Finds a program as a shell would: by its path if it contains a slash, else on the PATH (with PATHEXT on Windows). Skips
 * relative directories on the PATH, and the current directory, which Windows searches first, so that a file in a project
 * can't replace a program.
 */
export async function findCommand(command: string, options: CommandSearchOptions): Promise<CommandSearch> {
  const pathExt = environmentLookUp(options.env, 'PATHEXT', options.platform)

  if (isCommandPath(command, options.platform)) {
    const absolute = resolve(options.cwd, command)
    const found = await which(absolute, { nothrow: true, pathExt })
    return found ? { path: found } : { searched: [dirname(absolute)] }
  }

  const searched = searchedDirectories(options.env, options.platform)
  if (searched.length === 0) return { searched }
  const path = searched.join(pathDelimiter(options.platform))
  const found = await which(command, { path, all: true, nothrow: true, pathExt })
  const wanted = found?.find(candidate => searched.includes(dirname(candidate)))
  return wanted === undefined ? { searched } : { path: wanted }
}

/** The absolute directories of the PATH, without duplicates, normalized like `dirname`. */
export function searchedDirectories(env: Readonly<Environment>, platform: NodeJS.Platform): string[] {
  const directories = pathVariable(env, platform)
    .split(pathDelimiter(platform))
    .map(directory => directory.replace(/^"(.*)"$/, '$1'))
    .filter(directory => isAbsolute(directory))
    .map(directory => resolve(directory))
  return [...new Set(directories)]
}
