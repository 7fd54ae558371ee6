import assert from 'node:assert/strict'
import type * as Chat from '../../../src/workbench/tools/chat-provider.ts'
import type * as Features from '../../../src/workbench/tools/editor-features.ts'
import { loadWithFakeVsCode } from './load-in-workbench.ts'

const nothing = () => ({ dispose() {} })

/** What editors that are based on VS Code have, whatever they left out. */
const common = {
  EventEmitter: class {
    event = nothing
    dispose() {}
  },
  Disposable: {
    from: (...parts: Array<{ dispose(): void }>) => ({
      dispose: () => {
        for (const part of parts) part.dispose()
      },
    }),
  },
  DiagnosticSeverity: {},
  workspace: { onDidGrantWorkspaceTrust: nothing, onDidChangeConfiguration: nothing },
  debug: new Proxy({}, { get: () => nothing }),
  window: new Proxy({}, { get: () => nothing }),
}

describe("an editor that is based on VS Code, without VS Code's chat", () => {
  for (const [lacks, editor] of [
    ['all that extensions can do with language models', common],
    ['tools and MCP servers of extensions', { ...common, lm: {} }],
  ] as const) {
    it(`that lacks ${lacks}: Parley starts, and gives it no tools`, async () => {
      const chat = await loadWithFakeVsCode<typeof Chat>('workbench/tools/chat-provider.ts', editor)
      chat.registerChatTools('1.0.0', () => assert.fail('nobody can ask for the tools')).dispose()
    })

    it(`that lacks ${lacks}: tests run as the workspace's task`, async () => {
      const features = await loadWithFakeVsCode<typeof Features>('workbench/tools/editor-features.ts', editor)
      assert.equal(await features.createEditorFeatures({} as never).hasTestTool('runTests'), false)
    })
  }

  it('and one with it gets the tools', async () => {
    const registered: string[] = []
    const lm = { registerMcpServerDefinitionProvider: (id: string) => registered.push(id) && nothing() }
    const chat = await loadWithFakeVsCode<typeof Chat>('workbench/tools/chat-provider.ts', { ...common, lm })
    chat.registerChatTools('1.0.0', () => assert.fail('nobody asks yet')).dispose()
    assert.deepEqual(registered, ['parley.editorTools'])
  })
})
