import type { FrameFilter } from '../../bridge/inspector.ts'
import type { RecordedFrame, RecordedFrames } from './recorded-frames.ts'

/** The number of frames to check before looking at the clock. */
const FRAMES_AT_ONCE = 64

/** The frames that match a filter. Each frame has a position, which stays the same when older frames are removed. */
export class FrameView {
  readonly #frames: RecordedFrames
  readonly #matches: (frame: RecordedFrame) => boolean
  /** the numbers of the matching frames; those before `#head` were removed from memory */
  #numbers: number[] = []
  #head = 0
  /** the position of the first element of `#numbers` */
  #offset = 0
  /** the number of the next frame to check */
  #next: number

  constructor(frames: RecordedFrames, filter: FrameFilter) {
    this.#frames = frames
    this.#matches = frameMatcher(filter)
    this.#next = frames.first
  }

  /** Checks new frames for at most this many milliseconds. Returns whether all frames are checked. */
  advance(milliseconds: number): boolean {
    const { first, next } = this.#frames
    this.#trim(first)
    this.#next = Math.max(this.#next, first)
    const end = performance.now() + milliseconds
    while (this.#next < next) {
      for (let i = 0; i < FRAMES_AT_ONCE && this.#next < next; i++) {
        const frame = this.#frames.get(this.#next++)
        if (frame && this.#matches(frame)) this.#numbers.push(frame.n)
      }
      if (performance.now() > end) break
    }
    return this.#next === next
  }

  get start(): number {
    return this.#offset + this.#head
  }

  get end(): number {
    return this.#offset + this.#numbers.length
  }

  /** Returns the frames at these positions that are still in memory. `from` in the result is the position of the first frame. */
  slice(from: number, to: number): { from: number; frames: RecordedFrame[] } {
    this.#trim(this.#frames.first)
    const first = Math.max(from, this.start)
    const numbers = this.#numbers.slice(first - this.#offset, Math.max(first, to) - this.#offset)
    return { from: first, frames: numbers.map(n => this.#frames.get(n)!) }
  }

  /** Returns the position of a frame; `undefined` if the filter doesn't show it. */
  positionOf(n: number): number | undefined {
    let low = this.#head
    let high = this.#numbers.length
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.#numbers[middle]! < n) low = middle + 1
      else high = middle
    }
    return this.#numbers[low] === n ? this.#offset + low : undefined
  }

  #trim(first: number): void {
    while (this.#head < this.#numbers.length && this.#numbers[this.#head]! < first) this.#head++
    if (this.#head < 1000 || this.#head < this.#numbers.length / 2) return
    this.#numbers = this.#numbers.slice(this.#head)
    this.#offset += this.#head
    this.#head = 0
  }
}

function frameMatcher(filter: FrameFilter): (frame: RecordedFrame) => boolean {
  const { agentId, sessionId, method, direction, errors } = filter
  const pattern = filter.text === '' ? undefined : patternOf(filter.text)
  return frame =>
    (agentId === undefined || frame.source.agentId === agentId) &&
    (sessionId === undefined || frame.sessionId === sessionId) &&
    (method === undefined || frame.method === method) &&
    (direction === undefined || frame.direction === direction) &&
    (!errors || frame.violations !== undefined || (frame.kind === 'response' && frame.failed)) &&
    (pattern === undefined || pattern.test(frame.json) || pattern.test(frame.method ?? ''))
}

/** Returns an expression that matches a text, either as it is or as JSON writes it. */
function patternOf(text: string): RegExp {
  const forms = new Set([text, JSON.stringify(text).slice(1, -1)])
  return new RegExp([...forms].map(form => form.replace(/[$()*+.?[\\\]^{|}]/g, '\\$&')).join('|'), 'i')
}
