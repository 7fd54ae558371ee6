import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { createServer, type Server, type Socket } from 'node:net'
import path from 'node:path'
import { HostChannel } from '../../acp/transport/host/channel.ts'
import { newSocketPath } from '../../acp/transport/host/endpoint.ts'
import { greetWindow, MAX_HANDSHAKE_BYTES } from '../../acp/transport/host/handshake.ts'
import { Owner } from '../../common/disposable.ts'
import type { TokenSource } from '../bridge/bridged-server.ts'

/** The access token of a server; see `McpSignIns.token`. */
type GetToken = (url: string, rejected?: string) => Promise<string | undefined>

/**
 * Gives the bridges of this window the tokens of their servers: each server has a socket and a secret of its own, so that who
 * has one server's can't ask for another's. Only this user can reach the sockets. Tokens are in no environment and no file.
 */
export class TokenChannels extends Owner {
  readonly #token: GetToken
  readonly #sources = new Map<string, Promise<TokenSource>>()
  readonly #sockets = new Set<Socket>()

  constructor(token: GetToken) {
    super()
    this.#token = token
  }

  /** How a bridge gets the tokens of a server. */
  tokensFor(url: string): Promise<TokenSource> {
    const known = this.#sources.get(url)
    if (known) return known
    const source = this.#listen(url)
    this.#sources.set(url, source)
    source.catch(() => this.#sources.delete(url))
    return source
  }

  async #listen(url: string): Promise<TokenSource> {
    const socket = newSocketPath()
    const secret = randomBytes(32).toString('hex')
    const server = createServer(connection => void this.#serve(connection, url, secret))
    this.register({ dispose: () => this.#close(server, socket) })
    server.listen(socket)
    await once(server, 'listening')
    return { socket, secret }
  }

  async #serve(connection: Socket, url: string, secret: string): Promise<void> {
    this.#sockets.add(connection)
    connection.once('close', () => this.#sockets.delete(connection))
    const channel = new HostChannel(connection, MAX_HANDSHAKE_BYTES)
    if (!(await greetWindow(channel, secret))) return
    channel.listen(async ({ type, rejected }) => {
      if (type !== 'token') return
      const token = await this.#token(url, typeof rejected === 'string' ? rejected : undefined)
      channel.send({ type: 'token', ...(token !== undefined && { token }) })
    })
  }

  #close(server: Server, socket: string): void {
    server.close()
    for (const connection of this.#sockets) connection.destroy()
    if (process.platform !== 'win32') rmSync(path.dirname(socket), { recursive: true, force: true })
  }
}
