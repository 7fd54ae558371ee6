import { dirname, isAbsolute, resolve } from 'node:path'
import which from 'which'
import { type Environment, environmentLookUp, pathDelimiter, pathOf } from './environment.ts'

/** Where a command is, or where it was looked for. */
export type CommandSearch = { path: string } | { searched: string[] }

export interface CommandSearchOptions {
  /** PATH, and PATHEXT on Windows, are read from it. */
  env: Readonly<Environment>
  /** What a command with a slash is relative to. */
  cwd: string
  platform: NodeJS.Platform
}

/**
 * Finds a program as a shell would: one with a slash at its place, one without on the PATH (with PATHEXT on Windows).
 * Relative directories on the PATH are passed over, and so is the current directory that Windows searches first:
 * what stands in a project must not take the place of a program.
 */
export async function findCommand(command: string, options: CommandSearchOptions): Promise<CommandSearch> {
  const pathExt = environmentLookUp(options.env, 'PATHEXT', options.platform)

  if (command.includes('/') || (options.platform === 'win32' && command.includes('\\'))) {
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

/** The absolute directories of the PATH, each once and as `dirname` writes them. */
export function searchedDirectories(env: Readonly<Environment>, platform: NodeJS.Platform): string[] {
  const directories = pathOf(env, platform)
    .split(pathDelimiter(platform))
    .map(directory => directory.replace(/^"(.*)"$/, '$1'))
    .filter(directory => isAbsolute(directory))
    .map(directory => resolve(directory))
  return [...new Set(directories)]
}
