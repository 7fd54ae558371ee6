import assert from 'node:assert/strict'
import type { Locator, Page } from 'playwright-core'
import type { PageWindow } from './page-window.ts'

/** Counts what a user does in a window. */
class Hands {
  readonly #page: Page
  clicks = 0
  keys = 0

  constructor(workbench: PageWindow) {
    this.#page = workbench.page
  }

  async click(target: Locator): Promise<void> {
    await target.click()
    this.clicks += 1
  }

  /** Keys pressed one after the other, such as a chord; a key with its modifiers counts once. */
  async press(...keys: string[]): Promise<void> {
    for (const key of keys) await this.#page.keyboard.press(key)
    this.keys += keys.length
  }

  async type(text: string): Promise<void> {
    await this.#page.keyboard.type(text)
    this.keys += text.length
  }

  /** A prompt, typed in the focused input. */
  async ask(prompt: string): Promise<void> {
    await this.type(prompt)
    await this.press('Enter')
  }
}

/** The limits of a task. Seconds are printed but not limited, since they depend on the machine. */
interface Limits {
  clicks: number
  keys: number
}

/** The tasks of the `describe` that creates it, whose clicks and keys are limited and printed. */
export class CountedTasks {
  readonly #results: Array<{ task: string; clicks: number; keys: number; seconds: string }> = []

  constructor() {
    const results = this.#results
    after(() => {
      const width = Math.max(...results.map(({ task }) => task.length))
      console.log(`\n      ${'task'.padEnd(width)}  clicks  keystrokes  seconds`)
      for (const { task, clicks, keys, seconds } of results)
        console.log(
          `      ${task.padEnd(width)}  ${String(clicks).padStart(6)}  ${String(keys).padStart(10)}  ${seconds.padStart(7)}`,
        )
    })
  }

  readonly task = async (
    name: string,
    workbench: PageWindow,
    limits: Limits,
    work: (hands: Hands) => Promise<void>,
  ): Promise<void> => {
    const hands = new Hands(workbench)
    const start = performance.now()
    await work(hands)
    const seconds = ((performance.now() - start) / 1000).toFixed(1)
    const { clicks, keys } = hands
    this.#results.push({ task: name, clicks, keys, seconds })
    assert.ok(clicks <= limits.clicks, `${name}: ${clicks} clicks, at most ${limits.clicks}`)
    assert.ok(keys <= limits.keys, `${name}: ${keys} keystrokes, at most ${limits.keys}`)
  }
}
