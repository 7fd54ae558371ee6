import assert from 'node:assert/strict'
import { EditorState } from '@codemirror/state'
import { insertLineBreak } from '../../../../src/webview/conversation/composer/input/continue-list.ts'

/** The text after a line break at `|`, with the cursor. */
function broken(marked: string): string {
  const at = marked.indexOf('|')
  let state = EditorState.create({ doc: marked.replace('|', ''), selection: { anchor: at } })
  insertLineBreak({
    state,
    dispatch: transaction => {
      state = transaction.state
    },
  })
  const { head } = state.selection.main
  return `${state.sliceDoc(0, head)}|${state.sliceDoc(head)}`
}

describe('a line break in the input', () => {
  it('begins the next item of a list', () => {
    assert.equal(broken('- one|'), '- one\n- |')
    assert.equal(broken('Do:\n  * one| two'), 'Do:\n  * one\n  * | two')
    assert.equal(broken('9. nine|'), '9. nine\n10. |')
    assert.equal(broken('1) one|\n- other'), '1) one\n2) |\n- other')
    assert.equal(broken('- [x] done|'), '- [x] done\n- [ ] |')
  })

  it('ends the list in an empty item', () => {
    assert.equal(broken('- one\n- |'), '- one\n|')
    assert.equal(broken('1. one\n2. |\nafter'), '1. one\n|\nafter')
    assert.equal(broken('- [ ] |'), '|')
  })

  it('is only that elsewhere', () => {
    assert.equal(broken('text|'), 'text\n|')
    assert.equal(broken('-one|'), '-one\n|')
    assert.equal(broken('|- one'), '\n|- one')
    assert.equal(broken('2024. A year|'), '2024. A year\n|')
    assert.equal(broken('```yaml\n- one|\n```'), '```yaml\n- one\n|\n```')
    assert.equal(broken('```\na\n```\n- one|'), '```\na\n```\n- one\n- |')
  })
})
