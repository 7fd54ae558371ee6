import assert from 'node:assert/strict'
import fs, { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { mock } from 'node:test'
import { withFileLock } from '../../../../src/agents/registry/file-lock.ts'
import { waitFor } from '../../../host/wait-for.ts'

describe('withFileLock', () => {
  const GONE = 999_999_999
  let folder: string
  let file: string
  /** the ids of the windows that live */
  const alive = new Set<string>()
  let working: number
  let most: number

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'parley-lock-'))
    file = join(folder, 'mine.lock')
    alive.add('one').add('two')
    working = 0
    most = 0
  })

  afterEach(async () => {
    mock.restoreAll()
    syncBuiltinESMExports()
    await rm(folder, { recursive: true, force: true })
  })

  /** Takes the lock and works until `end` resolves. */
  const take = (end: Promise<unknown> = new Promise(setImmediate), own = 'one') =>
    withFileLock(file, { own, start() {}, isAlive: id => alive.has(id) }, async () => {
      most = Math.max(most, ++working)
      await end
      working--
    })

  /** Calls `before` in front of each removal of the lock. */
  const beforeRemoval = (before: () => Promise<void>) => {
    const remove = fs.rm
    mock.method(fs, 'rm', async (...[path, options]: Parameters<typeof rm>) => {
      if (path === file) await before()
      await remove(path, options)
    })
    syncBuiltinESMExports()
  }
  const polls = () => {
    let count = 0
    const open = fs.open
    mock.method(fs, 'open', (...args: Parameters<typeof open>) => {
      if (args[0] === file) count++
      return open(...args)
    })
    syncBuiltinESMExports()
    return () => count
  }

  it('lets one work after the other, and leaves nothing behind', async () => {
    await Promise.all([take(), take(), take()])
    assert.equal(most, 1)
    assert.deepEqual(await readdir(folder), [])
  })

  it('lets only one take over an abandoned lock, also if one is slow to remove it', async () => {
    await writeFile(file, String(GONE))
    const count = polls()
    let end = () => {}
    const ended = new Promise<void>(resolve => (end = resolve))
    let isFirst = true
    beforeRemoval(async () => {
      if (!isFirst) return
      isFirst = false
      const before = count()
      await waitFor('the other one', () => working > 0 || count() >= before + 3)
    })
    const both = [take(ended), take(ended)]
    await waitFor('one of them', () => working > 0)
    const before = count()
    await waitFor('the other one again', () => working > 1 || count() >= before + 3)
    end()
    await Promise.all(both)
    assert.equal(most, 1)
    assert.deepEqual(await readdir(folder), [])
  })

  it('also takes over from a process that was killed while it took over', async () => {
    await writeFile(file, `${GONE} first`)
    await writeFile(`${file}.${GONE}-first.lock`, `${GONE} second`)
    await Promise.all([take(), take(), take()])
    assert.equal(most, 1)
    assert.deepEqual(await readdir(folder), [])
  })

  it("doesn't release the lock of a window that took it over", async () => {
    let end = () => {}
    const first = take(new Promise<void>(resolve => (end = resolve)))
    await waitFor('the first', () => working === 1)
    // as after the computer slept
    alive.delete('one')
    let endSecond = () => {}
    const second = take(new Promise<void>(resolve => (endSecond = resolve)), 'two')
    await waitFor('the second', () => working === 2)
    const lock = await readFile(file, 'utf8')
    end()
    await first
    assert.equal(await readFile(file, 'utf8'), lock)
    endSecond()
    await second
    assert.deepEqual(await readdir(folder), [])
  })
})
