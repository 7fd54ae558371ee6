import type { Disposable } from '../common/disposable.ts'
import { idOfStored, storedId } from '../common/session-key.ts'
import type { TranscriptDatabase } from './transcript-database.ts'
import type { Windows } from './windows.ts'

/** A draft, or a prompt that wasn't sent. */
export interface UnsentText {
  id: string
  kind: 'draft' | 'prompt'
  /** the key of the text's conversation */
  conversation: string
  /** if the draft edits an earlier prompt of the conversation: the id of the prompt's entry */
  entryId?: string
  /** the text and its chips, as JSON */
  text: string
  /** the name under which the text's items are stored separately, because images are large */
  items?: string
}

/**
 * The unsent texts of all windows. Each text belongs to one window, and only that window changes it. A window takes over the texts of
 * closed windows of the same workspace; each text goes to one window.
 */
export interface UnsentTexts extends Disposable {
  /** Whether other windows of the workspace had texts when this window last looked for texts of closed windows. */
  readonly hasOthers: boolean
  /** Takes over the texts of closed windows, in the order of the texts. */
  takeOver(): UnsentText[]
  /**
   * Whether another window has taken over this window's texts, because this window seemed to be closed. None of those texts belong to this
   * window anymore. Returns true only once.
   */
  takeLoss(): boolean
  /**
   * Writes all texts of this window, in their order, and by name the items that aren't stored yet. Returns false if the texts couldn't be
   * written or another window has taken them over (see `takeLoss`); the stored texts then stay as they were.
   */
  write(texts: readonly UnsentText[], items: ReadonlyMap<string, string>): boolean
  /** Hands texts over to the next window that continues their conversation, in any workspace. Returns whether they were stored. */
  handOver(texts: readonly UnsentText[], items: ReadonlyMap<string, string>): boolean
  /** Takes over the texts that were handed over with a conversation. */
  arrive(conversation: string): UnsentText[]
  /** Removes all texts of a conversation except those of other open windows. */
  forget(conversation: string): void
  /** Stored items, as JSON; `undefined` if there are none with this name. */
  items(name: string): string | undefined
}

/** The stored workspace of handed-over texts, which any window may take. No workspace has this name. */
const ANY = '*'
/** Number of windows that are remembered because their texts were taken over: nearly all of these windows never return. */
const MAX_TAKEN_OVER = 100

type Row = Record<string, unknown>

export interface StoredUnsentTextsOptions {
  database: TranscriptDatabase
  windows: Pick<Windows, 'own' | 'beat' | 'isListed'>
  /** the id of the workspace in the database */
  workspace: string
  /** Returns the time in milliseconds since the epoch. */
  now?: () => number
}

/** Stores the unsent texts of a window in the database of conversations. */
export class StoredUnsentTexts implements UnsentTexts {
  readonly #database: TranscriptDatabase
  readonly #windows: StoredUnsentTextsOptions['windows']
  readonly #workspace: string
  readonly #now: () => number
  /** the stored content of each text, by id */
  #written = new Map<string, string>()
  /** by the id of a text that couldn't be taken over yet, since the disk can't be written: the window that had the text */
  readonly #shown = new Map<string, string>()
  #isKnown = false
  /** this window has noticed the loss of its texts, but couldn't remove the record of it yet */
  #knowsLoss = false
  hasOthers = false

  constructor({ database, windows, workspace, now = Date.now }: StoredUnsentTextsOptions) {
    this.#database = database
    this.#windows = windows
    this.#workspace = workspace
    this.#now = now
  }

  takeOver(): UnsentText[] {
    // reading would create the file, which the first window doesn't need
    if (!this.#database.hasFile) return []
    const find = () => this.#database.attempt<string[] | undefined>(() => this.#gone(), undefined)
    // a second attempt succeeds if the first one found and repaired damage
    const gone = find() ?? find()
    // if the windows can't be read yet, there may be some
    this.hasOthers ||= !gone
    if (!gone || gone.length === 0) return []
    const taken = this.#change<Row[] | undefined>(() => {
      const rows = this.#rowsOf(this.#gone())
      for (const { id } of rows)
        this.#database.run('UPDATE unsent SET owner = ? WHERE id = ?', this.#own, String(id))
      this.#takenFrom(rows.map(({ owner }) => String(owner)))
      return rows
    }, undefined)
    if (taken) return taken.map(textOf)
    return this.#show(() => this.#rowsOf(gone))
  }

  takeLoss(): boolean {
    if (!this.#isKnown || !this.#database.attempt(() => this.#isTaken(), false)) return false
    this.#knowsLoss = true
    this.#written.clear()
    return true
  }

  write(texts: readonly UnsentText[], items: ReadonlyMap<string, string>): boolean {
    if (texts.length === 0 && !this.#isKnown && this.#shown.size === 0) return true
    if (this.#store(texts, items)) return true
    // if the disk has no space for large items, store at least the texts
    if (items.size > 0 && this.#store(texts, items, false)) this.#written.clear()
    return false
  }

  /** Stores the texts. Without `withItems`, a text with new items refers to the items that are already stored. */
  #store(texts: readonly UnsentText[], items: ReadonlyMap<string, string>, withItems = true): boolean {
    const written = new Map(texts.map((text, place) => [text.id, JSON.stringify([place, text])]))
    const isWritten = this.#change(() => {
      if (this.#isTaken()) return false
      if (this.#knowsLoss) this.#database.run('DELETE FROM taken_over WHERE owner = ?', this.#own)
      this.#takenFrom(this.#shown.values())
      for (const [id, owner] of this.#shown)
        this.#database.run('UPDATE unsent SET owner = ? WHERE id = ? AND owner = ?', this.#own, id, owner)
      const rows = this.#database.all('SELECT id, items FROM unsent WHERE owner = ?', this.#own)
      const stored = new Map(rows.map(({ id, items: name }) => [String(id), name as string | null]))
      if (withItems) this.#putItems(items)
      for (const [place, { items: name, ...text }] of texts.entries()) {
        if (stored.has(text.id) && this.#written.get(text.id) === written.get(text.id)) continue
        const now = withItems || name === undefined || !items.has(name) ? name : stored.get(text.id)
        this.#put({ ...text, ...(now != null && { items: now }) }, place, this.#own, this.#workspace)
      }
      for (const id of stored.keys())
        if (!written.has(id)) this.#database.run('DELETE FROM unsent WHERE id = ?', id)
      return true
    }, false)
    if (!isWritten) return false
    this.#written = written
    this.#shown.clear()
    this.#knowsLoss = false
    return true
  }

  handOver(texts: readonly UnsentText[], items: ReadonlyMap<string, string>): boolean {
    return this.#database.transaction(() => {
      if (this.#isTaken()) return false
      this.#putItems(items)
      const [last] = this.#database.all('SELECT max(place) AS place FROM unsent WHERE workspace = ?', ANY)
      const first = Number(last?.place ?? 0) + 1
      for (const [i, text] of texts.entries()) this.#put(text, first + i, '', ANY)
      return true
    }, false)
  }

  arrive(conversation: string): UnsentText[] {
    const of = 'WHERE workspace = ? AND conversation = ?'
    const values = [ANY, storedId(conversation)]
    const found = () => this.#database.all(`SELECT * FROM unsent ${of} ORDER BY place`, ...values)
    if (this.#database.attempt(() => found().length, 0) === 0) return []
    const arrived = this.#change<Row[] | undefined>(() => {
      const rows = found()
      this.#database.run(
        `UPDATE unsent SET owner = ?, workspace = ? ${of}`,
        ...[this.#own, this.#workspace, ...values],
      )
      return rows
    }, undefined)
    return arrived ? arrived.map(textOf) : this.#show(found)
  }

  forget(conversation: string): void {
    const isRemoved = this.#database.transaction(() => {
      const gone = this.#database
        .all('SELECT id, owner FROM unsent WHERE conversation = ?', storedId(conversation))
        .filter(({ owner }) => owner === this.#own || this.#isGone(String(owner)))
      for (const { id } of gone) this.#database.run('DELETE FROM unsent WHERE id = ?', String(id))
      return gone.length > 0
    }, false)
    if (isRemoved) this.#database.compactLater()
  }

  items(name: string): string | undefined {
    const read = () => this.#database.all('SELECT items FROM unsent_items WHERE name = ?', name)[0]?.items
    const items = this.#database.attempt(read, undefined)
    return items === undefined ? undefined : String(items)
  }

  /** Releases the texts of this window, which closes, so that the next window may take them over immediately. */
  dispose(): void {
    if (!this.#isKnown || !this.#database.isOpen) return
    const release = () =>
      this.#database.run("UPDATE unsent SET owner = '', at = ? WHERE owner = ?", this.#now(), this.#own)
    this.#database.attempt(release, undefined)
  }

  get #own(): string {
    return this.#windows.own
  }

  /** Runs a transaction that shows this window's texts to other windows; adds the row of this window first, if necessary. */
  #change<T>(work: () => T, otherwise: T): T {
    const changed = this.#database.transaction(() => {
      if (!this.#isKnown) this.#windows.beat()
      return work()
    }, otherwise)
    if (changed !== otherwise) this.#isKnown = true
    return changed
  }

  /** Reads texts that can't be taken over yet, since the disk can't be written; they're taken over as soon as possible. */
  #show(read: () => Row[]): UnsentText[] {
    const shown = this.#database.attempt(read, [])
    const fresh = shown.filter(({ id }) => !this.#shown.has(String(id)))
    for (const { id, owner } of fresh) this.#shown.set(String(id), String(owner))
    return fresh.map(textOf)
  }

  /** Whether another window has taken over this window's texts, and this window hasn't noticed yet. */
  #isTaken(): boolean {
    return (
      !this.#knowsLoss && this.#database.all('SELECT 1 FROM taken_over WHERE owner = ?', this.#own).length > 0
    )
  }

  #isGone(owner: string): boolean {
    return isGone(owner, this.#windows)
  }

  /** The closed windows of the workspace whose texts are still stored. */
  #gone(): string[] {
    const owners = this.#database
      .all('SELECT DISTINCT owner FROM unsent WHERE workspace = ? AND owner <> ?', this.#workspace, this.#own)
      .map(({ owner }) => String(owner))
    const gone = owners.filter(owner => this.#isGone(owner))
    this.hasOthers = gone.length < owners.length
    return gone
  }

  #rowsOf(owners: readonly string[]): Row[] {
    return this.#database.all(
      `SELECT * FROM unsent WHERE workspace = ? AND owner IN (SELECT value FROM json_each(?)) ORDER BY place`,
      this.#workspace,
      JSON.stringify(owners),
    )
  }

  /** Records the windows whose texts were taken over, so that a window that was only slow notices the loss. */
  #takenFrom(owners: Iterable<string>): void {
    for (const owner of new Set(owners))
      if (owner !== '') this.#database.run('INSERT OR IGNORE INTO taken_over (owner) VALUES (?)', owner)
    this.#database.run(
      'DELETE FROM taken_over WHERE rowid <= (SELECT max(rowid) FROM taken_over) - ?',
      MAX_TAKEN_OVER,
    )
  }

  #putItems(items: ReadonlyMap<string, string>): void {
    for (const [name, json] of items)
      this.#database.run(
        'INSERT OR REPLACE INTO unsent_items VALUES (?, ?, ?)',
        ...[name, json, Buffer.byteLength(json)],
      )
  }

  #put(
    { id, kind, conversation, entryId, text, items }: UnsentText,
    place: number,
    owner: string,
    workspace: string,
  ): void {
    this.#database.run(
      `INSERT INTO unsent (id, owner, workspace, place, kind, conversation, entry_id, text, items, at)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET owner = excluded.owner,
       workspace = excluded.workspace, place = excluded.place, kind = excluded.kind,
       conversation = excluded.conversation, entry_id = excluded.entry_id, text = excluded.text,
       items = excluded.items, at = excluded.at`,
      ...[
        id,
        owner,
        workspace,
        place,
        kind,
        storedId(conversation),
        entryId ?? null,
        text,
        items ?? null,
        this.#now(),
      ],
    )
  }
}

/** A stored text that no window has, without the text itself. */
export interface AbandonedText {
  id: string
  /** the id of the window that had the text; empty if it closed */
  owner: string
  /** the key of the text's conversation */
  conversation: string
  /** when the text was last changed, or a window last had it, in milliseconds since the epoch */
  at: number
}

/**
 * While a window has a text, the text's time is renewed once it's older than this, so that a text's age is the time without a window.
 * Milliseconds.
 */
const SEEN_AFTER_MS = 86_400_000

/** The texts that no window has. May throw SQLite's errors. */
export function abandonedTexts(
  database: TranscriptDatabase,
  windows: Pick<Windows, 'isHere' | 'isListed'>,
  { ageOf, now }: { ageOf: (time: number) => number; now: number },
): AbandonedText[] {
  const abandoned: AbandonedText[] = []
  for (const { id, owner, conversation, at } of database.all(
    'SELECT id, owner, conversation, at FROM unsent',
  )) {
    const text = { id: String(id), owner: String(owner), at: Number(at) }
    if (!windows.isHere(text.owner) && isGone(text.owner, windows))
      abandoned.push({ ...text, conversation: idOfStored(String(conversation)) })
    else if (ageOf(text.at) > SEEN_AFTER_MS)
      database.run('UPDATE unsent SET at = ? WHERE id = ? AND owner = ?', now, text.id, text.owner)
  }
  return abandoned
}

/** Removes a text unless a window has taken it over or written it meanwhile. May throw SQLite's errors. */
export function removeAbandoned(database: TranscriptDatabase, { id, owner, at }: AbandonedText): void {
  database.run('DELETE FROM unsent WHERE id = ? AND owner = ? AND at = ?', id, owner, at)
}

/** Whether no window has the texts of this owner. May throw SQLite's errors. */
function isGone(owner: string, windows: Pick<Windows, 'isListed'>): boolean {
  return owner === '' || !windows.isListed(owner)
}

function textOf(row: Row): UnsentText {
  return {
    id: String(row.id),
    kind: row.kind === 'prompt' ? 'prompt' : 'draft',
    conversation: idOfStored(String(row.conversation)),
    ...(row.entry_id !== null && { entryId: String(row.entry_id) }),
    text: String(row.text),
    ...(row.items !== null && { items: String(row.items) }),
  }
}
