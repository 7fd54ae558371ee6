import { strict as assert } from 'node:assert'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { mock } from 'node:test'
import type { Disposable } from '../../../src/common/disposable.ts'
import { ConversationStorage } from '../../../src/history/conversation-storage.ts'
import { StorageTrouble } from '../../../src/history/database.ts'
import { LocalSessions, type LocalSessionsOptions } from '../../../src/history/local-sessions.ts'
import type { ModelUsage, UsageRecord } from '../../../src/history/session-store.ts'

const sqlite: typeof import('node:sqlite') | undefined = process.getBuiltinModule('node:sqlite')
const session = (sessionId: string, title?: string) => ({
  sessionId,
  cwd: '/w',
  additionalDirectories: ['/lib'],
  ...(title !== undefined && { title }),
})

describe('LocalSessions', () => {
  let directory: string
  let file: string
  let now: number
  let problems: string[]
  const open: Disposable[] = []

  beforeEach(() => {
    directory = mkdtempSync(path.join(tmpdir(), 'parley-history-'))
    file = path.join(directory, 'state', 'sessions.db')
    now = 1000
    problems = []
  })
  afterEach(() => {
    for (const sessions of open.splice(0)) sessions.dispose()
    rmSync(directory, { recursive: true, force: true })
  })

  /** As in a window that has just started. */
  function makeWithClock(): LocalSessions {
    const storage = new ConversationStorage({
      file: path.join(directory, 'conversations.db'),
      now: () => now,
    })
    open.push(storage)
    return make({ seenClock: storage.clock })
  }

  function make(options: Partial<LocalSessionsOptions> = {}): LocalSessions {
    const sessions = new LocalSessions({
      file,
      now: () => now,
      trouble: new StorageTrouble(message => problems.push(message)),
      ...options,
    })
    open.push(sessions)
    return sessions
  }

  function remembers(sessions: LocalSessions): void {
    sessions.opened('claude', session('one', 'First'))
    now = 2000
    sessions.opened('claude', session('two'))
    sessions.opened('codex', session('one', 'Other'))
    assert.deepEqual(
      sessions.list('claude').map(known => [known.sessionId, known.title, known.updatedAt]),
      [
        ['two', undefined, 2000],
        ['one', 'First', 1000],
      ],
    )
    now = 3000
    sessions.touched('claude', 'one', undefined)
    sessions.touched('claude', 'two', 'Second')
    sessions.touched('claude', 'never opened', 'x')
    assert.deepEqual(sessions.get('claude', 'one'), {
      agentId: 'claude',
      sessionId: 'one',
      cwd: '/w',
      additionalDirectories: ['/lib'],
      title: 'First',
      createdAt: 1000,
      updatedAt: 3000,
    })
    assert.equal(sessions.list('claude').length, 2)
    sessions.opened('claude', { sessionId: 'two', cwd: '/elsewhere', additionalDirectories: [] })
    const two = sessions.get('claude', 'two')
    assert.deepEqual([two?.cwd, two?.title, two?.createdAt], ['/elsewhere', 'Second', 2000])
    sessions.forget('claude', 'one')
    assert.equal(sessions.get('claude', 'one'), undefined)
    assert.equal(sessions.get('codex', 'one')?.title, 'Other')
    assert.equal(sessions.agent('claude'), undefined)
    sessions.agentRuns('claude', { list: false, load: true, resume: false })
    assert.deepEqual(sessions.agent('claude'), { list: false, load: true, resume: false })
    sessions.agentRuns('claude', { name: 'Claude', list: false, load: true, resume: false })
    assert.equal(sessions.agent('claude')?.name, 'Claude')
  }

  it("stores a session's system prompt, even if there is none or an unknown kind", function () {
    if (!sqlite) this.skip()
    const sessions = make()
    const systemPrompt = { mode: 'append' as const, text: 'Be brief.' }
    sessions.opened('claude', { ...session('one', 'First'), systemPrompt })
    sessions.opened('claude', { ...session('two', 'Second'), systemPrompt: null })
    sessions.opened('claude', session('three', 'Third'))
    sessions.opened('claude', session('one', 'First'))
    sessions.dispose()
    const again = make()
    assert.deepEqual(
      ['one', 'two', 'three'].map(id => again.get('claude', id)?.systemPrompt),
      [systemPrompt, null, undefined],
    )
  })

  it("stores the user's title of a session and that it's archived", function () {
    if (!sqlite) this.skip()
    const sessions = make()
    sessions.opened('claude', session('one', 'First'))
    now = 5000
    sessions.noted('claude', { sessionId: 'one', cwd: '/w' }, { givenTitle: ' Mine ' })
    sessions.noted(
      'claude',
      { sessionId: 'other', cwd: '/v', title: 'Told', updatedAt: 70 },
      { archived: true },
    )
    sessions.opened('claude', session('one', 'Second'))
    sessions.dispose()
    const again = make()
    assert.deepEqual(
      again
        .list('claude')
        .map(({ sessionId, title, givenTitle, archived, updatedAt }) => [
          sessionId,
          title,
          givenTitle,
          archived,
          updatedAt,
        ]),
      [
        ['one', 'Second', 'Mine', undefined, 5000],
        ['other', 'Told', undefined, true, 70],
      ],
    )
    again.noted('claude', { sessionId: 'one', cwd: '/w' }, { givenTitle: '' })
    again.noted('claude', { sessionId: 'other', cwd: '/v' }, { archived: false })
    assert.equal(again.get('claude', 'one')?.givenTitle, undefined)
    assert.equal(again.get('claude', 'other')?.archived, undefined)
  })

  it('knows in which session a conversation goes on, until that one is opened again', function () {
    if (!sqlite) this.skip()
    const next = { agentId: 'codex', sessionId: 'next' }
    const sessions = make()
    sessions.opened('claude', session('one', 'First'))
    sessions.noted('claude', session('one'), { continuedIn: next })
    const lists = () => [make(), sessions].map(one => one.list('claude')[0]?.continuedIn)
    assert.deepEqual(lists(), [next, next])
    // what is said of it later changes nothing
    sessions.touched('claude', 'one', 'Later')
    sessions.noted('claude', session('one'), { pinned: true })
    assert.deepEqual(lists(), [next, next])
    sessions.opened('claude', session('one'))
    assert.deepEqual(lists(), [undefined, undefined])
    sessions.noted('claude', session('one'), { continuedIn: next })
    sessions.forget('claude', 'one')
    sessions.opened('claude', session('one'))
    assert.deepEqual(lists(), [undefined, undefined])
  })

  it('knows where the agent of a session ran, until another one opens it', function () {
    if (!sqlite) this.skip()
    const place = { isRemote: true, pathMappings: [{ localRoot: '/w', remoteRoot: '/srv' }] }
    const sessions = make()
    sessions.opened('claude', { ...session('one', 'First'), place })
    sessions.opened('claude', session('local'))
    const places = () => ['one', 'local'].map(id => make().get('claude', id)?.place)
    assert.deepEqual(places(), [place, undefined])
    sessions.touched('claude', 'one', 'Later')
    sessions.noted('claude', session('one'), { pinned: true })
    assert.deepEqual(places(), [place, undefined])
    const database = new sqlite.DatabaseSync(file)
    for (const damaged of ['{', '{"pathMappings":[{"localRoot":1}]}']) {
      database.prepare('UPDATE session_places SET place = ?').run(damaged)
      // no path of another machine may become one of this machine
      assert.deepEqual(places(), [{ isRemote: true, pathMappings: [] }, undefined])
    }
    database.close()
    sessions.opened('claude', session('one'))
    assert.deepEqual(places(), [undefined, undefined])
    sessions.opened('claude', { ...session('one'), place })
    sessions.forget('claude', 'one')
    sessions.opened('claude', session('one'))
    assert.deepEqual(places(), [undefined, undefined])
  })

  it('can be written by a window of the version that knew nothing of conversations that go on', function () {
    if (!sqlite) return this.skip()
    const sessions = make()
    sessions.opened('claude', session('one', 'First'))
    sessions.noted('claude', session('one'), { continuedIn: { agentId: 'codex', sessionId: 'next' } })
    const earlier = new sqlite.DatabaseSync(file)
    earlier
      .prepare(
        `INSERT INTO sessions VALUES ('claude', 'one', '/w', '[]', 'Renamed', 1, 2, NULL, 0, NULL, NULL, 0, 0)
         ON CONFLICT DO UPDATE SET title = excluded.title`,
      )
      .run()
    earlier.close()
    const [known] = sessions.list('claude')
    assert.deepEqual([known?.title, known?.continuedIn?.sessionId], ['Renamed', 'next'])
  })

  const used = (sessionId: string, more: Partial<UsageRecord> = {}): UsageRecord => ({
    ...{ agentId: 'claude', sessionId, day: '2026-11-22', currency: 'USD', cost: 0, mark: 0 },
    ...{ totalTokens: 0, inputTokens: 0, outputTokens: 0 },
    ...more,
  })

  it('sums up the usage of all windows by day and agent, and stores how far sessions are counted', function () {
    if (!sqlite) this.skip()
    now = new Date(2026, 10, 22).getTime()
    const [first, second] = [make(), make()]
    first.addUsage(used('one', { cost: 0.25, mark: 0.25 }))
    second.addUsage(used('two', { cost: 0.5, mark: 0.5 }))
    first.addUsage(used('one', { currency: '', totalTokens: 12, inputTokens: 10, outputTokens: 2 }))
    first.addUsage(used('one', { day: '2026-11-23', cost: 1, mark: 1.25 }))
    // how far it's counted, even without any usage
    first.addUsage(used('three', { agentId: 'codex', day: '2026-11-23', mark: 9 }))
    first.forget('claude', 'two')
    for (const sessions of [first, second, make()]) {
      assert.deepEqual(
        sessions
          .usage('2026-11-22')
          .map(row => [row.day, row.agentId, row.currency, row.cost, row.totalTokens]),
        [
          ['2026-11-22', 'claude', '', 0, 12],
          ['2026-11-22', 'claude', 'USD', 0.75, 0],
          ['2026-11-23', 'claude', 'USD', 1, 0],
        ],
      )
      assert.equal(sessions.usage('2026-11-23').length, 1)
      assert.deepEqual(
        sessions
          .sessionUsage('claude', 'one')
          .map(({ currency, mark, cost, inputTokens }) => [...[currency, mark, cost, inputTokens]]),
        [
          ['', 0, 0, 10],
          ['USD', 1.25, 1.25, 0],
        ],
      )
      assert.deepEqual(sessions.sessionUsage('claude', 'two'), [])
      assert.equal(sessions.sessionUsage('codex', 'three')[0]?.mark, 9)
    }
  })

  const byModel = (model: string, totalTokens: number, day = '2026-11-22'): ModelUsage => ({
    ...{ agentId: 'codex', day, model, totalTokens, inputTokens: totalTokens, outputTokens: 0 },
  })

  it('sums up the tokens of models in all windows by day', function () {
    if (!sqlite) this.skip()
    now = new Date(2026, 10, 22).getTime()
    const [first, second] = [make(), make()]
    first.addModelUsage(byModel('large', 5))
    second.addModelUsage(byModel('large', 7))
    second.addModelUsage(byModel('small', 1))
    first.addModelUsage(byModel('large', 2, '2026-11-23'))
    for (const sessions of [first, second, make()]) {
      assert.deepEqual(sessions.modelUsage('codex', '2026-11-22'), [
        byModel('large', 12),
        byModel('small', 1),
        byModel('large', 2, '2026-11-23'),
      ])
      assert.deepEqual(sessions.modelUsage('codex', '2026-11-23'), [byModel('large', 2, '2026-11-23')])
      assert.deepEqual(sessions.modelUsage('claude', ''), [])
    }
  })

  it('deletes usage older than a year', function () {
    if (!sqlite) this.skip()
    now = new Date(2026, 10, 22).getTime()
    makeWithClock().addUsage(used('one', { cost: 1, mark: 1 }))
    makeWithClock().addModelUsage(byModel('large', 5))
    // in use all the time
    for (; now < new Date(2027, 11, 30).getTime(); now += 86_400_000)
      makeWithClock().addUsage(used('two', { day: '2027-12-30', cost: 0, mark: 2 }))
    const later = makeWithClock()
    later.addUsage(used('two', { day: '2027-12-30', cost: 2, mark: 2 }))
    assert.deepEqual(
      later.usage('').map(({ day }) => day),
      ['2027-12-30'],
    )
    assert.deepEqual(later.sessionUsage('claude', 'one'), [])
    assert.deepEqual(later.modelUsage('codex', ''), [])
  })

  it('deletes no usage because the clock is wrong', function () {
    if (!sqlite) this.skip()
    const today = new Date(2026, 10, 22).getTime()
    const years = 3 * 365 * 86_400_000
    for (const [day, time] of [
      ['2026-11-22', today],
      ['2029-11-21', today + years],
      ['2026-11-23', today + 86_400_000],
      ['2023-11-24', today - years],
      ['2026-11-24', today + 2 * 86_400_000],
    ] as const) {
      now = time
      makeWithClock().addUsage(used('one', { day, cost: 1, mark: 1 }))
    }
    assert.equal(makeWithClock().usage('').length, 5)
  })

  it('migrates a database of the first version', function () {
    if (!sqlite) this.skip()
    mkdirSync(path.dirname(file), { recursive: true })
    const old = new sqlite.DatabaseSync(file)
    old.exec(`CREATE TABLE sessions (agent_id TEXT NOT NULL, session_id TEXT NOT NULL, cwd TEXT NOT NULL,
      additional_directories TEXT NOT NULL, title TEXT, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL,
      PRIMARY KEY (agent_id, session_id)) STRICT, WITHOUT ROWID;
      CREATE TABLE agents (agent_id TEXT PRIMARY KEY, capabilities TEXT NOT NULL) STRICT, WITHOUT ROWID;
      INSERT INTO sessions VALUES ('claude', 'one', '/w', '[]', 'First', 1, 2);
      INSERT INTO agents VALUES ('claude', '{"load":true}');
      PRAGMA user_version = 1;`)
    old.close()
    const sessions = make()
    assert.deepEqual(problems, [])
    assert.equal(sessions.get('claude', 'one')?.title, 'First')
    assert.deepEqual(sessions.agent('claude'), { list: false, load: true, resume: false })
    sessions.noted('claude', { sessionId: 'one', cwd: '/w' }, { givenTitle: 'Mine' })
    assert.equal(sessions.get('claude', 'one')?.givenTitle, 'Mine')
  })

  it('stores some earlier titles of a session (quirk 31)', function () {
    if (!sqlite) this.skip()
    const sessions = make()
    for (let i = 0; i < 13; i++) {
      const title = `Title ${i}`
      sessions.opened('claude', { sessionId: 'one', cwd: '/w', additionalDirectories: [], title })
    }
    sessions.noted('claude', { sessionId: 'one', cwd: '/w' }, { givenTitle: 'Mine' })
    sessions.noted('claude', { sessionId: 'one', cwd: '/w' }, { givenTitle: '' })
    sessions.touched('claude', 'one', 'Title 11')
    const former = make().get('claude', 'one')?.formerTitles
    assert.equal(former?.length, 10)
    assert.deepEqual(former?.slice(-3), ['Title 10', 'Mine', 'Title 12'])
  })

  it('migrates a database of an earlier version of Parley', function () {
    if (!sqlite) this.skip()
    mkdirSync(path.dirname(file), { recursive: true })
    copyFileSync(new URL('../../fixtures/history/sessions-v3.db', import.meta.url), file)
    const sessions = make()
    assert.deepEqual(sessions.list('claude'), [
      {
        agentId: 'claude',
        sessionId: 'one',
        cwd: '/w',
        additionalDirectories: ['/x'],
        title: 'A bug',
        createdAt: 1000,
        updatedAt: 1000,
      },
    ])
    assert.deepEqual(sessions.agent('claude'), { name: 'Claude', list: true, load: true, resume: false })
    assert.deepEqual(problems, [])
  })

  it('continues without SQLite, and logs it once', () => {
    const sessions = make({ sqlite: undefined })
    remembers(sessions)
    assert.equal(problems.length, 1)
    assert.match(problems[0]!, /its session list to disk/)
  })

  it('detects whether this Node has SQLite', () => {
    assert.deepEqual(make().list('claude'), [])
    assert.equal(problems.length, sqlite === undefined ? 1 : 0)
  })

  it("touches no file before it's used", () => {
    make()
    assert(!existsSync(path.dirname(file)))
    assert.deepEqual(problems, [])
  })

  describe('with SQLite', () => {
    before(function () {
      // Node 20 has no SQLite; these tests also run in the extension host
      if (!sqlite) this.skip()
    })

    function query(sql: string): Record<string, unknown> | undefined {
      const db = new sqlite!.DatabaseSync(file)
      try {
        return db.prepare(sql).get()
      } finally {
        db.close()
      }
    }

    it("stores for how long a session's turns ran, and its limit", () => {
      const id = { agentId: 'claude', sessionId: 'one' }
      const cost = { cost: 5 }
      const span = { ms: 5, at: 7, limit: { steps: cost, limits: { cost: 10 }, warned: cost, stopped: {} } }
      const first = make()
      first.opened('claude', { sessionId: 'one', cwd: '/w', additionalDirectories: [] })
      first.putSpan(id, { ms: 1 })
      first.putSpan(id, span)
      const second = make()
      assert.deepEqual(second.span('claude', 'one'), span)
      assert.equal(second.span('claude', 'two'), undefined)
      query('UPDATE session_spans SET span = \'{"ms": 5, "limit": {"limits": "none"}}\'')
      assert.deepEqual(second.span('claude', 'one'), { ms: 5, limit: undefined })
      query('UPDATE session_spans SET span = \'{"ms": -1}\'')
      assert.equal(second.span('claude', 'one'), undefined)
      first.putSpan(id, span)
      first.forget('claude', 'one')
      assert.equal(second.span('claude', 'one'), undefined)
    })

    it('stores sessions', () => {
      remembers(make())
      assert.deepEqual(problems, [])
    })

    it('leaves nothing of a deleted session in any file, also while another window has it open', () => {
      const [first, second] = [make(), make()]
      const title = 'deleted-title'
      first.opened('a', session('s', title))
      first.opened('a', session('other', 'kept'))
      second.list('a')
      const stored = () =>
        readdirSync(path.dirname(file)).filter(name =>
          readFileSync(path.join(path.dirname(file), name)).includes(title),
        )
      assert.notDeepEqual(stored(), [])
      first.forget('a', 's')
      assert.deepEqual(stored(), [])
      assert.equal(second.get('a', 'other')?.title, 'kept')
    })

    it('stores sessions across windows', () => {
      remembers(make())
      open.pop()!.dispose()
      const again = make()
      assert.deepEqual(
        again.list('claude').map(known => known.title),
        ['Second'],
      )
      assert.deepEqual(again.agent('claude'), { name: 'Claude', list: false, load: true, resume: false })
    })

    it('is shared by two windows at once', () => {
      const [one, two] = [make(), make()]
      one.opened('claude', session('a', 'From one'))
      two.opened('claude', session('b', 'From two'))
      two.touched('claude', 'a', 'Changed by two')
      assert.deepEqual(
        one
          .list('claude')
          .map(known => known.title)
          .sort(),
        ['Changed by two', 'From two'],
      )
      assert.equal(query('PRAGMA journal_mode')?.journal_mode, 'wal')
    })

    it('keeps any text unchanged', () => {
      const title = "Robert'); DROP TABLE sessions;-- “😀”\n\té"
      make().opened('a"b', session('x', title))
      assert.equal(make().list('a"b')[0]?.title, title)
    })

    it('moves a damaged file aside and starts over', () => {
      mkdirSync(path.dirname(file), { recursive: true })
      writeFileSync(file, 'this is no database, and it is long enough to be taken for one. '.repeat(100))
      const sessions = make()
      remembers(sessions)
      assert.match(problems.join(), /list of sessions was damaged, so Parley created a new one/)
      const aside = readdirSync(path.dirname(file)).filter(name => name.includes('.damaged-'))
      assert.equal(aside.length, 1)
    })

    it('detects damage in a file that can be opened', () => {
      const first = make()
      for (let at = 0; at < 500; at++) first.opened('claude', session(`s${at}`, 'x'.repeat(100)))
      first.dispose()
      const bytes = readFileSync(file)
      bytes.fill(0xff, 4096)
      writeFileSync(file, bytes)
      const sessions = make()
      assert.deepEqual(sessions.list('claude'), [])
      remembers(sessions)
      assert.equal(problems.length, 1)
    })

    it("doesn't touch a database of a newer version", () => {
      const first = make()
      first.opened('claude', session('a'))
      first.dispose()
      query('PRAGMA user_version = 99')
      const sessions = make()
      remembers(sessions)
      assert.equal(problems.length, 1)
      assert.match(problems[0]!, /newer version/)
      sessions.dispose()
      assert.equal(query('PRAGMA user_version')?.user_version, 99)
      assert.equal(query('SELECT count(*) AS n FROM sessions')?.n, 1)
    })

    it('continues while the database is locked, and writes later', () => {
      const sessions = make()
      sessions.opened('claude', session('before'))
      const other = new sqlite!.DatabaseSync(file)
      other.exec('BEGIN IMMEDIATE')
      sessions.opened('claude', session('while'))
      now = 5000
      sessions.touched('claude', 'before', 'Titled while locked')
      assert.deepEqual(
        sessions.list('claude').map(known => [known.sessionId, known.title]),
        [
          ['before', 'Titled while locked'],
          ['while', undefined],
        ],
      )
      assert.equal(problems.length, 1)
      other.exec('ROLLBACK')
      other.close()
      sessions.opened('claude', session('after'))
      assert.equal(problems.length, 1)
      assert.deepEqual(
        make()
          .list('claude')
          .map(known => known.sessionId)
          .sort(),
        ['after', 'before', 'while'],
      )
    })

    it("doesn't show a deleted session again while the database is locked, and deletes it later", () => {
      const sessions = make()
      for (const id of ['one', 'two']) sessions.opened('claude', session(id))
      sessions.noted('claude', session('one'), { givenTitle: 'Mine' })
      const other = new sqlite!.DatabaseSync(file)
      other.exec('BEGIN IMMEDIATE')
      sessions.forget('claude', 'one')
      const ids = (all = sessions) => all.list('claude').map(({ sessionId }) => sessionId)
      assert.deepEqual([ids(), sessions.get('claude', 'one')], [['two'], undefined])
      // the same session, opened again, has nothing of the deleted one
      sessions.forget('claude', 'two')
      sessions.opened('claude', session('two'))
      assert.deepEqual(ids(), ['two'])
      other.exec('ROLLBACK')
      other.close()
      sessions.dispose()
      assert.deepEqual(ids(make()), ['two'])
    })

    it('counts usage once, later, if the database is locked', () => {
      const sessions = make()
      sessions.addUsage(used('one', { cost: 1, mark: 1 }))
      const other = new sqlite!.DatabaseSync(file)
      other.exec('BEGIN IMMEDIATE')
      sessions.addUsage(used('one', { cost: 2, mark: 3 }))
      sessions.addUsage(used('one', { cost: 4, mark: 7 }))
      sessions.addModelUsage(byModel('large', 5))
      sessions.addModelUsage(byModel('large', 6))
      assert.equal(sessions.usage('')[0]?.cost, 7)
      assert.deepEqual(sessions.modelUsage('codex', ''), [byModel('large', 11)])
      other.exec('ROLLBACK')
      other.close()
      sessions.addUsage(used('one', { cost: 8, mark: 15 }))
      const window = make()
      for (const [cost, mark] of [
        [sessions.usage('')[0]?.cost, sessions.sessionUsage('claude', 'one')[0]?.mark],
        [window.usage('')[0]?.cost, window.sessionUsage('claude', 'one')[0]?.mark],
      ])
        assert.deepEqual([cost, mark], [15, 15])
      assert.deepEqual(window.modelUsage('codex', ''), [byModel('large', 11)])
    })

    it('continues on a full disk', () => {
      const sessions = make()
      sessions.opened('claude', session('before'))
      const full = sqlite!.DatabaseSync.prototype.prepare
      const error = Object.assign(new Error('database or disk is full'), {
        code: 'ERR_SQLITE_ERROR',
        errcode: 13,
      })
      sqlite!.DatabaseSync.prototype.prepare = () => {
        throw error
      }
      try {
        sessions.agentRuns('claude', { list: true, load: true, resume: true })
        assert.deepEqual(sessions.agent('claude'), { list: true, load: true, resume: true })
      } finally {
        sqlite!.DatabaseSync.prototype.prepare = full
      }
      assert.equal(problems.length, 1)
      assert.match(problems[0]!, /disk is full/)
      sessions.dispose()
      assert.deepEqual(make().agent('claude'), { list: true, load: true, resume: true })
    })

    it('continues if no file can be created', () => {
      writeFileSync(path.join(directory, 'state'), 'a file where a directory should be')
      const sessions = make()
      remembers(sessions)
      assert.equal(problems.length, 1)
      assert(!existsSync(file))
    })

    it('saves everything once the file can be created', () => {
      writeFileSync(path.join(directory, 'state'), 'a file where a directory should be')
      const sessions = make()
      remembers(sessions)
      sessions.addUsage(used('one', { cost: 1, mark: 1 }))
      const known = sessions.list('claude')
      rmSync(path.join(directory, 'state'))
      now += 10_000
      sessions.touched('codex', 'one', 'Renamed')
      assert.deepEqual(sessions.list('claude'), known)
      const other = make()
      assert.deepEqual(other.list('claude'), known)
      assert.equal(other.get('codex', 'one')?.title, 'Renamed')
      assert.equal(other.usage('')[0]?.cost, 1)
      assert.equal(problems.length, 1)
    })

    it('saves everything once the file can be created, without another change', () => {
      mock.timers.enable({ apis: ['setTimeout'] })
      try {
        writeFileSync(path.join(directory, 'state'), 'a file where a directory should be')
        const sessions = make()
        sessions.opened('claude', session('one', 'First'))
        const later = (ms: number) => {
          now += ms
          mock.timers.tick(ms)
        }
        later(6000)
        rmSync(path.join(directory, 'state'))
        later(6000)
        assert.equal(make().get('claude', 'one')?.title, 'First')
      } finally {
        mock.timers.reset()
      }
    })

    it("saves everything when it is closed, even right after it couldn't be opened", () => {
      writeFileSync(path.join(directory, 'state'), 'a file where a directory should be')
      const sessions = make()
      sessions.opened('claude', session('one', 'First'))
      rmSync(path.join(directory, 'state'))
      sessions.dispose()
      assert.equal(make().get('claude', 'one')?.title, 'First')
    })

    it("creates no file when it's closed unused", () => {
      make().dispose()
      assert(!existsSync(file))
    })

    it('does nothing after it was closed', () => {
      const sessions = make()
      sessions.dispose()
      sessions.opened('claude', session('late'))
      assert.deepEqual(make().list('claude'), [])
      assert.deepEqual(problems, [])
    })
  })
})
