import assert from 'node:assert/strict'
import fc from 'fast-check'
import { DocumentCopy, type DocumentEdit } from '../../../../src/editor/files/open-documents.ts'

describe('a copy of a document', () => {
  const state = { version: 1, isDirty: true, lineEnd: '\n', encoding: 'utf8' } as const
  const editor = { follow: () => ({ dispose() {} }), edit: async () => false, save: async () => false }
  const copyOf = (text: string) =>
    new DocumentCopy({ type: 'opened', id: 1, path: '/a.txt', text, ...state }, '/a.txt', editor)
  const change = (copy: DocumentCopy, ...edits: DocumentEdit[]) =>
    copy.changed({ type: 'changed', id: 1, edits, ...state })

  it('gets each edit after the edit before', () => {
    const edit = fc.tuple(fc.nat(), fc.nat(4), fc.string({ maxLength: 3 }))
    fc.assert(
      fc.property(fc.string(), fc.array(fc.array(edit, { maxLength: 20 })), (text, events) => {
        const copy = copyOf(text)
        let expected = text
        for (const [index, event] of events.entries()) {
          const edits = event.map(([place, length, added]) => {
            const start = place % (expected.length + 1)
            const end = Math.min(start + length, expected.length)
            expected = expected.slice(0, start) + added + expected.slice(end)
            return { start, end, text: added }
          })
          change(copy, ...edits)
          if (index % 3 === 0) assert.equal(copy.text(), expected)
        }
        assert.equal(copy.text(), expected)
      }),
    )
  })

  it("isn't copied for each of thousands of edits", () => {
    const keys = copyOf('one\n'.repeat(5_000_000))
    for (let at = 0; at < 2500; at += 1) change(keys, { start: at, end: at, text: 'x' })
    assert.ok(keys.text().startsWith(`${'x'.repeat(2500)}one\n`))
    const replaced = copyOf('one\n'.repeat(1_000_000))
    // all places in one event, the last first
    const edits = Array.from({ length: 200_000 }, (_, index) => {
      const start = 4 * (1_000_000 - 5 * (index + 1))
      return { start, end: start + 3, text: 'three' }
    })
    replaced.changed({ type: 'changed', id: 1, edits, ...state })
    assert.equal(replaced.text(), `three\n${'one\n'.repeat(4)}`.repeat(200_000))
  })
})
