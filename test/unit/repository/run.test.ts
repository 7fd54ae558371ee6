import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { divideEvenly } from '../../run/divide-evenly.ts'
import { failureSummary, testsPassedOnRetry } from '../../run/failure-summary.ts'
import { runStep } from '../../run/run-step.ts'
import { schedule } from '../../run/schedule.ts'
import { addTallies, formatTally, parseTally } from '../../run/tally.ts'

const mochaProgram = 'node_modules/mocha/bin/mocha.js'

describe('the run of all tests', () => {
  const tally = fc.record(
    { passed: fc.nat(), failed: fc.nat(), skipped: fc.nat() },
    { noNullPrototype: true },
  )

  it('reads tallies anywhere in the output', () => {
    fc.assert(
      fc.property(tally, tally, fc.lorem(), (early, last, text) => {
        const output = `${formatTally(early)}\n${text}\n${formatTally(last)}\n${text}\n`
        assert.deepEqual(parseTally(output), last)
      }),
    )
  })

  it("doesn't confuse other text with a tally", () => {
    for (const text of ['', '3 passed', 'x 3 passed, 0 failed', '3 passed, 0 failed.', '-3 passed, 0 failed'])
      assert.equal(parseTally(text), undefined, text)
  })

  it('adds up tallies', () => {
    const parts = [
      { passed: 1, failed: 2, skipped: 3 },
      { passed: 10, failed: 20, skipped: 30 },
    ]
    assert.deepEqual(addTallies(parts), { passed: 11, failed: 22, skipped: 33 })
    assert.deepEqual(addTallies([]), { passed: 0, failed: 0, skipped: 0 })
  })

  it("reports failures at the end: Mocha's list, the failed tests, or the end of the output", () => {
    const list =
      '  1 failing\n\n  1) a room has walls:\n     Error: none\n      at here\n\n1 passed, 1 failed'
    assert.equal(failureSummary(`  ✔ stands\n  1) has walls\n\n${list}\n`), list)
    const crossed =
      '✔ stands (1 ms)\n  ✖ has walls\n      Error: none\n\n      at here\n  ✔ has a roof\n✖ is dry\n'
    assert.equal(failureSummary(crossed), '  ✖ has walls\n      Error: none\n\n      at here\n✖ is dry')
    assert.equal(failureSummary('one\ntwo\n'), 'one\ntwo')
    assert.ok(failureSummary(`✖ long\n${' x\n'.repeat(5000)}`).length < 3100)
  })

  it('reports tests that passed only on the retry', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'parley-run-'))
    const file = join(directory, 'some.cjs')
    writeFileSync(
      file,
      `let tries = 0
      it('is moody', () => { if (tries++ === 0) throw new Error('not now') })
      it('is steady', () => {})
      let asked = 0
      it('is broken', () => { throw new Error('not at ' + ++asked) })`,
    )
    try {
      const options = [
        '--retries',
        '1',
        '--no-color',
        '--no-config',
        '--reporter',
        'test/run/mocha-reporter.ts',
      ]
      const program = [mochaProgram, '--import=tsx', ...options, file]
      const { output } = await runStep({ name: 'some', kind: 'suite', needs: [], run: program })
      const again = testsPassedOnRetry(output)
      assert.equal(again.length, 1, output)
      assert.match(again[0]!, /^ {2}↻ is moody\n {6}Error: not now\n/)
      assert.doesNotMatch(again[0]!, /2 passed/)
      assert.match(
        failureSummary(output),
        /is broken:\n\s+Error: not at 2\n.*It had failed before with\n\s*Error: not at 1/s,
      )
      assert.deepEqual(parseTally(output), { passed: 2, failed: 1, skipped: 0 })
    } finally {
      rmSync(directory, { recursive: true })
    }
  })

  /** Runs jobs whose ends the test controls, and records what happens. */
  function record(jobs: Array<{ name: string; needs: string[] }>, lanes: number, failing: string[] = []) {
    const events: string[] = []
    const finish = new Map<string, () => void>()
    const end = schedule(
      jobs,
      lanes,
      ({ name }) => {
        events.push(`start ${name}`)
        return new Promise(resolve => finish.set(name, () => resolve(!failing.includes(name))))
      },
      ({ name }, because) => events.push(`drop ${name}: ${because}`),
    )
    const complete = async (name: string) => {
      finish.get(name)!()
      await new Promise(setImmediate)
    }
    return { events, complete, end }
  }

  it('runs in order, with as many steps at once as there are lanes', async () => {
    const jobs = ['a', 'b', 'c'].map(name => ({ name, needs: [] }))
    const { events, complete, end } = record(jobs, 2)
    assert.deepEqual(events, ['start a', 'start b'])
    await complete('b')
    assert.deepEqual(events, ['start a', 'start b', 'start c'])
    await complete('a')
    await complete('c')
    await end
  })

  it('waits for what a step needs, and runs others meanwhile', async () => {
    const jobs = [
      { name: 'late', needs: ['early'] },
      { name: 'early', needs: [] },
    ]
    const { events, complete, end } = record(jobs, 2)
    assert.deepEqual(events, ['start early'])
    await complete('early')
    assert.deepEqual(events, ['start early', 'start late'])
    await complete('late')
    await end
  })

  it('skips steps that need a failed one, directly or indirectly', async () => {
    const jobs = [
      { name: 'c', needs: ['b'] },
      { name: 'a', needs: [] },
      { name: 'b', needs: ['a'] },
      { name: 'd', needs: [] },
    ]
    const { events, complete, end } = record(jobs, 1, ['a'])
    await complete('a')
    await complete('d')
    await end
    assert.deepEqual(events, ['start a', 'drop b: a', 'start d', 'drop c: b'])
  })

  it('reports a need that no step provides', async () => {
    await assert.rejects(record([{ name: 'a', needs: ['b'] }], 1).end, /needed by a/)
  })
})

describe('the division of tests into steps', () => {
  it('contains each test once, in order, with similar totals', () => {
    const weights = fc.array(fc.integer({ min: 1, max: 1000 }), { maxLength: 40 })
    fc.assert(
      fc.property(weights, fc.integer({ min: 1, max: 5 }), (all, count) => {
        const things = all.map((weight, index) => ({ weight, index }))
        const dealt = divideEvenly(things, count, thing => thing.weight)
        assert.equal(dealt.length, count)
        assert.deepEqual(
          dealt.flat().toSorted((a, b) => a.index - b.index),
          things,
        )
        for (const share of dealt)
          assert.deepEqual(
            share,
            share.toSorted((a, b) => a.index - b.index),
          )
        const sums = dealt.map(share => share.reduce((sum, { weight }) => sum + weight, 0))
        assert.ok(Math.max(...sums) - Math.min(...sums) <= Math.max(0, ...all))
      }),
    )
  })
})
