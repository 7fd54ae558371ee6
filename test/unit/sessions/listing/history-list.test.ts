import assert from 'node:assert/strict'
import { AgentRequestError } from '../../../../src/acp/agent.ts'
import type { SessionInfo } from '../../../../src/acp/model.ts'
import type { SessionId } from '../../../../src/common/session-key.ts'
import type { Entry } from '../../../../src/conversation/state.ts'
import { HistoryList, type Listing } from '../../../../src/sessions/listing/history-list.ts'
import { SessionDeletions } from '../../../../src/sessions/listing/session-deletions.ts'
import { until } from '../../../support/until.ts'
import { SessionsFixture, sendPrompt } from '../sessions-fixture.ts'

const info = (sessionId: string, title?: string, updatedAt?: number): SessionInfo => ({
  sessionId,
  cwd: '/w/a',
  additionalDirectories: [],
  title,
  updatedAt,
})

describe('HistoryList', () => {
  let fixture: SessionsFixture
  let history: HistoryList
  let deletions: SessionDeletions
  let pages: SessionInfo[][]
  let fail: Error | undefined
  let hangs: boolean
  /** the requests of all listings */
  let asked: string[]
  /** what a request for more waits for */
  let gate: Promise<void> | undefined

  beforeEach(() => {
    fixture = new SessionsFixture()
    pages = [[info('s1', 'First', 100)], [info('s2', undefined, 200)]]
    fail = undefined
    hangs = false
    asked = []
    gate = undefined
    deletions = new SessionDeletions()
    history = new HistoryList({
      agents: fixture.directory,
      runners: fixture.runners,
      manager: fixture.manager,
      records: fixture.records,
      organizer: fixture.organizer,
      deletions,
      slowAfterMs: 5,
      savedKeys: () => fixture.transcripts.keys(),
      listingOf: () => {
        let shown = 0
        const deleted = new Set<string>()
        const first = async (signal?: AbortSignal) => {
          if (fail) throw fail
          if (hangs) await new Promise((_, reject) => signal?.addEventListener('abort', reject))
          shown = 1
        }
        const listing: Listing = {
          get sessions() {
            return pages
              .slice(0, shown)
              .flat()
              .filter(({ sessionId }) => !deleted.has(sessionId))
          },
          get hasMore() {
            return shown < pages.length
          },
          get isWhole() {
            return shown > 0 && shown === pages.length
          },
          refresh: signal => {
            asked.push('refresh')
            return first(signal)
          },
          update: signal => {
            asked.push('update')
            return first(signal)
          },
          more: async signal => {
            asked.push('more')
            await gate
            signal?.throwIfAborted()
            if (fail) throw fail
            shown += 1
          },
          forget: sessionId => {
            deleted.add(sessionId)
          },
        }
        return listing
      },
    })
  })

  const note = (agentId: string) => history.agents().find(agent => agent.agentId === agentId)

  it('starts no agent by itself, and lists the sessions of a running one (quirk 24)', async () => {
    await history.refresh()
    assert.equal(fixture.started.length, 0)
    assert.equal(note('one')?.state, 'not-started')
    await history.start('one')
    await until(() => note('one')?.state === 'listed')
    await until(() => note('one')?.paging === false)
    assert.deepEqual(
      history.items().map(item => [item.agentId, item.sessionId, item.canLoad]),
      [
        ['one', 's1', true],
        ['one', 's2', true],
      ],
    )
    assert.equal(note('one')?.more, false)
  })

  it('lists only the latest sessions until History is shown, and then all of them in the background', async () => {
    pages.push([info('s3')], [info('s4')])
    await fixture.runners.get('one').ensure()
    await until(() => note('one')?.state === 'listed')
    assert.deepEqual([history.items().length, note('one')?.more, note('one')?.paging], [1, true, false])
    await history.updateLatest()
    assert.deepEqual(asked, ['refresh', 'update'])
    let open = () => {}
    gate = new Promise(resolve => {
      open = resolve
    })
    await history.update()
    assert.deepEqual([history.items().length, note('one')?.more, note('one')?.paging], [1, false, true])
    open()
    await until(() => note('one')?.paging === false)
    assert.deepEqual([history.items().length, note('one')?.more], [4, false])
    assert.deepEqual(asked.slice(2), ['update', 'more', 'more', 'more'])
  })

  it('starts the list over when it is refreshed while pages arrive, and goes on when History is shown again', async () => {
    let open = () => {}
    gate = new Promise(resolve => {
      open = resolve
    })
    await history.start('one')
    assert.equal(asked.at(-1), 'more')
    asked.length = 0
    await history.update()
    assert.deepEqual(asked, [])
    await history.refresh()
    open()
    await until(() => note('one')?.paging === false)
    assert.deepEqual(asked, ['refresh', 'more'])
    assert.equal(note('one')?.state, 'listed')
    assert.equal(history.items().length, 2)
  })

  it('says why the rest could not be listed, and lists it on request', async () => {
    let open = () => {}
    gate = new Promise(resolve => {
      open = resolve
    })
    await history.start('one')
    fail = new Error('disk full')
    open()
    await until(() => note('one')?.state === 'failed')
    assert.deepEqual([note('one')?.message, history.items().length], ['disk full', 1])
    fail = undefined
    await history.start('one')
    await until(() => history.items().length === 2)
  })

  it('says which sessions an agent no longer has, once it has listed all', async () => {
    const record = { cwd: '/w/b', additionalDirectories: [], title: 'Mine' }
    for (const sessionId of ['kept', 'lost', 's2']) fixture.records.opened('one', { ...record, sessionId })
    const said: Entry = { kind: 'turn_end', id: 'e0', turn: 1, stopReason: 'cancelled' }
    for (const sessionId of ['kept', 's2'])
      fixture.transcripts.write('one', sessionId, {
        replace: true,
        entries: [{ position: 0, entry: said }],
        terminals: [],
      })
    const unlisted = () =>
      Object.fromEntries(history.items().map(({ sessionId, unlisted }) => [sessionId, unlisted]))
    await fixture.runners.get('one').ensure()
    await until(() => note('one')?.state === 'listed')
    assert.deepEqual(unlisted(), { kept: undefined, lost: undefined, s1: undefined, s2: undefined })
    await history.update()
    await until(() => note('one')?.paging === false)
    assert.deepEqual(unlisted(), { kept: 'saved', lost: 'gone', s1: undefined, s2: undefined })
    history.forget('one', 's1')
    assert.ok(!('s1' in unlisted()))
  })

  it("keeps sessions that Parley opened when the agent isn't running", async () => {
    fixture.records.opened('two', { sessionId: 'r1', cwd: '/w/b', additionalDirectories: [], title: 'Kept' })
    fixture.records.agentRuns('two', { list: false, load: true, resume: false })
    const [item] = history.items()
    assert.deepEqual(
      [item?.sessionId, item?.title, item?.canLoad, item?.canResume, item?.open],
      ['r1', 'Kept', true, false, false],
    )
    assert.equal(note('two')?.state, 'cannot-list')
  })

  it("lists saved conversations of agents that are gone or can't continue sessions", () => {
    const keep = (agentId: string, sessionId: string) => {
      fixture.records.opened(agentId, { sessionId, cwd: '/w/b', additionalDirectories: [], title: sessionId })
      const said: Entry = { kind: 'turn_end', id: 'e0', turn: 1, stopReason: 'cancelled' }
      const entries = [{ position: 0, entry: said }]
      fixture.transcripts.write(agentId, sessionId, { replace: true, entries, terminals: [] })
    }
    keep('gone', 'kept')
    keep('two', 'bare')
    keep('renamed', 'of one that had a name')
    fixture.records.agentRuns('renamed', { name: 'Once Three', list: true, load: true, resume: true })
    fixture.records.agentRuns('two', { list: false, load: false, resume: false })
    fixture.records.opened('gone', { sessionId: 'nothing', cwd: '/w/b', additionalDirectories: [] })
    assert.deepEqual(
      history.items().map(item => [item.agentName, item.sessionId, item.canLoad, item.canResume]),
      [
        ['Agent Two', 'bare', true, false],
        ['gone', 'kept', true, false],
        ['Once Three', 'of one that had a name', true, false],
      ],
    )
    assert.equal(note('gone'), undefined)
  })

  it('keeps open sessions of an agent that was removed from the settings', async () => {
    const starting = fixture.controller.opener.start('one')
    await until(() => fixture.started.length > 0 && fixture.agent.newSessions.length > 0)
    fixture.agent.newSessions[0]?.resolve({ sessionId: 's1' })
    await starting
    fixture.entries.shift()
    const [item] = history.items()
    assert.deepEqual([item?.agentName, item?.sessionId, item?.open], ['Agent One', 's1', true])
  })

  it('leaves out sessions that were never used', async () => {
    const starting = fixture.controller.opener.start('one')
    await until(() => fixture.started.length > 0 && fixture.agent.newSessions.length > 0)
    fixture.agent.newSessions[0]?.resolve({ sessionId: 'new' })
    await starting
    const ids = () => history.items().map(item => item.sessionId)
    assert.ok(!ids().includes('new'))
    // the agent lists it, too
    pages = [[info('new', undefined, Date.now() + 1000)]]
    await history.refresh()
    assert.ok(!ids().includes('new'))
    void sendPrompt(fixture.controller, 'Hello')
    await until(() => ids().includes('new'))
    // one that the agent had before isn't Parley's, even if Parley opened it
    fixture.records.opened('one', { sessionId: 'theirs', cwd: '/w/b', additionalDirectories: [] })
    pages = [[info('theirs', undefined, 0)]]
    await history.refresh()
    assert.deepEqual([ids(), note('one')?.state], [['new', 'theirs'], 'listed'])
  })

  it('lists a session only once if it is recorded, listed and open', async () => {
    const starting = fixture.controller.opener.start('one')
    await until(() => fixture.started.length > 0 && fixture.agent.newSessions.length > 0)
    fixture.agent.newSessions[0]?.resolve({ sessionId: 's1' })
    await starting
    await until(() => note('one')?.state === 'listed')
    const mine = history.items().filter(item => item.sessionId === 's1')
    assert.equal(mine.length, 1)
    assert.equal(mine[0]?.title, 'First')
    assert.equal(mine[0]?.open, true)
    assert.equal(mine[0]?.updatedAt, 100)
  })

  it('dates an open session by its last activity here until the agent reports a later time', async () => {
    const starting = fixture.controller.opener.start('one')
    await until(() => fixture.started.length > 0 && fixture.agent.newSessions.length > 0)
    fixture.agent.newSessions[0]?.resolve({ sessionId: 's1' })
    await starting
    await until(() => note('one')?.state === 'listed')
    const before = Date.now()
    void sendPrompt(fixture.controller, 'hello')
    const dated = () => history.items().find(item => item.sessionId === 's1')?.updatedAt ?? 0
    await until(() => dated() >= before)
  })

  it('hides deleted sessions, and shows them again if that is undone', async () => {
    await history.start('one')
    await until(() => history.items().length === 2)
    let changes = 0
    history.onDidChange(() => {
      changes += 1
    })
    deletions.mark([{ item: history.items()[0]!, reserved: { dispose() {} } }])
    assert.deepEqual(
      history.items().map(({ sessionId }) => sessionId),
      ['s2'],
    )
    assert.equal(history.find('one', 's1'), undefined)
    deletions.undo()
    assert.equal(history.items().length, 2)
    assert.equal(changes, 2)
    deletions.dispose()
  })

  it('knows the directories of all sessions with a conversation, also of deleted ones and of agents that are gone', async () => {
    const opened = (agentId: string, sessionId: string, title?: string) =>
      fixture.records.opened(agentId, {
        ...{ sessionId, cwd: `/w/${sessionId}`, additionalDirectories: [`/more/${sessionId}`] },
        ...(title !== undefined && { title }),
      })
    opened('one', 'used', 'Title')
    opened('one', 'unused')
    opened('gone', 'of another agent', 'Title')
    const all = ['/w/used', '/more/used', '/w/of another agent', '/more/of another agent']
    assert.deepEqual(history.directories().sort(), all.sort())
    deletions.mark([{ item: history.find('one', 'used')!, reserved: { dispose() {} } }])
    assert.deepEqual(history.directories().sort(), all)
    deletions.dispose()
  })

  it("reports why an agent couldn't list", async () => {
    fail = new Error('disk full')
    await history.start('one')
    await until(() => note('one')?.state === 'failed')
    assert.equal(note('one')?.message, 'disk full')
  })

  it("waits for a limited time for an agent that doesn't respond, and can retry", async () => {
    hangs = true
    await history.start('one')
    await until(() => note('one')?.state === 'failed')
    assert.match(note('one')?.message ?? '', /hasn't responded/)
    hangs = false
    await history.refresh()
    await until(() => note('one')?.state === 'listed')
  })

  it('reports that an agent requires sign-in to list', async () => {
    fail = new AgentRequestError('session/list', 'auth-required', { code: -32000, message: 'Sign in first' })
    await history.start('one')
    assert.deepEqual(history.agents()[0], {
      agentId: 'one',
      name: 'Agent One',
      more: false,
      paging: false,
      state: 'sign-in',
      message: 'Sign in first',
    })
  })

  it('forgets what an agent listed when it exits, and remembers its capabilities', async () => {
    await history.start('one')
    await until(() => history.items().length === 2)
    fixture.agent.exit()
    await until(() => note('one')?.state === 'not-started')
    assert.equal(history.items().length, 0)
    assert.equal(fixture.records.agent('one')?.load, true)
    assert.equal(fixture.records.agent('one')?.name, 'Agent One')
  })

  it('lists only the current session of a conversation, as long as that session exists', () => {
    const { records } = fixture
    const put = (agentId: string, sessionId: string) =>
      records.opened(agentId, {
        ...{ sessionId, cwd: '/w/a', additionalDirectories: [], title: sessionId },
      })
    const leadsTo = (agentId: string, sessionId: string, continuedIn: SessionId) =>
      records.noted(agentId, { sessionId, cwd: '/w/a' }, { continuedIn })
    put('one', 'first')
    put('two', 'second')
    put('one', 'third')
    leadsTo('one', 'first', { agentId: 'two', sessionId: 'second' })
    leadsTo('two', 'second', { agentId: 'one', sessionId: 'third' })
    const titles = () => history.items().map(({ title }) => title)
    assert.deepEqual(titles(), ['third'])
    const earlier = history.earlier().get('one/third') ?? []
    assert.deepEqual(
      earlier.map(({ title }) => title),
      ['first', 'second'],
    )
    assert.equal(history.find('one', 'first')?.title, 'first')
    // nothing of it is lost with the row
    records.forget('one', 'third')
    assert.deepEqual(titles(), ['second'])
    records.forget('two', 'second')
    assert.deepEqual(titles(), ['first'])
    // what is stored may be anything
    leadsTo('one', 'first', { agentId: 'one', sessionId: 'first' })
    assert.deepEqual(titles(), ['first'])
  })
})
