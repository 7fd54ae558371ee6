import assert from 'node:assert/strict'
import * as vscode from 'vscode'
import { waitFor } from '../../host/wait-for.ts'

describe('code actions', () => {
  const uri = () => vscode.Uri.joinPath(vscode.workspace.workspaceFolders![0]!.uri, 'planets.js')
  const problems = vscode.languages.createDiagnosticCollection('parley-test')
  const at = (line: number) => new vscode.Range(line, 0, line, 5)
  const ask = (range: vscode.Range, kind?: string): Thenable<vscode.CodeAction[]> =>
    vscode.commands.executeCommand('vscode.executeCodeActionProvider', uri(), range, kind)
  const offered = async (range: vscode.Range, kind?: string) =>
    (await all(range, kind)).filter(title => title.endsWith('Parley'))
  const all = async (range: vscode.Range, kind?: string) => {
    const found = await waitFor('an answer', async () => {
      try {
        return await ask(range, kind)
      } catch (error) {
        // VS Code cancels the request if an extension registers code actions, or the file changes, meanwhile
        if (error instanceof Error && error.message === 'Canceled') return undefined
        throw error
      }
    })
    return found.map(({ title }) => title)
  }

  before(async () => {
    await vscode.window.showTextDocument(uri())
    const hint = new vscode.Diagnostic(at(0), 'A hint', vscode.DiagnosticSeverity.Hint)
    const error = new vscode.Diagnostic(at(2), 'An error', vscode.DiagnosticSeverity.Error)
    problems.set(uri(), [hint, error])
    // opening the file activates Parley, and VS Code finds the problems during the tests
    await waitFor('the code actions', async () => (await offered(at(2))).length === 2)
  })
  after(async () => {
    problems.dispose()
    await vscode.commands.executeCommand('workbench.action.closeAllEditors')
  })

  it('fix and explain a problem, and explain a selection @floor', async () => {
    const both = ['Fix with Parley', 'Explain with Parley']
    assert.deepEqual(await offered(at(2)), both)
    assert.deepEqual(await offered(at(2), vscode.CodeActionKind.QuickFix.value), both)
    assert.deepEqual(await offered(at(4)), ['Explain with Parley'])
    assert.deepEqual(await offered(new vscode.Range(4, 0, 4, 0)), [])
  })

  it('follow those of the language, which fix the problem or not', async () => {
    const kind = vscode.CodeActionKind.QuickFix
    const provider = vscode.languages.registerCodeActionsProvider('javascript', {
      provideCodeActions: (_document, _range, { diagnostics }) => {
        const fix = new vscode.CodeAction('Fix of the language', kind)
        fix.diagnostics = [...diagnostics]
        return [new vscode.CodeAction('Ignore with the language', kind), fix]
      },
    })
    try {
      const titles = await waitFor('all code actions', async () => {
        const titles = await all(at(2), kind.value)
        const known = titles.filter(title => /Parley$|the language$/.test(title))
        return known.length === 4 && known
      })
      assert.deepEqual(titles.slice(-2), ['Fix with Parley', 'Explain with Parley'])
    } finally {
      provider.dispose()
    }
  })

  it("aren't refactorings, and aren't offered when disabled", async () => {
    assert.deepEqual(await offered(at(2), vscode.CodeActionKind.Refactor.value), [])
    assert.deepEqual(await offered(at(2), vscode.CodeActionKind.SourceFixAll.value), [])
    const settings = vscode.workspace.getConfiguration('parley')
    await settings.update('codeActions', false, vscode.ConfigurationTarget.Global)
    await waitFor('no code actions', async () => (await offered(at(2))).length === 0)
    await settings.update('codeActions', undefined, vscode.ConfigurationTarget.Global)
  })
})
