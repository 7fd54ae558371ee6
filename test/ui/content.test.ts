import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Locator } from 'playwright-core'
import { waitFor } from '../host/wait-for.ts'
import type { Workbench } from '../host/workbench.ts'
import { contentAgents } from './support/content-agents.ts'
import { ConversationPage } from './support/conversation-page.ts'
import { openFile } from './support/editor.ts'
import { fixtureAgent } from './support/fixture-agent.ts'
import { VsCodeSuite } from './support/vscode-suite.ts'

describe('message content', () => {
  const vscode = new VsCodeSuite({
    settings: root => ({
      'parley.agents': {
        ...contentAgents(root),
        runner: fixtureAgent(root, 'Runner'),
      },
    }),
  })
  const planets = () => readFileSync(join(dirname(vscode.workspace), 'planets-api/planets.js'), 'utf8')
  let workbench: Workbench

  beforeEach(async () => {
    workbench = await vscode.sharedWindow()
  })

  const tab = (name: string | RegExp): Locator =>
    workbench.page.locator('.part.editor .tabs-container .tab', { hasText: name }).first()
  const editorText = (text: string): Locator =>
    workbench.page.locator('.part.editor .view-line', { hasText: text }).first()

  it('can be inserted at the cursor, opened as a file, and applied after a review', async () => {
    const original = planets()
    await openFile(workbench, 'planets.js')
    const conversation = await ConversationPage.startSession(workbench, 'Coder')
    await conversation.send('Code, please')
    await conversation.text('Done.').waitFor()
    const block = conversation.frame.locator('.code-block').first()
    await block.getByText('planets.js').waitFor({ state: 'attached' })

    await block.hover()
    await block.getByRole('button', { name: 'Open as File' }).click()
    await tab(/Untitled/).waitFor()
    await editorText("export const planets = ['Earth']").waitFor()

    await block.hover()
    await block.getByRole('button', { name: 'Apply…' }).click()
    await tab(/planets\.js \(proposed\)/).waitFor()
    const question = workbench.notification(/Apply this change to .*planets\.js/)
    await question.waitFor()
    assert.equal(planets(), original, 'The file was written before the person agreed')
    await question.getByRole('button', { name: 'Accept' }).click()
    // the file is briefly empty while it's being written
    await waitFor('change on disk', () => /export const planets = \['Earth'\]/.test(planets()))
    await tab(/planets\.js \(proposed\)/).waitFor({ state: 'detached' })

    await tab('planets.js').and(workbench.page.locator('.active')).waitFor()
    // the editor gets the focus last
    const editor = workbench.page.locator('.editor-group-container.active .monaco-editor.focused')
    await editor.waitFor()
    await block.getByRole('button', { name: 'Insert at Cursor' }).press('Enter')
    await tab(/planets\.js/)
      .and(workbench.page.locator('.dirty'))
      .waitFor()
    await editor.locator('.view-line', { hasText: "['Earth']export const planets" }).waitFor()
  })
})
