import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { waitFor } from '../host/wait-for.ts'
import { ConversationPage } from './support/conversation-page.ts'
import { fixtureAgent } from './support/fixture-agent.ts'
import { VsCodeSuite } from './support/vscode-suite.ts'

describe('sending a prompt to several agents', () => {
  const edits = (...words: string[]) => ({ prompt: [{ do: `edit planets.js ${words.join(' ')}` }] })
  const vscode = new VsCodeSuite({
    settings: root => ({
      'parley.agents': {
        one: fixtureAgent(root, 'One', edits('Mercury', 'Hermes')),
        two: fixtureAgent(root, 'Two', edits('Mercury', 'Merkur')),
      },
    }),
  })

  it('compares what they made in the diff editor, and applies one', async () => {
    const top = path.join(path.dirname(vscode.workspace), 'planets-api')
    const options = ['-c', 'user.name=a', '-c', 'user.email=a@example.com']
    const git = (...args: string[]) => execFileSync('git', [...options, ...args], { cwd: top })
    git('init', '-q', '-b', 'main')
    git('add', '.')
    git('commit', '-q', '-m', 'first')

    const workbench = await vscode.open()
    const conversation = await ConversationPage.open(workbench)
    await conversation.composer.fill('Rename a planet')
    await conversation.button('Send to Several Agents…').click()
    for (const name of ['One', 'Two']) {
      const row = workbench.paletteRow(name)
      await row.click()
      await row.getByRole('checkbox', { checked: true }).waitFor()
    }
    await workbench.paletteInput.press('Enter')

    const find = () => workbench.webview('body[data-view="compare"]')
    const frame = await find()
    const card = (name: string) =>
      frame.getByRole('listitem').filter({ has: frame.getByRole('heading', { name, exact: true }) })
    for (const name of ['One', 'Two']) {
      await card(name).getByText('Done').waitFor()
      await card(name).getByText('planets.js').waitFor()
    }
    await waitFor('an empty input', async () => (await conversation.composerText()) === '')
    await workbench.screenshot('compare')

    await frame.getByRole('button', { name: 'Compare Both' }).click()
    const editor = workbench.page.locator('.part.editor')
    await editor.locator('.multiDiffEntry', { hasText: 'planets.js' }).first().waitFor()
    for (const word of ['Hermes', 'Merkur'])
      await editor.locator('.view-line', { hasText: word }).first().waitFor()
    await workbench.screenshot('compare-two')

    await workbench.runCommand('Parley: Show Comparison…')
    const again = await find()
    await again.getByRole('button', { name: 'Apply to Workspace: Two' }).click()
    await workbench.notification('Applied the changes to 1 file.').waitFor()
    await again.getByText('Applied', { exact: true }).waitFor()
    assert.match(readFileSync(path.join(top, 'planets.js'), 'utf8'), /Merkur/)
  })
})
