import { delimiter as posixDelimiter } from 'node:path/posix'
import { delimiter as windowsDelimiter } from 'node:path/win32'

/** The environment of a process: every value is set. */
export type Environment = Record<string, string>

/** The value of an environment variable; on Windows whatever the case of its name. */
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

export function pathDelimiter(platform: NodeJS.Platform): string {
  return platform === 'win32' ? windowsDelimiter : posixDelimiter
}

/** The value of PATH, whatever the case of its name on Windows. */
export function pathOf(env: Readonly<Record<string, string | undefined>>, platform: NodeJS.Platform): string {
  return environmentLookUp(env, 'PATH', platform) ?? ''
}
