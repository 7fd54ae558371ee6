import { cpus } from 'node:os'
import { format, type Measurement, type Outcome, outcomes } from './figures.ts'

export function printMeasurement(measurement: Measurement): void {
  console.log(`\n${measurement.title}`)
  for (const outcome of outcomes(measurement)) console.log(`  ${line(outcome)}`)
}

function line({ figure, best, all, met }: Outcome): string {
  const value = format(best, figure.unit)
  const target =
    met === undefined ? '' : `${met ? 'met   ' : 'MISSED'} (at most ${format(figure.most!, figure.unit)})`
  const rounds = all.length > 1 ? `all: ${all.map(one => format(one, figure.unit)).join(', ')}` : ''
  return `${figure.name.padEnd(36)}${value.padStart(12)}  ${target.padEnd(28)}${rounds}`.trimEnd()
}

export function printSummary(measurements: Measurement[], load: string): void {
  const judged = measurements.flatMap(measurement =>
    outcomes(measurement)
      .filter(({ met }) => met !== undefined)
      .map(outcome => ({ title: measurement.title, ...outcome })),
  )
  const missed = judged.filter(({ met }) => !met)
  console.log(`\n${judged.length - missed.length} of ${judged.length} targets met.`)
  for (const { title, figure, best } of missed)
    console.log(
      `  missed: ${figure.name} in ${title}: ${format(best, figure.unit)} instead of ${format(figure.most!, figure.unit)}`,
    )
  console.log(
    `The best of the rounds counts: what else ran only adds. This machine has ${cpus().length} cores and its load is ${load} now; with more at work than cores, times are longer than what Parley needs.`,
  )
}
