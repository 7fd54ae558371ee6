import {
  AbstractMessageReader,
  AbstractMessageWriter,
  createMessageConnection,
  type DataCallback,
  type Disposable,
  type Message,
  type MessageConnection,
} from 'vscode-jsonrpc/browser'
import type {
  Answer,
  Contract,
  HostListeners,
  HostMessages,
  NotificationName,
  Params,
  RequestName,
} from '../../bridge/contract.ts'
import { type VsCodeApi, vscodeApi } from './vscode-api.ts'

/** Messages that arrived before this script listens, queued by the page (see `workbench/webviews/webview-page.ts`). */
declare global {
  var earlyMessages: MessageEvent[] | undefined
  var keepMessage: ((event: MessageEvent) => void) | undefined
}

class WindowReader extends AbstractMessageReader {
  listen(callback: DataCallback): Disposable {
    const hear = (event: MessageEvent<unknown>) => {
      const message = event.data
      if (typeof message === 'object' && message !== null && 'jsonrpc' in message)
        callback(message as Message)
    }
    window.addEventListener('message', hear)
    const { earlyMessages, keepMessage } = globalThis
    if (keepMessage) window.removeEventListener('message', keepMessage)
    for (const event of earlyMessages?.splice(0) ?? []) hear(event)
    return { dispose: () => window.removeEventListener('message', hear) }
  }
}

class ApiWriter extends AbstractMessageWriter {
  readonly #api: VsCodeApi

  constructor(api: VsCodeApi) {
    super()
    this.#api = api
  }

  async write(message: Message): Promise<void> {
    this.#api.postMessage(message)
  }

  end(): void {}
}

/** Makes `key` optional; the default is the displayed conversation. */
type Unkeyed<P> = P extends { key: string } ? Omit<P, 'key'> & { key?: string } : P
type Parameters<M> = [Params<M>] extends [undefined]
  ? []
  : object extends Unkeyed<Params<M>>
    ? [params?: Unkeyed<Params<M>>]
    : [params: Unkeyed<Params<M>>]

/** Sends the messages of a contract to the host. */
export interface HostClient<C extends Contract> {
  send<N extends NotificationName<C>>(name: N, ...params: Parameters<C[N]>): void
  /** Sends a request. Rejects with a sentence to show to the user. */
  request<N extends RequestName<C>>(name: N, ...params: Parameters<C[N]>): Promise<Answer<C[N]>>
}

/** Creates a client. `key`: returns the key of the displayed conversation, which is added to every message without a key. */
export function hostClient<C extends Contract>(
  connection: Pick<MessageConnection, 'sendNotification' | 'sendRequest'>,
  key?: () => string,
): HostClient<C> {
  const whole = (params: object | undefined) => (key ? { key: key(), ...params } : params)
  return {
    send: (name: string, params?: object) => void connection.sendNotification(name, whole(params)),
    request: (name: string, params?: object) => connection.sendRequest(name, whole(params)),
  } as HostClient<C>
}

/** Registers a table of listeners for the host's messages. Call this before `listen` of the connection. */
export function listenToHost<M extends HostMessages<M>>(
  connection: Pick<MessageConnection, 'onNotification'>,
  listeners: HostListeners<M>,
): void {
  for (const [name, listener] of Object.entries(listeners))
    connection.onNotification(name, listener as (params: unknown) => void)
}

/** Creates the webview's end of the bridge: vscode-jsonrpc over `postMessage`. Call `listen` after all handlers are registered. */
export function connectToHost(): MessageConnection {
  return createMessageConnection(new WindowReader(), new ApiWriter(vscodeApi()))
}
