import type { Readable, Writable } from 'node:stream'
import type { ConnectionProblem } from '../../remote-address.ts'

/** A connection to an agent on a server: lines of JSON in both directions, as the pipes of a process have. */
export interface RemoteChannel {
  readonly stdin: Writable
  /** Is destroyed with an error if the agent sent unreadable data. Data that isn't read stays on the server. */
  readonly stdout: Readable
  /** Resolves when the connection is gone, with the reason if it wasn't closed here. Never rejects. */
  readonly ended: Promise<ConnectionProblem | undefined>
  /** Closes it. Resolves when the server knows, or soon if it doesn't answer. */
  close(): Promise<void>
}

export interface ChannelOptions {
  /** of a message */
  maxBytes: number
  /** how long the server may take to answer a request */
  answerMs: number
  signal?: AbortSignal | undefined
}
