import type * as vscode from 'vscode'
import { Owner, toDisposable } from '../common/disposable.ts'
import type { Drafts, Keep } from '../sessions/ports.ts'

/** A memento, as the sessions see it. */
export function keepIn(memento: vscode.Memento): Keep {
  return {
    get: key => memento.get(key),
    set: (key, value) => void memento.update(key, value),
  }
}

const DRAFTS = 'parley.drafts'
/** Drafts kept; the ones written longest ago go first. */
const DRAFTS_KEPT = 100
const SAVE_DELAY_MS = 300

/** What people began to write, kept through a reload of the window; written in the background, at the end at once. */
export class KeptDrafts extends Owner implements Drafts {
  readonly #memento: vscode.Memento
  readonly #drafts: Map<string, string>
  #timer: NodeJS.Timeout | undefined

  constructor(memento: vscode.Memento) {
    super()
    this.#memento = memento
    this.#drafts = new Map(Object.entries(memento.get<Record<string, string>>(DRAFTS) ?? {}))
    this.register(toDisposable(() => this.#timer && this.#save()))
  }

  get(key: string): string {
    return this.#drafts.get(key) ?? ''
  }

  set(key: string, text: string): void {
    if (this.get(key) === text) return
    this.#drafts.delete(key)
    if (text !== '') this.#drafts.set(key, text)
    if (this.#drafts.size > DRAFTS_KEPT) {
      const [oldest] = this.#drafts.keys()
      if (oldest !== undefined) this.#drafts.delete(oldest)
    }
    this.#timer ??= setTimeout(() => this.#save(), SAVE_DELAY_MS)
  }

  #save(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    void this.#memento.update(DRAFTS, Object.fromEntries(this.#drafts))
  }
}
