/** A request without a response. */
export interface OpenRequest {
  id: string | number
  method: string
  params: unknown
  /** Of a prompt: the number of the frame with the response, if the agent has sent it and no window has confirmed it. */
  answeredBy?: number
}

/** The agent's response when a session was started or opened. */
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
  /** the largest number that was used as a request's id */
  lastId: number
  /** the number of the last confirmed frame of the agent; later frames follow */
  confirmed: number
  /** the number of the last frame that the agent had sent then */
  last: number
  /** what windows stored about sessions, by session id */
  notes: Record<string, unknown>
  /** The agent has exited, perhaps together with its host. */
  isOver?: true
}

/** How long an agent continues without a window, in milliseconds. */
export interface OutliveTimes {
  /** after the last frame; 0: it ends with its window */
  silentMs: number
  /** after the last frame once no turn runs anymore; absent: as in a turn */
  idleMs?: number
  /** after the window is gone, however much it says; absent: without an end */
  totalMs?: number
}

/** Identifies an agent: its id in Parley's settings, and the workspace of the window that started it. */
export interface AgentTag {
  agentId: string
  name: string
  workspace: string
  /** Identifies the agent's configured start. */
  launch?: string | undefined
}

/** What a window says about itself when it takes over an agent from another window. */
export interface AgentClaim {
  /** where the agent belongs from now on; absent: where it did */
  workspace?: string
  /** How many windows had attached so far. If another window attaches meanwhile, this one doesn't get the agent. */
  attachments: number
}

/** An agent in the host, as a list shows it. */
export interface HostedAgentInfo {
  id: string
  pid: number
  command: string
  args?: readonly string[]
  cwd: string
  tag: AgentTag
  /** the sessions that windows noted something about */
  sessions: string[]
  /** milliseconds since the epoch */
  since: number
  /** How many windows have attached so far. */
  attachments: number
  /** Whether a window is attached. */
  isAttached: boolean
  hasExited: boolean
}
