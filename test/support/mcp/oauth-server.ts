import { createHash, randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { LoopbackServer } from '../loopback-server.ts'

interface Grant {
  clientId: string
  redirectUri: string
  challenge: string
  resource: string | null
}

/**
 * An OAuth 2.1 authorization server with the parts that MCP asks for: metadata (RFC 8414), registration of clients (RFC
 * 7591), authorization codes with PKCE, rotating refresh tokens, the resource (RFC 8707) and the issuer in the response (RFC
 * 9207). Whoever opens its page has signed in.
 */
export class OAuthServer {
  /** What the user does on its page. */
  decision: 'allow' | 'deny' = 'allow'
  /** Whether clients can register. */
  registers = true
  lifetime = 3600
  readonly clients = new Map<string, string[]>()
  readonly grants: string[] = []
  readonly #codes = new Map<string, Grant>()
  readonly #access = new Set<string>()
  readonly #refresh = new Map<string, string>()
  #server!: LoopbackServer

  static async start(): Promise<OAuthServer> {
    const oauth = new OAuthServer()
    oauth.#server = await LoopbackServer.start((request, response) => void oauth.#answer(request, response))
    return oauth
  }

  get origin(): string {
    return this.#server.origin
  }

  /** The access tokens that are valid now. */
  get tokens(): ReadonlySet<string> {
    return this.#access
  }

  /** Makes all access tokens invalid, as if they had expired. */
  expire(): void {
    this.#access.clear()
  }

  /** The refresh tokens don't work anymore, as after the user withdrew the access. */
  revoke(): void {
    this.expire()
    this.#refresh.clear()
  }

  stop(): Promise<void> {
    return this.#server.stop()
  }

  /** For the MCP server: answers a request that has no valid token, and its metadata (RFC 9728). */
  protect(request: IncomingMessage, response: ServerResponse): boolean {
    const origin = `http://${request.headers.host}`
    const metadata = '/.well-known/oauth-protected-resource/mcp'
    if (request.url === metadata) {
      json(response, 200, {
        resource: `${origin}/mcp`,
        authorization_servers: [this.origin],
        scopes_supported: ['mcp'],
      })
      return true
    }
    const [, token = ''] = /^Bearer (.+)$/.exec(request.headers.authorization ?? '') ?? []
    if (this.#access.has(token)) return false
    response
      .writeHead(401, { 'www-authenticate': `Bearer resource_metadata="${origin}${metadata}", scope="mcp"` })
      .end()
    return true
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<ServerResponse> {
    const url = new URL(request.url ?? '/', this.origin)
    switch (url.pathname) {
      case '/.well-known/oauth-authorization-server':
        return json(response, 200, {
          issuer: this.origin,
          authorization_endpoint: `${this.origin}/authorize`,
          token_endpoint: `${this.origin}/token`,
          ...(this.registers && { registration_endpoint: `${this.origin}/register` }),
          response_types_supported: ['code'],
          grant_types_supported: ['authorization_code', 'refresh_token'],
          code_challenge_methods_supported: ['S256'],
          token_endpoint_auth_methods_supported: ['none'],
          authorization_response_iss_parameter_supported: true,
        })
      case '/register': {
        const metadata = JSON.parse(await text(request)) as { redirect_uris: string[] }
        const client_id = randomUUID()
        this.clients.set(client_id, metadata.redirect_uris)
        return json(response, 201, { ...metadata, client_id })
      }
      case '/authorize':
        return this.#authorize(url.searchParams, response)
      case '/token':
        return this.#token(new URLSearchParams(await text(request)), response)
      default:
        return json(response, 404, {})
    }
  }

  #authorize(asked: URLSearchParams, response: ServerResponse): ServerResponse {
    const [clientId = '', redirectUri = ''] = [asked.get('client_id') ?? '', asked.get('redirect_uri') ?? '']
    const isValid =
      this.clients.get(clientId)?.includes(redirectUri) &&
      asked.get('response_type') === 'code' &&
      asked.get('code_challenge_method') === 'S256'
    if (!isValid) return json(response, 400, { error: 'invalid_request' })
    const back = new URL(redirectUri)
    back.searchParams.set('state', asked.get('state') ?? '')
    back.searchParams.set('iss', this.origin)
    if (this.decision === 'deny') back.searchParams.set('error', 'access_denied')
    else {
      const code = randomUUID()
      const challenge = asked.get('code_challenge') ?? ''
      this.#codes.set(code, { clientId, redirectUri, challenge, resource: asked.get('resource') })
      back.searchParams.set('code', code)
    }
    return response.writeHead(302, { location: back.href }).end()
  }

  #token(asked: URLSearchParams, response: ServerResponse): ServerResponse {
    const type = asked.get('grant_type') ?? ''
    this.grants.push(type)
    const clientId = asked.get('client_id') ?? ''
    if (type === 'authorization_code') {
      const code = asked.get('code') ?? ''
      const grant = this.#codes.get(code)
      this.#codes.delete(code)
      const challenge = createHash('sha256')
        .update(asked.get('code_verifier') ?? '')
        .digest('base64url')
      const isValid =
        grant?.clientId === clientId &&
        grant.redirectUri === asked.get('redirect_uri') &&
        grant.challenge === challenge &&
        grant.resource === asked.get('resource')
      if (!isValid) return json(response, 400, { error: 'invalid_grant' })
    } else {
      const refresh = asked.get('refresh_token') ?? ''
      if (this.#refresh.get(refresh) !== clientId) return json(response, 400, { error: 'invalid_grant' })
      this.#refresh.delete(refresh)
    }
    const [access_token, refresh_token] = [`access-${randomUUID()}`, `refresh-${randomUUID()}`]
    this.#access.add(access_token)
    this.#refresh.set(refresh_token, clientId)
    return json(response, 200, {
      access_token,
      refresh_token,
      token_type: 'Bearer',
      expires_in: this.lifetime,
    })
  }
}

function json(response: ServerResponse, status: number, body: object): ServerResponse {
  return response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}
