import type { ContentBlock, SessionUpdate } from '../../acp/model.ts'
import { copyBlocks, isBlank } from '../blocks.ts'
import { append, appendContent, type Step, stopTime, touch } from './reducing-state.ts'

type Update<T extends SessionUpdate['type']> = Extract<SessionUpdate, { type: T }>

export function notice(step: Step, update: Update<'notice'>): void {
  const { severity, title, description } = update
  append(
    step,
    description === undefined
      ? { kind: 'notice', severity, title }
      : { kind: 'notice', severity, title, description },
  )
}

export function unknown(step: Step, update: Update<'unknown'>): void {
  append(step, { kind: 'unknown', updateKind: update.kind, raw: update.raw })
}

/** Creates or changes a compaction: absent fields stay, `null` clears. */
export function compactionUpsert(step: Step, update: Update<'compaction'>): void {
  const { memory, entries } = step.state
  const found = memory.compactions.get(update.compactionId)
  const position = found ?? createCompaction(step, update.compactionId)
  const entry = entries[position]
  if (entry?.kind !== 'compaction') return
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

export function compactionChunk(step: Step, compactionId: string, content: ContentBlock): void {
  const { memory, entries } = step.state
  const position = memory.compactions.get(compactionId)
  if (position === undefined) {
    createCompaction(step, compactionId, isBlank(content) ? [] : [content])
    return
  }
  const entry = entries[position]
  if (entry?.kind === 'compaction') appendContent(step, position, entry.summary, content)
}

/** Closes compactions that no update will close anymore. */
export function closeCompactions(step: Step): void {
  const { memory, entries } = step.state
  for (const position of [...memory.openCompactions]) {
    const entry = entries[position]
    if (entry?.kind !== 'compaction') continue
    entry.status = 'cancelled'
    stopTime(step, entry)
    memory.openCompactions.delete(position)
    touch(step, position)
  }
}

function createCompaction(step: Step, compactionId: string, content: readonly ContentBlock[] = []): number {
  const summary = copyBlocks(content)
  const position = append(step, { kind: 'compaction', compactionId, status: 'in_progress', summary })
  step.state.memory.compactions.set(compactionId, position)
  step.state.memory.openCompactions.add(position)
  return position
}
