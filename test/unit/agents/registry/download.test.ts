import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { type FileHandle, mkdtemp, open, readFile, rm } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DownloadError, type DownloadOptions, download } from '../../../../src/agents/registry/download.ts'
import { CancelledError } from '../../../../src/common/errors.ts'
import { LoopbackServer } from '../../../support/loopback-server.ts'

describe('download', () => {
  let directory: string
  let file: string
  let server: LoopbackServer
  let answer: (request: IncomingMessage, response: ServerResponse) => void
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'parley-download-'))
    file = join(directory, 'file')
    server = await LoopbackServer.start((request, response) => answer(request, response))
  })
  afterEach(async () => {
    await server.stop()
    await rm(directory, { recursive: true })
  })
  const get = (more: Partial<DownloadOptions> = {}) =>
    download(`${server.origin}/file`, file, { fetch, ...more })
  const fails = (message: RegExp, more: Partial<DownloadOptions> = {}) =>
    assert.rejects(get(more), (error: unknown) => {
      assert.ok(error instanceof DownloadError, String(error))
      assert.match(error.message, message)
      return true
    })

  const content = Buffer.from('content'.repeat(1000))
  const sha256 = createHash('sha256').update(content).digest('hex')

  it('writes the file and reports progress', async () => {
    answer = (_request, response) =>
      response.writeHead(200, { 'content-length': content.length }).end(content)
    const reported: Array<[number, number | undefined]> = []
    assert.equal(await get({ sha256, onProgress: (...progress) => reported.push(progress) }), sha256)
    assert.deepEqual(await readFile(file), content)
    assert.deepEqual(reported.at(-1), [content.length, content.length])
  })

  it('follows a redirect', async () => {
    answer = (request, response) => {
      if (request.url === '/file') response.writeHead(302, { location: '/there' }).end()
      else response.end(content)
    }
    assert.equal(await get(), sha256)
  })

  it("isn't redirected to an unencrypted address at any hop", async () => {
    const hops = ['https://one.example/a', 'http://two.example/b', 'https://three.example/c']
    const asked: string[] = []
    const redirecting: typeof fetch = async input => {
      asked.push(String(input))
      const location = hops[asked.length]
      return location === undefined
        ? new Response(content)
        : new Response(null, { status: 302, headers: { location } })
    }
    await assert.rejects(download(hops[0]!, file, { fetch: redirecting }), DownloadError)
    assert.deepEqual(asked, ['https://one.example/a'])
  })

  it('rejects a file with a wrong checksum', async () => {
    answer = (_request, response) => response.end(content)
    await fails(/SHA-256/, { sha256: '0'.repeat(64) })
  })

  it('fails if the file is missing, truncated, too large, or stalls', async () => {
    answer = (_request, response) => response.writeHead(404).end()
    await fails(/status 404/)
    answer = (_request, response) => {
      response.writeHead(200, { 'content-length': 1000 }).write('x')
      setImmediate(() => response.destroy())
    }
    await fails(/failed|early/)
    await rm(file, { force: true })
    answer = (_request, response) => response.writeHead(200, { 'content-length': 5000 }).end('x'.repeat(5000))
    await fails(/larger/, { maxBytes: 4000 })
    answer = (_request, response) => {
      const more = () => {
        if (response.destroyed) return
        response.write('x'.repeat(1000))
        setImmediate(more)
      }
      more()
    }
    await fails(/larger/, { maxBytes: 40_000 })
    await rm(file, { force: true })
    answer = (_request, response) => void response.write('x')
    await fails(/no data was received/, { idleMs: 50 })
    await rm(file, { force: true })
    // a new server, so that there is no earlier connection to it
    const gone = await LoopbackServer.start(() => {})
    const { origin } = gone
    await gone.stop()
    await assert.rejects(download(`${origin}/file`, file, { fetch }), (error: unknown) => {
      assert.ok(error instanceof DownloadError)
      assert.match(
        error.message,
        /^The download failed: the server 127\.0\.0\.1:\d+ refused the connection\./,
      )
      assert.match(error.detail, /ECONNREFUSED/)
      return true
    })
  })

  it('checks the free disk space first', async () => {
    answer = (_request, response) => response.writeHead(200, { 'content-length': 2 ** 52 }).write('x')
    await fails(/disk space/, { maxBytes: Number.MAX_SAFE_INTEGER })
  })

  it('writes every byte, even if each write accepts only some of them', async () => {
    answer = (_request, response) => response.end(content)
    const handle = await open(join(directory, 'other'), 'w')
    const prototype = Object.getPrototypeOf(handle)
    const { write } = prototype
    prototype.write = function (this: FileHandle, piece: Uint8Array) {
      return write.call(this, piece, 0, Math.ceil(piece.length / 2))
    }
    try {
      assert.equal(await get(), sha256)
    } finally {
      prototype.write = write
      await handle.close()
    }
    assert.ok(content.equals(await readFile(file)))
  })

  it('stops when canceled', async () => {
    const cancel = new AbortController()
    answer = (_request, response) => void response.write('x')
    const canceled = get({ signal: cancel.signal, onProgress: () => cancel.abort() })
    await assert.rejects(canceled, CancelledError)
  })
})
