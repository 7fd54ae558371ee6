import type { Change, EntryId, HeadKey } from './state.ts'

/** The changes since the last `take`, each entry, terminal and head key once. */
export interface TakenChanges {
  /** The whole state was replaced. The other fields are empty; read the state. */
  reset: boolean
  /** New entries, in order, and entries that changed as a whole. */
  entries: EntryId[]
  /** Text appended to entries that are not in `entries`. */
  texts: Array<{ id: EntryId; block: number; text: string }>
  /** New terminals and terminals that changed as a whole. */
  terminals: string[]
  /** Output appended to terminals that are not in `terminals`. */
  outputs: Array<{ terminalId: string; text: string }>
  head: HeadKey[]
}

/**
 * Collects changes between two frames of the display. Adding a change takes constant time: appended text is joined by entry and block; of
 * other changes only the id is kept, and the receiver reads the state.
 */
export class ChangeSet {
  #reset = false
  #entries = new Set<EntryId>()
  #texts = new Map<EntryId, Map<number, string>>()
  #terminals = new Set<string>()
  #outputs = new Map<string, string>()
  #head = new Set<HeadKey>()

  get isEmpty(): boolean {
    return (
      !this.#reset &&
      this.#entries.size === 0 &&
      this.#texts.size === 0 &&
      this.#terminals.size === 0 &&
      this.#outputs.size === 0 &&
      this.#head.size === 0
    )
  }

  add(changes: readonly Change[]): void {
    for (const change of changes) this.#addOne(change)
  }

  /** Returns the collected changes and clears them. */
  take(): TakenChanges {
    const taken: TakenChanges = {
      reset: this.#reset,
      entries: [...this.#entries],
      texts: [],
      terminals: [...this.#terminals],
      outputs: [],
      head: [...this.#head],
    }
    for (const [id, blocks] of this.#texts) {
      for (const [block, text] of blocks) taken.texts.push({ id, block, text })
    }
    for (const [terminalId, text] of this.#outputs) taken.outputs.push({ terminalId, text })
    this.clear()
    return taken
  }

  clear(): void {
    this.#reset = false
    this.#entries = new Set()
    this.#texts = new Map()
    this.#terminals = new Set()
    this.#outputs = new Map()
    this.#head = new Set()
  }

  #addOne(change: Change): void {
    if (this.#reset) return
    switch (change.type) {
      case 'entry':
        this.#entries.add(change.id)
        this.#texts.delete(change.id)
        break
      case 'text':
        this.#addText(change.id, change.block, change.text)
        break
      case 'terminal':
        this.#terminals.add(change.terminalId)
        this.#outputs.delete(change.terminalId)
        break
      case 'terminal_output':
        if (this.#terminals.has(change.terminalId)) break
        this.#outputs.set(change.terminalId, (this.#outputs.get(change.terminalId) ?? '') + change.text)
        break
      case 'head':
        this.#head.add(change.key)
        break
      case 'reset':
        this.clear()
        this.#reset = true
        break
    }
  }

  #addText(id: EntryId, block: number, text: string): void {
    if (this.#entries.has(id)) return
    let blocks = this.#texts.get(id)
    if (!blocks) {
      blocks = new Map()
      this.#texts.set(id, blocks)
    }
    blocks.set(block, (blocks.get(block) ?? '') + text)
  }
}
