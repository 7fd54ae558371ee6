import { isDeepStrictEqual } from 'node:util'
import * as l10n from '@vscode/l10n'
import * as z from 'zod'
import { deferred, raceAbort, withTimeout } from '../../common/async.ts'
import { messageOf } from '../../common/errors.ts'
import { isRecord } from '../../common/is-record.ts'
import { DEBUG_REQUEST_MS } from '../../common/limits.ts'
import { shortened } from '../../common/visible.ts'
import { linesThatFit } from './answer.ts'
import type {
  DebugFeatures,
  DebugSessionState,
  DebugState,
  LaunchConfiguration,
  PausedThread,
} from './debug-features.ts'
import type { TaskInfo } from './editor-features.ts'
import { fileInput, lineInput, offsetInput } from './find-symbol.ts'
import { at, tool } from './reading-tools.ts'
import type { Roots } from './roots.ts'
import { namedText, TaskReferences, unclearTasks } from './seen-tasks.ts'
import { inOneLine } from './text-lines.ts'
import type { ToolAnswer, ToolContext } from './tool.ts'
import { ToolError } from './tool-error.ts'

const MAX_FRAMES = 20
const MAX_THREADS = 50
const MAX_VARIABLES = 100
/** Characters of a variable's value. */
const MAX_VALUE = 500
/** Lines of the Debug Console. */
const MAX_CONSOLE = 500
/** How long a call waits until the program pauses or ends by default, and at most. Seconds. */
const PAUSE_SECONDS = 10
const MAX_PAUSE_SECONDS = 600

const sessionInput = z
  .string()
  .max(200)
  .optional()
  .describe('Its id. Default: the one that the user looks at')
const idInput = z.number().int().min(0).optional()

const debugState = tool({
  name: 'debug_state',
  title: 'Debugger',
  description:
    'What the debugger of the editor knows: sessions with their threads, and of a paused one the call stack, with the variables of a frame. Without a session: launch configurations and breakpoints. "evaluate" runs an expression in the program, and so does "variables" of a property that a getter computes: the user is asked, unless a rule allows it. Everything else only reads.',
  input: z.object({
    session: sessionInput,
    thread: idInput,
    frame: z.number().int().min(0).max(1000).optional().describe('From 0, the top of the call stack'),
    variables: z
      .number()
      .int()
      .min(1)
      .optional()
      .describe('The number after "#" of a value: lists what it contains, instead of the call stack'),
    evaluate: z
      .string()
      .min(1)
      .max(10_000)
      .optional()
      .describe('An expression of the language, in the frame'),
    console: z.boolean().optional().describe('Tells the end of the Debug Console instead'),
    offset: offsetInput,
  }),
  async run(input, context): Promise<ToolAnswer> {
    for (;;)
      try {
        return await debuggerState(input, context)
      } catch (error) {
        // the debug session ended while its state was read; a question without an id is about the sessions that still run
        const { session, variables, evaluate } = input
        const isOfAny = session === undefined && variables === undefined && evaluate === undefined
        if (!(error instanceof SessionEnded) || !isOfAny) throw error
      }
  },
})

async function debuggerState(
  input: z.output<typeof debugState.input>,
  context: ToolContext,
): Promise<ToolAnswer> {
  const { features, roots, signal } = context
  const { debug } = features
  const state = await debug.state()
  if (input.console) return { ...(await readConsole(debug, state, input.session)), ...at(input.offset) }
  const session = chooseSession(state, input.session)
  if (!session) {
    if (input.evaluate !== undefined || input.variables !== undefined)
      throw new ToolError('Nothing is debugged. Call "debug_state" without anything.')
    return { ...(await idleState(debug, state, roots)), ...at(input.offset) }
  }
  const request = (command: string, args?: Record<string, unknown>) =>
    requestOf(debug, session.id, command, args, signal)
  if (session.hasEnded) return { text: `${headOf(session)} Call with "console" for what it wrote.` }
  const list = (reference: number, indent: string) =>
    readVariables(request, reference, indent, lazyOf(debug, state, session.id))
  if (input.variables !== undefined) {
    const { variables: reference } = input
    const lazy = lazyOf(debug, state, session.id).get(reference)
    const data = await (lazy === undefined
      ? list(reference, '')
      : askToEvaluate(context, session.name, lazy, () => list(reference, '')))
    return { text: data.length === 0 ? 'It contains nothing.' : undefined, data, ...at(input.offset) }
  }
  const { answer, frameId } = await readState(debug, state, session, roots, request, input)
  if (input.evaluate === undefined) {
    const { text, data = [] } = answer
    return { text, data: [...data, ...(await breakpointLines(debug, roots))], ...at(input.offset) }
  }
  const { evaluate: expression } = input
  const result = await askToEvaluate(context, session.name, expression, () =>
    request('evaluate', {
      ...{ expression, context: 'repl' },
      ...(frameId !== undefined && { frameId }),
    }),
  )
  const { result: value, type, variablesReference } = isRecord(result) ? result : {}
  const data = [valueText({ value, type, variablesReference }, Number.POSITIVE_INFINITY)]
  if (Number(variablesReference) > 0) data.push(...(await list(Number(variablesReference), '  ')))
  return { data, ...at(input.offset) }
}

async function askToEvaluate<T>(
  context: ToolContext,
  name: string,
  code: string,
  work: () => Promise<T>,
): Promise<T> {
  const conversation = await context.conversation()
  const title = l10n.t('Evaluate an expression in {0}', name)
  return conversation.permitted({ tool: 'debug_state', title, kind: 'execute', code }, context.signal, work)
}

/** The references of values that only running code in the program gives, with their names, by session. */
const lazyReferences = new WeakMap<DebugFeatures, Map<string, Map<number, string>>>()

function lazyOf(debug: DebugFeatures, state: DebugState, session: string): Map<number, string> {
  const sessions = lazyReferences.get(debug) ?? new Map<string, Map<number, string>>()
  lazyReferences.set(debug, sessions)
  // a session missing from `state` may have started after it was read, so its entry is kept
  for (const { id, hasEnded } of state.sessions) if (hasEnded) sessions.delete(id)
  const found = sessions.get(session) ?? new Map<number, string>()
  sessions.set(session, found)
  return found
}

const ACTIONS = [
  'start',
  'stop',
  'continue',
  'pause',
  'step_over',
  'step_into',
  'step_out',
  'set_breakpoint',
  'remove_breakpoint',
] as const

const debugControl = tool({
  name: 'debug_control',
  title: 'Control the debugger',
  description:
    'Starts a launch configuration in the debugger of the editor, where the user sees it, continues, pauses, steps and stops, and sets and removes breakpoints. After what makes the program run it waits until the program pauses or ends, and tells where. The user is asked, unless a rule allows it.',
  input: z.object({
    action: z.enum(ACTIONS),
    configuration: z.string().max(500).optional().describe('For "start": a name that "debug_state" lists'),
    folder: z
      .string()
      .max(4096)
      .optional()
      .describe('Needed if several folders have that configuration; "workspace" is the workspace file'),
    session: sessionInput,
    thread: idInput.describe('Default: the one that is paused'),
    file: fileInput.optional().describe('Of the breakpoint'),
    line: lineInput.optional(),
    condition: z.string().max(2000).optional().describe('The breakpoint pauses only if this is true'),
    log: z
      .string()
      .max(2000)
      .optional()
      .describe('The breakpoint writes this to the Debug Console instead of pausing; {x} is a value'),
    seconds: z
      .number()
      .int()
      .min(0)
      .max(MAX_PAUSE_SECONDS)
      .optional()
      .describe(`How long to wait until the program pauses or ends. Default: ${PAUSE_SECONDS}`),
  }),
  async run(input, context): Promise<ToolAnswer> {
    const { action, seconds = PAUSE_SECONDS } = input
    const { debug } = context.features
    if (action === 'set_breakpoint' || action === 'remove_breakpoint') return changeBreakpoint(input, context)
    if (action === 'start') return start(input, context)
    const state = await debug.state()
    const session = chooseSession(state, input.session)
    if (!session || session.hasEnded)
      throw new ToolError('There is no such debug session. Call "debug_state".')
    const { id, name } = session
    if (action === 'stop') {
      await askToControl(context, l10n.t('Stop debugging {0}', name), () => debug.stop(id))
      return { text: 'Stopped.' }
    }
    const request = (command: string, args?: Record<string, unknown>) =>
      requestOf(debug, id, command, args, context.signal)
    const threads = await readThreads(request)
    const thread =
      chooseThread(state, session, threads, input.thread) ?? (action === 'pause' ? threads[0]?.id : undefined)
    if (thread === undefined || !threads.some(one => one.id === thread))
      throw new ToolError('Nothing is paused in it, or it has no such thread. Call "debug_state".')
    const titles = {
      continue: () => l10n.t('Continue {0} in the debugger', name),
      pause: () => l10n.t('Pause {0} in the debugger', name),
      step_over: () => l10n.t('Step over in {0}', name),
      step_into: () => l10n.t('Step into the next call in {0}', name),
      step_out: () => l10n.t('Step out of the current function in {0}', name),
    }
    await askToControl(context, titles[action](), async () => {
      // if the thread has ended, the editor would step another one
      if (!(await readThreads(request)).some(one => one.id === thread))
        throw new ToolError('The thread has ended meanwhile, so nothing was done. Call "debug_state".')
      await debug.step(action, id, thread)
    })
    return waitForPause(context, [id], seconds)
  },
})

async function start(
  {
    configuration: name,
    folder,
    seconds = PAUSE_SECONDS,
  }: Partial<Record<'configuration' | 'folder', string | undefined>> & { seconds?: number | undefined },
  context: ToolContext,
): Promise<ToolAnswer> {
  const { debug } = context.features
  const launch = await seenLaunch(name, folder, context)
  const { configuration, tasks } = launch
  let before = new Set<string>()
  // the user may start other sessions meanwhile
  const started = new Set(configuration.members ?? [configuration.name])
  const newOnes = ({ sessions }: DebugState) => {
    const all = sessions.filter(({ id }) => !before.has(id))
    const roots = all.filter(one => one.parent === undefined && started.has(one.configuration ?? one.name))
    const own = new Set(roots.map(({ id }) => id))
    for (const id of own) for (const one of all) if (one.parent === id) own.add(one.id)
    return [...own]
  }
  const stopNewOnes = async () => Promise.all(newOnes(await debug.state()).map(id => debug.stop(id)))
  const isStarted = await askToControl(
    context,
    l10n.t('Debug {0}', configuration.name),
    async () => {
      // this configuration was allowed, and launch.json may have been edited since
      const { name: same, folder = WORKSPACE } = configuration
      const now = await seenLaunch(same, folder, context).catch(() => undefined)
      if (!isDeepStrictEqual(now, launch))
        throw new ToolError('The configuration has changed meanwhile, so nothing was started. Call again.')
      before = new Set((await debug.state()).sessions.map(({ id }) => id))
      const starting = debug.start(configuration)
      try {
        return await withTimeout(raceAbort(starting, context.signal), seconds * 1000)
      } catch (error) {
        // the debug session may still start, but nobody waits for it
        if (context.signal.aborted) void starting.then(stopNewOnes).catch(() => {})
        throw error
      }
    },
    launchText(configuration, tasks),
  )
  if (isStarted === undefined)
    return { text: `It hasn't started after ${seconds} seconds. Call "debug_state" later.` }
  if (!isStarted) throw new ToolError("The editor couldn't start it, and has told the user why.")
  try {
    return await waitForPause(context, newOnes, seconds)
  } catch (error) {
    if (context.signal.aborted) await stopNewOnes().catch(() => {})
    throw error
  }
}

/** The `folder` of configurations in the workspace file. */
const WORKSPACE = 'workspace'

interface SeenLaunch {
  configuration: LaunchConfiguration
  /** all tasks that run before or after the configuration */
  tasks: TaskInfo[]
}

/** The only configuration with this name, with all that it runs. */
async function seenLaunch(
  name: string | undefined,
  folder: string | undefined,
  { features }: ToolContext,
): Promise<SeenLaunch> {
  const { debug } = features
  const found = (await debug.configurations()).filter(
    one => one.name === name && (folder === undefined || (one.folder ?? WORKSPACE) === folder),
  )
  const [entry] = found
  if (!entry) throw new ToolError('There is no such configuration. Call "debug_state".')
  const folders = [...new Set(found.map(one => one.folder ?? WORKSPACE))]
  if (folders.length > 1)
    throw new ToolError('Several folders have that configuration. Call again with "folder".', folders)
  // the editor would start the first one, or the compound
  if (found.length > 1)
    throw new ToolError(
      'Several configurations or compounds of the same launch settings have that name, so nothing was started. Give them different names.',
    )
  const configuration = await debug.describe(entry)
  const references = new TaskReferences(await features.tasks())
  const own = new Set<TaskInfo>()
  const missing = [...(configuration.unresolved ?? [])]
  for (const task of configuration.tasks) {
    const named = references.find(task.name, task.folder)
    if (named.length === 0) missing.push(task.name)
    for (const one of named) own.add(one)
  }
  const tasks = [...own, ...references.before([...own])]
  missing.push(...references.missing(tasks), ...unclearTasks(tasks))
  if (missing.length > 0)
    throw new ToolError(
      "It refers to something that isn't there or isn't clear, so the user can't see what it would run. Nothing was started.",
      missing,
    )
  return { configuration, tasks }
}

/** What starting the configuration runs, for the user. */
function launchText({ content }: LaunchConfiguration, tasks: readonly TaskInfo[]): string {
  if (tasks.length === 0) return content
  return [content, l10n.t('It also runs these tasks:'), ...tasks.map(namedText)].join('\n')
}

async function changeBreakpoint(
  {
    action,
    file,
    line,
    condition,
    log,
  }: {
    action: string
    file?: string | undefined
    line?: number | undefined
    condition?: string | undefined
    log?: string | undefined
  },
  context: ToolContext,
): Promise<ToolAnswer> {
  const { features, roots } = context
  if (file === undefined || line === undefined) throw new ToolError('Give "file" and "line".')
  const path = await roots.file(file)
  const location = `${roots.name(path)}:${line}`
  if (action === 'remove_breakpoint') {
    const count = await askToControl(context, l10n.t('Remove the breakpoint at {0}', location), async () =>
      features.debug.removeBreakpoints(path, line),
    )
    return { text: count === 0 ? 'There was no breakpoint.' : `Removed the breakpoint at ${location}.` }
  }
  const own = { path, line, ...(condition !== undefined && { condition }), ...(log !== undefined && { log }) }
  const details = [condition && l10n.t('Condition: {0}', condition), log && l10n.t('Log message: {0}', log)]
  await askToControl(
    context,
    l10n.t('Set a breakpoint at {0}', location),
    async () => features.debug.setBreakpoint(own),
    details.filter(Boolean).join('\n'),
  )
  return { text: `Set a breakpoint at ${location}.` }
}

async function askToControl<T>(
  context: ToolContext,
  title: string,
  work: () => Promise<T>,
  code = '',
): Promise<T> {
  const conversation = await context.conversation()
  const permission = {
    ...{ tool: 'debug_control' as const, title, kind: 'execute' as const },
    ...(code !== '' && { code }),
  }
  return conversation.permitted(permission, context.signal, work)
}

/** Waits until one of the sessions pauses or all have ended, and tells where they are. */
async function waitForPause(
  context: ToolContext,
  sessions: readonly string[] | ((state: DebugState) => readonly string[]),
  seconds: number,
): Promise<ToolAnswer> {
  const { features, roots, signal } = context
  const { debug } = features
  const paused = deferred()
  let state: DebugState = { sessions: [] }
  const listening = debug.onDidChange(now => {
    state = now
    if (find()) paused.resolve()
  })
  const own = () => {
    const ids = typeof sessions === 'function' ? sessions(state) : sessions
    return state.sessions.filter(({ id }) => ids.includes(id))
  }
  const find = () => {
    const all = own()
    const stopped = all.find(one => (one.paused ?? []).length > 0)
    if (stopped) return stopped
    return all.length > 0 && all.every(({ hasEnded }) => hasEnded) ? all.at(-1) : undefined
  }
  // no event reports when such a session pauses
  const isUnknown = () => {
    const all = own()
    return all.length > 0 && all.every(({ paused: known }) => known === undefined)
  }
  try {
    state = await debug.state()
    if (!find() && !isUnknown()) await withTimeout(raceAbort(paused.promise, signal), seconds * 1000)
  } finally {
    listening.dispose()
  }
  const session = find()
  if (!session)
    return {
      text: isUnknown()
        ? 'The session started before Parley tracked debug sessions. Call "debug_state" for where it is.'
        : `It still runs after ${seconds} seconds. Call "debug_state" later.`,
    }
  if (session.hasEnded)
    return { text: `${headOf(session)} Call "debug_state" with "console" for what it wrote.` }
  const request = (command: string, args?: Record<string, unknown>) =>
    requestOf(debug, session.id, command, args, signal)
  // the editor selects the thread only after it has paused
  return (await readState(debug, await debug.state(), session, roots, request, {})).answer
}

type Request = (command: string, args?: Record<string, unknown>) => Promise<unknown>

/** A debug session ended before it answered a request. */
class SessionEnded extends ToolError {}

async function requestOf(
  debug: DebugFeatures,
  session: string,
  command: string,
  args: Record<string, unknown> | undefined,
  signal: AbortSignal,
): Promise<unknown> {
  const answer = debug.request(session, command, args).then(
    body => ({ body }),
    async error => {
      const found = (await debug.state()).sessions.find(({ id }) => id === session)
      if (!found || found.isEnding || found.hasEnded)
        throw new SessionEnded('The debug session has ended. Call "debug_state".')
      // such as an invalid expression, or a thread that is running again
      throw new ToolError('The debugger reports a failure.', [messageOf(error)])
    },
  )
  const given = await withTimeout(raceAbort(answer, signal), DEBUG_REQUEST_MS)
  if (!given) throw new ToolError(`The debugger didn't answer "${command}" in time.`)
  return given.body
}

/** The session with an id, or else a running one: a paused one if there is any, preferably the one selected in the editor. */
function chooseSession(
  { sessions: all, ...state }: DebugState,
  id: string | undefined,
): DebugSessionState | undefined {
  if (id !== undefined) {
    const found = all.find(one => one.id === id)
    if (!found) throw new ToolError('There is no such debug session. Call without "session".')
    return found
  }
  const live = all.filter(({ isEnding, hasEnded }) => !isEnding && !hasEnded)
  const active = state.active?.session
  const isPaused = ({ paused = [] }: DebugSessionState) => paused.length > 0
  const chosen = live.find(one => one.id === active)
  if (chosen && (isPaused(chosen) || !live.some(isPaused))) return chosen
  return live.find(isPaused) ?? live.at(-1)
}

function headOf({ id, type, hasEnded, exitCode }: DebugSessionState): string {
  if (!hasEnded) return `Session ${JSON.stringify(id)} (${type}).`
  return `Session ${JSON.stringify(id)} has ended${exitCode === undefined ? '' : ` with exit code ${exitCode}`}.`
}

/** The console output of one session, or of all sessions, since a program may have several and some may have ended. */
async function readConsole(
  debug: DebugFeatures,
  state: DebugState,
  id: string | undefined,
): Promise<ToolAnswer> {
  if (id !== undefined) chooseSession(state, id)
  const asked = state.sessions.filter(one => id === undefined || one.id === id)
  const outputs = await Promise.all(asked.map(async one => ({ ...one, output: await debug.output(one.id) })))
  const data = outputs
    .filter(({ output }) => output !== '')
    .flatMap(({ id: own, name, output }) => {
      const lines = output.trimEnd().split(/\r?\n/).slice(-MAX_CONSOLE)
      return [`session ${own}: ${name}`, ...lines]
    })
  return {
    text: data.length === 0 ? 'Nothing was written.' : 'The end of the Debug Console:',
    data: linesThatFit(data),
  }
}

async function idleState(debug: DebugFeatures, state: DebugState, roots: Roots): Promise<ToolAnswer> {
  const data = [
    ...(await debug.configurations()).map(
      ({ name, folder }) => `configuration ${name}${folder === undefined ? '' : ` (${folder})`}`,
    ),
    ...(await breakpointLines(debug, roots)),
  ]
  const last = state.sessions.at(-1)
  return {
    text: last
      ? `Nothing is debugged. ${headOf(last)} Call with "console" for what it wrote.`
      : data.length === 0
        ? 'Nothing is debugged, and there is no launch configuration.'
        : 'Nothing is debugged.',
    data,
  }
}

async function breakpointLines(debug: DebugFeatures, roots: Roots): Promise<string[]> {
  const breakpoints = await roots.within(await debug.breakpoints(), ({ path }) => path)
  return breakpoints.map(({ path, line, condition, log, isOff }) => {
    const notes = [condition && `if ${condition}`, log && `log ${log}`, isOff && 'disabled'].filter(Boolean)
    return `breakpoint ${roots.name(path)}:${line}${notes.length > 0 ? ` (${notes.join(', ')})` : ''}`
  })
}

interface Thread {
  id: number
  name: string
}

async function readThreads(request: Request): Promise<Thread[]> {
  const body = await request('threads')
  const threads = isRecord(body) && Array.isArray(body.threads) ? body.threads : []
  return threads.filter(isRecord).map(({ id, name }) => ({ id: Number(id), name: String(name) }))
}

function findPause({ paused = [] }: DebugSessionState, thread: number): PausedThread | undefined {
  return paused.find(one => one.thread === thread) ?? paused.find(one => one.thread === undefined)
}

function pausedThread(session: DebugSessionState, threads: readonly Thread[]): number | undefined {
  const stopped = session.paused?.find(({ thread }) => thread !== undefined)?.thread
  return stopped ?? threads.find(({ id }) => findPause(session, id))?.id
}

/** The thread that a tool applies to: the one selected in the editor if it's paused, or else another paused one. */
function chooseThread(
  { active }: DebugState,
  session: DebugSessionState,
  threads: readonly Thread[],
  wanted: number | undefined,
): number | undefined {
  if (wanted !== undefined) return wanted
  const shown = active?.session === session.id ? active.thread : undefined
  if (shown !== undefined && (!session.paused || findPause(session, shown))) return shown
  return pausedThread(session, threads) ?? shown
}

async function readState(
  debug: DebugFeatures,
  state: DebugState,
  session: DebugSessionState,
  roots: Roots,
  request: Request,
  input: { thread?: number | undefined; frame?: number | undefined },
): Promise<{ answer: ToolAnswer; frameId?: number }> {
  const threads = await readThreads(request)
  const thread = chooseThread(state, session, threads, input.thread) ?? threads[0]?.id
  const data: string[] = []
  const others = state.sessions.filter(one => one.id !== session.id && !one.isEnding && !one.hasEnded)
  for (const { id, name, type } of others) data.push(`other session ${id}: ${name} (${type})`)
  data.push(`session ${session.id}: ${session.name} (${session.type})`)
  let frameId: number | undefined
  // the requested thread first, since many may be omitted
  const listed = threads.toSorted((a, b) => Number(b.id === thread) - Number(a.id === thread))
  for (const { id, name } of listed.slice(0, MAX_THREADS)) {
    const pause = findPause(session, id)
    // of a session that began before it was followed, only the call stack tells
    const isFollowed = session.paused !== undefined
    const frames = id === thread && (pause || !isFollowed) ? await readFrames(request, id, isFollowed) : []
    const activity =
      pause || frames.length > 0
        ? `paused${pause ? `: ${[pause.reason, pause.detail].filter(Boolean).join(', ')}` : ''}`
        : isFollowed || id === thread
          ? 'running'
          : 'unknown'
    data.push(`thread ${id}: ${name} (${activity})`)
    for (const [i, frame] of frames.entries()) {
      const { source, line, column } = frame
      const path = isRecord(source) ? source.path : undefined
      const file = typeof path === 'string' ? roots.name(path) : isRecord(source) ? source.name : undefined
      data.push(
        `  ${i} ${String(frame.name)}${file === undefined ? '' : ` ${String(file)}:${line}:${column}`}`,
      )
    }
    const frame = frames[input.frame ?? 0]
    if (!frame) {
      if (frames.length > 0) throw new ToolError(`The call stack has only ${frames.length} frames here.`)
      continue
    }
    frameId = Number(frame.id)
    const body = await request('scopes', { frameId })
    const scopes = isRecord(body) && Array.isArray(body.scopes) ? body.scopes.filter(isRecord) : []
    for (const { name: scope, variablesReference, expensive } of scopes) {
      data.push(`  ${String(scope)}${expensive === true ? ` #${variablesReference}` : ':'}`)
      if (expensive !== true)
        data.push(
          ...(await readVariables(
            request,
            Number(variablesReference),
            '    ',
            lazyOf(debug, state, session.id),
          )),
        )
    }
  }
  if (listed.length > MAX_THREADS) data.push(`… and ${listed.length - MAX_THREADS} more threads`)
  const text =
    threads.length === 0
      ? 'The session has no threads.'
      : frameId === undefined
        ? 'The program runs. Pause it, or set a breakpoint, to see its variables.'
        : `Paused; the variables are those of frame ${input.frame ?? 0}.`
  return { answer: { text, data }, ...(frameId !== undefined && { frameId }) }
}

async function readFrames(
  request: Request,
  threadId: number,
  isPaused: boolean,
): Promise<Array<Record<string, unknown>>> {
  try {
    const body = await request('stackTrace', { threadId, startFrame: 0, levels: MAX_FRAMES })
    return isRecord(body) && Array.isArray(body.stackFrames) ? body.stackFrames.filter(isRecord) : []
  } catch (error) {
    // a running thread has no call stack
    if (isPaused) throw error
    return []
  }
}

async function readVariables(
  request: Request,
  reference: number,
  indent: string,
  lazy: Map<number, string>,
): Promise<string[]> {
  const body = await request('variables', { variablesReference: reference })
  const all = isRecord(body) && Array.isArray(body.variables) ? body.variables.filter(isRecord) : []
  const listed = all.slice(0, MAX_VARIABLES)
  for (const { name, variablesReference, presentationHint } of listed) {
    if (isRecord(presentationHint) && presentationHint.lazy === true)
      lazy.set(Number(variablesReference), String(name))
    else lazy.delete(Number(variablesReference))
  }
  const lines = listed.map(
    one => `${indent}${String(one.name).slice(0, MAX_VALUE)}: ${valueText(one, MAX_VALUE)}`,
  )
  if (all.length > MAX_VARIABLES) lines.push(`${indent}… and ${all.length - MAX_VARIABLES} more`)
  return lines
}

function valueText({ value, type, variablesReference }: Record<string, unknown>, limit: number): string {
  const text = inOneLine(String(value ?? '').slice(0, 2 * limit))
  const shown = shortened(text, limit)
  const kind = typeof type === 'string' && type !== '' && !shown.startsWith(type) ? ` (${type})` : ''
  return `${shown}${kind}${Number(variablesReference) > 0 ? ` #${variablesReference}` : ''}`
}

export const debugTools = [debugState, debugControl]
