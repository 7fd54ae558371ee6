/**
 * The commands that one session's agent runs. Their state and output are updates of the session, so that the conversation
 * shows it live; the last part of the output is kept for the agent until it releases the terminal, and for the view until
 * the session ends.
 */
import { randomUUID } from 'node:crypto'
import type { CreateTerminalRequest, SessionUpdate, TerminalExit, TerminalOutput } from '../../acp/model.ts'
import { redact } from '../../acp/redact.ts'
import { type Deferred, deferred } from '../../common/async.ts'
import type { Disposable } from '../../common/disposable.ts'
import { Emitter, type Event } from '../../common/event.ts'
import { KILL_AFTER_MS } from '../../common/limits.ts'
import type { ProcessGuard } from '../../common/processes/process-guard.ts'
import { PathRules } from '../path-rules.ts'
import { type RunCommand, type RunningCommand, runCommand } from './command-process.ts'
import { OutputBuffer } from './terminal-output.ts'

/** Maximum output in bytes that is kept, also used if the agent doesn't specify a limit. */
const MAX_OUTPUT_BYTES = 8 * 1024 * 1024

export interface SessionTerminalsOptions {
  /** the session's working directory, used for requests without one */
  cwd: string
  /** the base environment of commands: that of the user's login shell */
  env: Readonly<Record<string, string>>
  /** ends running commands if this process dies without having done so */
  guard?: ProcessGuard
  run?: RunCommand
  rules?: PathRules
  killGraceMs?: number
}

/** What a view can show of a terminal, also after the agent released it. */
export interface TerminalRecord {
  terminalId: string
  /** as a user would type it */
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
  /** Resolves when all of its processes have exited. */
  ending: Promise<void> | undefined
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
    this.#run = options.run ?? runCommand
    this.#rules = options.rules ?? new PathRules()
  }

  /** Fires `terminal` when a command starts and exits, and `terminal_output` in between. */
  readonly onUpdate: Event<SessionUpdate> = listener => this.#updates.event(listener)

  /** Starts the command. Rejects with a sentence if it can't be started. */
  async create(request: Omit<CreateTerminalRequest, 'sessionId'>): Promise<{ terminalId: string }> {
    if (this.#ended) throw new Error('The session has ended.')
    if (request.command.trim() === '') throw new Error('The command to run is empty.')
    const cwd = this.#rules.absolute(this.#options.cwd, request.cwd || '.')
    const terminal = newTerminal(request, cwd)
    const early: string[] = []
    let started = false
    const hear = (text: string) => {
      terminal.buffer.append(text)
      this.#updates.fire({ type: 'terminal_output', terminalId: terminal.id, text })
    }
    const running = await this.#run(
      {
        command: request.command,
        args: request.args,
        cwd,
        env: this.#environment(request.env),
        guard: this.#options.guard,
      },
      {
        onOutput: text => (started ? hear(text) : early.push(text)),
        onExit: exit => this.#onExit(terminal, exit),
      },
    )
    terminal.running = running
    if (this.#ended) {
      // It ended while the command was starting.
      await running.kill(this.#grace)
      throw new Error('The session has ended.')
    }
    this.#terminals.set(terminal.id, terminal)
    this.#updates.fire({
      type: 'terminal',
      terminal: { terminalId: terminal.id, command: terminal.command, cwd, output: '' },
    })
    started = true
    for (const text of early) hear(text)
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

  /** Ends the command and its children; resolves when the command has exited. Its output stays available. */
  async kill(terminalId: string): Promise<void> {
    const terminal = this.#held(terminalId)
    void this.#end(terminal)
    await terminal.exited.promise
  }

  /** Ends the command and its children; the agent can't access the terminal anymore. */
  async release(terminalId: string): Promise<void> {
    const terminal = this.#held(terminalId)
    terminal.released = true
    void this.#end(terminal)
    await terminal.exited.promise
  }

  /** Ends running commands after a cancellation, since some agents leave them running. Resolves when all have exited. */
  async killAll(): Promise<void> {
    const running = [...this.#terminals.values()].filter(terminal => !terminal.exit)
    await Promise.all(running.map(terminal => this.#end(terminal)))
  }

  /** Ends everything and accepts nothing more. Resolves when all processes are gone. */
  async endSession(): Promise<void> {
    this.#ended = true
    const all = [...this.#terminals.values()]
    for (const terminal of all) terminal.released = true
    await Promise.all(all.map(terminal => this.#end(terminal)))
  }

  /** Kills all processes immediately, because the window closes. */
  dispose(): void {
    this.#ended = true
    for (const terminal of this.#terminals.values()) {
      terminal.released = true
      terminal.running?.killNow()
      if (!terminal.exit) this.#onExit(terminal, { exitCode: null, signal: 'SIGKILL' })
    }
    this.#updates.dispose()
  }

  /** What the view can show of a terminal; `undefined` for an unknown id. */
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

  #onExit(terminal: Terminal, exit: TerminalExit): void {
    if (terminal.exit) return
    terminal.exit = exit
    // Set only now, so that the last output is available when the agent requests it.
    terminal.exited.resolve(exit)
    if (this.#terminals.has(terminal.id)) this.#tellExit(terminal, exit)
  }

  #tellExit(terminal: Terminal, exit: TerminalExit): void {
    this.#updates.fire({ type: 'terminal', terminal: { terminalId: terminal.id, exit } })
  }

  #environment(more: CreateTerminalRequest['env']): Record<string, string> {
    const env: Record<string, string> = { ...this.#options.env }
    for (const { name, value } of more) {
      if (name === '' || name.includes('=') || name.includes('\0') || value.includes('\0')) {
        throw new Error(`${JSON.stringify(name)} can't be an environment variable of a command.`)
      }
      if (this.#rules.platform === 'win32') {
        // On Windows, `PATH` and `Path` are the same variable, and only one of them would be used.
        for (const known of Object.keys(env)) {
          if (known.toUpperCase() === name.toUpperCase()) delete env[known]
        }
      }
      env[name] = value
    }
    return env
  }
}

function newTerminal(request: Omit<CreateTerminalRequest, 'sessionId'>, cwd: string): Terminal {
  const limit = Math.min(request.outputByteLimit ?? MAX_OUTPUT_BYTES, MAX_OUTPUT_BYTES)
  return {
    id: randomUUID(),
    command: [...variablesOf(request), shown(request.command, request.args)].join(' '),
    cwd,
    buffer: new OutputBuffer(limit),
    running: undefined,
    exit: undefined,
    exited: deferred<TerminalExit>(),
    released: false,
    ending: undefined,
  }
}

/** Variables that agents set for plain output; none of them changes what a command does. */
const PLAIN_VARIABLES =
  /^(?:CLAUDECODE|CLAUDE_CODE_\w+|CI|TERM|COLORTERM|NO_COLOR|FORCE_COLOR|CLICOLOR\w*|COLUMNS|LINES|LANG|LC_\w+|TZ|DEBIAN_FRONTEND|PYTHONUNBUFFERED|PYTHONIOENCODING)$/

/** Whether a variable may change what a command does, and is shown with it. */
export function changesBehavior(name: string): boolean {
  return !PLAIN_VARIABLES.test(name)
}

/** Variables as they are typed before a command. */
function variablesOf({ env }: Pick<CreateTerminalRequest, 'env'>): string[] {
  return env
    .filter(({ name }) => changesBehavior(name))
    .map(({ name, value }) => {
      const text = redact({ [name]: value }) as Record<string, string>
      return `${name}=${quoted(text[name] ?? '')}`
    })
}

/** A command as a user would type it: arguments with spaces or special characters of the shell are quoted. */
function shown(command: string, args: readonly string[]): string {
  if (args.length === 0) return command
  return [command, ...args].map(quoted).join(' ')
}

function quoted(part: string): string {
  return /^[\w@%+=:,./\\-]+$/.test(part) ? part : `'${part.replaceAll("'", "'\\''")}'`
}
