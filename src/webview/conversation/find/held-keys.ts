/** If no widget is announced in this time, the keys weren't for it: the user has assigned Ctrl+F to another command. Milliseconds. */
const LONGEST_MS = 800
/** Time limit for opening the announced widget, which takes long only on a busy machine or a slow disk. Milliseconds. */
const LONGEST_TO_OPEN_MS = 4000

const isMac = /Mac/.test(navigator.platform)

/**
 * Queues keys typed between Ctrl+F and the opening of the widget, which involves VS Code and the extension host, so that
 * fast typing isn't lost.
 */
export class HeldKeys {
  readonly #onUnused: (text: string) => void
  #keys: string[] | undefined
  #timer: ReturnType<typeof setTimeout> | undefined

  /** @param onUnused receives the typed text if no widget opens */
  constructor(onUnused: (text: string) => void) {
    this.#onUnused = onUnused
  }

  /** Called with every key before other listeners. Returns true if the key is queued and other listeners must ignore it. */
  take(event: KeyboardEvent): boolean {
    if (event.isComposing || event.key === 'Process') {
      this.flush()
      return false
    }
    const command = isMac ? event.metaKey && !event.ctrlKey : event.ctrlKey && !event.metaKey
    if (command && !event.altKey && !event.shiftKey && event.key.toLowerCase() === 'f') {
      this.#keys ??= []
      this.#wait(LONGEST_MS)
      return false
    }
    if (!this.#keys || event.ctrlKey || event.metaKey || event.altKey) return false
    if (event.key === 'Shift') return false
    this.#keys.push(event.key)
    return true
  }

  /** Queues further keys, because the widget is about to open. */
  expect(): void {
    this.#keys ??= []
    this.#wait(LONGEST_TO_OPEN_MS)
  }

  #wait(most: number): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.flush(), most)
  }

  /** Ends queueing because the widget has opened, and returns the keys typed for it, in order. */
  release(): string[] {
    const keys = this.#keys ?? []
    this.#end()
    return keys
  }

  /** Ends queueing because the widget won't open, and passes on the typed text. */
  flush(): void {
    const { text } = typed(this.release(), '')
    if (text !== '') this.#onUnused(text)
  }

  #end(): void {
    clearTimeout(this.#timer)
    this.#keys = undefined
  }
}

/** Applies the keys to a text that is entirely selected, and tells whether they end with Escape. */
export function typed(keys: readonly string[], before: string): { text: string; escaped: boolean } {
  let text = before
  let selected = true
  for (const key of keys) {
    if (key === 'Escape') return { text, escaped: true }
    if (key === 'Backspace') text = selected ? '' : Array.from(text).slice(0, -1).join('')
    else if (Array.from(key).length === 1) text = (selected ? '' : text) + key
    else continue
    selected = false
  }
  return { text, escaped: false }
}
