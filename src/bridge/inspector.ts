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
