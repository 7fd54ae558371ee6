import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { divideEvenly } from '../../run/divide-evenly.ts'
import { createLanes } from '../../run/lanes.ts'
import { Report } from '../../run/report.ts'
import { runStep } from '../../run/run-step.ts'
import { schedule } from '../../run/schedule.ts'
import type { Step } from '../../run/steps.ts'
import { parseTally } from '../../run/tally.ts'

/** What guards against a run that is green although something is wrong. */
describe('the run of all tests', () => {
  const lane = createLanes(true, { current: '2', floor: '1' }).find(({ name }) => name === 'package content')!
  const suite = (run: string[]): Step => ({ name: 'some', kind: 'suite', needs: [], run, lane })

  let directory: string
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'parley-run-'))
  })
  afterEach(() => rmSync(directory, { recursive: true }))

  /** Runs test files, each as a step, and reports them. */
  async function run(...steps: Step[]) {
    const lines: string[] = []
    const report = new Report(text => lines.push(text))
    for (const [index, step] of steps.entries()) {
      const log = join(directory, `${index}.log`)
      const outcome = await runStep(step, { log, onEvent: event => report.event(step, log, event) })
      report.add(step, log, outcome, '1 s')
    }
    const early = lines.join('\n')
    lines.length = 0
    return { early, passed: report.end(), last: lines.at(-1), summary: lines.join('\n') }
  }

  function tests(name: string, source: string): Step {
    const file = join(directory, name)
    writeFileSync(file, source)
    return suite(lane.run([file], 1))
  }
  const moody = (name: string) =>
    tests(
      `${name}.cjs`,
      `let tries = 0
      describe('mood', () => {
        it('of ${name}', () => { if (tries++ === 0) throw new Error('not now') })
      })`,
    )

  it('fails when a test does, and tells which, at once and at the end', async () => {
    const broken = tests(
      'broken.cjs',
      `describe('a room', () => {
        it('has walls', () => {})
        it("has the user's roof", () => { throw new Error('it rains') })
      })`,
    )
    const { early, passed, summary, last } = await run(broken)
    for (const text of [early, summary]) {
      assert.match(text, /^✖ some: a room has the user's roof\n {4}Error: it rains\n/m)
      assert.match(text, /It had failed before with\n/)
      assert.match(text, /^ {4}log: .*0\.log$/m)
      assert.match(text, /^ {4}alone: npx mocha .*broken\.cjs -f 'a room has the user'\\''s roof'$/m)
    }
    assert.equal(last, '1 passed, 1 failed')
    assert.equal(passed, false)
  })

  it('fails when a hook does', async () => {
    const broken = tests(
      'hook.cjs',
      `describe('a room', () => {
        before(() => { throw new Error('no key') })
        it('has walls', () => {})
      })
      it('stands', () => {})`,
    )
    const { passed, summary } = await run(broken)
    assert.match(summary, /"before all" hook .*\n {4}Error: no key/)
    assert.match(summary, /alone: .* -f 'a room'$/m)
    assert.equal(passed, false)
  })

  it('lets one unsteady test pass, and no second one', async () => {
    const one = await run(moody('Ann'))
    assert.equal(one.passed, true, one.summary)
    assert.match(one.early, /^↻ some: mood of Ann, is tried again\n {4}Error: not now/m)
    assert.match(one.summary, /^↻ some: mood of Ann\n {4}Error: not now/m)
    assert.equal(one.last, '1 passed, 0 failed')
    const two = await run(moody('Ann'), moody('Bob'))
    assert.equal(two.passed, false)
    assert.equal(two.last, '2 passed, 0 failed')
  })

  it('fails when a suite ends without a result, or with another exit code than its result', async () => {
    for (const [script, reason] of [
      ['', /without telling how many tests passed/],
      ["console.log('0 passed, 0 failed')", /It ran no test/],
      ["console.log('2 passed, 0 failed'); process.exitCode = 1", /then ended as a failure/],
      ["console.log('2 passed, 0 failed.')", /without telling/],
    ] as const) {
      const { passed, early, summary } = await run(suite(['-e', script]))
      assert.equal(passed, false, script)
      for (const text of [early, summary]) assert.match(text, reason)
    }
  })

  it('tells what each step used of the processors, together with the programs that it ran', async function () {
    if (process.platform !== 'linux') this.skip()
    const spin = 'const start = process.cpuUsage(); while (process.cpuUsage(start).user < 500_000);'
    const program = `require('node:child_process').spawnSync(process.execPath, ['-e', ${JSON.stringify(spin)}])`
    const use = async (script: string) =>
      (await runStep({ ...suite(['-e', script]), kind: 'check' })).cpuSeconds!
    // what other tests of this process ran before
    await use('')
    const [busy, idle] = [await use(program), await use('')]
    assert.ok(busy >= 0.5, `${busy} s`)
    assert.ok(idle < busy, `${idle} s, ${busy} s`)
  })

  it('takes only the last line of totals for the result', () => {
    assert.deepEqual(parseTally('9 passed, 0 failed\n2 passed, 1 failed, 3 skipped\nend\n'), {
      passed: 2,
      failed: 1,
      skipped: 3,
    })
    for (const text of ['', '3 passed', 'x 3 passed, 0 failed', '3 passed, 0 failed.', '-3 passed, 0 failed'])
      assert.equal(parseTally(text), undefined, text)
  })

  it("fails for a step that can't run, since what it needs failed, directly or indirectly", async () => {
    const lines: string[] = []
    const report = new Report(text => lines.push(text))
    const steps = ['c', 'a', 'b', 'd'].map(
      (name): Step => ({ name, kind: 'check', run: [], needs: { b: ['a'], c: ['b'] }[name] ?? [] }),
    )
    const ran: string[] = []
    await schedule(
      steps,
      (_step, running) => running.length === 0,
      async step => {
        ran.push(step.name)
        const ok = step.name !== 'a'
        const tally = { passed: ok ? 1 : 0, failed: ok ? 0 : 1, skipped: 0 }
        return report.add(step, '/log', { tally, output: '', events: [] }, '1 s')
      },
      (step, because) => report.drop(step, because),
    )
    assert.deepEqual(ran, ['a', 'd'])
    assert.equal(report.end(), false)
    assert.equal(lines.at(-1), '1 passed, 3 failed')
    await assert.rejects(
      schedule(
        [{ name: 'a', needs: ['z'] }],
        () => true,
        async () => true,
        () => {},
      ),
      /needed by a/,
    )
  })

  it('divides tests into steps without losing one', () => {
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
        const sums = dealt.map(share => share.reduce((sum, { weight }) => sum + weight, 0))
        assert.ok(Math.max(...sums) - Math.min(...sums) <= Math.max(0, ...all))
      }),
    )
  })
})
