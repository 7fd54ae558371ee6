import { strict as assert } from 'node:assert'
import type { ElicitationRequest, PermissionRequest } from '../../../src/acp/model.ts'
import { AgentSessions } from '../../../src/conversation/agent-sessions.ts'
import { continueState, forkState } from '../../../src/conversation/replay/restore-state.ts'
import type { Session } from '../../../src/conversation/session.ts'
import { memoryAgent } from '../../support/memory-agent.ts'
import type { MemoryPipe } from '../../support/memory-pipe.ts'
import { until } from '../../support/until.ts'
import { Clock } from './clock.ts'
import { FakeAgent, settle } from './fake-agent.ts'
import { chunk, form, idle, permissionRequest, running, summarize, text } from './updates.ts'

const setup = { cwd: '/w', additionalDirectories: [], mcpServers: [] }
const never = new AbortController().signal

class ForkingAgent extends FakeAgent {
  async forkSession() {
    return { sessionId: 'fork' }
  }
}

async function open(agent = new ForkingAgent(), options = {}) {
  const sessions = new AgentSessions(agent, options)
  const making = sessions.newSession(setup)
  agent.newSessions[0]!.resolve({ sessionId: 's' })
  return { agent, sessions, session: await making }
}

/** A session in which the user allowed a subagent to run `ls`. */
async function allowed() {
  const fixture = await open()
  const { agent, sessions, session } = fixture
  void session.prompt([text('go')])
  agent.say('s', running, {
    type: 'subagent',
    subagent: { sessionId: 'child', state: { activity: 'running' } },
  })
  const asked = sessions.requestPermission(permissionRequest({ sessionId: 'child', title: 'ls' }), never)
  session.requests.answerPermission(session.requests.open[0]!.requestId, 'yes')
  assert.deepEqual(await asked, { type: 'selected', optionId: 'yes' })
  return fixture
}

/** Checks that neither the subagent nor the end of the turn answers another request in the continued session. */
async function neverAllowed(agent: FakeAgent, sessions: AgentSessions, session: Session) {
  const { sessionId } = session
  void session.prompt([text('again')])
  agent.say(sessionId, running)
  const asked = sessions.requestPermission(permissionRequest({ sessionId, title: 'rm -rf ~' }), never)
  let answer: unknown
  void asked.then(outcome => {
    answer = outcome
  })
  agent.say(sessionId, { type: 'subagent', subagent: { sessionId: 'child', title: 'still here' } })
  agent.say(sessionId, { type: 'subagent', subagent: { sessionId: 'child', state: { activity: 'idle' } } })
  await settle()
  assert.equal(answer, undefined)
  assert.deepEqual(
    session.requests.open.map(entry => entry.kind === 'permission' && entry.title),
    ['rm -rf ~'],
  )
  agent.say(sessionId, idle('end_turn'))
  assert.deepEqual(await asked, { type: 'cancelled' })
  assert.equal(summarize(session.state).at(-1), 'permission rm -rf ~: cancelled')
}

describe('a request that follows an allowed one', () => {
  it('needs its own answer after a restart', async () => {
    const before = await allowed()
    before.agent.exit()
    const agent = new ForkingAgent()
    const sessions = new AgentSessions(agent)
    const { session, opened } = sessions.resumeSession(
      's',
      setup,
      undefined,
      before.session.conversation.state,
    )
    agent.resumes[0]!.resolve({ sessionId: 's' })
    await opened
    await neverAllowed(agent, sessions, session)
  })

  it('needs its own answer in a fork', async () => {
    const { agent, sessions, session } = await allowed()
    agent.endTurn(agent.prompts[0]!)
    const fork = await sessions.forkSession(
      's',
      setup,
      undefined,
      forkState(session.conversation.state, 'a/s'),
    )
    await neverAllowed(agent, sessions, fork)
  })
})

for (const version of [1, 2] as const) {
  describe(`a pending request of an agent that uses v${version}`, () => {
    const ask = (pipe: MemoryPipe, id: string, sessionId = 's') => {
      pipe.send({
        id,
        method: 'session/request_permission',
        params: { sessionId, title: id, toolCall: { toolCallId: id, title: id }, options: [] },
      })
      pipe.send({
        id: `form-${id}`,
        method: 'elicitation/create',
        params: { sessionId, message: id, mode: 'form', requestedSchema: { properties: {} } },
      })
    }
    const canceled = async (pipe: MemoryPipe, id: string) => {
      assert.deepEqual((await pipe.responseTo(id)).result, { outcome: { outcome: 'cancelled' } })
      assert.deepEqual((await pipe.responseTo(`form-${id}`)).result, { action: 'cancel' })
    }
    /** A session with a running turn, in which the agent asks. */
    async function asking() {
      const routes: { sessions?: AgentSessions } = {}
      const client = {
        requestPermission: (request: PermissionRequest, signal: AbortSignal) =>
          routes.sessions!.requestPermission(request, signal),
        createElicitation: (request: ElicitationRequest, signal: AbortSignal) =>
          routes.sessions!.createElicitation(request.sessionId ?? '', request, signal),
      }
      const { agent, pipe } = memoryAgent({}, client, { version })
      const sessions = new AgentSessions(agent)
      routes.sessions = sessions
      const making = sessions.newSession(setup)
      pipe.send({ id: (await pipe.waitForMethod('session/new')).id, result: { sessionId: 's' } })
      const session = await making
      void session.prompt([text('go')])
      const prompt = await pipe.waitForMethod('session/prompt')
      if (version === 2) {
        pipe.send({ id: prompt.id, result: { messageId: 'p' } })
        pipe.send({
          method: 'session/update',
          params: { sessionId: 's', update: { sessionUpdate: 'state_update', state: 'running' } },
        })
      }
      ask(pipe, 'one')
      await until(() => session.requests.open.length === 2)
      return { agent, pipe, sessions, session, prompt }
    }

    it('is answered when the user stops the turn', async () => {
      const { pipe, session } = await asking()
      session.turns.cancel()
      await canceled(pipe, 'one')
      assert.deepEqual(session.requests.open, [])
    })

    it('is answered when the turn ends, also if it came after the user stopped the turn', async () => {
      const { pipe, session, prompt } = await asking()
      session.turns.cancel()
      ask(pipe, 'late')
      await until(() => session.requests.open.length === 2)
      if (version === 1) pipe.send({ id: prompt.id, result: { stopReason: 'cancelled' } })
      else {
        const update = { sessionUpdate: 'state_update', state: 'idle', stopReason: 'cancelled' }
        pipe.send({ method: 'session/update', params: { sessionId: 's', update } })
      }
      await canceled(pipe, 'late')
    })

    it('is answered when the agent withdraws it, and when the session is closed', async () => {
      const { pipe, session } = await asking()
      for (const requestId of ['one', 'form-one'])
        pipe.send({ method: '$/cancel_request', params: { requestId } })
      await canceled(pipe, 'one')
      ask(pipe, 'two')
      await until(() => session.requests.open.length === 2)
      session.dispose()
      await canceled(pipe, 'two')
    })
  })
}

describe('a pending request', () => {
  it('stays after the turn only while its background work continues', async () => {
    const { agent, sessions, session } = await open()
    void session.prompt([text('go')])
    const subject = { type: 'tool_call', toolCall: { toolCallId: 'watch' } } as const
    agent.say('s', running)
    const asked = sessions.requestPermission(permissionRequest({ subject }), never)
    agent.say('s', { type: 'state', state: 'idle', stopReason: 'end_turn', background: ['watch'] })
    await settle()
    assert.equal(session.requests.open.length, 1)
    assert.equal(session.state.activity, 'requires_action')
    agent.say('s', running, idle('end_turn'))
    assert.deepEqual(await asked, { type: 'cancelled' })
    assert.equal(session.state.activity, 'idle')
  })

  it('of a subagent ends when the parent reports that the subagent is idle, as in v1', async () => {
    const { agent, sessions, session } = await open()
    agent.say('s', running, {
      type: 'subagent',
      subagent: { sessionId: 'child', state: { activity: 'running' } },
    })
    const theirs = sessions.requestPermission(
      permissionRequest({ sessionId: 'child', title: 'theirs' }),
      never,
    )
    const own = sessions.createElicitation('s', form(), never)
    agent.say('s', { type: 'subagent', subagent: { sessionId: 'child', state: { activity: 'idle' } } })
    assert.deepEqual(await theirs, { type: 'cancelled' })
    assert.deepEqual(summarize(session.state).slice(1), [
      'permission theirs: cancelled',
      'elicitation Who are you?: open',
    ])
    agent.say('s', idle('end_turn'))
    assert.deepEqual(await own, { action: 'cancel' })
  })

  it("isn't answered by a rule that takes longer than the turn", async () => {
    const { agent, sessions, session } = await open()
    let decide = () => {}
    session.requests.answerByRule = () =>
      new Promise(resolve => {
        const rule = { action: 'allow', scope: 'user', text: 'all' } as const
        decide = () => resolve({ optionId: 'yes', rule })
      })
    void session.prompt([text('go')])
    agent.say('s', running)
    const asked = sessions.requestPermission(permissionRequest(), never)
    agent.say('s', idle('end_turn'))
    decide()
    assert.deepEqual(await asked, { type: 'cancelled' })
    assert.deepEqual(summarize(session.state), ['user: go', 'turn_end: empty'])
  })

  it('is shown again after a late replay replaces the conversation', async () => {
    const clock = new Clock()
    const { agent, sessions, session } = await open(new ForkingAgent(), { schedule: clock.schedule })
    agent.say('s', chunk('agent', 'known'))
    const loading = sessions.loadSession('s', setup)
    agent.loads[0]!.resolve({ sessionId: 's' })
    await loading.opened
    const asked = sessions.requestPermission(permissionRequest({ title: 'early' }), never)
    agent.say('s', chunk('user', 'hello'))
    clock.pass(1000)
    assert(summarize(session.state).includes('user: hello'))
    const [pending] = session.requests.open
    assert.equal(pending?.kind === 'permission' && pending.title, 'early')
    assert.equal(session.state.activity, 'requires_action')
    session.requests.answerPermission(pending!.requestId, 'yes')
    assert.deepEqual(await asked, { type: 'selected', optionId: 'yes' })
    assert.equal(session.state.activity, 'idle')
  })

  it("ends together with its turn, and can't be answered in between", async () => {
    const { agent, sessions, session } = await open()
    void session.prompt([text('go')])
    agent.say('s', running)
    const asked = sessions.requestPermission(permissionRequest(), never)
    const answered: boolean[] = []
    session.onDidChange(() => {
      for (const { requestId } of session.requests.open)
        answered.push(session.requests.answerPermission(requestId, 'yes'))
    })
    agent.say('s', idle('end_turn'))
    assert.deepEqual(await asked, { type: 'cancelled' })
    assert.deepEqual(answered, [])
  })

  it('costs no report of its own when the user stops the turn', async () => {
    const { agent, sessions, session } = await open()
    void session.prompt([text('go')])
    agent.say('s', running)
    const asked = Array.from({ length: 100 }, () =>
      sessions.requestPermission(permissionRequest(), new AbortController().signal),
    )
    let reports = 0
    session.onDidChange(() => reports++)
    session.turns.cancel()
    assert.equal(reports, 1)
    for (const outcome of await Promise.all(asked)) assert.deepEqual(outcome, { type: 'cancelled' })
  })
})

describe('a request that an earlier window asked, before the agent has asked this one again', () => {
  const command = { type: 'tool_call', toolCall: { toolCallId: 't', title: 'make', rawInput: 1 } } as const
  const permission = permissionRequest({ title: 'make', subject: command })

  async function nextWindow() {
    const { agent, sessions: before, session: left } = await open()
    void left.prompt([text('go')])
    agent.say('s', running)
    void before.requestPermission(permission, never)
    void before.createElicitation('s', form(), never)
    const { entries } = structuredClone(left.state)
    before.dispose()
    const sessions = new AgentSessions(agent)
    const note = { configOptions: [], commands: [], isPaused: false }
    const state = continueState({ entries, terminals: [], head: { working: true } })
    const session = sessions.reattachSession(
      { sessionId: 's', start: { sessionId: 's' }, note },
      setup,
      state,
      -1,
    )
    const [permissionId, formId] = session.requests.open.map(({ requestId }) => requestId)
    const askAgain = async (again = permission) => {
      const answers = [
        sessions.requestPermission(again, never),
        sessions.createElicitation('s', form(), never),
      ]
      session.requests.repeated()
      return Promise.all(answers)
    }
    return { session, askAgain, permissionId: permissionId!, formId: formId! }
  }

  it('can be answered: the agent gets the answer when it asks again', async () => {
    const { session, askAgain, permissionId, formId } = await nextWindow()
    assert.equal(session.requests.permission(permissionId)?.tool?.rawInput, 1)
    assert.equal(session.requests.answerPermission(permissionId, 'yes'), true)
    assert.equal(session.requests.elicitation(formId)?.message, 'Who are you?')
    assert.equal(session.requests.answerElicitation(formId, { action: 'accept', content: {} }), false)
    const filled = { action: 'accept', content: { name: 'Ada' } } as const
    assert.equal(session.requests.answerElicitation(formId, filled), true)
    assert.deepEqual(session.requests.open, [])
    assert.deepEqual(await askAgain(), [{ type: 'selected', optionId: 'yes' }, filled])
    assert.deepEqual(session.requests.open, [])
  })

  it('needs another answer if it is about something else by then', async () => {
    const { session, askAgain, permissionId } = await nextWindow()
    session.requests.answerPermission(permissionId, 'yes')
    const toolCall = { ...command.toolCall, rawInput: 2 }
    const answers = askAgain({ ...permission, subject: { type: 'tool_call', toolCall } })
    await settle()
    const again = session.requests.open.find(({ kind }) => kind === 'permission')
    assert.notEqual(again!.requestId, permissionId)
    session.turns.cancel()
    assert.deepEqual((await answers)[0], { type: 'cancelled' })
  })

  it('is canceled when the user stops the turn', async () => {
    const { session, askAgain } = await nextWindow()
    session.turns.cancel()
    assert.deepEqual(await askAgain(), [{ type: 'cancelled' }, { action: 'cancel' }])
  })

  it("can't be answered anymore once the agent hasn't asked again", async () => {
    const { session, permissionId } = await nextWindow()
    session.requests.repeated()
    assert.equal(session.requests.answerPermission(permissionId, 'yes'), false)
    assert.deepEqual(summarize(session.state).slice(-2), [
      'permission make: cancelled',
      'elicitation Who are you?: cancel',
    ])
  })
})
