import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Frame } from 'playwright-core'
import { waitFor } from '../../host/wait-for.ts'

const source = readFileSync(join(import.meta.dirname, 'page-probe.js'), 'utf8')

/** The recordings of a view. Durations are in milliseconds, times since the epoch. */
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

/** Observes one Conversation view from inside, from `start` to `stop`. */
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

  /** Resolves when the frame with that text is done. Polls rarely, since polling costs time that is measured. */
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

  /** Frames and tasks count from now on. */
  begin(): Promise<void> {
    return this.#ask('begin()')
  }

  hold(): Promise<void> {
    return this.#ask('hold()')
  }

  moved(): Promise<number> {
    return this.#ask('moved')
  }

  /** From now on counts the frames in which a part of the view has no rows. */
  watchBlanks(): Promise<void> {
    return this.#ask('watchBlanks()')
  }

  /** Covers the list with a copy for which no code of Parley runs. */
  coverWithCopy(height: number): Promise<void> {
    return this.#ask(`layStillCopy(${height})`)
  }

  /** Resolves to how far the copy was scrolled. */
  removeCopy(): Promise<number> {
    return this.#ask('takeStillCopy()')
  }

  waitUntilIdle(): Promise<boolean> {
    return this.#ask('quiet()')
  }

  stop(): Promise<Notes> {
    return this.#ask('stop()')
  }
}
