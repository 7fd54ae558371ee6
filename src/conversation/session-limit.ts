/** The user's limits for a session: how much it may use before the user is asked. The functions have no side effects. */
import type { Cost } from '../acp/model.ts'

export const LIMIT_KINDS = ['cost', 'minutes', 'tokens'] as const
export type LimitKind = (typeof LIMIT_KINDS)[number]

/** The maximum amounts by kind. `cost`: in the currency that the agent reports. */
export type Limits = Partial<Record<LimitKind, number>>

/** The largest valid limit. */
const MAX_LIMIT = 1e12
/** The share of a limit from which on the user is warned (0 to 1). */
const NEAR = 0.8
/** A limit is raised to at least this multiple of the current use. */
const CLEARLY_MORE = 1.05

/** The known use of a session. `tokens` and `costs` are as the agent reported them. */
export interface SessionUse {
  costs: readonly Cost[]
  /** running time of the session's turns, without the time spent waiting for the user */
  minutes: number
  tokens: number
}

export interface LimitState {
  /** by how much each limit is raised when the user continues */
  steps: Limits
  limits: Limits
  /** the limits that the user was warned about */
  warned: Limits
  /** the limits at which the user stopped: the user is asked again before the next prompt is sent */
  stopped: Limits
}

/** The data about limits for the page. */
export interface LimitNote {
  limits: Limits
  use: SessionUse
  /** start of the running turn, in milliseconds since the epoch; the turn's minutes are added to the minutes in `use` */
  since?: number
  /** the limits that have no effect: turns have ended, and the agent has reported no use of that kind */
  unreported: LimitKind[]
  level: 'low' | 'near' | 'reached'
}

export function isLimit(value: unknown): value is number {
  return typeof value === 'number' && value > 0 && value <= MAX_LIMIT
}

/** Returns the valid limits of a value that may contain anything. */
export function readLimits(value: unknown): Limits {
  const limits: Limits = {}
  if (typeof value !== 'object' || value === null) return limits
  for (const kind of LIMIT_KINDS) {
    const amount: unknown = Object.hasOwn(value, kind) ? Reflect.get(value, kind) : undefined
    if (isLimit(amount)) limits[kind] = amount
  }
  return limits
}

/** Returns the lowest limit of each kind: a workspace may lower the user's limits, but can't raise or remove them. */
export function lowestLimits(all: readonly Limits[]): Limits {
  const lowest: Limits = {}
  for (const limits of all)
    for (const kind of LIMIT_KINDS) {
      const amount = limits[kind]
      if (amount !== undefined) lowest[kind] = Math.min(amount, lowest[kind] ?? amount)
    }
  return lowest
}

export function limitState(limits: Limits): LimitState {
  return { steps: limits, limits, warned: {}, stopped: {} }
}

/** Returns the cost to compare with the limit: agents report one currency, and amounts in several currencies can't be added. */
export function highestCost({ costs }: Pick<SessionUse, 'costs'>): Cost | undefined {
  return costs.reduce<Cost | undefined>(
    (highest, cost) => (!highest || cost.amount > highest.amount ? cost : highest),
    undefined,
  )
}

export function usedAmount(kind: LimitKind, use: SessionUse): number {
  return kind === 'cost' ? (highestCost(use)?.amount ?? 0) : use[kind]
}

function kindsFrom({ limits }: Pick<LimitState, 'limits'>, use: SessionUse, share: number): LimitKind[] {
  return LIMIT_KINDS.filter(kind => {
    const limit = limits[kind]
    return limit !== undefined && usedAmount(kind, use) >= limit * share
  })
}

export function reachedLimits(state: Pick<LimitState, 'limits'>, use: SessionUse): LimitKind[] {
  return kindsFrom(state, use, 1)
}

export function limitLevel(state: Pick<LimitState, 'limits'>, use: SessionUse): LimitNote['level'] {
  if (reachedLimits(state, use).length > 0) return 'reached'
  return kindsFrom(state, use, NEAR).length > 0 ? 'near' : 'low'
}

/** Returns the limits that the user must be warned about, once for each limit and each raise; a reached limit needs no warning anymore. */
export function takeWarnings(state: LimitState, use: SessionUse): { state: LimitState; kinds: LimitKind[] } {
  const fresh = kindsFrom(state, use, NEAR).filter(kind => state.warned[kind] !== state.limits[kind])
  if (fresh.length === 0) return { state, kinds: [] }
  const reached = reachedLimits(state, use)
  const kinds = fresh.filter(kind => !reached.includes(kind))
  return { state: { ...state, warned: { ...state.warned, ...pickLimits(state.limits, fresh) } }, kinds }
}

/** Whether a limit is reached for which the user hasn't decided whether to continue. */
export function isUndecided(state: LimitState, use: SessionUse): boolean {
  return reachedLimits(state, use).some(kind => state.stopped[kind] !== state.limits[kind])
}

/** Returns the state after the user stopped at the reached limits. */
export function stopAtLimits(state: LimitState, use: SessionUse): LimitState {
  return { ...state, stopped: pickLimits(state.limits, reachedLimits(state, use)) }
}

/**
 * Returns the state after the user continued: each reached limit is raised by its first amount, or to a multiple of its first amount,
 * clearly above the current use, so that the user isn't asked again immediately.
 */
export function raiseLimits(state: LimitState, use: SessionUse): LimitState {
  const limits = { ...state.limits }
  for (const kind of reachedLimits(state, use)) {
    const limit = limits[kind] ?? 0
    const step = state.steps[kind] ?? limit
    const used = usedAmount(kind, use)
    const least = used * CLEARLY_MORE
    const next = least <= limit + step ? limit + step : step * (Math.floor(least / step) + 1)
    // a step that is much smaller than the amount is lost in rounding
    limits[kind] = next > used ? next : used * 2
  }
  return { ...state, limits, stopped: {} }
}

/** Returns the state after the user set or removed a limit. */
export function changedLimit(state: LimitState, kind: LimitKind, limit: number | undefined): LimitState {
  const change = (all: Limits): Limits => {
    const { [kind]: _, ...others } = all
    return limit === undefined ? others : { ...others, [kind]: limit }
  }
  const { [kind]: _, ...warned } = state.warned
  return { steps: change(state.steps), limits: change(state.limits), warned, stopped: {} }
}

function pickLimits(limits: Limits, kinds: readonly LimitKind[]): Limits {
  return Object.fromEntries(kinds.map(kind => [kind, limits[kind]]))
}
