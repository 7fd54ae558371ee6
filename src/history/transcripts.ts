import { randomUUID } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import path from 'node:path'
import type { DatabaseSync, StatementSync } from 'node:sqlite'
import * as l10n from '@vscode/l10n'
import type { Disposable } from '../common/disposable.ts'
import { messageOf } from '../common/errors.ts'
import { type Logger, silentLogger } from '../common/logger.ts'
import type { KeptConversation } from '../conversation/restore-state.ts'
import type { Entry, TerminalState } from '../conversation/state.ts'
import { isDamage, setAside } from './damaged-file.ts'
import { StorageTrouble } from './storage-trouble.ts'
import { openTranscripts } from './transcript-file.ts'
import { appendText, readEntry, readHead, readTerminal } from './transcript-schema.ts'

/** agent and session */
type Of = [agentId: string, sessionId: string]
/** the rows of one conversation */
const OF = 'WHERE agent_id = ? AND session_id = ?'

/** What changed of a conversation since it was written last. */
export interface TranscriptChanges {
  /** Everything that was kept of it is replaced. */
  replace: boolean
  /** entries that are new or were changed as a whole */
  entries: Array<{ position: number; entry: Entry }>
  /** text appended to the text blocks of entries that were written before, and are not in `entries` */
  texts?: Array<{ position: number; block: number; text: string }>
  /** terminals that are new or were changed as a whole */
  terminals: TerminalState[]
  /** output appended to terminals that were written before, and are not in `terminals` */
  outputs?: Array<{ terminalId: string; text: string }>
  head?: KeptConversation['head']
}

export interface TranscriptsOptions {
  /** the database's file; its directory is made */
  file: string
  /** Told when conversations cannot be kept on disk. */
  trouble?: StorageTrouble
  log?: Logger
  /** `node:sqlite`, or `undefined` where this Node has none */
  sqlite?: typeof import('node:sqlite') | undefined
}

/**
 * The conversations of this machine, entry by entry, so that one is on the screen again before its agent has even
 * started, and also when the agent cannot give it back. Nothing here throws: what cannot be kept is told.
 */
export class Transcripts implements Disposable {
  readonly #options: TranscriptsOptions
  readonly #log: Logger
  readonly #trouble: StorageTrouble
  readonly #statements = new Map<string, StatementSync>()
  /** by agent and session: how the conversation was marked when it was written or read here last */
  readonly #marks = new Map<string, string>()
  /** null: nothing has asked for it yet; undefined: there is none */
  #opened: DatabaseSync | undefined | null = null
  /** damage was met in the file since it was opened first */
  #suspect = false

  constructor(options: TranscriptsOptions) {
    this.#options = options
    this.#log = options.log ?? silentLogger
    this.#trouble = options.trouble ?? new StorageTrouble(() => {})
  }

  /**
   * Writes what changed, all of it or nothing. Answers whether it is on disk: changes of a conversation that another
   * window has written since would mix two into one, and are not; the whole conversation is.
   */
  write(agentId: string, sessionId: string, changes: TranscriptChanges): boolean {
    return this.#try(() => {
      this.#db?.exec('BEGIN IMMEDIATE')
      try {
        if (changes.replace) this.#remove(agentId, sessionId)
        else if (this.#isOfAnother([agentId, sessionId])) {
          this.#rollback()
          return false
        }
        this.#mark([agentId, sessionId])
        this.#writeEntries([agentId, sessionId], changes)
        this.#writeTerminals([agentId, sessionId], changes)
        if (changes.head) {
          this.#run('REPLACE INTO heads VALUES (?, ?, ?)', agentId, sessionId, json(changes.head))
        }
        this.#db?.exec('COMMIT')
      } catch (error) {
        this.#rollback()
        throw error
      }
      if (this.#db) this.#trouble.worked(this.#options.file)
      return this.#db !== undefined
    }, false)
  }

  /** The conversation as it was kept last; `undefined` when nothing of it was. */
  read(agentId: string, sessionId: string): KeptConversation | undefined {
    return this.#try(() => {
      const of: Of = [agentId, sessionId]
      const rows = this.#all(`SELECT entry FROM entries ${OF} ORDER BY position`, ...of)
      if (rows.length === 0) return undefined
      const mark = this.#markOnDisk(of)
      if (mark !== undefined && !this.#marks.has(of.join('\0'))) this.#marks.set(of.join('\0'), mark)
      const entries = rows.map((row, position) => readEntry(String(row.entry), position))
      for (const row of this.#all(`SELECT position, block, text FROM texts ${OF} ORDER BY rowid`, ...of)) {
        appendText(entries[Number(row.position)], Number(row.block), String(row.text))
      }
      const terminals = this.#all(`SELECT terminal FROM terminals ${OF}`, ...of).flatMap(
        row => readTerminal(String(row.terminal)) ?? [],
      )
      const byId = new Map(terminals.map(terminal => [terminal.terminalId, terminal]))
      for (const row of this.#all(`SELECT terminal_id, text FROM outputs ${OF} ORDER BY rowid`, ...of)) {
        const terminal = byId.get(String(row.terminal_id))
        if (terminal) terminal.output += String(row.text)
      }
      const [head] = this.#all(`SELECT head FROM heads ${OF}`, ...of)
      return {
        entries,
        terminals,
        head: (head ? readHead(String(head.head)) : {}) as KeptConversation['head'],
      }
    }, undefined)
  }

  /** Whether anything of the conversation was kept. */
  has(agentId: string, sessionId: string): boolean {
    return this.#try(
      () => this.#all(`SELECT 1 FROM entries ${OF} LIMIT 1`, agentId, sessionId).length > 0,
      false,
    )
  }

  /** Forgets the conversation: its session was deleted. */
  forget(agentId: string, sessionId: string): void {
    this.#try(() => this.#remove(agentId, sessionId), undefined)
  }

  dispose(): void {
    this.#statements.clear()
    const db = this.#opened
    this.#opened = undefined
    try {
      db?.close()
    } catch (error) {
      this.#log.warn(`The database of conversations did not close: ${messageOf(error)}`)
    }
  }

  /** Opened by the first that needs it: a window without a conversation does not wait for a disk. */
  get #db(): DatabaseSync | undefined {
    if (this.#opened === null) this.#opened = this.#open()
    return this.#opened
  }

  #open(): DatabaseSync | undefined {
    const { file } = this.#options
    try {
      const sqlite =
        'sqlite' in this.#options ? this.#options.sqlite : process.getBuiltinModule('node:sqlite')
      if (!sqlite) throw new Error('This Node has no SQLite.')
      mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 })
      try {
        return openTranscripts(sqlite, file, this.#suspect)
      } catch (error) {
        if (!isDamage(error)) throw error
        this.#wasDamaged(error, setAside(file))
        return openTranscripts(sqlite, file)
      }
    } catch (error) {
      this.#failed(error)
      return undefined
    }
  }

  /** Damage was met in the file that is open. It is looked at from the first byte to the last when it is next needed. */
  #closeDamaged(error: unknown): void {
    this.#log.warn(`The database of conversations ${this.#options.file} is damaged: ${messageOf(error)}`)
    const db = this.#opened
    this.#statements.clear()
    // once: a disk that damages what is written on it would go on for ever
    this.#opened = this.#suspect ? undefined : null
    this.#suspect = true
    try {
      db?.close()
    } catch {
      // there is nothing more to be had of it
    }
  }

  #wasDamaged(error: unknown, aside: string): void {
    this.#log.warn(
      `The database of conversations was damaged (${messageOf(error)}). It was set aside as ${aside}.`,
    )
    this.#trouble.tell(
      l10n.t(
        'The file in which Parley keeps conversations was damaged, and a new one was begun. Agents still keep theirs: load them from History. The damaged file is {0}.',
        aside,
      ),
    )
  }

  /** Also when what this window wrote is there no longer: changes alone would stand without what they change. */
  #isOfAnother(of: Of): boolean {
    return this.#markOnDisk(of) !== this.#marks.get(of.join('\0'))
  }

  #markOnDisk(of: Of): string | undefined {
    const [row] = this.#all(`SELECT mark FROM marks ${OF}`, ...of)
    return row && String(row.mark)
  }

  #mark(of: Of): void {
    const mark = randomUUID()
    this.#run('REPLACE INTO marks VALUES (?, ?, ?)', ...of, mark)
    this.#marks.set(of.join('\0'), mark)
  }

  #writeEntries(of: Of, { replace, entries, texts = [] }: TranscriptChanges): void {
    for (const { position, entry } of entries) {
      this.#run('REPLACE INTO entries VALUES (?, ?, ?, ?)', ...of, position, json(entry))
      if (!replace) this.#run(`DELETE FROM texts ${OF} AND position = ?`, ...of, position)
    }
    for (const { position, block, text } of texts) {
      this.#run('INSERT INTO texts VALUES (?, ?, ?, ?, ?)', ...of, position, block, text)
    }
  }

  #writeTerminals(of: Of, { replace, terminals, outputs = [] }: TranscriptChanges): void {
    for (const terminal of terminals) {
      const { terminalId } = terminal
      this.#run('REPLACE INTO terminals VALUES (?, ?, ?, ?)', ...of, terminalId, json(terminal))
      if (!replace) this.#run(`DELETE FROM outputs ${OF} AND terminal_id = ?`, ...of, terminalId)
    }
    for (const { terminalId, text } of outputs) {
      this.#run('INSERT INTO outputs VALUES (?, ?, ?, ?)', ...of, terminalId, text)
    }
  }

  #remove(agentId: string, sessionId: string): void {
    for (const table of ['entries', 'texts', 'terminals', 'outputs', 'heads']) {
      this.#run(`DELETE FROM ${table} ${OF}`, agentId, sessionId)
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
      if (isDamage(error)) this.#closeDamaged(error)
      else this.#failed(error)
      return otherwise
    }
  }

  #failed(error: unknown): void {
    this.#log.warn(`The database of conversations ${this.#options.file}: ${messageOf(error)}`)
    this.#trouble.failed(this.#options.file, error, reason =>
      l10n.t('Parley cannot keep conversations on disk; agents still keep theirs. {0}', reason),
    )
  }
}

function json(value: unknown): string {
  return JSON.stringify(value)
}
