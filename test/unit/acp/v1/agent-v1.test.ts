import assert from 'node:assert/strict'
import { AgentClosedError, AgentRequestError, FileMissingError } from '../../../../src/acp/agent.ts'
import type {
  AgentCapabilities,
  ConfigOption,
  ContentBlock,
  PermissionOutcome,
  PermissionRequest,
  SessionSetup,
} from '../../../../src/acp/model.ts'
import { serverToWire } from '../../../../src/acp/v1/agent-v1.ts'
import { promptToWire, setupToWire } from '../../../../src/acp/wire/requests.ts'
import { CancelledError } from '../../../../src/common/errors.ts'
import { AgentSessions } from '../../../../src/conversation/agent-sessions.ts'
import { memoryAgent } from '../../../support/memory-agent.ts'
import { until } from '../../../support/until.ts'

const SETUP: SessionSetup = { cwd: '/work', additionalDirectories: [], mcpServers: [] }
const ALL = {
  agentInfo: { name: 'probe', title: 'Probe', version: '1.2.3' },
  agentCapabilities: {
    loadSession: true,
    sessionCapabilities: { list: {}, resume: {}, close: {}, delete: {}, additionalDirectories: {} },
    auth: { logout: {} },
    mcpCapabilities: { http: true, sse: true },
    promptCapabilities: { image: true, audio: true, embeddedContext: true },
  },
}
const text = (words: string) => ({ type: 'text' as const, text: words })
const chunk = (sessionId: string, words: string) => ({
  method: 'session/update',
  params: { sessionId, update: { sessionUpdate: 'agent_message_chunk', content: text(words) } },
})
const refused = (kind: AgentRequestError['kind']) => (error: unknown) => {
  assert.ok(error instanceof AgentRequestError)
  assert.equal(error.kind, kind)
  return true
}

describe('AgentV1', () => {
  it('introduces Parley', () => {
    assert.deepEqual(memoryAgent(ALL).agent.info, { name: 'probe', title: 'Probe', version: '1.2.3' })
    assert.deepEqual(memoryAgent().agent.info, { name: '' })
    assert.equal(memoryAgent().agent.protocolVersion, 1)
  })

  describe('sessions', () => {
    it('start with folders and servers in the wire format', async () => {
      const { agent, pipe } = memoryAgent(ALL)
      const start = agent.newSession({
        cwd: '/work',
        additionalDirectories: ['/lib'],
        mcpServers: [
          { type: 'stdio', name: 'a', command: '/bin/a', args: ['x'], env: [{ name: 'K', value: 'v' }] },
          { type: 'http', name: 'b', url: 'https://b.test', headers: [] },
        ],
      })
      const { id, params } = await pipe.waitForMethod('session/new')
      assert.deepEqual(params, {
        cwd: '/work',
        additionalDirectories: ['/lib'],
        mcpServers: [
          { name: 'a', command: '/bin/a', args: ['x'], env: [{ name: 'K', value: 'v' }] },
          { type: 'http', name: 'b', url: 'https://b.test', headers: [] },
        ],
      })
      pipe.send({ id, result: { sessionId: 's', configOptions: null } })
      assert.deepEqual(await start, { sessionId: 's' })
    })

    it('start with SSE servers only if the agent supports them', async () => {
      const server = {
        type: 'sse' as const,
        name: 'events',
        url: 'https://b.test/sse',
        headers: [{ name: 'Authorization', value: 'Bearer t' }],
      }
      for (const [mcpCapabilities, sent] of [
        [{ sse: true }, [server]],
        [{ http: true }, []],
      ] as const) {
        const { agent, pipe, warnings } = memoryAgent({ agentCapabilities: { mcpCapabilities } })
        const start = agent.newSession({ ...SETUP, mcpServers: [server] })
        const { id, params } = await pipe.waitForMethod('session/new')
        assert.deepEqual(params, { cwd: '/work', mcpServers: sent })
        assert.equal(warnings.length, 1 - sent.length)
        pipe.send({ id, result: { sessionId: 's' } })
        await start
      }
    })

    it('call only methods that the agent supports', async () => {
      const { agent, pipe, warnings } = memoryAgent()
      const start = agent.newSession({
        cwd: '/work',
        additionalDirectories: ['/lib'],
        mcpServers: [
          { type: 'http', name: 'h', url: 'https://b.test', headers: [] },
          { type: 'stdio', name: 'a', command: '/bin/a', args: [], env: [] },
        ],
      })
      const { id, params } = await pipe.waitForMethod('session/new')
      assert.deepEqual(params, {
        cwd: '/work',
        mcpServers: [{ name: 'a', command: '/bin/a', args: [], env: [] }],
      })
      assert.match(warnings.join(), /MCP server h/)
      pipe.send({ id, result: { sessionId: 's' } })
      await start

      const unsupported = [
        agent.loadSession('s', SETUP),
        agent.resumeSession('s', SETUP),
        agent.listSessions({}),
        agent.closeSession('s'),
        agent.deleteSession('s'),
        agent.logout(),
      ]
      for (const request of unsupported) await assert.rejects(request, refused('unsupported'))
      assert.equal(pipe.sent.length, 1)
    })

    it('never start in a relative folder', async () => {
      const { agent, pipe } = memoryAgent(ALL)
      await assert.rejects(agent.newSession({ ...SETUP, cwd: 'here' }), refused('unsupported'))
      await assert.rejects(
        agent.loadSession('s', { ...SETUP, additionalDirectories: ['./x'] }),
        refused('unsupported'),
      )
      assert.deepEqual(pipe.sent, [])
    })

    it('reject a response without an id', async () => {
      for (const result of [null, {}, { sessionId: '' }, { sessionId: 5 }, 'x']) {
        const { agent, pipe } = memoryAgent()
        const start = agent.newSession(SETUP)
        start.catch(() => {})
        pipe.send({ id: (await pipe.waitForMethod('session/new')).id, result })
        await assert.rejects(start, refused('invalid-response'))
      }
    })

    for (const result of [null, {}]) {
      it(`load and resume with the response ${JSON.stringify(result)}`, async () => {
        const { agent, pipe } = memoryAgent(ALL)
        const load = agent.loadSession('old', { ...SETUP, additionalDirectories: ['/lib'] })
        const asked = await pipe.waitForMethod('session/load')
        assert.deepEqual(asked.params, {
          sessionId: 'old',
          cwd: '/work',
          mcpServers: [],
          additionalDirectories: ['/lib'],
        })
        pipe.send({ id: asked.id, result })
        assert.deepEqual(await load, { sessionId: 'old' })
        const resume = agent.resumeSession('old', SETUP)
        pipe.send({ id: (await pipe.waitForMethod('session/resume')).id, result })
        assert.deepEqual(await resume, { sessionId: 'old' })
      })
    }

    it('are replayed before the load is done, and continue afterward', async () => {
      const { agent, pipe, updates } = memoryAgent(ALL)
      const seen: string[] = []
      agent.onUpdate(({ update }) => {
        if (update.type === 'message_chunk' && update.content.type === 'text') seen.push(update.content.text)
      })
      const load = agent.loadSession('s', SETUP).then(() => seen.push('loaded'))
      const { id } = await pipe.waitForMethod('session/load')
      pipe.send(chunk('s', 'one'), chunk('s', 'two'), { id, result: null }, chunk('s', 'late'))
      await load
      await until(() => updates.length === 3)
      assert.deepEqual(seen, ['one', 'two', 'loaded', 'late'])
    })

    it("show the agent's terminals in their tool calls again when they are loaded", async () => {
      const { agent, pipe, updates } = memoryAgent(ALL)
      const output = {
        method: 'session/update',
        params: {
          sessionId: 's',
          update: {
            sessionUpdate: 'tool_call_update',
            toolCallId: 't',
            _meta: { terminal_output: { terminal_id: 'x', data: 'a' } },
          },
        },
      }
      const shown = ['tool_call', 'tool_call_content', 'terminal_output']
      pipe.send(output)
      await until(() => updates.length === 3)
      const load = agent.loadSession('s', SETUP)
      pipe.send(output, { id: (await pipe.waitForMethod('session/load')).id, result: null })
      await load
      assert.deepEqual(
        updates.map(({ update }) => update.type),
        [...shown, ...shown],
      )
    })

    it('can be abandoned', async () => {
      const { agent, pipe } = memoryAgent(ALL)
      const controller = new AbortController()
      const load = agent.loadSession('s', SETUP, controller.signal)
      load.catch(() => {})
      const { id } = await pipe.waitForMethod('session/load')
      controller.abort()
      await assert.rejects(load, refused('cancelled'))
      assert.deepEqual((await pipe.waitForMethod('$/cancel_request')).params, { requestId: id })
    })

    it('are closed if the agent creates them after they were abandoned', async () => {
      const { agent, pipe } = memoryAgent(ALL)
      const sessions = new AgentSessions(agent)
      const controller = new AbortController()
      const session = sessions.newSession(SETUP, controller.signal)
      const { id } = await pipe.waitForMethod('session/new')
      controller.abort()
      await assert.rejects(session, CancelledError)
      assert.deepEqual((await pipe.waitForMethod('$/cancel_request')).params, { requestId: id })
      pipe.send({ id, result: { sessionId: 's' } })
      assert.deepEqual((await pipe.waitForMethod('session/close')).params, { sessionId: 's' })
      assert.equal(sessions.sessions.size, 0)
    })

    it('are listed page by page, with times in all formats (quirk 22)', async () => {
      const { agent, pipe } = memoryAgent(ALL)
      const first = agent.listSessions({ cwd: '/work' })
      const asked = await pipe.waitForMethod('session/list')
      assert.deepEqual(asked.params, { cwd: '/work' })
      const time = Date.UTC(2026, 10, 20, 10, 20, 30)
      pipe.send({
        id: asked.id,
        result: {
          nextCursor: 'p2',
          sessions: [
            { sessionId: 'a', cwd: '/work', title: ' A ', updatedAt: '2026-11-20T10:20:30.000Z', extra: 1 },
            { sessionId: 'b', cwd: '/other', title: null, updatedAt: '2026-11-20T11:20:30.050962497+01:00' },
            { sessionId: 'c', cwd: '/work', updatedAt: time / 1000, additionalDirectories: ['/lib'] },
            { sessionId: 'd', updatedAt: 'yesterday' },
            { cwd: '/no/id' },
            'nonsense',
          ],
        },
      })
      assert.deepEqual(await first, {
        nextCursor: 'p2',
        sessions: [
          { sessionId: 'a', cwd: '/work', additionalDirectories: [], title: 'A', updatedAt: time },
          { sessionId: 'b', cwd: '/other', additionalDirectories: [], updatedAt: time + 50 },
          { sessionId: 'c', cwd: '/work', additionalDirectories: ['/lib'], updatedAt: time },
          { sessionId: 'd', cwd: '', additionalDirectories: [] },
        ],
      })
      const second = agent.listSessions({ cursor: 'p2' })
      const { id, params } = await pipe.waitFor(frame => frame.id === 1)
      assert.deepEqual(params, { cursor: 'p2' })
      // a repeated cursor would never end
      pipe.send({ id, result: { sessions: [], nextCursor: 'p2' } })
      assert.deepEqual(await second, { sessions: [] })
    })

    it('are read in several tasks if there are thousands of them', async () => {
      const { agent, pipe } = memoryAgent(ALL)
      const listed = agent.listSessions({})
      const { id } = await pipe.waitForMethod('session/list')
      const sessions = Array.from({ length: 5000 }, (_, i) => ({ sessionId: `s${i}` }))
      let tasks = 0
      let isOver = false
      const count = () => {
        tasks++
        if (!isOver) setImmediate(count)
      }
      setImmediate(count)
      pipe.send({ id, result: { sessions, nextCursor: 'next' } })
      const { sessions: read, nextCursor } = await listed
      isOver = true
      assert.deepEqual(
        read.map(({ sessionId }) => sessionId),
        sessions.map(({ sessionId }) => sessionId),
      )
      assert.equal(nextCursor, 'next')
      assert.ok(tasks >= 8, `${tasks} tasks`)
    })

    it("report a session that isn't found", async () => {
      const { agent, pipe } = memoryAgent(ALL)
      const close = agent.closeSession('s')
      pipe.send({
        id: (await pipe.waitForMethod('session/close')).id,
        error: { code: -32002, message: 'Session s not found' },
      })
      await close
      const remove = agent.deleteSession('s')
      pipe.send({
        id: (await pipe.waitForMethod('session/delete')).id,
        error: { code: -32603, message: 'disk full' },
      })
      await assert.rejects(remove, refused('other'))
    })

    it('report that sign-in is required (quirk 16)', async () => {
      const { agent, pipe } = memoryAgent()
      const start = agent.newSession(SETUP)
      start.catch(() => {})
      pipe.send({
        id: (await pipe.waitForMethod('session/new')).id,
        error: { code: -32000, message: 'Authentication required' },
      })
      await assert.rejects(start, refused('auth-required'))
    })
  })

  describe('a turn', () => {
    it('is reported by its states, with the updates between them', async () => {
      const { agent, pipe, updates } = memoryAgent(ALL)
      const turn = agent.prompt('s', [text('go')])
      const { id, params } = await pipe.waitForMethod('session/prompt')
      assert.deepEqual(params, { sessionId: 's', prompt: [text('go')] })
      pipe.send(chunk('s', 'a'), chunk('other', 'x'), { id, result: { stopReason: 'max_tokens' } })
      await turn
      assert.deepEqual(updates, [
        { sessionId: 's', update: { type: 'state', state: 'running' } },
        { sessionId: 's', update: { type: 'message_chunk', role: 'agent', content: text('a') } },
        { sessionId: 'other', update: { type: 'message_chunk', role: 'agent', content: text('x') } },
        { sessionId: 's', update: { type: 'state', state: 'idle', stopReason: 'max_tokens' } },
      ])
    })

    it('ends normally without a stop reason, otherwise with the one in the response', async () => {
      for (const [result, stopReason] of [
        [null, 'end_turn'],
        [{}, 'end_turn'],
        [{ stopReason: 'tired' }, 'tired'],
      ] as const) {
        const { agent, pipe, updates } = memoryAgent()
        const turn = agent.prompt('s', [text('go')])
        pipe.send({ id: (await pipe.waitForMethod('session/prompt')).id, result })
        await turn
        assert.deepEqual(updates.at(-1)?.update, { type: 'state', state: 'idle', stopReason })
      }
    })

    it('sends every kind of content that the agent supports', async () => {
      const { agent, pipe } = memoryAgent(ALL)
      const turn = agent.prompt('s', [
        text('look'),
        { type: 'image', data: 'AA==', mimeType: 'image/png' },
        { type: 'audio', data: 'AA==', mimeType: 'audio/wav' },
        { type: 'resource_link', uri: 'file:///a', name: 'a' },
        { type: 'resource', uri: 'file:///b', text: 'b', mimeType: 'text/plain' },
        { type: 'resource', uri: 'file:///c', blob: 'AA==' },
      ])
      const { id, params } = await pipe.waitForMethod('session/prompt')
      assert.deepEqual(params.prompt, [
        text('look'),
        { type: 'image', data: 'AA==', mimeType: 'image/png' },
        { type: 'audio', data: 'AA==', mimeType: 'audio/wav' },
        { type: 'resource_link', uri: 'file:///a', name: 'a' },
        { type: 'resource', resource: { uri: 'file:///b', text: 'b', mimeType: 'text/plain' } },
        { type: 'resource', resource: { uri: 'file:///c', blob: 'AA==' } },
      ])
      pipe.send({ id, result: { stopReason: 'end_turn' } })
      await turn
    })

    it("doesn't start with unsupported content or without content", async () => {
      const { agent, pipe, updates } = memoryAgent()
      const prompts = [
        [],
        [{ type: 'image' as const, data: '', mimeType: 'image/png' }],
        [{ type: 'audio' as const, data: '', mimeType: 'audio/wav' }],
        [{ type: 'resource' as const, uri: 'file:///a', text: '' }],
        [{ type: 'unknown' as const, kind: 'x', raw: {} }],
      ]
      for (const prompt of prompts) await assert.rejects(agent.prompt('s', prompt), refused('unsupported'))
      assert.deepEqual([pipe.sent, updates], [[], []])
    })

    it('ends with the error message if it fails', async () => {
      const { agent, pipe, updates } = memoryAgent()
      const turn = agent.prompt('s', [text('go')])
      turn.catch(() => {})
      pipe.send(chunk('s', 'half'), {
        id: (await pipe.waitForMethod('session/prompt')).id,
        error: { code: 500, message: 'terminated', data: { details: 'upstream' } },
      })
      await assert.rejects(turn, refused('other'))
      assert.deepEqual(updates.at(-1)?.update, {
        type: 'state',
        state: 'idle',
        stopReason: 'error',
        error: { code: 500, message: 'terminated', detail: 'upstream' },
      })
    })

    it('ends if the agent exits', async () => {
      const { agent, pipe, updates, exit } = memoryAgent()
      const turn = agent.prompt('s', [text('go')])
      turn.catch(() => {})
      await pipe.waitForMethod('session/prompt')
      exit({ exitCode: 3, message: 'The agent exited with code 3.', stderrTail: 'panic' })
      await assert.rejects(turn, AgentClosedError)
      const last = updates.at(-1)?.update
      assert.ok(last?.type === 'state' && 'stopReason' in last)
      assert.deepEqual(
        [last.stopReason, last.error?.message, last.error?.detail],
        ['error', 'The agent exited with code 3.', 'panic'],
      )
    })

    it('ends as canceled after a cancellation, even if the agent responds with an error', async () => {
      const { agent, pipe, updates } = memoryAgent()
      for (const [n, answer] of [
        { result: { stopReason: 'cancelled' } },
        { error: { code: -32800, message: 'Cancelled' } },
        { error: { code: -32603, message: 'aborted' } },
      ].entries()) {
        const turn = agent.prompt('s', [text('go')])
        const { id } = await pipe.waitFor(frame => frame.id === n)
        agent.cancel('s')
        assert.deepEqual((await pipe.waitForMethod('session/cancel')).params, { sessionId: 's' })
        pipe.send({ id, ...answer })
        await turn
        assert.deepEqual(updates.at(-1)?.update, { type: 'state', state: 'idle', stopReason: 'cancelled' })
      }
    })
  })

  describe('config options', () => {
    it("for modes and models are set with their own methods, and Parley reports the change if the agent doesn't", async () => {
      const { agent, pipe, updates } = memoryAgent({}, {}, { alsoAllowed: ['session/set_model'] })
      const start = agent.newSession(SETUP)
      pipe.send({
        id: (await pipe.waitForMethod('session/new')).id,
        result: {
          sessionId: 's',
          modes: {
            currentModeId: 'a',
            availableModes: [
              { id: 'a', name: 'A' },
              { id: 'b', name: 'B' },
            ],
          },
          models: {
            currentModelId: 'x',
            availableModels: [
              { modelId: 'x', name: 'X' },
              { modelId: 'y', name: 'Y' },
            ],
          },
        },
      })
      const [mode, model] = (await start).configOptions ?? []
      const setMode = agent.setConfigOption('s', mode?.id ?? '', 'b')
      const askedMode = await pipe.waitForMethod('session/set_mode')
      assert.deepEqual(askedMode.params, { sessionId: 's', modeId: 'b' })
      pipe.send({ id: askedMode.id, result: null })
      await setMode
      const reported = updates.at(-1)?.update
      assert.ok(reported?.type === 'config_options')
      assert.deepEqual(
        reported.options.map(option => option.type === 'select' && option.currentValue),
        ['b', 'x'],
      )

      const setModel = agent.setConfigOption('s', model?.id ?? '', 'y')
      const askedModel = await pipe.waitForMethod('session/set_model')
      assert.deepEqual(askedModel.params, { sessionId: 's', modelId: 'y' })
      pipe.send({ id: askedModel.id, result: {} })
      await setModel
      const both = updates.at(-1)?.update
      assert.ok(both?.type === 'config_options')
      assert.deepEqual(
        both.options.map(option => option.type === 'select' && option.currentValue),
        ['b', 'y'],
      )
    })

    const choices = [
      { value: 'a', name: 'A' },
      { value: 'b', name: 'B' },
    ]
    const last: ConfigOption[] = [
      {
        ...{ type: 'select', id: 'parley:mode', name: 'Mode', category: 'mode' },
        ...{ currentValue: 'a', choices },
      },
      {
        ...{ type: 'select', id: 'parley:model', name: 'Model', category: 'model' },
        ...{ currentValue: 'a', choices },
      },
    ]
    const valuesOf = (options: readonly ConfigOption[] = []) =>
      options.map(option => option.type === 'select' && `${option.name} ${option.currentValue}`)

    for (const method of ['session/load', 'session/resume'])
      it(`are as they were known last if the agent doesn't report them in ${method}, until it does`, async () => {
        const { agent, pipe, updates } = memoryAgent(ALL, {}, { alsoAllowed: ['session/set_model'] })
        const open = () =>
          method === 'session/load'
            ? agent.loadSession('s', SETUP, undefined, () => last)
            : agent.resumeSession('s', SETUP, undefined, () => last)
        const opening = open()
        const mode = { sessionUpdate: 'current_mode_update', currentModeId: 'b' }
        pipe.send(
          { method: 'session/update', params: { sessionId: 's', update: mode } },
          { id: (await pipe.waitForMethod(method)).id, result: {} },
        )
        assert.deepEqual(valuesOf((await opening).configOptions), ['Mode b', 'Model a'])

        const refusal = agent.setConfigOption('s', 'parley:model', 'b')
        const asked = await pipe.waitForMethod('session/set_model')
        assert.deepEqual(asked.params, { sessionId: 's', modelId: 'b' })
        pipe.send({ id: asked.id, error: { code: -32602, message: 'No such model' } })
        await assert.rejects(refusal, /No such model/)
        const set = agent.setConfigOption('s', 'parley:mode', 'a')
        pipe.send({ id: (await pipe.waitForMethod('session/set_mode')).id, result: {} })
        await set
        const reported = updates.at(-1)?.update
        assert.deepEqual(valuesOf(reported?.type === 'config_options' ? reported.options : []), [
          'Mode a',
          'Model a',
        ])
      })

    it('are what the agent reports of them in session/load', async () => {
      const reports: Array<[object, string[]]> = [
        [{ modes: { currentModeId: 'c', availableModes: [{ id: 'c' }] } }, ['Mode c', 'Model a']],
        [{ configOptions: [] }, []],
        [
          {
            configOptions: [
              {
                type: 'select',
                id: 'm',
                name: 'Own',
                currentValue: 'c',
                options: [{ value: 'c', name: 'C' }],
              },
            ],
          },
          ['Own c'],
        ],
      ]
      for (const [result, expected] of reports) {
        const { agent, pipe } = memoryAgent(ALL)
        const load = agent.loadSession('s', SETUP, undefined, () => last)
        pipe.send({ id: (await pipe.waitForMethod('session/load')).id, result })
        assert.deepEqual(valuesOf((await load).configOptions), expected)
      }
    })

    it("aren't reported twice if the agent reports them", async () => {
      const { agent, pipe, updates } = memoryAgent()
      const start = agent.newSession(SETUP)
      pipe.send({
        id: (await pipe.waitForMethod('session/new')).id,
        result: { sessionId: 's', modes: { currentModeId: 'a', availableModes: [{ id: 'a' }, { id: 'b' }] } },
      })
      const [mode] = (await start).configOptions ?? []
      const set = agent.setConfigOption('s', mode?.id ?? '', 'b')
      pipe.send(
        {
          method: 'session/update',
          params: { sessionId: 's', update: { sessionUpdate: 'current_mode_update', currentModeId: 'b' } },
        },
        { id: (await pipe.waitForMethod('session/set_mode')).id, result: {} },
      )
      await set
      assert.deepEqual(updates, [
        { sessionId: 's', update: { type: 'config_value', category: 'mode', value: 'b' } },
      ])
    })

    it('are replaced by later reports of the agent', async () => {
      const { pipe, updates } = memoryAgent()
      const option = {
        id: 'effort',
        name: 'Effort',
        type: 'select',
        currentValue: 'high',
        options: [{ value: 'high', name: 'High' }],
      }
      const tell = (configOptions: unknown) =>
        pipe.send({
          method: 'session/update',
          params: { sessionId: 's', update: { sessionUpdate: 'config_option_update', configOptions } },
        })
      tell([option])
      tell([])
      await until(() => updates.length === 2)
      assert.deepEqual(
        updates.map(({ update }) => update.type === 'config_options' && update.options.map(({ id }) => id)),
        [['effort'], []],
      )
    })

    it('are updated by a mode that the agent reports as text, which is dropped (quirk 13)', async () => {
      const { agent, pipe, updates } = memoryAgent()
      const start = agent.newSession(SETUP)
      const modes = { currentModeId: 'default', availableModes: [{ id: 'default' }, { id: 'autoEdit' }] }
      pipe.send({ id: (await pipe.waitForMethod('session/new')).id, result: { sessionId: 's', modes } })
      await start
      const said = (words: string) => ({
        method: 'session/update',
        params: {
          sessionId: 's',
          update: { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: words } },
        },
      })
      const words = ['[MODE_UPDATE] nowhere', '[MODE_UPDATE] autoEdit, I say', '[MODE_UPDATE]']
      pipe.send(said('[MODE_UPDATE] autoEdit'), ...words.map(said))
      await until(() => updates.length === 2 + words.length)
      assert.deepEqual(
        updates.map(({ update }) =>
          update.type === 'message_chunk' && update.content.type === 'text' ? update.content.text : update,
        ),
        [{ type: 'config_value', category: 'mode', value: 'autoEdit' }, { type: 'message_end' }, ...words],
      )
    })

    it('are set by id, and are all in the response', async () => {
      const { agent, pipe, updates } = memoryAgent()
      const set = agent.setConfigOption('s', 'effort', 'high')
      const { id, params } = await pipe.waitForMethod('session/set_config_option')
      assert.deepEqual(params, { sessionId: 's', configId: 'effort', value: 'high' })
      const options = [
        {
          id: 'effort',
          name: 'Effort',
          type: 'select',
          currentValue: 'low',
          options: [{ value: 'low', name: 'Low' }],
        },
      ]
      pipe.send({ id, result: { configOptions: options } })
      await set
      assert.equal(updates.length, 1)
      const reported = updates[0]?.update
      assert.ok(reported?.type === 'config_options' && reported.options[0]?.type === 'select')
      assert.equal(reported.options[0].currentValue, 'low')

      const flag = agent.setConfigOption('s', 'fast', true)
      const asked = await pipe.waitFor(frame => frame.id === 1)
      assert.deepEqual(asked.params, { sessionId: 's', configId: 'fast', type: 'boolean', value: true })
      pipe.send({ id: asked.id, error: { code: -32602, message: 'not now' } })
      await assert.rejects(flag, refused('other'))
      assert.equal(updates.length, 1)
    })
  })

  describe('requests from the agent', () => {
    it('read and write files; a missing file reads as empty (quirk 1)', async () => {
      const calls: unknown[] = []
      const { pipe } = memoryAgent(
        {},
        {
          async readTextFile(request) {
            calls.push(request)
            if (request.path === '/missing') throw new FileMissingError('gone')
            if (request.path === '/locked') throw new Error('/locked may not be read')
            return 'text'
          },
          async writeTextFile(request) {
            calls.push(request)
          },
        },
      )
      const read = (id: number, params: object) =>
        pipe.send({ id, method: 'fs/read_text_file', params: { sessionId: 's', ...params } })
      read(1, { path: '/a', line: 2, limit: 5 })
      read(2, { path: '/missing', line: null, limit: null })
      read(3, { path: '/locked', line: 0 })
      read(4, { path: 5 })
      pipe.send({
        id: 5,
        method: 'fs/write_text_file',
        params: { sessionId: 's', path: '/b', content: 'c', x: 1 },
      })
      assert.deepEqual((await pipe.responseTo(1)).result, { content: 'text' })
      assert.deepEqual((await pipe.responseTo(2)).result, { content: '' })
      assert.deepEqual((await pipe.responseTo(3)).error, { code: -32603, message: '/locked may not be read' })
      assert.equal((await pipe.responseTo(4)).error?.code, -32602)
      assert.deepEqual((await pipe.responseTo(5)).result, {})
      assert.deepEqual(calls, [
        { sessionId: 's', path: '/a', line: 2, limit: 5 },
        { sessionId: 's', path: '/missing' },
        { sessionId: 's', path: '/locked' },
        { sessionId: 's', path: '/b', content: 'c' },
      ])
    })

    it('create, read and wait for terminals', async () => {
      const calls: unknown[] = []
      const { pipe } = memoryAgent(
        {},
        {
          async createTerminal(request) {
            calls.push(request)
            return { terminalId: 't1' }
          },
          async terminalOutput(...of) {
            calls.push(of)
            return of[1] === 't1'
              ? { output: 'out', truncated: false }
              : { output: 'out', truncated: true, exit: { exitCode: 3, signal: null } }
          },
          async waitForTerminalExit() {
            return { exitCode: null, signal: 'SIGTERM' }
          },
          async killTerminal() {},
          async releaseTerminal() {},
        },
      )
      const ask = (id: number, method: string, params: object) =>
        pipe.send({ id, method, params: { sessionId: 's', ...params } })
      ask(1, 'terminal/create', { command: 'ls -l | wc', cwd: null, outputByteLimit: 1000 })
      ask(2, 'terminal/create', {
        command: 'ls',
        args: ['-l'],
        env: [{ name: 'A', value: '1' }, { name: '' }],
        cwd: '/w',
      })
      ask(3, 'terminal/output', { terminalId: 't1' })
      ask(4, 'terminal/output', { terminalId: 't2' })
      ask(5, 'terminal/wait_for_exit', { terminalId: 't1' })
      ask(6, 'terminal/kill', { terminalId: 't1' })
      ask(7, 'terminal/release', { terminalId: 't1' })
      ask(8, 'terminal/explode', { terminalId: 't1' })
      assert.deepEqual((await pipe.responseTo(1)).result, { terminalId: 't1' })
      assert.deepEqual((await pipe.responseTo(3)).result, { output: 'out', truncated: false })
      assert.deepEqual((await pipe.responseTo(4)).result, {
        output: 'out',
        truncated: true,
        exitStatus: { exitCode: 3, signal: null },
      })
      assert.deepEqual((await pipe.responseTo(5)).result, { exitCode: null, signal: 'SIGTERM' })
      assert.deepEqual((await pipe.responseTo(6)).result, {})
      assert.deepEqual((await pipe.responseTo(7)).result, {})
      assert.equal((await pipe.responseTo(8)).error?.code, -32601)
      assert.deepEqual(calls.slice(0, 2), [
        { sessionId: 's', command: 'ls -l | wc', args: [], env: [], outputByteLimit: 1000 },
        { sessionId: 's', command: 'ls', args: ['-l'], env: [{ name: 'A', value: '1' }], cwd: '/w' },
      ])
    })

    it('kill and release one terminal without affecting others', async () => {
      const calls: string[] = []
      const { pipe } = memoryAgent(
        {},
        {
          async killTerminal(...of) {
            calls.push(`kill ${of.join(' ')}`)
          },
          async releaseTerminal(sessionId, terminalId) {
            if (terminalId === 'gone') throw new Error('There is no terminal gone.')
            calls.push(`release ${sessionId} ${terminalId}`)
          },
        },
      )
      const ask = (id: number, method: string, terminalId: unknown) =>
        pipe.send({ id, method, params: { sessionId: 's', terminalId } })
      ask(1, 'terminal/kill', 't1')
      assert.deepEqual((await pipe.responseTo(1)).result, {})
      assert.deepEqual(calls, ['kill s t1'])
      ask(2, 'terminal/release', 't1')
      assert.deepEqual((await pipe.responseTo(2)).result, {})
      ask(3, 'terminal/kill', 7)
      ask(4, 'terminal/release', 'gone')
      assert.equal((await pipe.responseTo(3)).error?.code, -32602)
      assert.equal((await pipe.responseTo(4)).error?.message, 'There is no terminal gone.')
      assert.deepEqual(calls, ['kill s t1', 'release s t1'])
    })

    it('stop waiting for a command when they are canceled', async () => {
      const { pipe } = memoryAgent({}, { waitForTerminalExit: () => new Promise(() => {}) })
      const params = { sessionId: 's', terminalId: 't1' }
      pipe.send({ id: 'w', method: 'terminal/wait_for_exit', params })
      pipe.send({ id: 'x', method: '_probe', params: {} })
      await pipe.responseTo('x')
      pipe.send({ method: '$/cancel_request', params: { requestId: 'w' } })
      assert.equal((await pipe.responseTo('w')).error?.code, -32800)
    })

    it('stop reading a file when they are canceled', async () => {
      const person = (signal?: AbortSignal) =>
        new Promise<never>((_, reject) =>
          signal?.addEventListener('abort', () => reject(new CancelledError())),
        )
      const { pipe } = memoryAgent(
        {},
        { readTextFile: (_, signal) => person(signal), writeTextFile: (_, signal) => person(signal) },
      )
      const params = { sessionId: 's', path: '/elsewhere/a', content: '' }
      pipe.send({ id: 'r', method: 'fs/read_text_file', params })
      pipe.send({ id: 'w', method: 'fs/write_text_file', params })
      pipe.send({ id: 'x', method: '_probe', params: {} })
      await pipe.responseTo('x')
      for (const requestId of ['r', 'w']) {
        pipe.send({ method: '$/cancel_request', params: { requestId } })
        assert.equal((await pipe.responseTo(requestId)).error?.code, -32800)
      }
    })

    /** A client whose user answers when the test decides. */
    function person() {
      const asked: PermissionRequest[] = []
      const withdrawn: string[] = []
      const answers: Array<(outcome: PermissionOutcome) => void> = []
      return {
        asked,
        withdrawn,
        answers,
        client: {
          requestPermission(request: PermissionRequest, signal: AbortSignal) {
            asked.push(request)
            return new Promise<PermissionOutcome>(resolve => {
              answers.push(resolve)
              signal.addEventListener('abort', () => {
                withdrawn.push(request.title)
                resolve({ type: 'cancelled' })
              })
            })
          },
        },
      }
    }
    const permission = (id: number | string, title: string, sessionId = 's') => ({
      id,
      method: 'session/request_permission',
      params: {
        sessionId,
        toolCall: { toolCallId: `call-${title}`, title },
        options: [
          { optionId: 'yes', name: 'Yes', kind: 'allow_once' },
          { optionId: 'maybe' },
          { name: 'no id' },
        ],
      },
    })
    const CANCELLED = { outcome: { outcome: 'cancelled' } }

    it('ask the user for permission with all options', async () => {
      const { asked, answers, client } = person()
      const { pipe } = memoryAgent({}, client)
      pipe.send(permission(0, 'Edit'), {
        id: 1,
        method: 'session/request_permission',
        params: { sessionId: 's', options: [] },
      })
      await until(() => answers.length === 2)
      answers[0]?.({ type: 'selected', optionId: 'maybe' })
      answers[1]?.({ type: 'cancelled' })
      assert.deepEqual((await pipe.responseTo(0)).result, {
        outcome: { outcome: 'selected', optionId: 'maybe' },
      })
      assert.deepEqual((await pipe.responseTo(1)).result, CANCELLED)
      assert.deepEqual(asked, [
        {
          sessionId: 's',
          title: 'Edit',
          subject: { type: 'tool_call', toolCall: { toolCallId: 'call-Edit', title: 'Edit' } },
          options: [
            { optionId: 'yes', name: 'Yes', kind: 'allow_once' },
            { optionId: 'maybe', name: 'maybe', kind: '' },
          ],
        },
        { sessionId: 's', title: '', subject: { type: 'none' }, options: [] },
      ])
    })

    it('for permission are answered when the agent cancels them', async () => {
      const { withdrawn, client } = person()
      const { pipe } = memoryAgent({}, client)
      pipe.send(permission('q', 'Edit'), { method: '$/cancel_request', params: { requestId: 'q' } })
      assert.deepEqual((await pipe.responseTo('q')).result, CANCELLED)
      assert.deepEqual(withdrawn, ['Edit'])
    })

    it("for permission fail if the user can't be asked", async () => {
      const { pipe } = memoryAgent({}, { requestPermission: () => Promise.reject(new Error('no view')) })
      pipe.send(permission(0, 'Edit'))
      assert.equal((await pipe.responseTo(0)).error?.message, 'no view')
    })
  })

  it('signs in and out; sign-in can be canceled (quirk 23)', async () => {
    const { agent, pipe } = memoryAgent(ALL)
    const controller = new AbortController()
    const never = agent.authenticate('oauth', controller.signal)
    never.catch(() => {})
    assert.deepEqual((await pipe.waitForMethod('authenticate')).params, { methodId: 'oauth' })
    controller.abort()
    await assert.rejects(never, refused('cancelled'))
    const logout = agent.logout()
    pipe.send({ id: (await pipe.waitForMethod('logout')).id, result: null })
    await logout
  })

  it('finds the handler by method, whatever the parameters, and reports what is malformed (quirk 4)', async () => {
    const { agent, pipe, updates, warnings } = memoryAgent()
    pipe.send(
      { ...chunk('s', 'x'), method: '_vendor/session/update' },
      { method: 'session/update', params: { update: {} } },
      { method: 'session/update' },
      { method: 'session/update', params: { sessionId: 's', update: null } },
      chunk('s', 'fine'),
    )
    const list = agent.authenticate('x')
    pipe.send({ id: (await pipe.waitForMethod('authenticate')).id, result: {} })
    await list
    assert.equal(updates.length, 1)
    assert.equal(warnings.length, 3)
  })
})

describe('requests of v1', () => {
  const capabilities: AgentCapabilities = {
    load: true,
    resume: true,
    list: true,
    close: true,
    delete: true,
    additionalDirectories: true,
    logout: true,
    mcp: { stdio: true, http: false, sse: false },
    prompt: { image: false, audio: false, embeddedContext: false },
  }

  it('contain only servers that the agent supports, and folders only if there are any', () => {
    const setup: SessionSetup = {
      cwd: '/w',
      additionalDirectories: [],
      mcpServers: [{ type: 'sse', name: 's', url: 'https://s.test', headers: [] }],
    }
    assert.deepEqual(setupToWire(setup, capabilities, serverToWire), { cwd: '/w', mcpServers: [] })
  })

  it('omit absent properties of a resource link', () => {
    const link: ContentBlock = { type: 'resource_link', uri: 'file:///a', name: 'a' }
    assert.deepEqual(JSON.parse(JSON.stringify(promptToWire([link], capabilities))), [link])
  })
})
