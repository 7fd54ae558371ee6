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
  /** Ends the process tree if this process dies without having done so. */
  guard?: ProcessGuard
  /** Secrets to redact in stderr. */
  secrets?: SecretRegistry
}

/** How long to wait before each stronger step when ending the agent, in milliseconds. */
export interface StopTimes {
  /** after stdin was closed, before SIGTERM */
  terminateAfterMs: number
  /** after SIGTERM, before SIGKILL */
  killAfterMs: number
}

/** See {@link AGENT_EXIT_MS}; two measured agents never exit by themselves. */
export const GENTLE_STOP: StopTimes = { terminateAfterMs: AGENT_EXIT_MS, killAfterMs: KILL_AFTER_MS }
/** For an agent that failed to start. */
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
  /** Another window started the agent, and `state` is from that window. */
  readonly ranBefore: boolean
  readonly state: HostedAgentState
  /** Whether the agent keeps running when this window is gone. */
  readonly outlivesWindow: boolean
  /** Decides how long the agent keeps running when this window is gone. */
  keep(times: OutliveTimes): void
  /** This window has stored the agent's output up to this frame, so the host may drop it. A frame is a line of output. */
  confirm(frame: number): void
  /** Runs the commands of a session, so that they can outlive this window. */
  commandsOf(sessionId: string): CommandHost
  /** Tells the next window something about a session. */
  note(sessionId: string, note: unknown): void
  /**
   * This window is about to listen at a port where the agent expects a server. Until then, the host occupies the port. Resolves when the
   * host has freed the port. Doesn't reject.
   */
  serve(port: number): Promise<void>
  /**
   * Leaves the agent to the host and to the next window. Input that was written before still reaches the agent; later input doesn't.
   * Resolves when the host has all input, so that another window may attach. The result is the input, in whole lines, that didn't reach the
   * agent because another window had already attached.
   */
  detach(): Promise<string>
  /** Another window has attached although this one didn't detach. */
  readonly onDidLose: Event<void>
}

/**
 * A running agent: one process tree with one owner, which ends it with {@link stop} (or `dispose`). Its children end
 * with it, also when it exits or crashes by itself. Whoever holds it doesn't know which process is its parent.
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
  /** Resolves when stderr has been read to its end, or `ms` have passed, since a grandchild may keep it open. */
  stderrRead(ms: number): Promise<void>
  /**
   * Ends the whole tree: closes stdin, waits, SIGTERM, waits, SIGKILL. Resolves when all of it has exited. A second call
   * waits for the first.
   */
  stop(times?: StopTimes): Promise<void>
  /** Present if its parent is the agent host. */
  readonly hosted?: HostedLink
}

/**
 * Starts the agent in a process group of its own.
 * @throws SpawnError
 */
export type StartProcess = (launch: SpawnRequest, options: AgentProcessOptions) => Promise<RunningProcess>
