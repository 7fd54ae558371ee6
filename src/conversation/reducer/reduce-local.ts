import type {
  ContentBlock,
  ElicitationOutcome,
  ElicitationRequest,
  PermissionOutcome,
  PermissionRequest,
  SteeringOutcome,
  TerminalPatch,
} from '../../acp/model.ts'
import { closeEntries } from '../entries/entry-kinds.ts'
import {
  appendMessage,
  beginTurn,
  claimEcho,
  dropSteering,
  expectEcho,
  forgetSteered,
  releaseHeld,
  steeringAnswered,
  steeringSent,
} from '../entries/message.ts'
import { closeOpen } from '../entries/open-work.ts'
import {
  type AppliedRule,
  closeRequests,
  elicitationAsked,
  permissionAsked,
  type RuleAnswer,
  requestAnswered,
  requestClosed,
  urlCompleted,
} from '../entries/requests.ts'
import { setOption, suggest } from '../reduce-head.ts'
import type { Change, TurnFiles } from '../state-base.ts'
import {
  NO_BACKGROUND,
  type ReducerState,
  type Step,
  touch,
  updateActivity,
  withoutRepeated,
} from '../step.ts'
import { terminalOutput, terminalUpsert } from './reduce-terminals.ts'
import { endWork, INTERRUPTED, setBackground, startWork } from './reduce-turn.ts'
import { setTurnFiles, summarizeReplay } from './summarize-turn.ts'

/** An event in a session on the client's side. */
export type LocalEvent =
  /** The user's prompt goes to the agent: a turn begins. */
  | { type: 'prompt'; content: ContentBlock[] }
  /** The agent accepted the prompt and reported its message id. */
  | { type: 'prompt_accepted'; messageId: string }
  /** The agent is asked to add the user's prompt to the running turn. */
  | { type: 'prompt_steering'; promptId: string; content: ContentBlock[] }
  /** The agent decided whether to add a prompt to the running turn. */
  | { type: 'prompt_steered'; promptId: string; outcome: SteeringOutcome }
  /** A permission request is shown to the user. `refusal`: why a rule that matches the request doesn't allow it. */
  | { type: 'permission_asked'; requestId: string; request: PermissionRequest; refusal?: string }
  /** A permission rule answered a request immediately, so the request is never pending. */
  | { type: 'permission_ruled'; requestId: string; request: PermissionRequest; answer: RuleAnswer }
  | { type: 'elicitation_asked'; requestId: string; request: ElicitationRequest }
  /** A request was answered or withdrawn. `rule`: the rule that answered the request while it was shown. */
  | {
      type: 'request_answered'
      requestId: string
      outcome: PermissionOutcome | ElicitationOutcome
      rule?: AppliedRule
    }
  /** A request that is shown as pending no longer is. How the request ended is unknown. */
  | { type: 'request_closed'; requestId: string }
  /** The user has finished the task for which a URL was opened. */
  | { type: 'visit_done'; elicitationId: string }
  /** The user chose an option's value, or the choice failed and the value is reverted. */
  | { type: 'config_option'; optionId: string; value: string | boolean }
  /** The client reports a terminal that it runs for the agent. `truncated`: earlier output is lost. */
  | { type: 'terminal'; terminal: TerminalPatch & { truncated?: boolean } }
  | { type: 'terminal_output'; terminalId: string; text: string }
  /** The list of files that a finished turn changed is known. */
  | { type: 'turn_files'; turn: number; files: TurnFiles }
  /** The replay of a load has ended. Unfinished entries of the replay stay open only while the agent works. */
  | { type: 'load_finished' }
  /** The agent is gone or the session was closed: closes all open entries. `message` is shown where a turn ran. */
  | { type: 'agent_gone'; message?: string; code?: number }

/** Local events that may come in the middle of a word of the agent's text. */
const WITHIN_TEXT: ReadonlySet<LocalEvent['type']> = new Set([
  'terminal',
  'terminal_output',
  'config_option',
  'turn_files',
])

/**
 * Applies an event to the state and returns the changes. Like `reduce`, for events that don't come from the agent. A load begins with a new
 * state instead of an event.
 */
export function reduceLocal(state: ReducerState, event: LocalEvent, now?: number): Change[] {
  const step: Step = { state, now, changes: [] }
  const isRelease = state.memory.holding !== undefined && !WITHIN_TEXT.has(event.type)
  if (isRelease) releaseHeld(step)
  switch (event.type) {
    case 'prompt':
      promptSent(step, event.content)
      break
    case 'prompt_accepted':
      promptAccepted(step, event.messageId)
      break
    case 'prompt_steering':
      steeringSent(step, event.promptId, event.content)
      break
    case 'prompt_steered':
      steeringAnswered(step, event.promptId, event.outcome)
      break
    case 'permission_asked':
      permissionAsked(step, event.requestId, event.request, event.refusal)
      break
    case 'permission_ruled':
      permissionAsked(step, event.requestId, event.request)
      requestAnswered(
        step,
        event.requestId,
        { type: 'selected', optionId: event.answer.optionId },
        event.answer.rule,
      )
      break
    case 'elicitation_asked':
      elicitationAsked(step, event.requestId, event.request)
      break
    case 'request_answered':
      requestAnswered(step, event.requestId, event.outcome, event.rule)
      break
    case 'request_closed':
      requestClosed(step, event.requestId)
      break
    case 'visit_done':
      urlCompleted(step, event.elicitationId)
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
    case 'turn_files':
      setTurnFiles(step, event.turn, event.files)
      break
    case 'load_finished':
      if (!state.memory.running) closeOpen(step, false, state.memory.background)
      summarizeReplay(step)
      updateActivity(step)
      break
    case 'agent_gone':
      agentGone(step, event.message, event.code)
      break
  }
  if (isRelease) withoutRepeated(step)
  return step.changes
}

function promptSent(step: Step, content: readonly ContentBlock[]): void {
  const { memory } = step.state
  beginTurn(step)
  forgetSteered(step)
  suggest(step, undefined)
  const position = appendMessage(step, 'user', undefined, content)
  // A later chunk without an id doesn't continue the user's message.
  memory.openMessage = undefined
  memory.echo = expectEcho(position, content)
  memory.ownTurn = true
  startWork(step)
}

function promptAccepted(step: Step, messageId: string): void {
  const { memory } = step.state
  if (!memory.echo || memory.messages.has(`user\n${messageId}`)) return
  touch(step, memory.echo.position)
  claimEcho(step.state, messageId)
}

function agentGone(step: Step, message: string | undefined, code: number | undefined): void {
  const { memory, terminals } = step.state
  const { running } = memory
  if (running && message !== undefined) {
    endWork(step, { stopReason: 'error', error: { code: code ?? 0, message } })
  } else if (running) endWork(step, { stopReason: INTERRUPTED })
  closeOpen(step, running)
  dropSteering(step)
  suggest(step, undefined)
  closeRequests(step)
  closeEntries(step)
  for (const terminal of terminals.values()) {
    if (terminal.exit) continue
    terminal.exit = { exitCode: null, signal: null }
    step.changes.push({ type: 'terminal', terminalId: terminal.terminalId })
  }
  memory.actionReported = false
  setBackground(step, NO_BACKGROUND)
  updateActivity(step)
}
