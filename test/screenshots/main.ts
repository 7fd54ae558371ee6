// Takes screenshots of every state of the views in a real VS Code with the packaged extension, for people to check:
//   npm run screenshots [-- --theme dark,solarizedLight --only '^history' --width 280 --zoom 2 --language zh-cn --scale 2]
// They are saved to out/screenshots, one for each state and theme. States that can't be reached are listed at the end.
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
import { Workbench } from '../host/workbench.ts'
import type { TestLanguage } from '../support/longer-texts.ts'
import type { AgentSetting } from '../ui/support/fixture-agent.ts'
import { screenshotAgents } from './agents.ts'
import { aroundStates } from './around-states.ts'
import { filmStates } from './film-states.ts'
import { firstStates } from './first-states.ts'
import { translateLocators } from './in-language.ts'
import { looks, selectedLooks } from './looks.ts'
import { readmeAgents } from './readme-agents.ts'
import { readmeStates } from './readme-states.ts'
import { states } from './states.ts'
import { type State, Studio } from './studio.ts'
import { transcriptStates } from './transcript-states.ts'
import { workStates } from './work-states.ts'

const { values: options } = parseArgs({
  options: {
    theme: { type: 'string' },
    only: { type: 'string', default: '' },
    width: { type: 'string', default: '400' },
    zoom: { type: 'string', default: '1' },
    scale: { type: 'string', default: '1' },
    language: { type: 'string' },
  },
})
const names = selectedLooks(options.theme)
const wanted = new RegExp(options.only)
const [width, zoom, scale] = [options.width, options.zoom, options.scale].map(Number) as [
  number,
  number,
  number,
]
const inLanguage = options.language as TestLanguage | undefined

exitOnSignals()
const tsx = join(projectDirectory, 'node_modules/tsx/dist/cli.mjs')
await runCommand(process.execPath, [tsx, 'test/package/package.ts'], { cwd: projectDirectory })
if (process.argv.length <= 2) rmSync(join(outDirectory, 'screenshots'), { recursive: true, force: true })

const missed: string[] = []
const vscode = await installVsCode(current)
const all = [...states, ...workStates, ...aroundStates, ...transcriptStates]
for (const name of names) {
  await photograph(name, firstStates, () => ({}), { workspaceTrust: true })
  await photograph(name, all, screenshotAgents)
  await photograph(name, readmeStates, readmeAgents)
  await photograph(name, filmStates, readmeAgents)
}
for (const line of missed) console.error(line)
// the model for the README's agents is still listening
process.exit(missed.length > 0 ? 1 : 0)

/** Each run has its own server, so that it isn't affected by the previous one. */
async function photograph(
  name: string,
  from: State[],
  agents: (root: IsolatedRoot) => Record<string, AgentSetting> | Promise<Record<string, AgentSetting>>,
  { workspaceTrust = false } = {},
): Promise<void> {
  const taken = from.filter(state => wanted.test(state.name))
  if (taken.length === 0) return
  const root = new IsolatedRoot()
  const workspace = root.copyWorkspace(join(testDirectory, 'fixtures/workspace/sample.code-workspace'))
  root.updateSettings({
    // hides what appears temporarily next to the views
    'typescript.disableAutomaticTypeAcquisition': true,
    'editor.lightbulb.enabled': 'off',
    'security.workspace.trust.startupPrompt': 'never',
    'workbench.editor.useModal': 'off',
    'parley.changes.codeLens': true,
    'parley.agents': await agents(root),
    'parley.permissionRules': [{ command: 'git *', action: 'allow' }],
  })
  await installVsix(vscode, root, vsixFile)
  const server = await startServer(vscode, root, { env: { PARLEY_DEMO_PACE: '0' }, workspaceTrust })
  const browser = await launchBrowser()
  try {
    const workbench = await Workbench.open(browser, server, {
      workspace,
      // leaves less space, like VS Code's zoom; the banner of Restricted Mode gets extra height
      viewport: {
        width: Math.max(1400 / zoom, width + 300),
        height: 900 / zoom + (workspaceTrust ? 30 : 0),
      },
      scale: zoom * scale,
      prepare: async page => {
        if (!inLanguage) return
        // set like a display language, without a language pack, which would also translate the workbench
        await page.addInitScript(`globalThis._VSCODE_NLS_LANGUAGE = ${JSON.stringify(inLanguage)}`)
      },
    })
    await workbench.setTheme(looks[name]!)
    if (inLanguage) translateLocators(workbench.page, inLanguage)
    const studio = new Studio(workbench, suffix(name), width)
    await workbench.openViewContainer('Parley')
    await studio.resetWidth()
    for (const state of taken)
      await state.take(studio).then(
        () => console.log(`${suffix(name)}: ${state.name}`),
        async (error: Error) => {
          missed.push(`${suffix(name)}: ${state.name}: ${error.message.split('\n', 1)[0]}`)
          console.log(`missed ${state.name}`)
          await studio.captureWindow(`missed-${state.name}`).catch(() => {})
        },
      )
    await workbench.close()
  } finally {
    await browser.close()
    await server.stop()
    root.remove()
  }
}

/** The suffix that distinguishes the screenshots of this run. */
function suffix(name: string): string {
  const unusual = [
    width === 400 ? '' : `${width}px`,
    zoom === 1 ? '' : `zoom-${zoom}`,
    inLanguage ?? '',
  ].filter(Boolean)
  return [name, ...unusual].join('-')
}
