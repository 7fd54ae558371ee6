import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { Locator } from 'playwright-core'
import { waitFor } from '../host/wait-for.ts'
import type { Workbench } from '../host/workbench.ts'
import { ConversationPage } from './support/conversation-page.ts'
import { fixtureAgent, openGate, receivedParams } from './support/fixture-agent.ts'
import { HistoryPage } from './support/history-page.ts'
import { layoutProblems } from './support/layout.ts'
import { beginInTab, pageOfSession } from './support/session-tabs.ts'
import { waitForStoredTabs } from './support/stored-layout.ts'
import { waitForTabIndicator } from './support/tab-indicator.ts'
import { VsCodeSuite } from './support/vscode-suite.ts'

describe('several sessions', () => {
  const vscode = new VsCodeSuite({
    settings: root => ({ 'parley.agents': { fixture: fixtureAgent(root, 'Fixture') } }),
  })
  let workbench: Workbench

  const tab = (name: string | RegExp) => workbench.page.getByRole('tab', { name })
  const marked = (title: string, indicator: Parameters<typeof waitForTabIndicator>[2]) =>
    waitForTabIndicator(workbench, title, indicator)

  const pageOf = (title: string, state?: string) => pageOfSession(workbench, title, state)
  const begin = (title: string) => beginInTab(workbench, 'Fixture', title)

  it('show their states on their tabs, and are restored after a reload', async () => {
    workbench = await vscode.clearedWindow()
    const first = await begin('First')
    const second = await begin('Second')
    const third = await begin('Third')
    await tab('First').waitFor()
    await third.send('[[slow 600000]]')
    await marked('Third', 'running')

    await tab('First').click()
    await first.send('[[gate]]')
    await marked('First', 'running')
    await tab('Second').click()
    await workbench.page.locator('.tab.active', { hasText: 'Second' }).waitFor()
    // Second's prompt arrives after the extension knows which tab is visible, so First is hidden when its turn ends
    await second.send('[[say In sight.]]')
    await second.text(/^In sight/).waitFor()
    openGate(vscode.server.root, 'Fixture')
    await marked('First', 'done')
    await tab('First').click()
    await marked('First', 'idle')
    await first.send('[[permission]]')
    await marked('First', 'waiting')
    await first.permission.getByRole('button', { name: 'Allow', exact: true }).click()
    await marked('First', 'idle')

    const { keyboard } = workbench.page
    await keyboard.press("Control+'")
    await keyboard.press('o')
    // a row that had two lines keeps the second one, hidden, when it's used for another item
    const rows = workbench.palette.locator('.monaco-list-row .label-name').filter({ visible: true })
    await rows.filter({ hasText: 'Third' }).waitFor()
    await waitFor('the one that works first', async () => /Third/.test((await rows.allInnerTexts())[0] ?? ''))
    await keyboard.type('Second')
    await waitFor('one row', async () => /^Second$/.test((await rows.allInnerTexts()).join().trim()))
    await keyboard.press('Enter')
    await workbench.page.locator('.tab.active', { hasText: 'Second' }).waitFor()

    await HistoryPage.openTab(workbench)
    const starts = receivedParams(vscode.server.root, 'Fixture', 'initialize').length
    await waitForStoredTabs(workbench.page, 'First', 'Second', 'Third', 'parley.historyTab')
    await workbench.reload()
    // which tab is active depends on what the browser had stored
    for (const title of ['First', 'Second', 'Third']) {
      await tab(new RegExp(title)).click()
      await (await pageOf(title)).waitForPhase('ready')
    }
    assert.equal(receivedParams(vscode.server.root, 'Fixture', 'initialize').length, starts + 1)
    await tab('History').click()
    await (await HistoryPage.findTab(workbench)).row('Second').waitFor()
  })

  it('can be started with the menu next to +, and are listed in the empty side bar', async () => {
    workbench = await vscode.open()
    const { page } = workbench
    const sideBar = await ConversationPage.open(workbench)
    await workbench.setSideBarWidth(280)
    const choose = (title: Locator, name: string) =>
      workbench.chooseFromMenu(async () => {
        await title.hover()
        await title.getByRole('button', { name: 'New Session…' }).click()
      }, name)
    await sideBar.composer.getByText(/^Ask /).waitFor()
    await choose(page.locator('.part.sidebar > .title'), 'New Session in Editor Tab')
    const long = `A long title ${'that goes on and on '.repeat(5)}`.trim()
    const first = await pageOf('New session', '[data-phase="ready"]')
    await first.send(`[[title ${long}]] [[permission]]`)
    const sessions = sideBar.frame.getByRole('region', { name: 'Sessions' })
    await sessions.getByRole('button', { name: `${long} Needs your answer` }).waitFor()
    assert.deepEqual(await layoutProblems(sideBar.frame), [])

    await choose(page.locator('.part.editor .title .editor-actions'), 'New Session in Editor Tab')
    const second = await pageOf('New session', '[data-phase="ready"]')
    // its row moves when the turn ends
    await second.runTurn('[[title Next]] [[say Here I am.]]')
    const next = sessions.getByRole('button', { name: /^Next\b/ })
    await next.waitFor()
    await workbench.screenshot('in-editor-tabs')
    await tab(long).click()
    await page.locator('.tab.active', { hasText: long }).waitFor()
    await next.click()
    await page.locator('.tab.active', { hasText: 'Next' }).waitFor()
    // its session stays open in the background
    await workbench.runCommand('View: Close Editor')
    await tab('Next').waitFor({ state: 'detached' })
    await next.click()
    await sideBar.text(/^Here I am/).waitFor()
  })

  it('get commands when focused, even while all are streaming, and each title bar acts on its own session', async () => {
    workbench = await vscode.open()
    const inTab = await begin('Upfront')
    await begin('Aside')
    const titleBar = workbench.page.locator('.part.editor .editor-actions')
    await titleBar.getByRole('button', { name: /^Move Conversation to Side Bar/ }).click()
    await tab('Aside').waitFor({ state: 'detached' })
    const aside = await pageOf('Aside')
    const received = (method: string) => receivedParams(vscode.server.root, 'Fixture', method)
    /** Makes the agent stream until it's canceled; resolves to the session's id. */
    const stream = async (page: ConversationPage, name: string) => {
      await page.send(`[[paced 60 300 40]] ${name}`)
      const prompt = await waitFor(`turn ${name}`, () =>
        received('session/prompt').find(one => JSON.stringify(one.prompt).includes(name)),
      )
      return prompt.sessionId
    }
    // unique for each try, since the agent's log stays
    for (const round of [randomUUID(), randomUUID()]) {
      const streams = [
        [aside, await stream(aside, `${round} aside`)],
        [inTab, await stream(inTab, `${round} upfront`)],
      ] as const
      for (const [page, sessionId] of streams) {
        const before = received('session/cancel').length
        const from = async () => {
          await page.composer.click()
          await waitFor('the focus', () => page.frame.evaluate(() => document.hasFocus()))
        }
        await workbench.runCommand('Parley: Stop Turn', { from })
        await waitFor('a cancel', () => received('session/cancel').length > before)
        const canceled = received('session/cancel').slice(before)
        assert.deepEqual(
          canceled.map(one => one.sessionId),
          [sessionId],
          `in ${page === aside ? 'the side bar' : 'the tab'}, of ${streams.map(([, id]) => id)}; canceled so far: ${received('session/cancel').map(one => one.sessionId)}`,
        )
      }
    }
    await inTab.composer.click()
    const pane = workbench.page.locator('.part.sidebar > .title')
    await pane.hover()
    // the tooltip contains the shortcut
    await pane.getByRole('button', { name: "New Session (Ctrl+' N)", exact: true }).click()
    await aside.frame.getByRole('heading', { name: 'New session', exact: true }).waitFor()
    await aside.waitForPhase('ready')
    await inTab.frame.getByRole('heading', { name: 'Upfront', exact: true }).waitFor()
  })
})
