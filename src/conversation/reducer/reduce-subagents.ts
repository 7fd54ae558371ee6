import type { ContentBlock, SessionMessagePatch, SubagentPatch, SubagentState } from '../../acp/model.ts'
import { copyBlocks, isBlank } from '../blocks.ts'
import type { Change, SubagentEntry } from '../state.ts'
import { closeOpen } from './reduce-turn.ts'
import {
  append,
  appendContent,
  createSubagentState,
  patchField,
  type Step,
  stopTime,
  touch,
  updateActivity,
} from './reducing-state.ts'

/** Announces a subagent, or updates it: absent fields stay, `null` clears. */
export function subagentUpsert(step: Step, patch: SubagentPatch): void {
  const { memory, entries } = step.state
  const found = memory.subagents.get(patch.sessionId)
  const position = found ?? append(step, { kind: 'subagent', sessionId: patch.sessionId, canCancel: false })
  if (found === undefined) {
    memory.subagents.set(patch.sessionId, position)
    if (!memory.subagentStates.has(patch.sessionId)) {
      memory.subagentStates.set(patch.sessionId, createSubagentState(step.state, patch.sessionId))
    }
  }
  const entry = entries[position]
  if (entry?.kind !== 'subagent') return
  patchField(entry, 'title', patch.title)
  patchField(entry, 'description', patch.description)
  patchField(entry, 'cwd', patch.cwd)
  patchField(entry, 'additionalDirectories', patch.additionalDirectories)
  if (patch.canCancel !== undefined) entry.canCancel = patch.canCancel ?? false
  if (patch.state !== undefined) {
    patchField(entry, 'state', patch.state)
    if (patch.state?.activity === 'idle') {
      stopTime(step, entry)
      closeWork(step, patch.sessionId, patch.state)
    } else delete entry.endedAt
  }
  if (found !== undefined) touch(step, position)
}

/** In v1 nothing else reports the end of its open tool calls. */
function closeWork(step: Step, sessionId: string, { stopReason, error }: SubagentState): void {
  const subagent = step.state.memory.subagentStates.get(sessionId)
  if (!subagent) return
  const changes: Change[] = []
  const cutShort = stopReason === 'cancelled' || stopReason === 'error' || error !== undefined
  closeOpen({ state: subagent, now: step.now, changes }, cutShort, subagent.memory.background)
  step.changes.push(...changes)
  if (changes.length > 0) updateActivity(step)
}

/** Creates or changes a message between sessions: absent fields stay, `null` clears. */
export function sessionMessageUpsert(step: Step, patch: SessionMessagePatch): void {
  const { memory, entries } = step.state
  const found = memory.sessionMessages.get(patch.messageId)
  const position = found ?? createMessage(step, patch.messageId)
  const entry = entries[position]
  if (entry?.kind !== 'session_message') return
  patchField(entry, 'from', patch.from)
  patchField(entry, 'to', patch.to)
  patchField(entry, 'fromMessageId', patch.fromMessageId)
  patchField(entry, 'toMessageId', patch.toMessageId)
  if (patch.content !== undefined) entry.blocks = copyBlocks(patch.content)
  if (found !== undefined) touch(step, position)
}

/** A piece of a message between sessions; its sender and receiver may be reported later. */
export function sessionMessageChunk(step: Step, messageId: string, content: ContentBlock): void {
  const { memory, entries } = step.state
  const position = memory.sessionMessages.get(messageId)
  if (position === undefined) {
    createMessage(step, messageId, isBlank(content) ? [] : [content])
    return
  }
  const entry = entries[position]
  if (entry?.kind === 'session_message') appendContent(step, position, entry.blocks, content)
}

/** The agent ended: the last state of its subagents is unknown, except that they no longer work. */
export function forgetSubagents(step: Step): void {
  const { memory, entries } = step.state
  for (const position of memory.subagents.values()) {
    const entry = entries[position]
    if (entry?.kind !== 'subagent' || (!entry.canCancel && isAtRest(entry))) continue
    entry.canCancel = false
    if (!isAtRest(entry)) {
      delete entry.state
      stopTime(step, entry)
    }
    touch(step, position)
  }
}

function isAtRest({ state }: SubagentEntry): boolean {
  return state === undefined || state.activity === 'idle'
}

function createMessage(step: Step, messageId: string, content: readonly ContentBlock[] = []): number {
  const position = append(step, { kind: 'session_message', messageId, blocks: copyBlocks(content) })
  step.state.memory.sessionMessages.set(messageId, position)
  return position
}
