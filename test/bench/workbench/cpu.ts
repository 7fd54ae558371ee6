import { readFileSync } from 'node:fs'
import type { Browser } from 'playwright-core'
import { processesStartedIn } from '../../host/processes.ts'

/** Clock ticks per second in /proc, which don't depend on the kernel's tick rate. */
const jiffies = 100

/** CPU time used so far, in seconds. */
export interface CpuTimes {
  renderer: number
  extensionHost: number
  /** only of the renderer's main thread */
  mainThread: number
  /** how long that thread was ready to run but waited for a core */
  waited: number
}

/** Reads the CPU time of a browser's renderers and of the extension hosts below a root process. */
export class CpuClock {
  readonly #renderers: number[]
  readonly #hosts: number[]

  private constructor(renderers: number[], hosts: number[]) {
    this.#renderers = renderers
    this.#hosts = hosts
  }

  /** The CPU times of the processes that are running now. */
  static async of(browser: Browser, rootDirectory: string): Promise<CpuClock> {
    const session = await browser.newBrowserCDPSession()
    const { processInfo } = await session.send('SystemInfo.getProcessInfo')
    await session.detach()
    const renderers = processInfo.filter(({ type }) => type === 'renderer').map(({ id }) => id)
    const hosts = processesStartedIn(rootDirectory)
      .filter(({ command }) => command.includes('--type=extensionHost'))
      .map(({ pid }) => pid)
    if (renderers.length === 0 || hosts.length === 0)
      throw new Error(`Found ${renderers.length} renderers and ${hosts.length} extension hosts`)
    return new CpuClock(renderers, hosts)
  }

  read(): CpuTimes {
    return {
      renderer: sum(this.#renderers.map(processTime)),
      extensionHost: sum(this.#hosts.map(processTime)),
      mainThread: sum(this.#renderers.map(pid => mainThread(pid)[0])),
      waited: sum(this.#renderers.map(pid => mainThread(pid)[1])),
    }
  }
}

export function since(before: CpuTimes, after: CpuTimes): CpuTimes {
  return {
    renderer: after.renderer - before.renderer,
    extensionHost: after.extensionHost - before.extensionHost,
    mainThread: after.mainThread - before.mainThread,
    waited: after.waited - before.waited,
  }
}

/** User and system time of a whole process; ended processes don't count. */
function processTime(pid: number): number {
  const stat = read(`/proc/${pid}/stat`)
  // starts after the name in parentheses, which can contain anything
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11] ?? 0) + Number(fields[12] ?? 0)) / jiffies
}

/**
 * The seconds for which a thread ran and waited to run. For a process, /proc reports its first thread, which is the
 * main thread of a renderer.
 */
function mainThread(pid: number): [ran: number, waited: number] {
  const [ran, waited] = read(`/proc/${pid}/schedstat`).split(' ')
  return [Number(ran ?? 0) / 1e9, Number(waited ?? 0) / 1e9]
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}

const sum = (values: number[]): number => values.reduce((a, b) => a + b, 0)
