// Installs everything that the tests in a real VS Code need: tsx test/host/setup.ts
import { installVsCode } from './install-vscode.ts'
import { ensureBrowserPackages } from './system-packages.ts'
import { current, floor, type VsCodeVersion } from './vscode-versions.ts'
import { compiledWorkbench } from './workbench-browser.ts'

const start = performance.now()
const step = async (what: string, work: Promise<unknown>) => {
  await work
  console.log(`${what} ready after ${((performance.now() - start) / 1000).toFixed(1)} s`)
}
const browser = step('browser', ensureBrowserPackages())
const compile = async (version: VsCodeVersion) => {
  const vscode = await installVsCode(version)
  await browser
  await compiledWorkbench(vscode)
}
const results = await Promise.allSettled([
  browser,
  step(`VS Code ${current.version}`, compile(current)),
  step(`VS Code ${floor.version}`, compile(floor)),
])
for (const result of results)
  if (result.status === 'rejected') {
    console.error(result.reason)
    process.exitCode = 1
  }
