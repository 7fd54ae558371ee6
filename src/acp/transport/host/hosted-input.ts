import type { HostChannel } from './channel.ts'

interface Write {
  bytes: Buffer
  done: (error?: Error) => void
}

/** What a window writes to an agent in the host, until the host has written it to the agent. */
export class HostedInput {
  #channel: HostChannel
  /** what the host hasn't written yet */
  #writes: Write[] = []
  /** how much was sent, in messages */
  #sent = 0
  /** what can't reach the agent anymore, after another window has attached */
  #unsent: Buffer[] | undefined
  #isHandedOver = false

  constructor(channel: HostChannel) {
    this.#channel = channel
  }

  /** Another window has the agent, or may have taken it. */
  get isHandedOver(): boolean {
    return this.#isHandedOver
  }

  /** What didn't reach the agent. */
  get unsent(): string {
    return Buffer.concat(this.#unsent ?? []).toString()
  }

  /** The host has crashed, and the agent is in another one. */
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

  /** The host has written the next message to the agent, or couldn't. */
  written(isWritten: boolean): void {
    this.#writes.shift()?.done(isWritten ? undefined : closedInput())
  }

  end(): void {
    if (!this.#isHandedOver) this.#channel.send({ type: 'endInput' })
  }

  /** Nothing waits for the host anymore, which writes what it has, whatever happens to this window. */
  handOver(): void {
    this.#isHandedOver = true
    const waiting = this.#writes
    this.#writes = waiting.map(({ bytes }) => ({ bytes, done: () => {} }))
    for (const { done } of waiting) done()
  }

  /** Another window has attached. `arrived`: how many of the sent messages the host had received before that. */
  takenOver(arrived: number): void {
    const written = this.#sent - this.#writes.length
    const from = Math.max(0, arrived - written)
    this.#unsent = this.#writes.slice(from).map(({ bytes }) => bytes)
    this.handOver()
  }

  /** The host has gone. */
  close(): void {
    for (const { done } of this.#writes.splice(0)) done(closedInput())
  }
}

export function closedInput(): Error {
  return Object.assign(new Error('write EPIPE'), { code: 'EPIPE' })
}
