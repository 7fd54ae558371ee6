import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { waitFor } from '../host/wait-for.ts'
import { PageSuite } from '../support/page/page-suite.ts'
import type { PageWindow } from '../support/page/page-window.ts'
import { ConversationPage } from '../ui/support/conversation-page.ts'

describe('a conversation with the demo agent', () => {
  const vscode = new PageSuite()
  /** Starts a session with the demo agent. */
  async function begin(workbench?: PageWindow): Promise<ConversationPage> {
    const conversation = await ConversationPage.startSession(
      workbench ?? (await vscode.sharedWindow()),
      'Demo Agent',
    )
    await conversation.waitUntilReady()
    return conversation
  }

  it('delegates to two concurrent subagents', async () => {
    const conversation = await begin()
    await conversation.send('/delegate')
    await conversation.text('Both are done').waitFor()
    for (const name of ['Reader', 'Critic']) await conversation.text(name).waitFor()
    await conversation.text('I read nothing').waitFor()
    await conversation.text(/^Read \S+/).waitFor()
    await conversation.button(/^Stop/).waitFor({ state: 'detached' })
  })

  it('shows formulas, a diagram and an image', async () => {
    const conversation = await begin()
    await conversation.send('/markdown')
    await conversation.frame.locator('.katex').first().waitFor()
    await conversation.frame.locator('.diagram img').first().waitFor()
    await conversation.send('/plan a change')
    await conversation.text('Every step is done.').waitFor()
    await conversation.send('/media')
    await conversation.text('An image:').waitFor()
    await conversation.frame.locator('img:not(.diagram img)').first().waitFor()
    await conversation.button(/^Stop/).waitFor({ state: 'detached' })
  })

  it('shows its folders, and edits a file in a second one', async () => {
    const conversation = await begin()
    await conversation.send('/where')
    for (const folder of ['planets-api', 'planets-web', 'notes'])
      await conversation.frame
        .getByText(new RegExp(`workspace/${folder}`))
        .first()
        .waitFor()
    await conversation.send('/edit app.js')
    await conversation.permission.getByRole('button', { name: 'Allow once' }).click()
    await conversation.text('The change is written').waitFor()
    const app = join(dirname(vscode.workspace), 'planets-web/app.js')
    await waitFor('change on disk', () => readFileSync(app, 'utf8').includes('The demo agent was here'))
  })

  it('reports usage and cost per agent and day', async () => {
    const workbench = await vscode.clearedWindow()
    const conversation = await begin(workbench)
    await conversation.runTurn('/think')
    await conversation.button(/^Context: .*Cost: [\d.]+ credits$/s).click()
    const usage = conversation.frame.getByRole('dialog', { name: 'Usage' })
    await usage.getByText(/^[\d,]+ tokens in, [\d,]+ tokens out$/).waitFor()
    const cost = await usage.getByText(/credits$/).innerText()
    await usage.getByRole('button', { name: 'Show Usage and Cost' }).click()
    const row = (period: string) => workbench.palette.locator('.monaco-list-row', { hasText: period })
    for (const part of ['This Session', 'Today']) await workbench.palette.getByText(part).waitFor()
    await row('/think').getByText(`${cost} · `).waitFor()
    await row('Demo Agent')
      .getByText(/^[\d.]+ credits · [\d,]+ tokens$/)
      .waitFor()
    await workbench.paletteInput.press('Enter')
    // today is the only day so far
    await workbench.palette.getByText('Usage and Cost of Demo Agent').waitFor()
    await row(`, ${new Date().getFullYear()}`)
      .getByText(/credits/)
      .waitFor()
    // back to the overview
    await workbench.paletteInput.press('Enter')
    await row('Demo Agent').waitFor()
    await workbench.closePalette()
  })
})
