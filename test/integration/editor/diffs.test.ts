import assert from 'node:assert/strict'
import { join } from 'node:path'
import * as vscode from 'vscode'
import { Diffs } from '../../../src/workbench/editor/diffs.ts'
import { waitFor } from '../../host/wait-for.ts'
import { useTemporaryFolder } from './temporary-folder.ts'

describe("the diff of an agent's edit", () => {
  const folder = useTemporaryFolder()
  // a separate scheme, because the extension's provider is registered in this window too
  const scheme = 'parley-diff-test'
  let diffs: Diffs
  beforeEach(() => {
    diffs = new Diffs(scheme)
  })
  afterEach(() => diffs.dispose())
  const tabs = () =>
    vscode.window.tabGroups.all
      .flatMap(group => group.tabs)
      .filter(({ input }) => input instanceof vscode.TabInputTextDiff && input.modified.scheme === scheme)

  it('opens with both texts, a title and the language @floor', async () => {
    await diffs.open(join(folder(), 'planets.js'), { oldText: 'let a = 1\n', newText: 'let a = 2\n' })
    const [tab] = await waitFor('the tab', () => (tabs().length === 1 ? tabs() : undefined))
    assert.equal(tab?.label, "planets.js (Agent's edit)")
    const input = tab?.input as vscode.TabInputTextDiff
    const text = async (uri: vscode.Uri) => (await vscode.workspace.openTextDocument(uri)).getText()
    assert.equal(await text(input.original), 'let a = 1\n')
    assert.equal(await text(input.modified), 'let a = 2\n')
    const document = await vscode.workspace.openTextDocument(input.modified)
    assert.equal(document.languageId, 'javascript')
  })

  it('keeps its texts while a tab shows them', async () => {
    await diffs.open(join(folder(), 'a.txt'), { oldText: 'a', newText: 'b' })
    await waitFor('the tab', () => tabs().length === 1)
    await vscode.commands.executeCommand('workbench.action.keepEditor')
    await diffs.open(join(folder(), 'a.txt'), { oldText: 'c', newText: 'd' })
    await waitFor('both tabs', () => tabs().length === 2)
    assert.equal(diffs.held, 2)
    await vscode.window.tabGroups.close(tabs()[0]!)
    await waitFor('the first to be released', () => diffs.held === 1)
    await vscode.window.tabGroups.close(tabs())
    await waitFor('all to be released', () => diffs.held === 0)
  })

  it('closes tabs whose texts were lost when an earlier window closed @floor', async () => {
    await diffs.open(join(folder(), 'a.txt'), { oldText: 'a', newText: 'b' })
    await waitFor('the tab', () => tabs().length === 1)
    diffs.dispose()
    diffs = new Diffs(scheme)
    await waitFor('the tab to be closed', () => tabs().length === 0)
  })
})
