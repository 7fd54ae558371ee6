import type { HostChannel } from './channel.ts'

interface Write {
  bytes: Buffer
  done: (error?: Error) => void
}

/** The messages that a window has written for an agent in the host, and that the host hasn't written to the agent yet. */
export class HostedInput {
  #channel: HostChannel
  /** the messages that the host hasn't written to the agent yet, in order */
  #writes: Write[] = []
  /** the number of sent messages */
  #sent = 0
  /** the messages that can't reach the agent anymore because another window has attached */
  #unsent: Buffer[] | undefined
  #isHandedOver = false

  constructor(channel: HostChannel) {
    this.#channel = channel
  }

  /** Whether another window has the agent, or may have taken it. */
  get isHandedOver(): boolean {
    return this.#isHandedOver
  }

  /** The input that didn't reach the agent. */
  get unsent(): string {
    return Buffer.concat(this.#unsent ?? []).toString()
  }

  /** Continues with another channel: the host has crashed, and another host has the agent. */
  moveTo(channel: HostChannel): void {
    this.#channel = channel
  }

  write(bytes: Buffer, done: Write['done']): void {
    if (this.#unsent) {
      this.#unsent.push(bytes)
      done()
      return
    }
    if (this.#channel.isClosed) {
      done(closedInput())
      return
    }
    this.#channel.send({ type: 'write' }, bytes)
    this.#sent++
    this.#writes.push({ bytes, done: this.#isHandedOver ? () => {} : done })
    if (this.#isHandedOver) done()
  }

  /** Settles the oldest write: the host has written its message to the agent, or couldn't (`isWritten`). */
  written(isWritten: boolean): void {
    this.#writes.shift()?.done(isWritten ? undefined : closedInput())
  }

  end(): void {
    if (!this.#isHandedOver) this.#channel.send({ type: 'endInput' })
  }

  /** Settles all writes. The host writes the messages that it has, whatever happens to this window. */
  handOver(): void {
    this.#isHandedOver = true
    const waiting = this.#writes
    this.#writes = waiting.map(({ bytes }) => ({ bytes, done: () => {} }))
    for (const { done } of waiting) done()
  }

  /**
   * Determines the messages that didn't reach the agent, because another window has attached. `arrived` is the number of sent messages that
   * the host had received before.
   */
  takenOver(arrived: number): void {
    const written = this.#sent - this.#writes.length
    const from = Math.max(0, arrived - written)
    this.#unsent = this.#writes.slice(from).map(({ bytes }) => bytes)
    this.handOver()
  }

  /** Rejects all writes, because the host has ended. */
  close(): void {
    for (const { done } of this.#writes.splice(0)) done(closedInput())
  }
}

export function closedInput(): Error {
  return Object.assign(new Error('write EPIPE'), { code: 'EPIPE' })
}
