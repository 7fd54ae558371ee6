import { statSync } from 'node:fs'
import { join } from 'node:path'
import { installVsCode } from '../host/install-vscode.ts'
import { projectDirectory } from '../host/paths.ts'
import { ensureBrowserPackages } from '../host/system-packages.ts'
import { current, floor } from '../host/vscode-versions.ts'
import { compiledWorkbench } from '../host/workbench-browser.ts'
import { divideEvenly } from './divide-evenly.ts'
import { createLanes, type Lane, testFiles, tsx } from './lanes.ts'

/** One step of the whole run. */
export interface Step {
  name: string
  /**
   * check: passes or fails as a whole · suite: its output ends with a tally ·
   * setup: counts only if it fails
   */
  kind: 'check' | 'suite' | 'setup'
  /** A program of this project with its arguments, run by this Node; or a function in this process. */
  run: string[] | (() => Promise<unknown>)
  /** The steps that must have passed before. */
  needs: string[]
  /** Of a suite. */
  lane?: Lane
}

const typescript = 'node_modules/typescript/bin/tsc'
const knip = 'node_modules/knip/bin/knip.js'
const biome = 'node_modules/@biomejs/biome/bin/biome'

const setup = (name: string, run: Step['run'], needs: string[] = []): Step => ({
  name,
  kind: 'setup',
  run,
  needs,
})
const check = (name: string, run: Step['run']): Step => ({ name, kind: 'check', run, needs: [] })

/** Whether a real VS Code runs in a browser on this machine. */
const inBrowser = process.platform === 'linux' && process.arch === 'x64'
export const lanes = createLanes(inBrowser, { current: current.version, floor: floor.version })

/** A failed test is tried once more; the run decides what it means if it passes then. */
const RETRIES = 1

/** A real VS Code in a browser. */
const browserSteps: Step[] = [
  setup('install the browser', ensureBrowserPackages),
  setup(`install VS Code ${current.version}`, () => installVsCode(current)),
  setup(`install VS Code ${floor.version}`, () => installVsCode(floor)),
  setup('compile the workbenches', async () => {
    for (const version of [current, floor]) await compiledWorkbench(await installVsCode(version))
  }, ['install the browser', ...[current, floor].map(({ version }) => `install VS Code ${version}`)]),
]

/** The tests of a lane, divided into steps that take about the same time. */
function suites(lane: Lane, count: number, files?: readonly string[], name = lane.name): Step[] {
  const { needs } = lane
  if (count === 1) return [{ name, kind: 'suite', run: lane.run(files ?? [], RETRIES), needs, lane }]
  const size = (file: string) => statSync(join(projectDirectory, file)).size
  return divideEvenly(files ?? testFiles(lane), count, size).map((share, index) => ({
    name: `${name}, ${index + 1} of ${count}`,
    kind: 'suite',
    run: lane.run(share, RETRIES),
    needs,
    lane,
  }))
}

/**
 * The unit tests that start many programs. To start one, the system copies the memory map of the process: 4 ms in a
 * process of 100 MB, 20 ms in one that has loaded all tests. So these tests have small processes of their own, as has one
 * that measures memory.
 */
const startsPrograms = new RegExp(
  `^test/unit/(${[
    ...[
      'agent-host/',
      'agents/',
      'changes/(change-tracker|checkpoints|git|repository|work-tree)',
      'common/processes/',
      'contracts/',
      'fixture-agent/',
    ],
    ...['acp/start-', 'acp/transport/agent-process', 'app/.*(worktree|compare)'],
    ...['editor/(git|files/|terminals/|worktrees/)', 'history/full-disk', 'mcp/(bridge|check-server)'],
    ...['repository/', 'sessions/(crash|detect-changes|hosted-|permission-rules/)'],
  ].join('|')})`,
)

/** The steps of a lane. There are more of them than run at once, so that all end at about the same time. */
function stepsOf(lane: Lane): Step[] {
  const files = testFiles(lane)
  switch (lane.name) {
    case 'UI':
      return suites(lane, 8)
    case 'page':
      return suites(lane, 4)
    case 'unit':
      return [
        ...suites(
          lane,
          6,
          files.filter(file => startsPrograms.test(file)),
          'unit, programs',
        ),
        ...suites(
          lane,
          2,
          files.filter(file => !startsPrograms.test(file)),
        ),
      ]
    case 'package content':
      return suites(lane, 1, files)
    default:
      return suites(lane, 1)
  }
}

/** What must have passed before the tests of some lanes. */
export const setupSteps: readonly Step[] = [
  ...(inBrowser ? browserSteps : []),
  setup('package', [tsx, 'test/package/package.ts'], inBrowser ? [`install VS Code ${current.version}`] : []),
  setup('compile the integration suite', ['esbuild.mjs', '--tests']),
]

/** Everything that `npm test` runs, the longest first among steps with the same needs. */
export function allSteps(): Step[] {
  return [
    ...setupSteps,
    ...lanes.flatMap(stepsOf),
    check('types', [typescript, '-p', '.']),
    check('types of the webview', [typescript, '-p', 'src/webview']),
    check('lint and format', [biome, 'ci', '--colors=off', '.']),
    check('unused code', [knip, '--no-progress']),
  ]
}

/** Those of the steps whose names start with one of the words, and what they need. */
export function onlySteps(steps: readonly Step[], words: readonly string[]): Step[] {
  const wanted = new Set<Step>()
  const add = (step: Step) => {
    wanted.add(step)
    for (const need of step.needs) add(steps.find(({ name }) => name === need)!)
  }
  for (const word of words) {
    const named = steps.filter(({ name }) => name.toLowerCase().startsWith(word.toLowerCase()))
    if (named.length === 0)
      throw new Error(`No step is named ${word}. They are:\n${steps.map(({ name }) => name).join('\n')}`)
    named.forEach(add)
  }
  return steps.filter(step => wanted.has(step))
}
