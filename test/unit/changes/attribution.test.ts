import assert from 'node:assert/strict'
import { Attribution } from '../../../src/changes/detect/attribution.ts'
import { Moment } from '../../../src/changes/model/change-time.ts'
import { TrackedFile } from '../../../src/changes/model/tracked-file.ts'

describe('the attribution of changes', () => {
  it('refers to the content before a change that a tool call may still report', () => {
    const attribution = new Attribution()
    attribution.beginTurn('s', {
      author: { turns: [{ session: 's', turn: 1 }] },
      began: new Moment(Date.now()),
      isWorking: () => true,
      covers: () => true,
      ranGit: () => false,
      repositories: Promise.resolve([]),
    })
    const binary = (hash: string) =>
      TrackedFile.of('/w/a.bin', { attributes: { type: 'binary', hash, size: 1, mode: 0o644 }, text: '' })
    const [before, now] = [binary('before'), binary('now')]
    attribution.note('a', before, before, now, [{ state: now.state, by: 'user', how: 'seen' }])
    assert.deepEqual(attribution.contents, ['before', 'now'])
    attribution.forget('a')
    assert.deepEqual(attribution.contents, [])
    // the last ones of many changes
    let last = before
    for (let i = 0; i < 20; i++) {
      const next = binary(`${i}`)
      attribution.note('a', last, last, next, [{ state: next.state, by: 'user', how: 'saved' }])
      last = next
    }
    assert.deepEqual(attribution.contents, ['11', '12', '13', '14', '15', '16', '17', '18', '19'])
  })
})
