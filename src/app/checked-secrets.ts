import { randomUUID } from 'node:crypto'
import * as l10n from '@vscode/l10n'
import { messageOf } from '../common/errors.ts'
import { isRecord } from '../common/is-record.ts'
import type { KeyValueStore } from '../common/key-value-store.ts'
import type { Logger } from '../common/logger.ts'
import type { SecretStore } from '../mcp/secret-store.ts'
import type { Dialogs } from './workbench.ts'

/** The memory's key for the keys of stored secrets, each with an id of the window that stored it. */
const STORED = 'parley.storedSecrets'
/** The memory's key for the fact that a secret that another window stored was lost. */
const LOST = 'parley.secretsLost'

/**
 * The editor's secret storage, with a warning if the editor can't store an entered value. Without a keyring, VS Code may refuse a value, or
 * keep it only until the window reloads; the next window detects this. A value that couldn't be stored is kept in memory, so that it works
 * in this window.
 */
export class CheckedSecrets implements SecretStore {
  readonly #secrets: SecretStore
  readonly #memory: KeyValueStore
  readonly #dialogs: Pick<Dialogs, 'warn'>
  readonly #log: Logger
  readonly #window = randomUUID()
  /** the values that couldn't be stored */
  readonly #unstored = new Map<string, string>()
  #isWarning = false

  /** `memory` outlives the window and is shared by all workspaces, like the secrets. */
  constructor(secrets: SecretStore, memory: KeyValueStore, dialogs: Pick<Dialogs, 'warn'>, log: Logger) {
    this.#secrets = secrets
    this.#memory = memory
    this.#dialogs = dialogs
    this.#log = log
  }

  async get(key: string): Promise<string | undefined> {
    const unstored = this.#unstored.get(key)
    if (unstored !== undefined) return unstored
    const value = await this.#secrets.get(key)
    const window = this.#stored().get(key)
    if (window !== undefined && window !== this.#window) this.#setLost(value === undefined)
    return value
  }

  async store(key: string, value: string): Promise<void> {
    if (await this.#keep(key, value)) {
      this.#unstored.delete(key)
      this.#note(key, this.#window)
      if (this.#memory.get<boolean>(LOST))
        this.#warn(
          l10n.t(
            "VS Code didn't keep a value that you entered before. If that happens again, Parley asks for this one after the window reloads.",
          ),
        )
      return
    }
    this.#unstored.set(key, value)
    this.#note(key, undefined)
    this.#warn(
      l10n.t(
        "VS Code couldn't store the value in its secret storage. Parley uses it until the window reloads, and then asks for it again.",
      ),
    )
  }

  async delete(key: string): Promise<void> {
    this.#unstored.delete(key)
    this.#note(key, undefined)
    await this.#secrets.delete(key)
  }

  /** Stores a value. Resolves to whether the value can be read back. */
  async #keep(key: string, value: string): Promise<boolean> {
    try {
      await this.#secrets.store(key, value)
      return (await this.#secrets.get(key)) === value
    } catch (error) {
      this.#log.warn(`A secret couldn't be stored: ${messageOf(error)}`)
      return false
    }
  }

  #stored(): Map<string, unknown> {
    const stored = this.#memory.get<unknown>(STORED)
    return new Map(isRecord(stored) ? Object.entries(stored) : [])
  }

  #note(key: string, window: string | undefined): void {
    const stored = this.#stored()
    if (stored.get(key) === window) return
    if (window === undefined) stored.delete(key)
    else stored.set(key, window)
    this.#memory.set(STORED, Object.fromEntries(stored))
  }

  #setLost(isLost: boolean): void {
    if ((this.#memory.get<boolean>(LOST) ?? false) !== isLost) this.#memory.set(LOST, isLost)
  }

  /** Shows a warning unless one is already shown, since several values may be entered one after the other. */
  #warn(text: string): void {
    if (this.#isWarning) return
    this.#isWarning = true
    void this.#dialogs.warn(text).finally(() => {
      this.#isWarning = false
    })
  }
}
