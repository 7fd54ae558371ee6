import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Logger, silentLogger } from '../../../src/common/logger.ts'
import { KeepFile, KeepFolder } from '../../../src/views/storage/keep-files.ts'

describe('KeepFile', () => {
  let directory: string
  let warnings: string[]
  let log: Logger

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'parley-keep-'))
    warnings = []
    log = { ...silentLogger, warn: message => warnings.push(message) }
  })
  afterEach(() => rmSync(directory, { recursive: true, force: true }))

  it('has on disk what was set, and nothing else', () => {
    const file = join(directory, 'not', 'there', 'kept.json')
    const keep = new KeepFile(file, log)
    keep.set('a', { text: 'żółć' })
    keep.set('b', 1)
    keep.set('b', undefined)
    const again = new KeepFile(file, log)
    assert.deepEqual(again.get('a'), { text: 'żółć' })
    assert.equal(again.get('b'), undefined)
    assert.deepEqual(readdirSync(join(directory, 'not', 'there')), ['kept.json'])
    assert.deepEqual(warnings, [])
  })

  it('has a file for each, on disk at once, in a folder', () => {
    const folder = join(directory, 'not', 'there')
    const keep = new KeepFolder(folder, log)
    keep.set('page', 'history')
    keep.set('page', 'conversation')
    keep.set('other', 1)
    assert.equal(new KeepFolder(folder, log).get('page'), 'conversation')
    keep.set('page', undefined)
    const again = new KeepFolder(folder, log)
    assert.deepEqual([again.get('page'), again.get('other')], [undefined, 1])
    assert.deepEqual([readdirSync(folder).length, warnings], [1, []])
  })

  for (const content of ['', '{"a": ', '[1]', 'null', '"text"'])
    it(`begins anew with a file that holds ${JSON.stringify(content)}`, () => {
      const file = join(directory, 'kept.json')
      writeFileSync(file, content)
      const keep = new KeepFile(file, log)
      assert.equal(keep.get('a'), undefined)
      keep.set('a', 'b')
      assert.equal(new KeepFile(file, log).get('a'), 'b')
    })

  it('keeps for the window what cannot be written, and says so', () => {
    const file = join(directory, 'a-file')
    writeFileSync(file, '')
    const keep = new KeepFile(join(file, 'kept.json'), log)
    keep.set('a', 'b')
    assert.equal(keep.get('a'), 'b')
    assert.match(warnings.at(-1) ?? '', /was not written/)
  })
})
