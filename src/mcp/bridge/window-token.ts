import { once } from 'node:events'
import { connect } from 'node:net'
import { type AuthProvider, UnauthorizedError } from '@modelcontextprotocol/client'
import { HostChannel } from '../../acp/transport/host/channel.ts'
import { greetHost, MAX_HANDSHAKE_BYTES } from '../../acp/transport/host/handshake.ts'
import type { WindowSocket } from './bridged-server.ts'

/** Gets tokens from the window in which the user has signed in. The last token works until it expires, even without the window. */
export class WindowToken implements AuthProvider {
  readonly #window: WindowSocket
  #last: string | undefined
  /** Several requests may be refused at the same time. */
  #asking: Promise<string | undefined> | undefined

  constructor(window: WindowSocket) {
    this.#window = window
  }

  async token(): Promise<string | undefined> {
    return this.#last ?? this.#renew()
  }

  async onUnauthorized(): Promise<void> {
    if ((await this.#renew()) === undefined) throw new UnauthorizedError()
  }

  #renew(): Promise<string | undefined> {
    this.#asking ??= this.#ask(this.#last).then(token => {
      this.#last = token
      this.#asking = undefined
      return token
    })
    return this.#asking
  }

  async #ask(rejected?: string): Promise<string | undefined> {
    const socket = connect(this.#window.socket)
    const channel = new HostChannel(socket, MAX_HANDSHAKE_BYTES)
    try {
      await once(socket, 'connect')
      if (!(await greetHost(channel, this.#window.secret))) return undefined
      channel.send({ type: 'token', ...(rejected !== undefined && { rejected }) })
      const answer = await channel.next()
      return typeof answer?.token === 'string' ? answer.token : undefined
    } catch {
      // the window is closed
      return undefined
    } finally {
      channel.dispose()
    }
  }
}
