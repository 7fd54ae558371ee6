import type { ContentBlock } from '../../acp/model.ts'
import type { Entry } from './entry-kinds.ts'

/** Returns the content blocks of an entry to which text is appended. This small file is part of the first load of the page. */
export function growingBlocks(entry: Entry): ContentBlock[] {
  if ('blocks' in entry) return entry.blocks
  return 'summary' in entry ? entry.summary : []
}
