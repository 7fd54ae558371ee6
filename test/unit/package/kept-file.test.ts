import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, rmSync, utimesSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { keptFile, removeUnused } from '../../package/kept-file.mjs'

describe('a file kept by the build', () => {
  let folder: string
  let made: number

  beforeEach(() => {
    folder = join(mkdtempSync(join(tmpdir(), 'parley-kept-')), 'not', 'there')
    made = 0
  })
  afterEach(() => rmSync(join(folder, '../..'), { recursive: true, force: true }))

  const make = async () => {
    made++
    return new TextEncoder().encode(`made ${made}`)
  }
  const kept = async (...inputs: string[]) => new TextDecoder().decode(await keptFile(folder, inputs, make))

  it('is created once for the same inputs', async () => {
    assert.equal(await kept('font', 'abc'), 'made 1')
    assert.equal(await kept('font', 'abc'), 'made 1')
    assert.equal(readdirSync(folder).length, 1)
  })

  it('is created again when the inputs change, or are divided differently', async () => {
    await kept('font', 'abc')
    assert.equal(await kept('font', 'abcd'), 'made 2')
    assert.equal(await kept('fonta', 'bc'), 'made 3')
    assert.equal(await kept('font', 'abc'), 'made 1')
  })

  it("isn't kept if it couldn't be created", async () => {
    const failing = keptFile(folder, ['font'], () => Promise.reject(new Error('no')))
    await assert.rejects(failing, /no/)
    assert.equal(await kept('font'), 'made 1')
  })

  it('is complete if two builds create it at the same time', async () => {
    const both = await Promise.all([kept('font'), kept('font')])
    assert.ok(both.every(text => /^made \d$/.test(text)))
    assert.equal(readdirSync(folder).length, 1)
  })

  it('is removed if no build used it for a month', async () => {
    await kept('used')
    await kept('unused')
    const old = new Date(Date.now() - 31 * 24 * 3_600_000)
    for (const name of readdirSync(folder)) utimesSync(join(folder, name), old, old)
    await kept('used')
    await removeUnused(folder)
    assert.equal(readdirSync(folder).length, 1)
    assert.equal(await kept('used'), 'made 1')
  })
})
