import { createHash } from 'node:crypto'
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { messageOf } from './errors.ts'
import { isRecord } from './is-record.ts'
import type { Logger } from './logger.ts'
import { writePrivateFile } from './private-files.ts'
import { storedId } from './session-key.ts'

/** Small values that survive a reload of the window. Setting `undefined` removes one. */
export interface KeyValueStore {
  get<T>(key: string): T | undefined
  set(key: string, value: unknown): void
}

/**
 * Stores all values in one file, written immediately. In a browser, VS Code writes its mementos seconds later, and
 * reloading the page loses what isn't written yet.
 */
export class FileStore implements KeyValueStore {
  readonly #file: string
  readonly #log: Logger
  readonly #values: Map<string, unknown>

  constructor(file: string, log: Logger) {
    this.#file = file
    this.#log = log
    this.#values = this.#read()
  }

  get<T>(key: string): T | undefined {
    return this.#values.get(key) as T | undefined
  }

  /** A file that can't be written is logged; its value lasts as long as the window. */
  set(key: string, value: unknown): void {
    this.#values.set(key, value)
    try {
      const text = JSON.stringify(Object.fromEntries(this.#values))
      writePrivateFile(this.#file, text, `${this.#file}.${process.pid}`)
    } catch (error) {
      this.#log.warn(`${this.#file} wasn't written: ${messageOf(error)}`)
    }
  }

  #read(): Map<string, unknown> {
    try {
      const values: unknown = JSON.parse(readFileSync(this.#file, 'utf8'))
      return new Map(isRecord(values) ? Object.entries(values) : [])
    } catch (error) {
      const isNew = error instanceof Error && 'code' in error && error.code === 'ENOENT'
      if (!isNew) this.#log.warn(`${this.#file} couldn't be read: ${messageOf(error)}`)
      return new Map()
    }
  }
}

/** Stores each value in its own file, for larger values: setting one doesn't write the others. Nothing is kept in memory. */
export class FolderStore implements KeyValueStore {
  readonly #folder: string
  readonly #log: Logger

  constructor(folder: string, log: Logger) {
    this.#folder = folder
    this.#log = log
  }

  get<T>(key: string): T | undefined {
    const file = this.#fileOf(key)
    try {
      return JSON.parse(readFileSync(file, 'utf8'))
    } catch (error) {
      const isNew = error instanceof Error && 'code' in error && error.code === 'ENOENT'
      if (!isNew) this.#log.warn(`${file} couldn't be read: ${messageOf(error)}`)
      return undefined
    }
  }

  /** A value that can't be written is logged. */
  set(key: string, value: unknown): void {
    const file = this.#fileOf(key)
    try {
      if (value === undefined) {
        rmSync(file, { force: true })
        return
      }
      writePrivateFile(file, JSON.stringify(value), `${file}.${process.pid}`)
    } catch (error) {
      this.#log.warn(`${file} wasn't written: ${messageOf(error)}`)
    }
  }

  /** Hashed, because keys contain the session ids of agents, which may have any characters. */
  #fileOf(key: string): string {
    return join(this.#folder, `${createHash('sha256').update(storedId(key)).digest('hex').slice(0, 40)}.json`)
  }
}
