import { type Signal, signal } from '@preact/signals'
import { BlockStream, type MarkdownBlock } from './blocks.ts'
import { loadGrammars, takeWanted } from './highlight.ts'
import { sanitize } from './sanitize.ts'

/** Parsing and drawing an open block may take this share of the time, at most. */
const share = 1 / 8
/** A long text is parsed in slices of this time, between which the page does other things. Milliseconds. */
const slice = 12

/** One markdown text on the screen: its blocks, their sanitised HTML kept, and who must redraw when one changes. */
export class MarkdownDocument {
  readonly #stream = new BlockStream()
  readonly #html = new Map<number, { version: number; html: string }>()
  readonly #watchers = new Map<number, Signal<number>>()
  #timer: ReturnType<typeof setTimeout> | undefined
  #notBefore = 0
  /** Called when a delayed flush happened; the number of blocks may be another one. */
  onFlushed: (() => void) | undefined
  /** characters appended */
  length = 0

  get blocks(): readonly MarkdownBlock[] {
    return this.#stream.blocks
  }

  append(text: string): void {
    this.length += text.length
    this.#stream.append(text)
  }

  /**
   * Takes in what was appended, now or as soon as the cost of the last time allows: an open block that is long enough to
   * be slow is redrawn less often, never so often that the window stalls.
   */
  flush(): void {
    const now = performance.now()
    if (this.#timer !== undefined) return
    if (now < this.#notBefore && this.#stream.pendingCost > 4096) {
      this.#timer = setTimeout(() => {
        this.#timer = undefined
        this.#flushNow()
        this.onFlushed?.()
      }, this.#notBefore - now)
      return
    }
    this.#flushNow()
  }

  #flushNow(): void {
    const start = performance.now()
    const { changed, pending } = this.#stream.flush(slice)
    for (const index of changed) {
      const block = this.#stream.blocks[index]
      if (!block) this.#html.delete(index)
      else {
        const watcher = this.#watchers.get(index)
        if (watcher) watcher.value = block.version
      }
    }
    if (!pending) {
      this.spent(performance.now() - start)
      return
    }
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      this.#flushNow()
      this.onFlushed?.()
    })
  }

  /** Tells what drawing cost, in milliseconds. */
  spent(milliseconds: number): void {
    this.#notBefore = Math.max(this.#notBefore, performance.now() + milliseconds / share)
  }

  /** The version of a block, to be read where it is drawn. */
  watch(index: number): Signal<number> {
    let watcher = this.#watchers.get(index)
    if (!watcher) {
      watcher = signal(this.#stream.blocks[index]?.version ?? 0)
      this.#watchers.set(index, watcher)
    }
    return watcher
  }

  /** The sanitised HTML of a block. Its block is drawn again when a grammar that its code needs has loaded. */
  html(index: number): string {
    const block = this.#stream.blocks[index]
    if (!block) return ''
    const kept = this.#html.get(index)
    if (kept?.version === block.version) return kept.html
    const html = sanitize(this.#stream.html(block))
    this.#html.set(index, { version: block.version, html })
    const wanted = takeWanted()
    if (wanted.length > 0) void loadGrammars(wanted).then(() => this.#redraw(block))
    return html
  }

  #redraw(block: MarkdownBlock): void {
    if (this.#stream.blocks[block.index] !== block) return
    this.#stream.renew(block)
    this.watch(block.index).value = block.version
  }

  dispose(): void {
    clearTimeout(this.#timer)
  }
}
