import assert from 'node:assert/strict'
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { RegistryClient, RegistryError } from '../../../../src/agents/registry/registry-client.ts'
import { deferred } from '../../../../src/common/async.ts'
import { LoopbackServer } from '../../../support/loopback-server.ts'

const registryOf = (...ids: string[]) =>
  JSON.stringify({
    version: '1.0.0',
    agents: ids.map(id => ({
      id,
      name: id,
      version: '1.0.0',
      description: '',
      distribution: { npx: { package: id } },
    })),
  })
const idsOf = ({ agents }: { agents: Array<{ id: string }> }) => agents.map(({ id }) => id)

describe('RegistryClient', () => {
  let directory: string
  let server: LoopbackServer
  let answer: (request: IncomingMessage, response: ServerResponse) => void
  const logged: string[] = []
  const write = (message: string) => void logged.push(message)
  const log = { error: write, warn: write, info: write, debug: write, trace: write }

  beforeEach(async () => {
    logged.length = 0
    directory = await mkdtemp(join(tmpdir(), 'parley-registry-'))
    server = await LoopbackServer.start((request, response) => answer(request, response))
  })
  afterEach(async () => {
    await server.stop()
    await rm(directory, { recursive: true })
  })

  const client = (more: Partial<ConstructorParameters<typeof RegistryClient>[0]> = {}) =>
    new RegistryClient({
      url: () => `${server.origin}/registry.json`,
      directory,
      bundled: async () => registryOf('bundled'),
      fetch,
      log,
      now: () => 1000,
      ...more,
    })

  it("fetches nothing before it's asked to, and uses the bundled copy", async () => {
    const known = await client().known()
    assert.deepEqual(idsOf(known), ['bundled'])
    assert.equal(known.source, 'bundled')
    assert.equal(server.requests.length, 0)
  })

  it('caches the response with its ETag and recognizes an unchanged one', async () => {
    answer = (request, response) => {
      if (request.headers['if-none-match'] === '"one"') response.writeHead(304).end()
      else response.writeHead(200, { etag: '"one"' }).end(registryOf('a', 'b'))
    }
    assert.deepEqual(idsOf(await client().refresh()), ['a', 'b'])
    const later = client({ now: () => 2000 })
    const known = await later.known()
    assert.deepEqual([idsOf(known), known.source, known.checkedAt], [['a', 'b'], 'cache', 1000])
    const again = await later.refresh()
    assert.deepEqual([idsOf(again), again.source, again.checkedAt], [['a', 'b'], 'network', 2000])
    assert.equal(server.requests.length, 2)
    assert.equal((await client().known()).checkedAt, 2000)
  })

  it("doesn't use the cached response of another URL", async () => {
    answer = (_request, response) => response.end(registryOf('a'))
    await client().refresh()
    const other = client({ url: () => `${server.origin}/other.json` })
    assert.deepEqual(idsOf(await other.known()), ['bundled'])
  })

  it('shares one request between concurrent callers', async () => {
    answer = (_request, response) => response.end(registryOf('a'))
    const shared = client()
    await Promise.all([shared.refresh(), shared.refresh()])
    assert.equal(server.requests.length, 1)
  })

  it('reads the registry of another URL, too, if the setting changes meanwhile, also if the first one fails', async () => {
    for (const status of [200, 500]) {
      const asked = deferred()
      const { promise, resolve } = deferred()
      answer = async ({ url }, response) => {
        if (url === '/new.json') return void response.end(registryOf('new'))
        asked.resolve()
        await promise
        response.writeHead(status).end(registryOf('old'))
      }
      let name = 'old'
      const shared = client({ url: () => `${server.origin}/${name}.json` })
      const first = shared.refresh()
      await asked.promise
      name = 'new'
      const second = shared.refresh()
      resolve()
      assert.deepEqual((await Promise.all([first, second])).map(idsOf), [['new'], ['new']])
      assert.deepEqual(idsOf(await shared.known()), ['new'])
    }
  })

  it('keeps the known registry if the response is invalid, too large, an error or missing', async () => {
    answer = (_request, response) => response.end(registryOf('a'))
    await client().refresh()
    const bad: Array<[RegExp, typeof answer, timeoutMs?: number]> = [
      [/isn't a list of agents/, (_request, response) => response.end('<html>')],
      [/isn't a list of agents/, (_request, response) => response.end('{"agents": 1}')],
      [/status 500/, (_request, response) => response.writeHead(500).end()],
      [/larger than/, (_request, response) => response.end('x'.repeat(3000))],
      [
        /larger than/,
        (_request, response) => response.writeHead(200, { 'content-length': '3000' }).write('x'),
      ],
      [/can't be reached: the connection was interrupted\./, (_request, response) => response.destroy()],
      [/can't be reached: the server 127\.0\.0\.1:\d+ didn't respond in time\./, () => {}, 300],
    ]
    for (const [message, bads, timeoutMs] of bad) {
      answer = bads
      await assert.rejects(client({ maxBytes: 2000, timeoutMs }).refresh(), (error: unknown) => {
        assert.ok(error instanceof RegistryError)
        assert.match(error.message, message)
        return true
      })
      assert.deepEqual(idsOf(await client().known()), ['a'])
    }
    assert.deepEqual(await readdir(directory), ['registry.json'])
  })

  it("sends no request if it's disabled or its URL isn't encrypted", async () => {
    await assert.rejects(client({ url: () => undefined }).refresh(), /turned off/)
    for (const url of ['http://example.com/registry.json', 'file:///etc/passwd', 'nothing'])
      await assert.rejects(client({ url: () => url }).refresh(), /https/)
    assert.equal(server.requests.length, 0)
  })

  it("isn't redirected to an unencrypted address or to this machine", async () => {
    for (const location of ['http://registry.example/registry.json', `${server.origin}/registry.json`]) {
      const asked: string[] = []
      const redirecting: typeof fetch = async input => {
        asked.push(String(input))
        return asked.length > 1
          ? new Response(registryOf('bad'))
          : new Response(null, { status: 301, headers: { location } })
      }
      const url = () => 'https://registry.example/registry.json'
      await assert.rejects(client({ url, fetch: redirecting }).refresh(), RegistryError)
      assert.equal(asked.length, 1)
    }
  })

  it('ignores a damaged cache', async () => {
    await writeFile(join(directory, 'registry.json'), '{"url"')
    assert.deepEqual(idsOf(await client().known()), ['bundled'])
  })

  it('logs the entries that it omits', async () => {
    answer = (_request, response) => response.end(JSON.stringify({ agents: [{ id: '../x' }] }))
    assert.deepEqual(idsOf(await client().refresh()), [])
    assert.match(logged.join('\n'), /agents\[0\]: id/)
  })
})
