// Runs a TypeScript program of the project, also in a fresh clone: node test/run/bootstrap.mjs PROGRAM.ts [ARGUMENTS]
// The only script that needs no packages: it installs them if the lock file differs from what is installed.
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

/** npm writes what it installed to a separate lock file. Only optional packages for other systems may be missing. */
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
// The program cleans up after itself, so this one must not exit before it.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
// When npm is stopped, it stops its shell and leaves this process running.
const parent = process.ppid
setInterval(() => process.ppid === parent || child.kill('SIGTERM'), 1000).unref()
child.on('exit', (code, signal) => process.exit(signal ? 1 : (code ?? 1)))
