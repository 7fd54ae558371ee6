import assert from 'node:assert/strict'
import { waitFor } from '../host/wait-for.ts'
import { openFile } from '../support/page/editor.ts'
import { PageSuite } from '../support/page/page-suite.ts'
import type { PageWindow } from '../support/page/page-window.ts'
import { fixtureAgent, receivedParams } from '../ui/support/fixture-agent.ts'
import { HistoryPage } from '../ui/support/history-page.ts'
import { beginInTab, pageOfSession } from '../ui/support/session-tabs.ts'

describe('several sessions', () => {
  const vscode = new PageSuite({
    settings: root => ({ 'parley.agents': { fixture: fixtureAgent(root, 'Fixture') } }),
  })
  let workbench: PageWindow

  const tab = (name: string | RegExp) => workbench.page.getByRole('tab', { name })

  const pageOf = (title: string) => pageOfSession(workbench, title)
  const begin = (title: string) => beginInTab(workbench, 'Fixture', title)

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
