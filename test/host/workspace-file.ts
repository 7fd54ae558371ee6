import { utimesSync } from 'node:fs'

/**
 * Makes VS Code read a `.code-workspace` file again. In a browser it sometimes considers a workspace empty when it
 * opens it for the first time, since it requests the file before the server's file system is available.
 */
export function touchWorkspaceFile(path: string): void {
  const now = new Date()
  utimesSync(path, now, now)
}
