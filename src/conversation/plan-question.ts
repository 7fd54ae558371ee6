import { isRecord } from '../common/is-record.ts'
import type { PermissionEntry, ToolCallEntry } from './state.ts'

/** Matches names of tools that present a plan, for agents that report another kind for the call. */
const PRESENTS_PLAN = /^exit_?plan/i

/**
 * Returns the plan that a tool call presents, as Markdown; `undefined` if it presents none. Claude Code leaves its plan mode with such a
 * call, and Codex asks about its plan with one: a call of the kind `switch_mode` with the plan in its input or content.
 */
export function planOf({ toolKind, toolName, title, rawInput, content }: ToolCallEntry): string | undefined {
  const isSwitch = toolKind === 'switch_mode'
  if (!isSwitch && !PRESENTS_PLAN.test(toolName ?? title)) return undefined
  const input = isRecord(rawInput) ? rawInput.plan : undefined
  if (typeof input === 'string' && input.trim() !== '') return input
  if (!isSwitch) return undefined
  const texts = content.flatMap(part =>
    part.type === 'content' && part.content.type === 'text' ? [part.content.text] : [],
  )
  return texts.find(text => text.trim() !== '')
}

/** Matches the names of options that also clear the agent's context: only their names, in the agent's words, express this. */
const CLEARS_CONTEXT = /\b(?:clear|reset|fresh|new|empty|without)\w*\b.{0,20}\bcontext\b/i

/** The options that answer a plan. An agent may lack any of them. */
export interface PlanOptions {
  /** accepts the plan and asks about later steps as usual; if no option does that, another option that accepts */
  accept?: PermissionEntry['options'][number]
  /** accepts the plan and makes the agent forget the conversation before it */
  acceptCleared?: PermissionEntry['options'][number]
  reject?: PermissionEntry['options'][number]
}

export function planOptions({ options }: Pick<PermissionEntry, 'options'>): PlanOptions {
  const allowing = options.filter(({ kind }) => kind === 'allow_once' || kind === 'allow_always')
  const acceptCleared = allowing.find(({ name }) => CLEARS_CONTEXT.test(name))
  const others = allowing.filter(option => option !== acceptCleared)
  const accept = others.find(({ kind }) => kind === 'allow_once') ?? others[0]
  const reject = options.find(({ kind }) => kind === 'reject_once')
  return { ...(accept && { accept }), ...(acceptCleared && { acceptCleared }), ...(reject && { reject }) }
}
