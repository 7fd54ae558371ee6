import type { Frame } from 'playwright-core'
import { openFile } from '../ui/support/editor.ts'
import { prompts } from './readme-agents.ts'
import type { State, Studio } from './studio.ts'

/** The README's still images, each as wide as it's shown there. */
export const readmeStates: State[] = [
  {
    name: 'readme-diff',
    async take(studio) {
      const { workbench } = studio
      const before = await sized(studio, 1140, 840)
      await openFile(workbench, 'planets.js')
      await workbench.openViewContainer('Parley')
      await workbench.setSideBarWidth(460)
      const conversation = await studio.startReadySession('Codex')
      await conversation.send(prompts.work)
      const first = conversation.permission.filter({ hasText: 'planets.js' })
      await first.getByRole('button', { name: 'Yes, proceed' }).click()
      const question = conversation.permission.filter({ hasText: 'server.js' })
      await question.waitFor()
      await question.locator('.diff .hljs-storage').first().waitFor()
      await question.getByRole('button', { name: 'Yes, proceed' }).click()
      await studio.waitForTurnEnd(conversation)
      await workbench.runCommand('Parley: Open Conversation in Editor Tab')
      await workbench.runCommand('View: Close Primary Side Bar')
      const tab = await studio.conversationTab()
      await tab.button(/^Edit: .*planets/).click()
      await tab.frame.locator('.diff-side .hljs-keyword').first().waitFor()
      await sized(studio, 1140, 880)
      await studio.captureEditor('readme-diff')
      await workbench.runCommand('View: Close All Editors')
      await workbench.openViewContainer('Parley')
      await workbench.page.setViewportSize(before)
      await studio.resetWidth()
    },
  },
  {
    name: 'readme-composer',
    async take(studio) {
      const { keyboard } = studio.workbench.page
      await studio.workbench.setSideBarWidth(460)
      const conversation = await studio.startReadySession('Codex')
      await conversation.composer.click()
      const rows = conversation.frame.getByRole('listbox', { name: 'Context' }).getByRole('option')
      await keyboard.type('Draw the orbits of @planets')
      await rows.filter({ hasText: 'planets.js' }).first().waitFor()
      await keyboard.press('Enter')
      await conversation.composer.locator('.mention', { hasText: 'planets.js' }).waitFor()
      await keyboard.type('as on the sketch, and load them in @app')
      await rows.filter({ hasText: 'app.js' }).first().waitFor()
      await keyboard.press('Enter')
      await conversation.composer.locator('.mention', { hasText: 'app.js' }).waitFor()
      await pasteSketch(conversation.frame)
      await conversation.frame.getByRole('list', { name: 'Attached' }).getByRole('img').waitFor()
      await studio.capturePart('readme-composer', conversation.frame.locator('.composer'))
      await conversation.composer.fill('')
      await studio.resetWidth()
    },
  },
]

/** Pastes an image of planets around a sun. Code for the page is in strings. */
async function pasteSketch(frame: Frame): Promise<void> {
  await frame.evaluate(`(async () => {
    const canvas = new OffscreenCanvas(480, 480)
    const context = canvas.getContext('2d')
    const disc = (x, y, radius, color) => {
      context.fillStyle = color
      context.beginPath()
      context.arc(x, y, radius, 0, 7)
      context.fill()
    }
    context.fillStyle = '#0f172a'
    context.fillRect(0, 0, 480, 480)
    context.strokeStyle = '#475569'
    context.lineWidth = 6
    for (const radius of [90, 150, 210]) {
      context.beginPath()
      context.arc(240, 240, radius, 0, 7)
      context.stroke()
    }
    disc(240, 240, 46, '#fbbf24')
    disc(304, 176, 18, '#f97316')
    disc(132, 344, 26, '#38bdf8')
    disc(430, 330, 22, '#f43f5e')
    const blob = await canvas.convertToBlob({ type: 'image/png' })
    const data = new DataTransfer()
    data.items.add(new File([blob], 'sketch.png', { type: 'image/png' }))
    document
      .querySelector('.composer [role="textbox"]')
      .dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true }))
  })()`)
}

/** Resizes the window; returns the previous size. */
async function sized({ workbench: { page } }: Studio, width: number, height: number) {
  const before = page.viewportSize()!
  await page.setViewportSize({ width, height })
  return before
}
