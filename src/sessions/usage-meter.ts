import type { Cost, TokenCount } from '../acp/model.ts'
import { Owner, toDisposable } from '../common/disposable.ts'
import { Emitter } from '../common/event.ts'
import type { Session } from '../conversation/session.ts'
import { dayOf, type LocalSessions } from '../history/local-sessions.ts'
import type { UsageRecord } from '../history/session-store.ts'

/** The largest amount or count that is counted: agents report larger ones by mistake. */
const MAX_AMOUNT = 1e12
/** Maximum length of a cost's unit, and the number of units that a session may use. */
const MAX_CURRENCY_LENGTH = 16
const MAX_CURRENCIES = 8
/** The unit under which a session's tokens are stored. Such a row also marks the session as counted from its start. */
const TOKENS = ''

/** Counts what sessions use, by day and agent. */
export type UsageRecords = Pick<LocalSessions, 'addUsage' | 'addModelUsage' | 'sessionUsage'>

export interface UsageMeterOptions {
  agentId: string
  session: Pick<Session, 'sessionId' | 'state' | 'phase' | 'onDidChange'>
  records: UsageRecords
  /** Whether the session is new, so that all of its cost counts. */
  isNew: boolean
  now?: () => number
}

/** How much of a cost is counted. */
interface Mark {
  /** the reported amount up to which the cost is counted; `undefined`: the earlier cost of the session is unknown */
  counted: number | undefined
  /** the highest amount reported since the session was opened, while this amount is less than the counted amount */
  below?: number
  /** Whether a report since the session was opened was as high as the counted amount, so that the agent continues its count. */
  continues: boolean
}

/**
 * Counts what one open session uses. Agents report the cost of the whole session so far, and repeat the report when the session is loaded,
 * so only the part that exceeds the highest report is added. The cost of a session before Parley knew it is never counted. Some agents
 * restart at zero in a new process, which is detected if the first turn ends below the counted amount. If that turn ends above, only the
 * difference is counted: better too little than twice. Only tokens of turns that ran here are counted.
 */
export class UsageMeter extends Owner {
  readonly #options: UsageMeterOptions
  readonly #now: () => number
  readonly #marks = new Map<string, Mark>()
  readonly #costs = new Map<string, number>()
  #totalTokens = 0
  readonly #change = this.register(new Emitter<void>())
  /** Fires when the session has used more. */
  readonly onDidChange = this.#change.event
  /** whether the session is counted from its beginning, so that a cost that was never reported is zero */
  readonly #isWhole: boolean
  /** Whether a turn has started here, so that reported amounts were spent here. */
  #isLive = false
  #runs = false
  /** Whether the tokens of a running or ended turn aren't counted yet. */
  #owesTokens = false
  #tokens: unknown

  constructor(options: UsageMeterOptions) {
    super()
    this.#options = options
    this.#now = options.now ?? Date.now
    const { agentId, session, records, isNew } = options
    const known = records.sessionUsage(agentId, session.sessionId)
    this.#isWhole = isNew || known.some(({ currency }) => currency === TOKENS)
    for (const { currency, mark, cost, totalTokens } of known) {
      this.#totalTokens += totalTokens
      if (currency === TOKENS) continue
      this.#marks.set(currency, { counted: mark, continues: false })
      this.#costs.set(currency, cost)
    }
    if (isNew && known.length === 0) this.#add(TOKENS, 0, {})
    const { usage } = session.state
    this.#tokens = usage?.tokens
    // a conversation that was saved before Parley counted usage has a cost that isn't counted
    if (usage?.cost && !this.#isWhole) this.#reportBefore(usage.cost.currency, usage.cost.amount)
    this.register(session.onDidChange(changes => this.#changed(changes)))
    // an interrupted turn may have more to report
    this.register(toDisposable(() => !this.#runs && this.#turnEnded()))
  }

  /** The session's usage since Parley first opened the session. */
  get used(): { costs: Cost[]; tokens: number } {
    return {
      costs: [...this.#costs].map(([currency, amount]) => ({ currency, amount })),
      tokens: this.#totalTokens,
    }
  }

  #changed(changes: Parameters<Parameters<Session['onDidChange']>[0]>[0]): void {
    const { state, phase } = this.#options.session
    const { usage } = state
    const isReported = changes.some(
      change => change.type === 'reset' || (change.type === 'head' && change.key === 'usage'),
    )
    const runs = phase !== 'loading' && state.turnStartedAt !== undefined
    if (runs) {
      this.#isLive = true
      this.#owesTokens ||= !this.#runs
    }
    if (isReported) {
      const { cost, tokens } = usage ?? {}
      if (cost && isAmount(cost.amount)) {
        if (this.#isLive && phase !== 'loading') this.#report(cost.currency, cost.amount)
        else this.#reportBefore(cost.currency, cost.amount)
      }
      if (tokens && tokens !== this.#tokens && this.#owesTokens && phase !== 'loading') {
        this.#owesTokens = false
        if (isCount(tokens)) this.#add(TOKENS, 0, tokenSum(tokens))
        const { agentId, records } = this.#options
        const day = dayOf(this.#now())
        for (const one of tokens.models ?? [])
          if (isCount(one) && one.total > 0)
            records.addModelUsage({ agentId, day, model: one.model, ...tokenSum(one) })
      }
      this.#tokens = tokens
    }
    if (this.#runs && !runs) this.#turnEnded()
    this.#runs = runs
  }

  /** Marks the cost of the session before a turn began here, which isn't counted. */
  #reportBefore(currency: string, amount: number): void {
    const mark = this.#mark(currency)
    if (!mark || (mark.counted !== undefined && amount <= mark.counted)) return
    mark.counted = amount
    this.#add(currency, amount, {})
  }

  #report(currency: string, amount: number): void {
    const mark = this.#mark(currency)
    if (!mark) return
    if (mark.counted === undefined) {
      mark.continues = true
      this.#reportBefore(currency, amount)
    } else if (amount >= mark.counted) {
      const cost = amount - mark.counted
      mark.continues = true
      mark.counted = amount
      if (cost > 0) this.#add(currency, amount, { cost })
    } else if (!mark.continues) mark.below = Math.max(mark.below ?? 0, amount)
  }

  /** If a turn ended with a report below the counted amount, the agent has restarted its count: counts the amount from zero. */
  #turnEnded(): void {
    for (const [currency, mark] of this.#marks) {
      const { below, continues } = mark
      if (below === undefined || continues) continue
      mark.counted = below
      mark.continues = true
      this.#add(currency, below, { cost: below })
    }
  }

  #mark(currency: string): Mark | undefined {
    const known = this.#marks.get(currency)
    if (known) return known
    const isCounted = currency !== TOKENS && currency.length <= MAX_CURRENCY_LENGTH
    if (!isCounted || this.#marks.size >= MAX_CURRENCIES) return undefined
    const mark: Mark = { counted: this.#isWhole ? 0 : undefined, continues: false }
    this.#marks.set(currency, mark)
    return mark
  }

  #add(currency: string, mark: number, used: Partial<UsageRecord>): void {
    const { agentId, session, records } = this.#options
    const day = dayOf(this.#now())
    const nothing = { cost: 0, totalTokens: 0, inputTokens: 0, outputTokens: 0 }
    records.addUsage({ agentId, sessionId: session.sessionId, day, currency, mark, ...nothing, ...used })
    this.#totalTokens += used.totalTokens ?? 0
    if (currency !== TOKENS) this.#costs.set(currency, (this.#costs.get(currency) ?? 0) + (used.cost ?? 0))
    this.#change.fire()
  }
}

/** Gives a fork the counted cost of the original session, since agents may continue that count instead of restarting at zero. */
export function forkUsage(
  records: UsageRecords,
  agentId: string,
  from: string,
  to: string,
  now = Date.now(),
): void {
  const nothing = { cost: 0, totalTokens: 0, inputTokens: 0, outputTokens: 0 }
  for (const { currency, mark } of records.sessionUsage(agentId, from))
    records.addUsage({ agentId, sessionId: to, day: dayOf(now), currency, mark, ...nothing })
}

/** Whether a value that an agent reports is plausible. */
export function isAmount(value: number): boolean {
  return value >= 0 && value <= MAX_AMOUNT
}

type Count = Pick<TokenCount, 'total' | 'input' | 'output'>

function isCount({ total, input, output }: Count): boolean {
  return [total, input, output].every(isAmount)
}

const tokenSum = ({ total, input, output }: Count) => ({
  totalTokens: total,
  inputTokens: input,
  outputTokens: output,
})
