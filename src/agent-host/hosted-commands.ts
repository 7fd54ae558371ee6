import type { HostChannel, HostMessage } from '../acp/transport/host/channel.ts'
import type { HostedCommandInfo } from '../acp/transport/host/window-commands.ts'
import { messageOf } from '../common/errors.ts'
import { KILL_AFTER_MS } from '../common/limits.ts'
import { type OutputBuffer, shownOutputBuffer } from '../common/processes/command-output.ts'
import type { ProcessGuard } from '../common/processes/process-guard.ts'
import {
  type CommandExit,
  type CommandRequest,
  type RunningCommand,
  runCommand,
} from '../common/processes/run-command.ts'

interface HostedCommand {
  info: HostedCommandInfo
  output: OutputBuffer
  /** resolves to `undefined` if the command couldn't be started */
  running: Promise<RunningCommand | undefined>
  exit: CommandExit | undefined
  /** Whether the window lacks output because it doesn't read fast enough. */
  isBehind: boolean
}

/**
 * The maximum number of bytes that may wait for a window. Beyond this limit, the window gets the whole stored output once it has read the
 * waiting bytes.
 */
const MAX_WAITING = 4 * 1024 * 1024

/** The commands of an agent that its windows started. They continue while no window is attached. */
export class HostedCommands {
  readonly #commands = new Map<string, HostedCommand>()
  /**
   * The ids of commands that the window has released although an unanswered request names them. The next window may have to answer that
   * request.
   */
  readonly #forgotten = new Set<string>()
  readonly #isAsked: (id: string) => boolean
  readonly #guard: ProcessGuard
  readonly #onWork: () => void
  #window: HostChannel | undefined
  #hasEnded = false

  /**
   * `onWork` is called when a command has written output or exited. `isAsked` returns whether an unanswered request of the agent names this
   * id.
   */
  constructor(guard: ProcessGuard, onWork: () => void, isAsked: (id: string) => boolean) {
    this.#guard = guard
    this.#isAsked = isAsked
    this.#onWork = onWork
  }

  /** The commands that are starting or running, or whose output a window may still request. */
  get all(): HostedCommandInfo[] {
    return [...this.#commands.values()].map(({ info }) => info)
  }

  /** Sends a window the current output and all later output. */
  attach(window: HostChannel): void {
    this.#window = window
    for (const command of this.#commands.values()) {
      this.#sendWhole(command)
      if (command.exit) this.#sendExit(command, command.exit)
    }
    window.onDidDrain(() => {
      if (this.#window !== window) return
      for (const command of this.#commands.values()) if (command.isBehind) this.#sendWhole(command)
    })
  }

  detach(): void {
    this.#window = undefined
  }

  receive(message: HostMessage): void {
    switch (message.type) {
      case 'runCommand':
        this.#run(message.info as HostedCommandInfo, message.request as CommandRequest)
        return
      case 'killCommand':
        void this.#kill(String(message.id), Number(message.graceMs))
        return
      case 'forgetCommand':
        this.#forgotten.add(String(message.id))
        this.#forget()
    }
  }

  #forget(): void {
    for (const id of this.#forgotten) {
      if (this.#isAsked(id)) continue
      this.#forgotten.delete(id)
      this.#commands.delete(id)
    }
  }

  /** Handles a frame that a window sent to the agent, which now knows the ids of terminals in the frame. */
  sent(frame: Buffer): void {
    for (const { info } of this.#commands.values())
      if (!info.isAnswered && frame.includes(`"${info.id}"`)) info.isAnswered = true
    this.#forget()
  }

  /** Ends all commands. Later commands aren't started. */
  async end(): Promise<void> {
    this.#hasEnded = true
    const all = [...this.#commands.values()]
    await Promise.all(all.map(async ({ running }) => (await running)?.kill(KILL_AFTER_MS)))
  }

  #run(info: HostedCommandInfo, request: CommandRequest): void {
    const { id } = info
    const command: HostedCommand = {
      info,
      output: shownOutputBuffer(info.outputLimit),
      running: Promise.resolve(undefined),
      exit: undefined,
      isBehind: false,
    }
    this.#commands.set(id, command)
    const starting = runCommand(
      { ...request, guard: this.#guard, terminal: info },
      {
        onOutput: text => this.#onOutput(command, text),
        onWholeOutput: () => {},
        onExit: exit => {
          command.exit = exit
          this.#sendExit(command, exit)
          this.#onWork()
        },
      },
    )
    command.running = starting.then(
      running => {
        this.#window?.send({ type: 'commandStarted', id })
        // The agent has ended while the command was starting.
        if (this.#hasEnded) running.killNow()
        return running
      },
      error => {
        this.#commands.delete(id)
        this.#window?.send({ type: 'commandFailed', id, message: messageOf(error) })
        return undefined
      },
    )
  }

  /** Ends a command, even if it's still starting. */
  async #kill(id: string, graceMs: number): Promise<void> {
    const window = this.#window
    await (await this.#commands.get(id)?.running)?.kill(graceMs)
    window?.send({ type: 'commandGone', id })
  }

  #onOutput(command: HostedCommand, text: string): void {
    command.output.append(text)
    this.#onWork()
    const window = this.#window
    if (!window || command.isBehind) return
    if (window.waiting < MAX_WAITING)
      window.send({ type: 'commandOutput', id: command.info.id }, Buffer.from(text))
    else command.isBehind = true
  }

  #sendWhole(command: HostedCommand): void {
    command.isBehind = false
    const { info, output } = command
    const { truncated } = output
    this.#window?.send(
      { type: 'commandOutput', id: info.id, isWhole: true, truncated },
      Buffer.from(output.text()),
    )
  }

  #sendExit(command: HostedCommand, exit: CommandExit): void {
    if (command.isBehind) this.#sendWhole(command)
    this.#window?.send({ type: 'commandExit', id: command.info.id, exit })
  }
}
