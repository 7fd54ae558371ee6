import assert from 'node:assert/strict'
import fc from 'fast-check'
import { patchedFiles } from '../../../src/conversation/entries/patch-input.ts'
import { toolCallOf } from '../../../src/conversation/entries/tool-call.ts'
import { createSessionState } from '../../../src/conversation/reducer/reducing-state.ts'

const PATCH = `*** Begin Patch
*** Add File: src/new.ts
+one
+two
*** Update File: src/a.ts
*** Move to: src/b.ts
@@ function x
 context
-old
+new
@@
-gone
*** Delete File: src/c.ts
*** End Patch`

const FILES = [
  { operation: 'add', path: 'src/new.ts', newText: 'one\ntwo' },
  { operation: 'move', path: 'src/b.ts', oldPath: 'src/a.ts' },
  { operation: 'modify', path: 'src/b.ts', oldText: 'context\nold', newText: 'context\nnew' },
  { operation: 'modify', path: 'src/b.ts', oldText: 'gone', newText: '' },
  { operation: 'delete', path: 'src/c.ts' },
]

describe('a patch in the input of a tool call', () => {
  it('is read as files', () => {
    for (const rawInput of [
      PATCH,
      { input: PATCH },
      { patchText: `apply_patch <<'EOF'\n${PATCH}\nEOF` },
      { patch: PATCH.replaceAll('\n', '\r\n') },
    ])
      assert.deepEqual(patchedFiles(rawInput), FILES)
    for (const other of [
      undefined,
      null,
      7,
      {},
      { input: 'x' },
      { input: PATCH.slice(0, -20) },
      { command: PATCH },
      '*** Begin Patch\nx\n*** End Patch',
    ])
      assert.deepEqual(patchedFiles(other), [])
  })

  it('is shown as a diff, unless the agent reports one', () => {
    const asked = (content: object[]) =>
      toolCallOf(createSessionState(), {
        sessionId: 's',
        title: 'x',
        options: [],
        subject: {
          type: 'tool_call',
          toolCall: { toolCallId: 't', rawInput: { input: PATCH }, content: content as [] },
        },
      })?.content
    assert.deepEqual(asked([]), [{ type: 'diff', changes: FILES }])
    const own = { type: 'diff', changes: [{ operation: 'delete', path: 'x' }] }
    assert.deepEqual(asked([own]), [own])
    const text = { type: 'content', content: { type: 'text', text: 'x' } }
    assert.deepEqual(asked([text]), [text, { type: 'diff', changes: FILES }])
  })

  it('keeps all lines of its parts', () => {
    const line = fc.tuple(
      fc.constantFrom(' ', '+', '-'),
      fc.string({ maxLength: 8 }).filter(text => !/[\r\n]/.test(text)),
    )
    fc.assert(
      fc.property(fc.array(line, { minLength: 1, maxLength: 12 }), lines => {
        const text = [
          '*** Begin Patch',
          '*** Update File: a',
          '@@',
          ...lines.map(([sign, rest]) => sign + rest),
          '*** End Patch',
        ]
        const without = (sign: string) =>
          lines
            .filter(one => one[0] !== sign)
            .map(one => one[1])
            .join('\n')
        const [file] = patchedFiles({ input: text.join('\n') })
        if (!file) return assert.equal(without('+'), without('-'))
        assert.deepEqual([file.oldText, file.newText], [without('+'), without('-')])
      }),
    )
  })
})
