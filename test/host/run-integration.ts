// Runs the integration tests in the extension host of a real VS Code, behind its workbench in a browser:
//   tsx test/host/run-integration.ts [--floor] [--grep TEXT] [--retries N] [--verbose] [FILE…]
// Requires the VSIX (`npm run package`) and the compiled tests (`node esbuild.mjs --tests`).
import { join } from 'node:path'
import { format, parseArgs } from 'node:util'
import { type IntegrationOptions, optionsVariable } from '../integration/options.ts'
import { eventsVariable, TestEvents } from '../run/test-events.ts'
import { exitOnSignals } from './at-exit.ts'
import { launchBrowser, newContext, type OpenedPage, openPage } from './browser.ts'
import { installVsCode } from './install-vscode.ts'
import { integrationSettings } from './integration-settings.ts'
import { IsolatedRoot } from './isolated-root.ts'
import { outDirectory, testDirectory, vsixFile } from './paths.ts'
import { reportResults } from './report-results.ts'
import { installVsix, startServer } from './server.ts'
import { ensureBrowserPackages } from './system-packages.ts'
import { current, floor } from './vscode-versions.ts'

const { values: options, positionals: files } = parseArgs({
  allowPositionals: true,
  options: {
    floor: { type: 'boolean', default: false },
    grep: { type: 'string', default: '' },
    retries: { type: 'string', default: '0' },
    verbose: { type: 'boolean', default: false },
  },
})
const asked: IntegrationOptions = { grep: options.grep, retries: Number(options.retries), files }
const timeout = 1_200_000
exitOnSignals()

const [vscode] = await Promise.all([installVsCode(options.floor ? floor : current), ensureBrowserPackages()])
const root = new IsolatedRoot()
root.updateSettings(integrationSettings)
// those of the whole run, if this is a step of it
const events = process.env[eventsVariable] ?? join(root.directory, 'events')
await installVsix(vscode, root, vsixFile)
const server = await startServer(vscode, root, {
  testDriver: true,
  env: { [eventsVariable]: events, [optionsVariable]: JSON.stringify(asked) },
})
let exit: string | undefined
try {
  const browser = await launchBrowser()
  try {
    exit = await runSuite(browser)
    // VS Code gives an extension host a minute to start, which a busy machine may need
    if (exit !== '0' && new TestEvents(events).next().length === 0) {
      console.log('No test had started, so VS Code is opened once more')
      exit = await runSuite(browser)
    }
  } finally {
    await browser.close()
  }
} finally {
  await server.stop()
  const well = reportResults(events)
  root.remove()
  if (exit !== '0' || !well) process.exitCode = 1
}

/** Resolves to the exit code that VS Code reports, or to what went wrong. */
async function runSuite(browser: Awaited<ReturnType<typeof launchBrowser>>): Promise<string> {
  const context = await newContext(browser)
  let opened: OpenedPage | undefined
  const exit = await new Promise<string>((resolve, reject) => {
    setTimeout(resolve, timeout, `no end within ${timeout / 1000} s`).unref()
    openPage(context, server, {
      workspace: root.copyWorkspace(join(testDirectory, 'fixtures/workspace/sample.code-workspace')),
      payload: [
        ['extensionDevelopmentPath', server.uri(join(testDirectory, 'integration/host-extension'))],
        ['extensionTestsPath', server.uri(join(outDirectory, 'test/integration/index.cjs'))],
        ['skipWelcome', 'true'],
        ['skipReleaseNotes', 'true'],
      ],
      // Registered before the page loads, so that no message is missed.
      async prepare(page) {
        page.on('crash', () => resolve('the page crashed'))
        await page.exposeFunction('codeAutomationExit', (code: number) => resolve(String(code)))
        await page.exposeFunction('codeAutomationLog', (_type: string, values: unknown[]) => {
          if (options.verbose) console.log(format(...values))
        })
      },
    }).then(page => {
      opened = page
    }, reject)
  })
  if (exit !== '0') {
    console.log(`VS Code ended the suite with: ${exit}`)
    console.log([...(opened?.console.slice(-40) ?? []), server.log.slice(-3000)].join('\n'))
    await opened?.page.screenshot({ path: join(outDirectory, `integration-${vscode.version.name}.png`) })
  }
  await context.close()
  return exit
}
