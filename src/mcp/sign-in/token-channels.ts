import { Owner } from '../../common/disposable.ts'
import { BridgeSocket } from '../bridge/bridge-socket.ts'
import type { WindowSocket } from '../bridge/bridged-server.ts'

/** The access token of a server; see `McpSignIns.token`. */
type GetToken = (url: string, rejected?: string) => Promise<string | undefined>

/**
 * Gives the bridges of this window the tokens of their servers. Each server has its own socket and secret, so a bridge can't ask for the
 * token of another server. No token is in an environment or a file.
 */
export class TokenChannels extends Owner {
  readonly #token: GetToken
  readonly #sockets = new Map<string, Promise<WindowSocket>>()

  constructor(token: GetToken) {
    super()
    this.#token = token
  }

  /** How a bridge gets the tokens of a server. */
  tokensFor(url: string): Promise<WindowSocket> {
    const known = this.#sockets.get(url)
    if (known) return known
    const socket = this.#listen(url)
    this.#sockets.set(url, socket)
    socket.catch(() => this.#sockets.delete(url))
    return socket
  }

  async #listen(url: string): Promise<WindowSocket> {
    const { address } = this.register(
      await BridgeSocket.listen(channel =>
        channel.listen(async ({ type, rejected }) => {
          if (type !== 'token') return
          const token = await this.#token(url, typeof rejected === 'string' ? rejected : undefined)
          channel.send({ type: 'token', ...(token !== undefined && { token }) })
        }),
      ),
    )
    return address
  }
}
