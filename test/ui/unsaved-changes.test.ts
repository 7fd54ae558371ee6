import assert from 'node:assert/strict'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { waitFor } from '../host/wait-for.ts'
import type { Workbench } from '../host/workbench.ts'
import { ConversationPage } from './support/conversation-page.ts'
import { goTo, openFile } from './support/editor.ts'
import { fixtureAgent } from './support/fixture-agent.ts'
import { VsCodeSuite } from './support/vscode-suite.ts'

const ORIGINAL = 'one\ntwo\nthree\n'

describe('a file with unsaved changes that an agent changes', () => {
  const vscode = new VsCodeSuite({
    settings: root => ({ 'parley.agents': { liar: fixtureAgent(root, 'Liar') } }),
  })
  /** unique for each test and retry, because the server keeps a window's unsaved files and the agents' changes */
  let name = ''
  let tries = 0
  const file = () => join(dirname(vscode.workspace), 'planets-api', name)
  const holds = (text: string) =>
    waitFor(`the file to be ${JSON.stringify(text)}`, () => readFileSync(file(), 'utf8') === text)
  let workbench: Workbench
  let conversation: ConversationPage

  /** Opens the file, and types at the end of the first or second line. */
  async function begin(line: 1 | 2): Promise<void> {
    name = `unsaved-${++tries}.txt`
    writeFileSync(file(), ORIGINAL)
    workbench = await vscode.clearedWindow()
    conversation = await ConversationPage.startSession(workbench, 'Liar')
    await openFile(workbench, name)
    const { page } = workbench
    await editorLine(line === 1 ? 'one' : 'two').waitFor()
    await goTo(workbench, line)
    await page.keyboard.press('End')
    await page.keyboard.type(' mine')
    await editorLine('mine').waitFor()
  }
  afterEach(() => rmSync(file(), { force: true }))
  const editorLine = (text: string) =>
    workbench.page.locator('.part.editor .view-line', { hasText: text }).first()
  const isSaved = () => workbench.page.locator('.tab:not(.dirty)', { hasText: name }).first().waitFor()
  const bar = () => conversation.frame.getByRole('region', { name: 'Changed files' })
  async function revertAll(): Promise<void> {
    await bar().getByRole('button', { name: 'Revert All Changes…' }).click()
    await workbench.page
      .locator('.monaco-dialog-box')
      .getByRole('button', { name: 'Revert', exact: true })
      .click()
  }
  const press = (text: string, button: string) =>
    workbench.notification(text).getByRole('button', { name: button }).click()

  it('on disk is merged when Parley offers it, and only the agent’s lines are reverted', async () => {
    await begin(1)
    await conversation.send(`[[edit ${name} three 3]]`)
    await holds('one\ntwo\n3\n')
    await workbench.notification('An agent changed').hover()
    await workbench.screenshot('unsaved-offer')
    await press('An agent changed', 'Merge and Save')
    await holds('one mine\ntwo\n3\n')
    await isSaved()
    await editorLine('3').waitFor()
    await revertAll()
    await holds('one mine\ntwo\nthree\n')
    await bar().waitFor({ state: 'detached' })
  })

  it('on disk, in the same lines, can still be reverted: Parley shows both and asks whose lines stay', async () => {
    await begin(2)
    await conversation.send(`[[edit ${name} two 2]]`)
    await holds('one\n2\nthree\n')
    await workbench.notification('An agent changed').waitFor()
    await workbench.runCommand('Notifications: Clear All Notifications')
    await revertAll()
    await press('Merge both to revert', 'Merge and Revert')
    await workbench.notification('Whose lines stay?').hover()
    await workbench.page.locator('.tab', { hasText: 'Agent’s Lines'.replace('’', "'") }).waitFor()
    await workbench.screenshot('unsaved-conflict')
    await press('Whose lines stay?', 'Keep My Lines')
    await holds('one\ntwo mine\nthree\n')
    await isSaved()
    await bar().waitFor({ state: 'detached' })
  })

  it('through the client, in the same lines, stays as the user wants', async () => {
    await begin(2)
    await conversation.send(`[[write ${name} all by the agent]]`)
    const card = conversation.permission
    await card.getByText('Replace your unsaved changes in').waitFor()
    await workbench.screenshot('unsaved-question')
    assert.equal(await card.getByText('Allow once').count(), 0)
    assert.equal(await card.locator('[data-primary]').count(), 0)
    await card.getByRole('button', { name: 'Keep my lines' }).click()
    await conversation.frame.getByText('Keep my lines').waitFor()
    await isSaved()
    await conversation.frame.getByText('write error').waitFor()
    await editorLine('two mine').waitFor()
  })
})
