import * as l10n from '@vscode/l10n'
import {
  AbstractMessageReader,
  AbstractMessageWriter,
  createMessageConnection,
  type DataCallback,
  type Message,
  type MessageConnection,
  NotificationType,
  RequestType,
  ResponseError,
} from 'vscode-jsonrpc/node'
import type { z } from 'zod'
import type { Contract, Handlers, HostArguments, HostMessages } from '../bridge/contract.ts'
import type { Disposable } from '../common/disposable.ts'
import { messageOf } from '../common/errors.ts'
import type { Logger } from '../common/logger.ts'

/**
 * Makes zod check without compiling schemas. A window checks few messages with each schema, so compiling isn't worth the milliseconds that
 * the user would wait.
 */
const UNCOMPILED = { jitless: true }

/** JSON-RPC's error code for parameters that don't match the method's schema. */
const INVALID_PARAMS = -32602

/** The channel of a page, in the window that shows the page. */
export interface PageChannel {
  /** Delivers the page's messages, including those that arrived before. There can be one listener at a time. */
  listen(listener: (message: unknown) => void): Disposable
  /** Sends a message. Resolves to whether the page accepted the message. */
  post(message: unknown): PromiseLike<boolean>
}

class WebviewReader extends AbstractMessageReader {
  readonly #page: PageChannel

  constructor(page: PageChannel) {
    super()
    this.#page = page
  }

  listen(callback: DataCallback): Disposable {
    return this.#page.listen(message => {
      if (typeof message !== 'object' || message === null || !('jsonrpc' in message)) return
      callback(message as Message)
    })
  }
}

class WebviewWriter extends AbstractMessageWriter {
  readonly #page: PageChannel

  constructor(page: PageChannel) {
    super()
    this.#page = page
  }

  async write(message: Message): Promise<void> {
    await this.#page.post(message)
  }

  end(): void {}
}

/**
 * The host's end of a webview's bridge: vscode-jsonrpc over `postMessage`. Incoming messages are checked against their
 * schema before a handler gets them; invalid ones are logged and refused.
 */
export class WebviewConnection<M extends HostMessages<M> = Record<never, undefined>> implements Disposable {
  readonly #connection: MessageConnection
  readonly #log: Logger

  constructor(page: PageChannel, log: Logger) {
    this.#log = log
    this.#connection = createMessageConnection(new WebviewReader(page), new WebviewWriter(page), {
      error: message => log.error(message),
      warn: message => log.warn(message),
      info: message => log.info(message),
      log: message => log.debug(message),
    })
    this.#connection.onUnhandledNotification(message =>
      log.warn(`Unknown message from a view: ${message.method}`),
    )
  }

  /** Starts to deliver messages. All handlers must be registered before. */
  listen(): void {
    this.#connection.listen()
  }

  send<N extends keyof M & string>(name: N, ...params: HostArguments<M[N]>): void {
    void this.trySend(name, ...params).catch(() => {})
  }

  /** Sends a message. Rejects if the webview doesn't accept the message. */
  async trySend<N extends keyof M & string>(name: N, ...params: HostArguments<M[N]>): Promise<void> {
    try {
      await this.#connection.sendNotification(name, ...params)
    } catch (error) {
      this.#log.debug(`A view didn't accept ${name}: ${messageOf(error)}`)
      throw error
    }
  }

  /** Registers the handlers of a contract. Must be called once for each contract, before `listen`. */
  handle<C extends Contract>(contract: C, handlers: Handlers<C>): void {
    for (const [name, message] of Object.entries(contract)) {
      const handle = handlers[name] as (params: unknown) => unknown
      if ('answer' in message) this.onRequest(new RequestType(name), message.params, handle)
      else this.onNotification(new NotificationType(name), message, handle)
    }
  }

  onNotification<P>(type: NotificationType<P>, schema: z.ZodType<P>, handle: (params: P) => unknown): void {
    this.#connection.onNotification(type.method, async (params: unknown) => {
      const checked = schema.safeParse(params, UNCOMPILED)
      if (!checked.success) {
        this.#log.warn(`A view sent an invalid ${type.method}: ${checked.error.message}`)
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
      const checked = schema.safeParse(params, UNCOMPILED)
      if (!checked.success) {
        this.#log.warn(`A view sent an invalid ${type.method}: ${checked.error.message}`)
        return new ResponseError<void>(INVALID_PARAMS, refusal(checked.error))
      }
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

/** Returns a sentence for the user about a request that was refused. */
function refusal({ issues }: z.ZodError): string {
  return issues.some(({ code }) => code === 'too_big')
    ? l10n.t("Parley can't process this because it's too large.")
    : l10n.t("Parley can't process this. For details, see the log.")
}
