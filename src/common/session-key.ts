/** A session of an agent. */
export interface SessionId {
  agentId: string
  sessionId: string
}

/**
 * Identifies a session in this window and on disk. Agents choose session ids, so two agents may use the same id. Keys are unique: the
 * encoded agent id contains no slash.
 */
export function sessionKey(agentId: string, sessionId: string): string {
  return `${encodeURIComponent(storedId(agentId))}/${sessionId}`
}

/** The session of a {@link sessionKey}. */
export function sessionOfKey(key: string): SessionId {
  const slash = key.indexOf('/')
  return { agentId: idOfStored(decodeURIComponent(key.slice(0, slash))), sessionId: key.slice(slash + 1) }
}

/** The prefix of ids that are stored as JSON. */
const QUOTED = 'id:"'

/**
 * Encodes an id of an agent so that SQLite and hashes distinguish all ids, since SQLite and hashes replace lone surrogates. Control
 * characters are also encoded, because they separate the parts of keys. Other ids stay as they are.
 */
export function storedId(id: string): string {
  const isSafe = !/[\p{Surrogate}\p{Cc}]/u.test(id) && !id.startsWith(QUOTED)
  return isSafe ? id : `id:${JSON.stringify(id)}`
}

/** The id of a {@link storedId}. */
export function idOfStored(stored: string): string {
  if (!stored.startsWith(QUOTED)) return stored
  try {
    return String(JSON.parse(stored.slice(3)))
  } catch {
    // the id was stored by an earlier version
    return stored
  }
}

/** The key under which a view stores its last displayed session, to restore it after a reload. */
export const LAST_SESSION = 'parley.lastSession'
