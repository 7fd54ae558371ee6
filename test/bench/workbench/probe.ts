import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Frame } from 'playwright-core'
import { waitFor } from '../../host/wait-for.ts'

const source = readFileSync(join(import.meta.dirname, 'page-probe.js'), 'utf8')

/** What was recorded in a view. Durations are in milliseconds, times in milliseconds since the epoch. */
export interface Notes {
  gaps: number[]
  beats: number[]
  blanks: number
  tasks: Array<[duration: number, whose: string]>
  seen: Record<string, number>
  done: Record<string, number>
  chunks: Array<number | null>
  nodes: number
}

/** Observes a Conversation view from inside its page, from `start` to `stop`. */
export class Probe {
  readonly #frame: Frame

  private constructor(frame: Frame) {
    this.#frame = frame
  }

  static async start(frame: Frame): Promise<Probe> {
    await frame.evaluate(`${source};startParleyProbe()`)
    return new Probe(frame)
  }

  async #ask<T>(expression: string): Promise<T> {
    return (await this.#frame.evaluate(`parleyProbe.${expression}`)) as T
  }

  /** Records when a text appears in one of the last rows, as `name`. */
  watchText(name: string, pattern: RegExp): Promise<void> {
    return this.#ask(`want(${JSON.stringify(name)}, ${JSON.stringify(pattern.source)})`)
  }

  /** Records the chunks of the turn with this prompt. */
  watchChunks(prompt: string): Promise<void> {
    return this.#ask(`wantChunks(${JSON.stringify(prompt)})`)
  }

  /** Resolves when the frame with that text is rendered. Polls rarely, since polling adds to the measured time. */
  waitForText(name: string, timeout = 180_000): Promise<unknown> {
    const ask = () => this.#ask<number | undefined>(`done[${JSON.stringify(name)}]`)
    return waitFor(`${name} in the view`, ask, { timeout, interval: 250 })
  }

  waitForChunk(n: number): Promise<unknown> {
    return waitFor(`chunk ${n}`, () => this.#ask<boolean>(`chunks[${n}] !== undefined`), {
      timeout: 120_000,
      interval: 250,
    })
  }

  /** Starts to count frames and tasks. */
  begin(): Promise<void> {
    return this.#ask('begin()')
  }

  hold(): Promise<void> {
    return this.#ask('hold()')
  }

  moved(): Promise<number> {
    return this.#ask('moved')
  }

  /** Starts to count the frames in which a part of the view has no rows. */
  watchBlanks(): Promise<void> {
    return this.#ask('watchBlanks()')
  }

  /** Covers the list with a copy that scrolls without Parley's code. */
  coverWithCopy(height: number): Promise<void> {
    return this.#ask(`layStillCopy(${height})`)
  }

  /** Removes the copy; resolves to how far it was scrolled. */
  removeCopy(): Promise<number> {
    return this.#ask('takeStillCopy()')
  }

  /** Replaces Parley's page with one that only appends the text, and records its chunks. */
  onlyAppend(): Promise<void> {
    return this.#ask('onlyAppend()')
  }

  appendNoMore(): Promise<void> {
    return this.#ask('appendNoMore()')
  }

  waitUntilIdle(): Promise<boolean> {
    return this.#ask('quiet()')
  }

  stop(): Promise<Notes> {
    return this.#ask('stop()')
  }
}
