import type { PermissionRequest } from '../acp/model.ts'
import type { AppliedRule, ToolCallEntry } from './state.ts'

export interface RuleAnswer {
  optionId: string
  rule: AppliedRule
}

/**
 * Looks for a permission rule that answers the request. `tool` is the tool call, including what the request reports of it.
 * `undefined`, now or later: the request is shown to the user. Never rejects.
 */
export type AnswerByRule = (
  request: PermissionRequest,
  tool: ToolCallEntry | undefined,
  signal: AbortSignal,
) => Promise<RuleAnswer | undefined> | undefined
