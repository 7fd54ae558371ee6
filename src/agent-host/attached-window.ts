import type { HostChannel, HostMessage } from '../acp/transport/host/channel.ts'
import type { Journal } from './journal.ts'

/** The size of collected frames at which they are sent as a message, in bytes. */
const MAX_MESSAGE = 64 * 1024
/** The maximum number of bytes that were sent to a window but that it hasn't read. Beyond this limit, output stays in the agent's pipe. */
const MAX_UNTAKEN = 1024 * 1024

/**
 * A window that is attached to an agent. Counts the window's messages for the agent, and the output that was sent to the window and that it
 * has taken.
 */
export class AttachedWindow {
  readonly #channel: HostChannel
  readonly #journal: Journal
  #writes = 0
  #sent: number
  /** for each sent message that the window hasn't taken: the number of its last frame, and its bytes */
  #untaken: Array<{ number: number; bytes: number }> = []
  #untakenBytes = 0
  #isOutputEndSent = false

  /** `read` is the last frame that the window got from a previous host. */
  constructor(channel: HostChannel, journal: Journal, read: number) {
    this.#channel = channel
    this.#journal = journal
    this.#sent = Math.min(Math.max(read, journal.confirmed), journal.last)
  }

  /** The number of the last frame that was sent to the window. */
  get sent(): number {
    return this.#sent
  }

  /** Whether the window must take output before more is sent. */
  get isBehind(): boolean {
    return this.#untakenBytes >= MAX_UNTAKEN
  }

  send(message: HostMessage, body?: Buffer): void {
    this.#channel.send(message, body)
  }

  /** Counts a message for the agent from the window. */
  wrote(): void {
    this.#writes++
  }

  /** Notes that the window has taken the output up to this frame. */
  took(number: number): void {
    let count = 0
    for (; this.#untaken[count] && this.#untaken[count]!.number <= number; count++)
      this.#untakenBytes -= this.#untaken[count]!.bytes
    this.#untaken.splice(0, count)
  }

  /** Sends as much of the agent's output as the window can take. Returns `false` if the output couldn't be read. */
  pass(): boolean {
    while (this.#sent < this.#journal.last && !this.isBehind) if (!this.#passSome()) return false
    return true
  }

  /** Sends the next frames in one message, because a message for each frame would cost more than everything else. */
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

  /** Tells the window that no more output comes. */
  endOutput(): void {
    if (this.#isOutputEndSent) return
    this.#isOutputEndSent = true
    this.send({ type: 'outputEnd' })
  }

  /** Tells the window that another window has the agent now. Later messages of this window don't reach the agent. */
  takenOver(): void {
    this.send({ type: 'taken over', writes: this.#writes })
    this.#channel.end()
  }
}
