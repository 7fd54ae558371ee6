// VS Code applies its proxy settings and certificates to the functions of these modules, but not to functions imported by name.

import http, { type ClientRequest, type IncomingMessage } from 'node:http'
import https from 'node:https'
import type { TLSSocket } from 'node:tls'
import * as l10n from '@vscode/l10n'
import { networkProblem, proxyProblem, statusProblem } from '../../../common/network-problem.ts'
import { ConnectionError, type ConnectionProblem, type RemoteAddress } from '../../remote-address.ts'

/** How long nothing arrives on a connection until the system checks whether the connection still exists, in milliseconds. */
const TCP_KEEP_ALIVE_MS = 30_000

export interface RequestOptions {
  method: string
  /** Headers in addition to those of the address. */
  headers: Iterable<readonly [name: string, value: string]>
  body?: string
  signal?: AbortSignal | undefined
}

/** Returns the `http:` URL for a URL of a WebSocket, which begins as an HTTP request. */
export function httpAddress(url: string): string {
  return url.replace(/^ws/i, 'http')
}

/** Sends a request. Follows no redirect, since the headers are for this server alone. */
export function send(address: RemoteAddress, options: RequestOptions): ClientRequest {
  const url = new URL(httpAddress(address.url))
  const headers = ownHeaders(address)
  for (const [name, value] of options.headers) headers.set(name, value)
  if (options.body !== undefined) headers.set('Content-Length', String(Buffer.byteLength(options.body)))
  const all = {
    method: options.method,
    headers: Object.fromEntries(headers),
    ...(options.signal && { signal: options.signal }),
    ...(address.acceptsAnyCertificate && { rejectUnauthorized: false }),
  }
  const request = url.protocol === 'https:' ? https.request(url, all) : http.request(url, all)
  request.setNoDelay(true)
  request.setSocketKeepAlive(true, TCP_KEEP_ALIVE_MS)
  return request.end(options.body)
}

/**
 * Returns the headers of the address. @throws ConnectionError for an invalid header, without its value, which is secret; the system's error
 * would contain it
 */
function ownHeaders(address: RemoteAddress): Headers {
  const headers = new Headers()
  for (const { name, value } of address.headers)
    try {
      headers.append(name, value)
      http.validateHeaderValue(name, headers.get(name)!)
    } catch {
      const reason = l10n.t("the header {0} has characters that can't be sent", name)
      throw new ConnectionError({ reason, ...refused(), detail: '' })
    }
  return headers
}

/** Returns the problem that the server refused the request. The user may have to enter other values for the headers. */
function refused(): Pick<ConnectionProblem, 'advice' | 'isRefused'> {
  const advice = l10n.t("Check the agent's headers. Values that you entered for them are asked for again.")
  return { advice, isRefused: true }
}

/** Resolves to the response to a request as soon as its head has arrived. */
export function responseTo(request: ClientRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    request.on('response', resolve).on('error', reject)
  })
}

export function timedOut(): Error {
  return Object.assign(new Error('No answer'), { code: 'ETIMEDOUT' })
}

/** Returns the error that the server closed a connection that should stay open. */
export function interrupted(): Error {
  return Object.assign(new Error('The connection was closed'), { code: 'ECONNRESET' })
}

/** Returns why a request failed. */
export function connectionProblem(error: unknown, address: RemoteAddress): ConnectionProblem {
  return error instanceof ConnectionError ? error.problem : networkProblem(error, httpAddress(address.url))
}

/**
 * Whether a proxy answered instead of the server: if the proxy opens no tunnel to the server, VS Code passes on the proxy's response,
 * which, unlike the server's, isn't encrypted.
 */
function isOfProxy(response: IncomingMessage, address: RemoteAddress): boolean {
  const isEncrypted = (response.socket as Partial<TLSSocket> | null)?.encrypted === true
  return !isEncrypted && httpAddress(address.url).startsWith('https:')
}

/** Returns why the server refused the request; `undefined` if it didn't. A proxy's response is a failure, whatever its status. */
export function refusalOf(response: IncomingMessage, address: RemoteAddress): ConnectionProblem | undefined {
  const { statusCode: status = 0 } = response
  return status < 300 && !isOfProxy(response, address) ? undefined : responseProblem(response, address)
}

/** Returns the problem with an unexpected response. */
export function responseProblem(response: IncomingMessage, address: RemoteAddress): ConnectionProblem {
  const { statusCode: status = 0, headers } = response
  if (isOfProxy(response, address)) return proxyProblem(status, httpAddress(address.url))
  const problem = statusProblem(status, httpAddress(address.url))
  const target = headers.location
  if (status >= 300 && status < 400 && target !== undefined) {
    const url = httpAddress(address.url)
    const shown = URL.canParse(target, url) ? new URL(target, url).origin : ''
    return {
      ...problem,
      reason: l10n.t('the server redirects to another URL: {0}', shown),
      advice: l10n.t(
        "Parley doesn't follow redirects of agents. If you trust that URL, use it for the agent.",
      ),
    }
  }
  if (status === 401 || status === 403) return { ...problem, ...refused() }
  if (status !== 404 && status !== 410) return problem
  return { ...problem, reason: l10n.t('the server has no agent at this URL (status {0})', status) }
}
