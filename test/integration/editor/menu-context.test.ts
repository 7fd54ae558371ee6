import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as vscode from 'vscode'
import { menuAttachments } from '../../../src/workbench/mentions/menu-context.ts'
import { useTemporaryFolder } from './temporary-folder.ts'

describe('the context of a menu command', () => {
  const temporary = useTemporaryFolder()
  const planets = () => vscode.Uri.joinPath(vscode.workspace.workspaceFolders![0]!.uri, 'planets.js')
  const labels = async (...args: unknown[]) => (await menuAttachments(args)).map(({ label }) => label)
  const text = async (...args: unknown[]) => {
    const [attachment] = await menuAttachments(args)
    assert.equal(attachment?.content.type, 'resource')
    return attachment.content.type === 'resource' ? attachment.content.text : undefined
  }

  it('is the selected files and folders in the explorer', async () => {
    const folder = vscode.Uri.file(join(temporary(), 'folder'))
    mkdirSync(folder.fsPath)
    const file = vscode.Uri.file(join(temporary(), 'file.txt'))
    writeFileSync(file.fsPath, 'x')
    const added = await menuAttachments([file, [file, folder, file]])
    assert.deepEqual(
      added.map(({ content }) => content),
      [
        { type: 'file', uri: file.toString() },
        { type: 'folder', uri: folder.toString() },
      ],
    )
    assert.deepEqual(await labels(planets(), []), ['planets.js'])
  })

  it('is the selected files, folder or group in Source Control', async () => {
    const state = { resourceUri: planets() }
    assert.deepEqual(await labels(state), ['planets.js'])
    assert.deepEqual(await labels(state, state), ['planets.js'])
    // a folder is passed as the files in it
    assert.deepEqual(await labels([state]), ['planets.js'])
    assert.deepEqual(await labels({ id: 'merge', resourceStates: [state] }), ['planets.js'])
    const [staged] = await menuAttachments([{ id: 'index', resourceStates: [state] }])
    assert.deepEqual(staged?.content, { type: 'changes', staged: true })
    const [unstaged] = await menuAttachments([{ id: 'workingTree', resourceStates: [state] }])
    assert.deepEqual(unstaged?.content, { type: 'changes', staged: false })
  })

  it('can be a line, a test or its failure, a variable, or a comment thread @floor', async () => {
    const [line] = await menuAttachments([{ uri: planets(), lineNumber: 3 }])
    assert.equal(line?.label, 'planets.js:3')
    assert.deepEqual(line?.content, { type: 'symbol', uri: planets().toString(), startLine: 3, endLine: 3 })

    const tests = vscode.tests.createTestController('parley.menu', 'Menu')
    const test = tests.createTestItem('orbits', 'knows the orbits', planets())
    test.range = new vscode.Range(1, 0, 4, 1)
    const [item] = await menuAttachments([test])
    assert.equal(item?.label, 'knows the orbits')
    assert.deepEqual(item?.content, { type: 'symbol', uri: planets().toString(), startLine: 2, endLine: 5 })
    const message = vscode.TestMessage.diff('The orbit is wrong', '8 planets', '9 planets')
    message.location = new vscode.Location(planets(), new vscode.Position(2, 0))
    assert.equal(
      await text({ test, message }),
      'knows the orbits (planets-api/planets.js:3)\n\nThe orbit is wrong\n\nExpected:\n8 planets\n\nActual:\n9 planets',
    )
    tests.dispose()

    const variable = {
      container: {},
      sessionId: 'x',
      variable: { name: 'moons', value: '[2]', type: 'Array' },
    }
    assert.equal(await text(variable), 'moons: Array = [2]')

    const comments = vscode.comments.createCommentController('parley.menu', 'Menu')
    const thread = comments.createCommentThread(planets(), new vscode.Range(6, 0, 6, 0), [
      { body: new vscode.MarkdownString('Is **Pluto** in?'), mode: 0, author: { name: 'Ada' } },
      { body: 'No.', mode: 0, author: { name: 'Grace' } },
    ])
    assert.equal(await text(thread), 'planets-api/planets.js:7\n\nAda: Is **Pluto** in?\n\nGrace: No.')
    comments.dispose()
  })

  it("is empty if there is nothing to add, or if it isn't on disk", async () => {
    assert.deepEqual(await menuAttachments([]), [])
    assert.deepEqual(await menuAttachments(['a word', { some: 'thing' }]), [])
    assert.deepEqual(await menuAttachments([vscode.Uri.parse('untitled:Untitled-1')]), [])
    assert.deepEqual(await menuAttachments([vscode.Uri.file(join(temporary(), 'missing.txt'))]), [])
  })
})
