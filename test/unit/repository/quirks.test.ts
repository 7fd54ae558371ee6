import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { testDirectory } from '../../host/paths.ts'

/** The number of known behaviors of real agents beyond the specification; each has a number. */
const QUIRKS = 35

describe('the quirks of real agents', () => {
  it('each have a test named after them', () => {
    const named = new Set<number>()
    for (const file of readdirSync(join(testDirectory, 'unit'), { recursive: true, encoding: 'utf8' })) {
      if (!file.endsWith('.test.ts')) continue
      const text = readFileSync(join(testDirectory, 'unit', file), 'utf8')
      for (const [, , number] of text.matchAll(/\bit\(\s*(['"`])(?:(?!\1).)*\bquirk (\d+)\b/g)) {
        named.add(Number(number))
      }
    }
    const all = Array.from({ length: QUIRKS }, (_, at) => at + 1)
    assert.deepEqual(
      all.filter(number => !named.has(number)),
      [],
    )
  })
})
