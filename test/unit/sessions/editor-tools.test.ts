import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createServer, Server } from 'node:net'
import { join } from 'node:path'
import type { Client } from '@modelcontextprotocol/client'
import { RpcError } from '../../../src/acp/errors.ts'
import { redact } from '../../../src/acp/redact.ts'
import { EDITOR_TOOL_NAMES } from '../../../src/common/editor-tool-names.ts'
import { CancelledError } from '../../../src/common/errors.ts'
import { Emitter } from '../../../src/common/event.ts'
import { silentLogger } from '../../../src/common/logger.ts'
import { SecretRegistry } from '../../../src/common/secrets.ts'
import type { PermissionEntry, ToolCallEntry } from '../../../src/conversation/state.ts'
import { PathGuard } from '../../../src/editor/path-guard.ts'
import { allowedTools, EditorTools, type SessionTools } from '../../../src/mcp/server/editor-tools.ts'
import type { ToolConversation } from '../../../src/mcp/server/tool.ts'
import { McpSwitches } from '../../../src/mcp/switches.ts'
import { PermissionRules } from '../../../src/sessions/permission-rules/permission-rules.ts'
import { FakeEditorFeatures } from '../../support/fake-editor-features.ts'
import { connect } from '../../support/tool-rig.ts'
import { toolWorkspace } from '../../support/tool-workspace.ts'
import { until } from '../../support/until.ts'
import { memoryStore, SessionsFixture } from './sessions-fixture.ts'

describe("the editor's tools of a session", () => {
  let folder: string
  let remove: () => void
  let names: readonly string[]
  let loaded: number
  let secrets: SecretRegistry
  let features: FakeEditorFeatures
  let editorTools: EditorTools
  let clients: Client[]
  let switches: McpSwitches
  let unlinked: number
  const changed = new Emitter<void>()

  beforeEach(() => {
    ;({ folder, remove } = toolWorkspace())
    names = EDITOR_TOOL_NAMES
    loaded = 0
    unlinked = 0
    secrets = new SecretRegistry()
    features = new FakeEditorFeatures(folder)
    clients = []
    switches = new McpSwitches(memoryStore(), memoryStore())
    editorTools = window()
  })
  const window = (portMs?: number) =>
    new EditorTools({
      ...(portMs !== undefined && { portMs }),
      features: async () => {
        loaded += 1
        return features
      },
      names: () => names,
      onDidChangeNames: changed.event,
      switches,
      guard: roots => new PathGuard(roots),
      bridge: async ({ name, url }) => ({
        server: { type: 'stdio', name, command: url, args: [], env: [] },
        link: { id: 'link', dispose: () => void unlinked++ },
      }),
      version: '1',
      secrets,
      log: silentLogger,
    })
  afterEach(async () => {
    for (const client of clients) await client.close()
    editorTools.dispose()
    remove()
  })

  const roots = () => ({ cwd: folder, additionalDirectories: [] })
  const offer = (http = true, taken: string[] = [], stdio = false) =>
    editorTools.offer(roots(), { http, stdio }, taken)
  const offered = async (): Promise<SessionTools> => (await offer()).tools!
  const endpointOf = (server: SessionTools['server']) => {
    assert.equal(server.type, 'http')
    const token = server.headers[0]!.value.replace('Bearer ', '')
    return { url: server.url, token }
  }
  const portOf = ({ address }: SessionTools) => {
    assert.ok(address && 'port' in address)
    return address.port
  }
  const clientOf = async ({ server }: SessionTools) => {
    const client = await connect(endpointOf(server))
    clients.push(client)
    return client
  }
  /** A session of a fake agent that has the tools, and a client as the agent's. */
  const session = async () => {
    const fixture = new SessionsFixture()
    const tools = await offered()
    fixture.plan = { ...fixture.plan!, setup: { ...roots(), mcpServers: [tools.server] }, editorTools: tools }
    const starting = fixture.controller.opener.start()
    await until(() => fixture.started.length > 0 && fixture.agent.newSessions.length > 0)
    const client = await clientOf(tools)
    fixture.agent.newSessions[0]?.resolve({ sessionId: 's1' })
    await starting
    const open = fixture.controller.current!
    const entries = <K extends 'permission' | 'tool_call' | 'elicitation'>(kind: K) =>
      open.session.state.entries.filter(entry => entry.kind === kind)
    return { fixture, tools, client, open, entries }
  }
  const rename = (client: Client) =>
    client.callTool({ name: 'rename_symbol', arguments: { name: 'report', new_name: 'summary' } })
  const main = () => readFileSync(join(folder, 'main.ts'), 'utf8')

  it('cost nothing if the agent does not take them or the setting is empty', async () => {
    assert.deepEqual(await offer(false), {})
    names = []
    assert.deepEqual(await offer(), {})
    assert.equal(editorTools.ended({ http: true, stdio: true }), undefined)
    names = ['hover']
    assert.equal(editorTools.ended({ http: true, stdio: true })?.passed, false)
    assert.equal(loaded, 0)
  })

  it('are an MCP server named vscode, unless the user has one', async () => {
    const { tools, note } = await offer()
    const source = 'editor tools'
    assert.deepEqual(note, { name: 'vscode', type: 'http', source, isEditor: true, passed: true })
    assert.equal(tools?.server.name, 'vscode')
    assert.equal((await offer(true, ['other', 'vscode'])).tools?.server.name, 'vscode-editor')
  })

  it('have a prefix if the agent keeps tools with their names from its model', async () => {
    const { tools } = await editorTools.offer(
      roots(),
      { http: true, stdio: true, hiddenTools: ['hover'] },
      [],
    )
    names = ['symbols', 'hover']
    const client = await clientOf(tools!)
    const listed = (await client.listTools()).tools.map(({ name }) => name)
    assert.deepEqual(listed, ['symbols', 'vscode_hover'])
    const answer = await client.callTool({ name: 'vscode_hover', arguments: { name: 'report' } })
    assert.match(JSON.stringify(answer), /report/)
    assert.ok(!answer.isError)
  })

  describe('of an agent that outlives its window', () => {
    let next: EditorTools
    let lost: number
    beforeEach(() => {
      next = window()
      lost = 0
    })
    afterEach(() => next.dispose())
    const resume = ({ address }: SessionTools) => {
      const { tools, note } = next.resume(address!, roots(), { http: true }, 'one/s1', () => void lost++)
      tools.begin({} as ToolConversation, 'one/s1')
      return { tools, note }
    }
    const hover = (client: Client) => client.callTool({ name: 'hover', arguments: { name: 'report' } })

    it('answer in the next one, to the same client, with the same mark of data', async () => {
      const before = await offered()
      const client = await clientOf(before)
      const first = JSON.stringify((await hover(client)).content)
      editorTools.dispose()
      await assert.rejects(hover(client))
      const { tools, note } = resume(before)
      assert.equal(note.passed, true)
      assert.equal(loaded, 1, 'nothing is loaded before the session is shown')
      await tools.reopen!()
      assert.equal(JSON.stringify((await hover(client)).content), first)
      assert.ok(!secrets.redact(endpointOf(before.server).token).includes(endpointOf(before.server).token))
      assert.deepEqual(tools.address, before.address, 'for the window after that')
      assert.equal(lost, 0)
      tools.dispose()
      await assert.rejects(hover(client))
    })

    it('are lost if something else has the port, and answer nobody there', async () => {
      next.dispose()
      next = window(0)
      const before = await offered()
      const other = await offered()
      before.dispose()
      let changes = 0
      const { tools } = resume(before)
      tools.onDidChange(() => changes++)
      await tools.reopen!()
      assert.deepEqual([lost, changes], [1, 1])
      await assert.rejects(connect(endpointOf(before.server)))
      await clientOf(other)
    })

    it('have their port freed right before it is served', async () => {
      const before = await offered()
      const client = await clientOf(before)
      const port = portOf(before)
      editorTools.dispose()
      await assert.rejects(hover(client))
      const holder = createServer(socket => socket.destroy())
      await new Promise<void>(resolve => holder.listen({ host: '127.0.0.1', port }, resolve))
      const freed: number[] = []
      const free = async (one: number) => {
        freed.push(one)
        await new Promise(resolve => holder.close(resolve))
      }
      const again = [resume(before).tools, resume(before).tools]
      await Promise.all(again.map(tools => tools.reopen!(free)))
      assert.deepEqual(freed, [port, port], 'whoever holds it hears of each agent')
      assert.equal(lost, 0)
      assert.ok(!(await hover(client)).isError)
    })

    it('wait for a window that is about to close', async () => {
      const before = await offered()
      const client = await clientOf(before)
      const { tools } = resume(before)
      const reopening = tools.reopen!()
      editorTools.dispose()
      await reopening
      assert.equal(lost, 0)
      assert.ok(!(await hover(client)).isError)
    })

    it('wait for a port that a busy machine frees late', async () => {
      const before = await offered()
      const client = await clientOf(before)
      const port = portOf(before)
      editorTools.dispose()
      const holder = createServer(socket => socket.destroy())
      await new Promise<void>(resolve => holder.listen({ host: '127.0.0.1', port }, resolve))
      let tries = 0
      const { listen } = Server.prototype
      Server.prototype.listen = function (this: Server, ...args: unknown[]) {
        if (++tries === 15) holder.close()
        return Reflect.apply(listen, this, args)
      } as typeof listen
      try {
        await resume(before).tools.reopen!()
      } finally {
        Server.prototype.listen = listen
        holder.close()
      }
      assert.equal(lost, 0)
      assert.ok(!(await hover(client)).isError)
    })

    it('share the port that their agents know with new ones', async () => {
      const [one, two] = [await offered(), await offered()]
      const clients = [await clientOf(one), await clientOf(two)]
      editorTools.dispose()
      for (const client of clients) await assert.rejects(hover(client))
      const again = [resume(one).tools, resume(two).tools]
      await Promise.all(again.map(tools => tools.reopen!()))
      for (const client of clients) assert.ok(!(await hover(client)).isError)
      const { tools } = await next.offer(roots(), { http: true, stdio: true }, [])
      assert.equal(portOf(tools!), portOf(one))
      for (const tools of again) tools.dispose()
      assert.equal(lost, 0)
    })
  })

  describe('of an agent that reaches them through its connection', () => {
    const META = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientCapabilities': {},
    }
    const HOVER = { name: 'hover', arguments: { name: 'report' } }
    const RENAME = { name: 'rename_symbol', arguments: { name: 'report', new_name: 'summary' } }
    let listening: number
    let sent: Array<[method: string, params: unknown]>
    let count: number
    const { listen } = Server.prototype
    beforeEach(() => {
      listening = 0
      sent = []
      count = 0
      Server.prototype.listen = function (...options: unknown[]) {
        listening += 1
        return Reflect.apply(listen, this, options)
      }
    })
    afterEach(() => {
      Server.prototype.listen = listen
    })
    const all = { http: true, stdio: true, acp: true as const, agentId: 'one' }
    const begin = async () => {
      const { tools, note } = await editorTools.offer(roots(), all, [])
      assert.equal(tools?.server.type, 'acp')
      return { tools, note, serverId: tools.server.serverId }
    }
    const ask = (
      serverId: string,
      method: string,
      params: object = {},
      {
        from = editorTools,
        agent = 'one',
        signal = new AbortController().signal,
        requestId = `r${++count}`,
      } = {},
    ) =>
      from.message(
        agent,
        { serverId, requestId, method, params: { _meta: META, ...params } },
        signal,
        (about, details) => sent.push([about, details]),
      )
    const refused = (code: number) => (error: unknown) => error instanceof RpcError && error.code === code

    it('are an MCP server without a port', async () => {
      const { tools, note, serverId } = await begin()
      const source = 'editor tools'
      assert.deepEqual(note, { name: 'vscode', type: 'acp', source, isEditor: true, passed: true })
      assert.deepEqual(tools.server, { type: 'acp', name: 'vscode', serverId })
      assert.match(JSON.stringify(await ask(serverId, 'server/discover')), /Prefer them to a text search/)
      const listed = JSON.stringify(await ask(serverId, 'tools/list'))
      for (const name of EDITOR_TOOL_NAMES) assert.ok(listed.includes(`"name":"${name}"`), name)
      const answer = JSON.stringify(await ask(serverId, 'tools/call', HOVER))
      assert.match(answer, /report/)
      assert.ok(!answer.includes('"isError":true'))
      assert.equal(listening, 0)
      // an agent that can't still gets the port
      await offered()
      assert.equal(listening, 1)
    })

    it('tell when they are turned off, until the agent stops listening', async () => {
      const { tools, serverId } = await begin()
      const stop = new AbortController()
      const requestId = 'listening'
      const notifications = { toolsListChanged: true }
      const over = ask(
        serverId,
        'subscriptions/listen',
        { notifications },
        { signal: stop.signal, requestId },
      )
      over.catch(() => {})
      await until(() => sent.length === 1, 'the confirmation')
      tools.turn(false)
      await until(() => sent.some(([method]) => method === 'notifications/tools/list_changed'), 'the news')
      assert.match(JSON.stringify(await ask(serverId, 'tools/call', HOVER)), /turned it off for this session/)
      await assert.rejects(ask(serverId, 'tools/list', {}, { requestId }), refused(-32602))
      stop.abort()
      await assert.rejects(over, CancelledError)
    })

    it('refuse what is no request of their revision of MCP, too much at once, and other servers', async () => {
      const { tools, serverId } = await begin()
      const old = { ...META, 'io.modelcontextprotocol/protocolVersion': '2025-06-18' }
      for (const [params, code] of [
        [{ _meta: undefined }, -32602],
        [{ _meta: old }, -32022],
      ] as const) {
        const outcome = await ask(serverId, 'tools/list', params)
        assert.equal('error' in outcome && outcome.error.code, code)
      }
      const unknown = await ask(serverId, 'x y')
      assert.equal('error' in unknown && unknown.error.code, -32601)
      features.hover = () => new Promise(() => {})
      const stop = new AbortController()
      const busy = Array.from({ length: 64 }, () =>
        ask(serverId, 'tools/call', HOVER, { signal: stop.signal }).catch(error => error),
      )
      await assert.rejects(ask(serverId, 'tools/list'), refused(-33_000))
      stop.abort()
      for (const error of await Promise.all(busy)) assert.ok(error instanceof CancelledError)
      await assert.rejects(ask(serverId, 'tools/call', { x: 'x'.repeat(3_000_000) }), refused(-33_000))
      await assert.rejects(ask('other', 'tools/list'), refused(-33_001))
      // another agent may have read the id, such as in a log
      await assert.rejects(ask(serverId, 'tools/list', {}, { agent: 'other' }), refused(-33_001))
      const open = ask(serverId, 'tools/call', HOVER)
      tools.dispose()
      await assert.rejects(open, refused(-33_001))
      await assert.rejects(ask(serverId, 'tools/list'), refused(-33_001))
    })

    it('wait for the next window, which does nothing twice', async () => {
      const { tools: before, serverId } = await begin()
      const first = await ask(serverId, 'tools/call', HOVER)
      const next = window()
      editorTools.dispose()
      const { tools, note } = next.resume(before.address!, roots(), all, 'one/s1', () => assert.fail())
      tools.begin({} as ToolConversation, 'one/s1')
      assert.deepEqual([note.type, note.passed, note.isBridged], ['acp', true, undefined])
      const [hover, rename] = [HOVER, RENAME].map(call => ask(serverId, 'tools/call', call, { from: next }))
      const gone = new AbortController()
      const withdrawn = ask(serverId, 'tools/list', {}, { from: next, signal: gone.signal })
      gone.abort()
      await assert.rejects(withdrawn, CancelledError)
      assert.equal(loaded, 1, 'nothing is loaded before the session is shown')
      await tools.reopen!()
      assert.deepEqual(await hover, first, 'with the same mark of data')
      assert.match(JSON.stringify(await rename), /may have been carried out already/)
      assert.doesNotMatch(main(), /summary/)
      assert.deepEqual(tools.address, before.address)
      assert.equal(listening, 0)
      next.dispose()
      await assert.rejects(ask(serverId, 'tools/list', {}, { from: next }), refused(-33_001))
    })
  })

  it('are bridged for an agent that can only run commands', async () => {
    const { tools, note } = await offer(false, [], true)
    assert.equal(tools?.server.type, 'stdio')
    assert.equal(note?.isBridged, true)
    assert.equal(note?.link, 'link')
    tools?.dispose()
    assert.equal(unlinked, 1)
  })

  it('are not offered, with the reason, if the editor fails', async () => {
    const failing = new EditorTools({
      features: () => Promise.reject(new Error('broken')),
      names: () => ['hover'],
      onDidChangeNames: changed.event,
      switches,
      guard: one => new PathGuard(one),
      bridge: () => Promise.reject(new Error('no bridge')),
      version: '1',
      secrets,
      log: silentLogger,
    })
    const { tools, note } = await failing.offer(roots(), { http: true, stdio: true }, [])
    assert.equal(tools, undefined)
    assert.equal(note?.passed, false)
    assert.match(note?.reason ?? '', /broken/)
    failing.dispose()
  })

  it('have a token that appears in no log, trace or saved conversation', async () => {
    const { server } = await offered()
    const { token } = endpointOf(server)
    const frame = {
      jsonrpc: '2.0',
      id: 1,
      method: 'session/new',
      params: { cwd: folder, mcpServers: [server] },
    }
    assert.ok(JSON.stringify(frame).includes(token))
    // as the view of protocol traffic writes it, and without the names of the fields
    const shown = secrets.redactJson(JSON.stringify(redact(frame, { secrets })))
    assert.ok(!shown.includes(token), shown)
    for (const text of [
      `Bearer ${token}`,
      `curl -H 'Authorization: ${token}'`,
      encodeURIComponent(`x ${token}`),
    ])
      assert.ok(!secrets.redact(text).includes(token))
    assert.ok(
      !JSON.stringify(secrets.redactAll({ content: [{ text: `my token is ${token}` }] })).includes(token),
    )
    const said = secrets.stream()
    assert.ok(![said.push(token.slice(0, 9)), said.push(token.slice(9)), said.end()].join('').includes(token))
  })

  it('end with the session, and the listener with the last one', async () => {
    const [one, two] = [await offered(), await offered()]
    assert.equal(new URL(endpointOf(one.server).url).port, new URL(endpointOf(two.server).url).port)
    const client = await clientOf(two)
    one.dispose()
    await assert.rejects(connect(endpointOf(one.server)))
    assert.equal((await client.listTools()).tools.length, EDITOR_TOOL_NAMES.length)
    two.dispose()
    const isClosed = () =>
      fetch(endpointOf(two.server).url).then(
        () => false,
        () => true,
      )
    await until(isClosed, 'the listener to end')
    // and begins again
    assert.equal((await (await clientOf(await offered())).listTools()).tools.length, EDITOR_TOOL_NAMES.length)
  })

  it('end if the session could not be started', async () => {
    const fixture = new SessionsFixture()
    const tools = await offered()
    fixture.plan = { ...fixture.plan!, editorTools: tools }
    const starting = fixture.controller.opener.start()
    await until(() => fixture.started.length > 0 && fixture.agent.newSessions.length > 0)
    fixture.agent.newSessions[0]?.reject(new Error('no'))
    await starting
    await assert.rejects(connect(endpointOf(tools.server)))
  })

  it('end when the agent does', async () => {
    const { fixture, tools } = await session()
    fixture.agent.exit()
    await assert.rejects(connect(endpointOf(tools.server)))
  })

  it('follow the setting, and are turned off and on for a session', async () => {
    const tools = await offered()
    const client = await clientOf(tools)
    names = ['hover', 'unknown']
    changed.fire()
    assert.deepEqual(
      (await client.listTools()).tools.map(({ name }) => name),
      ['hover'],
    )
    tools.turn(false)
    assert.deepEqual((await client.listTools()).tools, [])
    const refused = await client.callTool({ name: 'hover', arguments: { name: 'report' } })
    assert.match(JSON.stringify(refused), /turned it off for this session/)
    tools.turn(true)
    assert.equal((await client.listTools()).tools.length, 1)
  })

  it("ask in the conversation before they change files, which are the session's changes", async () => {
    const { client, open, entries } = await session()
    const call = rename(client)
    await until(() => entries('permission').length === 1, 'the question')
    const [question] = entries('permission') as PermissionEntry[]
    const [shown] = entries('tool_call') as ToolCallEntry[]
    assert.equal(shown?.title, 'Rename report to summary')
    assert.equal(shown?.toolKind, 'edit')
    assert.equal(question?.toolCallId, shown?.toolCallId)
    assert.doesNotMatch(main(), /summary/)
    assert.ok(open.session.requests.answerPermission(question!.requestId, 'once'))
    assert.match(JSON.stringify(await call), /Changed and saved 1 file/)
    assert.match(main(), /function summary/)
    assert.equal((entries('tool_call') as ToolCallEntry[])[0]?.status, 'completed')
    await until(() => open.changes.list().length === 1, 'the change')
    assert.equal(open.changes.list()[0]?.path, join(folder, 'main.ts'))
  })

  it('change nothing if the user rejects it', async () => {
    const { client, open, entries } = await session()
    const call = rename(client)
    await until(() => entries('permission').length === 1, 'the question')
    const [question] = entries('permission') as PermissionEntry[]
    open.session.requests.answerPermission(question!.requestId, 'refuse')
    const { content, isError } = await call
    assert.ok(isError)
    assert.match(JSON.stringify(content), /rejected it. Nothing was done/)
    assert.doesNotMatch(main(), /summary/)
    assert.equal(open.changes.list().length, 0)
  })

  it('obey permission rules', async () => {
    const { client, open, entries } = await session()
    let rules: object[] = [{ tool: 'vscode.rename_symbol', action: 'allow' }]
    const answerBy = () =>
      new PermissionRules({
        settings: { layers: () => [{ scope: 'user', value: rules }], onDidChange: new Emitter<void>().event },
        trusted: () => true,
        log: silentLogger,
      }).answersFor('one', () => ({ roots: roots() }))
    open.session.requests.answerByRule = answerBy()
    assert.match(JSON.stringify(await rename(client)), /Changed and saved/)
    assert.match(main(), /function summary/)
    rules = [{ tool: 'vscode.*', action: 'reject' }]
    open.session.requests.answerByRule = answerBy()
    const back = await client.callTool({
      name: 'rename_symbol',
      arguments: { name: 'summary', new_name: 'x' },
    })
    assert.match(JSON.stringify(back), /rule of the user, rejected/)
    // a rule for edits in a folder fits, too
    rules = [{ kind: 'edit', path: '*.ts', action: 'allow' }]
    open.session.requests.answerByRule = answerBy()
    await client.callTool({ name: 'rename_symbol', arguments: { name: 'summary', new_name: 'again' } })
    assert.match(main(), /function again/)
    // but a task runs what no other rule knows
    features.tasksOfWorkspace = [{ name: 'test', source: 'npm', command: 'npm test' }]
    rules = [
      { kind: 'execute', action: 'allow' },
      { command: 'npm test **', action: 'allow' },
    ]
    open.session.requests.answerByRule = answerBy()
    const asked = () => (entries('permission') as PermissionEntry[]).filter(({ outcome }) => !outcome)
    const run = client.callTool({ name: 'run_task', arguments: { name: 'test' } })
    await until(() => asked().length === 1, 'the question about the task')
    open.session.requests.answerPermission(asked()[0]!.requestId, 'refuse')
    await run
    assert.deepEqual(features.ran, [])
    rules = [{ tool: 'vscode.run_task', action: 'allow' }]
    open.session.requests.answerByRule = answerBy()
    await client.callTool({ name: 'run_task', arguments: { name: 'test' } })
    assert.deepEqual(features.ran, ['test'])
  })

  it('stay turned off for a session that is opened again, and for its forks', async () => {
    const { tools, client, open } = await session()
    const hanging = new Promise<never>(() => {})
    let asked = 0
    features.symbols = () => {
      asked += 1
      return hanging
    }
    const call = client.callTool({ name: 'symbols', arguments: { query: 'x' } })
    await until(() => asked === 1, 'the call')
    tools.turn(false)
    assert.match(JSON.stringify(await call), /turned it off/)
    const again = async (key: string) =>
      (await editorTools.offer(roots(), { http: true, stdio: false }, [], key)).tools!
    assert.equal((await offered()).isOn, true)
    const fork = await again(open.key)
    assert.equal(fork.isOn, false)
    fork.begin({} as never, 'one/fork')
    assert.equal((await again('one/fork')).isOn, false)
    tools.turn(true)
    assert.equal((await again(open.key)).isOn, true)
    assert.equal((await again('one/fork')).isOn, false)
  })

  it('are those that the user allows; a workspace can only take some away', () => {
    const of = (user: unknown, workspace?: unknown, folder?: unknown) =>
      allowedTools([
        { scope: 'default', value: ['hover', 'symbols', 'run_task'] },
        ...(user === undefined ? [] : [{ scope: 'user' as const, value: user }]),
        ...(workspace === undefined ? [] : [{ scope: 'workspace' as const, value: workspace }]),
        ...(folder === undefined ? [] : [{ scope: 'folder' as const, value: folder }]),
      ])
    assert.deepEqual(of(undefined, ['hover']), ['hover'])
    assert.deepEqual(of([], ['hover', 'run_task']), [])
    assert.deepEqual(of(['hover', 'symbols'], ['symbols', 'run_task']), ['symbols'])
    assert.deepEqual(of(['hover', 'symbols'], undefined, []), [])
    assert.deepEqual(of(['hover'], 'wrong'), ['hover'])
    assert.deepEqual(allowedTools([]), EDITOR_TOOL_NAMES)
  })

  it('ask the user in the conversation', async () => {
    const { client, open, entries } = await session()
    const call = client.callTool({ name: 'ask_user', arguments: { question: 'Which?', choices: ['a', 'b'] } })
    await until(() => entries('elicitation').length === 1, 'the question')
    const [question] = open.session.requests.open
    assert.ok(
      open.session.requests.answerElicitation(question!.requestId, {
        action: 'accept',
        content: { answer: 'b' },
      }),
    )
    assert.match(JSON.stringify(await call), /The user answered: b/)
  })
})
