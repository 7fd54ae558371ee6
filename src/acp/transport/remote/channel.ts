import type { Readable, Writable } from 'node:stream'
import type { ConnectionProblem } from '../../remote-address.ts'

/** A connection to an agent on a server, with lines of JSON in both directions, like the pipes of a process. */
export interface RemoteChannel {
  readonly stdin: Writable
  /** Destroyed with an error if the agent sent unreadable data. Data that isn't read yet stays on the server. */
  readonly stdout: Readable
  /** Resolves when the connection is gone, with the reason if this side didn't close it. Never rejects. */
  readonly ended: Promise<ConnectionProblem | undefined>
  /** Closes the connection. Resolves when the server has confirmed the end, or after a short time. */
  close(): Promise<void>
}

export interface ChannelOptions {
  /** the maximum size of a message */
  maxBytes: number
  /** how long the server may take to answer a request, in milliseconds */
  answerMs: number
  signal?: AbortSignal | undefined
}
