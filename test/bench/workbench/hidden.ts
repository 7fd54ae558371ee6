import { setTimeout as sleep } from 'node:timers/promises'
import type { Frame } from 'playwright-core'
import { waitFor } from '../../host/wait-for.ts'
import { ConversationPage } from '../../ui/support/conversation-page.ts'
import { since } from './cpu.ts'
import type { Figure } from './figures.ts'
import type { BenchWindow } from './rig.ts'
import { pacedPrompt, type Scenario } from './scenarios.ts'
import { perSecond } from './sizes.ts'

const seconds = 6
const spent = (when: string): Figure => ({ name: `main thread, ${when}`, unit: 'ms/s' })

/** Measures an idle window, then an agent that writes to a hidden view, then to a visible one. */
export const hiddenView: Scenario = {
  title: `a view that is hidden while ${perSecond} chunks a second come`,
  figures: [
    spent('nothing comes'),
    spent('hidden'),
    spent('in view'),
    { name: 'hidden against in view', unit: '%', most: 20 },
  ],
  async run(window) {
    const conversation = await window.newSession()
    const { workbench } = window
    await workbench.runCommand('View: Show Explorer')
    await sleep(1000)
    const still = await perSecondOf(window)
    await workbench.openViewContainer('Parley')
    await conversation.send(pacedPrompt(seconds * 3 + 6))
    await conversation.text(/c\d+ /).waitFor()
    await workbench.runCommand('View: Show Explorer')
    await sleep(1000)
    const hidden = await perSecondOf(window)
    await workbench.openViewContainer('Parley')
    await sleep(1000)
    const seen = await perSecondOf(window)
    await conversation.frame.locator('.working').waitFor({ state: 'detached' })
    return {
      [spent('nothing comes').name]: still,
      [spent('hidden').name]: hidden,
      [spent('in view').name]: seen,
      'hidden against in view': ((hidden - still) / (seen - still)) * 100,
    }
  },
}

/** Measures sessions in editor tabs that are hidden behind a file while their agents write. */
export function hiddenTabs(count: number): Scenario {
  return {
    title: `${count} conversations in tabs behind a file while ${perSecond} chunks a second come in each`,
    figures: [
      spent('one hidden view'),
      spent('tabs behind'),
      { name: 'heap of a tab', unit: 'MB' },
      { name: 'a tab in front again', unit: 'ms' },
    ],
    async run(window) {
      const { workbench } = window
      const lasting = seconds * 2 + 12 * count
      const begun = Date.now()
      const conversation = await window.newSession()
      const heap = await window.heapSize()
      await conversation.send(pacedPrompt(lasting))
      await conversation.text(/c\d+ /).waitFor()
      await workbench.runCommand('View: Show Explorer')
      // in both measurements, the cursor blinks in a file
      await workbench.runCommand('File: New Untitled Text File')
      await sleep(2000)
      const one = await perSecondOf(window)
      await workbench.runCommand('Parley: Open Conversation in Editor Tab')
      for (let i = 1; i < count; i++) await (await sessionInTab(window)).send(pacedPrompt(lasting))
      await workbench.runCommand('File: New Untitled Text File')
      await sleep(2000)
      const behind = await perSecondOf(window)
      const heapOfTab = ((await window.heapSize()) - heap) / count / 1e6
      const again = await timeToShow(window)
      await workbench.runCommand('View: Close All Editors')
      const last = perSecond * lasting - 1
      const ended = () => window.rig.logSince(begun).filter(({ index }) => index === last).length
      await waitFor('end of all turns', () => ended() === count, { timeout: 180_000, interval: 500 })
      await workbench.openViewContainer('Parley')
      return {
        [spent('one hidden view').name]: one,
        [spent('tabs behind').name]: behind,
        'heap of a tab': heapOfTab,
        'a tab in front again': again,
      }
    },
  }
}

async function sessionInTab(window: BenchWindow): Promise<ConversationPage> {
  await window.workbench.runCommand('Parley: Open Conversation in Editor Tab')
  await window.highlightAgent()
  await window.acceptHighlighted()
  const frame = await waitFor('a new session in a tab', () =>
    frameInFront(window, frame => frame.locator('body[data-phase="ready"]').isVisible()),
  )
  return ConversationPage.inFrame(frame)
}

/** The time from the click on a tab to the frame that shows new text in its conversation. */
async function timeToShow(window: BenchWindow): Promise<number> {
  const tab = window.workbench.page.locator('.tabs-container .tab', { hasNotText: 'Untitled' }).first()
  const begun = Date.now()
  await tab.click()
  const frame = await waitFor('the tab in front', () => frameInFront(window, async () => true))
  return (await frame.evaluate<number>(whenGrown)) - begun
}

/** The visible conversation. */
async function frameInFront(
  { workbench }: BenchWindow,
  which: (frame: Frame) => Promise<boolean>,
): Promise<Frame | undefined> {
  for (const frame of workbench.page.frames()) {
    const isThat = async () =>
      (await frame.locator('body[data-view="conversation"]').count()) > 0 &&
      (await isInView(frame)) &&
      which(frame)
    // frames can disappear at any time
    if (await isThat().catch(() => false)) return frame
  }
}

/** Looks at the outermost frame of a webview, which VS Code hides without telling the inner frames. */
async function isInView(frame: Frame): Promise<boolean> {
  const parent = frame.parentFrame()
  if (parent?.parentFrame()) return isInView(parent)
  return (await frame.frameElement()).isVisible()
}

/** Runs in a page: resolves to the time at which the conversation contains more text than now. */
const whenGrown = `new Promise(resolve => {
  const length = () => document.querySelector('.transcript')?.textContent.length ?? 0
  const before = length()
  const look = () => (length() !== before ? resolve(Date.now()) : requestAnimationFrame(look))
  look()
})`

/** The load of the renderer's main thread, in milliseconds per second. */
async function perSecondOf({ cpu }: BenchWindow): Promise<number> {
  const before = cpu.read()
  await sleep(seconds * 1000)
  return (since(before, cpu.read()).mainThread / seconds) * 1000
}
