// VS Code applies its proxy settings to the functions of this module, but not to functions imported by name.

import type { IncomingMessage } from 'node:http'
import https from 'node:https'
import { Readable } from 'node:stream'

/**
 * Fetches an `https:` URL without a body. Doesn't follow redirects, and accepts any server certificate. It's used if the user turned off
 * `http.proxyStrictSSL`, which VS Code's own `fetch` ignores.
 */
export async function lenientFetch(address: string, init: RequestInit = {}): Promise<Response> {
  const message = await get(new URL(address), init)
  const { statusCode: status = 0 } = message
  const entries = Object.entries(message.headersDistinct)
  const isEmpty = status === 204 || status === 304
  if (isEmpty) message.resume()
  return new Response(isEmpty ? null : (Readable.toWeb(message) as BodyInit), {
    status,
    headers: entries.flatMap(([name, values = []]) => values.map((value): [string, string] => [name, value])),
  })
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
