import assert from 'node:assert/strict'
import { waitFor } from '../host/wait-for.ts'
import { PageSuite } from '../support/page/page-suite.ts'
import type { PageWindow } from '../support/page/page-window.ts'
import { ConversationPage } from '../ui/support/conversation-page.ts'
import { fixtureAgent, openGate, receivedParams } from '../ui/support/fixture-agent.ts'
import { storedDrafts } from '../ui/support/stored.ts'

type Block = { type: string; text?: string }

describe('sending while an agent starts', () => {
  const vscode = new PageSuite({
    settings: root => ({
      'parley.agents': {
        slow: fixtureAgent(root, 'Slow', { on: { 'session/new': [{ do: 'gate' }] } }),
        failing: fixtureAgent(root, 'Failing', { on: { 'session/new': [{ do: 'gate' }, { exit: 3 }] } }),
        plain: fixtureAgent(root, 'Plain'),
        endless: fixtureAgent(root, 'Endless', { on: { 'session/new': [{ hang: true }] } }),
      },
    }),
  })
  let workbench: PageWindow
  let conversation: ConversationPage

  const prompts = (agent: string) =>
    receivedParams(vscode.root, agent, 'session/prompt').map(({ prompt }) =>
      (prompt as Block[]).map(block => block.text ?? block.type).join(),
    )
  const type = (text: string) => workbench.page.keyboard.type(text)
  const enter = () => workbench.page.keyboard.press('Enter')
  const isWritten = (text: string) =>
    waitFor(`“${text}” in the composer`, async () => (await conversation.composerText()) === text)
  const outgoing = () => conversation.frame.locator('.outgoing .prompt-text')
  const start = async (agent: string, opened = vscode.clearedWindow()) => {
    workbench = await opened
    await workbench.runAndPick('Parley: New Session with Agent…', agent)
    conversation = await ConversationPage.find(workbench)
    await conversation.waitForPhase('starting')
    await conversation.composer.click()
    await conversation.waitForFocus(conversation.composer)
    // deletes what another test left there
    await workbench.page.keyboard.press('Control+a')
    await workbench.page.keyboard.press('Delete')
  }

  it('returns a prompt that was being sent when the window reloaded, and sends it once', async () => {
    // first, so that its window has nothing else to restore
    await start('Endless', vscode.open())
    await type('not lost')
    await enter()
    await type('nor this')
    await isWritten('nor this')
    await waitFor(
      'both on disk',
      () => storedDrafts(vscode.root).includes('not lost') && storedDrafts(vscode.root).includes('nor this'),
    )
    await workbench.reload()
    conversation = await ConversationPage.find(workbench)
    await waitFor(
      'both in the composer',
      async () => (await conversation.composerText()) === 'not lost\n\nnor this',
    )
    assert.deepEqual(prompts('Endless'), [])
    await waitFor('the draft as it is, and nothing to send', () => {
      const stored = storedDrafts(vscode.root)
      return stored.includes(JSON.stringify('not lost\n\nnor this')) && stored.includes('"prompts":[]')
    })
  })

  it('accepts several prompts and more text immediately, in order', async () => {
    await start('Slow')
    await type('one')
    await enter()
    await type('two')
    await enter()
    await type('three')
    await isWritten('three')
    await waitFor('both on their way', async () => (await outgoing().allTextContents()).join() === 'one,two')
    openGate(vscode.root, 'Slow')
    await conversation.waitForPhase('ready')
    await waitFor('both prompts', () => prompts('Slow').length === 2)
    assert.deepEqual(prompts('Slow'), ['one', 'two'])
    await outgoing().first().waitFor({ state: 'detached' })
    await isWritten('three')
  })
})
