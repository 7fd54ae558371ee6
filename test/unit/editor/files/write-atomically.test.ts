import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { disk, type FileSystem, writeAtomically } from '../../../../src/editor/files/file-system.ts'

describe('an atomic write', () => {
  let directory: string
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'parley-write-'))
  })
  afterEach(() => rmSync(directory, { recursive: true, force: true }))

  it('loses nothing that was written meanwhile, also if that can no longer be put back', async () => {
    const target = join(directory, 'a.txt')
    writeFileSync(target, 'expected')
    let renames = 0
    const failing: FileSystem = {
      ...disk,
      async rename(from, to) {
        if (renames++ > 0) throw Object.assign(new Error('full'), { code: 'ENOSPC' })
        // after the comparison, and before it's replaced
        writeFileSync(target, "the user's")
        await disk.rename(from, to)
      },
    }
    const isExpected = (there: Uint8Array) => Buffer.from(there).toString() === 'expected'
    const existing = { mode: 0o644, shared: false }
    await assert.rejects(writeAtomically(failing, target, Buffer.from('ours'), existing, isExpected), /full/)
    const texts = readdirSync(directory).map(name => readFileSync(join(directory, name), 'utf8'))
    assert.deepEqual(texts.sort(), ['ours', "the user's"])
  })
})
