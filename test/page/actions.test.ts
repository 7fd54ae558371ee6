import assert from 'node:assert/strict'
import { waitFor } from '../host/wait-for.ts'
import { PageSuite } from '../support/page/page-suite.ts'
import type { PageWindow } from '../support/page/page-window.ts'
import { ConversationPage } from '../ui/support/conversation-page.ts'
import { fixtureAgent, receivedParams } from '../ui/support/fixture-agent.ts'

describe('actions', () => {
  const vscode = new PageSuite({
    settings: root => ({
      'parley.agents': {
        fixture: fixtureAgent(root, 'Fixture'),
        // no part of Parley names this icon
        other: { ...fixtureAgent(root, 'Other'), icon: 'telescope' },
      },
    }),
  })
  let workbench: PageWindow
  let conversation: ConversationPage

  beforeEach(async () => {
    workbench = await vscode.sharedWindow()
    conversation = await ConversationPage.startSession(workbench, 'Fixture')
  })

  const talk = (prompt: string) => conversation.runTurn(prompt)
  const prompts = () =>
    receivedParams(vscode.root, 'Fixture', 'session/prompt').map(({ prompt }) => JSON.stringify(prompt))

  it('resend a prompt, and edit one where it is', async () => {
    await talk('[[stop refusal]]')
    const again = conversation.button('Resend Prompt')
    await again.waitFor()
    const before = prompts().length
    await again.click()
    await waitFor('prompt', () => prompts().length === before + 1)
    assert.equal(prompts().at(-1), prompts().at(-2))
    await conversation.frame.locator('.row-prompt').nth(1).waitFor()
    await conversation.button(/^Stop/).waitFor({ state: 'detached' })

    await conversation.frame.locator('.row-prompt').first().hover()
    await conversation.button('Edit and Resend').first().click()
    const editor = conversation.frame.getByRole('textbox', { name: 'Edit Prompt' })
    await conversation.waitForFocus(editor)
    await editor.filter({ hasText: '[[stop refusal]]' }).waitFor()
  })

  it("open the list of agents, with an icon that the page loads when it's shown", async () => {
    await conversation
      .button(/^Fixture/)
      .first()
      .click()
    const icon = conversation.frame.locator('.codicon-telescope').first()
    await icon.waitFor()
    const drawn = () => icon.evaluate(element => getComputedStyle(element, '::before').content)
    await waitFor('icon', async () => /^".+"$/.test(await drawn()))
    await conversation.frame.locator('body').press('Escape')
  })

  it('quote the selection with its Quote button', async () => {
    await talk('[[say A sentence to quote.]]')
    await conversation.frame
      .locator('.row-markdown', { hasText: 'A sentence to quote.' })
      .click({ clickCount: 3 })
    await conversation.frame.getByRole('button', { name: 'Quote', exact: true }).click()
    await conversation.composer.filter({ hasText: '> A sentence to quote.' }).waitFor()
    await conversation.waitForFocus(conversation.composer)
  })

  it('start a session with the conversation of another as its context', async () => {
    await talk('[[say The secret word is swordfish.]]')
    await workbench.runCommand('Parley: Fork or Continue Session…')
    await workbench.pick('New Session with Fixture')
    await conversation.frame.getByRole('heading', { name: 'New session' }).waitFor()
    await conversation.frame.locator('.composer .chip').waitFor()
    await talk('Go on')
    await waitFor('prompt', () => /Go on/.test(prompts().at(-1) ?? ''))
    assert.match(prompts().at(-1)!, /swordfish/)
  })
})
