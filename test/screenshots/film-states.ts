import { join } from 'node:path'
import { outDirectory } from '../host/paths.ts'
import { openFile } from '../ui/support/editor.ts'
import { HistoryPage } from '../ui/support/history-page.ts'
import { DrawnFilm } from './drawn-film.ts'
import { Film } from './film.ts'
import { prompts } from './readme-agents.ts'
import type { State } from './studio.ts'

const size = { width: 1060, height: 700 }

/** The animations in the README. */
export const filmStates: State[] = [
  {
    name: 'film-first-minute',
    async take(studio) {
      const { workbench } = studio
      const { page } = workbench
      await page.setViewportSize(size)
      await openFile(workbench, 'planets.js')
      await workbench.openViewContainer('Parley')
      await workbench.setSideBarWidth(440)
      const start = await studio.conversation()
      const film = new Film(page, 'film-first-minute')
      await start.button(/^Codex/).waitFor()
      await page.locator('.statusbar-item', { hasText: 'Analyzing' }).waitFor({ state: 'hidden' })
      await film.show(1600)
      await start.button(/^Codex/).click()
      await start.waitForAgent('Codex')
      const conversation = await studio.conversation()
      await conversation.waitUntilReady()
      await conversation.composer.click()
      await film.show(900)
      await film.type(prompts.work)
      await film.show(500)
      await page.keyboard.press('Enter')
      await conversation.button(/^Stop/).waitFor()
      await film.show(900)
      for (const file of ['planets.js', 'server.js']) {
        const request = conversation.permission.filter({ hasText: file })
        await request.locator('.diff .hljs-keyword, .diff .hljs-storage').first().waitFor()
        await film.show(2200)
        await request.getByRole('button', { name: 'Yes, proceed' }).click()
        await request.waitFor({ state: 'detached' })
        await film.show(900)
      }
      await studio.waitForTurnEnd(conversation)
      await page.locator('.codelens-decoration', { hasText: 'Keep' }).first().waitFor()
      await film.show(3000)
      film.save()
    },
  },
  {
    // continues the session of the first minute
    name: 'film-review',
    async take(studio) {
      const { workbench } = studio
      const { page } = workbench
      const conversation = await studio.conversation()
      const film = new Film(page, 'film-review')
      await film.show(1400)
      await conversation.button(/^Review$/).click()
      const changed = page.locator('.multiDiffEntry .line-insert').first()
      await changed.waitFor()
      await film.show(2200)
      const editor = await page.locator('.part.editor').boundingBox()
      const drawn = new DrawnFilm(
        { width: Math.round(editor!.width), height: Math.round(editor!.height) },
        '#1f1f1f',
      )
      const draw = (ms: number, isStill = false) =>
        drawn.show(page.mainFrame(), ms, { isStill, part: '.part.editor, .notifications-toasts' })
      await draw(2200)
      const lenses = page.locator('.codelens-decoration', { hasText: 'Keep' })
      const decide = async (decision: 'Keep' | 'Revert') => {
        await lenses.first().getByText(decision, { exact: true }).click()
      }
      await decide('Keep')
      await lenses.filter({ hasText: '1 of 2' }).waitFor()
      await film.show(1600)
      await draw(2400, true)
      await decide('Keep')
      // the position of the last one isn't shown
      await lenses.filter({ hasText: 'of' }).first().waitFor({ state: 'detached' })
      await lenses.waitFor()
      await film.show(1600)
      await decide('Revert')
      await conversation.button(/^Review$/).waitFor({ state: 'detached' })
      await film.show(2600)
      await draw(2600)
      film.save()
      drawn.save(
        join(outDirectory, 'screenshots/film-review.svg'),
        'A review: all changes of a session in one editor, with Keep and Revert above each. After every decision, the status bar says what happened, with Undo.',
      )
    },
  },
  {
    name: 'film-parallel',
    async take(studio) {
      const { workbench } = studio
      const { page } = workbench
      await workbench.runCommand('View: Close All Editors')
      await openFile(workbench, 'server.js')
      await workbench.runCommand('Notifications: Clear All Notifications')
      await page.setViewportSize(size)
      const film = new Film(page, 'film-parallel')
      const codex = await studio.startReadySession('Codex')
      await codex.send(prompts.slow)
      await codex.button(/^Stop/).waitFor()
      await codex.text('Measuring').waitFor()
      await film.show(1400)
      const gemini = await studio.startReadySession('Gemini CLI')
      await gemini.composer.click()
      await film.show(700)
      await film.type(prompts.asks)
      await page.keyboard.press('Enter')
      const history = await HistoryPage.open(workbench)
      await history.rows.filter({ hasText: prompts.slow }).waitFor()
      await film.show(1400)
      await history.rows.filter({ hasText: 'Needs your answer' }).waitFor()
      await film.show(1800)
      await history.row(prompts.asks).click()
      await gemini.permission.waitFor()
      await film.show(2200)
      await gemini.permission.getByRole('button', { name: 'Allow', exact: true }).click()
      await studio.waitForTurnEnd(gemini)
      await film.show(2500)
      film.save()
    },
  },
]
