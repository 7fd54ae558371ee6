// Parley in a browser, for work on its pages: npm run playground
// Everything is real except VS Code, and the agents are those of the screenshots. What changes in `src/` is built and shown
// again at once.
import { spawn } from 'node:child_process'
import { watch } from 'node:fs'
import { join } from 'node:path'
import { exitOnSignals } from '../../host/at-exit.ts'
import { IsolatedRoot } from '../../host/isolated-root.ts'
import { projectDirectory, testDirectory } from '../../host/paths.ts'
import { screenshotAgents } from '../../screenshots/agents.ts'
import type { PlaygroundState } from './editor/options.ts'
import { ExtensionHost } from './extension-host.ts'

const PORT = 3210
/** A build writes several files. */
const SETTLED_MS = 500

exitOnSignals()
const root = new IsolatedRoot()
const agents = screenshotAgents(root)
root.updateSettings({ 'parley.agents': agents })
const demo = ['/tour', '/markdown', '/ask', '/visit', '/media', '/notice', '/fail', '/delegate', '/long 20']
const states: PlaygroundState[] = [
  ...demo.map(prompt => ({ title: `Demo Agent: ${prompt}`, agentId: 'demo', prompt })),
  ...Object.entries(agents).map(([agentId, { name }]) => ({
    title: name ?? agentId,
    agentId,
    prompt: agentId === 'fixture' ? '[[think of it]] [[plan 3]] [[tool a]] [[permissions 1]]' : 'Go',
  })),
]
const options = {
  extension: projectDirectory,
  userData: root.userData,
  workspace: root.copyWorkspace(join(testDirectory, 'fixtures/workspace/sample.code-workspace')),
  port: PORT,
  states,
}

let host = await start()
console.log(`Open ${host.origin}`)

const build = spawn(process.execPath, ['esbuild.mjs', '--watch'], { cwd: projectDirectory, stdio: 'inherit' })
process.on('exit', () => build.kill())
let timer: NodeJS.Timeout | undefined
watch(join(projectDirectory, 'dist'), { recursive: true }, () => {
  clearTimeout(timer)
  timer = setTimeout(() => void restart(), SETTLED_MS)
})

async function start(): Promise<ExtensionHost> {
  const started = await ExtensionHost.start(options, root.environment())
  await started.call('openSideBar')
  return started
}

/** The page loads again as soon as it's connected to the new host. */
async function restart(): Promise<void> {
  try {
    await host.stop()
    host = await start()
  } catch (error) {
    console.error(error)
  }
}
