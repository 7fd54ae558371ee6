import { visible } from './visible.ts'

/** Formats a cost for a language (a BCP 47 tag): `$0.42`, `3 credits`. `currency` may be any unit an agent names. */
export function formatCost(
  { amount, currency }: { amount: number; currency: string },
  language: string,
): string {
  // Amounts of a few cents have more digits.
  const maximumFractionDigits = amount < 0.1 ? 4 : 2
  const unit = visible(currency)
  try {
    return new Intl.NumberFormat(language, { style: 'currency', currency, maximumFractionDigits }).format(
      amount,
    )
  } catch {
    return `${new Intl.NumberFormat(language, { maximumFractionDigits }).format(amount)} ${unit}`
  }
}
