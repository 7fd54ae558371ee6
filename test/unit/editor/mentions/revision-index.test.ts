import assert from 'node:assert/strict'
import { mock } from 'node:test'
import { deferred } from '../../../../src/common/async.ts'
import type { Revision } from '../../../../src/editor/git-revisions.ts'
import { RevisionIndex } from '../../../../src/editor/mentions/revision-index.ts'
import { until } from '../../../support/until.ts'

describe('searching commits', () => {
  let now: number
  let lists: Array<ReturnType<typeof deferred<Revision[]>>>
  let index: RevisionIndex
  const named = (name: string): Revision[] => [
    { type: 'revision', ref: 'f'.repeat(40), name, short: 'fffffff' },
  ]
  const search = async (query: string, folders = ['/w']) =>
    (await index.search(folders, query, 5)).map(({ revision }) => revision.name)

  beforeEach(() => {
    now = 0
    lists = []
    index = new RevisionIndex(
      () => {
        lists.push(deferred())
        return lists.at(-1)!.promise
      },
      () => now,
    )
  })
  afterEach(() => mock.timers.reset())

  it('uses the old list while Git is slow, and starts no second one beside it', async () => {
    const first = search('moon')
    const second = search('moon')
    assert.equal(lists.length, 1)
    lists[0]!.resolve(named('moon one'))
    assert.deepEqual([await first, await second], [['moon one'], ['moon one']])
    assert.deepEqual(await search('moon'), ['moon one'])
    assert.equal(lists.length, 1)

    mock.timers.enable({ apis: ['setTimeout'] })
    for (now of [6000, 12_000]) {
      const again = search('moon')
      mock.timers.tick(1000)
      assert.deepEqual(await again, ['moon one'])
    }
    assert.equal(lists.length, 2)
    lists[1]!.resolve(named('moon two'))
    assert.deepEqual(await search('moon'), ['moon two'])
    assert.equal(lists.length, 2)
  })

  it('lists them again at once if an old list has none that matches', async () => {
    const first = search('moon')
    lists[0]!.resolve(named('moon one'))
    await first
    now = 900
    assert.deepEqual(await search('sun'), [])
    now = 1000
    const again = search('sun')
    await until(() => lists.length === 2)
    lists[1]!.resolve(named('sun'))
    assert.deepEqual(await again, ['sun'])
    assert.deepEqual(await search('mars'), [], 'the list is new')
    assert.equal(lists.length, 2)
  })

  it('lists other folders again', async () => {
    const first = search('moon')
    lists[0]!.resolve(named('moon one'))
    await first
    const other = search('moon', ['/w', '/v'])
    assert.equal(lists.length, 2)
    lists[1]!.resolve(named('moon two'))
    assert.deepEqual(await other, ['moon two'])
  })
})
