import assert from 'node:assert/strict'
import type { SessionUpdate, ToolCallPatch } from '../../../src/acp/model.ts'
import { AgentSessions } from '../../../src/conversation/agent-sessions.ts'
import { reduce } from '../../../src/conversation/reducer/reduce.ts'
import { type LocalEvent, reduceLocal } from '../../../src/conversation/reducer/reduce-local.ts'
import { createSessionState, type ReducingState } from '../../../src/conversation/reducer/reducing-state.ts'
import { Clock } from './clock.ts'
import { FakeAgent } from './fake-agent.ts'
import { chunk, Follower, idle, modes, permissionRequest, running, summarize, text, tool } from './updates.ts'

const setup = { cwd: '/w', additionalDirectories: [], mcpServers: [] }
const MARK = "The messages above come from Parley's saved copy."
const SOME = "Some of the messages above come from Parley's saved copy."

function kept(): ReducingState {
  const state = createSessionState()
  for (const update of [chunk('user', 'once'), chunk('agent', 'said')]) reduce(state, update)
  state.title = 'Kept'
  return state
}

async function load(known: () => ReducingState | undefined = kept) {
  const agent = new FakeAgent()
  const clock = new Clock()
  const sessions = new AgentSessions(agent, { now: () => clock.now, schedule: clock.schedule })
  const { session, opened } = sessions.loadSession('s', setup, undefined, known)
  const changes: string[] = []
  session.onDidChange(list => changes.push(...list.map(({ type }) => type)))
  const answer = async () => {
    agent.loads[0]?.resolve({ sessionId: 's', configOptions: [modes('code')] })
    await opened
  }
  const titles = () => session.state.entries.flatMap(entry => (entry.kind === 'notice' ? entry.title : []))
  return { agent, clock, session, answer, changes, titles }
}

const before = ['user: once', 'agent: said']

describe('a load without a replay', () => {
  it('keeps the saved conversation and reported properties of the session, and adds a note', async () => {
    const { clock, session, answer, changes, titles } = await load()
    await answer()
    assert.deepEqual(summarize(session.state).slice(0, 2), before)
    assert.ok(changes.includes('reset'))
    const [option] = session.state.configOptions
    assert.equal(option?.type === 'select' && option.currentValue, 'code')
    assert.deepEqual([session.state.title, session.state.activity], ['Kept', 'idle'])
    assert.deepEqual(titles(), [])
    clock.pass(250)
    assert.deepEqual(titles(), [MARK])
  })

  it('can be followed by the next turn', async () => {
    const { agent, session, answer, titles } = await load()
    await answer()
    const turn = session.prompt([text('and now')])
    agent.say('s', running, chunk('agent', 'go on'))
    agent.endTurn(agent.prompts[0]!)
    await turn
    assert.deepEqual(titles(), [MARK])
    assert.deepEqual(
      session.state.entries.map(({ kind }) => kind),
      ['message', 'message', 'notice', 'message', 'message'],
    )
    // an echo isn't a replay
    agent.say('s', chunk('user', 'unasked'))
    assert.equal(session.state.entries.length, 6)
  })

  it('is merged with a replay that arrives after the response', async () => {
    const { agent, clock, session, answer } = await load()
    await answer()
    clock.pass(250)
    agent.say('s', { type: 'info', title: 'Told' }, chunk('agent', 'welcome'))
    assert.deepEqual(summarize(session.state).slice(0, 2), before)
    agent.say('s', chunk('user', 'once'), chunk('agent', 'said'))
    clock.pass(250)
    agent.say('s', chunk('user', 'replayed'), chunk('agent', 'late'))
    clock.pass(250)
    const merged = [...before, 'agent: welcome', 'user: replayed', 'agent: late']
    assert.deepEqual(summarize(session.state), merged)
    assert.deepEqual([session.state.title, session.state.configOptions.length], ['Told', 1])
    // a prompt of the user ends the replay
    agent.say('s', chunk('user', 'the third'))
    void session.prompt([text('and now')])
    agent.say('s', chunk('agent', 'go on'))
    assert.deepEqual(summarize(session.state), [
      ...merged,
      'user: the third',
      'user: and now',
      'agent: go on',
    ])
  })

  it('adds the note only once', async () => {
    const first = await load()
    await first.answer()
    first.clock.pass(250)
    const again = await load(() => first.session.conversation.state)
    await again.answer()
    again.clock.pass(250)
    assert.deepEqual(again.titles(), [MARK])
  })

  it('adds no note if nothing was saved or something is replayed', async () => {
    const none = await load(() => undefined)
    await none.answer()
    assert.equal(none.clock.waiting, 0)
    assert.deepEqual(none.session.state.entries, [])

    const some = await load(() => undefined)
    some.agent.say('s', chunk('agent', 'replayed'))
    await some.answer()
    assert.deepEqual(summarize(some.session.state), ['agent: replayed'])
  })

  it("doesn't change an open conversation", async () => {
    const { agent, session, answer } = await load(() => undefined)
    agent.say('s', chunk('user', 'open'))
    await answer()
    session.beginLoad(setup)
    assert.deepEqual(session.state.entries, [])
    session.loaded()
    assert.deepEqual(summarize(session.state), ['user: open'])
  })
})

describe('a load that replays less than the conversation', () => {
  /** A completed turn, and one that was interrupted during its answer. */
  function seen(): ReducingState {
    const state = createSessionState()
    const local = (event: LocalEvent) => reduceLocal(state, event, 1000)
    const agent = (...updates: SessionUpdate[]) => {
      for (const update of updates) reduce(state, update, 2000)
    }
    local({ type: 'prompt', content: [text('fix the bug')] })
    agent(running, chunk('thought', 'hm'), chunk('agent', 'I look at it. '))
    agent(tool('t', { title: 'Edit', status: 'pending' }))
    const request = permissionRequest({ subject: { type: 'tool_call', toolCall: { toolCallId: 't' } } })
    local({ type: 'permission_asked', requestId: 'q', request })
    local({ type: 'request_answered', requestId: 'q', outcome: { type: 'selected', optionId: 'yes' } })
    agent(tool('t', { status: 'completed' }), chunk('agent', 'It is fixed.'), idle('end_turn'))
    local({ type: 'prompt', content: [text('and the other one')] })
    agent(running, chunk('agent', 'Half of the ans'))
    local({ type: 'agent_gone' })
    state.title = 'Two bugs'
    return state
  }
  const first = [
    'user: fix the bug',
    'thought: hm',
    'agent: I look at it. ',
    'tool t: completed',
    'permission May I?: selected',
    'agent: It is fixed.',
  ]
  const second = ['user: and the other one', 'agent: Half of the ans', 'turn_end: interrupted']

  async function replayed(...updates: SessionUpdate[]) {
    const loading = await load(seen)
    loading.agent.say('s', ...updates)
    await loading.answer()
    loading.clock.pass(5000)
    return loading
  }

  it("keeps everything that isn't replayed, such as the interrupted turn, with a note (quirk 25)", async () => {
    const { session } = await replayed(
      chunk('user', 'fix the bug'),
      // in one chunk, with different line breaks
      chunk('agent', 'I look at it.\nIt is fixed.'),
      tool('t', { title: 'Edit', status: 'completed' }),
    )
    assert.deepEqual(summarize(session.state), [...first, ...second, `notice: ${SOME}`])
    assert.equal(session.state.title, 'Two bugs')
    assert.deepEqual(
      session.state.entries.map(({ id, turn }) => `${id} ${turn}`),
      session.state.entries.map((_, i) => `e${i} ${i < first.length ? 1 : 2}`),
    )
    assert.equal(session.state.entries[0]?.startedAt, 1000, 'as it was seen')
  })

  it('says nothing about what the agent sends outside of any turn', async () => {
    const agent = new FakeAgent()
    const clock = new Clock()
    const sessions = new AgentSessions(agent, { now: () => clock.now, schedule: clock.schedule })
    const opened = sessions.newSession(setup)
    agent.newSessions[0]?.resolve({ sessionId: 's', configOptions: [] })
    const session = await opened
    agent.say('s', chunk('agent', 'pi v1.0. Nothing to update.'))
    const turn = session.prompt([text('once')])
    agent.say('s', chunk('agent', 'said'))
    agent.endTurn(agent.prompts[0]!)
    await turn
    agent.say(
      's',
      { type: 'message_end' },
      chunk('agent', 'There is a new version.'),
      tool('m', { title: 'MCP' }),
    )
    const known = session.state as ReducingState
    const seen = ['agent: pi v1.0. Nothing to update.', 'user: once', 'agent: said']
    const later = ['agent: There is a new version.', 'tool m: pending']
    assert.deepEqual(summarize(known), [...seen, ...later])

    const replay = [chunk('user', 'once'), chunk('agent', 'said')]
    for (const updates of [replay, [chunk('agent', 'pi v1.1'), ...replay]]) {
      const loading = await load(() => structuredClone(known))
      loading.agent.say('s', ...updates)
      await loading.answer()
      loading.agent.say('s', { type: 'message_end' }, chunk('agent', 'There is a new version.'))
      loading.clock.pass(5000)
      assert.deepEqual(loading.titles(), [])
      assert(summarize(loading.session.state).includes('agent: There is a new version.'))
    }

    // a replay of nothing but a banner is none
    const empty = await load(() => structuredClone(known))
    empty.agent.say('s', chunk('agent', 'pi v1.1'))
    await empty.answer()
    empty.clock.pass(5000)
    assert.deepEqual(empty.titles(), [MARK])
    assert(summarize(empty.session.state).includes('agent: pi v1.1'))
  })

  it('says nothing about a session with nothing but a banner', async () => {
    const banner = createSessionState()
    reduce(banner, chunk('agent', 'pi v1.0'))
    for (const updates of [[], [chunk('agent', 'pi v1.0')]]) {
      const loading = await load(() => structuredClone(banner))
      loading.agent.say('s', ...updates)
      await loading.answer()
      loading.clock.pass(5000)
      assert.deepEqual(summarize(loading.session.state), ['agent: pi v1.0'])
    }
  })

  it('recognizes turns that are replayed with more blocks in the prompt, and other ids and titles of tool calls', async () => {
    const state = createSessionState()
    const edit: Omit<ToolCallPatch, 'toolCallId'> = {
      kind: 'edit',
      status: 'completed',
      locations: [{ path: '/w/a.ts' }],
    }
    reduceLocal(state, { type: 'prompt', content: [text('fix the bug')] })
    for (const update of [
      tool('1', { ...edit, title: 'Editing a.ts' }),
      tool('2', { ...edit, title: 'Editing a.ts again' }),
      chunk('agent', 'Fixed.'),
      idle('end_turn'),
    ])
      reduce(state, update)
    const known = summarize(state)
    for (const prompt of [
      [chunk('user', 'It is Monday.'), chunk('user', 'fix the bug')],
      [chunk('user', 'fix  the bug'), chunk('user', 'It is Monday.')],
    ]) {
      const { agent, clock, session, answer, titles } = await load(() => state)
      agent.say(
        's',
        ...prompt,
        tool('r1', { ...edit, title: 'Edit' }),
        tool('r2', { ...edit, title: 'Edit' }),
      )
      agent.say('s', chunk('agent', 'Fixed.'))
      await answer()
      clock.pass(5000)
      assert.deepEqual(titles(), [])
      assert.deepEqual(summarize(session.state), ['user: fix the bug|It is Monday.', ...known.slice(1)])
    }
  })

  it('appends the rest of a message to it, and adds later work after it', async () => {
    const { agent, session } = await replayed(
      chunk('user', 'fix the bug'),
      chunk('agent', 'I look at it. It is fixed.'),
      tool('t', { title: 'Edit', status: 'completed' }),
      chunk('user', 'and the other one'),
      chunk('agent', 'Half of the answer, and the rest of it.'),
      tool('t2', { title: 'Test', status: 'completed' }),
      chunk('user', 'said elsewhere'),
    )
    assert.deepEqual(summarize(session.state), [
      ...first,
      second[0],
      'agent: Half of the answer, and the rest of it.',
      'tool t2: completed',
      second[2],
      'user: said elsewhere',
    ])
    agent.say('s', tool('t2', { title: 'Tests' }))
    const tools = session.state.entries.flatMap(entry => (entry.kind === 'tool_call' ? entry.title : []))
    assert.deepEqual(tools, ['Edit', 'Tests'], 'it is known by its id')
  })

  it('keeps tool calls of two turns apart that have the same id', async () => {
    const call = (title: string, status: string): SessionUpdate => ({
      type: 'tool_call',
      toolCall: { toolCallId: 't', title, status },
      isNew: true,
    })
    const both = ['user: one', 'tool t: completed', 'user: two', 'tool t: failed']
    const updates = [
      chunk('user', 'one'),
      call('Read', 'completed'),
      chunk('user', 'two'),
      call('Edit', 'failed'),
    ]
    const state = createSessionState()
    for (const update of updates) reduce(state, update)
    assert.deepEqual(summarize(state), both)
    for (const known of [undefined, state]) {
      const { agent, session, answer, clock } = await load(() => known)
      agent.say('s', ...updates)
      await answer()
      clock.pass(5000)
      assert.deepEqual(summarize(session.state), both)
      agent.say('s', tool('t', { title: 'Edit b' }))
      const titles = session.state.entries.flatMap(entry => (entry.kind === 'tool_call' ? entry.title : []))
      assert.deepEqual(titles, ['Read', 'Edit b'])
    }
  })

  it('splits prompts that are replayed as one, and recognizes known prompts among similar ones', async () => {
    const state = createSessionState()
    for (const [prompt, answer] of [
      ['go on', ''],
      ['go on', 'the first answer'],
      ['go on', ''],
    ] as const) {
      reduceLocal(state, { type: 'prompt', content: [text(prompt)] })
      reduce(state, running)
      if (answer) reduce(state, chunk('agent', answer))
      reduce(state, idle('end_turn'))
    }
    const { agent, session, answer } = await load(() => state)
    agent.say('s', chunk('user', 'go on'), chunk('user', 'go on'), chunk('agent', 'the first answer'))
    await answer()
    assert.deepEqual(summarize(session.state).slice(0, 5), [
      'user: go on',
      'turn_end: empty',
      'user: go on',
      'agent: the first answer',
      'user: go on',
    ])
  })

  it('shows the name of a prompt file although its text is replayed', async () => {
    const file = { type: 'resource', uri: 'parley:prompt/%2Fx', text: 'Do it\n\n', asText: true } as const
    const known = () => {
      const state = createSessionState()
      reduceLocal(state, { type: 'prompt', content: [file, text(' now')] })
      reduce(state, running)
      reduce(state, chunk('agent', 'Done.'))
      reduce(state, idle('end_turn'))
      return state
    }
    const { agent, session, answer } = await load(known)
    agent.say('s', chunk('user', 'Do it\n\n now'), chunk('agent', 'Done.'))
    await answer()
    const prompts = session.state.entries.filter(entry => entry.kind === 'message' && entry.role === 'user')
    assert.deepEqual(
      prompts.map(entry => entry.kind === 'message' && entry.blocks),
      [[file, text(' now')]],
    )
  })

  it('keeps a prompt that begins like a known one, and recognizes mentions that are replayed as text', async () => {
    const known = () => {
      const state = createSessionState()
      const file = { type: 'resource_link', uri: 'file:///w/my%20a.ts', name: 'my a.ts' } as const
      const prompts = [
        [text('fix the bug in '), file, text(' and test it')],
        [text('fix the bug in the parser')],
      ]
      for (const [i, content] of prompts.entries()) {
        reduceLocal(state, { type: 'prompt', content })
        reduce(state, running)
        reduce(state, chunk('agent', `Answer number ${i}.`))
        reduce(state, idle('end_turn'))
      }
      return state
    }
    const { agent, session, answer } = await load(known)
    agent.say('s', chunk('user', 'fix the bug in @my a.ts and test it'), chunk('agent', 'Answer number 0.'))
    agent.say(
      's',
      chunk('user', 'fix the bug in the parser and the lexer'),
      chunk('agent', 'Both are fixed.'),
    )
    await answer()
    assert.deepEqual(summarize(session.state), [
      'user: fix the bug in |[resource_link]| and test it',
      'agent: Answer number 0.',
      'user: fix the bug in the parser',
      'agent: Answer number 1.',
      `notice: ${SOME}`,
      'user: fix the bug in the parser and the lexer',
      'agent: Both are fixed.',
    ])
  })

  it('keeps options, commands and a title that the agent reports only once per process (quirk 30)', async () => {
    const { agent, session, answer } = await load(() => undefined)
    agent.say('s', chunk('user', 'open'), { type: 'info', title: 'Told once' })
    agent.say('s', { type: 'commands', commands: [{ name: 'init', description: '' }] })
    await answer()
    session.beginLoad(setup)
    assert.equal(session.state.title, 'Told once')
    session.receive(chunk('user', 'open'))
    session.receive({ type: 'info', title: null })
    session.loaded()
    assert.deepEqual(summarize(session.state), ['user: open'])
    assert.equal(session.state.title, 'Told once')
    assert.deepEqual([session.state.commands.length, session.state.configOptions.length], [1, 1])
  })

  it("doesn't duplicate anything if the agent replays on resume", async () => {
    const agent = new FakeAgent()
    const clock = new Clock()
    const sessions = new AgentSessions(agent, { now: () => clock.now, schedule: clock.schedule })
    const resumed = sessions.resumeSession('s', setup, undefined, seen())
    agent.say('s', chunk('user', 'fix the bug'), chunk('agent', 'I look at it. It is fixed.'))
    agent.resumes[0]?.resolve({ sessionId: 's' })
    await resumed.opened
    clock.pass(250)
    assert.deepEqual(summarize(resumed.session.state), [...first, ...second, `notice: ${SOME}`])
  })
})

describe('a load of an open conversation', () => {
  it('shows late parts of a replayed message or terminal after the merge, and notifies its views', async () => {
    const { agent, clock, session, answer } = await load()
    agent.say('s', chunk('user', 'new'), chunk('agent', 'a', 'm'))
    agent.say('s', { type: 'terminal', terminal: { terminalId: 'x' } })
    await answer()
    const follower = new Follower()
    follower.take(session.state)
    session.onDidChange(changes => follower.apply(session.state, changes))
    const shown = () => [follower.entries, follower.terminals]
    const size = { cols: 80, rows: 24 }
    const image = { type: 'image', data: '', mimeType: 'image/png' } as const
    agent.say('s', { type: 'terminal', terminal: { terminalId: 'x', size } })
    agent.say('s', { type: 'message_chunk', role: 'agent', messageId: 'm', content: image })
    agent.say('s', chunk('agent', 'b', 'm'))
    assert.deepEqual(shown(), [session.state.entries, session.state.terminals])
    clock.pass(250)
    assert.deepEqual(summarize(session.state).at(-1), 'agent: a|[image]|b')
    assert.deepEqual(session.state.terminals.get('x')?.size, size)
    assert.deepEqual(shown(), [session.state.entries, session.state.terminals])
  })

  it('replaces the output of replayed terminals instead of duplicating it', async () => {
    const shown: SessionUpdate[] = [
      chunk('user', 'once'),
      tool('t', { content: [{ type: 'terminal', terminalId: 'x' }], status: 'completed' }),
      { type: 'terminal_output', terminalId: 'x', text: 'out' },
    ]
    const { agent, session, answer } = await load(() => undefined)
    agent.say('s', ...shown)
    await answer()
    session.beginLoad(setup)
    assert.equal(session.state.terminals.size, 0)
    agent.say('s', ...shown)
    await session.loaded()
    assert.equal(session.state.terminals.get('x')?.output, 'out')
    assert.deepEqual(
      session.state.entries.map(({ kind }) => kind),
      ['message', 'tool_call'],
    )
  })
})
