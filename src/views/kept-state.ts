import path from 'node:path'
import type * as vscode from 'vscode'
import { Owner, toDisposable } from '../common/disposable.ts'
import type { Logger } from '../common/logger.ts'
import type { Drafts, Keep } from '../sessions/ports.ts'
import { KeepFile } from './keep-file.ts'

/** A memento, as the sessions see it. */
export function keepIn(memento: vscode.Memento): Keep {
  return {
    get: key => memento.get(key),
    set: (key, value) => void memento.update(key, value),
  }
}

/** Where this workspace's drafts are kept. A window without a workspace has no folder to keep files in. */
export function keepForDrafts(context: vscode.ExtensionContext, log: Logger): Keep {
  const { storageUri, workspaceState } = context
  return storageUri ? new KeepFile(path.join(storageUri.fsPath, 'drafts.json'), log) : keepIn(workspaceState)
}

const DRAFTS = 'parley.drafts'
/** Drafts kept; the ones written longest ago go first. */
const DRAFTS_KEPT = 100
const SAVE_DELAY_MS = 100

/** What people began to write, kept through a reload of the window; written in the background, at the end at once. */
export class KeptDrafts extends Owner implements Drafts {
  readonly #keep: Keep
  readonly #drafts: Map<string, string>
  #timer: NodeJS.Timeout | undefined

  constructor(keep: Keep) {
    super()
    this.#keep = keep
    this.#drafts = new Map(textsOf(keep.get(DRAFTS)))
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
    this.#keep.set(DRAFTS, Object.fromEntries(this.#drafts))
  }
}

/** A file may hold anything. */
function textsOf(kept: unknown): Array<[key: string, text: string]> {
  const entries = typeof kept === 'object' && kept !== null ? Object.entries(kept) : []
  return entries.filter(([, text]) => typeof text === 'string')
}
