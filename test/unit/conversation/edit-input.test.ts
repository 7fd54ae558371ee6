import assert from 'node:assert/strict'
import { replacedParts, writtenText } from '../../../src/conversation/entries/edit-input.ts'
import { toolCallOf } from '../../../src/conversation/entries/tool-call.ts'
import { reduce } from '../../../src/conversation/reducer/reduce.ts'
import { createSessionState } from '../../../src/conversation/reducer/reducing-state.ts'
import { tool } from './updates.ts'

const edit = (rawInput: unknown, of: object = {}) => ({ title: '', toolKind: 'edit', rawInput, ...of })
const PART = { operation: 'modify', path: 'a.ts', oldText: 'x', newText: 'y' }

describe('the input of a tool call that edits a file', () => {
  it('is read as the parts that are replaced, in the forms that agents use', () => {
    for (const rawInput of [
      { path: 'a.ts', before: 'x', after: 'y' },
      { file_path: 'a.ts', old_string: 'x', new_string: 'y', replace_all: false },
      { variant: 'SearchReplace', file_path: 'a.ts', old_string: 'x', new_string: 'y', replace_all: true },
      { file_path: 'a.ts', old_string: 'x', new_string: 'y', instruction: 'Do it', expected_replacements: 1 },
      { filePath: 'a.ts', oldString: 'x', newString: 'y', replaceAll: false },
      { command: 'str_replace', path: 'a.ts', old_str: 'x', new_str: 'y' },
      { command: 'strReplace', path: 'a.ts', oldStr: 'x', newStr: 'y', __tool_use_purpose: 'Fix' },
      { path: 'a.ts', oldText: 'x', newText: 'y' },
      { file_path: 'a.ts', edits: [{ old_string: 'x', new_string: 'y', replace_all: false }] },
    ])
      assert.deepEqual(replacedParts(edit(rawInput)), [PART], JSON.stringify(rawInput))
  })

  it('is read as the text that is written', () => {
    for (const rawInput of [
      { variant: 'Write', file_path: 'a.ts', content: 'y' },
      { filePath: 'a.ts', content: 'y' },
      { command: 'create', path: 'a.ts', file_text: 'y' },
      { file_path: 'a.ts', old_string: '', new_string: 'y' },
      { path: 'a.ts', before: null, after: 'y' },
    ]) {
      assert.deepEqual(writtenText(edit(rawInput)), { path: 'a.ts', text: 'y' }, JSON.stringify(rawInput))
      assert.deepEqual(replacedParts(edit(rawInput)), [])
    }
  })

  it("isn't read where a diff could hide something", () => {
    for (const rawInput of [
      undefined,
      'a.ts',
      [],
      { before: 'x', after: 'y' },
      { path: '', before: 'x', after: 'y' },
      { path: ['a.ts'], before: 'x', after: 'y' },
      { path: 'a.ts', file_path: 'b.ts', before: 'x', after: 'y' },
      { path: 'a.ts', filePath: 'a.ts', file_path: 'b.ts', content: 'y' },
      { path: 'https://example.com/a.ts', content: 'y' },
      { path: 'a.ts', before: 'x' },
      { path: 'a.ts', before: 'x', after: 'x' },
      { path: 'a.ts', before: 'x', new_string: 'y' },
      { path: 'a.ts', before: 'x', after: 'y', content: 'z' },
      { path: 'a.ts', content: 'y', mode: 'append' },
      { path: 'a.ts', content: 'y', insert_line: 3 },
      { path: 'a.ts', content: 'y', owner: 'o', repo: 'r', branch: 'main' },
      { path: 'a.ts', content: '<<<<<<< SEARCH\nx\n=======\ny\n>>>>>>> REPLACE' },
      { path: 'a.ts', content: 'y'.repeat(1_000_001) },
      { path: 'a.ts', edits: [{ old_string: 'x', new_string: 'y' }, { old_string: 'z' }] },
      { path: 'a.ts', edits: [] },
    ]) {
      const tool = edit(rawInput)
      const read = [replacedParts(tool), writtenText(tool)]
      assert.deepEqual(read, [[], undefined], JSON.stringify(rawInput)?.slice(0, 100))
    }
  })

  it('is read only if the kind or the name says that it edits', () => {
    const rawInput = { path: 'a.ts', before: 'x', after: 'y' }
    const reads = (of: object) => replacedParts(edit(rawInput, of)).length
    const other = { toolKind: 'other' }
    assert.deepEqual(
      [
        ...[{ toolName: 'edit_file' }, { toolName: 'WriteFile' }, { title: 'Edit a.ts' }],
        ...[{ toolName: 'compare' }, { title: 'Edition' }, {}],
      ].map(of => reads({ ...other, ...of })),
      [1, 1, 1, 0, 0, 0],
    )
    assert.equal(reads({ toolKind: 'execute', title: 'Edit a.ts' }), 0)
  })

  it('is shown as a diff, also if the kind is told later, unless the agent reports one', () => {
    const asked = (content: object[] | undefined) =>
      toolCallOf(createSessionState(), {
        sessionId: 's',
        title: 'x',
        options: [],
        subject: {
          type: 'tool_call',
          toolCall: {
            ...{ toolCallId: 't', kind: 'edit', rawInput: { path: 'a.ts', before: 'x', after: 'y' } },
            ...(content && { content: content as [] }),
          },
        },
      })?.content
    assert.deepEqual(asked(undefined), [{ type: 'diff', changes: [PART] }])
    const own = { type: 'diff', changes: [{ operation: 'delete', path: 'x' }] }
    assert.deepEqual(asked([own]), [own])
    const state = createSessionState()
    reduce(state, tool('t', { rawInput: { path: 'a.ts', before: 'x', after: 'y' } }))
    const call = state.entries[0]
    assert.ok(call?.kind === 'tool_call')
    assert.deepEqual(call.content, [])
    reduce(state, tool('t', { kind: 'edit' }))
    assert.deepEqual(call.content, [{ type: 'diff', changes: [PART] }])
  })
})
