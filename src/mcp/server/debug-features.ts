import type { Event } from '../../common/event.ts'

/** A thread that stopped; without an id, all threads. */
export interface PausedThread {
  thread?: number
  /** such as `breakpoint` or `exception` */
  reason: string
  /** such as the exception's message */
  detail?: string
}

export interface DebugSessionState {
  id: string
  name: string
  /** type of its debugger, such as `node` */
  type: string
  /** The name of the configuration that started the session. Debuggers give child sessions other names. */
  configuration?: string
  /** id of the session that started this one */
  parent?: string
  /** The paused threads; absent for a session that began before Parley followed debug sessions. */
  paused?: readonly PausedThread[]
  /** Its debugger answers nothing anymore; it ends soon. */
  isEnding?: true
  hasEnded?: true
  exitCode?: number
}

export interface DebugState {
  /** The sessions, and the last few that ended. */
  sessions: readonly DebugSessionState[]
  /** The session and thread that the user has selected. */
  active?: { session: string; thread?: number }
}

/** A configuration or compound of launch.json. */
export type LaunchEntry = Pick<LaunchConfiguration, 'name' | 'folder'>

/** The effects of a configuration or compound. */
export interface LaunchConfiguration {
  name: string
  /** the path of its folder; absent for a configuration of the workspace file */
  folder?: string
  /**
   * The content for the user: with inputs and other variables that VS Code replaces; for a compound also its configurations. Empty if the
   * content can't be determined.
   */
  content: string
  /** The names of tasks that run before or after the configuration, as in `TaskInfo.dependsOn`, with their possible folders. */
  tasks: ReadonlyArray<{ name: string; folder?: string }>
  /** Of a compound: the names of the configurations that it starts. */
  members?: readonly string[]
  /** Names that the configuration refers to and that are missing or ambiguous. */
  unresolved?: readonly string[]
  /** Of the workspace file: the configuration itself, since VS Code doesn't look up its name. */
  own?: Readonly<Record<string, unknown>>
}

export interface SourceBreakpoint {
  path: string
  line: number
  condition?: string
  /** A logpoint: writes this to the Debug Console instead of pausing. */
  log?: string
  isOff?: true
}

export type DebugStep = 'continue' | 'pause' | 'step_over' | 'step_into' | 'step_out'

/** Debugging, as only the editor knows it. */
export interface DebugFeatures {
  state(): Promise<DebugState>
  /** The end of a session's output in the Debug Console. */
  output(session: string): Promise<string>
  /** A request of the Debug Adapter Protocol, and its answer's body. */
  request(session: string, command: string, args?: Record<string, unknown>): Promise<unknown>
  configurations(): Promise<LaunchEntry[]>
  /** May take a while: the configuration, and the settings that it refers to, may be large. Rejects if it isn't there anymore. */
  describe(entry: LaunchEntry): Promise<LaunchConfiguration>
  /** Starts a configuration of `configurations`. `false`: it didn't start, and the user has seen why. */
  start(configuration: LaunchConfiguration): Promise<boolean>
  stop(session: string): Promise<void>
  step(step: DebugStep, session: string, thread: number): Promise<void>
  breakpoints(): Promise<SourceBreakpoint[]>
  setBreakpoint(breakpoint: SourceBreakpoint): Promise<void>
  /** Removes the breakpoints of a line; returns their number. */
  removeBreakpoints(path: string, line: number): Promise<number>
  /** A session started, paused, continued or ended. */
  readonly onDidChange: Event<DebugState>
}
