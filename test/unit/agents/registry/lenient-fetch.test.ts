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
    assert.deepEqual([response.status, response.ok], [200, true])
    assert.deepEqual([response.headers.get('etag'), response.headers.get('x-asked')], ['"1"', 'text/plain'])
    assert.equal(await response.text(), 'a text')
    await assert.rejects(fetch(`${server.origin}/a`))
  })

  it("doesn't follow redirects, which are checked first", async () => {
    answer = (_request, response) => response.writeHead(302, { location: '/b' }).end('gone')
    const response = await lenientFetch(`${server.origin}/a`)
    assert.deepEqual([response.status, response.headers.get('location')], [302, '/b'])
    await response.body?.cancel()
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
