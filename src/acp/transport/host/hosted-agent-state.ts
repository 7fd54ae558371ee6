/** A request without a response. */
export interface OpenRequest {
  id: string | number
  method: string
  params: unknown
}

/** What the agent answered when a session was started or opened. */
export interface SessionResult {
  sessionId: string
  /** `session/new`, `session/load`, `session/resume` or `session/fork` */
  method: string
  result: unknown
}

/** What a window needs to know of an agent that ran before it. */
export interface HostedAgentState {
  initialize: { params: unknown; result: unknown } | undefined
  sessions: SessionResult[]
  /** requests of earlier windows that the agent hasn't answered */
  toAgent: OpenRequest[]
  /** requests of the agent that no window has answered */
  toWindow: OpenRequest[]
  /** the largest number that was used as a request's id */
  lastId: number
  /** the number up to which the agent's frames were confirmed; the next ones follow */
  confirmed: number
}

/** An agent in the host, as a list shows it. */
export interface HostedAgentInfo {
  id: string
  pid: number
  command: string
  cwd: string
  /** milliseconds since the epoch */
  since: number
  /** Whether a window is attached. */
  isAttached: boolean
  hasExited: boolean
}
