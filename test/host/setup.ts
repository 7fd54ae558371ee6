// Installs everything that the tests in a real VS Code need: tsx test/host/setup.ts
import { installVsCode } from './install-vscode.ts'
import { ensureBrowserPackages } from './system-packages.ts'
import { current, floor } from './vscode-versions.ts'

const start = performance.now()
const step = async (what: string, work: Promise<unknown>) => {
  await work
  console.log(`${what} ready after ${((performance.now() - start) / 1000).toFixed(1)} s`)
}
const results = await Promise.allSettled([
  step('browser', ensureBrowserPackages()),
  step(`VS Code ${current.version}`, installVsCode(current)),
  step(`VS Code ${floor.version}`, installVsCode(floor)),
])
for (const result of results)
  if (result.status === 'rejected') {
    console.error(result.reason)
    process.exitCode = 1
  }
