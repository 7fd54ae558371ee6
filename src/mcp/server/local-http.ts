import { createHash, randomInt, timingSafeEqual } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** Servers that only programs on this machine can reach, and that answer only requests with a token. */

/**
 * Ports that no service is registered for. In a remote window, VS Code would forward a port that the system chooses to the user's
 * machine and list it in *Ports*. For these, `remote.portsAttributes` in `package.json` turns that off.
 */
export const LOCAL_PORTS = { first: 29_200, last: 29_499 }
/**
 * How long a connection may stay unused. Clients of Go and Rust close it after 90 seconds themselves, others sooner. If the server
 * closed a connection first, it might do that just as a client sends a request, which would fail. Milliseconds.
 */
const KEEP_ALIVE_MS = 120_000
/** Ports that are tried before the system chooses one. */
const MAX_TRIES = 10

/** Listens on this machine's loopback address, by default on one of the local ports. */
export async function listenLocally(
  maxConnections: number,
  port?: number,
  { first, last } = LOCAL_PORTS,
): Promise<Server> {
  const http = createServer({
    requestTimeout: 30_000,
    headersTimeout: 10_000,
    keepAliveTimeout: KEEP_ALIVE_MS,
    maxHeaderSize: 16_384,
  })
  http.maxConnections = maxConnections
  let connections = 0
  http.on('connection', socket => {
    socket.once('close', () => connections--)
    // the next one would be refused
    if (++connections >= maxConnections) http.closeIdleConnections()
  })
  http.on('drop', () => http.closeIdleConnections())
  // a broken request concerns nobody else
  http.on('clientError', (_error, socket) => socket.destroy())
  const tries = Array.from({ length: MAX_TRIES }, () => randomInt(first, last + 1))
  for (const one of port === undefined ? [...tries, 0] : [port]) {
    http.listen({ host: '127.0.0.1', port: one })
    try {
      await once(http, 'listening')
      break
    } catch (error) {
      if (one === 0 || port !== undefined) throw error
    }
  }
  // don't keep the process alive for the server
  http.unref()
  return http
}

export function portOf(http: Server): number {
  return (http.address() as AddressInfo).port
}

/** A web page may reach the port, also under a name of its own (DNS rebinding). */
export function isLocalRequest({ headers: { host, origin } }: IncomingMessage, http: Server): boolean {
  const port = portOf(http)
  return (host === `127.0.0.1:${port}` || host === `localhost:${port}`) && isOwnOrigin(origin)
}

/** Programs send no origin; only pages of this machine may. */
function isOwnOrigin(origin: string | undefined): boolean {
  return origin === undefined || /^https?:\/\/(?:127\.0\.0\.1|localhost|\[::1\])(?::\d+)?$/.test(origin)
}

/** Answers with a status alone. The body isn't read, however long it is. */
export function refuse(request: IncomingMessage, response: ServerResponse, status: number): void {
  response.writeHead(status, {
    'content-length': '0',
    connection: 'close',
    ...(status === 401 && { 'www-authenticate': 'Bearer' }),
  })
  response.end(() => request.socket.destroy())
}

/** The token of a request, or an empty string. */
export function bearerToken({ headers }: IncomingMessage): string {
  return /^Bearer ([\w-]+)$/i.exec(headers.authorization ?? '')?.[1] ?? ''
}

/** Checks a token in a time that doesn't depend on how much of it is right. */
export class TokenCheck {
  readonly #digest: Buffer

  constructor(token: string) {
    this.#digest = digest(token)
  }

  accepts(token: string): boolean {
    return timingSafeEqual(digest(token), this.#digest)
  }
}

function digest(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}
