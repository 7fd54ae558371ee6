import { utimesSync } from 'node:fs'

/**
 * Makes VS Code read a `.code-workspace` file again. In a browser, a workspace is sometimes empty when it's first
 * opened, since VS Code requests the file before the server's file system is available.
 */
export function touchWorkspaceFile(path: string): void {
  const now = new Date()
  utimesSync(path, now, now)
}
