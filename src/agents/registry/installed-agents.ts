import { randomUUID } from 'node:crypto'
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join, sep } from 'node:path'
import * as l10n from '@vscode/l10n'
import * as z from 'zod'
import { type AgentLaunch, AgentStartError, type StartAgent } from '../../acp/agent.ts'
import { Owner, toDisposable } from '../../common/disposable.ts'
import { messageOf } from '../../common/errors.ts'
import { Emitter } from '../../common/event.ts'
import type { Logger } from '../../common/logger.ts'
import { operatingSystem } from '../../common/processes/process-system.ts'
import { writeWhole } from '../../common/whole-files.ts'
import { type LockingWindows, withFileLock } from './file-lock.ts'

/**
 * How an installed agent is started. Paths are relative to the agent's folder.
 * - `program`: an executable; a script needs an interpreter line
 * - `script`: a JavaScript file that VS Code's own Node runs
 */
const launch = z.object({
  type: z.enum(['program', 'script']),
  path: z.string(),
  args: z.array(z.string()),
  env: z.record(z.string(), z.string()),
})
export type InstalledLaunch = z.infer<typeof launch>

/** The record of an installed agent. It's written next to the agent's files when they are complete. */
const record = z.object({
  format: z.literal(1),
  id: z.string(),
  name: z.string(),
  version: z.string(),
  description: z.string(),
  license: z.string().optional(),
  /** The installation method: `npx`, `uvx` or `binary`. */
  distribution: z.enum(['npx', 'uvx', 'binary']),
  /** The package, or the archive's URL. */
  source: z.string(),
  /** The archive's checksum. */
  sha256: z.string().optional(),
  /** Whether the checksum comes from the registry. */
  verified: z.boolean().optional(),
  launch,
  /** When the agent was installed, in milliseconds since the epoch. */
  installedAt: z.number(),
})
export type InstallRecord = z.infer<typeof record>

/** The content of the file that names the folder in use. The file is written atomically, so that there's always exactly one such folder. */
const current = z.object({
  format: z.literal(1),
  folder: z.string().regex(/^[\w.+-]+$/),
  /** The folder of the previous version, which is kept until the new version has started once. */
  previous: z
    .string()
    .regex(/^[\w.+-]+$/)
    .optional(),
  /** Whether the agent has answered `initialize` at least once. */
  started: z.boolean(),
})
type Current = z.infer<typeof current>

export interface InstalledAgent extends InstallRecord {
  /** The absolute path of the agent's folder. */
  directory: string
  /** Whether there is a previous version to which Parley can return if this version doesn't start. */
  canRollBack: boolean
}

const RECORD = 'install.json'
const CURRENT = 'current.json'
const IN_USE = 'in-use'
/** The names of Parley's own files in a version's folder. */
export const OWN_NAMES: readonly string[] = [RECORD, IN_USE]

/**
 * The agents that were installed from the registry, on disk and shared by all windows. `<id>/current.json` names the folder in use, and
 * `<id>/<version>-<unique>/` contains one version with its `install.json`. A folder without a record, or a folder that neither
 * `current.json` nor a process uses, is left over from an interrupted or older installation.
 */
export class InstalledAgents extends Owner {
  readonly #directory: string
  readonly #windows: LockingWindows
  readonly #log: Logger
  readonly #changed = this.register(new Emitter<void>())
  readonly onDidChange = this.#changed.event
  /** The folders from which agents of this window were started, with the number of running agents. */
  readonly #used = new Map<string, number>()
  #agents: InstalledAgent[] = []
  #read: Promise<void> | undefined

  constructor(directory: string, windows: LockingWindows, log: Logger) {
    super()
    this.#directory = directory
    this.#windows = windows
    this.#log = log
    this.register(
      toDisposable(() => {
        for (const folder of this.#used.keys())
          void rm(this.#useFile(folder), { force: true }).catch(() => {})
      }),
    )
  }

  /** The agents that the last {@link InstalledAgents.read} has found. */
  get agents(): readonly InstalledAgent[] {
    return this.#agents
  }

  get(id: string): InstalledAgent | undefined {
    return this.#agents.find(agent => agent.id === id)
  }

  /** Reads the installed agents from disk once, and then removes leftovers of interrupted installations. Never rejects. */
  ready(): Promise<void> {
    this.#read ??= this.read().then(() => void this.cleanUp())
    return this.#read
  }

  /** Reads the installed agents from disk again, because another window may have installed an agent. Never rejects. */
  async read(): Promise<void> {
    const ids = await readdir(this.#directory).catch(() => [])
    const found = await Promise.all(ids.map(id => this.#readOne(id)))
    const agents = found.filter(agent => agent !== undefined)
    const isSame = JSON.stringify(agents) === JSON.stringify(this.#agents)
    this.#agents = agents
    if (!isSame) this.#changed.fire()
  }

  /** Runs `work`, which only one window may do at a time on an agent's files. */
  exclusively<T>(id: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    return withFileLock(join(this.#directory, `${id}.lock`), this.#windows, work, signal)
  }

  /**
   * Creates a folder for a version. The folder isn't used before {@link InstalledAgents.commit}. Until then, it isn't deleted, even if
   * another window takes over the lock because this window didn't respond for long, for example after the computer's sleep.
   */
  async newFolder(id: string, version: string): Promise<string> {
    const folder = join(this.#directory, id, `${version}-${randomUUID().slice(0, 8)}`)
    await mkdir(join(folder, IN_USE), { recursive: true })
    await writeFile(this.#useFile(folder), '')
    return folder
  }

  /**
   * Puts a complete folder into use. The previous version is kept until this version has started. Must be called inside
   * {@link InstalledAgents.exclusively}.
   */
  async commit(folder: string, installed: InstallRecord): Promise<void> {
    const { id } = installed
    await writeFile(join(folder, RECORD), JSON.stringify(installed, undefined, 2))
    const before = await this.#current(id)
    await this.#setCurrent(id, {
      format: 1,
      folder: lastName(folder),
      started: false,
      ...(before && { previous: before.started ? before.folder : (before.previous ?? before.folder) }),
    })
    await rm(join(folder, IN_USE), { recursive: true, force: true })
    await this.#collect(id)
    await this.read()
  }

  /** Removes an agent with all of its versions. Files that a running process uses are removed when the process has ended. */
  async remove(id: string): Promise<void> {
    await rm(join(this.#directory, id, CURRENT), { force: true })
    await this.#collect(id)
    await this.read()
  }

  /**
   * Marks an agent's folder as used. Call this when a process starts from the folder, and call the returned function when the process has
   * ended.
   */
  use({ directory, id }: Pick<InstalledAgent, 'directory' | 'id'>): () => void {
    const count = (this.#used.get(directory) ?? 0) + 1
    this.#used.set(directory, count)
    if (count === 1) this.#mark(directory, process.pid)
    let over = false
    return () => {
      if (over) return
      over = true
      const remaining = (this.#used.get(directory) ?? 1) - 1
      if (remaining > 0) return void this.#used.set(directory, remaining)
      this.#used.delete(directory)
      void rm(this.#useFile(directory), { force: true })
        .then(() => this.exclusively(id, () => this.#collect(id)))
        .catch(error => this.#log.warn(`${id}: ${messageOf(error)}`))
    }
  }

  /** Keeps the agent's folder until the process `pid` has ended, too, which may outlive this process. */
  useInProcess({ directory }: Pick<InstalledAgent, 'directory'>, pid: number): void {
    this.#mark(directory, pid)
  }

  #mark(directory: string, pid: number): void {
    void mkdir(join(directory, IN_USE), { recursive: true })
      .then(() => writeFile(this.#useFile(directory, pid), ''))
      .catch(error => this.#log.warn(`${directory}: ${messageOf(error)}`))
  }

  /** Removes the previous version, because the agent has started with this version. */
  async started({ id, directory }: Pick<InstalledAgent, 'id' | 'directory'>): Promise<void> {
    await this.exclusively(id, async () => {
      const now = await this.#current(id)
      if (!now || now.started || now.folder !== lastName(directory)) return
      await this.#setCurrent(id, { format: 1, folder: now.folder, started: true })
      await this.#collect(id)
    })
    await this.read()
  }

  /**
   * Returns to the previous version, because the current version didn't start. Resolves to the previous version, or to `undefined` if there
   * is none.
   */
  async rollBack({ id, directory }: Pick<InstalledAgent, 'id' | 'directory'>): Promise<string | undefined> {
    const version = await this.exclusively(id, async () => {
      const now = await this.#current(id)
      if (!now || now.started || now.previous === undefined || now.folder !== lastName(directory))
        return undefined
      const before = await this.#recordIn(join(this.#directory, id, now.previous))
      if (!before) return undefined
      await this.#setCurrent(id, { format: 1, folder: now.previous, started: true })
      await this.#collect(id)
      return before.version
    })
    await this.read()
    return version
  }

  /** Removes leftovers of interrupted installations and older versions. Never rejects. */
  async cleanUp(): Promise<void> {
    for (const id of await readdir(this.#directory).catch(() => [])) {
      if (id.endsWith('.lock')) continue
      await this.exclusively(id, () => this.#collect(id)).catch(error =>
        this.#log.warn(`${id}: ${messageOf(error)}`),
      )
    }
  }

  async #readOne(id: string): Promise<InstalledAgent | undefined> {
    const now = await this.#current(id)
    if (!now) return undefined
    const directory = join(this.#directory, id, now.folder)
    const installed = await this.#recordIn(directory)
    if (installed?.id !== id) return undefined
    return { ...installed, directory, canRollBack: !now.started && now.previous !== undefined }
  }

  async #recordIn(directory: string): Promise<InstallRecord | undefined> {
    return readJson(join(directory, RECORD), record)
  }

  #current(id: string): Promise<Current | undefined> {
    return readJson(join(this.#directory, id, CURRENT), current)
  }

  #setCurrent(id: string, now: Current): Promise<void> {
    return writeWhole(join(this.#directory, id, CURRENT), JSON.stringify(now))
  }

  /** Removes the folders that are neither named in `current.json` nor used, and then the agent's folder if it's empty. */
  async #collect(id: string): Promise<void> {
    const home = join(this.#directory, id)
    const now = await this.#current(id)
    const names: string[] = await readdir(home).catch(() => [])
    // The names of the folders in use can't be read, perhaps because a newer version of Parley wrote the file.
    if (!now && names.includes(CURRENT)) return
    const named = new Set([CURRENT, now?.folder, now?.previous])
    let remaining = 0
    for (const name of names) {
      if (named.has(name) || (await this.#isUsed(join(home, name)))) remaining += 1
      else await rm(join(home, name), { recursive: true, force: true, maxRetries: 3, retryDelay: 100 })
    }
    if (remaining === 0) await rm(home, { recursive: true, force: true })
  }

  async #isUsed(folder: string): Promise<boolean> {
    if (this.#used.has(folder)) return true
    const users = await readdir(join(folder, IN_USE)).catch(() => [])
    return users.some(pid => operatingSystem.exists(Number(pid)))
  }

  #useFile(folder: string, pid = process.pid): string {
    return join(folder, IN_USE, String(pid))
  }
}

function lastName(folder: string): string {
  return folder.slice(Math.max(folder.lastIndexOf('/'), folder.lastIndexOf('\\')) + 1)
}

async function readJson<T>(file: string, schema: z.ZodType<T>): Promise<T | undefined> {
  try {
    return schema.parse(JSON.parse(await readFile(file, 'utf8')))
  } catch {
    return undefined
  }
}

/**
 * Returns a function that starts agents as `start` does, and keeps the folder of an installed agent while the agent runs. If an update
 * doesn't start, it's reverted: the next start uses the previous version, and the error says so.
 */
export function startInstalled(start: StartAgent, installed: InstalledAgents, log: Logger): StartAgent {
  return async (launch, client, options) => {
    // An agent that an earlier window left may be needed before the search for agents.
    await installed.ready()
    const agent = findLaunched(launch, installed.agents)
    if (!agent) return start(launch, client, options)
    const release = installed.use(agent)
    const { startProcess } = options
    try {
      const running = await start(launch, client, {
        ...options,
        ...(startProcess && {
          startProcess: async (...how) => {
            const process = await startProcess(...how)
            installed.useInProcess(agent, process.pid)
            return process
          },
        }),
      })
      running.onDidClose(() => release())
      void installed.started(agent).catch(error => log.warn(String(error)))
      return running
    } catch (error) {
      release()
      if (!(error instanceof AgentStartError) || error.failure.kind === 'cancelled') throw error
      const version = agent.canRollBack ? await installed.rollBack(agent) : undefined
      if (version === undefined) throw error
      log.warn(`${agent.name} ${agent.version} didn't start, so version ${version} was restored`)
      const message = l10n.t(
        "{0} {1} didn't start, so version {2} was restored. Try again. The error was: {3}",
        agent.name,
        agent.version,
        version,
        error.message,
      )
      throw new AgentStartError(error.failure, message)
    }
  }
}

/** Returns the installed agent to which a launch belongs: its program, or the script that VS Code's Node runs, is in the agent's folder. */
function findLaunched(
  { command, args }: AgentLaunch,
  agents: readonly InstalledAgent[],
): InstalledAgent | undefined {
  return agents.find(({ directory }) =>
    [command, args[0] ?? ''].some(path => path.startsWith(directory + sep)),
  )
}
