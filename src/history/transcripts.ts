import { randomUUID } from 'node:crypto'
import type { DatabaseSync, StatementSync } from 'node:sqlite'
import * as l10n from '@vscode/l10n'
import type { Disposable } from '../common/disposable.ts'
import { messageOf } from '../common/errors.ts'
import { Emitter } from '../common/event.ts'
import { type Logger, silentLogger } from '../common/logger.ts'
import type { SecretRegistry } from '../common/secrets.ts'
import { idOfStored, type SessionId, sessionKey, storedId } from '../common/session-key.ts'
import { mergeEntries } from '../conversation/replay/merge-entries.ts'
import type { KeptConversation } from '../conversation/replay/restore-state.ts'
import type { Entry, TerminalState } from '../conversation/state.ts'
import {
  compact,
  emptyLog,
  isDamage,
  MissingSqliteError,
  mayOpenLater,
  openDatabase,
  REOPEN_AFTER_MS,
  rollback,
  StorageTrouble,
  usedBytes,
} from './database.ts'
import { Leases } from './leases.ts'
import {
  appendText,
  entryJson,
  readEntry,
  readHead,
  readTerminal,
  TRANSCRIPT_MIGRATIONS,
  valueJson,
} from './transcript-schema.ts'

/** How often a window with open sessions checks for requests of other windows, in milliseconds. */
const POLL_MS = 1000
/** How often the total size is checked while conversations grow, in milliseconds. */
const TRIM_EVERY_MS = 60_000
/** How long to wait for another window that reads the log, in milliseconds. */
const LOG_IN_USE_MS = 1000
/** Number of pages returned to the file system at once; more would block the window. */
const COMPACT_PAGES = 500

/** agent and session as stored; the session's id is followed by a window's id for a copy that the window saved separately */
type Of = [agentId: string, sessionId: string]
/** the rows of one conversation */
const OF = 'WHERE agent_id = ? AND session_id = ?'
const TABLES = ['entries', 'texts', 'terminals', 'outputs', 'heads', 'conversations']
/** Separates a session's id from that of a window. */
const APART = '\u0001'

/** The changes of a conversation since it was last written. */
export interface TranscriptChanges {
  /** Everything saved is replaced. */
  replace: boolean
  /** entries that are new or were changed as a whole */
  entries: Array<{ position: number; entry: Entry }>
  /** text appended to text blocks of entries that were written before and aren't in `entries`; `before`: the text before it */
  texts?: Array<{ position: number; block: number; text: string; before?: () => string }>
  /** terminals that are new or were changed as a whole */
  terminals: TerminalState[]
  /** output appended to terminals that were written before, and are not in `terminals` */
  outputs?: Array<{ terminalId: string; text: string; before?: () => string }>
  head?: KeptConversation['head']
}

export interface TranscriptsOptions {
  /** the database's file; its directory is created */
  file: string
  /** Called when conversations can't be saved to disk. */
  trouble?: StorageTrouble
  log?: Logger
  /** The secrets to redact. */
  secrets?: SecretRegistry
  /** `node:sqlite`; `undefined` if this Node doesn't have it */
  sqlite?: typeof import('node:sqlite') | undefined
  /** Maximum total size of all conversations in bytes; beyond it, the oldest are deleted. 0: no limit. */
  maxBytes?: () => number
  /** Called when a saved conversation was deleted. */
  onDelete?: (agentId: string, sessionId: string) => void
  now?: () => number
}

/**
 * The saved conversations on this machine, stored entry by entry. A saved conversation can be shown before its agent has
 * started, and even if the agent can't load it. All windows share them. A session is open in one window at a time, and only this
 * window writes its conversation; what another window writes is saved separately and merged when the conversation is
 * read. Nothing here throws: what can't be saved is reported.
 */
export class Transcripts implements Disposable {
  readonly #options: TranscriptsOptions
  readonly #log: Logger
  readonly #trouble: StorageTrouble
  readonly #now: () => number
  readonly #statements = new Map<string, StatementSync>()
  readonly #leases: Leases
  readonly #lost = new Emitter<SessionId>()
  readonly #wanted = new Emitter<SessionId>()
  /** by agent and session as stored: the revision that was written or read here last */
  readonly #revisions = new Map<string, string>()
  /** by agent and session as stored: separate copies that are included in the conversation as it was read here, with their revisions */
  readonly #merged = new Map<string, Array<{ id: string; revision: string }>>()
  /** null: not opened yet; undefined: not available */
  #opened: DatabaseSync | undefined | null = null
  /** when to try again to open a file that couldn't be opened, in milliseconds since the epoch */
  #reopenAt = Number.POSITIVE_INFINITY
  /** damage was found in the file since it was first opened */
  #suspect = false
  #pollTimer: NodeJS.Timeout | undefined
  #compactTimer: NodeJS.Timeout | undefined
  #trimmedAt = 0

  /** Another window has taken a session that was open in this one. */
  readonly onDidLose = this.#lost.event
  /** Another window requests a session that is open in this one. Fires repeatedly until it's released. */
  readonly onDidRequest = this.#wanted.event

  constructor(options: TranscriptsOptions) {
    this.#options = options
    this.#log = options.log ?? silentLogger
    this.#trouble = options.trouble ?? new StorageTrouble(() => {})
    this.#now = options.now ?? Date.now
    const run = (sql: string, ...values: Array<string | number | null>) => this.#run(sql, ...values)
    const all = (sql: string, ...values: Array<string | number>) => this.#all(sql, ...values)
    this.#leases = new Leases({ run, all }, this.#now)
  }

  // ---- leases ------------------------------------------------------------------------------------------------------

  /** Takes a session for this window. Returns false if another live window has it. */
  acquire(agentId: string, sessionId: string): boolean {
    const had = this.#leases.has(agentId, sessionId)
    const acquired = this.#transaction(() => this.#leases.acquire(agentId, sessionId), true)
    if (!had) this.#forgetRevision(agentId, sessionId)
    this.#keepPolling()
    return acquired
  }

  /** The session is no longer open in this window. */
  release(agentId: string, sessionId: string): void {
    this.#forgetRevision(agentId, sessionId)
    this.#try(() => this.#leases.release(agentId, sessionId), undefined)
  }

  /** Whether another window has the session. */
  isElsewhere(agentId: string, sessionId: string): boolean {
    return this.#try(() => this.#leases.isElsewhere(agentId, sessionId), false)
  }

  /** Asks the window that has the session to release it. */
  request(agentId: string, sessionId: string): void {
    this.#try(() => this.#leases.request(agentId, sessionId), undefined)
  }

  /** Takes a session that another window doesn't release. */
  seize(agentId: string, sessionId: string): void {
    this.#transaction(() => this.#leases.seize(agentId, sessionId), undefined)
    this.#forgetRevision(agentId, sessionId)
    this.#keepPolling()
  }

  #forgetRevision(agentId: string, sessionId: string): void {
    const key = sessionKey(agentId, storedId(sessionId))
    this.#revisions.delete(key)
    this.#merged.delete(key)
  }

  /**
   * Renews this window's leases and fires events for takeovers and requests by other windows. Called by a timer while
   * sessions are open.
   */
  poll(): void {
    const { missing, wanted } = this.#try(() => this.#leases.poll(), { missing: [], wanted: [] })
    for (const session of missing) {
      if (this.acquire(session.agentId, session.sessionId)) continue
      this.#leases.lose(session)
      this.#lost.fire(session)
    }
    for (const session of wanted) this.#wanted.fire(session)
  }

  #keepPolling(): void {
    if (this.#pollTimer || !this.#opened) return
    this.#pollTimer = setInterval(() => {
      if (!this.#leases.isEmpty) return this.poll()
      clearInterval(this.#pollTimer)
      this.#pollTimer = undefined
    }, POLL_MS)
    this.#pollTimer.unref()
  }

  // ---- conversations ------------------------------------------------------------------------------------------------

  /**
   * Writes the changes, all or none. Returns whether they're on disk. Partial changes are refused if they don't fit what
   * is stored: another window has written meanwhile or has the session, or the first half of a secret was already
   * written. A whole conversation (`replace`) is always accepted; it's saved separately while another window has the
   * session.
   */
  write(agentId: string, sessionId: string, changes: TranscriptChanges): boolean {
    if (!changes.replace && this.#completesSecret(changes)) return false
    const written = this.#transaction(() => {
      if (!this.#db) return false
      const isOurs = this.#leases.acquire(agentId, sessionId)
      const id = storedId(sessionId)
      const of: Of = [agentId, isOurs ? id : id + APART + this.#leases.owner]
      const known = this.#revisions.get(sessionKey(...of))
      const onDisk = this.#revisionOf(of)
      const fits = onDisk === known && (isOurs || known !== undefined) && !this.#merged.has(sessionKey(...of))
      if (!changes.replace && !fits) return false
      if (changes.replace) {
        // this conversation doesn't include what another window wrote meanwhile
        if (onDisk !== undefined && onDisk !== known) this.#setApart(of, onDisk)
        this.#remove(of)
        if (isOurs) this.#removeMerged(of)
      }
      const revision = randomUUID()
      this.#run('REPLACE INTO conversations VALUES (?, ?, ?, ?)', ...of, revision, this.#now())
      this.#writeEntries(of, changes)
      this.#writeTerminals(of, changes)
      const head = changes.head && valueJson(changes.head)
      if (head) this.#run('REPLACE INTO heads VALUES (?, ?, ?)', ...of, this.#jsonWithoutSecrets(head))
      this.#revisions.set(sessionKey(...of), revision)
      return true
    }, false)
    if (written) this.#trouble.worked(this.#options.file)
    this.#keepPolling()
    if (written && this.#now() - this.#trimmedAt >= TRIM_EVERY_MS) this.trim()
    return written
  }

  /** The saved conversation, merged with separate copies of other windows; `undefined` if there is none. */
  read(agentId: string, sessionId: string): KeptConversation | undefined {
    return this.#transaction(
      () => {
        const of: Of = [agentId, storedId(sessionId)]
        const key = sessionKey(...of)
        const revision = this.#revisionOf(of)
        const main = this.#readOne(of)
        const apart = this.#apart(of).flatMap(({ id, revision }) => {
          const conversation = this.#readOne([agentId, id])
          return conversation ? [{ id, revision, conversation }] : []
        })
        // a reader that has it open already continues with its copy
        if (!this.#revisions.has(key)) {
          if (revision !== undefined) this.#revisions.set(key, revision)
          if (apart.length > 0) this.#merged.set(key, apart)
        }
        const [first, ...others] = [...(main ? [main] : []), ...apart.map(({ conversation }) => conversation)]
        return first && others.reduce(mergeConversations, first)
      },
      undefined,
      'DEFERRED',
    )
  }

  /** Changes with every write by any window; `undefined` if nothing is saved. */
  revision(agentId: string, sessionId: string): string | undefined {
    return this.#try(() => {
      const of: Of = [agentId, storedId(sessionId)]
      const all = [this.#revisionOf(of), ...this.#apart(of).map(({ revision }) => revision)]
      return all.join(' ').trim() || undefined
    }, undefined)
  }

  /** Whether anything of the conversation is saved. */
  has(agentId: string, sessionId: string): boolean {
    return this.revision(agentId, sessionId) !== undefined
  }

  /** Deletes the saved conversation. */
  forget(agentId: string, sessionId: string): void {
    this.#transaction(() => {
      const of: Of = [agentId, storedId(sessionId)]
      for (const { id } of this.#apart(of)) this.#remove([agentId, id])
      this.#remove(of)
      this.#revisions.delete(sessionKey(...of))
    }, undefined)
    this.#options.onDelete?.(agentId, sessionId)
    this.#compactLater()
  }

  // ---- size ---------------------------------------------------------------------------------------------------------

  /** Bytes of all conversations on disk. */
  get usedBytes(): number {
    return this.#try(() => (this.#db ? usedBytes(this.#db) : 0), 0)
  }

  /** Deletes the conversations with the oldest writes until the others fit the limit; open ones are kept. */
  trim(): void {
    this.#trimmedAt = this.#now()
    const max = this.#options.maxBytes?.() ?? 0
    if (max === 0 || this.usedBytes <= max) return
    let deleted = 0
    const rows = this.#try(
      () => this.#all('SELECT agent_id, session_id FROM conversations ORDER BY written_at, session_id'),
      [],
    )
    for (const row of rows) {
      if (this.usedBytes <= 0.9 * max) break
      const [agentId, id] = [String(row.agent_id), String(row.session_id)]
      const sessionId = idOfStored(id.split(APART)[0]!)
      const removed = this.#transaction(() => {
        if (this.#leases.isElsewhere(agentId, sessionId) || this.#leases.has(agentId, sessionId)) return false
        this.#remove([agentId, id])
        this.#revisions.delete(sessionKey(agentId, id))
        return true
      }, false)
      if (!removed) continue
      deleted += 1
      this.#options.onDelete?.(agentId, sessionId)
    }
    if (deleted > 0) this.#log.info(`Deleted ${deleted} saved conversations to stay within the size limit.`)
    this.#compactLater()
  }

  /** Returns deleted data to the file system, and then removes it from the log. */
  #compactLater(ms = 50): void {
    if (this.#compactTimer || !this.#opened) return
    this.#compactTimer = setTimeout(() => {
      this.#compactTimer = undefined
      const more = this.#try(() => (this.#db ? compact(this.#db, COMPACT_PAGES) : false), false)
      if (more) this.#compactLater()
      else if (!this.#try(() => !this.#db || emptyLog(this.#db), true)) this.#compactLater(LOG_IN_USE_MS)
    }, ms)
    this.#compactTimer.unref()
  }

  dispose(): void {
    clearInterval(this.#pollTimer)
    clearTimeout(this.#compactTimer)
    if (this.#opened) this.#try(() => this.#leases.releaseAll(), undefined)
    this.#lost.dispose()
    this.#wanted.dispose()
    this.#statements.clear()
    const db = this.#opened
    this.#opened = undefined
    this.#reopenAt = Number.POSITIVE_INFINITY
    try {
      db?.close()
    } catch (error) {
      this.#log.warn(`The database of conversations couldn't be closed: ${messageOf(error)}`)
    }
  }

  // ---- the database -------------------------------------------------------------------------------------------------

  /** Opened on first use, so that a window without a conversation doesn't wait for the disk. */
  get #db(): DatabaseSync | undefined {
    if (this.#opened === undefined && this.#now() >= this.#reopenAt) this.#opened = null
    if (this.#opened === null) this.#opened = this.#open()
    return this.#opened
  }

  #open(): DatabaseSync | undefined {
    const { file } = this.#options
    this.#reopenAt = Number.POSITIVE_INFINITY
    try {
      const sqlite =
        'sqlite' in this.#options ? this.#options.sqlite : process.getBuiltinModule('node:sqlite')
      if (!sqlite) throw new MissingSqliteError()
      const onDamage = (error: unknown, aside: string) => this.#wasDamaged(error, aside)
      return openDatabase({ sqlite, file, migrations: TRANSCRIPT_MIGRATIONS, check: this.#suspect, onDamage })
    } catch (error) {
      if (mayOpenLater(error)) this.#reopenAt = this.#now() + REOPEN_AFTER_MS
      this.#failed(error)
      return undefined
    }
  }

  /** Damage was found in the open file. It's checked completely when it's next needed. */
  #closeDamaged(error: unknown): void {
    this.#log.warn(`The database of conversations ${this.#options.file} is damaged: ${messageOf(error)}`)
    const db = this.#opened
    this.#statements.clear()
    // reopen it only once, since a disk that corrupts data would cause an endless loop
    this.#opened = this.#suspect ? undefined : null
    this.#suspect = true
    try {
      db?.close()
    } catch {
      // nothing more can be read from it
    }
  }

  #wasDamaged(error: unknown, aside: string): void {
    this.#log.warn(
      `The database of conversations was damaged (${messageOf(error)}). It was moved to ${aside}.`,
    )
    this.#trouble.tell(
      l10n.t(
        'The file in which Parley stores conversations was damaged, so Parley created a new one. Agents still have their own copies: load sessions from History. The damaged file is {0}.',
        aside,
      ),
    )
  }

  #revisionOf(of: Of): string | undefined {
    const [row] = this.#all(`SELECT revision FROM conversations ${OF}`, ...of)
    return row && String(row.revision)
  }

  /** The copies that windows saved while another window had the session. */
  #apart([agentId, sessionId]: Of): Array<{ id: string; revision: string }> {
    const rows = this.#all(
      'SELECT session_id, revision FROM conversations WHERE agent_id = ? AND session_id > ? AND session_id < ?',
      agentId,
      sessionId + APART,
      `${sessionId}\u0002`,
    )
    return rows.map(row => ({ id: String(row.session_id), revision: String(row.revision) }))
  }

  /** Deletes separate copies that were read, since the whole conversation written now includes them. */
  #removeMerged(of: Of): void {
    for (const { id, revision } of this.#merged.get(sessionKey(...of)) ?? []) {
      if (this.#revisionOf([of[0], id]) === revision) this.#remove([of[0], id])
    }
    this.#merged.delete(sessionKey(...of))
  }

  #setApart([agentId, sessionId]: Of, revision: string): void {
    const id = sessionId + APART + (revision || randomUUID())
    for (const table of TABLES) {
      this.#run(`UPDATE ${table} SET session_id = ? ${OF}`, id, agentId, sessionId)
    }
  }

  #readOne(of: Of): KeptConversation | undefined {
    const rows = this.#all(`SELECT entry FROM entries ${OF} ORDER BY position`, ...of)
    if (rows.length === 0) return undefined
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
  }

  #withoutSecrets(text: string): string {
    return this.#options.secrets?.redact(text) ?? text
  }

  #jsonWithoutSecrets(json: string): string {
    return this.#options.secrets?.redactJson(json) ?? json
  }

  #completesSecret({ texts = [], outputs = [] }: TranscriptChanges): boolean {
    const { secrets } = this.#options
    return [...texts, ...outputs].some(({ before, text }) => before && secrets?.crosses(before, text))
  }

  #writeEntries(of: Of, { replace, entries, texts = [] }: TranscriptChanges): void {
    for (const { position, entry } of entries) {
      this.#run(
        'REPLACE INTO entries VALUES (?, ?, ?, ?)',
        ...of,
        position,
        this.#jsonWithoutSecrets(entryJson(entry)),
      )
      if (!replace) this.#run(`DELETE FROM texts ${OF} AND position = ?`, ...of, position)
    }
    for (const { position, block, text } of texts) {
      this.#run(
        'INSERT INTO texts VALUES (?, ?, ?, ?, ?)',
        ...of,
        position,
        block,
        this.#withoutSecrets(text),
      )
    }
  }

  #writeTerminals(of: Of, { replace, terminals, outputs = [] }: TranscriptChanges): void {
    for (const terminal of terminals) {
      const { terminalId } = terminal
      const json = valueJson(terminal)
      if (json === undefined) continue
      this.#run(
        'REPLACE INTO terminals VALUES (?, ?, ?, ?)',
        ...of,
        terminalId,
        this.#jsonWithoutSecrets(json),
      )
      if (!replace) this.#run(`DELETE FROM outputs ${OF} AND terminal_id = ?`, ...of, terminalId)
    }
    for (const { terminalId, text } of outputs) {
      this.#run('INSERT INTO outputs VALUES (?, ?, ?, ?)', ...of, terminalId, this.#withoutSecrets(text))
    }
  }

  #remove(of: Of): void {
    for (const table of TABLES) {
      this.#run(`DELETE FROM ${table} ${OF}`, ...of)
    }
  }

  #run(sql: string, ...values: Array<string | number | null>): void {
    this.#prepare(sql)?.run(...values)
  }

  #all(sql: string, ...values: Array<string | number>): Array<Record<string, unknown>> {
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

  /** Runs the work in a transaction, while no other window writes; `DEFERRED`: only reads a consistent state. */
  #transaction<T>(work: () => T, otherwise: T, kind: 'IMMEDIATE' | 'DEFERRED' = 'IMMEDIATE'): T {
    return this.#try(() => {
      this.#db?.exec(`BEGIN ${kind}`)
      try {
        const result = work()
        this.#db?.exec('COMMIT')
        return result
      } catch (error) {
        if (this.#opened) rollback(this.#opened)
        throw error
      }
    }, otherwise)
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
      l10n.t("Parley can't save conversations to disk. Agents still keep their own sessions. {0}", reason),
    )
  }
}

/** Merges a conversation of two windows: entries that both have appear once, and all others are kept. */
function mergeConversations(known: KeptConversation, other: KeptConversation): KeptConversation {
  const terminals = new Map(known.terminals.map(terminal => [terminal.terminalId, terminal]))
  for (const terminal of other.terminals) {
    const own = terminals.get(terminal.terminalId)
    if (!own || terminal.output.length > own.output.length) terminals.set(terminal.terminalId, terminal)
  }
  const title = known.head.title ?? other.head.title
  return {
    entries: mergeEntries(known.entries, other.entries).entries,
    terminals: [...terminals.values()],
    head: { ...other.head, ...known.head, ...(title === undefined ? {} : { title }) },
  }
}
