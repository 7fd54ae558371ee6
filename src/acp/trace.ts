/** One frame on the wire, as *Show Protocol Traffic* and the tests see it. */
export interface TraceFrame {
  /** milliseconds since the epoch */
  at: number
  direction: 'send' | 'receive'
  message: unknown
}

/** Hears every frame. Absent when nobody listens: a frame is then not even looked at. */
export type TraceTap = (frame: TraceFrame) => void
