import { signal } from '@preact/signals'
import type { TerminalState } from '../../conversation/state.ts'

interface Reader {
  append(text: string): void
}

/** A terminal of the conversation: what it is, and its output, taken apart only once somebody looks at it. */
export class TerminalSlot {
  /** everything but the output; absent until the host told of it */
  readonly state = signal<Omit<TerminalState, 'output'> | undefined>(undefined)
  /** Increases when output came. */
  readonly grown = signal(0)
  #output = ''
  #reader: Reader | undefined

  replace(state: TerminalState): void {
    const { output, ...rest } = state
    this.state.value = rest
    if (output.startsWith(this.#output)) {
      this.append(output.slice(this.#output.length))
      return
    }
    this.#output = output
    this.#reader = undefined
    this.grown.value++
  }

  append(text: string): void {
    if (text === '') return
    this.#output += text
    this.#reader?.append(text)
    this.grown.value++
  }

  /** The output in a reader of the caller's, which then hears of more by itself; read `grown` to hear of it, too. */
  read<T extends Reader>(make: () => T): T {
    if (!this.#reader) {
      this.#reader = make()
      this.#reader.append(this.#output)
    }
    return this.#reader as T
  }

  get raw(): string {
    return this.#output
  }
}

/** The terminals of a conversation by id; one may be asked for before the host tells of it. */
export class Terminals {
  readonly #slots = new Map<string, TerminalSlot>()

  get(id: string): TerminalSlot {
    let slot = this.#slots.get(id)
    if (!slot) {
      slot = new TerminalSlot()
      this.#slots.set(id, slot)
    }
    return slot
  }

  clear(): void {
    this.#slots.clear()
  }
}
