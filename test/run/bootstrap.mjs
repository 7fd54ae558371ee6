// Runs a TypeScript program of the project, even in a fresh clone: node test/run/bootstrap.mjs PROGRAM.ts [ARGUMENTS]
// Needs no packages itself, and installs them if the lock file has changed.
import { spawn, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'

const root = resolve(import.meta.dirname, '../..')

function packagesOf(file) {
  try {
    return JSON.parse(readFileSync(resolve(root, file), 'utf8')).packages
  } catch {
    return {}
  }
}

/** Compares the lock file with npm's own list of installed packages, which lacks optional ones for other systems. */
function isInstalled() {
  const installed = packagesOf('node_modules/.package-lock.json')
  return Object.entries(packagesOf('package-lock.json')).every(
    ([path, { version, optional, devOptional }]) => {
      const found = installed[path]
      return path === '' || (found ? found.version === version : optional || devOptional)
    },
  )
}

if (!isInstalled()) {
  console.log('Installing the packages…')
  const windows = process.platform === 'win32'
  const npm = spawnSync('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: root,
    shell: windows,
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  if (npm.status !== 0) process.exit(npm.status ?? 1)
}

const [program = '', ...rest] = process.argv.slice(2)
const child = spawn(process.execPath, ['--import', 'tsx', resolve(root, program), ...rest], {
  cwd: root,
  stdio: 'inherit',
})
// Wait for the program to clean up and exit.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
// When npm is stopped, it stops its shell and leaves this process running.
const parent = process.ppid
setInterval(() => process.ppid === parent || child.kill('SIGTERM'), 1000).unref()
child.on('exit', (code, signal) => process.exit(signal ? 1 : (code ?? 1)))
