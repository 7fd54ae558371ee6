import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { followDocuments } from '../../../src/changes/documents/follow-documents.ts'
import { OpenDocuments } from '../../../src/editor/files/open-documents.ts'
import { PathRules } from '../../../src/editor/path-rules.ts'
import type * as Files from '../../../src/workbench/editor/files.ts'
import { documentsContract, type EditorUnderTest } from '../../support/contracts/documents.ts'
import { FakeEditor } from '../../support/fake-editor.ts'
import { copied } from '../../support/page/editor/copied.ts'
import { Documents } from '../../support/page/editor/documents.ts'
import { EndOfLine, EventEmitter, Range, WorkspaceEdit } from '../../support/page/editor/values.ts'
import { loadWithFakeVsCode } from '../app/load-in-workbench.ts'
import { useTemporaryFolder } from '../editor/temporary-folder.ts'

// VS Code's own documents are tested with the same contract in `test/integration/editor/documents.test.ts`.
describe('the documents of the fake editor', () => {
  documentsContract(useTemporaryFolder(), (): EditorUnderTest => {
    const documents = new FakeEditor()
    return {
      documents,
      open: async path => documents.open(path),
      type: async (path, text) => documents.type(path, text),
      undo: async path => documents.undo(path),
      close: async path => documents.close(path),
      notice: () => documents.reload(),
    }
  })
})

describe("copies of the documents of the page lane's editor", () => {
  const folder = useTemporaryFolder()
  class TabInputText {
    readonly uri: unknown
    constructor(uri: unknown) {
      this.uri = uri
    }
  }
  const others = { TabInputTextDiff: class {}, TabInputNotebook: class {}, TabInputCustom: class {} }
  const values = { EndOfLine, Range, WorkspaceEdit, TabInputText, ...others }
  const vscode: Record<string, unknown> = { ...values, workspace: {}, window: {} }
  let files: typeof Files
  before(async () => {
    files = await loadWithFakeVsCode<typeof Files>('workbench/editor/files.ts', vscode)
  })

  function editor() {
    const documents = new Documents()
    const none = () => ({ dispose() {} })
    const tabs = new EventEmitter<{ opened: unknown[]; changed: unknown[]; closed: unknown[] }>()
    const shown: unknown[] = []
    Object.assign(vscode, {
      workspace: {
        get textDocuments() {
          return documents.all
        },
        onDidOpenTextDocument: documents.opened.event,
        onDidChangeTextDocument: documents.didChange.event,
        onDidSaveTextDocument: documents.didSave.event,
        onDidCloseTextDocument: documents.closed.event,
        ...{ onDidSaveNotebookDocument: none, onWillRenameFiles: none, onDidRenameFiles: none },
        applyEdit: (edit: WorkspaceEdit) => documents.applyEdit(edit),
      },
      window: {
        tabGroups: { all: [{ tabs: shown }], onDidChangeTabs: tabs.event, onDidChangeTabGroups: none },
      },
    })
    const port = copied({ documents: new files.VsCodeDocuments() }).documents
    const copies = new OpenDocuments(port, new PathRules())
    const at = (path: string) => documents.all.find(({ uri }) => uri.fsPath === path)!
    const showTab = (path: string, isDirty: boolean) => {
      shown.splice(0, shown.length, { isDirty, input: new TabInputText(at(path).uri) })
      tabs.fire({ opened: [], changed: [], closed: [] })
    }
    return { documents, copies, at, showTab }
  }

  documentsContract(folder, (): EditorUnderTest => {
    const { documents, copies, at } = editor()
    return {
      documents: copies,
      open: async path => void (await documents.open(path)),
      type: async (path, text) => at(path).type(text),
      undo: async path => at(path).undo(),
      close: async path => documents.close(at(path)),
      notice: path => documents.notice(path),
    }
  })

  it('follow edits in several places, and other line ends', async () => {
    const { documents, copies, at } = editor()
    const path = join(folder(), 'a.txt')
    writeFileSync(path, 'one\r\ntwo\r\nthree\r\n')
    await documents.open(path)
    const document = at(path)
    document.apply([
      { range: new Range(0, 0, 0, 3), newText: '1\n1' },
      { range: new Range(2, 0, 2, 5), newText: '' },
    ])
    assert.equal(copies.find([path])?.text(), '1\r\n1\r\ntwo\r\n\r\n')
    assert.equal(copies.find([path])?.text(), document.getText())
    document.eol = EndOfLine.LF
    document.type('1\n2\n')
    assert.equal(copies.find([path])?.lineEnd, '\n')
    assert.equal(copies.find([path])?.text(), document.getText())
  })

  it('edit nothing in a text that the copy has missed', async () => {
    const { documents, copies, at } = editor()
    const path = join(folder(), 'a.txt')
    writeFileSync(path, 'one\n')
    await documents.open(path)
    at(path).version++
    assert.equal(await copies.find([path])?.replace({ start: 0, end: 3, text: 'two' }, 'one\n'), false)
    assert.equal(at(path).getText(), 'one\n')
  })

  it('have unsaved changes as long as a tab shows them, and say when that changes', async () => {
    const { documents, copies, at, showTab } = editor()
    const path = join(folder(), 'a.txt')
    writeFileSync(path, 'one\n')
    await documents.open(path)
    const told: string[][] = []
    copies.onDidChangeUnsaved(() => told.push(copies.unsaved()))
    showTab(path, true)
    assert.equal(copies.find([path])?.isDirty(), true)
    showTab(path, false)
    at(path).type('two\n')
    at(path).type('three\n')
    assert.ok(await copies.find([path])?.save())
    assert.equal(readFileSync(path, 'utf8'), 'three\n')
    assert.deepEqual(told, [[path], [], [path], []])
  })

  it('tell the tracker when the user undoes all unsaved changes, which a tab shows until after that', async () => {
    const { documents, copies, at, showTab } = editor()
    const path = join(folder(), 'a.txt')
    writeFileSync(path, 'one\n')
    await documents.open(path)
    const told: unknown[] = []
    const edits = {
      typed: (_path: string, text: () => string, isDirty: boolean) => told.push([text(), isDirty]),
      saved: (_path: string, text: string, { likely = false } = {}) => told.push([text, { likely }]),
      savedElsewhere: () => {},
    }
    followDocuments(copies, { edits, renames: { renaming: () => {}, renamed: async () => {} } })
    at(path).type('two\n')
    showTab(path, true)
    at(path).undo()
    assert.equal(at(path).isDirty, false)
    told.length = 0
    showTab(path, false)
    assert.deepEqual(told, [
      ['one\n', { likely: true }],
      ['one\n', false],
    ])
  })
})
