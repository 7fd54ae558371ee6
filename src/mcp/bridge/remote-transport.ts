import {
  type AuthProvider,
  type FetchLike,
  SSEClientTransport,
  StreamableHTTPClientTransport,
  type Transport,
} from '@modelcontextprotocol/client'

export interface RemoteServer {
  type: 'http' | 'sse'
  url: string
  headers: ReadonlyArray<{ name: string; value: string }>
}

export interface RemoteTransportOptions {
  fetch?: FetchLike
  /** Its token is sent instead of a configured `Authorization` header. */
  auth?: AuthProvider
}

/** A transport of the MCP SDK that sends the configured headers with each request. */
export function remoteTransport(
  { type, url, headers }: RemoteServer,
  { fetch, auth }: RemoteTransportOptions = {},
): Transport {
  const options = {
    requestInit: { headers: headers.map(({ name, value }): [string, string] => [name, value]) },
    ...(fetch && { fetch }),
    ...(auth && { authProvider: auth }),
  }
  return type === 'http'
    ? new StreamableHTTPClientTransport(new URL(url), options)
    : new SSEClientTransport(new URL(url), options)
}
