import * as l10n from '@vscode/l10n'
import * as z from 'zod'
import type { SubagentPatch, SubagentState } from '../../acp/model.ts'
import { escaped } from '../markdown.ts'
import type { Change, EntryBase } from '../state-base.ts'
import {
  append,
  createSubagentState,
  entryAt,
  patchField,
  positionsOf,
  type ReducerState,
  type Reducers,
  type Step,
  stopTime,
  touch,
  updateActivity,
} from '../step.ts'
import type { EntryKind } from './entry-kind.ts'
import { closeOpen } from './open-work.ts'

/** A session that the agent started within this one. The entry's position is where the agent announced the session. */
export interface SubagentEntry extends EntryBase {
  kind: 'subagent'
  /** the id of the subagent's own session */
  sessionId: string
  /** Absent if the agent didn't provide a title. */
  title?: string
  /** the subagent's role or purpose */
  description?: string
  /** The state of the subagent; absent if unknown. `endedAt` is when it last became idle. */
  state?: SubagentState
  /** The subagent's work can be stopped separately from the turn. */
  canCancel: boolean
  cwd?: string
  additionalDirectories?: string[]
}

export const SUBAGENT: EntryKind<SubagentEntry> = {
  kind: 'subagent',
  schema: () => ({ sessionId: z.string(), canCancel: z.boolean() }),
  isWork: () => true,
  mergeKey: ({ sessionId }) => [sessionId],
  merged: (known, reported) => ({ ...reported, ...known }),
  restore: (state, { sessionId }, position) => {
    positionsOf(state.memory, SUBAGENT).set(sessionId, position)
    addSubagentState(state, sessionId)
  },
  // the subagent's last state is unknown, except that the subagent no longer works
  agentGone: (step, entry, position) => {
    if (!entry.canCancel && isAtRest(entry)) return
    entry.canCancel = false
    if (!isAtRest(entry)) {
      delete entry.state
      stopTime(step, entry)
    }
    touch(step, position)
  },
  markdown: ({ title }) => `*${escaped(title ? l10n.t('Subagent: {0}', title) : l10n.t('Subagent'))}*`,
  text: ({ title }) => ({ head: title ?? '', body: '' }),
}

/** Returns the state of a subagent's session; creates it if it's new. */
export function addSubagentState(state: ReducerState, sessionId: string): ReducerState {
  const { subagentStates } = state.memory
  const known = subagentStates.get(sessionId) ?? createSubagentState(state, sessionId)
  subagentStates.set(sessionId, known)
  return known
}

export const SUBAGENT_REDUCERS: Reducers<'subagent'> = {
  subagent: (step, { subagent }) => subagentUpsert(step, subagent),
}

/** Announces a subagent, or updates it: absent fields stay, `null` clears a field. */
function subagentUpsert(step: Step, patch: SubagentPatch): void {
  const { memory } = step.state
  const found = positionsOf(memory, SUBAGENT).get(patch.sessionId)
  const position = found ?? append(step, SUBAGENT, { sessionId: patch.sessionId, canCancel: false })
  if (found === undefined) {
    positionsOf(memory, SUBAGENT).set(patch.sessionId, position)
    addSubagentState(step.state, patch.sessionId)
  }
  const entry = entryAt(step.state, position, SUBAGENT)
  if (!entry) return
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

/** Closes the open work of a subagent that ended: in v1, nothing else reports the end of its tool calls. */
function closeWork(step: Step, sessionId: string, { stopReason, error }: SubagentState): void {
  const subagent = step.state.memory.subagentStates.get(sessionId)
  if (!subagent) return
  const changes: Change[] = []
  const cutShort = stopReason === 'cancelled' || stopReason === 'error' || error !== undefined
  closeOpen({ state: subagent, now: step.now, changes }, cutShort, subagent.memory.background)
  step.changes.push(...changes)
  if (changes.length > 0) updateActivity(step)
}

function isAtRest({ state }: SubagentEntry): boolean {
  return state === undefined || state.activity === 'idle'
}
