import { type Deferred, deferred } from '../../../common/async.ts'
import { type OutputBuffer, shownOutputBuffer } from '../../../common/processes/command-output.ts'
import type {
  CommandEvents,
  CommandExit,
  CommandHost,
  CommandTerminal,
  RunningCommand,
} from '../../../common/processes/run-command.ts'
import type { HostChannel, HostMessage } from './channel.ts'

/** A command that the host runs for an agent's session. */
export interface HostedCommandInfo extends CommandTerminal {
  sessionId: string
  /** Whether the agent has got the terminal's id. */
  isAnswered: boolean
}

interface Command {
  info: HostedCommandInfo
  started: Deferred<void>
  /** Resolves when all processes of the command have exited after `kill`. */
  gone: Deferred<void>
  events: CommandEvents | undefined
  /** the output that arrived before there was a listener */
  output: OutputBuffer
  exit: CommandExit | undefined
}

interface WindowCommandsOptions {
  channel: HostChannel
  /** the commands that earlier windows started */
  earlier: readonly HostedCommandInfo[]
  /** Whether the agent and its commands keep running when this window is gone. */
  outlivesWindow: () => boolean
}

/** The commands that the host runs for an agent's sessions, as this window sees them. */
export class WindowCommands {
  readonly #options: WindowCommandsOptions
  readonly #commands = new Map<string, Command>()
  readonly #earlier = new Set<string>()

  constructor(options: WindowCommandsOptions) {
    this.#options = options
    for (const info of options.earlier) {
      this.#earlier.add(info.id)
      this.#add(info)
    }
  }

  of(sessionId: string): CommandHost {
    const all = [...this.#commands.values()]
    return {
      earlier: all.flatMap(({ info, events }) => (info.sessionId === sessionId && !events ? info : [])),
      run: async ({ command, args, cwd, env, encoding, terminal }, events) => {
        const added = this.#add({ ...terminal, sessionId, isAnswered: false })
        added.events = events
        const request = { command, args, cwd, env, encoding }
        const { channel } = this.#options
        channel.send({ type: 'runCommand', info: added.info, request })
        if (channel.isClosed) this.close(true)
        await added.started.promise
        return this.#running(added)
      },
      resume: (id, events) => {
        const known = this.#commands.get(id)
        if (!known) throw new Error(`The command ${id} isn't in the host`)
        known.events = events
        events.onWholeOutput(known.output.text(), known.output.truncated)
        if (known.exit) events.onExit(known.exit)
        return this.#running(known)
      },
    }
  }

  /** Handles the host's message about a command. */
  receive(message: HostMessage, body: Buffer): void {
    const command = this.#commands.get(String(message.id))
    if (!command) return
    const { events, output } = command
    switch (message.type) {
      case 'commandStarted':
        command.started.resolve()
        return
      case 'commandFailed':
        this.#commands.delete(command.info.id)
        command.started.reject(new Error(String(message.message)))
        command.gone.resolve()
        // The agent still waits for the exit of a command that an earlier window started.
        if (this.#earlier.has(command.info.id)) events?.onExit({ exitCode: 127, signal: null })
        return
      case 'commandOutput': {
        const text = body.toString()
        const truncated = message.truncated === true
        if (message.isWhole === true) (events?.onWholeOutput ?? output.reset.bind(output))(text, truncated)
        else (events?.onOutput ?? output.append.bind(output))(text)
        return
      }
      case 'commandExit':
        command.exit = message.exit as CommandExit
        events?.onExit(command.exit)
        return
      case 'commandGone':
        command.gone.resolve()
    }
  }

  /** Ends all commands for this window. `areRunning`: whether they continue in the host; otherwise, they have ended with the host. */
  close(areRunning: boolean): void {
    for (const { started, gone, events, exit } of this.#commands.values()) {
      started.reject(new Error('The agent host has ended.'))
      if (!areRunning && !exit) events?.onExit({ exitCode: null, signal: 'SIGKILL' })
      gone.resolve()
    }
    this.#commands.clear()
  }

  #add(info: HostedCommandInfo): Command {
    const [started, gone] = [deferred(), deferred()]
    // The command may end with its window before anything awaits this promise, which must not become an unhandled rejection.
    started.promise.catch(() => {})
    const output = shownOutputBuffer(info.outputLimit)
    const command: Command = { info, started, gone, output, events: undefined, exit: undefined }
    this.#commands.set(info.id, command)
    return command
  }

  #running({ info: { id }, gone }: Command): RunningCommand {
    const { channel, outlivesWindow } = this.#options
    const kill = (graceMs: number) => channel.send({ type: 'killCommand', id, graceMs })
    return {
      kill: async graceMs => {
        if (!this.#commands.has(id)) return
        kill(graceMs)
        await gone.promise
      },
      killNow: () => kill(0),
      get outlivesWindow() {
        return outlivesWindow()
      },
      forget: () => {
        this.#commands.delete(id)
        channel.send({ type: 'forgetCommand', id })
      },
    }
  }
}
