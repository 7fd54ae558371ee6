/** Maximum number of sessions remembered for one agent that Parley didn't ask for. */
const MAX_REPORTED = 1000

/** The sessions of an agent, by their ids. */
export class SessionMap<S> {
  readonly #create: (sessionId: string) => S
  /** sessions that Parley has created or opened */
  readonly #opened = new Map<string, S>()
  /** sessions that only the agent's updates mention: subagents, or a session whose response hasn't arrived yet */
  readonly #reported = new Map<string, S>()

  constructor(create: (sessionId: string) => S) {
    this.#create = create
  }

  /** A session that Parley asks for. */
  opened(sessionId: string): S {
    let session = this.#opened.get(sessionId)
    if (!session) {
      session = this.#reported.get(sessionId) ?? this.#create(sessionId)
      this.#reported.delete(sessionId)
      this.#opened.set(sessionId, session)
    }
    return session
  }

  /** The session that an agent's update is about; added if it's unknown. */
  reported(sessionId: string): S {
    let session = this.#opened.get(sessionId) ?? this.#reported.get(sessionId)
    if (!session) {
      // An agent may use a new id for each update; then the oldest are dropped.
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
