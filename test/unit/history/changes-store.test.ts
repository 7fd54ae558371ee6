import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { silentLogger } from '../../../src/common/logger.ts'
import { ChangesStore } from '../../../src/history/changes-store.ts'

describe('what sessions changed, kept', () => {
  let folder = ''
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'parley-kept-changes-'))
  })
  afterEach(() => rmSync(folder, { recursive: true, force: true }))
  const touched = { path: '/w/a', before: 'a', left: null }

  it('is there for the next window, by agent and session', () => {
    const store = new ChangesStore(folder, silentLogger)
    store.keepFor('one', 's').write([touched, { path: '/w/b', before: 'x', left: 'x' }])
    store.keepFor('one', 't').write([{ path: '/w/c', before: null, left: 'c', mixed: true }])
    store.dispose()
    const next = new ChangesStore(folder, silentLogger)
    assert.deepEqual(next.keepFor('one', 's').read(), [touched])
    assert.deepEqual(next.keepFor('one', 't').read(), [
      { path: '/w/c', before: null, left: 'c', mixed: true },
    ])
    assert.deepEqual(next.keepFor('two', 's').read(), [])
    next.keepFor('one', 's').write([])
    next.dispose()
    assert.equal(readdirSync(folder).length, 1)
  })

  it('is bounded: too much text is left out, and only so many sessions stay', () => {
    const store = new ChangesStore(folder, silentLogger)
    const large = { path: '/w/large', before: null, left: 'x'.repeat(17_000_000) }
    store.keepFor('one', 's').write([touched, large])
    for (let i = 0; i < 60; i++) store.keepFor('many', String(i)).write([touched])
    store.dispose()
    assert.equal(readdirSync(folder).length, 50)
  })

  it('is nothing where the file is damaged', () => {
    const store = new ChangesStore(folder, silentLogger)
    store.keepFor('one', 's').write([touched])
    store.dispose()
    for (const name of readdirSync(folder)) writeFileSync(join(folder, name), '{"x"')
    assert.deepEqual(new ChangesStore(folder, silentLogger).keepFor('one', 's').read(), [])
  })
})
