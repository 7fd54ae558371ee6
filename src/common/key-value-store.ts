import { createHash } from 'node:crypto'
import { readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { messageOf } from './errors.ts'
import { fileStamp } from './file-stamp.ts'
import { REWRITE_AFTER_MS } from './limits.ts'
import type { Logger } from './logger.ts'
import { storedId } from './session-key.ts'
import { writeWholeSync } from './whole-files.ts'

/** Small values that survive a reload of the window. Setting `undefined` removes a value. */
export interface KeyValueStore {
  get<T>(key: string): T | undefined
  set(key: string, value: unknown): void
}

interface Unwritten {
  value: unknown
  /** the stamp of the file that the value replaces */
  over: string | undefined
}

/**
 * Stores each value in its own file, written immediately: VS Code writes its mementos with a delay (of seconds in a browser), and reloading
 * the page loses unwritten values. Only values that can't be written are kept in memory.
 */
export class FolderStore implements KeyValueStore {
  readonly #folder: string
  readonly #log: Logger
  readonly #unwritten = new Map<string, Unwritten>()
  #timer: NodeJS.Timeout | undefined

  constructor(folder: string, log: Logger) {
    this.#folder = folder
    this.#log = log
  }

  get<T>(key: string): T | undefined {
    const unwritten = this.#unwritten.get(key)
    if (unwritten) return unwritten.value as T
    const file = this.#filePath(key)
    try {
      return JSON.parse(readFileSync(file, 'utf8'))
    } catch (error) {
      const isNew = error instanceof Error && 'code' in error && error.code === 'ENOENT'
      if (!isNew) this.#log.warn(`${file} couldn't be read: ${messageOf(error)}`)
      return undefined
    }
  }

  /** Writes a value. If that fails, as on a full disk, the failure is logged, and the value is written as soon as possible. */
  set(key: string, value: unknown): void {
    const file = this.#filePath(key)
    const isKnown = this.#unwritten.delete(key)
    try {
      if (value === undefined) rmSync(file, { force: true })
      else writeWholeSync(file, JSON.stringify(value))
    } catch (error) {
      if (!isKnown) this.#log.warn(`${file} wasn't written: ${messageOf(error)}`)
      this.#unwritten.set(key, { value, over: readStamp(file) })
      this.#timer ??= setTimeout(() => this.#writeAgain(), REWRITE_AFTER_MS)
      this.#timer.unref()
    }
  }

  #writeAgain(): void {
    this.#timer = undefined
    for (const [key, { value, over }] of [...this.#unwritten]) {
      // another window has written a newer value
      if (readStamp(this.#filePath(key)) !== over) this.#unwritten.delete(key)
      else this.set(key, value)
    }
  }

  /** The file of a key. Its name is a hash, because keys contain the session ids of agents, which may have any characters. */
  #filePath(key: string): string {
    return join(this.#folder, `${createHash('sha256').update(storedId(key)).digest('hex').slice(0, 40)}.json`)
  }
}

/** Reads the stamp of a file; `undefined` if there is no file. */
function readStamp(file: string): string | undefined {
  try {
    return fileStamp(statSync(file))
  } catch {
    return undefined
  }
}
