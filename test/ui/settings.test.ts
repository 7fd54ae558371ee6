import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { succeeds, waitFor } from '../host/wait-for.ts'
import { fixtureAgent } from './support/fixture-agent.ts'
import { VsCodeSuite } from './support/vscode-suite.ts'

describe('the Settings editor', () => {
  const vscode = new VsCodeSuite({
    settings: root => ({
      'workbench.settings.editor': 'ui',
      'parley.agents': { ada: fixtureAgent(root, 'Ada'), bob: fixtureAgent(root, 'Bob') },
    }),
  })

  it('has the groups of Parley, and a link to select the default agent', async () => {
    const workbench = await vscode.open()
    const { page } = workbench
    await workbench.runCommand('Parley: Open Settings')
    const editor = page.locator('.settings-editor')
    const groups = editor.locator('.settings-toc-entry')
    await groups.filter({ hasText: 'Advanced' }).waitFor()
    const titles = (await groups.allInnerTexts()).map(text => text.replace(/\s*\(\d+\)$/, ''))
    assert.deepEqual(titles.slice(-4), ['Agents', 'Conversation', 'Changes', 'Advanced'])
    await workbench.screenshot('settings')

    const found = editor.locator('.setting-item-label')
    for (const [words, setting] of [
      ['ctrl+enter to send', 'Send Key'],
      ['parley newline', 'Send Key'],
      ['parley bell', 'Sounds'],
      ['notification sound turn', 'Sounds'],
    ] as const) {
      await editor.locator('.search-container').first().click()
      await page.keyboard.press('ControlOrMeta+a')
      await page.keyboard.type(words)
      await found.filter({ hasText: new RegExp(`^${setting}$`) }).waitFor()
    }
    await page.keyboard.press('ControlOrMeta+a')
    await page.keyboard.type('parley default agent')

    // the rows are drawn again while the search goes on, and a click on one that goes away is lost
    await waitFor('the list of agents', async () => {
      await editor.getByRole('link', { name: 'Select an agent' }).click()
      return succeeds(workbench.palette.waitFor({ timeout: 10_000 }))
    })
    await workbench.pick('Bob')
    await workbench.pick('Workspace Settings')
    await waitFor('the setting of the workspace', () =>
      readFileSync(join(vscode.workspace), 'utf8').includes('"parley.defaultAgent": "bob"'),
    )
  })
})
