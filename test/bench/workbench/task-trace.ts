import type { Browser, Page } from 'playwright-core'

interface TraceEvent {
  name: string
  ph: string
  pid: number
  tid: number
  /** CPU microseconds of a complete task */
  tdur?: number
  args: { name?: string }
}

/**
 * Records the browser's tasks. This reports their CPU time, while a page can measure only durations, which include the
 * time that its thread waited for a core.
 */
export class TaskTrace {
  readonly #browser: Browser

  private constructor(browser: Browser) {
    this.#browser = browser
  }

  static async start(browser: Browser, page: Page): Promise<TaskTrace> {
    await browser.startTracing(page, { categories: ['toplevel'] })
    return new TaskTrace(browser)
  }

  /** CPU milliseconds of the longest task of any renderer's main thread. */
  async longest(): Promise<number> {
    const { traceEvents } = JSON.parse(String(await this.#browser.stopTracing())) as {
      traceEvents: TraceEvent[]
    }
    const thread = ({ pid, tid }: TraceEvent) => `${pid}/${tid}`
    const main = new Set(
      traceEvents
        .filter(({ name, args }) => name === 'thread_name' && args.name === 'CrRendererMain')
        .map(thread),
    )
    let longest = 0
    for (const event of traceEvents) {
      if (event.ph === 'X' && event.tdur !== undefined && main.has(thread(event)))
        longest = Math.max(longest, event.tdur)
    }
    return longest / 1000
  }
}
