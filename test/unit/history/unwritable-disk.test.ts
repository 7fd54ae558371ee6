/** The stores on a disk that is really full or read-only. */
import assert from 'node:assert/strict'
import { chmodSync, copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { mock } from 'node:test'
import type { Entry } from '../../../src/conversation/state.ts'
import { ConversationStorage } from '../../../src/history/conversation-storage.ts'
import { StorageTrouble } from '../../../src/history/database.ts'
import { LocalSessions } from '../../../src/history/local-sessions.ts'
import { SmallDisk } from '../../support/small-disk.ts'

const sqlite: typeof import('node:sqlite') | undefined = process.getBuiltinModule('node:sqlite')
const FILES = ['sessions.db', 'conversations.db']
/** The parts of a database that a window leaves: closed, killed, and killed before its log's index was made again. */
const LEFT = {
  closed: [''],
  killed: ['', '-wal', '-shm'],
  'killed without an index of its log': ['', '-wal'],
}

function entry(position: number): { position: number; entry: Entry } {
  const text = `${position} ${'x'.repeat(1000)}`
  return {
    position,
    entry: { kind: 'message', id: `e${position}`, turn: 1, role: 'agent', blocks: [{ type: 'text', text }] },
  }
}

describe('what was stored', () => {
  const disk = sqlite && SmallDisk.create(16)
  // mounting needs the rights of an administrator
  const test = disk ? it : it.skip
  const windows: Array<{ dispose(): void }> = []
  let now: number
  let problems: string[]
  after(() => disk?.dispose())
  beforeEach(() => {
    now = Date.now()
    problems = []
  })
  afterEach(() => {
    for (const one of windows.splice(0)) one.dispose()
    disk?.setReadOnly(false)
    disk?.empty()
    for (const name of disk ? readdirSync(disk.folder) : [])
      rmSync(path.join(disk!.folder, name), { recursive: true })
  })

  function open(folder: string) {
    const options = {
      now: () => now,
      clock: () => now,
      trouble: new StorageTrouble(message => problems.push(message)),
    }
    const records = new LocalSessions({ file: path.join(folder, 'sessions.db'), ...options })
    const conversations = new ConversationStorage({ file: path.join(folder, 'conversations.db'), ...options })
    windows.push(records, conversations)
    return { records, conversations }
  }
  /** Leaves the files of a window with a session and ten entries. */
  function leave(folder: string, parts: readonly string[]): void {
    mkdirSync(folder)
    const other = mkdtempSync(path.join(tmpdir(), 'parley-disk-source-'))
    const { records, conversations } = open(other)
    records.opened('a', { sessionId: 's', cwd: '/w', additionalDirectories: [], title: 'Title' })
    for (let i = 0; i < 10; i++)
      conversations.transcripts.write('a', 's', { replace: false, entries: [entry(i)], terminals: [] })
    const copy = () => {
      for (const name of FILES)
        for (const part of parts) copyFileSync(path.join(other, name + part), path.join(folder, name + part))
    }
    if (parts.length > 1) copy()
    for (const one of windows.splice(0)) one.dispose()
    if (parts.length === 1) copy()
    rmSync(other, { recursive: true })
    // a window that was killed doesn't use its session anymore
    now += 3_600_000
  }
  const positions = (conversations: ConversationStorage) =>
    conversations.transcripts
      .read('a', 's')
      ?.entries.map(one =>
        one.kind === 'message' && one.blocks[0]?.type === 'text'
          ? Number.parseInt(one.blocks[0].text, 10)
          : -1,
      )
  const upTo = (count: number) => Array.from({ length: count }, (_, i) => i)

  for (const [how, parts] of Object.entries(LEFT)) {
    for (const [state, spoil] of Object.entries({
      full: () => disk!.fill(),
      'read-only': () => disk!.setReadOnly(true),
    }))
      test(`can be read while the disk is ${state}, and goes on once it isn't (${how})`, () => {
        const folder = path.join(disk!.folder, 'state')
        leave(folder, parts)
        spoil()
        const one = open(folder)
        const two = open(folder)
        for (const { records, conversations } of [one, two]) {
          assert.equal(records.get('a', 's')?.title, 'Title')
          assert.deepEqual(positions(conversations), upTo(10))
          assert.ok(conversations.transcripts.has('a', 's'))
        }
        // an almost full disk may take a few bytes
        const more = Array.from({ length: 1000 }, (_, i) => entry(10 + i))
        const changes = { replace: false, entries: more, terminals: [] }
        assert.ok(!one.conversations.transcripts.write('a', 's', changes))
        one.records.touched('a', 's', 'Renamed '.repeat(5000))
        assert.equal(problems.length, 1)
        assert.match(problems[0]!, /save/)
        assert.deepEqual(positions(one.conversations), upTo(10))
        assert.match(one.records.get('a', 's')!.title!, /^Renamed/)
        disk!.setReadOnly(false)
        disk!.empty()
        now += 10_000
        assert.ok(one.conversations.transcripts.write('a', 's', changes))
        one.records.touched('a', 's', 'Again')
        assert.deepEqual(positions(two.conversations), upTo(1010))
        assert.equal(two.records.get('a', 's')?.title, 'Again')
        assert.equal(problems.length, 1)
        assert.deepEqual(left(), [])
      })
  }

  for (const [state, spoil] of Object.entries({
    full: () => disk!.fill(),
    'read-only': () => disk!.setReadOnly(true),
  }))
    test(`tells windows of each other once the disk isn't ${state} anymore`, async () => {
      mock.timers.enable({ apis: ['setInterval'] })
      try {
        const folder = path.join(disk!.folder, 'state')
        leave(folder, LEFT.closed)
        spoil()
        const [one, two] = [open(folder), open(folder)].map(({ conversations }) => conversations.windows)
        const known = () => two!.others() && [...two!.others()!.values()]
        one!.publish('published '.repeat(2000))
        assert.equal(known(), undefined, "that isn't known")
        assert.equal(two!.hasNews(), false)
        disk!.setReadOnly(false)
        disk!.empty()
        for (let beats = 0; beats < 12; beats++) {
          now += 5000
          mock.timers.tick(5000)
          await new Promise(setImmediate)
        }
        two!.renew()
        assert.deepEqual(known(), ['published '.repeat(2000)])
      } finally {
        mock.timers.reset()
      }
    })

  test("isn't taken from open windows while the disk is full, since none can say that it is open", async () => {
    mock.timers.enable({ apis: ['setInterval'] })
    try {
      const folder = path.join(disk!.folder, 'state')
      leave(folder, LEFT.closed)
      const next = () => open(folder).conversations.windows
      const [one, two] = [next(), next()]
      const beat = async () => {
        now += 5000
        mock.timers.tick(5000)
        await new Promise(setImmediate)
      }
      one.renew()
      two.renew()
      disk!.fill()
      for (let beats = 0; beats < 24; beats++) {
        await beat()
        assert.ok(two.isListed(one.own), `after ${beats + 1} heartbeats`)
      }
      disk!.empty()
      for (let beats = 0; beats < 24; beats++) {
        await beat()
        assert.ok(two.isListed(one.own), `after ${beats + 1} heartbeats`)
      }
    } finally {
      mock.timers.reset()
    }
  })

  test('can be read while the disk is full, also if an earlier version of Parley stored it', () => {
    const folder = path.join(disk!.folder, 'state')
    leave(folder, LEFT.closed)
    const db = new sqlite!.DatabaseSync(path.join(folder, 'conversations.db'))
    db.exec(`DROP TABLE said; DROP TABLE clock; DROP TABLE options; DROP TABLE windows; DROP TABLE workspaces; DROP TABLE changed_files;
      DROP TABLE undone_files; DROP TABLE contents; DROP TABLE content_uses; DROP TABLE decided_files; DROP TABLE unsent;
      DROP TABLE unsent_items; DROP TABLE taken_over; PRAGMA user_version = 2`)
    db.close()
    disk!.fill()
    const { conversations } = open(folder)
    assert.deepEqual(positions(conversations), upTo(10))
    disk!.empty()
    now += 10_000
    const said = { hostedId: 'h', frame: 1 }
    assert.ok(
      conversations.transcripts.write('a', 's', {
        replace: false,
        entries: [entry(10)],
        terminals: [],
        said,
      }),
    )
    assert.deepEqual(positions(conversations), upTo(11))
  })

  test('can be read in a folder in which nothing can be created', () => {
    const folder = path.join(disk!.folder, 'state')
    chmodSync(disk!.folder, 0o755)
    leave(folder, LEFT.closed)
    for (const name of FILES) chmodSync(path.join(folder, name), 0o644)
    chmodSync(folder, 0o555)
    process.seteuid!(65_534)
    try {
      const { records, conversations } = open(folder)
      assert.equal(records.get('a', 's')?.title, 'Title')
      assert.deepEqual(positions(conversations), upTo(10))
      assert.ok(!existsSync(path.join(folder, 'conversations.db-wal')))
    } finally {
      process.seteuid!(0)
    }
  })
})

/** Copies of what is stored that aren't needed anymore. */
function left(): string[] {
  return readdirSync(tmpdir()).filter(name => /^parley-read-/.test(name))
}
