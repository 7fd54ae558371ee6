import { documentsContract, type EditorUnderTest } from '../../support/contracts/documents.ts'
import { FakeEditor } from '../../support/fake-editor.ts'
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
