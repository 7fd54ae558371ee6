import { createHash } from 'node:crypto'
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { messageOf } from './errors.ts'
import { REWRITE_AFTER_MS } from './limits.ts'
import type { Logger } from './logger.ts'
import { writePrivateFile } from './private-files.ts'
import { storedId } from './session-key.ts'

/** Small values that survive a reload of the window. Setting `undefined` removes one. */
export interface KeyValueStore {
  get<T>(key: string): T | undefined
  set(key: string, value: unknown): void
}

/**
 * Stores each value in its own file, written immediately: VS Code writes its mementos later, in a browser by seconds, and reloading the
 * page loses what isn't written yet. Only what can't be written is kept in memory.
 */
export class FolderStore implements KeyValueStore {
  readonly #folder: string
  readonly #log: Logger
  readonly #unwritten = new Map<string, unknown>()
  #timer: NodeJS.Timeout | undefined

  constructor(folder: string, log: Logger) {
    this.#folder = folder
    this.#log = log
  }

  get<T>(key: string): T | undefined {
    if (this.#unwritten.has(key)) return this.#unwritten.get(key) as T
    const file = this.#fileOf(key)
    try {
      return JSON.parse(readFileSync(file, 'utf8'))
    } catch (error) {
      const isNew = error instanceof Error && 'code' in error && error.code === 'ENOENT'
      if (!isNew) this.#log.warn(`${file} couldn't be read: ${messageOf(error)}`)
      return undefined
    }
  }

  /** A value that can't be written, as on a full disk, is logged, and written as soon as it can be. */
  set(key: string, value: unknown): void {
    const file = this.#fileOf(key)
    const isKnown = this.#unwritten.delete(key)
    try {
      if (value === undefined) rmSync(file, { force: true })
      else writePrivateFile(file, JSON.stringify(value), `${file}.${process.pid}`)
    } catch (error) {
      if (!isKnown) this.#log.warn(`${file} wasn't written: ${messageOf(error)}`)
      this.#unwritten.set(key, value)
      this.#timer ??= setTimeout(() => this.#writeAgain(), REWRITE_AFTER_MS)
      this.#timer.unref()
    }
  }

  #writeAgain(): void {
    this.#timer = undefined
    for (const [key, value] of [...this.#unwritten]) this.set(key, value)
  }

  /** Hashed, because keys contain the session ids of agents, which may have any characters. */
  #fileOf(key: string): string {
    return join(this.#folder, `${createHash('sha256').update(storedId(key)).digest('hex').slice(0, 40)}.json`)
  }
}
