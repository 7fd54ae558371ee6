import * as vscode from 'vscode'
import { deferred, withTimeout } from '../../common/async.ts'
import { withoutEscapes } from '../../conversation/tool-output.ts'
import type { TerminalCommand } from '../../mcp/server/editor-features.ts'
import { pathOnDisk } from '../path-on-disk.ts'

const MAX_COMMANDS = 20
/** Length of the stored end of a command's output. Characters. */
const MAX_OUTPUT = 200_000
/** How long after a task's end VS Code may still pass on output. Milliseconds. */
const LAST_OUTPUT_MS = 2000

interface Followed {
  execution: vscode.TerminalShellExecution
  terminal: vscode.Terminal
  exitCode: number | undefined
  isRunning: boolean
  output: string
  /** resolves when all output has arrived */
  whole: Promise<void>
}

/** the followed commands, newest first */
let commands: Followed[] = []
let follows = false

/** Remembers the commands that run in terminals from now on, of which VS Code otherwise keeps nothing for extensions. */
export function followTerminals(): void {
  if (follows) return
  follows = true
  vscode.window.onDidStartTerminalShellExecution(({ execution, terminal }) => {
    const whole = deferred()
    const followed = {
      ...{ execution, terminal, exitCode: undefined, isRunning: true, output: '' },
      whole: whole.promise,
    }
    commands = [followed, ...commands].slice(0, MAX_COMMANDS)
    void readOutput(followed).then(whole.resolve)
  })
  vscode.window.onDidEndTerminalShellExecution(({ execution, exitCode }) => {
    const followed = commands.find(one => one.execution === execution)
    if (!followed) return
    followed.isRunning = false
    followed.exitCode = exitCode
  })
}

export function terminalCommands(): TerminalCommand[] {
  return commands.map(({ execution, terminal, exitCode, isRunning, output }) => ({
    terminal: terminal.name,
    command: execution.commandLine.value,
    ...(execution.cwd?.scheme === 'file' && { cwd: pathOnDisk(execution.cwd) }),
    ...(exitCode !== undefined && { exitCode }),
    isRunning,
    get output() {
      return plainOutput(output)
    },
  }))
}

/**
 * Call this before a task starts. Returns a function that resolves to the task's output: the output of the first new command in a terminal
 * with the task's name. `hasEnded`: whether the task has ended, so that the function waits for the last output.
 */
export function followTask({
  name,
  source,
}: Pick<vscode.Task, 'name' | 'source'>): (hasEnded: boolean) => Promise<string | undefined> {
  const before = new Set(commands)
  // VS Code adds the extension that the task comes from, and the folder if there are several
  const names = [name, `${source}: ${name}`]
  // not the user's terminal `bash` for a task `sh`
  const isOwn = (terminal: string) => names.some(one => terminal === one || terminal.startsWith(`${one} (`))
  return async hasEnded => {
    const own = commands.findLast(one => !before.has(one) && isOwn(one.terminal.name))
    if (own && hasEnded) await withTimeout(own.whole, LAST_OUTPUT_MS)
    return own && plainOutput(own.output)
  }
}

function plainOutput(output: string): string {
  return withoutEscapes(output)
    .replaceAll('\r\n', '\n')
    .replace(/^.*\r(?=[^\n])/gm, '')
}

async function readOutput(followed: Followed): Promise<void> {
  try {
    for await (const chunk of followed.execution.read()) {
      followed.output = (followed.output + chunk).slice(-MAX_OUTPUT)
    }
  } catch {
    // the terminal was closed
  }
}
