import { entryAt, positionsOf, type Step } from '../step.ts'
import { COMPACTION, COMPACTION_REDUCERS, type CompactionEntry } from './compaction.ts'
import type { EntryKind } from './entry-kind.ts'
import { MESSAGE, MESSAGE_REDUCERS, type MessageEntry } from './message.ts'
import { NOTICE, NOTICE_REDUCERS, type NoticeEntry } from './notice.ts'
import { ELICITATION, type ElicitationEntry, PERMISSION, type PermissionEntry } from './requests.ts'
import { SESSION_MESSAGE, SESSION_MESSAGE_REDUCERS, type SessionMessageEntry } from './session-message.ts'
import { SUBAGENT, SUBAGENT_REDUCERS, type SubagentEntry } from './subagent.ts'
import { TOOL_CALL, TOOL_CALL_REDUCERS, type ToolCallEntry } from './tool-call.ts'
import { TURN_END, type TurnEndEntry } from './turn-end.ts'
import { UNKNOWN, UNKNOWN_REDUCERS, type UnknownEntry } from './unknown.ts'

export type {
  CompactionEntry,
  ElicitationEntry,
  MessageEntry,
  NoticeEntry,
  PermissionEntry,
  SessionMessageEntry,
  SubagentEntry,
  ToolCallEntry,
  TurnEndEntry,
  UnknownEntry,
}
export type Entry =
  | MessageEntry
  | ToolCallEntry
  | PermissionEntry
  | ElicitationEntry
  | NoticeEntry
  | CompactionEntry
  | SubagentEntry
  | SessionMessageEntry
  | TurnEndEntry
  | UnknownEntry

/** Every kind of entry, by name. */
const ENTRY_KINDS: { readonly [K in Entry['kind']]: EntryKind<Extract<Entry, { kind: K }>> } = {
  message: MESSAGE,
  tool_call: TOOL_CALL,
  permission: PERMISSION,
  elicitation: ELICITATION,
  notice: NOTICE,
  compaction: COMPACTION,
  subagent: SUBAGENT,
  session_message: SESSION_MESSAGE,
  turn_end: TURN_END,
  unknown: UNKNOWN,
}

/** Reducers for the agent's updates about entries. Entries without such a reducer come from Parley itself. */
export const ENTRY_REDUCERS = {
  ...MESSAGE_REDUCERS,
  ...TOOL_CALL_REDUCERS,
  ...NOTICE_REDUCERS,
  ...COMPACTION_REDUCERS,
  ...SUBAGENT_REDUCERS,
  ...SESSION_MESSAGE_REDUCERS,
  ...UNKNOWN_REDUCERS,
}

/** Returns the kind of an entry. */
export function entryKind<E extends Entry>(entry: E): EntryKind<E> {
  return ENTRY_KINDS[entry.kind] as unknown as EntryKind<E>
}

/** Returns the entry kind with this name, if it exists. */
export function entryKindOf(name: unknown): EntryKind<Entry> | undefined {
  const known = typeof name === 'string' && Object.hasOwn(ENTRY_KINDS, name)
  return known ? (ENTRY_KINDS[name as Entry['kind']] as unknown as EntryKind<Entry>) : undefined
}

/** Closes the entries of an agent that ended, since no update will close them. */
export function closeEntries(step: Step): void {
  for (const kind of Object.values(ENTRY_KINDS) as unknown as EntryKind<Entry>[]) {
    if (!kind.agentGone) continue
    for (const position of positionsOf(step.state.memory, kind).values()) {
      const entry = entryAt(step.state, position, kind)
      if (entry) kind.agentGone(step, entry, position)
    }
  }
}
