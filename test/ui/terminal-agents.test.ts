import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { waitFor } from '../host/wait-for.ts'
import type { Workbench } from '../host/workbench.ts'
import { ClaudeClient, claudeLocks } from '../support/claude-client.ts'
import { VsCodeSuite } from './support/vscode-suite.ts'

const TAB = '✻ [Claude Code] planets.js (1) ⧉'

describe('a change of Claude Code in a terminal', () => {
  let locks = ''
  const vscode = new VsCodeSuite({
    settings: ({ home }) => {
      locks = join(home, '.claude', 'ide')
      return { 'parley.terminalAgents.claude': true }
    },
  })
  let workbench: Workbench
  let client: ClaudeClient

  before(async () => {
    workbench = await vscode.clearedWindow()
    const lock = await waitFor('the lock file', () => existsSync(locks) && claudeLocks(locks)[0])
    client = await ClaudeClient.connect(lock)
  })
  after(() => client?.close())

  const file = () => join(dirname(vscode.workspace), 'planets-api', 'planets.js')
  /** Resolves once the diff is shown. */
  const propose = async () => {
    const answer = client.call('openDiff', {
      old_file_path: file(),
      new_file_path: file(),
      new_file_contents: readFileSync(file(), 'utf8').replace('Mercury', 'Hermes'),
      tab_name: TAB,
    })
    await tab().waitFor()
    await workbench.page.locator('.part.editor .view-line', { hasText: 'Hermes' }).first().waitFor()
    return { answer }
  }
  const tab = () => workbench.page.locator('.part.editor .tab', { hasText: '[Claude Code] planets.js' })
  const closed = () => tab().waitFor({ state: 'detached' })
  const press = (name: RegExp) =>
    workbench.page.locator('.part.editor .editor-actions').getByRole('button', { name }).click()

  it('is answered with the buttons of its diff, and by closing its tab', async () => {
    const accepted = await propose()
    await press(/^Accept/)
    const [how, text] = await accepted.answer
    assert.equal(how, 'FILE_SAVED')
    assert.match(text!, /Hermes/)
    await closed()

    const rejected = await propose()
    await press(/^Reject/)
    assert.deepEqual(await rejected.answer, ['DIFF_REJECTED', TAB])
    await closed()

    const left = await propose()
    await tab().hover()
    await tab()
      .getByRole('button', { name: /^Close/ })
      .click()
    assert.deepEqual(await left.answer, ['DIFF_REJECTED', TAB])
    // Claude Code itself writes what is accepted
    assert.match(readFileSync(file(), 'utf8'), /Mercury/)
  })
})
