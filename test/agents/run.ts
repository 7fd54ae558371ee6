// Runs real agents with Parley's own code and a model on loopback: npm run test:agents -- [agent or suite…] [--grep TEXT]
// Installs them first if necessary (PARLEY_AGENTS_CACHE, or ~/.cache/parley-agents).
import { availableParallelism } from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { forEachConcurrent } from '../../src/common/async.ts'
import { exitOnSignals } from '../host/at-exit.ts'
import { runStep } from '../run/run-step.ts'
import { addTallies, formatTally, type Tally } from '../run/tally.ts'
import { installAgent, SUITES } from './install.ts'
import { PROJECT } from './paths.ts'

exitOnSignals()
const since = performance.now()
const seconds = () => `${((performance.now() - since) / 1000).toFixed(1)} s`
const { values: options, positionals: wanted } = parseArgs({
  allowPositionals: true,
  options: { grep: { type: 'string', default: '' }, retries: { type: 'string', default: '0' } },
})
const suites = Object.entries(SUITES).filter(
  ([suite, agent]) => wanted.length === 0 || wanted.includes(suite) || wanted.includes(agent),
)

/** They wait for their agents' own timers much of the time, but an agent that gets no processor for a minute fails its suite. */
const CONCURRENT = 2 * Math.max(2, availableParallelism())

const tallies: Tally[] = []
await forEachConcurrent(suites, CONCURRENT, async suite => {
  tallies.push(await test(suite))
})
const total = addTallies(tallies)
console.log(`real agents in ${seconds()}`)
if (total.failed > 0 || total.passed === 0) process.exitCode = 1
console.log(formatTally(total))

/** Installs and tests a suite. Suites share nothing. */
async function test([name, agent]: (typeof suites)[number]): Promise<Tally> {
  try {
    if (agent !== 'registry') await installAgent(agent)
  } catch (error) {
    console.log(`✖ ${agent} could not be installed: ${error instanceof Error ? error.message : error}`)
    return { passed: 0, failed: 1, skipped: 0 }
  }
  const mocha = path.join(PROJECT, 'node_modules/mocha/bin/mocha.js')
  const config = path.join(PROJECT, 'test/agents/.mocharc.json')
  const { tally, output } = await runStep({
    name,
    kind: 'suite',
    run: [
      ...[mocha, '--forbid-only', '--no-color', '--retries', options.retries, '--config', config],
      ...(options.grep === '' ? [] : ['--fgrep', options.grep]),
      `test/agents/${name}.test.ts`,
    ],
    needs: [],
  })
  console.log(`${output.trimEnd()}\n(${name}, at ${seconds()})\n`)
  return tally
}
