import assert from 'node:assert/strict'
import fs from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { silentLogger } from '../../src/common/logger.ts'
import { startClaudeIde } from '../../src/mcp/terminal/claude-ide.ts'
import type { TerminalIde } from '../../src/mcp/terminal/terminal-editor.ts'
import { rootVariable } from '../host/isolated-root.ts'
import { waitFor } from '../host/wait-for.ts'
import { FakeTerminalEditor } from '../support/fake-terminal-editor.ts'
import { AgentTerminal } from './agent-terminal.ts'
import { SETUPS } from './agents.ts'
import { installAgent } from './install.ts'
import { type MockModel, startMockModel } from './mock-model/server.ts'

/** The real Claude Code in a terminal, which uses the editor through Parley. The editor's user is the test. */
describe('claude in a terminal', () => {
  let root: string
  let workspace: string
  let model: MockModel
  let editor: FakeTerminalEditor
  let ide: TerminalIde
  let terminal: AgentTerminal | undefined

  before(async function () {
    this.timeout(300_000)
    const platform = `${process.platform}-${process.arch}`
    const folder = await installAgent('claude')
    const program = path.join(
      folder,
      'node_modules',
      '@anthropic-ai',
      `claude-agent-sdk-${platform}`,
      'claude',
    )
    root = await fs.realpath(await fs.mkdtemp(path.join(os.tmpdir(), 'claude-terminal-')))
    workspace = path.join(root, 'workspace')
    const home = path.join(root, 'home')
    for (const own of [workspace, home]) await fs.mkdir(own)
    await fs.writeFile(path.join(workspace, 'hello.txt'), 'first line\nhello world\nlast line\n')
    model = await startMockModel()
    editor = new FakeTerminalEditor(workspace)
    const hello = path.join(workspace, 'hello.txt')
    editor.opened = [{ path: hello, isActive: true, isVisible: true, isDirty: false }]
    editor.selected = {
      path: hello,
      start: { line: 2, column: 1 },
      end: { line: 2, column: 12 },
      text: 'hello world',
    }
    const { env = {} } = await SETUPS.claude({ home, folder, port: model.port, byCommand: false })
    const settings = path.join(home, '.claude')
    // what a user has answered before
    await fs.writeFile(
      path.join(settings, '.claude.json'),
      JSON.stringify({
        hasCompletedOnboarding: true,
        theme: 'dark',
        customApiKeyResponses: { approved: [env.ANTHROPIC_API_KEY], rejected: [] },
        hasIdeOnboardingBeenShown: { vscode: true },
        // else it offers its auto mode, in which it shows no diffs
        hasSeenAutoDefaultNudge: true,
        projects: { [workspace]: { hasTrustDialogAccepted: true, hasCompletedProjectOnboarding: true } },
      }),
    )
    ide = await startClaudeIde(
      { editor, version: '0.0.0', log: silentLogger, secrets: { add() {} } },
      path.join(settings, 'ide'),
    )
    terminal = await AgentTerminal.start(
      [program, '--model', 'sonnet', '--permission-mode', 'default'],
      workspace,
      {
        ...env,
        [rootVariable]: root,
        TMPDIR: root,
        // else it would install its own extension
        CLAUDE_CODE_IDE_SKIP_AUTO_INSTALL: '1',
        DISABLE_AUTOUPDATER: '1',
        ...ide.variables,
      },
    )
  })
  after(async () => {
    terminal?.kill()
    ide?.dispose()
    await model?.close()
    await fs.rm(root, { recursive: true, force: true, maxRetries: 10 })
  })

  const hello = () => fs.readFile(path.join(workspace, 'hello.txt'), 'utf8')
  const diff = () => waitFor('the diff', () => editor.openDiffs[0])

  it('connects to the editor, and tells the model what is selected', async () => {
    // it misses what is selected while it starts; each selection is sent after a moment
    let asked = 0
    await waitFor('the selection', () => {
      if (asked++ % 20 === 0) editor.selectionChanged()
      return terminal!.hasShown('selected')
    })
    await terminal!.prompt('please [[hello]]')
    const { prompts = [] } = await waitFor('the request', () =>
      model.requests.find(({ scenario }) => scenario === 'hello'),
    )
    assert.match(prompts.join('\n'), /hello\.txt/)
    assert.match(prompts.join('\n'), /hello world/)
  })

  it('shows its change in the editor, and writes what the user made of it', async () => {
    await terminal!.prompt(`please [[edit ${workspace}]]`)
    const shown = await diff()
    assert.equal(shown.path, path.join(workspace, 'hello.txt'))
    assert.equal(shown.text, 'first line\nhello ACP\nlast line\n')
    shown.answer('first line\nhello user\nlast line\n')
    await waitFor('the file', async () => (await hello()) === 'first line\nhello user\nlast line\n')
  })

  it('writes nothing that the user rejects', async () => {
    await fs.writeFile(path.join(workspace, 'hello.txt'), 'first line\nhello world\nlast line\n')
    await terminal!.prompt(`again [[edit ${workspace}]]`)
    const shown = await diff()
    shown.answer(undefined)
    await waitFor('the diff to be closed', () => editor.openDiffs.length === 0)
    await waitFor('the end of the turn', () => terminal!.hasShown('User rejected update to hello.txt'))
    assert.equal(await hello(), 'first line\nhello world\nlast line\n')
  })
})
