import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { outDirectory } from '../host/paths.ts'
import { encodeAnimation, type Frame } from './apng.ts'

/** An animation of a window, for the README. Each of its frames is also saved as a screenshot, to look at. */
export class Film {
  readonly #page: Page
  readonly #name: string
  readonly #frames: Frame[] = []
  readonly #directory = join(outDirectory, 'screenshots')

  constructor(page: Page, name: string) {
    this.#page = page
    this.#name = name
    mkdirSync(this.#directory, { recursive: true })
  }

  /** Adds what the window shows now. `ms`: how long it's shown. */
  async show(ms: number): Promise<void> {
    const path = join(
      this.#directory,
      `${this.#name}-${String(this.#frames.length + 1).padStart(2, '0')}.png`,
    )
    // moves the mouse away, so that nothing is hovered
    await this.#page.mouse.move(2, 2)
    for (const hover of ['.workbench-hover-container', '.monaco-sash.hover'])
      await this.#page.locator(hover).first().waitFor({ state: 'hidden' })
    const part = this.#page.locator('.monaco-workbench')
    this.#frames.push({ png: await part.screenshot({ path, caret: 'hide' }), ms })
  }

  /** Types a text as the user would, a few words in each frame. */
  async type(text: string): Promise<void> {
    for (const words of text.match(/(?:\S+\s*){1,2}/g) ?? []) {
      await this.#page.keyboard.type(words)
      await this.show(180)
    }
  }

  save(): void {
    const animation = encodeAnimation(this.#frames)
    writeFileSync(join(this.#directory, `${this.#name}.png`), animation)
    console.log(`${this.#name}: ${this.#frames.length} frames, ${Math.round(animation.length / 1000)} kB`)
  }
}
