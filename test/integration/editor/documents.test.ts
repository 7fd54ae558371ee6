import assert from 'node:assert/strict'
import { readFileSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as vscode from 'vscode'
import { disk } from '../../../src/editor/files/file-system.ts'
import { filesShared, SessionFiles } from '../../../src/editor/files/files.ts'
import { OpenDocuments } from '../../../src/editor/files/open-documents.ts'
import { PathRules } from '../../../src/editor/path-rules.ts'
import { VsCodeDocuments, vscodeEncodings } from '../../../src/workbench/editor/files.ts'
import { waitFor } from '../../host/wait-for.ts'
import { documentsContract } from '../../support/contracts/documents.ts'
import { useTemporaryFolder } from './temporary-folder.ts'

describe('files that are open in the editor', () => {
  const folder = useTemporaryFolder()
  const file = () => join(folder(), 'a.txt')
  const onDisk = () => readFileSync(file(), 'utf8')
  const shared = filesShared({
    documents: new OpenDocuments(new VsCodeDocuments(), new PathRules()),
    fileSystem: disk,
    encodings: vscodeEncodings,
  })
  const session = (cwd = folder()) =>
    new SessionFiles(shared, {
      roots: { cwd, additionalDirectories: [] },
      askAccess: async () => 'refuse',
      askMerge: async () => 'theirs',
    })
  const read = (path = file()) => session().readTextFile({ path })
  const write = (content: string, path = file()) => session().writeTextFile({ path, content })
  const open = async (content: string | Uint8Array, path = file()) => {
    writeFileSync(path, content)
    const editor = await vscode.window.showTextDocument(vscode.Uri.file(path))
    return editor
  }
  const type = async (editor: vscode.TextEditor, text: string) => {
    const { document } = editor
    const all = new vscode.Range(document.positionAt(0), document.positionAt(document.getText().length))
    assert.equal(await editor.edit(edit => edit.replace(all, text)), true)
  }

  it('are read with unsaved changes', async () => {
    const editor = await open('one\ntwo\n')
    await type(editor, 'one\nTWO\n')
    assert.equal(editor.document.isDirty, true)
    assert.equal(await read(), 'one\nTWO\n')
    assert.equal(onDisk(), 'one\ntwo\n')
  })

  it('are written, saved, and restored with Undo @floor', async () => {
    const { document } = await open('one\ntwo\nthree\n')
    await write('one\n2\nthree\n')
    assert.equal(document.getText(), 'one\n2\nthree\n')
    assert.equal(document.isDirty, false)
    assert.equal(onDisk(), 'one\n2\nthree\n')
    await vscode.commands.executeCommand('undo')
    assert.equal(document.getText(), 'one\ntwo\nthree\n')
  })

  it('keep the cursor position', async () => {
    const editor = await open('one\ntwo\nthree\nfour\n')
    editor.selection = new vscode.Selection(3, 2, 3, 2)
    await write('one\n2\nadded\nthree\nfour\n')
    await waitFor('the cursor', () => editor.selection.active.isEqual(new vscode.Position(4, 2)))
  })

  it('keep unsaved changes as an undo step', async () => {
    const editor = await open('one\n')
    await type(editor, 'mine\n')
    await write('of the agent\n')
    assert.equal(onDisk(), 'of the agent\n')
    assert.equal(editor.document.isDirty, false)
    await vscode.commands.executeCommand('undo')
    assert.equal(editor.document.getText(), 'mine\n')
    await vscode.commands.executeCommand('undo')
    assert.equal(editor.document.getText(), 'one\n')
  })

  it("get the agent's lines next to unsaved ones", async () => {
    const editor = await open('one\ntwo\nthree\n')
    await type(editor, 'one\ntwo\nthree\nmine\n')
    await write('ONE\ntwo\nthree\n')
    assert.equal(editor.document.getText(), 'ONE\ntwo\nthree\nmine\n')
    assert.equal(onDisk(), 'ONE\ntwo\nthree\nmine\n')
    assert.equal(editor.document.isDirty, false)
    await vscode.commands.executeCommand('undo')
    assert.equal(editor.document.getText(), 'one\ntwo\nthree\nmine\n')
  })

  it("stay as they are if the agent writes what's on disk", async () => {
    const editor = await open('one\n')
    await type(editor, 'mine\n')
    await write('one\n')
    assert.equal(editor.document.getText(), 'mine\n')
    assert.equal(editor.document.isDirty, true)
    assert.equal(onDisk(), 'one\n')
  })

  it('keep their line endings and byte order mark', async () => {
    const { document } = await open('\ufeffone\r\ntwo\r\n')
    assert.equal(document.eol, vscode.EndOfLine.CRLF)
    assert.equal(await read(), 'one\r\ntwo\r\n')
    await write('one\n2\nthree\n')
    assert.equal(onDisk(), '\ufeffone\r\n2\r\nthree\r\n')
    assert.equal(document.isDirty, false)
  })

  it('are found through a symbolic link', async () => {
    const editor = await open('one\n')
    await type(editor, 'unsaved\n')
    const door = join(folder(), 'door')
    symlinkSync(folder(), door, 'junction')
    assert.equal(await read(join(door, 'a.txt')), 'unsaved\n')
  })

  it('show what is written even if the file on disk was newer', async () => {
    const { document } = await open('one\n')
    writeFileSync(file(), 'ahead\n')
    await write('of the agent\n')
    assert.equal(onDisk(), 'of the agent\n')
    await waitFor('the text in the editor', () => {
      // touch the file again, since the editor may only now start to watch it
      utimesSync(file(), new Date(), new Date())
      return document.getText() === 'of the agent\n'
    })
    assert.equal(document.isDirty, false)
    await vscode.commands.executeCommand('undo')
    assert.notEqual(document.getText(), 'of the agent\n')
  })

  it('keep both unsaved changes and newer content on disk @floor', async () => {
    const editor = await open('one\n')
    await type(editor, 'mine\n')
    writeFileSync(file(), 'newer on disk\n')
    await write('of the agent\n')
    assert.equal(onDisk(), 'of the agent\n')
    assert.equal(editor.document.getText(), 'of the agent\n')
    await waitFor('the document to be saved', () => !editor.document.isDirty)
    const seen: string[] = []
    for (let steps = 0; steps < 5 && editor.document.getText() !== 'one\n'; steps += 1) {
      await vscode.commands.executeCommand('undo')
      seen.push(editor.document.getText())
    }
    assert.ok(seen.includes('mine\n'), seen.join())
    assert.ok(seen.includes('newer on disk\n'), seen.join())
  })

  it('have unsaved changes if the user types while they are saved', async () => {
    const { document } = await open('one\n'.repeat(100_000))
    const documents = new OpenDocuments(new VsCodeDocuments(), new PathRules())
    const found = documents.find([file()])
    assert.ok(found)
    // the text has to reach the editor while it writes the file, which takes it some time
    for (let delay = 0; delay < 60; delay += 5) {
      await vscode.commands.executeCommand('type', { text: 'saved ' })
      const saved = document.save()
      await new Promise(resolve => setTimeout(resolve, delay))
      await vscode.commands.executeCommand('type', { text: 'typed ' })
      await saved
      assert.equal(found.isDirty(), onDisk() !== document.getText(), `typed after ${delay} ms`)
    }
  })

  it('are recreated if they were deleted @floor', async () => {
    const { document } = await open('one\n')
    rmSync(file())
    await write('again\n')
    assert.equal(onDisk(), 'again\n')
    assert.equal(document.getText(), 'again\n')
    assert.equal(document.isDirty, false)
    await vscode.commands.executeCommand('undo')
    assert.equal(document.getText(), 'one\n')
  })

  it('can be written by two sessions, one after the other', async () => {
    const { document } = await open('zero\n')
    const [one, two] = [session(), session()]
    await Promise.all(
      Array.from({ length: 10 }, (_, index) =>
        (index % 2 ? one : two).writeTextFile({ path: file(), content: `text ${index}\n` }),
      ),
    )
    assert.match(document.getText(), /^text [89]\n$/)
    assert.equal(onDisk(), document.getText())
    assert.equal(document.isDirty, false)
  })

  it("aren't affected by a write to a file that isn't open", async () => {
    const { document } = await open('one\n')
    await write('new\n', join(folder(), 'deep/er/b.txt'))
    assert.equal(readFileSync(join(folder(), 'deep/er/b.txt'), 'utf8'), 'new\n')
    assert.equal(document.getText(), 'one\n')
    assert.equal(vscode.window.visibleTextEditors.length, 1)
  })

  describe('with another configured encoding', () => {
    const set = (encoding: string | undefined) =>
      vscode.workspace
        .getConfiguration('files')
        .update('encoding', encoding, vscode.ConfigurationTarget.Global)
    before(() => set('windows1252'))
    after(() => set(undefined))
    const euro = Buffer.from([0x80, 0x35, 0x0d, 0x0a])

    it('are read and written in it, even if they are closed @floor', async () => {
      writeFileSync(file(), euro)
      assert.equal(await read(), '€5\r\n')
      await write('€6 é\n')
      assert.deepEqual(readFileSync(file()), Buffer.from([0x80, 0x36, 0x20, 0xe9, 0x0d, 0x0a]))
      const { document } = await open(euro)
      assert.equal(document.getText(), '€5\r\n')
      await write('€7\n')
      assert.deepEqual(readFileSync(file()), Buffer.from([0x80, 0x37, 0x0d, 0x0a]))
      assert.equal(document.isDirty, false)
    })

    it("aren't corrupted by a character that the encoding lacks", async () => {
      writeFileSync(file(), euro)
      await assert.rejects(write('漢\n'), { reason: 'encoding' })
      assert.deepEqual(readFileSync(file()), euro)
    })
  })
})

describe("the editor's documents", () => {
  const replaceAll = async (document: vscode.TextDocument, text: string) => {
    const edit = new vscode.WorkspaceEdit()
    const all = new vscode.Range(document.positionAt(0), document.positionAt(document.getText().length))
    edit.replace(document.uri, all, text)
    assert.ok(await vscode.workspace.applyEdit(edit))
  }
  const documentOf = (path: string) => {
    const found = vscode.workspace.textDocuments.find(({ uri, isClosed }) => uri.fsPath === path && !isClosed)
    assert.ok(found)
    return found
  }

  documentsContract(useTemporaryFolder(), () => ({
    documents: new OpenDocuments(new VsCodeDocuments(), new PathRules()),
    // not with `openTextDocument`, which keeps a document open for minutes after its editor was closed
    open: async path => {
      await vscode.commands.executeCommand('vscode.open', vscode.Uri.file(path))
      await waitFor('the editor', () => vscode.window.activeTextEditor?.document.uri.fsPath === path)
    },
    type: (path, text) => replaceAll(documentOf(path), text),
    undo: async () => {
      await vscode.commands.executeCommand('undo')
    },
    close: async () => {
      await vscode.commands.executeCommand('workbench.action.closeActiveEditor')
    },
    // touch the file again, since the editor may only now start to watch it
    notice: path => utimesSync(path, new Date(), new Date()),
  }))
})
