import { delay, KeyedQueue, withDeadline } from '../../common/async.ts'
import { Owner } from '../../common/disposable.ts'
import { messageOf } from '../../common/errors.ts'
import { Emitter, type Event } from '../../common/event.ts'
import {
  MCP_SIGN_IN_MS,
  OTHER_RENEWAL_MS,
  OTHER_RENEWAL_POLL_MS,
  RENEW_SIGN_IN_MS,
  TOKEN_SLACK_MS,
} from '../../common/limits.ts'
import type { Logger } from '../../common/logger.ts'
import type { SecretRegistry } from '../../common/secrets.ts'
import type { WindowSocket } from '../bridge/bridged-server.ts'
import { SecretIndex, type SecretStore } from '../secret-store.ts'
import type { RegisteredClient, SignInOptions } from './oauth.ts'
import { parseSignIn, type StoredSignIn } from './stored-sign-in.ts'
import { TokenChannels } from './token-channels.ts'

const PREFIX = 'parley.mcpSignIn/'
/**
 * The access token that a server refused and that couldn't be renewed. Stored apart from the tokens, so that a window that stores it never
 * replaces tokens that another window has just renewed.
 */
const REFUSED = 'parley.mcpRefusedToken/'
/** The list of URLs. */
const INDEX = 'parley.mcpSignIns'

export interface McpSignInsOptions extends Pick<SignInOptions, 'openExternal' | 'externalUrl' | 'fetch'> {
  secretStore: SecretStore
  /** Receives every token. */
  secrets: SecretRegistry
  /** Asks the user before the browser opens. */
  confirm: (serverName: string, host: string) => Promise<boolean>
  /** See {@link SignInOptions.askClient}. `known`: the client of the last sign-in. */
  askClient: (
    serverName: string,
    redirectUrl: string,
    known: string | undefined,
    signal: AbortSignal,
  ) => Promise<RegisteredClient | undefined>
  log: Logger
}

type Server = SignInOptions['server']

/**
 * Where the user has signed in with OAuth: one sign-in for each URL of a server, in the secret store. A token is sent to that
 * URL only. The SDK is loaded when it's needed.
 */
export class McpSignIns extends Owner {
  readonly #options: McpSignInsOptions
  readonly #changed = this.register(new Emitter<string>())
  readonly #urls: SecretIndex
  /** A refresh token may work only once. */
  readonly #queue = new KeyedQueue()
  readonly #channels = this.register(new TokenChannels((url, rejected) => this.token(url, rejected)))

  constructor(options: McpSignInsOptions) {
    super()
    this.#options = options
    this.#urls = new SecretIndex(options.secretStore, INDEX)
  }

  /** The URL of a server whose sign-in has changed. */
  get onDidChange(): Event<string> {
    return this.#changed.event
  }

  /** The URLs of the servers to which the user has signed in. */
  urls(): Promise<string[]> {
    return this.#urls.items()
  }

  /** How a bridge gets the tokens of a server. */
  tokensFor(url: string): Promise<WindowSocket> {
    return this.#channels.tokensFor(url)
  }

  async isSignedIn(url: string): Promise<boolean> {
    if (!(await this.#stored(url))) return false
    // another window may have written the list at the same time
    await this.#urls.add(url)
    return true
  }

  /** Whether the server refuses the sign-in, which can't be renewed: the user has to sign in again. */
  async needsSignIn(url: string): Promise<boolean> {
    const stored = await this.#stored(url)
    return stored !== undefined && (await this.#isRefused(url, stored))
  }

  /**
   * Asks the user, opens the browser and waits for its return.
   * @throws CancelledError if the user cancels, or an error for the user
   */
  async signIn(server: Server, signal?: AbortSignal): Promise<void> {
    const { confirm, askClient, openExternal, externalUrl, fetch } = this.#options
    const { signInWithOAuth } = await import('./oauth.ts')
    const before = await this.#stored(server.url)
    const stored = await withDeadline(MCP_SIGN_IN_MS, signal, limited =>
      signInWithOAuth({
        server,
        confirm: host => confirm(server.name, host),
        askClient: (redirectUrl, over) => askClient(server.name, redirectUrl, before?.client.client_id, over),
        ...{ openExternal, externalUrl, fetch },
        signal: limited,
      }),
    )
    await this.#store(server.url, stored)
    this.#changed.fire(server.url)
  }

  /** Forgets the sign-in. Agents that have the token lose it when it expires. */
  async signOut(url: string): Promise<void> {
    const { secretStore } = this.#options
    await secretStore.delete(PREFIX + url)
    await secretStore.delete(REFUSED + url)
    await this.#urls.delete(url)
    this.#changed.fire(url)
  }

  /**
   * The access token of a server, renewed if it has expired. `rejected`: one that the server didn't accept. `undefined`: the
   * user has to sign in. Never rejects.
   */
  token(url: string, rejected?: string): Promise<string | undefined> {
    return this.#queue.run(url, async () => {
      try {
        const stored = await this.#stored(url)
        if (!stored) return undefined
        const { tokens, expiresAt } = stored
        const isExpired = expiresAt !== undefined && expiresAt < Date.now() + TOKEN_SLACK_MS
        // another window, or another agent, may have renewed the token
        if (!isExpired && tokens.access_token !== rejected) return tokens.access_token
        if (await this.#isRefused(url, stored)) return undefined
        const { refreshWithOAuth } = await import('./oauth.ts')
        const limit = AbortSignal.timeout(RENEW_SIGN_IN_MS)
        const renewed = await refreshWithOAuth(url, stored, this.#options.fetch, limit)
        const latest = await (renewed === 'rejected'
          ? this.#renewedElsewhere(url, stored)
          : this.#stored(url))
        // the user has signed out meanwhile
        if (!latest) return undefined
        // another window has renewed it at the same time, or the user has signed in again
        if (latest.tokens.access_token !== tokens.access_token) return latest.tokens.access_token
        if (renewed === 'rejected') {
          await this.#options.secretStore.store(REFUSED + url, tokens.access_token)
          this.#changed.fire(url)
          return undefined
        }
        await this.#store(url, renewed)
        return renewed.tokens.access_token
      } catch (error) {
        this.#options.log.warn(`The sign-in to ${new URL(url).host} couldn't be renewed: ${messageOf(error)}`)
        return undefined
      }
    })
  }

  async #stored(url: string): Promise<StoredSignIn | undefined> {
    const stored = parseSignIn(await this.#options.secretStore.get(PREFIX + url))
    this.#hold(stored)
    return stored
  }

  async #store(url: string, stored: StoredSignIn): Promise<void> {
    this.#hold(stored)
    await this.#options.secretStore.store(PREFIX + url, JSON.stringify(stored))
    await this.#urls.add(url)
  }

  async #isRefused(url: string, { tokens }: StoredSignIn): Promise<boolean> {
    return (await this.#options.secretStore.get(REFUSED + url)) === tokens.access_token
  }

  /**
   * Returns the stored tokens after the server refused to renew them. Another window may have renewed the tokens and stores them in a
   * moment.
   */
  async #renewedElsewhere(url: string, { tokens }: StoredSignIn): Promise<StoredSignIn | undefined> {
    const until = performance.now() + (tokens.refresh_token === undefined ? 0 : OTHER_RENEWAL_MS)
    for (;;) {
      const latest = await this.#stored(url)
      if (latest?.tokens.access_token !== tokens.access_token || performance.now() >= until) return latest
      await delay(OTHER_RENEWAL_POLL_MS)
    }
  }

  #hold(stored: StoredSignIn | undefined): void {
    const { secrets } = this.#options
    secrets.add(stored?.tokens.access_token)
    secrets.add(stored?.tokens.refresh_token)
    secrets.add(stored?.tokens.id_token)
    secrets.add(stored?.client.client_secret)
  }
}
