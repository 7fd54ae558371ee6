import assert from 'node:assert/strict'
import { Attribution } from '../../../src/changes/attribution.ts'
import { Moment } from '../../../src/changes/change-time.ts'
import { TrackedFile } from '../../../src/changes/tracked-file.ts'

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
    attribution.noteUnreported('a', binary('now'), binary('before'), false)
    assert.deepEqual(attribution.contents, ['before'])
    attribution.forgetUnreported('a')
    assert.deepEqual(attribution.contents, [])
    // the last ones of many saves
    for (const hash of ['1', '2', '3', '4', '5']) attribution.noteSaved('a', binary(hash), binary('saved'))
    assert.deepEqual(attribution.contents, ['2', '3', '4', '5'])
  })
})
