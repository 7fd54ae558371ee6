import assert from 'node:assert/strict'
import { existsSync, mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { keepCompiledCode } from '../../../src/common/compiled-code.ts'
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
  const keep = (getCompileCacheDir: () => string | undefined, flush = flushCompileCache) =>
    keepCompiledCode(folder, silentLogger, { getCompileCacheDir, flushCompileCache: flush })

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'parley-compiled-'))
    folder = join(directory, 'code-cache')
    used = join(folder, 'v24-x64')
    old = join(used, 'old')
    flushes = 0
    mkdirSync(used, { recursive: true })
    writeFileSync(old, '1')
    const before = Date.now() / 1000 - 31 * 24 * 3600
    utimesSync(old, before, before)
  })
  afterEach(() => rmSync(directory, { recursive: true, force: true }))

  it('is stored, and removed when it is old', async () => {
    await keep(() => used)
    assert.equal(flushes, 1)
    assert.ok(existsSync(join(used, 'new')))
    assert.ok(!existsSync(old))
  })

  it('is left alone if Node stores it elsewhere, or not at all', async () => {
    await keep(() => `${folder}-of-vscode`)
    await keep(() => undefined)
    await keepCompiledCode(folder, silentLogger, {})
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
