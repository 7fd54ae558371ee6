import { closeSync, openSync, readSync, rmSync, writeSync } from 'node:fs'
import { PRIVATE_FILE } from '../common/private-files.ts'

export interface JournalOptions {
  /** where frames go that don't fit in memory; created when needed */
  file: string
  /** bytes of frames in memory */
  maxMemory: number
  /** bytes of frames in the file */
  maxFile: number
}

interface Kept {
  length: number
  /** in memory */
  bytes?: Buffer
  /** or where it begins in the file */
  offset?: number
}

/**
 * The frames of an agent that no window has confirmed yet, each with a number, from 1. They are in memory up to a limit, then
 * in a file. Once that is full too, or can't be written, {@link isFull} asks to read nothing more from the agent.
 */
export class Journal {
  readonly #options: JournalOptions
  /** from `#first` on */
  #kept: Kept[] = []
  #first = 0
  #confirmed = 0
  #lastOfConversation = 0
  #memory = 0
  /** the bytes of kept frames in the file, and where the next one is written */
  #inFile = 0
  #fileEnd = 0
  #file: number | undefined
  #isFileBroken = false

  constructor(options: JournalOptions) {
    this.#options = options
  }

  /** the number of the last frame */
  get last(): number {
    return this.#confirmed + this.#kept.length - this.#first
  }

  /** the number up to which frames are confirmed and dropped */
  get confirmed(): number {
    return this.#confirmed
  }

  /**
   * Whether a frame is kept that belongs to a conversation. The responses to other requests mean nothing to a later window,
   * which didn't send them.
   */
  get keepsConversation(): boolean {
    return this.#confirmed < this.#lastOfConversation
  }

  get isFull(): boolean {
    const { maxMemory, maxFile } = this.#options
    return this.#memory >= maxMemory && (this.#isFileBroken || this.#fileEnd >= maxFile)
  }

  append(frame: Buffer, isConversation: boolean): void {
    this.#kept.push(this.#keep(frame))
    if (isConversation) this.#lastOfConversation = this.last
  }

  /** A kept frame. */
  read(number: number): Buffer {
    const kept = this.#kept[this.#first + number - this.#confirmed - 1]
    if (!kept || number <= this.#confirmed) throw new RangeError(`Frame ${number} isn't kept.`)
    if (kept.bytes) return kept.bytes
    const bytes = Buffer.allocUnsafe(kept.length)
    for (let done = 0; done < kept.length; ) {
      const read = readSync(this.#file!, bytes, done, kept.length - done, kept.offset! + done)
      if (read === 0) throw new Error('The journal of an agent was cut.')
      done += read
    }
    return bytes
  }

  /** Drops the frames up to this number. A number that was confirmed before, or that doesn't exist yet, changes nothing more. */
  confirm(number: number): void {
    const until = Math.min(number, this.last)
    for (; this.#confirmed < until; this.#confirmed++) {
      const { bytes, length } = this.#kept[this.#first]!
      // a kept array would keep its frames
      this.#kept[this.#first++] = { length: 0 }
      if (bytes) this.#memory -= length
      else this.#inFile -= length
    }
    if (this.#first > 1000 && this.#first * 2 > this.#kept.length) {
      this.#kept = this.#kept.slice(this.#first)
      this.#first = 0
    }
    if (this.#inFile === 0) this.#closeFile()
  }

  dispose(): void {
    this.#kept = []
    this.#first = 0
    this.#closeFile()
  }

  #keep(frame: Buffer): Kept {
    const { maxMemory } = this.#options
    const { length } = frame
    if (this.#memory + length > maxMemory && this.#memory > 0 && this.#write(frame)) {
      const offset = this.#fileEnd
      this.#fileEnd += length
      this.#inFile += length
      return { length, offset }
    }
    this.#memory += length
    // a part of a chunk would keep all of it
    return { length, bytes: Buffer.from(frame) }
  }

  /** Whether it was written; if not, as when the disk is full, it stays in memory and nothing more is read. */
  #write(frame: Buffer): boolean {
    if (this.#isFileBroken || this.#fileEnd >= this.#options.maxFile) return false
    try {
      this.#file ??= openSync(this.#options.file, 'w+', PRIVATE_FILE)
      for (let done = 0; done < frame.length; )
        done += writeSync(this.#file, frame, done, frame.length - done, this.#fileEnd + done)
      return true
    } catch {
      this.#isFileBroken = true
      return false
    }
  }

  #closeFile(): void {
    if (this.#file !== undefined) {
      closeSync(this.#file)
      rmSync(this.#options.file, { force: true })
    }
    this.#file = undefined
    this.#fileEnd = 0
    this.#isFileBroken = false
  }
}
