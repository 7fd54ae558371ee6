import { type Signal, signal } from '@preact/signals'
import type { TerminalNote } from '../../bridge/conversation.ts'
import type { TerminalState } from '../../conversation/state.ts'
import type { TerminalScreen } from '../tools/terminal-screen.ts'

/** Loads the terminal emulator, when the first terminal is shown. */
export const loadEmulator = () => import('../tools/terminal-screen.ts')

/** The maximum number of screens kept for hidden terminals, since they take memory. */
const MAX_IDLE = 4

/** A terminal of the conversation: its properties and its output, which is emulated only while visible. */
export class TerminalSlot {
  /** everything but the output; absent until the host has sent it */
  readonly state = signal<Omit<TerminalState, 'output'> | undefined>(undefined)
  /** the terminal's lines, once the emulator is loaded; read the `version` of the screen to be updated */
  readonly screen: Signal<TerminalScreen | undefined> = signal(undefined)
  /** number of lines when the terminal last had a screen */
  lastLines = 0
  readonly #idle: TerminalSlot[]
  readonly #watch: () => void
  #output = ''
  #viewers = 0

  /**
   * @param idle hidden terminals that have a screen, the oldest first; shared by all terminals
   * @param watch called when the terminal's output starts or stops being needed
   */
  constructor(idle: TerminalSlot[] = [], watch: () => void = () => undefined) {
    this.#idle = idle
    this.#watch = watch
  }

  /** Whether the terminal's output is needed. */
  get isWatched(): boolean {
    return this.#viewers > 0 || this.screen.peek() !== undefined
  }

  /** Replaces the terminal's state. For a hidden terminal, the state has no output. */
  replace(state: TerminalNote): void {
    const { output, ...rest } = state
    const { size } = this.state.peek() ?? {}
    const fits = size?.cols === rest.size?.cols && size?.rows === rest.size?.rows
    this.state.value = rest
    if (output === undefined) return
    if (fits && output.startsWith(this.#output)) {
      this.append(output.slice(this.#output.length))
      return
    }
    this.#output = output
    if (!this.screen.peek()) return
    this.#close()
    if (this.#viewers > 0) void this.#open()
  }

  append(text: string): void {
    if (text === '') return
    this.#output += text
    void this.screen.peek()?.append(text)
  }

  /** Keeps the terminal's screen up to date until the returned function is called. */
  view(): () => void {
    this.#viewers++
    this.#watch()
    this.#notIdle()
    if (!this.screen.peek()) void this.#open()
    return () => {
      this.#viewers--
      if (this.#viewers > 0) return
      this.#watch()
      this.#idle.push(this)
      const oldest = this.#idle.length > MAX_IDLE ? this.#idle.shift() : undefined
      if (oldest) oldest.#close()
    }
  }

  get raw(): string {
    return this.#output
  }

  /** Resolves to the whole output as text. */
  async plain(): Promise<string> {
    const { plainOutput } = await loadEmulator()
    return plainOutput(this.#output, this.state.peek()?.size)
  }

  async #open(): Promise<void> {
    const { TerminalScreen } = await loadEmulator()
    if (this.screen.peek() || this.#viewers === 0) return
    const screen = new TerminalScreen(this.state.peek()?.size)
    void screen.append(this.#output)
    this.screen.value = screen
  }

  #close(): void {
    const screen = this.screen.peek()
    if (!screen) return
    this.lastLines = screen.lines.length
    this.#notIdle()
    this.screen.value = undefined
    screen.dispose()
    this.#watch()
  }

  #notIdle(): void {
    const at = this.#idle.indexOf(this)
    if (at >= 0) this.#idle.splice(at, 1)
  }
}

/** The terminals of a conversation by ID. A terminal may be requested before the host has sent it. */
export class Terminals {
  readonly #slots = new Map<string, TerminalSlot>()
  readonly #idle: TerminalSlot[] = []
  readonly #watched: Watched

  /** @param watch tells the host which terminals' output is needed */
  constructor(watch: (ids: string[]) => void = () => undefined) {
    const ids = () => [...this.#slots].flatMap(([id, slot]) => (slot.isWatched ? [id] : []))
    this.#watched = new Watched(watch, ids)
  }

  get(id: string): TerminalSlot {
    let slot = this.#slots.get(id)
    if (!slot) {
      slot = new TerminalSlot(this.#idle, () => this.#watched.changed())
      this.#slots.set(id, slot)
    }
    return slot
  }

  clear(): void {
    this.#slots.clear()
    this.#idle.length = 0
    this.#watched.forget()
  }

  /** The host may have lost its state. */
  tellAgain(): void {
    this.#watched.tellAgain()
  }
}

/** Tells the host which items of a kind the view shows completely, since the host sends only these items as a whole. */
export class Watched {
  readonly #viewers = new Map<string, number>()
  readonly #ids: () => string[]
  readonly #tell: (ids: string[]) => void
  #reported = '[]'
  #isDue = false

  /** `ids`: returns the shown items, if another owner knows them; by default, items for which `show` was called. */
  constructor(tell: (ids: string[]) => void, ids: () => string[] = () => [...this.#viewers.keys()]) {
    this.#ids = ids
    this.#tell = tell
  }

  /** Marks an item as shown completely, until the returned function is called. */
  show(id: string): () => void {
    this.#viewers.set(id, (this.#viewers.get(id) ?? 0) + 1)
    this.changed()
    return () => {
      const remaining = (this.#viewers.get(id) ?? 1) - 1
      if (remaining > 0) this.#viewers.set(id, remaining)
      else this.#viewers.delete(id)
      this.changed()
    }
  }

  /** Reports the shown items after everything that is rendered at the same time has been registered. */
  changed(): void {
    if (this.#isDue) return
    this.#isDue = true
    queueMicrotask(() => {
      this.#isDue = false
      const ids = this.#ids()
      const now = JSON.stringify(ids)
      if (now === this.#reported) return
      this.#reported = now
      this.#tell(ids)
    })
  }

  /** Forgets what was reported, because the host has lost it. */
  forget(): void {
    this.#reported = '[]'
  }

  /** The host may have lost its state. */
  tellAgain(): void {
    this.forget()
    this.changed()
  }
}
