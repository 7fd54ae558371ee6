/** A request without a response. */
export interface OpenRequest {
  id: string | number
  method: string
  params: unknown
  /** For a prompt: the number of the frame with the response, if the agent has sent the response and no window has confirmed it. */
  answeredBy?: number
}

/** The agent's response to a request that started or opened a session. */
export interface SessionResult {
  sessionId: string
  /** `session/new`, `session/load`, `session/resume` or `session/fork` */
  method: string
  result: unknown
}

/** What a window needs to know about an agent that is already running. */
export interface HostedAgentState {
  initialize: { params: unknown; result: unknown } | undefined
  sessions: SessionResult[]
  /** requests of earlier windows that the agent hasn't answered */
  toAgent: OpenRequest[]
  /** requests of the agent that no window has answered */
  toWindow: OpenRequest[]
  /** the largest number that a window used as a request's id */
  lastId: number
  /** the number of the last confirmed frame of the agent; the output begins with the next frame */
  confirmed: number
  /** the number of the last frame that the agent had sent when the window attached */
  last: number
  /** notes that windows stored about sessions, by session id */
  notes: Record<string, unknown>
  /** The agent has exited, perhaps because its host was killed. */
  isOver?: true
}

/** How long an agent continues without a window, in milliseconds. The agent ends when one of these times is over. */
export interface OutliveTimes {
  /** the time without output of the agent and its commands; 0: the agent ends with its window */
  silentMs: number
  /** the time after the agent's last frame if no turn runs; absent: only the other times apply */
  idleMs?: number
  /** the time after the window is gone, even if the agent writes output; absent: unlimited */
  totalMs?: number
}

/** Identifies an agent: its id in Parley's settings, and the workspace of the window that started it. */
export interface AgentTag {
  agentId: string
  name: string
  workspace: string
  /** Identifies the configuration with which the agent was started. */
  launch?: string | undefined
}

/** What a window tells the host when it takes over an agent from another window. */
export interface AgentClaim {
  /** the workspace to which the agent belongs from now on; absent: unchanged */
  workspace?: string
  /**
   * How many windows had attached when this window listed the agents; if another window has attached since, this window doesn't get the
   * agent.
   */
  attachments: number
}

/** An agent of the host, as `list` reports it. */
export interface HostedAgentInfo {
  id: string
  pid: number
  command: string
  args?: readonly string[]
  cwd: string
  tag: AgentTag
  /** the ids of the sessions about which windows stored notes */
  sessions: string[]
  /** when the agent was started, in milliseconds since the epoch */
  since: number
  /** How many windows have attached so far. */
  attachments: number
  /** Whether a window is attached. */
  isAttached: boolean
  hasExited: boolean
}
