import assert from 'node:assert/strict'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Frame } from 'playwright-core'
import { PageSuite } from '../support/page/page-suite.ts'
import type { PageWindow } from '../support/page/page-window.ts'
import { chooseAction } from '../ui/support/agents-page.ts'
import { ConversationPage } from '../ui/support/conversation-page.ts'
import { fixtureAgent } from '../ui/support/fixture-agent.ts'
import { HistoryPage } from '../ui/support/history-page.ts'

const script = {
  authRequired: true,
  results: {
    initialize: {
      agentCapabilities: { auth: { logout: {}, status: {} }, loadSession: true },
      authMethods: [{ id: 'plain', name: 'Sign in' }],
    },
  },
}

describe('an account of an agent', () => {
  const vscode = new PageSuite({
    settings: root => {
      const { env, ...claude } = fixtureAgent(root, 'Claude', script)
      return {
        'parley.agents': {
          claude: { ...claude, env: { ...env, FIXTURE_ACCOUNT: 'CLAUDE_CONFIG_DIR' } },
          other: fixtureAgent(root, 'Other'),
        },
      }
    },
  })
  const folder = () => join(vscode.root.userData, 'User/globalStorage/parley.parley/accounts/claude-work')
  const settings = () =>
    JSON.parse(readFileSync(join(vscode.root.userData, 'User/settings.json'), 'utf8'))['parley.agents']

  async function manage(workbench: PageWindow): Promise<Frame> {
    await workbench.runCommand('Parley: Manage Agents')
    const page = await workbench.webview('body[data-view="agents"]')
    await page.getByRole('button', { name: 'Refresh', disabled: false }).waitFor()
    return page
  }
  const row = (page: Frame, name: string) =>
    page.getByRole('listitem').filter({ has: page.getByRole('heading', { name, exact: true }) })

  async function add(workbench: PageWindow, page: Frame): Promise<void> {
    await chooseAction(page, row(page, 'Claude'), 'Add Account…')
    await workbench.paletteInput.fill('Work')
    await workbench.paletteInput.press('Enter')
    await workbench.pick('Green')
  }

  it('is added, signs in for itself, is shown at its sessions, and is removed', async () => {
    const workbench = await vscode.clearedWindow()
    const page = await manage(workbench)
    const more = row(page, 'Other').getByRole('button', { name: /^More Actions/ })
    await more.click()
    await page.getByRole('option', { name: 'Show Log' }).waitFor()
    assert.equal(await page.getByRole('option', { name: 'Add Account…' }).count(), 0)
    await workbench.page.keyboard.press('Escape')

    await add(workbench, page)
    const work = row(page, 'Work (Claude)')
    await work.getByText('Account of Claude').waitFor()
    await work.getByText(folder()).waitFor()
    await workbench.screenshot('accounts-added')
    assert.deepEqual(settings()['claude-work'], {
      account: { of: 'claude', folder: folder() },
      name: 'Work (Claude)',
      color: 'charts.green',
    })

    // both at once, each with its own sign-in
    await workbench.notification('Work (Claude) was added.').getByRole('button', { name: 'Sign In' }).click()
    const conversation = await ConversationPage.find(workbench)
    await conversation.card('Sign in to Work (Claude)').getByRole('button', { name: 'Sign in' }).click()
    await work.getByText('Signed in as ada@example.org').waitFor()
    assert.ok(existsSync(join(folder(), 'signed-in')))
    await work.getByRole('button', { name: 'New Session: Work (Claude)' }).click()
    await conversation.waitForAgent('Work (Claude)')
    await conversation.waitForPhase('ready')
    await conversation.runTurn('[[say Hello from work.]]')
    const colored = conversation.frame.locator('.header-agent .agent-colored')
    assert.match((await colored.getAttribute('style')) ?? '', /--vscode-charts-green/)
    await workbench.screenshot('accounts-session')

    await workbench.runAndPick('Parley: New Session with Agent…', 'Claude')
    await conversation.waitForAgent('Claude')
    await conversation.card('Claude requires sign-in').getByRole('button', { name: 'Sign in' }).click()
    await conversation.waitForPhase('ready')
    await conversation.runTurn('[[say Hello from home.]]')
    assert.equal(await conversation.frame.locator('.header-agent .agent-colored').count(), 0)
    const history = await HistoryPage.open(workbench)
    const ofWork = history.rows.filter({ hasText: 'Work (Claude)' })
    await ofWork.locator('.agent-colored').waitFor()
    await workbench.screenshot('accounts-history')
    await history.back()

    await chooseAction(page, row(page, 'Claude'), 'Sign Out')
    await workbench.page.getByRole('button', { name: 'Sign Out', exact: true }).click()
    await row(page, 'Claude')
      .getByText(/Not signed in$/)
      .waitFor()
    await work.getByText('Signed in as ada@example.org').waitFor()

    // it's signed in in the next window
    await workbench.reload()
    const again = await manage(workbench)
    await row(again, 'Work (Claude)').getByRole('button', { name: 'Check: Work (Claude)' }).click()
    await row(again, 'Work (Claude)').getByText('Signed in as ada@example.org').waitFor()
    await row(again, 'Claude').getByRole('button', { name: 'Check: Claude', exact: true }).click()
    await row(again, 'Claude')
      .getByText(/Not signed in$/)
      .waitFor()

    await chooseAction(again, row(again, 'Work (Claude)'), 'Remove Account…')
    await workbench.page.getByText(/Its sessions stay in the history and can be read\. Its folder/).waitFor()
    await workbench.page.getByRole('button', { name: 'Remove', exact: true }).click()
    await workbench.notification('Work (Claude) was removed.').waitFor()
    await row(again, 'Work (Claude)').waitFor({ state: 'detached' })
    assert.deepEqual(Object.keys(settings()), ['claude', 'other'])
    assert.ok(existsSync(join(folder(), 'signed-in')))
    const kept = await HistoryPage.open(workbench)
    await kept.rows.filter({ hasText: 'Work (Claude)' }).dblclick()
    const read = await ConversationPage.find(workbench)
    await read.text('Hello from work.').waitFor()
  })

  it("doesn't start if its folder can't be used", async () => {
    const workbench = await vscode.clearedWindow()
    const page = await manage(workbench)
    await add(workbench, page)
    const work = row(page, 'Work (Claude)')
    await work.waitFor()
    const own = settings()['claude-work-2']?.account.folder ?? folder()
    rmSync(own, { recursive: true })
    writeFileSync(own, '')
    await work.getByRole('button', { name: 'New Session: Work (Claude)' }).click()
    const conversation = await ConversationPage.find(workbench)
    const card = conversation.card("Work (Claude) couldn't start")
    await card.getByText(/The folder of the account can't be used: .*The agent wasn't started/).waitFor()
    await workbench.screenshot('accounts-folder')
    rmSync(own)
    await card.getByRole('button', { name: 'Retry' }).click()
    await conversation.card('Work (Claude) requires sign-in').waitFor()
  })
})
