import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { ensureScratchFolder } from '../../../src/editor/scratch-folder.ts'
import { useTemporaryFolder } from './temporary-folder.ts'

describe('the scratch folder', () => {
  const storage = useTemporaryFolder()

  it('is made on demand, for the person alone', async function () {
    if (process.platform === 'win32') this.skip()
    const folder = await ensureScratchFolder(path.join(storage(), 'global'))
    assert.equal(statSync(folder).mode & 0o777, 0o700)
  })

  it('is made private again, and keeps what is in it', async function () {
    if (process.platform === 'win32') this.skip()
    const folder = await ensureScratchFolder(storage())
    writeFileSync(path.join(folder, 'note'), 'x')
    chmodSync(folder, 0o755)
    assert.equal(await ensureScratchFolder(storage()), folder)
    assert.equal(statSync(folder).mode & 0o777, 0o700)
    assert.equal(statSync(path.join(folder, 'note')).size, 1)
  })

  it('is not a link to elsewhere, nor a file', async () => {
    mkdirSync(path.join(storage(), 'elsewhere'))
    symlinkSync(path.join(storage(), 'elsewhere'), path.join(storage(), 'scratch'), 'junction')
    await assert.rejects(ensureScratchFolder(storage()), /isn't a folder/)
  })
})
