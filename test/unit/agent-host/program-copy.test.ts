import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { copyProgram, pruneCopies } from '../../../src/acp/transport/host/program-copy.ts'

describe('the copy of a program', () => {
  let folder: string
  let file: string
  beforeEach(() => {
    folder = mkdtempSync(path.join(os.tmpdir(), 'parley-program-'))
    file = path.join(folder, 'program.mjs')
    writeFileSync(file, 'one')
  })
  afterEach(() => rmSync(folder, { recursive: true, force: true }))
  const LATER = Date.now() + 48 * 3_600_000

  it('is made once for the same content, and stays when the original changes', () => {
    const first = copyProgram(folder, [file])
    assert.equal(copyProgram(folder, [file]), first)
    writeFileSync(file, 'two')
    const second = copyProgram(folder, [file])
    assert.notEqual(second, first)
    assert.equal(readFileSync(path.join(first, 'program.mjs'), 'utf8'), 'one')
    assert.equal(readFileSync(path.join(second, 'program.mjs'), 'utf8'), 'two')
    assert.deepEqual(readdirSync(folder).length, 3)
  })

  it('is deleted when no host has used it for a day, with what a crash left, and nothing else is', () => {
    const used = copyProgram(folder, [file])
    writeFileSync(file, 'two')
    copyProgram(folder, [file])
    mkdirSync(path.join(folder, 'program-new-abc'))
    mkdirSync(path.join(folder, 'programs'))
    pruneCopies(folder, new Set([used]))
    assert.equal(readdirSync(folder).length, 5)
    pruneCopies(folder, new Set([used]), LATER)
    assert.deepEqual(readdirSync(folder).sort(), [path.basename(used), 'program.mjs', 'programs'].sort())
  })
})
