import type { Readable, Writable } from 'node:stream'
import { deferred } from '../../../common/async.ts'
import { REMOTE_ANSWER_MS } from '../../../common/limits.ts'
import type { StartRemote } from '../../agent.ts'
import { ConnectionError, type RemoteAddress } from '../../remote-address.ts'
import type { ProcessExit, RunningProcess } from '../running-process.ts'
import type { RemoteChannel } from './channel.ts'
import { openHttp } from './http-channel.ts'
import { openWebSocket } from './websocket-channel.ts'

/** An agent on a server. The rest of Parley sees it as a process that exits when the connection is lost. */
class RemoteAgent implements RunningProcess {
  readonly pid = 0
  readonly stdin: Writable
  readonly stdout: Readable
  readonly stderrTail = ''
  readonly exited: Promise<ProcessExit>
  readonly #channel: RemoteChannel
  readonly #exit = deferred<ProcessExit>()
  #hasExited = false
  #stopping: Promise<void> | undefined

  constructor(channel: RemoteChannel, address: RemoteAddress) {
    this.#channel = channel
    this.stdin = channel.stdin
    this.stdout = channel.stdout
    this.exited = this.#exit.promise
    void channel.ended.then(problem => {
      if (problem?.isRefused) address.onRefused?.()
      // The agent counts as exited only after the data that has arrived is read.
      const exit = () => {
        this.#hasExited = true
        this.stdin.destroy()
        this.#exit.resolve({ exitCode: null, signal: null, ...(problem && { problem }) })
      }
      if (this.stdout.closed || this.#stopping) exit()
      else this.stdout.once('close', exit)
    })
  }

  get hasExited(): boolean {
    return this.#hasExited
  }

  async stderrRead(): Promise<void> {}

  stop(): Promise<void> {
    this.#stopping ??= this.#stop()
    return this.#stopping
  }

  dispose(): void {
    void this.stop()
  }

  async #stop(): Promise<void> {
    await this.#channel.close()
    this.stdout.destroy()
  }
}

/**
 * Connects to an agent on a server. Over HTTP, the connection is opened with the first message.
 * @throws ConnectionError
 */
export const startRemote: StartRemote = async (address, { maxFrameBytes, initializeTimeoutMs, signal }) => {
  const options = { maxBytes: maxFrameBytes, answerMs: initializeTimeoutMs, signal }
  if (!/^ws/i.test(address.url)) {
    const answerMs = Math.max(REMOTE_ANSWER_MS, initializeTimeoutMs)
    return new RemoteAgent(openHttp(address, { ...options, answerMs }), address)
  }
  try {
    return new RemoteAgent(await openWebSocket(address, options), address)
  } catch (error) {
    if (error instanceof ConnectionError && error.problem.isRefused) address.onRefused?.()
    throw error
  }
}
