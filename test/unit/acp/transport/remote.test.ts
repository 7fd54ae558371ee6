import assert from 'node:assert/strict'
import { once } from 'node:events'
import http from 'node:http'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { PassThrough, Writable } from 'node:stream'
import { mock } from 'node:test'
import { type AgentApp, agent } from '@agentclientprotocol/sdk'
import {
  type Agent,
  type AgentClient,
  type AgentExit,
  AgentStartError,
  type AgentStartFailure,
  type ConnectOptions,
  type TraceFrame,
} from '../../../../src/acp/agent.ts'
import type { SessionUpdate } from '../../../../src/acp/model.ts'
import type { RemoteAddress } from '../../../../src/acp/remote-address.ts'
import { startAgent } from '../../../../src/acp/start-agent.ts'
import { LineTooLongError } from '../../../../src/acp/transport/line-splitter.ts'
import type { RemoteChannel } from '../../../../src/acp/transport/remote/channel.ts'
import { openHttp } from '../../../../src/acp/transport/remote/http-channel.ts'
import { startRemote } from '../../../../src/acp/transport/remote/remote-agent.ts'
import { openWebSocket } from '../../../../src/acp/transport/remote/websocket-channel.ts'
import type { ProcessExit } from '../../../../src/acp/transport/running-process.ts'
import { deferred } from '../../../../src/common/async.ts'
import { REMOTE_ALIVE_MS } from '../../../../src/common/limits.ts'
import { silentLogger } from '../../../../src/common/logger.ts'
import { acceptanceOf, frame } from '../../../../src/common/websocket.ts'
import { selfSigned } from '../../../support/certificate.ts'
import { agentContract } from '../../../support/contracts/agent.ts'
import { LoopbackServer } from '../../../support/loopback-server.ts'
import { scaledRuns } from '../../../support/property-tests.ts'
import { RemoteAgentServer } from '../../../support/remote-agent-server.ts'
import { until } from '../../../support/until.ts'

const SETUP = { cwd: process.cwd(), additionalDirectories: [], mcpServers: [] }
const HELLO = [{ type: 'text' as const, text: 'hello' }]
const MAX_BYTES = 1 << 20
/** 1,000 where property tests try more cases, as `npm run test:all` does. */
const CONNECTIONS = Math.min(1000, scaledRuns(200))

/** An agent whose turns end with `finish`, or when they are canceled. */
class TestAgent {
  readonly asked: unknown[] = []
  client: { notify(method: 'session/update', params: never): Promise<unknown> } | undefined
  capabilities: unknown
  #count = 0
  #turn: ((stopReason: 'end_turn' | 'cancelled') => void) | undefined

  app = (): AgentApp =>
    agent({ name: 'test' })
      .onRequest('initialize', ({ params }) => {
        this.capabilities = params.clientCapabilities
        return {
          protocolVersion: 1,
          agentCapabilities: { loadSession: true, mcpCapabilities: { http: true } },
        }
      })
      .onRequest('session/new', ({ client }) => {
        this.client = client as never
        return { sessionId: `s${++this.#count}` }
      })
      .onRequest('session/load', ({ params }) => {
        this.asked.push(params.sessionId)
        return {}
      })
      .onRequest('session/prompt', async ({ client }) => {
        this.client = client as never
        const stopReason = await new Promise<'end_turn' | 'cancelled'>(resolve => {
          this.#turn = resolve
        })
        return { stopReason }
      })
      .onNotification('session/cancel', () => this.#turn?.('cancelled'))

  say(sessionId: string, text = 'hi'): Promise<unknown> {
    const update = { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } }
    return this.client!.notify('session/update', { sessionId, update } as never)
  }

  get isInTurn(): boolean {
    return this.#turn !== undefined
  }

  finish(): void {
    this.#turn?.('end_turn')
  }
}

describe('an agent on a server', () => {
  const running: Agent[] = []
  const servers: Array<{ stop(): Promise<void> }> = []
  afterEach(async () => {
    for (const one of running.splice(0)) one.dispose()
    for (const server of servers.splice(0)) await server.stop()
  })

  const connect = async (
    url: string,
    {
      remote = {},
      client = {} as AgentClient,
      ...more
    }: Partial<ConnectOptions> & { remote?: Partial<RemoteAddress>; client?: AgentClient } = {},
  ): Promise<Agent> => {
    const address = { url, headers: [], sharesFiles: false, acceptsAnyCertificate: false, ...remote }
    const launch = { command: url, args: [], env: {}, cwd: process.cwd(), remote: address }
    const started = await startAgent(launch, client, {
      clientInfo: { name: 'parley-test', title: 'Test', version: '0' },
      initializeTimeoutMs: 180_000,
      maxFrameBytes: MAX_BYTES,
      log: silentLogger,
      startRemote,
      ...more,
    })
    running.push(started)
    return started
  }
  const failure = async (starting: Promise<Agent>): Promise<AgentStartFailure> => {
    const error = await starting.then(
      () => undefined,
      (reason: unknown) => reason,
    )
    assert.ok(error instanceof AgentStartError, String(error))
    return error.failure
  }
  const serve = async (test: TestAgent, options: Parameters<typeof RemoteAgentServer.start>[1] = {}) => {
    const server = await RemoteAgentServer.start(test.app, options)
    let isGone = false
    const kill = async () => {
      if (!isGone) await server.kill()
      isGone = true
    }
    servers.push({ stop: kill })
    return Object.assign(server, { stop: kill })
  }
  const exitOf = (one: Agent) => new Promise<AgentExit>(resolve => one.onDidClose(resolve))
  const textsOf = (one: Agent) => {
    const texts: string[] = []
    one.onUpdate(({ update }) => {
      if (update.type === 'message_chunk' && update.content.type === 'text') texts.push(update.content.text)
    })
    return texts
  }

  for (const transport of ['ws', 'http'] as const)
    describe(`over ${transport}`, () => {
      agentContract(async () => {
        const test = new TestAgent()
        const server = await serve(test)
        const started = await connect(server.url(transport))
        const whenInTurn = (act: () => void) => void until(() => test.isInTurn).then(act)
        return {
          agent: started,
          lacks: ['resume', 'list', 'close', 'delete', 'logout'],
          setup: SETUP,
          work: sessionId => whenInTurn(() => void test.say(sessionId)),
          finishTurn: sessionId => whenInTurn(() => void test.say(sessionId).then(() => test.finish())),
          exit: () => void server.stop(),
          exitReason: 'connection',
        }
      })

      it('sends its headers, and offers neither files nor terminals, unless it shares the files', async () => {
        const test = new TestAgent()
        const server = await serve(test)
        const remote = { headers: [{ name: 'X-Key', value: 'secret' }] }
        const started = await connect(server.url(transport), { remote })
        await started.newSession(SETUP)
        assert.deepEqual(new Set(server.requests.map(({ headers }) => headers['x-key'])), new Set(['secret']))
        const can = (test.capabilities ?? {}) as Record<string, unknown>
        const none = { readTextFile: false, writeTextFile: false }
        assert.deepEqual([can.fs ?? none, can.terminal ?? false], [none, false])
        assert.equal(started.capabilities.mcp.stdio, false)
        const sharing = await connect(server.url(transport), { remote: { sharesFiles: true } })
        const all = (test.capabilities ?? {}) as Record<string, unknown>
        assert.deepEqual(all.fs, { readTextFile: true, writeTextFile: true })
        assert.equal(sharing.capabilities.mcp.stdio, true)
      })

      it('loads a session again once a server that was killed in a turn is back', async () => {
        const test = new TestAgent()
        const server = await serve(test)
        const { port } = server
        const started = await connect(server.url(transport))
        const { sessionId } = await started.newSession(SETUP)
        const turn = started.prompt(sessionId, HELLO)
        const rejected = assert.rejects(turn, { name: 'AgentClosedError' })
        await until(() => test.isInTurn)
        const exited = exitOf(started)
        await server.stop()
        await rejected
        const { reason, message } = await exited
        assert.equal(reason, 'connection')
        assert.match(message ?? '', /^The connection failed: the connection was interrupted/)
        const { kind } = await failure(connect(`${transport}://127.0.0.1:${port}/acp`))
        assert.equal(kind, 'unreachable')
        const again = new TestAgent()
        await serve(again, { port })
        const back = await connect(`${transport}://127.0.0.1:${port}/acp`)
        await back.loadSession(sessionId, SETUP)
        assert.deepEqual(again.asked, [sessionId])
      })

      for (const status of [401, 403])
        it(`says that the server refuses the headers with ${status}`, async () => {
          const server = await serve(new TestAgent(), { refuse: () => status })
          let refused = 0
          const remote = { onRefused: () => void refused++ }
          const found = await failure(connect(server.url(transport), { remote }))
          assert.ok(found.kind === 'unreachable', JSON.stringify(found))
          assert.equal(found.problem.isRefused, true)
          assert.match(found.message, new RegExp(`denied access \\(status ${status}\\)`))
          assert.equal(refused, 1)
        })

      it("names a header that can't be sent, and not its value", async () => {
        for (const [name, value] of [
          ['X-Key', 'sec\u0001ret'],
          ['X-Key', 'sec\nret'],
          ['X-Key', 'sec…ret'],
          ['My Key', 'secret'],
        ] as const) {
          let refused = 0
          const remote = { headers: [{ name, value }], onRefused: () => void refused++ }
          const found = await failure(connect(`${transport}://127.0.0.1:1/acp`, { remote }))
          assert.ok(found.kind === 'unreachable', JSON.stringify(found))
          assert.match(found.message, new RegExp(`the header ${name} has characters that can't be sent`))
          assert.doesNotMatch(JSON.stringify(found), /sec|ret/)
          assert.equal(refused, 1)
        }
      })

      it('follows no redirect, so that no other server gets the headers', async () => {
        const other = await LoopbackServer.start((_request, response) => void response.end('{}'))
        const moved = await LoopbackServer.start((_request, response) =>
          response.writeHead(307, { location: `${other.origin}/acp` }).end(),
        )
        servers.push(other, moved)
        const headers = [{ name: 'Authorization', value: 'Bearer secret' }]
        const url = `${moved.origin.replace('http', transport)}/acp`
        const found = await failure(connect(url, { remote: { headers } }))
        assert.ok(found.kind === 'unreachable', JSON.stringify(found))
        assert.match(found.message, new RegExp(`redirects to another URL: ${other.origin}`))
        assert.deepEqual(other.requests, [])
        assert.doesNotMatch(JSON.stringify(found), /secret/)
      })

      it('says what is wrong if nobody is there, or something else', async () => {
        const web = await LoopbackServer.start((_request, response) => void response.end('<html>'))
        servers.push(web)
        const found = await failure(connect(`${web.origin.replace('http', transport)}/acp`))
        assert.match(
          JSON.stringify(found),
          transport === 'ws' ? /didn't open a WebSocket/ : /doesn't respond like an agent/,
        )
        const refused = await failure(connect(`${transport}://127.0.0.1:1/acp`))
        assert.match(JSON.stringify(refused), /refused the connection/)
        const unknown = await failure(connect(`${transport}://unknown.invalid/acp`))
        assert.match(JSON.stringify(unknown), /unknown\.invalid wasn't found/)
      })

      it("tells nothing to a server whose certificate isn't trusted, unless any is accepted", async () => {
        const server = await LoopbackServer.start(
          (_request, response) => void response.end(),
          selfSigned('agent'),
        )
        servers.push(server)
        const url = `${server.origin.replace('http', transport)}/acp`
        const headers = [{ name: 'Authorization', value: 'Bearer secret' }]
        const found = await failure(connect(url, { remote: { headers } }))
        assert.ok(found.kind === 'unreachable', JSON.stringify(found))
        assert.match(found.message, /certificate isn't trusted/)
        assert.equal(server.requests.length, 0)
        const accepted = await failure(connect(url, { remote: { headers, acceptsAnyCertificate: true } }))
        assert.doesNotMatch(JSON.stringify(accepted), /certificate/)
        assert.equal(server.requests[0]?.headers.authorization, 'Bearer secret')
      })

      it("gives up a server that doesn't answer, without leaving a connection", async () => {
        const silent = await silentServer()
        servers.push(silent)
        const found = await failure(
          connect(`${transport}://127.0.0.1:${silent.port}/acp`, { initializeTimeoutMs: 200 }),
        )
        assert.match(found.kind, /^(?:unreachable|initialize-timeout)$/)
        await until(() => silent.open === 0, 'the end of the connection')
        const aborting = new AbortController()
        const starting = failure(
          connect(`${transport}://127.0.0.1:${silent.port}/acp`, { signal: aborting.signal }),
        )
        await until(() => silent.open > 0)
        aborting.abort()
        assert.equal((await starting).kind, 'cancelled')
        await until(() => silent.open === 0, 'the end of the connection')
      })

      it('ends the connection at a message that is too large', async () => {
        const test = new TestAgent()
        const server = await serve(test)
        const started = await connect(server.url(transport))
        const { sessionId } = await started.newSession(SETUP)
        const exited = exitOf(started)
        void test.say(sessionId, 'x'.repeat(MAX_BYTES + 1000)).catch(() => {})
        const { reason, message } = await exited
        assert.equal(reason, 'protocol')
        assert.match(message ?? '', /more than 1 MB/)
      })

      it('cuts what is too deep or has too many members, and reads on', async () => {
        const test = new TestAgent()
        const server = await serve(test)
        const received: unknown[] = []
        const tap = { current: ({ message }: TraceFrame) => void received.push(message) }
        const started = await connect(server.url(transport), { tap })
        const texts = textsOf(started)
        const { sessionId } = await started.newSession(SETUP)
        let deep: unknown = {}
        for (let i = 0; i < 3000; i++) deep = [deep]
        for (const content of [deep, Array.from({ length: 100_000 }, (_, i) => i)]) {
          const update = { sessionUpdate: 'unknown_kind', content }
          await test.client!.notify('session/update', { sessionId, update } as never)
        }
        await test.say(sessionId, 'after')
        await until(() => texts.includes('after'))
        const sizes = received.map(one => JSON.stringify(one).length)
        assert.ok(Math.max(...sizes) < 50_000, String(sizes))
      })

      it('keeps the order of many messages', async () => {
        const test = new TestAgent()
        const server = await serve(test)
        const started = await connect(server.url(transport))
        const texts = textsOf(started)
        const { sessionId } = await started.newSession(SETUP)
        const said = Array.from({ length: 2000 }, (_, i) => `${i} \n ä€😀`)
        for (const text of said) void test.say(sessionId, text)
        await until(() => texts.length === said.length)
        assert.deepEqual(texts, said)
      })

      it(`leaves no socket, listener or timer after ${CONNECTIONS} connections`, async function () {
        this.timeout(CONNECTIONS * 300)
        const test = new TestAgent()
        const server = await serve(test)
        const timers = () => process.getActiveResourcesInfo().filter(one => one === 'Timeout').length
        const before = timers()
        for (let i = 0; i < CONNECTIONS; i++) {
          const started = await connect(server.url(transport))
          if (i % 10 === 0) await started.newSession(SETUP)
          const exited = exitOf(started)
          if (i % 3 === 0) server.sockets.destroy()
          else started.dispose()
          await exited
        }
        running.length = 0
        http.globalAgent.destroy()
        await until(() => server.sockets.size === 0, 'the end of the connections')
        await until(() => timers() <= before, 'the end of the timers')
      })
    })

  it('has the folders of a mapping at its own paths, in both directions', async () => {
    const heard: Record<string, unknown> = {}
    let reads: unknown
    const there = '/srv/app'
    const app = (): AgentApp =>
      agent({ name: 'mapped' })
        .onRequest('initialize', () => ({
          protocolVersion: 1,
          agentCapabilities: {
            loadSession: true,
            sessionCapabilities: { list: {}, additionalDirectories: {} },
            promptCapabilities: { embeddedContext: true },
          },
        }))
        .onRequest('session/new', ({ params }) => {
          heard.new = [params.cwd, params.additionalDirectories]
          return { sessionId: 's' }
        })
        .onRequest('session/list', ({ params }) => {
          heard.list = params.cwd
          return {
            sessions: [
              { sessionId: 's', cwd: `${there}/sub` },
              { sessionId: 't', cwd: '/home/me/app' },
            ],
          }
        })
        .onRequest('session/prompt', async ({ params, client }) => {
          heard.prompt = params.prompt
          const path = `${there}/a.ts`
          const toolCall = {
            ...{ toolCallId: 't', title: `Edit ${path}`, kind: 'edit' as const, status: 'pending' as const },
            locations: [{ path, line: 2 }, { path: '/etc/hosts' }, { path: '/home/me/app/a.ts' }],
            content: [{ type: 'diff' as const, path, oldText: path, newText: '/srv/app' }],
            rawInput: { file_path: path, content: path, changes: { [path]: { type: 'add', content: path } } },
          }
          const update = (one: object) =>
            client.notify('session/update', { sessionId: 's', update: one } as never)
          await update({ sessionUpdate: 'tool_call', ...toolCall })
          const content = { type: 'resource_link', uri: 'file:///srv/app/a%20b.ts#L3', name: path }
          await update({ sessionUpdate: 'agent_message_chunk', content })
          await update({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: path } })
          await client.request('session/request_permission', { sessionId: 's', toolCall, options: [] })
          reads = await client.request('fs/read_text_file', { sessionId: 's', path })
          await client.request('fs/write_text_file', { sessionId: 's', path, content: path })
          await client.request('terminal/create', { sessionId: 's', command: 'ls', args: [path], cwd: there })
          return { stopReason: 'end_turn' as const }
        })
    const server = await RemoteAgentServer.start(app)
    servers.push({ stop: () => server.kill() })
    const asked: unknown[] = []
    const note =
      <T>(result: T) =>
      async (request: unknown) => {
        asked.push(request)
        return result
      }
    const client = {
      requestPermission: note({ type: 'cancelled' as const }),
      readTextFile: note('text'),
      writeTextFile: note(undefined),
      createTerminal: note({ terminalId: 'x' }),
    } as unknown as AgentClient
    const pathMappings = [{ localRoot: '/home/me/app', remoteRoot: there }]
    const started = await connect(server.url('ws'), { client, remote: { sharesFiles: true, pathMappings } })
    const { isRemote, mcp, ...can } = started.capabilities
    assert.deepEqual([isRemote, mcp.stdio, can.pathMappings], [undefined, false, pathMappings])
    const updates: SessionUpdate[] = []
    started.onUpdate(({ update }) => updates.push(update))
    const setup = { cwd: '/home/me/app', additionalDirectories: ['/home/me/app2'], mcpServers: [] }
    await started.newSession(setup)
    assert.deepEqual(heard.new, [there, ['/home/me/app2']])
    const { sessions } = await started.listSessions({ cwd: '/home/me/app/sub' })
    assert.equal(heard.list, `${there}/sub`)
    assert.deepEqual(
      sessions.map(({ cwd }) => cwd),
      ['/home/me/app/sub', '/elsewhere:/home/me/app'],
    )
    await started.prompt('s', [
      { type: 'text', text: '/home/me/app/a.ts' },
      { type: 'resource_link', uri: 'file:///home/me/app/a.ts#L1', name: 'a.ts' },
      { type: 'resource', uri: 'file:///home/me/app/b.ts', text: '/home/me/app' },
    ])
    assert.deepEqual(heard.prompt, [
      { type: 'text', text: '/home/me/app/a.ts' },
      { type: 'resource_link', uri: 'file:///srv/app/a.ts#L1', name: 'a.ts' },
      { type: 'resource', resource: { uri: 'file:///srv/app/b.ts', text: '/home/me/app' } },
    ])
    assert.deepEqual(reads, { content: 'text' })
    const path = '/home/me/app/a.ts'
    const toolCall = {
      ...{ toolCallId: 't', title: 'Edit /srv/app/a.ts', kind: 'edit', status: 'pending' },
      locations: [{ path, line: 2 }, { path: '/etc/hosts' }, { path: `/elsewhere:${path}` }],
      content: [
        {
          type: 'diff',
          changes: [{ operation: 'modify', path, oldText: '/srv/app/a.ts', newText: '/srv/app' }],
        },
      ],
      rawInput: {
        ...{ file_path: path, content: '/srv/app/a.ts' },
        changes: { [path]: { type: 'add', content: '/srv/app/a.ts' } },
      },
    }
    assert.deepEqual(
      updates.filter(({ type }) => type !== 'state'),
      [
        { type: 'tool_call', toolCall, isNew: true },
        {
          ...{ type: 'message_chunk', role: 'agent' },
          content: { type: 'resource_link', uri: 'file:///home/me/app/a%20b.ts#L3', name: '/srv/app/a.ts' },
        },
        { type: 'message_chunk', role: 'agent', content: { type: 'text', text: '/srv/app/a.ts' } },
      ],
    )
    assert.deepEqual(asked, [
      {
        ...{ sessionId: 's', title: 'Edit /srv/app/a.ts', options: [] },
        subject: { type: 'tool_call', toolCall },
      },
      { sessionId: 's', path },
      { sessionId: 's', path, content: '/srv/app/a.ts' },
      { sessionId: 's', command: 'ls', args: ['/srv/app/a.ts'], env: [], cwd: '/home/me/app' },
    ])
  })

  it('notices that a WebSocket was cut without a word', async () => {
    mock.timers.enable({ apis: ['setInterval'] })
    const silent = await silentServer(true)
    servers.push(silent)
    const address = {
      url: `ws://127.0.0.1:${silent.port}`,
      headers: [],
      sharesFiles: false,
      acceptsAnyCertificate: false,
    }
    const channel = await openWebSocket(address, { maxBytes: MAX_BYTES, answerMs: 60_000 })
    let isOver = false
    const ended = channel.ended.finally(() => {
      isOver = true
    })
    channel.stdout.resume()
    mock.timers.tick(REMOTE_ALIVE_MS)
    await new Promise(setImmediate)
    assert.equal(isOver, false, 'it may just be quiet')
    mock.timers.tick(REMOTE_ALIVE_MS)
    assert.match((await ended)?.reason ?? '', /didn't respond in time/)
    mock.timers.reset()
  })

  it('goes on over a WebSocket whose answer is there, but not read, when this computer wakes up', async () => {
    mock.timers.enable({ apis: ['setInterval'] })
    const silent = await silentServer(true)
    servers.push(silent)
    const address = {
      url: `ws://127.0.0.1:${silent.port}`,
      headers: [],
      sharesFiles: false,
      acceptsAnyCertificate: false,
    }
    const channel = await openWebSocket(address, { maxBytes: MAX_BYTES, answerMs: 60_000 })
    let isOver = false
    void channel.ended.finally(() => {
      isOver = true
    })
    channel.stdout.resume()
    mock.timers.tick(REMOTE_ALIVE_MS)
    await new Promise(setImmediate)
    // from a timer, since nothing is read before the timers that are due have run
    await new Promise<void>(resolve =>
      setTimeout(() => {
        silent.last!.write(frame(10, Buffer.alloc(0)))
        mock.timers.tick(REMOTE_ALIVE_MS)
        resolve()
      }),
    )
    mock.timers.reset()
    for (let turn = 0; turn < 10; turn++) await new Promise(setImmediate)
    assert.equal(isOver, false)
    await channel.close()
  })

  describe('over HTTP, whose server says nothing anymore', () => {
    const open = async () => {
      mock.timers.enable({ apis: ['setInterval'] })
      const server = await streamingServer()
      servers.push(server)
      const address = { url: server.origin, headers: [], sharesFiles: false, acceptsAnyCertificate: false }
      const channel = openHttp(address, { maxBytes: MAX_BYTES, answerMs: 60_000 })
      let received = ''
      channel.stdout.on('data', (chunk: Buffer) => {
        received += chunk
      })
      let reason: string | undefined
      void channel.ended.then(problem => {
        reason = problem?.reason ?? 'closed'
      })
      channel.stdin.write('{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}\n')
      await until(() => server.stream !== undefined && received !== '')
      /** Nothing arrives while it's looked at this often. */
      const pass = async (looks: number) => {
        for (let look = 0; look < looks; look++) {
          for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate)
          mock.timers.tick(REMOTE_ALIVE_MS / 2)
        }
        for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate)
      }
      const send = async (text: string) => {
        await new Promise<unknown>(resolve => server.stream!.write(text, resolve))
        await pass(1)
      }
      return { channel, pass, send, ended: () => reason }
    }
    afterEach(() => mock.timers.reset())

    it('is lost if comments had kept the stream alive', async () => {
      const { pass, send, ended } = await open()
      for (let i = 0; i < 3; i++) await send(': keep-alive\n\n')
      await pass(2)
      assert.equal(ended(), undefined, 'a comment may be late')
      await pass(1)
      await until(() => ended() !== undefined)
      assert.match(ended()!, /didn't respond in time/)
    })

    it('has as much time as it took before', async () => {
      const { pass, send, ended } = await open()
      for (let i = 0; i < 3; i++) {
        await send(': keep-alive\n\n')
        await pass(4)
      }
      await pass(6)
      assert.equal(ended(), undefined)
      await pass(1)
      await until(() => ended() !== undefined)
    })

    it('may just be quiet if it sent no more than a greeting', async () => {
      const { channel, pass, send, ended } = await open()
      await send(': welcome\n\n')
      for (let i = 0; i < 3; i++) await send(': a message\ndata: {"jsonrpc":"2.0","method":"x"}\n\n')
      await pass(1000)
      assert.equal(ended(), undefined)
      await channel.close()
    })

    it('is not to blame while this window is busy', async () => {
      const { channel, pass, send, ended } = await open()
      for (let i = 0; i < 3; i++) await send(': keep-alive\n\n')
      channel.stdout.pause()
      const text = 'x'.repeat(100_000)
      for (let i = 0; i < 5; i++) await send(`data: {"jsonrpc":"2.0","method":"${text}"}\n\n`)
      await pass(1000)
      assert.equal(ended(), undefined)
      await channel.close()
    })
  })

  for (const [what, bytes, reason] of [
    ['compressed', Buffer.from([0xc1, 1, 65]), /doesn't follow the WebSocket protocol \(code 1002\)/],
    ['not UTF-8', frame(1, Buffer.from([0xff])), /doesn't follow the WebSocket protocol \(code 1007\)/],
    ['a close', frame(8, Buffer.from([3, 241])), /the server closed the connection \(code 1009\)/],
  ] as const)
    it(`says who ends a WebSocket, and why, when what the server sends is ${what}`, async () => {
      const silent = await silentServer(true)
      servers.push(silent)
      const url = `ws://127.0.0.1:${silent.port}`
      const address = { url, headers: [], sharesFiles: false, acceptsAnyCertificate: false }
      const channel = await openWebSocket(address, { maxBytes: MAX_BYTES, answerMs: 60_000 })
      channel.stdout.resume()
      silent.last!.write(bytes)
      assert.match((await channel.ended)?.reason ?? '', reason)
    })

  it("says that a message was too large, although what came before isn't handled yet", async () => {
    const server = await LoopbackServer.start((_request, response) => void response.end())
    servers.push(server)
    const stdout = new PassThrough()
    const exited = deferred<ProcessExit>()
    let isReading = true
    const stdin = new Writable({
      write: (chunk: Buffer, _encoding, done) => {
        if (chunk.includes('"initialize"'))
          stdout.write('{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1}}\n')
        if (isReading) done()
      },
    })
    const stop = async () => {}
    const startRemote = async () => ({
      ...{ pid: 0, stdin, stdout, stderrTail: '', hasExited: true, exited: exited.promise },
      ...{ stderrRead: stop, stop, dispose() {} },
    })
    const started = await connect(server.origin, { startRemote })
    isReading = false
    const asks = { jsonrpc: '2.0', id: 'x'.repeat(MAX_BYTES / 2), method: 'unknown' }
    for (let i = 0; i < 200; i++) stdout.write(`${JSON.stringify(asks)}\n`)
    let before = -1
    let unchanged = 0
    await until(() => {
      const unread = stdout.readableLength + stdout.writableLength
      unchanged = unread > 0 && unread === before ? unchanged + 1 : 0
      before = unread
      return unchanged === 50
    }, 'the answers that nobody reads')
    const exit = exitOf(started)
    stdout.destroy(new LineTooLongError(MAX_BYTES))
    exited.resolve({ exitCode: null, signal: null })
    assert.match((await exit).message ?? '', /more than 1 MB/)
  })

  describe('while the window is busy', () => {
    const SIZE = 64 * 1024
    const COUNT = 600
    const text = JSON.stringify({ jsonrpc: '2.0', method: 'x', params: { text: 'x'.repeat(SIZE) } })
    const open = { maxBytes: MAX_BYTES, answerMs: 60_000 }
    const addressOf = (url: string) => ({
      url,
      headers: [],
      sharesFiles: false,
      acceptsAnyCertificate: false,
    })

    /** Most of what a server sends at once stays there until it's read, and then all of it arrives. */
    const staysThere = async (channel: RemoteChannel, flood: Writable, piece: Buffer) => {
      for (let i = 0; i < COUNT; i++) flood.write(piece)
      let before = -1
      let unchanged = 0
      await until(() => {
        unchanged = flood.writableLength === before ? unchanged + 1 : 0
        before = flood.writableLength
        return unchanged === 30 || before === 0
      }, 'the sockets to be full')
      assert.ok(before > (COUNT * SIZE) / 2, `${before} of ${COUNT * SIZE} bytes wait on the server`)
      let read = 0
      channel.stdout.on('data', (chunk: Buffer) => {
        read += chunk.length
      })
      await until(() => read > COUNT * SIZE, 'the rest')
      await channel.close()
    }

    it('leaves on the server what it sends over a WebSocket', async () => {
      const silent = await silentServer(true)
      servers.push(silent)
      const channel = await openWebSocket(addressOf(`ws://127.0.0.1:${silent.port}`), open)
      await staysThere(channel, silent.last!, frame(1, Buffer.from(text)))
    })

    it('leaves on the server what it sends over HTTP', async () => {
      const server = await streamingServer()
      servers.push(server)
      const channel = openHttp(addressOf(server.origin), open)
      channel.stdin.write('{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}\n')
      await until(() => server.stream !== undefined)
      await staysThere(channel, server.stream!, Buffer.from(`data: ${text}\n\n`))
    })
  })
})

/** A server over HTTP that answers `initialize`. Its event stream is there once it's asked for. */
async function streamingServer() {
  let stream: http.ServerResponse | undefined
  const server = await LoopbackServer.start((request, response) => {
    if (request.method === 'POST') {
      response.writeHead(200, { 'content-type': 'application/json', 'acp-connection-id': 'c' })
      response.end(JSON.stringify({ jsonrpc: '2.0', id: 0, result: { protocolVersion: 1 } }))
    } else if (request.method === 'GET') {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.flushHeaders()
      stream = response
    } else response.end()
  })
  return {
    origin: server.origin,
    get stream() {
      return stream
    },
    stop: () => server.stop(),
  }
}

/** Accepts connections and then says nothing. `shakesHands`: those of WebSockets. */
async function silentServer(shakesHands = false) {
  const sockets = new Set<Socket>()
  const server: Server = createServer(socket => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('data', data => {
      const key = /^sec-websocket-key: (.+)$/im.exec(data.toString())?.[1]
      if (!shakesHands || key === undefined) return
      const accept = acceptanceOf(key)
      socket.write(
        `HTTP/1.1 101 Switching\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
      )
    })
    socket.once('close', () => sockets.delete(socket))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    get open() {
      return sockets.size
    },
    get last() {
      return [...sockets].at(-1)
    },
    async stop() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}
