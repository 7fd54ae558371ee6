import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import * as l10n from '@vscode/l10n'
import { deferred } from '../../common/async.ts'
import type { Disposable } from '../../common/disposable.ts'
import { escapeHtml } from '../../common/escape-html.ts'

const CALLBACK = '/callback'

/**
 * Waits for the browser after a sign-in, on a port of its own that only this machine reaches (RFC 8252, 7.3). A request
 * without the state of this sign-in is refused, since any page can send the browser here.
 */
export class RedirectListener implements Disposable {
  readonly #server = createServer((request, response) => this.#answer(request, response))
  readonly #state: string
  readonly #arrived = deferred<URLSearchParams>()

  private constructor(state: string) {
    this.#state = state
  }

  /** `port`: the preferred port, if it's free. */
  static async start(state: string, port = 0): Promise<RedirectListener> {
    const listener = new RedirectListener(state)
    try {
      listener.#server.listen(port, '127.0.0.1')
      await once(listener.#server, 'listening')
    } catch (error) {
      if (port === 0) throw error
      return RedirectListener.start(state)
    }
    return listener
  }

  /** An address on this machine; the browser may run on another one. */
  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}${CALLBACK}`
  }

  /** The parameters of the browser's request. */
  get arrived(): Promise<URLSearchParams> {
    return this.#arrived.promise
  }

  dispose(): void {
    this.#server.close()
    this.#server.closeIdleConnections()
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    // anything may send a request that names no address, such as `//`
    const [target, base] = [request.url ?? '/', 'http://127.0.0.1']
    const { pathname, searchParams } = new URL(URL.canParse(target, base) ? target : '/', base)
    const isOurs =
      request.method === 'GET' && pathname === CALLBACK && searchParams.get('state') === this.#state
    const text = isOurs
      ? l10n.t('You can close this page and return to VS Code.')
      : l10n.t("This page doesn't belong to a sign-in that is in progress.")
    response
      .writeHead(isOurs ? 200 : 400, {
        'content-type': 'text/html; charset=utf-8',
        'content-security-policy': "default-src 'none'",
        'referrer-policy': 'no-referrer',
        'cache-control': 'no-store',
        connection: 'close',
      })
      .end(`<!doctype html><meta charset="utf-8"><title>Parley</title><p>${escapeHtml(text)}</p>`)
    if (isOurs) this.#arrived.resolve(searchParams)
  }
}
