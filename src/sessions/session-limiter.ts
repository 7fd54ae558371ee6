import * as l10n from '@vscode/l10n'
import { type Disposable, Owner, toDisposable } from '../common/disposable.ts'
import type { SessionId } from '../common/session-key.ts'
import { amountText, limitText } from '../conversation/limit-text.ts'
import type { Session } from '../conversation/session.ts'
import {
  changedLimit,
  highestCost,
  isUndecided,
  type LimitKind,
  type LimitNote,
  type LimitState,
  type Limits,
  limitLevel,
  limitState,
  raiseLimits,
  reachedLimits,
  type SessionUse,
  stopAtLimits,
  takeWarnings,
} from '../conversation/session-limit.ts'
import { type Schedule, scheduleTimer } from '../conversation/turns.ts'
import type { LocalSessions } from '../history/local-sessions.ts'
import { TurnTime, type TurnTimeOptions } from './turn-time.ts'
import { isAmount, type UsageMeter } from './usage-meter.ts'

/** Interval at which the time of a running turn is stored, in milliseconds, so that a crash loses little of the time. */
const STORE_EVERY_MS = 60_000
const MINUTE = 60_000

/** Where the time and the limits of sessions are stored. */
export type SpanRecords = Pick<LocalSessions, 'span' | 'putSpan'>

/** The user's limits, and how they're changed. */
export interface LimitSettings {
  /** Returns the default limits, for sessions without their own limits. */
  read(): Limits
  /** Lets the user change the limits of a session. Resolves when the user is done. */
  edit(limiter: SessionLimiter): Promise<void>
  language: string
}

export interface SessionLimiterOptions {
  agentId: string
  session: Session
  meter: Pick<UsageMeter, 'used' | 'onDidChange'>
  records: SpanRecords
  settings: LimitSettings
  /** Stops the turn. */
  cancel: () => void
  schedule?: Schedule
  time?: Pick<TurnTimeOptions, 'now' | 'clock'>
}

/**
 * Warns before a session reaches its limit and asks the user when it does. An agent can't be paused, and stopping it without asking could
 * lose work. So a running turn continues, but until the user decides, no other prompt is sent or added to the turn, and no rule answers the
 * agent's requests. A limit for something that the agent doesn't report, such as its cost, is never reached.
 */
export class SessionLimiter extends Owner {
  readonly #options: SessionLimiterOptions
  readonly #time: TurnTime
  #state: LimitState
  /** Whether the limits were changed for this session, so that the settings don't apply. */
  #isOwn: boolean
  #isAsking = false
  /** Whether the user stopped the running turn. */
  #isStopping = false
  #timer: Disposable | undefined
  #isReviewDue = false

  constructor(options: SessionLimiterOptions) {
    super()
    this.#options = options
    const { agentId, session, records, settings, meter, time } = options
    const span = records.span(agentId, session.sessionId)
    this.#time = this.register(
      new TurnTime({
        session,
        stored: span,
        onChange: () => this.#timeChanged(),
        ...time,
      }),
    )
    this.#isOwn = span?.limit !== undefined
    this.#state = span?.limit ?? limitState(settings.read())
    // opening a session that is already over a default limit must not ask
    if (!this.#isOwn) this.#state = stopAtLimits(this.#state, this.#use)
    this.register(toDisposable(() => this.#timer?.dispose()))
    this.register(toDisposable(() => this.#store()))
    this.register(meter.onDidChange(() => this.#review()))
    this.register(session.onDidChangeStatus(() => this.#review()))
    this.#review()
  }

  /** The data that the page shows; `undefined` without a limit. */
  get note(): LimitNote | undefined {
    const { limits } = this.#state
    if (Object.keys(limits).length === 0) return undefined
    const counting = this.#time.counting
    const use = counting ? { ...this.#use, minutes: counting.before / MINUTE } : this.#use
    return {
      limits,
      use,
      ...(counting && { since: counting.since }),
      unreported: this.#unreported,
      level: limitLevel(this.#state, this.#use),
    }
  }

  get #unreported(): LimitKind[] {
    const { usage, turn, turnStartedAt } = this.#options.session.state
    const { costs, tokens } = this.#use
    if (turn === 0 || turnStartedAt !== undefined) return []
    const none: LimitKind[] = []
    if (costs.length === 0 && !(usage?.cost && isAmount(usage.cost.amount))) none.push('cost')
    if (tokens === 0 && !usage?.tokens) none.push('tokens')
    return none.filter(kind => this.#state.limits[kind] !== undefined)
  }

  /** The limits and what the session has used. */
  get standing(): { limits: Limits; use: SessionUse } {
    return { limits: this.#state.limits, use: this.#use }
  }

  /** Sets or removes a limit of the session. */
  set(kind: LimitKind, limit: number | undefined): void {
    this.#change(changedLimit(this.#state, kind, limit))
    this.#review()
  }

  get #use(): SessionUse {
    const { costs, tokens } = this.#options.meter.used
    return { costs, tokens, minutes: this.#time.ms / MINUTE }
  }

  #change(state: LimitState): void {
    this.#state = state
    this.#isOwn = true
    this.#store()
    this.#show()
  }

  #store(): void {
    const { agentId, session, records } = this.#options
    const { sessionId } = session
    records.putSpan(
      { agentId, sessionId },
      { ...this.#time.stored, ...(this.#isOwn && { limit: this.#state }) },
    )
  }

  #show(): void {
    this.#options.session.conversation.report([{ type: 'head', key: 'usage' }])
  }

  #timeChanged(): void {
    this.#store()
    if (this.#state.limits.minutes !== undefined) this.#show()
    this.#review()
  }

  /** Checks the limits after a change. Holds the prompts at once, since the next turn may be about to begin. */
  #review(): void {
    const { session } = this.#options
    if (this.owned.isDisposed || !session.isLive) return
    this.#wait()
    if (session.phase !== 'ready') return
    const { isWorking, cancelState } = session.turns
    this.#isStopping = isWorking && (this.#isStopping || cancelState !== 'none')
    session.hold(this.#isAsking || reachedLimits(this.#state, this.#use).length > 0)
    if (this.#isReviewDue) return
    this.#isReviewDue = true
    // warn or ask after the other listeners have handled this change
    queueMicrotask(() => {
      this.#isReviewDue = false
      if (!this.owned.isDisposed && session.phase === 'ready') this.#tell()
    })
  }

  /** Warns the user, or asks. */
  #tell(): void {
    const { session, settings } = this.#options
    const use = this.#use
    const warned = takeWarnings(this.#state, use)
    if (warned.state !== this.#state) this.#change(warned.state)
    for (const kind of warned.kinds) {
      const text = limitText(kind, this.#state.limits[kind] ?? 0, use, settings.language, l10n.t)
      session.notify({ severity: 'warning', title: l10n.t('Session limit nearly reached: {0}', text) })
    }
    const isReached = reachedLimits(this.#state, use).length > 0
    if (isReached && !this.#isAsking && this.#isQuestionDue(use)) void this.#ask(use)
  }

  #isQuestionDue(use: SessionUse): boolean {
    const { turns } = this.#options.session
    if (isUndecided(this.#state, use)) return true
    if (!turns.queue.isPaused && turns.queue.queued.length > 0) return true
    return turns.isWorking && !this.#isStopping
  }

  async #ask(use: SessionUse): Promise<void> {
    const { session, settings, cancel } = this.#options
    this.#isAsking = true
    // the question stays open in the next window, so this window doesn't abort it
    const outcome = await session.requests.askUser(this.#request(use), new AbortController().signal)
    if (this.owned.isDisposed || !session.isLive) return
    const answer = outcome.type === 'selected' ? outcome.optionId : undefined
    if (answer === 'continue') this.#change(raiseLimits(this.#state, this.#use))
    else if (answer === 'set') await settings.edit(this)
    else this.#change(stopAtLimits(this.#state, this.#use))
    if (answer === 'stop') {
      this.#isStopping = session.turns.isWorking
      session.turns.queue.pause()
      cancel()
    }
    this.#isAsking = false
    this.#review()
  }

  #request(use: SessionUse): Parameters<Session['requests']['askUser']>[0] {
    const { session, settings } = this.#options
    const { limits } = this.#state
    const next = raiseLimits(this.#state, use).limits
    const currency = highestCost(use)?.currency
    const reached = reachedLimits(this.#state, use)
    const to = reached.map(kind =>
      withUnit(kind, amountText(kind, next[kind] ?? 0, currency, settings.language)),
    )
    return {
      sessionId: session.sessionId,
      title: l10n.t('Session limit reached'),
      description: [
        ...reached.map(kind => limitText(kind, limits[kind] ?? 0, use, settings.language, l10n.t)),
        l10n.t('Prompts and permission rules wait for your answer. A running turn goes on.'),
      ].join('\n'),
      subject: { type: 'none' },
      options: [
        { optionId: 'continue', name: l10n.t('Continue to {0}', to.join(', ')), kind: 'allow_once' },
        { optionId: 'set', name: l10n.t('Set Limit…'), kind: 'allow_once' },
        { optionId: 'stop', name: l10n.t('Stop'), kind: 'reject_once' },
      ],
      isChoice: true,
      outlastsTurn: true,
    }
  }

  /** Schedules the next check, for when the time may reach a limit, and stores the time. */
  #wait(): void {
    this.#timer?.dispose()
    this.#timer = undefined
    if (!this.#time.counting) return
    const limit = (this.#state.limits.minutes ?? Number.POSITIVE_INFINITY) * MINUTE
    const { ms } = this.#time
    const remaining = [limit * 0.8 - ms, limit - ms].filter(one => one > 0)
    const { schedule = scheduleTimer } = this.#options
    // timers may fire a little early
    this.#timer = schedule(
      () => {
        this.#store()
        this.#review()
      },
      Math.max(1, Math.ceil(Math.min(STORE_EVERY_MS, ...remaining))),
    )
  }
}

function withUnit(kind: LimitKind, amount: string): string {
  if (kind === 'minutes') return l10n.t('{0} min', amount)
  return kind === 'tokens' ? l10n.t('{0} tokens', amount) : amount
}

/** Copies the limit that the user set for a session to its fork, also a fork to edit a prompt. The fork's use counts from zero. */
export function forkLimit(records: SpanRecords, from: SessionId, to: SessionId): void {
  const limit = records.span(from.agentId, from.sessionId)?.limit
  if (limit) records.putSpan(to, { ms: 0, limit: limitState(limit.steps) })
}
