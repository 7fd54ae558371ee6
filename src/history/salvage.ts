import { closeSync, existsSync, fstatSync, openSync, readSync } from 'node:fs'
import type { DatabaseSync, SQLInputValue } from 'node:sqlite'

/**
 * Saves the readable rows of a damaged SQLite file, page by page, without the tree that connects the pages: a lost page costs only its own
 * rows. See https://www.sqlite.org/fileformat2.html.
 */

/** A row of a table, by column. */
export type SalvagedRow = Record<string, SQLInputValue>

/**
 * The tables to save, by name. Each function returns whether a row belongs to the table, since a row may fit the columns of several tables.
 */
export type SalvagedTables = Readonly<Record<string, (row: SalvagedRow) => boolean>>

interface Column {
  name: string
  type: string
  isRequired: boolean
  /** whether the column's value is the row's id */
  isRowId: boolean
  /** the value for rows from before the column was added */
  otherwise: SQLInputValue
}

interface Table {
  name: string
  hasRowIds: boolean
  /** the columns as stored */
  columns: Column[]
  /** the number of columns that every row has; later versions of Parley added the others */
  least: number
  isRow: (row: SalvagedRow) => boolean
  insert: (row: SalvagedRow, rowId: number | undefined) => void
}

interface StoredRecord {
  /** absent in a table without row ids, and in an index */
  rowId?: number
  values: Array<string | number | null>
}

const INTERIOR_INDEX = 2
const LEAF_INDEX = 10
const LEAF_TABLE = 13
const DEFAULT_PAGE_BYTES = 4096
const WAL_HEADER_BYTES = 32
const FRAME_HEADER_BYTES = 24
/** a record with more columns isn't one of Parley's */
const MAX_COLUMNS = 100
/** SQLite's own limit for a value */
const MAX_PAYLOAD = 1_000_000_000

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Copies the rows of these tables from a damaged file into a database that has these tables. Call it in a transaction of that database. */
export function salvageRows(damaged: string, db: DatabaseSync, tables: SalvagedTables): void {
  const targets = Object.entries(tables).map(([name, isRow]) => readTable(db, name, isRow))
  const pages = new Pages(damaged)
  try {
    for (let number = 1; number <= pages.count; number++)
      for (const { rowId, values } of recordsIn(pages, number)) {
        for (const table of targets) {
          const row = readRow(table, values, rowId)
          if (!row || !table.isRow(row)) continue
          table.insert(row, rowId)
          break
        }
      }
  } finally {
    pages.close()
  }
}

function readTable(db: DatabaseSync, name: string, isRow: Table['isRow']): Table {
  const listed = db.prepare(`PRAGMA table_list(${name})`).get()
  const hasRowIds = listed?.wr !== 1
  const all = db.prepare(`PRAGMA table_info(${name})`).all()
  const keys = all.filter(({ pk }) => Number(pk) > 0).sort((a, b) => Number(a.pk) - Number(b.pk))
  // without row ids, the key comes first
  const order = hasRowIds ? all : [...keys, ...all.filter(({ pk }) => pk === 0)]
  const columns = order.map(({ name, type, notnull, pk, dflt_value: value }) => ({
    name: String(name),
    type: String(type),
    isRequired: notnull === 1,
    isRowId: hasRowIds && Number(pk) > 0 && type === 'INTEGER',
    otherwise: value === null ? null : Number(value),
  }))
  const firstAdded = order.findIndex(one => one.notnull === 0 || one.dflt_value !== null)
  const marks = (names: readonly string[]) => names.map(() => '?').join(', ')
  const names = columns.map(column => column.name)
  const withId = hasRowIds && !columns.some(({ isRowId }) => isRowId) ? ['rowid', ...names] : names
  const statement = db.prepare(
    `INSERT OR IGNORE INTO ${name} (${withId.join(', ')}) VALUES (${marks(withId)})`,
  )
  return {
    ...{ name, hasRowIds, columns, isRow },
    least: firstAdded < 0 ? columns.length : firstAdded,
    insert: (row, rowId) =>
      statement.run(...withId.map(one => (one === 'rowid' ? rowId! : (row[one] ?? null)))),
  }
}

/** The row of the table with these values; `undefined` if the record can't belong to the table. */
function readRow(
  table: Table,
  values: StoredRecord['values'],
  rowId: number | undefined,
): SalvagedRow | undefined {
  const { columns, least, hasRowIds } = table
  if (hasRowIds !== (rowId !== undefined)) return undefined
  if (values.length > columns.length || values.length < least) return undefined
  const row: SalvagedRow = {}
  for (const [i, { name, type, isRequired, isRowId, otherwise }] of columns.entries()) {
    const value = values[i]
    if (isRowId) row[name] = rowId!
    else if (value === undefined) row[name] = otherwise
    else if (value === null ? isRequired : !fits(value, type)) return undefined
    else row[name] = value
  }
  return row
}

function fits(value: string | number, type: string): boolean {
  if (type === 'TEXT') return typeof value === 'string'
  return typeof value === 'number' && (type === 'REAL' || Number.isInteger(value))
}

/** The readable records of a page. */
function* recordsIn(pages: Pages, number: number): Generator<StoredRecord> {
  const page = pages.read(number)
  if (!page || pages.isMap(number)) return
  const start = number === 1 ? 100 : 0
  const type = page[start]
  if (type !== LEAF_TABLE && type !== LEAF_INDEX && type !== INTERIOR_INDEX) return
  const isInterior = type === INTERIOR_INDEX
  const count = page.readUInt16BE(start + 3)
  const cells = start + (isInterior ? 12 : 8)
  for (let i = 0; i < count && cells + 2 * i + 2 <= page.length; i++) {
    try {
      const at = page.readUInt16BE(cells + 2 * i)
      const record = readCell(pages, page, isInterior ? at + 4 : at, type === LEAF_TABLE)
      if (record) yield record
    } catch {
      // the other records of the page may be intact
    }
  }
}

/** Reads the record in a cell of a page. Throws if there is no cell at this offset. */
function readCell(pages: Pages, page: Buffer, at: number, hasRowId: boolean): StoredRecord | undefined {
  const size = readVarint(page, at)
  const rowId = hasRowId ? readVarint(page, size.end) : undefined
  const payload = pages.payload(page, rowId?.end ?? size.end, size.value, hasRowId)
  const values = payload && readRecord(payload)
  return values && { values, ...(rowId && { rowId: rowId.value }) }
}

/** Reads a record, which consists of the types of its values, followed by the values. */
function readRecord(payload: Buffer): StoredRecord['values'] | undefined {
  const header = readVarint(payload, 0)
  const types: number[] = []
  let at = header.end
  while (at < header.value) {
    const type = readVarint(payload, at)
    types.push(type.value)
    at = type.end
    if (types.length > MAX_COLUMNS) return undefined
  }
  if (at !== header.value) return undefined
  const values: StoredRecord['values'] = []
  for (const type of types) {
    const bytes = storedBytes(type)
    if (bytes === undefined || at + bytes > payload.length) return undefined
    values.push(readValue(payload, at, type, bytes))
    at += bytes
  }
  return at === payload.length ? values : undefined
}

const INTEGER_BYTES = [0, 1, 2, 3, 4, 6, 8]

/** The size of a value of this type in bytes; `undefined` for types that no column of Parley's has. */
function storedBytes(type: number): number | undefined {
  if (type <= 6) return INTEGER_BYTES[type]
  if (type === 7) return 8
  if (type === 8 || type === 9) return 0
  return type >= 13 && type % 2 === 1 ? (type - 13) / 2 : undefined
}

function readValue(payload: Buffer, at: number, type: number, bytes: number): string | number | null {
  if (type === 0) return null
  if (type === 7) return payload.readDoubleBE(at)
  if (type >= 8) return type < 13 ? type - 8 : utf8.decode(payload.subarray(at, at + bytes))
  return bytes === 8 ? Number(payload.readBigInt64BE(at)) : payload.readIntBE(at, bytes)
}

function readVarint(bytes: Buffer, start: number): { value: number; end: number } {
  let value = 0n
  for (let i = 0; i < 9; i++) {
    const byte = bytes.readUInt8(start + i)
    if (i === 8) return { value: Number((value << 8n) | BigInt(byte)), end: start + 9 }
    value = (value << 7n) | BigInt(byte & 0x7f)
    if (byte < 0x80) return { value: Number(value), end: start + i + 1 }
  }
  throw new RangeError('no varint')
}

/** The pages of a database, in their latest version from the write-ahead log. */
class Pages {
  readonly count: number
  readonly #file: number
  readonly #wal: number | undefined
  readonly #bytes: number
  /** page size without the space that programs may reserve at the end of each page */
  readonly #usable: number
  /** by page number: the offset of the page in the log */
  readonly #inWal = new Map<number, number>()

  constructor(file: string) {
    this.#file = openSync(file, 'r')
    this.#wal = existsSync(`${file}-wal`) ? openSync(`${file}-wal`, 'r') : undefined
    const header = readAt(this.#file, 0, 100)
    const isWhole = header.length === 100 && header.toString('latin1', 0, 15) === 'SQLite format 3'
    this.#bytes = (isWhole && pageBytes(header.readUInt16BE(16))) || this.#bytesInWal() || DEFAULT_PAGE_BYTES
    this.#usable = this.#bytes - (isWhole ? header[20]! : 0)
    this.#readWal()
    const inFile = Math.ceil(fstatSync(this.#file).size / this.#bytes)
    this.count = Math.max(inFile, ...this.#inWal.keys())
  }

  /** Whether the page is a pointer map, which tells where other pages are. Each file that can shrink has such pages. */
  isMap(number: number): boolean {
    return number >= 2 && (number - 2) % (Math.floor(this.#usable / 5) + 1) === 0
  }

  /** Reads a page; `undefined` if it isn't there as a whole. */
  read(number: number): Buffer | undefined {
    const inWal = this.#inWal.get(number)
    const page =
      inWal === undefined
        ? readAt(this.#file, (number - 1) * this.#bytes, this.#bytes)
        : readAt(this.#wal!, inWal, this.#bytes)
    return page.length === this.#bytes ? page.subarray(0, this.#usable) : undefined
  }

  /** The content of a cell, which may continue on other pages; `undefined` if it's incomplete. */
  payload(page: Buffer, at: number, size: number, isTable: boolean): Buffer | undefined {
    if (size > MAX_PAYLOAD || size > this.count * this.#bytes) return undefined
    const usable = this.#usable
    const part = (of: number) => Math.floor(((usable - 12) * of) / 255) - 23
    const max = isTable ? usable - 35 : part(64)
    const min = part(32)
    const rest = min + ((size - min) % (usable - 4))
    const local = size <= max ? size : rest <= max ? rest : min
    if (at + local + (local < size ? 4 : 0) > page.length) return undefined
    const parts = [page.subarray(at, at + local)]
    let missing = size - local
    let next = missing > 0 ? page.readUInt32BE(at + local) : 0
    while (missing > 0) {
      const more = next > 1 && next <= this.count ? this.read(next) : undefined
      if (!more) return undefined
      parts.push(more.subarray(4, Math.min(more.length, 4 + missing)))
      missing -= Math.min(missing, more.length - 4)
      next = more.readUInt32BE(0)
    }
    return Buffer.concat(parts)
  }

  close(): void {
    closeSync(this.#file)
    if (this.#wal !== undefined) closeSync(this.#wal)
  }

  #bytesInWal(): number {
    const header = this.#wal === undefined ? undefined : readAt(this.#wal, 0, WAL_HEADER_BYTES)
    return header?.length === WAL_HEADER_BYTES ? pageBytes(header.readUInt32BE(8)) : 0
  }

  /** Finds the pages in the log, up to the last complete transaction. */
  #readWal(): void {
    if (this.#wal === undefined || this.#bytesInWal() !== this.#bytes) return
    const salt = readAt(this.#wal, 16, 8)
    const { size } = fstatSync(this.#wal)
    let begun: Array<[number, number]> = []
    const step = FRAME_HEADER_BYTES + this.#bytes
    for (let at = WAL_HEADER_BYTES; at + step <= size; at += step) {
      const frame = readAt(this.#wal, at, FRAME_HEADER_BYTES)
      // this frame is left from before the log was started anew
      if (!frame.subarray(8, 16).equals(salt)) break
      begun.push([frame.readUInt32BE(0), at + FRAME_HEADER_BYTES])
      if (frame.readUInt32BE(4) === 0) continue
      for (const [number, offset] of begun) this.#inWal.set(number, offset)
      begun = []
    }
  }
}

/** Decodes a stored page size in bytes; 0 if pages can't have this size. */
function pageBytes(stored: number): number {
  const bytes = stored === 1 ? 65_536 : stored
  return bytes >= 512 && bytes <= 65_536 && (bytes & (bytes - 1)) === 0 ? bytes : 0
}

function readAt(file: number, at: number, bytes: number): Buffer {
  const buffer = Buffer.alloc(bytes)
  let done = 0
  while (done < bytes) {
    const read = readSync(file, buffer, done, bytes - done, at + done)
    if (read === 0) break
    done += read
  }
  return buffer.subarray(0, done)
}
