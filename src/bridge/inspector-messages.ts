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
  /** The page can draw, and shows the frames of this filter. */
  'inspector/filter': z.object({ version: count, filter }),
  /** The frames at these positions of the filter, without `to`; fewer if they aren't in memory anymore. */
  'inspector/rows': request(
    z.object({ version: count, from: count, to: count }),
    answer<{ from: number; rows: FrameRow[] }>(),
  ),
  /** A frame as a whole; `null` if it isn't in memory anymore. */
  'inspector/frame': request(z.object({ n: count }), answer<FrameDetails | null>()),
  /** The turn that a frame is part of; `null` if it's part of none. */
  'inspector/turn': request(z.object({ n: count }), answer<TurnTimeline | null>()),
  'inspector/record': z.object({ on: z.boolean() }),
  'inspector/clear': nothing,
  /** Shows the messages of a file that was exported, in place of the recorded ones. */
  'inspector/import': nothing,
  /** Writes the shown frames to a file. */
  'inspector/export': nothing,
  /** Opens a report with the last shown frames, which the user can edit. */
  'inspector/report': nothing,
  /** Shows a session of the messages as a conversation: that of a frame, or one that the user selects. */
  'inspector/replay': z.object({ n: count.optional() }),
} as const

/** The host's messages to the protocol inspector, sent while it's visible. */
export interface InspectorHostMessages {
  'inspector/state': InspectorState
  'inspector/names': InspectorNames
}
