import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import fs from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { mock } from 'node:test'
import { setImmediate as nextTask, setTimeout as wait } from 'node:timers/promises'
import { Checkpoints } from '../../../src/changes/model/checkpoints.ts'
import type { TrackedFile } from '../../../src/changes/model/tracked-file.ts'
import { UndoLog } from '../../../src/changes/model/undo-log.ts'
import { deferred } from '../../../src/common/async.ts'
import { RETRY_STORE_MS } from '../../../src/common/limits.ts'
import { operatingSystem } from '../../../src/common/processes/process-system.ts'
import { AT_ONCE } from '../../../src/history/changes-schema.ts'
import { TranscriptDatabase } from '../../../src/history/transcript-database.ts'
import { ChangesOnDisk, databaseOf, hasSqlite } from '../../support/changes-on-disk.ts'
import { until } from '../../support/until.ts'

const DAY = 24 * 3_600_000
/** No process has that id. */
const GONE = 2 ** 30

const describeStored = hasSqlite ? describe : describe.skip
describeStored('the stored changes of agents', () => {
  let folder = ''
  let store: ChangesOnDisk
  let windows: ChangesOnDisk[]
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'parley-kept-changes-'))
    windows = []
    store = again()
  })
  afterEach(() => {
    for (const window of windows) window.dispose()
    rmSync(folder, { recursive: true, force: true })
  })
  const again = (times?: { collectAfter: number }) => {
    const window = new ChangesOnDisk(folder, times && { times })
    windows.push(window)
    return window
  }
  const sql = (text: string, ...values: Array<string | number>) => {
    const { DatabaseSync } = process.getBuiltinModule('node:sqlite')
    const db = new DatabaseSync(databaseOf(folder))
    try {
      return db.prepare(text).all(...values)
    } finally {
      db.close()
    }
  }
  /** The clock was observed since 1970. */
  const knowTheTime = () =>
    sql('REPLACE INTO clock VALUES (1, ?)', JSON.stringify({ runs: [{ from: 0, to: Date.now(), age: 0 }] }))
  const hash = (text: string) => createHash('sha256').update(text).digest('hex')
  const contents = () =>
    existsSync(join(folder, 'contents'))
      ? readdirSync(join(folder, 'contents'), { recursive: true, encoding: 'utf8' }).filter(
          name => name.length > 2,
        )
      : []
  // a link that leads to itself can't be read, also by root
  const unreadable = (file: string) => {
    renameSync(file, join(folder, 'kept'))
    symlinkSync(file, file)
    return () => {
      rmSync(file)
      renameSync(join(folder, 'kept'), file)
    }
  }
  const pathsOf = (found: Array<{ files: Array<{ before: { path: string } }> }>) =>
    found.flatMap(({ files }) => files.map(({ before }) => before.path))
  const by = { turns: [{ session: 's', turn: 1 }] }
  const changed = (path: string, text = 'b\n') => ({
    path,
    text,
    segments: [
      {
        id: 1,
        versions: [
          { value: ['a\n'], by: 'user' as const, seq: 0 },
          { value: [text], by, seq: 1 },
        ],
      },
    ],
    attributes: [
      {
        value: { type: 'text' as const, encoding: 'utf8', bom: false, mode: 0o644 },
        by: 'user' as const,
        seq: 0,
      },
    ],
  })

  const HEAD = { id: 'u', at: Date.now(), session: 's' }
  const PATHS = ['/w/a', '/w/b', '/w/c']
  const undone = (path: string) => ({
    before: changed(path, `before ${path}\n`),
    after: changed(path, `after ${path} é\n`),
  })

  it('are loaded once another process no longer has the database for itself', async () => {
    store.save('/w/a', changed('/w/a'))
    await store.flushed()
    store.dispose()
    const { DatabaseSync } = process.getBuiltinModule('node:sqlite')
    const other = new DatabaseSync(databaseOf(folder))
    other.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN IMMEDIATE; COMMIT; SELECT * FROM clock')
    const window = again()
    const loading = window.load()
    const isLoaded = Promise.race([loading.then(() => true), wait(1000, false)])
    assert.equal(await isLoaded, false)
    other.close()
    assert.deepEqual(
      (await loading).map(({ path }) => path),
      ['/w/a'],
    )
  })

  it('are available to the next window, with each text stored once', async () => {
    store.save('/w/a', changed('/w/a'))
    store.save('/w/b', changed('/w/b'))
    await store.flushed()
    assert.deepEqual(
      (await again().load()).sort((a, b) => (a.path < b.path ? -1 : 1)),
      [changed('/w/a'), changed('/w/b')],
    )
    assert.equal(contents().length, 1)
    store.save('/w/a', undefined)
    await store.flushed()
    assert.deepEqual(await again().load(), [changed('/w/b')])
  })

  it('include checkpoints, and whether they were deleted', async () => {
    const { segments, attributes } = changed('/w/a')
    const kept = { ...changed('/w/a'), segments: [1], history: { segments, attributes, at: 7 } }
    store.save('/w/a', kept)
    const dropped = [{ path: '/w/b', turns: [{ session: 's', turn: 2 }], why: 'age' as const }]
    store.saveDropped(dropped)
    await store.flushed()
    assert.deepEqual(await again().load(), [kept])
    assert.deepEqual(await again().loadDropped(), dropped)
    store.saveDropped([])
    // the window closes
    store.dispose()
    assert.deepEqual(await again().loadDropped(), [])
  })

  it("aren't deleted for their age because the clock is wrong", async () => {
    store.save('/w/a', changed('/w/a'))
    await store.flushed()
    const today = Date.now()
    await store.saveUndone({
      ...{ id: 'u', at: today },
      files: [{ before: changed('/w/a', 'c\n'), after: changed('/w/a') }],
    })
    const left = async (days: number) => {
      const now = mock.method(Date, 'now', () => today + days * DAY)
      try {
        const window = again()
        const left = [(await window.load()).length, (await window.loadUndone()).length]
        const checkpoints = new Checkpoints(window, () => ({ maxAgeMs: 30 * DAY, maxBytes: 1000 }))
        const history = { historyAt: today, historyBytes: 1, historyAuthors: () => [], forgetHistory() {} }
        const file = { path: '/w/a', ...history } as unknown as TrackedFile
        return [...left, 1 - checkpoints.drop([file], new UndoLog(window)).length]
      } finally {
        now.mock.restore()
      }
    }
    for (const days of [0, 400, 400.5, 401, 1, 2, 400, 3, -400, 4, 29])
      assert.deepEqual(await left(days), [1, 1, 1], `after ${days} days`)
    // on days one after the other, time passes
    const later = async (from: number, to: number) => {
      let last: number[] = []
      for (let days = from; days <= to; days++) last = await left(days)
      return last
    }
    assert.deepEqual(await later(30, 58), [1, 0, 0])
    assert.deepEqual(await later(59, 125), [0, 0, 0])
  })

  it('are written in the background, without unchanged ones, and immediately when the window closes', async () => {
    const warnings: string[] = []
    const warned = (warning: Error) => warnings.push(warning.name)
    process.on('warning', warned)
    store.save('/w/a', changed('/w/a'))
    assert.ok(!existsSync(databaseOf(folder)))
    await store.flushed()
    sql('UPDATE changed_files SET written_at = 1000')
    store.save('/w/b', changed('/w/b'))
    store.dispose()
    await new Promise(setImmediate)
    process.off('warning', warned)
    assert.deepEqual(warnings, [])
    knowTheTime()
    // the first one wasn't written again, so it still has the age that was set here
    assert.deepEqual(await again().load(), [changed('/w/b')])
  })

  it('keep content while something refers to it', async () => {
    const hash = await store.put(Buffer.from([0, 1, 2]))
    assert.deepEqual(await store.get(hash), Buffer.from([0, 1, 2]))
    const checkpointed = await store.put(Buffer.from([0, 3]))
    const { segments } = changed('/w/a')
    const value = { type: 'binary' as const, hash: checkpointed, size: 2, mode: 0o644 }
    const history = { segments, attributes: [{ value, by: 'user' as const, seq: 0 }], at: 7 }
    store.save('/w/a', { ...changed('/w/a'), history })
    await store.flushed()
    assert.deepEqual(await again().load(), [{ ...changed('/w/a'), history }])
    assert.ok(await store.get(hash), 'another window may use it')
    store.dispose()
    const next = again()
    assert.deepEqual(await next.load(), [{ ...changed('/w/a'), history }])
    assert.equal(await next.get(hash), undefined)
    assert.ok(await next.get(checkpointed))
    assert.deepEqual(await next.load(), [{ ...changed('/w/a'), history }])
    assert.equal(await next.get('../../etc/passwd'), undefined)
  })

  it('keep only the latest text of a file that changes often, and what else refers to its earlier ones', async () => {
    const collecting = again({ collectAfter: 1 })
    await collecting.load()
    collecting.removeUnused({ inUse: () => new Set([hash('3\n')]), collected() {} })
    for (const text of ['3\n', 'unused\n']) await collecting.put(Buffer.from(text))
    for (let i = 0; i < 20; i++) {
      const text = `${i}\n`
      collecting.save('/w/a', changed('/w/a', text))
      await collecting.flushed()
      if (i === 5) {
        collecting.save('/w/b', changed('/w/b', text))
        // another window
        await store.put(Buffer.from('7\n'))
      }
      if (i === 9)
        await collecting.addUndone({ id: 'u', at: Date.now() }, [
          { before: changed('/w/a', text), after: changed('/w/a', 'undone\n') },
        ])
    }
    const expected = ['19\n', '3\n', '5\n', '7\n', '9\n', 'undone\n']
    await until(() => contents().length <= expected.length, 'unused contents to be removed')
    const there = await Promise.all(contents().map(name => store.get(name.slice(3))))
    assert.deepEqual(there.map(String).sort(), expected)
    collecting.save('/w/a', changed('/w/a', '4\n'))
    await collecting.flushed()
    assert.equal(String(await store.get(await collecting.put(Buffer.from('4\n')))), '4\n')
    assert.deepEqual((await again().load()).map(({ text }) => text).sort(), ['4\n', '5\n'])
  })

  it('loses no text while the same ones are stored and replaced at random', async () => {
    let seed = 7
    const random = (below: number) => {
      seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31
      return Math.floor((seed / 2 ** 31) * below)
    }
    const last = new Map<string, string>()
    const undone: string[] = []
    const put: Array<Promise<string>> = []
    let adding: Promise<void> = Promise.resolve()
    for (let i = 0; i < 300; i++) {
      const file = `/w/${random(4)}`
      const text = `${random(6)}\n`
      const what = random(10)
      if (what === 0) put.push(store.put(Buffer.from(text)))
      else if (what === 1) {
        undone.push(text)
        const one = { before: changed(file, text), after: changed(file, text) }
        adding = adding.then(() => store.addUndone({ id: 'u', at: 1e13 }, [one]))
        put.push(adding.then(() => ''))
      } else if (what === 2 && random(2) === 0) {
        const old = { before: changed(file, text), after: changed(file, `${random(6)}\n`) }
        adding = adding.then(() => store.addUndone({ id: `old${i}`, at: 1e13 }, [old]))
        adding = adding.then(() => store.forgetUndone(`old${i}`))
      } else if (what === 2) {
        store.save(file, undefined)
        last.delete(file)
      } else {
        store.save(file, changed(file, text))
        last.set(file, text)
      }
      if (random(3) === 0) put.push(store.flushed().then(() => ''))
      if (random(8) === 0) await Promise.all(put)
    }
    await store.flushed()
    const hashes = await Promise.all(put)
    for (const hash of hashes.filter(one => one !== '')) assert.notEqual(await store.get(hash), undefined)
    const next = again()
    const loaded = new Map((await next.load()).map(({ path, text }) => [path, text]))
    assert.deepEqual([...loaded].sort(), [...last].sort())
    const [log] = await next.loadUndone()
    assert.deepEqual(log?.files.map(({ before }) => before.text).sort(), undone.sort())
    next.dispose()
  })

  it('include reverted changes, latest first', async () => {
    const files = [{ before: changed('/w/a'), after: changed('/w/a', 'a\n') }]
    await store.saveUndone({ id: '1', at: Date.now() - 1000, session: 's', files })
    await store.saveUndone({ id: '2', at: Date.now(), session: 's', files })
    await store.saveUndone({ id: '3', at: 1, session: 's', files })
    knowTheTime()
    const undone = await again().loadUndone()
    assert.deepEqual(
      undone.map(({ id }) => id),
      ['2', '1'],
    )
    assert.deepEqual(undone[0]?.files, files)
    await store.addUndone({ id: '4', at: Date.now() + 1000 }, [files[0]!])
    await store.addUndone({ id: '4', at: Date.now() + 1000 }, [files[0]!])
    assert.deepEqual((await again().loadUndone())[0]?.files, [...files, ...files])
    store.forgetUndone('2')
    await store.flushed()
  })

  it('include a reverted change that is stored again while it is being forgotten', async () => {
    const files = [{ before: changed('/w/a'), after: changed('/w/a', 'a\n') }]
    const undone = { id: '1', at: Date.now(), files }
    for (let i = 0; i < 20; i++) {
      await store.saveUndone(undone)
      store.forgetUndone('1')
      await store.saveUndone(undone)
      assert.deepEqual(await again().loadUndone(), [undone])
    }
    store.forgetUndone('1')
    await store.addUndone({ id: '1', at: undone.at }, [files[0]!])
    assert.deepEqual(await again().loadUndone(), [undone])
  })

  it('skip damaged records, whose contents stay until they are too old', async () => {
    for (const path of ['/w/a', '/w/b']) store.save(path, changed(path, path))
    await store.addUndone(HEAD, [undone('/w/a'), undone('/w/b')])
    await store.flushed()
    const count = contents().length
    sql("UPDATE changed_files SET record = '{' WHERE record LIKE '%/w/b%'")
    sql("UPDATE undone_files SET record = '{' WHERE record LIKE '%/w/b%'")
    const next = again()
    assert.deepEqual(
      (await next.load()).map(({ path }) => path),
      ['/w/a'],
    )
    assert.deepEqual(pathsOf(await next.loadUndone()), ['/w/a'])
    next.forgetUndone(HEAD.id)
    await next.flushed()
    assert.equal(contents().length, count - 2)
    sql('UPDATE changed_files SET written_at = 1000')
    sql('UPDATE undone_files SET at = 1000')
    knowTheTime()
    const later = again()
    assert.deepEqual([await later.load(), await later.loadUndone()], [[], []])
    await later.flushed()
    assert.deepEqual(contents(), [])
  })

  it('are those of the workspace, until another one was not opened for long', async () => {
    const other = new ChangesOnDisk(folder, { workspace: 'other', folder: join(folder, 'other') })
    windows.push(other)
    other.save('/w/a', changed('/w/a', 'other\n'))
    await other.addUndone(HEAD, [undone('/w/b')])
    store.save('/w/a', changed('/w/a'))
    await Promise.all([store.flushed(), other.flushed()])
    assert.deepEqual(await again().load(), [changed('/w/a')])
    assert.deepEqual(await again().loadUndone(), [])
    assert.deepEqual(await other.load(), [changed('/w/a', 'other\n')])
    sql("UPDATE workspaces SET used_at = 1000 WHERE workspace = 'other'")
    knowTheTime()
    await again().load()
    assert.deepEqual([await other.load(), await other.loadUndone()], [[], []])
    assert.deepEqual(await again().load(), [changed('/w/a')])
  })

  it('lose nothing, and need no space, after a window was killed', async () => {
    store.save('/w/a', changed('/w/a'))
    await store.flushed()
    const killed = `window ${GONE} x`
    const [left, fresh] = [hash('left'), hash('fresh')]
    const file = (name: string) => join(folder, 'contents', name.slice(0, 2), name)
    for (const [name, end] of [
      [left, ''],
      [fresh, `.${killed.replaceAll(' ', '-')}.new`],
    ] as const) {
      mkdirSync(dirname(file(name)), { recursive: true })
      writeFileSync(file(name) + end, '')
      sql("INSERT INTO contents VALUES ('w', ?, 0, 0)", name)
      sql("INSERT INTO content_uses VALUES ('w', ?, ?)", killed, name)
    }
    await store.put(Buffer.from('of a running window'))
    assert.deepEqual(await again().load(), [changed('/w/a')])
    assert.equal(contents().length, 2)
  })

  it('keep the content of a record that is stored again before all contents are counted', async () => {
    const binary = Buffer.from([0, 1])
    const value = { type: 'binary' as const, hash: await store.put(binary), size: 2, mode: 0o644 }
    const withBinary = { ...changed('/w/bin', ''), attributes: [{ value, by: 'user' as const, seq: 0 }] }
    store.save('/w/a', changed('/w/a'))
    store.save('/w/bin', withBinary)
    await store.flushed()
    // as after the database was damaged
    sql('DELETE FROM contents')
    sql('UPDATE workspaces SET counted = 0')
    store.save('/w/a', { ...changed('/w/a'), gone: false })
    await store.flushed()
    store.dispose()
    const other = again()
    await other.put(binary)
    other.dispose()
    await again().load()
    const loaded = await again().load()
    assert.deepEqual(loaded.map(({ path }) => path).sort(), ['/w/a', '/w/bin'])
    assert.deepEqual(await again().get(value.hash), binary)
  })

  it('lose nothing while contents cannot be read', async () => {
    store.save('/w/a', changed('/w/a'))
    await store.addUndone(HEAD, [undone('/w/b')])
    await store.flushed()
    for (const name of contents()) {
      const back = unreadable(join(folder, 'contents', name))
      const next = again()
      await next.load()
      await next.loadUndone()
      next.forgetUndone(HEAD.id)
      await next.flushed()
      next.dispose()
      back()
      assert.deepEqual(await again().load(), [changed('/w/a')], name)
      if (pathsOf(await again().loadUndone()).length === 0) await store.addUndone(HEAD, [undone('/w/b')])
    }
  })

  it('keep a reverted file whose text cannot be read, which is offered once it can', async () => {
    for (const path of PATHS) await store.addUndone(HEAD, [undone(path)])
    for (const name of contents()) {
      const back = unreadable(join(folder, 'contents', name))
      const next = again()
      const [found] = await next.loadUndone()
      assert.equal(found?.files.length, 2, name)
      await next.saveUndone(found)
      await next.saveUndone({ ...found, files: found.files.slice(1) })
      await next.saveUndone(found)
      back()
      const [whole] = await again().loadUndone()
      assert.deepEqual(pathsOf([whole!]).sort(), PATHS)
      for (const file of whole!.files) assert.deepEqual(file, undone(file.before.path))
    }
    const back = unreadable(join(folder, 'contents', contents()[0]!))
    const next = again()
    await next.loadUndone()
    next.forgetUndone(HEAD.id)
    await next.addUndone({ ...HEAD, id: 'other' }, [undone('/w/d')])
    back()
    const left = await again().loadUndone()
    assert.deepEqual(left.map(({ files }) => files.length).sort(), [1, 1])
  })

  it('are removed later, or when the window closes, if they cannot be now', async () => {
    for (const isLater of [true, false]) {
      await store.addUndone(HEAD, [undone('/w/a')])
      store.save('/w/a', changed('/w/a'))
      await store.flushed()
      const { DatabaseSync } = process.getBuiltinModule('node:sqlite')
      const other = new DatabaseSync(databaseOf(folder))
      const next = again()
      await next.load()
      other.exec('BEGIN IMMEDIATE')
      mock.timers.enable({ apis: ['setTimeout'] })
      try {
        next.forgetUndone(HEAD.id)
        next.save('/w/a', undefined)
        await next.flushed()
        assert.equal((await again().loadUndone()).length, 1)
        other.exec('ROLLBACK')
        if (isLater) mock.timers.tick(RETRY_STORE_MS)
        else next.dispose()
      } finally {
        mock.timers.reset()
        other.close()
      }
      await until(async () => (await again().loadUndone()).length === 0, 'the undo to be forgotten')
      await until(async () => (await again().load()).length === 0, 'the file to be forgotten')
    }
  })

  /** the texts whose writes have begun */
  const started = new Set<string>()
  /** Contents are written once each `gate` of their text is opened, and then fail if it rejects. */
  const withSlowDisk = async (gates: Map<string, Promise<unknown>>, work: () => Promise<void>) => {
    const { writeFile } = fs
    started.clear()
    const writes = mock.method(fs, 'writeFile', async (...args: Parameters<typeof writeFile>) => {
      started.add(String(args[1]))
      await gates.get(String(args[1]))
      return writeFile(...args)
    })
    mock.timers.enable({ apis: ['setTimeout'] })
    syncBuiltinESMExports()
    try {
      await work()
    } finally {
      mock.timers.reset()
      writes.mock.restore()
      syncBuiltinESMExports()
    }
  }
  /** Also while a test sets the time. */
  const untilNow = async (condition: () => boolean) => {
    while (!condition()) await nextTask()
  }
  const begun = (text: string) => untilNow(() => started.has(text))

  it('are whole if the window closes while they are being written', async () => {
    const gate = deferred()
    await withSlowDisk(new Map([['b\n', gate.promise]]), async () => {
      store.save('/w/a', changed('/w/a'))
      const writing = store.flushed()
      await begun('b\n')
      store.save('/w/c', changed('/w/c', 'c\n'))
      store.dispose()
      // the process may end here
      const loaded = await again().load()
      assert.deepEqual(loaded.map(({ path, text }) => [path, text]).sort(), [
        ['/w/a', 'b\n'],
        ['/w/c', 'c\n'],
      ])
      gate.resolve()
      await writing
    })
    assert.deepEqual(
      (await again().load()).map(({ path }) => path).sort(),
      ['/w/a', '/w/c'],
      'after the write has ended',
    )
    assert.deepEqual(
      contents().filter(name => name.endsWith('.new')),
      [],
    )
  })

  it('leave no text that was being written when the window closed, whenever the write ends', async () => {
    const gate = deferred()
    await withSlowDisk(new Map([['b\n', gate.promise]]), async () => {
      const putting = store.put(Buffer.from('b\n'))
      await begun('b\n')
      store.dispose()
      await again().load()
      gate.resolve()
      await putting
    })
    // and then the process
    const ended = mock.method(operatingSystem, 'exists', () => false)
    await again().load()
    ended.mock.restore()
    assert.deepEqual(contents(), [])
  })

  it('are the latest ones after the window closed while earlier ones were being written', async () => {
    const gate = deferred()
    // of the process, which has other users
    const database = new TranscriptDatabase({ file: databaseOf(folder) })
    const closing = new ChangesOnDisk(folder, { database })
    await withSlowDisk(new Map([['b\n', gate.promise]]), async () => {
      closing.save('/w/a', changed('/w/a'))
      const writing = closing.flushed()
      await begun('b\n')
      closing.save('/w/a', changed('/w/a', 'later\n'))
      closing.dispose()
      gate.resolve()
      await writing
    })
    assert.deepEqual(
      (await again().load()).map(({ text }) => text),
      ['later\n'],
    )
    database.dispose()
  })

  it('are stored later if one of their texts, which is being stored for something else, cannot be', async () => {
    const gates = { slow: deferred(), same: deferred() }
    const writes = new Map([
      ['slow\n', gates.slow.promise],
      ['same\n', gates.same.promise],
    ])
    await withSlowDisk(writes, async () => {
      const putting = store.put(Buffer.from('same\n'))
      store.save('/w/a', changed('/w/a', 'slow\n'))
      store.save('/w/b', changed('/w/b', 'same\n'))
      const writing = store.flushed()
      await begun('slow\n')
      gates.same.reject(Object.assign(new Error('no space left on device'), { code: 'ENOSPC' }))
      await assert.rejects(putting, { code: 'ENOSPC' })
      writes.clear()
      gates.slow.resolve()
      await writing
      await store.flushed()
    })
    const loaded = await again().load()
    assert.deepEqual(loaded.map(({ path, text }) => [path, text]).sort(), [
      ['/w/a', 'slow\n'],
      ['/w/b', 'same\n'],
    ])
  })

  it('keep a text that is removed as unused while it is stored again', async () => {
    const gate = deferred()
    const collecting = again({ collectAfter: 1 })
    await collecting.load()
    let asked = 0
    let collected = 0
    let writing: Promise<void> | undefined
    collecting.removeUnused({
      inUse() {
        asked += 1
        if (asked === 2) {
          collecting.save('/w/a', changed('/w/a', 'slow\n'))
          collecting.save('/w/b', changed('/w/b', 'last\n'))
          writing = collecting.flushed()
        }
        return new Set()
      },
      collected: () => {
        collected += 1
      },
    })
    await withSlowDisk(new Map([['slow\n', gate.promise]]), async () => {
      for (let i = 0; i < AT_ONCE; i++) await collecting.put(Buffer.from(`${i}\n`))
      await collecting.put(Buffer.from('last\n'))
      for (const time of [1, 2]) {
        mock.timers.tick(1)
        await untilNow(() => collected === time)
      }
      gate.resolve()
      await writing
    })
    const loaded = await again().load()
    assert.deepEqual(loaded.map(({ path, text }) => [path, text]).sort(), [
      ['/w/a', 'slow\n'],
      ['/w/b', 'last\n'],
    ])
  })

  it('keep content that the window has just stored, however long it was suspended then', async () => {
    const collecting = again({ collectAfter: 1 })
    await collecting.load()
    let collected = 0
    collecting.removeUnused({
      inUse: () => new Set(),
      collected: () => {
        collected += 1
      },
    })
    mock.timers.enable({ apis: ['setTimeout'] })
    const suspended = mock.method(performance, 'now', () => Date.now())
    try {
      const stored = await collecting.put(Buffer.from('binary'))
      suspended.mock.mockImplementation(() => Date.now() + 3_600_000)
      // nothing that the window was about to do has run before that
      mock.timers.tick(1)
      await untilNow(() => collected === 1)
      assert.equal(String(await collecting.get(stored)), 'binary')
      mock.timers.tick(1)
      await untilNow(() => collected === 2)
      assert.equal(await collecting.get(stored), undefined)
    } finally {
      suspended.mock.restore()
      mock.timers.reset()
    }
  })

  it('on a full disk, are stored once there is space again', async () => {
    const { writeFile } = fs
    let isFull = true
    const writes = mock.method(fs, 'writeFile', async (...args: Parameters<typeof writeFile>) => {
      if (!isFull) return writeFile(...args)
      throw Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' })
    })
    mock.timers.enable({ apis: ['setTimeout'] })
    syncBuiltinESMExports()
    try {
      store.save('/w/a', changed('/w/a', 'old\n'))
      store.save('/w/b', changed('/w/b'))
      await store.flushed()
      assert.deepEqual(await again().load(), [])
      await assert.rejects(store.addUndone(HEAD, [undone('/w/b')]), { code: 'ENOSPC' })
      await assert.rejects(store.put(Buffer.from('binary')), { code: 'ENOSPC' })
      store.save('/w/a', changed('/w/a'))
      isFull = false
      mock.timers.tick(RETRY_STORE_MS)
      await store.addUndone(HEAD, [undone('/w/c')])
    } finally {
      mock.timers.reset()
      writes.mock.restore()
      syncBuiltinESMExports()
    }
    const paths = (await again().load()).map(({ path, text }) => [path, text])
    assert.deepEqual(paths.sort(), [
      ['/w/a', 'b\n'],
      ['/w/b', 'b\n'],
    ])
    assert.deepEqual(pathsOf(await again().loadUndone()), ['/w/c'])
  })
})
