/**
 * Identifies a session in this window and on disk. Agents choose session ids, so two agents may use the same one. Keys
 * are unique: the encoded agent id contains no slash.
 */
export function sessionKey(agentId: string, sessionId: string): string {
  return `${encodeURIComponent(agentId)}/${sessionId}`
}

/** The session of a {@link sessionKey}. */
export function sessionOfKey(key: string): { agentId: string; sessionId: string } {
  const slash = key.indexOf('/')
  return { agentId: decodeURIComponent(key.slice(0, slash)), sessionId: key.slice(slash + 1) }
}
