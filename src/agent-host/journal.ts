import {
  closeSync,
  ftruncateSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { crc32 } from 'node:zlib'
import { JOURNAL_RETRY_MS } from '../common/limits.ts'
import { PRIVATE_FILE } from '../common/private-files.ts'

export interface JournalOptions {
  /** where frames go that don't fit in memory; created when needed */
  file: string
  /** bytes of frames in memory */
  maxMemory: number
  /** bytes of frames in the file */
  maxFile: number
  /** How frames are stored for other processes; absent: they aren't. */
  outliving?: OutlivingOptions
}

export interface OutlivingOptions {
  /** Whether frames go to the file also if they fit in memory. */
  isOn: () => boolean
  /** The state that another process needs to read the frames, as JSON. */
  state: () => string
  /** How long they may wait to be written together, in milliseconds. */
  delayMs: () => number
  /**
   * The bytes to write for consecutive frames: an empty line for a frame that is useless to another process. The last frames may be held
   * back until more arrive, unless `isLast` says that no more are coming for now.
   */
  written: (frames: readonly JournalFrame[], isLast: boolean) => Buffer[]
}

export interface JournalFrame {
  bytes: Buffer
  isConversation: boolean
}

interface UnconfirmedFrame {
  length: number
  isConversation: boolean
  /** in memory */
  bytes?: Buffer | undefined
  /** its offset in the file */
  offset?: number | undefined
}

/** Size of a record's head: the length of its content, the checksum of the rest, and the kind. */
const RECORD_HEAD = 9
const STATE = 0
const FRAME = 1
/** More frames than fit in memory are written together, up to this many bytes. */
const MAX_BATCH = 256 * 1024

/**
 * The frames of an agent that no window has confirmed yet, numbered from 1. Frames are in memory up to a limit, then in a file. Once the
 * file is full or can't be written, {@link isFull} asks to stop reading from the agent. With {@link OutlivingOptions}, frames are always
 * written to the file soon, after the state that another process needs to read them.
 */
export class Journal {
  readonly #options: JournalOptions
  /** from `#first` on */
  #frames: UnconfirmedFrame[] = []
  #first = 0
  #confirmed = 0
  #lastOfConversation = 0
  #memory = 0
  #file: number | undefined
  #fileEnd = 0
  /** the number of the last frame in the file */
  #written = 0
  #isStateOld = true
  #isFileBroken = false
  /** the number of the last frame in memory when the file was last written */
  #lastThen = 0
  #timer: NodeJS.Timeout | undefined

  /** `contents`: those of an existing journal that another process has written. */
  constructor(options: JournalOptions, contents?: JournalContents) {
    this.#options = options
    if (!contents) return
    const { before, frames, end } = contents
    this.#confirmed = before
    this.#written = before + frames.length
    for (const [i, { offset, length }] of frames.entries()) {
      // an empty line is a frame that isn't part of a conversation
      const isConversation = length > 1
      this.#frames.push({ length, offset, isConversation })
      if (isConversation) this.#lastOfConversation = before + i + 1
    }
    this.#file = openSync(options.file, 'r+')
    this.#fileEnd = end
    this.#isStateOld = false
  }

  /** the number of the last frame */
  get last(): number {
    return this.#confirmed + this.#frames.length - this.#first
  }

  /** the number up to which frames are confirmed and dropped */
  get confirmed(): number {
    return this.#confirmed
  }

  /**
   * Whether unconfirmed frames of a conversation are left. Responses to other requests are useless to a later window, which didn't send the
   * requests.
   */
  get keepsConversation(): boolean {
    return this.#confirmed < this.#lastOfConversation
  }

  get isFull(): boolean {
    const { maxMemory, maxFile } = this.#options
    // frames that couldn't be written stay in memory
    if (this.#memory >= 2 * maxMemory + MAX_BATCH) return true
    return this.#memory >= maxMemory && (this.#isFileBroken || this.#fileEnd >= maxFile)
  }

  append(frame: Buffer, isConversation: boolean): void {
    // a slice of a chunk would keep the whole chunk in memory
    this.#frames.push({ length: frame.length, isConversation, bytes: Buffer.from(frame) })
    this.#memory += frame.length
    if (isConversation) this.#lastOfConversation = this.last
    const { maxMemory } = this.#options
    if (this.#memory > maxMemory && this.#memory > frame.length) {
      const isEnough = this.#memory - maxMemory >= Math.min(MAX_BATCH, maxMemory / 8)
      if (isEnough && !this.#isFileBroken) this.flush()
    }
    this.#schedule()
  }

  /** Call when `state` or `isOn` of {@link OutlivingOptions} returns another value. */
  stateChanged(): void {
    this.#isStateOld = true
    if (this.#isOutliving) this.#schedule()
    else if (this.#file !== undefined) this.flush()
    else rmSync(this.#options.file, { force: true })
  }

  /** Throws a `RangeError` for a frame that is confirmed already. */
  read(number: number): Buffer {
    const frame = this.#frames[this.#first + number - this.#confirmed - 1]
    if (!frame || number <= this.#confirmed) throw new RangeError(`Frame ${number} isn't kept.`)
    if (frame.bytes) return frame.bytes
    const bytes = Buffer.allocUnsafe(frame.length)
    for (let done = 0; done < frame.length; ) {
      const read = readSync(this.#file!, bytes, done, frame.length - done, frame.offset! + done)
      if (read === 0) throw new Error('The journal of an agent was cut.')
      done += read
    }
    return bytes
  }

  /** Drops the frames up to this number. A number that was confirmed before, or that doesn't exist yet, changes nothing more. */
  confirm(number: number): void {
    const until = Math.min(number, this.last)
    for (; this.#confirmed < until; this.#confirmed++) {
      const { bytes, length } = this.#frames[this.#first]!
      // an entry that stays in the array would keep its frame in memory
      this.#frames[this.#first++] = { length: 0, isConversation: false }
      if (bytes) this.#memory -= length
    }
    if (this.#first > 1000 && this.#first * 2 > this.#frames.length) {
      this.#frames = this.#frames.slice(this.#first)
      this.#first = 0
    }
    if (this.#confirmed >= this.#written) this.#closeFile()
  }

  /** Writes the waiting frames. `isLast`: all of them. */
  flush(isLast = false): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const { outliving, maxFile, maxMemory } = this.#options
    const isNew = this.#file === undefined
    if (!isNew && this.#fileEnd >= maxFile) return
    const from = Math.max(this.#written, this.#confirmed)
    const frames = this.#frames.slice(this.#first + from - this.#confirmed) as Array<
      UnconfirmedFrame & JournalFrame
    >
    const written =
      outliving?.written(frames, isLast || this.last === this.#lastThen) ?? frames.map(({ bytes }) => bytes)
    this.#lastThen = this.last
    if (written.length < frames.length) this.#schedule()
    const state = this.#isStateOld || isNew ? outliving?.state() : undefined
    if (written.length === 0 && state === undefined) return
    const records = state === undefined ? [] : [record(STATE, Buffer.from(`${from} ${state}`))]
    let end = (isNew ? 0 : this.#fileEnd) + (records[0]?.length ?? 0)
    const offsets = written.map(bytes => {
      records.push(record(FRAME, bytes))
      end += RECORD_HEAD + bytes.length
      return end - bytes.length
    })
    if (!this.#write(Buffer.concat(records))) {
      this.#schedule(JOURNAL_RETRY_MS)
      return
    }
    this.#fileEnd = end
    this.#written = from + written.length
    this.#isStateOld = false
    for (const [i, offset] of offsets.entries()) {
      // only an unchanged frame can be read from the file again
      if (written[i] === frames[i]!.bytes) frames[i]!.offset = offset
    }
    // evict the last frames first, since the first ones are read first
    for (let i = written.length - 1; i >= 0 && this.#memory > maxMemory; i--) this.#evict(frames[i]!)
  }

  /** Removes all frames. `keepsFile`: another process may need the file. */
  dispose(keepsFile = false): void {
    if (keepsFile) this.flush(true)
    clearTimeout(this.#timer)
    this.#timer = undefined
    if (this.#file !== undefined) closeSync(this.#file)
    this.#file = undefined
    if (!keepsFile) rmSync(this.#options.file, { force: true })
    this.#frames = []
    this.#first = 0
  }

  get #isOutliving(): boolean {
    return this.#options.outliving?.isOn() === true
  }

  #evict(frame: UnconfirmedFrame): void {
    if (frame.offset === undefined || !frame.bytes) return
    frame.bytes = undefined
    this.#memory -= frame.length
  }

  #schedule(ms?: number): void {
    const { outliving } = this.#options
    if (this.#timer || !outliving || !this.#isOutliving) return
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      if (this.#isOutliving) this.flush()
    }, ms ?? outliving.delayMs())
    this.#timer.unref()
  }

  /** Returns whether the bytes were written; if not, such as when the disk is full, they stay in memory and nothing more is read. */
  #write(bytes: Buffer): boolean {
    const { file, outliving } = this.#options
    // written under another name first, so that another process finds only a complete file
    const created = outliving ? `${file}.new` : file
    const isNew = this.#file === undefined
    let opened: number | undefined
    try {
      opened = this.#file ?? openSync(created, 'w+', PRIVATE_FILE)
      for (let done = 0; done < bytes.length; )
        done += writeSync(opened, bytes, done, bytes.length - done, (isNew ? 0 : this.#fileEnd) + done)
      if (isNew && created !== file) renameSync(created, file)
      this.#file = opened
      this.#isFileBroken = false
      return true
    } catch {
      this.#isFileBroken = true
      this.#undo(opened, isNew, created)
      return false
    }
  }

  /** A part may have been written. */
  #undo(opened: number | undefined, isNew: boolean, created: string): void {
    try {
      if (!isNew) ftruncateSync(opened!, this.#fileEnd)
      else {
        if (opened !== undefined) closeSync(opened)
        rmSync(created, { force: true })
      }
    } catch {
      // the next record overwrites the incomplete one
    }
  }

  /** All records of the file are confirmed: the next record starts a new file, which replaces this one. */
  #closeFile(): void {
    this.#isFileBroken = false
    if (this.#file === undefined) return
    closeSync(this.#file)
    this.#file = undefined
    this.#fileEnd = 0
    if (this.#isOutliving) this.#schedule()
    else rmSync(this.#options.file, { force: true })
  }
}

function record(kind: number, content: Buffer): Buffer {
  const bytes = Buffer.allocUnsafe(RECORD_HEAD + content.length)
  bytes.writeUInt32LE(content.length, 0)
  bytes[8] = kind
  content.copy(bytes, RECORD_HEAD)
  bytes.writeUInt32LE(crc32(bytes.subarray(8)), 4)
  return bytes
}

export interface JournalContents {
  /** the last stored state */
  state: string
  /** the number of frames before the first one in the file */
  before: number
  frames: Array<{ offset: number; length: number }>
  end: number
}

/**
 * Reads a journal up to the first incomplete record, which its process was writing when it was killed; `undefined` if the journal is empty.
 * Throws if the file can't be read.
 */
export function readJournal(file: string): JournalContents | undefined {
  const bytes = readFileSync(file)
  let read: JournalContents | undefined
  for (let at = 0; at + RECORD_HEAD <= bytes.length; ) {
    const [length, offset] = [bytes.readUInt32LE(at), at + RECORD_HEAD]
    const end = offset + length
    if (end > bytes.length || crc32(bytes.subarray(at + 8, end)) !== bytes.readUInt32LE(at + 4)) break
    if (bytes[at + 8] === STATE) {
      const text = bytes.toString('utf8', offset, end)
      const space = text.indexOf(' ')
      read ??= { state: '', before: Number(text.slice(0, space)), frames: [], end: 0 }
      read.state = text.slice(space + 1)
    } else if (read) read.frames.push({ offset, length })
    else break
    read.end = end
    at = end
  }
  return read
}
