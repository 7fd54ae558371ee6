import type { Readable, Writable } from 'node:stream'
import type { Disposable } from '../../common/disposable.ts'
import type { Event } from '../../common/event.ts'
import { AGENT_EXIT_MS, KILL_AFTER_MS } from '../../common/limits.ts'
import type { ProcessGuard } from '../../common/processes/process-guard.ts'
import type { CommandHost } from '../../common/processes/run-command.ts'
import type { SpawnRequest } from '../../common/processes/spawn-process.ts'
import type { SecretRegistry } from '../../common/secrets.ts'
import type { ConnectionProblem } from '../remote-address.ts'
import type { HostedAgentState, OutliveTimes } from './host/hosted-agent-state.ts'

export interface AgentProcessOptions {
  /** Receives stderr in whole lines. */
  onStderr?: (line: string) => void
  /** Ends the process tree if this process dies without having ended it. */
  guard?: ProcessGuard
  /** Secrets to redact in stderr. */
  secrets?: SecretRegistry
}

/** How long to wait before each stronger step to end an agent, in milliseconds. */
export interface StopTimes {
  /** after stdin was closed, before SIGTERM */
  terminateAfterMs: number
  /** after SIGTERM, before SIGKILL */
  killAfterMs: number
}

/** See {@link AGENT_EXIT_MS} for the reason of the time. Two of the measured agents never exit by themselves. */
export const GENTLE_STOP: StopTimes = { terminateAfterMs: AGENT_EXIT_MS, killAfterMs: KILL_AFTER_MS }
/** The times for an agent that failed to start. */
export const QUICK_STOP: StopTimes = { terminateAfterMs: 100, killAfterMs: 500 }

export interface ProcessExit {
  exitCode: number | null
  signal: string | null
  /** Why the connection to an agent on a server was lost. */
  problem?: ConnectionProblem
}

/** The connection of a window to an agent that can outlive the window. */
export interface HostedLink {
  /** The id of the agent in its host. */
  readonly id: string
  /** Whether another window started the agent. Then `state` is what the host knows from that window. */
  readonly ranBefore: boolean
  readonly state: HostedAgentState
  /** Whether the agent keeps running when this window is gone. */
  readonly outlivesWindow: boolean
  /** Decides how long the agent keeps running when this window is gone. */
  keep(times: OutliveTimes): void
  /**
   * Confirms that this window has stored the agent's output up to this frame, so that the host may drop it. A frame is a line of output.
   */
  confirm(frame: number): void
  /** Returns an object that runs the commands of a session, so that they can outlive this window. */
  commandsOf(sessionId: string): CommandHost
  /** Stores a note about a session for the next window. */
  note(sessionId: string, note: unknown): void
  /**
   * Announces that this window is about to listen at a port where the agent expects a server. Until then, the host occupies the port.
   * Resolves when the host has freed the port. Never rejects.
   */
  serve(port: number): Promise<void>
  /**
   * Leaves the agent to the host and to the next window. Input that was written earlier still reaches the agent, and later input doesn't.
   * Resolves when the host has all input, so that another window may attach, to the input that didn't reach the agent because another
   * window had already attached, in whole lines.
   */
  detach(): Promise<string>
  /** Fires when another window has attached although this window didn't detach. */
  readonly onDidLose: Event<void>
}

/**
 * A running agent: a process tree with one owner, which ends the tree with {@link stop} (or `dispose`). The agent's children end with the
 * agent, even if it exits or crashes by itself. The owner doesn't know which process is the agent's parent.
 */
export interface RunningProcess extends Disposable {
  readonly pid: number
  readonly stdin: Writable
  readonly stdout: Readable
  /** Resolves when the process has exited. Never rejects. */
  readonly exited: Promise<ProcessExit>
  readonly hasExited: boolean
  /** The last part of stderr, in whole lines where possible. */
  readonly stderrTail: string
  /** Resolves when stderr has been read to its end, or after `ms` milliseconds, because a grandchild may keep stderr open. */
  stderrRead(ms: number): Promise<void>
  /**
   * Ends the whole process tree: closes stdin, waits, sends SIGTERM, waits, and sends SIGKILL. Resolves when all processes have exited. A
   * second call waits for the first.
   */
  stop(times?: StopTimes): Promise<void>
  /** Present if the agent's parent is the agent host. */
  readonly hosted?: HostedLink
}

/**
 * Starts the agent in its own process group.
 * @throws SpawnError
 */
export type StartProcess = (launch: SpawnRequest, options: AgentProcessOptions) => Promise<RunningProcess>
