import type { HostChannel, HostMessage } from '../acp/transport/host/channel.ts'
import type { Journal } from './journal.ts'

/** Bytes of frames after which a message is sent. */
const MAX_MESSAGE = 64 * 1024
/** Maximum number of bytes sent to a window that hasn't read them yet. Beyond that, output stays in the agent's pipe. */
const MAX_UNTAKEN = 1024 * 1024

/** A window that has an agent: how many messages for the agent came from the window, and how much output it was sent and has taken. */
export class AttachedWindow {
  readonly #channel: HostChannel
  readonly #journal: Journal
  #writes = 0
  /** the number of the last frame that was sent */
  #sent: number
  /** the bytes that the window hasn't taken yet, by message */
  #untaken: Array<{ number: number; bytes: number }> = []
  #untakenBytes = 0
  #isOutputEndSent = false

  /** `read`: the last frame that the window got from a previous host. */
  constructor(channel: HostChannel, journal: Journal, read: number) {
    this.#channel = channel
    this.#journal = journal
    this.#sent = Math.min(Math.max(read, journal.confirmed), journal.last)
  }

  /** The number of the last frame that was sent. */
  get sent(): number {
    return this.#sent
  }

  /** The window hasn't taken what it was sent. */
  get isBehind(): boolean {
    return this.#untakenBytes >= MAX_UNTAKEN
  }

  send(message: HostMessage, body?: Buffer): void {
    this.#channel.send(message, body)
  }

  /** A message for the agent came from the window. */
  wrote(): void {
    this.#writes++
  }

  /** The window has taken the output up to this frame. */
  took(number: number): void {
    let count = 0
    for (; this.#untaken[count] && this.#untaken[count]!.number <= number; count++)
      this.#untakenBytes -= this.#untaken[count]!.bytes
    this.#untaken.splice(0, count)
  }

  /** Sends as much of the agent's output as the window can take. Returns false if it couldn't be read. */
  pass(): boolean {
    while (this.#sent < this.#journal.last && !this.isBehind) if (!this.#passSome()) return false
    return true
  }

  /** Sends the next frames together: one message for each would cost more than all else. */
  #passSome(): boolean {
    const frames: Buffer[] = []
    let [number, bytes] = [this.#sent, 0]
    try {
      while (number < this.#journal.last && bytes < MAX_MESSAGE) {
        const frame = this.#journal.read(number + 1)
        frames.push(frame)
        bytes += frame.length
        number++
      }
    } catch {
      return false
    }
    this.#sent = number
    this.#untaken.push({ number, bytes })
    this.#untakenBytes += bytes
    this.send({ type: 'frames', last: number }, Buffer.concat(frames))
    return true
  }

  /** No more output comes. */
  endOutput(): void {
    if (this.#isOutputEndSent) return
    this.#isOutputEndSent = true
    this.send({ type: 'outputEnd' })
  }

  /** Another window has the agent now, which gets none of this window's later messages. */
  takenOver(): void {
    this.send({ type: 'taken over', writes: this.#writes })
    this.#channel.end()
  }
}
