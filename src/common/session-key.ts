/**
 * Names a session in this window and on disk: agents choose session ids, so two agents may have the same. No two sessions
 * have the same key: the agent's part has no slash.
 */
export function sessionKey(agentId: string, sessionId: string): string {
  return `${encodeURIComponent(agentId)}/${sessionId}`
}

/** What {@link sessionKey} names. */
export function sessionOfKey(key: string): { agentId: string; sessionId: string } {
  const slash = key.indexOf('/')
  return { agentId: decodeURIComponent(key.slice(0, slash)), sessionId: key.slice(slash + 1) }
}
