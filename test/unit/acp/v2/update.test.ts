import assert from 'node:assert/strict'
import fc from 'fast-check'
import type { SessionUpdate } from '../../../../src/acp/model.ts'
import { SessionV2 } from '../../../../src/acp/v2/agent-v2.ts'
import { readUpdate } from '../../../../src/acp/v2/update.ts'

function reader() {
  const updates: SessionUpdate[] = []
  const problems: string[] = []
  const session = new SessionV2(
    's',
    (_, update) => updates.push(update),
    problem => problems.push(problem),
  )
  return { updates, problems, read: (raw: unknown) => readUpdate(raw, session) }
}

function read(...raws: unknown[]): SessionUpdate[] {
  const { updates, problems, read } = reader()
  for (const raw of raws) read(raw)
  assert.deepEqual(problems, [])
  return updates
}

const text = (words: string) => ({ type: 'text' as const, text: words })
const base64 = (bytes: Uint8Array | string) => Buffer.from(bytes as string).toString('base64')

describe('a v2 update', () => {
  for (const [kind, role, chunk] of [
    ['user_message', 'user', 'user_message_chunk'],
    ['agent_message', 'agent', 'agent_message_chunk'],
    ['agent_thought', 'thought', 'agent_thought_chunk'],
  ] as const) {
    it(`${kind} keeps, clears or replaces the content of a message`, () => {
      const update = (content?: unknown) => ({ sessionUpdate: kind, messageId: 'm', content })
      assert.deepEqual(
        read(update(), update(null), update([]), update([text('a'), { type: '_new', x: 1 }])),
        [
          { type: 'message', role, messageId: 'm' },
          { type: 'message', role, messageId: 'm', content: null },
          { type: 'message', role, messageId: 'm', content: [] },
          {
            type: 'message',
            role,
            messageId: 'm',
            content: [text('a'), { type: 'unknown', kind: '_new', raw: { type: '_new', x: 1 } }],
          },
        ],
      )
    })

    it(`${chunk} adds to a message`, () => {
      assert.deepEqual(read({ sessionUpdate: chunk, messageId: 'm', content: text('a') }), [
        { type: 'message_chunk', role, messageId: 'm', content: text('a') },
      ])
    })
  }

  describe('state_update', () => {
    const state = (raw: object) => read({ sessionUpdate: 'state_update', ...raw })

    it('can be running, waiting, or an unknown state', () => {
      for (const name of ['running', 'requires_action', 'unknown', '_dreaming']) {
        assert.deepEqual(state({ state: name }), [{ type: 'state', state: name }])
        assert.deepEqual(state({ state: name, background: null }), [{ type: 'state', state: name }])
        const background = [{ type: 'tool_call', toolCallId: 't' }]
        assert.deepEqual(state({ state: name, background }), [
          { type: 'state', state: name, background: ['t'] },
        ])
      }
    })

    it('can be idle, with or without a reason', () => {
      for (const stopReason of ['end_turn', 'max_tokens', 'refusal', 'cancelled', '_tired']) {
        assert.deepEqual(state({ state: 'idle', stopReason, usage: { totalTokens: 1 } }), [
          { type: 'state', state: 'idle', stopReason },
        ])
      }
      for (const stopReason of [undefined, null, 5, {}]) {
        assert.deepEqual(state({ state: 'idle', stopReason }), [{ type: 'state', state: 'idle' }])
      }
    })

    it('can be idle with an error', () => {
      const error = { code: 429, message: 'Too many', data: { details: 'wait a minute' } }
      assert.deepEqual(state({ state: 'idle', stopReason: 'error', error }), [
        {
          type: 'state',
          state: 'idle',
          stopReason: 'error',
          error: { code: 429, message: 'Too many', detail: 'wait a minute' },
        },
      ])
      assert.deepEqual(state({ state: 'idle', stopReason: 'error', error: { data: 'no quota' } }), [
        { type: 'state', state: 'idle', stopReason: 'error', error: { code: -32603, message: 'no quota' } },
      ])
      assert.deepEqual(state({ state: 'idle', stopReason: 'error', error: null }), [
        { type: 'state', state: 'idle', stopReason: 'error' },
      ])
    })

    it('lists background work', () => {
      const background = [
        { type: 'tool_call', toolCallId: 't' },
        { type: 'terminal', terminalId: 'x' },
        { type: 'subagent', sessionId: 'child' },
        { type: '_swarm', size: 3 },
        5,
      ]
      const reported = {
        background: ['t'],
        backgroundTerminals: ['x'],
        backgroundSubagents: ['child'],
        backgroundOthers: 1,
      }
      for (const name of ['idle', 'running']) {
        assert.deepEqual(state({ state: name, background }), [{ type: 'state', state: name, ...reported }])
      }
      assert.deepEqual(state({ state: 'idle', background: 'much' }), [{ type: 'state', state: 'idle' }])
    })
  })

  describe('tool_call_update', () => {
    const call = (raw: object) => {
      const [update] = read({ sessionUpdate: 'tool_call_update', toolCallId: 't', ...raw })
      assert.ok(update?.type === 'tool_call')
      return update.toolCall
    }

    it('keeps absent properties, clears null and replaces given values', () => {
      assert.deepEqual(call({}), { toolCallId: 't' })
      const fields = ['title', 'name', 'kind', 'status', 'content', 'locations', 'rawInput', 'rawOutput']
      const nulls = Object.fromEntries(fields.map(field => [field, null]))
      assert.deepEqual(call({ ...nulls, capabilities: null }), { toolCallId: 't', ...nulls, canCancel: null })
      assert.deepEqual(
        call({
          title: 'Run',
          name: 'exec',
          kind: '_dance',
          status: 'paused',
          content: [
            { type: 'content', content: text('a') },
            { type: '_hologram', z: 1 },
          ],
          locations: [
            { path: '/a', line: 3 },
            { path: '/b', line: 0 },
          ],
          rawInput: { a: 1 },
          rawOutput: false,
          capabilities: { cancel: {} },
        }),
        {
          toolCallId: 't',
          title: 'Run',
          name: 'exec',
          kind: '_dance',
          status: 'paused',
          content: [
            { type: 'content', content: text('a') },
            { type: 'unknown', kind: '_hologram', raw: { type: '_hologram', z: 1 } },
          ],
          locations: [{ path: '/a', line: 3 }, { path: '/b' }],
          rawInput: { a: 1 },
          rawOutput: false,
          canCancel: true,
        },
      )
      assert.deepEqual(call({ capabilities: {} }), { toolCallId: 't', canCancel: false })
      assert.deepEqual(call({ capabilities: { cancel: null } }), { toolCallId: 't', canCancel: false })
    })

    it('contains diffs of several files with a patch', () => {
      const changes = [
        { operation: 'add', path: '/a', fileType: 'text', mimeType: 'text/plain' },
        { operation: 'move', oldPath: '/b', path: '/c' },
        { operation: 'copy', oldPath: '/b', path: '/e' },
        { operation: 'modify', path: '/f', fileType: 'symlink' },
        { operation: 'delete', path: '/g', fileType: 'directory' },
        { operation: '_swap', path: '/d' },
      ]
      const patch = { format: 'git_patch', text: 'diff --git a/a b/a\n' }
      assert.deepEqual(call({ content: [{ type: 'diff', changes, patch }] }).content, [
        { type: 'diff', changes, patch },
      ])
      assert.deepEqual(call({ content: [{ type: 'diff', changes: [], patch: null }] }).content, [
        { type: 'diff', changes: [] },
      ])
      // a change without a path is unknown
      const raw = { type: 'diff', changes: [{ operation: '_world' }], patch }
      assert.deepEqual(call({ content: [raw] }).content, [{ type: 'unknown', kind: 'diff', raw }])
    })

    it('contains the changes of a diff that are valid, and those that are not as they are', () => {
      const patch = { format: 'git_patch', text: 'diff --git a/a b/a\n' }
      const valid = [
        { operation: 'modify', path: '/w/a' },
        { operation: 'delete', path: '/w/b' },
      ]
      const malformed = [{ operation: 'delete' }, { path: '/w/c' }, 5]
      const changes = [malformed[0], valid[0], malformed[1], valid[1], malformed[2]]
      const diff = { type: 'diff' as const, changes, patch }
      const pieces = [
        { type: 'diff', changes: valid, patch },
        { type: 'unknown', kind: 'diff', raw: { type: 'diff', changes: malformed } },
      ]
      assert.deepEqual(call({ content: [diff, { type: 'terminal', terminalId: 'x' }] }).content, [
        ...pieces,
        { type: 'terminal', terminalId: 'x' },
      ])
      assert.deepEqual(
        read({ sessionUpdate: 'tool_call_content_chunk', toolCallId: 't', content: diff }),
        pieces.map(content => ({ type: 'tool_call_content', toolCallId: 't', content })),
      )
    })
  })

  it('adds one content item with tool_call_content_chunk', () => {
    const chunk = (content: unknown) => ({
      sessionUpdate: 'tool_call_content_chunk',
      toolCallId: 't',
      content,
    })
    assert.deepEqual(read(chunk({ type: 'terminal', terminalId: 'x' }), chunk({ type: '_new' })), [
      { type: 'tool_call_content', toolCallId: 't', content: { type: 'terminal', terminalId: 'x' } },
      {
        type: 'tool_call_content',
        toolCallId: 't',
        content: { type: 'unknown', kind: '_new', raw: { type: '_new' } },
      },
    ])
  })

  describe('terminal_update', () => {
    const terminal = (raw: object) => {
      const [update] = read({ sessionUpdate: 'terminal_update', terminalId: 'x', ...raw })
      assert.ok(update?.type === 'terminal')
      return update.terminal
    }

    it('keeps absent properties, clears null and replaces given values', () => {
      assert.deepEqual(terminal({}), { terminalId: 'x' })
      assert.deepEqual(
        terminal({
          command: null,
          cwd: null,
          output: null,
          exitStatus: null,
          size: null,
          capabilities: null,
        }),
        { terminalId: 'x', command: null, cwd: null, output: null, exit: null, size: null, canCancel: null },
      )
      assert.deepEqual(
        terminal({
          command: 'ls',
          cwd: '/w',
          output: { data: base64('żółć') },
          exitStatus: { exitCode: -1073741510 },
          size: { cols: 80, rows: 24 },
          capabilities: { cancel: {} },
        }),
        {
          terminalId: 'x',
          command: 'ls',
          cwd: '/w',
          output: 'żółć',
          exit: { exitCode: -1073741510, signal: null },
          size: { cols: 80, rows: 24 },
          canCancel: true,
        },
      )
      assert.deepEqual(terminal({ exitStatus: {} }), {
        terminalId: 'x',
        exit: { exitCode: null, signal: null },
      })
    })

    it('replaces all earlier output, including a partial character', () => {
      const bytes = Buffer.from('é')
      const chunk = (data: Uint8Array) => ({
        sessionUpdate: 'terminal_output_chunk',
        terminalId: 'x',
        data: base64(data),
      })
      const snapshot = (output: unknown) => ({ sessionUpdate: 'terminal_update', terminalId: 'x', output })
      assert.deepEqual(
        read(
          chunk(bytes.subarray(0, 1)),
          snapshot({ data: base64(Buffer.concat([Buffer.from('whole '), bytes.subarray(0, 1)])) }),
          chunk(bytes.subarray(1)),
          chunk(bytes.subarray(0, 1)),
          snapshot(null),
          chunk(Buffer.from('a')),
        ),
        [
          { type: 'terminal_output', terminalId: 'x', text: '' },
          { type: 'terminal', terminal: { terminalId: 'x', output: 'whole ' } },
          { type: 'terminal_output', terminalId: 'x', text: 'é' },
          { type: 'terminal_output', terminalId: 'x', text: '' },
          { type: 'terminal', terminal: { terminalId: 'x', output: null } },
          { type: 'terminal_output', terminalId: 'x', text: 'a' },
        ],
      )
    })
  })

  it('decodes terminal_output_chunk however the bytes are cut, separately for each terminal', () => {
    const cuts = fc.record({
      output: fc.string({ unit: 'grapheme', maxLength: 60 }),
      sizes: fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1 }),
    })
    fc.assert(
      fc.property(cuts, cuts, (one, two) => {
        const { updates, problems, read } = reader()
        const pieces = (terminalId: string, { output, sizes }: typeof one) => {
          const bytes = Buffer.from(output)
          const chunks: object[] = []
          for (let start = 0, i = 0; start < bytes.length; i++) {
            const end = start + sizes[i % sizes.length]!
            const data = base64(bytes.subarray(start, end))
            chunks.push({ sessionUpdate: 'terminal_output_chunk', terminalId, data })
            start = end
          }
          return chunks
        }
        const [a, b] = [pieces('a', one), pieces('b', two)]
        for (let i = 0; i < Math.max(a.length, b.length); i++)
          for (const raw of [a[i], b[i]]) if (raw) read(raw)
        const reported = (terminalId: string) =>
          updates
            .map(update =>
              update.type === 'terminal_output' && update.terminalId === terminalId ? update.text : '',
            )
            .join('')
        assert.deepEqual(problems, [])
        assert.equal(reported('a'), one.output)
        assert.equal(reported('b'), two.output)
      }),
    )
  })

  it("reads plan_update by its plan's id: entries, a document, a file, or an unknown kind", () => {
    const entries = [{ content: 'a', priority: 'high', status: 'cancelled' }]
    const newer = { sessionUpdate: 'plan_update', plan: { type: '_map', planId: 'n', x: 1 } }
    const plan = (content: object) => ({ sessionUpdate: 'plan_update', plan: content })
    assert.deepEqual(
      read(
        plan({ type: 'items', planId: 'p', entries }),
        plan({ type: 'markdown', planId: 'm', content: '# Plan' }),
        plan({ type: 'file', planId: 'f', uri: 'file:///w/plan.md' }),
        newer,
        { sessionUpdate: 'plan_removed', planId: 'p' },
        { sessionUpdate: 'plan', entries },
      ),
      [
        { type: 'plan', plan: { planId: 'p', entries } },
        { type: 'plan', plan: { planId: 'm', entries: [], markdown: '# Plan' } },
        {
          type: 'plan',
          plan: { planId: 'f', entries: [], markdown: '<file:///w/plan.md>', uri: 'file:///w/plan.md' },
        },
        { type: 'plan_removed', planId: 'n' },
        { type: 'unknown', kind: 'plan_update', raw: newer },
        { type: 'plan_removed', planId: 'p' },
        { type: 'plan', plan: { planId: 'plan', entries } },
      ],
    )
  })

  it("of the session's properties is read as in v1", () => {
    const option = { configId: 'mode', name: 'Mode', category: 'mode', type: 'select', currentValue: 'a' }
    const groups = [{ groupId: 'g', name: 'Group', options: [{ value: 'a', name: 'A' }] }]
    assert.deepEqual(
      read(
        { sessionUpdate: 'config_option_update', configOptions: [{ ...option, options: groups }] },
        {
          sessionUpdate: 'available_commands_update',
          availableCommands: [
            { type: 'command', name: 'go', description: 'Go', input: { type: 'text', hint: 'where' } },
          ],
        },
        { sessionUpdate: 'session_info_update', title: 'T', updatedAt: null },
        { sessionUpdate: 'usage_update', used: 1, size: 2, cost: { amount: 0.5, currency: 'USD' } },
        { sessionUpdate: 'notice', severity: '_odd', title: 'N', description: 'D' },
        { sessionUpdate: 'compaction_update', compactionId: 'c', status: 'completed', summary: null },
        { sessionUpdate: 'compaction_summary_chunk', compactionId: 'c', content: text('s') },
      ),
      [
        {
          type: 'config_options',
          options: [
            {
              id: 'mode',
              name: 'Mode',
              category: 'mode',
              type: 'select',
              currentValue: 'a',
              choices: [{ value: 'a', name: 'A', group: 'Group' }],
            },
          ],
        },
        { type: 'commands', commands: [{ name: 'go', description: 'Go', hint: 'where' }] },
        { type: 'info', title: 'T', updatedAt: null },
        { type: 'usage', usage: { used: 1, size: 2, cost: { amount: 0.5, currency: 'USD' } } },
        { type: 'notice', severity: '_odd', title: 'N', description: 'D' },
        { type: 'compaction', compactionId: 'c', status: 'completed', summary: null },
        { type: 'compaction_chunk', compactionId: 'c', content: text('s') },
      ],
    )
  })

  it('of an unknown kind is kept unchanged', () => {
    for (const kind of ['_mood', 'mood_update']) {
      const raw = { sessionUpdate: kind, sessionId: 'child', words: ['x'] }
      assert.deepEqual(read(raw), [{ type: 'unknown', kind, raw }])
    }
  })

  it('that is malformed is reported and dropped, without affecting others', () => {
    const malformed = [
      null,
      5,
      [],
      {},
      { sessionUpdate: 3 },
      { sessionUpdate: 'agent_message' },
      { sessionUpdate: 'state_update', state: 1 },
      { sessionUpdate: 'tool_call_update' },
      { sessionUpdate: 'tool_call_content_chunk', toolCallId: 't' },
      { sessionUpdate: 'terminal_update' },
      { sessionUpdate: 'terminal_output_chunk', terminalId: 'x', data: 'no base64!' },
      { sessionUpdate: 'plan_removed' },
      { sessionUpdate: 'subagent_update' },
      { sessionUpdate: 'session_message' },
      { sessionUpdate: 'session_message_chunk', messageId: 'm' },
    ]
    for (const raw of malformed) {
      const { updates, problems, read } = reader()
      read(raw)
      assert.deepEqual(updates, [], JSON.stringify(raw))
      assert.equal(problems.length, 1, JSON.stringify(raw))
    }
    const { updates, problems, read } = reader()
    read({ sessionUpdate: 'terminal_update', terminalId: 'x', command: 'ls', output: { data: '!' } })
    read({ sessionUpdate: 'agent_message', messageId: 'm', content: 5 })
    assert.deepEqual(updates, [
      { type: 'terminal', terminal: { terminalId: 'x', command: 'ls' } },
      { type: 'message', role: 'agent', messageId: 'm' },
    ])
    assert.equal(problems.length, 2)
  })
})
