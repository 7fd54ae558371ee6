import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { strFromU8, strToU8, unzipSync, zipSync } from 'fflate'
import { packTightly } from './pack-tightly.ts'

describe('a tightly packed VSIX', () => {
  const files = {
    'extension.vsixmanifest': strToU8('<PackageManifest/>'),
    'extension/package.json': strToU8('{"name":"parley"}'),
    'extension/readme.md': strToU8('# Parley\n\n![A picture](media/a.png)\n\nText\n'),
    'extension/dist/a.js': strToU8('export const text = "long"\n'.repeat(2_000)),
  }
  let directory: string
  before(() => {
    directory = mkdtempSync(join(tmpdir(), 'parley-vsix-'))
  })
  after(() => rmSync(directory, { recursive: true }))

  async function pack(names: string[], mtime: Date): Promise<Buffer> {
    const file = join(directory, 'a.vsix')
    const entries = names.map(name => [name, files[name as keyof typeof files]] as const)
    writeFileSync(file, zipSync(Object.fromEntries(entries), { mtime, level: 1 }))
    await packTightly(file)
    return readFileSync(file)
  }

  it('is the same, byte by byte, at any time and in any order of its files', async () => {
    const names = Object.keys(files)
    const first = await pack(names, new Date(2026, 1, 3))
    const second = await pack(names.toReversed(), new Date(2031, 4, 5, 6, 7, 8))
    assert.ok(first.equals(second))
    const unpacked = unzipSync(first)
    assert.deepEqual(Object.keys(unpacked).sort(), names.toSorted())
    assert.deepEqual(unpacked['extension/dist/a.js'], new Uint8Array(files['extension/dist/a.js']))
  })

  it('shows no picture that only a repository would have', async () => {
    const readme = unzipSync(await pack(Object.keys(files), new Date()))['extension/readme.md']!
    assert.equal(strFromU8(readme), '# Parley\n\nText\n')
  })
})
