import { strict as assert } from 'node:assert'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { previewOf } from '../../../src/app/history/preview.ts'
import { SecretRegistry } from '../../../src/common/secrets.ts'
import { sessionKey } from '../../../src/common/session-key.ts'
import type { Entry, TerminalState } from '../../../src/conversation/state.ts'
import {
  ConversationStorage,
  type ConversationStorageOptions,
} from '../../../src/history/conversation-storage.ts'
import { StorageTrouble, type TroubleAction } from '../../../src/history/database.ts'
import {
  entryJson,
  readEntry,
  readHead,
  readTerminal,
  TRANSCRIPT_MIGRATIONS,
  valueJson,
} from '../../../src/history/transcript-schema.ts'
import { until } from '../../support/until.ts'

const sqlite: typeof import('node:sqlite') | undefined = process.getBuiltinModule('node:sqlite')
const entry = (position: number, text: string): { position: number; entry: Entry } => ({
  position,
  entry: { kind: 'message', id: `e${position}`, turn: 1, role: 'agent', blocks: [{ type: 'text', text }] },
})

describe('the conversation storage', () => {
  let directory: string
  let file: string
  let problems: string[]
  let actions: TroubleAction[]
  const open: ConversationStorage[] = []

  beforeEach(() => {
    directory = mkdtempSync(path.join(tmpdir(), 'parley-transcripts-'))
    file = path.join(directory, 'state', 'conversations.db')
    problems = []
    actions = []
  })
  afterEach(() => {
    for (const storage of open.splice(0)) storage.dispose()
    rmSync(directory, { recursive: true, force: true })
  })

  function make(options: Partial<ConversationStorageOptions> = {}): ConversationStorage {
    const trouble = new StorageTrouble((message, action) => {
      problems.push(message)
      if (action) actions.push(action)
    })
    const storage = new ConversationStorage({ file, trouble, ...options })
    open.push(storage)
    return storage
  }
  const textsOf = (storage: ConversationStorage, sessionId = 's') =>
    storage.transcripts
      .read('a', sessionId)
      ?.entries.map(kept =>
        kept.kind === 'message' && kept.blocks[0]?.type === 'text' ? kept.blocks[0].text : '?',
      )

  const query = (sql: string) => {
    const db = new sqlite!.DatabaseSync(file)
    try {
      return db.prepare(sql).get()
    } finally {
      db.close()
    }
  }

  it("touches no file before it's used", () => {
    make()
    assert(!existsSync(path.dirname(file)))
    assert.deepEqual(problems, [])
  })

  it('writes no secret that Parley holds, not even in pieces', function () {
    if (!sqlite) this.skip()
    const secrets = new SecretRegistry()
    secrets.add('hunter2/"hunter2"')
    const storage = make({ secrets })
    const said = `It is hunter2/"hunter2" or ${Buffer.from('hunter2/"hunter2"').toString('base64')}.`
    storage.transcripts.write('a', 's', {
      replace: true,
      entries: [entry(0, said)],
      terminals: [{ terminalId: 't', command: said, output: said } as TerminalState],
      head: { title: said, plans: [], working: false } as never,
    })
    storage.transcripts.write('a', 's', {
      replace: false,
      entries: [],
      texts: [{ position: 0, block: 0, text: said }],
      terminals: [],
      outputs: [{ terminalId: 't', text: said }],
    })
    assert.deepEqual(textsOf(storage), ['It is ••• or •••I=.It is ••• or •••I=.'])
    storage.dispose()
    for (const name of readdirSync(path.dirname(file))) {
      const bytes = readFileSync(path.join(path.dirname(file), name), 'utf8')
      assert.doesNotMatch(bytes, /hunter2|aHVudGVy/)
    }
  })

  it("saves everything once a file that couldn't be created can be, and nothing after it was closed", function () {
    if (!sqlite) this.skip()
    writeFileSync(path.dirname(file), 'a file where a directory should be')
    let now = 1000
    const storage = make({ now: () => now })
    const write = () =>
      storage.transcripts.write('a', 's', { replace: true, entries: [entry(0, 'x')], terminals: [] })
    assert.equal(storage.leases.acquire('a', 's'), true)
    assert.equal(write(), false)
    rmSync(path.dirname(file))
    assert.equal(write(), false, 'not tried again with every change')
    now += 10_000
    assert.equal(write(), true)
    assert.deepEqual(textsOf(make()), ['x'])
    assert.equal(make({ now: () => now }).leases.isElsewhere('a', 's'), true)
    assert.equal(problems.length, 1)
    storage.dispose()
    now += 10_000
    assert.equal(write(), false)
  })

  it('continues without SQLite, and logs it once', () => {
    const storage = make({ sqlite: undefined })
    const write = () =>
      storage.transcripts.write('a', 's', { replace: false, entries: [entry(0, 'x')], terminals: [] })
    assert.equal(write(), false)
    assert.equal(write(), false)
    assert.equal(storage.transcripts.read('a', 's'), undefined)
    assert.equal(problems.length, 1)
  })

  it('shows a damaged row as damaged, in its place', () => {
    for (const json of ['', '{', 'null', '[]', '{"kind":"message"}', '{"kind":"toString"}']) {
      const read = readEntry(json, 3)
      assert.deepEqual([read.kind, read.id], ['unknown', 'e3'], json)
    }
    assert.equal(readTerminal('{"terminalId":1}'), undefined)
    assert.deepEqual(readHead('nonsense'), {})
    assert.equal(readHead('{"title":3,"usage":{"used":1,"size":2}}').title, undefined)
    assert.equal(readHead('{"title":3,"usage":{"used":1,"size":2}}').usage?.size, 2)
  })

  /** Nested so deeply that it can't be serialized. */
  const deep = (levels: number) => '['.repeat(levels) + ']'.repeat(levels)
  const unknown = (position: number, raw: unknown): Entry => ({
    kind: 'unknown',
    id: `e${position}`,
    turn: 0,
    updateKind: 'x',
    raw,
  })

  it('cuts what is nested too deeply, when it is written and when it is read', () => {
    for (const json of [
      entryJson(unknown(0, JSON.parse(deep(50_000)))),
      `{"kind":"unknown","id":"e0","turn":0,"updateKind":"x","raw":${deep(50_000)}}`,
    ]) {
      const read = readEntry(json, 0)
      assert.ok(read.kind === 'unknown' && read.updateKind === 'x')
      assert.match(JSON.stringify(read.raw), /^\[{90,100}"…"\]{90,100}$/)
    }
    assert.equal(JSON.parse(entryJson(unknown(0, 1n))).updateKind, 'damaged')
    assert.equal(valueJson({ never: 1n }), undefined)
  })

  describe('on disk', () => {
    it("writes the other entries if one can't be written", () => {
      const storage = make()
      const bad = { position: 1, entry: unknown(1, JSON.parse(deep(50_000))) }
      const entries = [entry(0, 'before'), bad, entry(2, 'after')]
      const written = storage.transcripts.write('a', 's', { replace: true, entries, terminals: [] })
      assert.deepEqual([written, textsOf(storage), problems], [true, ['before', '?', 'after'], []])
    })

    const write = (window: ConversationStorage, replace: boolean, ...texts: Array<[number, string]>) =>
      window.transcripts.write('a', 's', {
        replace,
        entries: texts.map(([at, text]) => entry(at, text)),
        terminals: [],
      })

    before(function () {
      if (!sqlite) this.skip()
    })

    it('returns what another window wrote', () => {
      const first = make()
      first.transcripts.write('a', 's', {
        replace: false,
        entries: [entry(0, 'one'), entry(1, 'two')],
        terminals: [{ terminalId: 't', output: 'out', truncated: false }],
        head: { title: 'Title' },
      })
      first.transcripts.write('a', 's', {
        replace: false,
        entries: [entry(1, 'two and more')],
        terminals: [],
      })
      const second = make()
      assert.deepEqual(textsOf(second), ['one', 'two and more'])
      assert.equal(second.transcripts.read('a', 's')?.terminals[0]?.output, 'out')
      assert.equal(second.transcripts.read('a', 's')?.head.title, 'Title')
      assert.equal(second.transcripts.read('a', 'other'), undefined)
      assert.equal(second.transcripts.read('b', 's'), undefined)
      assert.deepEqual(problems, [])
    })

    it('joins texts and output that were written in pieces', () => {
      const storage = make()
      const nothing = { replace: false, entries: [], terminals: [] }
      storage.transcripts.write('a', 's', {
        replace: false,
        entries: [entry(0, 'one'), entry(1, 'two')],
        terminals: [{ terminalId: 't', output: 'out', truncated: false }],
      })
      storage.transcripts.write('a', 's', { ...nothing, texts: [{ position: 1, block: 0, text: ' and' }] })
      storage.transcripts.write('a', 's', {
        ...nothing,
        texts: [
          { position: 1, block: 0, text: ' more' },
          { position: 0, block: 7, text: 'of no block' },
          { position: 9, block: 0, text: 'of no entry' },
        ],
        outputs: [
          { terminalId: 't', text: 'put' },
          { terminalId: 'gone', text: 'of no terminal' },
        ],
      })
      assert.deepEqual(textsOf(make()), ['one', 'two and more'])
      assert.equal(make().transcripts.read('a', 's')?.terminals[0]?.output, 'output')
      const whole = { terminalId: 't', output: 'new', truncated: true }
      storage.transcripts.write('a', 's', {
        replace: false,
        entries: [entry(1, 'three')],
        terminals: [whole],
      })
      assert.deepEqual(textsOf(make()), ['one', 'three'], 'what was appended before is in it')
      assert.equal(make().transcripts.read('a', 's')?.terminals[0]?.output, 'new')
    })

    it('replaces a whole conversation, and deletes one', () => {
      const deleted: string[] = []
      const storage = make()
      storage.transcripts.onDidDelete(({ agentId, sessionId }) => deleted.push(`${agentId}/${sessionId}`))
      for (const id of ['s', 'u']) {
        storage.transcripts.write('a', id, {
          replace: false,
          entries: [entry(0, 'one'), entry(1, 'two')],
          terminals: [],
        })
      }
      storage.transcripts.write('a', 's', {
        replace: false,
        entries: [],
        texts: [{ position: 0, block: 0, text: ' and more' }],
        terminals: [],
      })
      storage.transcripts.write('a', 's', { replace: true, entries: [entry(0, 'new')], terminals: [] })
      assert.deepEqual(textsOf(storage), ['new'])
      assert.deepEqual(textsOf(storage, 'u'), ['one', 'two'])
      storage.transcripts.forget('a', 'u')
      assert.equal(storage.transcripts.read('a', 'u'), undefined)
      assert.deepEqual(deleted, ['a/u'])
    })

    const damaged = () =>
      readdirSync(path.dirname(file)).filter(name => /conversations\.db\.damaged-\d+$/.test(name))

    it('returns the ends of a long conversation without reading the rest', () => {
      const { transcripts } = make()
      const entries = Array.from({ length: 5000 }, (_, i) => entry(i, `text ${i}`))
      assert.deepEqual(previewOf(transcripts, { agentId: 'a', sessionId: 's' }).parts, [])
      transcripts.write('a', 's', { replace: true, entries, terminals: [] })
      const texts = [{ position: 4999, block: 0, text: ' and more' }]
      transcripts.write('a', 's', { replace: false, entries: [], texts, terminals: [] })
      const ends = transcripts.ends('a', 's', 2, 3)
      const ids = (list: Entry[] = []) => list.map(({ id }) => id)
      assert.deepEqual(
        [ids(ends?.first), ids(ends?.last)],
        [
          ['e0', 'e1'],
          ['e4997', 'e4998', 'e4999'],
        ],
      )
      const { parts } = previewOf(transcripts, { agentId: 'a', sessionId: 's' })
      assert.deepEqual(parts.slice(0, 2), [{ kind: 'agent', text: 'text 0' }, { kind: 'gap' }])
      assert.deepEqual(parts.at(-1), { kind: 'agent', text: 'text 4999 and more' })
      transcripts.write('a', 't', { replace: true, entries: entries.slice(0, 3), terminals: [] })
      assert.deepEqual(
        previewOf(transcripts, { agentId: 'a', sessionId: 't' }).parts,
        [0, 1, 2].map(i => ({ kind: 'agent', text: `text ${i}` })),
      )
    })

    it('knows at once what is saved, also by other windows', () => {
      const [here, other] = [make(), make()]
      const has = (sessionId: string) =>
        [here, other].map(({ transcripts }) => transcripts.has('a', sessionId))
      const write = (storage: ConversationStorage, sessionId: string) =>
        storage.transcripts.write('a', sessionId, { replace: true, entries: [entry(0, 'x')], terminals: [] })
      assert.deepEqual(has('s'), [false, false])
      write(here, 's')
      assert.deepEqual(has('s'), [true, true])
      // apart, since this window has it
      write(other, 's')
      write(other, 't\u0001')
      assert.deepEqual(
        [has('s'), has('t\u0001'), has('t')],
        [
          [true, true],
          [true, true],
          [false, false],
        ],
      )
      here.transcripts.forget('a', 's')
      assert.deepEqual(
        [has('s'), has('t\u0001')],
        [
          [false, false],
          [true, true],
        ],
      )
      const [copy] = other.transcripts.byAge()
      here.windows.dispose()
      other.windows.dispose()
      make().transcripts.discard(copy!)
      assert.deepEqual(has('t\u0001'), [false, false])
    })

    it('says of a turn what the copy says that is later', () => {
      const [one, two] = [make(), make()]
      const write = (storage: ConversationStorage, frame: number, texts: string[], working: boolean) =>
        storage.transcripts.write('a', 's', {
          ...{ replace: true, entries: texts.map((text, i) => entry(i, text)), terminals: [] },
          ...{ head: { title: `Title ${frame}`, working }, said: { hostedId: 'h', frame } },
        })
      assert.ok(write(one, 1, ['first'], true))
      // the other window has the session
      assert.ok(write(two, 3, ['first', 'second'], false))
      const read = make().transcripts.read('a', 's')
      assert.deepEqual(read?.said, { hostedId: 'h', frame: 3 })
      assert.deepEqual([read?.head.title, read?.head.working], ['Title 3', false])
      assert.equal(read?.entries.length, 2)
    })

    it('keeps sessions apart whose ids contain what separates the copies of one', () => {
      const storage = make()
      const ids = ['s', 's\u0001t', 's\u0001', 's\u0002']
      for (const id of ids)
        storage.transcripts.write('a', id, { replace: true, entries: [entry(0, `of ${id}`)], terminals: [] })
      for (const id of ids) assert.deepEqual(textsOf(make(), id), [`of ${id}`])
      storage.transcripts.forget('a', 's')
      assert.deepEqual(
        ids.map(id => storage.transcripts.has('a', id)),
        [false, true, true, true],
      )
    })

    it('leaves nothing of a deleted conversation in any file, also while other windows have it open', async () => {
      const [first, second] = [make(), make()]
      const text = (n: number) => `${'deleted-text '.repeat(50)}${n}`
      const entries = Array.from({ length: 300 }, (_, i) => entry(i, text(i)))
      first.transcripts.write('a', 's', { replace: true, entries, terminals: [] })
      first.transcripts.write('a', 'other', { replace: true, entries: [entry(0, 'kept')], terminals: [] })
      second.transcripts.read('a', 's')
      const stored = () =>
        readdirSync(path.dirname(file)).filter(name =>
          readFileSync(path.join(path.dirname(file), name)).includes('deleted-text'),
        )
      assert.notDeepEqual(stored(), [])
      // A window that reads at this moment only delays it.
      const reader = new sqlite!.DatabaseSync(file)
      reader.exec('BEGIN; SELECT * FROM entries LIMIT 1')
      reader.prepare('SELECT * FROM entries').all()
      first.transcripts.forget('a', 's')
      await until(() => first.usedBytes < 200_000, 'the deletion')
      reader.exec('COMMIT')
      reader.close()
      await until(() => stored().length === 0, 'nothing is left')
      assert.deepEqual(textsOf(second, 'other'), ['kept'])
    })

    it("moves a file aside that isn't a database, reports it, and starts over", () => {
      mkdirSync(path.dirname(file), { recursive: true })
      const bytes = 'this is no database'.repeat(100)
      writeFileSync(file, bytes)
      assert.equal(write(make(), false, [0, 'x']), true)
      assert.deepEqual(textsOf(make()), ['x'])
      assert.equal(problems.length, 1)
      const [aside = ''] = damaged()
      assert.equal(readFileSync(path.join(path.dirname(file), aside), 'utf8'), bytes, 'nothing of it is lost')
      assert(problems[0]?.includes(aside))
    })

    it('moves it aside as a new one, also while the clock is set back', () => {
      mkdirSync(path.dirname(file), { recursive: true })
      writeFileSync(file, 'this is no database'.repeat(100))
      // when the clock was right
      const written = Date.now() + 365 * 24 * 3_600_000
      utimesSync(file, written / 1000, written / 1000)
      let now = Date.now()
      const storage = make({ now: () => now, maxAgeMs: () => 90 * 24 * 3_600_000 })
      assert.equal(textsOf(storage), undefined)
      for (let day = 0; day < 10; day++) {
        now = written + day * 24 * 3_600_000
        storage.trim()
      }
      assert.equal(damaged().length, 1)
    })

    it('writes the whole conversation again if the written part is lost', () => {
      let broken = false
      class Breaking extends sqlite!.DatabaseSync {
        override exec(sql: string): void {
          if (broken) throw Object.assign(new Error('database disk image is malformed'), { errcode: 11 })
          super.exec(sql)
        }
      }
      const storage = make({ sqlite: { ...sqlite!, DatabaseSync: Breaking } })
      assert.equal(write(storage, false, [0, 'first'], [1, 'second']), true)
      for (const part of ['', '-wal', '-shm']) rmSync(file + part, { force: true })
      broken = true
      assert.equal(write(storage, false, [2, 'third']), false)
      broken = false
      assert.equal(write(storage, false, [2, 'third']), false, 'what comes before is not there')
      assert.equal(write(storage, true, [0, 'first'], [1, 'second'], [2, 'third']), true)
      assert.deepEqual(textsOf(make()), ['first', 'second', 'third'])
    })

    it('says that nothing is saved anymore if the file is damaged again', () => {
      let broken = false
      class Breaking extends sqlite!.DatabaseSync {
        override exec(sql: string): void {
          if (broken) throw Object.assign(new Error('database disk image is malformed'), { errcode: 11 })
          super.exec(sql)
        }
      }
      const storage = make({ sqlite: { ...sqlite!, DatabaseSync: Breaking } })
      for (const isLast of [false, true]) {
        broken = false
        assert.equal(write(storage, true, [0, 'kept']), true)
        broken = true
        assert.equal(write(storage, true, [0, 'not kept']), false)
        assert.equal(problems.length, isLast ? 1 : 0)
      }
      broken = false
      assert.equal(write(storage, true, [0, 'not kept, either']), false)
      assert.match(problems.join(), /can't save conversations .*malformed/)
    })

    it('is reported once if it was damaged while two windows use it', () => {
      const windows = [make(), make()]
      for (const window of windows) assert.equal(write(window, true, [0, 'before']), true)
      for (const part of ['', '-wal', '-shm']) writeFileSync(file + part, 'no database any more'.repeat(500))
      for (const window of windows) {
        write(window, true, [0, 'lost'])
        assert.equal(write(window, true, [0, 'since']), true)
      }
      assert.deepEqual(textsOf(make()), ['since'])
      assert.equal(problems.length, 1)
    })

    it('detects damage in a file that can be opened, and loses only its content', () => {
      const first = make()
      for (let at = 0; at < 500; at++) write(first, false, [at, 'x'.repeat(100)])
      first.dispose()
      const bytes = readFileSync(file)
      bytes.fill(0xff, 8 * 4096, bytes.length - 4096)
      writeFileSync(file, bytes)
      const storage = make()
      const texts = textsOf(storage)!
      const saved = texts.filter(text => text !== '?')
      assert.ok(saved.length > 0 && saved.length < 450, `${saved.length}`)
      assert.ok(saved.every(text => text === 'x'.repeat(100)))
      assert.ok(texts.length > saved.length, 'what is lost is shown in its place')
      assert.equal(write(storage, true, [0, 'said since']), true)
      assert.deepEqual(textsOf(make()), ['said since'])
      assert.equal(damaged().length, 1)
      assert.equal(problems.length, 1)
      assert.match(problems[0]!, /could read 1 of 1 conversations/)
    })

    it('migrates a file of an earlier version', () => {
      mkdirSync(path.dirname(file), { recursive: true })
      copyFileSync(new URL('../../fixtures/history/conversations-v0.db', import.meta.url), file)
      const storage = make()
      const one = storage.transcripts.read('claude', 'one')
      assert.deepEqual(
        one?.entries.map(kept => kept.kind === 'message' && kept.blocks),
        [[{ type: 'text', text: 'Fix the bug' }], [{ type: 'text', text: 'It is fixed.' }]],
      )
      assert.equal(one?.terminals[0]?.output, 'output')
      assert.equal(one?.head.title, 'A bug')
      assert.equal(storage.transcripts.read('codex', 'two')?.entries.length, 1)
      const more = { replace: false, entries: [entry(2, 'And more.')], terminals: [] }
      assert.equal(storage.transcripts.write('claude', 'one', more), true)
      assert.equal(make().transcripts.read('claude', 'one')?.entries.length, 3)
      assert.equal(query('PRAGMA user_version')?.user_version, TRANSCRIPT_MIGRATIONS.length)
      assert.equal(query('PRAGMA auto_vacuum')?.auto_vacuum, 2, 'it can shrink')
      assert.deepEqual(problems, [])
    })

    it('offers to delete a damaged file, and deletes it once it is older than conversations may be', () => {
      let now = 1_000
      const options = { now: () => now, maxAgeMs: () => 60_000 }
      const folder = path.dirname(file)
      mkdirSync(folder, { recursive: true })
      const damage = () => {
        for (const storage of open.splice(0)) storage.dispose()
        writeFileSync(file, 'this is no database, and it is long enough to be taken for one. '.repeat(100))
        const storage = make(options)
        assert.equal(textsOf(storage), undefined)
        return storage
      }
      damage()
      assert.equal(damaged().length, 1)
      assert.match(problems[0]!, /still contains conversations/)
      assert.equal(actions[0]?.title, 'Delete Damaged File')
      // what can't be deleted now
      const aside = path.join(folder, damaged()[0]!)
      rmSync(aside)
      mkdirSync(aside)
      actions[0]?.run()
      assert.match(problems[1]!, /damaged-\d+ couldn't be deleted: /)
      rmSync(aside, { recursive: true })
      writeFileSync(aside, 'text')
      actions[1]?.run()
      assert.deepEqual(damaged(), [])
      // the first one also has a log, and the others are too new or something else
      for (const name of ['conversations.db.damaged-2000', 'conversations.db.damaged-2000-wal'])
        writeFileSync(path.join(folder, name), 'text')
      for (const name of ['sessions.db.damaged-90000', 'notes.damaged-1'])
        writeFileSync(path.join(folder, name), 'text')
      const storage = make(options)
      storage.trim()
      assert.equal(storage.hasDamaged, true)
      now = 70_000
      storage.trim()
      const left = () => readdirSync(folder).filter(name => name.includes('damaged'))
      assert.deepEqual(left().sort(), ['notes.damaged-1', 'sessions.db.damaged-90000'])
      mkdirSync(path.join(folder, 'a.db.damaged-1'))
      storage.removeDamaged()
      assert.deepEqual([left().sort(), storage.hasDamaged], [['a.db.damaged-1', 'notes.damaged-1'], true])
      rmSync(path.join(folder, 'a.db.damaged-1'), { recursive: true })
      assert.deepEqual([left(), storage.hasDamaged], [['notes.damaged-1'], false])
    })

    it("doesn't touch a file of a newer version, and reports it", () => {
      write(make(), true, [0, 'theirs'])
      for (const storage of open.splice(0)) storage.dispose()
      query('PRAGMA user_version = 99')
      query('PRAGMA wal_checkpoint(TRUNCATE)')
      const bytes = readFileSync(file)
      const storage = make()
      assert.equal(textsOf(storage), undefined)
      assert.equal(write(storage, true, [0, 'ours']), false)
      assert.equal(storage.transcripts.forget('a', 's'), false)
      storage.trim()
      storage.dispose()
      assert.equal(problems.length, 1)
      assert.match(problems[0]!, /newer version/)
      assert.deepEqual(readFileSync(file), bytes)
      assert.deepEqual(damaged(), [])
    })

    it("stays below the configured size by deleting the oldest conversations that aren't open anywhere", async () => {
      let now = 0
      let maxBytes = 100 << 20
      const deleted: string[] = []
      const options = {
        now: () => now,
        maxBytes: () => maxBytes,
      }
      const storage = make(options)
      const other = make(options)
      for (const { transcripts } of [storage, other])
        transcripts.onDidDelete(({ agentId, sessionId }) => deleted.push(`${agentId}/${sessionId}`))
      const long = 'x'.repeat(100_000)
      for (let i = 0; i < 20; i++) {
        now += 1000
        const owner = i === 0 ? other : storage
        owner.transcripts.write('a', `s${i}`, { replace: true, entries: [entry(0, long)], terminals: [] })
        if (i !== 0 && i !== 1) owner.leases.release('a', `s${i}`)
      }
      const full = storage.usedBytes
      assert.ok(full > 2_000_000)
      maxBytes = 1_000_000
      storage.trim()
      assert.ok(storage.usedBytes <= maxBytes)
      assert.ok(storage.transcripts.has('a', 's0'), 'open in the other window')
      assert.ok(storage.transcripts.has('a', 's1'), 'open in this one')
      assert.ok(!storage.transcripts.has('a', 's2'))
      assert.ok(storage.transcripts.has('a', 's19'), 'the newest')
      assert.equal(deleted[0], 'a/s2')
      assert.ok(deleted.every(key => !storage.transcripts.has('a', key.slice(2))))
      await until(() => Number(query('PRAGMA page_count')?.page_count) * 4096 < 1_500_000, 'the file shrinks')
      // even while it grows
      now += 100_000
      storage.transcripts.write('a', 'new', {
        replace: true,
        entries: [entry(0, 'x'.repeat(900_000))],
        terminals: [],
      })
      assert.ok(storage.usedBytes <= 1_300_000)
      // and after the clock was set back
      now -= 90_000
      storage.leases.release('a', 'new')
      storage.transcripts.write('a', 'newer', {
        replace: true,
        entries: [entry(0, 'x'.repeat(900_000))],
        terminals: [],
      })
      assert.ok(storage.usedBytes <= 1_300_000)
    })

    it("says whether a conversation could be deleted, and keeps it whole if it couldn't", () => {
      const storage = make()
      assert.equal(storage.transcripts.forget('a', 'unknown'), true)
      write(storage, true, [0, 'one'], [1, 'two'])
      const deleted: unknown[] = []
      storage.transcripts.onDidDelete(session => deleted.push(session))
      const other = new sqlite!.DatabaseSync(file)
      other.exec('BEGIN IMMEDIATE')
      assert.equal(storage.transcripts.forget('a', 's'), false)
      assert.deepEqual([textsOf(storage), deleted], [['one', 'two'], []])
      other.exec('ROLLBACK')
      other.close()
      assert.equal(storage.transcripts.forget('a', 's'), true)
      assert.deepEqual([textsOf(storage), deleted], [undefined, [{ agentId: 'a', sessionId: 's' }]])
    })
  })

  it('deletes what had no activity for the configured time, except for open and pinned sessions', function () {
    if (!sqlite) this.skip()
    let now = 1_000
    let maxAgeMs = 0
    let maxBytes = 0
    let pinned: ReadonlySet<string> | undefined = new Set([sessionKey('a', 'pinned')])
    const options = {
      now: () => now,
      maxAgeMs: () => maxAgeMs,
      maxBytes: () => maxBytes,
      pinned: () => pinned,
    }
    const storage = make(options)
    const has = (sessionId: string) => storage.transcripts.has('a', sessionId)
    const write = (sessionId: string, text = 'text') => {
      storage.transcripts.write('a', sessionId, { replace: true, entries: [entry(0, text)], terminals: [] })
      if (sessionId !== 'open') storage.leases.release('a', sessionId)
    }
    // the clock was observed since then
    storage.trim()
    for (const sessionId of ['pinned', 'open', 'old', 'active']) write(sessionId)
    now += 50_000
    write('active', 'more')
    now += 30_000
    storage.trim()
    assert.ok(has('old'), 'there is no limit')
    maxAgeMs = Number.MAX_SAFE_INTEGER
    storage.trim()
    assert.ok(has('old'), 'the limit is longer than time itself')
    maxAgeMs = 60_000
    const known = pinned
    pinned = undefined
    storage.trim()
    assert.ok(has('old'), "what is pinned isn't known")
    pinned = known
    storage.trim()
    assert.deepEqual(['pinned', 'open', 'old', 'active'].filter(has), ['pinned', 'open', 'active'])
    // the limit of size respects them as well
    maxBytes = 1
    storage.trim()
    assert.deepEqual(['pinned', 'open', 'active'].filter(has), ['pinned', 'open'])
    // when the sessions of the earliest versions were written isn't known
    storage.leases.release('a', 'open')
    const db = new sqlite!.DatabaseSync(file)
    db.exec("UPDATE conversations SET written_at = 0 WHERE session_id = 'open'")
    db.close()
    maxBytes = 0
    storage.trim()
    assert.ok(has('open'))
  })

  it('deletes nothing for its age because the clock is wrong', function () {
    if (!sqlite) this.skip()
    const day = 86_400_000
    const today = 20_000 * day
    let now = today
    const options = { now: () => now, maxAgeMs: () => 30 * day }
    let storage = make(options)
    const write = (id: string) => {
      assert(storage.transcripts.write('a', id, { replace: true, entries: [entry(0, id)], terminals: [] }))
      storage.leases.release('a', id)
    }
    const start = () => {
      storage.dispose()
      storage = make(options)
      storage.trim()
    }
    const saved = () => ['first', 'ahead', 'back', 'last'].filter(id => storage.transcripts.has('a', id))
    // on enough days that the clock is known
    for (let i = 0; i <= 4; i++, now += day) start()
    write('first')
    // ten years ahead for some starts, with work
    now += 3650 * day
    start()
    write('ahead')
    start()
    now += 3600_000
    start()
    assert.deepEqual(saved(), ['first', 'ahead'])
    // back at the real time, then back in 2000 because a battery is empty
    now = today + 6 * day
    start()
    now = 11_000 * day
    start()
    write('back')
    now = today + 7 * day
    start()
    write('last')
    start()
    assert.deepEqual(saved(), ['first', 'ahead', 'back', 'last'])
    // nor because Parley wasn't used for long
    now += 100 * day
    start()
    assert.deepEqual(saved(), ['first', 'ahead', 'back', 'last'])
    // but when that much time has passed, whatever the clock showed when they were written
    for (let i = 0; i < 32; i++) {
      now += day
      start()
    }
    assert.deepEqual(saved(), [])
  })

  it('deletes all of a conversation together, by its last write in any window', function () {
    if (!sqlite) this.skip()
    let now = 1_000
    let maxAgeMs = 0
    const options = { now: () => now, maxAgeMs: () => maxAgeMs }
    const [here, there] = [make(options), make(options)]
    const write = (window: ConversationStorage, text: string) =>
      window.transcripts.write('a', 's', { replace: true, entries: [entry(0, text)], terminals: [] })
    write(here, 'first')
    write(there, 'second')
    now += 80_000
    write(here, 'first and more')
    here.leases.release('a', 's')
    there.leases.release('a', 's')
    const deleted: unknown[] = []
    here.transcripts.onDidDelete(session => deleted.push(session))
    maxAgeMs = 60_000
    here.trim()
    assert.deepEqual([textsOf(here)?.sort(), deleted], [['first and more', 'second'], []])
    now += 60_001
    here.trim()
    assert.equal(textsOf(here), undefined)
  })

  describe('with a session in several windows', () => {
    let now = 0
    const write = (window: ConversationStorage, replace: boolean, ...texts: Array<[number, string]>) =>
      window.transcripts.write('a', 's', {
        replace,
        entries: texts.map(([at, text]) => entry(at, text)),
        terminals: [],
      })
    const options = { clock: () => now }

    before(function () {
      if (!sqlite) this.skip()
    })
    beforeEach(() => {
      now = 1_000_000
    })

    it("writes only for the window that has the session, and merges another window's writes", () => {
      const [one, two] = [make(options), make(options)]
      assert.equal(one.leases.acquire('a', 's'), true)
      assert.equal(write(one, true, [0, 'the first answer']), true)
      assert.equal(two.leases.acquire('a', 's'), false)
      assert.equal(two.leases.isElsewhere('a', 's'), true)
      assert.deepEqual(textsOf(two), ['the first answer'])
      assert.equal(write(two, false, [1, 'an answer of two']), false, 'changes alone would mix')
      assert.equal(write(two, true, [0, 'the first answer'], [1, 'an answer of two']), true)
      assert.equal(write(one, false, [1, 'an answer of one']), true, 'nobody wrote over it')
      assert.deepEqual(textsOf(make(options))?.sort(), [
        'an answer of one',
        'an answer of two',
        'the first answer',
      ])
      one.leases.release('a', 's')
      assert.equal(two.leases.acquire('a', 's'), true)
      const whole = two.transcripts
        .read('a', 's')!
        .entries.map((kept, position) => ({ position, entry: kept }))
      assert.equal(two.transcripts.write('a', 's', { replace: false, entries: [], terminals: [] }), false)
      assert.equal(two.transcripts.write('a', 's', { replace: true, entries: whole, terminals: [] }), true)
      assert.equal(query('SELECT count(*) AS n FROM conversations')?.n, 1, 'nothing is apart any more')
      assert.equal(textsOf(make(options))?.length, 3)
    })

    it("is given up when another window asks, and taken if the owner doesn't respond", () => {
      const [one, two] = [make(options), make(options)]
      const reported: string[] = []
      one.leases.onDidRequest(({ sessionId }) => reported.push(`wanted ${sessionId}`))
      one.leases.onDidLose(({ sessionId }) => reported.push(`lost ${sessionId}`))
      one.leases.acquire('a', 's')
      one.leases.acquire('a', 't')
      two.leases.request('a', 's')
      one.leases.poll()
      assert.deepEqual(reported.splice(0), ['wanted s'])
      one.leases.release('a', 's')
      assert.equal(two.leases.acquire('a', 's'), true)
      two.leases.seize('a', 't')
      one.leases.poll()
      assert.deepEqual(reported, ['lost t'])
      one.leases.poll()
      assert.equal(reported.length, 1)
    })
  })
})
