import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import path from 'node:path'
import type { Frame } from 'playwright-core'
import { succeeds, waitFor } from '../host/wait-for.ts'
import { PageSuite } from '../support/page/page-suite.ts'
import type { PageWindow } from '../support/page/page-window.ts'
import { axeViolations, readThemeLooks } from '../ui/support/axe.ts'
import { ConversationPage } from '../ui/support/conversation-page.ts'
import { fixtureAgent, openGate, receivedParams } from '../ui/support/fixture-agent.ts'

describe('one prompt for several agents', () => {
  const edits = (...words: string[]) => ({
    prompt: [{ do: 'usage 100 1000' }, { do: `edit planets.js ${words.join(' ')}` }, { do: 'gate' }],
  })
  const vscode = new PageSuite({
    settings: root => ({
      'parley.agents': {
        one: fixtureAgent(root, 'One', edits('Mercury', 'Hermes')),
        two: fixtureAgent(root, 'Two', edits('Mercury', 'Merkur', 'Mars', 'Ares')),
        asking: fixtureAgent(root, 'Asking', { prompt: [{ do: 'permission made.txt' }] }),
        broken: fixtureAgent(root, 'Broken', 'crash-start'),
        locked: fixtureAgent(root, 'Locked', 'auth-required'),
      },
    }),
  })
  let workbench: PageWindow
  let top = ''
  const options = ['--no-optional-locks', '-c', 'user.name=a', '-c', 'user.email=a@example.com']
  const git = (...args: string[]) =>
    execFileSync('git', [...options, ...args], { cwd: top })
      .toString()
      .trimEnd()
  const worktrees = () => path.join(path.dirname(top), 'planets-api.worktrees')

  beforeEach(async () => {
    top = path.join(path.dirname(vscode.workspace), 'planets-api')
    if (!existsSync(path.join(top, '.git'))) {
      git('init', '-q', '-b', 'main')
      git('add', '.')
      git('commit', '-q', '-m', 'first')
    }
    workbench = await vscode.open()
  })

  /** Writes a prompt and sends it to these agents. */
  async function chooseSeveral({ frame }: ConversationPage): Promise<void> {
    await frame.getByRole('button', { name: 'Add Context', exact: true }).click()
    await frame.getByRole('option', { name: 'Send to Several Agents…' }).click()
  }
  async function sendTo(prompt: string, ...agents: string[]): Promise<ConversationPage> {
    const conversation = await ConversationPage.open(workbench)
    await conversation.composer.fill(prompt)
    await chooseSeveral(conversation)
    await select(...agents)
    return conversation
  }

  async function select(...agents: string[]): Promise<void> {
    await workbench.paletteRow(agents[0]!).waitFor()
    for (const row of await workbench.palette.locator('.monaco-list-row').all()) {
      const name = await row.locator('.label-name').innerText()
      const box = row.getByRole('checkbox')
      if ((await box.isChecked()) !== agents.includes(name)) await row.click()
    }
    await workbench.paletteInput.press('Enter')
  }

  const page = () => workbench.webview('body[data-view="compare"]')
  const card = (frame: Frame, name: string) =>
    frame.getByRole('listitem').filter({ has: frame.getByRole('heading', { name, exact: true }) })

  it('works in worktrees of their own, is compared, and one is applied', async () => {
    const conversation = await sendTo('Rename the planets', 'One', 'Two', 'Broken')
    const frame = await page()
    const one = card(frame, 'One')
    const two = card(frame, 'Two')
    const broken = card(frame, 'Broken')
    for (const agent of [one, two]) await agent.getByText('Working').waitFor()
    await broken.getByText('Failed').waitFor()
    await waitFor('an empty input', async () => (await conversation.composerText()) === '')
    await one.getByText('planets.js').waitFor()
    await two.getByText('+2').first().waitFor()
    assert.equal(git('status', '--porcelain'), '')
    const [sent] = receivedParams(vscode.root, 'Two', 'session/prompt')
    assert.deepEqual(sent?.prompt, [{ type: 'text', text: 'Rename the planets' }])
    await frame.getByRole('button', { name: 'Stop All' }).waitFor()
    const looks = await readThemeLooks(workbench, 'body[data-view="compare"]')
    const violations = await axeViolations(frame, looks)
    assert.equal(violations.length, 0, violations.join('\n'))

    for (const name of ['One', 'Two']) openGate(vscode.root, name)
    for (const agent of [one, two]) await agent.getByText('Done').waitFor()
    await one.getByRole('button', { name: 'planets.js' }).click()
    await workbench.page.getByText('Changes of One (1 file)').first().waitFor()
    await workbench.page.getByText('Compare Agents').first().click()
    await (await page()).getByRole('button', { name: 'Compare Both' }).click()
    await workbench.page.getByText('One compared with Two (1 file)').first().waitFor()
    await workbench.page.getByText('Compare Agents').first().click()

    const again = await page()
    await card(again, 'Two')
      .getByRole('button', { name: /^Apply to Workspace/ })
      .click()
    await workbench.notification('Applied the changes to 1 file.').waitFor()
    await card(again, 'Two').getByText('Applied', { exact: true }).waitFor()
    assert.match(readFileSync(path.join(top, 'planets.js'), 'utf8'), /Merkur/)

    await card(again, 'Two')
      .getByRole('button', { name: /^Discard the Others/ })
      .click()
    await workbench.page
      .locator('.monaco-dialog-box')
      .getByRole('button', { name: /^Discard Worktree/ })
      .click()
    await card(again, 'One').getByText('The worktree was removed.').waitFor()
    await card(again, 'Two').getByText('planets.js').waitFor()

    // the page is found again, with what is known
    await workbench.reload()
    const restored = await page()
    await card(restored, 'Two').getByText('Done').waitFor()
    await card(restored, 'Two').getByText('Applied', { exact: true }).waitFor()
    await card(restored, 'One').getByText('The worktree was removed.').waitFor()
    await card(restored, 'Two')
      .getByRole('button', { name: /^Open Session/ })
      .click()
    const opened = await ConversationPage.find(workbench)
    await opened.frame.locator('.row-prompt', { hasText: 'Rename the planets' }).waitFor()
  })

  it('keeps the prompt if the list is canceled or no agent starts, and asks for two to five', async () => {
    git('checkout', '-q', '--', '.')
    const conversation = await ConversationPage.open(workbench)
    await workbench.runCommand('Parley: Send to Several Agents…')
    await workbench.paletteInput.fill('Do something')
    await workbench.paletteInput.press('Enter')
    await select('One')
    await workbench.notification('Select 2 to 5 agents.').waitFor()
    await workbench.paletteInput.press('Escape')
    await workbench.closePalette()
    await waitFor('the prompt', async () => (await conversation.composerText()) === 'Do something')

    await chooseSeveral(conversation)
    await select('Broken', 'Locked')
    const frame = await page()
    await card(frame, 'Broken').getByText('Failed').waitFor()
    await card(frame, 'Locked')
      .getByRole('button', { name: /^Sign In…/ })
      .waitFor()
    await workbench.notification('No agent was started, so the prompt stays in the input.').waitFor()
    assert.equal(await conversation.composerText(), 'Do something')
    await card(frame, 'Locked')
      .getByRole('button', { name: /^Sign In…/ })
      .click()
    const tab = await workbench.webview('.card .card-buttons')
    await tab
      .getByRole('button', { name: /Sign in/i })
      .first()
      .waitFor()
  })

  it('says when an agent waits, and leads there; retries one that failed', async () => {
    await sendTo('Ask me', 'Asking', 'Broken')
    const frame = await page()
    const asking = card(frame, 'Asking')
    await asking.getByRole('button', { name: /^Answer…/ }).click()
    // a tab of an earlier test is there, too
    const conversation = await ConversationPage.inFrame(await workbench.webview('.permission'))
    await conversation.permission
      .getByRole('button', { name: /^Allow/ })
      .first()
      .click()
    await workbench.page.getByText('Compare Agents').first().click()
    const again = await page()
    await card(again, 'Asking').getByText('Done').waitFor()
    await card(again, 'Asking').getByText('made.txt').first().waitFor()

    vscode.root.updateSettings({
      'parley.agents': {
        asking: fixtureAgent(vscode.root, 'Asking', { prompt: [{ do: 'permission made.txt' }] }),
        broken: fixtureAgent(vscode.root, 'Broken', { prompt: [{ say: 'Nothing to do.' }] }),
      },
    })
    // until the new settings were read
    await waitFor('the agent', async () => {
      const retry = card(again, 'Broken').getByRole('button', { name: /^Retry/ })
      await succeeds(retry.click({ timeout: 2000 }))
      return card(again, 'Broken').getByText('Done').isVisible()
    })
    await card(again, 'Broken').getByText('Nothing to do.').waitFor()
    await card(again, 'Broken').getByText('No changes').waitFor()
    assert.deepEqual(receivedParams(vscode.root, 'Broken', 'session/prompt')[0]?.prompt, [
      { type: 'text', text: 'Ask me' },
    ])
    // as if it was removed with Git
    const gone = path.join(worktrees(), 'ask-me-broken')
    execFileSync('git', ['worktree', 'remove', '--force', gone], { cwd: top })
    rmSync(gone, { recursive: true, force: true })
    await workbench.runCommand('Parley: Open History')
    await workbench.runCommand('Parley: Show Comparison…')
    await (await page()).getByText('The worktree was removed.').waitFor()
  })
})
