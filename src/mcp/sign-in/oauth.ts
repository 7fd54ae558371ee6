import { randomBytes } from 'node:crypto'
import {
  auth,
  extractWWWAuthenticateParams,
  type FetchLike,
  type OAuthClientProvider,
  type OAuthDiscoveryState,
  RegistrationRejectedError,
  type StoredOAuthClientInformation,
  type StoredOAuthTokens,
} from '@modelcontextprotocol/client'
import * as l10n from '@vscode/l10n'
import {
  isWebAddress,
  leadsToLocalHost,
  RedirectError,
  secureFetch,
} from '../../agents/registry/secure-fetch.ts'
import { raceAbort } from '../../common/async.ts'
import { CancelledError, isCancelled, messageOf } from '../../common/errors.ts'
import { isLoopback } from '../../common/is-loopback.ts'
import { RedirectListener } from './redirect-listener.ts'
import type { StoredSignIn } from './stored-sign-in.ts'

export interface SignInOptions {
  server: { type: 'http' | 'sse'; name: string; url: string }
  /** Asks the user before the browser opens. `host`: where they sign in. Resolves to `false` if they don't want to. */
  confirm: (host: string) => Promise<boolean>
  /**
   * Asks for the client that the user has registered, at a server that doesn't register clients itself. Resolves to `undefined` if the user
   * declines.
   */
  askClient: (redirectUrl: string, signal: AbortSignal) => Promise<RegisteredClient | undefined>
  openExternal: (url: string) => Promise<void>
  /** The address under which the user's browser reaches an address of this machine. */
  externalUrl: (url: string) => Promise<string>
  fetch: FetchLike
  signal: AbortSignal
}

/** A client that is registered with the authorization server. */
export interface RegisteredClient {
  client_id: string
  client_secret?: string
}

/** The port to which the browser returns for a user's own client, which is registered with one address. */
const CLIENT_PORT = 33419

/**
 * Signs in to an MCP server with OAuth as its specification says: discovery, registration of a client, PKCE and the
 * authorization code, all by the SDK.
 *
 * @throws CancelledError if the user cancels, or an error for the user
 */
export async function signInWithOAuth(options: SignInOptions): Promise<StoredSignIn> {
  const { server, signal } = options
  const checked = new CheckedFetch(server.url, options.fetch, signal)
  const challenge = await requestChallenge(server, checked.fetch)
  try {
    return await signInAs('new', options, checked.fetch, challenge)
  } catch (error) {
    const isRefused =
      error instanceof RegistrationRejectedError || /dynamic client registration/i.test(messageOf(error))
    if (isCancelled(error)) throw error
    // the SDK ignores requests that fail
    if (checked.refused) throw checked.refused
    if (!isRefused) throw error
    return signInAs('registered', options, checked.fetch, challenge)
  }
}

/**
 * Requests of a sign-in. The user chose the address of the MCP server; all other addresses come from that server, so they must be
 * encrypted, and must not lead from the internet to this machine or its network.
 */
class CheckedFetch {
  readonly #origin: string
  readonly #isLocal: Promise<boolean>
  readonly #fetch: FetchLike
  readonly #signal: AbortSignal
  /** The first request that wasn't allowed. */
  refused: Error | undefined

  constructor(server: string, fetch: FetchLike, signal: AbortSignal) {
    const { origin, hostname } = new URL(server)
    this.#origin = origin
    this.#isLocal = leadsToLocalHost(hostname)
    this.#fetch = fetch
    this.#signal = signal
  }

  readonly fetch: FetchLike = async (address, init) => {
    try {
      return await secureFetch(this.#once, String(address), { ...init, signal: this.#signal })
    } catch (error) {
      if (error instanceof RedirectError) this.refused ??= error
      throw error
    }
  }

  readonly #once = async (address: string | URL | Request, init?: RequestInit): Promise<Response> => {
    const { href, origin, hostname } = new URL(String(address))
    const isAllowed =
      origin === this.#origin ||
      (isWebAddress(href) && ((await this.#isLocal) || !(await leadsToLocalHost(hostname))))
    if (isAllowed) return this.#fetch(href, init)
    throw new RedirectError(
      l10n.t("The server names an address for its sign-in that isn't allowed: {0}", origin),
    )
  }
}

async function signInAs(
  kind: 'new' | 'registered',
  options: SignInOptions,
  fetch: FetchLike,
  challenge: Challenge,
): Promise<StoredSignIn> {
  const { server, signal } = options
  const state = randomBytes(32).toString('base64url')
  const listener = await RedirectListener.start(state, kind === 'new' ? 0 : CLIENT_PORT)
  try {
    const redirectUrl = await options.externalUrl(listener.url)
    const client = kind === 'new' ? undefined : await options.askClient(redirectUrl, signal)
    if (kind === 'registered' && !client) throw new CancelledError()
    const redirect = async (url: URL) => {
      // the address comes from the server
      if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isLoopback(url.hostname)))
        throw new Error(l10n.t("The server's sign-in URL must use HTTPS."))
      if (!(await options.confirm(url.host))) throw new CancelledError()
      await options.openExternal(url.href)
    }
    const provider = new Provider(redirectUrl, state, redirect, client && { client })
    await raceAbort(auth(provider, { serverUrl: server.url, fetchFn: fetch, ...challenge }), signal)
    const arrived = await raceAbort(listener.arrived, signal)
    const code = arrived.get('code')
    // the error text in the address may come from somebody else
    if (code === null) throw new Error(l10n.t('The sign-in was declined.'))
    const iss = arrived.get('iss')
    await auth(provider, {
      serverUrl: server.url,
      authorizationCode: code,
      fetchFn: fetch,
      ...(iss !== null && { iss }),
    })
    return provider.signIn()
  } finally {
    listener.dispose()
  }
}

/**
 * New tokens for expired ones. `rejected`: the user has to sign in again.
 * @throws if the server can't be reached, has a problem, or doesn't answer before the signal aborts
 */
export async function refreshWithOAuth(
  url: string,
  stored: StoredSignIn,
  fetch: FetchLike,
  signal: AbortSignal,
): Promise<StoredSignIn | 'rejected'> {
  if (stored.tokens.refresh_token === undefined) return 'rejected'
  const unavailable = new Error(l10n.t("The server didn't renew the sign-in."))
  // without new tokens, the SDK begins a sign-in
  const provider = new Provider(stored.redirectUrl, '', () => Promise.reject(unavailable), stored)
  try {
    const { fetch: checked } = new CheckedFetch(url, fetch, signal)
    await raceAbort(auth(provider, { serverUrl: url, fetchFn: checked }), signal)
    return provider.signIn()
  } catch (error) {
    if (provider.isRejected) return 'rejected'
    throw signal.aborted ? unavailable : error
  }
}

class Provider implements OAuthClientProvider {
  readonly redirectUrl: string
  readonly redirectToAuthorization: (url: URL) => Promise<void>
  readonly #state: string
  #client: StoredOAuthClientInformation | undefined
  #tokens: StoredOAuthTokens | undefined
  #verifier = ''
  /** The code is only sent to the authorization server at which the user signed in. */
  #discovery: OAuthDiscoveryState | undefined
  /** The server rejects the earlier tokens. */
  isRejected = false

  constructor(
    redirectUrl: string,
    state: string,
    redirect: (url: URL) => Promise<void>,
    stored?: Pick<StoredSignIn, 'client'> & Partial<StoredSignIn>,
  ) {
    this.redirectUrl = redirectUrl
    this.redirectToAuthorization = redirect
    this.#state = state
    this.#client = stored?.client
    this.#tokens = stored?.tokens
  }

  get clientMetadata() {
    return {
      client_name: 'Parley',
      redirect_uris: [this.redirectUrl],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      // a program on the user's machine keeps no secret
      token_endpoint_auth_method: 'none',
    }
  }

  state(): string {
    return this.#state
  }

  clientInformation(): StoredOAuthClientInformation | undefined {
    return this.#client
  }

  saveClientInformation(client: StoredOAuthClientInformation): void {
    this.#client = client
  }

  tokens(): StoredOAuthTokens | undefined {
    return this.#tokens
  }

  saveTokens(tokens: StoredOAuthTokens): void {
    this.#tokens = tokens
  }

  saveDiscoveryState(state: OAuthDiscoveryState): void {
    this.#discovery = state
  }

  discoveryState(): OAuthDiscoveryState | undefined {
    return this.#discovery
  }

  saveCodeVerifier(verifier: string): void {
    this.#verifier = verifier
  }

  codeVerifier(): string {
    return this.#verifier
  }

  invalidateCredentials(scope: 'all' | 'client' | 'tokens' | 'verifier' | 'discovery'): void {
    if (scope !== 'verifier' && scope !== 'discovery') this.isRejected = true
    if (scope === 'all' || scope === 'client') this.#client = undefined
    if (scope === 'all' || scope === 'tokens') this.#tokens = undefined
  }

  signIn(): StoredSignIn {
    if (!this.#client || !this.#tokens) throw new Error(l10n.t("The server didn't return an access token."))
    const { expires_in: seconds } = this.#tokens
    return {
      client: this.#client,
      redirectUrl: this.redirectUrl,
      tokens: this.#tokens,
      ...(seconds !== undefined && { expiresAt: Date.now() + seconds * 1000 }),
    }
  }
}

interface Challenge {
  resourceMetadataUrl?: URL
  scope?: string
}

/** The server's requirements for signing in, from its response to a request without a token. */
async function requestChallenge(
  { type, url }: SignInOptions['server'],
  fetch: FetchLike,
): Promise<Challenge> {
  const ping = { jsonrpc: '2.0', id: 1, method: 'ping' }
  const accept = 'application/json, text/event-stream'
  const response = await fetch(
    url,
    type === 'sse'
      ? { headers: { accept } }
      : {
          method: 'POST',
          headers: { accept, 'content-type': 'application/json' },
          body: JSON.stringify(ping),
        },
  )
  await response.body?.cancel()
  if (response.status !== 401)
    throw new Error(l10n.t("The server doesn't ask you to sign in (status {0}).", response.status))
  const { resourceMetadataUrl, scope } = extractWWWAuthenticateParams(response)
  return { ...(resourceMetadataUrl && { resourceMetadataUrl }), ...(scope !== undefined && { scope }) }
}
