import * as l10n from '@vscode/l10n'
import * as z from 'zod'
import type { ContentBlock, Open, SessionUpdate } from '../../acp/model.ts'
import { blockText, lines } from '../block-text.ts'
import { copyBlocks, isBlank, textOf } from '../blocks.ts'
import { blocksMarkdown, folded } from '../markdown.ts'
import { append, appendContent, entryAt, type Reducers, type Step, stopTime, touch } from '../reducer/step.ts'
import type { EntryBase } from '../state-base.ts'
import type { EntryKind } from './entry-kind.ts'

export interface CompactionEntry extends EntryBase {
  kind: 'compaction'
  compactionId: string
  status: Open<'in_progress' | 'completed' | 'failed' | 'cancelled'>
  summary: ContentBlock[]
  error?: string
}

export const COMPACTION: EntryKind<CompactionEntry> = {
  kind: 'compaction',
  schema: () => ({ compactionId: z.string(), status: z.string(), summary: z.array(z.unknown()) }),
  isWork: () => true,
  mergeKey: ({ compactionId }) => [compactionId],
  traits: ({ summary }) => [textOf(summary)],
  merged: (known, reported) => {
    const merged = { ...reported, ...known }
    if (known.status !== 'completed') merged.status = reported.status
    if (textOf(reported.summary).length > textOf(known.summary).length) merged.summary = reported.summary
    return merged
  },
  growing: ({ summary }) => summary,
  copy: entry => ({ ...entry, summary: copyBlocks(entry.summary) }),
  restore: ({ memory }, { compactionId, status }, position) => {
    memory.compactions.set(compactionId, position)
    if (status === 'in_progress') memory.openCompactions.add(position)
  },
  markdown: entry => {
    const summary = blocksMarkdown(entry.summary)
    const title = l10n.t('Conversation compacted')
    return summary === '' ? `*${title}*` : folded(title, [summary])
  },
  text: ({ summary }) => ({ head: '', body: lines(summary.map(block => blockText(block, true))) }),
}

export const COMPACTION_REDUCERS: Reducers<'compaction' | 'compaction_chunk'> = {
  compaction: compactionUpsert,
  compaction_chunk: compactionChunk,
}

type Update<T extends SessionUpdate['type']> = Extract<SessionUpdate, { type: T }>

/** Creates or changes a compaction: absent fields stay, `null` clears. */
function compactionUpsert(step: Step, update: Update<'compaction'>): void {
  const { memory } = step.state
  const found = memory.compactions.get(update.compactionId)
  const position = found ?? createCompaction(step, update.compactionId)
  const entry = entryAt(step.state, position, COMPACTION)
  if (!entry) return
  entry.status = update.status
  if (update.summary !== undefined) entry.summary = copyBlocks(update.summary)
  if (update.error === null) delete entry.error
  else if (update.error !== undefined) entry.error = update.error
  if (update.status === 'completed' || update.status === 'failed' || update.status === 'cancelled') {
    memory.openCompactions.delete(position)
    stopTime(step, entry)
  } else {
    memory.openCompactions.add(position)
    delete entry.endedAt
  }
  if (found !== undefined) touch(step, position)
}

function compactionChunk(step: Step, { compactionId, content }: Update<'compaction_chunk'>): void {
  const { memory } = step.state
  const position = memory.compactions.get(compactionId)
  if (position === undefined) {
    createCompaction(step, compactionId, isBlank(content) ? [] : [content])
    return
  }
  const entry = entryAt(step.state, position, COMPACTION)
  if (entry) appendContent(step, position, entry.summary, content)
}

/** Closes compactions that no update will close anymore. */
export function closeCompactions(step: Step): void {
  const { memory } = step.state
  for (const position of [...memory.openCompactions]) {
    const entry = entryAt(step.state, position, COMPACTION)
    if (!entry) continue
    entry.status = 'cancelled'
    stopTime(step, entry)
    memory.openCompactions.delete(position)
    touch(step, position)
  }
}

function createCompaction(step: Step, compactionId: string, content: readonly ContentBlock[] = []): number {
  const summary = copyBlocks(content)
  const position = append(step, COMPACTION, { compactionId, status: 'in_progress', summary })
  step.state.memory.compactions.set(compactionId, position)
  step.state.memory.openCompactions.add(position)
  return position
}
