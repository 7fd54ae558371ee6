import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import fs from 'node:fs/promises'
import path from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createBrotliDecompress } from 'node:zlib'
import spawn from 'cross-spawn'
import { findProgram } from '../host/system-packages.ts'
import { AGENTS_CACHE, PACKAGES, PROJECT } from './paths.ts'

/** `demo` is bundled with Parley. */
export type AgentName = 'codex' | 'claude' | 'grok' | 'gemini' | 'sdk-example' | 'opencode' | 'demo'

/** The SDK that the tests' MCP server uses. */
export const MCP_SERVER = 'mcp-server'

/** A program that gives a project its environment. */
const MISE = 'mise'

/** The suites `<suite>.test.ts`, the longest first, each with what it needs; in `registry`, Parley installs the agents itself. */
export const SUITES: Readonly<Record<string, AgentName | typeof MCP_SERVER | 'registry'>> = {
  claude: 'claude',
  // installs each agent itself
  registry: 'registry',
  'codex-v1': 'codex',
  'codex-v2': 'codex',
  gemini: 'gemini',
  demo: 'demo',
  accounts: 'codex',
  commands: 'gemini',
  grok: 'grok',
  'continue-with': 'codex',
  'gemini-terminal': 'gemini',
  'claude-terminal': 'claude',
  'sdk-example': 'sdk-example',
  conformance: 'demo',
  'mcp-check': MCP_SERVER,
}

/**
 * Installs one agent from its lock file without running package scripts, and returns its folder. An existing
 * installation is kept; concurrent installations don't affect each other.
 */
export async function installAgent(name: AgentName | typeof MCP_SERVER | typeof MISE): Promise<string> {
  if (name === 'demo') return PROJECT
  if (name === 'opencode') throw new Error('Parley installs it itself')
  const source = path.join(PACKAGES, name)
  const lock = await fs.readFile(path.join(source, 'package-lock.json'))
  const version = createHash('sha256').update(lock).digest('hex').slice(0, 12)
  const target = path.join(AGENTS_CACHE, `${name}-${version}-${process.platform}-${process.arch}`)
  if (await exists(target)) return target
  await fs.mkdir(AGENTS_CACHE, { recursive: true })
  // the folder is renamed when it's complete, so an existing one is complete
  const draft = await fs.mkdtemp(path.join(AGENTS_CACHE, `.${name}-`))
  try {
    for (const file of ['package.json', 'package-lock.json']) {
      await fs.copyFile(path.join(source, file), path.join(draft, file))
    }
    await npmInstall(draft)
    if (name === 'grok') await unpackGrok(draft)
    await fs.rename(draft, target).catch(async error => {
      if (!(await exists(target))) throw error
    })
  } finally {
    await fs.rm(draft, { recursive: true, force: true })
  }
  return target
}

/**
 * The folder with the program, which is installed unless the machine has it; `undefined` if the machine's is on the `PATH`.
 * Throws if it can't be installed.
 */
export async function installMise(): Promise<string | undefined> {
  if (findProgram([MISE])) return undefined
  const folder = path.join(await installAgent(MISE), 'node_modules', '.bin')
  if (!(await exists(path.join(folder, MISE))))
    throw new Error(`There is no package of mise for ${process.platform} ${process.arch}.`)
  return folder
}

function npmInstall(cwd: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(
      'npm',
      ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'],
      {
        cwd,
        stdio: ['ignore', 'pipe', 'pipe'],
      },
    )
    let output = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on('data', data => {
        output += String(data)
      })
    }
    child.once('error', reject)
    child.once('close', code => {
      if (code === 0) resolve()
      else reject(new Error(`npm install ended with ${code} in ${cwd}:\n${output}`))
    })
  })
}

/** The package contains a compressed program, which its install script would unpack to the home folder. */
async function unpackGrok(folder: string): Promise<void> {
  const platform = `${process.platform}-${process.arch}`
  const packed = path.join(
    folder,
    'node_modules',
    '@xai-official',
    `grok-${platform}`,
    'bin',
    `${grokProgram}.br`,
  )
  const program = path.join(folder, grokProgram)
  await pipeline(
    createReadStream(packed),
    createBrotliDecompress(),
    createWriteStream(program, { mode: 0o755 }),
  )
  await fs.rm(packed)
}

export const grokProgram = process.platform === 'win32' ? 'grok.exe' : 'grok'

function exists(file: string): Promise<boolean> {
  return fs.access(file).then(
    () => true,
    () => false,
  )
}
