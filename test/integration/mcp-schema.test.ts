import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as vscode from 'vscode'
import { waitFor } from '../host/wait-for.ts'
import { useTemporaryFolder } from './editor/temporary-folder.ts'

describe('.mcp.json', () => {
  const temporary = useTemporaryFolder()

  it('is completed and checked by its schema', async () => {
    const file = join(temporary(), '.mcp.json')
    const text = '{ "mcpServers": { "time": { "args": [1] } } }'
    writeFileSync(file, text)
    const document = await vscode.workspace.openTextDocument(file)
    await vscode.window.showTextDocument(document)
    const position = document.positionAt(text.indexOf('"args"'))
    const labels = async () => {
      const { items } = await vscode.commands.executeCommand<vscode.CompletionList>(
        'vscode.executeCompletionItemProvider',
        document.uri,
        position,
      )
      return items.map(({ label }) => (typeof label === 'string' ? label : label.label))
    }
    await waitFor('completions', async () => {
      const all = await labels()
      return ['command', 'url', 'type', 'env'].every(name => all.includes(name))
    })
    // an argument is a text
    await waitFor('the problem', () =>
      vscode.languages.getDiagnostics(document.uri).some(({ range }) => document.getText(range) === '1'),
    )
  })
})
