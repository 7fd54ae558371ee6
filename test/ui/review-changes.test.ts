import assert from 'node:assert/strict'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { waitFor } from '../host/wait-for.ts'
import type { Workbench } from '../host/workbench.ts'
import { ConversationPage } from './support/conversation-page.ts'
import { openFile } from './support/editor.ts'
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
  /** of each test and try its own: the server keeps what a window left unsaved, and what agents changed */
  let name = ''
  let tries = 0
  const file = () => join(dirname(vscode.workspace), 'planets-api', name)
  const planets = () => readFileSync(file(), 'utf8')
  let workbench: Workbench
  let conversation: ConversationPage

  beforeEach(async () => {
    name = `planets-${++tries}.js`
    writeFileSync(file(), ORIGINAL)
    workbench = await vscode.open()
    conversation = await ConversationPage.begin(workbench, 'Liar')
  })
  // a file that is gone is not asked about
  afterEach(() => rmSync(file(), { force: true }))
  const bar = () => conversation.frame.getByRole('region', { name: 'Changed files' })
  const editor = () => workbench.page.locator('.part.editor')
  const edit = async () => {
    await conversation.send(`[[edit ${name} Mercury Hermes Mars Ares]]`)
    await waitFor('the edit', () => planets().includes('Ares'))
    await bar().getByText('1 file').waitFor()
  }
  /** The editor has the keyboard. */
  const focused = () => editor().locator('.monaco-editor.focused').first().waitFor()
  /** What moved the cursor here is done: it takes the keyboard, too. */
  const cursorIn = async (line: number) => {
    await focused()
    await workbench.page.locator('.part.statusbar').getByText(`Ln ${line},`).waitFor()
  }
  const open = async () => {
    await openFile(workbench, name)
    await editor().locator('.view-line', { hasText: 'Hermes' }).first().waitFor()
    await cursorIn(1)
  }

  it('moves among them, keeps and reverts them one by one with the keyboard, and restores them', async () => {
    await edit()
    await workbench.runCommand('Parley: Next Agent Change')
    await cursorIn(3)
    await editor().locator('.view-line', { hasText: 'Hermes' }).waitFor()
    await editor().locator('.codelens-decoration', { hasText: 'Keep' }).first().waitFor()
    await workbench.screenshot('review-lens')
    await workbench.page.keyboard.press("Control+'")
    await workbench.page.keyboard.press('u')
    await waitFor('the first change reverted', () => planets().includes('Mercury'))
    assert.ok(planets().includes('Ares'))
    await workbench.runCommand('Parley: Restore Last Reverted Changes')
    await waitFor('the first change restored', () => planets().includes('Hermes'))
    await editor().locator('.view-line', { hasText: 'Hermes' }).waitFor()
    await focused()
    await workbench.page.keyboard.press("Control+'")
    await workbench.page.keyboard.press('ArrowDown')
    await cursorIn(6)
    await workbench.runCommand('Parley: Keep Change')
    await waitFor('one lens left', async () => (await editor().locator('.codelens-decoration').count()) === 1)
    await workbench.runCommand('Parley: Revert Agent Changes…')
    await workbench.page.locator('.monaco-dialog-box').getByRole('button', { name: 'Revert' }).click()
    await waitFor('the kept change alone', () => planets() === ORIGINAL.replaceAll('Mars', 'Ares'))
    await bar().waitFor({ state: 'detached' })
  })

  it('lists them in Source Control and marks them next to the lines, with keep and revert in the peek', async () => {
    await edit()
    await open()
    await editor().locator('.dirty-diff-glyph').first().waitFor()
    await workbench.page.locator('.activitybar [aria-label^="Source Control"]').first().click()
    const list = workbench.page.locator('.scm-view')
    await list.getByText(name).first().waitFor()
    await workbench.screenshot('review-source-control')
    await editor().locator('.view-line', { hasText: 'Distances' }).click()
    await cursorIn(1)
    await workbench.page.keyboard.press('Alt+F3')
    const peek = editor().locator('.peekview-actions')
    await peek.getByLabel('Keep Change').first().waitFor()
    await workbench.screenshot('review-peek')
    await peek.getByLabel('Revert Change').first().click()
    await waitFor('the first change reverted', () => planets().includes('Mercury'))
    assert.ok(planets().includes('Ares'))
    await list.getByText(name).first().hover()
    await list.getByRole('button', { name: 'Keep Agent Changes' }).last().click()
    await list.getByText(name).first().waitFor({ state: 'detached' })
    assert.ok(planets().includes('Ares'))
  })

  it('leaves what is typed and not saved, and closes the review when nothing is left', async () => {
    await edit()
    await open()
    await editor().locator('.view-line', { hasText: 'Distances' }).click()
    await cursorIn(1)
    await workbench.page.keyboard.press('End')
    await workbench.page.keyboard.type(' mine')
    await editor().locator('.view-line', { hasText: '*/ mine' }).waitFor()
    await bar().getByRole('button', { name: 'Review' }).click()
    await workbench.page.locator('.multiDiffEntry', { hasText: name }).waitFor()
    // what can change is not in its title: VS Code adds the number of files
    await workbench.page.locator('.tab', { hasText: /^Liar: Changed Files/ }).waitFor()
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
