import { readdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import { projectDirectory } from '../host/paths.ts'
import { installVsCodeNode } from '../host/vscode-node.ts'

/** The tests of one folder, which run in the same way. */
export interface Lane {
  name: string
  /** Below the project's folder, with a slash at the end. */
  folder: string
  /** The Node that runs it, if it isn't this process's. */
  node?: () => Promise<string>
  /** The program and its arguments, for that Node, that runs some files of the lane; `retries` of a failed test. */
  run(files: readonly string[], retries: number): string[]
  /** The command that runs one test, once everything is built. */
  alone(file: string, title: string): string
  /** Setup steps that must have passed. */
  needs: string[]
}

/** The name of the step that installs VS Code's Node. */
export const VSCODE_NODE = "install VS Code's Node"

const mocha = 'node_modules/mocha/bin/mocha.js'
export const tsx = 'node_modules/tsx/dist/cli.mjs'

/** A lane whose files Mocha runs in VS Code's Node, which has SQLite, and starts in a third of the time of older ones. */
function mochaLane(name: string, folder: string, needs: string[], options: string[] = []): Lane {
  return {
    name,
    folder,
    needs,
    node: installVsCodeNode,
    run: (files, retries) => [
      mocha,
      ...['--forbid-only', '--no-color', '--retries', `${retries}`],
      ...options,
      ...files,
    ],
    alone: (file, title) => ['npx mocha', ...options, file, '-f', quote(title)].join(' '),
  }
}

export function createLanes(inBrowser: boolean, version: { current: string; floor: string }): Lane[] {
  const integration = (name: string, program: string, options: string[], needs: string[]): Lane => ({
    name,
    folder: 'test/integration/',
    needs: ['package', 'compile the integration suite', ...needs],
    run: (files, retries) => [tsx, program, '--retries', `${retries}`, ...options, ...files],
    alone: (file, title) => ['npx tsx', program, ...options, '--grep', quote(title), file].join(' '),
  })
  const inWorkbench = (name: 'current' | 'floor', options: string[]) =>
    integration(`integration in VS Code ${version[name]}`, 'test/host/run-integration.ts', options, [
      'install the browser',
      `install VS Code ${version[name]}`,
    ])
  return [
    ...(inBrowser
      ? [
          mochaLane(
            'UI',
            'test/ui/',
            ['package', 'compile the workbenches'],
            ['--timeout', '480000', '--slow', '20000'],
          ),
          // the built webviews and the extension in plain Node, without a workbench
          mochaLane(
            'page',
            'test/page/',
            ['package', 'install the browser', `install VS Code ${version.current}`],
            ['--timeout', '180000', '--slow', '5000'],
          ),
          inWorkbench('current', []),
          inWorkbench('floor', ['--floor']),
        ]
      : [integration('integration in the desktop VS Code', 'test/host/run-desktop.ts', [], [])]),
    {
      name: 'agents',
      folder: 'test/agents/',
      needs: ['package'],
      run: (files, retries) => [
        ...[tsx, 'test/agents/run.ts', '--retries', `${retries}`],
        ...files.map(suiteOf),
      ],
      alone: (file, title) => `npm run test:agents -- --grep ${quote(title)} ${suiteOf(file)}`,
    },
    {
      ...mochaLane('unit', 'test/unit/', [VSCODE_NODE]),
      alone: (file, title) => `npm run test:unit -- ${file} -f ${quote(title)}`,
    },
    mochaLane('package content', 'test/package/', ['package']),
  ]
}

/** The name of the suite of an agent's test file. */
const suiteOf = (file: string) => basename(file, '.test.ts')

const quote = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`

/** The files of a lane with tests, below the project's folder. */
export function testFiles({ folder }: Lane): string[] {
  return readdirSync(join(projectDirectory, folder), { recursive: true, encoding: 'utf8' })
    .filter(file => /\.test\.tsx?$/.test(file))
    .map(file => folder + file.replaceAll('\\', '/'))
    .sort()
}
