import type { IncomingMessage } from 'node:http'
import { Readable, Writable } from 'node:stream'
import { createHttpStream } from '@agentclientprotocol/sdk/experimental/http-client'
import * as l10n from '@vscode/l10n'
import { deferred, withTimeout } from '../../../common/async.ts'
import { boundDepth } from '../../../common/bound-depth.ts'
import { messageOf } from '../../../common/errors.ts'
import { REMOTE_CLOSE_MS } from '../../../common/limits.ts'
import { ConnectionError, type ConnectionProblem, type RemoteAddress } from '../../remote-address.ts'

import { LineTooLongError } from '../line-splitter.ts'
import { boundedEvents, boundedMessage, Turnstile } from './bounded-body.ts'
import type { ChannelOptions, RemoteChannel } from './channel.ts'
import {
  connectionProblem,
  httpAddress,
  interrupted,
  responseProblem,
  responseTo,
  send,
  timedOut,
} from './request.ts'

/**
 * Connects to an agent over streamable HTTP when the first message, `initialize`, is written. The SDK's client implements the transport,
 * but would store and parse data of any size, so responses are bounded first.
 * @see https://agentclientprotocol.com/rfds/streamable-http-websocket-transport
 */
export function openHttp(address: RemoteAddress, options: ChannelOptions): RemoteChannel {
  return new HttpChannel(address, options)
}

class HttpChannel implements RemoteChannel {
  readonly stdin: Writable
  readonly stdout: Readable
  readonly ended: Promise<ConnectionProblem | undefined>
  readonly #address: RemoteAddress
  readonly #options: ChannelOptions
  readonly #turnstile = new Turnstile()
  readonly #ended = deferred<ConnectionProblem | undefined>()
  readonly #reader: ReadableStreamDefaultReader<unknown>
  readonly #abort = new AbortController()
  /** the last failure */
  #problem: ConnectionProblem | undefined
  #tooLong: LineTooLongError | undefined
  /** the agent has sent something */
  #isConnected = false
  #isClosing = false
  #isOver = false
  #wanted = deferred()

  constructor(address: RemoteAddress, options: ChannelOptions) {
    this.#address = address
    this.#options = options
    this.ended = this.#ended.promise
    const stream = createHttpStream(httpAddress(address.url), {
      fetch: (_url, init) => this.#fetch(init ?? {}),
      maxMessageBytes: options.maxBytes,
    })
    const writer = stream.writable.getWriter()
    writer.closed.catch(() => {})
    this.stdout = new Readable({ read: () => this.#wanted.resolve() })
    this.stdin = new Writable({
      decodeStrings: false,
      write: async (lines: string | Buffer, _encoding, done) => {
        try {
          for (const line of lines.toString().split('\n'))
            if (line !== '') await writer.write(JSON.parse(line) as Parameters<typeof writer.write>[0])
        } catch {
          // the stream ends with the reason
        }
        done()
      },
    })
    this.stdout.on('error', () => {})
    this.stdin.on('error', () => {})
    this.#reader = stream.readable.getReader()
    void this.#read()
  }

  async close(): Promise<void> {
    this.#isClosing = true
    await withTimeout(
      this.#reader.cancel().catch(() => {}),
      REMOTE_CLOSE_MS,
    )
    this.#abort.abort()
    this.#end()
  }

  async #read(): Promise<void> {
    try {
      for (;;) {
        const { value, done } = await this.#turnstile.wait(this.#reader.read())
        if (done) break
        this.#isConnected = true
        this.#wanted = deferred()
        if (!this.stdout.push(`${JSON.stringify(boundDepth(value))}\n`)) await this.#wanted.promise
      }
    } catch (error) {
      if (error instanceof LineTooLongError) this.#tooLong = error
      else this.#problem ??= this.#endOf(error)
    }
    this.#end()
  }

  #endOf(error: unknown): ConnectionProblem {
    if (isOfSystem(error) || error instanceof ConnectionError) return connectionProblem(error, this.#address)
    if (this.#isConnected) return connectionProblem(interrupted(), this.#address)
    const reason = l10n.t("the server doesn't respond like an agent")
    return { reason, advice: l10n.t("Check the agent's URL."), detail: messageOf(error) }
  }

  #end(): void {
    this.#ended.resolve(this.#isClosing || this.#tooLong ? undefined : this.#problem)
    if (this.#tooLong) this.stdout.destroy(this.#tooLong)
    else if (!this.#isOver) this.stdout.push(null)
    this.#isOver = true
    this.#wanted.resolve()
    this.#turnstile.open()
  }

  /** As the SDK expects of `fetch`, but follows no redirect, and bounds what arrives. */
  async #fetch(init: RequestInit): Promise<Response> {
    const { method = 'GET', headers, body } = init
    const signal = AbortSignal.any([this.#abort.signal, ...(init.signal ? [init.signal] : [])])
    const request = send(this.#address, {
      method,
      headers: new Headers(headers),
      ...(typeof body === 'string' && { body }),
      signal,
    })
    const timer = setTimeout(() => request.destroy(timedOut()), this.#options.answerMs)
    try {
      const response = await responseTo(request)
      const { statusCode: status = 0 } = response
      const isStream = status === 200 && response.headers['content-type']?.startsWith(EVENT_STREAM)
      const content = isStream
        ? this.#events(response)
        : await boundedMessage(response, this.#options.maxBytes)
      if (method !== 'DELETE')
        this.#problem = status < 300 ? undefined : responseProblem(response, this.#address)
      return new Response(WITHOUT_BODY.has(status) ? null : content, { status, headers: headersOf(response) })
    } catch (error) {
      if (!signal.aborted && method !== 'DELETE' && isOfSystem(error))
        this.#problem = connectionProblem(error, this.#address)
      throw error
    } finally {
      clearTimeout(timer)
    }
  }

  #events(response: IncomingMessage): ReadableStream<Uint8Array> {
    const events = boundedEvents(response, this.#turnstile, this.#options.maxBytes)
    return new ReadableStream<Uint8Array>(
      {
        pull: async controller => {
          const { value, done } = await events.next()
          if (done) controller.close()
          else controller.enqueue(value)
        },
        cancel: () => void response.destroy(),
      },
      { highWaterMark: 0 },
    )
  }
}

const EVENT_STREAM = 'text/event-stream'
/** Statuses of responses that have no body. */
const WITHOUT_BODY = new Set([204, 205, 304])

function headersOf({ headersDistinct }: IncomingMessage): Headers {
  const headers = new Headers()
  for (const [name, values = []] of Object.entries(headersDistinct))
    for (const value of values) headers.append(name, value)
  return headers
}

function isOfSystem(error: unknown): boolean {
  return error instanceof Error && 'code' in error
}
