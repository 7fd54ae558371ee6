import type { OpenDocument } from '../../../src/editor/files/documents.ts'
import { documentsContract, type EditorUnderTest } from '../../support/contracts/documents.ts'
import { FakeEditor } from '../../support/fake-editor.ts'
import { Documents, type TextDocument } from '../../support/page/editor/documents.ts'
import { EndOfLine, Range, TextEdit } from '../../support/page/editor/values.ts'
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

describe("the documents of the page lane's editor", () => {
  documentsContract(useTemporaryFolder(), (): EditorUnderTest => {
    const documents = new Documents()
    const at = (path: string) => documents.all.find(({ uri }) => uri.fsPath === path)
    return {
      documents: {
        find(paths) {
          const document = documents.all.find(({ uri }) => paths.includes(uri.fsPath))
          return document && asOpenDocument(document)
        },
        isUnsavedElsewhere: () => false,
        unsaved: () => [],
      },
      open: async path => void (await documents.open(path)),
      type: async (path, text) => at(path)?.type(text),
      undo: async path => at(path)?.undo(),
      close: async path => {
        const document = at(path)
        if (document) documents.close(document)
      },
      notice: path => documents.notice(path),
    }
  })
})

/** As the extension does it with VS Code's. */
function asOpenDocument(document: TextDocument): OpenDocument {
  return {
    text: () => document.getText(),
    isDirty: () => document.isDirty,
    isClosed: () => document.isClosed,
    encoding: document.encoding,
    lineEnd: document.eol === EndOfLine.CRLF ? '\r\n' : '\n',
    async replace({ start, end, text }, expected) {
      if (document.isClosed || document.getText() !== expected) return false
      const range = new Range(document.positionAt(start), document.positionAt(end))
      document.apply([new TextEdit(range, text)])
      return true
    },
    save: async () => !document.isClosed && document.save(),
  }
}
