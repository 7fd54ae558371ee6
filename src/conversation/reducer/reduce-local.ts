import type {
  ContentBlock,
  ElicitationOutcome,
  ElicitationRequest,
  PermissionOutcome,
  PermissionRequest,
  TerminalPatch,
} from '../../acp/model.ts'
import type { AppliedRule, RuleAnswer } from '../applied-rule.ts'
import type { Change, PermissionEntry } from '../state.ts'
import { NO_BACKGROUND } from './background.ts'
import { append, type ReducingState, type Step, stopTime, touch, updateActivity } from './books.ts'
import { claimEcho, expectEcho } from './echo.ts'
import { elicitationAnswered, elicitationAsked, visitDone } from './reduce-elicitations.ts'
import { setOption } from './reduce-head.ts'
import { appendMessage, beginTurn } from './reduce-messages.ts'
import { closeCompactions } from './reduce-notes.ts'
import { forgetSubagents } from './reduce-subagents.ts'
import { terminalOutput, terminalUpsert } from './reduce-terminals.ts'
import { toolCallUpsert } from './reduce-tool-calls.ts'
import { closeOpen, endWork, INTERRUPTED, setBackground, startWork } from './reduce-turn.ts'

/** What happens in a session on the client's side. */
export type LocalEvent =
  /** The person's prompt goes to the agent: a turn begins. */
  | { type: 'prompt'; content: ContentBlock[] }
  /** The agent took the prompt and named its message. */
  | { type: 'prompt_accepted'; messageId: string }
  | { type: 'permission_asked'; requestId: string; request: PermissionRequest }
  | { type: 'permission_answered'; requestId: string; outcome: PermissionOutcome }
  /** Asked, and answered at once by a rule of the person's settings: it never waits. */
  | { type: 'permission_ruled'; requestId: string; request: PermissionRequest; answer: RuleAnswer }
  | { type: 'elicitation_asked'; requestId: string; request: ElicitationRequest }
  | { type: 'elicitation_answered'; requestId: string; outcome: ElicitationOutcome }
  /** What the person went to an address for is done there. */
  | { type: 'visit_done'; elicitationId: string }
  /** The person chose an option's value (or the choice failed and is taken back). */
  | { type: 'config_option'; optionId: string; value: string | boolean }
  /** A terminal that the client runs for the agent. `truncated`: earlier output is lost. */
  | { type: 'terminal'; terminal: TerminalPatch & { truncated?: boolean } }
  | { type: 'terminal_output'; terminalId: string; text: string }
  /** The replay is over. What it left open stays so only while the agent is at work. */
  | { type: 'load_finished' }
  /** The agent is gone or the session closed: whatever is open is closed. `message` is shown where a turn ran. */
  | { type: 'agent_gone'; message?: string; code?: number }

/** Like `reduce`, for what did not come from the agent. A load begins with a new state instead of an event. */
export function reduceLocal(state: ReducingState, event: LocalEvent, now?: number): Change[] {
  const step: Step = { state, now, changes: [] }
  switch (event.type) {
    case 'prompt':
      promptSent(step, event.content)
      break
    case 'prompt_accepted':
      promptAccepted(step, event.messageId)
      break
    case 'permission_asked':
      permissionAsked(step, event.requestId, event.request)
      break
    case 'permission_answered':
      permissionAnswered(step, event.requestId, event.outcome)
      break
    case 'permission_ruled':
      permissionAsked(step, event.requestId, event.request)
      permissionAnswered(
        step,
        event.requestId,
        { type: 'selected', optionId: event.answer.optionId },
        event.answer.rule,
      )
      break
    case 'elicitation_asked':
      elicitationAsked(step, event.requestId, event.request)
      break
    case 'elicitation_answered':
      elicitationAnswered(step, event.requestId, event.outcome)
      break
    case 'visit_done':
      visitDone(step, event.elicitationId)
      break
    case 'config_option':
      setOption(step, event.optionId, event.value)
      break
    case 'terminal':
      terminalUpsert(step, event.terminal)
      break
    case 'terminal_output':
      terminalOutput(step, event.terminalId, event.text)
      break
    case 'load_finished':
      if (!state.books.running) closeOpen(step, false, state.books.background)
      updateActivity(step)
      break
    case 'agent_gone':
      agentGone(step, event.message, event.code)
      break
  }
  return step.changes
}

function promptSent(step: Step, content: readonly ContentBlock[]): void {
  const { books } = step.state
  beginTurn(step)
  const position = appendMessage(step, 'user', undefined, content)
  // What follows without an id is not a continuation of what the person wrote.
  books.openMessage = undefined
  books.echo = expectEcho(position, content)
  books.ownTurn = true
  startWork(step)
}

function promptAccepted(step: Step, messageId: string): void {
  const { books } = step.state
  if (!books.echo || books.messages.has(`user\n${messageId}`)) return
  touch(step, books.echo.position)
  claimEcho(step.state, messageId)
}

function permissionAsked(step: Step, requestId: string, request: PermissionRequest): void {
  const { books, entries } = step.state
  const { subject } = request
  const fields: Omit<PermissionEntry, 'id' | 'turn'> = {
    kind: 'permission',
    requestId,
    title: request.title,
    options: request.options,
  }
  if (request.description !== undefined) fields.description = request.description
  if (subject.type === 'tool_call') {
    const position = toolCallUpsert(step, subject.toolCall)
    fields.toolCallId = subject.toolCall.toolCallId
    const tool = entries[position]
    if (fields.title === '' && tool?.kind === 'tool_call') fields.title = tool.title
  } else if (subject.type === 'command') {
    fields.command = { command: subject.command }
    if (subject.cwd !== undefined) fields.command.cwd = subject.cwd
    if (subject.terminalId !== undefined) fields.command.terminalId = subject.terminalId
    if (subject.toolCallId !== undefined) {
      fields.toolCallId = subject.toolCallId
      if (!books.tools.has(subject.toolCallId)) {
        toolCallUpsert(step, { toolCallId: subject.toolCallId, title: subject.command, kind: 'execute' })
      }
    }
  } else if (subject.type === 'unknown') {
    fields.subject = { kind: subject.kind, raw: subject.raw }
  }
  const position = append(step, fields)
  books.permissions.set(requestId, position)
  books.openPermissions.add(position)
  updateActivity(step)
}

function permissionAnswered(
  step: Step,
  requestId: string,
  outcome: PermissionOutcome,
  rule?: AppliedRule,
): void {
  const { books, entries } = step.state
  const position = books.permissions.get(requestId)
  const entry = position === undefined ? undefined : entries[position]
  if (position === undefined || entry?.kind !== 'permission' || entry.outcome) return
  entry.outcome = outcome
  if (rule) entry.rule = rule
  stopTime(step, entry)
  books.openPermissions.delete(position)
  touch(step, position)
  if (entry.toolCallId !== undefined) beginNow(step, books.tools.get(entry.toolCallId))
  // The agent should say that it goes on; not all do.
  if (books.openPermissions.size === 0 && books.openElicitations.size === 0) books.toldAction = false
  updateActivity(step)
}

/** Until the person answered, nothing was done: the time they took is none of the tool call's. */
function beginNow(step: Step, position: number | undefined): void {
  const tool = position === undefined ? undefined : step.state.entries[position]
  if (position === undefined || step.now === undefined || tool?.startedAt === undefined) return
  if (tool.endedAt !== undefined) return
  tool.startedAt = step.now
  touch(step, position)
}

function agentGone(step: Step, message: string | undefined, code: number | undefined): void {
  const { books, terminals } = step.state
  const { running } = books
  if (running && message !== undefined) {
    endWork(step, { stopReason: 'error', error: { code: code ?? 0, message } })
  } else if (running) endWork(step, { stopReason: INTERRUPTED })
  closeOpen(step, running)
  closeCompactions(step)
  forgetSubagents(step)
  for (const terminal of terminals.values()) {
    if (terminal.exit) continue
    terminal.exit = { exitCode: null, signal: null }
    step.changes.push({ type: 'terminal', terminalId: terminal.terminalId })
  }
  books.toldAction = false
  setBackground(step, NO_BACKGROUND)
  updateActivity(step)
}
