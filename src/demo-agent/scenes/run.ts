import { mayRun } from '../permission.ts'
import { type CommandLine, type CommandResult, completeCommand, runCommand, shellLine } from '../terminal.ts'
import { fenced } from '../tool-call.ts'
import type { Turn } from '../turn.ts'

/** Counts in colour, so that live output and ANSI codes are seen. Runs on the very Node that runs the demo. */
const COUNTING = `let n = 0
const colours = [31, 33, 32, 36, 34, 35]
const next = () => {
  console.log('\\x1b[' + colours[n % 6] + 'mline ' + ++n + ' of 10\\x1b[0m')
  if (n < 10) setTimeout(next, Number(process.argv[1]))
}
next()`

/** `/run [command line]` */
export async function run(turn: Turn, input: string): Promise<void> {
  if (turn.session.settings.mode === 'plan') {
    return turn.say('I am in the mode *Plan*: I run no commands.')
  }
  const result = input
    ? await runTool(turn, input, shellLine(input))
    : await runTool(turn, 'Count to ten in colour', {
        command: process.execPath,
        args: ['-e', COUNTING, String(turn.scaled(250))],
        // In VS Code this Node is Electron's.
        env: { ELECTRON_RUN_AS_NODE: '1' },
      })
  await turn.say(afterRun(result))
}

/** A look into the folder: the same wherever the demo runs, and it changes nothing. */
export function lookAround(turn: Turn): Promise<CommandResult | 'rejected' | 'failed'> {
  const line = process.platform === 'win32' ? 'dir' : 'ls -la'
  return runTool(turn, line, shellLine(line))
}

export function afterRun(result: CommandResult | 'rejected' | 'failed'): string {
  if (result === 'rejected') return 'You rejected the command, so nothing was run.\n\n'
  if (result === 'failed') return 'The command could not be started; the tool call above says why.\n\n'
  if (result.signal) return `The command was ended by ${result.signal}.\n\n`
  const lines = result.output.split('\n').filter(line => line.trim() !== '').length
  return `The command ended with exit code ${result.exitCode ?? 'unknown'} after ${lines} lines of output.\n\n`
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
    await call.fail(`The command could not be run: ${error instanceof Error ? error.message : String(error)}`)
    return 'failed'
  }
}
