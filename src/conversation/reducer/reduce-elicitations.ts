import type { ElicitationOutcome, ElicitationRequest } from '../../acp/model.ts'
import type { ElicitationEntry } from '../state.ts'
import { type Background, goesOn } from './background.ts'
import { append, type Step, stopTime, touch, updateActivity } from './books.ts'

export function elicitationAsked(step: Step, requestId: string, request: ElicitationRequest): void {
  const { books } = step.state
  const fields: Omit<ElicitationEntry, 'id' | 'turn'> = {
    kind: 'elicitation',
    requestId,
    message: request.message,
    ask: askOf(request),
  }
  if (request.toolCallId !== undefined) fields.toolCallId = request.toolCallId
  const position = append(step, fields)
  books.elicitations.set(requestId, position)
  books.openElicitations.add(position)
  updateActivity(step)
}

export function elicitationAnswered(step: Step, requestId: string, outcome: ElicitationOutcome): void {
  const { books, entries } = step.state
  const position = books.elicitations.get(requestId)
  const entry = position === undefined ? undefined : entries[position]
  if (position === undefined || entry?.kind !== 'elicitation' || entry.outcome) return
  settle(step, position, entry, outcome)
  // The agent should say that it goes on; not all do.
  if (books.openPermissions.size === 0 && books.openElicitations.size === 0) books.toldAction = false
  updateActivity(step)
}

/** Told also after the turn: what is done in a browser takes the time it takes. */
export function visitDone(step: Step, elicitationId: string): void {
  const { books, entries } = step.state
  const position = books.visits.get(elicitationId)
  const entry = position === undefined ? undefined : entries[position]
  if (position === undefined || entry?.kind !== 'elicitation') return
  books.visits.delete(elicitationId)
  entry.visit = 'done'
  touch(step, position)
}

/** Cancels the questions that nobody waits for any more, and no longer shows visits as awaited. */
export function closeElicitations(step: Step, background?: Background): void {
  const { books, entries } = step.state
  for (const position of [...books.openElicitations]) {
    const entry = entries[position]
    if (entry?.kind !== 'elicitation') continue
    const { toolCallId } = entry
    if (background && toolCallId !== undefined && goesOn(step.state, background, toolCallId)) continue
    settle(step, position, entry, { action: 'cancel' })
  }
  for (const position of books.visits.values()) {
    const entry = entries[position]
    if (entry?.kind !== 'elicitation' || entry.visit !== 'waiting') continue
    entry.visit = 'ended'
    touch(step, position)
  }
}

function settle(step: Step, position: number, entry: ElicitationEntry, outcome: ElicitationOutcome): void {
  const { books } = step.state
  entry.outcome = outcome
  if (entry.ask.mode === 'url' && outcome.action === 'accept') {
    entry.visit = 'waiting'
    books.visits.set(entry.ask.elicitationId, position)
  }
  stopTime(step, entry)
  books.openElicitations.delete(position)
  touch(step, position)
}

function askOf(request: ElicitationRequest): ElicitationEntry['ask'] {
  if (request.mode === 'url') {
    const { elicitationId, url } = request
    return { mode: 'url', elicitationId, url }
  }
  const { title, description, fields } = request
  const ask: ElicitationEntry['ask'] = { mode: 'form', fields }
  if (title !== undefined) ask.title = title
  if (description !== undefined) ask.description = description
  return ask
}
