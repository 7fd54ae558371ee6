/** One measured figure. */
export interface Figure {
  name: string
  unit: 'ms' | 'ms/s' | 's' | 'MB' | 'px' | '%' | 'µs' | ''
  /** the maximum, if there is a target */
  most?: number
  /** Which round counts, best by default. The best of the differences of two times would be meaningless. */
  take?: 'best' | 'median'
}

/** The results of one round, by the name of the figure. */
export type Values = Record<string, number>

export interface Measurement {
  title: string
  figures: Figure[]
  rounds: Values[]
}

export interface Outcome {
  figure: Figure
  best: number
  all: number[]
  /** undefined: no target */
  met: boolean | undefined
}

/** Uses the minimum of all rounds unless the figure says otherwise, since other processes only add to it. */
export function outcomes({ figures, rounds }: Measurement): Outcome[] {
  return figures.flatMap(figure => {
    const all = rounds.flatMap(values => values[figure.name] ?? [])
    if (all.length === 0) return []
    const best = figure.take === 'median' ? percentile(all, 0.5) : Math.min(...all)
    return [{ figure, best, all, met: figure.most === undefined ? undefined : best <= figure.most }]
  })
}

export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
}

export function format(value: number, unit: Figure['unit']): string {
  const digits = unit === 's' || unit === 'MB' || unit === 'px' ? 2 : 0
  const number = value.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits })
  return unit === '' ? number : `${number} ${unit}`
}
