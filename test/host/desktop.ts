import { spawn } from 'node:child_process'
import { downloadAndUnzipVSCode, resolveCliPathFromVSCodeExecutablePath } from '@vscode/test-electron'
import type { IsolatedRoot } from './isolated-root.ts'
import { findProgram } from './system-packages.ts'

/**
 * The program of a desktop VS Code: the installed one or, on systems without the VS Code for the browser, a downloaded
 * one. undefined if there is none, or no display.
 */
export async function findDesktop(): Promise<string | undefined> {
  const { platform, env } = process
  if (platform === 'linux' && !env.DISPLAY && !env.WAYLAND_DISPLAY) return undefined
  const installed = findProgram(platform === 'win32' ? ['code.cmd'] : ['code'])
  if (installed) return installed
  if (platform === 'linux') return undefined
  return resolveCliPathFromVSCodeExecutablePath(await downloadAndUnzipVSCode())
}

/** Installs the VSIX in the root's profile and opens the workspace. Resolves when the window is closed. */
export async function openDesktop(
  cli: string,
  root: IsolatedRoot,
  vsix: string,
  workspace: string,
): Promise<void> {
  const profile = ['--user-data-dir', root.userData, '--extensions-dir', root.extensions]
  await run(cli, [...profile, '--install-extension', vsix, '--force'])
  await run(cli, [...profile, '--disable-workspace-trust', '--new-window', '--wait', workspace])
}

function run(cli: string, args: string[]): Promise<void> {
  // On Windows `code` is a script, which needs a shell.
  const windows = process.platform === 'win32'
  const quote = (word: string) => (windows ? `"${word}"` : word)
  return new Promise((resolve, reject) => {
    const child = spawn(quote(cli), args.map(quote), {
      stdio: ['ignore', 'inherit', 'inherit'],
      shell: windows,
    })
    child.on('error', reject)
    child.on('exit', code => (code === 0 ? resolve() : reject(new Error(`${cli} ended with ${code}`))))
  })
}
