import * as l10n from '@vscode/l10n'
import * as z from 'zod'
import type { ContentBlock, Open, SessionUpdate } from '../../acp/model.ts'
import { blockText, lines } from '../block-text.ts'
import { copyBlocks, isBlank, textOf } from '../blocks.ts'
import { blocksMarkdown, folded } from '../markdown.ts'
import type { EntryBase } from '../state-base.ts'
import {
  append,
  appendContent,
  entryAt,
  positionsOf,
  type Reducers,
  type Step,
  stopTime,
  touch,
} from '../step.ts'
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
  copy: entry => ({ ...entry, summary: copyBlocks(entry.summary) }),
  restore: ({ memory }, { compactionId }, position) => {
    positionsOf(memory, COMPACTION).set(compactionId, position)
  },
  agentGone: (step, entry, position) => {
    if (isOver(entry)) return
    entry.status = 'cancelled'
    stopTime(step, entry)
    touch(step, position)
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

/** Creates or changes a compaction: absent fields stay, `null` clears a field. */
function compactionUpsert(step: Step, update: Update<'compaction'>): void {
  const { memory } = step.state
  const found = positionsOf(memory, COMPACTION).get(update.compactionId)
  const position = found ?? createCompaction(step, update.compactionId)
  const entry = entryAt(step.state, position, COMPACTION)
  if (!entry) return
  entry.status = update.status
  if (update.summary !== undefined) entry.summary = copyBlocks(update.summary)
  if (update.error === null) delete entry.error
  else if (update.error !== undefined) entry.error = update.error
  if (isOver(entry)) stopTime(step, entry)
  else delete entry.endedAt
  if (found !== undefined) touch(step, position)
}

function compactionChunk(step: Step, { compactionId, content }: Update<'compaction_chunk'>): void {
  const { memory } = step.state
  const position = positionsOf(memory, COMPACTION).get(compactionId)
  if (position === undefined) {
    createCompaction(step, compactionId, isBlank(content) ? [] : [content])
    return
  }
  const entry = entryAt(step.state, position, COMPACTION)
  if (entry) appendContent(step, position, entry.summary, content)
}

function createCompaction(step: Step, compactionId: string, content: readonly ContentBlock[] = []): number {
  const summary = copyBlocks(content)
  const position = append(step, COMPACTION, { compactionId, status: 'in_progress', summary })
  positionsOf(step.state.memory, COMPACTION).set(compactionId, position)
  return position
}

function isOver({ status }: CompactionEntry): boolean {
  return status === 'completed' || status === 'failed' || status === 'cancelled'
}
