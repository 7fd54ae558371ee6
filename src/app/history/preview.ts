import type { HistoryPreview } from '../../bridge/history.ts'
import type { SessionId } from '../../common/session-key.ts'
import { shortened } from '../../common/visible.ts'
import { blockText, lines } from '../../conversation/block-text.ts'
import { readableTitle } from '../../conversation/mcp-tool-call.ts'
import type { Entry } from '../../conversation/state.ts'
import type { Transcripts } from '../../history/transcripts.ts'

/** The numbers of entries that are read at the start and at the end. */
const FIRST = 4
const LAST = 40
/** The maximum length of a message in characters, and the maximum number of parts at the end. */
const MAX_TEXT = 1500
const MAX_PARTS = 12

/** Returns the preview of a saved conversation: its topic and its latest state. The agent isn't needed. */
export function previewOf(
  transcripts: Pick<Transcripts, 'ends'>,
  { agentId, sessionId }: SessionId,
): HistoryPreview {
  const ends = transcripts.ends(agentId, sessionId, FIRST, LAST)
  const [first, ...others] = (ends?.first ?? []).flatMap(partOf)
  const last = [...others, ...(ends?.last ?? []).flatMap(partOf)]
  const isWhole = (ends?.last.length ?? 0) < LAST && last.length <= MAX_PARTS
  const parts: HistoryPreview['parts'] = isWhole ? last : [{ kind: 'gap' }, ...last.slice(-MAX_PARTS)]
  return { agentId, sessionId, parts: first ? [first, ...parts] : [] }
}

function partOf(entry: Entry): Exclude<HistoryPreview['parts'][number], { kind: 'gap' }>[] {
  if (entry.kind === 'tool_call')
    return entry.title ? [{ kind: 'tool', text: readableTitle(entry.title).slice(0, 200) }] : []
  if (entry.kind !== 'message' || entry.role === 'thought') return []
  const text = lines(entry.blocks.map(block => blockText(block, entry.role === 'agent'))).trim()
  if (text === '') return []
  return [{ kind: entry.role, text: shortened(text, MAX_TEXT) }]
}
