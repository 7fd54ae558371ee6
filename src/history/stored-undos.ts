import { setImmediate } from 'node:timers/promises'
import {
  AT_ONCE,
  type ChangedFile,
  readUndoneFile,
  type UndoneFile,
  type UndoneHead,
} from './changes-schema.ts'
import { hashOf, type StoredContents } from './stored-contents.ts'
import type { WorkspaceRows } from './workspace-rows.ts'

/** How long an undo can be reverted, in milliseconds, and the maximum number of such undos. */
const MAX_AGE_MS = 30 * 24 * 3_600_000
const MAX_UNDOS = 100

export type Undone = UndoneHead & { files: UndoneFile[] }

/** Undos of agents' changes, with a row for each file. The rows are written in batches, since an undo may be of thousands of files. */
export class StoredUndos {
  readonly #rows: WorkspaceRows
  readonly #contents: StoredContents
  readonly #ageOf: (time: number) => number
  /** by undo: the database rows of its files */
  readonly #known = new Map<string, Map<UndoneFile, number>>()
  /** rows of files whose texts couldn't be read when they were loaded */
  readonly #unloaded = new Set<number>()

  constructor(rows: WorkspaceRows, contents: StoredContents, ageOf: (time: number) => number) {
    this.#rows = rows
    this.#contents = contents
    this.#ageOf = ageOf
  }

  async save({ files, ...head }: Undone): Promise<void> {
    const known = this.#known.get(head.id)
    await this.add(
      head,
      files.filter(file => !known?.has(file)),
    )
    const remaining = new Set(files)
    await this.#remove(
      head.id,
      [...(known?.keys() ?? [])].filter(file => !remaining.has(file)),
    )
  }

  async add(head: UndoneHead, files: readonly UndoneFile[]): Promise<void> {
    const known = this.#known.get(head.id) ?? new Map<UndoneFile, number>()
    this.#known.set(head.id, known)
    try {
      for (let i = 0; i < files.length; i += AT_ONCE) {
        await this.#addSome(head, files.slice(i, i + AT_ONCE), known)
        await setImmediate()
      }
    } catch (error) {
      // the undo fails, so none of its files is undone
      await this.#remove(head.id, files).catch(() => {})
      throw error
    }
  }

  async #addSome(
    head: UndoneHead,
    files: readonly UndoneFile[],
    known: Map<UndoneFile, number>,
  ): Promise<void> {
    const contents = new Map<string, Buffer>()
    const withHash = (file: ChangedFile) => {
      const bytes = Buffer.from(file.text)
      const text = hashOf(bytes)
      contents.set(text, bytes)
      return { ...file, text }
    }
    const records = files.map(({ before, after }) =>
      JSON.stringify({ before: withHash(before), after: withHash(after) }),
    )
    for (const error of (await this.#contents.write(contents)).values()) throw error
    const ids = this.#rows.transact(() => {
      const ids = records.map(record => this.addRecord(head, record))
      this.#contents.release(contents.keys())
      return ids
    })
    for (const [i, file] of files.entries()) known.set(file, ids[i]!)
  }

  /** Adds the row of a file. Called in a transaction. */
  addRecord({ id: undo, at, session }: UndoneHead, record: string): number {
    const [row] = this.#rows.all(
      'INSERT INTO undone_files (workspace, undo, at, session, record) VALUES (?, ?, ?, ?, ?) RETURNING id',
      ...[undo, at, session ?? null, record],
    )
    const id = Number(row?.id)
    this.#contents.refer(`undone ${id}`, record)
    return id
  }

  async #remove(undo: string, files: readonly UndoneFile[]): Promise<void> {
    const known = this.#known.get(undo)
    const rows = files.flatMap(file => known?.get(file) ?? [])
    for (let i = 0; i < rows.length; i += AT_ONCE) {
      this.#rows.transact(() => {
        for (const id of rows.slice(i, i + AT_ONCE))
          this.#rows.run('DELETE FROM undone_files WHERE workspace = ? AND id = ?', id)
      })
      await setImmediate()
    }
    for (const file of files) known?.delete(file)
  }

  /** Removes an undo. Unreadable parts stay until they expire. */
  async forget(undo: string): Promise<void> {
    while (this.forgetSome(undo) > 0) await setImmediate()
  }

  /** Removes some files of an undo. Returns their number. */
  forgetSome(undo: string): number {
    this.#known.delete(undo)
    return this.#rows.transact(
      () =>
        this.#rows.all(
          `DELETE FROM undone_files WHERE id IN (SELECT id FROM undone_files
             WHERE workspace = ? AND undo = ? AND id NOT IN (SELECT value FROM json_each(?)) LIMIT ?) RETURNING id`,
          ...[undo, JSON.stringify([...this.#unloaded]), AT_ONCE],
        ).length,
    )
  }

  /** Loads the undos, newest first, and removes expired ones. */
  async load(): Promise<Undone[]> {
    const heads = this.#rows
      .read(
        `SELECT undo, at, session FROM undone_files WHERE id IN
           (SELECT min(id) FROM undone_files WHERE workspace = ? GROUP BY undo)`,
      )
      .map(({ undo, at, session }) => ({
        ...{ id: String(undo), at: Number(at) },
        ...(session !== null && { session: String(session) }),
      }))
    heads.sort((a, b) => this.#ageOf(a.at) - this.#ageOf(b.at) || b.at - a.at)
    const undone: Undone[] = []
    for (const [i, head] of heads.entries()) {
      if (i >= MAX_UNDOS || this.#ageOf(head.at) > MAX_AGE_MS) {
        await this.forget(head.id).catch(() => {})
        continue
      }
      const files = await this.#loadFiles(head.id)
      if (files.length > 0) undone.push({ ...head, files })
    }
    return undone
  }

  async #loadFiles(undo: string): Promise<UndoneFile[]> {
    const found = new Map<UndoneFile, number>()
    let last = 0
    for (;;) {
      const rows = this.#rows.read(
        'SELECT id, record FROM undone_files WHERE workspace = ? AND undo = ? AND id > ? ORDER BY id LIMIT ?',
        ...[undo, last, AT_ONCE],
      )
      if (rows.length === 0) break
      for (const { id, record } of rows) {
        last = Number(id)
        const file = readUndoneFile(String(record))
        const before = file && (await this.#whole(file.before))
        const after = file && (await this.#whole(file.after))
        if (before && after) found.set({ before, after }, last)
        else this.#unloaded.add(last)
      }
      this.#contents.holdLoaded(rows)
      await setImmediate()
    }
    this.#known.set(undo, found)
    return [...found.keys()]
  }

  /** The file with its text; `undefined` if the text is stored but can't be read. */
  async #whole(stored: ChangedFile): Promise<ChangedFile | undefined> {
    const text = await this.#contents.get(stored.text)
    if (!text && !(await this.#contents.isMissing(stored.text))) return undefined
    return { ...stored, text: text?.toString() ?? '' }
  }
}
