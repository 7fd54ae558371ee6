import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import * as vscode from 'vscode'
import { waitFor } from '../../host/wait-for.ts'
import { ClaudeClient, claudeLocks } from '../../support/claude-client.ts'
import { useTemporaryFolder } from './temporary-folder.ts'

const LOCKS = join(homedir(), '.claude', 'ide')
const GEMINI = join(tmpdir(), 'gemini', 'ide')
const filesIn = (folder: string) => (existsSync(folder) ? readdirSync(folder) : [])

async function turn(agent: 'claude' | 'gemini', isOn: boolean): Promise<void> {
  const settings = vscode.workspace.getConfiguration('parley')
  await settings.update(`terminalAgents.${agent}`, isOn || undefined, vscode.ConfigurationTarget.Global)
  const folder = agent === 'claude' ? LOCKS : GEMINI
  await waitFor(`the file for ${agent}`, () => (filesIn(folder).length === 1) === isOn)
}

const diffTabs = () =>
  vscode.window.tabGroups.all
    .flatMap(({ tabs }) => tabs)
    .filter(
      ({ input }) => input instanceof vscode.TabInputTextDiff && input.modified.scheme === 'parley-terminal',
    )

async function shownDiff(): Promise<{ tab: vscode.Tab; input: vscode.TabInputTextDiff; text: () => string }> {
  const [tab] = await waitFor('the diff', () => (diffTabs().length === 1 ? diffTabs() : undefined))
  const input = tab!.input as vscode.TabInputTextDiff
  const document = await vscode.workspace.openTextDocument(input.modified)
  return { tab: tab!, input, text: () => document.getText() }
}

/** Edits the proposed side, as the user does. */
async function edit({ input, text }: Awaited<ReturnType<typeof shownDiff>>, to: string): Promise<void> {
  const change = new vscode.WorkspaceEdit()
  const lines = text().split('\n').length
  change.replace(input.modified, new vscode.Range(0, 0, lines, 0), to)
  assert.ok(await vscode.workspace.applyEdit(change))
}

/** Resolves when commands apply to the diff; VS Code reports its tab earlier. */
async function focus({ input }: Awaited<ReturnType<typeof shownDiff>>): Promise<void> {
  await vscode.commands.executeCommand('workbench.action.focusActiveEditorGroup')
  await waitFor(
    'the diff to be active',
    () => vscode.window.activeTextEditor?.document.uri.toString() === input.modified.toString(),
  )
}

const noDiff = () => waitFor('the diff to be closed', () => diffTabs().length === 0)

describe('Claude Code in a terminal of VS Code', () => {
  const folder = useTemporaryFolder()
  let client: ClaudeClient
  before(async () => {
    assert.deepEqual([filesIn(LOCKS), filesIn(GEMINI)], [[], []], 'nothing is written before it is turned on')
    await turn('claude', true)
    assert.deepEqual(filesIn(GEMINI), [])
    client = await ClaudeClient.connect(claudeLocks(LOCKS)[0]!)
  })
  after(async () => {
    await turn('claude', false)
    assert.equal(typeof (await client.closed), 'number')
  })

  const propose = (name: string, text: string) =>
    client.call('openDiff', {
      old_file_path: join(folder(), name),
      new_file_path: join(folder(), name),
      new_file_contents: text,
      tab_name: `✻ [Claude Code] ${name} (1) ⧉`,
    })

  it('sees which folders are open', () => {
    const folders = vscode.workspace.workspaceFolders!.map(({ uri }) => uri.fsPath)
    const [lock] = claudeLocks(LOCKS)
    assert.deepEqual(lock?.workspaceFolders, folders)
    assert.equal(lock?.pid, process.ppid)
    assert.ok(folders.length > 1)
  })

  it('shows a change in a diff, which the user accepts @floor', async () => {
    writeFileSync(join(folder(), 'a.js'), 'let a = 1\n')
    const answer = propose('a.js', 'let a = 2\n')
    const diff = await shownDiff()
    assert.equal(diff.tab.label, '✻ [Claude Code] a.js (1) ⧉')
    assert.equal(diff.input.original.fsPath, join(folder(), 'a.js'))
    assert.equal(diff.text(), 'let a = 2\n')
    await focus(diff)
    await vscode.commands.executeCommand('parley.acceptDiff')
    assert.deepEqual(await answer, ['FILE_SAVED', 'let a = 2\n'])
    await noDiff()
    // Claude Code itself writes it
    assert.equal(readFileSync(join(folder(), 'a.js'), 'utf8'), 'let a = 1\n')
  })

  it('gets what the user made of the change', async () => {
    const answer = propose('new.js', 'let a = 1\n')
    const diff = await shownDiff()
    assert.equal((await vscode.workspace.openTextDocument(diff.input.original)).getText(), '')
    await edit(diff, 'let a = 3\n')
    await vscode.commands.executeCommand('parley.acceptDiff', diff.input.modified)
    assert.deepEqual(await answer, ['FILE_SAVED', 'let a = 3\n'])
    await noDiff()
  })

  it("gets nothing by a save, which may be VS Code's own, and then what the user sees @floor", async () => {
    const answer = propose('saved.js', 'let a = 1\n')
    const diff = await shownDiff()
    await edit(diff, 'let a = 4\n')
    await focus(diff)
    await vscode.commands.executeCommand('workbench.action.files.save')
    await waitFor('the save', () => !vscode.window.activeTextEditor?.document.isDirty)
    await edit(diff, 'let a = 7\n')
    await vscode.workspace.saveAll()
    await edit(diff, 'let a = 8\n')
    assert.equal(diffTabs().length, 1)
    // by the key, which gives no arguments
    await vscode.commands.executeCommand('parley.acceptDiff')
    assert.deepEqual(await answer, ['FILE_SAVED', 'let a = 8\n'])
    await noDiff()
  })

  it('leaves no diff after a reload about whose edits VS Code would ask', async () => {
    const uri = vscode.Uri.from({ scheme: 'parley-terminal', path: '/a.js', query: 'before the reload' })
    await vscode.workspace.fs.writeFile(uri, Buffer.from('edited'))
    await assert.rejects(async () => vscode.workspace.fs.readFile(uri))
  })

  it('gets a text with its byte order mark and line ends as it proposed it', async () => {
    const text = '\ufeffone\r\ntwo\nthree\r\n'
    const answer = propose('mixed.txt', text)
    const { input } = await shownDiff()
    await vscode.commands.executeCommand('parley.acceptDiff', input.modified)
    assert.deepEqual(await answer, ['FILE_SAVED', text])
    await noDiff()
  })

  it('is notified that the user rejects a change, also an edited one', async () => {
    const answer = propose('a.js', 'let a = 2\n')
    const diff = await shownDiff()
    await edit(diff, 'let a = 5\n')
    await vscode.commands.executeCommand('parley.rejectDiff', diff.input.modified)
    assert.equal((await answer)[0], 'DIFF_REJECTED')
    await noDiff()
  })

  it('is told that the user rejects a change by closing its tab @floor', async () => {
    const answer = propose('a.js', 'let a = 2\n')
    const { tab } = await shownDiff()
    await vscode.window.tabGroups.close(tab)
    assert.equal((await answer)[0], 'DIFF_REJECTED')
  })

  it('closes a diff that the user answers in the terminal, with the edits in it', async () => {
    const answer = propose('a.js', 'let a = 2\n')
    await edit(await shownDiff(), 'let a = 6\n')
    await client.call('close_tab', { tab_name: '✻ [Claude Code] a.js (1) ⧉' })
    assert.equal((await answer)[0], 'DIFF_REJECTED')
    await noDiff()
  })

  it('sees the selection, open files, unsaved changes and problems @floor', async () => {
    const [root] = vscode.workspace.workspaceFolders!
    const path = join(root!.uri.fsPath, 'terminal agent.txt')
    writeFileSync(path, 'one\ntwo\nthree\n')
    const uri = vscode.Uri.file(path)
    const problems = vscode.languages.createDiagnosticCollection('terminal')
    const range = new vscode.Range(1, 0, 1, 3)
    try {
      problems.set(uri, [new vscode.Diagnostic(range, 'two is wrong', vscode.DiagnosticSeverity.Warning)])
      await vscode.window.showTextDocument(uri, { selection: range })
      await waitFor('the selection', () => client.notifications.at(-1)?.params?.text === 'two')
      const selected = await client.read('getCurrentSelection')
      assert.deepEqual([selected.filePath, selected.text], [path, 'two'])
      const { tabs } = await client.read('getOpenEditors')
      assert.deepEqual(
        tabs.map(({ fileName, isActive, languageId }: Record<string, unknown>) => [
          fileName,
          isActive,
          languageId,
        ]),
        [[path, true, 'plaintext']],
      )
      const [found] = await client.read('getDiagnostics', { uri: `file://${path}` })
      assert.deepEqual(
        [found.diagnostics[0].message, found.diagnostics[0].severity, found.diagnostics[0].range.start],
        ['two is wrong', 'Warning', { line: 1, character: 0 }],
      )
      assert.equal((await client.read('checkDocumentDirty', { filePath: path })).isDirty, false)
    } finally {
      problems.dispose()
      await vscode.commands.executeCommand('workbench.action.closeAllEditors')
      await vscode.workspace.fs.delete(uri)
    }
  })

  it('finds the editor by the environment of new terminals, while it is on', async () => {
    const valueIn = async (name: string) => {
      const file = join(folder(), `${name}.txt`)
      const command = `printf "%s" "$${name}" > "${file}.tmp" && mv "${file}.tmp" "${file}"`
      const terminal = vscode.window.createTerminal({ shellPath: '/bin/sh', shellArgs: ['-c', command] })
      try {
        return await waitFor(name, () => existsSync(file) && { value: readFileSync(file, 'utf8') })
      } finally {
        terminal.dispose()
      }
    }
    assert.deepEqual(await valueIn('CLAUDE_CODE_SSE_PORT'), { value: String(claudeLocks(LOCKS)[0]!.port) })
    assert.deepEqual(await valueIn('ENABLE_IDE_INTEGRATION'), { value: 'true' })
    assert.deepEqual(await valueIn('GEMINI_CLI_IDE_SERVER_PORT'), { value: '' })
  })
})

describe('Gemini CLI in a terminal of VS Code', () => {
  const folder = useTemporaryFolder()
  before(() => turn('gemini', true))
  after(() => turn('gemini', false))

  it('shows a change in a diff, and is told what the user makes of it', async () => {
    const [name = ''] = filesIn(GEMINI)
    const { port, authToken } = JSON.parse(readFileSync(join(GEMINI, name), 'utf8'))
    const client = new Client({ name: 'gemini', version: '1.0.0' })
    const told: Array<{ method: string; params: unknown }> = []
    client.fallbackNotificationHandler = async ({ method, params }) => void told.push({ method, params })
    const requestInit = { headers: { Authorization: `Bearer ${authToken}` } }
    await client.connect(
      new StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${port}/mcp`), { requestInit }),
    )
    try {
      await waitFor('the context', () => told.some(({ method }) => method === 'ide/contextUpdate'))
      const filePath = join(folder(), 'a.js')
      const open = () =>
        client.callTool({ name: 'openDiff', arguments: { filePath, newContent: 'let a = 1\n' } })
      await open()
      const diff = await shownDiff()
      await edit(diff, 'let a = 2\n')
      await vscode.commands.executeCommand('parley.acceptDiff', diff.input.modified)
      const answer = (method: string) =>
        waitFor(method, () => told.find(one => one.method === method)?.params)
      assert.deepEqual(await answer('ide/diffAccepted'), { filePath, content: 'let a = 2\n' })
      await noDiff()
      await open()
      await vscode.window.tabGroups.close((await shownDiff()).tab)
      assert.deepEqual(await answer('ide/diffRejected'), { filePath })
    } finally {
      await client.close()
    }
  })
})
