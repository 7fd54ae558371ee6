import { spawn } from 'node:child_process'
import { StringDecoder } from 'node:string_decoder'
import { fenced, type ToolCall } from '../tool-call.ts'
import { mayRun, type Turn, TurnCancelled } from '../turn.ts'

/** Counts in color, to show live output and ANSI codes. Runs on the same Node as the demo. */
const COUNTING = `let n = 0
const colors = [31, 33, 32, 36, 34, 35]
const next = () => {
  console.log('\\x1b[' + colors[n % 6] + 'mline ' + ++n + ' of 10\\x1b[0m')
  if (n < 10) setTimeout(next, Number(process.argv[1]))
}
next()`

/** `/run [command line]` */
export async function run(turn: Turn, input: string): Promise<void> {
  if (turn.session.settings.mode === 'plan') {
    return turn.say("I'm in *Plan* mode, so I don't run commands.")
  }
  const result = input
    ? await runTool(turn, input, shellLine(input))
    : await runTool(turn, 'Count to ten in color', {
        command: process.execPath,
        args: ['-e', COUNTING, String(turn.scaled(250))],
        // In VS Code, this Node is Electron.
        env: { ELECTRON_RUN_AS_NODE: '1' },
      })
  await turn.say(afterRun(result))
}

/** Lists the folder, which works the same everywhere and changes nothing. */
export function lookAround(turn: Turn): Promise<CommandResult | 'rejected' | 'failed'> {
  const line = process.platform === 'win32' ? 'dir' : 'ls -la'
  return runTool(turn, line, shellLine(line))
}

export function afterRun(result: CommandResult | 'rejected' | 'failed'): string {
  if (result === 'rejected') return "You rejected the command, so it wasn't run.\n\n"
  if (result === 'failed') return "The command couldn't be started. The tool call above says why.\n\n"
  if (result.signal) return `The command was terminated by ${result.signal}.\n\n`
  const lines = result.output.split('\n').filter(line => line.trim() !== '').length
  const output = lines === 1 ? '1 line' : `${lines} lines`
  return `The command finished with exit code ${result.exitCode ?? 'unknown'} after ${output} of output.\n\n`
}

async function runTool(
  turn: Turn,
  title: string,
  line: CommandLine,
): Promise<CommandResult | 'rejected' | 'failed'> {
  const call = await turn.tool({
    title,
    kind: 'execute',
    rawInput: { command: line.command, args: line.args, cwd: turn.session.cwd },
  })
  const shown = line.args.at(-1) === title ? [fenced(title, 'sh')] : []
  try {
    if (!(await mayRun(turn, call, 'run', { content: shown }))) return 'rejected'
    const result = await runCommand(turn, call, line)
    await completeCommand(turn, call, result)
    return result
  } catch (error) {
    turn.rethrowCancelled(error)
    await call.fail(`The command couldn't be run: ${error instanceof Error ? error.message : String(error)}`)
    return 'failed'
  }
}

interface CommandLine {
  command: string
  args: string[]
  env?: Record<string, string>
}
interface CommandResult {
  output: string
  exitCode: number | null
  signal: string | null
}

/** Maximum number of bytes of output that are kept. */
const KEEP = 64 * 1024

/** Runs a command line of the user with the system's shell. */
function shellLine(line: string, platform: NodeJS.Platform = process.platform): CommandLine {
  if (platform === 'win32') return { command: 'cmd.exe', args: ['/d', '/s', '/c', line] }
  return { command: '/bin/sh', args: ['-c', line] }
}

/**
 * Runs a command in a terminal of the client, which is shown live in the tool call. Without that capability, runs the command here and
 * shows its output at the end. Canceling the turn kills the command.
 */
async function runCommand(turn: Turn, call: ToolCall, line: CommandLine): Promise<CommandResult> {
  turn.check()
  if (turn.features.terminal) return runInClient(turn, call, line)
  return turn.client.showTerminal ? runShown(turn, call, line) : runHere(turn, line)
}

/** Runs it here, in the agent's own terminal, which the client shows live. */
async function runShown(turn: Turn, call: ToolCall, line: CommandLine): Promise<CommandResult> {
  const terminalId = `terminal ${call.id}`
  const command = [line.command, ...line.args].join(' ')
  const terminal = turn.client.showTerminal?.(turn.session.id, {
    id: terminalId,
    command,
    cwd: turn.session.cwd,
  })
  // A replay can't show the terminal, so the record contains its final output instead.
  const status = 'in_progress'
  await call.update({ status, content: [{ type: 'terminal', terminalId }] }, { status })
  try {
    const result = await runHere(turn, line, data => terminal?.output(data))
    terminal?.end({ exitCode: result.exitCode, signal: result.signal })
    return result
  } catch (error) {
    terminal?.end({ exitCode: null, signal: turn.signal.aborted ? 'SIGKILL' : null })
    throw error
  }
}

async function runInClient(turn: Turn, call: ToolCall, line: CommandLine): Promise<CommandResult> {
  const terminal = await turn.client.createTerminal({
    sessionId: turn.session.id,
    command: line.command,
    args: line.args,
    env: Object.entries(line.env ?? {}).map(([name, value]) => ({ name, value })),
    cwd: turn.session.cwd,
    outputByteLimit: KEEP,
  })
  const kill = () => void terminal.kill().catch(() => {})
  try {
    turn.check()
    turn.signal.addEventListener('abort', kill, { once: true })
    // A replay can't show a terminal that no longer exists, so the record contains its final output instead.
    await call.update(
      { status: 'in_progress', content: [{ type: 'terminal', terminalId: terminal.id }] },
      {
        status: 'in_progress',
      },
    )
    const exit = await unlessCancelled(turn, terminal.waitForExit())
    const { output } = await terminal.currentOutput()
    return { output, exitCode: exit.exitCode ?? null, signal: exit.signal ?? null }
  } finally {
    turn.signal.removeEventListener('abort', kill)
    if (turn.signal.aborted) kill()
    await terminal.release().catch(() => {})
  }
}

function runHere(turn: Turn, line: CommandLine, hear?: (data: Uint8Array) => void): Promise<CommandResult> {
  return new Promise((resolve, reject) => {
    const child = spawn(line.command, line.args, {
      cwd: turn.session.cwd,
      env: { ...process.env, ...line.env },
      stdio: ['ignore', 'pipe', 'pipe'],
      windowsHide: true,
      // In a separate process group, so that a kill includes its children.
      detached: process.platform !== 'win32',
    })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) {
      const decoder = new StringDecoder('utf8')
      stream.on('data', (data: Buffer) => {
        hear?.(data)
        output = (output + decoder.write(data)).slice(-KEEP)
      })
    }
    const kill = () => {
      if (child.pid === undefined) return
      try {
        if (process.platform === 'win32') child.kill()
        else process.kill(-child.pid, 'SIGKILL')
      } catch {
        // The process has just ended.
      }
    }
    turn.signal.addEventListener('abort', kill, { once: true })
    child.once('error', error => {
      turn.signal.removeEventListener('abort', kill)
      reject(error)
    })
    child.once('close', (exitCode, signal) => {
      turn.signal.removeEventListener('abort', kill)
      if (turn.signal.aborted) reject(new TurnCancelled())
      else resolve({ output, exitCode, signal })
    })
  })
}

function unlessCancelled<T>(turn: Turn, promise: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(new TurnCancelled())
    if (turn.signal.aborted) stop()
    turn.signal.addEventListener('abort', stop, { once: true })
    promise.then(resolve, reject).finally(() => turn.signal.removeEventListener('abort', stop))
  })
}

/** Ends a tool call with the result of its command. */
async function completeCommand(turn: Turn, call: ToolCall, result: CommandResult): Promise<void> {
  const ended = result.signal ? `Killed by ${result.signal}.` : `Exit code ${result.exitCode ?? 'unknown'}.`
  const shown = result.output ? [fenced(result.output, 'console')] : []
  const rawOutput = { exitCode: result.exitCode, signal: result.signal, output: result.output }
  const done = result.exitCode === 0
  const seen = turn.features.terminal || turn.client.showTerminal !== undefined
  if (done && seen) await call.complete({ rawOutput }, { rawOutput, content: shown })
  else if (done) await call.complete({ rawOutput, content: shown })
  else if (seen) await call.endFailed({ rawOutput }, { rawOutput, content: shown })
  else await call.fail(ended, shown)
}
