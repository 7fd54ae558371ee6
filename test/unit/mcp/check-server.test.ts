import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import type { McpServer } from '../../../src/acp/model.ts'
import { SecretRegistry } from '../../../src/common/secrets.ts'
import { checkServer } from '../../../src/mcp/check-server.ts'
import type { CheckOptions, ServerCheck } from '../../../src/mcp/server-check.ts'
import { LoopbackServer } from '../../support/loopback-server.ts'
import { HttpProbe } from '../../support/mcp/http-server.ts'
import { until } from '../../support/until.ts'

const FIXTURES = join(import.meta.dirname, '../../fixtures/mcp')
const TOOLS = ['reverse_text', 'fail', 'count', 'wait', 'ask', 'add_tool']
/** For a server that hangs before it answers anything. */
const SOON_MS = 1000
/** The same for one that must have started by then; the second is for a slow machine. */
const STARTED_MS = [2000, 8000]

const env = Object.fromEntries(
  Object.entries(process.env).filter(([, value]) => value !== undefined),
) as Record<string, string>
const options: CheckOptions = {
  environment: { env, platform: process.platform },
  cwd: tmpdir(),
  version: '1.0.0',
}

function program(file: string, args: string[] = [], variables: Record<string, string> = {}): McpServer {
  return {
    type: 'stdio',
    name: 'it',
    command: process.execPath,
    args: [join(FIXTURES, file), ...args],
    env: Object.entries(variables).map(([name, value]) => ({ name, value })),
  }
}

function connected(check: ServerCheck) {
  assert.ok('server' in check, JSON.stringify(check))
  return check.server
}

function failed(check: ServerCheck) {
  assert.ok('problem' in check, JSON.stringify(check))
  return check
}

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

/** What a check with a limit finds, once it is one within which the server has started. */
async function onceStarted<T>(
  check: (timeoutMs: number) => Promise<T>,
  hasStarted: (found: T) => boolean,
): Promise<T> {
  let found: T | undefined
  for (const timeoutMs of STARTED_MS) {
    found = await check(timeoutMs)
    if (hasStarted(found)) break
  }
  return found!
}

describe('checking an MCP server that runs a command', () => {
  const bad = (how: string, more: Partial<CheckOptions> = {}) =>
    checkServer(program('bad-server.mjs', [how]), { ...options, ...more })

  it("lists the tools of the SDK's own server", async () => {
    const server = connected(await checkServer(program('stdio-server.mjs'), options))
    assert.deepEqual([server.name, server.version], ['probe', '1.2.3'])
    assert.deepEqual(
      server.tools.map(({ name }) => name),
      TOOLS,
    )
    assert.deepEqual(server.tools[0], {
      name: 'reverse_text',
      title: 'Reverse Text',
      description: 'Writes a text backwards',
    })
    assert.deepEqual(server.notes, [])
  })

  it('connects to a server that knows only the revisions without initialize', async () => {
    const server = connected(await checkServer(program('stdio-server.mjs', ['0', 'modern']), options))
    assert.equal(server.protocolVersion, '2026-07-28')
    assert.equal(server.tools.length, TOOLS.length)
  })

  it('reports a server without tools, a thousand tools, and two of one name', async () => {
    const empty = connected(await checkServer(program('stdio-server.mjs', ['0', 'empty']), options))
    assert.deepEqual(empty.notes, ['The server offers no tools.'])
    const many = connected(await checkServer(program('stdio-server.mjs', ['1000']), options))
    assert.equal(many.tools.length, 1000 + TOOLS.length)
    assert.deepEqual(many.notes, ['The server has 1006 tools. Many models accept at most 128.'])
    const twice = connected(await bad('twice'))
    assert.deepEqual(
      twice.tools.map(({ name }) => name),
      ['a', 'b', 'a'],
    )
    assert.deepEqual(twice.notes, ['Several tools have the same name: a'])
  })

  it('stops at a list that never ends', async () => {
    const endless = connected(await bad('endless'))
    assert.equal(endless.tools.length, 2000)
    assert.equal(endless.notes[0], 'The server has more tools. The first 2000 are listed.')
    const repeats = connected(await bad('repeats'))
    assert.ok(
      repeats.notes.includes('The server sent the same page of tools again, so the list may be incomplete.'),
    )
  })

  it('says that the command does not exist', async () => {
    const missing: McpServer = { type: 'stdio', name: 'it', command: '/no/such/program', args: [], env: [] }
    const check = failed(await checkServer(missing, options))
    assert.equal(check.problem, 'not-started')
    assert.match(check.message, /doesn't exist/)
  })

  it('says how a program exited, with its last output', async () => {
    const exits = failed(await bad('exits'))
    assert.deepEqual([exits.problem, exits.message], ['exited', 'The server exited before it answered (3).'])
    assert.match(exits.stderr, /^starting with no token/)
    const dies = failed(await bad('dies'))
    assert.deepEqual(
      [dies.problem, dies.message],
      ['exited', 'The server exited while it listed its tools (4).'],
    )
  })

  it('waits no longer than the limit', async () => {
    const [hangs, later, talks] = await Promise.all([
      bad('hangs', { timeoutMs: SOON_MS }).then(failed),
      onceStarted(
        async timeoutMs => ({ timeoutMs, ...failed(await bad('hangs-later', { timeoutMs })) }),
        ({ message }) => message.includes('connected'),
      ),
      onceStarted(
        async timeoutMs => failed(await bad('talks', { timeoutMs })),
        ({ problem }) => problem === 'not-mcp',
      ),
    ])
    assert.deepEqual([hangs.problem, hangs.message], ['timeout', "The server didn't answer within 1 second."])
    assert.deepEqual(
      [later.problem, later.message],
      [
        'timeout',
        `The server connected, but didn't list its tools within ${later.timeoutMs / 1000} seconds.`,
      ],
    )
    assert.deepEqual(
      [talks.problem, talks.message],
      ['not-mcp', "The program isn't an MCP server. It wrote: Listening on port 3000"],
    )
  })

  it('recognizes an answer that is not one of MCP', async () => {
    const told = async (how: string, timeoutMs?: number) => {
      const { problem, message } = failed(await bad(how, { timeoutMs }))
      return [problem, message]
    }
    const invalid = ['not-mcp', "The program isn't an MCP server: its answer isn't valid."]
    assert.deepEqual(await told('lies'), invalid)
    assert.deepEqual(await told('lies-later'), ['not-mcp', "The server's list of tools isn't valid."])
    const echoes = await onceStarted(
      timeoutMs => told('echoes', timeoutMs),
      ([problem]) => problem === 'refused',
    )
    assert.deepEqual(echoes, ['refused', 'The server answered with an error: Method not found'])
  })

  it('ends a server that floods', async () => {
    const floods = failed(await bad('floods'))
    assert.deepEqual([floods.problem, floods.message], ['too-much', 'The server sent more than 32 MB.'])
  })

  it('redacts what the server says', async () => {
    const secrets = new SecretRegistry()
    secrets.add('known-secret')
    const check = failed(
      await checkServer(program('bad-server.mjs', ['refuses'], { API_TOKEN: 'my-own-value' }), {
        ...options,
        secrets,
      }),
    )
    assert.equal(check.problem, 'refused')
    assert.equal(check.message, 'The server answered with an error: License expired: token=•••')
    assert.match(check.stderr, /^starting with •••\nGITHUB_TOKEN=•••/)
  })

  it('stops when the user cancels', async () => {
    const abort = new AbortController()
    const check = bad('hangs', { signal: abort.signal })
    abort.abort()
    assert.equal(failed(await check).problem, 'canceled')
  })

  it('leaves nothing running, whatever the server does', async function () {
    if (process.platform === 'win32') this.skip()
    const folder = mkdtempSync(join(tmpdir(), 'parley-mcp-check-'))
    try {
      const ended = ['twice', 'hangs', 'dies', 'floods', 'stays'].map(async how => {
        const pids = join(folder, how)
        await onceStarted(
          timeoutMs => checkServer(program('bad-server.mjs', [how, pids]), { ...options, timeoutMs }),
          () => existsSync(pids),
        )
        for (const pid of readFileSync(pids, 'utf8').split(' '))
          await until(() => !isAlive(Number(pid)), `the end of ${how}`)
      })
      await Promise.all(ended)
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })
})

describe('checking an MCP server with a URL', () => {
  const at = (url: string, more: Partial<Extract<McpServer, { type: 'http' | 'sse' }>> = {}): McpServer => ({
    type: 'http',
    name: 'it',
    url,
    headers: [],
    ...more,
  })

  for (const isStateless of [false, true]) {
    it(`lists the tools of the SDK's own server ${isStateless ? 'without' : 'with'} sessions`, async () => {
      const probe = await HttpProbe.start({ isStateless })
      try {
        const server = connected(
          await checkServer(at(probe.url, { headers: [{ name: 'X-Key', value: 'k' }] }), options),
        )
        assert.deepEqual([server.name, server.tools.length], ['probe', TOOLS.length])
        assert.equal(server.protocolVersion, isStateless ? '2026-07-28' : '2025-11-25')
        assert.ok(probe.requests.every(({ headers }) => headers['x-key'] === 'k'))
      } finally {
        await probe.stop()
      }
    })
  }

  const answers = async (
    answer: Parameters<typeof LoopbackServer.start>[0],
    more: Partial<CheckOptions> = {},
  ) => {
    const server = await LoopbackServer.start(answer)
    try {
      return await checkServer(at(`${server.origin}/mcp`), { ...options, ...more })
    } finally {
      await server.stop()
    }
  }

  it('says that the server requires a sign-in, or rejects the configured one', async () => {
    const check = failed(await answers((_, response) => response.writeHead(401).end()))
    assert.deepEqual(
      [check.problem, check.message],
      ['sign-in', 'The server requires you to sign in (status 401).'],
    )
    const probe = await HttpProbe.start({
      before: (_, response) => Boolean(response.writeHead(401).end()),
    })
    const headers = [{ name: 'authorization', value: 'Bearer abc' }]
    for (const type of ['http', 'sse'] as const) {
      const own = failed(await checkServer(at(probe.url, { type, headers }), options))
      assert.equal(own.problem, 'refused')
      assert.match(own.message, /didn't accept the header "Authorization"/)
    }
    await probe.stop()
  })

  it('says that nothing listens there', async () => {
    const server = await LoopbackServer.start(() => {})
    const { origin, port } = server
    await server.stop()
    for (const type of ['http', 'sse'] as const) {
      const check = failed(await checkServer(at(`${origin}/mcp`, { type }), options))
      assert.equal(check.problem, 'unreachable')
      assert.match(check.message, new RegExp(`127\\.0\\.0\\.1:${port} refused the connection`))
    }
  })

  it('recognizes a URL of something else', async () => {
    const page = failed(
      await answers((_, response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<p>')),
    )
    assert.equal(page.problem, 'not-mcp')
    const missing = failed(await answers((_, response) => response.writeHead(404).end()))
    assert.deepEqual(
      [missing.problem, missing.message],
      ['refused', 'There\'s no MCP server over HTTP at this URL (status 404). Check the URL and "type".'],
    )
    const lies = failed(
      await answers((_, response) =>
        response.writeHead(200, { 'content-type': 'application/json' }).end('{"hello":"world"}'),
      ),
    )
    assert.equal(lies.problem, 'not-mcp')
    const broken = failed(await answers((_, response) => response.writeHead(503).end()))
    assert.equal(broken.problem, 'refused')
  })

  it('waits no longer than the limit, and reads no more than it should', async () => {
    assert.equal(failed(await answers(() => {}, { timeoutMs: SOON_MS })).problem, 'timeout')
    const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024, 32))
    const floods = failed(
      await answers((_, response) =>
        response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' }).end(bomb),
      ),
    )
    assert.equal(floods.problem, 'too-much')
  })

  it('sends the token of a sign-in', async () => {
    const probe = await HttpProbe.start({
      before: (request, response) =>
        request.headers.authorization !== 'Bearer secret' && Boolean(response.writeHead(401).end()),
    })
    const check = await checkServer(at(probe.url), { ...options, token: async () => 'secret' })
    assert.equal(connected(check).tools.length, TOOLS.length)
    await probe.stop()
  })
})
