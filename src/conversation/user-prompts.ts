/** Defines which messages count as prompts of the user, with a function for each meaning. */
import type { SessionUpdate } from '../acp/model.ts'
import type { Entry, MessageEntry } from './state.ts'

/**
 * Whether an entry is a prompt of the user in this session, which starts a turn or is added to one. Prompts of subagents come from agents,
 * and a prompt that the agent didn't add to its turn is queued again.
 */
export function isPrompt(entry: Entry): entry is MessageEntry {
  const isOfUser = entry.kind === 'message' && entry.role === 'user' && entry.within === undefined
  return isOfUser && entry.steering !== 'notTaken'
}

/** Whether an entry is a prompt that started a turn. */
export function startsTurn(entry: Entry): entry is MessageEntry {
  return isPrompt(entry) && entry.steering === undefined
}

/** Whether an entry is a visible prompt, to which the user can navigate. A prompt that the agent has announced may still be empty. */
export function isShownPrompt(entry: Entry): entry is MessageEntry {
  return isPrompt(entry) && entry.blocks.length > 0
}

/** Whether an entry is a prompt with text from the user, so that the text can be edited. */
export function isWrittenPrompt(entry: Entry): entry is MessageEntry {
  return isPrompt(entry) && entry.blocks.some(block => block.type === 'text' && block.text.trim() !== '')
}

/** Whether an update of a session, or of a subagent in it (`within`), reports a prompt of the user. */
export function isOfPrompt(update: SessionUpdate, within: string | undefined): boolean {
  const isMessage = update.type === 'message_chunk' || update.type === 'message'
  return isMessage && update.role === 'user' && within === undefined
}
