import { chmod, open, readFile, rm, rmdir, stat, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { createInterface } from 'node:readline'
import { isDeepStrictEqual } from 'node:util'
import * as l10n from '@vscode/l10n'
import coerce from 'semver/functions/coerce.js'
import satisfies from 'semver/functions/satisfies.js'
import validRange from 'semver/ranges/valid.js'
import * as z from 'zod'
import { raceAbort } from '../../common/async.ts'
import { CancelledError, isCancelled, messageOf } from '../../common/errors.ts'
import { KILL_AFTER_MS } from '../../common/limits.ts'
import type { Logger } from '../../common/logger.ts'
import { networkProblemOfOutput } from '../../common/network-problem.ts'
import type { ProcessGuard } from '../../common/processes/process-guard.ts'
import {
  type Environment,
  findCommand,
  mergeEnvironment,
  spawnProcess,
} from '../../common/processes/spawn-process.ts'
import { DownloadError, download } from './download.ts'
import { type InstallPlan, type InstallScript, isSamePlan, type ScriptsAnswer } from './install-plan.ts'
import {
  type InstalledAgents,
  type InstalledLaunch,
  type InstallRecord,
  OWN_NAMES,
} from './installed-agents.ts'
import {
  archiveKind,
  type BinaryTarget,
  type PackageDistribution,
  type PlatformTarget,
  platformTarget,
  type RegistryAgent,
} from './registry-format.ts'
import { ArchiveError, programIn, unpackArchive } from './unpack-archive.ts'

export interface AgentInstallerOptions {
  installed: InstalledAgents
  /** Resolves to the environment of package managers, which is the environment of the login shell. */
  environment: (options?: { fresh: boolean }) => Promise<{ env: Environment; platform: NodeJS.Platform }>
  fetch: typeof fetch
  log: Logger
  /** Ends a running package manager if this process dies. */
  guard?: Pick<ProcessGuard, 'add' | 'remove'>
  /** The version of the Node with which VS Code runs extensions. */
  editorNode?: string
  arch?: string
  now?: () => number
}

export interface InstallProgress {
  /** The current step, in a few words. */
  step: string
  /** the completed share, from 0 to 1; absent if it's unknown. */
  share?: number
}

export interface InstallOptions {
  signal?: AbortSignal
  /** An earlier attempt failed, so the user may have installed a missing program since. */
  isRetry?: boolean
  onProgress?: (progress: InstallProgress) => void
  /** Asks whether to run these scripts of npm packages. Without this function, no scripts run. */
  onScripts?: (scripts: readonly InstallScript[]) => Promise<ScriptsAnswer>
}

/** Why an installation failed. `changed`: the installation would differ from the confirmed plan. */
export type InstallErrorKind = 'no-distribution' | 'missing-program' | 'node-too-old' | 'changed' | 'failed'

/** An agent couldn't be installed. The message is a sentence for the user. */
export class InstallError extends Error {
  readonly kind: InstallErrorKind
  /** The last lines of the package manager's output. */
  readonly output: string

  constructor(kind: InstallErrorKind, message: string, output = '') {
    super(message)
    this.kind = kind
    this.output = output
  }
}

/** The maximum number of kept lines of a package manager's output. */
const MAX_LINES = 40
const MAX_LINE = 1000

interface Choice {
  distribution: PackageDistribution | { type: 'binary'; target: BinaryTarget }
  program?: string
  missing?: 'npm' | 'uv'
}

/**
 * Installs agents of the registry into Parley's own storage. An installation is used only when it's complete. A failed or canceled
 * installation leaves nothing behind.
 */
export class AgentInstaller {
  readonly #options: AgentInstallerOptions

  constructor(options: AgentInstallerOptions) {
    this.#options = options
  }

  /** Returns what {@link AgentInstaller.install} will do. Rejects with {@link InstallError} if the agent can't be installed. */
  async plan(agent: RegistryAgent): Promise<InstallPlan> {
    return toPlan(agent, await this.#choose(agent))
  }

  /**
   * Installs the confirmed agent. If two windows install it at once, only one window does the work, and both use the result. Rejects with
   * {@link InstallError} or `CancelledError`.
   */
  async install(
    agent: RegistryAgent,
    confirmed: InstallPlan,
    { signal, isRetry = false, onProgress = () => {}, onScripts }: InstallOptions = {},
  ): Promise<void> {
    const { installed, environment } = this.#options
    const chooseAgain = async () => {
      await environment({ fresh: true })
      return this.#choose(agent)
    }
    let choice = await raceAbort(isRetry ? chooseAgain() : this.#choose(agent), signal)
    // The user may have installed the missing program since, perhaps into a directory that only a new login shell has on its PATH.
    if (choice.missing && !isRetry) choice = await raceAbort(chooseAgain(), signal)
    const { distribution } = choice
    if (!isSamePlan(toPlan(agent, choice), confirmed))
      throw new InstallError(
        'changed',
        l10n.t("The installation of {0} isn't the confirmed one anymore.", agent.name),
      )
    if (choice.missing) throw missingProgram(choice.missing)
    onProgress({ step: l10n.t('Waiting for another window…') })
    const work = installed.exclusively(
      agent.id,
      async () => {
        if (signal?.aborted) throw new CancelledError()
        await installed.read()
        const before = installed.get(agent.id)
        const isThere =
          before?.version === agent.version &&
          isMadeFrom(before, distribution) &&
          (await isFile(join(before.directory, before.launch.path)))
        if (isThere) return
        const folder = await installed.newFolder(agent.id, agent.version)
        try {
          const made =
            distribution.type === 'binary'
              ? await this.#installBinary(distribution.target, folder, { signal, onProgress })
              : await this.#installPackage(distribution, choice.program!, folder, {
                  signal,
                  onProgress,
                  onScripts,
                })
          if (signal?.aborted) throw new CancelledError()
          const { id, name, version, description, license } = agent
          await installed.commit(folder, {
            format: 1,
            ...{ id, name, version, description, license },
            ...made,
            installedAt: (this.#options.now ?? Date.now)(),
          })
        } catch (error) {
          await rm(folder, { recursive: true, force: true, maxRetries: 3, retryDelay: 100 }).catch(() => {})
          // Removes the agent's folder, unless it contains another version.
          await rmdir(dirname(folder)).catch(() => {})
          throw error
        }
      },
      signal,
    )
    await work.catch((error: unknown) => {
      throw isCancelled(error) ? error : asInstallError(agent.name, error)
    })
  }

  /** Returns the first distribution that works on this machine, or else the first one whose package manager isn't installed. */
  async #choose(agent: RegistryAgent): Promise<Choice> {
    const { env, platform } = await this.#options.environment()
    const here = platformTarget(platform, this.#options.arch ?? process.arch)
    const find = async (command: string) => {
      const search = await findCommand(command, { env, platform, cwd: homedir() })
      return 'path' in search ? search.path : undefined
    }
    let second: Choice | undefined
    for (const distribution of agent.distributions) {
      if (distribution.type === 'binary') {
        const target = here && distribution.targets[here]
        if (target) return { distribution: { type: 'binary', target } }
        continue
      }
      const manager = distribution.type === 'npx' ? 'npm' : 'uv'
      const program = await find(manager)
      if (program !== undefined) return { distribution, program }
      second ??= { distribution, missing: manager }
    }
    if (second) return second
    throw new InstallError(
      'no-distribution',
      l10n.t("{0} isn't available for this system ({1}).", agent.name, here ?? systemName(platform)),
    )
  }

  // ---- archives ----------------------------------------------------------------------------------------------------

  async #installBinary(
    target: BinaryTarget,
    folder: string,
    { signal, onProgress }: Required<Pick<InstallOptions, 'onProgress'>> & InstallOptions,
  ): Promise<Pick<InstallRecord, 'distribution' | 'source' | 'sha256' | 'verified' | 'launch'>> {
    const archive = `${folder}.download`
    try {
      onProgress({ step: l10n.t('Downloading…') })
      const sha256 = await download(target.archive, archive, {
        fetch: this.#options.fetch,
        sha256: target.sha256,
        signal,
        onProgress: (received, total) =>
          onProgress({ step: l10n.t('Downloading…'), ...(total && { share: received / total }) }),
      })
      onProgress({ step: l10n.t('Unpacking…') })
      const kind = archiveKind(target.archive)
      if (!kind)
        throw new ArchiveError(l10n.t("The format of the download isn't supported: {0}", target.archive))
      await unpackArchive(archive, folder, { kind, cmd: target.cmd, reserved: OWN_NAMES, signal })
      const program = programIn(folder, target.cmd)
      if (!(await isFile(program)))
        throw new ArchiveError(l10n.t("The downloaded archive doesn't contain {0}.", target.cmd))
      await chmod(program, 0o755)
      return {
        distribution: 'binary',
        source: target.archive,
        sha256,
        verified: target.sha256 !== undefined,
        launch: { type: 'program', path: relative(folder, program), args: target.args, env: target.env },
      }
    } finally {
      await rm(archive, { force: true })
    }
  }

  // ---- packages ----------------------------------------------------------------------------------------------------

  async #installPackage(
    distribution: PackageDistribution,
    program: string,
    folder: string,
    options: Required<Pick<InstallOptions, 'onProgress'>> & InstallOptions,
  ): Promise<Pick<InstallRecord, 'distribution' | 'source' | 'launch'>> {
    options.onProgress({ step: l10n.t('Installing {0}…', distribution.package) })
    const launch =
      distribution.type === 'npx'
        ? await this.#installWithNpm(distribution, program, folder, options)
        : await this.#installWithUv(distribution, program, folder, options)
    return { distribution: distribution.type, source: distribution.package, launch }
  }

  async #installWithNpm(
    { package: spec, args, env }: PackageDistribution,
    npm: string,
    folder: string,
    options: InstallOptions,
  ): Promise<InstalledLaunch> {
    const environment = await this.#options.environment()
    // With its own manifest, the folder is a separate project, even if it's inside another project.
    await writeFile(join(folder, 'package.json'), '{ "private": true }\n')
    const run = (args: readonly string[]) =>
      this.#run(npm, [...args, ...NPM_OPTIONS], folder, environment.env, options).catch((error: unknown) => {
        throw error instanceof InstallError
          ? new InstallError('failed', npmFailure(spec, error), error.output)
          : error
      })
    await run(['install', '--ignore-scripts', '--save-exact', spec])
    const packages = await packagesWithScripts(folder)
    const scripts = packages.flatMap(one => one.scripts)
    // Agents also work without builds of optional packages.
    const isNeeded = packages.some(one => !one.isOptional)
    const answer = isNeeded ? ((await options.onScripts?.(scripts)) ?? 'skip') : 'skip'
    if (answer === 'cancel') throw new CancelledError()
    if (answer === 'run') {
      // Runs the scripts only of the existing packages, because the user has seen these scripts.
      const rebuild = (...paths: string[]) =>
        run(['rebuild', '--ignore-scripts=false', ...paths.map(path => `./${path}`)])
      const required = packages.filter(one => !one.isOptional)
      if (required.length > 0) await rebuild(...required.map(one => one.path))
      for (const { name, path, home } of packages.filter(one => one.isOptional))
        await rebuild(path).catch(async (error: unknown) => {
          if (!(error instanceof InstallError)) throw error
          // Like npm, continues without an optional package.
          this.#options.log.warn(`${name} is optional and was removed: ${error.message}`)
          await rm(home, { recursive: true, force: true })
        })
    }
    const name = spec.slice(0, spec.lastIndexOf('@'))
    const home = join(folder, 'node_modules', ...name.split('/'))
    const manifest = packageManifest.parse(JSON.parse(await readFile(join(home, 'package.json'), 'utf8')))
    const [command, script] = packageProgram(name, manifest.bin)
    const file = resolve(home, script)
    if (!file.startsWith(home + sep) || !(await isFile(file)))
      throw new InstallError('failed', l10n.t("The package {0} doesn't contain its program.", spec))
    const isScript = await isNodeScript(file)
    if (!isScript || (await this.#fitsNode(manifest.engines?.node, environment, options))) {
      const shim = environment.platform === 'win32' ? `${command}.cmd` : command
      return { type: 'program', path: join('node_modules', '.bin', shim), args, env }
    }
    const own = this.#options.editorNode ?? process.versions.node
    const wanted = manifest.engines?.node ?? '*'
    if (satisfies(own, wanted, { includePrerelease: true }))
      return { type: 'script', path: relative(folder, file), args, env }
    throw new InstallError(
      'node-too-old',
      l10n.t('{0} needs Node.js {1}. Install that version of Node.js and try again.', name, wanted),
    )
  }

  /** Whether the package supports the version of Node that is on the user's PATH. */
  async #fitsNode(
    wanted: string | undefined,
    { env, platform }: { env: Environment; platform: NodeJS.Platform },
    { signal }: InstallOptions,
  ): Promise<boolean> {
    const node = await findCommand('node', { env, platform, cwd: homedir() })
    if (!('path' in node)) return false
    if (wanted === undefined || validRange(wanted) === null) return true
    const asked = this.#run(node.path, ['--version'], homedir(), env, { ...(signal && { signal }) })
    const { output } = await asked.catch(() => ({ output: '' }))
    const version = coerce(output)
    return version !== null && satisfies(version, wanted, { includePrerelease: true })
  }

  async #installWithUv(
    { package: spec, args, env }: PackageDistribution,
    uv: string,
    folder: string,
    options: InstallOptions,
  ): Promise<InstalledLaunch> {
    const environment = await this.#options.environment()
    const bin = join(folder, 'bin')
    const own = { UV_TOOL_DIR: join(folder, 'tools'), UV_TOOL_BIN_DIR: bin, UV_NO_PROGRESS: '1' }
    const uvEnv = mergeEnvironment(environment.env, own, environment.platform)
    await this.#run(uv, ['tool', 'install', '--', spec], folder, uvEnv, options).catch((error: unknown) => {
      throw error instanceof InstallError ? new InstallError('failed', uvFailure(error), error.output) : error
    })
    const name = /^[\w.-]+/.exec(spec)![0]
    const program = join(bin, environment.platform === 'win32' ? `${name}.exe` : name)
    if (!(await isFile(program)))
      throw new InstallError('failed', l10n.t("The package {0} doesn't contain its program.", spec))
    return { type: 'program', path: relative(folder, program), args, env }
  }

  /** Runs a package manager until it exits. Cancellation ends its whole process tree. */
  async #run(
    command: string,
    args: readonly string[],
    cwd: string,
    env: Environment,
    { signal, onProgress }: InstallOptions,
  ): Promise<{ output: string }> {
    if (signal?.aborted) throw new CancelledError()
    const { child, tree } = await spawnProcess(
      { command, args, cwd, env },
      { stdio: ['ignore', 'pipe', 'pipe'] },
    )
    const { guard } = this.#options
    if (child.pid !== undefined) guard?.add(child.pid)
    const lines: string[] = []
    for (const stream of [child.stdout, child.stderr])
      createInterface({ input: stream! }).on('line', line => {
        lines.push(line.slice(0, MAX_LINE))
        if (lines.length > MAX_LINES) lines.shift()
        if (line.trim() !== '') onProgress?.({ step: line.trim().slice(0, 200) })
      })
    const ended = new Promise<number | null>(done => child.once('close', code => done(code)))
    const stop = () => void tree.end(KILL_AFTER_MS)
    signal?.addEventListener('abort', stop, { once: true })
    try {
      const code = await ended
      if (signal?.aborted) throw new CancelledError()
      const output = lines.join('\n')
      if (code === 0) return { output }
      throw new InstallError(
        'failed',
        l10n.t('{0} failed with exit code {1}.', [command, ...args].join(' '), code ?? '?'),
        output,
      )
    } finally {
      signal?.removeEventListener('abort', stop)
      if (signal?.aborted) await tree.end(KILL_AFTER_MS)
      if (child.pid !== undefined) guard?.remove(child.pid)
    }
  }
}

/**
 * Options that override the user's npm settings. npm installs into the folder, writes a lock file, which names the packages, and links
 * programs in `.bin`. It ignores a project above the folder. It doesn't look for a newer npm: while npm 11 looks for one over HTTP, it
 * sends malformed requests for HTTPS registries to a proxy.
 */
const NPM_OPTIONS = [
  ...['--no-audit', '--no-fund', '--no-update-notifier', '--no-progress', '--loglevel=error'],
  ...['--package-lock', '--bin-links', '--install-strategy=hoisted'],
  ...['--no-global', '--location=user', '--no-workspaces'],
]

const npmLock = z.object({
  packages: z.record(
    z.string(),
    z.object({ hasInstallScript: z.boolean().optional(), optional: z.boolean().optional() }),
  ),
})
const scriptManifest = z.object({
  name: z.string().catch(''),
  version: z.string().catch(''),
  scripts: z.record(z.string(), z.unknown()).catch({}),
})

interface PackageWithScripts {
  /** the package's name with its version */
  name: string
  /** The path relative to the agent's folder, with `/`; other packages may have the same name and version. */
  path: string
  home: string
  /** The agent also works without the package. */
  isOptional: boolean
  scripts: InstallScript[]
}

/** Resolves to the packages in a folder for which npm would run scripts. */
async function packagesWithScripts(folder: string): Promise<PackageWithScripts[]> {
  const lock = npmLock.parse(JSON.parse(await readFile(join(folder, 'package-lock.json'), 'utf8')))
  const packages: PackageWithScripts[] = []
  for (const [path, { hasInstallScript, optional = false }] of Object.entries(lock.packages)) {
    if (!hasInstallScript) continue
    const home = join(folder, ...path.split('/'))
    // An optional package for another system isn't installed.
    const text = await readFile(join(home, 'package.json'), 'utf8').catch(() => undefined)
    if (text === undefined) continue
    const manifest = scriptManifest.parse(JSON.parse(text))
    const events = (['preinstall', 'install', 'postinstall'] as const).flatMap(event => {
      const command = manifest.scripts[event]
      return typeof command === 'string' ? [{ event, command }] : []
    })
    if (!events.some(({ event }) => event !== 'postinstall') && (await isFile(join(home, 'binding.gyp'))))
      events.unshift({ event: 'install', command: 'node-gyp rebuild' })
    const name = `${manifest.name}@${manifest.version}`
    const scripts = events.map(one => ({ package: name, ...one }))
    if (scripts.length > 0) packages.push({ name, path, home, isOptional: optional, scripts })
  }
  return packages
}

function toPlan({ version }: RegistryAgent, { distribution, missing }: Choice): InstallPlan {
  if (distribution.type === 'binary') {
    const { archive, cmd, args, env, sha256 } = distribution.target
    const action = archive
    return { distribution: 'binary', version, action, program: cmd, args, env, ...(sha256 && { sha256 }) }
  }
  const { type, package: spec, args, env } = distribution
  const action = type === 'npx' ? `npm install --ignore-scripts ${spec}` : `uv tool install ${spec}`
  return { distribution: type, version, action, args, env, ...(missing && { missing }) }
}

/** Whether an installation of the same version is equal to the confirmed one, because a registry entry may change without a new version. */
function isMadeFrom(
  { source, sha256, launch }: InstallRecord,
  distribution: Choice['distribution'],
): boolean {
  const isBinary = distribution.type === 'binary'
  const { args, env } = isBinary ? distribution.target : distribution
  if (!isDeepStrictEqual([launch.args, launch.env], [args, env])) return false
  if (!isBinary) return source === distribution.package
  const { archive, cmd, sha256: wanted } = distribution.target
  const isSameFile = source === archive && (wanted === undefined || wanted === sha256)
  return isSameFile && launch.path === relative('/', programIn('/', cmd))
}

const packageManifest = z.object({
  bin: z.union([z.string(), z.record(z.string(), z.string())]).optional(),
  engines: z.object({ node: z.string().optional() }).optional().catch(undefined),
})

/** Returns the name and the path of a package's program that npx would run: its only program, or the program with the package's name. */
function packageProgram(name: string, bin: string | Record<string, string> | undefined): [string, string] {
  const plain = name.slice(name.indexOf('/') + 1)
  if (typeof bin === 'string') return [plain, bin]
  const programs = Object.entries(bin ?? {})
  const wanted = programs.find(([command]) => command === plain)
  const isOne = new Set(programs.map(([, script]) => script)).size === 1
  const found = wanted ?? (isOne ? programs[0] : undefined)
  if (found && !/[/\\]/.test(found[0])) return found
  throw new InstallError('failed', l10n.t("The package {0} doesn't contain its program.", name))
}

/** Whether Node runs the program, according to its name or its first line. */
async function isNodeScript(file: string): Promise<boolean> {
  if (/\.[cm]?js$/.test(file)) return true
  const handle = await open(file, 'r')
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(256), 0, 256, 0)
    const [line] = buffer.toString('latin1', 0, bytesRead).split('\n')
    return /^#!.*\bnode\b/.test(line ?? '')
  } finally {
    await handle.close()
  }
}

/** Returns an explanation of an npm error that users are likely to encounter. */
function npmFailure(spec: string, { message, output }: InstallError): string {
  const code = /\bnpm (?:error|ERR!) code (\w+)/.exec(output)?.[1]
  switch (code) {
    case 'E404':
    case 'ETARGET':
      return l10n.t("The npm registry doesn't have the package {0}.", spec)
    case 'ENOSPC':
      return l10n.t('{0} needs more disk space than is available.', spec)
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
    case 'ECONNREFUSED':
    case 'ECONNRESET':
    case 'ETIMEDOUT':
    case 'ENOTCACHED':
      return l10n.t("npm can't reach its registry. Check the network connection and the proxy settings.")
  }
  const problem = networkProblemOfOutput(output)
  return problem ? l10n.t("npm can't reach its registry: {0}. {1}", problem.reason, problem.advice) : message
}

function uvFailure({ message, output }: InstallError): string {
  const problem = networkProblemOfOutput(output)
  return problem ? l10n.t("uv can't download the agent: {0}. {1}", problem.reason, problem.advice) : message
}

function missingProgram(program: 'npm' | 'uv'): InstallError {
  return new InstallError(
    'missing-program',
    program === 'npm'
      ? l10n.t('npm is needed to install this agent. Install Node.js, which includes npm, and try again.')
      : l10n.t('uv is needed to install this agent. Install uv and try again.'),
  )
}

function asInstallError(name: string, error: unknown): InstallError {
  if (error instanceof InstallError) return error
  if (error instanceof DownloadError) return new InstallError('failed', error.message, error.detail)
  if (error instanceof ArchiveError) return new InstallError('failed', error.message)
  const { code } = error as NodeJS.ErrnoException
  if (code === 'ENOSPC' || code === 'EDQUOT')
    return new InstallError('failed', l10n.t("{0} wasn't installed: the disk is full.", name))
  return new InstallError('failed', l10n.t("{0} wasn't installed: {1}", name, messageOf(error)))
}

async function isFile(path: string): Promise<boolean> {
  return stat(path).then(
    stats => stats.isFile(),
    () => false,
  )
}

function systemName(platform: NodeJS.Platform): PlatformTarget | string {
  return `${platform}-${process.arch}`
}
