import assert from 'node:assert/strict'
import { editedLines } from '../../../src/editor/agent-lines.ts'

describe('the lines that a change wrote', () => {
  const lines = (oldText: string | undefined, newText: string | undefined, text: string) =>
    editedLines({ operation: 'modify', path: '/w/a', oldText, newText }, text).map(
      ({ start, end }) => `${start}-${end}`,
    )

  it('are those that differ, in a whole file or where a fragment is', () => {
    assert.deepEqual(lines('a\nb\nc\n', 'a\nB\nc\n', 'a\nB\nc\n'), ['1-2'])
    assert.deepEqual(lines('a\nb\nc\nd\n', 'A\nb\nc\nD\nE\n', 'A\nb\nc\nD\nE\n'), ['0-1', '3-5'])
    assert.deepEqual(lines('b\nc', 'b\nX\nY\nc', '1\n2\nb\nX\nY\nc\n3\n'), ['3-5'])
    assert.deepEqual(lines('b\nc\n', 'b\nX\nc\n', '1\r\nb\r\nX\r\nc\r\n'), ['2-3'])
  })

  it('are all of a new file, and the line after lines that were removed', () => {
    assert.deepEqual(lines(undefined, 'a\nb\n', 'a\nb\n'), ['0-2'])
    assert.deepEqual(lines('a\nb\nc\n', 'a\nc\n', 'a\nc\n'), ['1-2'])
  })

  it('are none before the change is there, where the user changed it since, or where it is unclear', () => {
    assert.deepEqual(lines('a\n', 'b\n', 'a\n'), [])
    assert.deepEqual(lines('a\n', 'b\n', 'x\n'), [])
    assert.deepEqual(lines('a', 'b', 'b\nb\n'), [])
    assert.deepEqual(lines('a', undefined, 'b\n'), [])
  })
})
