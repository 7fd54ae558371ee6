import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { waitFor } from '../host/wait-for.ts'
import { openFile, selectLines } from '../support/page/editor.ts'
import { PageSuite } from '../support/page/page-suite.ts'
import type { PageWindow } from '../support/page/page-window.ts'
import { pasteText } from '../ui/support/clipboard.ts'
import { ConversationPage } from '../ui/support/conversation-page.ts'
import { fixtureAgent, receivedParams } from '../ui/support/fixture-agent.ts'

describe('typing a prompt', () => {
  const vscode = new PageSuite({
    settings: root => ({ 'parley.agents': { fixture: fixtureAgent(root, 'Fixture') } }),
  })
  let workbench: PageWindow
  let conversation: ConversationPage

  const type = (text: string) => workbench.page.keyboard.type(text)
  const press = (key: string) => workbench.page.keyboard.press(key)
  const isWritten = (text: string) =>
    waitFor(`“${text}” in the composer`, async () => (await conversation.composerText()) === text)
  const begin = async (agent: string) => {
    workbench = await vscode.sharedWindow()
    conversation = await ConversationPage.startSession(workbench, agent)
    await conversation.composer.click()
    await conversation.waitForFocus(conversation.composer)
  }
  const clear = async () => {
    await press('ControlOrMeta+a')
    await press('Delete')
  }

  it('continues a list with Shift+Enter', async () => {
    await begin('Fixture')
    await type('- one')
    await press('Shift+Enter')
    await type('two')
    await isWritten('- one\n- two')
    await clear()
  })

  it('makes a reference of code that is selected in an editor or in an open file, and text again with undo', async () => {
    await begin('Fixture')
    await openFile(workbench, 'planets.js')
    await selectLines(workbench, 2)
    const file = join(dirname(vscode.workspace), 'planets-api/planets.js')
    const code = readFileSync(file, 'utf8').split('\n').slice(0, 2).join('\n')
    await conversation.composer.click()
    await conversation.waitForFocus(conversation.composer)
    const chips = conversation.composer.locator('.mention')
    await type('See ')
    // the selection has also the end of the last line
    for (const copied of [`${code}\n`, code]) {
      await pasteText(conversation.frame, copied)
      await chips.filter({ hasText: 'planets.js:1-2' }).waitFor()
      await press('ControlOrMeta+z')
      await isWritten(`See ${copied}`)
      await press('ControlOrMeta+z')
      await isWritten('See ')
    }
    await clear()
    // a word stays text
    await pasteText(conversation.frame, 'planets')
    await isWritten('planets')
    await clear()
  })

  it('goes on to earlier prompts with the arrow key past one that ends with a mention, and sends it with Enter', async () => {
    await begin('Fixture')
    await conversation.runTurn('first prompt')
    await conversation.composer.fill('look at @planets')
    await conversation.frame
      .getByRole('option', { name: /planets\.js/ })
      .first()
      .waitFor()
    await press('Escape')
    await press('Enter')
    await conversation.frame.locator('.row-prompt', { hasText: 'look at' }).waitFor()
    await waitFor('the end of the turn', async () => (await conversation.button(/^Stop/).count()) === 0)
    await press('ArrowUp')
    const editor = conversation.frame.getByRole('textbox', { name: 'Edit Prompt' })
    await conversation.waitForFocus(editor)
    // by then, a list for the mention would be there, too
    await conversation.frame.locator('.prompt-after').waitFor()
    await press('ArrowUp')
    await isWritten('look at @planets')
    await press('ArrowUp')
    await isWritten('first prompt')
    await press('ArrowDown')
    await isWritten('look at @planets')
    await press('Enter')
    await waitFor('the prompt again', () => {
      const texts = receivedParams(vscode.root, 'Fixture', 'session/prompt').map(
        ({ prompt }) => (prompt as Array<{ text?: string }>)[0]?.text,
      )
      return texts.filter(text => text === 'look at @planets').length === 2
    })
  })

  it('waits for the arguments of a command that was typed', async () => {
    await begin('Demo Agent')
    await conversation.waitUntilReady()
    await type('/plan')
    await press('Enter')
    await isWritten('/plan ')
    await conversation.text('what to plan').waitFor()
    await press('Enter')
    await conversation.text(/A plan for/).waitFor()
  })

  it('sends with Ctrl+Enter if the setting says so, and Enter inserts a line break', async () => {
    vscode.root.updateSettings({ 'parley.sendKey': 'ctrlEnter' })
    try {
      await begin('Fixture')
      await type('one')
      await conversation.button('Send (Ctrl+Enter)').waitFor()
      await press('Enter')
      await type('two')
      await isWritten('one\ntwo')
      await press('Control+Enter')
      await conversation.frame.locator('.row-prompt', { hasText: 'two' }).waitFor()
      await isWritten('')
    } finally {
      vscode.root.updateSettings({ 'parley.sendKey': undefined })
    }
  })
})
