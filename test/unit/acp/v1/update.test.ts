import assert from 'node:assert/strict'
import fc from 'fast-check'
import type { SessionUpdate } from '../../../../src/acp/model.ts'
import { SessionV1 } from '../../../../src/acp/v1/agent-v1.ts'
import {
  readUpdate,
  withFilesApart,
  withoutMachineText,
  withRemindersApart,
} from '../../../../src/acp/v1/update.ts'

interface Read {
  updates: SessionUpdate[]
  problems: string[]
}

/** The updates that result from the raw updates of one session. */
function read(...raws: unknown[]): Read {
  const updates: SessionUpdate[] = []
  const problems: string[] = []
  const session = new SessionV1(
    's',
    (_sessionId, update) => updates.push(update),
    problem => problems.push(problem),
  )
  for (const raw of raws) readUpdate(raw, session)
  return { updates, problems }
}

function clean(...raws: unknown[]): SessionUpdate[] {
  const { updates, problems } = read(...raws)
  assert.deepEqual(problems, [])
  return updates
}

const text = (words: string) => ({ type: 'text' as const, text: words })

describe('a v1 update', () => {
  it('of a prompt with files keeps them separate from its text (quirk 12)', () => {
    const words = 'look\n--- Content from referenced context ---\nContent from @a.txt:\none'
    const chunk = (content: object) => ({ type: 'message_chunk', role: 'user', content })
    assert.deepEqual(clean({ sessionUpdate: 'user_message_chunk', content: text(words) }), [
      chunk(text('look')),
      chunk({ type: 'resource', uri: 'a.txt', mimeType: 'text/plain', text: 'one' }),
    ])
  })

  describe('of a message', () => {
    for (const [kind, role] of [
      ['user_message_chunk', 'user'],
      ['agent_message_chunk', 'agent'],
      ['agent_thought_chunk', 'thought'],
    ] as const) {
      it(`${kind} adds to a message`, () => {
        assert.deepEqual(clean({ sessionUpdate: kind, content: text('a') }), [
          { type: 'message_chunk', role, content: text('a') },
        ])
      })
    }

    it('keeps the message id and reads null as none', () => {
      const chunk = { sessionUpdate: 'agent_message_chunk', content: text('a') }
      assert.deepEqual(clean({ ...chunk, messageId: 'm1' }, { ...chunk, messageId: null, _meta: { x: 1 } }), [
        { type: 'message_chunk', role: 'agent', messageId: 'm1', content: text('a') },
        { type: 'message_chunk', role: 'agent', content: text('a') },
      ])
    })

    it('reads every kind of content', () => {
      const contents = [
        { type: 'image', data: 'AA==', mimeType: 'image/png', uri: null },
        { type: 'image', data: 'AA==', mimeType: 'image/png', uri: 'file:///a.png' },
        { type: 'audio', data: 'AA==', mimeType: 'audio/wav' },
        {
          type: 'resource_link',
          uri: 'file:///a',
          name: 'a',
          title: 'A',
          description: 'd',
          mimeType: 'm',
          size: 3,
        },
        { type: 'resource_link', uri: 'file:///b' },
        { type: 'resource', resource: { uri: 'file:///a', text: 'x', mimeType: 'text/plain' } },
        { type: 'resource', resource: { uri: 'file:///a', blob: 'AA==' } },
        'bare words',
        { type: 'hologram', frames: 3 },
        { type: 'text' },
      ]
      const updates = clean(...contents.map(content => ({ sessionUpdate: 'agent_message_chunk', content })))
      assert.deepEqual(
        updates.map(update => update.type === 'message_chunk' && update.content),
        [
          { type: 'image', data: 'AA==', mimeType: 'image/png' },
          { type: 'image', data: 'AA==', mimeType: 'image/png', uri: 'file:///a.png' },
          { type: 'audio', data: 'AA==', mimeType: 'audio/wav' },
          contents[3],
          { type: 'resource_link', uri: 'file:///b', name: 'file:///b' },
          { type: 'resource', uri: 'file:///a', text: 'x', mimeType: 'text/plain' },
          { type: 'resource', uri: 'file:///a', blob: 'AA==' },
          text('bare words'),
          { type: 'unknown', kind: 'hologram', raw: { type: 'hologram', frames: 3 } },
          { type: 'unknown', kind: 'text', raw: { type: 'text' } },
        ],
      )
    })

    it('without content is reported and dropped', () => {
      const { updates, problems } = read(
        { sessionUpdate: 'agent_message_chunk' },
        { sessionUpdate: 'agent_message_chunk', content: 5 },
      )
      assert.deepEqual(updates, [])
      assert.equal(problems.length, 2)
    })
  })

  describe('of a tool call', () => {
    it('creates or updates the tool call with the given properties', () => {
      const whole = {
        toolCallId: 't1',
        title: 'Read a',
        name: 'read_file',
        kind: 'read',
        status: 'in_progress',
        content: [{ type: 'content', content: text('x') }],
        locations: [{ path: '/a', line: 3 }],
        rawInput: { path: '/a' },
        rawOutput: [104, 105],
      }
      assert.deepEqual(
        clean(
          { sessionUpdate: 'tool_call', ...whole },
          { sessionUpdate: 'tool_call_update', toolCallId: 't2', status: 'completed' },
          {
            sessionUpdate: 'tool_call_update',
            toolCallId: 't3',
            kind: 'teleport',
            status: 'dreaming',
            rawOutput: '',
          },
        ),
        [
          { type: 'tool_call', toolCall: whole, isNew: true },
          { type: 'tool_call', toolCall: { toolCallId: 't2', status: 'completed' } },
          {
            type: 'tool_call',
            toolCall: { toolCallId: 't3', kind: 'teleport', status: 'dreaming', rawOutput: '' },
          },
        ],
      )
    })

    it("reads the tool's name from the metadata, as Qwen Code reports it", () => {
      const named = (_meta: unknown) => clean({ sessionUpdate: 'tool_call_update', toolCallId: 't', _meta })
      assert.deepEqual(named({ toolName: 'echo' }), [
        { type: 'tool_call', toolCall: { toolCallId: 't', name: 'echo' } },
      ])
      for (const meta of [null, { toolName: 7 }, 'x'])
        assert.deepEqual(named(meta), [{ type: 'tool_call', toolCall: { toolCallId: 't' } }])
    })

    it('reads the call of the subagent that made it from the metadata, as older versions of claude-agent-acp report it', () => {
      const made = (_meta: unknown) => clean({ sessionUpdate: 'tool_call_update', toolCallId: 't', _meta })
      assert.deepEqual(made({ claudeCode: { toolName: 'Read', parentToolUseId: 'task' } }), [
        { type: 'tool_call', toolCall: { toolCallId: 't', parentId: 'task' } },
      ])
      for (const meta of [
        { claudeCode: null },
        { claudeCode: { parentToolUseId: null } },
        { claudeCode: 'x' },
      ])
        assert.deepEqual(made(meta), [{ type: 'tool_call', toolCall: { toolCallId: 't' } }])
    })

    it('reads null and values of the wrong type as absent, and keeps empty lists', () => {
      const toolCall = {
        toolCallId: 't',
        title: null,
        kind: 5,
        status: null,
        content: null,
        locations: [],
        rawInput: null,
        rawOutput: null,
      }
      assert.deepEqual(clean({ sessionUpdate: 'tool_call_update', ...toolCall }), [
        { type: 'tool_call', toolCall: { toolCallId: 't', locations: [] } },
      ])
    })

    it('drops only a malformed item and keeps one of an unknown kind', () => {
      const { updates, problems } = read({
        sessionUpdate: 'tool_call',
        toolCallId: 't',
        content: [
          7,
          { type: 'content', content: text('a') },
          { type: 'diff', path: '/a' },
          { type: 'chart', data: [1] },
          { type: 'terminal', terminalId: 'x' },
          { type: 'content' },
          { type: 'text', text: 'without its wrapper' },
        ],
        locations: [
          { path: '' },
          { path: '/a', line: null },
          { path: '/b', line: 0 },
          { path: '/c', line: 2.5 },
          'x',
        ],
      })
      const [update] = updates
      assert.ok(update?.type === 'tool_call')
      assert.deepEqual(update.toolCall.content, [
        { type: 'content', content: text('a') },
        { type: 'unknown', kind: 'diff', raw: { type: 'diff', path: '/a' } },
        { type: 'unknown', kind: 'chart', raw: { type: 'chart', data: [1] } },
        { type: 'terminal', terminalId: 'x' },
        { type: 'unknown', kind: 'content', raw: { type: 'content' } },
        { type: 'content', content: text('without its wrapper') },
      ])
      assert.deepEqual(update.toolCall.locations, [{ path: '/a' }, { path: '/b' }, { path: '/c' }])
      assert.equal(problems.length, 3)
    })

    it('reads diffs of new, changed and deleted files (quirk 9)', () => {
      const diffs = [
        { path: '/new', newText: 'n' },
        { path: '/new', oldText: null, newText: 'n' },
        { path: '/new', oldText: '', newText: 'n' },
        { path: 'relative/a', oldText: 'o', newText: 'n' },
        { path: '/a', oldText: 'o', newText: '', _meta: { kind: 'delete' } },
        { path: '/a', oldText: 'o', newText: 'n', _meta: { kind: 'update' } },
      ].map(diff => ({ type: 'diff', ...diff }))
      const [update] = clean({ sessionUpdate: 'tool_call', toolCallId: 't', content: diffs })
      assert.ok(update?.type === 'tool_call')
      assert.deepEqual(
        update.toolCall.content?.map(content => content.type === 'diff' && content.changes[0]),
        [
          { operation: 'add', path: '/new', newText: 'n' },
          { operation: 'add', path: '/new', newText: 'n' },
          { operation: 'add', path: '/new', newText: 'n' },
          { operation: 'modify', path: 'relative/a', oldText: 'o', newText: 'n' },
          { operation: 'delete', path: '/a', oldText: 'o', newText: '' },
          { operation: 'modify', path: '/a', oldText: 'o', newText: 'n' },
        ],
      )
    })

    it('reports terminals of the agent itself (quirk 8)', () => {
      const updates = clean(
        {
          sessionUpdate: 'tool_call',
          toolCallId: 't',
          content: [{ type: 'terminal', terminalId: 't' }],
          _meta: { terminal_info: { terminal_id: 't', cwd: '/w' } },
        },
        {
          sessionUpdate: 'tool_call_update',
          toolCallId: 't',
          status: 'failed',
          _meta: {
            terminal_output_delta: { terminal_id: 't', data: 'out\n' },
            terminal_exit: { terminal_id: 't', exit_code: 3, signal: null },
          },
        },
      )
      assert.deepEqual(updates, [
        {
          type: 'tool_call',
          toolCall: { toolCallId: 't', content: [{ type: 'terminal', terminalId: 't' }] },
          isNew: true,
        },
        { type: 'terminal', terminal: { terminalId: 't', cwd: '/w' } },
        { type: 'tool_call', toolCall: { toolCallId: 't', status: 'failed' } },
        { type: 'terminal_output', terminalId: 't', text: 'out\n' },
        { type: 'terminal', terminal: { terminalId: 't', exit: { exitCode: 3, signal: null } } },
      ])
    })

    it("shows the agent's terminal once in its tool call if the content doesn't contain it", () => {
      const output = (data: string) => ({
        sessionUpdate: 'tool_call_update',
        toolCallId: 't',
        _meta: { terminal_output: { terminal_id: 'x', data } },
      })
      assert.deepEqual(
        clean(output('1'), output('2'), { ...output('3'), _meta: { terminal_output: { data: 3 } } }),
        [
          { type: 'tool_call', toolCall: { toolCallId: 't' } },
          { type: 'tool_call_content', toolCallId: 't', content: { type: 'terminal', terminalId: 'x' } },
          { type: 'terminal_output', terminalId: 'x', text: '1' },
          { type: 'tool_call', toolCall: { toolCallId: 't' } },
          { type: 'terminal_output', terminalId: 'x', text: '2' },
          { type: 'tool_call', toolCall: { toolCallId: 't' } },
        ],
      )
    })

    it('without an id is reported and dropped', () => {
      const { updates, problems } = read({ sessionUpdate: 'tool_call', title: 'x' })
      assert.deepEqual(updates, [])
      assert.match(problems[0] ?? '', /toolCallId/)
    })
  })

  it("of a plan with an id can be a list, a document or a file, until it's removed", () => {
    const entries = [{ content: 'do', priority: 'high', status: 'completed' }]
    const plan = (content: object) => ({ sessionUpdate: 'plan_update', plan: content })
    assert.deepEqual(
      clean(
        plan({ type: 'items', planId: 'i', entries }),
        plan({ type: 'markdown', planId: 'm', content: '# Plan\n- do' }),
        plan({ type: 'file', planId: 'f', uri: 'file:///w/plan.md' }),
        { sessionUpdate: 'plan_removed', planId: 'm' },
      ),
      [
        { type: 'plan', plan: { planId: 'i', entries } },
        { type: 'plan', plan: { planId: 'm', entries: [], markdown: '# Plan\n- do' } },
        {
          type: 'plan',
          plan: { planId: 'f', entries: [], markdown: '<file:///w/plan.md>', uri: 'file:///w/plan.md' },
        },
        { type: 'plan_removed', planId: 'm' },
      ],
    )
  })

  it('of a plan keeps the readable entries', () => {
    const entries = [
      { content: 'a', priority: 'high', status: 'completed' },
      { content: 'b' },
      { priority: 'low' },
    ]
    const { updates, problems } = read(
      { sessionUpdate: 'plan', entries },
      { sessionUpdate: 'plan', entries: 'none' },
    )
    assert.deepEqual(updates, [
      {
        type: 'plan',
        plan: {
          planId: 'plan',
          entries: [
            { content: 'a', priority: 'high', status: 'completed' },
            { content: 'b', priority: 'medium', status: 'pending' },
          ],
        },
      },
    ])
    assert.equal(problems.length, 2)
  })

  it('of commands keeps those with a name', () => {
    const availableCommands = [
      { name: 'plan', description: 'Plan it', input: { hint: 'what' } },
      { name: 'go', description: null, input: null },
      { name: '' },
    ]
    assert.deepEqual(read({ sessionUpdate: 'available_commands_update', availableCommands }).updates, [
      {
        type: 'commands',
        commands: [
          { name: 'plan', description: 'Plan it', hint: 'what' },
          { name: 'go', description: '' },
        ],
      },
    ])
  })

  it('of the session reports the given properties, and null clears', () => {
    assert.deepEqual(
      clean(
        { sessionUpdate: 'session_info_update', title: 'T', updatedAt: '2026-11-20T10:00:00.123456+01:00' },
        { sessionUpdate: 'session_info_update', title: null },
        { sessionUpdate: 'session_info_update', updatedAt: null },
        { sessionUpdate: 'session_info_update', _meta: { codex: {} } },
      ),
      [
        { type: 'info', title: 'T', updatedAt: '2026-11-20T09:00:00.123Z' },
        { type: 'info', title: null },
        { type: 'info', updatedAt: null },
      ],
    )
  })

  it('reports what claude-agent-acp adds to its updates', () => {
    const suggests = (suggestions: unknown) => ({
      sessionUpdate: 'session_info_update',
      _meta: { promptSuggestions: { suggestions } },
    })
    const limited = (rateLimit: unknown) => ({
      sessionUpdate: 'usage_update',
      used: 1,
      size: 2,
      _meta: { '_claude/rateLimit': rateLimit },
    })
    assert.deepEqual(
      clean(
        suggests([{ text: ' Run the tests ' }, { text: 'Or not' }]),
        suggests([]),
        suggests([3, { text: '' }, { text: 'x'.repeat(1001) }]),
        suggests('none'),
        limited({ status: 'allowed_warning', rateLimitType: 'five_hour', utilization: 0.92, resetsAt: 10 }),
        limited({ status: 'allowed', utilization: 45, overageStatus: 'rejected' }),
        limited({ status: 'rejected', utilization: -1, resetsAt: 'soon' }),
        limited({ utilization: 0.5 }),
        limited(null),
      ),
      [
        { type: 'suggestion', text: 'Run the tests' },
        { type: 'suggestion' },
        { type: 'suggestion' },
        {
          type: 'usage',
          usage: {
            used: 1,
            size: 2,
            limit: { kind: 'five_hour', status: 'allowed_warning', share: 0.92, resetsAt: 10_000 },
          },
        },
        { type: 'usage', usage: { used: 1, size: 2, limit: { kind: '', status: 'allowed', share: 0.45 } } },
        { type: 'usage', usage: { used: 1, size: 2, limit: { kind: '', status: 'rejected' } } },
        { type: 'usage', usage: { used: 1, size: 2 } },
        { type: 'usage', usage: { used: 1, size: 2 } },
      ],
    )
  })

  it('reports usage, a notice and a compaction', () => {
    assert.deepEqual(
      clean(
        { sessionUpdate: 'usage_update', used: 5, size: 100, cost: { amount: 0.5, currency: 'EUR' } },
        { sessionUpdate: 'usage_update', used: 5, size: 100 },
        { sessionUpdate: 'usage_update', used: 5, size: 100, cost: null },
        { sessionUpdate: 'notice', severity: 'warning', title: 'Slow', description: 'very' },
        { sessionUpdate: 'notice', title: 'Fine' },
        { sessionUpdate: 'compaction_update', compactionId: 'c', status: 'in_progress' },
        { sessionUpdate: 'compaction_summary_chunk', compactionId: 'c', content: text('s') },
        {
          sessionUpdate: 'compaction_update',
          compactionId: 'c',
          status: 'failed',
          summary: [text('s')],
          error: 'no',
        },
        { sessionUpdate: 'compaction_update', compactionId: 'c', status: 'odd', summary: null, error: null },
      ),
      [
        { type: 'usage', usage: { used: 5, size: 100, cost: { amount: 0.5, currency: 'EUR' } } },
        { type: 'usage', usage: { used: 5, size: 100 } },
        { type: 'usage', usage: { used: 5, size: 100, cost: null } },
        { type: 'notice', severity: 'warning', title: 'Slow', description: 'very' },
        { type: 'notice', severity: 'info', title: 'Fine' },
        { type: 'compaction', compactionId: 'c', status: 'in_progress' },
        { type: 'compaction_chunk', compactionId: 'c', content: text('s') },
        { type: 'compaction', compactionId: 'c', status: 'failed', summary: [text('s')], error: 'no' },
        { type: 'compaction', compactionId: 'c', status: 'odd', summary: null, error: null },
      ],
    )
  })

  it('of an unknown kind is kept unchanged', () => {
    const raw = { sessionUpdate: 'last_turn_summary', summary: 'x' }
    assert.deepEqual(clean(raw), [{ type: 'unknown', kind: 'last_turn_summary', raw }])
  })

  it("that isn't an update is reported and dropped", () => {
    for (const raw of [
      undefined,
      null,
      5,
      'x',
      [],
      {},
      { sessionUpdate: 5 },
      { sessionUpdate: 'current_mode_update' },
    ]) {
      const { updates, problems } = read(raw)
      assert.deepEqual(updates, [])
      assert.equal(problems.length, 1)
    }
  })

  it('never throws', () => {
    const kinds = [
      'user_message_chunk',
      'agent_message_chunk',
      'agent_thought_chunk',
      'tool_call',
      'tool_call_update',
      'plan',
      'available_commands_update',
      'current_mode_update',
      'config_option_update',
      'session_info_update',
      'usage_update',
      'notice',
      'compaction_update',
      'compaction_summary_chunk',
    ]
    const keys = [
      'content',
      'messageId',
      'toolCallId',
      'title',
      'status',
      'locations',
      'rawInput',
      'entries',
      'availableCommands',
      'currentModeId',
      'configOptions',
      'updatedAt',
      'used',
      'size',
      'compactionId',
      'summary',
      '_meta',
    ]
    const value = fc.oneof(
      fc.jsonValue({ maxDepth: 3 }),
      fc.array(
        fc.record(
          {
            type: fc.constantFrom('text', 'content', 'diff', 'terminal', 'select', 'boolean', 'image'),
            id: fc.string(),
            content: fc.jsonValue(),
            options: fc.array(fc.jsonValue()),
            currentValue: fc.jsonValue(),
            path: fc.string(),
            newText: fc.jsonValue(),
          },
          { requiredKeys: [] },
        ),
      ),
    )
    const update = fc
      .tuple(fc.constantFrom(...kinds), fc.dictionary(fc.constantFrom(...keys), value))
      .map(([sessionUpdate, rest]) => ({ ...rest, sessionUpdate }))
    fc.assert(
      fc.property(fc.array(fc.oneof(update, fc.jsonValue())), raws => {
        for (const made of read(...raws).updates) assert.equal(typeof made.type, 'string')
      }),
    )
  })
})

const textBlock = (value: string) => ({ type: 'text' as const, text: value })

describe('generated text in a replay', () => {
  it('becomes a resource if it describes the workspace to the model (quirk 12)', () => {
    const context = '<session_context>\nThis is the Gemini CLI.\n</session_context>'
    assert.deepEqual(withoutMachineText(textBlock(context)), {
      type: 'resource',
      uri: 'session_context',
      mimeType: 'text/plain',
      text: context,
      agentOnly: true,
    })
  })

  it('is dropped if it only reports the result of a tool (quirk 12)', () => {
    assert.equal(withoutMachineText(textBlock('[Function Response: read_file]')), undefined)
    assert.equal(withoutMachineText(textBlock('[Function Response: a][Function Response: b]')), undefined)
  })

  it('becomes a file if it is the content of a mentioned file (quirk 12)', () => {
    const heading = '\n--- Content from referenced context ---'
    const file = (uri: string, words: string) => ({
      type: 'resource',
      uri,
      mimeType: 'text/plain',
      text: words,
    })
    const replayed = `look at @a.txt${heading}\nContent from @file:///w/a.txt:\none\ntwo\n\nContent from @b.txt:\nthree`
    assert.deepEqual(withFilesApart(textBlock(replayed)), [
      textBlock('look at @a.txt'),
      file('file:///w/a.txt', 'one\ntwo\n'),
      file('b.txt', 'three'),
    ])
    const link = { type: 'resource_link' as const, uri: 'file:///a', name: 'a' }
    for (const other of [
      link,
      textBlock('look'),
      textBlock(`look${heading}`),
      textBlock('\nContent from @a:\nx'),
    ]) {
      assert.deepEqual(withFilesApart(other), [other])
    }
  })

  it('of Kimi Code becomes resources beside the prompt', () => {
    const note = '<system-reminder>\nYou are in plan mode.\n</system-reminder>'
    const resource = {
      type: 'resource' as const,
      uri: 'system-reminder',
      mimeType: 'text/plain',
      text: note,
      agentOnly: true as const,
    }
    assert.deepEqual(withRemindersApart(textBlock(note)), [resource])
    assert.deepEqual(withRemindersApart(textBlock(`${note}\n\nfix it`)), [resource, textBlock('fix it')])
    assert.deepEqual(withRemindersApart(textBlock(`fix it\n${note}${note}`)), [
      textBlock('fix it'),
      { ...resource, text: note + note },
    ])
    const asked = textBlock(`What does ${note} mean?`)
    assert.deepEqual(withRemindersApart(asked), [asked])
    assert.deepEqual(withRemindersApart(textBlock('<system-reminder> is a tag ')), [
      textBlock('<system-reminder> is a tag '),
    ])
    assert.deepEqual(
      clean({ sessionUpdate: 'user_message_chunk', content: textBlock(`${note}fix it`) }).map(update =>
        update.type === 'message_chunk' ? update.content : undefined,
      ),
      [resource, textBlock('fix it')],
    )
  })

  it("isn't confused with text that a user wrote", () => {
    for (const written of [
      'hello',
      '<b>hello</b>',
      '<session_context> is what it says',
      '[Function Response: a] was printed. Why?',
      '[x]',
      '',
    ]) {
      assert.deepEqual(withoutMachineText(textBlock(written)), textBlock(written))
    }
    const link = { type: 'resource_link' as const, uri: 'file:///a', name: 'a' }
    assert.equal(withoutMachineText(link), link)
  })
})
