import { signal } from '@preact/signals'
import type { TerminalState } from '../../conversation/state.ts'
import { TerminalText } from '../tools/terminal-text.ts'

/** A terminal of the conversation: what it is, and its output, taken apart only once somebody looks at it. */
export class TerminalSlot {
  /** everything but the output; absent until the host told of it */
  readonly state = signal<Omit<TerminalState, 'output'> | undefined>(undefined)
  /** Increases when output came. */
  readonly grown = signal(0)
  #output = ''
  #text: TerminalText | undefined

  replace(state: TerminalState): void {
    const { output, ...rest } = state
    this.state.value = rest
    if (output.startsWith(this.#output)) {
      this.append(output.slice(this.#output.length))
      return
    }
    this.#output = output
    this.#text = undefined
    this.grown.value++
  }

  append(text: string): void {
    if (text === '') return
    this.#output += text
    this.#text?.append(text)
    this.grown.value++
  }

  /** The output as lines; read `grown` to hear of more. */
  get text(): TerminalText {
    if (!this.#text) {
      this.#text = new TerminalText()
      this.#text.append(this.#output)
    }
    return this.#text
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
