import { strict as assert } from 'node:assert'
import { AgentRequestError } from '../../../src/acp/agent.ts'
import type { SessionSetup, SessionStart, ToolCallPatch } from '../../../src/acp/model.ts'
import { silentLogger } from '../../../src/common/logger.ts'
import { AgentSessions, type AgentSessionsOptions } from '../../../src/conversation/agent-sessions.ts'
import { cancelWork } from '../../../src/conversation/cancel-work.ts'
import { forkState } from '../../../src/conversation/replay/restore-state.ts'
import type { Session } from '../../../src/conversation/session.ts'
import type { Change, NoticeEntry } from '../../../src/conversation/state.ts'
import { Clock } from './clock.ts'
import { Deferred, FakeAgent, settle } from './fake-agent.ts'
import { chunk, form, modes, permissionRequest, running, summarize, text, tool } from './updates.ts'

const setup: SessionSetup = { cwd: '/w', additionalDirectories: [], mcpServers: [] }
const never = new AbortController().signal
const refused = new AgentRequestError('session/load', 'not-found', {
  code: -32002,
  message: 'no such session',
})

function make(options: AgentSessionsOptions = {}) {
  const agent = new FakeAgent()
  return { agent, sessions: new AgentSessions(agent, options) }
}

async function opened(agent: FakeAgent, sessions: AgentSessions, sessionId: string) {
  const session = sessions.newSession(setup)
  agent.newSessions.at(-1)!.resolve({ sessionId })
  return session
}

describe('AgentSessions: new sessions', () => {
  it('prefer the response to earlier updates, but keep a reported state', async () => {
    const { agent, sessions } = make()
    const made = sessions.newSession(setup)
    agent.say(
      's',
      { type: 'commands', commands: [{ name: 'old', description: '' }] },
      { type: 'config_options', options: [modes('code')] },
      running,
    )
    agent.newSessions[0]!.resolve({
      sessionId: 's',
      configOptions: [modes('ask')],
      commands: [{ name: 'new', description: '' }],
    })
    const { state } = await made
    assert.deepEqual(state.configOptions, [modes('ask')])
    assert.deepEqual(state.commands, [{ name: 'new', description: '' }])
    assert.equal(state.activity, 'running')
  })

  it('include what the agent reports while it creates them', async () => {
    const { agent, sessions } = make()
    const made = sessions.newSession(setup)
    agent.newSessions[0]!.resolve({
      sessionId: 's',
      configOptions: [modes()],
      commands: [{ name: 'init', description: 'x' }],
    })
    const session = await made
    assert.deepEqual([session.sessionId, session.phase], ['s', 'ready'])
    assert.deepEqual(session.state.configOptions, [modes()])
    assert.equal(session.state.commands[0]?.name, 'init')
    assert.equal(sessions.get('s'), session)
  })

  it('are kept apart, for one agent and for several', async () => {
    const one = make()
    const two = make()
    const [a, b] = [await opened(one.agent, one.sessions, 'a'), await opened(one.agent, one.sessions, 'b')]
    const other = await opened(two.agent, two.sessions, 'a')
    one.agent.say('a', chunk('agent', 'for a'))
    one.agent.say('b', chunk('agent', 'for b'))
    two.agent.say('a', chunk('agent', 'for the other'))
    one.agent.say('a', chunk('agent', ', too'))
    assert.deepEqual(
      [a, b, other].map(session => summarize(session.state)),
      [['agent: for a, too'], ['agent: for b'], ['agent: for the other']],
    )
  })

  it('can be created concurrently, with responses in any order', async () => {
    const { agent, sessions } = make()
    const first = sessions.newSession({ ...setup, cwd: '/1' })
    const second = sessions.newSession({ ...setup, cwd: '/2' })
    agent.say('b', chunk('agent', 'early'))
    agent.newSessions[1]!.resolve({ sessionId: 'b' })
    assert.equal((await second).setup.cwd, '/2')
    agent.newSessions[0]!.resolve({ sessionId: 'a' })
    assert.equal((await first).setup.cwd, '/1')
    assert.deepEqual(summarize((await second).state), ['agent: early'])
    assert.deepEqual(summarize((await first).state), [])
  })

  it('are rejected if their id is already open', async () => {
    const { agent, sessions } = make()
    const session = await opened(agent, sessions, 's')
    await assert.rejects(opened(agent, sessions, 's'), /already open/)
    assert.equal(sessions.get('s'), session)
  })

  it('are closed if the agent creates them after they were canceled', async () => {
    const { agent, sessions } = make()
    const abort = new AbortController()
    const made = sessions.newSession(setup, abort.signal)
    abort.abort()
    agent.newSessions[0]!.resolve({ sessionId: 's' })
    await assert.rejects(made, { name: 'CancelledError' })
    assert.deepEqual([agent.closes, sessions.sessions.size], [['s'], 0])
  })
})

describe('AgentSessions: updates of unknown sessions', () => {
  it('are limited in number; the session with the most is dropped', async () => {
    const { agent, sessions } = make({ limits: { updates: 3, ageMs: 1000 } })
    const [old, session] = [sessions.newSession(setup), sessions.newSession(setup)]
    for (const value of ['1', '2', '3', '4']) agent.say(value === '1' ? 'old' : 's', chunk('agent', value))
    agent.newSessions[0]!.resolve({ sessionId: 'old' })
    agent.newSessions[1]!.resolve({ sessionId: 's' })
    assert.deepEqual(summarize((await session).state), [])
    assert.deepEqual(summarize((await old).state), ['agent: 1'])
  })

  for (const [when, strangers] of Object.entries({
    'one other session has many': () => 'stranger',
    'many other sessions have one each': (at: number) => `stranger ${at}`,
  })) {
    it(`stay until the session is known, even if ${when}`, async () => {
      for (const before of [0, 1, 30]) {
        const { agent, sessions } = make({ limits: { updates: 100 } })
        const session = sessions.newSession(setup)
        for (let at = 0; at < before; at++) agent.say(strangers(at), chunk('agent', 'x'))
        agent.say('s', chunk('agent', 'mine'))
        for (let at = before; at < 1000; at++) {
          // others that come first are as likely the requested one: only those with more give way
          agent.say(before === 0 ? strangers(at) : strangers(at % 40), chunk('agent', 'x'))
        }
        agent.newSessions[0]!.resolve({ sessionId: 's' })
        assert.deepEqual(summarize((await session).state), ['agent: mine'], `after ${before}`)
      }
    })
  }

  it("of other sessions are limited in size without taking the requested session's share", async () => {
    const { agent, sessions } = make({ limits: { bytes: 10_000 } })
    const session = sessions.newSession(setup)
    agent.say('s', chunk('agent', 'y'.repeat(2000)))
    for (let at = 0; at < 50; at++) agent.say(`stranger ${at}`, chunk('agent', 'x'.repeat(1500)))
    agent.newSessions[0]!.resolve({ sessionId: 's' })
    assert.deepEqual(summarize((await session).state), [`agent: ${'y'.repeat(2000)}`])
  })

  it('are limited in size, however few there are', async () => {
    const { agent, sessions } = make({ limits: { bytes: 10_000 } })
    const [old, session] = [sessions.newSession(setup), sessions.newSession(setup)]
    agent.say('old', chunk('agent', 'x'.repeat(4000)))
    agent.say('s', chunk('agent', 'y'.repeat(2000)))
    agent.newSessions[0]!.resolve({ sessionId: 'old' })
    agent.newSessions[1]!.resolve({ sessionId: 's' })
    assert.deepEqual(summarize((await session).state), [`agent: ${'y'.repeat(2000)}`])
    assert.deepEqual(summarize((await old).state), [])
  })

  it('are dropped after some time', async () => {
    let now = 0
    const { agent, sessions } = make({ limits: { updates: 10, ageMs: 1000 }, now: () => now })
    const [old, session] = [sessions.newSession(setup), sessions.newSession(setup)]
    agent.say('old', chunk('agent', 'x'))
    now = 2000
    agent.say('s', chunk('agent', 'y'))
    agent.newSessions[0]!.resolve({ sessionId: 'old' })
    agent.newSessions[1]!.resolve({ sessionId: 's' })
    assert.deepEqual(summarize((await old).state), [])
    assert.deepEqual(summarize((await session).state), ['agent: y'])
  })

  it('are dropped if no session is being created', async () => {
    const { agent, sessions } = make()
    agent.say('s', chunk('agent', 'stray'))
    assert.deepEqual(summarize((await opened(agent, sessions, 's')).state), [])
    const refusedOne = sessions.newSession(setup)
    agent.say('t', chunk('agent', 'stray'))
    agent.newSessions[1]!.reject(refused)
    await assert.rejects(refusedOne)
    assert.deepEqual(summarize((await opened(agent, sessions, 't')).state), [])
  })

  it("are dropped for a closed session, and accepted again when it's loaded again", async () => {
    const { agent, sessions } = make()
    const session = await opened(agent, sessions, 's')
    await session.close()
    agent.say('s', chunk('agent', 'late'))
    const again = sessions.loadSession('s', setup)
    agent.say('s', chunk('user', 'hello'))
    agent.loads[0]!.resolve({ sessionId: 's' })
    await again.opened
    assert.deepEqual(summarize(again.session.state), ['user: hello'])
  })
})

describe('AgentSessions: load', () => {
  it('shows the replay before the response, without times, and is ready afterward', async () => {
    const { agent, sessions } = make()
    const { session, opened } = sessions.loadSession('s', setup)
    agent.say('s', chunk('user', 'hello'), chunk('agent', 'Hi'), tool('t', { title: 'x' }))
    assert.deepEqual(summarize(session.state), ['user: hello', 'agent: Hi', 'tool t: pending'])
    assert.equal(session.phase, 'loading')
    agent.loads[0]!.resolve({ sessionId: 's', configOptions: [modes()] })
    await opened
    assert.equal(session.phase, 'ready')
    assert.deepEqual(summarize(session.state).at(-1), 'tool t: completed')
    assert(session.state.entries.every(entry => entry.startedAt === undefined))
    assert.deepEqual(session.state.configOptions, [modes()])
  })

  it('queues a prompt until the replay is over', async () => {
    const clock = new Clock()
    const { agent, sessions } = make({ schedule: clock.schedule })
    const { session, opened } = sessions.loadSession('s', setup)
    void session.prompt([text('next')])
    agent.say('s', chunk('user', 'hello'))
    assert.equal(agent.prompts.length, 0)
    agent.loads[0]!.resolve({ sessionId: 's' })
    await opened
    clock.pass(250)
    assert.equal(agent.prompts.length, 1)
    assert.deepEqual(summarize(session.state), ['user: hello', 'user: next'])
  })

  it("doesn't duplicate a session that is loaded again", async () => {
    const { agent, sessions } = make()
    const replay = () => agent.say('s', chunk('user', 'hello', 'u'), chunk('agent', 'Hi', 'a'))
    const first = sessions.loadSession('s', setup)
    replay()
    agent.loads[0]!.resolve({ sessionId: 's' })
    await first.opened
    const before = structuredClone(first.session.state.entries)
    const changes: Change[] = []
    first.session.onDidChange(list => changes.push(...list))
    const second = sessions.loadSession('s', { ...setup, cwd: '/w2' })
    replay()
    agent.loads[1]!.resolve({ sessionId: 's' })
    await second.opened
    assert.equal(second.session, first.session)
    assert.deepEqual(second.session.state.entries, before)
    assert.deepEqual(changes[0], { type: 'reset' })
    assert.equal(second.session.setup.cwd, '/w2')
  })

  it('restores the conversation if loading it again fails', async () => {
    const { agent, sessions } = make()
    const first = sessions.loadSession('s', setup)
    agent.say('s', chunk('user', 'hello'))
    agent.loads[0]!.resolve({ sessionId: 's' })
    await first.opened
    const second = sessions.loadSession('s', { ...setup, cwd: '/w2' })
    agent.say('s', chunk('user', 'hel'))
    agent.loads[1]!.reject(refused)
    await assert.rejects(second.opened, refused)
    assert.deepEqual(summarize(first.session.state), ['user: hello'])
    assert.deepEqual([first.session.phase, first.session.setup.cwd], ['ready', '/w'])
  })

  it("leaves no trace of a session that couldn't be loaded", async () => {
    const { agent, sessions } = make()
    const { session, opened } = sessions.loadSession('s', setup)
    agent.loads[0]!.reject(refused)
    await assert.rejects(opened, refused)
    assert.deepEqual([session.phase, sessions.sessions.size], ['closed', 0])
    assert.deepEqual(agent.closes, [])
  })

  it('rejects a session that is working or being loaded', async () => {
    const { agent, sessions } = make()
    const session = await opened(agent, sessions, 's')
    void session.prompt([text('x')])
    assert.throws(() => sessions.loadSession('s', setup), /is running/)
    void sessions.loadSession('other', setup).opened.catch(() => {})
    assert.throws(() => sessions.loadSession('other', setup), /already/)
  })
})

describe('AgentSessions: resume', () => {
  it('shows no replay, and can continue an existing conversation', async () => {
    const dead = make()
    const before = await opened(dead.agent, dead.sessions, 's')
    void before.prompt([text('hello')])
    dead.agent.say('s', running, chunk('agent', 'Hi', 'm'))
    dead.agent.exit()
    const { agent, sessions } = make()
    const { session, opened: resumed } = sessions.resumeSession(
      's',
      setup,
      undefined,
      before.conversation.state,
    )
    agent.resumes[0]!.resolve({ sessionId: 's' })
    await resumed
    void session.prompt([text('again')])
    assert.deepEqual(summarize(session.state), ['user: hello', 'agent: Hi', 'turn_end: error', 'user: again'])
    assert.equal(session.state.entries.at(-1)?.turn, 2)
  })
})

describe('AgentSessions: fork', () => {
  class ForkingAgent extends FakeAgent {
    readonly forks: Deferred<SessionStart>[] = []

    forkSession(): Promise<SessionStart> {
      const answer = new Deferred<SessionStart>()
      this.forks.push(answer)
      return answer.promise
    }
  }
  /** `own`: what the fork adds to the ids of its messages, as OpenCode and Kilo do; without it, they are the original's. */
  const replayWith = (own = '') => [
    chunk('user', 'hello', `p1${own}`),
    chunk('agent', 'Hi', `m1${own}`),
    chunk('user', 'go on', `p2${own}`),
    chunk('agent', 'More', `m2${own}`),
  ]
  const replay = replayWith()
  const shown = ['user: hello', 'agent: Hi', 'user: go on', 'agent: More']
  const note = 'notice: Forked session. New messages stay in this session.'

  /** A session of two turns. */
  async function withTurns() {
    const agent = new ForkingAgent()
    const clock = new Clock()
    const sessions = new AgentSessions(agent, { now: () => clock.now, schedule: clock.schedule })
    const session = await opened(agent, sessions, 's')
    for (const [prompt, answer] of [
      ['hello', chunk('agent', 'Hi', 'm1')],
      ['go on', chunk('agent', 'More', 'm2')],
    ] as const) {
      void session.prompt([text(prompt)])
      agent.say('s', running, answer)
      agent.endTurn(agent.prompts.at(-1)!)
      await settle()
    }
    return { agent, clock, sessions, session }
  }

  it('has the conversation once, whether the agent replays it before its response, after it, or not at all', async () => {
    const cases = ['before', 'after', 'never'].flatMap(replays => [
      { replays, replay },
      { replays, replay: replayWith(' of the fork') },
    ])
    for (const { replays, replay } of cases) {
      const { agent, clock, sessions, session } = await withTurns()
      const state = forkState(session.conversation.state, 'a/s')
      const forking = sessions.forkSession('s', setup, undefined, state)
      if (replays === 'before') agent.say('f', ...replay)
      agent.forks[0]!.resolve({ sessionId: 'f' })
      const fork = await forking
      if (replays === 'after') agent.say('f', ...replay)
      clock.pass(5000)
      assert.deepEqual(summarize(fork.state), [...shown, note], replays)
      assert.equal(fork.phase, 'ready')
      void fork.prompt([text('and now')])
      agent.say('f', running, chunk('agent', 'Now this', 'm3'))
      assert.deepEqual(summarize(fork.state), [...shown, note, 'user: and now', 'agent: Now this'], replays)
      // a reload
      const loading = sessions.loadSession('f2', setup, undefined, () => fork.conversation.state)
      agent.say('f2', ...replay, chunk('user', 'and now', 'p3'), chunk('agent', 'Now this', 'm3'))
      agent.loads[0]!.resolve({ sessionId: 'f2' })
      await loading.opened
      assert.deepEqual(
        summarize(loading.session.state),
        [...shown, note, 'user: and now', 'agent: Now this'],
        replays,
      )
    }
  })

  it('shows what the agent replays if nothing is known of the conversation', async () => {
    const { agent, clock, sessions } = await withTurns()
    const forking = sessions.forkSession('other', setup)
    agent.say('f', ...replay)
    agent.forks[0]!.resolve({ sessionId: 'f' })
    const fork = await forking
    clock.pass(5000)
    assert.deepEqual(summarize(fork.state), shown)
    assert.equal(fork.state.entries[0]?.startedAt, undefined)
  })

  it('ends if the agent exits while it answers', async () => {
    const { agent, sessions, session } = await withTurns()
    const forking = sessions.forkSession('s', setup, undefined, forkState(session.conversation.state, 'a/s'))
    agent.say('f', ...replay)
    agent.exit()
    agent.forks[0]!.resolve({ sessionId: 'f' })
    const fork = await forking
    assert.equal(fork.phase, 'ended')
    assert.deepEqual(summarize(fork.state).slice(0, 5), [...shown, note])
  })
})

describe('AgentSessions: requests', () => {
  it('reach their session, and are canceled for unknown sessions', async () => {
    const { agent, sessions } = make()
    const session = await opened(agent, sessions, 's')
    const answer = sessions.requestPermission(permissionRequest(), never)
    session.requests.answerPermission(session.requests.open[0]!.requestId, 'yes')
    assert.deepEqual(await answer, { type: 'selected', optionId: 'yes' })
    assert.deepEqual(await sessions.requestPermission(permissionRequest({ sessionId: 'x' }), never), {
      type: 'cancelled',
    })
  })

  it('wait until their session is known', async () => {
    const { agent, sessions } = make()
    const made = sessions.newSession(setup)
    const answer = sessions.requestPermission(permissionRequest({ sessionId: 's' }), never)
    const stray = sessions.requestPermission(permissionRequest({ sessionId: 'x' }), never)
    agent.newSessions[0]!.resolve({ sessionId: 's' })
    const session = await made
    assert.deepEqual(summarize(session.state).slice(0, 1), ['permission May I?: open'])
    session.requests.answerPermission(session.requests.open[0]!.requestId, 'no')
    assert.deepEqual(await answer, { type: 'selected', optionId: 'no' })
    assert.deepEqual(await stray, { type: 'cancelled' })
  })

  it('can be canceled by the agent while they wait, and are canceled if the session is never created', async () => {
    const { agent, sessions } = make()
    const made = sessions.newSession(setup)
    const abort = new AbortController()
    const withdrawn = sessions.requestPermission(permissionRequest({ sessionId: 's' }), abort.signal)
    const kept = sessions.requestPermission(permissionRequest({ sessionId: 's' }), never)
    abort.abort()
    assert.deepEqual(await withdrawn, { type: 'cancelled' })
    agent.newSessions[0]!.reject(refused)
    await assert.rejects(made)
    assert.deepEqual(await kept, { type: 'cancelled' })
  })
})

describe('AgentSessions: requests of a session that the agent never announced', () => {
  const asking = (toolCallId: string, patch: Partial<ToolCallPatch> = {}) =>
    permissionRequest({
      sessionId: 'child',
      subject: { type: 'tool_call', toolCall: { toolCallId, ...patch } },
    })
  const notices = (...all: Session[]) =>
    all.map(
      ({ state }) => state.entries.filter((entry): entry is NoticeEntry => entry.kind === 'notice').length,
    )

  async function two() {
    const warnings: string[] = []
    const log = { ...silentLogger, warn: (message: string) => void warnings.push(message) }
    const { agent, sessions } = make({ log })
    return {
      ...{ agent, sessions, warnings },
      a: await opened(agent, sessions, 'a'),
      b: await opened(agent, sessions, 'b'),
    }
  }

  it('are shown where their tool call runs, whatever else runs or is being created', async () => {
    const { agent, sessions, a, b } = await two()
    void a.prompt([text('x')])
    void b.prompt([text('y')])
    agent.say('b', tool('call', { title: 'Task' }))
    void sessions.newSession(setup)
    const answer = sessions.requestPermission(asking('call'), never)
    assert.deepEqual([a.requests.open.length, b.requests.open.length], [0, 1])
    const [request] = b.requests.open
    assert.ok(request?.kind === 'permission')
    assert.match(request.description ?? '', /session child, which/)
    assert.equal(b.requests.permission(request.requestId)?.tool?.title, 'Task')
    b.requests.answerPermission(request.requestId, 'yes')
    assert.deepEqual(await answer, { type: 'selected', optionId: 'yes' })
  })

  it('are shown in the subagent that runs their tool call', async () => {
    const { agent, sessions, a } = await two()
    agent.say('a', { type: 'subagent', subagent: { sessionId: 'known' } })
    agent.say('known', tool('call'))
    void sessions.requestPermission(asking('call'), never)
    assert.equal(a.requests.open[0]?.within, 'known')
  })

  it('are shown in the only session with a running turn, and end with it', async () => {
    const { agent, sessions, a, b } = await two()
    void a.prompt([text('x')])
    const answer = sessions.requestPermission(asking('call', { title: 'Write' }), never)
    const form1 = sessions.createElicitation('child', form({ sessionId: 'child' }), never)
    assert.deepEqual([a.requests.open.length, b.requests.open.length], [2, 0])
    const [, question] = a.requests.open
    assert.match((question?.kind === 'elicitation' && question.message) || '', /^Who are you\?\n\n.*child/)
    agent.endTurn(agent.prompts[0]!)
    assert.deepEqual(await Promise.all([answer, form1]), [{ type: 'cancelled' }, { action: 'cancel' }])
    assert.deepEqual(notices(a, b), [0, 0])
  })

  it("don't change a tool call that has the same id there, nor are answered by what it says", async () => {
    const { agent, sessions, a } = await two()
    const seen: unknown[] = []
    a.requests.answerByRule = (_request, entry) => {
      seen.push(entry?.rawInput)
      return undefined
    }
    void a.prompt([text('x')])
    agent.say('a', tool('call', { title: 'Mine', rawInput: { path: '/w/mine' }, status: 'completed' }))
    void sessions.requestPermission(asking('call', { title: 'Theirs' }), never)
    const titles = a.state.entries.flatMap(entry => (entry.kind === 'tool_call' ? entry.title : []))
    assert.deepEqual([titles, seen], [['Mine', 'Theirs'], [undefined]])
  })

  it('are answered by the rules of the session in which they are shown', async () => {
    const { sessions, a } = await two()
    const rule = { action: 'allow', scope: 'user', text: 'all' } as const
    a.requests.answerByRule = async () => ({ optionId: 'yes', rule })
    void a.prompt([text('x')])
    assert.deepEqual(await sessions.requestPermission(asking('call'), never), {
      type: 'selected',
      optionId: 'yes',
    })
  })

  it('are refused if none or several run, and the user is told once where they may belong', async () => {
    const { sessions, a, b, warnings } = await two()
    const hidden = a
    hidden.isHidden = true
    assert.deepEqual(await sessions.requestPermission(asking('call'), never), { type: 'cancelled' })
    assert.deepEqual(notices(a, b), [0, 1])
    hidden.isHidden = false
    void a.prompt([text('x')])
    void b.prompt([text('y')])
    const other = form({ sessionId: 'other' })
    await assert.rejects(sessions.createElicitation('other', other, never), /No session "other"/)
    await assert.rejects(sessions.createElicitation('other', other, never), /No session "other"/)
    assert.deepEqual(notices(a, b), [1, 2])
    assert.equal(warnings.filter(line => /refused/.test(line)).length, 3)
  })

  it('wait while a session is created, which may be theirs, and are shown elsewhere if it is not', async () => {
    const { agent, sessions, a } = await two()
    void a.prompt([text('x')])
    const made = sessions.newSession(setup)
    void sessions.requestPermission(asking('call'), never)
    assert.equal(a.requests.open.length, 0)
    agent.newSessions.at(-1)!.resolve({ sessionId: 'c' })
    await made
    assert.equal(a.requests.open.length, 1)
  })

  it("aren't asked elsewhere if their session was closed", async () => {
    const { agent, sessions, a, b } = await two()
    agent.say('b', { type: 'subagent', subagent: { sessionId: 'child' } })
    await b.close()
    void a.prompt([text('x')])
    for (const sessionId of ['b', 'child']) {
      const outcome = await sessions.requestPermission({ ...asking('call'), sessionId }, never)
      assert.deepEqual(outcome, { type: 'cancelled' })
    }
    assert.deepEqual([a.requests.open.length, ...notices(a)], [0, 0])
  })
})

describe('AgentSessions: when the agent exits', () => {
  it('all sessions are notified and keep their conversations', async () => {
    const { agent, sessions } = make()
    const [a, b] = [await opened(agent, sessions, 'a'), await opened(agent, sessions, 'b')]
    agent.say('b', chunk('agent', 'Hi'))
    const ends: string[] = []
    for (const session of [a, b])
      session.onDidEnd(exit => ends.push(`${session.sessionId} ${exit?.exitCode}`))
    const outcome = a.prompt([text('x')])
    agent.exit({ exitCode: 7 })
    assert.deepEqual(ends, ['a 7', 'b 7'])
    assert.deepEqual([a.phase, b.phase], ['ended', 'ended'])
    assert.deepEqual(summarize(b.state), ['agent: Hi'])
    assert.equal((await outcome).type, 'failed')
  })

  it('a session that was just created ends', async () => {
    const { agent, sessions } = make()
    const made = opened(agent, sessions, 's')
    agent.exit({ exitCode: 3 })
    const session = await made
    assert.deepEqual([session.phase, session.exit?.exitCode, sessions.sessions.size], ['ended', 3, 0])
  })

  it('a pending load ends and the previous conversation is restored', async () => {
    const { agent, sessions } = make()
    const first = sessions.loadSession('s', setup)
    agent.say('s', chunk('user', 'hello'), chunk('agent', 'Hi'))
    agent.loads[0]!.resolve({ sessionId: 's' })
    await first.opened
    const second = sessions.loadSession('s', setup)
    agent.say('s', chunk('user', 'hello'))
    agent.exit()
    await assert.rejects(second.opened)
    await settle()
    assert.deepEqual(summarize(first.session.state), ['user: hello', 'agent: Hi'])
    assert.equal(first.session.phase, 'ended')
  })
})

describe('AgentSessions: subagents', () => {
  const announce = (sessionId: string) => ({ type: 'subagent', subagent: { sessionId } }) as const

  it('receive updates and requests through the parent session, at any depth', async () => {
    const { agent, sessions } = make()
    const session = await opened(agent, sessions, 's')
    agent.say('s', announce('child'))
    agent.say('child', announce('grandchild'), chunk('agent', 'c'))
    agent.say('grandchild', chunk('agent', 'g'))
    assert.deepEqual(
      session.state.entries.map(({ kind, within }) => [kind, within]),
      [
        ['subagent', undefined],
        ['subagent', 'child'],
        ['message', 'child'],
        ['message', 'grandchild'],
      ],
    )
    const answer = sessions.requestPermission({ ...permissionRequest(), sessionId: 'grandchild' }, never)
    const question = session.state.entries.at(-1)
    assert(question?.kind === 'permission' && question.within === 'grandchild')
    session.requests.answerPermission(question.requestId, 'yes')
    assert.deepEqual(await answer, { type: 'selected', optionId: 'yes' })
    assert.equal(sessions.of('grandchild'), session)
    await session.close()
    assert.equal(sessions.of('grandchild'), undefined)
  })

  it('have their requests canceled when they become idle', async () => {
    const { agent, sessions } = make()
    await opened(agent, sessions, 's')
    agent.say('s', announce('child'))
    agent.say('child', { type: 'state', state: 'running' })
    const answer = sessions.requestPermission({ ...permissionRequest(), sessionId: 'child' }, never)
    agent.say('child', { type: 'state', state: 'idle', stopReason: 'end_turn' })
    assert.deepEqual(await answer, { type: 'cancelled' })
  })

  it('have their updates held until their session is known', async () => {
    const { agent, sessions } = make()
    const made = sessions.newSession(setup)
    agent.say('child', chunk('agent', 'early'))
    agent.say('s', announce('child'))
    const answer = sessions.requestPermission({ ...permissionRequest(), sessionId: 'child' }, never)
    agent.newSessions[0]!.resolve({ sessionId: 's' })
    const session = await made
    assert.deepEqual(summarize(session.state).slice(1, 2), ['agent: early'])
    assert.equal(session.state.activity, 'requires_action')
    session.turns.cancel()
    assert.deepEqual(await answer, { type: 'cancelled' })
  })

  it("don't include a session that the user opened", async () => {
    const { agent, sessions } = make()
    const one = await opened(agent, sessions, 'one')
    const two = await opened(agent, sessions, 'two')
    agent.say('one', announce('two'), announce('one'))
    agent.say('two', chunk('agent', 'mine'))
    assert.deepEqual(summarize(one.state), [])
    assert.deepEqual(summarize(two.state), ['agent: mine'])
  })

  it('can be stopped individually if the agent supports it', async () => {
    const { agent, sessions } = make()
    const session = await opened(agent, sessions, 's')
    agent.say('s', announce('child'))
    await cancelWork(session, { subagentId: 'child' })
    assert.deepEqual(agent.cancels, [])
    agent.say('s', { type: 'subagent', subagent: { sessionId: 'child', canCancel: true } })
    await cancelWork(session, { subagentId: 'child' })
    assert.deepEqual(agent.cancels, ['child'])
  })

  it('stay connected when their conversation is resumed', async () => {
    const { agent, sessions } = make()
    const before = await opened(agent, sessions, 's')
    agent.say('s', announce('child'))
    await before.close()
    const { session, opened: done } = sessions.resumeSession('s', setup, undefined, before.conversation.state)
    agent.resumes[0]!.resolve({ sessionId: 's' })
    await done
    agent.say('child', chunk('agent', 'again'))
    assert.equal(session.state.entries.at(-1)?.within, 'child')
  })
})
