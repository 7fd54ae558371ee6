/** The keybindings of package.json. Like VS Code, it gets the keys of webviews, unless their page keeps them. */
import type { PageEvent } from './shown.ts'
import { holds } from './when.ts'

export interface Keybinding {
  command: string
  /** one or two strokes: `ctrl+' n` */
  key: string
  when?: string
}

/** How long the second stroke of a chord can take, in milliseconds. */
const CHORD_MS = 5000

type Stroke = Extract<PageEvent, { type: 'key' }>

export class Keybindings {
  readonly #bindings: readonly Keybinding[]
  readonly #contextKeys: ReadonlyMap<string, unknown>
  readonly #run: (command: string) => void
  #first: { stroke: string; at: number } | undefined

  constructor(
    bindings: readonly Keybinding[],
    contextKeys: ReadonlyMap<string, unknown>,
    run: (command: string) => void,
  ) {
    this.#bindings = bindings
    this.#contextKeys = contextKeys
    this.#run = run
  }

  press({ key, ctrl, shift, alt }: Stroke): void {
    // a modifier alone isn't a stroke
    if (['Control', 'Shift', 'Alt', 'Meta'].includes(key)) return
    const stroke = [ctrl && 'ctrl', shift && 'shift', alt && 'alt', nameOf(key)].filter(Boolean).join('+')
    const first = this.#first
    this.#first = undefined
    const isSecond = first !== undefined && Date.now() - first.at < CHORD_MS
    const typed = isSecond ? `${first.stroke} ${stroke}` : stroke
    const found = this.#bindings.findLast(
      binding => binding.key === typed && holds(binding.when, key => this.#contextKeys.get(key)),
    )
    if (found) this.#run(found.command)
    else if (!isSecond && this.#bindings.some(binding => binding.key.startsWith(`${stroke} `)))
      this.#first = { stroke, at: Date.now() }
  }
}

function nameOf(key: string): string {
  return key === '"' ? "'" : key.toLowerCase().replace(/^arrow/, '')
}
