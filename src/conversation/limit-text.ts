import type { Cost } from '../acp/model.ts'
import { formatCost } from '../common/format-cost.ts'
import type { Translate } from './requests/elicitation.ts'
import { highestCost, type LimitKind, type SessionUse, usedAmount } from './session-limit.ts'

/** Returns the use of a limit, such as `$4.10 of $5.00`, `8 of 10 min` or `12,000 of 50,000 tokens`. */
export function limitText(
  kind: LimitKind,
  limit: number,
  use: SessionUse,
  language: string,
  t: Translate,
): string {
  const currency = highestCost(use)?.currency
  const exact = usedAmount(kind, use)
  const used = kind === 'minutes' && limit >= 1 ? Math.floor(exact) : exact
  const [of, all] = [used, limit].map(amount => amountText(kind, amount, currency, language)) as [
    string,
    string,
  ]
  if (kind === 'minutes') return t('{0} of {1} min', of, all)
  return kind === 'tokens' ? t('{0} of {1} tokens', of, all) : t('{0} of {1}', of, all)
}

/** Returns an amount without its unit; an amount of money has its currency. */
export function amountText(
  kind: LimitKind,
  amount: number,
  currency: Cost['currency'] | undefined,
  language: string,
): string {
  if (kind === 'cost' && currency !== undefined) return formatCost({ amount, currency }, language)
  const maximumFractionDigits = kind === 'tokens' ? 0 : 2
  return new Intl.NumberFormat(language, { maximumFractionDigits }).format(amount)
}
