import { once } from 'node:events'
import { createServer, request, type Server } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { OpenSockets } from './open-sockets.ts'

/** An HTTP proxy on loopback that resolves made-up host names and can't reach anything else. */
export class HttpProxy {
  /** The requests, as `CONNECT host:port` or `GET http://host/path`. */
  readonly requests: string[] = []
  readonly #server: Server
  readonly #sockets = new OpenSockets()

  private constructor(server: Server) {
    this.#server = server
  }

  /**
   * `portOf` returns the loopback port of the server with this name. `refusal`: the status and headers with which the proxy refuses to
   * connect to others.
   */
  static async start(
    portOf: (host: string) => number | undefined,
    refusal: (host: string) => string = () => '502 Bad Gateway',
  ): Promise<HttpProxy> {
    const server = createServer()
    const proxy = new HttpProxy(server)
    server.on('connection', socket => proxy.#sockets.add(socket))
    server.on('connect', (incoming, client: Socket) => {
      const { url = '' } = incoming
      proxy.requests.push(`CONNECT ${url}`)
      const host = url.slice(0, url.lastIndexOf(':'))
      const port = portOf(host)
      if (port === undefined) return void client.end(`HTTP/1.1 ${refusal(host)}\r\n\r\n`)
      const upstream = connect(port, '127.0.0.1', () => {
        client.write('HTTP/1.1 200 Connection established\r\n\r\n')
        upstream.pipe(client).pipe(upstream)
      })
      proxy.#sockets.add(upstream)
      client.on('error', () => upstream.destroy())
      upstream.on('error', () => client.destroy())
    })
    server.on('request', (incoming, response) => {
      const { url = '', method, headers } = incoming
      proxy.requests.push(`${method} ${url}`)
      const { hostname, pathname, search } = new URL(url)
      const port = portOf(hostname)
      if (port === undefined) return void response.writeHead(502).end()
      const upstream = request(
        { port, host: '127.0.0.1', method, path: pathname + search, headers },
        answer => {
          response.writeHead(answer.statusCode ?? 502, answer.headers)
          answer.pipe(response)
        },
      )
      upstream.on('error', () => response.destroy())
      incoming.pipe(upstream)
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    return proxy
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  async stop(): Promise<void> {
    this.#sockets.destroy()
    this.#server.close()
    await once(this.#server, 'close')
  }
}
