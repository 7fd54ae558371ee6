import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import path from 'node:path'
import { FileMissingError } from '../../../../src/acp/agent.ts'
import { CancelledError } from '../../../../src/common/errors.ts'
import { noDocuments } from '../../../../src/editor/files/documents.ts'
import { disk, type FileSystem } from '../../../../src/editor/files/file-system.ts'
import {
  type AskAccess,
  type FilesShared,
  filesShared,
  SessionFiles,
} from '../../../../src/editor/files/files.ts'
import { type Encodings, MAX_READ_BYTES } from '../../../../src/editor/files/text-files.ts'
import { until } from '../../../support/until.ts'
import { useTemporaryFolder } from '../temporary-folder.ts'

const refuse: AskAccess = async () => 'refuse'
const fails = (code: string) => async () => Promise.reject(Object.assign(new Error(code), { code }))

describe('files without an open document', () => {
  const folder = useTemporaryFolder()
  const at = (...names: string[]) => path.join(folder(), ...names)
  const put = (name: string, content: string | Uint8Array) => {
    writeFileSync(at(name), content)
    return at(name)
  }
  const files = (more: Partial<FilesShared> = {}, askAccess = refuse) =>
    new SessionFiles(filesShared({ documents: noDocuments, fileSystem: disk, ...more }), {
      roots: { cwd: folder(), additionalDirectories: [] },
      askAccess,
    })
  const read = (name: string, line?: number, limit?: number) =>
    files().readTextFile({ path: at(name), line, limit })
  const write = (name: string, content: string) => files().writeTextFile({ path: at(name), content })

  describe('reading', () => {
    it('returns the requested lines from a 1-based line, with their line endings', async () => {
      put('a', 'one\r\ntwo\nthree')
      assert.equal(await read('a'), 'one\r\ntwo\nthree')
      assert.equal(await read('a', 1, 1), 'one\r\n')
      assert.equal(await read('a', 2), 'two\nthree')
      assert.equal(await read('a', 2, 1), 'two\n')
      assert.equal(await read('a', 3, 9), 'three')
    })

    it('returns nothing beyond the end or for no lines, and reads line 0 as 1', async () => {
      put('a', 'one\ntwo\n')
      assert.equal(await read('a', 3), '')
      assert.equal(await read('a', 99, 5), '')
      assert.equal(await read('a', 1, 0), '')
      assert.equal(await read('a', 0, 1), 'one\n')
      put('empty', '')
      assert.equal(await read('empty'), '')
    })

    it('reads a few files at a time, however many are requested', async () => {
      let [found, open, most] = [0, 0, 0]
      const fileSystem: FileSystem = {
        ...disk,
        stat(path) {
          found++
          return disk.stat(path)
        },
        async *readPieces(path) {
          most = Math.max(most, ++open)
          await until(() => found >= 40, 'all requests')
          yield* disk.readPieces(path)
          open--
        },
      }
      const session = files({ fileSystem })
      const names = Array.from({ length: 40 }, (_, i) => put(`file${i}`, `${i}`))
      const texts = await Promise.all(names.map(path => session.readTextFile({ path })))
      assert.deepEqual(texts, Object.keys(names))
      assert.ok(most >= 2 && most <= 4, `${most} at a time`)
    })

    it('resolves a relative path against the cwd (quirk 21)', async () => {
      put('a', 'text')
      assert.equal(await files().readTextFile({ path: 'a' }), 'text')
    })

    it('removes a byte order mark', async () => {
      put('a', '\ufeffé')
      assert.equal(await read('a'), 'é')
    })

    it('detects UTF-16 by its byte order mark', async () => {
      put('le', Buffer.from('\ufeffé\n𝄞', 'utf16le'))
      put('be', Buffer.from('\ufeffé\n𝄞', 'utf16le').swap16())
      assert.equal(await read('le'), 'é\n𝄞')
      assert.equal(await read('be', 2), '𝄞')
    })

    it('reports a missing file (quirk 1)', async () => {
      await assert.rejects(read('none'), FileMissingError)
      await assert.rejects(read('no/such/folder'), FileMissingError)
      put('a', '')
      await assert.rejects(read('a/b'), FileMissingError)
    })

    it('reports a folder', async () => {
      await assert.rejects(files().readTextFile({ path: folder() }), { name: 'FileError', reason: 'folder' })
    })

    it('reports a binary file and an unknown encoding', async () => {
      put('a', Buffer.from([0x89, 0x50, 0, 1]))
      await assert.rejects(read('a'), { reason: 'binary', message: /binary/ })
      put('b', Buffer.from('caf\xe9', 'latin1'))
      await assert.rejects(read('b'), { reason: 'encoding', message: /files\.encoding/ })
    })

    it("doesn't wait on a pipe", async function () {
      if (process.platform === 'win32') this.skip()
      execFileSync('mkfifo', [at('pipe')])
      await assert.rejects(read('pipe'), { reason: 'other', message: /isn't a regular file/ })
    })

    it('returns a huge file only in parts', async () => {
      const line = `${'x'.repeat(1023)}\n`
      put('huge', line.repeat(17 * 1024))
      await assert.rejects(read('huge'), { reason: 'too-large', message: /line and limit/ })
      assert.equal(await read('huge', 17 * 1024, 5), line)
      assert.equal(await read('huge', 17 * 1024 + 1), '')
      assert.equal(await read('huge', 1000, 3), line.repeat(3))
      assert.equal((await read('huge', 17 * 1024 - 1)).length, 2048)
      await assert.rejects(read('huge', 2), { reason: 'too-large' })
    })

    it("doesn't read gigabytes of one line", async () => {
      put('sparse', 'x'.repeat(10_000))
      truncateSync(at('sparse'), 3 * 1024 * 1024 * 1024)
      await assert.rejects(read('sparse', 1, 1), { reason: 'too-large' })
    })

    it('reports a file without permission', async () => {
      put('a', '')
      const fileSystem: FileSystem = {
        ...disk,
        // biome-ignore lint/correctness/useYield: it fails before it yields
        async *readPieces() {
          await fails('EACCES')()
        },
      }
      await assert.rejects(files({ fileSystem }).readTextFile({ path: at('a') }), {
        reason: 'no-right',
        message: `Cannot read ${at('a')}: permission denied.`,
      })
    })
  })

  describe('writing', () => {
    it('creates the file and its folders (quirk 2)', async () => {
      await write('new/deep/a.txt', 'text\n')
      assert.equal(readFileSync(at('new/deep/a.txt'), 'utf8'), 'text\n')
    })

    it('replaces the content and leaves no other file behind', async () => {
      put('a', 'old')
      await write('a', 'new')
      assert.equal(readFileSync(at('a'), 'utf8'), 'new')
      assert.deepEqual(readdirSync(folder()), ['a'])
    })

    it('merges only a few large files at a time, and small ones meanwhile', async () => {
      let [isOpen, largest] = [false, 0]
      const merging = new Set<string>()
      const gate = { open: () => {} }
      const opened = new Promise<void>(resolve => {
        gate.open = resolve
      })
      const fileSystem: FileSystem = {
        ...disk,
        async stat(file) {
          const info = await disk.stat(file)
          return file.endsWith('small') ? info : { ...info, size: MAX_READ_BYTES }
        },
        async readFile(file) {
          if (file.includes('large')) merging.add(file)
          largest = Math.max(largest, merging.size)
          if (!isOpen && file.includes('large')) await opened
          return disk.readFile(file)
        },
        async rename(from, to) {
          await disk.rename(from, to)
          merging.delete(to)
        },
      }
      const names = Array.from({ length: 12 }, (_, i) => `large${i}`)
      for (const name of [...names, 'small']) put(name, 'old\n')
      const one = files({ fileSystem })
      const writing = names.map(name => one.writeTextFile({ path: at(name), content: 'new\n' }))
      await until(() => merging.size === 2, 'two files to be read')
      await one.writeTextFile({ path: at('small'), content: 'new\n' })
      isOpen = true
      gate.open()
      await Promise.all(writing)
      assert.equal(largest, 2)
      for (const name of [...names, 'small']) assert.equal(readFileSync(at(name), 'utf8'), 'new\n')
    })

    it('accepts an empty text', async () => {
      put('a', 'old')
      await write('a', '')
      assert.equal(readFileSync(at('a'), 'utf8'), '')
    })

    it('keeps consistent line endings', async () => {
      put('crlf', 'a\r\nb\r\n')
      await write('crlf', 'a\nc\n')
      assert.equal(readFileSync(at('crlf'), 'utf8'), 'a\r\nc\r\n')
      put('lf', 'a\nb\n')
      await write('lf', 'a\r\nc\r\n')
      assert.equal(readFileSync(at('lf'), 'utf8'), 'a\nc\n')
    })

    it('keeps the line endings of unchanged lines if the file has mixed ones', async () => {
      put('both', 'a\r\nb\r\nc\nd\r\n')
      await write('both', 'a\nB\nc\nd\ne\n')
      assert.equal(readFileSync(at('both'), 'utf8'), 'a\r\nB\r\nc\nd\r\ne\r\n')
      await write('both', 'a\r\nB\r\nc\r\n')
      assert.equal(readFileSync(at('both'), 'utf8'), 'a\r\nB\r\nc\n')
    })

    it('writes the text unchanged if it has mixed line endings, or the file has none', async () => {
      put('both', 'a\r\nb\n')
      await write('both', 'a\r\nc\n')
      assert.equal(readFileSync(at('both'), 'utf8'), 'a\r\nc\n')
      await write('fresh', 'a\r\nb\n')
      assert.equal(readFileSync(at('fresh'), 'utf8'), 'a\r\nb\n')
    })

    it('keeps a byte order mark, and writes only one', async () => {
      put('a', '\ufeffold')
      await write('a', 'new')
      assert.equal(readFileSync(at('a'), 'utf8'), '\ufeffnew')
      await write('a', '\ufeffnewer')
      assert.equal(readFileSync(at('a'), 'utf8'), '\ufeffnewer')
      put('b', 'old')
      await write('b', '\ufeffnew')
      assert.equal(readFileSync(at('b'), 'utf8'), 'new')
    })

    it('keeps UTF-16', async () => {
      put('a', Buffer.from('\ufeffold', 'utf16le').swap16())
      await write('a', 'é𝄞')
      assert.deepEqual(readFileSync(at('a')), Buffer.from('\ufeffé𝄞', 'utf16le').swap16())
    })

    it('keeps the mode', async function () {
      if (process.platform === 'win32') this.skip()
      put('run.sh', 'old')
      chmodSync(at('run.sh'), 0o755)
      await write('run.sh', 'new')
      assert.equal(statSync(at('run.sh')).mode & 0o777, 0o755)
    })

    it('writes to the target of a link and keeps the link', async () => {
      put('target', 'old')
      symlinkSync('target', at('link'))
      await write('link', 'new')
      assert.equal(readFileSync(at('target'), 'utf8'), 'new')
      assert.equal(lstatSync(at('link')).isSymbolicLink(), true)
      symlinkSync('not-yet', at('dangling'))
      await write('dangling', 'made')
      assert.equal(readFileSync(at('not-yet'), 'utf8'), 'made')
    })

    it('keeps hard links', async () => {
      put('one', 'old')
      linkSync(at('one'), at('two'))
      await write('one', 'a longer text than before')
      assert.equal(readFileSync(at('two'), 'utf8'), 'a longer text than before')
      await write('two', 'short')
      assert.equal(readFileSync(at('one'), 'utf8'), 'short')
    })

    it("doesn't touch the file if nothing changes", async () => {
      put('a', 'same\r\n')
      const before = statSync(at('a'))
      await write('a', 'same\n')
      assert.equal(statSync(at('a')).ino, before.ino)
      assert.equal(statSync(at('a')).mtimeMs, before.mtimeMs)
    })

    it('replaces a binary file with text', async () => {
      put('a', Buffer.from([1, 0, 2]))
      await write('a', 'text')
      assert.equal(readFileSync(at('a'), 'utf8'), 'text')
    })

    it('replaces a file that has just grown too large without reading it', async () => {
      put('a', 'x'.repeat(MAX_READ_BYTES + 1))
      let isRead = false
      const growing = {
        ...disk,
        stat: async (file: string) => ({ ...(await disk.stat(file)), size: 1 }),
        readFile: async (file: string, maxBytes?: number) => {
          const bytes = await disk.readFile(file, maxBytes)
          isRead = true
          return bytes
        },
      }
      await files({ fileSystem: growing }).writeTextFile({ path: at('a'), content: 'small' })
      assert.equal(isRead, false)
      assert.equal(readFileSync(at('a'), 'utf8'), 'small')
    })

    it("doesn't write to a folder, nor below a file", async () => {
      mkdirSync(at('dir'))
      await assert.rejects(write('dir', 'x'), { reason: 'folder' })
      put('a', 'old')
      await assert.rejects(write('a/b', 'x'), { name: 'FileError', message: /is a file/ })
      assert.equal(readFileSync(at('a'), 'utf8'), 'old')
    })

    it('keeps the old file on a full disk and reports it', async () => {
      put('a', 'old')
      const fileSystem: FileSystem = {
        ...disk,
        async createFile(target, bytes, mode) {
          await disk.createFile(target, bytes.subarray(0, 1), mode)
          await fails('ENOSPC')()
        },
      }
      await assert.rejects(files({ fileSystem }).writeTextFile({ path: at('a'), content: 'new text' }), {
        reason: 'no-space',
        message: `Cannot write ${at('a')}: no space is left on the disk.`,
      })
      assert.equal(readFileSync(at('a'), 'utf8'), 'old')
      assert.deepEqual(readdirSync(folder()), ['a'])
    })

    it("keeps the old file even if it's written in place on a full disk", async () => {
      put('a', 'the old text')
      linkSync(at('a'), at('b'))
      let isFull = true
      const fileSystem: FileSystem = {
        ...disk,
        async overwriteFile(target, bytes) {
          if (!isFull) return disk.overwriteFile(target, bytes)
          isFull = false
          await disk.overwriteFile(target, bytes.subarray(0, 3))
          await fails('ENOSPC')()
        },
      }
      await assert.rejects(files({ fileSystem }).writeTextFile({ path: at('a'), content: 'new text' }), {
        reason: 'no-space',
      })
      assert.equal(readFileSync(at('a'), 'utf8'), 'the old text')
    })

    for (const code of ['EXDEV', 'EBUSY', 'EPERM', 'EACCES']) {
      it(`writes in place if renaming fails with ${code}`, async () => {
        put('a', 'old and long')
        const fileSystem: FileSystem = { ...disk, rename: fails(code) }
        await files({ fileSystem }).writeTextFile({ path: at('a'), content: 'new' })
        assert.equal(readFileSync(at('a'), 'utf8'), 'new')
        assert.deepEqual(readdirSync(folder()), ['a'])
      })
    }

    it("doesn't write a read-only file", async () => {
      put('a', 'old')
      const fileSystem: FileSystem = { ...disk, checkWritable: fails('EACCES') }
      await assert.rejects(files({ fileSystem }).writeTextFile({ path: at('a'), content: 'new' }), {
        reason: 'no-right',
      })
      assert.equal(readFileSync(at('a'), 'utf8'), 'old')
    })

    it('serializes two sessions that write one file', async () => {
      put('a', 'old')
      let writing = 0
      let most = 0
      const fileSystem: FileSystem = {
        ...disk,
        async createFile(target, bytes, mode) {
          writing += 1
          most = Math.max(most, writing)
          await disk.createFile(target, bytes, mode)
        },
        async rename(from, to) {
          await disk.rename(from, to)
          writing -= 1
        },
      }
      symlinkSync('a', at('alias'))
      const shared = filesShared({ documents: noDocuments, fileSystem })
      const session = () =>
        new SessionFiles(shared, {
          roots: { cwd: folder(), additionalDirectories: [] },
          askAccess: refuse,
        })
      const [one, two] = [session(), session()]
      const texts = Array.from({ length: 10 }, (_, index) => `text ${index}`)
      await Promise.all(
        texts.map((content, index) =>
          (index % 2 ? one : two).writeTextFile({ path: at(index % 3 ? 'a' : 'alias'), content }),
        ),
      )
      assert.equal(most, 1)
      assert.match(readFileSync(at('a'), 'utf8'), /^text [89]$/)
      await new Promise(resolve => setImmediate(resolve))
      assert.deepEqual(shared.queue.keys, [])
    })

    it('performs the requests of one session in order', async () => {
      mkdirSync(at('deep/er/dir'), { recursive: true })
      symlinkSync('../../../a', at('deep/er/dir/alias'))
      const session = files()
      const texts = Array.from({ length: 20 }, (_, index) => `text ${index}`)
      const seen = await Promise.all(
        texts.map(async (content, index) => {
          void session.writeTextFile({ path: at(index % 2 ? 'a' : 'deep/er/dir/alias'), content })
          return session.readTextFile({ path: at(index % 2 ? 'deep/er/dir/alias' : 'a') })
        }),
      )
      assert.deepEqual(seen, texts)
    })

    it('continues after a failed write', async () => {
      put('a', 'old')
      let isFull = true
      const fileSystem: FileSystem = {
        ...disk,
        createFile: (...rest) => (isFull ? fails('ENOSPC')() : disk.createFile(...rest)),
      }
      const session = files({ fileSystem })
      await assert.rejects(session.writeTextFile({ path: at('a'), content: 'one' }))
      isFull = false
      await session.writeTextFile({ path: at('a'), content: 'two' })
      assert.equal(await session.readTextFile({ path: at('a') }), 'two')
    })
  })

  describe('in other encodings', () => {
    const latin1: Encodings = {
      configured: async name => (name.endsWith('.latin1') ? 'iso88591' : undefined),
      decode: async bytes => Buffer.from(bytes).toString('latin1'),
      encode: async text => Buffer.from(text, 'latin1'),
    }

    it("reads and writes with the editor's encoding", async () => {
      put('a.latin1', Buffer.from('caf\xe9\r\n', 'latin1'))
      const session = files({ encodings: latin1 })
      assert.equal(await session.readTextFile({ path: 'a.latin1' }), 'café\r\n')
      await session.writeTextFile({ path: 'a.latin1', content: 'thé\n' })
      assert.deepEqual(readFileSync(at('a.latin1')), Buffer.from('th\xe9\r\n', 'latin1'))
    })

    it("doesn't corrupt a character that the encoding lacks", async () => {
      put('a.latin1', Buffer.from('caf\xe9', 'latin1'))
      const session = files({ encodings: latin1 })
      await assert.rejects(session.writeTextFile({ path: 'a.latin1', content: '漢' }), { reason: 'encoding' })
      assert.deepEqual(readFileSync(at('a.latin1')), Buffer.from('caf\xe9', 'latin1'))
      await session.writeTextFile({ path: 'new.latin1', content: '漢' })
      assert.equal(readFileSync(at('new.latin1'), 'utf8'), '漢')
    })

    it('writes a new file with the configured encoding', async () => {
      await files({ encodings: latin1 }).writeTextFile({ path: 'new.latin1', content: 'é' })
      assert.deepEqual(readFileSync(at('new.latin1')), Buffer.from([0xe9]))
      await files({ encodings: { ...latin1, configured: async () => 'utf8bom' } }).writeTextFile({
        path: 'new',
        content: 'é',
      })
      assert.equal(readFileSync(at('new'), 'utf8'), '\ufeffé')
    })
  })

  describe('outside of the roots', () => {
    const outer = () => path.dirname(folder())
    const outside = () => path.join(outer(), `${path.basename(folder())}-outside`)
    const other = () => `${outside()}-other`
    afterEach(async () => {
      for (const file of [outside(), other()]) await disk.remove(file)
    })

    it('ask nothing about a file that does not exist, until it is written', async () => {
      const asked: string[] = []
      const session = files({}, async ({ operation }) => {
        asked.push(operation)
        return 'once'
      })
      await assert.rejects(session.readTextFile({ path: outside() }), FileMissingError)
      assert.deepEqual(asked, [])
      await session.writeTextFile({ path: outside(), content: 'new' })
      assert.deepEqual(asked, ['write'])
    })

    it("aren't touched if the user refuses", async () => {
      writeFileSync(outside(), 'secret')
      const session = files()
      await assert.rejects(session.readTextFile({ path: outside() }), { reason: 'refused' })
      await assert.rejects(session.writeTextFile({ path: outside(), content: 'x' }), { reason: 'refused' })
      assert.equal(readFileSync(outside(), 'utf8'), 'secret')
    })

    it('ask every time, or once per session, file and operation', async () => {
      writeFileSync(outside(), 'text')
      const asked: string[] = []
      const answers: Array<'once' | 'session'> = ['once', 'session', 'once']
      const session = files({}, async ({ path: asking, operation }) => {
        asked.push(`${operation} ${asking}`)
        return answers.shift() ?? 'refuse'
      })
      await session.readTextFile({ path: outside() })
      await session.readTextFile({ path: outside() })
      await session.readTextFile({ path: outside() })
      await session.writeTextFile({ path: outside(), content: 'new' })
      assert.deepEqual(asked, [`read ${outside()}`, `read ${outside()}`, `write ${outside()}`])
      writeFileSync(other(), 'text')
      await assert.rejects(session.readTextFile({ path: other() }), { reason: 'refused' })
    })

    it('ask about the target of a link', async () => {
      writeFileSync(outside(), 'text')
      symlinkSync(outside(), at('innocent'))
      let leads = ''
      const session = files({}, async ({ realPath }) => {
        leads = realPath
        return 'refuse'
      })
      await assert.rejects(session.readTextFile({ path: at('innocent') }), {
        reason: 'refused',
        message: /leads to/,
      })
      assert.equal(leads, outside())
    })

    it('apply an answer for the session to the questions waiting behind it', async () => {
      writeFileSync(outside(), 'text')
      let asked = 0
      const session = files({}, async () => {
        asked += 1
        return 'session'
      })
      await Promise.all([1, 2, 3].map(() => session.readTextFile({ path: outside() })))
      assert.equal(asked, 1)
    })

    it('stop asking when the session ends', async () => {
      writeFileSync(outside(), 'text')
      let gone = false
      const asked = new Promise<SessionFiles>(resolve => {
        const session = files({}, async (_question, signal) => {
          resolve(session)
          await new Promise(done => signal.addEventListener('abort', done))
          gone = true
          return 'once'
        })
        void assert.rejects(session.readTextFile({ path: outside() }), { reason: 'ended' })
      })
      const session = await asked
      session.dispose()
      await assert.rejects(session.writeTextFile({ path: outside(), content: '' }), { reason: 'ended' })
      assert.equal(gone, true)
      assert.equal(readFileSync(outside(), 'utf8'), 'text')
    })

    it("stop asking when the agent cancels its request, which isn't performed", async () => {
      const withdrawal = new AbortController()
      let gone = false
      const asked: string[] = []
      const session = files({}, async ({ operation }, signal) => {
        asked.push(operation)
        if (asked.length > 1) return 'once'
        await new Promise(resolve => signal.addEventListener('abort', resolve))
        gone = true
        return 'session'
      })
      const request = { path: outside(), content: 'x' }
      const withdrawn = assert.rejects(session.writeTextFile(request, withdrawal.signal), CancelledError)
      await until(() => asked.length === 1, 'the question')
      withdrawal.abort()
      await withdrawn
      assert.equal(gone, true)
      assert.equal(existsSync(outside()), false)
      await assert.rejects(session.writeTextFile(request, withdrawal.signal), CancelledError)
      assert.deepEqual(asked, ['write'], 'what is withdrawn already is not asked about')
      await session.writeTextFile({ path: outside(), content: 'later' })
      assert.deepEqual(asked, ['write', 'write'], 'an answer that came too late allows nothing')
      assert.equal(readFileSync(outside(), 'utf8'), 'later')
    })
  })

  it('have limits that fit the tests above', () => {
    assert.equal(MAX_READ_BYTES, 16 * 1024 * 1024)
  })
})
