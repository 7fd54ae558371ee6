/** The maximum number of sessions of one agent that are remembered although only the agent's updates mention them. */
const MAX_REPORTED = 1000

/** The sessions of an agent, by their ids. */
export class SessionMap<S> {
  readonly #create: (sessionId: string) => S
  /** sessions that Parley has created or opened */
  readonly #opened = new Map<string, S>()
  /** sessions that only the agent's updates mention: subagents, and sessions whose response hasn't arrived yet */
  readonly #reported = new Map<string, S>()

  constructor(create: (sessionId: string) => S) {
    this.#create = create
  }

  /** Returns a session that Parley has created or opened; adds it if it's unknown. */
  opened(sessionId: string): S {
    let session = this.#opened.get(sessionId)
    if (!session) {
      session = this.#reported.get(sessionId) ?? this.#create(sessionId)
      this.#reported.delete(sessionId)
      this.#opened.set(sessionId, session)
    }
    return session
  }

  /** Returns the session that an update of the agent is about; adds it if it's unknown. */
  reported(sessionId: string): S {
    let session = this.#opened.get(sessionId) ?? this.#reported.get(sessionId)
    if (!session) {
      // An agent may use a new id for each update, so the oldest sessions are dropped.
      const [oldest] = this.#reported.size < MAX_REPORTED ? [] : this.#reported.keys()
      if (oldest !== undefined) this.#reported.delete(oldest)
      session = this.#create(sessionId)
      this.#reported.set(sessionId, session)
    }
    return session
  }

  delete(sessionId: string): void {
    this.#opened.delete(sessionId)
    this.#reported.delete(sessionId)
  }
}
