import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { TrackedFile } from '../../../src/changes/model/tracked-file.ts'
import { UndoLog, type Undone, type UndoneFile } from '../../../src/changes/model/undo-log.ts'
import { type Deferred, deferred } from '../../../src/common/async.ts'
import { ChangesOnDisk, hasSqlite } from '../../support/changes-on-disk.ts'
import { scaledRuns } from '../../support/property-tests.ts'
import { until } from '../../support/until.ts'

const describeStored = hasSqlite ? describe : describe.skip
describeStored('the log of undos', () => {
  let folder = ''
  let store: ChangesOnDisk
  let log: UndoLog
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'parley-undo-log-'))
    store = new ChangesOnDisk(folder)
    log = new UndoLog(store)
  })
  afterEach(() => {
    store.dispose()
    rmSync(folder, { recursive: true, force: true })
  })

  const stored = (path: string, text: string) =>
    TrackedFile.of(path, {
      text,
      attributes: { type: 'text', encoding: 'utf8', bom: false, mode: 0o644 },
    }).store()
  const undone = (path: string, text = 'a\n'): UndoneFile => ({
    before: stored(path, text),
    after: stored(path, 'b\n'),
  })
  const pathsIn = (all: readonly Undone[]) =>
    all.flatMap(({ files }) => files.map(({ before }) => before.path))
  /** What the next window finds. */
  const reloaded = async () => pathsIn(await new ChangesOnDisk(folder).loadUndone())
  const key = (path: string) => path

  it('keeps a file that is undone while the others of that undo are restored', async () => {
    for (const isRestored of [true, false]) {
      const first = log.begin('s')
      await first.note(undone('/a'))
      const gate = deferred<boolean>()
      const restoring = log.restore(first.undone.id, key, () => gate.promise)
      const second = log.begin('s', first.undone)
      await second.note(undone('/b'))
      gate.resolve(isRestored)
      const left = await restoring
      assert.deepEqual(left, isRestored ? [] : [{ path: '/a' }])
      const expected = isRestored ? ['/b'] : ['/a', '/b']
      assert.deepEqual(pathsIn(log.all), expected)
      assert.deepEqual(await reloaded(), expected)
      log.forget(first.undone)
    }
  })

  it('stores what is noted at the same time at once, and tells each whether it is on disk', async () => {
    const adding: Array<{ paths: string[]; end: Deferred<void> }> = []
    const log = new UndoLog({
      saveUndone: async () => {},
      addUndone: (_, files) => {
        const end = deferred()
        adding.push({ paths: files.map(({ before }) => before.path), end })
        return end.promise
      },
      loadUndone: async () => [],
      forgetUndone: () => {},
    })
    const { undone: all, note } = log.begin('s')
    await note(undone('/first'))
    const done: string[] = []
    const noting = ['/a', '/b', '/c', '/d'].map(async path => {
      if (path > '/b') await until(() => adding.length === 1)
      await note(undone(path)).then(
        () => done.push(path),
        () => done.push(`no ${path}`),
      )
    })
    await until(() => adding.length === 1)
    assert.deepEqual(adding[0]!.paths, ['/a', '/b'])
    assert.deepEqual(done, [])
    adding[0]!.end.resolve()
    await until(() => adding.length === 2)
    assert.deepEqual(adding[1]!.paths, ['/c', '/d'])
    assert.deepEqual(done, ['/a', '/b'])
    adding[1]!.end.reject(new Error('ENOSPC'))
    await Promise.all(noting)
    assert.deepEqual(done, ['/a', '/b', 'no /c', 'no /d'])
    assert.deepEqual(pathsIn([all]), ['/first', '/a', '/b'])
  })

  it('has and stores every file that is noted and neither restored nor withdrawn, in any order of events', async () => {
    const what = fc.constantFrom(
      'note',
      'note',
      'into',
      'into',
      'withdraw',
      'restore',
      'fail',
      'forget',
      'wait',
    )
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(what, fc.nat(3)), { minLength: 3, maxLength: 15 }), async steps => {
        const store = new ChangesOnDisk(folder)
        const log = new UndoLog(store)
        const begun: Undone[] = []
        const expected = new Map<UndoneFile, Undone>()
        const withdrawals: Array<() => Promise<void>> = []
        const running: Promise<unknown>[] = []
        let count = 0
        for (const [step, at] of steps) {
          const known = begun[at % Math.max(1, begun.length)]
          if (step === 'note' || step === 'into') {
            const { undone: noted, note } = log.begin('s', step === 'into' ? known : undefined)
            if (!begun.includes(noted)) begun.push(noted)
            const file = undone(`/${count++}`, `${at}\n`)
            const noting = note(file).then(withdraw => {
              expected.set(file, noted)
              withdrawals.push(async () => {
                expected.delete(file)
                await withdraw()
              })
            })
            running.push(noting)
          } else if (step === 'withdraw') running.push(withdrawals.splice(at, 1)[0]?.() ?? Promise.resolve())
          else if (step === 'restore' || step === 'fail') {
            const restore = async (_: string, file: UndoneFile) => {
              await new Promise(setImmediate)
              if (step === 'fail') return false
              expected.delete(file)
              return true
            }
            if (known) running.push(log.restore(known.id, key, restore))
          } else if (step === 'forget') {
            // only what isn't in use is dropped
            if (!known || log.isUsed(known)) continue
            await Promise.all(running)
            for (const [file, of] of expected) if (of === known) expected.delete(file)
            log.forget(known)
          } else await Promise.all(running)
        }
        await Promise.all(running)
        const paths = [...expected.keys()].map(({ before }) => before.path).sort()
        assert.deepEqual(pathsIn(log.all).sort(), paths)
        const next = new ChangesOnDisk(folder)
        await store.flushed()
        assert.deepEqual(pathsIn(await next.loadUndone()).sort(), paths)
        for (const one of [...log.all]) log.forget(one)
        await store.saveUndone({ id: 'last', at: 0, files: [] })
        store.dispose()
        next.dispose()
      }),
      { numRuns: scaledRuns(40) },
    )
  })
})
