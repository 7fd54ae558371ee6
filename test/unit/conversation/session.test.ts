import { strict as assert } from 'node:assert'
import { AgentClosedError, AgentRequestError } from '../../../src/acp/agent.ts'
import { Session } from '../../../src/conversation/session.ts'
import type { Change } from '../../../src/conversation/state.ts'
import { Clock } from './clock.ts'
import { FakeAgent, settle } from './fake-agent.ts'
import { chunk, idle, modes, permissionRequest, running, summarize, text, tool } from './updates.ts'

function make(phase: 'loading' | 'ready' = 'ready', protocolVersion = 1) {
  const agent = new FakeAgent(protocolVersion)
  const clock = new Clock()
  const changes: Change[] = []
  const session = new Session({
    agent,
    sessionId: 's',
    setup: { cwd: '/w', additionalDirectories: [], mcpServers: [] },
    phase,
    now: () => clock.now,
    schedule: clock.schedule,
    cancelGraceMs: 10_000,
  })
  session.onDidChange(list => changes.push(...list))
  agent.onUpdate(({ update }) => session.receive(update))
  return { agent, clock, changes, session }
}

const hello = [text('hello')]
const never = new AbortController().signal

describe('Session: turns', () => {
  it('sends a prompt, shows it immediately, and reports how the turn ended', async () => {
    const { agent, session } = make()
    const outcome = session.prompt(hello)
    assert.deepEqual(summarize(session.state), ['user: hello'])
    assert.equal(session.state.activity, 'running')
    assert.deepEqual(agent.prompts[0]?.content, hello)
    agent.say('s', running, chunk('agent', 'Hi'))
    agent.endTurn(agent.prompts[0]!)
    assert.deepEqual(await outcome, { type: 'ended', stopReason: 'end_turn' })
    assert.equal(session.state.activity, 'idle')
  })

  it('ends a turn of v2 with the idle state, after the prompt was accepted', async () => {
    const { agent, session } = make('ready', 2)
    const outcome = session.prompt(hello)
    agent.say('s', running)
    agent.prompts[0]!.answer.resolve({ messageId: 'u1' })
    await settle()
    agent.say('s', chunk('user', 'other words', 'u1'), chunk('agent', 'Hi', 'a'), idle('max_tokens'))
    assert.deepEqual(await outcome, { type: 'ended', stopReason: 'max_tokens' })
    assert.deepEqual(summarize(session.state), ['user: hello', 'agent: Hi', 'turn_end: max_tokens'])
  })

  it('ignores a repeated idle state before a turn of v2 starts', async () => {
    const { agent, session } = make('ready', 2)
    const outcome = session.prompt(hello)
    agent.say('s', idle('end_turn'))
    assert.equal(session.state.activity, 'running')
    agent.say('s', running, chunk('agent', 'Hi', 'a'))
    agent.prompts[0]!.answer.resolve({ messageId: 'u1' })
    await settle()
    assert.equal(session.state.activity, 'running')
    agent.say('s', idle('refusal'))
    assert.deepEqual(await outcome, { type: 'ended', stopReason: 'refusal' })
    assert.deepEqual(summarize(session.state), ['user: hello', 'agent: Hi', 'turn_end: refusal'])
  })

  it('never sends an empty prompt', () => {
    const { agent, session } = make()
    assert.throws(() => session.prompt([]), RangeError)
    assert.throws(() => session.prompt([text(' \n')]), RangeError)
    assert.equal(agent.prompts.length, 0)
    assert.deepEqual(summarize(session.state), [])
    void session.prompt([{ type: 'image', data: 'AA==', mimeType: 'image/png' }])
    assert.equal(agent.prompts.length, 1)
  })

  it('queues prompts behind the running turn, in order', async () => {
    const { agent, session } = make()
    void session.prompt([text('one')])
    const two = session.prompt([text('two')])
    void session.prompt([text('three')])
    assert.deepEqual([agent.prompts.length, session.turns.queue.queued.length], [1, 2])
    assert.deepEqual(summarize(session.state), ['user: one'])
    agent.say('s', chunk('agent', 'first'))
    agent.endTurn(agent.prompts[0]!)
    await settle()
    assert.deepEqual([agent.prompts.length, session.turns.queue.queued.length], [2, 1])
    agent.say('s', chunk('agent', 'second'))
    agent.endTurn(agent.prompts[1]!)
    assert.deepEqual(await two, { type: 'ended', stopReason: 'end_turn' })
    await settle()
    assert.deepEqual(summarize(session.state), [
      'user: one',
      'agent: first',
      'user: two',
      'agent: second',
      'user: three',
    ])
    assert.deepEqual(
      session.state.entries.map(entry => entry.turn),
      [1, 1, 2, 2, 3],
    )
  })

  it('sends no queued prompt after a turn whose answer was only that the context is full', async () => {
    const { agent, session } = make()
    const one = session.prompt([text('one')])
    void session.prompt([text('two')])
    agent.say('s', chunk('agent', '{"error": {"message": "Too much.", "code": "context_length_exceeded"}}'))
    agent.endTurn(agent.prompts[0]!)
    const outcome = await one
    await settle()
    assert.equal(outcome.type === 'ended' && outcome.error?.message, 'Too much.')
    assert.deepEqual([agent.prompts.length, session.turns.queue.isPaused], [1, true])
  })

  it('reports that a turn ended without any content (quirk 29)', async () => {
    const { agent, session } = make()
    void session.prompt([text('one')])
    agent.endTurn(agent.prompts[0]!, 'end_turn')
    await settle()
    assert.deepEqual(summarize(session.state), ['user: one', 'turn_end: empty'])
    void session.prompt([text('two')])
    agent.say('s', chunk('agent', 'fine'))
    agent.endTurn(agent.prompts[1]!, 'end_turn')
    await settle()
    assert.deepEqual(summarize(session.state).slice(2), ['user: two', 'agent: fine'])
  })

  it('records who canceled a turn, whatever the agent responds (quirk 29)', async () => {
    const { agent, session } = make()
    const last = () => session.state.entries.at(-1)
    const stopped = session.prompt([text('one')])
    agent.say('s', chunk('agent', 'I begin'))
    session.turns.cancel()
    agent.endTurn(agent.prompts[0]!, 'end_turn')
    assert.deepEqual(await stopped, { type: 'ended', stopReason: 'cancelled' })
    const byPerson = last()
    assert.ok(byPerson?.kind === 'turn_end' && byPerson.stopReason === 'cancelled' && !byPerson.canceledBy)
    session.turns.queue.resume()
    void session.prompt([text('two')])
    agent.say('s', chunk('agent', 'I begin'))
    agent.endTurn(agent.prompts[1]!, 'cancelled')
    await settle()
    const end = last()
    assert.ok(end?.kind === 'turn_end' && end.stopReason === 'cancelled' && end.canceledBy === 'agent')
  })

  it('returns a queued prompt to the composer', async () => {
    const { agent, session } = make()
    void session.prompt([text('one')])
    const two = session.prompt([text('two')])
    assert.equal(session.turns.queue.remove(session.turns.queue.queued[0]!.id), true)
    assert.deepEqual(await two, { type: 'withdrawn' })
    assert.equal(session.turns.queue.remove('q99'), false)
    agent.endTurn(agent.prompts[0]!)
    await settle()
    assert.equal(agent.prompts.length, 1)
  })

  it('waits while the agent is working without a prompt', async () => {
    const { agent, session } = make()
    agent.say('s', running)
    void session.prompt(hello)
    assert.equal(agent.prompts.length, 0)
    agent.say('s', idle('end_turn'))
    assert.equal(agent.prompts.length, 1)
  })

  it('ends a turn that the agent refused with its error, and pauses the queue', async () => {
    const { agent, session } = make()
    const outcome = session.prompt(hello)
    void session.prompt([text('two')])
    const error = new AgentRequestError('session/prompt', 'auth-required', {
      code: -32000,
      message: 'Sign in',
      detail: 'no token',
    })
    agent.prompts[0]!.answer.reject(error)
    assert.deepEqual(await outcome, { type: 'failed', error })
    const end = session.state.entries.at(-1)
    assert(end?.kind === 'turn_end')
    assert.deepEqual(end.error, { code: -32000, message: 'Sign in', detail: 'no token' })
    assert.deepEqual([session.turns.queue.isPaused, agent.prompts.length], [true, 1])
    session.turns.queue.resume()
    assert.deepEqual([session.turns.queue.isPaused, agent.prompts.length], [false, 2])
  })

  it('pauses the queue when the agent reports that the turn failed', async () => {
    const { agent, session } = make()
    void session.prompt(hello)
    void session.prompt([text('two')])
    agent.say('s', running)
    agent.prompts[0]!.answer.resolve({})
    await settle()
    agent.say('s', {
      type: 'state',
      state: 'idle',
      stopReason: 'error',
      error: { code: 1, message: 'broken' },
    })
    assert.deepEqual([session.turns.queue.isPaused, agent.prompts.length], [true, 1])
  })

  it('reports the error of the response even if the idle state arrives first', async () => {
    const { agent, session } = make()
    const outcome = session.prompt(hello)
    const error = new AgentRequestError('session/prompt', 'auth-required', {
      code: -32000,
      message: 'Sign in',
    })
    agent.say('s', running, {
      type: 'state',
      state: 'idle',
      stopReason: 'error',
      error: { code: -32000, message: 'Sign in' },
    })
    agent.prompts[0]!.answer.reject(error)
    assert.deepEqual(await outcome, { type: 'failed', error })
    assert.deepEqual(summarize(session.state), ['user: hello', 'turn_end: error'])
  })

  it('continues when the agent becomes idle without a response', async () => {
    const { agent, clock, session } = make()
    const outcome = session.prompt(hello)
    void session.prompt([text('two')])
    agent.say('s', running, idle('end_turn'))
    await settle()
    assert.equal(agent.prompts.length, 1)
    clock.pass(1000)
    assert.deepEqual(await outcome, { type: 'ended', stopReason: 'end_turn' })
    assert.equal(agent.prompts.length, 2)
    assert.equal(clock.waiting, 0)
  })

  it('ignores an idle state from before the turn', async () => {
    const { agent, session } = make('ready', 2)
    void session.prompt(hello)
    agent.say('s', idle())
    assert.equal(session.state.activity, 'running')
    agent.say('s', running, idle())
    assert.equal(session.state.activity, 'idle')
  })

  it('sets times for updates in a turn and none outside of one', async () => {
    const { agent, clock, session } = make()
    agent.say('s', chunk('agent', 'banner'))
    void session.prompt(hello)
    clock.pass(500)
    agent.say('s', tool('t', { status: 'in_progress' }))
    assert.deepEqual(
      session.state.entries.map(entry => entry.startedAt),
      [undefined, 1000, 1500],
    )
  })
})

describe('Session: stopping the turn', () => {
  it('cancels it with the agent, cancels every request, and pauses the queue', async () => {
    const { agent, session } = make()
    const outcome = session.prompt(hello)
    void session.prompt([text('two')])
    const answers = [
      session.requests.requestPermission(permissionRequest(), never),
      session.requests.requestPermission(permissionRequest(), never),
    ]
    session.turns.cancel()
    assert.deepEqual(agent.cancels, ['s'])
    assert.deepEqual(await Promise.all(answers), [{ type: 'cancelled' }, { type: 'cancelled' }])
    assert.equal(session.turns.cancelState, 'requested')
    agent.say('s', tool('t', { status: 'in_progress' }))
    agent.endTurn(agent.prompts[0]!, 'cancelled')
    assert.deepEqual(await outcome, { type: 'ended', stopReason: 'cancelled' })
    assert.deepEqual(
      [session.turns.cancelState, session.turns.queue.isPaused, agent.prompts.length],
      ['none', true, 1],
    )
    assert.deepEqual(summarize(session.state).slice(-2), ['tool t: cancelled', 'turn_end: cancelled'])
    const three = session.prompt([text('three')])
    assert.deepEqual(agent.prompts[1]?.content, [text('three')])
    agent.endTurn(agent.prompts[1]!)
    assert.equal((await three).type, 'ended')
    await settle()
    assert.deepEqual(agent.prompts[2]?.content, [text('two')])
  })

  it('does nothing if no turn is running', () => {
    const { agent, session } = make()
    session.turns.cancel()
    assert.deepEqual([agent.cancels, session.turns.cancelState], [[], 'none'])
  })

  it("doesn't cancel a turn whose end was reported before its response", async () => {
    const { agent, session } = make()
    const outcome = session.prompt(hello)
    agent.say('s', running, idle('end_turn'))
    session.turns.cancel()
    assert.deepEqual([agent.cancels, session.turns.cancelState], [[], 'none'])
    agent.prompts[0]!.answer.resolve()
    assert.deepEqual(await outcome, { type: 'ended', stopReason: 'end_turn' })
  })

  it("becomes overdue if the agent doesn't stop, and can then be abandoned", async () => {
    const { agent, clock, session } = make()
    const outcome = session.prompt(hello)
    agent.say('s', running, tool('t', { status: 'in_progress' }))
    session.turns.cancel()
    clock.pass(9999)
    assert.equal(session.turns.cancelState, 'requested')
    clock.pass(1)
    assert.equal(session.turns.cancelState, 'overdue')
    session.turns.abandon()
    assert.deepEqual(await outcome, { type: 'ended', stopReason: 'cancelled' })
    assert.deepEqual([session.turns.cancelState, session.state.activity], ['none', 'idle'])
    assert.deepEqual(summarize(session.state), ['user: hello', 'tool t: cancelled', 'turn_end: cancelled'])
  })

  it('abandons only a canceled turn', () => {
    const { session } = make()
    void session.prompt(hello)
    session.turns.abandon()
    assert.equal(session.state.activity, 'running')
  })

  it("doesn't confuse the late end of an abandoned turn with that of the next", async () => {
    const { agent, clock, session } = make()
    void session.prompt([text('one')])
    agent.say('s', running)
    session.turns.cancel()
    clock.pass(10_000)
    session.turns.abandon()
    const two = session.prompt([text('two')])
    agent.say('s', running, chunk('agent', 'working on two'))
    agent.endTurn(agent.prompts[0]!, 'cancelled')
    await settle()
    assert.equal(session.state.activity, 'running')
    agent.endTurn(agent.prompts[1]!)
    assert.deepEqual(await two, { type: 'ended', stopReason: 'end_turn' })
    assert.equal(session.state.activity, 'idle')
  })

  it('ends the running turn if the response arrives with the end', async () => {
    const { agent, clock, session } = make()
    void session.prompt([text('one')])
    agent.say('s', running)
    session.turns.cancel()
    clock.pass(10_000)
    session.turns.abandon()
    const two = session.prompt([text('two')])
    agent.say('s', running)
    agent.endTurn(agent.prompts[1]!)
    assert.deepEqual(await two, { type: 'ended', stopReason: 'end_turn' })
    assert.equal(session.state.activity, 'idle')
  })
})

describe('Session: a tool call that the user stopped', () => {
  it('is shown as canceled, not failed', async () => {
    const { agent, session } = make()
    void session.prompt(hello)
    agent.say('s', running, tool('a', { status: 'failed' }), tool('b', { status: 'in_progress' }))
    session.turns.cancel()
    agent.say('s', tool('b', { status: 'failed' }), idle('cancelled'))
    assert.deepEqual(summarize(session.state).slice(1, 3), ['tool a: failed', 'tool b: cancelled'])
  })
})

describe('Session: permissions', () => {
  it('are shown at the same time, and each gets its own answer', async () => {
    const { session } = make()
    void session.prompt(hello)
    const first = session.requests.requestPermission(permissionRequest({ title: 'A' }), never)
    const second = session.requests.requestPermission(permissionRequest({ title: 'B' }), never)
    const ids = session.state.entries.flatMap(entry => (entry.kind === 'permission' ? [entry.requestId] : []))
    assert.equal(session.state.activity, 'requires_action')
    assert.equal(session.requests.answerPermission(ids[1]!, 'no'), true)
    assert.deepEqual(await second, { type: 'selected', optionId: 'no' })
    assert.equal(session.state.activity, 'requires_action')
    assert.equal(session.requests.answerPermission(ids[0]!, 'yes'), true)
    assert.deepEqual(await first, { type: 'selected', optionId: 'yes' })
    assert.equal(session.state.activity, 'running')
  })

  it("reject an option that wasn't offered, and a second answer", async () => {
    const { session } = make()
    const answer = session.requests.requestPermission(permissionRequest(), never)
    const { requestId } = session.requests.open[0]!
    assert.equal(session.requests.answerPermission(requestId, 'sudo'), false)
    assert.equal(session.requests.answerPermission('another', 'yes'), false)
    assert.equal(session.requests.answerPermission(requestId, 'yes'), true)
    assert.equal(session.requests.answerPermission(requestId, 'no'), false)
    assert.deepEqual(await answer, { type: 'selected', optionId: 'yes' })
  })

  it('are canceled by the agent', async () => {
    const { session } = make()
    const abort = new AbortController()
    const answer = session.requests.requestPermission(permissionRequest(), abort.signal)
    abort.abort()
    assert.deepEqual(await answer, { type: 'cancelled' })
    assert.deepEqual(summarize(session.state), ['permission May I?: cancelled'])
    assert.deepEqual(await session.requests.requestPermission(permissionRequest(), abort.signal), {
      type: 'cancelled',
    })
  })

  it('are closed with the turn', async () => {
    const { agent, session } = make()
    void session.prompt(hello)
    const answer = session.requests.requestPermission(permissionRequest(), never)
    agent.endTurn(agent.prompts[0]!)
    assert.deepEqual(await answer, { type: 'cancelled' })
  })
})

describe('Session: config options', () => {
  const withModes = () => {
    const made = make()
    made.agent.say('s', { type: 'config_options', options: [modes()] })
    const value = () => {
      const option = made.session.state.configOptions[0]
      return option?.type === 'select' ? option.currentValue : undefined
    }
    return { ...made, value }
  }
  const refused = new AgentRequestError('session/set_config_option', 'other', { code: 1, message: 'no' })

  it('show a choice immediately, and wait for the agent', async () => {
    const { agent, session, value } = withModes()
    const done = session.optionChanges.set('mode', 'code')
    assert.deepEqual([value(), session.optionChanges.ids], ['code', ['mode']])
    agent.options[0]!.answer.resolve()
    await done
    assert.deepEqual([value(), session.optionChanges.ids], ['code', []])
  })

  it('are reverted if the agent refuses, with the reason', async () => {
    const { agent, session, value } = withModes()
    const done = session.optionChanges.set('mode', 'code')
    agent.options[0]!.answer.reject(refused)
    await assert.rejects(done, refused)
    assert.deepEqual([value(), session.optionChanges.ids], ['ask', []])
  })

  it("are reverted to the agent's last value after several choices", async () => {
    const { agent, session, value } = withModes()
    const one = session.optionChanges.set('mode', 'code')
    const two = session.optionChanges.set('mode', 'plan')
    agent.options[0]!.answer.resolve()
    await one
    assert.deepEqual([value(), session.optionChanges.ids], ['plan', ['mode']])
    agent.options[1]!.answer.reject(refused)
    await assert.rejects(two)
    assert.equal(value(), 'code')
  })

  it("are reverted to the agent's value if every choice is refused", async () => {
    const { agent, session, value } = withModes()
    const one = session.optionChanges.set('mode', 'code')
    const two = session.optionChanges.set('mode', 'plan')
    agent.options[0]!.answer.reject(refused)
    await assert.rejects(one)
    assert.deepEqual([value(), session.optionChanges.ids], ['plan', ['mode']])
    agent.options[1]!.answer.reject(refused)
    await assert.rejects(two)
    assert.deepEqual([value(), session.optionChanges.ids], ['ask', []])
  })

  it("show the agent's value when the user stops waiting, and the new one if that's accepted later", async () => {
    const { agent, session, value } = withModes()
    const one = session.optionChanges.set('mode', 'code')
    const two = session.optionChanges.set('mode', 'plan')
    session.optionChanges.giveUp('mode')
    await Promise.all([one, two])
    assert.deepEqual([value(), session.optionChanges.ids], ['ask', []])
    agent.say('s', { type: 'config_value', category: 'mode', value: 'plan' })
    agent.options[1]!.answer.resolve()
    agent.options[0]!.answer.reject(refused)
    await settle()
    assert.deepEqual([value(), session.optionChanges.ids], ['plan', []])
    session.optionChanges.giveUp('mode')
    assert.equal(value(), 'plan')
  })

  it('stop waiting when the session ends', async () => {
    const { agent, session } = withModes()
    const done = session.optionChanges.set('mode', 'code')
    session.agentEnded({ reason: 'exited', stderrTail: '' })
    assert.deepEqual(session.optionChanges.ids, [])
    agent.options[0]!.answer.reject(refused)
    await assert.rejects(done)
  })

  it('keep what the agent reported meanwhile', async () => {
    const { agent, session, value } = withModes()
    const done = session.optionChanges.set('mode', 'code')
    agent.say('s', { type: 'config_value', category: 'mode', value: 'plan' })
    agent.options[0]!.answer.reject(refused)
    await assert.rejects(done)
    assert.equal(value(), 'plan')
  })

  it('reject unknown options and values', async () => {
    const { agent, session } = withModes()
    await assert.rejects(session.optionChanges.set('nope', 'x'), RangeError)
    await assert.rejects(session.optionChanges.set('mode', true), TypeError)
    assert.equal(agent.options.length, 0)
  })
})

describe('Session: terminals of Parley', () => {
  it('are shown', () => {
    const { session } = make()
    session.conversation.applyLocal({
      type: 'terminal',
      terminal: { terminalId: 'x', command: 'ls', cwd: '/w' },
    })
    session.conversation.applyLocal({ type: 'terminal_output', terminalId: 'x', text: 'a\n' })
    session.conversation.applyLocal({
      type: 'terminal',
      terminal: { terminalId: 'x', exit: { exitCode: 0 }, truncated: true },
    })
    assert.deepEqual(session.state.terminals.get('x'), {
      terminalId: 'x',
      command: 'ls',
      cwd: '/w',
      output: 'a\n',
      truncated: true,
      exit: { exitCode: 0 },
    })
  })
})

describe('Session: the end', () => {
  it('keeps the conversation when the agent exits, and closes open entries', async () => {
    const { agent, session } = make()
    const ends: unknown[] = []
    session.onDidEnd(exit => ends.push(exit?.reason))
    const outcome = session.prompt(hello)
    const queued = session.prompt([text('two')])
    const answer = session.requests.requestPermission(permissionRequest(), never)
    session.agentEnded({ reason: 'exited', exitCode: 1, message: 'It crashed.', stderrTail: '' })
    agent.exit()
    assert.deepEqual(await answer, { type: 'cancelled' })
    const result = await outcome
    assert(result.type === 'failed' && result.error instanceof AgentClosedError)
    assert.equal((await queued).type, 'failed')
    assert.deepEqual(
      session.turns.queue.prompts.map(({ state, draft }) => [state, draft.text]),
      [['returned', 'two']],
    )
    assert.deepEqual(summarize(session.state), [
      'user: hello',
      'permission May I?: cancelled',
      'turn_end: error',
    ])
    assert.deepEqual([session.phase, ends], ['ended', ['exited']])
    assert.equal((await session.prompt([text('x')])).type, 'failed')
    assert.equal(agent.prompts.length, 1)
  })

  it('closes the session with the agent once, and drops later updates', async () => {
    const { agent, changes, session } = make()
    void session.prompt(hello)
    await Promise.all([session.close(), session.close()])
    assert.deepEqual([agent.closes, session.phase], [['s'], 'closed'])
    const before = changes.length
    agent.say('s', chunk('agent', 'late'))
    assert.equal(changes.length, before)
  })

  it("stops the turn of an agent that can't close sessions", async () => {
    const { agent, session } = make()
    agent.capabilities.close = false
    void session.prompt(hello)
    await session.close()
    assert.deepEqual([agent.closes, agent.cancels], [[], ['s']])
  })

  it('closes the session in Parley even if the agent refuses', async () => {
    const { agent, session } = make()
    agent.closeError = new Error('no')
    await assert.rejects(session.close(), /no/)
    assert.equal(session.phase, 'closed')
  })
})
