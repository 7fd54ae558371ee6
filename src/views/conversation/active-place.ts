import { Owner } from '../../common/disposable.ts'
import { Emitter } from '../../common/event.ts'

/**
 * What a place's page reports about the keyboard's focus. `used`: the user does something in it, so the focus is not only
 * passing through.
 */
export type FocusReport = 'came' | 'used' | 'left'

/** The palette gives the focus back for a moment before its command takes it elsewhere. */
const SETTLED_MS = 300

/**
 * Decides which of several places the user works in. A place is it at once when the user does something there, and
 * after a moment when the focus merely stays there.
 *
 * A command is for the place that the user was at when they asked for it. When the palette closes, VS Code gives the
 * focus to the active editor in any case, and the command may come long after that: a place that merely has
 * the focus is not what a command is for. One that the user turned to is: they press a key in it, or the focus leaves
 * it when they open the palette.
 */
export class ActivePlace<Place> extends Owner {
  readonly #change = this.register(new Emitter<void>())
  #current: Place
  /** What the user did something in before the current place merely got the focus. */
  #before: Place | undefined
  /** Where the user did something and the focus still is, as its page reported. */
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

  /** The user did something in the place, or a command led them there. */
  set(place: Place): void {
    clearTimeout(this.#timer)
    this.#before = undefined
    this.#show(place)
  }

  report(place: Place, focus: FocusReport): void {
    if (focus === 'left') this.#left(place)
    else this.#focused.add(place)
    if (focus === 'used') {
      this.#inUse = place
      this.set(place)
    } else this.#settleSoon()
  }

  /** The place is gone; `instead` takes its part. */
  remove(place: Place, instead: Place): void {
    this.#left(place)
    if (this.#before === place) this.#before = undefined
    if (this.#current === place) this.set(instead)
  }

  /** Runs a command for the place that it was asked for at. Until it ends, only what the user does leads elsewhere. */
  async run<T>(command: () => T): Promise<Awaited<T>> {
    clearTimeout(this.#timer)
    if (this.#before !== undefined) this.set(this.#before)
    this.#commands += 1
    try {
      return await command()
    } finally {
      this.#commands -= 1
      this.#settleSoon()
    }
  }

  #left(place: Place): void {
    this.#focused.delete(place)
    if (this.#inUse === place) this.#inUse = undefined
    if (this.#current === place) this.#before = undefined
  }

  /** What another page tells late says nothing as long as the user works in one. */
  #settleSoon(): void {
    clearTimeout(this.#timer)
    if (this.#inUse !== undefined || this.#commands > 0) return
    const place = [...this.#focused].at(-1)
    if (place === undefined || place === this.#current) return
    this.#timer = setTimeout(() => {
      this.#before = this.#current
      this.#show(place)
    }, SETTLED_MS)
  }

  #show(place: Place): void {
    if (this.#current === place) return
    this.#current = place
    this.#change.fire()
  }
}
