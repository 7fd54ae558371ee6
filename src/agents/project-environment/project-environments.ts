import { type StatsListener, unwatchFile, watchFile } from 'node:fs'
import { stat } from 'node:fs/promises'
import { basename, dirname, join, parse } from 'node:path'
import { isDeepStrictEqual, stripVTControlCharacters } from 'node:util'
import * as l10n from '@vscode/l10n'
import { withTimeout } from '../../common/async.ts'
import { Owner, toDisposable } from '../../common/disposable.ts'
import { messageOf } from '../../common/errors.ts'
import { Emitter } from '../../common/event.ts'
import { fileStamp } from '../../common/file-stamp.ts'
import {
  PROJECT_ENVIRONMENT_MS,
  RETRY_PROJECT_MS,
  SELECTED_PYTHON_MS,
  SLOW_TOOL_MS,
  WATCH_PROJECT_MS,
} from '../../common/limits.ts'
import type { Logger } from '../../common/logger.ts'
import { hostPlatform } from '../../common/platform.ts'
import type { ProcessGuard } from '../../common/processes/process-guard.ts'
import { runProgram } from '../../common/processes/run-program.ts'
import { type Environment, findCommand } from '../../common/processes/spawn-process.ts'
import { shortened, visible } from '../../common/visible.ts'
import { withChanges } from '../environment.ts'
import type { LaunchEnvironment } from '../launch-environment.ts'
import {
  type EnvironmentChanges,
  isToolState,
  type ProjectTool,
  projectTools,
  readChanges,
} from './project-tools.ts'
import {
  activation,
  type PythonEnvironment,
  type PythonSelection,
  pythonEnvironment,
} from './python-environment.ts'

/** What one tool changes in the environment of a folder. */
export interface ToolEnvironment {
  tool: string
  /** The sorted names of the variables that the tool sets or removes. */
  names: readonly string[]
}

/** Why a tool's environment is missing in a folder, in words for the user. */
export interface EnvironmentProblem {
  title: string
  description: string
}

/** The environment that a project provides for processes that start in a folder. */
export interface ProjectEnvironment {
  tools: readonly ToolEnvironment[]
  problems: readonly EnvironmentProblem[]
  /** In the order in which the tools are applied. */
  changes: readonly EnvironmentChanges[]
}

export interface ProjectEnvironmentsOptions {
  /** Resolves to the environment of the login shell. */
  base: () => Promise<LaunchEnvironment>
  /** Returns whether the workspace is trusted and the user hasn't turned off project environments. */
  isOn: () => boolean
  python?: PythonSelection
  log: Logger
  guard?: ProcessGuard
  /** The time limit for all tools together. Default: 30 s. */
  timeoutMs?: number
  /** The time after which a tool that took too long is run again. Default: one minute. */
  retryMs?: number
  /** How long the start of a process waits for the selected Python environment. Default: 10 s. */
  pythonMs?: number
  /** How often the tools' files are checked for changes. */
  watchMs?: number
}

/** The maximum length of a tool's output, in UTF-16 code units. */
const MAX_OUTPUT = 1_000_000
/** The maximum length of a shown message of a tool, in characters. */
const MAX_SAID = 200

const NONE: ProjectEnvironment = { tools: [], problems: [], changes: [] }

interface Known {
  environment: ProjectEnvironment
  base: LaunchEnvironment
  /** the stamps of the files on which the environment depends, as they were when the tools ran */
  stamps: ReadonlyMap<string, string>
  python: PythonEnvironment | undefined
  /** when a tool took too long, as returned by `performance.now()` */
  slowAt: number | undefined
  /** whether a file on which the environment depends has changed */
  mayDiffer?: boolean
  unwatch: () => void
}

/**
 * The environments that direnv and mise provide for folders, as in the user's terminal, and the Python environments that the user selected.
 * A tool runs only if one of its files is in the folder or in a parent, and provides only what the user has allowed. Its result is kept
 * until one of the files changes. An agent may have changed that file, so a change alone runs no tool: the tool runs when the environment
 * is needed again.
 */
export class ProjectEnvironments extends Owner {
  readonly #options: ProjectEnvironmentsOptions
  readonly #change = this.register(new Emitter<string>())
  readonly #slowChange = this.register(new Emitter<void>())
  readonly #ended = new AbortController()
  /** by folder: the known environment */
  readonly #known = new Map<string, Known>()
  readonly #asking = new Map<string, Promise<ProjectEnvironment>>()
  /** requested folders, with or without a project environment */
  readonly #folders = new Set<string>()
  /** folders for which the Python extension hasn't answered within the time limit */
  readonly #late = new Set<string>()
  /** by folder: the tool that has been running for some time */
  readonly #slow = new Map<string, string>()

  /** Fires with a folder whose environment has changed, may have changed, or became known. */
  readonly onDidChange = this.#change.event
  readonly onDidChangeSlow = this.#slowChange.event

  constructor(options: ProjectEnvironmentsOptions) {
    super()
    this.#options = options
    if (options.python)
      this.register(
        options.python.onDidChange(() => {
          for (const folder of this.#folders) void this.#pythonChanged(folder)
        }),
      )
    this.register(
      toDisposable(() => {
        this.#ended.abort()
        for (const { unwatch } of this.#known.values()) unwatch()
      }),
    )
  }

  /** Returns the environment of a folder as far as it's known, without running tools. */
  known(folder: string): ProjectEnvironment {
    return (this.#options.isOn() && this.#known.get(folder)?.environment) || NONE
  }

  /** Returns the name of the tool that has been running for some time for the folder. */
  slowTool(folder: string): string | undefined {
    return this.#slow.get(folder)
  }

  /** Whether something on which the folder's environment depends has changed since the tools ran. */
  mayDiffer(folder: string): boolean {
    return this.#options.isOn() && this.#known.get(folder)?.mayDiffer === true
  }

  /** Hides the note that the environment may have changed, until something changes again. */
  dismiss(folder: string): void {
    this.#mark(folder, false)
  }

  /** Resolves to the environment of processes that start in the folder. Never rejects. `again`: runs the tools again. */
  async environmentFor(folder: string, again = false): Promise<LaunchEnvironment> {
    const { changes } = await this.of(folder, again)
    const base = await this.#options.base()
    let { env } = base
    for (const over of changes) env = withChanges(env, over, base.platform)
    return { ...base, env }
  }

  /** Resolves to the environment that the folder's project adds. Never rejects. `again`: runs the tools again. */
  async of(folder: string, again = false): Promise<ProjectEnvironment> {
    const running = this.#asking.get(folder)
    if (running) return running
    const asked = this.#ask(folder, again).finally(() => this.#asking.delete(folder))
    this.#asking.set(folder, asked)
    return asked
  }

  /** Reports the tool as slow while its work takes longer than a moment. */
  async #naming<T>(folder: string, tool: string, work: Promise<T>): Promise<T> {
    const timer = setTimeout(() => {
      this.#slow.set(folder, tool)
      this.#slowChange.fire()
    }, SLOW_TOOL_MS)
    try {
      return await work
    } finally {
      clearTimeout(timer)
      if (this.#slow.delete(folder)) this.#slowChange.fire()
    }
  }

  #mark(folder: string, mayDiffer: boolean): void {
    const known = this.#known.get(folder)
    if (!known || (known.mayDiffer ?? false) === mayDiffer) return
    known.mayDiffer = mayDiffer
    this.#change.fire(folder)
  }

  async #pythonChanged(folder: string): Promise<void> {
    // A running request may be answered with the previous selection.
    await this.#asking.get(folder)
    const python = await this.#selectedPython(folder)
    if (!isDeepStrictEqual(python, this.#known.get(folder)?.python)) await this.#changed(folder)
  }

  async #changed(folder: string): Promise<void> {
    const before = this.#known.get(folder)
    // Without a tool's file, no tool runs, so the environment can be determined at once.
    if ((await findFiles(folder)).length === 0) await this.of(folder)
    // The mark is only needed if the tools haven't run in the meantime.
    else if (this.#known.get(folder) === before) this.#mark(folder, true)
  }

  async #ask(folder: string, again: boolean): Promise<ProjectEnvironment> {
    if (!this.#options.isOn() || this.owned.isDisposed) return NONE
    this.#folders.add(folder)
    const [found, python] = await Promise.all([findFiles(folder), this.#selectedPython(folder)])
    const known = this.#known.get(folder)
    const base = await this.#options.base()
    if (found.length === 0 && !python && !projectTools.some(tool => tool.isLoaded(base.env, folder))) {
      this.#remember(folder, undefined)
      return NONE
    }
    const { timeoutMs = PROJECT_ENVIRONMENT_MS, retryMs = RETRY_PROJECT_MS } = this.#options
    const isCurrent =
      known !== undefined &&
      // The tools don't report all files that they read, so `again` runs them again. A tool that was too slow is an exception, so that
      // agents don't wait for it at each start.
      (!again || (known.slowAt !== undefined && performance.now() < known.slowAt + retryMs)) &&
      isDeepStrictEqual(known.base, base) &&
      isDeepStrictEqual(known.python, python) &&
      found.every(({ file }) => known.stamps.has(file)) &&
      isDeepStrictEqual(await readStamps([...known.stamps.keys()]), known.stamps)
    if (isCurrent) {
      this.#mark(folder, false)
      return known.environment
    }
    // The stamps are read before the tools run, so that a later change is noticed.
    const stamps = await readStamps([...found.map(({ file }) => file), ...(python?.watched ?? [])])
    const deadline = performance.now() + timeoutMs
    const { environment, watched } = await this.#run(folder, found, base, python, deadline)
    const ended = performance.now()
    for (const [file, stamp] of await readStamps(watched)) if (!stamps.has(file)) stamps.set(file, stamp)
    if (this.owned.isDisposed || !this.#options.isOn()) return NONE
    const unwatch = this.#watch(folder, stamps)
    const slowAt = ended < deadline ? undefined : ended
    this.#remember(folder, { environment, base, stamps, python, slowAt, unwatch })
    return environment
  }

  /** Resolves to the environment that the user selected for the folder with the Python extension. */
  async #selectedPython(folder: string): Promise<PythonEnvironment | undefined> {
    const { python, log, pythonMs = SELECTED_PYTHON_MS } = this.#options
    if (!python || this.#late.has(folder)) return undefined
    let isAnswered = false
    const asking = python
      .selected(folder)
      .then(selected => pythonEnvironment(selected, hostPlatform))
      .catch(error => {
        log.warn(`The Python extension failed for ${folder}: ${messageOf(error)}`)
        return undefined
      })
      .finally(() => {
        isAnswered = true
      })
    const found = await this.#naming(folder, 'Python', withTimeout(asking, pythonMs))
    if (isAnswered) return found
    log.warn(`The Python extension didn't answer for ${folder} within ${pythonMs / 1000} s.`)
    this.#late.add(folder)
    void asking.then(() => {
      this.#late.delete(folder)
      return this.#pythonChanged(folder)
    })
    return undefined
  }

  #remember(folder: string, next: Known | undefined): void {
    const before = this.#known.get(folder)
    before?.unwatch()
    if (next) this.#known.set(folder, next)
    else this.#known.delete(folder)
    const isSame = isDeepStrictEqual(before?.environment, next?.environment)
    if (before?.mayDiffer || !isSame) this.#change.fire(folder)
  }

  /** Watches the files for changes. `stamps` says how the files were when the tools read them. */
  #watch(folder: string, stamps: ReadonlyMap<string, string>): () => void {
    const files = [...stamps.keys()]
    const interval = this.#options.watchMs ?? WATCH_PROJECT_MS
    const listeners = files.map((file): [string, StatsListener] => [
      file,
      (now, before) => {
        // All listeners of a file share Node's last state of it, so the change may be older than this watch.
        const stamp = now.nlink === 0 ? '' : fileStamp(now)
        if (stamp !== fileStamp(before) && stamp !== stamps.get(file)) void this.#changed(folder)
      },
    ])
    for (const [file, changed] of listeners) watchFile(file, { persistent: false, interval }, changed)
    // Node doesn't report changes before its first read of the files, so the files are compared once.
    const first = setTimeout(async () => {
      const isSame = isDeepStrictEqual(await readStamps(files), stamps)
      if (!isSame && this.#known.get(folder)?.stamps === stamps) void this.#changed(folder)
    }, interval).unref()
    return () => {
      clearTimeout(first)
      for (const [file, changed] of listeners) unwatchFile(file, changed)
    }
  }

  async #run(
    folder: string,
    found: readonly FoundFile[],
    base: LaunchEnvironment,
    python: PythonEnvironment | undefined,
    deadline: number,
  ): Promise<{ environment: ProjectEnvironment; watched: string[] }> {
    const tools: ToolEnvironment[] = []
    const problems: EnvironmentProblem[] = []
    const changes: EnvironmentChanges[] = []
    const watched: string[] = []
    let under = base
    const apply = (more: EnvironmentChanges) => {
      changes.push(more)
      under = { ...under, env: withChanges(under.env, more, base.platform) }
    }
    for (const tool of projectTools) {
      const files = found.filter(one => one.tool === tool)
      // The previous variables are reverted first. Otherwise, the tool wouldn't report variables that are already set, perhaps by another
      // project.
      const isLoaded = tool.isLoaded(under.env, folder)
      if (tool.undo && (isLoaded || files.length > 0)) apply(tool.undo(under) ?? {})
      else if (isLoaded) {
        const unloaded = await this.#runOne(tool, parse(folder).root, under, '', deadline)
        if (unloaded && !unloaded.problem) apply(unloaded.changes)
      }
      // Reverting has also removed the variables that the tool sets for all folders, so the tool must then run even without files.
      if (files.length === 0 && !(tool.undo && isLoaded)) continue
      const name = files[0] ? basename(files[0].file) : tool.command
      const running = this.#runOne(tool, folder, under, name, deadline)
      const answer = await this.#naming(folder, tool.command, running)
      if (!answer) continue
      watched.push(...tool.watched(base.env, answer.changes))
      if (answer.problem) {
        problems.push(answer.problem)
        continue
      }
      apply(answer.changes)
      const names = Object.keys(answer.changes).filter(name => !isToolState(name))
      if (names.length > 0) tools.push({ tool: tool.command, names: names.toSorted() })
    }
    const set: EnvironmentChanges = Object.assign({}, ...changes)
    // An environment that the project itself activates takes precedence over one that was selected or found in the editor. Otherwise, the
    // editor's environment is applied last, so that its Python is found before the Python of mise.
    if (python && !set.VIRTUAL_ENV && !set.CONDA_PREFIX) {
      const activated = await activation(python, under)
      apply(activated)
      tools.push({ tool: 'Python', names: Object.keys(activated).toSorted() })
    }
    return { environment: { tools, problems, changes }, watched }
  }

  /** Runs a tool. Resolves to `undefined` if the tool isn't installed. */
  async #runOne(
    tool: ProjectTool,
    folder: string,
    base: LaunchEnvironment,
    file: string,
    deadline: number,
  ): Promise<{ changes: EnvironmentChanges; problem?: EnvironmentProblem } | undefined> {
    const { log, timeoutMs = PROJECT_ENVIRONMENT_MS, guard } = this.#options
    const { env, platform } = base
    const name = tool.command
    const search = await findCommand(name, { env, platform, cwd: folder })
    if (!('path' in search)) {
      log.info(`The environment of ${name} for ${folder} isn't read, because ${name} isn't on the PATH.`)
      return undefined
    }
    const fail = (description: string, changes: EnvironmentChanges = {}) => {
      log.warn(`The environment of ${name} for ${folder}: ${description}`)
      const title = l10n.t("The environment of {0} isn't used", name)
      return { changes, problem: { title, description } }
    }
    const began = performance.now()
    try {
      const limits = { maxOutput: MAX_OUTPUT, signal: this.#ended.signal, guard }
      const run = (how: Pick<ProjectTool, 'args' | 'env'>, seen: Environment) =>
        runProgram(
          { command: search.path, args: how.args, cwd: folder, env: { ...seen, ...how.env } },
          { ...limits, timeoutMs: Math.max(0, deadline - performance.now()) },
        )
      const { check } = tool
      const checked =
        check &&
        (await run(check, Object.fromEntries(Object.entries(env).filter(([name]) => check.seen.test(name)))))
      const isAllowed = !checked || ('code' in checked && checked.code === 0)
      const result = isAllowed ? await run(tool, env) : checked
      if ('ended' in result) {
        if (result.ended === 'too-long')
          return fail(l10n.t('{0} printed more than {1} characters.', file, MAX_OUTPUT))
        return fail(l10n.t("{0} didn't finish within {1} seconds.", file, timeoutMs / 1000))
      }
      const { code, stdout, stderr } = result
      if (code !== 0) {
        // Even after a failure, direnv prints its own state, which names the files to watch.
        const changes = name === 'direnv' ? readChanges(stdout, env) : {}
        if (tool.blocked.test(stderr))
          return fail(l10n.t('To use {0}, review it and run `{1}` in its folder.', file, tool.allow), changes)
        const said =
          tool.error.exec(stripVTControlCharacters(stderr))?.[1] ??
          l10n.t('It ended with exit code {0}.', `${code}`)
        return fail(l10n.t('{0} failed: {1}', file, shortened(visible(said), MAX_SAID)), changes)
      }
      const changes = readChanges(stdout, env)
      const milliseconds = Math.round(performance.now() - began)
      log.info(`The environment of ${name} for ${folder} was read (${milliseconds} ms).`)
      return { changes }
    } catch (error) {
      return fail(l10n.t('{0} failed: {1}', file, shortened(visible(messageOf(error)), MAX_SAID)))
    }
  }
}

interface FoundFile {
  tool: ProjectTool
  file: string
}

/** Resolves to the tools' files in the folder and its parents, nearest first. */
async function findFiles(folder: string): Promise<FoundFile[]> {
  const candidates: FoundFile[] = []
  for (let at = folder; ; at = dirname(at)) {
    for (const tool of projectTools)
      for (const name of tool.files) candidates.push({ tool, file: join(at, name) })
    if (at === parse(at).root || dirname(at) === at) break
  }
  const exist = await Promise.all(
    candidates.map(({ file }) =>
      stat(file).then(
        found => found.isFile(),
        () => false,
      ),
    ),
  )
  return candidates.filter((_, at) => exist[at])
}

async function readStamps(files: readonly string[]): Promise<Map<string, string>> {
  const stamps = files.map(async (file): Promise<[string, string]> => {
    try {
      return [file, fileStamp(await stat(file))]
    } catch {
      return [file, '']
    }
  })
  return new Map(await Promise.all(stamps))
}
