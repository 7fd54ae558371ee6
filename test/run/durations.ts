import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { projectDirectory } from '../host/paths.ts'
import type { TestEvent } from './test-events.ts'

/** How long each file with tests took when it was last recorded, in seconds: `npm test -- --record`. */
const recordFile = join(import.meta.dirname, 'durations.json')

type Durations = Record<string, number>

const read = (): Durations => JSON.parse(readFileSync(recordFile, 'utf8'))

/** About how long each of the files takes. What a file without a record takes follows from its size. */
export function expectDurations(files: readonly string[]): (file: string) => number {
  const recorded = read()
  const size = (file: string) => statSync(join(projectDirectory, file)).size
  let seconds = 0
  let bytes = 0
  for (const file of files) {
    const known = recorded[file]
    if (known === undefined) continue
    seconds += known
    bytes += size(file)
  }
  const perByte = seconds > 0 ? seconds / bytes : 1
  return file => recorded[file] ?? size(file) * perByte
}

/** Updates the records with what happened, and removes those of files that no longer exist. */
export function recordDurations(events: readonly TestEvent[]): void {
  const durations = new Map<string, number>()
  for (const { event, file, milliseconds } of events)
    if (event === 'file done') durations.set(file, (durations.get(file) ?? 0) + milliseconds / 1000)
  for (const [file, seconds] of Object.entries(read())) if (!durations.has(file)) durations.set(file, seconds)
  const rounded = [...durations]
    .filter(([file]) => existsSync(join(projectDirectory, file)))
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([file, seconds]) => [file, Math.round(seconds * 10) / 10])
  writeFileSync(recordFile, `${JSON.stringify(Object.fromEntries(rounded), null, 2)}\n`)
}
