import { randomUUID } from 'node:crypto'

/** The texts of the diff editors that are open, by id. */
export class DiffContents {
  readonly #texts = new Map<string, { oldText: string; newText: string }>()

  /** Keeps the texts until {@link release}. */
  hold(texts: { oldText: string; newText: string }): string {
    // Never one of before a reload: the editor may still hold a text under it.
    const id = randomUUID()
    this.#texts.set(id, texts)
    return id
  }

  text(id: string, side: string): string | undefined {
    const texts = this.#texts.get(id)
    return side === 'old' ? texts?.oldText : side === 'new' ? texts?.newText : undefined
  }

  /** Forgets what no open tab shows any more; `open` are the ids that tabs show. */
  keepOnly(open: ReadonlySet<string>): void {
    for (const id of this.#texts.keys()) if (!open.has(id)) this.#texts.delete(id)
  }

  get size(): number {
    return this.#texts.size
  }
}
