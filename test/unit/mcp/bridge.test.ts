import assert from 'node:assert/strict'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import type { McpServer } from '../../../src/acp/model.ts'
import { HostChannel } from '../../../src/acp/transport/host/channel.ts'
import { greetHost, MAX_HANDSHAKE_BYTES } from '../../../src/acp/transport/host/handshake.ts'
import { silentLogger } from '../../../src/common/logger.ts'
import { SecretRegistry } from '../../../src/common/secrets.ts'
import { bridgedServer } from '../../../src/mcp/bridge/bridged-server.ts'
import { Bridges } from '../../../src/mcp/bridge/bridges.ts'
import { WindowLink } from '../../../src/mcp/bridge/window-link.ts'
import { BuiltBridge, StdioAgent } from '../../support/mcp/bridge-program.ts'
import { HttpProbe } from '../../support/mcp/http-server.ts'
import { SseProbe } from '../../support/mcp/sse-server.ts'
import { until } from '../../support/until.ts'

type Remote = Exclude<McpServer, { type: 'stdio' }>

const environment = { env: {}, platform: process.platform }

describe('the bridge to an MCP server', () => {
  const bridge = new BuiltBridge()
  const agents: StdioAgent[] = []
  const probes: Array<{ stop(): Promise<void> }> = []
  const calls = join(bridge.folder, 'calls')
  const called = () => (existsSync(calls) ? readFileSync(calls, 'utf8').trim().split('\n') : [])

  const agentFor = async (
    server: Omit<Remote, 'name' | 'headers'> & Partial<Remote>,
    mode?: 'legacy' | 'auto',
  ) => {
    const agent = new StdioAgent(
      bridgedServer({ name: 'probe', headers: [], ...server }, bridge, environment),
      mode,
    )
    agents.push(agent)
    await agent.connect()
    return agent
  }
  const start = async (type: 'http' | 'sse', port?: number) => {
    const probe = await (type === 'http' ? HttpProbe : SseProbe).start({ calls, port })
    probes.push(probe)
    return probe
  }

  before(() => bridge.build())
  afterEach(async () => {
    await Promise.all(agents.splice(0).map(agent => agent.client.close()))
    await Promise.all(probes.splice(0).map(probe => probe.stop().catch(() => {})))
    rmSync(calls, { force: true })
  })
  after(() => bridge.remove())

  for (const type of ['http', 'sse'] as const) {
    describe(`over ${type}`, () => {
      it('passes on tools, results, errors, progress and log messages', async () => {
        const { client, messages } = await agentFor({ type, url: (await start(type)).url })
        assert.equal(client.getServerVersion()?.name, 'probe')
        assert.equal(client.getInstructions(), 'Reverse everything.')
        const { tools } = await client.listTools()
        assert.equal(tools[0]?.title, 'Reverse Text')
        const failed = await client.callTool({ name: 'fail', arguments: {} })
        assert.ok(failed.isError)
        const unknown = client.request({ method: 'resources/read', params: { uri: 'file:///no' } })
        await assert.rejects(unknown, { code: -32601 })
        await client.callTool({ name: 'count', arguments: { to: 5 } }, { onprogress: () => {} })
        const sent = messages.filter(message => 'method' in message)
        assert.deepEqual(
          sent.map(({ params }) => params?.progress ?? params?.data),
          [1, 2, 3, 4, 5, 'counted to 5'],
        )
      })

      it("passes on the server's requests and the agent's answers", async () => {
        const agent = await agentFor({ type, url: (await start(type)).url })
        agent.client.setRequestHandler('elicitation/create', async ({ params }) => ({
          action: 'accept',
          content: { answer: `${params.message} 42` },
        }))
        assert.equal(await agent.call('ask', { question: 'How many?' }), 'accept: How many? 42')
      })

      it('cancels a call', async () => {
        const agent = await agentFor({ type, url: (await start(type)).url })
        const abort = new AbortController()
        const call = agent.call('wait', {}, { signal: abort.signal })
        await until(() => called().includes('wait'))
        abort.abort()
        await assert.rejects(call)
        await until(() => called().includes('wait canceled'), 'the cancellation at the server')
      })

      it('passes on large messages in both directions', async () => {
        const agent = await agentFor({ type, url: (await start(type)).url })
        const text = 'äbc '.repeat(1_000_000)
        assert.equal(await agent.call('reverse_text', { text }), [...text].reverse().join(''))
      })

      it('opens a new session when the server has forgotten it', async () => {
        const probe = await start(type)
        const agent = await agentFor({ type, url: probe.url })
        let changed = 0
        agent.client.setNotificationHandler('notifications/tools/list_changed', () => void changed++)
        await agent.call('add_tool')
        assert.equal(await agent.call('added'), 'added')
        await until(() => changed === 1)
        const waiting = agent.call('wait')
        await until(() => called().includes('wait'))
        await probe.forget()
        await assert.rejects(waiting, /The connection to the MCP server "probe" was lost/)
        assert.equal(await agent.call('reverse_text', { text: 'abc' }), 'cba')
        await until(() => changed === 2, 'the agent lists the tools again')
      })

      it('waits for a server that restarts', async () => {
        const probe = await start(type)
        const agent = await agentFor({ type, url: probe.url })
        const { port } = probe
        await probe.stop()
        const call = agent.call('reverse_text', { text: 'abc' })
        await start(type, port)
        assert.equal(await call, 'cba')
      })

      it('says why it cannot connect', async () => {
        const probe = await start(type)
        const { url } = probe
        await probe.stop()
        await assert.rejects(agentFor({ type, url }), /Can't reach the MCP server "probe": ECONNREFUSED/)
      })

      it('sends the headers, and shows them nowhere', async () => {
        const probe = await start(type)
        const headers = [{ name: 'Authorization', value: 'Bearer very-secret' }]
        const server = bridgedServer({ type, name: 'probe', url: probe.url, headers }, bridge, environment)
        assert.ok(!JSON.stringify([server.command, server.args]).includes('very-secret'))
        const agent = new StdioAgent(server)
        agents.push(agent)
        await agent.connect()
        await agent.call('reverse_text', { text: 'abc' })
        assert.ok(probe.requests.every(request => request.headers.authorization === 'Bearer very-secret'))
        await until(() => agent.stderr.includes('Connected.'))
        assert.ok(!agent.stderr.includes('very-secret'))
      })
    })
  }

  it('serves both eras of MCP', async () => {
    const probe = await HttpProbe.start({ isStateless: true, calls })
    probes.push(probe)
    for (const [mode, era] of [
      ['auto', 'modern'],
      ['legacy', 'legacy'],
    ] as const) {
      const agent = await agentFor({ type: 'http', url: probe.url }, mode)
      assert.equal(agent.client.getProtocolEra(), era)
      assert.equal(await agent.call('reverse_text', { text: 'abc' }), 'cba')
    }
    const agent = await agentFor({ type: 'http', url: probe.url }, 'auto')
    const abort = new AbortController()
    const call = agent.call('wait', {}, { signal: abort.signal })
    await until(() => called().includes('wait'))
    abort.abort()
    await assert.rejects(call)
    await until(() => called().includes('wait canceled'), 'the cancellation at the server')
  })

  it('lets an agent find out that the server knows only initialize', async () => {
    const agent = await agentFor({ type: 'http', url: (await start('http')).url }, 'auto')
    assert.equal(agent.client.getProtocolEra(), 'legacy')
    assert.equal(await agent.call('reverse_text', { text: 'abc' }), 'cba')
  })

  it("tells the agent what the server's status means", async () => {
    for (const [status, message] of [
      [401, /requires you to sign in/],
      [503, /answered with status 503/],
    ] as const) {
      const probe = await HttpProbe.start({
        before: (_, response) => Boolean(response.writeHead(status).end()),
      })
      probes.push(probe)
      await assert.rejects(agentFor({ type: 'http', url: probe.url }), message)
    }
  })

  it("ends with the agent, and ends the server's session", async () => {
    const probe = await HttpProbe.start({})
    probes.push(probe)
    const agent = await agentFor({ type: 'http', url: probe.url })
    const { pid } = agent.transport
    await agent.client.close()
    await until(() => probe.requests.some(({ method }) => method === 'DELETE'))
    await until(() => {
      try {
        return !process.kill(pid!, 0)
      } catch {
        return true
      }
    }, 'the end of the bridge')
  })
})

describe('the window that follows a bridge', () => {
  const program = new BuiltBridge()
  const agents: StdioAgent[] = []
  const probes: Array<{ stop(): Promise<void> }> = []
  let secrets: SecretRegistry
  let bridges: Bridges

  before(() => program.build())
  beforeEach(() => {
    secrets = new SecretRegistry()
    bridges = new Bridges({
      ...{ program, secrets, log: silentLogger },
      environment: { get: async () => environment },
    })
  })
  afterEach(async () => {
    await Promise.all(agents.splice(0).map(agent => agent.client.close().catch(() => {})))
    await Promise.all(probes.splice(0).map(probe => probe.stop().catch(() => {})))
    bridges.dispose()
  })
  after(() => program.remove())

  const bridged = async (url: string, headers: Remote['headers'] = [], type: 'http' | 'sse' = 'http') => {
    const { server, link } = await bridges.bridge({ type, name: 'probe', url, headers })
    assert.ok(link)
    const agent = new StdioAgent(server)
    agents.push(agent)
    const status = () => bridges.status(link.id)!
    const isIn = (state: string) => until(() => status().state === state, `the state ${state}`)
    return { server, link, agent, status, isIn, restart: () => bridges.restart(link.id) }
  }
  const probe = async (options: Parameters<typeof HttpProbe.start>[0] = {}) => {
    const started = await HttpProbe.start(options)
    probes.push(started)
    return started
  }

  it('gets the connection state, the tools, and the logs of the bridge and the server', async () => {
    let changes = 0
    bridges.onDidChange(() => void changes++)
    const { agent, status, isIn } = await bridged((await probe()).url)
    assert.deepEqual(status(), { state: 'waiting', log: '' })
    await agent.connect()
    await isIn('connected')
    await agent.client.listTools()
    await until(() => status().tools?.length === 6)
    assert.equal(status().tools?.[0]?.title, 'Reverse Text')
    await agent.call('count', { to: 2 })
    await until(() => status().log.includes('counted to 2'))
    assert.equal(status().log, 'Connected.\ninfo: counted to 2\n')
    await agent.client.close()
    await isIn('ended')
    assert.ok(changes > 0)
  })

  it('learns why it is not connected, without secrets, and that it is again', async () => {
    const first = await probe()
    const { url, port } = first
    secrets.add('known-secret')
    const headers = [{ name: 'X-Key', value: 'key-of-the-header' }]
    const { agent, status, isIn } = await bridged(url, headers)
    await agent.connect()
    await first.stop()
    const call = agent.call('reverse_text', { text: 'abc' })
    await isIn('connected')
    await probe({ port })
    assert.equal(await call, 'cba')
    await probes.pop()?.stop()
    const { agent: other, status: its, isIn: isOther } = await bridged(url, headers)
    await assert.rejects(other.connect())
    await isOther('failed')
    assert.match(its().reason ?? '', /Can't reach the MCP server "probe": ECONNREFUSED/)
    assert.match(its().log, /ECONNREFUSED/)
    await probe({
      port,
      before: (_, response) => {
        const error = { code: 1, message: 'no known-secret, no key-of-the-header, token=abcdefgh' }
        return Boolean(response.writeHead(400).end(JSON.stringify({ jsonrpc: '2.0', id: 1, error })))
      },
    })
    const refused = await bridged(url, headers)
    await assert.rejects(refused.agent.connect())
    await refused.isIn('failed')
    assert.equal(refused.status().reason, 'no •••, no •••, token=•••')
    assert.doesNotMatch(refused.status().log, /known-secret|key-of-the-header|abcdefgh/)
    assert.equal(status().state, 'connected')
  })

  for (const type of ['http', 'sse'] as const)
    it(`reconnects it over ${type}, which the agent does not notice`, async () => {
      const calls = join(program.folder, `calls-${type}`)
      const server = await (type === 'http' ? HttpProbe : SseProbe).start({ calls })
      probes.push(server)
      const { agent, status, isIn, restart } = await bridged(server.url, [], type)
      await agent.connect()
      let changed = 0
      agent.client.setNotificationHandler('notifications/tools/list_changed', () => void changed++)
      await isIn('connected')
      const waiting = agent.call('wait')
      await until(() => existsSync(calls), 'the call')
      restart()
      await assert.rejects(waiting, /The user restarted the connection to the MCP server "probe"/)
      await until(() => changed === 1, 'the agent to list the tools again')
      await isIn('connected')
      assert.equal(await agent.call('reverse_text', { text: 'abc' }), 'cba')
      assert.equal(status().log, 'Connected.\nRestarting.\nConnected.\n')
      if (type === 'http') assert.ok(server.requests.some(({ method }) => method === 'DELETE'))
    })

  it('reconnects it to a server that hung when the agent started', async () => {
    let hangs = true
    const server = await probe({ before: () => hangs })
    const { agent, isIn, restart } = await bridged(server.url)
    const connecting = agent.connect()
    await until(() => server.requests.length === 1)
    await isIn('connecting')
    hangs = false
    restart()
    await connecting
    await isIn('connected')
    assert.equal(await agent.call('reverse_text', { text: 'abc' }), 'cba')
  })

  it('reconnects it to a server that did not run when the agent started', async () => {
    const server = await probe()
    const { url, port } = server
    await server.stop()
    const { agent, isIn, restart } = await bridged(url)
    const answers: unknown[] = []
    // the official client would end the bridge
    agent.transport.onmessage = message => answers.push('error' in message)
    await agent.transport.start()
    const clientInfo = { name: 'agent', version: '1' }
    const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo }
    await agent.transport.send({ jsonrpc: '2.0', id: 1, method: 'initialize', params })
    await isIn('failed')
    await until(() => answers.length > 0, 'the answer')
    assert.deepEqual(answers, [true])
    await probe({ port })
    restart()
    await isIn('connected')
    await agent.transport.close()
  })

  it('keeps only the end of its log, and of its tools a limited number', async () => {
    const { agent, status } = await bridged((await probe({ tools: 2500 })).url)
    await agent.connect()
    for (let i = 0; i < 30; i++) await agent.call('count', { to: 0 })
    await agent.client.listTools()
    await until(() => status().tools?.length === 2000)
    const { link, server } = await bridged((await probe()).url)
    const { window } = JSON.parse(server.env.find(({ name }) => name === 'PARLEY_MCP_BRIDGE')!.value)
    const flood = new WindowLink(window, () => {})
    for (let i = 0; i < 100; i++) flood.log(`${i} ${'x'.repeat(5000)}`)
    const log = () => bridges.status(link.id)!.log
    await until(() => log().includes('\n98 '))
    assert.ok(log().length <= 20_000 && log().split('\n').length > 10)
    assert.match(log(), /^\d+ x/)
  })

  it('redacts what it cuts, and survives long texts', async () => {
    const secret = 'a-secret-of-many-characters'
    secrets.add(secret)
    const { link, server } = await bridged((await probe()).url)
    const { window } = JSON.parse(server.env.find(({ name }) => name === 'PARLEY_MCP_BRIDGE')!.value)
    const program = new WindowLink(window, () => {})
    const long = (length: number) => `${'x'.repeat(length - 10)}${secret}`
    const status = () => bridges.status(link.id)!
    program.state('failed', `${long(1000)}${'y'.repeat(5_000_000)}`)
    program.log(`${secret.repeat(200)}`)
    program.log(`${long(1000)}${'y'.repeat(1000)}`)
    const description = `${long(300)}\u0000${'\u0000'.repeat(2000)}`
    const tools = Array.from({ length: 2000 }, (_, i) => ({ name: `tool ${i}`, description }))
    program.tools(tools, false)
    await until(() => status().tools?.length === 2000)
    const { reason = '', log, tools: shown } = status()
    assert.ok(reason.startsWith('xxx') && reason.length <= 1000)
    assert.equal(shown?.[1999]?.name, 'tool 1999')
    assert.ok(shown[1999]?.description?.startsWith('xxx') && shown[1999].description.length <= 300)
    assert.doesNotMatch([reason, log, shown[0]?.description].join(), /a-s|secret/)
    assert.equal(status().state, 'failed')
  })

  it('shows the newest of several programs that run', async () => {
    const { link, server } = await bridged((await probe()).url)
    const { window } = JSON.parse(server.env.find(({ name }) => name === 'PARLEY_MCP_BRIDGE')!.value)
    const is = (state: string, tools?: number) =>
      until(() => {
        const status = bridges.status(link.id)
        return status?.state === state && status.tools?.length === tools
      }, state)
    const program = async () => {
      const channel = new HostChannel(connect(window.socket), MAX_HANDSHAKE_BYTES)
      assert.ok(await greetHost(channel, window.secret))
      return channel
    }
    const first = await program()
    first.send({ type: 'state', state: 'connected' })
    first.send({ type: 'tools', tools: [{ name: 'one' }] })
    await is('connected', 1)
    const newest = await program()
    newest.send({ type: 'state', state: 'failed', reason: 'why' })
    await is('failed')
    first.send({ type: 'tools', tools: [{ name: 'one' }, { name: 'two' }] })
    first.send({ type: 'log', line: 'first' })
    await until(() => bridges.status(link.id)?.log === 'first\n')
    assert.deepEqual(bridges.status(link.id), { state: 'failed', reason: 'why', log: 'first\n' })
    newest.end()
    await is('connected', 2)
    first.end()
    await is('ended', 2)
  })

  it('serves no program without the secret', async () => {
    const { link, server } = await bridged((await probe()).url)
    const { window } = JSON.parse(server.env.find(({ name }) => name === 'PARLEY_MCP_BRIDGE')!.value)
    const stranger = new WindowLink({ ...window, secret: 'guessed' }, () => assert.fail())
    stranger.send({ type: 'state', state: 'connected' })
    const known = new WindowLink(window, () => {})
    known.send({ type: 'state', state: 'failed', reason: 'known' })
    known.send({ type: 'state', state: 'waiting' })
    known.send({ type: 'tools', tools: [{ name: 5 }, null, { name: 'one', title: {} }] })
    await until(() => bridges.status(link.id)?.tools !== undefined)
    assert.deepEqual(bridges.status(link.id), {
      ...{ state: 'failed', reason: 'known', log: '', tools: [{ name: 'one' }] },
    })
  })

  it('can close without an effect on it', async () => {
    const { agent, link } = await bridged((await probe()).url)
    await agent.connect()
    link.dispose()
    assert.equal(bridges.status(link.id), undefined)
    assert.equal(await agent.call('reverse_text', { text: 'abc' }), 'cba')
    bridges.dispose()
    assert.equal(await agent.call('reverse_text', { text: 'abc' }), 'cba')
  })
})

describe('the environment of the bridge', () => {
  const variables = (env: Record<string, string>) => {
    const server = bridgedServer(
      { type: 'http', name: 'it', url: 'https://example.com', headers: [] },
      { execPath: 'node', script: 'bridge' },
      { env, platform: 'linux' },
    )
    return Object.fromEntries(server.env.map(({ name, value }) => [name, value]))
  }

  it('has the proxy, which is not used for this machine', () => {
    const { PARLEY_MCP_BRIDGE, ...rest } = variables({
      https_proxy: 'http://proxy:1',
      NO_PROXY: 'a.test',
      HOME: '/h',
    })
    assert.ok(PARLEY_MCP_BRIDGE)
    assert.deepEqual(rest, {
      ELECTRON_RUN_AS_NODE: '1',
      HTTPS_PROXY: 'http://proxy:1',
      NO_PROXY: 'a.test,127.0.0.1,localhost,::1',
      NODE_USE_ENV_PROXY: '1',
    })
    assert.deepEqual(Object.keys(variables({})), ['ELECTRON_RUN_AS_NODE', 'PARLEY_MCP_BRIDGE'])
  })
})
