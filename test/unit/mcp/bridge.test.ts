import assert from 'node:assert/strict'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { McpServer } from '../../../src/acp/model.ts'
import { bridgedServer } from '../../../src/mcp/bridge/bridged-server.ts'
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
