import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { Agent, get, type IncomingMessage, type Server } from 'node:http'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { LOCAL_PORTS, listenLocally, portOf } from '../../../../src/mcp/server/local-http.ts'
import { projectDirectory } from '../../../host/paths.ts'

describe('a server for programs of this machine', () => {
  let open: Array<Pick<Server, 'close'>> = []
  afterEach(() => {
    for (const server of open) server.close()
    open = []
  })
  const listen = async (...options: Parameters<typeof listenLocally>) => {
    const http = await listenLocally(...options)
    open.push(http)
    return portOf(http)
  }

  it("listens on ports that VS Code doesn't forward from remote windows", async () => {
    const manifest = JSON.parse(readFileSync(join(projectDirectory, 'package.json'), 'utf8'))
    const attributes = manifest.contributes.configurationDefaults['remote.portsAttributes']
    const { first, last } = LOCAL_PORTS
    assert.deepEqual(attributes[`${first}-${last}`]?.onAutoForward, 'ignore')
    const ports = await Promise.all(Array.from({ length: 20 }, () => listen(1)))
    assert.equal(new Set(ports).size, 20)
    for (const port of ports) assert.ok(port >= first && port <= last, String(port))
  })

  it('listens on another port if those are taken', async () => {
    const taken = createServer().listen(0, '127.0.0.1')
    open.push(taken as never)
    await once(taken, 'listening')
    const { port } = taken.address() as { port: number }
    assert.notEqual(await listen(1, undefined, { first: port, last: port }), port)
  })

  it('leaves connections open for longer than clients do, which then never send a request over a closed one', async () => {
    const http = await listenLocally(1)
    open.push(http)
    http.on('request', (_request, response) => response.end())
    const answer = await fetch(`http://127.0.0.1:${portOf(http)}`)
    const [, seconds] = /^timeout=(\d+)$/.exec(answer.headers.get('keep-alive') ?? '') ?? []
    assert.ok(Number(seconds) > 90, seconds)
    http.closeAllConnections()
  })

  it('closes unused connections instead of refusing others when it has as many as it may', async () => {
    const http = await listenLocally(2)
    open.push(http)
    http.on('request', (_request, response) => response.end('done'))
    const url = `http://127.0.0.1:${portOf(http)}`
    // each leaves its connection open and unused
    const agents = Array.from({ length: 4 }, () => new Agent({ keepAlive: true }))
    for (const agent of agents) {
      const [response] = (await once(get(url, { agent }), 'response')) as [IncomingMessage]
      response.resume()
      await once(response, 'end')
    }
    for (const agent of agents) agent.destroy()
  })

  it('listens on the port that is asked for, or fails', async () => {
    const port = await listen(1)
    await assert.rejects(listen(1, port), { code: 'EADDRINUSE' })
  })
})
