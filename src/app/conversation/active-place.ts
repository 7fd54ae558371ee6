import { Owner } from '../../common/disposable.ts'
import { Emitter } from '../../common/event.ts'

/**
 * A page's report about the keyboard focus. `used`: the user did something in it, so the focus isn't just passing
 * through.
 */
export type FocusReport = 'came' | 'used' | 'left'

/** The palette returns the focus for a moment before its command moves it elsewhere. */
const FOCUS_STAYS_MS = 300

/**
 * Determines which of several places is active. A place becomes active immediately when the user does something in it,
 * and after a moment when it only has the focus.
 *
 * A command applies to the place that was active when the user invoked it. When the palette closes, VS Code always
 * focuses the active editor, and the command may run much later, so having the focus isn't sufficient for a command. A
 * place counts if the user presses a key in it, or if the focus leaves it when they open the palette.
 */
export class ActivePlace<Place> extends Owner {
  readonly #change = this.register(new Emitter<void>())
  #current: Place
  /** The place that the user used before the current one only got the focus. */
  #before: Place | undefined
  /** The place that the user used and that still has the focus, as its page reported. */
  #inUse: Place | undefined
  readonly #focused = new Set<Place>()
  #timer: NodeJS.Timeout | undefined
  #commands = 0

  readonly onDidChange = this.#change.event

  constructor(place: Place) {
    super()
    this.#current = place
    this.register({ dispose: () => clearTimeout(this.#timer) })
  }

  get current(): Place {
    return this.#current
  }

  /** The user did something in the place, or a command revealed it. */
  set(place: Place): void {
    clearTimeout(this.#timer)
    this.#before = undefined
    this.#show(place)
  }

  report(place: Place, focus: FocusReport): void {
    if (focus === 'left') this.#left(place)
    else this.#focused.add(place)
    if (focus === 'used') {
      // the focus isn't in any other page, even if a busy one reports only later that it lost it
      for (const other of this.#focused) if (other !== place) this.#focused.delete(other)
      this.#inUse = place
      this.set(place)
    } else this.#activateFocusedSoon()
  }

  /** The place was removed; `instead` replaces it. */
  remove(place: Place, instead: Place): void {
    this.#left(place)
    if (this.#before === place) this.#before = undefined
    if (this.#current === place) this.set(instead)
  }

  /** Runs a command for the place where it was invoked. Until it ends, only the user's actions change the active place. */
  async run<T>(command: () => T): Promise<Awaited<T>> {
    clearTimeout(this.#timer)
    if (this.#before !== undefined) this.set(this.#before)
    this.#commands += 1
    try {
      return await command()
    } finally {
      this.#commands -= 1
      this.#activateFocusedSoon()
    }
  }

  #left(place: Place): void {
    this.#focused.delete(place)
    if (this.#inUse === place) this.#inUse = undefined
    if (this.#current === place) this.#before = undefined
  }

  /** Ignore late reports of other pages while the user is using one. */
  #activateFocusedSoon(): void {
    clearTimeout(this.#timer)
    if (this.#inUse !== undefined || this.#commands > 0) return
    const place = [...this.#focused].at(-1)
    if (place === undefined || place === this.#current) return
    this.#timer = setTimeout(() => {
      this.#before = this.#current
      this.#show(place)
    }, FOCUS_STAYS_MS)
  }

  #show(place: Place): void {
    if (this.#current === place) return
    this.#current = place
    this.#change.fire()
  }
}
