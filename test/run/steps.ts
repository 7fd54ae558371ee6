import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { installVsCode } from '../host/install-vscode.ts'
import { projectDirectory } from '../host/paths.ts'
import { ensureBrowserPackages } from '../host/system-packages.ts'
import { current, floor } from '../host/vscode-versions.ts'
import { compiledWorkbench } from '../host/workbench-browser.ts'
import { divideEvenly } from './divide-evenly.ts'

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
}

const typescript = 'node_modules/typescript/bin/tsc'
const mocha = 'node_modules/mocha/bin/mocha.js'
const tsx = 'node_modules/tsx/dist/cli.mjs'
/** A failed test is tried once more, and `all.ts` decides what that means if it passes then. */
const strict = ['--forbid-only', '--no-color', '--retries', '1']
const knip = 'node_modules/knip/bin/knip.js'
const biome = 'node_modules/@biomejs/biome/bin/biome'

const setup = (name: string, run: Step['run'], needs: string[] = []): Step => ({
  name,
  kind: 'setup',
  run,
  needs,
})
const check = (name: string, run: Step['run']): Step => ({ name, kind: 'check', run, needs: [] })
const suite = (name: string, run: Step['run'], needs: string[] = []): Step => ({
  name,
  kind: 'suite',
  run,
  needs,
})

/** A real VS Code in a browser, if the machine supports it. */
const browserSteps: Step[] = [
  setup('install the browser', ensureBrowserPackages),
  setup(`install VS Code ${current.version}`, () => installVsCode(current)),
  setup(`install VS Code ${floor.version}`, () => installVsCode(floor)),
  setup('compile the workbenches', async () => {
    for (const version of [current, floor]) await compiledWorkbench(await installVsCode(version))
  }, ['install the browser', ...[current, floor].map(({ version }) => `install VS Code ${version}`)]),
]
/** The files of Mocha's suites in a folder. */
function testFiles(folder: string): string[] {
  return readdirSync(join(projectDirectory, folder), { recursive: true, encoding: 'utf8' })
    .filter(file => /\.test\.tsx?$/.test(file))
    .map(file => join(folder, file))
}

/** Mocha's suites, divided into steps that take about the same time. */
function mochaSuites(
  name: string,
  files: readonly string[],
  count: number,
  options: string[],
  needs: string[],
): Step[] {
  const size = (file: string) => statSync(join(projectDirectory, file)).size
  return divideEvenly(files, count, size).map((share, index, all) =>
    suite(`${name}, ${index + 1} of ${all.length}`, [mocha, ...strict, ...options, ...share], needs),
  )
}

/**
 * There are more steps than lanes, so that all lanes end at about the same time. A busy machine takes several times as long
 * as a quiet one.
 */
const uiSuites = mochaSuites(
  'UI',
  testFiles('test/ui'),
  8,
  ['--timeout', '240000', '--slow', '20000'],
  ['package', 'compile the workbenches'],
)
/** The built webviews and the extension in plain Node, without a workbench. */
const pageSuites = mochaSuites(
  'page',
  testFiles('test/page'),
  4,
  ['--timeout', '180000', '--slow', '5000'],
  ['package', 'install the browser', `install VS Code ${current.version}`],
)
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
const unitFiles = testFiles('test/unit')
const unitSuites = [
  ...mochaSuites(
    'unit, programs',
    unitFiles.filter(file => startsPrograms.test(file)),
    6,
    [],
    [],
  ),
  ...mochaSuites(
    'unit',
    unitFiles.filter(file => !startsPrograms.test(file)),
    2,
    [],
    [],
  ),
]
const browserSuites: Step[] = [
  ...uiSuites,
  ...pageSuites,
  suite(
    `integration in VS Code ${current.version}`,
    [tsx, 'test/host/run-integration.ts'],
    ['package', 'compile the integration suite', 'install the browser', `install VS Code ${current.version}`],
  ),
  suite(
    `integration in VS Code ${floor.version}`,
    [tsx, 'test/host/run-integration.ts', '--floor'],
    ['package', 'compile the integration suite', 'install the browser', `install VS Code ${floor.version}`],
  ),
]
const desktopSuites: Step[] = [
  suite(
    'integration in the desktop VS Code',
    [tsx, 'test/host/run-desktop.ts'],
    ['package', 'compile the integration suite'],
  ),
]

/** Everything that `npm test` runs, the longest first among steps with the same needs. */
export function allSteps(): Step[] {
  const inBrowser = process.platform === 'linux' && process.arch === 'x64'
  return [
    ...(inBrowser ? browserSteps : []),
    setup(
      'package',
      [tsx, 'test/package/package.ts'],
      inBrowser ? [`install VS Code ${current.version}`] : [],
    ),
    setup('compile the integration suite', ['esbuild.mjs', '--tests']),
    ...(inBrowser ? browserSuites : desktopSuites),
    suite('agents', [tsx, 'test/agents/run.ts'], ['package']),
    // the shortest last, so that all lanes end at about the same time
    ...unitSuites,
    suite('package content', [mocha, ...strict, 'test/package/**/*.test.ts'], ['package']),
    check('types', [typescript, '-p', '.']),
    check('types of the webview', [typescript, '-p', 'src/webview']),
    check('lint and format', [biome, 'ci', '--colors=off', '.']),
    check('unused code', [knip, '--no-progress']),
  ]
}
