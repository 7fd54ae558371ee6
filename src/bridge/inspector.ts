/** A frame in the list of the protocol inspector. */
export interface FrameRow {
  /** counts up from 1 */
  n: number
  /** milliseconds since the epoch */
  at: number
  direction: 'send' | 'receive'
  kind: 'request' | 'response' | 'notification'
  agentId: string
  /** the agent's name */
  agent: string
  sessionId?: string
  /** of a response: the method of its request */
  method?: string
  /** the kind of update in a `session/update` */
  about?: string
  /** milliseconds from a request to its response; both have it */
  duration?: number
  /** the response is an error; its request has it, too */
  failed?: true
  /** the message doesn't match the official schema */
  invalid?: true
  /** a request without a response */
  pending?: true
  /** of a response: the number of its request, and the other way round */
  pair?: number
}

/** A frame with its message as JSON, without secrets. */
export interface FrameDetails {
  row: FrameRow
  json: string
  /** The message was too long, so the JSON is only a part of it. */
  isCut?: true
  /** in which ways the message doesn't match the official schema of this version */
  violations?: { version: number; problems: string[] }
  /** where the list shows it; absent if it doesn't */
  position?: number
}

/** What happened in a turn, as far as its frames say. */
export interface TurnTimeline {
  /** the number of the frame that it began with */
  first: number
  /** when it began, in milliseconds since the epoch */
  at: number
  /** milliseconds, so far if it's running */
  duration: number
  /** milliseconds from the beginning to the first output of the agent */
  firstOutput?: number
  /** in the order in which they began */
  spans: TurnSpan[]
  /** how many further spans there are */
  more: number
  /** No frame ended the turn. */
  isRunning?: true
  stopReason?: string
  /** The agent answered the prompt with an error. */
  failed?: true
}

export interface TurnSpan {
  /**
   * - `queue`: the prompt waited in Parley.
   * - `wait`: the agent had the prompt and hadn't responded with anything.
   * - `permission`, `question`: the agent waited for the user, or for a rule.
   * - `request`: the agent waited for Parley.
   * - `stop`: from the request to stop the turn to its end.
   */
  kind: 'queue' | 'wait' | 'thought' | 'message' | 'tool' | 'permission' | 'question' | 'request' | 'stop'
  /** the number of the frame that it began with */
  n: number
  /** milliseconds since the turn began */
  start: number
  end: number
  /** No frame ended it, so `end` is that of the turn. */
  isOpen?: true
  /** of a tool call or permission: its title; of a request: its method */
  name?: string
  /** the last status of a tool call; `failed` if the answer was an error */
  outcome?: string
}

/** Which frames are shown. What is absent shows all. */
export interface FrameFilter {
  /** anywhere in the message or its method, whatever the case */
  text: string
  agentId?: string | undefined
  sessionId?: string | undefined
  method?: string | undefined
  direction?: 'send' | 'receive' | undefined
  /** only error responses, and messages that don't match the schema */
  errors?: boolean | undefined
}

export interface InspectorState {
  isRecording: boolean
  /** the file that the messages are from, if they were imported */
  file?: string
  /** number of frames in memory */
  count: number
  /** how many times all frames were removed */
  cleared: number
  /** number of older frames that were removed from memory */
  dropped: number
  /** identifies the filter: that of the page's last message */
  version: number
  /** The filter hasn't seen all frames yet. */
  isFiltering: boolean
  /** The positions of the frames that the filter shows. The same frame keeps its position. */
  start: number
  end: number
}

/** What users can filter by. */
export interface InspectorNames {
  agents: { id: string; name: string }[]
  sessions: { id: string; title: string }[]
  methods: string[]
}
