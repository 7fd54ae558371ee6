import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as vscode from 'vscode'
import type { MentionRow } from '../../../src/conversation/attachment.ts'
import { capture, takeDropped } from '../../../src/workbench/mentions/attachments.ts'
import { MentionSearch } from '../../../src/workbench/mentions/search.ts'
import { editorSources, rememberPicked } from '../../../src/workbench/mentions/sources.ts'
import { floor } from '../../host/vscode-versions.ts'
import { waitFor } from '../../host/wait-for.ts'
import { useTemporaryFolder } from './temporary-folder.ts'

describe('prompt context', () => {
  const temporary = useTemporaryFolder()
  let search: MentionSearch
  const kept = new Map<string, unknown>()
  const own: vscode.Disposable[] = []
  const planets = () => vscode.Uri.joinPath(vscode.workspace.workspaceFolders![0]!.uri, 'planets.js')
  const names = (rows: readonly MentionRow[]) => rows.map(({ name }) => name)
  const roots = () => ({ cwd: vscode.workspace.workspaceFolders![0]!.uri.fsPath, additionalDirectories: [] })

  beforeEach(() => {
    kept.clear()
    search = new MentionSearch({
      get: <T>(key: string) => kept.get(key) as T | undefined,
      set: (key, value) => void kept.set(key, value),
    })
    own.push(search)
  })
  afterEach(() => {
    for (const one of own.splice(0)) one.dispose()
  })

  it('finds files in every folder of the workspace', async () => {
    const rows = await search.find('planets')
    const row = rows.find(({ name }) => name === 'planets.js')
    assert.equal(row?.detail, 'planets-api/planets.js')
    assert.ok(row && 'content' in row.attaches)
    assert.deepEqual(row.attaches.content, { type: 'file', uri: planets().toString() })
    assert.ok(names(await search.find('ideas')).includes('ideas.md'))
    assert.ok(names(await search.find('app.js')).includes('app.js'))
  })

  it('suggests open editors first, the active one before the others', async () => {
    const [, web] = vscode.workspace.workspaceFolders!
    await vscode.window.showTextDocument(planets(), { preview: false })
    await vscode.window.showTextDocument(vscode.Uri.joinPath(web!.uri, 'app.js'), { preview: false })
    const open = await waitFor('both editors', async () => {
      const rows = (await search.find('')).filter(({ group }) => group === 'open')
      return rows.length === 2 ? rows : undefined
    })
    assert.deepEqual(names(open), ['app.js', 'planets.js'])
  })

  it("suggests existing files that were recently viewed and aren't open", async () => {
    const [, web] = vscode.workspace.workspaceFolders!
    const gone = vscode.Uri.joinPath(web!.uri, 'gone.txt')
    writeFileSync(gone.fsPath, 'x')
    await vscode.window.showTextDocument(gone)
    await vscode.window.showTextDocument(planets())
    const recent = async () => names((await search.find('')).filter(({ group }) => group === 'recent'))
    await waitFor('both files remembered', () => [...kept.values()].flat().length === 2)
    await vscode.commands.executeCommand('workbench.action.closeAllEditors')
    await waitFor('files that were closed', async () => (await recent()).join() === 'planets.js,gone.txt')
    rmSync(gone.fsPath)
    assert.deepEqual(await recent(), ['planets.js'])
    await vscode.window.showTextDocument(planets())
    await waitFor('nothing twice', async () => (await recent()).length === 0)
  })

  it('suggests symbols of the active file, starting with those around and after the cursor @floor', async () => {
    const range = (from: number, to: number) => new vscode.Range(from, 0, to, 0)
    own.push(
      vscode.languages.registerDocumentSymbolProvider(
        { pattern: '**/planets.js' },
        {
          provideDocumentSymbols: () =>
            [range(0, 1), range(2, 4)].map(
              (at, i) => new vscode.DocumentSymbol(`part${i}`, '', vscode.SymbolKind.Class, at, at),
            ),
        },
      ),
    )
    const editor = await vscode.window.showTextDocument(planets())
    editor.selection = new vscode.Selection(3, 0, 3, 0)
    const rows = await waitFor('symbols', async () => {
      const found = (await search.symbols('')).filter(({ name }) => name.startsWith('part'))
      return found.length === 2 ? found : undefined
    })
    assert.deepEqual(names(rows), ['part1', 'part0'])
    const take = rows[0]?.attaches
    assert.ok(take && 'content' in take)
    assert.deepEqual(take.content, {
      type: 'symbol',
      uri: planets().toString(),
      startLine: 3,
      endLine: 5,
    })
  })

  it('adds the selection, or reports that there is none', async () => {
    await assert.rejects(capture('selection'), /Select text in an editor first/)
    const editor = await vscode.window.showTextDocument(planets())
    editor.selection = new vscode.Selection(0, 0, 1, 3)
    assert.ok(names(await search.find('')).includes('Selection'))
    const [taken] = await capture('selection')
    assert.equal(taken?.label, 'planets.js:1-2')
    assert.ok(taken.content.type === 'resource')
    assert.equal(taken.content.uri, `${planets()}#L1-L2`)
    assert.equal(taken.content.text, editor.document.getText(editor.selection))
    // a last line of which nothing is selected is neither sent nor counted
    editor.selection = new vscode.Selection(0, 0, 2, 0)
    const row = (await search.find('')).find(({ name }) => name === 'Selection')
    assert.equal(row?.detail, 'planets.js · 2 lines')
  })

  it('adds the problems of one file or of all files, errors first', async () => {
    const found = vscode.languages.createDiagnosticCollection('test')
    own.push(found)
    const at = (line: number) => new vscode.Range(line, 0, line, 1)
    const mild = new vscode.Diagnostic(at(0), 'unused', vscode.DiagnosticSeverity.Warning)
    const bad = new vscode.Diagnostic(at(2), 'not a\nfunction', vscode.DiagnosticSeverity.Error)
    bad.source = 'checker'
    bad.code = 7
    found.set(planets(), [mild, bad])
    const rows = await waitFor('problems', async () => {
      const all = await search.find('')
      return names(all).includes('Problems') ? all : undefined
    })
    assert.ok(rows.some(({ name, attaches }) => name === 'Problems' && 'content' in attaches))
    const text =
      'planets-api/planets.js:3: error: not a function [checker(7)]\nplanets-api/planets.js:1: warning: unused'
    assert.equal(await editorSources.problems(planets().toString()), text)
    assert.ok((await editorSources.problems(undefined)).includes(text.split('\n')[0]!))
    assert.equal(await editorSources.problems('file:///nowhere'), '')
  })

  it('adds staged and other Git changes, if there is a repository', async function () {
    // VS Code's Git opens no repository outside of the workspace
    if (vscode.version === floor.version) this.skip()
    interface Git {
      repositories: unknown[]
      openRepository(root: vscode.Uri): Promise<unknown>
    }
    const git = await vscode.extensions.getExtension<{ getAPI(version: 1): Git }>('vscode.git')!.activate()
    const api = git.getAPI(1)
    assert.equal(api.repositories.length, 0)
    const offered = async () =>
      (await search.find('')).flatMap(({ attaches }) =>
        'content' in attaches && attaches.content.type === 'changes' ? [attaches.content.staged] : [],
      )
    assert.deepEqual(await offered(), [])
    const folder = temporary()
    const run = (...args: string[]) => execFileSync('git', args, { cwd: folder })
    run('init', '-q')
    await api.openRepository(vscode.Uri.file(folder))
    try {
      await waitFor("both kinds of Git's changes", async () => (await offered()).join() === 'false,true')
    } finally {
      await vscode.commands.executeCommand('git.close', vscode.Uri.file(folder))
    }
    await waitFor('no changes to offer', async () => (await offered()).length === 0)
  })

  it('finds symbols in the workspace, and none outside @floor', async () => {
    const symbol = (name: string, uri: vscode.Uri) =>
      new vscode.SymbolInformation(
        name,
        vscode.SymbolKind.Function,
        '',
        new vscode.Location(uri, new vscode.Range(1, 0, 3, 1)),
      )
    own.push(
      vscode.languages.registerWorkspaceSymbolProvider({
        provideWorkspaceSymbols: () => [
          symbol('orbitOf', planets()),
          symbol('orbitElsewhere', vscode.Uri.file('/usr/lib/x.js')),
        ],
      }),
    )
    // VS Code asks all languages, and the slowest can take longer than Parley waits
    const rows = await waitFor('symbols', async () => {
      const found = await search.symbols('orbit')
      return found.length > 0 && found
    })
    assert.deepEqual(names(rows), ['orbitOf'])
    const [row] = rows
    assert.equal(row?.icon, 'symbol-function')
    assert.ok('content' in row.attaches)
    assert.deepEqual(row.attaches.content, {
      type: 'symbol',
      uri: planets().toString(),
      startLine: 2,
      endLine: 4,
    })
    assert.deepEqual(await search.symbols('o'), [])
  })

  it('includes the unsaved text of a file', async () => {
    const file = join(temporary(), 'a.txt')
    writeFileSync(file, 'saved')
    assert.equal(await editorSources.readText(file), 'saved')
    const editor = await vscode.window.showTextDocument(vscode.Uri.file(file))
    await editor.edit(edit => edit.insert(new vscode.Position(0, 5), ' and not'))
    assert.equal(await editorSources.readText(file), 'saved and not')
    assert.equal(await editorSources.size(file), 13)
    writeFileSync(join(temporary(), 'b.bin'), Buffer.from([1, 0, 2]))
    assert.equal(await editorSources.readText(join(temporary(), 'b.bin')), undefined)
    assert.equal(await editorSources.size(temporary()), undefined)
  })

  it('includes what is on disk of a file whose document has not noticed it yet', async () => {
    const file = join(temporary(), 'a.txt')
    writeFileSync(file, 'before')
    const document = await vscode.workspace.openTextDocument(file)
    writeFileSync(file, 'after')
    assert.equal(document.getText(), 'before')
    assert.equal(await editorSources.readText(file), 'after')
  })

  it("doesn't read files outside of the folders unless the user picked them", async () => {
    const file = join(temporary(), 'secret.txt')
    writeFileSync(file, 'x')
    assert.equal(await editorSources.mayRead(planets().fsPath, roots()), true)
    assert.equal(await editorSources.mayRead(file, roots()), false)
    await rememberPicked([vscode.Uri.file(file)])
    assert.equal(await editorSources.mayRead(file, roots()), true)
  })

  it('adds dropped files and folders, and embeds images only if they are inside the folders', async () => {
    const picture = join(temporary(), 'shot.png')
    writeFileSync(picture, 'png')
    const [folder] = vscode.workspace.workspaceFolders!
    const taken = await takeDropped([
      planets().toString(),
      folder!.uri.toString(),
      vscode.Uri.file(picture).toString(),
    ])
    assert.deepEqual(
      taken.map(({ content }) => content.type),
      ['file', 'folder', 'file'],
    )
    await assert.rejects(
      takeDropped(['https://a.b/c', 'nonsense', 'file:///no/such/file']),
      /Only files and folders/,
    )
  })

  it("adds the selection in the terminal, and doesn't change the clipboard @floor", async () => {
    await vscode.env.clipboard.writeText('mine')
    await assert.rejects(capture('terminal'), /Select text in the terminal first/)
    assert.equal(await vscode.env.clipboard.readText(), 'mine')
  })
})
