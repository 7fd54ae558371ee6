// Starts VS Code with the packaged Parley and a sample workspace, and runs until Ctrl+C:
//   npm start [-- --web [--port 8080]]
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { atExit, exitOnSignals } from './at-exit.ts'
import { workbenchAddress } from './browser.ts'
import { findDesktop, openDesktop } from './desktop.ts'
import { installVsCode } from './install-vscode.ts'
import { IsolatedRoot } from './isolated-root.ts'
import { projectDirectory, testDirectory, vsixFile } from './paths.ts'
import { runCommand } from './run-command.ts'
import { installVsix, startServer } from './server.ts'
import { current } from './vscode-versions.ts'
import { touchWorkspaceFile } from './workspace-file.ts'

const { values: options } = parseArgs({
  options: { web: { type: 'boolean', default: false }, port: { type: 'string' } },
})
exitOnSignals()

console.log('Packaging Parley…')
const tsx = join(projectDirectory, 'node_modules/tsx/dist/cli.mjs')
await runCommand(process.execPath, [tsx, 'test/package/package.ts'], { cwd: projectDirectory })

const root = new IsolatedRoot()
// as users have it: they may act before the page has loaded
root.updateSettings({
  'workbench.quickOpen.closeOnFocusLost': undefined,
  'parley.keepAgentsRunning': undefined,
})
// an agent that works without any setup
root.updateSettings({ 'parley.defaultAgent': 'demo' })
const workspace = root.copyWorkspace(join(testDirectory, 'fixtures/workspace/sample.code-workspace'))
const desktop = options.web ? undefined : await findDesktop()
if (desktop) {
  console.log('Opening VS Code with a profile of its own. This command ends when its window is closed.')
  await openDesktop(desktop, root, vsixFile, workspace)
  root.remove()
} else {
  console.log(`Preparing VS Code ${current.version} for the browser (half a minute or so, the first time)…`)
  const vscode = await installVsCode(current)
  await installVsix(vscode, root, vsixFile)
  const server = await startServer(vscode, root, options.port ? { port: Number(options.port) } : {})
  // A new window may need this at any time.
  const touching = setInterval(touchWorkspaceFile, 2000, workspace)
  atExit(() => clearInterval(touching))
  console.log(`\nOpen ${workbenchAddress(server, { workspace })}`)
  console.log('Parley is in the activity bar, on the left. Press Ctrl+C to end.')
}
