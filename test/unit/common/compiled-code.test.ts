import assert from 'node:assert/strict'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { storeCompiledCode } from '../../../src/common/compiled-code.ts'
import { silentLogger } from '../../../src/common/logger.ts'

describe('compiled code', () => {
  let directory: string
  let folder: string
  let used: string
  let old: string
  let flushes: number
  const flushCompileCache = () => {
    flushes++
    writeFileSync(join(used, 'new'), '1')
  }
  const keep = (
    getCompileCacheDir: () => string | undefined,
    flush = flushCompileCache,
    maxBytes: number | undefined = undefined,
  ) => storeCompiledCode(folder, silentLogger, { getCompileCacheDir, flushCompileCache: flush }, maxBytes)
  const write = (name: string, days: number, text = '1') => {
    const file = join(used, name)
    writeFileSync(file, text)
    const then = Date.now() / 1000 - days * 24 * 3600
    utimesSync(file, then, then)
  }

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'parley-compiled-'))
    folder = join(directory, 'code-cache')
    used = join(folder, 'v24-x64')
    old = join(used, 'old')
    flushes = 0
    mkdirSync(used, { recursive: true })
    write('old', 31)
  })
  afterEach(() => rmSync(directory, { recursive: true, force: true }))

  it('is stored, and removed when it is old', async () => {
    await keep(() => used)
    assert.equal(flushes, 1)
    assert.ok(existsSync(join(used, 'new')))
    assert.ok(!existsSync(old))
  })

  it('has a limit: the oldest goes first', async () => {
    for (const days of [1, 3, 2]) write(`${days}`, days, 'x'.repeat(100))
    await keep(() => used, flushCompileCache, 250)
    assert.deepEqual(readdirSync(used).sort(), ['1', '2', 'new'])
  })

  it('is removed only in its folder', async () => {
    const other = join(directory, 'other')
    mkdirSync(other)
    write('../../other/kept', 31)
    symlinkSync(other, join(used, 'link'), 'junction')
    await keep(() => used)
    assert.ok(existsSync(join(other, 'kept')))
  })

  it('is left alone if Node stores it elsewhere, or not at all', async () => {
    await keep(() => `${folder}-of-vscode`)
    await keep(() => undefined)
    await storeCompiledCode(folder, silentLogger, {})
    assert.equal(flushes, 0)
    assert.ok(existsSync(old))
  })

  it('is no problem if it cannot be stored', async () => {
    await keep(
      () => used,
      () => {
        throw new Error('the disk is full')
      },
    )
    rmSync(folder, { recursive: true })
    await keep(
      () => used,
      () => {},
    )
  })
})
