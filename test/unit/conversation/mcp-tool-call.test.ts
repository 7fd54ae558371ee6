import assert from 'node:assert/strict'
import { EDITOR_TOOL_NAMES } from '../../../src/common/editor-tool-names.ts'
import {
  editorToolCall,
  mcpToolCall,
  readableTitle,
  withoutDataMarks,
} from '../../../src/conversation/mcp-tool-call.ts'
import { DataMark } from '../../../src/mcp/server/answer.ts'

describe("a call of the editor's tools, as agents report it", () => {
  it('is recognized by its title, with what it is about', () => {
    const calls: Array<[string, unknown, string | undefined]> = [
      [
        'mcp.vscode.definition',
        { server: 'vscode', arguments: { name: 'parse', file: 'a.ts' } },
        'definition parse',
      ],
      ['mcp__vscode__rename_symbol', { name: 'a', new_name: 'b' }, 'rename_symbol a → b'],
      ['diagnostics (vscode MCP Server)', undefined, 'diagnostics'],
      ['vscode_diagnostics', { files: ['a.ts', 'b.ts'] }, 'diagnostics a.ts, b.ts'],
      ['vscode-hover', { file: 'a.ts', line: 3, column: 1 }, 'hover a.ts:3'],
      ['mcp__vscode-editor__symbols', { query: 'x' }, 'symbols x'],
      ['vscode_ask_user (vscode MCP Server)', { question: 'Which?' }, 'ask_user Which?'],
      ['mcp__vscode__vscode_ask_user', {}, 'ask_user'],
      ['mcp__other__hover', {}, undefined],
      ['mcp__vscode__unknown', {}, undefined],
      ['hover', {}, undefined],
      ['Read vscode.hover', {}, undefined],
    ]
    for (const [title, rawInput, expected] of calls)
      assert.equal(editorToolCall({ title, rawInput }), expected, title)
    for (const name of EDITOR_TOOL_NAMES)
      assert.equal(editorToolCall({ title: `mcp__vscode__${name}`, rawInput: null }), name)
  })

  it('of any server is recognized by its name', () => {
    const called = (title: string, toolName?: string) => {
      const call = mcpToolCall({ title, toolName })
      return call && `${call.server}: ${call.tool}`
    }
    assert.equal(called('mcp__my-vault__read_secret'), 'my-vault: read_secret')
    assert.equal(called('mcp.everything.echo'), 'everything: echo')
    assert.equal(called('get-tiny-image (everything MCP Server)'), 'everything: get-tiny-image')
    assert.equal(called('', 'mcp__vscode__show_diff'), 'VS Code: show_diff')
    assert.equal(called('vscode_hover'), 'VS Code: hover')
    for (const title of ['Read mcp__a__b', 'mcp__a', 'mcp', 'vscode_unknown', `mcp__a__${'b'.repeat(400)}`])
      assert.equal(called(title), undefined)
    const files = [{ path: 'a.ts', toString: 1, valueOf: 1 }]
    assert.deepEqual(mcpToolCall({ title: 'mcp__github__push_files', rawInput: { files } }), {
      ...{ tool: 'push_files', server: 'github' },
    })
    assert.equal(readableTitle('mcp__vscode__show_diff'), 'show_diff (VS Code)')
    assert.equal(readableTitle('Read mcp__a__b'), 'Read mcp__a__b')
    assert.equal(readableTitle('echo (everything MCP Server)'), 'echo (everything MCP Server)')
  })

  it('is shown without the marks for the model', () => {
    const text = `1 place.\n${new DataMark().around(['src/a.ts:3:7: const a = 1'])}`
    assert.equal(withoutDataMarks(text), '1 place.\nsrc/a.ts:3:7: const a = 1\n')
  })
})
