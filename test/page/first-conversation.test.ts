import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { waitFor } from '../host/wait-for.ts'
import { PageSuite } from '../support/page/page-suite.ts'
import type { PageWindow } from '../support/page/page-window.ts'
import { ConversationPage } from '../ui/support/conversation-page.ts'

describe('the first conversation', () => {
  const vscode = new PageSuite()
  const planets = () => readFileSync(join(dirname(vscode.workspace), 'planets-api/planets.js'), 'utf8')
  let workbench: PageWindow
  let conversation: ConversationPage

  beforeEach(async () => {
    workbench = await vscode.sharedWindow()
    conversation = await ConversationPage.startSession(workbench, 'Demo Agent')
  })

  it('shows a whole turn: the plan, tool calls, requests answered by key and click, and usage', async () => {
    const before = planets()
    await conversation.send('Look at planets.js, please')

    const edit = conversation.permission.filter({ hasText: 'Allow this edit?' })
    await edit.getByText('planets.js').first().waitFor()
    const plan = conversation.frame.getByRole('region', { name: 'Plan' })
    await plan.getByText('2 of 4').waitFor()
    await conversation.waitForFocus(edit.getByRole('button', { name: 'Allow once' }))
    assert.equal(planets(), before, 'The file was changed before the person agreed')
    await workbench.page.keyboard.press('1')
    await edit.waitFor({ state: 'detached' })
    await waitFor('change on disk', () => planets() !== before)

    const command = conversation.permission.filter({ hasText: 'Allow running this command?' })
    await command.getByText('ls -la').waitFor()
    await command.getByRole('button', { name: 'Allow once' }).click()
    await conversation.text('exit code 0').waitFor()

    await plan.waitFor({ state: 'detached' })
    for (const row of [/^Read: Read planets\.js/, /^Edit: Edit planets\.js/, /^Command: ls -la/])
      await conversation.button(row).waitFor()
    await conversation.frame.getByRole('button', { name: /^Context: [\d,]+ of 200,000 tokens/ }).waitFor()
    await conversation.frame.getByRole('heading', { name: 'Look at planets.js, please' }).waitFor()
  })

  it("doesn't change the file if the user rejects the edit", async () => {
    const before = planets()
    await conversation.send('/edit planets.js')
    await conversation.waitForFocus(conversation.permission.getByRole('button', { name: 'Allow once' }))
    await workbench.page.keyboard.press('3')
    await conversation.text('You rejected the edit').waitFor()
    await conversation.permission.waitFor({ state: 'detached' })
    await conversation.button(/^Edit: Edit planets\.js.*rejected/).waitFor()
    assert.equal(planets(), before)
  })

  for (const [how, stop] of [
    ['the button', () => conversation.button(/^Stop/).click()],
    ['Escape', () => conversation.composer.press('Escape')],
    ['the command', () => workbench.runCommand('Parley: Stop Turn')],
  ] as const)
    it(`stops a turn with ${how} and can then continue`, async () => {
      await conversation.send('/slow 600')
      await conversation.button(/^Tool: Work for 600 seconds/).waitFor()
      await stop()
      await conversation.text('Stopped by you').waitFor()
      await conversation.button(/^Stop/).waitFor({ state: 'detached' })
      await conversation.send('/stop refusal')
      await conversation.text('The agent refused to continue').waitFor()
    })
})
