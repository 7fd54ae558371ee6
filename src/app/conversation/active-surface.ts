import { Owner } from '../../common/disposable.ts'
import { Emitter } from '../../common/event.ts'

/**
 * A page's report about the keyboard focus. `used` means that the user pressed a key or clicked, so the focus isn't just passing through.
 */
export type FocusReport = 'came' | 'used' | 'left'

/**
 * How long a surface must have the focus to become active, in milliseconds. When the palette closes, it returns the focus for a moment
 * before its command moves the focus elsewhere.
 */
const FOCUS_STAYS_MS = 300

/**
 * Determines which of several surfaces is active. A surface becomes active immediately when the user does something in it,
 * and after a moment when it only has the focus.
 *
 * A command applies to the surface that was active when the user invoked it. When the palette closes, VS Code always
 * focuses the active editor, and the command may run much later, so having the focus isn't sufficient for a command. A
 * surface counts if the user presses a key in it, or if the focus leaves it when they open the palette.
 */
export class ActiveSurface<Surface> extends Owner {
  readonly #change = this.register(new Emitter<void>())
  #current: Surface | undefined
  /** the surface that the user used last, if the current surface only got the focus since */
  #before: Surface | undefined
  /** the surface that the user used last, if its page still has the focus */
  #inUse: Surface | undefined
  readonly #focused = new Set<Surface>()
  #timer: NodeJS.Timeout | undefined
  #commands = 0

  readonly onDidChange = this.#change.event

  constructor() {
    super()
    this.register({ dispose: () => clearTimeout(this.#timer) })
  }

  get current(): Surface {
    if (this.#current === undefined) throw new Error('There is no surface yet.')
    return this.#current
  }

  /** Activates a surface in which the user did something, or that a command revealed. */
  set(surface: Surface): void {
    clearTimeout(this.#timer)
    this.#before = undefined
    this.#show(surface)
  }

  report(surface: Surface, focus: FocusReport): void {
    if (focus === 'left') this.#blurred(surface)
    else this.#focused.add(surface)
    if (focus === 'used') {
      // no other page can have the focus, even if a busy page reports the loss later
      for (const other of this.#focused) if (other !== surface) this.#focused.delete(other)
      this.#inUse = surface
      this.set(surface)
    } else this.#activateFocusedSoon()
  }

  /** Removes a surface; `instead` replaces it. */
  remove(surface: Surface, instead: Surface): void {
    this.#blurred(surface)
    if (this.#before === surface) this.#before = undefined
    if (this.#current === surface) this.set(instead)
  }

  /**
   * Runs a command for the surface in which the user invoked it. Until the command ends, only the user's actions change the active surface.
   */
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

  #blurred(surface: Surface): void {
    this.#focused.delete(surface)
    if (this.#inUse === surface) this.#inUse = undefined
    if (this.#current === surface) this.#before = undefined
  }

  /** Activates the focused surface after a moment. Late reports of other pages are ignored while the user is using a page. */
  #activateFocusedSoon(): void {
    clearTimeout(this.#timer)
    if (this.#inUse !== undefined || this.#commands > 0) return
    const surface = [...this.#focused].at(-1)
    if (surface === undefined || surface === this.#current) return
    this.#timer = setTimeout(() => {
      this.#before = this.#current
      this.#show(surface)
    }, FOCUS_STAYS_MS)
  }

  #show(surface: Surface): void {
    if (this.#current === surface) return
    const isFirst = this.#current === undefined
    this.#current = surface
    if (!isFirst) this.#change.fire()
  }
}
