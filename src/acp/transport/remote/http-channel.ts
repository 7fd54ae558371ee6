import type { IncomingMessage } from 'node:http'
import { Readable, Writable } from 'node:stream'
import { createHttpStream } from '@agentclientprotocol/sdk/experimental/http-client'
import * as l10n from '@vscode/l10n'
import { deferred, withTimeout } from '../../../common/async.ts'
import { boundDepth } from '../../../common/bound-depth.ts'
import { messageOf } from '../../../common/errors.ts'
import { REMOTE_ALIVE_MS, REMOTE_CLOSE_MS } from '../../../common/limits.ts'
import { ConnectionError, type ConnectionProblem, type RemoteAddress } from '../../remote-address.ts'

import { LineTooLongError } from '../line-splitter.ts'
import { boundedEvents, boundedMessage, Turnstile } from './bounded-body.ts'
import type { ChannelOptions, RemoteChannel } from './channel.ts'
import {
  connectionProblem,
  httpAddress,
  interrupted,
  refusalOf,
  responseTo,
  send,
  timedOut,
} from './request.ts'

/**
 * Connects to an agent over streamable HTTP when the first message, `initialize`, is written. The SDK's client implements the transport. It
 * would store and parse data of any size, so the size of responses is limited before the client gets them.
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
  /** the last connection problem */
  #problem: ConnectionProblem | undefined
  #tooLong: LineTooLongError | undefined
  /** whether the agent has sent something */
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
          // The stream ends with the reason, so the error isn't reported here.
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
    if (isOfNetwork(error)) return connectionProblem(error, this.#address)
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

  /** Implements `fetch` for the SDK. Follows no redirect, and limits the size of responses. */
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
      const response = await responseTo(request).catch((error: unknown): never => {
        throw new ConnectionError(connectionProblem(error, this.#address))
      })
      const { statusCode: status = 0 } = response
      const problem = refusalOf(response, this.#address)
      if (problem && status < 300) {
        response.destroy()
        throw new ConnectionError(problem)
      }
      const isStream = status === 200 && response.headers['content-type']?.startsWith(EVENT_STREAM)
      const content = isStream
        ? this.#events(response)
        : await boundedMessage(response, this.#options.maxBytes)
      if (method !== 'DELETE') this.#problem = problem
      return new Response(WITHOUT_BODY.has(status) ? null : content, { status, headers: headersOf(response) })
    } catch (error) {
      if (!signal.aborted && method !== 'DELETE' && isOfNetwork(error))
        this.#problem = connectionProblem(error, this.#address)
      throw error
    } finally {
      clearTimeout(timer)
    }
  }

  #events(response: IncomingMessage): ReadableStream<Uint8Array> {
    const watch = new StreamWatch(response)
    const { maxBytes } = this.#options
    const events = boundedEvents(watch.read(), this.#turnstile, maxBytes, () => watch.sawComment())
    return new ReadableStream<Uint8Array>(
      {
        pull: async controller => {
          const { value, done } = await events.next()
          if (done) return controller.close()
          watch.sawMessage()
          controller.enqueue(value)
        },
        cancel: () => void response.destroy(),
      },
      { highWaterMark: 0 },
    )
  }
}

/**
 * Detects that a stream was cut off silently. This works only if the server sends comments to keep its streams alive, as the SDK's server
 * does. Without comments, an agent that has nothing to say sends nothing, and only TCP's keep-alive detects that the agent is gone.
 */
class StreamWatch {
  readonly #response: IncomingMessage
  #isReading = false
  /** what has arrived since the last look */
  #arrived = { any: false, comment: false, message: false }
  /** the number of successive looks that found nothing, and the largest such number after which something arrived */
  #silence = 0
  #longestSilence = 0
  /** the number of looks that found only comments; the first comment may be a greeting */
  #keptAlive = 0

  constructor(response: IncomingMessage) {
    this.#response = response
    // Looks are counted instead of measuring time, so that a sleep of the computer doesn't count as silence.
    const looking = setInterval(() => this.#look(), REMOTE_ALIVE_MS / 2)
    response.once('close', () => clearInterval(looking))
  }

  async *read(): AsyncGenerator<Buffer> {
    this.#isReading = true
    for await (const chunk of this.#response as AsyncIterable<Buffer>) {
      this.#arrived.any = true
      this.#isReading = false
      yield chunk
      this.#isReading = true
    }
  }

  sawComment(): void {
    this.#arrived.comment = true
  }

  sawMessage(): void {
    this.#arrived.message = true
  }

  #look(): void {
    const { any, comment, message } = this.#arrived
    this.#arrived = { any: false, comment: false, message: false }
    if (any) {
      if (comment && !message) this.#keptAlive++
      this.#longestSilence = Math.max(this.#longestSilence, this.#silence)
      this.#silence = 0
    } else if (this.#isReading) {
      this.#silence++
      if (this.#keptAlive > 1 && this.#silence > 2 * this.#longestSilence + 2)
        this.#response.destroy(timedOut())
    }
  }
}

const EVENT_STREAM = 'text/event-stream'
/** The status codes of responses that have no body. */
const WITHOUT_BODY = new Set([204, 205, 304])

function headersOf({ headersDistinct }: IncomingMessage): Headers {
  const headers = new Headers()
  for (const [name, values = []] of Object.entries(headersDistinct))
    for (const value of values) headers.append(name, value)
  return headers
}

function isOfNetwork(error: unknown): boolean {
  return error instanceof ConnectionError || (error instanceof Error && 'code' in error)
}
