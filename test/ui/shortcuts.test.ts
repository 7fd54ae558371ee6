import { succeeds, waitFor } from '../host/wait-for.ts'
import { ConversationPage } from './support/conversation-page.ts'
import { openFile } from './support/editor.ts'
import { fixtureAgent } from './support/fixture-agent.ts'
import { VsCodeSuite } from './support/vscode-suite.ts'

describe('the keyboard shortcuts', () => {
  const vscode = new VsCodeSuite({
    settings: root => ({
      'parley.agents': { fixture: fixtureAgent(root, 'Fixture Agent', {}) },
      'parley.defaultAgent': 'fixture',
    }),
  })

  it('focus the conversation and return to the editor, start a session and stop its turn', async () => {
    const workbench = await vscode.open()
    const { keyboard } = workbench.page
    await openFile(workbench, 'planets.js')
    const editor = workbench.page.locator('.editor-instance .monaco-editor.focused')
    await editor.waitFor()
    await keyboard.press("Control+Shift+'")
    const conversation = await ConversationPage.find(workbench)
    await conversation.composer.waitFor()
    await conversation.waitForFocus(conversation.composer)
    // pressed within milliseconds, before VS Code has heard of the focus, the keys only focus the conversation again
    await waitFor('the focus in the editor', async () => {
      await keyboard.press("Control+Shift+'")
      return succeeds(editor.waitFor({ timeout: 5000 }))
    })

    await keyboard.press("Control+'")
    await keyboard.press('n')
    await conversation.waitForPhase('ready')
    await conversation.waitForFocus(conversation.composer)
    await conversation.send('[[gate]]')
    const stop = conversation.button('Stop')
    await stop.waitFor()
    await keyboard.press("Control+'")
    await keyboard.press('s')
    await stop.waitFor({ state: 'detached' })
    // the letters of the chords weren't typed into the composer
    await waitFor('an empty composer', async () => (await conversation.composerText()) === '')
  })
})
