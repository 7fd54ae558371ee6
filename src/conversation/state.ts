/** The state of a session: its entries of all kinds, and properties of the whole session. */
import type { PermissionRequest } from '../acp/model.ts'
import type { Entry } from './entries/entry-kinds.ts'
import type { RuleAnswer, RuleRefusal } from './entries/requests.ts'
import type { ToolCallEntry } from './entries/tool-call.ts'
import type { BaseSessionState } from './state-base.ts'

export type * from './entries/entry-kinds.ts'
export type { Steering } from './entries/message.ts'
export type { Continued, ForkOrigin, Rewind } from './entries/notice.ts'
export type { AppliedRule, RuleAnswer, RuleRefusal } from './entries/requests.ts'
export type {
  Change,
  EntryId,
  HeadKey,
  SessionActivity,
  TerminalState,
  TurnFiles,
  TurnSummary,
} from './state-base.ts'

/** The entries and properties of a session, as reported: plain data that the reducers change in place. */
export type SessionState = BaseSessionState<Entry>

/**
 * Completes a request with data that must be read before the request is shown. Returns `undefined` if nothing must be read. Never rejects.
 */
export type CompletePermission = (
  request: PermissionRequest,
  tool: ToolCallEntry | undefined,
) => Promise<PermissionRequest> | undefined

/**
 * Looks for a permission rule that answers the request. `tool`: the request's tool call, updated with the data of the request. If there is
 * no answer (`undefined`, returned or resolved) or a refusal, the request is shown to the user. Never rejects.
 */
export type AnswerByRule = (
  request: PermissionRequest,
  tool: ToolCallEntry | undefined,
  signal: AbortSignal,
) => Promise<RuleAnswer | RuleRefusal | undefined> | undefined
