import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { waitFor } from '../host/wait-for.ts'
import type { Workbench } from '../host/workbench.ts'
import { ConversationPage } from './support/conversation-page.ts'
import { fixtureAgent } from './support/fixture-agent.ts'
import { VsCodeSuite } from './support/vscode-suite.ts'

const ORIGINAL = readFileSync(
  new URL('../fixtures/workspace/planets-api/planets.js', import.meta.url),
  'utf8',
)

describe('reviewing agents’ changes in the editor', () => {
  const vscode = new VsCodeSuite({
    settings: root => ({
      'parley.agents': { liar: fixtureAgent(root, 'Liar') },
      'parley.changes.codeLens': true,
    }),
  })
  const file = (name: string) => join(dirname(vscode.workspace), 'planets-api', name)
  const planets = () => readFileSync(file('planets.js'), 'utf8')
  let workbench: Workbench
  let conversation: ConversationPage

  beforeEach(async () => {
    writeFileSync(file('planets.js'), ORIGINAL)
    // of its own: no session of an earlier test still has changes of the file
    workbench = await vscode.open()
    conversation = await ConversationPage.begin(workbench, 'Liar')
    await workbench.runCommand('View: Close All Editors')
  })
  const bar = () => conversation.frame.getByRole('region', { name: 'Changed files' })
  const editor = () => workbench.page.locator('.part.editor')
  const edit = async () => {
    await conversation.send('[[edit planets.js Mercury Hermes Mars Ares]]')
    await waitFor('the edit', () => planets().includes('Ares'))
    await bar().getByText('1 file').waitFor()
  }
  const open = async () => {
    await workbench.page.keyboard.press('Control+P')
    await workbench.paletteInput.fill('planets.js')
    await workbench.page
      .locator('.quick-input-list .monaco-list-row', { hasText: 'planets.js' })
      .first()
      .click()
    await editor().locator('.view-line', { hasText: 'Hermes' }).first().waitFor()
  }

  it('moves among them, keeps and reverts them one by one with the keyboard, and restores them', async () => {
    await edit()
    await workbench.runCommand('Parley: Next Agent Change')
    await editor().locator('.view-line', { hasText: 'Hermes' }).waitFor()
    await editor().locator('.codelens-decoration', { hasText: 'Keep' }).first().waitFor()
    await workbench.screenshot('review-lens')
    await workbench.page.keyboard.press("Control+'")
    await workbench.page.keyboard.press('u')
    await waitFor('the first change reverted', () => planets().includes('Mercury'))
    assert.ok(planets().includes('Ares'))
    await workbench.runCommand('Parley: Restore Last Reverted Changes')
    await waitFor('the first change restored', () => planets().includes('Hermes'))
    await workbench.page.keyboard.press("Control+'")
    await workbench.page.keyboard.press('ArrowDown')
    await workbench.runCommand('Parley: Keep Change')
    await waitFor('one lens left', async () => (await editor().locator('.codelens-decoration').count()) === 1)
    await workbench.runCommand('Parley: Revert Agent Changes…')
    await workbench.page.locator('.monaco-dialog-box').getByRole('button', { name: 'Revert' }).click()
    await waitFor('the kept change alone', () => planets() === ORIGINAL.replaceAll('Mars', 'Ares'))
    await bar().waitFor({ state: 'detached' })
  })

  it('lists them in Source Control and marks them beside the lines, with keep and revert in the peek', async () => {
    await edit()
    await open()
    await editor().locator('.dirty-diff-glyph').first().waitFor()
    await workbench.page.locator('.activitybar [aria-label^="Source Control"]').first().click()
    const list = workbench.page.locator('.scm-view')
    await list.getByText('planets.js').first().waitFor()
    await workbench.screenshot('review-source-control')
    await editor().locator('.view-line', { hasText: 'Distances' }).click()
    await workbench.page.keyboard.press('Alt+F3')
    const peek = editor().locator('.peekview-actions')
    await peek.getByLabel('Keep Change').first().waitFor()
    await workbench.screenshot('review-peek')
    await peek.getByLabel('Revert Change').first().click()
    await waitFor('the first change reverted', () => planets().includes('Mercury'))
    assert.ok(planets().includes('Ares'))
    await list.getByText('planets.js').first().hover()
    await list.getByRole('button', { name: 'Keep Agent Changes' }).last().click()
    await list.getByText('planets.js').first().waitFor({ state: 'detached' })
    assert.ok(planets().includes('Ares'))
  })

  it('leaves what is typed and not saved, and closes the review when nothing is left', async () => {
    await edit()
    await open()
    await editor().locator('.view-line', { hasText: 'Distances' }).click()
    await workbench.page.keyboard.press('End')
    await workbench.page.keyboard.type(' mine')
    await bar().getByRole('button', { name: 'Review' }).click()
    await workbench.page.locator('.multiDiffEntry', { hasText: 'planets.js' }).waitFor()
    await workbench.screenshot('review-all')
    await workbench.runCommand('Parley: Revert Changes of Last Turn…')
    await workbench.page.locator('.monaco-dialog-box').getByRole('button', { name: 'Revert' }).click()
    await bar().waitFor({ state: 'detached' })
    await workbench.runCommand('File: Save All Files')
    await waitFor(
      'the user’s text alone',
      () => planets() === ORIGINAL.replace('kilometres. */', 'kilometres. */ mine'),
    )
    const reviews = workbench.page.locator('.tab', { hasText: 'Changed Files' })
    await waitFor('no review', async () => (await reviews.count()) === 0)
  })
})
