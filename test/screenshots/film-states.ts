import { openFile } from '../ui/support/editor.ts'
import { HistoryPage } from '../ui/support/history-page.ts'
import { DrawnFilm } from './drawn-film.ts'
import { Film } from './film.ts'
import { prompts } from './readme-agents.ts'
import type { State } from './studio.ts'

const size = { width: 1060, height: 700 }

/** The animations in the README, and at the same time those in the help. */
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
      const drawn = new DrawnFilm()
      await start.button(/^Codex/).waitFor()
      await page.locator('.statusbar-item', { hasText: 'Analyzing' }).waitFor({ state: 'hidden' })
      await film.show(1600)
      await drawn.show(start.frame, 1600)
      await start.button(/^Codex/).click()
      await start.waitForAgent('Codex')
      const conversation = await studio.conversation()
      await conversation.waitUntilReady()
      await conversation.composer.click()
      await film.show(900)
      await film.type(prompts.work)
      await film.show(500)
      await drawn.show(conversation.frame, 1600)
      await page.keyboard.press('Enter')
      await conversation.button(/^Stop/).waitFor()
      await film.show(900)
      for (const file of ['planets.js', 'server.js']) {
        const request = conversation.permission.filter({ hasText: file })
        await request.locator('.diff .hljs-keyword, .diff .hljs-storage').first().waitFor()
        await film.show(2200)
        if (file === 'planets.js') await drawn.show(conversation.frame, 2400, { isStill: true })
        await request.getByRole('button', { name: 'Yes, proceed' }).click()
        await request.waitFor({ state: 'detached' })
        await film.show(900)
      }
      await studio.waitForTurnEnd(conversation)
      await page.locator('.codelens-decoration', { hasText: 'Keep' }).first().waitFor()
      await film.show(3000)
      await drawn.show(conversation.frame, 2600)
      await film.save()
      drawn.save(
        'first-minute',
        'The first minute. A click on Codex starts a session, which gets a prompt. Codex shows what it wants to change and asks for permission, and then says what it did.',
      )
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
      const drawn = new DrawnFilm({ part: '.part.editor, .notifications-toasts', background: '#1f1f1f' })
      const draw = (ms: number, isStill = false) => drawn.show(page.mainFrame(), ms, { isStill })
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
      await film.save()
      drawn.save(
        'review',
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
      const drawn = new DrawnFilm()
      await drawn.show(codex.frame, 1600)
      const gemini = await studio.startReadySession('Gemini CLI')
      await gemini.composer.click()
      await film.show(700)
      await film.type(prompts.asks)
      await drawn.show(gemini.frame, 1600)
      await page.keyboard.press('Enter')
      const history = await HistoryPage.open(workbench)
      await history.rows.filter({ hasText: prompts.slow }).waitFor()
      await film.show(1400)
      await history.rows.filter({ hasText: 'Needs your answer' }).waitFor()
      await film.show(1800)
      await drawn.show(history.frame, 2400, { isStill: true })
      await history.row(prompts.asks).click()
      await gemini.permission.locator('.diff :is(.hljs-keyword, .hljs-string)').first().waitFor()
      await film.show(2200)
      await drawn.show(gemini.frame, 2400)
      await gemini.permission.getByRole('button', { name: 'Allow', exact: true }).click()
      await studio.waitForTurnEnd(gemini)
      await film.show(2500)
      await drawn.show(gemini.frame, 2600)
      await film.save()
      drawn.save(
        'parallel-sessions',
        'Sessions of two agents at the same time. While Codex works, Gemini CLI gets a prompt. History shows that it needs an answer, and a click opens its question.',
      )
    },
  },
]
