import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { mock } from 'node:test'
import { FolderStore } from '../../../src/common/key-value-store.ts'
import { REWRITE_AFTER_MS } from '../../../src/common/limits.ts'
import { type Logger, silentLogger } from '../../../src/common/logger.ts'

describe('FolderStore', () => {
  let directory: string
  let warnings: string[]
  let log: Logger

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'parley-keep-'))
    warnings = []
    log = { ...silentLogger, warn: message => warnings.push(message) }
  })
  afterEach(() => rmSync(directory, { recursive: true, force: true }))

  it('writes one file per key to a folder immediately', () => {
    const folder = join(directory, 'not', 'there')
    const store = new FolderStore(folder, log)
    store.set('page', 'history')
    store.set('page', 'conversation')
    store.set('other', 1)
    assert.equal(new FolderStore(folder, log).get('page'), 'conversation')
    store.set('page', undefined)
    const again = new FolderStore(folder, log)
    assert.deepEqual([again.get('page'), again.get('other')], [undefined, 1])
    assert.deepEqual([readdirSync(folder).length, warnings], [1, []])
  })

  for (const content of ['', '{"a": '])
    it(`starts over if a file contains ${JSON.stringify(content)}`, () => {
      const store = new FolderStore(directory, log)
      store.set('a', 'b')
      const [name] = readdirSync(directory)
      writeFileSync(join(directory, name!), content)
      assert.equal(store.get('a'), undefined)
      store.set('a', 'c')
      assert.equal(new FolderStore(directory, log).get('a'), 'c')
    })

  it("keeps values in memory that can't be written, and logs it", () => {
    const file = join(directory, 'a-file')
    writeFileSync(file, '')
    const store = new FolderStore(join(file, 'values'), log)
    store.set('a', 'b')
    assert.equal(store.get('a'), 'b')
    assert.match(warnings.join(), /wasn't written/)
  })

  it("doesn't write over what another window has written since", () => {
    mock.timers.enable({ apis: ['setTimeout'] })
    try {
      const one = new FolderStore(directory, log)
      const other = new FolderStore(directory, log)
      one.set('a', 'first')
      const [name] = readdirSync(directory)
      const file = join(directory, name!)
      const blocked = `${file}.${process.pid}`
      // on a file system whose clock is coarse
      utimesSync(file, 1_000, 1_000)
      mkdirSync(blocked)
      one.set('a', 'late')
      one.set('b', 'only here')
      assert.deepEqual([one.get('a'), other.get('a')], ['late', 'first'], 'in memory only')
      rmSync(blocked, { recursive: true })
      other.set('a', 'newer')
      utimesSync(file, 1_000, 1_000)
      mock.timers.tick(REWRITE_AFTER_MS)
      for (const store of [one, other])
        assert.deepEqual([store.get('a'), store.get('b')], ['newer', 'only here'])
    } finally {
      mock.timers.reset()
    }
  })
})
