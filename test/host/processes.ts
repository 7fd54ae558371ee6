import { type ChildProcess, spawn } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { atExit } from './at-exit.ts'
import { rootVariable } from './isolated-root.ts'
import { waitFor } from './wait-for.ts'

export interface ProcessGroupOptions {
  env: NodeJS.ProcessEnv
  cwd?: string
  /** The signal for the group when this process exits first. Default: SIGKILL; SIGTERM lets it clean up. */
  exitSignal?: NodeJS.Signals
}

/** A child process with its own process group, so that its descendants can be stopped with it. */
export class ProcessGroup {
  readonly child: ChildProcess
  /** Its output so far. */
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

  /** Stops the group, by force if necessary. Resolves when all of its processes have exited. */
  async end(): Promise<void> {
    this.#forget()
    if (!this.#signal('SIGTERM')) return
    const gone = () => !this.#signal(0)
    await waitFor('end of the process group', gone, { timeout: 5000 }).catch(() => this.#signal('SIGKILL'))
    await waitFor('end of the killed process group', gone, { timeout: 5000 })
  }

  /** Sends a signal; false if no process was left. */
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

/** The extension host of a server's only window. Waits while the host of an earlier window is still exiting. */
export async function findExtensionHost({ directory }: { directory: string }): Promise<number> {
  const host = await waitFor('the only extension host', () => {
    const hosts = processesStartedIn(directory).filter(({ command }) =>
      command.includes('--type=extensionHost'),
    )
    return hosts.length === 1 && hosts[0]
  })
  return host.pid
}

/** The running processes that were started, directly or indirectly, within an isolated root. */
export function processesStartedIn(rootDirectory: string): StrayProcess[] {
  const mark = `${rootVariable}=${rootDirectory}`
  const found: StrayProcess[] = []
  for (const entry of readdirSync('/proc')) {
    if (!/^\d+$/.test(entry)) continue
    try {
      if (!readFileSync(`/proc/${entry}/environ`, 'latin1').split('\0').includes(mark)) continue
      const command = readFileSync(`/proc/${entry}/cmdline`, 'utf8').replaceAll('\0', ' ').trim()
      if (command !== '') found.push({ pid: Number(entry), command })
    } catch {
      // It has exited, or belongs to another user.
    }
  }
  return found
}

/** The seconds of the processors that this process used, and those below it that ended. Only Linux tells. */
export function cpuSeconds(): { own: number; ended: number } | undefined {
  if (process.platform !== 'linux') return undefined
  // user and system time, of the process and of those that it waited for, in hundredths
  const times = readFileSync('/proc/self/stat', 'utf8').split(') ').at(-1)!.split(' ')
  const sum = (first: number) => (Number(times[first]) + Number(times[first + 1])) / 100
  return { own: sum(11), ended: sum(13) }
}
