import { strict as assert } from 'node:assert'
import fc from 'fast-check'
import type { SessionInfo } from '../../../src/acp/model.ts'
import { SessionListing } from '../../../src/history/session-listing.ts'

type Page = { sessions: SessionInfo[]; nextCursor?: string }
const info = (sessionId: string, updatedAt?: number, title?: string): SessionInfo => ({
  sessionId,
  cwd: '/w',
  additionalDirectories: [],
  ...(updatedAt !== undefined && { updatedAt }),
  ...(title !== undefined && { title }),
})

/** An agent that responds with the page at a cursor; the first page is at `''`. */
function agentWith(pages: Record<string, Page>) {
  const asked: Array<string | undefined> = []
  return {
    asked,
    pages,
    async listSessions(query: { cwd?: string; cursor?: string }): Promise<Page> {
      asked.push(query.cursor)
      const page = pages[query.cursor ?? '']
      if (!page) throw new Error(`no page ${query.cursor}`)
      return page
    },
  }
}
const ids = (listing: SessionListing) => listing.sessions.map(session => session.sessionId)

describe('SessionListing', () => {
  it('lists page by page, newest first', async () => {
    const agent = agentWith({
      '': { sessions: [info('a', 1), info('b', 3)], nextCursor: 'p2' },
      p2: { sessions: [info('c', 2), info('d')] },
    })
    const listing = new SessionListing(agent)
    await listing.refresh()
    assert.deepEqual([ids(listing), listing.hasMore], [['b', 'a'], true])
    await listing.more()
    assert.deepEqual([ids(listing), listing.hasMore], [['b', 'c', 'a', 'd'], false])
    await listing.more()
    assert.deepEqual(agent.asked, [undefined, 'p2'])
  })

  it('passes on the directory', async () => {
    const queries: unknown[] = []
    const listing = new SessionListing(
      {
        listSessions: async query => {
          queries.push(query)
          return { sessions: [] }
        },
      },
      { cwd: '/w' },
    )
    await listing.refresh()
    assert.deepEqual(queries, [{ cwd: '/w' }])
  })

  it('merges a session that is listed twice, with its title', async () => {
    const agent = agentWith({
      '': { sessions: [info('a', 1, 'Title'), info('b', 5)], nextCursor: 'p2' },
      p2: { sessions: [info('a', 9), info('b', 2, 'Older title'), info('c')] },
    })
    const listing = new SessionListing(agent)
    await listing.refresh()
    await listing.more()
    assert.deepEqual(
      listing.sessions.map(session => [session.sessionId, session.updatedAt, session.title]),
      [
        ['a', 9, 'Title'],
        ['b', 5, 'Older title'],
        ['c', undefined, undefined],
      ],
    )
  })

  for (const how of ['refresh', 'update', 'more'] as const)
    it(`doesn't list a session again that was deleted during a request: ${how}`, async () => {
      const pages: Record<string, Page> = {
        '': { sessions: [info('a', 9), info('b', 8)], nextCursor: 'p2' },
        p2: { sessions: [info('c', 7), info('d', 6)], ...(how === 'more' && { nextCursor: 'p3' }) },
        p3: { sessions: [info('c', 7), info('d', 6), info('e', 5)] },
      }
      const agent = agentWith(pages)
      const listing = new SessionListing(agent)
      await listing.refresh()
      await listing.more()
      if (how === 'update') pages['']!.sessions.push(info('new', 10))
      const [gone, rest] = how === 'more' ? ['d', 'a b c e'] : ['b', how === 'update' ? 'new a c d' : 'a c d']
      const working = listing[how]()
      // the agent has answered, but the answer isn't handled yet
      await Promise.resolve()
      listing.forget(gone)
      await working
      assert.equal(ids(listing).join(' '), rest)
      // the agent's own word about it counts from the next request on
      await listing.refresh()
      while (listing.hasMore) await listing.more()
      assert.ok(ids(listing).includes(gone))
    })

  it('stops if a cursor repeats', async () => {
    const agent = agentWith({
      '': { sessions: [info('a')], nextCursor: 'x' },
      x: { sessions: [info('b')], nextCursor: 'y' },
      y: { sessions: [info('c')], nextCursor: 'x' },
    })
    const listing = new SessionListing(agent)
    await listing.refresh()
    while (listing.hasMore) await listing.more()
    assert.deepEqual(agent.asked, [undefined, 'x', 'y'])
    assert.equal(listing.sessions.length, 3)
  })

  it('stops at a cursor that points to itself, and reads an empty one as none', async () => {
    const itself = agentWith({
      '': { sessions: [info('a')], nextCursor: 'x' },
      x: { sessions: [], nextCursor: 'x' },
    })
    const listing = new SessionListing(itself)
    await listing.refresh()
    await listing.more()
    assert.equal(listing.hasMore, false)
    const empty = new SessionListing(agentWith({ '': { sessions: [info('a')], nextCursor: '' } }))
    await empty.refresh()
    assert.equal(empty.hasMore, false)
  })

  it('skips a limited number of empty pages', async () => {
    const some = agentWith({
      '': { sessions: [], nextCursor: '1' },
      '1': { sessions: [], nextCursor: '2' },
      '2': { sessions: [info('a')] },
    })
    const listing = new SessionListing(some)
    await listing.refresh()
    assert.deepEqual(ids(listing), ['a'])
    let asked = 0
    const endless = new SessionListing({
      listSessions: async () => {
        asked += 1
        return { sessions: [], nextCursor: String(asked) }
      },
    })
    await endless.refresh()
    assert.deepEqual([asked, endless.hasMore], [10, false])
  })

  it('lists a limited number of sessions', async () => {
    let asked = 0
    const listing = new SessionListing(
      {
        listSessions: async () => {
          asked += 1
          return { sessions: [info(`s${asked}`)], nextCursor: String(asked) }
        },
      },
      { maxSessions: 5 },
    )
    await listing.refresh()
    while (listing.hasMore) await listing.more()
    assert.deepEqual([asked, listing.sessions.length], [5, 5])
  })

  it('lists again from the first page, and shows the old list until the last page', async () => {
    const agent = agentWith({
      '': { sessions: [info('a', 2)], nextCursor: 'x' },
      x: { sessions: [info('b', 1)], nextCursor: 'y' },
      y: { sessions: [info('c', 0)] },
    })
    const listing = new SessionListing(agent)
    await listing.refresh()
    assert.equal(listing.isWhole, false)
    while (listing.hasMore) await listing.more()
    assert.equal(listing.isWhole, true)
    agent.pages[''] = { sessions: [info('new', 3)], nextCursor: 'x' }
    agent.pages.y = { sessions: [] }
    const again = listing.refresh()
    assert.deepEqual(ids(listing), ['a', 'b', 'c'])
    await again
    assert.deepEqual([ids(listing), listing.hasMore, listing.isWhole], [['new', 'a', 'b', 'c'], true, false])
    while (listing.hasMore) await listing.more()
    assert.deepEqual([ids(listing), listing.isWhole], [['new', 'b'], true])
  })

  describe('if everything was listed a short time ago', () => {
    let now: number
    let agent: ReturnType<typeof agentWith>
    let listing: SessionListing
    beforeEach(async () => {
      now = 1e12
      agent = agentWith({
        '': { sessions: [info('a', 9), info('b', 8)], nextCursor: 'x' },
        x: { sessions: [info('c', 7, 'C'), info('d', 6)], nextCursor: 'y' },
        y: { sessions: [info('e', 5)] },
      })
      listing = new SessionListing(agent, { now: () => now })
      await listing.update()
      while (listing.hasMore) await listing.more()
      agent.asked.length = 0
    })

    it('lists only what is new', async () => {
      await listing.update()
      assert.deepEqual(agent.asked, [undefined])
      agent.pages[''] = { sessions: [info('new', 20), info('c', 10)], nextCursor: 'x' }
      agent.pages.x = { sessions: [info('a', 9), info('b', 8)], nextCursor: 'z' }
      await listing.update()
      assert.deepEqual(agent.asked, [undefined, undefined, 'x'])
      assert.deepEqual(
        [ids(listing), listing.isWhole, listing.hasMore],
        [['new', 'c', 'a', 'b', 'd', 'e'], true, false],
      )
      assert.equal(listing.sessions[1]?.title, 'C')
    })

    it('notices what changed without a new time, and a session without time and title', async () => {
      agent.pages[''] = { sessions: [{ ...info('a', 9), archived: true }], nextCursor: 'x' }
      agent.pages.x = { sessions: [info('bare')], nextCursor: 'q' }
      agent.pages.q = { sessions: [info('c', 7, 'Renamed')], nextCursor: 'r' }
      agent.pages.r = { sessions: [info('d', 6)], nextCursor: 's' }
      await listing.update()
      assert.deepEqual(agent.asked, [undefined, 'x', 'q', 'r'])
      assert.equal(listing.sessions.find(({ sessionId }) => sessionId === 'a')?.archived, true)
      assert.equal(listing.sessions.find(({ sessionId }) => sessionId === 'c')?.title, 'Renamed')
      agent.pages[''] = { sessions: [info('a', 9)], nextCursor: 'x' }
      await listing.update()
      assert.equal(listing.sessions.find(({ sessionId }) => sessionId === 'a')?.archived, undefined)
    })

    it('keeps everything if the agent fails', async () => {
      agent.pages[''] = { sessions: [info('new', 20)], nextCursor: 'nowhere' }
      await assert.rejects(listing.update(), /no page nowhere/)
      assert.deepEqual([ids(listing), listing.isWhole], [['a', 'b', 'c', 'd', 'e'], true])
    })

    it('lists everything when that was long ago, also if it was updated meanwhile', async () => {
      now += 400_000
      await listing.update()
      now += 400_000
      agent.asked.length = 0
      agent.pages.y = { sessions: [] }
      await listing.update()
      assert.deepEqual([listing.hasMore, ids(listing).length], [true, 5])
      while (listing.hasMore) await listing.more()
      assert.deepEqual(
        [agent.asked, ids(listing)],
        [
          [undefined, 'x', 'y'],
          ['a', 'b', 'c', 'd'],
        ],
      )
    })

    it('no longer has a deleted session, also while it is listed again', async () => {
      listing.forget('c')
      assert.deepEqual(ids(listing), ['a', 'b', 'd', 'e'])
      await listing.refresh()
      listing.forget('e')
      assert.deepEqual(ids(listing), ['a', 'b', 'd'])
    })
  })

  it("doesn't call a list whole that ended because a cursor repeats, pages are empty, or there are too many", async () => {
    const repeating = agentWith({
      '': { sessions: [info('a')], nextCursor: 'x' },
      x: { sessions: [info('b')], nextCursor: 'x' },
    })
    const empty = { listSessions: async () => ({ sessions: [], nextCursor: String(Math.random()) }) }
    for (const [agent, options] of [
      [repeating, {}],
      [empty, {}],
      [agentWith({ '': { sessions: [info('a'), info('b')], nextCursor: 'x' } }), { maxSessions: 2 }],
    ] as const) {
      const listing = new SessionListing(agent, options)
      await listing.refresh()
      while (listing.hasMore) await listing.more()
      assert.equal(listing.isWhole, false)
    }
  })

  it('keeps the old list if the agent fails, and can be retried', async () => {
    const agent = agentWith({ '': { sessions: [info('a')], nextCursor: 'x' } })
    const listing = new SessionListing(agent)
    await listing.refresh()
    await assert.rejects(listing.more(), /no page x/)
    assert.deepEqual([ids(listing), listing.hasMore], [['a'], true])
    agent.pages.x = { sessions: [info('b')] }
    await listing.more()
    assert.deepEqual([listing.sessions.length, listing.hasMore], [2, false])
  })

  it('sends one request at a time', async () => {
    const agent = agentWith({ '': { sessions: [info('a')], nextCursor: 'x' }, x: { sessions: [info('b')] } })
    const listing = new SessionListing(agent)
    await Promise.all([listing.refresh(), listing.more(), listing.more()])
    assert.deepEqual(agent.asked, [undefined, 'x'])
    assert.equal(listing.sessions.length, 2)
  })

  it('ends for any agent, with each session once', async () => {
    const cursor = fc.constantFrom('', 'a', 'b', 'c', undefined)
    const page = fc.record({
      sessions: fc.array(
        fc.record({ id: fc.constantFrom('1', '2', '3', '4'), at: fc.option(fc.nat(9), { nil: undefined }) }),
        { maxLength: 3 },
      ),
      next: cursor,
    })
    await fc.assert(
      fc.asyncProperty(fc.array(page, { minLength: 4, maxLength: 4 }), async list => {
        const keys = ['', 'a', 'b', 'c']
        const pages = Object.fromEntries(
          list.map(({ sessions, next }, index) => [
            keys[index],
            {
              sessions: sessions.map(({ id, at }) => info(id, at)),
              ...(next !== undefined && { nextCursor: next }),
            },
          ]),
        )
        const agent = agentWith(pages)
        const listing = new SessionListing(agent)
        await listing.refresh()
        for (let turn = 0; listing.hasMore; turn++) {
          assert(turn < 10)
          await listing.more()
        }
        assert.equal(new Set(ids(listing)).size, listing.sessions.length)
        assert(agent.asked.length <= 4)
      }),
    )
  })
})
