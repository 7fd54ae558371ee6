import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { FolderStore } from '../../../src/common/key-value-store.ts'
import { silentLogger } from '../../../src/common/logger.ts'
import { removeUnfinishedFiles } from '../../../src/common/unfinished-files.ts'

describe('unfinished files', () => {
  let directory: string
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'parley-unfinished-'))
  })
  afterEach(() => rmSync(directory, { recursive: true, force: true }))

  it('are removed if their process has ended or they are old', async () => {
    const folder = join(directory, 'values')
    new FolderStore(folder, silentLogger).set('page', 'history')
    new FolderStore(folder, silentLogger).set('a', 'b')
    const complete = readdirSync(folder)
    const ended = execFileSync(process.execPath, ['-p', 'process.pid'], { encoding: 'utf8' }).trim()
    const kept = [...complete, `${complete[0]}.${process.ppid}`, 'other.txt.1']
    const old = `old.json.${process.ppid}`
    for (const name of [`${complete[0]}.${ended}`, `work.json.${ended}`, old, ...kept.slice(complete.length)])
      writeFileSync(join(folder, name), '1')
    const before = Date.now() / 1000 - 25 * 3600
    for (const name of [old, ...kept.slice(0, complete.length)])
      utimesSync(join(folder, name), before, before)
    mkdirSync(join(folder, 'a.json.1'))
    await removeUnfinishedFiles([join(directory, 'not-there'), folder], silentLogger)
    assert.deepEqual(readdirSync(folder).sort(), [...kept, 'a.json.1'].sort())
  })
})
