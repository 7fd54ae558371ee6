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
  /** only for a response: the method of its request */
  method?: string
  /** the kind of update in a `session/update` */
  about?: string
  /** milliseconds from a request to its response; both frames have the value */
  duration?: number
  /** the response is an error; its request is marked as well */
  failed?: true
  /** the message doesn't match the official schema */
  invalid?: true
  /** a request without a response */
  pending?: true
  /** for a response, the number of its request, and for a request, the number of its response */
  pair?: number
}

/** A frame with its message as JSON, without secrets. */
export interface FrameDetails {
  row: FrameRow
  json: string
  /** The message was too long, so the JSON is only a part of it. */
  isCut?: true
  /** how the message differs from the official schema of this version */
  violations?: { version: number; problems: string[] }
  /** the position in the list; absent if the filter doesn't show the frame */
  position?: number
}

/** The timeline of a turn, as far as its frames show it. */
export interface TurnTimeline {
  /** the number of the turn's first frame */
  first: number
  /** when the turn began, in milliseconds since the epoch */
  at: number
  /** the turn's duration so far, in milliseconds */
  duration: number
  /** milliseconds from the beginning to the first output of the agent */
  firstOutput?: number
  /** the spans in the order in which they began */
  spans: TurnSpan[]
  /** the number of further spans */
  more: number
  /** No frame ended the turn. */
  isRunning?: true
  stopReason?: string
  /** The agent answered the prompt with an error. */
  failed?: true
}

export interface TurnSpan {
  /**
   * - `queue`: the prompt waited in Parley's queue.
   * - `wait`: the agent had the prompt and hadn't sent any output yet.
   * - `permission`, `question`: the agent waited for the user, or for a rule.
   * - `request`: the agent waited for Parley's answer.
   * - `stop`: from the request to stop the turn to the turn's end.
   */
  kind: 'queue' | 'wait' | 'thought' | 'message' | 'tool' | 'permission' | 'question' | 'request' | 'stop'
  /** the number of the span's first frame */
  n: number
  /** milliseconds since the turn began */
  start: number
  end: number
  /** No frame ended the span, so `end` is the end of the turn. */
  isOpen?: true
  /** for a tool call or permission, its title; for a request, its method */
  name?: string
  /** the last status of a tool call; `failed` if the response was an error */
  outcome?: string
}

/** Selects the frames that are shown. An absent member doesn't filter. */
export interface FrameFilter {
  /** text that occurs in the message or its method, in upper or lower case */
  text: string
  agentId?: string | undefined
  sessionId?: string | undefined
  method?: string | undefined
  direction?: 'send' | 'receive' | undefined
  /** whether only error responses and messages that don't match the schema are shown */
  errors?: boolean | undefined
}

export interface InspectorState {
  isRecording: boolean
  /** the file from which the messages were imported, if any */
  file?: string
  /** number of frames in memory */
  count: number
  /** how often all frames were removed */
  cleared: number
  /** number of older frames that were removed from memory */
  dropped: number
  /** identifies the filter of the page's last message */
  version: number
  /** whether frames still wait to be filtered */
  isFiltering: boolean
  /** the positions of the frames that the filter shows; a frame always keeps its position */
  start: number
  end: number
}

/** The names by which users can filter. */
export interface InspectorNames {
  agents: { id: string; name: string }[]
  sessions: { id: string; title: string }[]
  methods: string[]
}
