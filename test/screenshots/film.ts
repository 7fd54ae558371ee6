import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { outDirectory } from '../host/paths.ts'
import { runCommand } from '../host/run-command.ts'

/** One palette for all frames, in which the interface's colors stay as they are. */
const PALETTE =
  'split[a][b];[a]palettegen=stats_mode=full:max_colors=255[palette];[b][palette]paletteuse=dither=none'

/** An animation of a window, for the README. Each of its frames is also saved as a screenshot, to look at. */
export class Film {
  readonly #page: Page
  readonly #name: string
  readonly #directory = join(outDirectory, 'screenshots')
  /** in the format of ffmpeg's `concat` */
  readonly #list: string[] = []

  constructor(page: Page, name: string) {
    this.#page = page
    this.#name = name
    mkdirSync(this.#directory, { recursive: true })
  }

  /** Adds what the window shows now. `ms`: how long it's shown. */
  async show(ms: number): Promise<void> {
    const file = `${this.#name}-${String(this.#list.length + 1).padStart(2, '0')}.png`
    // moves the mouse away, so that nothing is hovered
    await this.#page.mouse.move(2, 2)
    for (const hover of ['.workbench-hover-container', '.monaco-sash.hover'])
      await this.#page.locator(hover).first().waitFor({ state: 'hidden' })
    const part = this.#page.locator('.monaco-workbench')
    await part.screenshot({ path: join(this.#directory, file), caret: 'hide' })
    this.#list.push(`file ${file}\nduration ${ms / 1000}\n`)
  }

  /** Types a text as the user would, a few words in each frame. */
  async type(text: string): Promise<void> {
    for (const words of text.match(/(?:\S+\s*){1,2}/g) ?? []) {
      await this.#page.keyboard.type(words)
      await this.show(180)
    }
  }

  /** Writes a PNG animation that repeats forever, with ffmpeg. */
  async save(): Promise<void> {
    const list = `${this.#name}.txt`
    writeFileSync(join(this.#directory, list), this.#list.join(''))
    const input = ['-f', 'concat', '-i', list, '-vsync', 'vfr', '-filter_complex', PALETTE]
    const output = ['-plays', '0', '-f', 'apng', `${this.#name}.png`]
    await runCommand('ffmpeg', ['-v', 'error', '-y', ...input, ...output], { cwd: this.#directory })
  }
}
