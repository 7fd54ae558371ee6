/** The behavior of real agents, one test for each numbered observation that concerns the conversation. */
import { strict as assert } from 'node:assert'
import type { SessionSetup } from '../../../src/acp/model.ts'
import { AgentSessions } from '../../../src/conversation/agent-sessions.ts'
import type { Session } from '../../../src/conversation/session.ts'
import { Clock } from './clock.ts'
import { FakeAgent, settle } from './fake-agent.ts'
import { chunk, idle, modes, permissionRequest, running, summarize, text, tool } from './updates.ts'

const setup: SessionSetup = { cwd: '/w', additionalDirectories: [], mcpServers: [] }
const never = new AbortController().signal

async function open(): Promise<{ agent: FakeAgent; sessions: AgentSessions; session: Session }> {
  const agent = new FakeAgent()
  const sessions = new AgentSessions(agent)
  const made = sessions.newSession(setup)
  agent.newSessions[0]!.resolve({ sessionId: 's' })
  return { agent, sessions, session: await made }
}

describe('quirks of agents, in a conversation', () => {
  it('quirk 5: updates arrive before the response to session/new', async () => {
    const agent = new FakeAgent()
    const sessions = new AgentSessions(agent)
    const made = sessions.newSession(setup)
    agent.say(
      's',
      { type: 'commands', commands: [{ name: 'plan', description: '' }] },
      chunk('agent', 'Welcome'),
    )
    agent.newSessions[0]!.resolve({ sessionId: 's' })
    const session = await made
    assert.deepEqual(summarize(session.state), ['agent: Welcome'])
    assert.equal(session.state.commands.length, 1)
  })

  it('quirk 34: prompts without an answer between them, and texts with a plan between them, stay separate', async () => {
    const { agent, session } = await open()
    const plan = { type: 'plan' as const, plan: { planId: 'p', entries: [] } }
    agent.say('s', chunk('user', 'first'), chunk('user', 'second'))
    agent.say('s', chunk('agent', 'I plan it.'), plan, chunk('agent', 'I do it.'))
    assert.deepEqual(summarize(session.state), ['user: first|second', 'agent: I plan it.', 'agent: I do it.'])
  })

  it('a turn fails if the agent answers only that the context is full, and ends it as if all were well', async () => {
    const { agent, session } = await open()
    const json = JSON.stringify({ error: { message: 'Too much.', code: 'context_length_exceeded' } })
    const turn = session.prompt([{ type: 'text', text: 'go' }])
    await settle()
    agent.say('s', chunk('agent', json))
    agent.endTurn(agent.prompts[0]!)
    await turn
    const last = session.state.entries.at(-1)
    assert.deepEqual(last?.kind === 'turn_end' && [last.stopReason, last.error], [
      'error',
      { code: -32603, message: 'Too much.', detail: json },
    ])
  })

  it('texts without ids stay separate if a tool call ended between them, unless a word or sentence goes on', async () => {
    const { agent, session } = await open()
    const ended = (id: string) => tool(id, { status: 'completed' })
    agent.say('s', tool('a', { status: 'in_progress' }), tool('b', { status: 'in_progress' }))
    agent.say(
      's',
      chunk('agent', 'I run '),
      tool('a', { title: 'Run' }),
      chunk('agent', 'the tests.'),
      ended('a'),
    )
    agent.say('s', chunk('agent', 'All'), chunk('agent', ' Tests pass'), ended('b'), chunk('agent', 'ed.'))
    agent.say('s', chunk('agent', ' Done.'), ended('b'), chunk('agent', 'Bye'))
    assert.deepEqual(summarize(session.state), [
      'tool a: completed',
      'tool b: completed',
      'agent: I run the tests.',
      'agent: All Tests passed. Done.Bye',
    ])
  })

  it('quirk 6: a permission request arrives before its tool call, or the tool call never does', async () => {
    const { agent, sessions, session } = await open()
    void session.prompt([text('x')])
    const toolCall = { toolCallId: 't', title: 'Edit a.txt', kind: 'edit' }
    void sessions.requestPermission(permissionRequest({ subject: { type: 'tool_call', toolCall } }), never)
    assert.deepEqual(summarize(session.state), ['user: x', 'tool t: pending', 'permission May I?: open'])
    session.requests.answerPermission(session.requests.open[0]!.requestId, 'yes')
    agent.say('s', tool('t', { status: 'completed' }))
    const entry = session.state.entries[1]
    assert(entry?.kind === 'tool_call')
    assert.deepEqual([entry.title, entry.toolKind, entry.status], ['Edit a.txt', 'edit', 'completed'])
  })

  it('quirk 6: an update arrives before its tool call, and the tool call arrives twice', async () => {
    const { agent, session } = await open()
    agent.say(
      's',
      tool('t', { status: 'in_progress' }),
      tool('t', { title: 'Read' }),
      tool('t', { title: 'Read' }),
    )
    assert.deepEqual(summarize(session.state), ['tool t: in_progress'])
  })

  it('quirk 7: a tool call without kind, status or content ends with its turn', async () => {
    const { agent, session } = await open()
    void session.prompt([text('x')])
    agent.say('s', running, tool('t', { title: 'List' }), tool('t', { rawOutput: [104, 105] }))
    agent.endTurn(agent.prompts[0]!)
    const entry = session.state.entries[1]
    assert(entry?.kind === 'tool_call')
    assert.deepEqual([entry.status, entry.toolKind, entry.rawOutput], ['completed', 'other', [104, 105]])
  })

  it('quirk 8: terminals of the agent contain what it reports', async () => {
    const { agent, session } = await open()
    agent.say('s', tool('t', { content: [{ type: 'terminal', terminalId: 't' }] }))
    assert.equal(session.state.terminals.size, 0)
    agent.say('s', { type: 'terminal_output', terminalId: 't', text: 'out\n' })
    assert.equal(session.state.terminals.get('t')?.output, 'out\n')
  })

  it("quirk 10: options keep the agent's order and names, also two of the same kind", async () => {
    const { sessions, session } = await open()
    const options = [
      { optionId: 'http://never', name: 'No', kind: 'reject_always' },
      { optionId: 'A', name: 'Always', kind: 'allow_always' },
      { optionId: 'B', name: 'Always here', kind: 'allow_always' },
    ]
    const answer = sessions.requestPermission(permissionRequest({ options }), never)
    const entry = session.state.entries[0]
    assert(entry?.kind === 'permission')
    assert.deepEqual(entry.options, options)
    session.requests.answerPermission(entry.requestId, 'B')
    assert.deepEqual(await answer, { type: 'selected', optionId: 'B' })
  })

  for (const [stopReason, status] of [
    ['end_turn', 'completed'],
    ['cancelled', 'cancelled'],
  ] as const) {
    it(`quirk 33: an allowed command that was never closed is ${status} after ${stopReason}`, async () => {
      const { agent, sessions, session } = await open()
      void session.prompt([text('x')])
      for (const id of ['allowed', 'rejected']) {
        agent.say('s', tool(id, { kind: 'execute', status: 'in_progress' }))
        const answered = sessions.requestPermission(
          {
            sessionId: 's',
            title: 'Run',
            subject: { type: 'tool_call', toolCall: { toolCallId: id } },
            options: [
              { optionId: 'yes', name: 'Yes', kind: 'allow_once' },
              { optionId: 'no', name: 'No', kind: 'reject_once' },
            ],
          },
          never,
        )
        const [question] = session.requests.open
        assert.ok(question)
        session.requests.answerPermission(question.requestId, id === 'allowed' ? 'yes' : 'no')
        await answered
      }
      agent.endTurn(agent.prompts[0]!, stopReason)
      await settle()
      const statusOf = (id: string) =>
        session.state.entries.flatMap(entry =>
          entry.kind === 'tool_call' && entry.toolCallId === id ? entry.status : [],
        )
      assert.deepEqual(statusOf('allowed'), [status])
      assert.deepEqual(statusOf('rejected'), ['cancelled'])
    })
  }

  it('quirk 11: tool calls that a cancellation leaves open are closed, also if the agent responds with end_turn', async () => {
    for (const stopReason of ['cancelled', 'end_turn']) {
      const { agent, session } = await open()
      void session.prompt([text('x')])
      agent.say('s', running, tool('t', { status: 'in_progress' }))
      session.turns.cancel()
      agent.endTurn(agent.prompts[0]!, stopReason)
      await settle()
      assert.equal(summarize(session.state)[1], 'tool t: cancelled')
      assert.equal(session.state.activity, 'idle')
    }
  })

  it('quirk 11: the agent cancels its request after a cancellation', async () => {
    const { agent, sessions, session } = await open()
    void session.prompt([text('x')])
    const abort = new AbortController()
    const answer = sessions.requestPermission(permissionRequest(), abort.signal)
    session.turns.cancel()
    abort.abort()
    assert.deepEqual(await answer, { type: 'cancelled' })
    agent.endTurn(agent.prompts[0]!, 'cancelled')
  })

  it('quirk 12: the replay arrives after the response to session/load', async () => {
    const agent = new FakeAgent()
    const sessions = new AgentSessions(agent)
    const { session, opened } = sessions.loadSession('s', setup)
    agent.say('s', chunk('user', '<session_context>'))
    agent.loads[0]!.resolve({ sessionId: 's' })
    await opened
    agent.say('s', chunk('user', 'hello'), chunk('agent', 'Hi'), tool('t', { status: 'completed' }))
    assert.deepEqual(summarize(session.state), [
      'user: <session_context>|hello',
      'agent: Hi',
      'tool t: completed',
    ])
    assert(session.state.entries.every(entry => entry.startedAt === undefined))
  })

  it('quirk 12: a prompt that waited for the load follows the late replay', async () => {
    const agent = new FakeAgent()
    const clock = new Clock()
    const sessions = new AgentSessions(agent, { schedule: clock.schedule })
    const { session, opened } = sessions.loadSession('s', setup)
    void session.prompt([text('next')])
    agent.loads[0]!.resolve({ sessionId: 's' })
    await opened
    agent.say('s', chunk('user', 'hello'), chunk('agent', 'Hi'))
    clock.pass(250)
    assert.deepEqual(summarize(session.state), ['user: hello', 'agent: Hi', 'user: next'])
    assert.equal(agent.prompts.length, 1)
  })

  it('quirk 12: commands and usage follow a response to session/load without modes and options', async () => {
    const agent = new FakeAgent()
    const sessions = new AgentSessions(agent)
    const { session, opened } = sessions.loadSession('s', setup)
    agent.loads[0]!.resolve({ sessionId: 's' })
    await opened
    agent.say('s', { type: 'usage', usage: { used: 1, size: 9 } })
    assert.deepEqual([session.state.usage, session.state.configOptions], [{ used: 1, size: 9 }, []])
  })

  it('quirk 13: empty chunks and a title arrive after the turn', async () => {
    const { agent, session } = await open()
    void session.prompt([text('x')])
    agent.say('s', running, chunk('agent', 'Hi'))
    agent.endTurn(agent.prompts[0]!)
    await settle()
    agent.say('s', chunk('agent', ''), chunk('thought', ''), { type: 'info', title: 'A title' })
    assert.deepEqual(summarize(session.state), ['user: x', 'agent: Hi'])
    assert.equal(session.state.title, 'A title')
  })

  it('quirk 13: a banner and a failed tool call arrive outside of a turn', async () => {
    const { agent, session } = await open()
    agent.say('s', chunk('agent', 'Banner'), tool('mcp', { title: 'Start server', status: 'failed' }))
    assert.deepEqual(summarize(session.state), ['agent: Banner', 'tool mcp: failed'])
    assert.deepEqual([session.state.activity, session.state.turn], ['idle', 0])
  })

  it('quirk 14: prompts are sent one at a time, and never empty', async () => {
    const { agent, session } = await open()
    void session.prompt([text('one')])
    void session.prompt([text('two')])
    assert.equal(agent.prompts.length, 1)
    assert.throws(() => session.prompt([text('')]), RangeError)
  })

  it("quirk 15: a value that isn't a choice is kept, and so is a change that only the response reports", async () => {
    const { agent, session } = await open()
    agent.say('s', { type: 'config_options', options: [modes('somewhere')] })
    const done = session.optionChanges.set('mode', 'code')
    agent.options[0]!.answer.resolve()
    await done
    const option = session.state.configOptions[0]
    assert(option?.type === 'select')
    assert.equal(option.currentValue, 'code')
  })

  it('quirk 17: ids can be any text', async () => {
    const { agent, session } = await open()
    agent.say('s', tool('0'), tool('__proto__'), tool('constructor'), chunk('agent', 'x', '__proto__'))
    agent.say('s', tool('__proto__', { status: 'completed' }), chunk('agent', 'y', '__proto__'))
    assert.deepEqual(summarize(session.state), [
      'tool 0: pending',
      'tool __proto__: completed',
      'tool constructor: pending',
      'agent: xy',
    ])
  })

  it('quirk 19: messages are separated by their ids and by a change of role', async () => {
    const { agent, session } = await open()
    agent.say(
      's',
      chunk('thought', 'hm', 'm'),
      chunk('agent', 'One', 'm'),
      chunk('thought', 'well', 'm'),
      chunk('agent', 'Two', 'm'),
      chunk('agent', '!', 'm'),
      chunk('agent', 'Three', 'n'),
      chunk('thought', 'no id'),
      chunk('agent', 'Four'),
      chunk('agent', '.'),
    )
    assert.deepEqual(summarize(session.state), [
      'thought: hm',
      'agent: One',
      'thought: well',
      'agent: Two!',
      'agent: Three',
      'thought: no id',
      'agent: Four.',
    ])
  })

  it('quirk 19: text that is streamed again after an interruption is a message with its own id', async () => {
    const { agent, session } = await open()
    agent.say('s', chunk('agent', 'Hel', 'm1'), {
      type: 'notice',
      severity: 'warning',
      title: 'Reconnecting',
    })
    agent.say('s', chunk('agent', 'Hello', 'm2'))
    assert.deepEqual(summarize(session.state), ['agent: Hel', 'notice: Reconnecting', 'agent: Hello'])
  })

  it('quirk 22: the time of a session is read in all formats', async () => {
    const { agent, session } = await open()
    for (const fraction of ['', '.874', '.874572', '.874572231']) {
      agent.say('s', { type: 'info', updatedAt: `2026-11-20T09:33:09${fraction}Z` })
      assert.equal(session.state.updatedAt, Date.UTC(2026, 10, 20, 9, 33, 9, fraction === '' ? 0 : 874))
    }
  })

  it('quirk 35: late updates of a killed turn stay separate from the next turn', async () => {
    const { agent, session } = await open()
    void session.prompt([text('one')])
    agent.say('s', running, chunk('agent', 'The old', 'a'), tool('t', { status: 'in_progress' }))
    session.turns.cancel()
    agent.endTurn(agent.prompts[0]!, 'cancelled')
    await settle()
    session.turns.queue.resume()
    const two = session.prompt([text('two')])
    agent.say('s', running, chunk('agent', 'The ', 'b'), chunk('agent', ' answer', 'a'))
    agent.say('s', tool('t', { status: 'completed' }), chunk('agent', 'new one', 'b'))
    agent.endTurn(agent.prompts[1]!)
    assert.deepEqual(await two, { type: 'ended', stopReason: 'end_turn' })
    assert.deepEqual(summarize(session.state), [
      'user: one',
      'agent: The old',
      'tool t: completed',
      'turn_end: cancelled',
      'user: two',
      'agent: The new one',
      'agent:  answer',
    ])
  })

  it('a v2 agent that echoes prompts and repeats its idle state shows one conversation', async () => {
    const { agent, session } = await open()
    const outcome = session.prompt([text('hello')])
    agent.say('s', { type: 'notice', severity: 'warning', title: 'Model metadata not found' }, running)
    agent.say('s', chunk('user', 'hello', 'u'))
    agent.prompts[0]!.answer.resolve({ messageId: 'u' })
    await settle()
    agent.say('s', chunk('agent', 'Hi', 'a'), idle('end_turn'), idle('end_turn'))
    assert.deepEqual(await outcome, { type: 'ended', stopReason: 'end_turn' })
    assert.deepEqual(summarize(session.state), [
      'user: hello',
      'notice: Model metadata not found',
      'agent: Hi',
    ])
  })
})
