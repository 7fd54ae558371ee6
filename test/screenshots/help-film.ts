// Draws the animations in the help, of real pages and agents: npm run build && npx tsx test/screenshots/help-film.ts
import { join } from 'node:path'
import { exitOnSignals } from '../host/at-exit.ts'
import { launchBrowser } from '../host/browser.ts'
import { IsolatedRoot } from '../host/isolated-root.ts'
import { projectDirectory, testDirectory } from '../host/paths.ts'
import type { Workbench } from '../host/workbench.ts'
import { PageWindow } from '../support/page/page-window.ts'
import { HistoryPage } from '../ui/support/history-page.ts'
import { DrawnFilm } from './drawn-film.ts'
import { prompts, readmeAgents } from './readme-agents.ts'
import { Studio } from './studio.ts'

const size = { width: 400, height: 600 }
/** of an activity bar, which counts as a part of the side bar in a page */
const ACTIVITY_BAR = 48

exitOnSignals()
const browser = await launchBrowser()

await shoot(
  'first-minute',
  'The first minute. A click on Codex starts a session, which gets a prompt. Codex shows what it wants to change and asks for permission, and then says what it did.',
  async (film, window, studio) => {
    const start = await studio.conversation()
    await start.button(/^Codex/).waitFor()
    await film.show(start.frame, 1600)
    await start.button(/^Codex/).click()
    await start.waitForAgent('Codex')
    const conversation = await studio.conversation()
    await conversation.waitUntilReady()
    await conversation.composer.click()
    await window.page.keyboard.type(prompts.work)
    await film.show(conversation.frame, 1600)
    await window.page.keyboard.press('Enter')
    for (const file of ['planets.js', 'server.js']) {
      const request = conversation.permission.filter({ hasText: file })
      await request.locator('.diff :is(.hljs-keyword, .hljs-string)').first().waitFor()
      const isStill = file === 'planets.js'
      if (isStill) await film.show(conversation.frame, 2400, { isStill })
      await request.getByRole('button', { name: 'Yes, proceed' }).click()
      await request.waitFor({ state: 'detached' })
    }
    await studio.waitForTurnEnd(conversation)
    await film.show(conversation.frame, 2600)
  },
)

await shoot(
  'parallel-sessions',
  'Sessions of two agents at the same time. While Codex works, Gemini CLI gets a prompt. History shows that it needs an answer, and a click opens its question.',
  async (film, window, studio) => {
    const { page } = window
    const codex = await studio.startReadySession('Codex')
    await codex.send(prompts.slow)
    await codex.button(/^Stop/).waitFor()
    await codex.text('Measuring').waitFor()
    await film.show(codex.frame, 1600)
    const gemini = await studio.startReadySession('Gemini CLI')
    await gemini.composer.click()
    await page.keyboard.type(prompts.asks)
    await film.show(gemini.frame, 1600)
    await page.keyboard.press('Enter')
    const history = await HistoryPage.open(window)
    await history.rows.filter({ hasText: prompts.slow }).waitFor()
    await history.rows.filter({ hasText: 'Needs your answer' }).waitFor()
    await film.show(history.frame, 2400, { isStill: true })
    await history.row(prompts.asks).click()
    await gemini.permission.locator('.diff :is(.hljs-keyword, .hljs-string)').first().waitFor()
    await film.show(gemini.frame, 2400)
    await gemini.permission.getByRole('button', { name: 'Allow', exact: true }).click()
    await studio.waitForTurnEnd(gemini)
    await gemini.agentMessage('A 404 now lists').waitFor()
    await film.show(gemini.frame, 2600)
  },
)

await browser.close()
// the model for the agents is still listening
process.exit(0)

/** Each film has its own window with the sample workspace. `title` describes it to screen readers. */
async function shoot(
  name: string,
  title: string,
  take: (film: DrawnFilm, window: PageWindow, studio: Studio) => Promise<void>,
): Promise<void> {
  const root = new IsolatedRoot()
  const workspace = root.copyWorkspace(join(testDirectory, 'fixtures/workspace/sample.code-workspace'))
  root.updateSettings({ 'parley.agents': await readmeAgents(root) })
  const window = await PageWindow.open(browser, root, {
    workspace,
    viewport: { width: 900, height: size.height },
  })
  await window.openViewContainer('Parley')
  await window.setSideBarWidth(size.width + ACTIVITY_BAR)
  await window.setTheme('dark')
  const film = new DrawnFilm(size, '#181818')
  await take(film, window, new Studio(window as unknown as Workbench, 'dark'))
  film.save(join(projectDirectory, `media/help/${name}.svg`), title)
  await window.close()
}
