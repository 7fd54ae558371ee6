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
  /** the path of the file for frames that don't fit in memory; created when it's needed */
  file: string
  /** the maximum size of the frames in memory, in bytes */
  maxMemory: number
  /** the maximum size of the frames in the file, in bytes */
  maxFile: number
  /** How frames are stored for other processes; absent: they aren't stored for them. */
  outliving?: OutlivingOptions
}

export interface OutlivingOptions {
  /** Returns whether frames are written to the file even if they fit in memory. */
  isOn: () => boolean
  /** Returns the state that another process needs to read the frames, as JSON. */
  state: () => string
  /** Returns how long frames may wait to be written together, in milliseconds. */
  delayMs: () => number
  /**
   * Returns the bytes to write for consecutive frames. For a frame that is useless to another process, the bytes are an empty line. The
   * last frames may be held back until more frames arrive, unless `isLast` says that no more are coming for now.
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
  /** the frame, while it's in memory */
  bytes?: Buffer | undefined
  /** the frame's offset in the file, if the file contains it */
  offset?: number | undefined
}

/** The size of a record's head, in bytes: the length of the content, the checksum of the rest, and the kind. */
const RECORD_HEAD = 9
const STATE = 0
const FRAME = 1
/** The maximum size of frames that are written together because they don't fit in memory, in bytes. */
const MAX_BATCH = 256 * 1024

/**
 * The frames of an agent that no window has confirmed yet, numbered from 1. Frames are kept in memory up to a limit, then in a file. When
 * the file is full or can't be written, {@link isFull} says to stop reading from the agent. With {@link OutlivingOptions}, all frames are
 * soon written to the file, after the state that another process needs to read them.
 */
export class Journal {
  readonly #options: JournalOptions
  /** the unconfirmed frames, starting at index `#first` */
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
  /** the number of the last frame in memory when the file was written last */
  #lastThen = 0
  #timer: NodeJS.Timeout | undefined

  /** `contents` are the contents of an existing journal that another process has written. */
  constructor(options: JournalOptions, contents?: JournalContents) {
    this.#options = options
    if (!contents) return
    const { before, frames, end } = contents
    this.#confirmed = before
    this.#written = before + frames.length
    for (const [i, { offset, length }] of frames.entries()) {
      // An empty line stands for a frame that isn't part of a conversation.
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

  /** the number of the last confirmed frame; the frames up to it are dropped */
  get confirmed(): number {
    return this.#confirmed
  }

  /**
   * Whether there are unconfirmed frames of a conversation. Responses to other requests are useless to a later window, which didn't send
   * the requests.
   */
  get keepsConversation(): boolean {
    return this.#confirmed < this.#lastOfConversation
  }

  get isFull(): boolean {
    const { maxMemory, maxFile } = this.#options
    // Frames that couldn't be written stay in memory, so memory has a second limit.
    if (this.#memory >= 2 * maxMemory + MAX_BATCH) return true
    return this.#memory >= maxMemory && (this.#isFileBroken || this.#fileEnd >= maxFile)
  }

  append(frame: Buffer, isConversation: boolean): void {
    // The frame is copied, because a slice would keep its whole chunk in memory.
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

  /** Stores the new state. Must be called when `state` or `isOn` of {@link OutlivingOptions} returns another value. */
  stateChanged(): void {
    this.#isStateOld = true
    if (this.#isOutliving) this.#schedule()
    else if (this.#file !== undefined) this.flush()
    else rmSync(this.#options.file, { force: true })
  }

  /** Returns a frame. Throws a `RangeError` if the frame is already confirmed. */
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

  /** Drops the frames up to this number. Has no effect on frames that are already confirmed or don't exist yet. */
  confirm(number: number): void {
    const until = Math.min(number, this.last)
    for (; this.#confirmed < until; this.#confirmed++) {
      const { bytes, length } = this.#frames[this.#first]!
      // Replaces the entry, because the array would keep its frame in memory.
      this.#frames[this.#first++] = { length: 0, isConversation: false }
      if (bytes) this.#memory -= length
    }
    if (this.#first > 1000 && this.#first * 2 > this.#frames.length) {
      this.#frames = this.#frames.slice(this.#first)
      this.#first = 0
    }
    if (this.#confirmed >= this.#written) this.#closeFile()
  }

  /** Writes the waiting frames. `isLast`: writes them all, because no more are coming for now. */
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
      // Only a frame that was written unchanged can be read from the file again.
      if (written[i] === frames[i]!.bytes) frames[i]!.offset = offset
    }
    // Removes the last frames from memory first, because the first frames are read first.
    for (let i = written.length - 1; i >= 0 && this.#memory > maxMemory; i--) this.#evict(frames[i]!)
  }

  /** Removes all frames. `keepsFile`: whether the file is kept, because another process may need it. */
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

  /** Writes bytes to the file and returns whether they were written. If not (the disk may be full), the frames stay in memory. */
  #write(bytes: Buffer): boolean {
    const { file, outliving } = this.#options
    // The file is first written under another name, so that another process only finds a complete file.
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

  /** Undoes a failed write, which may have written a part of the bytes. */
  #undo(opened: number | undefined, isNew: boolean, created: string): void {
    try {
      if (!isNew) ftruncateSync(opened!, this.#fileEnd)
      else {
        if (opened !== undefined) closeSync(opened)
        rmSync(created, { force: true })
      }
    } catch {
      // The next record overwrites the incomplete record.
    }
  }

  /** Closes the file, because all of its records are confirmed. The next record starts a new file, which replaces this file. */
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
  /** the number of frames before the first frame in the file */
  before: number
  frames: Array<{ offset: number; length: number }>
  end: number
}

/**
 * Reads a journal up to the first incomplete record, which the process was writing when it was killed. Returns `undefined` if the journal
 * is empty. Throws if the file can't be read.
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
