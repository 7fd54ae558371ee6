import * as vscode from 'vscode'
import { Emitter } from '../../common/event.ts'
import { isRecord } from '../../common/is-record.ts'
import { PathRules } from '../../editor/path-rules.ts'
import type {
  DebugFeatures,
  DebugSessionState,
  DebugState,
  DebugStep,
  PausedThread,
  SourceBreakpoint,
} from '../../mcp/server/debug-features.ts'
import {
  type DescribedLaunch,
  type LaunchSettings,
  launchConfigurations,
} from '../../mcp/server/launch-configurations.ts'
import { pathOnDisk } from '../path-on-disk.ts'
import { launchVariables } from './variables.ts'

/** Length of the stored end of a session's output. Characters. */
const MAX_OUTPUT = 50_000
/** Number of ended sessions whose output and exit code are stored. */
const MAX_ENDED = 5

interface Followed {
  session: vscode.DebugSession
  /** absent if the session's messages weren't followed from the start */
  paused?: PausedThread[]
  /** set once the debugger no longer answers requests */
  isEnding?: true
  hasEnded?: true
  exitCode?: number
  output: string
}

// VS Code and languages spell a Windows drive in lower or upper case
const rules = new PathRules()

let followed: Followed[] = []
let follows = false
const change = new Emitter<DebugState>()

/** Commands that also update the state shown by VS Code, which a request to the debugger doesn't do. */
const STEPS: Readonly<Record<DebugStep, string>> = {
  continue: 'workbench.action.debug.continue',
  pause: 'workbench.action.debug.pause',
  step_over: 'workbench.action.debug.stepOver',
  step_into: 'workbench.action.debug.stepInto',
  step_out: 'workbench.action.debug.stepOut',
}
/** Requests after which a thread runs. */
const RESUMES = new Set('continue next stepIn stepOut stepBack reverseContinue goto restartFrame'.split(' '))

/** Debugging in VS Code, for the editor tools. Sessions are followed from the first call on. */
export function createDebugFeatures(): DebugFeatures {
  follow()
  return {
    state: async () => currentState(),
    output: async id => followed.find(one => one.session.id === id)?.output ?? '',
    request: async (id, command, args) => live(id).customRequest(command, args),
    configurations: async () =>
      configurations().map(({ name, folder }) => ({ name, ...(folder !== undefined && { folder }) })),
    async describe({ name, folder }) {
      const found = configurations().find(one => one.name === name && one.folder === folder)
      if (!found) throw new Error('There is no such configuration.')
      return found.describe()
    },
    start: ({ name, folder, own }) => {
      const found = vscode.workspace.workspaceFolders?.find(({ uri }) => pathOnDisk(uri) === folder)
      const launched = own as vscode.DebugConfiguration | undefined
      return Promise.resolve(vscode.debug.startDebugging(found, launched ?? name))
    },
    stop: async id => vscode.debug.stopDebugging(live(id)),
    async step(step, id, thread) {
      live(id)
      // the argument that the Call Stack view passes; without it, the commands use the focused thread
      const context = { sessionId: id, threadId: `thread:${id}:${thread}` }
      await vscode.commands.executeCommand(STEPS[step], undefined, context)
    },
    breakpoints: async () => sourceBreakpoints().map(breakpointOf),
    async setBreakpoint({ path, line, condition, log }) {
      const at = new vscode.Location(vscode.Uri.file(path), new vscode.Position(line - 1, 0))
      const breakpoint = new vscode.SourceBreakpoint(at, true, condition, undefined, log)
      vscode.debug.addBreakpoints([breakpoint])
    },
    async removeBreakpoints(path, line) {
      const found = sourceBreakpoints().filter(one => {
        const own = breakpointOf(one)
        return rules.same(own.path, path) && own.line === line
      })
      vscode.debug.removeBreakpoints(found)
      return found.length
    },
    onDidChange: change.event,
  }
}

function follow(): void {
  if (follows) return
  follows = true
  // of earlier debug sessions, VS Code reports only the active one
  if (vscode.debug.activeDebugSession) entryOf(vscode.debug.activeDebugSession)
  vscode.debug.registerDebugAdapterTrackerFactory('*', {
    createDebugAdapterTracker(session) {
      const entry = entryOf(session)
      entry.paused ??= []
      // a session that restarts has another adapter
      delete entry.isEnding
      delete entry.hasEnded
      return {
        onWillReceiveMessage: message => followRequest(entry, message),
        onDidSendMessage: message => followEvent(entry, message),
      }
    },
  })
  vscode.debug.onDidStartDebugSession(session => {
    entryOf(session)
    change.fire(currentState())
  })
  vscode.debug.onDidTerminateDebugSession(session => {
    const entry = entryOf(session)
    entry.hasEnded = true
    entry.paused = []
    const ended = followed.filter(one => one.hasEnded)
    followed = followed.filter(one => !one.hasEnded || ended.indexOf(one) >= ended.length - MAX_ENDED)
    change.fire(currentState())
  })
}

function entryOf(session: vscode.DebugSession): Followed {
  const known = followed.find(one => one.session.id === session.id)
  if (known) return known
  const entry: Followed = { session, output: '' }
  followed.push(entry)
  return entry
}

function followRequest(entry: Followed, message: unknown): void {
  if (!isRecord(message) || message.type !== 'request') return
  if (message.command === 'disconnect') {
    // VS Code reports the end only some time after its last request
    entry.isEnding = true
    entry.paused = []
  }
  if (!RESUMES.has(String(message.command))) return
  resumed(entry, isRecord(message.arguments) ? message.arguments.threadId : undefined)
}

function followEvent(entry: Followed, message: unknown): void {
  if (!isRecord(message) || message.type !== 'event') return
  const body = isRecord(message.body) ? message.body : {}
  switch (message.event) {
    case 'stopped': {
      const { threadId, allThreadsStopped, reason, text, description } = body
      const thread = typeof threadId === 'number' && allThreadsStopped !== true ? threadId : undefined
      const detail = text ?? description
      if (thread !== undefined) resumed(entry, thread)
      else entry.paused = []
      entry.paused!.push({
        ...(typeof threadId === 'number' && { thread: threadId }),
        reason: String(reason),
        ...(typeof detail === 'string' && detail !== '' && { detail }),
      })
      // the other threads, which are paused because this thread stopped
      if (thread === undefined && typeof threadId === 'number') entry.paused!.push({ reason: 'pause' })
      break
    }
    case 'continued':
      resumed(entry, body.allThreadsContinued === true ? undefined : body.threadId)
      break
    case 'exited':
      if (typeof body.exitCode === 'number') entry.exitCode = body.exitCode
      return
    case 'output':
      if (body.category !== 'telemetry' && typeof body.output === 'string')
        entry.output = (entry.output + body.output).slice(-MAX_OUTPUT)
      return
    default:
      return
  }
  change.fire(currentState())
}

function resumed(entry: Followed, thread: unknown): void {
  const { paused = [] } = entry
  const isAll = thread === undefined || paused.some(one => one.thread === undefined)
  entry.paused = isAll ? [] : paused.filter(one => one.thread !== thread)
}

function currentState(): DebugState {
  const { activeDebugSession: session, activeStackItem: item } = vscode.debug
  const thread = item?.session.id === session?.id ? item?.threadId : undefined
  return {
    sessions: followed.map(stateOf),
    ...(session && { active: { session: session.id, ...(thread !== undefined && { thread }) } }),
  }
}

function stateOf({ session, paused, isEnding, hasEnded, exitCode }: Followed): DebugSessionState {
  const { id, name, type, configuration, parentSession } = session
  return {
    ...{ id, name, type, configuration: configuration.name },
    ...(parentSession && { parent: parentSession.id }),
    ...(paused && { paused: [...paused] }),
    ...(isEnding && { isEnding }),
    ...(hasEnded && { hasEnded }),
    ...(exitCode !== undefined && { exitCode }),
  }
}

function live(id: string): vscode.DebugSession {
  const found = followed.find(one => one.session.id === id && !one.isEnding && !one.hasEnded)
  if (!found) throw new Error('The debug session has ended.')
  return found.session
}

/** Returns the launch configurations of all folders and of the workspace file. */
function configurations(): DescribedLaunch[] {
  const { workspaceFolders = [], workspaceFile } = vscode.workspace
  const settings: LaunchSettings[] = workspaceFolders.map(({ uri, name }) => {
    const launch = vscode.workspace.getConfiguration('launch', uri)
    const of = (key: string) => {
      const found = launch.inspect(key)
      return workspaceFile
        ? found?.workspaceFolderValue
        : (found?.workspaceFolderValue ?? found?.workspaceValue)
    }
    return {
      ...{ folder: pathOnDisk(uri), folderName: name, variables: launchVariables(uri) },
      ...{ configurations: of('configurations'), compounds: of('compounds') },
    }
  })
  if (workspaceFile) {
    const launch = vscode.workspace.getConfiguration('launch')
    const value = launch.inspect('configurations')?.workspaceValue
    settings.push({ configurations: value, compounds: [], variables: launchVariables() })
  }
  return launchConfigurations(settings)
}

function sourceBreakpoints(): vscode.SourceBreakpoint[] {
  return vscode.debug.breakpoints.filter(
    one => one instanceof vscode.SourceBreakpoint && one.location.uri.scheme === 'file',
  ) as vscode.SourceBreakpoint[]
}

function breakpointOf({
  location,
  condition,
  logMessage,
  enabled,
}: vscode.SourceBreakpoint): SourceBreakpoint {
  return {
    path: pathOnDisk(location.uri),
    line: location.range.start.line + 1,
    ...(condition && { condition }),
    ...(logMessage && { log: logMessage }),
    ...(!enabled && { isOff: true as const }),
  }
}
