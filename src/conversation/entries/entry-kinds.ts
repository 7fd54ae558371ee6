import { COMPACTION, type CompactionEntry } from './compaction.ts'
import type { EntryKind } from './entry-kind.ts'
import { MESSAGE, type MessageEntry } from './message.ts'
import { NOTICE, type NoticeEntry } from './notice.ts'
import { ELICITATION, type ElicitationEntry, PERMISSION, type PermissionEntry } from './requests.ts'
import { SESSION_MESSAGE, type SessionMessageEntry } from './session-message.ts'
import { SUBAGENT, type SubagentEntry } from './subagent.ts'
import { TOOL_CALL, type ToolCallEntry } from './tool-call.ts'
import { TURN_END, type TurnEndEntry } from './turn-end.ts'
import { UNKNOWN, type UnknownEntry } from './unknown.ts'

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

/** All kinds of entries. */
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

/** The kind of an entry. */
export function entryKind<E extends Entry>(entry: E): EntryKind<E> {
  return ENTRY_KINDS[entry.kind] as unknown as EntryKind<E>
}

/** The kind of that name, if there is one. */
export function entryKindOf(name: unknown): EntryKind<Entry> | undefined {
  const known = typeof name === 'string' && Object.hasOwn(ENTRY_KINDS, name)
  return known ? (ENTRY_KINDS[name as Entry['kind']] as unknown as EntryKind<Entry>) : undefined
}
