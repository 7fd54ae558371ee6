import assert from 'node:assert/strict'
import { FilePasts } from '../../../src/changes/model/file-pasts.ts'
import { TrackedFile } from '../../../src/changes/model/tracked-file.ts'

describe('what files were before changes that may be reported later', () => {
  const binary = (hash: string) =>
    TrackedFile.of('/w/a.bin', { attributes: { type: 'binary', hash, size: 1, mode: 0o644 }, text: '' })

  it('refers to the content before a change that a tool call may still report', () => {
    const pasts = new FilePasts()
    const [before, now] = [binary('before'), binary('now')]
    pasts.add('a', before, before, now, [{ state: now.state, by: 'user', how: 'seen' }], false)
    assert.deepEqual(pasts.contents, ['before', 'now'])
    pasts.forget('a')
    assert.deepEqual(pasts.contents, [])
    // the last ones of many changes
    let last = before
    for (let i = 0; i < 20; i++) {
      const next = binary(`${i}`)
      pasts.add('a', last, last, next, [{ state: next.state, by: 'user', how: 'saved' }], false)
      last = next
    }
    assert.deepEqual(pasts.contents, ['11', '12', '13', '14', '15', '16', '17', '18', '19'])
  })

  it('is forgotten with the last turn that may report it, which says what the user had saved', () => {
    const pasts = new FilePasts()
    const [seen, saved] = [binary('seen'), binary('saved')]
    pasts.add('seen', seen, seen, seen, [{ state: seen.state, by: 'user', how: 'seen' }], true)
    pasts.add('saved', saved, saved, saved, [{ state: saved.state, by: 'user', how: 'saved' }], false)
    // nothing that a tool call reported is reported later
    pasts.add('known', seen, seen, seen, [{ state: seen.state, by: 'user', how: 'known' }], true)
    assert.deepEqual(
      ['seen', 'saved', 'known'].map(key => [pasts.hasSaved(key), pasts.isDocumentBehind(key)]),
      [
        [false, true],
        [true, false],
        [false, false],
      ],
    )
    assert.deepEqual(
      pasts.forgetWhere(() => false),
      [],
    )
    assert.deepEqual(
      pasts.forgetWhere(path => path === '/w/a.bin'),
      ['saved'],
    )
    assert.deepEqual(pasts.contents, [])
  })
})
