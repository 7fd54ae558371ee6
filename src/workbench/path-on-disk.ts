import type { Uri } from 'vscode'
import { withUpperCaseDrive } from '../common/platform.ts'

/** Returns the path of a file on this machine's disk, spelled as agents, Git and Node spell it. */
export function pathOnDisk({ fsPath }: Pick<Uri, 'fsPath'>, platform?: NodeJS.Platform): string {
  return withUpperCaseDrive(fsPath, platform)
}
