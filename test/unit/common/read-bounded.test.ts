import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { readBounded, TooLargeError } from '../../../src/common/read-bounded.ts'

describe('reading a file with a bound', () => {
  let directory: string
  const at = (name: string) => path.join(directory, name)
  beforeEach(() => {
    directory = mkdtempSync(path.join(tmpdir(), 'parley-bounded-'))
  })
  afterEach(() => rmSync(directory, { recursive: true, force: true }))

  it('reads up to the bound', async () => {
    writeFileSync(at('a'), 'ä'.repeat(100_000))
    assert.equal(await readBounded(at('a'), 200_000), 'ä'.repeat(100_000))
    await assert.rejects(readBounded(at('a'), 199_999), TooLargeError)
    writeFileSync(at('b'), '')
    assert.equal(await readBounded(at('b'), 0), '')
    await assert.rejects(readBounded(at('c'), 1), { code: 'ENOENT' })
  })

  it('refuses what never ends or never answers', async function () {
    if (process.platform === 'win32') this.skip()
    symlinkSync('/dev/zero', at('zero'))
    execFileSync('mkfifo', [at('pipe')])
    for (const one of [at('zero'), at('pipe'), directory]) await assert.rejects(readBounded(one, 10))
    if (process.platform === 'linux') {
      // its size is 0
      assert.notEqual(await readBounded('/proc/self/status', 100_000), '')
      await assert.rejects(readBounded('/proc/self/status', 10), TooLargeError)
    }
  })
})
