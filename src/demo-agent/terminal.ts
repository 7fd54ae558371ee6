import { spawn } from 'node:child_process'
import { StringDecoder } from 'node:string_decoder'
import { TurnCancelled } from './pace.ts'
import { fenced, type ToolCall } from './tool-call.ts'
import type { Turn } from './turn.ts'

export interface CommandLine {
  command: string
  args: string[]
  env?: Record<string, string>
}
export interface CommandResult {
  output: string
  exitCode: number | null
  signal: string | null
}

/** Bytes of output that are kept. */
const KEEP = 64 * 1024

/** What a person typed as one line, run by the system's shell. */
export function shellLine(line: string, platform: NodeJS.Platform = process.platform): CommandLine {
  if (platform === 'win32') return { command: 'cmd.exe', args: ['/d', '/s', '/c', line] }
  return { command: '/bin/sh', args: ['-c', line] }
}

/**
 * Runs a command in a terminal of the client, which is shown live in the tool call; without that capability, runs it
 * here and shows its output at the end. Cancelling the turn kills it.
 */
export async function runCommand(turn: Turn, call: ToolCall, line: CommandLine): Promise<CommandResult> {
  turn.check()
  if (turn.features.terminal) return runInClient(turn, call, line)
  return turn.client.showTerminal ? runShown(turn, call, line) : runHere(turn, line)
}

/** Runs it here, in a terminal of our own that the client shows as it goes. */
async function runShown(turn: Turn, call: ToolCall, line: CommandLine): Promise<CommandResult> {
  const terminalId = `terminal ${call.id}`
  const command = [line.command, ...line.args].join(' ')
  const terminal = turn.client.showTerminal?.(turn.session.id, {
    id: terminalId,
    command,
    cwd: turn.session.cwd,
  })
  // A replay cannot show the terminal: the record gets its output at the end instead.
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
    // A replay cannot show a terminal that is long gone: the record gets its output at the end instead.
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
      // Its own group, so that a kill reaches what it started.
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
        // It ended in this very moment.
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

/** Ends a tool call with what its command gave. */
export async function completeCommand(turn: Turn, call: ToolCall, result: CommandResult): Promise<void> {
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
