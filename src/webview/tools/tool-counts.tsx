import type { ToolCallEntry } from '../../conversation/state.ts'
import { DiffCounts } from './diff-counts.tsx'
import { diffSoon } from './diff-soon.ts'

/** How many lines a tool call adds and removes, over all its diffs; nothing when it has none. */
export function ToolCounts({ entry }: { entry: ToolCallEntry }) {
  let added = 0
  let removed = 0
  for (const content of entry.content) {
    if (content.type !== 'diff') continue
    for (const change of content.changes) {
      const diff = diffSoon(change, content.patch?.text)
      added += diff?.added ?? 0
      removed += diff?.removed ?? 0
    }
  }
  return added + removed > 0 ? <DiffCounts added={added} removed={removed} /> : null
}
