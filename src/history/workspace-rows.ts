import type { TranscriptDatabase } from './transcript-database.ts'

type Value = string | number | null

/**
 * Sets the dropped checkpoints of a workspace. The Node of the oldest supported VS Code takes numbered parameters (`?1`) for named ones.
 */
export const SET_DROPPED = `WITH given (id, json) AS (VALUES (?, ?))
  UPDATE workspaces SET dropped = json FROM given WHERE workspace = id`

/** The rows of a workspace. The first parameter of each statement is the workspace. */
export class WorkspaceRows {
  readonly #database: TranscriptDatabase
  readonly #workspace: string

  constructor(database: TranscriptDatabase, workspace: string) {
    this.#database = database
    this.#workspace = workspace
  }

  /** Runs the work in a transaction. Throws if the database can't be written. */
  transact<T>(work: () => T): T {
    return this.#database.perform(() => {
      this.run(
        `INSERT INTO workspaces VALUES (?, ?, '[]', 0, 0) ON CONFLICT DO UPDATE SET used_at = excluded.used_at`,
        Date.now(),
      )
      return work()
    })
  }

  /** Runs a query in a transaction of its own. Throws if the database can't be read. */
  read(sql: string, ...values: Value[]): Array<Record<string, unknown>> {
    return this.#database.perform(() => this.all(sql, ...values), 'DEFERRED')
  }

  /** Runs a query within a transaction. */
  all(sql: string, ...values: Value[]): Array<Record<string, unknown>> {
    return this.#database.all(sql, this.#workspace, ...values)
  }

  /** Runs a statement within a transaction. */
  run(sql: string, ...values: Value[]): void {
    this.#database.run(sql, this.#workspace, ...values)
  }
}
