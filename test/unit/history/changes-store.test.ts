import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { silentLogger } from '../../../src/common/logger.ts'
import { ChangesStore } from '../../../src/history/changes-store.ts'

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
    // the first one wasn't written again, so it still has the age that was set here
    assert.deepEqual(await again().load(), [changed('/w/b')])
  })

  it('keep content while something refers to it', async () => {
    const hash = await store.put(Buffer.from([0, 1, 2]))
    assert.deepEqual(await store.get(hash), Buffer.from([0, 1, 2]))
    store.save('/w/a', changed('/w/a'))
    await store.flushed()
    const old = new Date(1000)
    for (const name of blobs()) utimesSync(join(folder, 'blobs', name), old, old)
    const next = again()
    assert.deepEqual(await next.load(), [changed('/w/a')])
    await next.loadUndone()
    assert.equal(await next.get(hash), undefined)
    assert.deepEqual(await next.load(), [changed('/w/a')])
    assert.equal(await next.get('../../etc/passwd'), undefined)
  })

  it('include reverted changes, latest first', async () => {
    const files = [{ before: changed('/w/a'), after: changed('/w/a', 'a\n') }]
    await store.saveUndone({ id: '1', at: Date.now() - 1000, session: 's', files })
    await store.saveUndone({ id: '2', at: Date.now(), session: 's', files })
    await store.saveUndone({ id: '3', at: 1, session: 's', files })
    const undone = await again().loadUndone()
    assert.deepEqual(
      undone.map(({ id }) => id),
      ['2', '1'],
    )
    assert.deepEqual(undone[0]?.files, files)
    await store.addUndone({ id: '4', at: Date.now() + 1000 }, files[0]!)
    await store.addUndone({ id: '4', at: Date.now() + 1000 }, files[0]!)
    assert.deepEqual((await again().loadUndone())[0]?.files, [...files, ...files])
    store.forgetUndone('2')
    await store.flushed()
  })

  it('skip damaged entries', async () => {
    store.save('/w/a', changed('/w/a'))
    store.save('/w/b', changed('/w/b'))
    await store.flushed()
    writeFileSync(join(folder, 'files', names('files')[0]!), '{"x"')
    assert.equal((await again().load()).length, 1)
  })
})
