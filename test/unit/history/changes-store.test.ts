import assert from 'node:assert/strict'
import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import fs from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { mock } from 'node:test'
import { Checkpoints } from '../../../src/changes/checkpoints.ts'
import type { TrackedFile } from '../../../src/changes/tracked-file.ts'
import { UndoLog } from '../../../src/changes/undo-log.ts'
import { RETRY_STORE_MS } from '../../../src/common/limits.ts'
import { silentLogger } from '../../../src/common/logger.ts'
import { ChangesStore } from '../../../src/history/changes-store.ts'
import { until } from '../../support/until.ts'

const LINE_FEED = 10
const DAY = 24 * 3_600_000

describe('the stored changes of agents', () => {
  let folder = ''
  let store: ChangesStore
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'parley-kept-changes-'))
    store = new ChangesStore(folder, silentLogger)
  })
  afterEach(() => {
    store.dispose()
    rmSync(folder, { recursive: true, force: true })
  })
  const again = () => new ChangesStore(folder, silentLogger)
  const names = (name: string) => readdirSync(join(folder, name), { recursive: true }).map(String)
  /** The clock was observed since 1970. */
  const knowTheTime = () =>
    writeFileSync(join(folder, 'clock.json'), JSON.stringify({ runs: [{ from: 0, to: Date.now(), age: 0 }] }))
  const blobs = () => names('blobs').filter(name => name.length > 2)
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

  it('are available to the next window, with each text stored once', async () => {
    store.save('/w/a', changed('/w/a'))
    store.save('/w/b', changed('/w/b'))
    await store.flushed()
    assert.deepEqual(
      (await again().load()).sort((a, b) => (a.path < b.path ? -1 : 1)),
      [changed('/w/a'), changed('/w/b')],
    )
    assert.equal(blobs().length, 1)
    store.save('/w/a', undefined)
    await store.flushed()
    assert.deepEqual(await again().load(), [changed('/w/b')])
  })

  it('are written once before and after a write, between which only the time passes', async () => {
    const now = mock.method(performance, 'now', () => 5)
    try {
      const { segments, attributes } = changed('/w/a')
      const write = async (text: string, at: number) => {
        store.save('/w/a', { ...changed('/w/a', text), history: { segments, attributes, at } })
        await store.flushed()
        return readFileSync(join(folder, 'files', names('files')[0]!), 'utf8')
      }
      const first = await write('"at":1\n', 7)
      assert.equal(await write('"at":1\n', 8), first)
      const second = await write('"at":2\n', 8)
      assert.notEqual(second.replace('"at":8', '"at":7'), first)
    } finally {
      now.mock.restore()
    }
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
    assert.deepEqual(readdirSync(folder), [])
    await store.flushed()
    const old = new Date(1000)
    for (const name of names('files')) utimesSync(join(folder, 'files', name), old, old)
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
    const old = new Date(1000)
    for (const name of blobs()) utimesSync(join(folder, 'blobs', name), old, old)
    const next = again()
    assert.deepEqual(await next.load(), [{ ...changed('/w/a'), history }])
    await next.loadUndone()
    assert.equal(await next.get(hash), undefined)
    assert.ok(await next.get(checkpointed))
    assert.deepEqual(await next.load(), [{ ...changed('/w/a'), history }])
    assert.equal(await next.get('../../etc/passwd'), undefined)
  })

  it('keep only the latest text of a file that changes often, and what else refers to its earlier ones', async () => {
    const texts = Array.from({ length: 20 }, (_, i) => `${i}\n`)
    await store.put(Buffer.from('3\n'))
    for (const text of texts) {
      store.save('/w/a', changed('/w/a', text))
      await store.flushed()
      if (text === '5\n') {
        // another window
        store.save('/w/b', changed('/w/b', text))
        await again().put(Buffer.from('7\n'))
      }
      if (text === '9\n')
        await store.addUndone({ id: 'u', at: Date.now() }, [
          { before: changed('/w/a', text), after: changed('/w/a', 'undone\n') },
        ])
    }
    const there = await Promise.all(blobs().map(name => store.get(name.slice(3))))
    assert.deepEqual(there.map(String).sort(), ['19\n', '3\n', '5\n', '7\n', '9\n', 'undone\n'])
    store.save('/w/a', changed('/w/a', '4\n'))
    await store.flushed()
    assert.equal(String(await store.get(await store.put(Buffer.from('4\n')))), '4\n')
    const next = again()
    assert.deepEqual((await next.load()).map(({ text }) => text).sort(), ['4\n', '5\n'])
    next.dispose()
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

  it('skip damaged entries', async () => {
    store.save('/w/a', changed('/w/a'))
    store.save('/w/b', changed('/w/b'))
    await store.flushed()
    writeFileSync(join(folder, 'files', names('files')[0]!), '{"x"')
    assert.equal((await again().load()).length, 1)
  })

  describe('after a write that stopped midway', () => {
    const HEAD = { id: 'u', at: Date.now(), session: 's' }
    const undone = (path: string) => ({
      before: changed(path, `before ${path}\n`),
      after: changed(path, `after ${path} é\n`),
    })
    const PATHS = ['/w/a', '/w/b', '/w/c']
    const log = () => join(folder, 'undone', 'u.jsonl')
    const age = () => {
      const old = new Date(Date.now() - 3_600_000)
      for (const name of blobs()) utimesSync(join(folder, 'blobs', name), old, old)
    }
    const pathsOf = (found: Array<{ files: Array<{ before: { path: string } }> }>) =>
      found.flatMap(({ files }) => files.map(({ before }) => before.path))

    // a link that leads to itself can't be read, also by root
    const unreadable = (...place: string[]) => {
      const file = join(folder, ...place)
      renameSync(file, join(folder, 'kept'))
      symlinkSync(file, file)
      return () => {
        rmSync(file)
        renameSync(join(folder, 'kept'), file)
      }
    }

    it('at any byte, have all reverted files that were written whole, and lose no content', async () => {
      for (const path of PATHS) await store.addUndone(HEAD, [undone(path)])
      const whole = readFileSync(log())
      const ends = [...whole.entries()].flatMap(([at, byte]) => (byte === LINE_FEED ? at : []))
      const count = blobs().length
      for (let cut = 0; cut < whole.length; cut++) {
        writeFileSync(log(), whole.subarray(0, cut))
        age()
        const written = PATHS.filter((_, i) => cut >= ends[i + 1]!)
        const expected = written.length === 0 ? [] : [{ ...HEAD, files: written.map(undone) }]
        assert.deepEqual(await again().loadUndone(), expected, `cut at ${cut}`)
        // cut between two lines, it is a whole log of fewer files
        if (cut === 0 || ends.some(end => cut === end || cut === end + 1)) {
          for (const path of PATHS)
            for (const { text } of Object.values(undone(path))) await again().put(Buffer.from(text))
        } else assert.equal(blobs().length, count, `cut at ${cut}`)
      }
    })

    it('have what is added later, and what was cut off stays until it is too old', async () => {
      for (const path of PATHS) await store.addUndone(HEAD, [undone(path)])
      const whole = readFileSync(log(), 'utf8')
      const torn = whole.slice(0, -20)
      const rest = torn.slice(torn.lastIndexOf('\n') + 1)
      writeFileSync(log(), torn)
      await again().addUndone(HEAD, [undone('/w/d')])
      assert.deepEqual(pathsOf(await again().loadUndone()), ['/w/a', '/w/b', '/w/d'])
      await again().saveUndone({ ...HEAD, files: [undone('/w/b')] })
      assert.deepEqual(pathsOf(await again().loadUndone()), ['/w/b'])
      assert.ok(readFileSync(log(), 'utf8').includes(rest))
      const last = again()
      last.forgetUndone(HEAD.id)
      await until(() => !readFileSync(log(), 'utf8').includes('/w/b'), 'the undo to be forgotten')
      assert.deepEqual(await again().loadUndone(), [])
      assert.equal(readFileSync(log(), 'utf8'), `${rest}\n`)
      const old = new Date(Date.now() - 31 * 24 * 3_600_000)
      utimesSync(log(), old, old)
      knowTheTime()
      age()
      await again().loadUndone()
      assert.deepEqual([names('undone'), blobs()], [[], []])
    })

    it('on a full disk, have what was reverted before and after', async () => {
      await store.addUndone(HEAD, [undone('/w/a')])
      const full = mock.method(fs, 'appendFile', async (file: string, line: string) => {
        writeFileSync(file, Buffer.from(line).subarray(0, 100), { flag: 'a' })
        throw Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' })
      })
      syncBuiltinESMExports()
      await assert.rejects(store.addUndone(HEAD, [undone('/w/b')]), { code: 'ENOSPC' })
      assert.equal(full.mock.callCount(), 1)
      full.mock.restore()
      syncBuiltinESMExports()
      assert.deepEqual(pathsOf(await again().loadUndone()), ['/w/a'])
      await store.addUndone(HEAD, [undone('/w/c')])
      assert.deepEqual(pathsOf(await again().loadUndone()), ['/w/a', '/w/c'])
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
        const failed = writes.mock.callCount()
        assert.ok(failed >= 2)
        store.save('/w/a', changed('/w/a'))
        isFull = false
        // the changes of both, and the content that they share
        while (writes.mock.callCount() < failed + 3) {
          mock.timers.tick(RETRY_STORE_MS)
          await new Promise(setImmediate)
        }
        await store.flushed()
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
    })

    it('are without the unfinished files of a window that was killed', async () => {
      store.save('/w/a', changed('/w/a'))
      await store.addUndone(HEAD, [undone('/w/a')])
      await store.flushed()
      const left = [
        'dropped-checkpoints.json.1.new',
        `files/${names('files')[0]}.2.new`,
        'undone/u.jsonl.3.new',
      ]
      const [blob] = blobs()
      for (const name of [...left, `blobs/${blob}.4.new`]) writeFileSync(join(folder, name), '{')
      const unfinished = () => names('.').filter(name => name.endsWith('.new')).length
      await again().loadUndone()
      assert.equal(unfinished(), 4, 'another window may be writing them')
      const old = new Date(Date.now() - 3_600_000)
      for (const name of [...left, `blobs/${blob}.4.new`]) utimesSync(join(folder, name), old, old)
      await again().loadUndone()
      assert.equal(unfinished(), 0)
      assert.equal((await again().load()).length, 1)
      assert.deepEqual(pathsOf(await again().loadUndone()), ['/w/a'])
    })

    it('lose nothing while the disk cannot be read', async () => {
      store.save('/w/a', changed('/w/a'))
      await store.addUndone(HEAD, [undone('/w/b')])
      await store.flushed()
      age()
      for (const place of [
        ['undone'],
        ['files'],
        ['windows'],
        ['undone', 'u.jsonl'],
        ['blobs', blobs()[0]!],
      ]) {
        const back = unreadable(...place)
        const next = again()
        await next.load().catch(() => {})
        await next.loadUndone().catch(() => {})
        if (place[0] === 'undone') {
          next.forgetUndone(HEAD.id)
          await next.saveUndone({ ...HEAD, files: [] }).catch(() => {})
        }
        back()
        assert.deepEqual(
          (await again().load()).map(({ text }) => text),
          ['b\n'],
          place.join('/'),
        )
        assert.deepEqual((await again().loadUndone()).at(0)?.files.at(-1), undone('/w/b'), place.join('/'))
      }
    })

    it('keep a reverted file whose text cannot be read, which is offered once it can', async () => {
      for (const path of PATHS) await store.addUndone(HEAD, [undone(path)])
      for (const blob of blobs()) {
        const back = unreadable('blobs', blob)
        const next = again()
        const [found] = await next.loadUndone()
        assert.equal(found?.files.length, 2, blob)
        await next.saveUndone(found)
        await next.saveUndone(found)
        next.forgetUndone('other')
        back()
        const [whole] = await again().loadUndone()
        assert.deepEqual(pathsOf([whole!]).sort(), PATHS)
        for (const file of whole!.files) assert.deepEqual(file, undone(file.before.path))
      }
      const back = unreadable('blobs', blobs()[0]!)
      const next = again()
      await next.loadUndone()
      next.forgetUndone(HEAD.id)
      await next.addUndone({ ...HEAD, id: 'other' }, [undone('/w/d')])
      back()
      const left = await again().loadUndone()
      assert.deepEqual(left.map(({ files }) => files.length).sort(), [1, 1])
    })

    it('forget an undo that cannot be read now later, or when the window closes', async () => {
      for (const isLater of [true, false]) {
        await store.addUndone(HEAD, [undone('/w/a')])
        const back = unreadable('undone', 'u.jsonl')
        const next = again()
        mock.timers.enable({ apis: ['setTimeout'] })
        try {
          next.forgetUndone(HEAD.id)
          // after it was tried
          await next.saveUndone({ ...HEAD, files: [] }).catch(() => {})
          back()
          if (isLater) mock.timers.tick(RETRY_STORE_MS)
          else next.dispose()
        } finally {
          mock.timers.reset()
        }
        await until(() => names('undone').length === 0, 'the undo to be forgotten')
        next.dispose()
      }
    })

    it('lose no content that a damaged file with changes may name', async () => {
      store.save('/w/a', changed('/w/a'))
      await store.flushed()
      const file = join(folder, 'files', names('files')[0]!)
      writeFileSync(file, readFileSync(file, 'utf8').slice(0, 30))
      age()
      const next = again()
      await next.load()
      await next.loadUndone()
      assert.equal(blobs().length, 1)
      const old = new Date(Date.now() - 91 * 24 * 3_600_000)
      utimesSync(file, old, old)
      knowTheTime()
      const later = again()
      await later.load()
      await later.loadUndone()
      assert.deepEqual([names('files'), blobs()], [[], []])
    })
  })
})
