import type { ConfigCategory, ConfigOption, Plan, SessionUpdate } from '../acp/model.ts'
import { parseTimestamp } from '../common/timestamp.ts'
import type { HeadKey } from './state-base.ts'
import type { Step } from './step.ts'

/** Maximum number of usage limits that are stored; an agent could make up any number of kinds. */
const MAX_LIMITS = 10

export function planUpsert(step: Step, plan: Plan): void {
  const { plans } = step.state
  const found = plans.findIndex(known => known.planId === plan.planId)
  if (found === -1) plans.push(plan)
  else plans[found] = plan
  head(step, 'plans')
}

export function planRemoved(step: Step, planId: string): void {
  const { plans } = step.state
  const found = plans.findIndex(known => known.planId === planId)
  if (found === -1) return
  plans.splice(found, 1)
  head(step, 'plans')
}

/** Removes completed plans when the next turn begins. */
export function dropFinishedPlans(step: Step): void {
  const { plans } = step.state
  const open = plans.filter(plan => !isFinished(plan))
  if (open.length === plans.length) return
  plans.splice(0, plans.length, ...open)
  head(step, 'plans')
}

/** Sets plan steps in progress back to pending, since nothing runs anymore. */
export function stopPlans(step: Step): void {
  const { plans } = step.state
  const isRunning = ({ status }: Plan['entries'][number]) => status === 'in_progress'
  for (const [i, plan] of plans.entries()) {
    if (!plan.entries.some(isRunning)) continue
    const entries = plan.entries.map(one => (isRunning(one) ? { ...one, status: 'pending' } : one))
    plans[i] = { ...plan, entries }
    head(step, 'plans')
  }
}

function isFinished({ entries }: Plan): boolean {
  return entries.length > 0 && entries.every(({ status }) => status === 'completed' || status === 'cancelled')
}

export function configOptions(step: Step, options: readonly ConfigOption[]): void {
  step.state.configOptions = options.slice()
  head(step, 'configOptions')
}

/** Applies a change of the mode or model. A value that isn't among the choices is kept: some agents omit the current value from them. */
export function configValue(step: Step, category: ConfigCategory, value: string): void {
  const option = step.state.configOptions.find(
    known => known.category === category && known.type === 'select',
  )
  if (option) setOption(step, option.id, value)
}

/** Sets one option's value. Ignores a value of the wrong type. */
export function setOption(step: Step, optionId: string, value: string | boolean): void {
  const { configOptions: options } = step.state
  const found = options.findIndex(known => known.id === optionId)
  const option = options[found]
  if (!option || option.type === 'unknown' || option.currentValue === value) return
  if (option.type === 'select' && typeof value === 'string')
    options[found] = { ...option, currentValue: value }
  else if (option.type === 'boolean' && typeof value === 'boolean') {
    options[found] = { ...option, currentValue: value }
  } else return
  head(step, 'configOptions')
}

/** Applies the agent's information about the session. An absent field is kept; `null`, or an unreadable value, clears the field. */
export function info(
  step: Step,
  update: { title?: string | null; updatedAt?: string | number | null },
): void {
  const { state } = step
  if (update.title !== undefined) {
    const title = update.title?.trim() || undefined
    if (title !== state.title) {
      if (title === undefined) delete state.title
      else state.title = title
      head(step, 'title')
    }
  }
  if (update.updatedAt !== undefined) {
    const updatedAt = parseTimestamp(update.updatedAt)
    if (updatedAt !== state.updatedAt) {
      if (updatedAt === undefined) delete state.updatedAt
      else state.updatedAt = updatedAt
      head(step, 'updatedAt')
    }
  }
}

export function usage(step: Step, reported: Extract<SessionUpdate, { type: 'usage' }>['usage']): void {
  const { state } = step
  const { cost = state.usage?.cost, limit, ...context } = reported
  const tokens = state.usage?.tokens
  const known = state.usage?.limits ?? []
  const limits = limit ? [...known.filter(({ kind }) => kind !== limit.kind), limit] : known
  state.usage = {
    ...context,
    ...(cost && { cost }),
    ...(tokens && { tokens }),
    ...(limits.length > 0 && { limits: limits.slice(-MAX_LIMITS) }),
  }
  head(step, 'usage')
}

/** Replaces the suggestion for the user's next prompt. */
export function suggest(step: Step, text: string | undefined): void {
  const { state } = step
  if (text === state.suggestion) return
  if (text === undefined) delete state.suggestion
  else state.suggestion = text
  head(step, 'suggestion')
}

export function head(step: Step, key: HeadKey): void {
  step.changes.push({ type: 'head', key })
}
