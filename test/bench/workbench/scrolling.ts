import type { Locator } from 'playwright-core'
import { Probe } from './probe.ts'
import type { BenchWindow } from './rig.ts'
import { isLastChunk, openLongSession, pacedPrompt, type Scenario } from './scenarios.ts'
import { frames, longest, longTask } from './watch.ts'

/** Twenty views per second: faster than anyone reads, but slow enough for consecutive frames to overlap. */
const speed = 12_000
const distance = 36_000
/** Milliseconds per frame at 60 Hz. */
const frame = 1000 / 60

const gap = 'p95 frame gap while scrolling'
const floor = 'the same over a still copy'

/** In the long session, scrolls up a bit while the agent writes, then toward the start. */
export const scrolling: Scenario = {
  title: `scrolling while 40 chunks a second come, then at ${speed.toLocaleString('en')} px/s through the long session`,
  figures: [
    { name: 'what is read moved by', unit: 'px', most: 1 },
    { name: gap, unit: 'ms', most: 20 },
    { name: floor, unit: 'ms' },
    { name: 'ours against the still copy', unit: '%', most: 120 },
    { name: 'frames missed in 3 s', unit: '', most: 2 },
    { name: 'frames with a part not drawn', unit: '', most: 0 },
    { name: 'frames over 50 ms while scrolling', unit: '' },
    { name: 'longest task of the view', unit: 'ms', most: longTask },
    { name: 'DOM nodes', unit: '', most: 3000 },
  ],
  async run(window) {
    const { conversation, probe } = await openLongSession(window)
    const list = conversation.frame.locator('.transcript')
    const prompt = pacedPrompt(10)
    await probe.watchChunks(prompt)
    const begun = Date.now()
    await conversation.send(prompt)
    await probe.waitForChunk(40)
    const { mouse } = window.workbench.page
    const { x, y } = await middle(list)
    await mouse.move(x, y)
    for (let i = 0; i < 5; i++) await mouse.wheel(0, -240)
    await probe.waitUntilIdle()
    await probe.hold()
    await window.waitForLog('last chunk', begun, isLastChunk(10))
    await conversation.frame.locator('.working').waitFor({ state: 'detached' })
    const moved = await probe.moved()
    await probe.watchBlanks()
    await probe.waitUntilIdle()
    await probe.begin()
    await scrollUp(window, list)
    const notes = await probe.stop()
    const ours = frames(notes.gaps)
    const still = await overStillCopy(window, await Probe.start(conversation.frame), list)
    return {
      'what is read moved by': moved,
      [gap]: ours['p95 frame gap']!,
      [floor]: still,
      'ours against the still copy': (ours['p95 frame gap']! / still) * 100,
      'frames missed in 3 s': missed(notes.beats),
      'frames with a part not drawn': notes.blanks,
      'frames over 50 ms while scrolling': ours['frames over 50 ms']!,
      'longest task of the view': longest(notes, true),
      'DOM nodes': notes.nodes,
    }
  },
}

/** The cost of rendering alone: a copy of the rows in the same place, without Parley's code. */
async function overStillCopy(window: BenchWindow, probe: Probe, list: Locator): Promise<number> {
  await probe.coverWithCopy(distance * 1.1)
  await probe.waitUntilIdle()
  await probe.begin()
  await scrollUp(window, list)
  const way = await probe.removeCopy()
  const { gaps } = await probe.stop()
  if (way < distance * 0.9) throw new Error(`The copy was scrolled by ${way} px of ${distance}`)
  return frames(gaps)['p95 frame gap']!
}

/** Scrolls by an equal part of the distance in every frame. */
async function scrollUp(window: BenchWindow, list: Locator): Promise<void> {
  await window.devtools.send('Input.synthesizeScrollGesture', {
    ...(await middle(list)),
    yDistance: distance,
    speed,
    gestureSourceType: 'mouse',
    preventFling: true,
  })
}

async function middle(list: Locator): Promise<{ x: number; y: number }> {
  const box = (await list.first().boundingBox())!
  return { x: Math.round(box.x + box.width / 2), y: Math.round(box.y + box.height / 2) }
}

/** The number of frames that are missing between the recorded ones. */
function missed(beats: number[]): number {
  return beats.reduce((sum, beat) => sum + Math.max(0, Math.round(beat / frame) - 1), 0)
}
