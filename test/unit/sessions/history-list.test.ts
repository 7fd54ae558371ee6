import assert from 'node:assert/strict'
import type { SessionInfo } from '../../../src/acp/model.ts'
import { HistoryList, type Listing } from '../../../src/sessions/history-list.ts'
import { until } from '../../support/until.ts'
import { House } from './house.ts'

const info = (sessionId: string, title?: string, updatedAt?: number): SessionInfo => ({
  sessionId,
  cwd: '/w/a',
  additionalDirectories: [],
  title,
  updatedAt,
})

describe('HistoryList', () => {
  let house: House
  let history: HistoryList
  let pages: SessionInfo[][]
  let fail: Error | undefined

  beforeEach(() => {
    house = new House()
    pages = [[info('s1', 'First', 100)], [info('s2', undefined, 200)]]
    fail = undefined
    history = new HistoryList({
      agents: house.directory,
      hosts: house.hosts,
      manager: house.manager,
      records: house.records,
      listingOf: () => {
        let shown = 0
        const listing: Listing = {
          get sessions() {
            return pages.slice(0, shown).flat()
          },
          get hasMore() {
            return shown < pages.length
          },
          refresh: async () => {
            if (fail) throw fail
            shown = 1
          },
          more: async () => {
            shown += 1
          },
        }
        return listing
      },
    })
  })

  const note = (agentId: string) => history.agents().find(agent => agent.agentId === agentId)

  it('starts no agent by itself, and lists one that runs', async () => {
    await history.refresh()
    assert.equal(house.started.length, 0)
    assert.equal(note('one')?.state, 'not-started')
    await history.start('one')
    await until(() => note('one')?.state === 'listed')
    assert.deepEqual(
      history.items().map(item => [item.agentId, item.sessionId, item.canLoad]),
      [['one', 's1', true]],
    )
    assert.equal(note('one')?.more, true)
    await history.more('one')
    assert.equal(history.items().length, 2)
    assert.equal(note('one')?.more, false)
  })

  it('keeps what Parley opened itself when the agent does not run', async () => {
    house.records.opened('two', { sessionId: 'r1', cwd: '/w/b', additionalDirectories: [], title: 'Kept' })
    house.records.setCapabilities('two', { list: false, load: true, resume: false })
    const [item] = history.items()
    assert.deepEqual(
      [item?.sessionId, item?.title, item?.canLoad, item?.canResume, item?.open],
      ['r1', 'Kept', true, false, false],
    )
    assert.equal(note('two')?.state, 'cannot-list')
  })

  it('shows a session once that is recorded, listed and open', async () => {
    const starting = house.controller.start('one')
    await until(() => house.started.length > 0 && house.agent.news.length > 0)
    house.agent.news[0]?.resolve({ sessionId: 's1' })
    await starting
    await until(() => note('one')?.state === 'listed')
    const mine = history.items().filter(item => item.sessionId === 's1')
    assert.equal(mine.length, 1)
    assert.equal(mine[0]?.title, 'First')
    assert.equal(mine[0]?.open, true)
    assert.equal(mine[0]?.updatedAt, 100)
  })

  it('says in words that an agent could not list', async () => {
    fail = new Error('disk full')
    await history.start('one')
    await until(() => note('one')?.state === 'failed')
    assert.equal(note('one')?.message, 'disk full')
  })

  it('forgets what an agent listed when it ends, and remembers what it can do', async () => {
    await history.start('one')
    await until(() => history.items().length === 1)
    house.agent.exit()
    await until(() => note('one')?.state === 'not-started')
    assert.equal(history.items().length, 0)
    assert.equal(house.records.capabilities('one')?.load, true)
  })
})
