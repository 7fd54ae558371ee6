// Takes pictures of every state of the views, in a real VS Code with the packaged extension, for people to look at:
//   npm run screenshots [-- --theme dark --only '^history']
// They are put into out/screenshots, one for each state and theme. A state that cannot be reached is named at the end.
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { exitOnSignals } from '../host/at-exit.ts'
import { launchBrowser } from '../host/browser.ts'
import { installVsCode } from '../host/install-vscode.ts'
import { IsolatedRoot } from '../host/isolated-root.ts'
import { outDirectory, projectDirectory, testDirectory, vsixFile } from '../host/paths.ts'
import { runCommand } from '../host/run-command.ts'
import { installVsix, startServer } from '../host/server.ts'
import { current } from '../host/vscode-versions.ts'
import { type ThemeKind, themes, Workbench } from '../host/workbench.ts'
import { shownAgents } from './agents.ts'
import { states } from './states.ts'
import { Studio } from './studio.ts'

const { values: options } = parseArgs({
  options: { theme: { type: 'string' }, only: { type: 'string', default: '' } },
})
const kinds = (Object.keys(themes) as ThemeKind[]).filter(kind => !options.theme || kind === options.theme)
if (kinds.length === 0)
  throw new Error(`There is no theme ${options.theme}; there are: ${Object.keys(themes).join(', ')}`)
const wanted = new RegExp(options.only)

exitOnSignals()
const tsx = join(projectDirectory, 'node_modules/tsx/dist/cli.mjs')
await runCommand(process.execPath, [tsx, 'test/package/package.ts'], { cwd: projectDirectory })
if (!options.only && !options.theme)
  rmSync(join(outDirectory, 'screenshots'), { recursive: true, force: true })

const missed: string[] = []
const vscode = await installVsCode(current)
for (const kind of kinds) await photograph(kind)
for (const line of missed) console.error(line)
if (missed.length > 0) process.exitCode = 1

/** Each theme has a server of its own: nothing that one run left shows in the next. */
async function photograph(kind: ThemeKind): Promise<void> {
  const root = new IsolatedRoot()
  const workspace = root.copyWorkspace(join(testDirectory, 'fixtures/workspace/sample.code-workspace'))
  root.updateSettings({ 'parley.agents': shownAgents(root) })
  await installVsix(vscode, root, vsixFile)
  const server = await startServer(vscode, root, { env: { PARLEY_DEMO_PACE: '0' } })
  const browser = await launchBrowser()
  try {
    const workbench = await Workbench.open(browser, server, { workspace })
    await workbench.setTheme(kind)
    await workbench.openViewContainer('Parley')
    await workbench.setSideBarWidth(400)
    const studio = new Studio(workbench, kind)
    for (const state of states) {
      if (!wanted.test(state.name)) continue
      await state.take(studio).then(
        () => console.log(`${kind}: ${state.name}`),
        async (error: Error) => {
          missed.push(`${kind}: ${state.name}: ${error.message.split('\n', 1)[0]}`)
          await studio.window(`missed-${state.name}`).catch(() => {})
        },
      )
    }
    await workbench.close()
  } finally {
    await browser.close()
    await server.stop()
    root.remove()
  }
}
