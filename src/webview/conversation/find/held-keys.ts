/** Without an answer after so long the keys were for no widget: the user has given Ctrl+F to something else. */
const LONGEST_MS = 800
/** Once the widget is known to come it is there in no time, but on a machine that is busy or a disk that is slow. */
const LONGEST_TO_OPEN_MS = 4000

const isMac = /Mac/.test(navigator.platform)

/**
 * Holds what is typed between Ctrl+F and the widget that it opens: VS Code and the extension host are asked in between,
 * and a fast hand does not wait for them.
 */
export class HeldKeys {
  readonly #giveBack: (text: string) => void
  #keys: string[] | undefined
  #timer: ReturnType<typeof setTimeout> | undefined

  /** `giveBack` gets what was typed when no widget came. */
  constructor(giveBack: (text: string) => void) {
    this.#giveBack = giveBack
  }

  /** Called with every key before other listeners. True: the key is held, and other listeners must ignore it. */
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

  /** The widget will come: what is typed is for it. */
  expect(): void {
    this.#keys ??= []
    this.#wait(LONGEST_TO_OPEN_MS)
  }

  #wait(most: number): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.flush(), most)
  }

  /** The widget is there: what was typed for it, in order. */
  release(): string[] {
    const keys = this.#keys ?? []
    this.#end()
    return keys
  }

  /** There will be no widget. */
  flush(): void {
    const { text } = typed(this.release(), '')
    if (text !== '') this.#giveBack(text)
  }

  #end(): void {
    clearTimeout(this.#timer)
    this.#keys = undefined
  }
}

/** What the keys make of a text that is selected whole, and whether they take it back in the end. */
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
