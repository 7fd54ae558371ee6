import assert from 'node:assert/strict'
import { waitFor } from '../host/wait-for.ts'
import type { Workbench } from '../host/workbench.ts'
import { ConversationPage } from './support/conversation-page.ts'
import { fixtureAgent, openGate } from './support/fixture-agent.ts'
import { VsCodeSuite } from './support/vscode-suite.ts'

describe('the sessions of two windows', () => {
  const vscode = new VsCodeSuite({
    settings: root => ({
      'parley.agents': { one: fixtureAgent(root, 'One'), two: fixtureAgent(root, 'Two') },
    }),
  })

  /** What the badge of Parley's icon counts; empty without a badge. */
  const badge = async ({ page }: Workbench) => {
    const icon = page
      .locator('.activitybar .action-item')
      .filter({ has: page.locator('[aria-label^="Parley"]') })
    const content = icon.locator('.badge .badge-content').first()
    return (await content.isVisible()) ? content.innerText() : ''
  }
  const counts = (window: Workbench, text: string) =>
    waitFor(`the badge “${text}”`, async () => (await badge(window)) === text)
  const rows = (window: Workbench) => window.palette.locator('.monaco-list-row')
  const list = async (window: Workbench) => {
    await window.page.keyboard.press("Control+'")
    await window.page.keyboard.press('o')
    await window.palette.getByText('Active', { exact: true }).waitFor()
  }

  it('are listed in both, counted by the badge, and answered where a click leads', async () => {
    const first = await vscode.open()
    const there = await ConversationPage.startSession(first, 'One')
    await there.send('[[title Reading]] [[say Reading the files]] [[gate]]')
    await there.text('Reading the files').waitFor()

    const second = await vscode.open()
    const here = await ConversationPage.startSession(second, 'Two')
    await here.send('[[title Mine]] [[permission mine.txt]]')
    await here.permission.waitFor()
    await counts(second, '1')
    await counts(first, '1')
    await list(second)
    const other = rows(second).filter({ hasText: 'in another window' })
    await other.getByText('Running · One').waitFor()
    await other.getByText(/Reading the files/).waitFor()
    // what waits for the user is first
    assert.match(await rows(second).first().innerText(), /Mine.*Needs your answer · Two/s)
    await second.paletteInput.press('Escape')

    openGate(vscode.server.root, 'One')
    await there.button(/^Stop/).waitFor({ state: 'detached' })
    await there.send('[[permission theirs.txt]]')
    await there.permission.waitFor()
    await counts(second, '2')
    await first.runCommand('Parley: New Session')
    await there.permission.waitFor({ state: 'detached' })
    await there.waitForPhase('ready')

    await list(second)
    await other.getByText('Needs your answer · One').waitFor()
    await other.click()
    await second.notification('was opened in its own window').waitFor()
    const allow = (page: ConversationPage) =>
      page.permission.getByRole('button', { name: 'Allow', exact: true })
    await allow(there).click()
    await there.text('It was allowed.').waitFor()
    await counts(second, '1')
    await allow(here).click()
    await here.text('It was allowed.').waitFor()
    await counts(second, '')
    await counts(first, '')
  })
})
