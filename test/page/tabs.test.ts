import assert from 'node:assert/strict'
import type { Frame } from 'playwright-core'
import { waitFor } from '../host/wait-for.ts'
import { openFile } from '../support/page/editor.ts'
import { PageSuite } from '../support/page/page-suite.ts'
import type { PageWindow } from '../support/page/page-window.ts'
import { ConversationPage } from '../ui/support/conversation-page.ts'
import { fixtureAgent, receivedParams } from '../ui/support/fixture-agent.ts'
import { HistoryPage } from '../ui/support/history-page.ts'

describe('several sessions', () => {
  const vscode = new PageSuite({
    settings: root => ({ 'parley.agents': { fixture: fixtureAgent(root, 'Fixture') } }),
  })
  let workbench: PageWindow

  const tab = (name: string | RegExp) => workbench.page.getByRole('tab', { name })

  /** Finds the page that shows a session; `state` distinguishes sessions with the same title. */
  async function pageOf(title: string, state = ''): Promise<ConversationPage> {
    const shown = async (frame: Frame) => {
      const heading = frame.locator(`body${state}`).getByRole('heading', { name: title, exact: true })
      return (await heading.isVisible().catch(() => false)) ? frame : undefined
    }
    const frame = await waitFor(`conversation ${title}`, async () => {
      for (const one of workbench.page.frames()) {
        const found = await shown(one)
        if (found) return found
      }
    })
    return ConversationPage.inFrame(frame)
  }

  /** Starts a session with this title in its own tab. */
  async function begin(title: string): Promise<ConversationPage> {
    await workbench.runCommand('Parley: Open Conversation in Editor Tab')
    await workbench.page.locator('.tab.active', { hasText: 'Parley' }).waitFor()
    // a page takes the focus once it's ready
    await pageOf('New session', ':has(.composer-text :focus)')
    await workbench.runAndPick('Parley: New Session with Agent…', 'Fixture')
    const page = await pageOf('New session', '[data-phase="ready"]')
    await page.send(`[[title ${title}]]`)
    return pageOf(title)
  }

  it('can be moved from a tab to the side bar with their messages', async () => {
    workbench = await vscode.clearedWindow()
    const page = await begin('Mover')
    await page.send('[[say Something that stays.]]')
    await page.text(/^Something that stays/).waitFor()
    await workbench.runCommand('Parley: Move Conversation to Side Bar')
    await tab('Mover').waitFor({ state: 'detached' })
    const sideBar = await pageOf('Mover')
    await sideBar.text(/^Something that stays/).waitFor()
    await sideBar.send('[[say It goes on.]]')
    await sideBar.text(/^It goes on/).waitFor()
  })

  it('are each shown in only one place, however they are opened', async () => {
    workbench = await vscode.open()
    const page = await begin('Only')
    await page.send('[[say It is here.]]')
    await page.text(/^It is here/).waitFor()
    const active = workbench.page.locator('.tab.active', { hasText: 'Only' })
    const shown = async () => {
      const places = workbench.page.frames().map(frame =>
        frame
          .locator('body[data-view="conversation"]')
          .getByRole('heading', { name: 'Only', exact: true })
          .count()
          .catch(() => 0),
      )
      return (await Promise.all(places)).reduce((sum, count) => sum + count, 0)
    }
    const ways: Array<[string, () => Promise<void>]> = [
      [
        'a line of History',
        async () => {
          const history = await HistoryPage.open(workbench)
          await history.find('Only')
          await history.row('Only').dblclick()
        },
      ],
      [
        'Open Session',
        async () => {
          await workbench.runAndPick('Parley: Open Session…', 'Only')
        },
      ],
    ]
    const loads = () => receivedParams(vscode.root, 'Fixture', 'session/load').length
    const before = loads()
    for (const [way, go] of ways) {
      await openFile(workbench, 'planets.js')
      await active.waitFor({ state: 'detached' })
      await go()
      await active.waitFor()
      await waitFor(`one place, by ${way}`, async () => (await shown()) === 1)
    }
    assert.equal(loads(), before)
  })
})
