import { spawn } from 'node:child_process'

export interface CommandOptions {
  cwd?: string
  /** The whole environment; this process's by default. */
  env?: NodeJS.ProcessEnv
}

/**
 * Runs a command without a shell and without input, and resolves to its output.
 * Throws if it can't be started or exits with a code other than 0; the message contains the end of its output.
 */
export function runCommand(command: string, args: string[], options: CommandOptions = {}): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text
      })
    child.on('error', reject)
    child.on('close', (code, signal) => {
      if (code === 0) resolve(output)
      else
        reject(
          new Error(`${[command, ...args].join(' ')} ended with ${signal ?? code}\n${output.slice(-4000)}`),
        )
    })
  })
}
