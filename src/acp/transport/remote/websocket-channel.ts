import { randomBytes } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { type Duplex, Readable, Writable } from 'node:stream'
import * as l10n from '@vscode/l10n'
import { deferred, withTimeout } from '../../../common/async.ts'
import { REMOTE_ALIVE_MS, REMOTE_CLOSE_MS } from '../../../common/limits.ts'
import { acceptanceOf, CloseCode, WebSocketConnection } from '../../../common/websocket.ts'
import { ConnectionError, type ConnectionProblem, type RemoteAddress } from '../../remote-address.ts'

import { LineTooLongError } from '../line-splitter.ts'
import type { ChannelOptions, RemoteChannel } from './channel.ts'
import { connectionProblem, interrupted, refusalOf, responseProblem, send, timedOut } from './request.ts'

/**
 * Connects to an agent over a WebSocket. Each text frame is a message.
 * @throws ConnectionError
 * @see https://agentclientprotocol.com/rfds/streamable-http-websocket-transport
 */
export async function openWebSocket(address: RemoteAddress, options: ChannelOptions): Promise<RemoteChannel> {
  try {
    const { socket, head } = await upgrade(address, options)
    return new WebSocketChannel(socket, head, address, options.maxBytes)
  } catch (error) {
    throw new ConnectionError(connectionProblem(error, address))
  }
}

function upgrade(
  address: RemoteAddress,
  { answerMs, signal }: ChannelOptions,
): Promise<{ socket: Duplex; head: Buffer }> {
  const key = randomBytes(16).toString('base64')
  const headers: Array<[string, string]> = [
    ['Connection', 'Upgrade'],
    ['Upgrade', 'websocket'],
    ['Sec-WebSocket-Version', '13'],
    ['Sec-WebSocket-Key', key],
  ]
  return new Promise((resolve, reject) => {
    const request = send(address, { method: 'GET', headers, signal })
    const timer = setTimeout(() => request.destroy(timedOut()), answerMs)
    const fail = (error: Error) => {
      clearTimeout(timer)
      reject(error)
      request.destroy()
    }
    request.on('error', fail)
    request.on('response', response =>
      fail(new ConnectionError(refusalOf(response, address) ?? notWebSocket(response, address))),
    )
    request.on('upgrade', (response: IncomingMessage, socket: Duplex, head: Buffer) => {
      clearTimeout(timer)
      if (response.headers['sec-websocket-accept'] === acceptanceOf(key)) return resolve({ socket, head })
      socket.destroy()
      fail(new ConnectionError(notWebSocket(response, address)))
    })
  })
}

function notWebSocket(response: IncomingMessage, address: RemoteAddress): ConnectionProblem {
  const reason = l10n.t("the server didn't open a WebSocket")
  return { ...responseProblem(response, address), reason, advice: l10n.t("Check the agent's URL.") }
}

class WebSocketChannel implements RemoteChannel {
  readonly stdin: Writable
  readonly stdout: Readable
  readonly ended: Promise<ConnectionProblem | undefined>
  readonly #connection: WebSocketConnection
  readonly #socket: Duplex
  readonly #closed = deferred()
  /** whether anything has arrived since the last look */
  #isAlive = true
  #isClosing = false

  constructor(socket: Duplex, head: Buffer, address: RemoteAddress, maxBytes: number) {
    this.#socket = socket
    const connection = WebSocketConnection.toServer(socket, maxBytes)
    this.#connection = connection
    const stdout = new Readable({ read: () => void socket.resume() })
    this.stdout = stdout
    this.stdin = new Writable({
      decodeStrings: false,
      write: (lines: string | Buffer, _encoding, done) => {
        for (const line of lines.toString().split('\n')) if (line !== '') connection.send(line)
        if (socket.destroyed || !socket.writableNeedDrain) done()
        else socket.once('drain', () => done())
      },
    })
    stdout.on('error', () => {})
    this.stdin.on('error', () => {})
    const looking = setInterval(() => this.#look(), REMOTE_ALIVE_MS)
    let failure: Error | undefined
    socket.on('error', error => {
      failure = error
    })
    this.ended = new Promise(resolve => {
      const closed = (code?: number, isOwn = false) => {
        clearInterval(looking)
        this.#closed.resolve()
        const isTooLong = isOwn && code === CloseCode.tooLarge
        resolve(this.#isClosing || isTooLong ? undefined : endOf(address, failure, code, isOwn))
        if (isTooLong) stdout.destroy(new LineTooLongError(maxBytes))
        else stdout.push(null)
      }
      connection.listen(head, {
        // The reader expects each message on one line.
        text: text => {
          if (!stdout.push(`${text.replaceAll('\n', ' ')}\n`)) socket.pause()
        },
        alive: () => {
          this.#isAlive = true
        },
        closed,
      })
    })
  }

  async close(): Promise<void> {
    this.#isClosing = true
    this.#connection.close(CloseCode.normal)
    this.#socket.resume()
    await withTimeout(this.#closed.promise, REMOTE_CLOSE_MS)
    this.#socket.destroy()
  }

  /** Checks whether the connection is alive. Without this check, a connection that was cut silently looks open forever. */
  #look(): void {
    // When the computer wakes up, this timer fires before the socket is read. `setImmediate` lets the data that has arrived be read first.
    setImmediate(() => {
      // A paused socket isn't read, so the answer to a ping can't arrive.
      if (this.#socket.isPaused() || this.#socket.destroyed) return
      if (!this.#isAlive) this.#socket.destroy(timedOut())
      this.#isAlive = false
      this.#connection.ping()
    })
  }
}

function endOf(
  address: RemoteAddress,
  error: Error | undefined,
  code: number | undefined,
  isOwn: boolean,
): ConnectionProblem {
  if (error) return connectionProblem(error, address)
  const problem = connectionProblem(interrupted(), address)
  if (code === undefined) return problem
  if (isOwn) {
    const reason = l10n.t("the server doesn't follow the WebSocket protocol (code {0})", code)
    return { ...problem, reason, advice: l10n.t("Check the agent's URL.") }
  }
  return { ...problem, reason: l10n.t('the server closed the connection (code {0})', code) }
}
