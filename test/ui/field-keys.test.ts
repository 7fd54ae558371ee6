import assert from 'node:assert/strict'
import type { Frame, Locator } from 'playwright-core'
import { waitFor } from '../host/wait-for.ts'
import { ConversationPage } from './support/conversation-page.ts'
import { openFile } from './support/editor.ts'
import { fixtureAgent } from './support/fixture-agent.ts'
import { HistoryPage } from './support/history-page.ts'
import { VsCodeSuite } from './support/vscode-suite.ts'

const form = {
  request: 'elicitation/create',
  params: {
    sessionId: '$session',
    mode: 'form',
    message: 'How should I call it?',
    requestedSchema: { type: 'object', properties: { name: { type: 'string', title: 'Name' } } },
  },
}

describe('the editing shortcuts in a field', () => {
  const vscode = new VsCodeSuite({
    settings: root => ({
      'files.autoSave': 'off',
      'parley.agents': { asking: fixtureAgent(root, 'Asking', { prompts: [[form]] }) },
    }),
  })

  it('apply to the field and never to a changed editor', async () => {
    const workbench = await vscode.open()
    const { page } = workbench
    const { keyboard } = page
    const conversation = await ConversationPage.startSession(workbench, 'Asking')
    await openFile(workbench, 'planets.js')
    const editor = page.locator('.editor-group-container .monaco-editor').first()
    await editor.locator('.view-line').first().click()
    await keyboard.press('Control+Home')
    await keyboard.type('// kept ')
    const firstLine = editor.locator('.view-line').filter({ hasText: '// kept' })
    await firstLine.waitFor()
    await page.locator('.tabs-container .tab.dirty', { hasText: 'planets.js' }).waitFor()

    const use = async (frame: Frame, field: Locator) => {
      await field.click()
      await field.and(frame.locator(':focus')).waitFor()
      await keyboard.type('first')
      await keyboard.press('Control+a')
      await keyboard.type('second')
      await waitFor('what was typed', async () => (await field.inputValue()) === 'second')
      await keyboard.press('Control+z')
      await waitFor('one step back', async () => (await field.inputValue()) !== 'second')
      const back = await field.inputValue()
      await keyboard.press('Control+Shift+z')
      await waitFor('and forth', async () => (await field.inputValue()) !== back)
      await keyboard.press('Control+z')
      await keyboard.press('Control+y')
      await keyboard.press('Control+a')
      await keyboard.press('Delete')
      await waitFor('an empty field', async () => (await field.inputValue()) === '')
    }

    await conversation.send('ask')
    await use(conversation.frame, conversation.frame.getByLabel('Name'))
    await conversation.composer.click()
    await conversation.waitForFocus(conversation.composer)
    await keyboard.press('Control+f')
    await use(conversation.frame, conversation.frame.getByRole('textbox', { name: /^Find/ }))
    await keyboard.press('Escape')
    const history = await HistoryPage.open(workbench)
    await use(history.frame, history.search)
    await history.back()

    // Backspace twice deletes a chip, which is one step of Undo
    const chip = conversation.composer.locator('.mention', { hasText: 'ideas.md' })
    await conversation.composer.click()
    await conversation.waitForFocus(conversation.composer)
    await keyboard.type('a @ideas')
    const files = conversation.frame.getByRole('listbox', { name: 'Context' }).getByRole('option')
    const selected = conversation.frame.locator('[aria-selected="true"]')
    await files.filter({ hasText: 'ideas.md' }).and(selected).waitFor()
    await keyboard.press('Enter')
    await chip.waitFor()
    await keyboard.press('Backspace')
    await keyboard.press('Backspace')
    await chip.waitFor({ state: 'detached' })
    await waitFor('the text alone', async () => (await conversation.composerText()) === 'a ')
    await keyboard.press('Control+z')
    await chip.waitFor()

    // VS Code handles messages in order, so all of these are handled once the command palette is open
    await workbench.commandTitles('Parley')
    await workbench.palette.waitFor({ state: 'hidden' })
    // quickly typed characters are undone together, but one by one on a slow machine
    assert.match(await conversation.composerText(), /^a ideas\.md ?$/)
    assert.equal(await firstLine.count(), 1)
    await page.locator('.tabs-container .tab.dirty', { hasText: 'planets.js' }).waitFor()
    assert.equal(
      await page
        .locator('.statusbar')
        .getByText(/selected\)/)
        .count(),
      0,
    )
  })
})
