import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import * as z from 'zod'
import { Owner, toDisposable } from '../common/disposable.ts'
import { messageOf } from '../common/errors.ts'
import type { Logger } from '../common/logger.ts'

/** A file that a session's agent changed. */
interface TouchedFile {
  path: string
  before: string | null
  left: string | null
  mixed?: boolean
  meanwhile?: boolean
}

/** Characters of all texts that are kept of one session; what is more is known until the window closes. */
const MOST_TEXT = 16_000_000
/** Sessions kept; those changed longest ago go first. */
const MOST_SESSIONS = 50
/** Between two writes, in milliseconds; the first is done at once. */
const WRITE_EVERY_MS = 300

const text = z.string().nullable()
const mark = z.boolean().optional()
const kept = z.array(z.object({ path: z.string(), before: text, left: text, mixed: mark, meanwhile: mark }))

/** Keeps what sessions changed in a folder, a file for each session; written in the background, at the end at once. */
export class ChangesStore extends Owner {
  readonly #folder: string
  readonly #log: Logger
  readonly #waiting = new Map<string, readonly TouchedFile[]>()
  #timer: NodeJS.Timeout | undefined
  #written = 0

  constructor(folder: string, log: Logger) {
    super()
    this.#folder = folder
    this.#log = log
    this.register(toDisposable(() => this.#flush()))
  }

  readonly keepFor = (
    agentId: string,
    sessionId: string,
  ): { read(): TouchedFile[]; write(files: readonly TouchedFile[]): void } => {
    const hash = createHash('sha256').update(`${agentId}\0${sessionId}`).digest('hex')
    const file = path.join(this.#folder, `${hash.slice(0, 40)}.json`)
    return {
      read: () => this.#read(file),
      write: files => {
        this.#waiting.set(file, files)
        this.#timer ??= setTimeout(() => this.#flush(), this.#written + WRITE_EVERY_MS - Date.now())
      },
    }
  }

  #read(file: string): TouchedFile[] {
    try {
      return kept
        .parse(JSON.parse(readFileSync(file, 'utf8')))
        .map(({ mixed, ...rest }) => (mixed ? { ...rest, mixed } : rest))
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') {
        this.#log.warn(`What a session changed could not be read: ${messageOf(error)}`)
      }
      return []
    }
  }

  #flush(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#written = Date.now()
    for (const [file, files] of this.#waiting) {
      try {
        this.#write(file, files)
      } catch (error) {
        this.#log.warn(`What a session changed could not be kept: ${messageOf(error)}`)
      }
    }
    this.#waiting.clear()
  }

  #write(file: string, files: readonly TouchedFile[]): void {
    let size = 0
    const fit = files.filter(({ before, left }) => {
      size += (before?.length ?? 0) + (left?.length ?? 0)
      return before !== left && size <= MOST_TEXT
    })
    if (fit.length === 0) {
      rmSync(file, { force: true })
      return
    }
    mkdirSync(this.#folder, { recursive: true })
    writeFileSync(`${file}.new`, JSON.stringify(fit), { mode: 0o600 })
    renameSync(`${file}.new`, file)
    this.#dropOldest()
  }

  #dropOldest(): void {
    const names = readdirSync(this.#folder).filter(name => name.endsWith('.json'))
    if (names.length <= MOST_SESSIONS) return
    const files = names.map(name => path.join(this.#folder, name))
    const aged = files.map(file => ({ file, at: statSync(file).mtimeMs })).sort((a, b) => b.at - a.at)
    for (const { file } of aged.slice(MOST_SESSIONS)) rmSync(file, { force: true })
  }
}
