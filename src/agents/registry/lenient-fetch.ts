// VS Code applies its proxy settings to the members of this object, but not to functions imported by name.

import type { IncomingMessage } from 'node:http'
import https from 'node:https'
import { Readable } from 'node:stream'

const MAX_REDIRECTS = 20

/**
 * Like `fetch` of an `https:` address, without a body, but accepts any server certificate: the user turned
 * `http.proxyStrictSSL` off, which VS Code's own `fetch` ignores.
 */
export async function lenientFetch(address: string, init: RequestInit = {}): Promise<Response> {
  let url = new URL(address)
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
    const message = await get(url, init)
    const { statusCode: status = 0, headers } = message
    if (status >= 300 && status < 400 && headers.location !== undefined) {
      message.resume()
      url = new URL(headers.location, url)
      if (url.protocol !== 'https:') throw new TypeError(`redirected to ${url.origin}`)
      continue
    }
    const entries = Object.entries(message.headersDistinct)
    const isEmpty = status === 204 || status === 304
    if (isEmpty) message.resume()
    const response = new Response(isEmpty ? null : (Readable.toWeb(message) as BodyInit), {
      status,
      headers: entries.flatMap(([name, values = []]) =>
        values.map((value): [string, string] => [name, value]),
      ),
    })
    Object.defineProperty(response, 'url', { value: url.href })
    return response
  }
  throw new TypeError('too many redirects')
}

function get(url: URL, { headers, signal }: RequestInit): Promise<IncomingMessage> {
  const options = {
    headers: Object.fromEntries(new Headers(headers)),
    rejectUnauthorized: false,
    ...(signal && { signal }),
  }
  return new Promise((resolve, reject) => {
    https.request(url, options, resolve).on('error', reject).end()
  })
}
