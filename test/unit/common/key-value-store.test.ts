import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { FileStore, FolderStore } from '../../../src/common/key-value-store.ts'
import { type Logger, silentLogger } from '../../../src/common/logger.ts'

describe('FileStore', () => {
  let directory: string
  let warnings: string[]
  let log: Logger

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'parley-keep-'))
    warnings = []
    log = { ...silentLogger, warn: message => warnings.push(message) }
  })
  afterEach(() => rmSync(directory, { recursive: true, force: true }))

  it('stores on disk exactly what was set', () => {
    const file = join(directory, 'not', 'there', 'kept.json')
    const store = new FileStore(file, log)
    store.set('a', { text: 'żółć' })
    store.set('b', 1)
    store.set('b', undefined)
    const again = new FileStore(file, log)
    assert.deepEqual(again.get('a'), { text: 'żółć' })
    assert.equal(again.get('b'), undefined)
    assert.deepEqual(readdirSync(join(directory, 'not', 'there')), ['kept.json'])
    assert.deepEqual(warnings, [])
  })

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

  for (const content of ['', '{"a": ', '[1]', 'null', '"text"'])
    it(`starts over if the file contains ${JSON.stringify(content)}`, () => {
      const file = join(directory, 'kept.json')
      writeFileSync(file, content)
      const store = new FileStore(file, log)
      assert.equal(store.get('a'), undefined)
      store.set('a', 'b')
      assert.equal(new FileStore(file, log).get('a'), 'b')
    })

  it("keeps values in memory that can't be written, and logs it", () => {
    const file = join(directory, 'a-file')
    writeFileSync(file, '')
    const store = new FileStore(join(file, 'kept.json'), log)
    store.set('a', 'b')
    assert.equal(store.get('a'), 'b')
    assert.match(warnings.at(-1) ?? '', /wasn't written/)
  })
})
