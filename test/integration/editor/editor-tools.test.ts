import assert from 'node:assert/strict'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as vscode from 'vscode'
import { delay } from '../../../src/common/async.ts'
import type { EditorFeatures } from '../../../src/mcp/server/editor-features.ts'
import { Diffs } from '../../../src/workbench/editor/diffs.ts'
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

    it('applies a quick fix of the language @floor', async () => {
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
      const editor = await waitFor('the line in the editor', () => {
        const active = vscode.window.activeTextEditor
        return active?.document.uri.fsPath === join(folder, 'main.ts') && active.selection.active.line === 4
          ? active
          : undefined
      })
      // VS Code reports the editor and its tab one after the other
      await waitFor('the tab', async () => /main\.ts \(active\)/.test(await rig.call('open_editors')))
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

    it('debugs a Node program: pauses, reads variables, evaluates, steps and tells how it ended @floor', async () => {
      const root = vscode.workspace.workspaceFolders![0]!.uri.fsPath
      const program = join(folder, 'program.js')
      writeFileSync(
        program,
        'function add(a, b) {\n  const sum = a + b\n  return sum\n}\nconst user = { name: "Ada" }\nconsole.log(add(1, 2), user)\nsetTimeout(() => process.exit(4), 1000)\n',
      )
      mkdirSync(join(root, '.vscode'), { recursive: true })
      const launch = join(root, '.vscode/launch.json')
      const runtime = { runtimeExecutable: process.execPath, env: { ELECTRON_RUN_AS_NODE: '1' } }
      const configuration = { type: 'node', request: 'launch', name: 'Tools', program, ...runtime }
      writeFileSync(launch, JSON.stringify({ version: '0.2.0', configurations: [configuration] }))
      try {
        await waitFor('the configuration', async () =>
          dataOf(await rig.call('debug_state')).some(line => line.startsWith('configuration Tools')),
        )
        await rig.call('debug_control', { action: 'set_breakpoint', file: 'program.js', line: 2 })
        const started = await rig.call('debug_control', {
          ...{ action: 'start', configuration: 'Tools', seconds: 90 },
        })
        assert.match(started, /thread \d+: .*\(paused: breakpoint/)
        assert.match(started, /0 .*add .*program\.js:2:\d+/)
        assert.match(started, /\ba: 1/)
        assert.match(rig.conversation.asked.at(-1)?.code ?? '', /"program": ".*program\.js"/)
        assert.match(await rig.call('debug_state', { evaluate: 'a + b + 39' }), /^42/m)
        const outer = await rig.call('debug_state', { evaluate: 'user', frame: 1 })
        assert.match(outer, /name: 'Ada'/)
        const reference = Number(/#(\d+)/.exec(outer)?.[1])
        assert.match(await rig.call('debug_state', { variables: reference }), /name: 'Ada'/)
        const stepped = await rig.call('debug_control', { action: 'step_over', seconds: 60 })
        assert.match(stepped, /paused: step/)
        assert.match(stepped, /0 .*add .*program\.js:3:\d+/)
        assert.match(stepped, /sum: 3/)
        // VS Code focuses the frame once it has asked the debugger for the stack, too
        await waitFor(
          'the focused frame',
          () => vscode.debug.activeStackItem instanceof vscode.DebugStackFrame,
        )
        const ended = await rig.call('debug_control', { action: 'continue', seconds: 60 })
        assert.match(ended, /has ended/)
        assert.match(await rig.call('debug_state', { console: true }), /^3 .*Ada/m)
        await rig.call('debug_control', { action: 'start', configuration: 'Tools', seconds: 90 })
        // the debugger stops answering before VS Code reports the end
        const stopping = vscode.debug.stopDebugging()
        await waitFor('the end', async () =>
          (await rig.call('debug_state')).startsWith('Nothing is debugged. Session'),
        )
        await stopping
        await rig.call('debug_control', { action: 'remove_breakpoint', file: 'program.js', line: 2 })
        assert.equal(vscode.debug.breakpoints.length, 0)
      } finally {
        await vscode.debug.stopDebugging()
        vscode.debug.removeBreakpoints(vscode.debug.breakpoints)
        rmSync(join(root, '.vscode'), { recursive: true, force: true })
      }
    })

    it('runs tests, with a tool of VS Code or with the test task, and says which', async () => {
      const controller = vscode.tests.createTestController('parley-test', 'Parley')
      const item = controller.createTestItem('adds', 'adds', vscode.Uri.file(join(folder, 'main.ts')))
      item.range = new vscode.Range(0, 0, 1, 0)
      controller.items.add(item)
      controller.createRunProfile(
        'Run',
        vscode.TestRunProfileKind.Run,
        async request => {
          const run = controller.createTestRun(request)
          run.started(item)
          // VS Code's tool waits forever for a run that ends before it looks
          await delay(500)
          run.failed(item, new vscode.TestMessage('expected 1, got 2'))
          run.end()
        },
        true,
      )
      const task = new vscode.Task(
        { type: 'parley-test' },
        vscode.TaskScope.Workspace,
        'all tests',
        'parley-test',
        new vscode.ShellExecution('echo said-by-test; exit 2'),
      )
      task.group = vscode.TaskGroup.Test
      const provider = vscode.tasks.registerTaskProvider('parley-test', {
        provideTasks: () => [task],
        resolveTask: () => undefined,
      })
      try {
        // older versions have no such tool
        if (await features.hasTestTool('runTests')) {
          // VS Code learns of the test a moment later, and asks by a dialog, which its driver for tests accepts
          const answer = await waitFor('the test', async () => {
            const text = await rig.call('run_tests', { files: ['main.ts'] })
            return text.includes('No tests found') ? undefined : text
          })
          assert.match(answer, /^VS Code's own test tool answers:/)
          assert.match(answer, /expected 1, got 2/)
          assert.match(await rig.call('test_results'), /expected 1, got 2/)
        } else assert.match(await rig.call('run_tests'), /^Ran the workspace's test task/)
        const other = await toolRig({ features: { ...features, hasTestTool: async () => false }, folder })
        const ran = await other.call('run_tests')
        await other.close()
        assert.match(ran, /^Ran the workspace's test task, .* exit code 2\.$/m)
        assert.ok(dataOf(ran).includes('said-by-test'), ran)
      } finally {
        controller.dispose()
        provider.dispose()
      }
    })

    it("gives VS Code's chat the tools once the user has turned that on @floor", async () => {
      const settings = vscode.workspace.getConfiguration()
      const own = () => vscode.lm.tools.find(({ name }) => /document_symbols/.test(name))
      const invoke = async (name: string) => {
        const input = { file: join(folder, 'shapes.ts') }
        const { content } = await vscode.lm.invokeTool(name, { input, toolInvocationToken: undefined })
        return JSON.stringify(content)
      }
      const server = vscode.extensions.all.find(({ packageJSON }) => packageJSON.name === 'parley')!
      await server.activate()
      assert.equal(own(), undefined)
      await settings.update('parley.editorToolsInChat', true, vscode.ConfigurationTarget.Global)
      try {
        const start = () =>
          vscode.commands.executeCommand('workbench.mcp.startServer', `${server.id}/VS Code (Parley)`)
        const tool = await waitFor(
          'the tools',
          async () => {
            // VS Code learns of the server a moment later
            await start().then(undefined, () => {})
            return own()
          },
          { interval: 2000 },
        )
        assert.match(await invoke(tool.name), /totalArea/)
      } finally {
        await settings.update('parley.editorToolsInChat', undefined, vscode.ConfigurationTarget.Global)
      }
      // older versions still list them
      await waitFor('the end of the tools', async () => {
        const tool = own()
        if (!tool) return true
        return !/totalArea/.test(await invoke(tool.name).catch(String))
      })
    })

    it('runs a task, and tells how it ended @floor', async () => {
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
