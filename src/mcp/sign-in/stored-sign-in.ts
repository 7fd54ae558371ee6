import type { StoredOAuthClientInformation, StoredOAuthTokens } from '@modelcontextprotocol/client'
import { isRecord } from '../../common/is-record.ts'

/** A stored sign-in, as one secret for each URL of a server. */
export interface StoredSignIn {
  client: StoredOAuthClientInformation
  /** The redirect URL for which the client is registered. */
  redirectUrl: string
  tokens: StoredOAuthTokens
  /** When the access token expires, in milliseconds since the epoch. */
  expiresAt?: number
}

export function parseSignIn(text: string | undefined): StoredSignIn | undefined {
  try {
    const value: unknown = JSON.parse(text ?? '')
    const isStored =
      isRecord(value) &&
      isRecord(value.client) &&
      typeof value.redirectUrl === 'string' &&
      isRecord(value.tokens) &&
      typeof value.tokens.access_token === 'string'
    return isStored ? (value as unknown as StoredSignIn) : undefined
  } catch {
    return undefined
  }
}
