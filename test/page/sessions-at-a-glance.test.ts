import assert from 'node:assert/strict'
import { waitFor } from '../host/wait-for.ts'
import { PageSuite } from '../support/page/page-suite.ts'
import type { PageWindow } from '../support/page/page-window.ts'
import { ConversationPage } from '../ui/support/conversation-page.ts'
import { fixtureAgent, openGate } from '../ui/support/fixture-agent.ts'

describe('the sessions of all windows', () => {
  const vscode = new PageSuite({
    settings: root => ({
      'parley.agents': { one: fixtureAgent(root, 'One'), two: fixtureAgent(root, 'Two') },
    }),
  })
  const rows = (window: PageWindow) => window.palette.locator('.monaco-list-row')
  const close = async (window: PageWindow) => {
    await window.paletteInput.press('Escape')
    await window.palette.waitFor({ state: 'hidden' })
  }

  it('are listed with what they do, are counted on the badge, and open where they are', async () => {
    const first = await vscode.open()
    const there = await ConversationPage.startSession(first, 'One')
    await there.send('[[say Reading the files]] [[usage 100 1000]] [[gate]]')
    await there.agentMessage('Reading the files').waitFor()

    const second = await vscode.open()
    const here = await ConversationPage.startSession(second, 'Two')
    await second.runCommand('Parley: Open Session…')
    const row = rows(second).filter({ hasText: 'in another window' })
    await row.getByText('Running · One').waitFor()
    await row.getByText('planets-api · Reading the files').waitFor()
    // the list follows
    await there.button(/^Stop/).waitFor()
    openGate(vscode.root, 'One')
    await row.waitFor({ state: 'detached' })
    await close(second)

    await there.send('[[permission planets.js]]')
    await there.frame.locator('.permission').first().waitFor()
    await second.page.locator('.action-item[data-badge="1"]').waitFor()
    await first.runCommand('Parley: New Session')
    await there.frame.locator('.permission').first().waitFor({ state: 'detached' })
    await there.waitForPhase('ready')
    await second.runCommand('Parley: Open Session…')
    await row.getByText('Needs your answer · One').waitFor()
    assert.match(await rows(second).first().innerText(), /Needs your answer/)
    await second.paletteInput.press('Enter')
    await second.page.getByText('was opened in its own window').waitFor()
    await there.frame.locator('.permission').first().waitFor()
    assert.equal(await here.frame.locator('.permission').count(), 0)
  })

  it('are listed in the switcher, as on the start page, and open where they are', async () => {
    const first = await vscode.open()
    const there = await ConversationPage.startSession(first, 'One')
    await there.send('[[title Reading files]] [[gate]]')
    await there.button(/^Stop/).waitFor()

    // with the same settings, but without the session that the first window shows
    const second = await vscode.open()
    const here = await ConversationPage.startSession(second, 'Two')
    await here.send('[[title Mine]]')
    await here.button(/^Mine/).click()
    const menu = here.frame.getByRole('listbox', { name: 'Switch Session' })
    const row = menu.locator('.session-text').filter({ hasText: 'in another window' })
    await row.getByText('Reading files').waitFor()
    await row.getByText('Running').waitFor()
    await row.click()
    await second.page.getByText('was opened in its own window').waitFor()
    // as a tab shows the conversation, the side bar shows the start page
    await second.runCommand('Parley: Open Conversation in Editor Tab')
    const start = (await second.webview('.sessions .session-text')).getByRole('region', { name: 'Sessions' })
    await start.getByRole('button', { name: /^Reading files Running.*in another window/ }).waitFor()
    openGate(vscode.root, 'One')
    await start.getByText('in another window').waitFor({ state: 'detached' })
  })

  it('are gone with a window that crashed', async () => {
    const first = await vscode.open()
    const there = await ConversationPage.startSession(first, 'One')
    await there.send('[[gate]]')
    await there.button(/^Stop/).waitFor()

    const second = await vscode.open()
    await ConversationPage.startSession(second, 'Two')
    await second.runCommand('Parley: Open Session…')
    const others = rows(second).filter({ hasText: 'in another window' })
    await others.waitFor()
    await first.host.kill()
    await close(second)
    await waitFor('no session', async () => {
      await second.runCommand('Parley: Open Session…')
      const left = await others.count()
      await close(second)
      return left === 0
    })
  })
})
