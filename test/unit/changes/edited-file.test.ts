import assert from 'node:assert/strict'
import type { AgentAuthor } from '../../../src/changes/model/change-versions.ts'
import { EditedFile } from '../../../src/changes/model/edited-file.ts'
import { ABSENT, NEW_TEXT } from '../../../src/changes/model/file-state.ts'
import { TrackedFile } from '../../../src/changes/model/tracked-file.ts'

describe('a file with the changes of several authors', () => {
  const by = (session: string): AgentAuthor => ({ turns: [{ session, turn: 1 }] })
  const all = () => true
  const text = (value: string) => ({ text: value, attributes: NEW_TEXT })

  it('reverts an agent’s change below the change of another, which stays', () => {
    const file = EditedFile.history('/a', text('1\n2\n3\n'))
    file.apply(text('one\n2\n3\n'), by('a'))
    file.apply(text('one\n2\nthree\n'), by('b'))
    assert.deepEqual(file.sessions, ['a', 'b'])
    assert.equal(
      file.revert(({ turns }) => turns.some(({ session }) => session === 'a')),
      undefined,
    )
    assert.deepEqual([file.text, file.base.text, file.sessions], ['1\n2\nthree\n', '1\n2\n3\n', ['b']])
  })

  it('is the same file again if it reappears after the user deleted it, but a new one if an agent writes it', () => {
    const file = EditedFile.history('/a', text('1\n'))
    file.apply(text('one\n'), by('a'))
    const deleted = EditedFile.history('/b', ABSENT)
    for (const one of [file, deleted]) {
      one.copyFrom(file)
      one.apply(ABSENT, 'user')
      assert.ok(one.gone)
    }
    file.apply(text('one\n'), 'user')
    assert.deepEqual([file.gone, file.base.text], [false, '1\n'])
    deleted.apply(text('one\n'), by('b'))
    assert.deepEqual([deleted.gone, deleted.base.attributes.type, deleted.sessions], [false, 'absent', ['b']])
  })

  it('becomes what is kept of it, and has in its history what was kept', () => {
    const file = TrackedFile.of('/a', text('1\n'))
    file.edit(text('one\n'), by('a'))
    file.keep(all)
    assert.deepEqual([file.hasChanges, file.historyAuthors(all).length], [false, 1])
    const copy = file.clone()
    assert.equal(copy.version, file.version)
    assert.equal(copy.rewound(all)?.file.text, '1\n')
    // without the history
    copy.forgetHistory()
    assert.deepEqual([copy.rewound(all), file.historyAuthors(all).length], [undefined, 1])
  })
})
