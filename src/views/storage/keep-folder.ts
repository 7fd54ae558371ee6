import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { messageOf } from '../../common/errors.ts'
import type { Logger } from '../../common/logger.ts'
import type { Keep } from '../../sessions/ports.ts'

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
