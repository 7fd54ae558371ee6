import { setTimeout as sleep } from 'node:timers/promises'
import type { ConversationPage } from '../../ui/support/conversation-page.ts'
import type { LogLine } from '../../ui/support/fixture-agent.ts'
import { since } from './cpu.ts'
import { type Figure, percentile, type Values } from './figures.ts'
import { Probe } from './probe.ts'
import type { BenchWindow } from './rig.ts'
import { characters, perSecond, turns } from './sizes.ts'
import { costs, frames, Watch } from './watch.ts'

const end: Figure = { name: 'end on screen', unit: 'ms' }
const agentWrites: Figure = { name: "the agent's own write", unit: 'ms' }
const firstText: Figure = { name: 'first text on screen', unit: 'ms' }

export interface Scenario {
  title: string
  figures: Figure[]
  run(window: BenchWindow): Promise<Values>
}

/** The baseline: an idle window, which shows how busy the machine is. */
export const idle: Scenario = {
  title: 'nothing at all for 3 s (what the machine does by itself)',
  figures: [
    { name: 'p95 frame gap', unit: 'ms' },
    { name: 'frames over 50 ms', unit: '' },
    { name: 'CPU of the renderer', unit: 's' },
    { name: "page's thread waited for a core", unit: 's' },
  ],
  async run(window) {
    const { frame } = await window.newSession()
    const probe = await Probe.start(frame)
    await probe.waitUntilIdle()
    await probe.begin()
    const cpu = window.cpu.read()
    await sleep(3000)
    const spent = since(cpu, window.cpu.read())
    const { gaps } = await probe.stop()
    return {
      ...frames(gaps),
      'CPU of the renderer': spent.renderer,
      "page's thread waited for a core": spent.waited,
    }
  },
}

export function flood(chunks: number, most: number): Scenario {
  return {
    title: `a flood of ${chunks.toLocaleString('en')} chunks of ${characters} characters`,
    figures: [{ ...end, most }, firstText, agentWrites, ...costs],
    async run(window) {
      const conversation = await window.newSession()
      return measurePrompt(window, conversation, floodOf(chunks))
    },
  }
}

export function toolCalls(calls: number, most: number): Scenario {
  return {
    title: `${calls} tool calls with a diff each`,
    figures: [{ ...end, most }, firstText, agentWrites, ...costs],
    async run(window) {
      const conversation = await window.newSession()
      const work = { prompt: `[[tool-flood ${calls}]]`, first: /Edit/, last: endOfFlood }
      return measurePrompt(window, conversation, work)
    },
  }
}

export function load(most: number): Scenario {
  return {
    title: `a load of ${turns.toLocaleString('en')} turns (10,000 updates)`,
    figures: [{ ...end, most }, agentWrites, ...costs],
    async run(window) {
      const { frame } = await window.newSession()
      const probe = await Probe.start(frame)
      await probe.watchText('end', new RegExp(`Answer ${turns}\\b`))
      await probe.waitUntilIdle()
      await window.highlightLongSession()
      const begun = Date.now()
      const watch = await Watch.begin(window, probe)
      await window.acceptHighlighted()
      await probe.waitForText('end')
      await watch.end()
      const written = await window.waitForLog('end of the replay', begun, isEvent('load-written'))
      const notes = await probe.stop()
      return {
        [end.name]: notes.done.end! - beginningOf(written),
        [agentWrites.name]: written.milliseconds!,
        ...(await watch.costs(notes)),
      }
    },
  }
}

const plainCpu: Figure = { name: 'CPU, a page that only appends', unit: 's' }
const plainMedian: Figure = { name: 'median, a page that only appends', unit: 'ms' }

/**
 * Switches to the long session. Then the same stream is measured with a page that only appends its text, which shows what
 * VS Code needs to deliver and draw it.
 */
export function paced(seconds: number): Scenario {
  return {
    title: `${perSecond} chunks a second for ${seconds} s onto the session of ${turns.toLocaleString('en')} turns`,
    figures: [
      { name: 'p95 latency to the DOM', unit: 'ms', most: 34 },
      // one frame at 60 Hz
      { name: 'median latency to the DOM', unit: 'ms', most: 17 },
      plainMedian,
      { name: 'CPU of the renderer in 10 s', unit: 's', most: 3 },
      plainCpu,
      { name: 'CPU against that page', unit: '%', take: 'median' },
      { name: 'worst latency to the DOM', unit: 'ms' },
      ...costs.map(cost => (cost.name === 'p95 frame gap' ? { ...cost, most: 35 } : cost)),
    ],
    async run(window) {
      const { conversation, probe } = await openLongSession(window)
      await probe.watchChunks(pacedPrompt(seconds))
      const own = await streamed(window, conversation, probe, seconds)
      await conversation.frame.locator('.working').waitFor({ state: 'detached' })
      const plainProbe = await Probe.start(conversation.frame)
      await plainProbe.onlyAppend()
      const plain = await streamed(window, conversation, plainProbe, seconds)
      await plainProbe.appendNoMore()
      const cpu = ({ spent }: Streamed) => (spent['CPU of the renderer']! / seconds) * 10
      return {
        'p95 latency to the DOM': percentile(own.latencies, 0.95),
        'median latency to the DOM': percentile(own.latencies, 0.5),
        [plainMedian.name]: percentile(plain.latencies, 0.5),
        'CPU of the renderer in 10 s': cpu(own),
        [plainCpu.name]: cpu(plain),
        'CPU against that page': (cpu(own) / cpu(plain)) * 100,
        'worst latency to the DOM': Math.max(...own.latencies),
        ...own.spent,
      }
    },
  }
}

interface Streamed {
  /** of each chunk, from the agent's write until it's in the page; milliseconds */
  latencies: number[]
  spent: Values
}

/** The probe must record the chunks already. */
async function streamed(
  window: BenchWindow,
  conversation: ConversationPage,
  probe: Probe,
  seconds: number,
): Promise<Streamed> {
  const begun = Date.now()
  const watch = await Watch.begin(window, probe)
  await conversation.send(pacedPrompt(seconds))
  const count = perSecond * seconds
  await probe.waitForChunk(count - 1)
  await watch.end()
  const notes = await probe.stop()
  const latencies = window.rig.logSince(begun).flatMap(({ event, index, at }) => {
    const seen = event === 'paced' ? notes.chunks[index!] : undefined
    return typeof seen === 'number' ? [seen - at!] : []
  })
  if (latencies.length < count * 0.99)
    throw new Error(`Only ${latencies.length} of ${count} chunks were seen in the page`)
  return { latencies, spent: await watch.costs(notes) }
}

/**
 * Whether a chunk costs the same after 100,000 others in the same session. The view is full in both measurements, since
 * a view that isn't full paints less and doesn't scroll.
 */
export function costOfAChunk(seconds: number, before: number): Scenario {
  return {
    title: `what a chunk costs the view at ${perSecond} a second, at the start and after ${before.toLocaleString('en')}`,
    figures: [
      { name: 'at the start', unit: 'µs' },
      { name: 'at the end', unit: 'µs' },
      { name: 'end against start', unit: '%', most: 110 },
      { name: `end of the ${before.toLocaleString('en')} on screen`, unit: 'ms' },
    ],
    async run(window) {
      const conversation = await window.newSession()
      await measurePrompt(window, conversation, floodOf(500))
      const start = await mainThreadPerChunk(window, conversation, seconds)
      const { [end.name]: middle } = await measurePrompt(window, conversation, floodOf(before))
      const last = await mainThreadPerChunk(window, conversation, seconds)
      return {
        'at the start': start * 1e6,
        'at the end': last * 1e6,
        'end against start': (last / start) * 100,
        [`end of the ${before.toLocaleString('en')} on screen`]: middle!,
      }
    },
  }
}

/** What to ask of the agent, and the first and last text that then appears in the last rows. */
export interface Work {
  prompt: string
  first: RegExp
  last: RegExp
}

const endOfFlood = /\[end of flood\]/

export function floodOf(chunks: number): Work {
  return {
    prompt: `[[flood ${chunks} ${characters}]]`,
    first: /c\d+ /,
    // the view may still contain the end of an earlier stream
    last: new RegExp(`c${chunks - 1} [^]*${endOfFlood.source}`),
  }
}

export function pacedPrompt(seconds: number): string {
  return `[[paced ${perSecond} ${seconds} ${characters}]]`
}

/** Sends the prompt, and measures until the end of the response is visible. */
export async function measurePrompt(
  window: BenchWindow,
  conversation: ConversationPage,
  { prompt, first, last }: Work,
): Promise<Values> {
  const probe = await Probe.start(conversation.frame)
  await probe.watchText('first', first)
  await probe.watchText('end', last)
  await probe.waitUntilIdle()
  const begun = Date.now()
  const watch = await Watch.begin(window, probe)
  await conversation.send(prompt)
  await probe.waitForText('end')
  await watch.end()
  const written = await window.waitForLog('end of the flood', begun, isEvent('flood-written'))
  const notes = await probe.stop()
  return {
    [end.name]: notes.done.end! - beginningOf(written),
    [firstText.name]: notes.done.first! - beginningOf(written),
    [agentWrites.name]: written.milliseconds!,
    ...(await watch.costs(notes)),
  }
}

/** The CPU seconds of the renderer's main thread per chunk, minus those of an idle window. */
async function mainThreadPerChunk(
  window: BenchWindow,
  conversation: ConversationPage,
  seconds: number,
): Promise<number> {
  const probe = await Probe.start(conversation.frame)
  await probe.waitUntilIdle()
  const still = window.cpu.read().mainThread
  await sleep(3000)
  const idleSecond = (window.cpu.read().mainThread - still) / 3
  const prompt = pacedPrompt(seconds)
  await probe.watchChunks(prompt)
  await conversation.send(prompt)
  await probe.waitForChunk(perSecond)
  const [cpu, time] = [window.cpu.read().mainThread, performance.now()]
  await probe.waitForChunk(perSecond * seconds - 1)
  const spent = window.cpu.read().mainThread - cpu
  const idleShare = (idleSecond * (performance.now() - time)) / 1000
  await probe.stop()
  await conversation.frame.locator('.working').waitFor({ state: 'detached' })
  return (spent - idleShare) / (perSecond * (seconds - 1))
}

export async function openLongSession(window: BenchWindow) {
  const conversation = await window.openLongSession()
  const probe = await Probe.start(conversation.frame)
  await probe.waitUntilIdle()
  return { conversation, probe }
}

/** Matches the log line of the last chunk of a paced stream of this many seconds. */
export function isLastChunk(seconds: number): (line: LogLine) => boolean {
  return ({ event, index }) => event === 'paced' && index === perSecond * seconds - 1
}

function isEvent(event: string): (line: LogLine) => boolean {
  return line => line.event === event
}

/** When the agent started to write, from the line that it logs at the end. */
function beginningOf(written: LogLine): number {
  return written.at! - written.milliseconds!
}
