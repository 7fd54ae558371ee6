import { rmSync } from 'node:fs'
import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite'
import { storedId } from '../../common/session-key.ts'
import type { Entry } from '../../conversation/state.ts'
import { compact, emptyLog, openDatabase, rollback } from '../database.ts'
import { sessionIdOf } from '../transcript-rows.ts'
import { appendText, readEntry, TRANSCRIPT_MIGRATIONS } from '../transcript-schema.ts'
import type { WrittenConversation } from '../transcripts.ts'
import { documentsOf, type SearchDocument } from './search-documents.ts'
import { SearchRun, type SearchWork } from './search-run.ts'
import { extraWords } from './search-words.ts'

type SQLite = typeof import('node:sqlite')

/** Number of entries that are indexed in one transaction. */
const ENTRIES_AT_ONCE = 200
/** Number of texts that are removed in one transaction; removing a text is slow because its words are overwritten one by one. */
const REMOVED_AT_ONCE = 20
/** Number of pages that are returned to the file system at once. */
const COMPACT_PAGES = 500

/** Released migrations never change. */
const MIGRATIONS = [
  // revision: the conversation's revision when it was indexed completely
  `CREATE TABLE conversations (
     id INTEGER PRIMARY KEY, agent_id TEXT NOT NULL, session_id TEXT NOT NULL, revision TEXT NOT NULL,
     written_at INTEGER NOT NULL, UNIQUE (agent_id, session_id)
   ) STRICT;
   -- ids increase with time; extra: see extraWords
   CREATE TABLE documents (
     id INTEGER PRIMARY KEY, conversation INTEGER NOT NULL, position INTEGER NOT NULL, kind INTEGER NOT NULL,
     entry TEXT NOT NULL, text TEXT NOT NULL, extra TEXT NOT NULL, UNIQUE (conversation, position, kind)
   ) STRICT;
   CREATE VIRTUAL TABLE words USING fts5 (
     text, extra, content = 'documents', content_rowid = 'id', detail = none, prefix = '1 2 3 4',
     tokenize = 'unicode61 remove_diacritics 2'
   );
   -- deleted words must not stay in the file
   INSERT INTO words (words, rank) VALUES ('secure-delete', 1);`,
]

interface Stored {
  agentId: string
  id: string
  /** the current revision; absent if the conversation was deleted */
  revision?: string
  writtenAt: number
}

interface Indexed {
  id: number
  revision: string
  isNew: boolean
}

/** A conversation that is being indexed, in parts. */
interface Progress {
  conversation: Indexed
  /** the number of the conversation's entries */
  count: number
  /** the number of entries that were indexed */
  done: number
  /** the texts get smaller ids than all existing texts, the last text first */
  isOlder: boolean
}

export interface SearchIndexOptions {
  sqlite: SQLite
  /** the path of the index */
  file: string
  /** the path of the database of conversations, which is only read */
  conversations: string
  now?: () => number
}

/**
 * A full-text index of the saved conversations, in a separate file that can always be recreated. The index contains only stored text, from
 * which secrets are already redacted. All methods may throw SQLite's errors.
 */
export class SearchIndex {
  readonly #options: SearchIndexOptions
  readonly #statements = new Map<string, StatementSync>()
  #db: DatabaseSync
  /** a second connection, which reads while the other one writes */
  #reader: DatabaseSync
  #source: DatabaseSync | undefined
  /** the conversations to index; the next one is at the end */
  #todo: Stored[] = []
  #progress: Progress | undefined
  #hasRemoved = false

  constructor(options: SearchIndexOptions) {
    this.#options = options
    ;[this.#db, this.#reader] = this.#open()
  }

  /** The number of conversations that aren't indexed yet. */
  get remaining(): number {
    return this.#todo.length
  }

  /** Finds the stored conversations that the index lacks. Call `work` afterward until it returns false. */
  refresh(): void {
    const stored = this.#stored()
    const key = (agentId: string, id: string) => JSON.stringify([agentId, id])
    const indexed = new Map(
      this.#all('SELECT agent_id, session_id, revision FROM conversations').map(row => [
        key(String(row.agent_id), String(row.session_id)),
        { agentId: String(row.agent_id), id: String(row.session_id), revision: String(row.revision) },
      ]),
    )
    const changed = stored.filter(({ agentId, id, revision }) => {
      const known = indexed.get(key(agentId, id))
      indexed.delete(key(agentId, id))
      return known?.revision !== revision
    })
    this.#progress = undefined
    // deleted conversations first, then the newest
    this.#todo = [
      ...changed,
      ...[...indexed.values()].map(({ agentId, id }) => ({ agentId, id, writtenAt: 0 })),
    ]
  }

  /** Indexes a write of a conversation: only the written entries if everything before them is indexed. */
  written({ agentId, id, before, after, positions }: WrittenConversation): void {
    const known = this.#indexed(agentId, id)
    if (positions && before !== undefined && known?.revision === before && this.#openSource()) {
      this.#transaction(() => {
        for (const position of positions) {
          this.#indexEntries(
            known.id,
            this.#entries(agentId, id, position, position),
            position,
            position,
            false,
          )
        }
        this.#run(
          'UPDATE conversations SET revision = ?, written_at = ? WHERE id = ?',
          after,
          this.#now(),
          known.id,
        )
      })
      return
    }
    this.changed(agentId, id)
  }

  /** Adds a written or deleted conversation to those to index. Call `work` afterward until it returns false. */
  changed(agentId: string, id: string): void {
    const [row] = this.#openSource()
      ? this.#sourceAll(
          'SELECT revision, written_at FROM conversations WHERE agent_id = ? AND session_id = ?',
          agentId,
          id,
        )
      : []
    const top = this.#todo.at(-1)
    if (top?.agentId === agentId && top.id === id) this.#todo.pop()
    this.#progress = undefined
    this.#todo.push(
      row
        ? { agentId, id, revision: String(row.revision), writtenAt: Number(row.written_at) }
        : { agentId, id, writtenAt: 0 },
    )
  }

  /** Removes a deleted session with all copies of its conversation from the index. */
  deleted(agentId: string, sessionId: string): void {
    const id = storedId(sessionId)
    for (const row of this.#all('SELECT session_id FROM conversations WHERE agent_id = ?', agentId))
      if (sessionIdOf([agentId, String(row.session_id)]) === sessionId || row.session_id === id)
        this.changed(agentId, String(row.session_id))
  }

  /** Indexes for about `ms` milliseconds. Returns whether there is more to index. */
  work(ms: number): boolean {
    const until = performance.now() + ms
    while (this.#todo.length > 0) {
      const next = this.#todo.at(-1)!
      const isDone = next.revision === undefined ? this.#removePart(next) : this.#indexPart(next)
      if (isDone) {
        this.#todo.splice(this.#todo.lastIndexOf(next), 1)
        this.#progress = undefined
      }
      if (performance.now() >= until) return true
    }
    this.#closeSource()
    if (!this.#hasRemoved) return false
    if (compact(this.#db, COMPACT_PAGES)) return true
    this.#hasRemoved = !emptyLog(this.#db)
    return false
  }

  /** Begins a search of the current index. */
  search(work: SearchWork): SearchRun {
    return new SearchRun(this.#reader, work)
  }

  close(): void {
    this.#statements.clear()
    this.#closeSource()
    for (const db of [this.#reader, this.#db]) {
      try {
        db.close()
      } catch {
        // ignored: no data is lost
      }
    }
  }

  /** Deletes the index, because it's damaged, and begins a new one. */
  rebuild(): void {
    this.close()
    removeDatabase(this.#options.file)
    ;[this.#db, this.#reader] = this.#open()
    this.refresh()
  }

  #open(): [DatabaseSync, DatabaseSync] {
    const { sqlite, file } = this.#options
    // deleted text must not stay in a damaged index
    const onDamage = (_: unknown, aside: string) => removeDatabase(aside)
    const db = openDatabase({ sqlite, file, migrations: MIGRATIONS, onDamage })
    return [db, new sqlite.DatabaseSync(file, { readOnly: true })]
  }

  #now(): number {
    return (this.#options.now ?? Date.now)()
  }

  // ---- stored conversations

  /** The stored conversations, those with the oldest writes first. */
  #stored(): Stored[] {
    if (!this.#openSource()) return []
    const rows = this.#sourceAll(
      'SELECT agent_id, session_id, revision, written_at FROM conversations ORDER BY written_at',
    )
    return rows.map(row => ({
      agentId: String(row.agent_id),
      id: String(row.session_id),
      revision: String(row.revision),
      writtenAt: Number(row.written_at),
    }))
  }

  /** Opens the database of conversations, only briefly, since a new file replaces a damaged one. Returns false if it can't be opened. */
  #openSource(): boolean {
    if (this.#source) return true
    try {
      const source = new this.#options.sqlite.DatabaseSync(this.#options.conversations, { readOnly: true })
      const version = Number(source.prepare('PRAGMA user_version').get()?.user_version)
      if (version === TRANSCRIPT_MIGRATIONS.length) this.#source = source
      else source.close()
    } catch {
      // the file doesn't exist yet, or the window reports that it can't be opened
    }
    return this.#source !== undefined
  }

  #closeSource(): void {
    for (const [sql] of this.#statements) if (sql.startsWith('source:')) this.#statements.delete(sql)
    this.#source?.close()
    this.#source = undefined
  }

  /** The entries at these positions, including appended text. */
  #entries(agentId: string, id: string, from: number, to: number): Map<number, Entry> {
    const range = 'WHERE agent_id = ? AND session_id = ? AND position BETWEEN ? AND ?'
    const entries = new Map<number, Entry>()
    for (const row of this.#sourceAll(`SELECT position, entry FROM entries ${range}`, agentId, id, from, to))
      entries.set(Number(row.position), readEntry(String(row.entry), Number(row.position)))
    const texts = `SELECT position, block, text FROM texts ${range} ORDER BY rowid`
    for (const row of this.#sourceAll(texts, agentId, id, from, to))
      appendText(entries.get(Number(row.position)), Number(row.block), String(row.text))
    return entries
  }

  // ---- the index

  #indexed(agentId: string, id: string): Indexed | undefined {
    const [row] = this.#all(
      'SELECT id, revision FROM conversations WHERE agent_id = ? AND session_id = ?',
      agentId,
      id,
    )
    return row && { id: Number(row.id), revision: String(row.revision), isNew: false }
  }

  #removePart({ agentId, id }: Stored): boolean {
    const known = this.#indexed(agentId, id)
    if (!known) return true
    this.#hasRemoved = true
    return this.#transaction(() => {
      const rows = this.#all(
        'SELECT id FROM documents WHERE conversation = ? LIMIT ?',
        known.id,
        REMOVED_AT_ONCE,
      )
      for (const row of rows) this.#remove(Number(row.id))
      if (rows.length === REMOVED_AT_ONCE) return false
      this.#run('DELETE FROM conversations WHERE id = ?', known.id)
      return true
    })
  }

  #indexPart({ agentId, id, revision, writtenAt }: Stored): boolean {
    if (revision === undefined || !this.#openSource()) return true
    return this.#transaction(() => {
      this.#progress ??= this.#begin(agentId, id, writtenAt)
      const { conversation, count, done, isOlder } = this.#progress
      const size = Math.min(ENTRIES_AT_ONCE, count - done)
      const from = isOlder ? count - done - size : done
      if (size > 0) {
        const entries = this.#entries(agentId, id, from, from + size - 1)
        this.#indexEntries(conversation.id, entries, from, from + size - 1, isOlder)
        this.#progress.done += size
      }
      if (this.#progress.done < count) return false
      for (const row of this.#all(
        'SELECT id FROM documents WHERE conversation = ? AND position >= ?',
        conversation.id,
        count,
      ))
        this.#remove(Number(row.id))
      this.#run(
        'UPDATE conversations SET revision = ?, written_at = ? WHERE id = ?',
        revision,
        writtenAt,
        conversation.id,
      )
      return true
    })
  }

  #begin(agentId: string, id: string, writtenAt: number): Progress {
    const [last] = this.#sourceAll(
      'SELECT max(position) AS position FROM entries WHERE agent_id = ? AND session_id = ?',
      agentId,
      id,
    )
    const count = typeof last?.position === 'number' ? last.position + 1 : 0
    const known = this.#indexed(agentId, id)
    if (known) return { conversation: known, count, done: 0, isOlder: false }
    const [newest] = this.#all('SELECT max(written_at) AS newest FROM conversations')
    this.#run('INSERT INTO conversations VALUES (NULL, ?, ?, ?, ?)', agentId, id, '', writtenAt)
    const conversation = { ...this.#indexed(agentId, id)!, isNew: true }
    return { conversation, count, done: 0, isOlder: writtenAt < Number(newest?.newest ?? 0) }
  }

  /** Replaces the indexed texts at these positions where they differ. */
  #indexEntries(
    conversation: number,
    entries: ReadonlyMap<number, Entry>,
    from: number,
    to: number,
    isOlder: boolean,
  ): void {
    const wanted = new Map<string, SearchDocument & { position: number; entry: string }>()
    for (const position of [...entries.keys()].sort((a, b) => a - b)) {
      const entry = entries.get(position)!
      for (const document of documentsOf(entry))
        wanted.set(`${position} ${document.kind}`, { ...document, position, entry: entry.id })
    }
    const known = this.#all(
      'SELECT id, position, kind, entry, text FROM documents WHERE conversation = ? AND position BETWEEN ? AND ?',
      conversation,
      from,
      to,
    )
    for (const row of known) {
      const key = `${row.position} ${row.kind}`
      const document = wanted.get(key)
      if (document?.text === row.text && document?.entry === row.entry) wanted.delete(key)
      else this.#remove(Number(row.id))
    }
    if (wanted.size === 0) return
    // two subqueries, since a single query for both values would read the whole table
    const [ids] = this.#all(
      'SELECT (SELECT min(id) FROM documents) AS first, (SELECT max(id) FROM documents) AS last',
    )
    let next = isOlder ? Number(ids?.first ?? 0) - wanted.size : Number(ids?.last ?? 0) + 1
    for (const { position, kind, entry, text } of wanted.values()) {
      const extra = extraWords(text)
      this.#run(
        'INSERT INTO documents VALUES (?, ?, ?, ?, ?, ?, ?)',
        next,
        conversation,
        position,
        kind,
        entry,
        text,
        extra,
      )
      this.#run('INSERT INTO words (rowid, text, extra) VALUES (?, ?, ?)', next, text, extra)
      next += 1
    }
  }

  #remove(document: number): void {
    // deleting the words requires the text, which must still be stored
    this.#run('DELETE FROM words WHERE rowid = ?', document)
    this.#run('DELETE FROM documents WHERE id = ?', document)
  }

  #transaction<T>(work: () => T): T {
    this.#db.exec('BEGIN IMMEDIATE')
    try {
      const result = work()
      this.#db.exec('COMMIT')
      return result
    } catch (error) {
      rollback(this.#db)
      // the stored progress was rolled back, too
      this.#progress = undefined
      throw error
    }
  }

  #run(sql: string, ...values: SQLInputValue[]): void {
    this.#prepare(this.#db, '', sql).run(...values)
  }

  #all(sql: string, ...values: SQLInputValue[]) {
    return this.#prepare(this.#db, '', sql).all(...values)
  }

  #sourceAll(sql: string, ...values: SQLInputValue[]) {
    return this.#prepare(this.#source!, 'source:', sql).all(...values)
  }

  #prepare(db: DatabaseSync, of: string, sql: string): StatementSync {
    let statement = this.#statements.get(of + sql)
    if (!statement) {
      statement = db.prepare(sql)
      this.#statements.set(of + sql, statement)
    }
    return statement
  }
}

function removeDatabase(file: string): void {
  for (const part of ['', '-wal', '-shm']) rmSync(file + part, { force: true })
}
