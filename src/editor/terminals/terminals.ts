/**
 * The commands that one session's agent runs. Their state and output are updates of the session, so that the conversation shows them live.
 * The last part of the output is kept for the agent until it releases the terminal, and for the view until the session ends.
 */
import { randomUUID } from 'node:crypto'
import type { CreateTerminalRequest, SessionUpdate, TerminalExit, TerminalOutput } from '../../acp/model.ts'
import { redact } from '../../acp/redact.ts'
import { type Deferred, deferred } from '../../common/async.ts'
import type { Disposable } from '../../common/disposable.ts'
import { Emitter, type Event } from '../../common/event.ts'
import { KILL_AFTER_MS } from '../../common/limits.ts'
import { OutputBuffer } from '../../common/processes/command-output.ts'
import type { ProcessGuard } from '../../common/processes/process-guard.ts'
import {
  type CommandEvents,
  type CommandHost,
  type CommandTerminal,
  type RunCommand,
  type RunningCommand,
  runCommand,
} from '../../common/processes/run-command.ts'
import { mergeEnvironment } from '../../common/processes/spawn-process.ts'
import { PathRules } from '../path-rules.ts'

/** Maximum number of bytes of output that is kept, even if the agent specifies no limit. */
const MAX_OUTPUT_BYTES = 8 * 1024 * 1024

export interface SessionTerminalsOptions {
  /** the session's working directory, used for requests without a directory */
  cwd: string
  /** the base environment of commands */
  env: () => Promise<Readonly<Record<string, string>>>
  /** the encoding of output that isn't UTF-8, if the user configured one */
  encoding?: () => Promise<string | undefined>
  /** ends running commands if this process dies before it has ended them */
  guard?: ProcessGuard
  run?: RunCommand
  /** runs commands that outlive this window */
  host?: CommandHost
  rules?: PathRules
  killGraceMs?: number
}

/** The data of a terminal that a view can show, even after the agent released the terminal. */
export interface TerminalRecord {
  terminalId: string
  /** the command as a user would type it */
  command: string
  cwd: string
  output: string
  truncated: boolean
  exit?: TerminalExit
  released: boolean
}

interface Terminal {
  id: string
  command: string
  cwd: string
  buffer: OutputBuffer
  running: RunningCommand | undefined
  exit: TerminalExit | undefined
  exited: Deferred<TerminalExit>
  released: boolean
  /** Resolves when all processes of the terminal have exited. */
  ending: Promise<void> | undefined
  /** milliseconds since the epoch; absent if an earlier window started the command */
  startedAt?: number
  /** An earlier window started the command, and was gone before it could tell the agent the terminal's id. */
  isUnanswered?: boolean
}

export class SessionTerminals implements Disposable {
  readonly #options: SessionTerminalsOptions
  readonly #run: RunCommand
  readonly #rules: PathRules
  readonly #terminals = new Map<string, Terminal>()
  readonly #updates = new Emitter<SessionUpdate>()
  #ended = false

  constructor(options: SessionTerminalsOptions) {
    this.#options = options
    this.#run = options.run ?? options.host?.run ?? runCommand
    this.#rules = options.rules ?? new PathRules()
  }

  /** Fires a `terminal` update when a command starts and when it exits, and `terminal_output` in between. */
  readonly onUpdate: Event<SessionUpdate> = listener => this.#updates.event(listener)

  /** Continues with the commands that an earlier window started. */
  resume(): void {
    const { host } = this.#options
    for (const { id, shown, cwd, outputLimit, isAnswered } of host?.earlier ?? []) {
      if (this.#terminals.has(id)) continue
      const terminal = emptyTerminal({ id, shown, cwd, outputLimit })
      terminal.isUnanswered = !isAnswered
      this.#terminals.set(id, terminal)
      this.#updates.fire({ type: 'terminal', terminal: { terminalId: id, command: shown, cwd } })
      terminal.running = host?.resume(id, this.#eventsOf(terminal))
    }
  }

  /** Starts a command. Rejects with a sentence if it can't be started. */
  async create(request: Omit<CreateTerminalRequest, 'sessionId'>): Promise<{ terminalId: string }> {
    if (this.#ended) throw new Error('The session has ended.')
    if (request.command.trim() === '') throw new Error('The command to run is empty.')
    const cwd = this.#rules.absolute(this.#options.cwd, request.cwd || '.')
    const shown = [...variablesOf(request), commandLine(request.command, request.args)].join(' ')
    // the agent repeats a request that an earlier window could no longer answer, but the command may run only once
    const unanswered = [...this.#terminals.values()].find(
      one => one.isUnanswered && !one.ending && one.command === shown && one.cwd === cwd,
    )
    if (unanswered) {
      unanswered.isUnanswered = false
      return { terminalId: unanswered.id }
    }
    const outputLimit = Math.min(request.outputByteLimit ?? MAX_OUTPUT_BYTES, MAX_OUTPUT_BYTES)
    const info = { id: randomUUID(), shown, cwd, outputLimit }
    const terminal = emptyTerminal(info)
    const early: string[] = []
    let started = false
    const events = this.#eventsOf(terminal)
    const [env, encoding] = await Promise.all([this.#environment(request.env), this.#options.encoding?.()])
    // the session may have ended while the login shell ran
    if (this.#ended) throw new Error('The session has ended.')
    const running = await this.#run(
      {
        command: request.command,
        args: request.args,
        cwd,
        env,
        guard: this.#options.guard,
        encoding,
        terminal: info,
      },
      { ...events, onOutput: text => (started ? events.onOutput(text) : early.push(text)) },
    )
    terminal.running = running
    if (this.#ended) {
      // The session ended while the command was starting.
      await running.kill(this.#grace)
      running.forget?.()
      throw new Error('The session has ended.')
    }
    terminal.startedAt = Date.now()
    this.#terminals.set(terminal.id, terminal)
    this.#updates.fire({
      type: 'terminal',
      terminal: { terminalId: terminal.id, command: terminal.command, cwd, output: '' },
    })
    started = true
    for (const text of early) events.onOutput(text)
    if (terminal.exit) this.#tellExit(terminal, terminal.exit)
    return { terminalId: terminal.id }
  }

  async output(terminalId: string): Promise<TerminalOutput> {
    const { buffer, exit } = this.#held(terminalId)
    return { output: buffer.text(), truncated: buffer.truncated, ...(exit && { exit }) }
  }

  /** Resolves when the command has exited for any reason. */
  waitForExit(terminalId: string): Promise<TerminalExit> {
    try {
      return this.#held(terminalId).exited.promise
    } catch (error) {
      return Promise.reject(error)
    }
  }

  /** Ends the command and its children. Resolves when the command has exited. Its output stays available. */
  async kill(terminalId: string): Promise<void> {
    const terminal = this.#held(terminalId)
    void this.#end(terminal)
    await terminal.exited.promise
  }

  /** Ends the command and its children. The agent can't access the terminal afterward. */
  async release(terminalId: string): Promise<void> {
    const terminal = this.#held(terminalId)
    terminal.released = true
    const ended = this.#end(terminal)
    await terminal.exited.promise
    void ended.then(() => terminal.running?.forget?.())
  }

  /** Whether any command is running. */
  get isRunning(): boolean {
    return this.running.size > 0
  }

  /**
   * The ids of terminals with a running command, with its start time (milliseconds since the epoch), unless an earlier window started it.
   */
  get running(): ReadonlyMap<string, number | undefined> {
    const running = new Map<string, number | undefined>()
    for (const { id, exit, startedAt } of this.#terminals.values()) if (!exit) running.set(id, startedAt)
    return running
  }

  /** Ends the command and its children at the user's request. Returns false if the command isn't running here. */
  stop(terminalId: string): boolean {
    const terminal = this.#terminals.get(terminalId)
    if (!terminal || terminal.exit) return false
    void this.#end(terminal)
    return true
  }

  /** Ends running commands after a cancellation, since some agents leave them running. Resolves when all commands have exited. */
  async killAll(): Promise<void> {
    const running = [...this.#terminals.values()].filter(terminal => !terminal.exit)
    await Promise.all(running.map(terminal => this.#end(terminal)))
  }

  /** Ends all commands and rejects later requests. Resolves when all processes are gone. */
  async endSession(): Promise<void> {
    this.#ended = true
    const all = [...this.#terminals.values()]
    for (const terminal of all) terminal.released = true
    await Promise.all(all.map(terminal => this.#end(terminal)))
    for (const { running } of all) running?.forget?.()
  }

  /** Kills all processes that don't outlive the window immediately, because the window closes. */
  dispose(): void {
    this.#ended = true
    for (const terminal of this.#terminals.values()) {
      // the agent outlives the window, too, and waits for these commands
      if (terminal.running?.outlivesWindow) continue
      terminal.released = true
      terminal.running?.killNow()
      if (!terminal.exit) this.#onExit(terminal, { exitCode: null, signal: 'SIGKILL' })
    }
    this.#updates.dispose()
  }

  /** Returns the displayed data of a terminal; `undefined` for an unknown id. */
  record(terminalId: string): TerminalRecord | undefined {
    const terminal = this.#terminals.get(terminalId)
    if (!terminal) return undefined
    const { id, command, cwd, buffer, exit, released } = terminal
    return {
      terminalId: id,
      command,
      cwd,
      output: buffer.text(),
      truncated: buffer.truncated,
      ...(exit && { exit }),
      released,
    }
  }

  get #grace(): number {
    return this.#options.killGraceMs ?? KILL_AFTER_MS
  }

  #held(terminalId: string): Terminal {
    const terminal = this.#terminals.get(terminalId)
    if (!terminal) throw new Error(`There is no terminal ${JSON.stringify(terminalId)} in this session.`)
    if (terminal.released) throw new Error(`The terminal ${JSON.stringify(terminalId)} was released.`)
    return terminal
  }

  #end(terminal: Terminal): Promise<void> {
    terminal.ending ??= terminal.running?.kill(this.#grace) ?? Promise.resolve()
    return terminal.ending
  }

  #eventsOf(terminal: Terminal): CommandEvents {
    const { id, buffer } = terminal
    return {
      onOutput: text => {
        buffer.append(text)
        this.#updates.fire({ type: 'terminal_output', terminalId: id, text })
      },
      onWholeOutput: (text, truncated) => {
        buffer.reset(text, truncated)
        this.#updates.fire({ type: 'terminal', terminal: { terminalId: id, output: text } })
      },
      onExit: exit => this.#onExit(terminal, exit),
    }
  }

  #onExit(terminal: Terminal, exit: TerminalExit): void {
    if (terminal.exit) return
    terminal.exit = exit
    // Resolve only now, so that the last output is available when the agent requests it.
    terminal.exited.resolve(exit)
    if (this.#terminals.has(terminal.id)) this.#tellExit(terminal, exit)
  }

  #tellExit(terminal: Terminal, exit: TerminalExit): void {
    this.#updates.fire({ type: 'terminal', terminal: { terminalId: terminal.id, exit } })
  }

  async #environment(more: CreateTerminalRequest['env']): Promise<Record<string, string>> {
    for (const { name, value } of more) {
      if (name === '' || name.includes('=') || name.includes('\0') || value.includes('\0')) {
        throw new Error(`${JSON.stringify(name)} can't be an environment variable of a command.`)
      }
    }
    const own = Object.fromEntries(more.map(({ name, value }) => [name, value]))
    return mergeEnvironment(await this.#options.env(), own, this.#rules.platform)
  }
}

function emptyTerminal({ id, shown, cwd, outputLimit }: CommandTerminal): Terminal {
  return {
    id,
    command: shown,
    cwd,
    buffer: new OutputBuffer(outputLimit),
    running: undefined,
    exit: undefined,
    exited: deferred<TerminalExit>(),
    released: false,
    ending: undefined,
  }
}

/** Matches variables that agents set for plain output and that don't change the effect of a command. */
const PLAIN_VARIABLES =
  /^(?:CLAUDECODE|CLAUDE_CODE_\w+|CI|TERM|COLORTERM|NO_COLOR|FORCE_COLOR|CLICOLOR\w*|COLUMNS|LINES|LANG|LC_\w+|TZ|DEBIAN_FRONTEND|PYTHONUNBUFFERED|PYTHONIOENCODING)$/

/** Whether a variable may change the effect of a command, so that it's shown with the command. */
export function changesBehavior(name: string): boolean {
  return !PLAIN_VARIABLES.test(name)
}

/** Returns variables in the form in which they are typed before a command. */
function variablesOf({ env }: Pick<CreateTerminalRequest, 'env'>): string[] {
  return env
    .filter(({ name }) => changesBehavior(name))
    .map(({ name, value }) => {
      const text = redact({ [name]: value }) as Record<string, string>
      return `${name}=${quoted(text[name] ?? '')}`
    })
}

/** Returns a command as a user would type it: arguments with spaces or special characters of the shell are quoted. */
function commandLine(command: string, args: readonly string[]): string {
  if (args.length === 0) return command
  return [command, ...args].map(quoted).join(' ')
}

function quoted(part: string): string {
  return /^[\w@%+=:,./\\-]+$/.test(part) ? part : `'${part.replaceAll("'", "'\\''")}'`
}
