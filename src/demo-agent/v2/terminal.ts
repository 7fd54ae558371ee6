import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { StringDecoder } from 'node:string_decoder'
import type { CreateTerminalRequest } from '@agentclientprotocol/sdk'
import type * as v2 from '@agentclientprotocol/sdk/experimental/v2'
import type { Terminal } from '../client.ts'

/** Runs a command in a terminal of the agent; a v2 client only shows the terminal. */
export function startTerminal(
  { command, args = [], env = [], cwd, outputByteLimit }: CreateTerminalRequest,
  tell: (update: v2.SessionUpdate) => void,
): Terminal {
  const terminalId = `terminal ${randomUUID()}`
  const limit = outputByteLimit ?? 0
  tell({ sessionUpdate: 'terminal_update', terminalId, command: [command, ...args].join(' '), cwd })
  const child = spawn(command, args, {
    cwd: cwd ?? undefined,
    env: { ...process.env, ...Object.fromEntries(env.map(({ name, value }) => [name, value])) },
    stdio: ['ignore', 'pipe', 'pipe'],
    windowsHide: true,
    // In a process group of its own, so that a kill includes its children.
    detached: process.platform !== 'win32',
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    const decoder = new StringDecoder('utf8')
    stream.on('data', (data: Buffer) => {
      tell({ sessionUpdate: 'terminal_output_chunk', terminalId, data: data.toString('base64') })
      output = (output + decoder.write(data)).slice(-limit)
    })
  }
  const exited = new Promise<{ exitCode: number | null; signal: string | null }>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (exitCode, signal) => resolve({ exitCode, signal }))
  })
  const ended = exited.then(
    exitStatus => tell({ sessionUpdate: 'terminal_update', terminalId, exitStatus }),
    () =>
      tell({ sessionUpdate: 'terminal_update', terminalId, exitStatus: { exitCode: null, signal: null } }),
  )
  const kill = async () => {
    try {
      if (process.platform === 'win32') child.kill()
      else if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
    } catch {
      // The process has just ended.
    }
    return {}
  }
  return {
    id: terminalId,
    waitForExit: () => exited,
    currentOutput: async () => ({ output, truncated: false }),
    kill,
    release: () => ended,
  }
}
