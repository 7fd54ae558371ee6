import { visible } from './visible.ts'

/** A cost in the words of a language (a BCP 47 tag): `$0.42`, `3 credits`. `currency` may be any unit an agent names. */
export function formatCost(
  { amount, currency }: { amount: number; currency: string },
  language: string,
): string {
  // a cost under a cent is told, too; a larger one as money is
  const maximumFractionDigits = amount < 1 ? 4 : 2
  const unit = visible(currency)
  try {
    return new Intl.NumberFormat(language, { style: 'currency', currency, maximumFractionDigits }).format(
      amount,
    )
  } catch {
    return `${new Intl.NumberFormat(language, { maximumFractionDigits }).format(amount)} ${unit}`
  }
}
