import assert from 'node:assert/strict'
import { AgentRequestError } from '../../../src/acp/agent.ts'
import { McpCode, RpcError } from '../../../src/acp/errors.ts'
import type { AuthStatus, McpRequest, SessionSetup } from '../../../src/acp/model.ts'
import { CancelledError } from '../../../src/common/errors.ts'
import { memoryAgent } from '../../support/memory-agent.ts'
import { until } from '../../support/until.ts'

const words = [{ type: 'text' as const, text: 'Be brief.' }]
const SETUP: SessionSetup = { cwd: '/work', additionalDirectories: [], mcpServers: [] }

const session = { fork: {}, title: {}, archive: {}, status: {}, systemPrompt: {} }
const auth = { status: {} }
const ANSWERS = {
  1: {
    agentCapabilities: {
      providers: {},
      auth,
      sessionCapabilities: { ...session, list: {}, resume: {} },
      loadSession: true,
    },
  },
  2: { info: { name: 'a', version: '1' }, capabilities: { providers: {}, auth, session } },
}

for (const version of [1, 2] as const) {
  describe(`unstable features of v${version}`, () => {
    const schema = { version, unstable: true }
    const capable = () => memoryAgent(ANSWERS[version], {}, schema)

    /** Starts a request and sends the agent's response; returns both. */
    async function exchange<T>(
      { pipe }: ReturnType<typeof capable>,
      start: Promise<T> | undefined,
      method: string,
      result: unknown,
    ): Promise<{ params: unknown; value: T }> {
      assert.ok(start)
      const { id, params } = await pipe.waitForMethod(method)
      pipe.send({ id, result })
      return { params, value: await start }
    }

    it('are used only if the agent has the capability', async () => {
      const bare = version === 1 ? {} : { info: { name: 'a' }, capabilities: { session: {} } }
      const { agent, pipe } = memoryAgent(bare, {}, schema)
      const requests = [
        agent.forkSession?.('s', SETUP),
        agent.setSessionTitle?.('s', 'T'),
        agent.archiveSession?.('s'),
        agent.unarchiveSession?.('s'),
        agent.sessionStatus?.('s'),
        agent.authStatus?.(),
        agent.listProviders?.(),
        agent.setProvider?.('p', { apiType: 'openai', baseUrl: 'https://a.test' }),
        agent.disableProvider?.('p'),
      ]
      for (const request of requests) {
        await assert.rejects(
          request ?? Promise.resolve(),
          error => error instanceof AgentRequestError && error.kind === 'unsupported',
        )
      }
      assert.deepEqual(pipe.sent, [])
      const { fork, setTitle, archive, sessionStatus, authStatus, providers, systemPrompt } =
        agent.capabilities
      assert.deepEqual(
        [fork, setTitle, archive, sessionStatus, authStatus, providers, systemPrompt],
        Array(7).fill(undefined),
      )
    })

    it('_session/steering adds a prompt to the running turn', async () => {
      const memory = memoryAgent(
        { ...ANSWERS[version], _meta: { steering: { supported: true } } },
        {},
        schema,
      )
      assert.equal(memory.agent.capabilities.steering, true)
      for (const outcome of ['injected', 'promptRequired', 'failed', 'startedNewTurn'] as const) {
        const steered = memory.agent.steer?.('s', [{ type: 'text', text: 'Stop.' }])
        const { params, value } = await exchange(memory, steered, '_session/steering', { outcome })
        assert.deepEqual(params, {
          sessionId: 's',
          prompt: [{ type: 'text', text: 'Stop.' }],
          _meta: { steering: { idleBehavior: 'promptRequired' } },
        })
        assert.equal(value, outcome)
      }
      const odd = memory.agent.steer?.('s', [{ type: 'text', text: 'Stop.' }])
      await assert.rejects(exchange(memory, odd, '_session/steering', { outcome: 'maybe' }), /didn't say/)
      const bare = memoryAgent({ ...ANSWERS[version], _meta: { steering: true } }, {}, schema)
      assert.equal(bare.agent.capabilities.steering, undefined)
      await assert.rejects(
        bare.agent.steer?.('s', [{ type: 'text', text: 'x' }]) ?? Promise.resolve(),
        /can't/,
      )
    })

    it('session/fork starts a session with the conversation of another', async () => {
      const memory = capable()
      const fork = memory.agent.forkSession?.('s', SETUP)
      const { params, value } = await exchange(memory, fork, 'session/fork', { sessionId: 'copy' })
      assert.deepEqual(params, { sessionId: 's', cwd: '/work', mcpServers: [] })
      assert.deepEqual(value, { sessionId: 'copy' })
    })

    it('session/fork ends at a message only with a version of claude-agent-acp that was measured', async () => {
      const agentInfo = (name: string, number: string) => {
        const info = { name, version: number }
        return version === 1
          ? { agentInfo: info, agentCapabilities: { sessionCapabilities: { fork: {} } } }
          : { info, capabilities: { session: { fork: {} } } }
      }
      const name = '@agentclientprotocol/claude-agent-acp'
      const memory = memoryAgent(agentInfo(name, '0.101.0'), {}, schema)
      assert.equal(memory.agent.capabilities.forkAtMessage, true)
      const fork = memory.agent.forkSession?.('s', SETUP, undefined, undefined, 'm7')
      const { params } = await exchange(memory, fork, 'session/fork', { sessionId: 'copy' })
      assert.deepEqual(params, {
        ...{ sessionId: 's', cwd: '/work', mcpServers: [] },
        _meta: { jetbrains: { air: { fork: { version: 1, messageId: 'm7' } } } },
      })
      for (const [other, number] of [
        [name, '0.100.9'],
        [name, 'next'],
        ['codex-acp', '2.6.0'],
        ['not-claude-agent-acp', '1.0.0'],
      ] as const) {
        const { capabilities } = memoryAgent(agentInfo(other, number), {}, schema).agent
        assert.deepEqual([capabilities.fork, capabilities.forkAtMessage], [true, undefined], other + number)
      }
    })

    it('mcp/message reaches a server of the client, which a session got without an address', async () => {
      const mcp = version === 1 ? { http: true, acp: true } : { http: {}, acp: {} }
      const answer =
        version === 1
          ? { agentCapabilities: { mcpCapabilities: mcp } }
          : { capabilities: { session: { mcp } } }
      const asked: McpRequest[] = []
      let release = () => {}
      const { agent, pipe } = memoryAgent(
        answer,
        {
          mcpMessage: async (request, signal, notify) => {
            asked.push(request)
            if (request.method === 'gone') throw new RpcError(McpCode.unavailable, 'It is gone.')
            if (request.method === 'ping') return { error: { code: -32601, message: 'No', data: null } }
            notify('notifications/progress', { progress: 1 })
            await new Promise<void>((resolve, reject) => {
              release = resolve
              signal.addEventListener('abort', () => reject(new CancelledError()))
            })
            return { result: null }
          },
        },
        schema,
      )
      assert.equal(agent.capabilities.mcp.acp, true)
      const server = { type: 'acp' as const, name: 'vscode', serverId: 'x' }
      const start = agent.newSession({ ...SETUP, mcpServers: [server] })
      const { id, params } = await pipe.waitForMethod('session/new')
      assert.deepEqual((params as { mcpServers: unknown }).mcpServers, [server])
      pipe.send({ id, result: { sessionId: 's' } })
      await start

      const ask = (requestId: string, method: string, params?: unknown) =>
        pipe.send({
          id: requestId,
          method: 'mcp/message',
          params: { serverId: 'x', requestId, method, params },
        })
      ask('1', 'tools/call', { name: 'hover' })
      const note = await pipe.waitFor(frame => frame.method === 'mcp/message')
      const about = {
        serverId: 'x',
        requestId: '1',
        method: 'notifications/progress',
        params: { progress: 1 },
      }
      assert.deepEqual([note.id, note.params], [undefined, about])
      release()
      assert.deepEqual((await pipe.responseTo('1')).result, { result: null })
      ask('2', 'tools/call', null)
      await until(() => asked.length === 2)
      pipe.send({ method: '$/cancel_request', params: { requestId: '2' } })
      assert.equal((await pipe.responseTo('2')).error?.code, -32800)
      ask('3', 'ping')
      assert.deepEqual((await pipe.responseTo('3')).result, {
        error: { code: -32601, message: 'No', data: null },
      })
      ask('4', 'gone')
      assert.equal((await pipe.responseTo('4')).error?.code, -33001)
      for (const wrong of [{ params: [] }, { method: 5 }, { serverId: 'x'.repeat(5000) }]) {
        pipe.send({
          id: 'wrong',
          method: 'mcp/message',
          params: { serverId: 'x', requestId: 'w', method: 'ping', ...wrong },
        })
        assert.equal((await pipe.responseTo('wrong')).error?.code, -32602)
        pipe.sent.length = 0
      }
      assert.deepEqual(
        asked.map(({ method, params }) => [method, params]),
        [
          ['tools/call', { name: 'hover' }],
          ['tools/call', undefined],
          ['ping', undefined],
          ['gone', undefined],
        ],
      )
      const other = memoryAgent(ANSWERS[version], {}, schema)
      assert.equal(other.agent.capabilities.mcp.acp, undefined)
      void other.agent.newSession({ ...SETUP, mcpServers: [server] }).catch(() => {})
      const plain = await other.pipe.waitForMethod('session/new')
      assert.deepEqual((plain.params as { mcpServers: unknown }).mcpServers, [])
    })

    it('Gemini CLI hides each tool called `ask_user`', () => {
      const hidden = (name: string) => {
        const info = version === 1 ? { agentInfo: { name, version: '1' } } : { info: { name, version: '1' } }
        return memoryAgent(info, {}, schema).agent.capabilities.hiddenTools
      }
      assert.deepEqual([hidden('gemini-cli'), hidden('other')], [['ask_user'], undefined])
    })

    it('session/set_title returns the title that the agent accepted', async () => {
      const memory = capable()
      const rename = memory.agent.setSessionTitle?.('s', 'mine')
      const { params, value } = await exchange(memory, rename, 'session/set_title', { title: 'Mine' })
      assert.deepEqual(params, { sessionId: 's', title: 'mine' })
      assert.equal(value, 'Mine')
    })

    it('session/archive, session/unarchive and lists of archived sessions', async () => {
      const memory = capable()
      assert.deepEqual(
        (await exchange(memory, memory.agent.archiveSession?.('s'), 'session/archive', {})).params,
        { sessionId: 's' },
      )
      assert.deepEqual(
        (await exchange(memory, memory.agent.unarchiveSession?.('s'), 'session/unarchive', {})).params,
        { sessionId: 's' },
      )
      const list = memory.agent.listSessions({ archived: 'only' })
      const { params, value } = await exchange(memory, list, 'session/list', {
        sessions: [{ sessionId: 's', cwd: '/work', archived: true }],
      })
      assert.deepEqual(params, { archived: 'only' })
      assert.deepEqual(value.sessions, [
        { sessionId: 's', cwd: '/work', additionalDirectories: [], archived: true },
      ])
    })

    it('session/status reports the state of a session', async () => {
      const memory = capable()
      const status = memory.agent.sessionStatus?.('s')
      const { value } = await exchange(memory, status, 'session/status', {
        status: 'open',
        state: { state: 'running' },
      })
      assert.deepEqual(value, { status: 'open', activity: 'running' })
    })

    it('auth/status is requested, and reported when it changes', async () => {
      const memory = capable()
      const reported: AuthStatus[] = []
      memory.agent.onAuthStatus?.(status => reported.push(status))
      const { value } = await exchange(memory, memory.agent.authStatus?.(), 'auth/status', {
        state: 'authenticated',
        accounts: [{ label: 'me', active: true, name: null, email: 'me@a.test', organization: 'A' }, 5],
      })
      assert.deepEqual(value, {
        state: 'authenticated',
        accounts: [{ label: 'me', active: true, email: 'me@a.test', organization: 'A' }],
      })
      memory.pipe.send({ method: 'auth/status_update', params: { state: '_away' } })
      memory.pipe.send({ method: 'auth/status_update', params: {} })
      await until(() => reported.length === 1)
      assert.deepEqual(reported, [{ state: '_away', accounts: [] }])
    })

    it('providers are listed, set and disabled', async () => {
      const memory = capable()
      const { value } = await exchange(memory, memory.agent.listProviders?.(), 'providers/list', {
        providers: [
          {
            providerId: 'main',
            supported: ['anthropic', '_own'],
            required: true,
            current: { apiType: 'anthropic', baseUrl: 'https://a.test' },
          },
          { providerId: 'other', supported: [], required: false, current: null },
          {},
        ],
      })
      assert.deepEqual(value, [
        {
          providerId: 'main',
          supported: ['anthropic', '_own'],
          required: true,
          current: { apiType: 'anthropic', baseUrl: 'https://a.test' },
        },
        { providerId: 'other', supported: [], required: false },
      ])
      const config = { apiType: 'openai', baseUrl: 'https://b.test', headers: { K: 'v' } }
      const set = memory.agent.setProvider?.('main', config)
      assert.deepEqual((await exchange(memory, set, 'providers/set', {})).params, {
        providerId: 'main',
        ...config,
      })
      const disable = memory.agent.disableProvider?.('main')
      assert.deepEqual((await exchange(memory, disable, 'providers/disable', null)).params, {
        providerId: 'main',
      })
    })

    it('a system prompt is sent in the way the agent supports', async () => {
      const memory = capable()
      const start = (mode: 'append' | 'override') =>
        memory.agent.newSession({ ...SETUP, systemPrompt: { mode, content: words } })
      const first = await exchange(memory, start('append'), 'session/new', { sessionId: 's' })
      assert.deepEqual(first.params, {
        cwd: '/work',
        mcpServers: [],
        systemPrompt: { mode: 'append', content: words },
      })
      const resume = memory.agent.resumeSession('s', {
        ...SETUP,
        systemPrompt: { mode: 'override', content: words },
      })
      const second = await exchange(memory, resume, 'session/resume', {})
      assert.deepEqual(second.params, { sessionId: 's', cwd: '/work', mcpServers: [] })
      assert.deepEqual(memory.agent.capabilities.systemPrompt, { override: false })
    })

    it('a system prompt is also sent when a session is loaded or resumed', async () => {
      const [loading, resuming] = [capable(), capable()]
      const systemPrompt = { mode: 'append' as const, content: words }
      const [setup, sent] = [
        { ...SETUP, systemPrompt },
        { sessionId: 's', cwd: '/work', mcpServers: [], systemPrompt },
      ]
      const load = loading.agent.loadSession('s', setup)
      const loaded = await exchange(loading, load, version === 1 ? 'session/load' : 'session/resume', {})
      assert.deepEqual(loaded.params, version === 1 ? sent : { ...sent, replayFrom: { type: 'start' } })
      const resume = resuming.agent.resumeSession('s', setup)
      assert.deepEqual((await exchange(resuming, resume, 'session/resume', {})).params, sent)
    })

    it("a system prompt replaces the agent's own only if the agent allows it", async () => {
      const systemPrompt = { mode: { override: {} } }
      const { agent, pipe } = memoryAgent(
        version === 1
          ? { agentCapabilities: { sessionCapabilities: { systemPrompt } } }
          : { info: { name: 'a', version: '1' }, capabilities: { session: { systemPrompt } } },
        {},
        schema,
      )
      assert.deepEqual(agent.capabilities.systemPrompt, { override: true })
      const start = agent.newSession({ ...SETUP, systemPrompt: { mode: 'override', content: words } })
      const { id, params } = await pipe.waitForMethod('session/new')
      assert.deepEqual(params.systemPrompt, { mode: 'override', content: words })
      pipe.send({ id, result: { sessionId: 's' } })
      await start
    })

    it('updates of subagents, messages between sessions and plans are kept', async () => {
      const { pipe, updates } = capable()
      const updatesSent = [
        { sessionUpdate: 'subagent_update', sessionId: 'child', title: 'Child' },
        { sessionUpdate: 'session_message', messageId: 'm', senderSessionId: 'child', content: words },
        { sessionUpdate: 'session_message_chunk', messageId: 'm', content: words[0] },
        { sessionUpdate: 'plan_update', plan: { type: 'markdown', planId: 'p', content: '# P' } },
        { sessionUpdate: 'plan_removed', planId: 'p' },
      ]
      for (const update of updatesSent) {
        pipe.send({ method: 'session/update', params: { sessionId: 's', update } })
      }
      await until(() => updates.length === updatesSent.length)
      assert.deepEqual(
        updates.map(({ update }) => update),
        [
          { type: 'subagent', subagent: { sessionId: 'child', title: 'Child' } },
          { type: 'session_message', message: { messageId: 'm', from: 'child', content: words } },
          { type: 'session_message_chunk', messageId: 'm', content: words[0] },
          { type: 'plan', plan: { planId: 'p', entries: [], markdown: '# P' } },
          { type: 'plan_removed', planId: 'p' },
        ],
      )
    })

    it("a subagent's state is reported, including cleared values but not malformed ones", async () => {
      const { pipe, updates } = capable()
      const states = [
        { state: 'running' },
        { state: 'requires_action' },
        { state: 'idle', stopReason: 'error', error: { code: 7, message: 'broken' } },
        { state: 'unknown' },
        null,
        { no: 'state' },
      ]
      for (const state of states) {
        pipe.send({
          method: 'session/update',
          params: {
            sessionId: 's',
            update: { sessionUpdate: 'subagent_update', sessionId: 'child', state },
          },
        })
      }
      const update = {
        sessionUpdate: 'subagent_update',
        sessionId: 'child',
        title: null,
        description: 7,
        capabilities: { cancel: {} },
        cwd: '/w',
        additionalDirectories: ['/x'],
      }
      pipe.send({ method: 'session/update', params: { sessionId: 's', update } })
      await until(() => updates.length === states.length + 1)
      assert.deepEqual(
        updates.map(reported => reported.update.type === 'subagent' && reported.update.subagent),
        [
          { sessionId: 'child', state: { activity: 'running' } },
          { sessionId: 'child', state: { activity: 'requires_action' } },
          {
            sessionId: 'child',
            state: { activity: 'idle', stopReason: 'error', error: { code: 7, message: 'broken' } },
          },
          { sessionId: 'child', state: { activity: 'unknown' } },
          { sessionId: 'child', state: null },
          { sessionId: 'child' },
          {
            sessionId: 'child',
            title: null,
            canCancel: true,
            cwd: '/w',
            additionalDirectories: ['/x'],
          },
        ],
      )
    })

    it('usage at the end of a turn is reported', async () => {
      const { agent, pipe, updates } = capable()
      const usage = {
        totalTokens: 9,
        inputTokens: 5,
        outputTokens: 4,
        thoughtTokens: null,
        cachedReadTokens: 1,
      }
      // codex-acp sends it to any client
      const counts = { totalTokens: 9, inputTokens: 5, outputTokens: 4 }
      const _meta = {
        quota: {
          model_usage: [
            { model: 'large', token_count: counts },
            { model: `${'x'.repeat(99)}😀`, token_count: counts },
            { model: 'wrong', token_count: { ...counts, inputTokens: -1 } },
            { model: ' ', token_count: counts },
            'nothing',
          ],
        },
      }
      const prompt = agent.prompt('s', words)
      const { id } = await pipe.waitForMethod('session/prompt')
      if (version === 1) pipe.send({ id, result: { stopReason: 'end_turn', usage, _meta } })
      else {
        pipe.send({ id, result: { messageId: 'm' } })
        const update = { sessionUpdate: 'state_update', state: 'idle', stopReason: 'end_turn', usage, _meta }
        pipe.send({ method: 'session/update', params: { sessionId: 's', update } })
      }
      await prompt
      const idle = () => updates.flatMap(({ update }) => (update.type === 'state' ? [update] : [])).at(-1)
      await until(() => idle()?.state === 'idle')
      const of = version === 1 ? 'unknown' : 'turn'
      const models = ['large', 'x'.repeat(99)].map(model => ({ model, total: 9, input: 5, output: 4 }))
      const tokens = { of, total: 9, input: 5, output: 4, cachedRead: 1, models }
      assert.deepEqual(idle(), { type: 'state', state: 'idle', stopReason: 'end_turn', tokens })
    })

    it('MCP messages through the agent are refused', async () => {
      const { pipe } = capable()
      pipe.send({
        id: 1,
        method: 'mcp/message',
        params: { serverId: 'x', requestId: 'r', method: 'tools/list' },
      })
      assert.equal((await pipe.responseTo(1)).error?.code, -32601)
    })
  })
}
