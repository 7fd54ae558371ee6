/**
 * Scrolling 100,000 protocol messages in a browser: the page of the protocol traffic, with the recorder and the filter of the host behind
 * it. Scrolls through all messages, a step per frame, with the wheel's distance and in jumps, and compares the time between frames with
 * that of a plain list in the same run, since a busy machine delays both: as many rows of the same size, all of them elements of a page of
 * its own, and the same steps. Prints how many frames take longer than a frame of a 60 Hz screen, and the CPU time of the page's longest
 * task. Fails if 5 % more frames were missed than by the plain list, or a task took longer than 50 ms.
 *
 *   npm run bench -- traffic-scroll
 */
import type { Page } from 'playwright-core'
import { FrameView } from '../../src/app/inspector/frame-view.ts'
import { ProtocolRecorder } from '../../src/app/inspector/protocol-recorder.ts'
import { SecretRegistry } from '../../src/common/secrets.ts'
import { launchBrowser } from '../host/browser.ts'
import { servePage } from './serve-page.ts'
import { TaskTrace } from './workbench/task-trace.ts'

const MESSAGES = 100_000
const FRAME_MS = 1000 / 60
/** Frames are rarely exact: one that took longer than this was missed. */
const MISSED_MS = FRAME_MS * 1.5
/** The share of missed frames beyond that of the plain list. */
const MAX_MISSED = 0.05
/** Milliseconds of CPU time of the page's longest task. */
const MAX_TASK = 50
const STEPS = 300
/** As in the styles of the page. Pixels. */
const ROW = 22
const SIZE = { width: 900, height: 600 }
/** The distance of a step, in pixels. */
const WAYS = [
  ['by the wheel', 100],
  ['in jumps through all messages', (MESSAGES * ROW) / STEPS],
] as const

const recorder = new ProtocolRecorder(new SecretRegistry())
recorder.isOn = true
const tap = recorder.tapFor('agent', 'Agent')
for (let i = 0; i < MESSAGES; i++) {
  const update = { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: `piece ${i}` } }
  const message = {
    jsonrpc: '2.0',
    method: 'session/update',
    params: { sessionId: `session-${i % 4}`, update },
  }
  tap.current?.({ at: i, direction: 'receive', message })
}
if (recorder.frames.count !== MESSAGES) throw new Error(`${recorder.frames.count} messages in memory`)
const view = new FrameView(recorder.frames, { text: '' })
while (!view.advance(1000));

/** What the host answers. */
function answer(method: string, params: Record<string, number>): unknown {
  const { version = 0, from = 0, to = 0, n = 0 } = params
  if (method === 'inspector/rows') {
    const { from: first, frames } = view.slice(from, to)
    return { from: first, rows: frames.map(({ row }) => row) }
  }
  if (method === 'inspector/frame') {
    const frame = recorder.frames.get(n)!
    return { row: frame.row, json: recorder.jsonOf(frame), position: view.positionOf(n) }
  }
  const { count, cleared } = recorder.frames
  const { start, end } = view
  return { isRecording: false, ...{ count, cleared, dropped: 0, version, isFiltering: false, start, end } }
}

const served = await servePage(
  { inspector: 'src/webview/inspector/main.tsx', pages: 'src/webview/styles/pages.css' },
  html(),
)
const browser = await launchBrowser()
try {
  const plainPage = await browser.newPage({ viewport: SIZE })
  await plainPage.setContent('<div class="plain" style="position: fixed; inset: 0; overflow: auto"></div>')
  await plainPage.evaluate(`document.querySelector('.plain').innerHTML = Array.from({ length: ${MESSAGES} },
    (_, i) => '<div style="height: ${ROW}px; white-space: nowrap">session/update ' + i + '</div>').join('')`)
  const plainTimes = new Map<string, number[]>()
  for (const [name, step] of WAYS) plainTimes.set(name, await framesOf(plainPage, '.plain', step))
  await plainPage.close()
  const page = await browser.newPage({ viewport: SIZE })
  await page.exposeFunction('ask', (method: string, json: string) =>
    JSON.stringify(answer(method, JSON.parse(json))),
  )
  await page.goto(served.url)
  await page.waitForSelector('.inspector-row .inspector-method')
  const rowHeight = await page.evaluate("document.querySelector('.inspector-row').offsetHeight")
  if (rowHeight !== ROW) fail(`A row has ${rowHeight} pixels, not ${ROW}.`)
  for (const [name, step] of WAYS) {
    const plain = plainTimes.get(name)!
    const trace = await TaskTrace.start(browser, page)
    const times = await framesOf(page, '.inspector-list', step)
    const longest = await trace.longest()
    const [missed, before] = [missedOf(times), missedOf(plain)]
    console.log(
      `${name}: ${(missed * 100).toFixed(1)} % of ${times.length} frames took longer than ${MISSED_MS.toFixed(1)} ms (plain list: ${(before * 100).toFixed(1)} %), median ${median(times).toFixed(1)} ms (plain list: ${median(plain).toFixed(1)} ms), longest task ${longest.toFixed(1)} ms`,
    )
    if (missed > before + MAX_MISSED) fail(`More than ${MAX_MISSED * 100} % beyond those of a plain list.`)
    if (longest > MAX_TASK) fail(`A task of more than ${MAX_TASK.toFixed(1)} ms.`)
    await page.waitForSelector('.inspector-row .inspector-method')
  }
} finally {
  await browser.close()
  served.close()
}

/** Scrolls from the start, a step per frame. Returns the times between frames. */
async function framesOf(page: Page, list: string, step: number): Promise<number[]> {
  return await page.evaluate(`(async () => {
    const list = document.querySelector('${list}')
    const frame = () => new Promise(requestAnimationFrame)
    list.scrollTop = 0
    for (let i = 0; i < 30; i++) await frame()
    const times = []
    for (let i = 0, last = await frame(); i < ${STEPS}; i++) {
      list.scrollTop += ${step}
      const now = await frame()
      times.push(now - last)
      last = now
    }
    if (list.scrollTop < ${step}) throw new Error('It did not scroll')
    return times
  })()`)
}

function missedOf(times: number[]): number {
  return times.filter(time => time > MISSED_MS).length / times.length
}

function median(times: number[]): number {
  return times.toSorted((one, other) => one - other)[times.length >> 1] ?? 0
}

function fail(reason: string): void {
  console.error(reason)
  process.exitCode = 1
}

function html(): string {
  return `<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><link rel="stylesheet" href="pages.css"></head>
<body data-view="inspector" style="margin: 0"><div id="root" style="height: ${SIZE.height}px"></div>
<script type="application/json" id="l10n">{}</script>
<script>
const tell = message => window.postMessage({ jsonrpc: '2.0', ...message })
globalThis.acquireVsCodeApi = () => ({
  postMessage: async ({ id, method, params }) => {
    if (!method.startsWith('inspector/')) return
    const result = JSON.parse(await ask(method, JSON.stringify(params)))
    if (id !== undefined) return tell({ id, result })
    if (method !== 'inspector/filter') return
    tell({ method: 'inspector/names', params: { agents: [], sessions: [], methods: [] } })
    tell({ method: 'inspector/state', params: result })
  },
  getState: () => undefined,
  setState: () => undefined,
})
</script>
<script type="module" src="inspector.js"></script></body></html>`
}
