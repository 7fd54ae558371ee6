import assert from 'node:assert/strict'
import fs from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { silentLogger } from '../../src/common/logger.ts'
import { sharedFolder } from '../../src/mcp/terminal/discovery-files.ts'
import { startGeminiIde } from '../../src/mcp/terminal/gemini-ide.ts'
import type { TerminalIde } from '../../src/mcp/terminal/terminal-editor.ts'
import { rootVariable } from '../host/isolated-root.ts'
import { waitFor } from '../host/wait-for.ts'
import { FakeTerminalEditor } from '../support/fake-terminal-editor.ts'
import { AgentTerminal } from './agent-terminal.ts'
import { SETUPS } from './agents.ts'
import { installAgent } from './install.ts'
import { type MockModel, startMockModel } from './mock-model/server.ts'

/** The real Gemini CLI in a terminal, which uses the editor through Parley. The editor's user is the test. */
describe('gemini in a terminal', () => {
  let root: string
  let workspace: string
  let model: MockModel
  let editor: FakeTerminalEditor
  let ide: TerminalIde
  let terminal: AgentTerminal | undefined

  before(async function () {
    this.timeout(300_000)
    const folder = await installAgent('gemini')
    root = await fs.realpath(await fs.mkdtemp(path.join(os.tmpdir(), 'gemini-terminal-')))
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
    ide = await startGeminiIde({ editor, version: '0.0.0', log: silentLogger, secrets: { add() {} } }, () =>
      sharedFolder(root, 'gemini', 'ide'),
    )

    const {
      command,
      args = [],
      env = {},
    } = await SETUPS.gemini({ home, folder, port: model.port, byCommand: false })
    const settings = path.join(home, '.gemini', 'settings.json')
    const configured = JSON.parse(await fs.readFile(settings, 'utf8'))
    await fs.writeFile(
      settings,
      JSON.stringify({ ...configured, ide: { enabled: true, hasSeenNudge: true } }),
    )
    // else it asks first whether it may change the editor's keybindings
    await fs.writeFile(
      path.join(home, '.gemini', 'state.json'),
      JSON.stringify({ terminalSetupPromptShown: true }),
    )
    terminal = await AgentTerminal.start([command!, ...args.filter(arg => arg !== '--acp')], workspace, {
      ...env,
      [rootVariable]: root,
      // in a container, the agent would look for an editor outside of it
      SSH_CONNECTION: '127.0.0.1',
      TMPDIR: root,
      TEMP: root,
      TMP: root,
      ...ide.variables,
    })
  })
  after(async () => {
    terminal?.kill()
    ide?.dispose()
    await model?.close()
    await fs.rm(root, { recursive: true, force: true, maxRetries: 10 })
  })

  const hello = () => fs.readFile(path.join(workspace, 'hello.txt'), 'utf8')
  const prompt = (text: string) => terminal!.prompt(text)
  const diff = () => waitFor('the diff', () => editor.openDiffs[0])

  it('connects to the editor, and tells the model what is open and selected', async () => {
    // the program starts first, which takes a busy machine a minute
    await waitFor('the connection', () => editor.asked > 0, { timeout: 180_000 })
    await prompt('please [[hello]]')
    const { prompts = [] } = await waitFor('the request', () =>
      model.requests.find(({ scenario }) => scenario === 'hello'),
    )
    assert.match(prompts.join('\n'), /hello\.txt/)
    assert.match(prompts.join('\n'), /hello world/)
    await waitFor('the end of the turn', () => terminal!.hasShown('console.log(1)'))
  })

  it('shows its change in the editor, and writes what the user made of it', async () => {
    await prompt(`please [[edit ${workspace}]]`)
    const shown = await diff()
    assert.equal(shown.path, path.join(workspace, 'hello.txt'))
    assert.equal(shown.text, 'first line\nhello ACP\nlast line\n')
    shown.answer('first line\nhello user\nlast line\n')
    await waitFor('the file', async () => (await hello()) === 'first line\nhello user\nlast line\n')
    await waitFor('the end of the turn', () => terminal!.hasShown('Finished with hello.txt.'))
  })

  it('writes nothing that the user rejects', async () => {
    await fs.writeFile(path.join(workspace, 'hello.txt'), 'first line\nhello world\nlast line\n')
    await prompt(`again [[edit ${workspace}]]`)
    const shown = await diff()
    shown.answer(undefined)
    await waitFor('the end of the turn', () => terminal!.hasShown('Request cancelled'))
    assert.equal(await hello(), 'first line\nhello world\nlast line\n')
  })
})
