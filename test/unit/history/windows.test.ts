import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, utimesSync } from 'node:fs'
import { hostname, tmpdir } from 'node:os'
import path from 'node:path'
import { mock } from 'node:test'
import { withFileLock } from '../../../src/agents/registry/file-lock.ts'
import { ConversationStorage } from '../../../src/history/conversation-storage.ts'
import { StorageTrouble } from '../../../src/history/database.ts'
import { TRANSCRIPT_MIGRATIONS } from '../../../src/history/transcript-schema.ts'
import { until } from '../../support/until.ts'

const sqlite: typeof import('node:sqlite') | undefined = process.getBuiltinModule('node:sqlite')
/** The first version that has the table. */
const VERSION = 6

describe('the windows of a machine', () => {
  let directory = ''
  let file = ''
  /** what the machine's clock shows, and the one that the user sets */
  let now = 0
  let set = 0
  let open: ConversationStorage[] = []
  before(function () {
    if (!sqlite) this.skip()
  })
  beforeEach(() => {
    directory = mkdtempSync(path.join(tmpdir(), 'parley-windows-'))
    file = path.join(directory, 'conversations.db')
    now = 1_000_000
    set = Date.now()
  })
  afterEach(() => {
    for (const window of open.splice(0)) window.dispose()
    rmSync(directory, { recursive: true, force: true })
  })

  function start(): ConversationStorage {
    const trouble = new StorageTrouble(message => assert.fail(message))
    const window = new ConversationStorage({ file, trouble, clock: () => now, now: () => set })
    open = [...open, window]
    return window
  }
  function sql(text: string, ...values: Array<string | number>): Array<Record<string, unknown>> {
    const db = new sqlite!.DatabaseSync(file)
    try {
      return db.prepare(text).all(...values)
    } finally {
      db.close()
    }
  }
  /** Time goes by, in which this window goes on. */
  const later = ({ windows }: ConversationStorage, ms: number) => {
    for (const end = now + ms; now < end; ) {
      now += 15_000
      windows.renew()
    }
  }
  /** The id of a process that was killed. */
  const killed = () => spawnSync(process.execPath, ['-e', '']).pid

  it('are gone when they are closed, killed or silent for long, and their sessions are free', () => {
    const [one, two] = [start(), start()]
    for (const id of ['s', 't', 'u']) one.leases.acquire('a', id)
    now += 15_000
    assert.equal(two.leases.acquire('a', 's'), false)
    one.windows.renew()
    now += 15_000
    assert.equal(two.leases.acquire('a', 's'), false, 'it is alive')
    now += 30_000
    assert.equal(two.leases.acquire('a', 's'), true)
    one.windows.renew()
    one.leases.poll()
    assert.equal(two.leases.acquire('a', 't'), false, 'it was asleep')
    one.dispose()
    assert.equal(two.leases.acquire('a', 't'), true)
    assert.deepEqual(
      sql('SELECT id FROM windows').map(({ id }) => id),
      [two.windows.own],
    )

    const three = start()
    three.leases.acquire('a', 'v')
    sql('UPDATE windows SET pid = ? WHERE id = ?', killed(), three.windows.own)
    assert.equal(two.leases.acquire('a', 'v'), true)
  })

  it('live on after the machine slept, whichever is awake first', async () => {
    mock.timers.enable({ apis: ['setInterval'] })
    try {
      const [one, two] = [start(), start()]
      for (const { windows } of [one, two]) windows.publish('state')
      const isOpen = () => {
        const states = two.windows.others()
        assert.equal(two.windows.isAlive(one.windows.own, {}), states?.has(one.windows.own))
        return states?.has(one.windows.own)
      }
      now += 8 * 3_600_000
      assert.equal(isOpen(), true)
      two.windows.renew()
      assert.equal(isOpen(), true)
      for (const { windows } of [one, two]) {
        windows.renew()
        assert.equal(isOpen(), true, 'it is about to respond')
      }
      later(two, 30_000)
      assert.equal(isOpen(), false, 'it is not awake again')
    } finally {
      mock.timers.reset()
    }
  })

  it('live however the clock is set', () => {
    const [one, two] = [start(), start()]
    one.leases.acquire('a', 's')
    for (const years of [-30, 30]) {
      set += years * 365 * 24 * 3_600_000
      assert.equal(two.leases.acquire('a', 's'), false)
    }
    now += 30_000
    assert.equal(two.leases.acquire('a', 's'), true)
  })

  it('live as long as they go on if their machine has another clock', () => {
    const [one, two] = [start(), start()]
    one.leases.acquire('a', 's')
    const beat = (at: number) =>
      sql(
        "UPDATE windows SET host = 'another', pid = ?, beat = ? WHERE id = ?",
        killed(),
        at,
        one.windows.own,
      )
    for (const at of [5, 10, 15]) {
      beat(at)
      assert.equal(two.leases.acquire('a', 's'), false)
      now += 15_000
    }
    assert.equal(two.leases.acquire('a', 's'), false)
    now += 10_000
    assert.equal(two.leases.acquire('a', 's'), true)
  })

  it('are gone if their process or the machine started again', () => {
    const [one, two] = [start(), start()]
    one.leases.acquire('a', 's')
    one.leases.acquire('a', 't')
    two.leases.acquire('a', 'u')
    sql('UPDATE windows SET started = started - 5000 WHERE id = ?', one.windows.own)
    assert.equal(two.leases.acquire('a', 's'), true)
    sql('UPDATE windows SET started = started + 5000 WHERE id = ?', one.windows.own)
    assert.equal(two.leases.acquire('a', 't'), false)
    now = 1000
    assert.equal(two.leases.acquire('a', 't'), true)
  })

  it('that crashed are forgotten with their sessions', () => {
    const one = start()
    one.leases.acquire('a', 's')
    sql('UPDATE windows SET pid = ?', killed())
    const two = start()
    two.leases.acquire('a', 't')
    assert.deepEqual(
      sql('SELECT id FROM windows').map(({ id }) => id),
      [two.windows.own],
    )
    assert.deepEqual(
      sql('SELECT session_id FROM leases').map(row => row.session_id),
      ['t'],
    )
  })

  it("exchange requests while they respond, which a window whose browser was closed doesn't", async () => {
    mock.timers.enable({ apis: ['setInterval'] })
    try {
      let answers = true
      const one = start().windows.another(async () => answers || new Promise(() => {}))
      const two = start()
      assert.equal(two.windows.hasNews(), true)
      assert.equal(two.windows.hasNews(), false)
      one.publish('state')
      two.leases.acquire('a', 's')
      assert.equal(two.windows.hasNews(), true)
      const seen = () => two.windows.others()?.get(one.own)
      const minute = async () => {
        for (let beats = 0; beats < 12; beats++) {
          now += 5000
          mock.timers.tick(5000)
          await new Promise(setImmediate)
        }
      }
      await minute()
      assert.equal(seen(), 'state')
      sql('DELETE FROM windows')
      assert.equal(seen(), undefined)
      await minute()
      assert.equal(seen(), 'state', 'it was asleep')
      answers = false
      await minute()
      await minute()
      assert.equal(seen(), undefined)
      assert.equal(two.windows.isAlive(one.own, {}), true, 'its process runs')
      answers = true
      await minute()
      assert.equal(seen(), 'state')
    } finally {
      mock.timers.reset()
    }
  })

  it('of one process, which share a connection, learn of what each other writes', () => {
    const { windows } = start()
    const [one, two] = [windows.another(), windows.another()]
    for (const window of [one, two]) window.hasNews()
    const news = () => [one, two].map(window => window.hasNews())
    assert.deepEqual(news(), [false, false])
    one.publish('state')
    assert.deepEqual(
      [news(), news()],
      [
        [false, true],
        [false, false],
      ],
    )
    assert.deepEqual([...two.others()!], [[one.own, 'state']])
    two.request(one.own, 'request')
    assert.deepEqual(news(), [true, false])
    assert.equal(one.takeRequest(), 'request')
    one.dispose()
    assert.deepEqual([two.hasNews(), two.others()?.size, two.isHere(one.own)], [true, 0, false])
    two.dispose()
  })

  it('do something one after the other, as long as they live, however the clock is set', async () => {
    const lock = path.join(directory, 'mine.lock')
    const windows = [start(), start()]
    const done: string[] = []
    let end = () => {}
    const ended = new Promise<void>(resolve => (end = resolve))
    const first = withFileLock(lock, windows[0]!.windows, async () => {
      done.push('first')
      await ended
    })
    await until(() => done.length === 1)
    const polled = () =>
      assert.rejects(
        withFileLock(lock, windows[1]!.windows, async () => done.push('too early'), AbortSignal.abort()),
      )
    await polled()
    windows[0]!.windows.renew()
    for (const years of [-30, 30]) {
      utimesSync(lock, new Date(), new Date(set + years * 365 * 24 * 3_600_000))
      await polled()
      now += 15_000
      windows[0]!.windows.renew()
    }
    const second = withFileLock(lock, windows[1]!.windows, async () => done.push('second'))
    later(windows[1]!, 45_000)
    await second
    end()
    await first
    assert.deepEqual(done, ['first', 'second'])
  })

  it('know those of an earlier version, which know them', () => {
    const db = new sqlite!.DatabaseSync(file)
    for (const migration of TRANSCRIPT_MIGRATIONS.slice(0, VERSION - 1)) db.exec(migration)
    db.exec(`PRAGMA user_version = ${VERSION - 1}`)
    const lease = db.prepare('REPLACE INTO leases VALUES (?, ?, ?, ?, ?, ?, NULL)')
    lease.run('a', 'crashed', 'crashed', hostname(), killed(), Date.now())
    lease.run('a', 'long ago', 'long ago', hostname(), process.pid, Date.now() - 60_000)
    lease.run('a', 'running', 'running', hostname(), process.pid, Date.now())

    const one = start()
    assert.equal(one.leases.acquire('a', 'long ago'), true)
    assert.equal(one.leases.acquire('a', 'crashed'), true)
    assert.equal(one.leases.acquire('a', 'running'), false)
    now += 15_000
    db.exec("UPDATE leases SET beat = beat + 15000 WHERE owner = 'running'")
    assert.equal(one.leases.acquire('a', 'running'), false)
    now += 15_000
    assert.equal(one.leases.acquire('a', 'running'), false)
    now += 10_000
    assert.equal(one.leases.acquire('a', 'running'), true)

    const beats = () => {
      const own = db.prepare('SELECT beat FROM leases WHERE owner = ?').all(one.windows.own)
      return own.map(({ beat }) => Math.abs(Number(beat) - Date.now()) < 5000)
    }
    assert.deepEqual(beats(), [true, true, true])
    db.exec('UPDATE leases SET beat = 0')
    one.windows.renew()
    assert.deepEqual(beats(), [true, true, true])
    db.close()
  })
})
