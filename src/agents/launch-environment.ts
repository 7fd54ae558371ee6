import { homedir } from 'node:os'
import type { Disposable } from '../common/disposable.ts'
import { SHELL_ENVIRONMENT_MS } from '../common/limits.ts'
import type { Logger } from '../common/logger.ts'
import { hostPlatform } from '../common/platform.ts'
import { type Environment, mergeEnvironment, pathVariable } from '../common/processes/spawn-process.ts'
import { commonBinDirectories, joinPaths, withoutEditorVariables } from './environment.ts'
import { loginShell, readLoginShellEnvironment } from './login-shell.ts'

/** The environment with which agents and MCP servers start, before their own settings are applied. */
export interface LaunchEnvironment {
  env: Environment
  platform: NodeJS.Platform
  /**
   * Where the environment comes from. `login-shell`: from the user's terminal. `process`: from the editor's process, used on Windows and
   * until the shell has run. `fallback`: from the editor's process, with the common directories of programs added, because the shell
   * failed.
   */
  source: 'login-shell' | 'process' | 'fallback'
}

export interface LaunchEnvironmentOptions {
  log: Logger
  /** Default: the environment of this process. */
  env?: Readonly<Record<string, string | undefined>>
  platform?: NodeJS.Platform
  home?: string
  /** The shell to run. Default: the user's shell. */
  shell?: string
  /** How long a profile may take, in milliseconds. Default: 10 s, as in VS Code. */
  timeoutMs?: number
  /** The Node (or Electron) executable that the shell runs. Default: the executable of this process. */
  execPath?: string
}

/**
 * Provides the environment of the user's login shell, which is read once per window. Version managers such as nvm, fnm and volta, and
 * Homebrew, add their directories to the PATH only in a shell's profile. An editor that was started from a dock doesn't read the profile.
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

  /** Returns the editor's environment, without the variables that the editor set for itself. Starts no process. */
  current(): LaunchEnvironment {
    return { env: { ...this.#own }, platform: this.#platform, source: 'process' }
  }

  /**
   * Resolves to the environment for agents. Runs the login shell the first time. Never rejects, and never takes longer than the time limit.
   */
  get(): Promise<LaunchEnvironment> {
    this.#asked ??= this.#ask()
    return this.#asked
  }

  /** Forgets the environment, so that the next `get` finds programs that were installed and profiles that were changed in the meantime. */
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
    // A system's profile may overwrite the PATH, and lose directories that a container's or remote's configuration has added.
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
