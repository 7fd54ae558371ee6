import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Page } from 'playwright-core'
import { processesStartedIn } from '../../host/processes.ts'
import { Workbench } from '../../host/workbench.ts'
import type { BenchWindow } from './rig.ts'
import type { Scenario } from './scenarios.ts'

const empty = 'an empty webview view'
const composer = 'Parley, to a composer that takes text'
const more = 'more than the empty view'
const memory = 'extension host, more than without Parley'

/**
 * The first time that a window shows Parley, compared with an empty webview view in the same window. Another view is
 * opened first, to warm up what all webviews share. The extension host is running before, but not Parley.
 */
export const firstView: Scenario = {
  title: 'the first view of a window',
  figures: [
    { name: empty, unit: 'ms' },
    { name: composer, unit: 'ms' },
    { name: more, unit: 'ms', most: 200, take: 'median' },
    { name: memory, unit: 'MB', most: 40, take: 'median' },
  ],
  async run({ rig }: BenchWindow) {
    const workbench = await Workbench.open(rig.browser, rig.server, {
      workspace: rig.workspace,
      motion: true,
    })
    try {
      const { page } = workbench
      await timeToShow(page, 'Warm Empty', '[data-empty="warm"]')
      const peer = await timeToShow(page, 'Measured Empty', '[data-empty="measured"]')
      const [host] = newest(rig.server.root.directory)
      await sleep(2000)
      const before = residentMegabytes(host)
      const ours = await timeToShow(page, 'Parley', '.composer [contenteditable="true"]')
      await workbench.runAndPick('Parley: New Session with Agent…', rig.agentName)
      await frameWith(page, 'body[data-phase="ready"] .composer [contenteditable="true"]')
      await sleep(5000)
      return {
        [empty]: peer,
        [composer]: ours,
        [more]: ours - peer,
        [memory]: residentMegabytes(host) - before,
      }
    } finally {
      await workbench.close()
    }
  },
}

/** The time from the click on a view container's icon until a frame contains the selector. */
async function timeToShow(page: Page, container: string, selector: string): Promise<number> {
  const icon = page.locator('.activitybar').getByRole('tab', { name: container, exact: true })
  const begun = Date.now()
  await icon.click()
  await frameWith(page, selector)
  return Date.now() - begun
}

async function frameWith(page: Page, selector: string): Promise<void> {
  const end = Date.now() + 30_000
  const isThere = `document.querySelector(${JSON.stringify(selector)}) !== null`
  for (;;) {
    for (const frame of page.frames()) {
      if (await frame.evaluate<boolean>(isThere).catch(() => false)) return
    }
    if (Date.now() > end) throw new Error(`No frame shows ${selector}`)
    await sleep(2)
  }
}

/** The extension hosts below a root process, newest first. */
function newest(rootDirectory: string): number[] {
  return processesStartedIn(rootDirectory)
    .filter(({ command }) => command.includes('--type=extensionHost'))
    .map(({ pid }) => pid)
    .sort((a, b) => startOf(b) - startOf(a))
}

/** When a process started, in clock ticks since the machine did: process ids begin again at some number. */
function startOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  // the name of the program, in parentheses, may contain anything
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19])
}

/** The memory of a process, excluding shared memory. */
function residentMegabytes(pid: number | undefined): number {
  const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8')
  const kilobytes = ['Private_Clean', 'Private_Dirty'].map(name =>
    Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(rollup)?.[1] ?? 0),
  )
  return kilobytes.reduce((a, b) => a + b, 0) / 1024
}
