import type { SessionUpdate } from '../../acp/model.ts'
import { compactionChunk, compactionUpsert } from '../entries/compaction.ts'
import { messageChunk, messageUpsert } from '../entries/message.ts'
import { notice } from '../entries/notice.ts'
import { sessionMessageChunk, sessionMessageUpsert } from '../entries/session-message.ts'
import { subagentUpsert } from '../entries/subagent.ts'
import { toolCallContent, toolCallUpsert } from '../entries/tool-call.ts'
import { unknown } from '../entries/unknown.ts'
import type { Change } from '../state-base.ts'
import { configOptions, configValue, head, info, planRemoved, planUpsert, usage } from './reduce-head.ts'
import { terminalOutput, terminalUpsert } from './reduce-terminals.ts'
import { endWork, reportWork } from './reduce-turn.ts'
import { endThought, type ReducerState, type Step } from './step.ts'

export { createSessionState, type ReducingState } from './reducing-state.ts'

/**
 * Applies one update to the state and returns its changes.
 *
 * The state is changed in place, so that the hundred-thousandth update costs what the tenth did: lists grow at their
 * end, entities are found by their ids, adjacent text is appended to. What an update holds is never changed. In one
 * list of changes an entry is reported either as a whole or by its appended text, never both.
 *
 * @param now milliseconds since the epoch; absent in a replay, whose entries get no times.
 */
export function reduce(state: ReducerState, update: SessionUpdate, now?: number): Change[] {
  const step: Step = { state, now, changes: [] }
  switch (update.type) {
    case 'message_chunk':
      messageChunk(step, update.role, update.messageId, update.content)
      break
    case 'message_end':
      endThought(step)
      state.memory.openMessage = undefined
      break
    case 'message':
      messageUpsert(step, update.role, update.messageId, update.content)
      break
    case 'tool_call':
      toolCallUpsert(step, update.toolCall, update.isNew)
      break
    case 'tool_call_content':
      toolCallContent(step, update.toolCallId, update.content)
      break
    case 'terminal':
      terminalUpsert(step, update.terminal)
      break
    case 'terminal_output':
      terminalOutput(step, update.terminalId, update.text)
      break
    case 'plan':
      // for an agent without message ids, a plan ends the current message
      endThought(step)
      state.memory.openMessage = undefined
      planUpsert(step, update.plan)
      break
    case 'plan_removed':
      planRemoved(step, update.planId)
      break
    case 'commands':
      state.commands = update.commands
      head(step, 'commands')
      break
    case 'config_options':
      configOptions(step, update.options)
      break
    case 'config_value':
      configValue(step, update.category, update.value)
      break
    case 'info':
      info(step, update)
      break
    case 'usage':
      usage(step, update.usage)
      break
    case 'notice':
      notice(step, update)
      break
    case 'compaction':
      compactionUpsert(step, update)
      break
    case 'compaction_chunk':
      compactionChunk(step, update.compactionId, update.content)
      break
    case 'subagent':
      subagentUpsert(step, update.subagent)
      break
    case 'session_message':
      sessionMessageUpsert(step, update.message)
      break
    case 'session_message_chunk':
      sessionMessageChunk(step, update.messageId, update.content)
      break
    case 'state':
      if (isIdle(update)) endWork(step, update)
      else reportWork(step, update.state, update)
      break
    case 'unknown':
      unknown(step, update)
      break
    default:
      update satisfies never
  }
  return step.changes
}

type StateUpdate = Extract<SessionUpdate, { type: 'state' }>

export function isIdle(update: StateUpdate): update is Extract<StateUpdate, { state: 'idle' }> {
  return update.state === 'idle'
}
