import { installVsCode } from '../host/install-vscode.ts'
import { ensureBrowserPackages } from '../host/system-packages.ts'
import { installVsCodeNode } from '../host/vscode-node.ts'
import { current, floor } from '../host/vscode-versions.ts'
import { compiledWorkbench } from '../host/workbench-browser.ts'
import { divideEvenly } from './divide-evenly.ts'
import { expectDurations } from './durations.ts'
import { createLanes, type Lane, testFiles, tsx, VSCODE_NODE } from './lanes.ts'

/** One step of the whole run. */
export interface Step {
  name: string
  /**
   * check: passes or fails as a whole · suite: its output ends with a tally ·
   * setup: counts only if it fails
   */
  kind: 'check' | 'suite' | 'setup'
  /** A program of this project with its arguments, run by the lane's Node; or a function in this process. */
  run: string[] | (() => Promise<unknown>)
  /** The steps that must have passed before. */
  needs: string[]
  /** Of a suite. */
  lane?: Lane
  /** Variables in addition to this process's. */
  env?: NodeJS.ProcessEnv
}

/**
 * How much is run. quick: what plain Node shows without other programs, for each commit · normal: everything that shows that the
 * product works · all: in addition what takes hours, for each night
 */
export type Tier = 'quick' | 'normal' | 'all'

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

/** Some files of a lane, divided into steps that take about the same time. */
function suites(
  lane: Lane,
  count: number,
  files: readonly string[],
  { name = lane.name, env = {} }: { name?: string; env?: NodeJS.ProcessEnv } = {},
): Step[] {
  return divideEvenly(files, count, expectDurations(files)).map((share, index) => ({
    ...whole(lane, share),
    name: count === 1 ? name : `${name}, ${index + 1} of ${count}`,
    env,
  }))
}

/** A lane as one step. */
function whole(lane: Lane, files: readonly string[] = []): Step {
  const { name, needs } = lane
  return { name, kind: 'suite', run: lane.run(files, RETRIES), needs, lane }
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
    ...['acp/hostile-', 'acp/start-', 'acp/transport/agent-process', 'app/.*(worktree|compare)'],
    ...['editor/(git|files/|terminals/|worktrees/)', 'history/full-disk', 'mcp/(bridge|check-server)'],
    ...['repository/', 'sessions/(crash|change-detector|hosted-|permission-rules/|runners/)'],
  ].join('|')})`,
)

/** The states of the pages in all themes, widths and languages, which are far more than `npm test` looks at. */
const LAYOUT = 'test/page/layout-states.test.ts'

/** The steps of a lane. There are more of them than run at once, so that all end at about the same time. */
function stepsOf(lane: Lane, tier: Tier, env: NodeJS.ProcessEnv): Step[] {
  const files = testFiles(lane)
  switch (lane.name) {
    case 'UI':
      return suites(lane, 5, files)
    case 'page':
      return tier === 'all'
        ? [
            ...suites(lane, 1, [LAYOUT], { name: 'layout', env: { PARLEY_LAYOUT: 'all' } }),
            ...suites(
              lane,
              4,
              files.filter(file => file !== LAYOUT),
            ),
          ]
        : suites(lane, 4, files)
    case `integration in VS Code ${floor.version}`: {
      const step = whole(lane)
      if (tier === 'all' || !Array.isArray(step.run)) return [step]
      // those that depend on how VS Code's API works
      return [{ ...step, run: [...step.run, '--grep', '@floor'] }]
    }
    case 'unit':
      return [
        ...(tier === 'quick'
          ? []
          : suites(
              lane,
              6,
              files.filter(file => startsPrograms.test(file)),
              { name: 'unit, programs', env },
            )),
        ...suites(
          lane,
          2,
          files.filter(file => !startsPrograms.test(file)),
          { env },
        ),
      ]
    case 'package content':
      return [whole(lane, files)]
    default:
      return [whole(lane)]
  }
}

/** What must have passed before the tests of some lanes. */
export const setupSteps: readonly Step[] = [
  setup(VSCODE_NODE, installVsCodeNode),
  ...(inBrowser ? browserSteps : []),
  setup('package', [tsx, 'test/package/package.ts'], inBrowser ? [`install VS Code ${current.version}`] : []),
  setup('compile the integration suite', ['esbuild.mjs', '--tests']),
]

const checks: readonly Step[] = [
  check('types', [typescript, '-p', '.']),
  check('types of the webview', [typescript, '-p', 'src/webview']),
  check('types of the webview tests', [typescript, '-p', 'test/unit/webview']),
  check('lint and format', [biome, 'ci', '--colors=off', '.']),
  check('unused code', [knip, '--no-progress']),
]

/** The steps of a tier, the longest first among steps with the same needs. `seed` selects the cases of property tests in `all`. */
export function stepsOfTier(tier: Tier, seed: number): Step[] {
  const unit = lanes.filter(({ name }) => name === 'unit')
  if (tier === 'quick') return neededBy([...unit.flatMap(lane => stepsOf(lane, tier, {})), ...checks])
  const many = tier === 'all' ? { PARLEY_RUNS: '2000', PARLEY_SEED: `${seed}` } : {}
  return [
    ...setupSteps,
    ...lanes.flatMap(lane => stepsOf(lane, tier, many)),
    ...(tier === 'all' ? [check('mutation', [tsx, 'test/mutation/main.ts'])] : []),
    ...checks,
  ]
}

/** The steps with the setup that they need. */
function neededBy(steps: readonly Step[]): Step[] {
  const needs = steps.flatMap(step => step.needs)
  return [...onlySteps(setupSteps, needs), ...steps]
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
