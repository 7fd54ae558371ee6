import { accessSync, constants } from 'node:fs'

/**
 * The shell that runs an agent's command lines. Models write them for bash, so: the person's own shell when it is
 * bash or zsh, else bash, else `sh`; fish and others would not understand them. `undefined` on Windows, where it is
 * `cmd.exe` by way of Node's `shell` option.
 */
export function shellFor(
  env: Readonly<Record<string, string | undefined>>,
  platform: NodeJS.Platform = process.platform,
  isExecutable: (path: string) => boolean = executable,
): string | undefined {
  if (platform === 'win32') return undefined
  const own = env.SHELL
  const candidates = own && /\/(bash|zsh)$/.test(own) ? [own] : []
  candidates.push('/bin/bash', '/usr/bin/bash', '/usr/local/bin/bash', '/run/current-system/sw/bin/bash')
  return candidates.find(isExecutable) ?? '/bin/sh'
}

function executable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
