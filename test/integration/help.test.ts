import * as vscode from 'vscode'
import { waitFor } from '../host/wait-for.ts'

describe('Parley: Help', () => {
  it('opens the first page of the help as a preview', async () => {
    await vscode.commands.executeCommand('parley.showHelp')
    const tab = await waitFor('the preview', () =>
      vscode.window.tabGroups.all
        .flatMap(({ tabs }) => tabs)
        .find(
          ({ input, label }) =>
            input instanceof vscode.TabInputWebview &&
            input.viewType.endsWith('markdown.preview') &&
            label === 'Preview help.md',
        ),
    )
    await vscode.window.tabGroups.close(tab)
  })
})
