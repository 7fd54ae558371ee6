/** The messages between the host and the protocol inspector. */
import * as z from 'zod'
import { answer, nothing, request } from './contract.ts'
import type {
  FrameDetails,
  FrameFilter,
  FrameRow,
  InspectorNames,
  InspectorState,
  TurnTimeline,
} from './inspector.ts'

export type InspectorMessages = typeof inspectorMessages

/** Maximum number of rows that the page gets at once. */
export const MAX_ROWS = 500

const count = z.number().int().nonnegative()
const name = z.string().max(1000).optional()

const filter: z.ZodType<FrameFilter> = z.object({
  text: z.string().max(1000),
  agentId: name,
  sessionId: name,
  method: name,
  direction: z.enum(['send', 'receive']).optional(),
  errors: z.boolean().optional(),
})

export const inspectorMessages = {
  /** The page can draw, and shows the frames that match this filter. */
  'inspector/filter': z.object({ version: count, filter }),
  /**
   * Returns the frames at these positions of the filter, from `from` (inclusive) to `to` (exclusive); fewer if some aren't in memory
   * anymore.
   */
  'inspector/rows': request(
    z.object({ version: count, from: count, to: count }),
    answer<{ from: number; rows: FrameRow[] }>(),
  ),
  /** Returns a whole frame; `null` if it isn't in memory anymore. */
  'inspector/frame': request(z.object({ n: count }), answer<FrameDetails | null>()),
  /** Returns the turn to which a frame belongs; `null` if it belongs to none. */
  'inspector/turn': request(z.object({ n: count }), answer<TurnTimeline | null>()),
  'inspector/record': z.object({ on: z.boolean() }),
  'inspector/clear': nothing,
  /** Shows the messages of an exported file instead of the recorded ones. */
  'inspector/import': nothing,
  /** Writes the shown frames to a file. */
  'inspector/export': nothing,
  /** Opens a report with the last shown frames, which the user can edit. */
  'inspector/report': nothing,
  /** Shows a recorded session as a conversation: the session of a frame, or one that the user selects. */
  'inspector/replay': z.object({ n: count.optional() }),
} as const

/** The host's messages to the protocol inspector. They are sent while it's visible. */
export interface InspectorHostMessages {
  'inspector/state': InspectorState
  'inspector/names': InspectorNames
}
