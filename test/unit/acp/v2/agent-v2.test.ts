import assert from 'node:assert/strict'
import { AgentRequestError } from '../../../../src/acp/agent.ts'
import type { PermissionOutcome, PermissionRequest, SessionSetup } from '../../../../src/acp/model.ts'
import { memoryAgent as anyAgent } from '../../../support/memory-agent.ts'
import { until } from '../../../support/until.ts'

const SETUP: SessionSetup = { cwd: '/work', additionalDirectories: [], mcpServers: [] }
const INFO = { name: 'probe', title: 'Probe', version: '1.2.3' }
const ALL = {
  info: INFO,
  capabilities: {
    session: {
      delete: {},
      additionalDirectories: {},
      mcp: { stdio: {}, http: {} },
      prompt: { image: {}, audio: {}, embeddedContext: {} },
    },
  },
  authMethods: [{ methodId: 'key', type: 'agent', name: 'Key' }],
}
const text = (words: string) => ({ type: 'text' as const, text: words })
const update = (sessionId: string, raw: object) => ({
  method: 'session/update',
  params: { sessionId, update: raw },
})
const chunk = (sessionId: string, words: string) =>
  update(sessionId, { sessionUpdate: 'agent_message_chunk', messageId: 'm', content: text(words) })
const state = (sessionId: string, raw: object) => update(sessionId, { sessionUpdate: 'state_update', ...raw })
const refused = (kind: AgentRequestError['kind']) => (error: unknown) =>
  error instanceof AgentRequestError && error.kind === kind

function memoryAgent(answer: object = ALL, client: Parameters<typeof anyAgent>[1] = {}) {
  return anyAgent(answer, client, { version: 2 })
}

describe('AgentV2', () => {
  it('introduces Parley and its capabilities', () => {
    const { agent } = memoryAgent()
    assert.equal(agent.protocolVersion, 2)
    assert.deepEqual(agent.info, INFO)
    assert.deepEqual(agent.authMethods, [{ methodId: 'key', type: 'agent', name: 'Key' }])
    assert.deepEqual(agent.capabilities, {
      load: true,
      resume: true,
      list: true,
      close: true,
      delete: true,
      additionalDirectories: true,
      logout: true,
      mcp: { stdio: true, http: true, sse: false },
      prompt: { image: true, audio: true, embeddedContext: true },
    })
  })

  it('supports every baseline method without a capability, and no others', () => {
    const { capabilities } = memoryAgent({ info: INFO, capabilities: { session: {} } }).agent
    assert.deepEqual(capabilities, {
      load: true,
      resume: true,
      list: true,
      close: true,
      delete: false,
      additionalDirectories: false,
      logout: false,
      mcp: { stdio: false, http: false, sse: false },
      prompt: { image: false, audio: false, embeddedContext: false },
    })
    const none = memoryAgent({ info: INFO, capabilities: { session: null } }).agent.capabilities
    assert.equal(none.load || none.resume || none.list || none.close, false)
  })

  describe('sessions', () => {
    it('start with folders and servers in the wire format', async () => {
      const { agent, pipe } = memoryAgent()
      const start = agent.newSession({
        cwd: '/work',
        additionalDirectories: ['/lib'],
        mcpServers: [
          { type: 'stdio', name: 'a', command: '/bin/a', args: ['x'], env: [{ name: 'K', value: 'v' }] },
          { type: 'http', name: 'b', url: 'https://b.test', headers: [] },
          { type: 'sse', name: 'c', url: 'https://c.test', headers: [] },
        ],
      })
      const { id, params } = await pipe.waitForMethod('session/new')
      assert.deepEqual(params, {
        cwd: '/work',
        additionalDirectories: ['/lib'],
        mcpServers: [
          { type: 'stdio', name: 'a', command: '/bin/a', args: ['x'], env: [{ name: 'K', value: 'v' }] },
          { type: 'http', name: 'b', url: 'https://b.test', headers: [] },
        ],
      })
      const option = { configId: 'fast', name: 'Fast', type: 'boolean', currentValue: false }
      pipe.send({
        id,
        result: {
          sessionId: 's',
          configOptions: [option],
          availableCommands: [{ type: 'command', name: 'go', description: 'Go' }],
        },
      })
      assert.deepEqual(await start, {
        sessionId: 's',
        configOptions: [{ id: 'fast', name: 'Fast', type: 'boolean', currentValue: false }],
        commands: [{ name: 'go', description: 'Go' }],
      })
    })

    it('are loaded by resuming with a replay, which arrives first', async () => {
      const { agent, pipe, updates } = memoryAgent()
      const seen: string[] = []
      agent.onUpdate(({ update }) => seen.push(update.type))
      const load = agent.loadSession('s', SETUP).then(() => seen.push('loaded'))
      const { id, params } = await pipe.waitForMethod('session/resume')
      assert.deepEqual(params, {
        sessionId: 's',
        cwd: '/work',
        mcpServers: [],
        replayFrom: { type: 'start' },
      })
      pipe.send(
        update('s', { sessionUpdate: 'user_message', messageId: 'u', content: [] }),
        chunk('s', 'one'),
        state('s', { state: 'idle' }),
        { id, result: {} },
        chunk('s', 'late'),
      )
      await load
      await until(() => updates.length === 4)
      assert.deepEqual(seen, ['message', 'message_chunk', 'state', 'loaded', 'message_chunk'])
    })

    it('have the options that were known last if the agent reports none', async () => {
      const option = {
        ...{ type: 'select' as const, id: 'model', name: 'Model', category: 'model', currentValue: 'a' },
        choices: [
          { value: 'a', name: 'A' },
          { value: 'b', name: 'B' },
        ],
      }
      for (const how of ['loadSession', 'resumeSession'] as const) {
        const { agent, pipe, updates } = memoryAgent()
        const opening = agent[how]('s', SETUP, undefined, () => [option])
        pipe.send({ id: (await pipe.waitForMethod('session/resume')).id, result: {} })
        assert.deepEqual((await opening).configOptions, [option])
        const set = agent.setConfigOption('s', 'model', 'b')
        const { id, params } = await pipe.waitForMethod('session/set_config_option')
        assert.deepEqual(params, { sessionId: 's', configId: 'model', type: 'id', value: 'b' })
        pipe.send({ id, result: {} })
        await set
        assert.deepEqual(updates.at(-1)?.update, {
          type: 'config_options',
          options: [{ ...option, currentValue: 'b' }],
        })
      }
    })

    it('request the output of terminals again when they are loaded', async () => {
      const { agent, pipe, updates } = memoryAgent()
      const output = (bytes: number[]) =>
        update('s', {
          sessionUpdate: 'terminal_output_chunk',
          terminalId: 'x',
          data: Buffer.from(bytes).toString('base64'),
        })
      // only the first byte of a character
      pipe.send(output([0xc3]))
      await until(() => updates.length === 1)
      const load = agent.loadSession('s', SETUP)
      const { id } = await pipe.waitForMethod('session/resume')
      pipe.send(output([0x61]), { id, result: {} })
      await load
      assert.deepEqual(updates.at(-1), {
        sessionId: 's',
        update: { type: 'terminal_output', terminalId: 'x', text: 'a' },
      })
    })

    it('resume without a replay', async () => {
      const { agent, pipe } = memoryAgent()
      const resume = agent.resumeSession('s', SETUP)
      const { id, params } = await pipe.waitForMethod('session/resume')
      assert.deepEqual(params, { sessionId: 's', cwd: '/work', mcpServers: [] })
      pipe.send({ id, result: {} })
      assert.deepEqual(await resume, { sessionId: 's' })
    })

    it("set options by value or flag and use the agent's resulting values", async () => {
      const { agent, pipe, updates } = memoryAgent()
      const set = agent.setConfigOption('s', 'model', 'big')
      const { id, params } = await pipe.waitForMethod('session/set_config_option')
      assert.deepEqual(params, { sessionId: 's', configId: 'model', type: 'id', value: 'big' })
      const option = { configId: 'model', name: 'Model', type: 'select', currentValue: 'big', options: [] }
      pipe.send({ id, result: { configOptions: [option] } })
      await set
      assert.deepEqual(
        updates.map(({ update }) => update.type),
        ['config_options'],
      )
      const flag = agent.setConfigOption('s', 'fast', true)
      const second = await pipe.waitFor(frame => frame.id === 1 && frame.method !== undefined)
      assert.deepEqual(second.params, { sessionId: 's', configId: 'fast', type: 'boolean', value: true })
      pipe.send({ id: 1, result: { configOptions: [] } })
      await flag
    })

    it('list, close and delete', async () => {
      const { agent, pipe } = memoryAgent()
      const list = agent.listSessions({ cwd: '/work' })
      pipe.send({
        id: (await pipe.waitForMethod('session/list')).id,
        result: { sessions: [{ sessionId: 'a', cwd: '/work' }] },
      })
      assert.deepEqual((await list).sessions, [{ sessionId: 'a', cwd: '/work', additionalDirectories: [] }])
      const close = agent.closeSession('a')
      pipe.send({ id: (await pipe.waitForMethod('session/close')).id, result: {} })
      await close
      const remove = agent.deleteSession('a')
      pipe.send({
        id: (await pipe.waitForMethod('session/delete')).id,
        error: { code: -32002, message: 'Session not found', data: { sessionId: 'a' } },
      })
      await remove
    })
  })

  describe('a turn', () => {
    it('is accepted with a message id, and reports its states in order', async () => {
      const { agent, pipe, updates } = memoryAgent()
      const seen: string[] = []
      agent.onUpdate(({ update }) => seen.push(update.type === 'state' ? update.state : update.type))
      const prompt = agent.prompt('s', [text('go')]).then(answer => {
        seen.push('accepted')
        return answer
      })
      const { id, params } = await pipe.waitForMethod('session/prompt')
      assert.deepEqual(params, { sessionId: 's', prompt: [text('go')] })
      pipe.send(
        state('s', { state: 'running' }),
        update('s', { sessionUpdate: 'user_message', messageId: 'u', content: [text('go')] }),
        { id, result: { messageId: 'u' } },
        chunk('s', 'hello'),
        state('s', { state: 'requires_action' }),
        state('s', { state: 'running' }),
        state('s', { state: 'idle', stopReason: 'end_turn' }),
      )
      assert.deepEqual(await prompt, { messageId: 'u' })
      await until(() => updates.length === 6)
      assert.deepEqual(seen, [
        'running',
        'message',
        'accepted',
        'message_chunk',
        'requires_action',
        'running',
        'idle',
      ])
    })

    it('rejects without any state if the agent refuses it', async () => {
      const { agent, pipe, updates } = memoryAgent()
      const prompt = agent.prompt('s', [text('go')])
      prompt.catch(() => {})
      pipe.send({
        id: (await pipe.waitForMethod('session/prompt')).id,
        error: { code: -32000, message: 'Sign in' },
      })
      await assert.rejects(prompt, refused('auth-required'))
      assert.deepEqual(updates, [])
      await assert.rejects(agent.prompt('s', []), refused('unsupported'))
    })

    it('can be stopped, and its requests wait until the agent cancels them', async () => {
      const { agent, pipe } = memoryAgent(ALL, {
        requestPermission: (_, signal) =>
          new Promise(resolve => signal.addEventListener('abort', () => resolve({ type: 'cancelled' }))),
      })
      pipe.send({
        id: 'q',
        method: 'session/request_permission',
        params: { sessionId: 's', title: 'Go?', options: [] },
      })
      // the answer to a later request shows that the earlier messages were handled
      pipe.send({ id: 'x', method: '_probe', params: {} })
      await pipe.responseTo('x')
      agent.cancel('s')
      assert.deepEqual((await pipe.waitForMethod('session/cancel')).params, { sessionId: 's' })
      pipe.send({ id: 'y', method: '_probe', params: {} })
      await pipe.responseTo('y')
      assert.ok(!pipe.sent.some(frame => frame.id === 'q'))
      pipe.send({ method: '$/cancel_request', params: { requestId: 'q' } })
      assert.deepEqual((await pipe.responseTo('q')).result, { outcome: { outcome: 'cancelled' } })
    })

    it('lets the user stop a single tool call or terminal', async () => {
      const { agent, pipe } = memoryAgent()
      const call = agent.cancelToolCall?.('s', 't')
      const asked = await pipe.waitForMethod('tool_call/cancel')
      assert.deepEqual(asked.params, { sessionId: 's', toolCallId: 't' })
      pipe.send({ id: asked.id, result: {} })
      await call
      const terminal = agent.cancelTerminal?.('s', 'x')
      const second = await pipe.waitForMethod('terminal/cancel')
      assert.deepEqual(second.params, { sessionId: 's', terminalId: 'x' })
      pipe.send({ id: second.id, error: { code: -32601, message: 'no' } })
      await assert.rejects(terminal ?? Promise.resolve(), refused('unsupported'))
    })
  })

  describe('a permission request', () => {
    async function ask(params: object, outcome: PermissionOutcome = { type: 'selected', optionId: 'y' }) {
      const asked: PermissionRequest[] = []
      const { pipe } = memoryAgent(ALL, {
        requestPermission: async request => {
          asked.push(request)
          return outcome
        },
      })
      pipe.send({ id: 0, method: 'session/request_permission', params: { sessionId: 's', ...params } })
      const { result } = await pipe.responseTo(0)
      return { result, request: asked[0] }
    }
    const options = [{ optionId: 'y', name: 'Yes', kind: '_maybe' }]

    it('can be about a tool call, a command, something unknown, or nothing', async () => {
      const base = { sessionId: 's', title: 'Go?', options }
      const cases: Array<[unknown, PermissionRequest['subject']]> = [
        [
          { type: 'tool_call', toolCall: { toolCallId: 't', kind: 'edit', status: null } },
          { type: 'tool_call', toolCall: { toolCallId: 't', kind: 'edit', status: null } },
        ],
        [
          { type: 'command', command: 'rm -r x', cwd: '/w', toolCallId: 't', terminalId: null },
          { type: 'command', command: 'rm -r x', cwd: '/w', toolCallId: 't' },
        ],
        [
          { type: '_launch', code: 7 },
          { type: 'unknown', kind: '_launch', raw: { type: '_launch', code: 7 } },
        ],
        [{ type: 'command' }, { type: 'unknown', kind: 'command', raw: { type: 'command' } }],
        [null, { type: 'none' }],
        [undefined, { type: 'none' }],
      ]
      for (const [subject, expected] of cases) {
        const { result, request } = await ask({ title: 'Go?', subject, options })
        assert.deepEqual(request, { ...base, subject: expected })
        assert.deepEqual(result, { outcome: { outcome: 'selected', optionId: 'y' } })
      }
      assert.equal((await ask({ title: 'Go?', description: 'far', options })).request?.description, 'far')
      assert.deepEqual((await ask({ title: 'Go?', options }, { type: 'cancelled' })).result, {
        outcome: { outcome: 'cancelled' },
      })
    })

    it('is also read in the format of v1', async () => {
      const { request } = await ask({ toolCall: { toolCallId: 't', title: 'Edit' }, options })
      assert.deepEqual(request, {
        sessionId: 's',
        title: 'Edit',
        subject: { type: 'tool_call', toolCall: { toolCallId: 't', title: 'Edit' } },
        options,
      })
    })
  })

  it('signs in and out if the agent supports it', async () => {
    const { agent, pipe } = memoryAgent()
    const login = agent.authenticate('key')
    const asked = await pipe.waitForMethod('auth/login')
    assert.deepEqual(asked.params, { methodId: 'key' })
    pipe.send({ id: asked.id, result: {} })
    await login
    const logout = agent.logout()
    pipe.send({ id: (await pipe.waitForMethod('auth/logout')).id, result: {} })
    await logout

    const ways = memoryAgent({
      info: INFO,
      authMethods: [
        { methodId: 'tty', type: 'terminal', name: 'Terminal' },
        { methodId: 'ring', type: '_ring', name: 'A ring' },
      ],
    })
    assert.deepEqual(
      ways.agent.authMethods.map(({ methodId }) => methodId),
      ['tty'],
    )
    for (const way of ['tty', 'ring']) {
      await assert.rejects(ways.agent.authenticate(way), refused('unsupported'))
    }
    assert.deepEqual(ways.pipe.sent, [])

    const bare = memoryAgent({ info: INFO, capabilities: { session: {} }, authMethods: [] })
    await assert.rejects(bare.agent.authenticate('key'), refused('unsupported'))
    await assert.rejects(bare.agent.logout(), refused('unsupported'))
    assert.deepEqual(bare.pipe.sent, [])
  })

  it('uses no v1 methods', async () => {
    const { pipe } = memoryAgent()
    for (const [id, method] of ['fs/read_text_file', 'fs/write_text_file', 'terminal/create'].entries()) {
      pipe.send({ id, method, params: { sessionId: 's', path: '/a', command: 'ls', content: '' } })
      assert.equal((await pipe.responseTo(id)).error?.code, -32601)
    }
  })

  it('reads batches in order', async () => {
    const { pipe, updates } = memoryAgent()
    const frames = [chunk('s', 'one'), chunk('s', 'two')].map(frame => ({ jsonrpc: '2.0', ...frame }))
    pipe.write(`${JSON.stringify(frames)}\n`)
    await until(() => updates.length === 2)
    assert.deepEqual(
      updates.map(({ update }) => update.type === 'message_chunk' && update.content),
      [text('one'), text('two')],
    )
  })

  it('supports an early draft', async () => {
    const { agent, pipe } = anyAgent(
      {
        agentInfo: INFO,
        capabilities: { session: { load: {}, prompt: { image: {} } }, auth: { logout: {} } },
      },
      {},
      { version: 2, alsoAllowed: ['session/load'] },
    )
    assert.deepEqual(agent.info, INFO)
    assert.deepEqual(
      [
        agent.capabilities.load,
        agent.capabilities.resume,
        agent.capabilities.list,
        agent.capabilities.logout,
      ],
      [true, false, false, true],
    )
    const load = agent.loadSession('s', SETUP)
    const { id, params } = await pipe.waitForMethod('session/load')
    assert.deepEqual(params, { sessionId: 's', cwd: '/work', mcpServers: [] })
    pipe.send({ id, result: {} })
    assert.deepEqual(await load, { sessionId: 's' })
    await assert.rejects(agent.resumeSession('s', SETUP), refused('unsupported'))
  })

  it('keeps two sessions apart', async () => {
    const { pipe, updates } = memoryAgent()
    for (let i = 0; i < 20; i++) pipe.send(chunk(`s${i % 2}`, `${i}`))
    await until(() => updates.length === 20)
    for (const [i, { sessionId, update }] of updates.entries()) {
      assert.equal(sessionId, `s${i % 2}`)
      assert.deepEqual(update.type === 'message_chunk' && update.content, text(`${i}`))
    }
  })
})
