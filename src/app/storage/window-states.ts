import { randomUUID } from 'node:crypto'
import { readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs'
import { hostname } from 'node:os'
import path from 'node:path'
import type { Disposable } from '../../common/disposable.ts'
import { messageOf } from '../../common/errors.ts'
import type { KeyValueStore } from '../../common/key-value-store.ts'
import type { Logger } from '../../common/logger.ts'
import { writeWholeSync } from '../../common/whole-files.ts'
import type { Windows } from '../../history/windows.ts'

/**
 * The state that each window of a workspace stores for itself. A state has one writer, so that two windows never
 * overwrite each other. The states of closed windows are taken over, each by one window only.
 */
export interface WindowStates extends Disposable {
  /** Whether other windows have states that couldn't be taken over yet. */
  readonly hasOthers: boolean
  /** Whether this window still owns its state: it may have been taken over because the window seemed to be closed. */
  readonly isOwn: boolean
  /** Passes the states of closed windows to `take`, which writes what it needs of them. */
  takeOver(take: (states: unknown[]) => void): void
  /** Writes immediately, and then deletes the states that were taken over. A failure is logged. Returns whether it was written. */
  write(state: unknown): boolean
}

/** The names of files start with the process and the id of their windows; a shorter id is one of an earlier version. */
const OWNER = /^(\d+)-([\da-f-]+)/

export interface WindowFilesOptions {
  folder: string
  log: Logger
  windows: Pick<Windows, 'own' | 'start' | 'isOpen'>
}

/** Stores a file for each window in one folder. */
export class WindowFiles implements WindowStates {
  readonly #options: WindowFilesOptions
  /** The prefix of this window's files. */
  readonly #name: string
  /** what was taken over, until it's written with this window's state */
  #taken: string[] = []
  #isWritten = false
  hasOthers = false

  constructor(options: WindowFilesOptions) {
    this.#options = options
    this.#name = `${process.pid}-${options.windows.own}`
  }

  get isOwn(): boolean {
    return !this.#isWritten || exists(this.#file)
  }

  takeOver(take: (states: unknown[]) => void): void {
    const taken: string[] = []
    this.hasOthers = false
    for (const name of this.#list()) {
      if (name.startsWith(this.#name)) continue
      if (this.#isOpen(name)) {
        this.hasOthers = true
        continue
      }
      const mine = `${this.#name}+${randomUUID().slice(0, 8)}.json`
      try {
        // only one window can rename it
        renameSync(this.#path(name), this.#path(mine))
        taken.push(mine)
      } catch (error) {
        this.#warn(name, error)
      }
    }
    if (taken.length === 0) return
    this.#taken.push(...taken)
    take(taken.flatMap(name => this.#read(name) ?? []))
  }

  write(state: unknown): boolean {
    this.#options.windows.start()
    try {
      writeWholeSync(this.#file, JSON.stringify(state))
      this.#isWritten = true
      for (const name of this.#taken.splice(0)) rmSync(this.#path(name), { force: true })
      return true
    } catch (error) {
      this.#warn(this.#name, error)
      return false
    }
  }

  /** The window closes: the next one may take over its state immediately. */
  dispose(): void {
    for (const name of [...(this.#isWritten ? [`${this.#name}.json`] : []), ...this.#taken]) {
      try {
        renameSync(this.#path(name), this.#path(`closed-${name}`))
      } catch (error) {
        this.#warn(name, error)
      }
    }
  }

  #isOpen(name: string): boolean {
    const [, pid, id] = OWNER.exec(name) ?? []
    if (pid === undefined || id === undefined) return false
    const beat = statSync(this.#path(name), { throwIfNoEntry: false })?.mtimeMs
    return this.#options.windows.isOpen(id, { host: hostname(), pid, beat })
  }

  get #file(): string {
    return this.#path(`${this.#name}.json`)
  }

  #path(name: string): string {
    return path.join(this.#options.folder, name)
  }

  #list(): string[] {
    try {
      return readdirSync(this.#options.folder).filter(name => name.endsWith('.json'))
    } catch {
      return []
    }
  }

  #read(name: string): unknown {
    try {
      return JSON.parse(readFileSync(this.#path(name), 'utf8'))
    } catch (error) {
      this.#warn(name, error)
      return undefined
    }
  }

  #warn(name: string, error: unknown): void {
    this.#options.log.warn(`The window's state in ${this.#path(name)}: ${messageOf(error)}`)
  }
}

function exists(file: string): boolean {
  return statSync(file, { throwIfNoEntry: false }) !== undefined
}

/** For a window without a workspace, which has no storage folder and doesn't share its memento. */
export class MementoState implements WindowStates {
  readonly hasOthers = false
  readonly isOwn = true
  readonly #store: KeyValueStore
  readonly #key: string
  #isTaken = false

  constructor(store: KeyValueStore, key: string) {
    this.#store = store
    this.#key = key
  }

  takeOver(take: (states: unknown[]) => void): void {
    if (this.#isTaken) return
    this.#isTaken = true
    const state = this.#store.get<unknown>(this.#key)
    if (state !== undefined) take([state])
  }

  write(state: unknown): boolean {
    this.#store.set(this.#key, state)
    return true
  }

  dispose(): void {}
}
