import { mkdirSync } from 'node:fs'
import path from 'node:path'
import type { DatabaseSync, StatementSync } from 'node:sqlite'
import * as l10n from '@vscode/l10n'
import type { Disposable } from '../common/disposable.ts'
import { messageOf } from '../common/errors.ts'
import { type Logger, silentLogger } from '../common/logger.ts'
import type { KeptConversation } from '../conversation/restore-state.ts'
import type { Entry, TerminalState } from '../conversation/state.ts'
import { readEntry, readHead, readTerminal } from './transcript-schema.ts'

const BUSY_TIMEOUT_MS = 250

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS entries (
    agent_id TEXT NOT NULL, session_id TEXT NOT NULL, position INTEGER NOT NULL, entry TEXT NOT NULL,
    PRIMARY KEY (agent_id, session_id, position)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS terminals (
    agent_id TEXT NOT NULL, session_id TEXT NOT NULL, terminal_id TEXT NOT NULL, terminal TEXT NOT NULL,
    PRIMARY KEY (agent_id, session_id, terminal_id)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS heads (
    agent_id TEXT NOT NULL, session_id TEXT NOT NULL, head TEXT NOT NULL,
    PRIMARY KEY (agent_id, session_id)
  ) STRICT, WITHOUT ROWID;
`

/** What changed of a conversation since it was written last. */
export interface TranscriptChanges {
  /** Everything that was kept of it is replaced. */
  replace: boolean
  entries: Array<{ position: number; entry: Entry }>
  terminals: TerminalState[]
  head?: KeptConversation['head']
}

export interface TranscriptsOptions {
  /** the database's file; its directory is made */
  file: string
  /** Told once, in a sentence for the person, when conversations cannot be kept on disk. */
  onProblem?: (message: string) => void
  log?: Logger
  /** `node:sqlite`, or `undefined` where this Node has none */
  sqlite?: typeof import('node:sqlite') | undefined
}

/**
 * The conversations of this machine, entry by entry, so that one is on the screen again before its agent has even
 * started, and also when the agent cannot give it back. Nothing here throws: what cannot be kept is said once.
 */
export class Transcripts implements Disposable {
  readonly #options: TranscriptsOptions
  readonly #log: Logger
  readonly #statements = new Map<string, StatementSync>()
  #db: DatabaseSync | undefined
  #told = false

  constructor(options: TranscriptsOptions) {
    this.#options = options
    this.#log = options.log ?? silentLogger
    this.#db = this.#open()
  }

  /** Writes what changed, all of it or nothing. Answers whether it is on disk. */
  write(agentId: string, sessionId: string, changes: TranscriptChanges): boolean {
    return this.#try(() => {
      this.#db?.exec('BEGIN IMMEDIATE')
      try {
        if (changes.replace) this.#remove(agentId, sessionId)
        for (const { position, entry } of changes.entries) {
          this.#run('REPLACE INTO entries VALUES (?, ?, ?, ?)', agentId, sessionId, position, json(entry))
        }
        for (const terminal of changes.terminals) {
          const { terminalId } = terminal
          this.#run(
            'REPLACE INTO terminals VALUES (?, ?, ?, ?)',
            agentId,
            sessionId,
            terminalId,
            json(terminal),
          )
        }
        if (changes.head) {
          this.#run('REPLACE INTO heads VALUES (?, ?, ?)', agentId, sessionId, json(changes.head))
        }
        this.#db?.exec('COMMIT')
      } catch (error) {
        this.#rollback()
        throw error
      }
      return this.#db !== undefined
    }, false)
  }

  /** The conversation as it was kept last; `undefined` when nothing of it was. */
  read(agentId: string, sessionId: string): KeptConversation | undefined {
    return this.#try(() => {
      const of = 'WHERE agent_id = ? AND session_id = ?'
      const rows = this.#all(
        `SELECT position, entry FROM entries ${of} ORDER BY position`,
        agentId,
        sessionId,
      )
      if (rows.length === 0) return undefined
      const terminals = this.#all(`SELECT terminal FROM terminals ${of}`, agentId, sessionId)
      const [head] = this.#all(`SELECT head FROM heads ${of}`, agentId, sessionId)
      return {
        entries: rows.map((row, position) => readEntry(String(row.entry), position)),
        terminals: terminals.flatMap(row => readTerminal(String(row.terminal)) ?? []),
        head: (head ? readHead(String(head.head)) : {}) as KeptConversation['head'],
      }
    }, undefined)
  }

  /** Forgets the conversation: its session was deleted. */
  forget(agentId: string, sessionId: string): void {
    this.#try(() => this.#remove(agentId, sessionId), undefined)
  }

  dispose(): void {
    this.#statements.clear()
    const db = this.#db
    this.#db = undefined
    try {
      db?.close()
    } catch (error) {
      this.#log.warn(`The database of conversations did not close: ${messageOf(error)}`)
    }
  }

  #open(): DatabaseSync | undefined {
    const { file } = this.#options
    try {
      const sqlite =
        'sqlite' in this.#options ? this.#options.sqlite : process.getBuiltinModule('node:sqlite')
      if (!sqlite) throw new Error('This Node has no SQLite.')
      mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 })
      const db = new sqlite.DatabaseSync(file)
      db.exec(
        `PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; ${SCHEMA}`,
      )
      return db
    } catch (error) {
      this.#failed(error)
      return undefined
    }
  }

  #remove(agentId: string, sessionId: string): void {
    for (const table of ['entries', 'terminals', 'heads']) {
      this.#run(`DELETE FROM ${table} WHERE agent_id = ? AND session_id = ?`, agentId, sessionId)
    }
  }

  #run(sql: string, ...values: Array<string | number>): void {
    this.#prepare(sql)?.run(...values)
  }

  #all(sql: string, ...values: string[]): Array<Record<string, unknown>> {
    return this.#prepare(sql)?.all(...values) ?? []
  }

  #prepare(sql: string): StatementSync | undefined {
    let statement = this.#statements.get(sql)
    if (!statement && this.#db) {
      statement = this.#db.prepare(sql)
      this.#statements.set(sql, statement)
    }
    return statement
  }

  #rollback(): void {
    try {
      this.#db?.exec('ROLLBACK')
    } catch {
      // some failures have ended the transaction already
    }
  }

  #try<T>(work: () => T, otherwise: T): T {
    if (!this.#db) return otherwise
    try {
      return work()
    } catch (error) {
      this.#failed(error)
      return otherwise
    }
  }

  #failed(error: unknown): void {
    this.#log.warn(`The database of conversations ${this.#options.file}: ${messageOf(error)}`)
    if (this.#told) return
    this.#told = true
    this.#options.onProblem?.(
      l10n.t('Parley cannot keep conversations on disk; agents still keep theirs. {0}', messageOf(error)),
    )
  }
}

function json(value: unknown): string {
  return JSON.stringify(value)
}
