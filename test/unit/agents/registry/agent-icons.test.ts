import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { AgentIcons, cleanIcon } from '../../../../src/agents/registry/agent-icons.ts'
import type { RegistryAgent } from '../../../../src/agents/registry/registry-format.ts'
import { deferred } from '../../../../src/common/async.ts'
import { LoopbackServer } from '../../../support/loopback-server.ts'
import { until } from '../../../support/until.ts'

const log = { error() {}, warn() {}, info() {}, debug() {}, trace() {} }
const square = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><path d="M0 0h16v16H0z"/></svg>'

describe('an icon from the registry', () => {
  it('is rebuilt from its shapes in the text color', () => {
    const svg = `<?xml version="1.0"?><!-- a comment -->
      <svg width="24px" height='24' xmlns="http://www.w3.org/2000/svg" class="x" role="img"><title>An <b>agent</b></title>
        <g fill="#f00" fill-rule="evenodd" data-name="layer"><circle cx="8" cy="8" r="4" stroke="none"/></g>
        <defs><mask id="m"><rect width="24" height="24" fill="#fff"/></mask></defs><path mask="url(#m)" d="M1,2 3-4e5"/>
      </svg>\n`
    assert.equal(
      cleanIcon(svg),
      '<svg viewBox="0 0 24 24" fill="currentColor" xmlns="http://www.w3.org/2000/svg">' +
        '<g fill="currentColor" fill-rule="evenodd"><circle cx="8" cy="8" r="4" stroke="none"/></g>' +
        '<defs><mask id="m"><rect width="24" height="24" fill="#fff"/></mask></defs><path mask="url(#m)" d="M1,2 3-4e5"/></svg>',
    )
  })

  const inside = (content: string) => `<svg viewBox="0 0 16 16">${content}</svg>`
  const bad: Record<string, string> = {
    'a script': inside('<script>alert(1)</script>'),
    'a handler': inside('<path d="M0 0" onclick="alert(1)"/>'),
    'a handler of its own': '<svg onload="alert(1)"><path d="M0 0"/></svg>',
    'a picture': inside('<image href="https://example.com/x.png"/>'),
    'another document': inside('<use xlink:href="https://example.com/x.svg#a"/>'),
    'an address as a color': inside('<path fill="url(https://example.com/x)" d="M0 0"/>'),
    HTML: inside('<foreignObject><body></body></foreignObject>'),
    'a style': inside('<style>path { background: url(https://example.com) }</style>'),
    'a style of a shape': inside('<path style="fill: url(https://example.com)" d="M0 0"/>'),
    'an animation': inside('<animate attributeName="href"/>'),
    'an entity': `<!DOCTYPE svg [<!ENTITY x "y">]>${square}`,
    'an escape': inside('<path fill="&#106;avascript:" d="M0 0"/>'),
    text: inside('hello'),
    nothing: '',
    'no end': '<svg><g>',
    'another end': '<svg><g></svg></g>',
    'two roots': `${square}${square}`,
    'another root': '<g></g>',
    'a page': '<!DOCTYPE html><html><body>Not found</body></html>',
    CDATA: inside('<![CDATA[<script>]]>'),
    'unquoted values': inside('<path d=M0/>'),
    'great depth': inside('<g>'.repeat(100) + '</g>'.repeat(100)),
    'a great length': inside(' '.repeat(70_000)),
  }
  for (const [what, svg] of Object.entries(bad))
    it(`is rejected with ${what}`, () => assert.equal(cleanIcon(svg), undefined))

  it('contains only allowed names and values', () => {
    const piece = fc.oneof(
      fc.constantFrom(
        '<svg>',
        '</svg>',
        '<g ',
        '/>',
        '>',
        '"',
        "'",
        '<path d="',
        'on=',
        '<script>',
        '&',
        'fill=',
      ),
      fc.string(),
    )
    fc.assert(
      fc.property(fc.array(piece), pieces => {
        const clean = cleanIcon(`<svg>${pieces.join('')}</svg>`)
        if (clean === undefined) return
        assert.match(clean, /^(<\/?(svg|g|path)( [\w-]+="[^"<>&]*")*\/?>)*$/)
        assert.equal(cleanIcon(clean), clean)
      }),
    )
  })
})

describe('AgentIcons', () => {
  let directory: string
  let server: LoopbackServer
  let answer: (request: IncomingMessage, response: ServerResponse) => void
  let now: number
  let registryUrl: string
  const icons = (more: { bundledFile?: string } = {}) =>
    new AgentIcons({ directory, registryUrl: () => registryUrl, fetch, log, now: () => now, ...more })
  const agent = (id: string, icon = `${server.origin}/${id}.svg`): RegistryAgent => ({
    ...{ id, name: id, version: '1.0.0', description: '', authors: [], distributions: [], icon },
  })

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'parley-icons-'))
    server = await LoopbackServer.start((request, response) => answer(request, response))
    answer = (_request, response) => response.end(square)
    now = 1
    registryUrl = `${server.origin}/registry.json`
  })
  afterEach(async () => {
    await server.stop()
    await rm(directory, { recursive: true, force: true })
  })

  it('are fetched together with the registry, and cached', async () => {
    const first = icons()
    await first.load()
    assert.equal(server.requests.length, 0)
    let changes = 0
    first.onDidChange(() => changes++)
    await first.refresh([agent('one'), agent('two')])
    assert.equal(server.requests.length, 2)
    assert.equal(changes, 1)
    assert.match(first.get('one') ?? '', /^data:image\/svg\+xml,%3Csvg/)
    const second = icons()
    assert.equal(second.get('one'), undefined)
    await second.load()
    assert.equal(second.get('one'), first.get('one'))
    await second.refresh([agent('one')])
    assert.equal(server.requests.length, 2, 'it was fetched again')
    await second.refresh([agent('one', `${server.origin}/new.svg`)])
    now += 8 * 24 * 3600 * 1000
    await second.refresh([agent('one', `${server.origin}/new.svg`)])
    assert.equal(server.requests.length, 4)
  })

  it('are those that come with Parley until the registry has others', async () => {
    const bundledFile = join(directory, 'bundled.json')
    await writeFile(bundledFile, JSON.stringify({ one: square, two: '<svg><script/></svg>', three: square }))
    const all = icons({ bundledFile })
    await all.load()
    const bundled = all.get('one')
    assert.match(bundled ?? '', /^data:image\/svg/)
    assert.equal(all.get('two'), undefined)
    assert.equal(all.get('constructor'), undefined)
    answer = (_request, response) => response.end(square.replace('16v', '8v'))
    await all.refresh([agent('one')])
    assert.notEqual(all.get('one'), bundled)
    assert.equal(all.get('three'), bundled)
  })

  it('are ignored if they are invalid, and kept from the cache if a fetch fails', async () => {
    const all = icons()
    await all.refresh([agent('one')])
    const known = all.get('one')
    now += 8 * 24 * 3600 * 1000
    answer = ({ url }, response) => {
      if (url === '/one.svg') response.writeHead(500).end('<svg/>')
      else if (url === '/endless.svg') response.end(' '.repeat(100_000))
      else response.end('<svg><script/></svg>')
    }
    await all.refresh([agent('one'), agent('two'), agent('endless')])
    assert.equal(all.get('one'), known)
    assert.equal(all.get('two'), undefined)
    assert.equal(all.get('endless'), undefined)
  })

  it("aren't fetched from this machine or its network, unless the registry is there", async () => {
    registryUrl = 'https://registry.example/registry.json'
    const all = icons()
    await all.refresh([agent('one'), agent('two', `http://localhost:${server.port}/two.svg`)])
    assert.equal(server.requests.length, 0)
    assert.equal(all.get('one'), undefined)
    registryUrl = 'http://127.0.0.1:1/registry.json'
    await all.refresh([agent('one')])
    assert.equal(server.requests.length, 0, 'another port is another server')
    // nor after a redirect
    const asked: string[] = []
    const redirecting: typeof fetch = async input => {
      asked.push(String(input))
      return new Response(null, { status: 302, headers: { location: `${server.origin}/one.svg` } })
    }
    const remote = new AgentIcons({ directory, registryUrl: () => registryUrl, fetch: redirecting, log })
    await remote.refresh([agent('one', 'https://8.8.8.8/one.svg')])
    assert.deepEqual([asked, server.requests.length], [['https://8.8.8.8/one.svg'], 0])
  })

  it('can be part of the registry', async () => {
    const all = icons()
    const encoded = Buffer.from(square).toString('base64')
    await all.refresh([agent('one', `data:image/svg+xml;base64,${encoded}`)])
    assert.ok(all.get('one'))
    assert.equal(server.requests.length, 0)
  })

  it('are sanitized again when read from the cache, where a damaged file counts as none', async () => {
    const file = join(directory, 'registry-icons.json')
    const entry = (svg: string) => ({ address: 'x', checkedAt: 1, svg })
    await writeFile(file, JSON.stringify({ one: entry('<svg><script/></svg>'), two: entry(square) }))
    const all = icons()
    await all.load()
    assert.equal(all.get('one'), undefined)
    assert.ok(all.get('two'))
    await writeFile(file, '{')
    const damaged = icons()
    await damaged.refresh([agent('one')])
    assert.ok(damaged.get('one'))
    assert.ok(JSON.parse(await readFile(file, 'utf8')).one)
  })

  it('are fetched, too, if they are of a list that was read while others were fetched', async () => {
    const { promise, resolve } = deferred()
    answer = async ({ url }, response) => {
      if (url === '/one.svg') await promise
      response.end(square)
    }
    const all = icons()
    const first = all.refresh([agent('one')])
    const second = all.refresh([agent('one'), agent('two')])
    resolve()
    await Promise.all([first, second])
    assert.ok(all.get('one') && all.get('two'))
    assert.equal(server.requests.length, 2)
  })

  it('are no longer fetched when the window closes, which keeps those that were', async () => {
    const both = deferred()
    answer = ({ url }, response) => {
      if (url === '/one.svg') response.end(square)
      if (server.requests.length === 2) both.resolve()
    }
    const all = icons()
    const refreshing = all.refresh([agent('one'), agent('two')])
    await both.promise
    await until(() => all.get('one') !== undefined)
    all.dispose()
    await refreshing
    const next = icons()
    await next.load()
    assert.ok(next.get('one'))
  })
})
