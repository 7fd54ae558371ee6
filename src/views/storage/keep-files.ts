import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import path, { dirname } from 'node:path'
import { messageOf } from '../../common/errors.ts'
import type { Logger } from '../../common/logger.ts'
import type { Keep } from '../../sessions/ports.ts'

/**
 * Small things in a file of their own, on disk as soon as they are set. VS Code's own mementos are written seconds later
 * where it runs in a browser, and what was not written is lost when the page is reloaded.
 */
export class KeepFile implements Keep {
  readonly #file: string
  readonly #log: Logger
  readonly #values: Record<string, unknown>

  constructor(file: string, log: Logger) {
    this.#file = file
    this.#log = log
    this.#values = this.#read()
  }

  get<T>(key: string): T | undefined {
    return this.#values[key] as T | undefined
  }

  /** `undefined` forgets. A file that cannot be written is logged; the value is kept as long as the window. */
  set(key: string, value: unknown): void {
    this.#values[key] = value
    try {
      mkdirSync(dirname(this.#file), { recursive: true })
      // renamed at the end, so that a crash leaves the old one whole
      const fresh = `${this.#file}.${process.pid}`
      writeFileSync(fresh, JSON.stringify(this.#values))
      renameSync(fresh, this.#file)
    } catch (error) {
      this.#log.warn(`${this.#file} was not written: ${messageOf(error)}`)
    }
  }

  #read(): Record<string, unknown> {
    try {
      const values: unknown = JSON.parse(readFileSync(this.#file, 'utf8'))
      return typeof values === 'object' && values !== null && !Array.isArray(values) ? { ...values } : {}
    } catch (error) {
      const isNew = error instanceof Error && 'code' in error && error.code === 'ENOENT'
      if (!isNew) this.#log.warn(`${this.#file} could not be read: ${messageOf(error)}`)
      return {}
    }
  }
}

/** Larger things, each in a file of its own: setting one writes no other. Nothing is held in memory. */
export class KeepFolder implements Keep {
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
      if (!isNew) this.#log.warn(`${file} could not be read: ${messageOf(error)}`)
      return undefined
    }
  }

  /** `undefined` forgets. What cannot be written is logged. */
  set(key: string, value: unknown): void {
    const file = this.#fileOf(key)
    try {
      if (value === undefined) {
        rmSync(file, { force: true })
        return
      }
      mkdirSync(this.#folder, { recursive: true })
      const fresh = `${file}.${process.pid}`
      writeFileSync(fresh, JSON.stringify(value))
      renameSync(fresh, file)
    } catch (error) {
      this.#log.warn(`${file} was not written: ${messageOf(error)}`)
    }
  }

  /** Keys are made of what agents call their sessions: anything. */
  #fileOf(key: string): string {
    return path.join(this.#folder, `${createHash('sha256').update(key).digest('hex').slice(0, 40)}.json`)
  }
}
