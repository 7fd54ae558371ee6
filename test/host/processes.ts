import { type ChildProcess, spawn } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { atExit } from './at-exit.ts'
import { rootVariable } from './isolated-root.ts'
import { waitFor } from './wait-for.ts'

export interface ProcessGroupOptions {
  env: NodeJS.ProcessEnv
  cwd?: string
  /** What the group gets when this process exits before it. Default: SIGKILL; SIGTERM lets it clean up. */
  exitSignal?: NodeJS.Signals
}

/** A child that leads a process group of its own, so that it can be ended with all it started. */
export class ProcessGroup {
  readonly child: ChildProcess
  /** What it printed so far. */
  output = ''
  readonly #forget: () => void

  constructor(command: string, args: string[], { env, cwd, exitSignal = 'SIGKILL' }: ProcessGroupOptions) {
    this.child = spawn(command, args, { env, cwd, stdio: ['ignore', 'pipe', 'pipe'], detached: true })
    this.#forget = atExit(() => this.#signal(exitSignal))
    for (const stream of [this.child.stdout, this.child.stderr])
      stream?.setEncoding('utf8').on('data', (text: string) => {
        this.output += text
      })
    this.child.on('error', error => {
      this.output += `${error}\n`
    })
  }

  get hasEnded(): boolean {
    return this.child.pid === undefined || this.child.exitCode !== null || this.child.signalCode !== null
  }

  /** Ends the group: politely, then not. Resolves when no process of it is left. */
  async end(): Promise<void> {
    this.#forget()
    if (!this.#signal('SIGTERM')) return
    const gone = () => !this.#signal(0)
    await waitFor('end of the process group', gone, { timeout: 5000 }).catch(() => this.#signal('SIGKILL'))
    await waitFor('end of the killed process group', gone, { timeout: 5000 })
  }

  /** Whether there still was a process to get the signal. */
  #signal(signal: NodeJS.Signals | 0): boolean {
    try {
      return this.child.pid !== undefined && process.kill(-this.child.pid, signal)
    } catch {
      return false
    }
  }
}

export interface StrayProcess {
  pid: number
  command: string
}

/** The extension host of the only window of a server: that of a window before it lives on for a moment. */
export async function onlyExtensionHost({ directory }: { directory: string }): Promise<number> {
  const host = await waitFor('the only extension host', () => {
    const hosts = processesOf(directory).filter(({ command }) => command.includes('--type=extensionHost'))
    return hosts.length === 1 && hosts[0]
  })
  return host.pid
}

/** The living processes that were started, directly or through others, within an isolated root. */
export function processesOf(rootDirectory: string): StrayProcess[] {
  const mark = `${rootVariable}=${rootDirectory}`
  const found: StrayProcess[] = []
  for (const entry of readdirSync('/proc')) {
    if (!/^\d+$/.test(entry)) continue
    try {
      if (!readFileSync(`/proc/${entry}/environ`, 'latin1').split('\0').includes(mark)) continue
      const command = readFileSync(`/proc/${entry}/cmdline`, 'utf8').replaceAll('\0', ' ').trim()
      if (command !== '') found.push({ pid: Number(entry), command })
    } catch {
      // It ended meanwhile, or is another user's.
    }
  }
  return found
}
