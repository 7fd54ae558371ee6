import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
import { runCommand } from './run-command.ts'

/**
 * The browsers that can show the workbench, in order of preference: the headless shell takes two thirds of the time to
 * open a workbench.
 */
const browsers = [
  'chromium-headless-shell',
  'chromium',
  'chromium-browser',
  'google-chrome',
  'google-chrome-stable',
]

/** The path of a program on PATH. */
export function findProgram(names: string[]): string | undefined {
  for (const name of names)
    for (const directory of (process.env.PATH ?? '').split(delimiter)) {
      const file = join(directory, name)
      try {
        accessSync(file, constants.X_OK)
        return file
      } catch {}
    }
  return undefined
}

export function findBrowser(): string {
  const browser = process.env.CHROMIUM ?? findProgram(browsers)
  if (browser === undefined)
    throw new Error('No Chromium was found. Install one, or name its program in the variable CHROMIUM.')
  return browser
}

/** The requirements of VS Code's server: a compiler for its native modules, and ripgrep for its search. */
export function ensureServerPackages(): Promise<void> {
  const missing: string[] = []
  if (!findProgram(['python3'])) missing.push('python3')
  if (!findProgram(['make'])) missing.push('make')
  if (!findProgram(['g++'])) missing.push('g++')
  if (!findProgram(['rg'])) missing.push('ripgrep')
  return installPackages(missing)
}

/** The requirements of the UI tests: a browser, and fonts. Tests of direnv are skipped where it isn't. */
export function ensureBrowserPackages(): Promise<void> {
  if (process.env.CHROMIUM !== undefined || findProgram(browsers)) return Promise.resolve()
  return installPackages(['chromium-headless-shell', 'fonts-dejavu-core', 'fonts-liberation', 'direnv'])
}

/** Only one installation at a time, since apt locks its database. */
let queue = Promise.resolve()

function installPackages(names: string[]): Promise<void> {
  if (names.length > 0) queue = queue.then(() => aptInstall(names))
  return queue
}

async function aptInstall(names: string[]): Promise<void> {
  const wanted = `the Debian packages ${names.join(', ')}`
  if (!findProgram(['apt-get']))
    throw new Error(`Please install what is in ${wanted}; there is no apt-get here.`)
  const prefix = process.getuid?.() === 0 ? [] : ['sudo', '-n']
  const apt = [
    ...prefix,
    'env',
    'DEBIAN_FRONTEND=noninteractive',
    'apt-get',
    '-qq',
    '-o',
    'DPkg::Lock::Timeout=300',
  ]
  const [program = '', ...rest] = apt
  try {
    await runCommand(program, [...rest, 'update'])
    await runCommand(program, [...rest, 'install', '-y', '--no-install-recommends', ...names])
  } catch (error) {
    throw new Error(`Could not install ${wanted}. Please install them yourself.`, { cause: error })
  }
}
