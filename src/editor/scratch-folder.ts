import { chmod, lstat, mkdir } from 'node:fs/promises'
import path from 'node:path'
import * as l10n from '@vscode/l10n'

/**
 * The private folder of sessions that have no workspace folder: `scratch` under the extension's global storage,
 * made on demand, for the person alone (0700; on Windows the profile's own rights hold). Returns its path. Throws
 * when something else is in its place, such as a link to elsewhere.
 */
export async function ensureScratchFolder(globalStorage: string): Promise<string> {
  const folder = path.join(globalStorage, 'scratch')
  await mkdir(globalStorage, { recursive: true })
  try {
    await mkdir(folder, { mode: 0o700 })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
  const info = await lstat(folder)
  if (!info.isDirectory()) {
    throw new Error(l10n.t("The scratch folder {0} isn't a folder.", folder))
  }
  if (process.platform !== 'win32' && (info.mode & 0o077) !== 0) await chmod(folder, 0o700)
  return folder
}
