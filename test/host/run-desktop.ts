// Runs the integration tests in a desktop VS Code, which is downloaded to `.vscode-test` if necessary:
//   tsx test/host/run-desktop.ts [--version 1.103.2] [--grep TEXT]
// Requires the VSIX (`npm run package`) and the compiled tests (`node esbuild.mjs --tests`).
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { downloadAndUnzipVSCode, runTests, runVSCodeCommand } from '@vscode/test-electron'
import { grepVariable, resultsVariable } from '../integration/results.ts'
import { integrationSettings } from './integration-settings.ts'
import { IsolatedRoot } from './isolated-root.ts'
import { outDirectory, testDirectory, vsixFile } from './paths.ts'
import { reportResults } from './report-results.ts'

const { values: options } = parseArgs({
  options: {
    version: { type: 'string', default: 'stable' },
    grep: { type: 'string', default: '' },
  },
})

if (process.platform === 'linux' && !process.env.DISPLAY && !process.env.WAYLAND_DISPLAY) runUnderXvfb()
else if (!(await runHere())) process.exitCode = 1

/** Runs this program again with a virtual display. */
function runUnderXvfb(): void {
  const child = spawn('xvfb-run', ['-a', process.execPath, ...process.execArgv, ...process.argv.slice(1)], {
    stdio: 'inherit',
  })
  child.on('error', error => {
    console.error(`There is no display here, and xvfb-run cannot be started (${error.message}).`)
    console.error('On Debian and Ubuntu it is in the package xvfb.')
    process.exitCode = 1
  })
  child.on('exit', code => {
    process.exitCode = code ?? 1
  })
}

async function runHere(): Promise<boolean> {
  const root = new IsolatedRoot()
  root.updateSettings(integrationSettings)
  const results = join(root.directory, 'results.json')
  try {
    const { version } = options
    const profile = [`--user-data-dir=${root.userData}`, `--extensions-dir=${root.extensions}`]
    const vscodeExecutablePath = await downloadAndUnzipVSCode(version)
    await runVSCodeCommand([...profile, '--install-extension', vsixFile, '--force'], { version })
    const workspace = root.copyWorkspace(join(testDirectory, 'fixtures/workspace/sample.code-workspace'))
    await runTests({
      vscodeExecutablePath,
      extensionDevelopmentPath: join(testDirectory, 'integration/host-extension'),
      extensionTestsPath: join(outDirectory, 'test/integration/index.cjs'),
      launchArgs: [workspace, ...profile],
      extensionTestsEnv: { [resultsVariable]: results, [grepVariable]: options.grep },
    })
    return reportResults(results)
  } catch (error) {
    console.error(error)
    reportResults(results)
    return false
  } finally {
    root.remove()
  }
}
