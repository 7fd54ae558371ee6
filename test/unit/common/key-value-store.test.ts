import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { FolderStore } from '../../../src/common/key-value-store.ts'
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
})
