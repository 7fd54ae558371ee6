import assert from 'node:assert/strict'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as vscode from 'vscode'
import type { EditorFeatures } from '../../../src/mcp/server/editor-features.ts'
import { Diffs } from '../../../src/workbench/changes/diffs.ts'
import { createEditorFeatures } from '../../../src/workbench/tools/editor-features.ts'
import { waitFor } from '../../host/wait-for.ts'
import { describeEditorFeatures } from '../../support/contracts/editor-features.ts'
import { dataOf, type ToolRig, toolRig } from '../../support/tool-rig.ts'
import { writeToolFiles } from '../../support/tool-workspace.ts'

describe("the editor's tools in VS Code", () => {
  let diffs: Diffs
  let features: EditorFeatures
  let count = 0
  const folders: string[] = []
  /** A new folder in the workspace, since languages remember files. */
  const newFolder = () => {
    const root = vscode.workspace.workspaceFolders![0]!.uri.fsPath
    count += 1
    const folder = join(root, `tools-${count}`)
    mkdirSync(folder)
    folders.push(folder)
    writeToolFiles(folder)
    writeFileSync(
      join(folder, 'tsconfig.json'),
      JSON.stringify({
        compilerOptions: { strict: true, target: 'es2022', module: 'es2022', moduleResolution: 'bundler' },
      }),
    )
    return folder
  }

  before(() => {
    diffs = new Diffs('parley-tool-test')
    features = createEditorFeatures(diffs)
  })
  after(async () => {
    diffs.dispose()
    await vscode.commands.executeCommand('workbench.action.closeAllEditors')
    for (const folder of folders) rmSync(folder, { recursive: true, force: true })
  })

  describe('with TypeScript', () => {
    describeEditorFeatures(async () => ({ features, folder: newFolder() }))
  })

  describe('with the window', () => {
    let folder: string
    let rig: ToolRig
    before(async () => {
      folder = newFolder()
      rig = await toolRig({ features, folder })
    })
    after(() => rig.close())

    it('applies a quick fix of the language', async () => {
      writeFileSync(join(folder, 'missing.ts'), 'export const square = new Square(2)\n')
      await rig.call('diagnostics', { files: ['missing.ts', 'shapes.ts'] })
      const title = await waitFor('the quick fix', async () =>
        dataOf(await rig.call('code_action', { file: 'missing.ts', line: 1, kind: 'quickfix' }))
          .map(line => line.replace(/ \(quickfix.*$/, ''))
          .find(line => /import from/i.test(line)),
      )
      await rig.call('code_action', { file: 'missing.ts', line: 1, kind: 'quickfix', apply: title })
      assert.match(
        readFileSync(join(folder, 'missing.ts'), 'utf8'),
        /import \{ Square \} from ['"]\.\/shapes['"]/,
      )
    })

    it('reports the problems of JSON', async () => {
      writeFileSync(join(folder, 'data.json'), '{ "a": 1,, }\n')
      assert.match(await rig.call('diagnostics', { files: ['data.json'] }), /data\.json:1:\d+: error \[json/)
      assert.match(await rig.call('document_symbols', { file: 'data.json' }), /a/)
    })

    it('tells what is open, selected and unsaved', async () => {
      await rig.call('open_file', { file: 'main.ts', line: 5 })
      const editor = await waitFor('the editor', () =>
        vscode.window.activeTextEditor?.document.uri.fsPath === join(folder, 'main.ts')
          ? vscode.window.activeTextEditor
          : undefined,
      )
      assert.equal(editor.selection.active.line, 4)
      assert.match(await rig.call('open_editors'), /main\.ts \(active\)/)
      editor.selection = new vscode.Selection(4, 16, 4, 22)
      await waitFor('the selection', async () => dataOf(await rig.call('selection'))[0] === 'report')
      await editor.edit(edit => edit.insert(new vscode.Position(0, 0), '// mine\n'))
      assert.deepEqual(dataOf(await rig.call('unsaved_text', { file: 'main.ts' }))[0], '// mine')
      assert.match(await rig.call('definition', { file: 'main.ts', name: 'report' }), /main\.ts:6:17/)
      await vscode.commands.executeCommand('workbench.action.files.revert')
    })

    it('shows a diff', async () => {
      await rig.call('show_diff', { file: 'main.ts', text: 'other' })
      await waitFor('the diff', () => {
        const input = vscode.window.tabGroups.activeTabGroup.activeTab?.input
        return input instanceof vscode.TabInputTextDiff && input.modified.scheme === 'parley-tool-test'
      })
    })

    it('runs a task, and tells how it ended', async () => {
      const task = new vscode.Task(
        { type: 'parley-test' },
        vscode.TaskScope.Workspace,
        'fails',
        'parley-test',
        new vscode.ProcessExecution(process.execPath, ['-e', 'process.exit(3)'], {
          env: { ELECTRON_RUN_AS_NODE: '1' },
        }),
      )
      const provider = vscode.tasks.registerTaskProvider('parley-test', {
        provideTasks: () => [task],
        resolveTask: () => undefined,
      })
      try {
        assert.match(await rig.call('list_tasks'), /fails \(parley-test/)
        assert.equal(await rig.call('run_task', { name: 'fails' }), 'The task ended with exit code 3.')
      } finally {
        provider.dispose()
      }
    })
  })
})
