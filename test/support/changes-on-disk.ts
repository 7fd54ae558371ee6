import { join } from 'node:path'
import { silentLogger } from '../../src/common/logger.ts'
import { ChangesStore, type ChangesStoreOptions } from '../../src/history/changes-store.ts'
import { StoredClock } from '../../src/history/stored-clock.ts'
import { TranscriptDatabase } from '../../src/history/transcript-database.ts'

/** Changes are stored in SQLite, which not each Node has. */
export const hasSqlite = process.getBuiltinModule?.('node:sqlite') !== undefined

/** The stored changes of a workspace as a window opens them, in a folder of their own. */
export class ChangesOnDisk extends ChangesStore {
  constructor(folder: string, options: Partial<ChangesStoreOptions> = {}) {
    const database = new TranscriptDatabase({ file: databaseOf(folder) })
    super({
      database,
      clock: new StoredClock(database, () => Date.now()),
      workspace: 'w',
      folder,
      log: silentLogger,
      ...options,
    })
    this.#database = database
  }
  readonly #database: TranscriptDatabase

  override dispose(): void {
    super.dispose()
    this.#database.dispose()
  }
}

/** The file of their database. */
export function databaseOf(folder: string): string {
  return join(folder, 'conversations.db')
}
