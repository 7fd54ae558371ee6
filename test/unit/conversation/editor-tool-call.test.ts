import assert from 'node:assert/strict'
import { EDITOR_TOOL_NAMES } from '../../../src/common/editor-tool-names.ts'
import { editorToolCall, withoutDataMarks } from '../../../src/conversation/editor-tool-call.ts'
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

  it('is shown without the marks for the model', () => {
    const text = `1 place.\n${new DataMark().around(['src/a.ts:3:7: const a = 1'])}`
    assert.equal(withoutDataMarks(text), '1 place.\nsrc/a.ts:3:7: const a = 1\n')
  })
})
