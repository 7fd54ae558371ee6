import type { PermissionRequest } from '../acp/model.ts'
import type { ToolCallEntry } from './state.ts'

/** The rule of the person's settings that answered a question in their place. */
export interface AppliedRule {
  action: 'allow' | 'reject'
  /** where it stands: the settings of the person, or those of the workspace */
  scope: 'user' | 'workspace' | 'folder'
  /** the workspace folder's name, for the scope `folder` */
  folder?: string
  /** what it says in short, such as `npm test *` */
  text: string
}

export interface RuleAnswer {
  optionId: string
  rule: AppliedRule
}

/**
 * Whether a rule answers the question. `tool` is the tool call as it is known with what the request tells of it.
 * `undefined`, at once or later: the person is asked. Never rejects.
 */
export type AnswerByRule = (
  request: PermissionRequest,
  tool: ToolCallEntry | undefined,
  signal: AbortSignal,
) => Promise<RuleAnswer | undefined> | undefined
