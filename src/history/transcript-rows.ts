import { randomUUID } from 'node:crypto'
import type { ConfigOption } from '../acp/model.ts'
import type { SecretRegistry } from '../common/secrets.ts'
import { idOfStored, storedId } from '../common/session-key.ts'
import { terminalsIn } from '../conversation/entries/tool-call.ts'
import type { LastSavedFrame, SavedConversation } from '../conversation/replay/restore-state.ts'
import { StepBudget, type SteppedWork } from '../conversation/replay/stepped-work.ts'
import type { Entry, TerminalState } from '../conversation/state.ts'
import type { TranscriptDatabase } from './transcript-database.ts'
import {
  appendText,
  entryJson,
  readEntry,
  readHead,
  readOptions,
  readTerminal,
  valueJson,
} from './transcript-schema.ts'

/**
 * The key of a stored conversation. `id`: the session's id as stored, followed by a window's id for a copy that the window saved
 * separately.
 */
export type StoredCopy = readonly [agentId: string, id: string]

/** Separates a session's id from a window's id. */
const APART = '\u0001'

export function copyOf(agentId: string, sessionId: string): StoredCopy {
  return [agentId, storedId(sessionId)]
}

export function separateCopy([agentId, id]: StoredCopy, windowId: string): StoredCopy {
  return [agentId, id + APART + windowId]
}

export function sessionIdOf([, id]: StoredCopy): string {
  return idOfStored(id.split(APART)[0]!)
}

/** the condition that selects the rows of one copy */
const OF = 'WHERE agent_id = ? AND session_id = ?'
const TABLES = ['entries', 'texts', 'terminals', 'outputs', 'heads', 'options', 'said', 'conversations']

/** The changes of a conversation since it was last written. */
export interface TranscriptChanges {
  /** Whether the changes replace everything that is saved. */
  replace: boolean
  /** entries that are new or were changed as a whole */
  entries: Array<{ position: number; entry: Entry }>
  /**
   * text appended to text blocks of entries that were written before and aren't in `entries`; `before`: the block's text before the
   * appended text
   */
  texts?: Array<{ position: number; block: number; text: string; before?: () => string }>
  /** terminals that are new or were changed as a whole */
  terminals: TerminalState[]
  /** output appended to terminals that were written before and aren't in `terminals` */
  outputs?: Array<{ terminalId: string; text: string; before?: () => string }>
  head?: SavedConversation['head']
  /** the session's options, if they have changed */
  options?: readonly ConfigOption[]
  /**
   * The last frame of a hosted agent's output that the stored conversation includes; stored in the same transaction, so that no output is
   * applied twice.
   */
  said?: LastSavedFrame
}

/** Reads and writes the rows of stored conversations, with secrets redacted. All methods may throw SQLite's errors. */
export class TranscriptRows {
  readonly #database: TranscriptDatabase
  readonly #secrets: SecretRegistry | undefined

  constructor(database: TranscriptDatabase, secrets: SecretRegistry | undefined) {
    this.#database = database
    this.#secrets = secrets
  }

  /** The revision of a copy, which changes with every write; `undefined` if nothing is stored. */
  revision(copy: StoredCopy): string | undefined {
    const [row] = this.#database.all(`SELECT revision FROM conversations ${OF}`, ...copy)
    return row && String(row.revision)
  }

  /** All copies with a revision. */
  all(): StoredCopy[] {
    const rows = this.#database.all("SELECT agent_id, session_id FROM conversations WHERE revision != ''")
    return rows.map(row => [String(row.agent_id), String(row.session_id)])
  }

  /** The copies that windows saved while another window had the session. */
  separateCopies([agentId, id]: StoredCopy): Array<{ copy: StoredCopy; revision: string }> {
    const rows = this.#database.all(
      'SELECT session_id, revision FROM conversations WHERE agent_id = ? AND session_id > ? AND session_id < ?',
      agentId,
      id + APART,
      `${id}\u0002`,
    )
    return rows.map(row => ({ copy: [agentId, String(row.session_id)], revision: String(row.revision) }))
  }

  /** All copies with the times of their last writes, in milliseconds since the epoch; 0 for copies that an early version wrote. */
  lastWrites(): Array<{ copy: StoredCopy; at: number }> {
    const rows = this.#database.all(
      'SELECT agent_id, session_id, written_at FROM conversations ORDER BY written_at, session_id',
    )
    return rows.map(row => ({
      copy: [String(row.agent_id), String(row.session_id)],
      at: Number(row.written_at),
    }))
  }

  read(copy: StoredCopy): SavedConversation | undefined {
    const rows = this.#database.all(`SELECT entry FROM entries ${OF} ORDER BY position`, ...copy)
    if (rows.length === 0) return undefined
    const entries = rows.map((row, position) => readEntry(String(row.entry), position))
    for (const row of this.#database.all(
      `SELECT position, block, text FROM texts ${OF} ORDER BY rowid`,
      ...copy,
    )) {
      appendText(entries[Number(row.position)], Number(row.block), String(row.text))
    }
    const terminals = this.#terminals(copy, '')
    const [said] = this.#database.all(`SELECT hosted_id, frame FROM said ${OF}`, ...copy)
    return {
      entries,
      terminals,
      ...(said && { said: { hostedId: String(said.hosted_id), frame: Number(said.frame) } }),
      head: this.#head(copy),
    }
  }

  /** The entries from this position on, and the terminals in them. */
  readFrom(copy: StoredCopy, first: number): SavedConversation {
    const entries = this.readPart(copy, first, Number.MAX_SAFE_INTEGER)
    const ids = [...new Set(entries.flatMap(terminalsIn))]
    const terminals = ids.flatMap(id => this.#terminals(copy, 'AND terminal_id = ?', id))
    return { entries, terminals, head: this.#head(copy) }
  }

  #terminals(copy: StoredCopy, which: string, ...id: string[]): TerminalState[] {
    const terminals = this.#database
      .all(`SELECT terminal FROM terminals ${OF} ${which}`, ...copy, ...id)
      .flatMap(row => readTerminal(String(row.terminal)) ?? [])
    const byId = new Map(terminals.map(terminal => [terminal.terminalId, terminal]))
    for (const row of this.#database.all(
      `SELECT terminal_id, text FROM outputs ${OF} ${which} ORDER BY rowid`,
      ...copy,
      ...id,
    )) {
      const terminal = byId.get(String(row.terminal_id))
      if (terminal) terminal.output += String(row.text)
    }
    return terminals
  }

  #head(copy: StoredCopy): SavedConversation['head'] {
    const [head] = this.#database.all(`SELECT head FROM heads ${OF}`, ...copy)
    return (head ? readHead(String(head.head)) : {}) as SavedConversation['head']
  }

  /** The session's last known options. */
  options(copy: StoredCopy): ConfigOption[] | undefined {
    const [row] = this.#database.all(`SELECT options FROM options ${OF}`, ...copy)
    return row && readOptions(String(row.options))
  }

  /** The entries at these positions, a small part of the conversation, with the text that was appended to them. */
  readPart(copy: StoredCopy, from: number, to: number): Entry[] {
    const range = `${OF} AND position BETWEEN ? AND ? ORDER BY`
    const entries = new Map<number, Entry>()
    for (const row of this.#database.all(
      `SELECT position, entry FROM entries ${range} position`,
      ...copy,
      from,
      to,
    ))
      entries.set(Number(row.position), readEntry(String(row.entry), Number(row.position), true))
    for (const row of this.#database.all(
      `SELECT position, block, text FROM texts ${range} rowid`,
      ...copy,
      from,
      to,
    ))
      appendText(entries.get(Number(row.position)), Number(row.block), String(row.text))
    return [...entries.values()]
  }

  /** The number of entries of a copy. */
  count(copy: StoredCopy): number {
    const [row] = this.#database.all(`SELECT max(position) AS last FROM entries ${OF}`, ...copy)
    return typeof row?.last === 'number' ? row.last + 1 : 0
  }

  /** The conversation as it would be read after a write: with secrets redacted. */
  *asStored({ entries, terminals, head }: SavedConversation): SteppedWork<SavedConversation> {
    const read = <T>(json: string) => JSON.parse(this.#jsonWithoutSecrets(json)) as T
    const budget = new StepBudget()
    const stored: Entry[] = []
    for (const entry of entries) {
      const json = entryJson(entry)
      stored.push(read<Entry>(json))
      if (budget.isSpent(1 + json.length / 1000)) yield
    }
    return {
      entries: stored,
      terminals: terminals.flatMap(terminal => {
        const json = valueJson(terminal)
        return json === undefined ? [] : [read<TerminalState>(json)]
      }),
      head: read(valueJson(head) ?? '{}'),
    }
  }

  /** Writes the changes. Returns the new revision. */
  write(copy: StoredCopy, changes: TranscriptChanges, now: number): string {
    const revision = randomUUID()
    this.#database.run('REPLACE INTO conversations VALUES (?, ?, ?, ?)', ...copy, revision, now)
    this.#writeEntries(copy, changes)
    this.#writeTerminals(copy, changes)
    const head = changes.head && valueJson(changes.head)
    if (head)
      this.#database.run('REPLACE INTO heads VALUES (?, ?, ?)', ...copy, this.#jsonWithoutSecrets(head))
    const options = changes.options && valueJson(changes.options)
    if (options)
      this.#database.run('REPLACE INTO options VALUES (?, ?, ?)', ...copy, this.#jsonWithoutSecrets(options))
    const { said } = changes
    if (said) this.#database.run('REPLACE INTO said VALUES (?, ?, ?, ?)', ...copy, said.hostedId, said.frame)
    return revision
  }

  remove(copy: StoredCopy): void {
    for (const table of TABLES) this.#database.run(`DELETE FROM ${table} ${OF}`, ...copy)
  }

  /** Turns a stored conversation into a separate copy, so that another conversation can be written in its place. */
  setApart(copy: StoredCopy, revision: string): void {
    const [, id] = separateCopy(copy, revision || randomUUID())
    for (const table of TABLES) this.#database.run(`UPDATE ${table} SET session_id = ? ${OF}`, id, ...copy)
  }

  /** Whether appended text completes a secret whose beginning is already stored. */
  completesSecret({ texts = [], outputs = [] }: TranscriptChanges): boolean {
    return [...texts, ...outputs].some(({ before, text }) => before && this.#secrets?.crosses(before, text))
  }

  #writeEntries(copy: StoredCopy, { replace, entries, texts = [] }: TranscriptChanges): void {
    for (const { position, entry } of entries) {
      this.#database.run(
        'REPLACE INTO entries VALUES (?, ?, ?, ?)',
        ...copy,
        position,
        this.#jsonWithoutSecrets(entryJson(entry)),
      )
      if (!replace) this.#database.run(`DELETE FROM texts ${OF} AND position = ?`, ...copy, position)
    }
    for (const { position, block, text } of texts) {
      this.#database.run(
        'INSERT INTO texts VALUES (?, ?, ?, ?, ?)',
        ...copy,
        position,
        block,
        this.#withoutSecrets(text),
      )
    }
  }

  #writeTerminals(copy: StoredCopy, { replace, terminals, outputs = [] }: TranscriptChanges): void {
    for (const terminal of terminals) {
      const { terminalId } = terminal
      const json = valueJson(terminal)
      if (json === undefined) continue
      this.#database.run(
        'REPLACE INTO terminals VALUES (?, ?, ?, ?)',
        ...copy,
        terminalId,
        this.#jsonWithoutSecrets(json),
      )
      if (!replace) this.#database.run(`DELETE FROM outputs ${OF} AND terminal_id = ?`, ...copy, terminalId)
    }
    for (const { terminalId, text } of outputs) {
      this.#database.run(
        'INSERT INTO outputs VALUES (?, ?, ?, ?)',
        ...copy,
        terminalId,
        this.#withoutSecrets(text),
      )
    }
  }

  #withoutSecrets(text: string): string {
    return this.#secrets?.redact(text) ?? text
  }

  #jsonWithoutSecrets(json: string): string {
    return this.#secrets?.redactJson(json) ?? json
  }
}
