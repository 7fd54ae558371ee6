import { describeEditorFeatures } from '../../../support/contracts/editor-features.ts'
import { FakeEditorFeatures } from '../../../support/fake-editor-features.ts'
import { toolWorkspace } from '../../../support/tool-workspace.ts'

describe('the editor features of tests', () => {
  let remove = () => {}
  describeEditorFeatures(async () => {
    const workspace = toolWorkspace()
    remove = workspace.remove
    return { features: new FakeEditorFeatures(workspace.folder), folder: workspace.folder }
  })
  afterEach(() => remove())
})
