import { homedir } from 'node:os'
import type { Disposable } from '../common/disposable.ts'
import { SHELL_ENVIRONMENT_MS } from '../common/limits.ts'
import type { Logger } from '../common/logger.ts'
import { hostPlatform } from '../common/platform.ts'
import { type Environment, mergeEnvironment, pathVariable } from '../common/processes/spawn-process.ts'
import { commonBinDirectories, joinPaths, withoutEditorVariables } from './environment.ts'
import { loginShell, readLoginShellEnvironment } from './login-shell.ts'

/** The environment that agents and MCP servers start with, before their own settings are applied. */
export interface LaunchEnvironment {
  env: Environment
  platform: NodeJS.Platform
  /**
   * `login-shell`: that of the user's terminal. `process`: that of the editor, used on Windows and before the shell was
   * run. `fallback`: the same with the common directories of programs, since the shell failed.
   */
  source: 'login-shell' | 'process' | 'fallback'
}

export interface LaunchEnvironmentOptions {
  log: Logger
  /** Default: this process's. */
  env?: Readonly<Record<string, string | undefined>>
  platform?: NodeJS.Platform
  home?: string
  /** The shell to run. Default: the user's. */
  shell?: string
  /** How long a profile may take. Default: 10 s, as in VS Code. */
  timeoutMs?: number
  /** A Node (or Electron) for the shell to run. Default: this process's. */
  execPath?: string
}

/**
 * The environment of a login shell, read once per window. Version managers such as nvm, fnm and volta, and Homebrew, add
 * their directories to the PATH only in a shell's profile, which an editor started from a dock doesn't read.
 */
export class LaunchEnvironmentSource implements Disposable {
  readonly #log: Logger
  readonly #own: Environment
  readonly #platform: NodeJS.Platform
  readonly #home: string
  readonly #shell: string | undefined
  readonly #timeoutMs: number
  readonly #execPath: string
  readonly #ended = new AbortController()
  #asked: Promise<LaunchEnvironment> | undefined

  constructor(options: LaunchEnvironmentOptions) {
    this.#log = options.log
    this.#platform = options.platform ?? hostPlatform
    this.#home = options.home ?? homedir()
    this.#own = withoutEditorVariables(options.env ?? process.env, this.#platform)
    this.#shell = options.shell ?? loginShell(this.#own)
    this.#timeoutMs = options.timeoutMs ?? SHELL_ENVIRONMENT_MS
    this.#execPath = options.execPath ?? process.execPath
  }

  /** The editor's own environment, without its own variables. Starts nothing. */
  current(): LaunchEnvironment {
    return { env: { ...this.#own }, platform: this.#platform, source: 'process' }
  }

  /**
   * The environment to start agents with. Runs the login shell the first time; never rejects, and never takes longer than
   * the time limit.
   */
  get(): Promise<LaunchEnvironment> {
    this.#asked ??= this.#ask()
    return this.#asked
  }

  /** Forgets the environment, so that the next `get` finds programs that were installed and profiles that were changed since. */
  refresh(): void {
    this.#asked = undefined
  }

  async #ask(): Promise<LaunchEnvironment> {
    if (this.#platform === 'win32') return this.current()
    if (this.#shell === undefined) return this.#fallBack('there is no login shell')

    const began = performance.now()
    const answer = await readLoginShellEnvironment({
      shell: this.#shell,
      env: this.#own,
      cwd: this.#home,
      timeoutMs: this.#timeoutMs,
      execPath: this.#execPath,
      signal: this.#ended.signal,
    })
    if ('failure' in answer) return this.#fallBack(`${this.#shell}: ${answer.failure}`)

    const milliseconds = Math.round(performance.now() - began)
    this.#log.info(
      `The environment for agents comes from the login shell ${this.#shell} (${milliseconds} ms).`,
    )
    const env = withoutEditorVariables(answer.env, this.#platform)
    // A system's profile may overwrite PATH and lose the directories that a container's or remote's configuration added.
    env.PATH = joinPaths(
      [pathVariable(env, this.#platform), pathVariable(this.#own, this.#platform)],
      this.#platform,
    )
    return { env, platform: this.#platform, source: 'login-shell' }
  }

  async #fallBack(why: string): Promise<LaunchEnvironment> {
    const own = pathVariable(this.#own, this.#platform)
    const common = await commonBinDirectories(this.#home, this.#platform)
    const path = joinPaths([own, ...common], this.#platform)
    this.#log.warn(
      `The environment of the login shell couldn't be read (${why}). ` +
        `Agents start with the editor's own, and are searched in ${path}.`,
    )
    return {
      env: mergeEnvironment(this.#own, { PATH: path }, this.#platform),
      platform: this.#platform,
      source: 'fallback',
    }
  }

  /** Ends a shell that is still running. */
  dispose(): void {
    this.#ended.abort()
  }
}
