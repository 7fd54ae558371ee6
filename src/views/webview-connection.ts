import type * as vscode from 'vscode'
import {
  AbstractMessageReader,
  AbstractMessageWriter,
  createMessageConnection,
  type DataCallback,
  type Disposable,
  type Message,
  type MessageConnection,
  type NotificationType,
  type RequestType,
  ResponseError,
} from 'vscode-jsonrpc/node'
import type { z } from 'zod'
import { messageOf } from '../common/errors.ts'
import type { Logger } from '../common/logger.ts'

/** -32602 of JSON-RPC: what came is not what the method takes. */
const INVALID_PARAMS = -32602

class WebviewReader extends AbstractMessageReader {
  readonly #webview: vscode.Webview
  readonly #onMethod: (method: string) => void

  constructor(webview: vscode.Webview, onMethod: (method: string) => void) {
    super()
    this.#webview = webview
    this.#onMethod = onMethod
  }

  listen(callback: DataCallback): Disposable {
    return this.#webview.onDidReceiveMessage((message: unknown) => {
      if (typeof message !== 'object' || message === null || !('jsonrpc' in message)) return
      if ('method' in message) this.#onMethod(String(message.method))
      callback(message as Message)
    })
  }
}

class WebviewWriter extends AbstractMessageWriter {
  readonly #webview: vscode.Webview

  constructor(webview: vscode.Webview) {
    super()
    this.#webview = webview
  }

  async write(message: Message): Promise<void> {
    await this.#webview.postMessage(message)
  }

  end(): void {}
}

/**
 * The host's end of a webview's bridge: vscode-jsonrpc over `postMessage`. What comes in is checked against its schema
 * before a handler sees it; what does not fit is logged and refused.
 */
export class WebviewConnection implements vscode.Disposable {
  readonly #connection: MessageConnection
  readonly #log: Logger

  /** `onMethod` hears the method of all that comes in. */
  constructor(webview: vscode.Webview, log: Logger, onMethod: (method: string) => void = () => {}) {
    this.#log = log
    this.#connection = createMessageConnection(
      new WebviewReader(webview, onMethod),
      new WebviewWriter(webview),
      {
        error: message => log.error(message),
        warn: message => log.warn(message),
        info: message => log.info(message),
        log: message => log.debug(message),
      },
    )
    this.#connection.onUnhandledNotification(message =>
      log.warn(`Unknown message from a view: ${message.method}`),
    )
  }

  /** Begins to deliver; handlers are registered before. */
  listen(): void {
    this.#connection.listen()
  }

  send<P>(type: NotificationType<P>, params: P): void {
    const sent =
      params === undefined
        ? this.#connection.sendNotification(type.method)
        : this.#connection.sendNotification(type.method, params)
    void sent.catch(error => this.#log.debug(`A view did not take ${type.method}: ${messageOf(error)}`))
  }

  onNotification<P>(type: NotificationType<P>, schema: z.ZodType<P>, handle: (params: P) => unknown): void {
    this.#connection.onNotification(type.method, async (params: unknown) => {
      const checked = schema.safeParse(params)
      if (!checked.success) {
        this.#log.warn(`A view sent a ${type.method} that does not fit: ${checked.error.message}`)
        return
      }
      try {
        await handle(checked.data)
      } catch (error) {
        this.#log.error(`${type.method} failed: ${messageOf(error)}`)
      }
    })
  }

  onRequest<P, R>(
    type: RequestType<P, R, void>,
    schema: z.ZodType<P>,
    handle: (params: P) => R | Promise<R>,
  ): void {
    this.#connection.onRequest<unknown, void>(type.method, async (params: unknown) => {
      const checked = schema.safeParse(params)
      if (!checked.success) return new ResponseError<void>(INVALID_PARAMS, checked.error.message)
      try {
        return await handle(checked.data)
      } catch (error) {
        return new ResponseError<void>(1, messageOf(error))
      }
    })
  }

  dispose(): void {
    this.#connection.dispose()
  }
}
