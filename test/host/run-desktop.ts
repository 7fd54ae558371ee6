// Runs the integration tests in a desktop VS Code, which is downloaded to `.vscode-test` if necessary:
//   tsx test/host/run-desktop.ts [--version 1.103.2] [--grep TEXT] [--retries N] [FILE…]
// Requires the VSIX (`npm run package`) and the compiled tests (`node esbuild.mjs --tests`).
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { downloadAndUnzipVSCode, runTests, runVSCodeCommand } from '@vscode/test-electron'
import { type IntegrationOptions, optionsVariable } from '../integration/options.ts'
import { eventsVariable } from '../run/test-events.ts'
import { integrationSettings } from './integration-settings.ts'
import { IsolatedRoot } from './isolated-root.ts'
import { outDirectory, testDirectory, vsixFile } from './paths.ts'
import { reportResults } from './report-results.ts'

const { values: options, positionals: files } = parseArgs({
  allowPositionals: true,
  options: {
    version: { type: 'string', default: 'stable' },
    grep: { type: 'string', default: '' },
    retries: { type: 'string', default: '0' },
  },
})
const asked: IntegrationOptions = { grep: options.grep, retries: Number(options.retries), files }

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
  // those of the whole run, if this is a step of it
  const events = process.env[eventsVariable] ?? join(root.directory, 'events')
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
      extensionTestsEnv: { [eventsVariable]: events, [optionsVariable]: JSON.stringify(asked) },
    })
    return reportResults(events)
  } catch (error) {
    console.error(error)
    reportResults(events)
    return false
  } finally {
    root.remove()
  }
}
