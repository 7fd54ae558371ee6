import assert from 'node:assert/strict'
import { mkdir, mkdtemp, readdir, readFile, readlink, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { type Zippable, zipSync } from 'fflate'
import { Header, type HeaderData } from 'tar'
import { archiveKind } from '../../../../src/agents/registry/registry-format.ts'
import {
  ArchiveError,
  programIn,
  type UnpackOptions,
  unpackArchive,
} from '../../../../src/agents/registry/unpack-archive.ts'
import { CancelledError } from '../../../../src/common/errors.ts'

const bytes = (text: string) => new TextEncoder().encode(text)

/** A tar file with any entries, including ones that no tool would create. */
function tarOf(entries: Array<HeaderData & { text?: string }>): Buffer {
  const pieces = entries.flatMap(({ text = '', ...about }) => {
    const data = Buffer.from(text)
    const header = new Header({ mode: 0o644, size: data.length, type: 'File', mtime: new Date(0), ...about })
    const block = Buffer.alloc(512)
    header.encode(block, 0)
    return [block, data, Buffer.alloc((512 - (data.length % 512)) % 512)]
  })
  return Buffer.concat([...pieces, Buffer.alloc(1024)])
}

/** The checksum of a tar header, in octal digits. */
function checksumOf(header: Buffer): string {
  const sum = header.reduce((total, byte, at) => total + (at >= 148 && at < 156 ? 0x20 : byte), 0)
  return sum.toString(8).padStart(6, '0')
}

/** A zip entry with Unix file type and mode. */
const unix = (data: string, mode: number): Zippable[string] => [
  bytes(data),
  { os: 3, attrs: (mode << 16) >>> 0 },
]

describe('an archive of an agent', () => {
  let home: string
  let folder: string
  let archive: string
  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'parley-unpack-'))
    folder = join(home, 'agent')
    archive = join(home, 'archive')
    await mkdir(folder)
  })
  afterEach(() => rm(home, { recursive: true }))

  const unpack = async (data: Uint8Array, kind: UnpackOptions['kind'], more: Partial<UnpackOptions> = {}) => {
    await writeFile(archive, data)
    await unpackArchive(archive, folder, { kind, cmd: './run', ...more })
  }
  /** Checks that an archive is rejected, and has created no files outside of its folder. */
  const refused = async (
    data: Uint8Array,
    kind: UnpackOptions['kind'],
    more: Partial<UnpackOptions> = {},
  ) => {
    await assert.rejects(unpack(data, kind, more), ArchiveError)
    assert.deepEqual((await readdir(home)).sort(), ['agent', 'archive'])
    await rm(folder, { recursive: true })
    await mkdir(folder)
  }
  const mode = async (name: string) => (await stat(join(folder, name))).mode & 0o7777

  it('is recognized by its URL', () => {
    assert.equal(archiveKind('https://x/a.zip?y=.tgz'), 'zip')
    assert.equal(archiveKind('https://x/a.tar.gz'), 'tar')
    assert.equal(archiveKind('https://x/a.tgz#z'), 'tar')
    assert.equal(archiveKind('https://x/agent-linux'), 'executable')
    assert.equal(archiveKind('https://x/agent.exe'), 'executable')
    assert.equal(archiveKind('https://x/agent-1.2.3'), 'executable')
    for (const name of [
      'a.dmg',
      'a.PKG',
      'a.msi',
      'a.deb',
      'a.rpm',
      'a.AppImage',
      'a.tar.xz',
      'a.tar.bz2',
      'a.tbz2',
      'a.7z',
      'a.gz',
      'a.html',
    ])
      assert.equal(archiveKind(`https://x/${name}?y=.zip`), undefined, name)
  })

  it('is unpacked from a zip file with its executables and links', async () => {
    const zip = zipSync({
      'bin/run': unix('#!/bin/sh\n', 0o100775),
      'readme.txt': unix('hello', 0o100664),
      link: unix('bin/run', 0o120777),
      'empty/': new Uint8Array(),
    })
    await unpack(zip, 'zip')
    assert.equal(await readFile(join(folder, 'readme.txt'), 'utf8'), 'hello')
    assert.equal(await readlink(join(folder, 'link')), 'bin/run')
    assert.deepEqual((await readdir(folder)).sort(), ['bin', 'empty', 'link', 'readme.txt'])
    assert.equal(await mode('bin/run'), 0o755)
    assert.equal(await mode('readme.txt'), 0o644)
  })

  it('is unpacked from tar.gz and tar', async () => {
    const tar = tarOf([
      { path: 'bin/', type: 'Directory', mode: 0o777 },
      { path: 'bin/run', text: 'run', mode: 0o4777 },
      { path: 'run', type: 'SymbolicLink', linkpath: 'bin/run' },
      { path: 'same', type: 'Link', linkpath: 'bin/run' },
    ])
    for (const [data, kind] of [
      [gzipSync(tar), 'tar'],
      [tar, 'tar'],
    ] as const) {
      await unpack(data, kind)
      assert.deepEqual((await readdir(folder)).sort(), ['bin', 'run', 'same'])
      assert.equal(await readFile(join(folder, 'run'), 'utf8'), 'run')
      assert.equal(await mode('bin/run'), 0o755, 'no set-user-id bit')
      await rm(folder, { recursive: true })
      await mkdir(folder)
    }
  })

  it('can be the executable itself', async () => {
    await unpack(bytes('program'), 'executable', { cmd: './bin/run' })
    assert.equal(await readFile(join(folder, 'bin/run'), 'utf8'), 'program')
  })

  const outside = [
    '../x',
    '/tmp/parley-x',
    'a/../../x',
    'C:/x',
    '..\\x',
    'a\\..\\..\\x',
    'con',
    'a/NUL.txt',
    'a:b',
    // Windows omits what they end with
    '.. /x',
    'a./x',
    'run ',
  ]

  it('is rejected if a path leads outside of the folder', async () => {
    for (const path of outside) {
      await refused(zipSync({ [path]: bytes('x') }), 'zip')
      await refused(tarOf([{ path, text: 'x' }]), 'tar')
      assert.throws(() => programIn(folder, path), ArchiveError, path)
    }
    await refused(tarOf([{ path: 'a\nb', text: 'x' }]), 'tar')
  })

  it('is rejected if a link leads outside, directly or through another link', async () => {
    const targets = ['/etc/passwd', '../x', '..', 'a/../../x', 'C:\\x']
    for (const linkpath of targets) {
      await refused(tarOf([{ path: 'l', type: 'SymbolicLink', linkpath }]), 'tar')
      await refused(tarOf([{ path: 'l', type: 'Link', linkpath }]), 'tar')
      await refused(zipSync({ l: unix(linkpath, 0o120777) }), 'zip')
    }
    await refused(
      tarOf([
        { path: 'deep/', type: 'Directory', mode: 0o755 },
        { path: 'deep/b', type: 'SymbolicLink', linkpath: '.' },
        { path: 'deep/b/l', type: 'SymbolicLink', linkpath: '../..' },
      ]),
      'tar',
    )
    await refused(zipSync({ 'a/b': unix('..', 0o120777), 'a/b/c/l': unix('../../..', 0o120777) }), 'zip')
    // `x` seems to point to `d`, but points to the folder's parent
    const chain = { 'd/b': unix('..', 0o120777), x: unix('d/b/..', 0o120777) }
    await refused(zipSync({ ...chain, 'x/l': unix('d', 0o120777) }), 'zip')
    await refused(zipSync({ ...chain, 'x/new/l': unix('../d', 0o120777) }), 'zip')
    await refused(
      tarOf([
        { path: 'd/', type: 'Directory', mode: 0o755 },
        { path: 'd/b', type: 'SymbolicLink', linkpath: '..' },
        { path: 'x', type: 'SymbolicLink', linkpath: 'd/b/..' },
        { path: 'h', type: 'Link', linkpath: 'x/archive' },
        { path: 'x', text: '' },
      ]),
      'tar',
    )
    await refused(tarOf([{ path: 'l', type: 'SymbolicLink', linkpath: 'nothing' }]), 'tar')
  })

  it('is rejected if it writes through a link', async () => {
    await refused(
      tarOf([
        { path: 'd', type: 'SymbolicLink', linkpath: '.' },
        { path: 'd/x', text: 'x' },
      ]),
      'tar',
    )
    await refused(zipSync({ d: unix('.', 0o120777), 'd/x': unix('x', 0o100644) }), 'zip')
  })

  it('is rejected if it contains devices or pipes', async () => {
    for (const type of ['CharacterDevice', 'BlockDevice', 'FIFO'] as const)
      await refused(tarOf([{ path: 'x', type }]), 'tar')
    await refused(zipSync({ x: unix('', 0o010644) }), 'zip')
  })

  it('is rejected if it contains files in a form that is left out or unpacked wrongly', async () => {
    // a file with holes, as GNU tar writes it in its own and in the standard format; a part of a file
    for (const code of ['S', 'M', 'Z']) {
      const tar = tarOf([
        { path: 'run', text: 'run' },
        { path: 'readme', text: 'hello' },
      ])
      tar.write(code, 156)
      tar.write(`${checksumOf(tar.subarray(0, 512))}\0 `, 148)
      await refused(tar, 'tar')
    }
    await refused(tarOf([{ path: './GNUSparseFile.12/run', text: '1\n0\n3\n' }]), 'tar')
  })

  it('is rejected before anything is written if its content is too large', async () => {
    const large = 'x'.repeat(5000)
    await refused(zipSync({ x: bytes(large) }), 'zip', { maxBytes: 4000 })
    await refused(gzipSync(tarOf([{ path: 'x', text: large }])), 'tar', { maxBytes: 4000 })
    const many = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`f${index}`, bytes('')]))
    await refused(zipSync(many), 'zip', { maxEntries: 10 })
    assert.deepEqual(await readdir(folder), [])
  })

  it("is rejected if it's truncated, empty or another kind of file", async () => {
    const zip = zipSync({ x: bytes('x'.repeat(1000)) })
    const tar = gzipSync(tarOf([{ path: 'x', text: 'x'.repeat(1000) }]))
    await refused(zip.subarray(0, zip.length - 10), 'zip')
    await refused(tar.subarray(0, tar.length - 10), 'tar')
    await refused(new Uint8Array(), 'zip')
    await refused(new Uint8Array(), 'tar')
    const damaged = Buffer.from(zipSync({ run: [bytes('x'.repeat(1000)), { level: 0 }] }))
    damaged[damaged.indexOf('xxx') + 500] = 0
    await refused(damaged, 'zip')
    await refused(bytes('<html>Not found</html>'.repeat(40)), 'zip')
    await refused(bytes('<html>Not found</html>'.repeat(40)), 'tar')
  })

  it('stops when canceled', async () => {
    const signal = AbortSignal.abort()
    await assert.rejects(unpack(zipSync({ x: bytes('x') }), 'zip', { signal }), CancelledError)
    await assert.rejects(unpack(tarOf([{ path: 'x' }]), 'tar', { signal }), CancelledError)
  })

  /** Ends like a tar file, and continues with zeros, as a file that a tool made larger than necessary. */
  const padded = (megabytes: number) =>
    Buffer.concat([tarOf([{ path: 'run', text: 'run' }]), Buffer.alloc(megabytes * 1024 ** 2)])

  it('is unpacked up to its end mark, whatever padding follows', async () => {
    await unpack(gzipSync(padded(8)), 'tar')
    assert.equal(await readFile(join(folder, 'run'), 'utf8'), 'run')
  })

  it('is rejected if it has far more padding than content, without reading all of it', async () => {
    const bomb = gzipSync(padded(256), { level: 1 })
    const before = process.cpuUsage()
    await refused(bomb, 'tar')
    const { user, system } = process.cpuUsage(before)
    assert.ok((user + system) / 1000 < 2000, `${(user + system) / 1000} ms`)
    // in a header, before the first entry
    const comment = 'x'.repeat(900_000)
    const headers = Array.from({ length: 30 }, () => ({
      path: 'p',
      type: 'ExtendedHeader' as const,
      text: comment,
    }))
    await refused(gzipSync(tarOf([...headers, { path: 'run' }])), 'tar')
    assert.deepEqual(await readdir(folder), [])
  })

  it("is rejected if it's compressed twice", async () => {
    await refused(gzipSync(gzipSync(tarOf([{ path: 'run', text: 'run' }]))), 'tar')
  })

  it('is rejected if it contains too many folders', async () => {
    const path = `${'a/'.repeat(50)}run`
    await refused(tarOf([{ path, text: '' }]), 'tar', { maxEntries: 20 })
    await refused(zipSync({ [path]: bytes('') }), 'zip', { maxEntries: 20 })
  })

  it('is rejected if zip entries share their content', async () => {
    const zip = Buffer.from(
      zipSync({ one: [bytes('x'.repeat(4000)), { level: 0 }], two: [bytes('y'), { level: 0 }] }),
    )
    // the second record of the directory gets the first one's sizes and place
    const first = zip.indexOf('PK\x01\x02', 0, 'latin1')
    const second = zip.indexOf('PK\x01\x02', first + 4, 'latin1')
    zip.copy(zip, second + 16, first + 16, first + 28)
    zip.copy(zip, second + 42, first + 42, first + 46)
    await refused(zip, 'zip')
  })

  it('stops when canceled, even if it contains nothing', async () => {
    const empty = gzipSync('')
    await writeFile(archive, Buffer.alloc(empty.length * 500_000, empty))
    const cancel = new AbortController()
    const unpacking = unpackArchive(archive, folder, { kind: 'tar', cmd: './run', signal: cancel.signal })
    setTimeout(() => cancel.abort(), 10)
    const before = process.cpuUsage()
    await assert.rejects(unpacking, CancelledError)
    const { user, system } = process.cpuUsage(before)
    assert.ok((user + system) / 1000 < 1000, `${(user + system) / 1000} ms`)
  })

  for (const [kind, data] of [
    ['tar', () => gzipSync(padded(15), { level: 1 })],
    ['zip', () => zipSync({ run: bytes('x'.repeat(8 * 1024 ** 2)) })],
  ] as const)
    it(`stops while it's unpacked if it's canceled or takes too long: ${kind}`, async () => {
      const archive = data()
      const cancel = new AbortController()
      const unpacking = unpack(archive, kind, { signal: cancel.signal })
      setImmediate(() => cancel.abort())
      await assert.rejects(unpacking, CancelledError)
      await rm(folder, { recursive: true })
      await mkdir(folder)
      await assert.rejects(unpack(archive, kind, { maxMs: 0 }), /longer than 0 seconds/)
    })
})
