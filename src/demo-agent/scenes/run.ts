import { fenced, type ToolCall } from '../tool-call.ts'
import { mayRun, type Turn } from '../turn.ts'

/** A script that counts in color, to show live output and ANSI codes. Runs on the same Node as the demo agent. */
const COUNTING = `let n = 0
const colors = [31, 33, 32, 36, 34, 35]
const next = () => {
  console.log('\\x1b[' + colors[n % 6] + 'mline ' + ++n + ' of 10\\x1b[0m')
  if (n < 10) setTimeout(next, Number(process.argv[1]))
}
next()`

/** `/run [command line]`: runs the user's command line, or else a script that counts. */
export async function run(turn: Turn, input: string): Promise<void> {
  if (turn.session.settings.mode === 'plan') {
    return turn.say("I'm in *Plan* mode, so I don't run commands.")
  }
  const result = input
    ? await runTool(turn, input, shellLine(input))
    : await runTool(turn, 'Count to ten in color', {
        command: process.execPath,
        args: ['-e', COUNTING, String(turn.scaled(250))],
        // In VS Code, this process runs in Electron, which then acts as Node.
        env: [{ name: 'ELECTRON_RUN_AS_NODE', value: '1' }],
      })
  await turn.say(afterRun(result))
}

/** Lists the folder with a command that works on every system and changes nothing. */
export function lookAround(turn: Turn): Promise<RunResult> {
  const line = listingLine()
  return runTool(turn, line, shellLine(line))
}

export function listingLine(platform: NodeJS.Platform = process.platform): string {
  return platform === 'win32' ? 'dir' : 'ls -la'
}

export function afterRun(result: RunResult): string {
  if (result === 'rejected') return "You rejected the command, so it wasn't run.\n\n"
  if (result === 'failed') return "The command couldn't be started. The tool call above says why.\n\n"
  if (result.signal) return `The command was terminated by ${result.signal}.\n\n`
  const lines = result.output.split('\n').filter(line => line.trim() !== '').length
  const output = lines === 1 ? '1 line' : `${lines} lines`
  return `The command finished with exit code ${result.exitCode ?? 'unknown'} after ${output} of output.\n\n`
}

interface CommandLine {
  command: string
  args: string[]
  env?: Array<{ name: string; value: string }>
}
interface CommandResult {
  exitCode: number | null
  signal: string | null
  output: string
}
type RunResult = CommandResult | 'rejected' | 'failed'

/** Maximum number of bytes of output that the client keeps. */
const KEEP = 64 * 1024

/** Returns the command that runs a command line with the system's shell. */
export function shellLine(line: string, platform: NodeJS.Platform = process.platform): CommandLine {
  if (platform === 'win32') return { command: 'cmd.exe', args: ['/d', '/s', '/c', line] }
  return { command: '/bin/sh', args: ['-c', line] }
}

async function runTool(turn: Turn, title: string, line: CommandLine): Promise<RunResult> {
  const { command, args } = line
  const rawInput = { command, args, cwd: turn.session.cwd }
  const call = await turn.tool({ title, kind: 'execute', rawInput })
  const content = args.at(-1) === title ? [fenced(title, 'sh')] : []
  try {
    if (!turn.features.terminal) throw new Error("the client doesn't offer terminals")
    if (!(await mayRun(turn, call, 'commands', { content }))) return 'rejected'
    const result = await runCommand(turn, call, line)
    await call.end(result.exitCode === 0 ? 'completed' : 'failed', { rawOutput: result })
    return result
  } catch (error) {
    await turn.fail(call, "The command couldn't be run", error)
    return 'failed'
  }
}

/** Runs a command in a terminal, which the tool call shows live. Canceling the turn kills the command. */
async function runCommand(turn: Turn, call: ToolCall, line: CommandLine): Promise<CommandResult> {
  turn.check()
  const { id: sessionId, cwd } = turn.session
  const terminal = await turn.client.createTerminal({ sessionId, ...line, cwd, outputByteLimit: KEEP })
  const cancelled = new Promise<never>((_, reject) => {
    turn.signal.addEventListener('abort', () => reject(turn.signal.reason), { once: true })
  })
  cancelled.catch(() => {})
  try {
    turn.check()
    await call.update({
      status: 'in_progress',
      content: [{ type: 'terminal', terminalId: terminal.id }],
    })
    const exit = await Promise.race([terminal.waitForExit(), cancelled])
    const { output } = await terminal.currentOutput()
    return { exitCode: exit.exitCode ?? null, signal: exit.signal ?? null, output }
  } finally {
    if (turn.signal.aborted) await terminal.kill().catch(() => {})
    await terminal.release().catch(() => {})
  }
}
