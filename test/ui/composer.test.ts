import assert from 'node:assert/strict'
import { waitFor } from '../host/wait-for.ts'
import type { Workbench } from '../host/workbench.ts'
import { pasteImage } from './support/clipboard.ts'
import { ConversationPage } from './support/conversation-page.ts'
import { fixtureAgent, receivedParams } from './support/fixture-agent.ts'
import { storedDrafts } from './support/stored.ts'
import { VsCodeSuite } from './support/vscode-suite.ts'

type Block = {
  type: string
  text?: string
  uri?: string
  mimeType?: string
  resource?: { uri: string; text?: string }
}

const capable = {
  agentCapabilities: { promptCapabilities: { image: true, audio: true, embeddedContext: true } },
}
const plain = {
  agentCapabilities: { promptCapabilities: { image: false, audio: false, embeddedContext: false } },
}

describe('the composer', () => {
  const vscode = new VsCodeSuite({
    settings: root => ({
      'parley.agents': {
        capable: fixtureAgent(root, 'Capable', { results: { initialize: capable } }),
        plain: fixtureAgent(root, 'Plain', { results: { initialize: plain } }),
      },
    }),
  })
  let workbench: Workbench
  let conversation: ConversationPage

  const prompts = (agent: string) =>
    receivedParams(vscode.server.root, agent, 'session/prompt').map(({ prompt }) => prompt as Block[])
  const type = (text: string) => workbench.page.keyboard.type(text)
  const press = (key: string) => workbench.page.keyboard.press(key)
  const isWritten = (text: string) =>
    waitFor(`“${text}” in the composer`, async () => (await conversation.composerText()) === text)
  const chips = () => conversation.composer.locator('.mention')
  const rows = () => conversation.frame.getByRole('listbox', { name: 'Context' }).getByRole('option')
  const begin = async (agent: string) => {
    workbench = await vscode.sharedWindow()
    conversation = await ConversationPage.startSession(workbench, agent)
    await conversation.composer.click()
    await conversation.waitForFocus(conversation.composer)
  }
  const attached = () => conversation.frame.getByRole('list', { name: 'Attached' }).getByRole('listitem')

  it('deletes a chip with one key, and restores it with Undo', async () => {
    await begin('Capable')
    await type('a @ideas')
    await rows().filter({ hasText: 'ideas.md' }).first().waitFor()
    await press('Enter')
    await chips().waitFor()
    await press('Backspace')
    await press('Backspace')
    await chips().waitFor({ state: 'detached' })
    await isWritten('a ')
    await press('Control+z')
    await chips().filter({ hasText: 'ideas.md' }).waitFor()
    // VS Code receives the key too: by the time the command palette is open, it has handled it
    await workbench.commandTitles('Parley')
    // quickly typed characters are undone together, but one by one on a slow machine
    assert.match(await conversation.composerText(), /^a ideas\.md ?$/)
    // the palette returns the focus when it closes
    await workbench.palette.waitFor({ state: 'hidden' })
    await conversation.composer.click()
    await conversation.waitForFocus(conversation.composer)
    await press('Control+a')
    await press('Delete')
  })

  it('keeps a draft with its chips and images when the window is reloaded', async () => {
    await begin('Capable')
    await conversation.send('first')
    await conversation.frame.locator('.row-prompt', { hasText: 'first' }).waitFor()
    await isWritten('')
    await conversation.composer.click()
    await conversation.waitForFocus(conversation.composer)
    await pasteImage(conversation.frame, 30, 30)
    await attached().getByRole('img').waitFor()
    await type('about @planets.js')
    await rows().filter({ hasText: 'planets.js' }).first().waitFor()
    await press('Enter')
    await chips().waitFor()
    await type('again')
    const kept = () => storedDrafts(vscode.server.root).includes('again')
    await waitFor('draft on disk', kept)
    await workbench.reload()
    conversation = await ConversationPage.find(workbench)
    await chips().filter({ hasText: 'planets.js' }).waitFor()
    await isWritten('about planets.js again')
    await attached().getByRole('img').waitFor()
    await conversation.waitForPhase('ready')
    await conversation.composer.press('Enter')
    const sent = await waitFor('prompt', () =>
      prompts('Capable').find(one => one[0]?.text === 'about ' && one[2]?.text === ' again'),
    )
    assert.deepEqual(
      sent.map(block => block.type),
      ['text', 'resource', 'text', 'image'],
    )
  })
})
