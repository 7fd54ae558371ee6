import assert from 'node:assert/strict'
import { realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { EditorToolName } from '../../src/common/editor-tool-names.ts'
import { waitFor } from '../host/wait-for.ts'
import { FakeEditorFeatures } from '../support/fake-editor-features.ts'
import { PageSuite } from '../support/page/page-suite.ts'
import { toolRig } from '../support/tool-rig.ts'
import { writeToolFiles } from '../support/tool-workspace.ts'
import { ConversationPage } from '../ui/support/conversation-page.ts'
import { fixtureAgent } from '../ui/support/fixture-agent.ts'

/** Calls, with a place that the answer names and the line that it leads to. */
const CALLS: ReadonlyArray<[EditorToolName, Record<string, unknown>, link: string, line: number]> = [
  ['diagnostics', { files: ['main.ts'] }, 'main.ts:9:14', 9],
  ['symbols', { query: 'total' }, 'shapes.ts:12:17', 12],
  ['definition', { name: 'totalArea' }, 'shapes.ts:12:17', 12],
  ['references', { name: 'totalArea' }, 'main.ts:6:17', 6],
  ['hover', { name: 'report' }, 'main.ts:5:17', 5],
  ['call_hierarchy', { name: 'totalArea' }, 'main.ts:5:17', 5],
  ['rename_symbol', { name: 'squares', new_name: 'both' }, 'main.ts:3', 3],
]

describe('answers of the editor tools', () => {
  const vscode = new PageSuite({
    settings: root => ({ 'parley.agents': { one: fixtureAgent(root, 'One') } }),
  })

  it('are shown by the name of the tool, with links that open files at their lines', async () => {
    const workbench = await vscode.sharedWindow()
    const folder = realpathSync(join(dirname(vscode.workspace), 'planets-api'))
    writeToolFiles(folder)
    const rig = await toolRig({ features: new FakeEditorFeatures(folder), folder })
    const updates = []
    try {
      for (const [name, input] of CALLS) {
        const text = await rig.call(name, input)
        updates.push({ say: `Calling ${name}.` })
        updates.push({
          update: {
            ...{ sessionUpdate: 'tool_call', toolCallId: name, title: `mcp__vscode__${name}` },
            ...{ kind: 'other', status: 'completed', rawInput: input },
            content: [{ type: 'content', content: { type: 'text', text } }],
          },
        })
      }
    } finally {
      await rig.close()
    }
    vscode.root.updateSettings({
      'parley.agents': {
        caller: fixtureAgent(vscode.root, 'Caller', { prompt: [...updates, { say: 'Done.' }] }),
      },
    })
    const conversation = await ConversationPage.startSession(workbench, 'Caller')
    await conversation.send('Ask the editor')
    await conversation.text('Done.').waitFor()
    const { frame } = conversation
    for (const [name, input, link, line] of CALLS) {
      const [subject] = [Object.values(input)[0]].flat()
      const title = frame.getByRole('button', { name: new RegExp(`\\b${name} ${subject}`) })
      await title.click()
      const call = frame.locator('.work', { has: title }).last()
      assert.doesNotMatch(await call.innerText(), /<\/?data-/)
      await call.locator('a[data-path]', { hasText: link }).first().click()
      const file = join(folder, link.replace(/:.*/, ''))
      await waitFor(`${name}: line ${line} of ${file}`, async () => {
        const active = (await workbench.host.call('activeLine')) as { path: string; line: number } | null
        return active?.line === line && realpathSync(active.path) === file
      })
      await workbench.runCommand('View: Close All Editors')
    }
  })
})
