import assert from 'node:assert/strict'
import { waitFor } from '../host/wait-for.ts'
import { beginComment, commentInput, hasFocus } from './support/comment-input.ts'
import { ConversationPage } from './support/conversation-page.ts'
import { openFile, selectLines } from './support/editor.ts'
import { fixtureAgent, receivedParams } from './support/fixture-agent.ts'
import { VsCodeSuite } from './support/vscode-suite.ts'

const capable = { agentCapabilities: { promptCapabilities: { embeddedContext: true } } }

describe('a comment on lines', () => {
  const vscode = new VsCodeSuite({
    settings: root => ({
      'parley.agents': { one: fixtureAgent(root, 'One', { results: { initialize: capable } }) },
      'parley.lineComments': true,
    }),
  })

  it('is written with the keyboard, edited in its thread, and sent with the next prompt', async () => {
    const workbench = await vscode.sharedWindow()
    const conversation = await ConversationPage.startSession(workbench, 'One')
    const chip = (text: string) =>
      conversation.frame.getByRole('list', { name: 'Attached' }).locator(`[title*="${text}"]`)
    const { page } = workbench
    await openFile(workbench, 'planets.js')
    await selectLines(workbench, 2)
    await beginComment(workbench)
    await page.keyboard.type('Sort these.')
    await page.keyboard.press('Control+Enter')
    await chip('Sort these.').waitFor()
    const thread = page.locator('.review-widget')
    await thread.getByText('Sent with your next prompt').waitFor()

    await thread.locator('.review-comment').hover()
    await thread.getByRole('button', { name: 'Edit Comment' }).click()
    const edited = thread.locator('.edit-textarea .monaco-editor')
    await waitFor('the edited comment', () => hasFocus(edited))
    await page.keyboard.press('Control+a')
    await page.keyboard.type('Sort by mass.')
    await thread.getByRole('button', { name: 'Save' }).click()
    await chip('Sort by mass.').waitFor()
    await thread.getByText('Sort by mass.').waitFor()

    await conversation.send('as I wrote')
    await thread.getByText('Sent to One').waitFor()
    const prompt = await waitFor('the prompt', () =>
      receivedParams(vscode.server.root, 'One', 'session/prompt').at(-1),
    )
    assert.match(JSON.stringify(prompt), /Comment on [^"]*planets\.js:1-2:\\n\\nSort by mass\./)
    await thread.getByRole('button', { name: 'Resolve' }).click()
    // a thread closes once it's resolved
    await thread.getByText('Sort by mass.').waitFor({ state: 'hidden' })
    await chip('Sort').waitFor({ state: 'detached' })
  })

  it('is begun with the + beside a line, also in the diff of what the agent changed', async () => {
    const workbench = await vscode.sharedWindow()
    const conversation = await ConversationPage.startSession(workbench, 'One')
    const { page } = workbench
    await conversation.send('[[write moons.txt Io]]')
    const changed = conversation.frame.getByRole('region', { name: 'Changed files' })
    await changed.getByRole('button', { name: /1 file/ }).click()
    await changed
      .getByRole('button', { name: /moons\.txt/ })
      .first()
      .click()
    const side = page.locator('.part.editor .modified')
    const line = side.locator('.view-line', { hasText: 'Io' }).first()
    await line.waitFor()
    await waitFor('the comment’s input', async () => {
      await line.hover()
      const add = side.locator('.comment-range-glyph, .comment-diff-added').first()
      await add.click({ timeout: 3000 }).catch(() => {})
      return hasFocus(commentInput(workbench))
    })
    await page.keyboard.type('And Europa.')
    await page.keyboard.press('Control+Enter')
    await conversation.frame
      .getByRole('list', { name: 'Attached' })
      .locator('[title*="And Europa."]')
      .waitFor()
    await conversation.send('as I wrote')
    const prompt = await waitFor('the prompt', () =>
      receivedParams(vscode.server.root, 'One', 'session/prompt').find(one =>
        JSON.stringify(one).includes('And Europa.'),
      ),
    )
    assert.match(JSON.stringify(prompt), /Comment on [^"]*moons\.txt:1:/)
  })
})
