import { utimesSync } from 'node:fs'

/**
 * Makes VS Code read a `.code-workspace` file again. In a browser it sometimes takes a workspace for empty when it opens
 * it for the first time, since the file was asked for before the server's file system was there.
 */
export function touchWorkspaceFile(path: string): void {
  const now = new Date()
  utimesSync(path, now, now)
}
