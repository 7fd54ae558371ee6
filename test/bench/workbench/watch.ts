import { type CpuTimes, since } from './cpu.ts'
import { type Figure, percentile, type Values } from './figures.ts'
import type { Notes, Probe } from './probe.ts'
import type { BenchWindow } from './rig.ts'
import { TaskTrace } from './task-trace.ts'

/** The milliseconds from which a browser calls a task long, since users notice it. */
export const longTask = 50

/** The costs that every measurement reports. */
export const costs: Figure[] = [
  { name: 'longest task of the view', unit: 'ms', most: longTask },
  { name: 'longest task of the workbench', unit: 'ms' },
  { name: 'longest of any, on a core', unit: 'ms' },
  { name: 'frames over 50 ms', unit: '' },
  { name: 'p95 frame gap', unit: 'ms' },
  { name: 'CPU of the renderer', unit: 's' },
  { name: 'CPU of the extension host', unit: 's' },
  { name: "page's thread waited for a core", unit: 's' },
  { name: 'DOM nodes', unit: '', most: 3000 },
  { name: 'heap, workbench included', unit: 'MB' },
]

/** Measures these costs from `begin` to `end`. */
export class Watch {
  readonly #window: BenchWindow
  readonly #trace: TaskTrace
  readonly #cpu: CpuTimes
  #spent: CpuTimes | undefined
  #longest: number | undefined

  private constructor(window: BenchWindow, trace: TaskTrace) {
    this.#window = window
    this.#trace = trace
    this.#cpu = window.cpu.read()
  }

  static async begin(window: BenchWindow, probe: Probe): Promise<Watch> {
    const trace = await TaskTrace.start(window.rig.browser, window.workbench.page)
    await probe.begin()
    return new Watch(window, trace)
  }

  async end(): Promise<void> {
    this.#spent = since(this.#cpu, this.#window.cpu.read())
    this.#longest = await this.#trace.longest()
  }

  async costs(notes: Notes): Promise<Values> {
    const cpu = this.#spent!
    return {
      'longest task of the view': longest(notes, true),
      'longest task of the workbench': longest(notes, false),
      'longest of any, on a core': this.#longest!,
      ...frames(notes.gaps),
      'CPU of the renderer': cpu.renderer,
      'CPU of the extension host': cpu.extensionHost,
      "page's thread waited for a core": cpu.waited,
      'DOM nodes': notes.nodes,
      'heap, workbench included': (await this.#window.heapSize()) / 1e6,
    }
  }
}

export function frames(gaps: number[]): Values {
  return { 'p95 frame gap': percentile(gaps, 0.95), 'frames over 50 ms': gaps.filter(gap => gap > 50).length }
}

/**
 * The longest task in milliseconds; 0 if none took more than 50. In a browser, the view shares its thread with the
 * workbench: `own` excludes the tasks of only the workbench, but not those that can't be attributed.
 */
export function longest({ tasks }: Notes, own: boolean): number {
  const workbench = /ancestor|cross-origin/
  return Math.max(
    0,
    ...tasks.flatMap(([duration, whose]) => (workbench.test(whose) !== own ? [duration] : [])),
  )
}
