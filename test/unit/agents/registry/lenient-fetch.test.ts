import assert from 'node:assert/strict'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { lenientFetch } from '../../../../src/agents/registry/lenient-fetch.ts'
import { selfSigned } from '../../../support/certificate.ts'
import { LoopbackServer } from '../../../support/loopback-server.ts'

describe('lenientFetch', () => {
  let server: LoopbackServer
  let answer: (request: IncomingMessage, response: ServerResponse) => void

  before(async () => {
    server = await LoopbackServer.start((...both) => answer(...both), selfSigned('elsewhere.example'))
  })
  after(() => server.stop())

  it('reads responses like fetch, but with any certificate', async () => {
    answer = ({ headers }, response) =>
      response.writeHead(200, { etag: '"1"', 'x-asked': headers.accept }).end('a text')
    const response = await lenientFetch(`${server.origin}/a`, { headers: { accept: 'text/plain' } })
    assert.deepEqual([response.status, response.ok, response.url], [200, true, `${server.origin}/a`])
    assert.deepEqual([response.headers.get('etag'), response.headers.get('x-asked')], ['"1"', 'text/plain'])
    assert.equal(await response.text(), 'a text')
    await assert.rejects(fetch(`${server.origin}/a`))
  })

  it('follows a limited number of redirects, but not to unencrypted URLs', async () => {
    answer = ({ url }, response) =>
      url === '/a' ? response.writeHead(302, { location: '/b' }).end('gone') : response.end(url)
    const response = await lenientFetch(`${server.origin}/a`)
    assert.deepEqual([await response.text(), response.url], ['/b', `${server.origin}/b`])
    answer = (_request, response) => response.writeHead(301, { location: 'http://127.0.0.1:1/' }).end()
    await assert.rejects(lenientFetch(server.origin), /redirected to http:/)
    answer = (_request, response) => response.writeHead(307, { location: '/a' }).end()
    await assert.rejects(lenientFetch(server.origin), /too many redirects/)
  })

  it("doesn't read the body of an unchanged or failed response, and can be aborted", async () => {
    for (const status of [304, 404]) {
      answer = (_request, response) => response.writeHead(status).end()
      const response = await lenientFetch(server.origin)
      assert.deepEqual([response.status, response.ok], [status, false])
      await response.body?.cancel()
    }
    answer = () => {}
    await assert.rejects(lenientFetch(server.origin, { signal: AbortSignal.timeout(50) }))
    answer = (_request, response) => response.writeHead(200).write('begun')
    const cancel = new AbortController()
    const response = await lenientFetch(server.origin, { signal: cancel.signal })
    const reading = response.text()
    cancel.abort()
    await assert.rejects(reading)
  })
})
