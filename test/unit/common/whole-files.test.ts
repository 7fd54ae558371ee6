import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { silentLogger } from '../../../src/common/logger.ts'
import { removeUnfinishedFiles } from '../../../src/common/unfinished-files.ts'
import { createWholeSync, writeWhole, writeWholeSync } from '../../../src/common/whole-files.ts'

describe('files that are written whole', () => {
  let directory: string
  let file: string
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'parley-whole-'))
    file = join(directory, 'value.json')
  })
  afterEach(() => rmSync(directory, { recursive: true, force: true }))

  const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8)

  it('are as one of several writers at the same time wrote them, and nothing else is left', async () => {
    const texts = ['a', 'b', 'c', 'd'].map(letter => letter.repeat(3_000_000))
    await Promise.all(texts.map(text => writeWhole(file, text)))
    assert.ok(texts.includes(readFileSync(file, 'utf8')))
    assert.deepEqual(readdirSync(directory), ['value.json'])
  })

  it('are as they were if they can not be replaced', async () => {
    mkdirSync(join(file, 'folder'), { recursive: true })
    await assert.rejects(writeWhole(file, 'x'))
    await assert.rejects(writeWhole(file, 'x', { isUsers: true }))
    assert.throws(() => writeWholeSync(file, 'x'))
    assert.throws(() => createWholeSync(file, 'x'), { code: 'EEXIST' })
    assert.deepEqual(readdirSync(directory, { recursive: true }).sort(), [
      'value.json',
      join('value.json', 'folder'),
    ])
  })

  it('are private, in a folder that is made for them, unless they are for the user', async function () {
    if (process.platform === 'win32') this.skip()
    const umask = process.umask(0o022)
    try {
      const [first, second] = [join(directory, 'a', 'b', 'c.json'), join(directory, 'd', 'e.json')]
      await writeWhole(first, new Uint8Array([120]))
      writeWholeSync(second, 'x')
      assert.deepEqual([first, second].map(modeOf), ['600', '600'])
      assert.deepEqual([join(directory, 'a'), join(directory, 'd')].map(modeOf), ['700', '700'])
      await writeWhole(file, 'x', { isUsers: true })
      assert.equal(modeOf(file), '644')
      const inMissing = join(directory, 'missing', 'x.json')
      await assert.rejects(writeWhole(inMissing, 'x', { isUsers: true }), { code: 'ENOENT' })
    } finally {
      process.umask(umask)
    }
  })

  it('go through no link that has the name of their temporary file', function () {
    if (process.platform === 'win32') this.skip()
    const other = join(directory, 'other')
    writeFileSync(other, 'mine')
    symlinkSync(other, `${file}.${process.pid}`)
    writeWholeSync(file, 'x')
    symlinkSync(other, `${file}.${process.pid}`)
    assert.throws(() => createWholeSync(file, 'y'), { code: 'EEXIST' })
    assert.equal(readFileSync(file, 'utf8'), 'x')
    assert.equal(readFileSync(other, 'utf8'), 'mine')
    assert.deepEqual(readdirSync(directory).sort(), ['other', 'value.json'])
  })

  it('are removed if they are unfinished and their process has ended or they are old', async () => {
    const folder = join(directory, 'values')
    writeWholeSync(join(folder, 'a.json'), '1')
    const ended = execFileSync(process.execPath, ['-p', 'process.pid'], { encoding: 'utf8' }).trim()
    const kept = ['a.json', `a.json.${process.ppid}`, `a.json.${process.ppid}.2`, 'other.txt.1']
    const old = `old.json.${process.ppid}`
    const names = [`a.json.${ended}`, `work.json.${ended}`, `work.json.${ended}.7`, old, ...kept]
    for (const name of names) writeFileSync(join(folder, name), '1')
    const before = Date.now() / 1000 - 25 * 3600
    for (const name of [old, 'a.json', 'other.txt.1']) utimesSync(join(folder, name), before, before)
    mkdirSync(join(folder, 'b.json.1'))
    await removeUnfinishedFiles([join(directory, 'not-there'), folder], silentLogger)
    assert.deepEqual(readdirSync(folder).sort(), [...kept, 'b.json.1'].sort())
  })
})
