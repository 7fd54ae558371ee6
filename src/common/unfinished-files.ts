import { readdir, rm, stat } from 'node:fs/promises'
import path from 'node:path'
import { messageOf } from './errors.ts'
import type { Logger } from './logger.ts'
import { operatingSystem } from './processes/process-system.ts'

/** An older file is removed even if there is a process with its writer's id. Milliseconds. */
const MAX_AGE_MS = 24 * 3_600_000

/** Removes the temporary files of `writeWhole` and `writeWholeSync` whose process ended while it wrote a JSON file. Never rejects. */
export async function removeUnfinishedFiles(folders: readonly string[], log: Logger): Promise<void> {
  for (const folder of folders) {
    for (const name of await readdir(folder).catch(() => [])) {
      const pid = /\.json\.(\d+)(?:\.\d+)?$/.exec(name)?.[1]
      if (pid === undefined) continue
      const file = path.join(folder, name)
      try {
        const { mtimeMs } = await stat(file)
        if (operatingSystem.exists(Number(pid)) && Date.now() - mtimeMs < MAX_AGE_MS) continue
        await rm(file, { force: true })
      } catch (error) {
        log.debug(`${file} wasn't removed: ${messageOf(error)}`)
      }
    }
  }
}
