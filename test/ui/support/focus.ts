import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Frame, Keyboard } from 'playwright-core'
import { waitFor } from '../../host/wait-for.ts'

const page = readFileSync(join(import.meta.dirname, 'focus-page.js'), 'utf8')

/** Where the focus is: its name for a screen reader, and whether it's visible. */
export interface FocusStop {
  name: string
  class: string
  shown: boolean
  inView: boolean
}

/** Observes and moves the focus in a page. */
export class Focus {
  readonly #frame: Frame
  readonly #keyboard: Keyboard

  private constructor(frame: Frame, keyboard: Keyboard) {
    this.#frame = frame
    this.#keyboard = keyboard
  }

  static async in(frame: Frame): Promise<Focus> {
    await frame.evaluate(page)
    await frame.evaluate('parleyFocus.listen()')
    return new Focus(frame, frame.page().keyboard)
  }

  current(): Promise<FocusStop | undefined> {
    return this.#frame.evaluate<FocusStop | undefined>('parleyFocus.stop()')
  }

  /** The announcements to screen readers, oldest first. */
  announcements(): Promise<string[]> {
    return this.#frame.evaluate<string[]>('parleyFocus.heard')
  }

  /** Presses the key until the focus leaves the page; fails if it never does. */
  async tabThrough(key: 'Tab' | 'Shift+Tab', most = 150): Promise<FocusStop[]> {
    const stops: FocusStop[] = []
    for (let presses = 0; presses < most; presses++) {
      await this.#keyboard.press(key)
      const stop = await this.current()
      if (!stop) return stops
      stops.push(stop)
    }
    throw new Error(`Caught after ${most} times ${key}: ${stops.map(stop => stop.name).join(' | ')}`)
  }

  /** Presses the key until an element with this name has the focus. */
  async goTo(name: RegExp, key: 'Tab' | 'Shift+Tab' | 'ArrowUp' | 'ArrowDown', most = 60): Promise<void> {
    const passed: string[] = []
    for (let presses = 0; presses < most; presses++) {
      await this.#keyboard.press(key)
      const stop = await this.current()
      if (stop && name.test(stop.name)) return
      passed.push(stop?.name ?? 'outside')
    }
    throw new Error(`No ${name} after ${most} times ${key}: ${passed.join(' | ')}`)
  }

  /** Resolves when an element with this name has the focus. */
  waitFor(name: RegExp): Promise<FocusStop> {
    return waitFor(`focus on ${name}`, async () => {
      const stop = await this.current()
      return stop && name.test(stop.name) ? stop : undefined
    })
  }
}
