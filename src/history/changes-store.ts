import { createHash } from 'node:crypto'
import {
  existsSync,
  fstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from 'node:fs'
import {
  appendFile,
  mkdir,
  open,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  unlink,
  utimes,
  writeFile,
} from 'node:fs/promises'
import path from 'node:path'
import { setImmediate } from 'node:timers/promises'
import * as z from 'zod'
import { Owner, toDisposable } from '../common/disposable.ts'
import { messageOf } from '../common/errors.ts'
import { onDisk } from '../common/file-names.ts'
import { RETRY_STORE_MS } from '../common/limits.ts'
import type { Logger } from '../common/logger.ts'
import { operatingSystem } from '../common/processes/process-system.ts'
import { ageOf, isNews, observe, readSeenClock, UNSEEN_CLOCK } from './retention-clock.ts'

/** A file's changes are deleted if they weren't read for this long. Milliseconds. */
const MAX_AGE_MS = 90 * 24 * 3_600_000
/** How long, and how many, undos can be reverted. */
const MAX_UNDONE_AGE_MS = 30 * 24 * 3_600_000
const MAX_UNDONE = 100
/** Minimum time between writes, so that many changes of a file are written at once. Milliseconds. */
const WRITE_AFTER_MS = 100
/** What nothing refers to is removed if it's older, since it may be about to be referred to. Milliseconds. */
const UNUSED_MS = 60_000
/** How often contents that this window doesn't use anymore are removed. Milliseconds. */
const COLLECT_AFTER_MS = 10_000
/** Contents put more recently than this are kept, since this window may be about to refer to them. Milliseconds. */
const RECENT_MS = 5000
/** What was written is still there for this long. Later, another window may have replaced it. Milliseconds. */
const SURE_MS = 1000
const LINE_FEED = 10
/** Number of an undo's lines that are read within a few milliseconds. */
const LINES_AT_ONCE = 50

const mode = z.number().int()
const attributes = z.discriminatedUnion('type', [
  z.object({ type: z.literal('absent') }),
  z.object({ type: z.literal('text'), encoding: z.string(), bom: z.boolean(), mode }),
  z.object({ type: z.literal('binary'), hash: z.string(), size: z.number(), mode }),
  z.object({ type: z.literal('link'), target: z.string() }),
  z.object({ type: z.literal('large'), size: z.number(), modified: z.number(), mode }),
])
const agent = z.object({
  turns: z.array(z.object({ session: z.string(), turn: z.number() })),
  toolCallId: z.string().exactOptional(),
  uncertain: z.literal(true).exactOptional(),
})
const author = z.union([z.literal('user'), agent])
const versions = <T extends z.ZodType>(value: T) => z.array(z.object({ value, by: author, seq: z.number() }))
const segments = z.array(
  z.union([z.number(), z.object({ id: z.number(), versions: versions(z.array(z.string())) })]),
)
const earlierFile = z.object({
  path: z.string(),
  text: z.string(),
  segments,
  attributes: versions(attributes),
  gone: z.boolean().exactOptional(),
  history: z.object({ segments, attributes: versions(attributes), at: z.number() }).exactOptional(),
})
const storedFile = z.object({
  ...earlierFile.shape,
  /** the hash of the text */
  text: z.string(),
  /** with their texts */
  earlier: z.array(earlierFile).exactOptional(),
})
const droppedHistories = z.array(
  z.object({
    path: z.string(),
    turns: z.array(z.object({ session: z.string(), turn: z.number() })),
    why: z.enum(['age', 'size']),
  }),
)
/** The first line of the file of an undo; the other lines are changed files. */
const undoneHead = z.object({ id: z.string(), at: z.number(), session: z.string().exactOptional() })
const undoneFile = z.object({ before: storedFile, after: storedFile })

/** What the store asks before it removes contents. */
export interface ContentUse {
  /** The hashes of contents in use; `undefined` while that can't be told. */
  inUse(): ReadonlySet<string> | undefined
  /** Called after contents that weren't in use were removed. */
  collected(): void
}

/** A file with its changes by agents. */
type ChangedFile = z.infer<typeof storedFile>
type UndoneFile = z.infer<typeof undoneFile>
type Undone = z.infer<typeof undoneHead> & { files: UndoneFile[] }
type DroppedHistories = z.infer<typeof droppedHistories>

/**
 * Stores agents' changes in a workspace: a small file for each changed one, and contents by their hash, each one once.
 * Written in the background, and only what is new.
 */
export class ChangesStore extends Owner {
  readonly #folder: string
  readonly #log: Logger
  readonly #times: { collectAfter: number; recent: number }
  readonly #waiting = new Map<string, ChangedFile | undefined>()
  /** what couldn't be stored, and is stored again later */
  readonly #failed = new Map<string, ChangedFile | undefined>()
  readonly #blobs = new Map<string, Promise<string>>()
  /** by file: the hash of its text as stored last */
  readonly #texts = new Map<string, string>()
  /** by file: what was written last, and when */
  readonly #stored = new Map<string, { known: string; at: number }>()
  /** hashes of the texts of the file that is being stored: before and after */
  #storing: ReadonlyArray<string | undefined> = []
  /** by undo: the hashes of its texts */
  readonly #undoneTexts = new Map<string, Set<string>>()
  /** by undo: the lines of files whose texts couldn't be read when it was loaded */
  readonly #unloaded = new Map<string, string[]>()
  /** undos that couldn't be removed, and are removed later */
  readonly #unforgotten = new Set<string>()
  /** hashes that something else may refer to, and when they were put last */
  readonly #held = new Map<string, number>()
  /** by hash: the stamps of contents that no other window uses unless it has put or loaded them since */
  readonly #created = new Map<string, string>()
  /** by hash: contents that are being removed */
  readonly #removing = new Map<string, Promise<void>>()
  #clock = UNSEEN_CLOCK
  #dropped: Readonly<DroppedHistories> | undefined
  #use: ContentUse | undefined
  #collectTimer: NodeJS.Timeout | undefined
  #timer: NodeJS.Timeout | undefined
  #retry: NodeJS.Timeout | undefined
  #wroteAt = Number.NEGATIVE_INFINITY
  #writing: Promise<void> = Promise.resolve()
  #undoing: Promise<void> = Promise.resolve()
  #count = 0

  constructor(folder: string, log: Logger, { collectAfter = COLLECT_AFTER_MS, recent = RECENT_MS } = {}) {
    super()
    this.#times = { collectAfter, recent }
    this.#folder = folder
    this.#log = log
    this.register(toDisposable(() => this.#flushNow()))
    this.register(
      toDisposable(() => {
        clearTimeout(this.#collectTimer)
        rmSync(this.#marker, { force: true })
      }),
    )
  }

  async load(): Promise<ChangedFile[]> {
    await this.#write(this.#marker, '').catch(() => {})
    await this.#observeClock()
    const files = await all(this.#readAll('files', storedFile))
    const fresh: ChangedFile[] = []
    for (const { value, file, modified } of files) {
      const isOld = this.ageOf(modified) > MAX_AGE_MS
      const text = value && (await this.get(value.text))
      // one that can't be read, or whose text can't, keeps contents from being removed for that long
      if (isOld || (value && !text && (await isMissing(this.#blob(value.text)))))
        await rm(file, { force: true })
      if (isOld || !value || !text) continue
      fresh.push({ ...value, text: text.toString() })
    }
    await this.#adopt(fresh)
    return fresh
  }

  /** How old something of that time is, in milliseconds. */
  ageOf(time: number): number {
    this.#clock = observe(this.#clock, Date.now())
    return ageOf(this.#clock, time)
  }

  async #observeClock(): Promise<void> {
    const known = readSeenClock(await readFile(this.#clockFile, 'utf8').catch(() => undefined))
    this.#clock = observe(known, Date.now())
    if (isNews(this.#clock, known))
      await this.#write(this.#clockFile, JSON.stringify(this.#clock)).catch(() => {})
  }

  /** Resolves with the hash of the bytes when they are on disk. */
  async put(bytes: Uint8Array): Promise<string> {
    const hash = hashOf(bytes)
    this.#held.set(hash, Number.POSITIVE_INFINITY)
    try {
      return await this.#put(hash, bytes)
    } finally {
      this.#held.set(hash, performance.now())
      this.#collectSoon()
    }
  }

  #put(hash: string, bytes: Uint8Array): Promise<string> {
    const known = this.#blobs.get(hash)
    if (known) return known
    const putting = this.#putBlob(hash, bytes)
    this.#blobs.set(hash, putting)
    putting.catch(() => this.#blobs.delete(hash))
    return putting
  }

  async get(hash: string): Promise<Buffer | undefined> {
    if (!/^[0-9a-f]{64}$/.test(hash)) return undefined
    return readFile(this.#blob(hash)).catch(() => undefined)
  }

  save(file: string, changed: ChangedFile | undefined): void {
    this.#failed.delete(file)
    this.#waiting.set(file, changed)
    this.#flushSoon()
    this.#collectSoon()
  }

  /** Files whose checkpoints are no longer kept. */
  saveDropped(dropped: Readonly<DroppedHistories>): void {
    this.#dropped = dropped
    this.#flushSoon()
  }

  async loadDropped(): Promise<DroppedHistories> {
    const text = await readFile(this.#droppedFile, 'utf8').catch(() => undefined)
    if (text === undefined) return []
    try {
      return droppedHistories.parse(JSON.parse(text))
    } catch (error) {
      this.#log.warn(`The list of dropped checkpoints couldn't be read: ${messageOf(error)}`)
      return []
    }
  }

  #flushSoon(): void {
    // the first change is written at once: a crash may follow
    this.#timer ??= setTimeout(
      () => {
        this.#timer = undefined
        this.#wroteAt = performance.now()
        this.#writing = this.#writing.then(() => this.#flush())
      },
      Math.max(0, this.#wroteAt + WRITE_AFTER_MS - performance.now()),
    )
  }

  saveUndone(undone: Undone): Promise<void> {
    return this.#undoInOrder(() => this.#saveUndone(undone))
  }

  async #saveUndone({ files, ...head }: Undone): Promise<void> {
    const lines = [JSON.stringify(head)]
    for (const file of files) lines.push(await this.#undoneLine(head.id, file))
    lines.push(...(await this.#unreadable(head.id)))
    await this.#write(this.#undone(head.id), linesOf(lines))
    this.#unforgotten.delete(head.id)
  }

  /** Adds files. Resolves when they're on disk. */
  addUndone(head: Omit<Undone, 'files'>, files: readonly UndoneFile[]): Promise<void> {
    return this.#undoInOrder(() => this.#addUndone(head, files))
  }

  async #addUndone(head: Omit<Undone, 'files'>, files: readonly UndoneFile[]): Promise<void> {
    if (this.#unforgotten.has(head.id)) return this.#saveUndone({ ...head, files: [...files] })
    const lines = linesOf(await Promise.all(files.map(file => this.#undoneLine(head.id, file))))
    const to = this.#undone(head.id)
    const last = await lastByte(to)
    if (last === undefined) await this.#write(to, `${JSON.stringify(head)}\n${lines}`)
    // a full disk or a crash may have cut off the last line
    else await appendFile(to, last === LINE_FEED ? lines : `\n${lines}`)
  }

  /** Newest first; removes content that is no longer referenced. */
  loadUndone(): Promise<Undone[]> {
    return this.#undoInOrder(() => this.#loadUndone())
  }

  async #loadUndone(): Promise<Undone[]> {
    const found = (await all(this.#readUndone())).sort((a, b) => this.#byAge(a.value, b.value))
    const undone: Undone[] = []
    await this.#observeClock()
    for (const [i, { value, file }] of found.entries()) {
      if (i >= MAX_UNDONE || this.ageOf(value.at) > MAX_UNDONE_AGE_MS) {
        await rm(file, { force: true })
        continue
      }
      const files: UndoneFile[] = []
      const unloaded: string[] = []
      for (const one of value.files) {
        const [before, after] = [await this.#whole(one.before), await this.#whole(one.after)]
        if (before && after) files.push({ before, after })
        else unloaded.push(JSON.stringify(one))
      }
      this.#unloaded.set(value.id, unloaded)
      if (files.length > 0) undone.push({ ...value, files })
    }
    await this.#adopt(undone.flatMap(({ files }) => files.flatMap(({ before, after }) => [before, after])))
    // another window may use what only it knows
    if (await this.#isAlone())
      await this.#collect().catch(error =>
        this.#log.debug(`Old texts couldn't be removed: ${messageOf(error)}`),
      )
    return undone
  }

  /** The newest first. */
  #byAge(a: { at: number }, b: { at: number }): number {
    return this.ageOf(a.at) - this.ageOf(b.at) || b.at - a.at
  }

  /** With its text; `undefined` if that's there but can't be read. */
  async #whole(stored: ChangedFile): Promise<ChangedFile | undefined> {
    const text = await this.get(stored.text)
    if (!text && !(await isMissing(this.#blob(stored.text)))) return undefined
    return { ...stored, text: text?.toString() ?? '' }
  }

  forgetUndone(id: string): void {
    const file = this.#undone(id)
    const forgetting = async () => {
      const rest = await this.#unreadable(id)
      // what can't be read may name any of the texts
      if (rest.length > 0) await this.#write(file, linesOf(rest))
      else await rm(file, { force: true })
      this.#unforgotten.delete(id)
      if (rest.length > 0) return
      const texts = this.#undoneTexts.get(id) ?? []
      this.#undoneTexts.delete(id)
      for (const text of texts) await this.#release(text)
    }
    void this.#undoInOrder(forgetting).catch(error => {
      this.#unforgotten.add(id)
      this.#retrySoon(`An undo couldn't be removed: ${messageOf(error)}`)
    })
    this.#collectSoon()
  }

  /** An undo may be stored again, or read, while it's being removed. */
  #undoInOrder<T>(access: () => Promise<T>): Promise<T> {
    const result = this.#undoing.then(access)
    this.#undoing = result.then(
      () => {},
      () => {},
    )
    return result
  }

  removeUnused(use: ContentUse): void {
    this.#use = use
  }

  /** Resolves when everything is on disk. */
  async flushed(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#writing = this.#writing.then(() => this.#flush())
    await this.#writing
  }

  async #flush(): Promise<void> {
    for (const [file, changed] of [...this.#waiting]) {
      // write what was saved meanwhile
      const done = () => this.#waiting.get(file) === changed && this.#waiting.delete(file)
      try {
        await this.#storeFile(file, changed)
        done()
      } catch (error) {
        if (done()) this.#failed.set(file, changed)
        this.#retrySoon(`The changes of agents couldn't be stored: ${messageOf(error)}`)
      }
    }
    const dropped = this.#dropped
    if (dropped) {
      try {
        await this.#write(this.#droppedFile, JSON.stringify(dropped))
        if (this.#dropped === dropped) this.#dropped = undefined
      } catch (error) {
        this.#retrySoon(`The list of dropped checkpoints couldn't be stored: ${messageOf(error)}`)
      }
    }
    if (this.#waiting.size > 0) await this.#flush()
  }

  #retrySoon(problem: string): void {
    if (this.#retry || this.owned.isDisposed) return
    this.#log.warn(problem)
    this.#retry = setTimeout(() => {
      this.#retry = undefined
      for (const [file, changed] of this.#failed) this.#waiting.set(file, changed)
      this.#failed.clear()
      for (const id of this.#unforgotten) this.forgetUndone(id)
      this.#flushSoon()
    }, RETRY_STORE_MS)
    this.#retry.unref()
  }

  async #storeFile(file: string, changed: ChangedFile | undefined): Promise<void> {
    const before = this.#texts.get(file)
    const bytes = changed && Buffer.from(changed.text)
    const text = bytes && hashOf(bytes)
    this.#storing = [before, text]
    try {
      if (bytes && text !== undefined) {
        await this.#put(text, bytes)
        await this.#storeOnce(file, JSON.stringify({ ...changed, text }))
        this.#texts.set(file, text)
      } else {
        this.#stored.delete(file)
        await rm(this.#file(file), { force: true })
        this.#texts.delete(file)
      }
    } finally {
      this.#storing = []
    }
    if (before !== undefined) await this.#release(before)
  }

  /** A write by an agent is stored before and after it happens, mostly as the same. */
  async #storeOnce(file: string, json: string): Promise<void> {
    const last = this.#stored.get(file)
    // only the time may differ: in a text, quotation marks are escaped
    const known = json.replace(/"at":\d+/g, '')
    if (last?.known === known && performance.now() - last.at < SURE_MS) return
    const at = performance.now()
    await this.#write(this.#file(file), json)
    this.#stored.delete(file)
    this.#stored.set(file, { known, at })
    for (const [other, { at }] of this.#stored) {
      if (performance.now() - at < SURE_MS) break
      this.#stored.delete(other)
    }
  }

  /** Nothing may refer to the content as a text anymore; something else may hold it. */
  async #release(hash: string): Promise<void> {
    if (!this.#held.has(hash)) await this.#remove(hash)
  }

  /** Removes a content, unless a file or an undo of this window has it as its text, or another window may use it. */
  async #remove(hash: string): Promise<void> {
    const stamp = this.#created.get(hash)
    if (stamp === undefined || this.#isText(hash)) return
    this.#blobs.delete(hash)
    this.#created.delete(hash)
    const blob = this.#blob(hash)
    // another window may have put the same content meanwhile
    if (stampOf(blob) !== stamp) return
    const removing = unlink(blob)
      .catch(ignoreMissing)
      .finally(() => this.#removing.delete(hash))
    this.#removing.set(hash, removing)
    await removing
  }

  #isText(hash: string): boolean {
    if (this.#storing.includes(hash)) return true
    for (const text of this.#texts.values()) if (text === hash) return true
    for (const texts of this.#undoneTexts.values()) if (texts.has(hash)) return true
    return false
  }

  /** The window closes: writes pending changes immediately. */
  #flushNow(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    clearTimeout(this.#retry)
    for (const [file, changed] of [...this.#failed, ...this.#waiting]) {
      try {
        if (!changed) rmSync(this.#file(file), { force: true })
        else {
          const bytes = Buffer.from(changed.text)
          const text = hashOf(bytes)
          writeNow(this.#blob(text), bytes)
          writeNow(this.#file(file), JSON.stringify({ ...changed, text }))
        }
      } catch (error) {
        this.#log.warn(`The changes of agents couldn't be stored: ${messageOf(error)}`)
      }
    }
    this.#waiting.clear()
    this.#failed.clear()
    for (const id of this.#unforgotten) {
      try {
        const rest = this.#withUnloaded(id, UndoneLines.in(readFileSync(this.#undone(id), 'utf8')))
        if (rest.length > 0) writeNow(this.#undone(id), linesOf(rest))
        else rmSync(this.#undone(id))
      } catch (error) {
        this.#log.warn(`An undo couldn't be removed: ${messageOf(error)}`)
      }
    }
    try {
      if (this.#dropped) writeNow(this.#droppedFile, JSON.stringify(this.#dropped))
    } catch (error) {
      this.#log.warn(`The list of dropped checkpoints couldn't be stored: ${messageOf(error)}`)
    }
  }

  async #undoneLine(id: string, { before, after }: UndoneFile): Promise<string> {
    const texts = this.#undoneTexts.get(id) ?? new Set()
    this.#undoneTexts.set(id, texts)
    const stored = async (file: ChangedFile) => {
      const bytes = Buffer.from(file.text)
      const text = hashOf(bytes)
      texts.add(text)
      return { ...file, text: await this.#put(text, bytes) }
    }
    return JSON.stringify({ before: await stored(before), after: await stored(after) })
  }

  /** `isWhole`: all of it could be read. */
  async *#readUndone(): AsyncGenerator<{ value: Undone; file: string; isWhole: boolean }> {
    const folder = path.join(this.#folder, 'undone')
    const names = await namesIn(folder)
    for (const name of names.filter(one => one.endsWith('.jsonl'))) {
      const file = path.join(folder, name)
      const id = name.slice(0, -'.jsonl'.length)
      try {
        const { mtimeMs } = await stat(file)
        const { head, files, unreadable } = await UndoneLines.slowlyIn(await readFile(file, 'utf8'))
        const isWhole = head !== undefined && unreadable.length === 0
        if (!isWhole) this.#log.warn(`Not all of an undo could be read: ${file}`)
        yield { value: { ...(head ?? { id, at: mtimeMs }), files }, file, isWhole }
      } catch (error) {
        this.#log.warn(`An undo couldn't be read: ${messageOf(error)}`)
        yield { value: { id, at: Date.now(), files: [] }, file, isWhole: false }
      }
    }
  }

  /** The lines of an undo that can't be read. They stay until the undo is too old. */
  async #unreadable(id: string): Promise<string[]> {
    const text = await readFile(this.#undone(id), 'utf8').catch((error: unknown) => {
      if (isNotFound(error)) return ''
      throw error
    })
    return this.#withUnloaded(id, await UndoneLines.slowlyIn(text))
  }

  #withUnloaded(id: string, { unreadable }: UndoneLines): string[] {
    return [...unreadable, ...(this.#unloaded.get(id) ?? [])]
  }

  async #putBlob(hash: string, bytes: Uint8Array): Promise<string> {
    await this.#removing.get(hash)?.catch(() => {})
    const file = this.#blob(hash)
    const now = new Date()
    // most contents are new, and looking for a name doesn't wait for the disk
    const isThere =
      existsSync(file) &&
      // so that it isn't removed as an old one
      (await utimes(file, now, now).then(
        () => true,
        () => false,
      ))
    if (!isThere) this.#created.set(hash, stampIn(await this.#write(file, bytes)))
    return hash
  }

  /** Resolves to what is known of the file that was written. */
  async #write(file: string, content: string | Uint8Array): Promise<Stats> {
    const fresh = `${file}.${++this.#count}.new`
    const create = () => open(fresh, 'w', 0o600)
    const handle = await create().catch(async (error: unknown) => {
      if (!isNotFound(error)) throw error
      await mkdir(path.dirname(file), { recursive: true, mode: 0o700 })
      return create()
    })
    let written: Stats
    try {
      await writeFile(handle, content)
      written = fstatSync(handle.fd)
    } finally {
      await handle.close()
    }
    await rename(fresh, file)
    return written
  }

  /** `value` is undefined if the file can't be read. */
  async *#readAll<T extends z.ZodType>(
    name: string,
    schema: T,
  ): AsyncGenerator<{ value: z.infer<T> | undefined; file: string; modified: number }> {
    const folder = path.join(this.#folder, name)
    const names = await namesIn(folder)
    for (const one of names.filter(name => name.endsWith('.json'))) {
      const file = path.join(folder, one)
      try {
        const value = schema.parse(JSON.parse(await readFile(file, 'utf8')))
        yield { value, file, modified: (await stat(file)).mtimeMs }
      } catch (error) {
        this.#log.warn(`The changes of agents couldn't be read: ${messageOf(error)}`)
        const info = await stat(file).catch(() => undefined)
        if (info) yield { value: undefined, file, modified: info.mtimeMs }
      }
    }
  }

  /** Marks loaded contents as used, so that no other window removes them. If no other window is open, this one may. */
  async #adopt(files: readonly ChangedFile[]): Promise<void> {
    const isAlone = await this.#isAlone()
    const now = new Date()
    for (const hash of new Set(files.flatMap(binariesOf))) {
      const blob = this.#blob(hash)
      await utimes(blob, now, now).catch(() => {})
      const stamp = isAlone ? stampOf(blob) : undefined
      if (!stamp) continue
      this.#created.set(hash, stamp)
      this.#held.set(hash, Number.NEGATIVE_INFINITY)
    }
  }

  /** Whether no other window uses the store. */
  async #isAlone(): Promise<boolean> {
    const folder = path.dirname(this.#marker)
    const names = await namesIn(folder).catch(() => undefined)
    let isAlone = names !== undefined
    for (const name of names ?? []) {
      const pid = Number.parseInt(name, 10)
      if (pid === process.pid) continue
      // a window that was killed has left its file
      if (pid > 0 && operatingSystem.exists(pid)) isAlone = false
      else await rm(path.join(folder, name), { force: true })
    }
    return isAlone
  }

  #collectSoon(): void {
    if (!this.#use || this.#held.size === 0 || this.owned.isDisposed) return
    this.#collectTimer ??= setTimeout(() => {
      this.#collectTimer = undefined
      void this.#collectOwn().catch(error =>
        this.#log.debug(`Unused contents couldn't be removed: ${messageOf(error)}`),
      )
    }, this.#times.collectAfter)
    this.#collectTimer.unref()
  }

  /** Removes contents of this window that nothing refers to anymore. */
  async #collectOwn(): Promise<void> {
    // what is about to be stored refers to contents, too
    await this.flushed()
    // a reference may be stored or restored meanwhile, so check what is in use before and after
    const before = this.#use?.inUse()
    const named = before && (await this.#named())
    const after = this.#use?.inUse()
    if (before && !named) return
    const candidates = named && after ? [...this.#held] : []
    const oldest = performance.now() - this.#times.recent
    let isAgain = !before || !after
    for (const [hash, at] of candidates) {
      if (before!.has(hash) || named!.has(hash) || after!.has(hash)) continue
      if (at > oldest) isAgain = true
      // it may be put again meanwhile
      else if (this.#held.get(hash) === at) {
        this.#held.delete(hash)
        await this.#remove(hash)
      }
    }
    if (after) this.#use?.collected()
    if (isAgain) this.#collectSoon()
  }

  /** Removes contents that aren't referenced and aren't about to be. */
  async #collect(): Promise<void> {
    for (const name of ['.', 'files', 'undone']) await this.#removeUnfinished(path.join(this.#folder, name))
    const used = await this.#named()
    if (!used) return
    const root = path.join(this.#folder, 'blobs')
    for (const folder of await readdir(root).catch(() => [])) {
      for (const name of await readdir(path.join(root, folder)).catch(() => [])) {
        const file = path.join(root, folder, name)
        if (used.has(name) || this.#blobs.has(name)) continue
        if (await isOlderThan(file, UNUSED_MS)) await rm(file, { force: true })
      }
    }
  }

  /** The hashes that are stored; `undefined` if not all can be read, since what can't be read may name any content. */
  async #named(): Promise<Set<string> | undefined> {
    const named = new Set<string>()
    const add = (file: ChangedFile) => {
      named.add(file.text)
      for (const hash of binariesOf(file)) named.add(hash)
    }
    // together, they are large
    for await (const { value } of this.#readAll('files', storedFile)) {
      if (!value) return undefined
      add(value)
    }
    for await (const { value, isWhole } of this.#readUndone()) {
      if (!isWhole) return undefined
      for (const { before, after } of value.files) for (const file of [before, after]) add(file)
    }
    return named
  }

  /** Removes what was being written when a window was killed. Those of contents are removed with the contents. */
  async #removeUnfinished(folder: string): Promise<void> {
    for (const name of await readdir(folder).catch(() => [])) {
      if (!name.endsWith('.new')) continue
      const file = path.join(folder, name)
      if (await isOlderThan(file, UNUSED_MS)) await rm(file, { force: true })
    }
  }

  /** What the clock has shown when this was loaded. */
  get #clockFile(): string {
    return path.join(this.#folder, 'clock.json')
  }

  get #droppedFile(): string {
    return path.join(this.#folder, 'dropped-checkpoints.json')
  }

  /** Shows other windows that this one uses the store. */
  get #marker(): string {
    return path.join(this.#folder, 'windows', String(process.pid))
  }

  #file(changed: string): string {
    return path.join(this.#folder, 'files', `${hashOf(onDisk(changed)).slice(0, 40)}.json`)
  }

  #undone(id: string): string {
    return path.join(this.#folder, 'undone', `${id.replace(/[^\w-]/g, '_')}.jsonl`)
  }

  #blob(hash: string): string {
    return path.join(this.#folder, 'blobs', hash.slice(0, 2), hash)
  }
}

function linesOf(lines: readonly string[]): string {
  return `${lines.join('\n')}\n`
}

/** What an undo's lines hold: the first is its head, and each of the others a file. */
class UndoneLines {
  head: z.infer<typeof undoneHead> | undefined
  readonly files: UndoneFile[] = []
  readonly unreadable: string[] = []

  static in(text: string): UndoneLines {
    const read = new UndoneLines()
    for (const line of nonemptyLines(text)) read.#take(line)
    return read
  }

  /** In pieces, since an undo may be of thousands of files. */
  static async slowlyIn(text: string): Promise<UndoneLines> {
    const read = new UndoneLines()
    for (const [i, line] of nonemptyLines(text).entries()) {
      if (i % LINES_AT_ONCE === 0) await setImmediate()
      read.#take(line)
    }
    return read
  }

  #take(line: string): void {
    const value = parsed(line)
    const asFile = undoneFile.safeParse(value)
    const asHead = this.head ? undefined : undoneHead.safeParse(value)
    if (asFile.success) this.files.push(asFile.data)
    else if (asHead?.success) this.head = asHead.data
    else this.unreadable.push(line)
  }
}

function nonemptyLines(text: string): string[] {
  return text.split('\n').filter(line => line !== '')
}

/** The hashes of binary contents that a file refers to. */
function binariesOf(file: ChangedFile): string[] {
  return [file, ...(file.earlier ?? [])]
    .flatMap(({ attributes, history }) => [...attributes, ...(history?.attributes ?? [])])
    .flatMap(({ value }) => (value.type === 'binary' ? value.hash : []))
}

async function isOlderThan(file: string, ms: number): Promise<boolean> {
  const info = await stat(file).catch(() => undefined)
  return info !== undefined && Date.now() - info.mtimeMs > ms
}

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = []
  for await (const item of items) found.push(item)
  return found
}

/** Rejects if the names can't be read: what is there may name any content. */
async function namesIn(folder: string): Promise<string[]> {
  return readdir(folder).catch((error: unknown) => {
    if (isNotFound(error)) return []
    throw error
  })
}

async function isMissing(file: string): Promise<boolean> {
  return stat(file).then(
    () => false,
    error => isNotFound(error),
  )
}

function ignoreMissing(error: unknown): void {
  if (!isNotFound(error)) throw error
}

function isNotFound(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT'
}

/** `undefined` if there is no file or nothing in it. */
async function lastByte(file: string): Promise<number | undefined> {
  const handle = await open(file, 'r').catch(() => undefined)
  if (!handle) return undefined
  try {
    const { size } = await handle.stat()
    const { bytesRead, buffer } = await handle.read(Buffer.alloc(1), 0, 1, Math.max(0, size - 1))
    return bytesRead === 1 ? buffer[0] : undefined
  } finally {
    await handle.close()
  }
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return undefined
  }
}

/** Changes each time the content is put again; `undefined` if it can't be read. */
function stampOf(file: string): string | undefined {
  try {
    return stampIn(statSync(file))
  } catch {
    return undefined
  }
}

function stampIn({ mtimeMs, ino }: Stats): string {
  return `${mtimeMs} ${ino}`
}

function hashOf(content: string | Uint8Array): string {
  return createHash('sha256').update(content).digest('hex')
}

function writeNow(file: string, content: string | Uint8Array): void {
  mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 })
  writeFileSync(`${file}.new`, content, { mode: 0o600 })
  renameSync(`${file}.new`, file)
}
