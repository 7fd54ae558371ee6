import assert from 'node:assert/strict'
import { mock } from 'node:test'
import { AgentRequestError, AgentStartError } from '../../../src/acp/agent.ts'
import type { ContentBlock } from '../../../src/acp/model.ts'
import { EMPTY_DRAFT } from '../../../src/common/draft.ts'
import { CANCEL_GRACE_MS } from '../../../src/common/limits.ts'
import type { Failure } from '../../../src/sessions/failures.ts'
import type { OpenSession } from '../../../src/sessions/open-session.ts'
import { titleOf } from '../../../src/sessions/session-title.ts'
import { until } from '../../support/until.ts'
import { Deferred } from '../conversation/fake-agent.ts'
import { chunk } from '../conversation/updates.ts'
import { authRequired, SessionsFixture, sendPrompt } from './sessions-fixture.ts'

describe('ConversationController', () => {
  let fixture: SessionsFixture

  beforeEach(() => {
    fixture = new SessionsFixture()
  })

  function failure(): Failure {
    const [only, ...more] = [...fixture.controller.failures.values()]
    assert.ok(only, 'nothing failed')
    assert.deepEqual(more, [])
    return only
  }
  function failureId(): string {
    const [id] = [...fixture.controller.failures.keys()]
    assert.ok(id)
    return id
  }

  /** Starts a session with the first agent, which is ready for prompts. */
  async function ready(sessionId = 's1') {
    const starting = fixture.controller.opener.start()
    await until(() => fixture.started.length > 0 && fixture.agent.newSessions.length > 0)
    fixture.agent.newSessions.at(-1)?.resolve({ sessionId })
    await starting
    assert.equal(fixture.controller.phase, 'ready')
    const open = fixture.controller.current
    assert.ok(open)
    return open
  }

  it('starts the default agent and shows its session', async () => {
    const phases: string[] = []
    fixture.controller.onDidChange(() => phases.push(fixture.controller.phase))
    const open = await ready()
    assert.equal(open.agentId, 'one')
    assert.equal(fixture.controller.key, 'one/s1')
    assert.equal(phases[0], 'starting')
    assert.equal(phases.at(-1), 'ready')
    assert.deepEqual(fixture.used, ['one'])
    assert.equal(fixture.records.list('one')[0]?.cwd, '/w/a')
  })

  it('starts nothing in Restricted Mode, and says so', async () => {
    fixture.trusted = false
    await fixture.controller.opener.start()
    assert.equal(failure().type, 'untrusted')
    assert.equal(fixture.started.length, 0)
    await assert.rejects(sendPrompt(fixture.controller, 'hello'), /Restricted Mode/)
  })

  it('reports that there is no agent, and an unknown agent', async () => {
    await fixture.controller.opener.start('nobody')
    assert.deepEqual(failure(), { type: 'unknown-agent', agentId: 'nobody', agentName: 'nobody' })
    fixture.entries.length = 0
    await fixture.controller.opener.start()
    assert.deepEqual(failure(), { type: 'no-agent' })
  })

  it('shows the list of agents if there is no default, and keeps the previous session open', async () => {
    const open = await ready()
    fixture.entries.length = 0
    await fixture.controller.opener.start()
    assert.equal(fixture.controller.phase, 'empty')
    assert.equal(fixture.controller.current, undefined)
    assert.deepEqual(failure(), { type: 'no-agent' })
    assert.ok(fixture.manager.list().includes(open))
  })

  describe('while it searches for installed agents', () => {
    const found = () => {
      const search = new Deferred<void>()
      fixture.directory.ready = () => search.promise
      return search
    }

    it('shows immediately that a new session starts, even if another one is displayed', async () => {
      const open = await ready()
      const search = found()
      const started = fixture.controller.opener.start()
      assert.equal(fixture.controller.phase, 'starting')
      assert.equal(fixture.controller.opener.step, 'searching')
      assert.equal(fixture.controller.current, open)
      search.resolve()
      await until(() => fixture.agent.newSessions.length === 2)
      assert.equal(fixture.controller.opener.step, 'starting')
      fixture.agent.newSessions[1]?.resolve({ sessionId: 's2' })
      await started
      assert.equal(fixture.controller.current?.session.sessionId, 's2')
    })

    it('returns to the displayed session if the user cancels', async () => {
      const open = await ready()
      const search = found()
      const started = fixture.controller.opener.start()
      fixture.controller.cancel()
      assert.equal(fixture.controller.phase, 'ready')
      search.resolve()
      await started
      assert.equal(fixture.controller.current, open)
      assert.equal(fixture.agent.newSessions.length, 1)
    })

    it('starts it, and not the one from before, if the view is shown for the first time meanwhile', async () => {
      fixture.kept.set('parley.lastSession', { agentId: 'two', sessionId: 's9', cwd: '/w/a' })
      const search = found()
      const started = fixture.controller.opener.start()
      await fixture.controller.opener.restore()
      search.resolve()
      await until(() => fixture.started.length === 1 && fixture.agent.newSessions.length === 1)
      fixture.agent.newSessions[0]?.resolve({ sessionId: 's1' })
      await started
      assert.equal(fixture.controller.key, 'one/s1')
    })

    it('keeps a session that the user started meanwhile', async () => {
      await ready()
      const search = found()
      const started = fixture.controller.opener.start()
      const chosen = fixture.controller.opener.start('two')
      await until(() => fixture.started.length === 2 && fixture.agent.newSessions.length === 1)
      fixture.agent.newSessions[0]?.resolve({ sessionId: 'chosen' })
      await chosen
      search.resolve()
      await started
      assert.equal(fixture.controller.phase, 'ready')
      assert.equal(fixture.controller.current?.session.sessionId, 'chosen')
      assert.equal(fixture.started.length, 2)
    })
  })

  it('starts only the default agent in the settings, or says what is wrong with it', async () => {
    const problem = { agentId: 'codex', message: 'It is not there.' }
    fixture.defaultProblem = problem
    await fixture.controller.opener.start()
    assert.deepEqual(failure(), { type: 'default-agent', problem })
    assert.equal(fixture.started.length, 0)
    fixture.defaultProblem = undefined
    fixture.agentsChanged.fire()
    assert.equal(fixture.controller.failures.size, 0)
  })

  it('sends a prompt that was written while the agent was being prepared', async () => {
    fixture.defaultProblem = { message: 'Nothing is there yet.' }
    const made = new Deferred<{ agentId: string } | undefined>()
    void fixture.controller.opener.startAfter('Agent Two', made.promise)
    assert.equal(fixture.controller.opener.state.type, 'preparing')
    fixture.controller.prompts.enqueue('new', { id: 'p1', draft: { text: 'Hello', chips: [], items: [] } })
    assert.equal(fixture.started.length, 0)
    made.resolve({ agentId: 'two' })
    await until(() => fixture.started.length > 0 && fixture.agent.newSessions.length > 0)
    assert.equal(fixture.started[0]?.agentId, 'two')
    assert.equal(fixture.controller.opener.state.type, 'opening')
    fixture.agent.newSessions[0]?.resolve({ sessionId: 's1' })
    await until(() => fixture.agent.prompts.length > 0)
    assert.equal(fixture.controller.failures.size, 0)
  })

  it("returns the prompt if the agent couldn't be prepared", async () => {
    fixture.entries.length = 0
    const made = new Deferred<{ agentId: string } | undefined>()
    void fixture.controller.opener.startAfter('Agent Two', made.promise)
    fixture.controller.prompts.enqueue('new', { id: 'p1', draft: { text: 'Hello', chips: [], items: [] } })
    made.resolve(undefined)
    await until(() => fixture.controller.prompts.queue.returned.length > 0)
    assert.equal(fixture.controller.prompts.queue.returned[0]?.draft.text, 'Hello')
    assert.equal(fixture.started.length, 0)
  })

  it('keeps a session that was started while another agent was being prepared', async () => {
    const made = new Deferred<{ agentId: string } | undefined>()
    void fixture.controller.opener.startAfter('Agent Two', made.promise)
    const open = await ready()
    made.resolve({ agentId: 'two' })
    await new Promise(resolve => setImmediate(resolve))
    assert.equal(fixture.controller.current, open)
    assert.deepEqual(
      fixture.started.map(({ agentId }) => agentId),
      ['one'],
    )
  })

  for (const [what, open] of [
    ['starts', () => void fixture.controller.opener.start('one')],
    ['shows', (earlier: OpenSession) => fixture.controller.show(earlier)],
    ['leaves', () => fixture.controller.leave()],
  ] as const)
    it(`doesn't start an agent once it is prepared if the user ${what} a session meanwhile`, async () => {
      const earlier = await ready()
      const made = new Deferred<{ agentId: string } | undefined>()
      const { controller } = fixture
      const preparing = controller.opener.startAfter('Agent Two', made.promise)
      open(earlier)
      assert.notEqual(controller.opener.state.type, 'preparing')
      made.resolve({ agentId: 'two' })
      await preparing
      assert.deepEqual(
        fixture.started.map(({ agentId }) => agentId),
        ['one'],
      )
    })

  it('returns to the displayed session if the user opens several others and cancels the last one', async () => {
    const open = await ready()
    const { controller } = fixture
    const reopen = (sessionId: string) =>
      controller.opener.reopen('load', { agentId: 'one', sessionId, cwd: '/w/a' })
    const first = reopen('b')
    await until(() => fixture.agent.loads.length === 1)
    assert.equal(controller.current?.session.sessionId, 'b')
    const second = reopen('c')
    await until(() => fixture.agent.loads.length === 2)
    const third = controller.opener.start('one')
    await until(() => fixture.agent.newSessions.length === 2)
    controller.cancel()
    assert.deepEqual([controller.key, controller.phase, controller.failures.size], [open.key, 'ready', 0])
    await Promise.all([first, second, third])
    assert.equal(controller.key, open.key)
  })

  it('returns to the displayed session if the user restarts the agent of another one that is opened, and cancels', async () => {
    const open = await ready()
    const { controller } = fixture
    const opening = controller.opener.reopen('load', { agentId: 'two', sessionId: 'b', cwd: '/w/a' })
    await until(() => fixture.agent.loads.length === 1)
    const restarting = controller.opener.restart()
    await until(() => fixture.started.length === 3 && fixture.agent.loads.length === 1)
    controller.cancel()
    await Promise.all([opening, restarting])
    assert.deepEqual([controller.key, controller.phase], [open.key, 'ready'])
  })

  it('still says why a session was not started once the view is shown for the first time', async () => {
    fixture.kept.set('parley.lastSession', { agentId: 'two', sessionId: 's9', cwd: '/w/a' })
    fixture.defaultProblem = { agentId: 'codex', message: 'It is not there.' }
    await fixture.controller.opener.start()
    await fixture.controller.opener.restore()
    assert.equal(failure().type, 'default-agent')
    assert.equal(fixture.started.length, 0)
  })

  it('shows a card if an agent fails to start, and starts it again on Retry', async () => {
    let tries = 0
    fixture.onStart = () => {
      tries += 1
      if (tries > 1) return
      throw new AgentStartError({ kind: 'command-missing', command: 'x', searched: ['/bin'] }, 'gone')
    }
    await fixture.controller.opener.start()
    const failed = failure()
    assert.ok(failed.type === 'start' && failed.failure.kind === 'command-missing')
    assert.equal(fixture.controller.phase, 'empty')
    const again = fixture.controller.opener.retry(failed.attempt)
    await until(() => fixture.started.length > 0 && fixture.agent.newSessions.length > 0)
    fixture.agent.newSessions[0]?.resolve({ sessionId: 's1' })
    await again
    assert.equal(fixture.controller.phase, 'ready')
    assert.equal(fixture.controller.failures.size, 0)
  })

  it("says that another session can't be started in its own view, from which the user can go back", async () => {
    const open = await ready()
    fixture.onStart = () => {
      throw new AgentStartError({ kind: 'spawn', command: 'two', message: 'no' }, 'no')
    }
    const { controller } = fixture
    const { opener } = controller
    await opener.start('two')
    assert.deepEqual([controller.phase, controller.current], ['empty', undefined])
    assert.deepEqual([controller.key, controller.agentId, failure().type], ['new', 'two', 'start'])

    const gone = { agentId: 'two', sessionId: 'gone', cwd: '/w/a' }
    await opener.reopen('load', gone)
    assert.deepEqual([controller.key, failure().type], ['two/gone', 'start'])

    void opener.retry({ type: 'load', ...gone })
    controller.cancel()
    assert.deepEqual([controller.current, controller.phase, controller.failures.size], [open, 'ready', 0])
  })

  it('shows a failure with the session to which it belongs, and nowhere else', async () => {
    const open = await ready()
    const { controller } = fixture
    const loading = controller.opener.reopen('load', { agentId: 'one', sessionId: 'gone', cwd: '/w/a' })
    await until(() => fixture.agent.loads.length === 1)
    fixture.agent.loads[0]?.reject(new Error('no'))
    await loading
    const { state } = controller.opener
    assert.ok(state.type === 'failed' && state.before === open)
    assert.deepEqual([controller.key, controller.failures.size], ['one/gone', 1])
    controller.show(open)
    assert.deepEqual([controller.key, controller.phase, controller.failures.size], [open.key, 'ready', 0])

    // a fork is about the session that it is made from
    await controller.opener.fork({ agentId: 'one', sessionId: 's1', cwd: '/w/a' })
    assert.deepEqual([controller.current, controller.failures.size], [open, 1])
  })

  it('returns to the conversation without a card if the user cancels a start', async () => {
    void fixture.controller.opener.start()
    await until(() => fixture.started.length > 0 && fixture.agent.newSessions.length > 0)
    fixture.controller.cancel()
    assert.equal(fixture.controller.phase, 'empty')
    assert.equal(fixture.controller.failures.size, 0)
  })

  it("does nothing if the user doesn't choose a folder", async () => {
    fixture.plan = undefined
    await fixture.controller.opener.start()
    assert.equal(fixture.controller.phase, 'empty')
    assert.equal(fixture.controller.failures.size, 0)
  })

  it('starts a session for a prompt without one, then sends it', async () => {
    const sent = sendPrompt(fixture.controller, 'hello')
    await until(() => fixture.started.length > 0 && fixture.agent.newSessions.length > 0)
    fixture.agent.newSessions[0]?.resolve({ sessionId: 's1' })
    await sent
    await until(() => fixture.agent.prompts.length === 1)
    assert.deepEqual(fixture.agent.prompts[0]?.content, [{ type: 'text', text: 'hello' }])
  })

  it('holds a prompt until the session that is starting is ready, with any agent', async () => {
    void fixture.controller.opener.start('two')
    const sent = sendPrompt(fixture.controller, 'hello')
    await until(() => fixture.started.length > 0 && fixture.agent.newSessions.length > 0)
    fixture.agent.newSessions[0]?.resolve({ sessionId: 's1' })
    await sent
    await until(() => fixture.agent.prompts.length === 1)
    assert.deepEqual(
      fixture.started.map(({ agentId }) => agentId),
      ['two'],
    )
  })

  it("returns the prompt if its session couldn't be started", async () => {
    fixture.onStart = () => {
      throw new AgentStartError({ kind: 'spawn', command: 'two', message: 'no' }, 'no')
    }
    void fixture.controller.opener.start('two')
    await assert.rejects(sendPrompt(fixture.controller, 'hello'), /session wasn.t opened/)
    assert.equal(failure().type, 'start')
    assert.equal(fixture.started.length, 0)
  })

  it('reports when a conversation gets a key of its own', async () => {
    assert.equal(fixture.controller.key, 'new')
    const first = await ready()
    assert.equal(fixture.controller.keyBefore, 'new')
    const starting = fixture.controller.opener.start('two')
    assert.equal(fixture.controller.key, 'new')
    assert.equal(fixture.controller.keyBefore, undefined)
    await until(() => fixture.started.length === 2 && fixture.agent.newSessions.length > 0)
    fixture.agent.newSessions[0]?.resolve({ sessionId: 's2' })
    await starting
    assert.equal(fixture.controller.keyBefore, 'new')
    fixture.controller.show(first)
    assert.equal(fixture.controller.key, 'one/s1')
    assert.equal(fixture.controller.keyBefore, undefined)
  })

  it('has the phase of the session it displays, also while it switches', async () => {
    const open = await ready()
    const phases: string[] = []
    fixture.controller.onDidSwitch(() => phases.push(fixture.controller.phase))
    fixture.controller.leave()
    fixture.controller.show(open)
    assert.deepEqual(phases, ['empty', 'ready'])
  })

  it('has the key of the restored conversation from the start', async () => {
    fixture.kept.set('parley.lastSession', { agentId: 'one', sessionId: 's1', cwd: '/w/a' })
    const keys = new Set<string>()
    fixture.controller.onDidSwitch(() => keys.add(fixture.controller.key))
    fixture.onStart = () => new Promise(() => {})
    void fixture.controller.opener.restore()
    assert.equal(fixture.controller.key, 'one/s1')
    await until(() => fixture.controller.opener.attempt?.type === 'restore')
    assert.equal(fixture.controller.key, 'one/s1')
    assert.deepEqual([...keys], ['one/s1'])
    fixture.controller.cancel()
    assert.equal(fixture.controller.key, 'new')
    assert.deepEqual([...keys], ['one/s1', 'new'])
  })

  it('keeps the prompt in the composer if there is no session', async () => {
    fixture.trusted = false
    await assert.rejects(sendPrompt(fixture.controller, 'hello'))
  })

  it('asks the user to sign in on -32000, and then retries', async () => {
    const starting = fixture.controller.opener.start()
    await until(() => fixture.started.length > 0 && fixture.agent.newSessions.length > 0)
    fixture.agent.newSessions[0]?.reject(authRequired('session/new'))
    await starting
    assert.equal(failure().type, 'sign-in')
    const signing = fixture.controller.signIn.signIn(failureId(), 'login')
    await until(() => fixture.agent.newSessions.length === 2)
    fixture.agent.newSessions[1]?.resolve({ sessionId: 's2' })
    await signing
    assert.equal(fixture.controller.key, 'one/s2')
  })

  it('sends a prompt again that was refused until the user signed in', async () => {
    await ready()
    await sendPrompt(fixture.controller, 'hello')
    await until(() => fixture.agent.prompts.length === 1)
    fixture.agent.prompts[0]?.answer.reject(authRequired('session/prompt'))
    await until(() => fixture.controller.failures.size === 1)
    assert.equal(failure().type, 'sign-in')
    await fixture.controller.signIn.signIn(failureId(), 'login')
    await until(() => fixture.agent.prompts.length === 2)
    assert.deepEqual(fixture.agent.prompts[1]?.content, [{ type: 'text', text: 'hello' }])
    assert.equal(fixture.controller.failures.size, 0)
  })

  it('sends a prompt again whose turn ended because sign-in is required, as in v2', async () => {
    await ready()
    await sendPrompt(fixture.controller, 'hello')
    await until(() => fixture.agent.prompts.length === 1)
    fixture.agent.say('s1', { type: 'state', state: 'running' })
    fixture.agent.prompts[0]?.answer.resolve({ messageId: 'u' })
    const error = { code: -32000, message: 'Authentication required', detail: 'no token' }
    fixture.agent.say('s1', { type: 'state', state: 'idle', stopReason: 'error', error })
    await until(() => fixture.controller.failures.size === 1)
    const asked = failure()
    assert.ok(asked.type === 'sign-in')
    assert.deepEqual([asked.message, asked.detail], ['Authentication required', 'no token'])
    await fixture.controller.signIn.signIn(failureId(), 'login')
    await until(() => fixture.agent.prompts.length === 2)
    assert.deepEqual(fixture.agent.prompts[1]?.content, [{ type: 'text', text: 'hello' }])
  })

  it('signs in with a terminal, and retries with a new process', async () => {
    const starting = fixture.controller.opener.start()
    await until(() => fixture.started.length > 0 && fixture.agent.newSessions.length > 0)
    const methods = [{ methodId: 'login', type: 'terminal', name: 'Log in' }]
    Object.assign(fixture.agent, { authMethods: methods })
    fixture.agent.newSessions[0]?.reject(authRequired('session/new'))
    await starting
    const signing = fixture.controller.signIn.signIn(failureId(), 'login')
    await until(() => fixture.started.length === 2 && fixture.agent.newSessions.length === 1)
    fixture.agent.newSessions[0]?.resolve({ sessionId: 's2' })
    await signing
    assert.deepEqual(fixture.terminalSignIns, ['one login'])
    assert.equal(fixture.controller.key, 'one/s2')
  })

  it('sends the refused prompt to the new process after a sign-in with a terminal', async () => {
    await ready()
    Object.assign(fixture.agent, { authMethods: [{ methodId: 'login', type: 'terminal', name: 'Log in' }] })
    await sendPrompt(fixture.controller, 'hello')
    await until(() => fixture.agent.prompts.length === 1)
    fixture.agent.prompts[0]?.answer.reject(authRequired('session/prompt'))
    await until(() => fixture.controller.failures.size === 1)
    const signing = fixture.controller.signIn.signIn(failureId(), 'login')
    await until(() => fixture.started.length === 2 && fixture.agent.resumes.length === 1)
    fixture.agent.resumes[0]?.resolve({ sessionId: 's1' })
    await signing
    await until(() => fixture.agent.prompts.length === 1)
    assert.deepEqual(fixture.agent.prompts[0]?.content, [{ type: 'text', text: 'hello' }])
  })

  it('explains why a sign-in with a terminal failed', async () => {
    const starting = fixture.controller.opener.start()
    await until(() => fixture.started.length > 0 && fixture.agent.newSessions.length > 0)
    Object.assign(fixture.agent, { authMethods: [{ methodId: 'login', type: 'terminal', name: 'Log in' }] })
    fixture.agent.newSessions[0]?.reject(authRequired('session/new'))
    await starting
    fixture.terminalFails = new Error('The command ended with 3.')
    await fixture.controller.signIn.signIn(failureId(), 'login')
    const failed = failure()
    assert.ok(failed.type === 'sign-in' && failed.message === 'The command ended with 3.')
    assert.equal(fixture.started.length, 1)
  })

  it('lets the user retry a failed sign-in', async () => {
    const starting = fixture.controller.opener.start()
    await until(() => fixture.started.length > 0 && fixture.agent.newSessions.length > 0)
    fixture.agent.newSessions[0]?.reject(authRequired('session/new'))
    await starting
    fixture.agent.authenticate = async () => {
      throw new AgentRequestError('authenticate', 'other', { code: 1, message: 'wrong key', detail: 'd' })
    }
    await fixture.controller.signIn.signIn(failureId(), 'login')
    const failed = failure()
    assert.ok(failed.type === 'sign-in')
    assert.equal(failed.message, 'wrong key')
    assert.equal(failed.running, undefined)
  })

  it("lets the user cancel a sign-in that doesn't respond", async () => {
    const starting = fixture.controller.opener.start()
    await until(() => fixture.started.length > 0 && fixture.agent.newSessions.length > 0)
    fixture.agent.newSessions[0]?.reject(authRequired('session/new'))
    await starting
    let asked = false
    fixture.agent.authenticate = (async (_id: string, signal?: AbortSignal) => {
      asked = true
      await new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)))
    }) as typeof fixture.agent.authenticate
    const signing = fixture.controller.signIn.signIn(failureId(), 'login')
    const running = failure()
    assert.ok(running.type === 'sign-in' && running.running === 'login')
    await until(() => asked)
    fixture.controller.signIn.cancel()
    await signing
    const failed = failure()
    assert.ok(failed.type === 'sign-in' && failed.running === undefined)
  })

  it('keeps the conversation of an agent that exits, and continues it with a new process', async () => {
    const open = await ready()
    await sendPrompt(fixture.controller, 'first')
    await until(() => fixture.agent.prompts.length === 1)
    fixture.agent.exit({ stderrTail: 'boom' })
    await until(() => fixture.controller.phase === 'ended')
    assert.equal(fixture.controller.current, open)
    const failed = failure()
    assert.ok(failed.type === 'ended' && failed.attempt?.type === 'resume')
    const again = fixture.controller.opener.retry(failed.attempt)
    await until(() => fixture.started.length === 2 && fixture.agent.resumes.length === 1)
    fixture.agent.resumes[0]?.resolve({ sessionId: 's1' })
    await again
    assert.equal(fixture.controller.phase, 'ready')
    const texts = fixture.controller.current?.session.state.entries.flatMap(entry =>
      entry.kind === 'message' ? entry.blocks : [],
    )
    assert.deepEqual(texts, [{ type: 'text', text: 'first' }])
  })

  describe('a failure of one of two sessions', () => {
    const types = () => [...fixture.controller.failures.values()].map(({ type }) => type)
    /** Starts another session, with an agent of its own. */
    async function second(): Promise<OpenSession> {
      const starting = fixture.controller.opener.start('two')
      await until(() => fixture.started.length === 2 && fixture.agent.newSessions.length > 0)
      fixture.agent.newSessions.at(-1)?.resolve({ sessionId: 's2' })
      await starting
      return fixture.controller.current!
    }

    it('is shown with that one, also if its agent fails to stop while the other is shown', async () => {
      const stopped = await ready()
      const { agent } = fixture
      const other = await second()
      fixture.controller.show(stopped)
      await sendPrompt(fixture.controller, 'first')
      await until(() => agent.prompts.length === 1)
      mock.timers.enable({ apis: ['setTimeout'] })
      try {
        fixture.controller.cancel()
        fixture.controller.show(other)
        mock.timers.tick(CANCEL_GRACE_MS)
        assert.deepEqual(types(), [])
        for (const [open, shown] of [
          [stopped, ['unresponsive']],
          [other, []],
          [stopped, ['unresponsive']],
        ] as const) {
          fixture.controller.show(open)
          assert.deepEqual(types(), shown)
        }
        stopped.session.turns.abandon()
        assert.deepEqual(types(), [])
      } finally {
        mock.timers.reset()
      }
    })

    it('is shown with that one, also if its agent exits while the other is shown', async () => {
      const ended = await ready()
      const { agent } = fixture
      const other = await second()
      agent.exit({ stderrTail: 'boom' })
      await until(() => ended.session.phase === 'ended')
      assert.deepEqual(types(), [])
      for (const [open, shown] of [
        [ended, ['ended']],
        [other, []],
        [ended, ['ended']],
      ] as const) {
        fixture.controller.show(open)
        assert.deepEqual(types(), shown)
      }
      const failed = failure()
      assert.ok(failed.type === 'ended' && failed.exit.stderrTail === 'boom' && failed.attempt)
    })
  })

  it('restarts an exited agent for the next prompt', async () => {
    await ready()
    fixture.agent.exit({ stderrTail: 'boom' })
    await until(() => fixture.controller.phase === 'ended')
    const prompting = sendPrompt(fixture.controller, 'go on')
    await until(() => fixture.started.length === 2 && fixture.agent.resumes.length === 1)
    assert.equal(fixture.agent.prompts.length, 0)
    fixture.agent.resumes[0]?.resolve({ sessionId: 's1' })
    await prompting
    await until(() => fixture.agent.prompts.length === 1)
    assert.deepEqual(fixture.agent.prompts[0]?.content, [{ type: 'text', text: 'go on' }])
    assert.equal(fixture.controller.failures.size, 0)
  })

  it("sends nothing to an exited agent that can't be restarted", async () => {
    await ready()
    fixture.agent.exit({ stderrTail: 'boom' })
    await until(() => fixture.controller.phase === 'ended')
    fixture.onStart = () => {
      throw new Error('not today')
    }
    await assert.rejects(sendPrompt(fixture.controller, 'go on'), /session wasn.t opened/)
    assert.equal(fixture.controller.phase, 'ended')
    assert.ok(fixture.controller.failures.size > 0)
  })

  it("creates a prompt's content when the agent is known, and sends nothing if that fails", async () => {
    const asked: unknown[] = []
    fixture.sources.mayRead = async (file, { cwd }) => {
      asked.push(file, cwd)
      return true
    }
    fixture.sources.size = async () => 4
    fixture.sources.readText = async () => 'made'
    const content = { type: 'file' as const, uri: 'file:///w/a/notes.txt' }
    const item = { id: 'i1', label: 'notes.txt', icon: 'file', content }
    const { controller } = fixture
    controller.prompts.enqueue('new', { id: 'p1', draft: { ...EMPTY_DRAFT, items: [item] } })
    await until(() => fixture.started.length > 0 && fixture.agent.newSessions.length > 0)
    assert.deepEqual(asked, [])
    fixture.agent.newSessions.at(-1)?.resolve({ sessionId: 's1' })
    await until(() => fixture.agent.prompts.length === 1)
    assert.deepEqual(asked, ['/w/a/notes.txt', '/w/a'])
    assert.deepEqual(fixture.agent.prompts[0]?.content, [
      { type: 'resource', uri: content.uri, mimeType: 'text/plain', text: 'made' },
    ])
    fixture.agent.capabilities.prompt.image = false
    const image: ContentBlock = { type: 'image', data: 'AAAA', mimeType: 'image/png' }
    await assert.rejects(sendPrompt(controller, [image]), /doesn't support images/)
    assert.equal(fixture.controller.current?.session.turns.queue.queued.length, 0)
  })

  it('returns unsent prompts to the composer in order when the agent exits', async () => {
    const open = await ready()
    for (const text of ['first', 'second', 'third']) await sendPrompt(fixture.controller, text)
    await until(() => fixture.agent.prompts.length === 1 && open.session.turns.queue.queued.length === 2)
    fixture.agent.exit()
    await until(() => fixture.controller.phase === 'ended')
    const { queue } = fixture.controller.prompts
    assert.deepEqual(
      queue.returned.map(({ draft, reason }) => [draft.text, reason]),
      [
        ['second', undefined],
        ['third', undefined],
      ],
    )
    assert.deepEqual(open.session.turns.queue.queued, [])
    assert.deepEqual(
      fixture.unsent.prompts.map(({ text }) => text),
      ['second', 'third'],
    )
  })

  it('moves the draft of an ended session to the one with the same agent that replaces it', async () => {
    const starting = fixture.controller.opener.start('two')
    await until(() => fixture.started.length > 0 && fixture.agent.newSessions.length > 0)
    fixture.agent.newSessions[0]?.resolve({ sessionId: 's1' })
    await starting
    fixture.drafts.set('two/s1', { text: 'half a thought', chips: [], items: [] })
    fixture.agent.exit()
    await until(() => fixture.controller.phase === 'ended')
    const again = fixture.controller.startInstead()
    assert.equal(fixture.drafts.get('new')?.text, 'half a thought')
    await until(() => fixture.started.length === 2 && fixture.agent.newSessions.length > 0)
    fixture.agent.newSessions[0]?.resolve({ sessionId: 's2' })
    await again
    assert.equal(fixture.controller.key, 'two/s2')
    assert.equal(fixture.controller.keyBefore, 'new', 'which the draft goes along with')
  })

  it('returns unsent prompts with their chips and images', async () => {
    await ready()
    await sendPrompt(fixture.controller, 'first')
    const link = { type: 'resource_link' as const, uri: 'file:///w/a/b.ts', name: 'b.ts' }
    const image = { type: 'image' as const, data: 'AA==', mimeType: 'image/png' }
    await sendPrompt(fixture.controller, [
      { type: 'text', text: 'see ' },
      link,
      { type: 'text', text: ' now' },
      image,
    ])
    await until(() => fixture.agent.prompts.length === 1)
    fixture.agent.exit()
    await until(() => fixture.controller.phase === 'ended')
    const kept = fixture.controller.prompts.queue.returned[0]?.draft
    assert.equal(kept?.text, 'see @b.ts now')
    assert.deepEqual(
      kept?.items.map(({ content }) => content),
      [link, image],
    )
    assert.deepEqual(
      kept?.chips.map(({ from, to }) => [from, to]),
      [[4, 9]],
    )
  })

  it('restores a session with its own folders and system prompt, not the current ones', async () => {
    const systemPrompt = { mode: 'append' as const, text: 'Be brief.' }
    if (fixture.plan) fixture.plan = { ...fixture.plan, ownSystemPrompt: systemPrompt }
    const open = await ready()
    await fixture.manager.openSessions.close(open)
    const reference = { agentId: 'one', sessionId: 's1', cwd: '/w/a', additionalDirectories: ['/w/c'] }
    const loading = fixture.controller.opener.reopen('load', reference)
    await until(() => fixture.agent.loads.length === 1)
    fixture.agent.loads[0]?.resolve({ sessionId: 's1' })
    await loading
    assert.deepEqual(fixture.existing, [
      { agentId: 'one', sessionId: 's1', cwd: '/w/a', additionalDirectories: ['/w/b', '/w/c'], systemPrompt },
    ])
  })

  it('has the folder of an imported session confirmed, unless its agent says the folder', async () => {
    await fixture.manager.openSessions.close(await ready())
    fixture.existing.length = 0
    const { records } = fixture
    records.get = (agentId, sessionId) => ({
      ...{
        agentId,
        sessionId,
        cwd: '/',
        additionalDirectories: [],
        imported: true,
        createdAt: 1,
        updatedAt: 1,
      },
    })
    for (const [i, cwd] of ['/', '/w/a'].entries()) {
      const loading = fixture.controller.opener.reopen('load', {
        agentId: 'one',
        sessionId: `s${i + 1}`,
        cwd,
      })
      await until(() => fixture.agent.loads.length === i + 1)
      fixture.agent.loads[i]?.resolve({ sessionId: `s${i + 1}` })
      await loading
    }
    assert.deepEqual(
      fixture.existing.map(({ imported }) => imported),
      [true, undefined],
    )
  })

  it('shows in its own view that a session could not be loaded', async () => {
    const open = await ready()
    const loading = fixture.controller.opener.reopen('load', {
      agentId: 'one',
      sessionId: 'other',
      cwd: '/w/a',
    })
    await until(() => fixture.agent.loads.length === 1)
    assert.equal(fixture.controller.phase, 'loading')
    assert.equal(fixture.controller.key, 'one/other')
    fixture.agent.loads[0]?.reject(
      new AgentRequestError('session/load', 'not-found', { code: -32002, message: 'no such session' }),
    )
    await loading
    assert.deepEqual([fixture.controller.key, fixture.controller.phase], ['one/other', 'empty'])
    assert.equal(failure().type, 'request')
    fixture.controller.show(open)
    assert.deepEqual([fixture.controller.phase, fixture.controller.failures.size], ['ready', 0])
  })

  it('keeps a title that only the list has until the agent reports another one', async () => {
    const listed = { agentId: 'one', sessionId: 's1', cwd: '/w/a', title: 'Listed' }
    const loading = fixture.controller.opener.reopen('load', listed)
    await until(() => fixture.started.length > 0 && fixture.agent.loads.length === 1)
    fixture.agent.say('s1', chunk('user', 'the first prompt'), chunk('agent', 'answer'))
    fixture.agent.loads[0]?.resolve({ sessionId: 's1' })
    await loading
    const { session } = fixture.controller.current!
    assert.equal(titleOf(session), 'Listed')
    assert.equal(fixture.records.get('one', 's1')?.title, 'Listed')
    fixture.agent.say('s1', { type: 'info', title: 'Reported' })
    assert.equal(titleOf(session), 'Reported')
  })

  it('loads the session again after a reload', async () => {
    fixture.kept.set('parley.lastSession', { agentId: 'two', sessionId: 's9', cwd: '/w/a' })
    const restoring = fixture.controller.opener.restore()
    await until(() => fixture.started.length > 0 && fixture.agent.loads.length === 1)
    fixture.agent.say('s9', {
      type: 'message_chunk',
      role: 'agent',
      content: { type: 'text', text: 'as before' },
    })
    fixture.agent.loads[0]?.resolve({ sessionId: 's9' })
    await restoring
    assert.equal(fixture.controller.key, 'two/s9')
    assert.equal(fixture.controller.current?.session.state.entries.length, 1)
  })

  it("resumes the session after a reload if the agent can't load it, or gives up if it can do neither", async () => {
    fixture.kept.set('parley.lastSession', { agentId: 'two', sessionId: 's9', cwd: '/w/a' })
    await fixture.runners.get('two').ensure()
    fixture.agent.capabilities.load = false
    const restoring = fixture.controller.opener.restore()
    await until(() => fixture.agent.resumes.length === 1)
    fixture.agent.resumes[0]?.resolve({ sessionId: 's9' })
    await restoring
    assert.equal(fixture.controller.phase, 'ready')

    const other = new SessionsFixture()
    other.kept.set('parley.lastSession', { agentId: 'two', sessionId: 's9', cwd: '/w/a' })
    await other.runners.get('two').ensure()
    other.agent.capabilities.load = false
    other.agent.capabilities.resume = false
    await other.controller.opener.restore()
    assert.equal(other.controller.phase, 'empty')
    assert.equal(other.controller.failures.size, 0)
  })

  describe('with a long saved conversation', () => {
    const COUNT = 1000
    const reference = { agentId: 'one', sessionId: 's9', cwd: '/w/a', title: 'Long' }
    const count = () => fixture.controller.current?.session.state.entries.length
    const open = (isWhole?: boolean) => fixture.controller.opener.reopen('load', reference, isWhole)

    beforeEach(() => {
      const entries = Array.from({ length: COUNT }, (_, position) => ({
        position,
        entry: {
          ...{ kind: 'message' as const, id: `e${position}`, turn: 1 + position },
          role: 'user' as const,
          blocks: [{ type: 'text' as const, text: `Prompt ${position}` }],
        },
      }))
      fixture.transcripts.write('one', 's9', { replace: true, entries, terminals: [] })
    })

    it('shows the end of it until that is drawn, and then all of it, and opens it', async () => {
      const previous = await ready()
      const opening = open()
      const { controller } = fixture
      const end = controller.opener.end?.conversation
      const ids = end?.entries.map(({ id }) => id)
      assert.deepEqual([ids?.length, ids?.[0], ids?.at(-1), end?.first], [50, 'e950', 'e999', 950])
      assert.deepEqual([controller.key, controller.phase], ['one/s9', 'starting'])
      assert.equal(controller.opener.attempt?.type, 'load')
      assert.equal(controller.current, undefined)
      let isWhole = false
      void controller.opener.end?.over.promise.then(() => {
        isWhole = count() === COUNT
      })
      const sending = sendPrompt(controller, 'written meanwhile')
      assert.equal(fixture.agent.loads.length + fixture.agent.resumes.length, 0)
      controller.opener.end?.drawn.resolve()
      await until(() => fixture.agent.loads.length + fixture.agent.resumes.length === 1)
      assert.ok(isWhole, 'what waited for all of it found all of it')
      assert.deepEqual([count(), controller.opener.end], [COUNT, undefined])
      for (const asked of [...fixture.agent.loads, ...fixture.agent.resumes])
        asked.resolve({ sessionId: 's9' })
      await opening
      await sending
      await until(() => fixture.agent.prompts.length === 1)
      assert.equal(controller.phase, 'ready')
      const { entries } = controller.current!.session.state
      assert.equal(entries.findLast(({ kind }) => kind === 'message')?.turn, COUNT + 1)
      assert.notEqual(controller.current, previous)
    })

    it('shows all of it after a while if no page draws it', async () => {
      void open()
      assert.equal(count(), undefined)
      await until(() => count() === COUNT)
    })

    it('shows all of it at once if another place of it is wanted, or if it is short', async () => {
      void open(true)
      assert.deepEqual([count(), fixture.controller.opener.end], [COUNT, undefined])
    })

    it('shows the previous conversation again if the user cancels meanwhile', async () => {
      const previous = await ready()
      const opening = open()
      assert.ok(fixture.controller.opener.end)
      fixture.controller.cancel()
      await opening
      assert.deepEqual([fixture.controller.current, fixture.controller.phase], [previous, 'ready'])
      assert.equal(fixture.controller.opener.end, undefined)
      assert.equal(fixture.agent.loads.length + fixture.agent.resumes.length, 0)
    })

    it('shows what the user opens meanwhile', async () => {
      const previous = await ready()
      const opening = open()
      fixture.controller.show(previous)
      await opening
      assert.deepEqual([fixture.controller.current, fixture.controller.phase], [previous, 'ready'])
      const again = open()
      const other = fixture.controller.opener.reopen('load', { ...reference, sessionId: 'other' })
      await again
      await until(() => fixture.agent.loads.length === 1)
      assert.equal(fixture.controller.key, 'one/other')
      fixture.agent.loads[0]?.resolve({ sessionId: 'other' })
      await other
      assert.deepEqual([fixture.controller.key, fixture.controller.phase], ['one/other', 'ready'])
    })

    it('shows the previous conversation again if the user opened it twice, or another one, and cancels', async () => {
      const previous = await ready()
      void open()
      void open()
      fixture.controller.opener.end?.drawn.resolve()
      await until(() => fixture.agent.loads.length + fixture.agent.resumes.length === 1)
      fixture.controller.cancel()
      assert.equal(fixture.controller.current, previous)
      void open()
      void fixture.controller.opener.reopen('load', { ...reference, sessionId: 'other' })
      await until(() => fixture.controller.key === 'one/other')
      fixture.controller.cancel()
      assert.deepEqual([fixture.controller.current, fixture.controller.phase], [previous, 'ready'])
    })

    it('starts the session that the user starts meanwhile, also if the agents have to be searched first', async () => {
      const previous = await ready()
      const search = new Deferred<void>()
      fixture.directory.ready = () => search.promise
      const opening = open()
      const starting = fixture.controller.opener.start()
      assert.deepEqual([fixture.controller.current, fixture.controller.opener.end], [previous, undefined])
      await opening
      search.resolve()
      await until(() => fixture.agent.newSessions.length === 2)
      assert.equal(fixture.agent.loads.length + fixture.agent.resumes.length, 0)
      fixture.controller.cancel()
      await starting
    })

    it('shows the previous conversation again if the rest cannot be read', async () => {
      const previous = await ready()
      fixture.transcripts.read = () => {
        throw new Error('unreadable')
      }
      fixture.transcripts.readEnd = () => ({
        first: 950,
        conversation: { entries: [], terminals: [], head: {} },
      })
      const opening = open()
      const whole = fixture.controller.opener.end?.over.promise
      assert.ok(whole)
      fixture.controller.opener.end?.drawn.resolve()
      await assert.rejects(opening, /unreadable/)
      await whole
      assert.deepEqual([fixture.controller.current, fixture.controller.phase], [previous, 'ready'])
    })

    it('leaves it and opens it again at once', async () => {
      const opening = open()
      fixture.controller.leave()
      await opening
      assert.deepEqual([fixture.controller.phase, fixture.controller.key], ['empty', 'new'])
      void open()
      void open()
      fixture.controller.opener.end?.drawn.resolve()
      await until(() => count() === COUNT)
    })

    it('shows its end, and then all of it, if its agent is gone', async () => {
      fixture.entries.length = 0
      const opening = open()
      assert.ok(fixture.controller.opener.end)
      fixture.controller.opener.end?.drawn.resolve()
      await opening
      assert.deepEqual([count(), fixture.controller.phase], [COUNT, 'ended'])
      assert.equal(failure().type, 'unknown-agent')
    })
  })

  describe('with a saved conversation', () => {
    const reference = { agentId: 'one', sessionId: 's9', cwd: '/w/a' }
    const textsOf = (of: SessionsFixture) =>
      of.controller.current?.session.state.entries.flatMap(entry =>
        entry.kind === 'message'
          ? entry.blocks.flatMap(block => (block.type === 'text' ? [block.text] : []))
          : [],
      )

    beforeEach(() => {
      fixture.transcripts.write('one', 's9', {
        replace: true,
        entries: [
          {
            position: 0,
            entry: {
              kind: 'message',
              id: 'e0',
              turn: 1,
              role: 'user',
              blocks: [{ type: 'text', text: 'kept' }],
            },
          },
        ],
        terminals: [],
        head: { title: 'Kept title' },
      })
      fixture.transcripts.writes.length = 0
    })

    async function onlyLoads(): Promise<void> {
      await fixture.runners.get('one').ensure()
      fixture.agent.capabilities.resume = false
    }

    it('resumes instead of loading, since the saved conversation has more than a replay', async () => {
      const restoring = fixture.controller.opener.restore(reference)
      await until(() => fixture.started.length > 0 && fixture.agent.resumes.length === 1)
      fixture.agent.resumes[0]?.resolve({ sessionId: 's9' })
      await restoring
      assert.deepEqual(textsOf(fixture), ['kept'])
      assert.equal(fixture.controller.phase, 'ready')
    })

    it('shows an empty view if it cannot be read', async () => {
      fixture.transcripts.read = () => {
        throw new Error('unreadable')
      }
      await fixture.controller.opener.restore(reference)
      assert.equal(fixture.controller.phase, 'empty')
    })

    it('shows it before the agent has started', async () => {
      const gate = new Deferred<void>()
      fixture.onStart = () => gate.promise
      void fixture.controller.opener.restore(reference)
      await until(() => fixture.controller.phase === 'starting')
      assert.deepEqual(textsOf(fixture), ['kept'])
      assert.equal(fixture.controller.current?.session.state.title, 'Kept title')
      gate.resolve()
      await until(() => fixture.started.length === 1)
    })

    it("keeps it displayed and saved if the agent can't continue it", async () => {
      await onlyLoads()
      const restoring = fixture.controller.opener.restore(reference)
      await until(() => fixture.started.length > 0 && fixture.agent.loads.length === 1)
      fixture.agent.loads[0]?.reject(
        new AgentRequestError('session/load', 'not-found', { code: -32002, message: 'no such session' }),
      )
      await restoring
      assert.deepEqual(textsOf(fixture), ['kept'])
      assert.equal(fixture.controller.phase, 'ended')
      assert.equal(failure().type, 'request')
      assert.deepEqual(fixture.transcripts.writes, [])
      assert.equal(fixture.transcripts.read('one', 's9')?.entries.length, 1)
    })

    it('is continued in a new session, with the prompts that the refused one returned', async () => {
      await onlyLoads()
      const { controller } = fixture
      const loading = controller.opener.reopen('load', reference)
      await until(() => fixture.agent.loads.length === 1)
      const draft = { ...EMPTY_DRAFT, text: 'and this' }
      controller.prompts.enqueue('one/s9', { id: 'p1', draft })
      const refusal = { code: -32602, message: 'Unknown sessionId: s9' }
      fixture.agent.loads[0]?.reject(new AgentRequestError('session/load', 'not-found', refusal))
      await loading
      await until(() => controller.prompts.queue.returned.length === 1)
      const refused = failure()
      assert.ok(refused.type === 'request' && refused.isShown, refused.type)
      const continuing = controller.continueWith('one')
      await until(() => fixture.agent.newSessions.length === 1)
      fixture.agent.newSessions[0]?.resolve({ sessionId: 's10' })
      await continuing
      assert.equal(controller.key, 'one/s10')
      assert.deepEqual(
        controller.prompts.queue.returned.map(one => one.draft),
        [draft],
      )
    })

    it("keeps it if the agent can't be started", async () => {
      fixture.onStart = () => {
        throw new AgentStartError({ kind: 'spawn', command: 'one', message: 'no' }, 'no')
      }
      await fixture.controller.opener.restore(reference)
      assert.deepEqual(textsOf(fixture), ['kept'])
      assert.equal(failure().type, 'start')
    })

    it("shows it immediately when it's opened from a list, even if its agent can't start or is gone", async () => {
      const open = await ready()
      fixture.onStart = () => {
        throw new AgentStartError({ kind: 'spawn', command: 'one', message: 'no' }, 'no')
      }
      fixture.agent.exit()
      await until(() => fixture.controller.phase === 'ended')
      await fixture.controller.opener.reopen('load', reference)
      assert.deepEqual(textsOf(fixture), ['kept'])
      assert.equal(fixture.controller.phase, 'ended')
      assert.equal(failure().type, 'start')

      fixture.entries.length = 0
      fixture.controller.take(open)
      await fixture.controller.opener.reopen('load', reference)
      assert.deepEqual(textsOf(fixture), ['kept'])
      assert.equal(fixture.controller.phase, 'ended')
      assert.equal(failure().type, 'unknown-agent')
    })

    it('is shown instead of a session that is being started, even if its agent is gone', async () => {
      const starting = fixture.controller.opener.start('two')
      await until(() => fixture.started.length > 0 && fixture.agent.newSessions.length === 1)
      fixture.entries.shift()
      await fixture.controller.opener.reopen('load', reference)
      fixture.agent.newSessions[0]?.resolve({ sessionId: 's1' })
      await starting
      assert.deepEqual([fixture.controller.key, fixture.controller.phase], ['one/s9', 'ended'])
      assert.deepEqual(textsOf(fixture), ['kept'])
    })

    it('shows the previous conversation again if the user cancels', async () => {
      const open = await ready()
      await onlyLoads()
      void fixture.controller.opener.reopen('load', reference)
      await until(() => fixture.agent.loads.length === 1)
      assert.deepEqual(textsOf(fixture), ['kept'])
      fixture.controller.cancel()
      assert.equal(fixture.controller.current, open)
      assert.equal(fixture.controller.phase, 'ready')
    })

    it('shows it with a notice if the agent can neither load nor resume', async () => {
      await onlyLoads()
      fixture.agent.capabilities.load = false
      await fixture.controller.opener.restore(reference)
      assert.deepEqual(textsOf(fixture), ['kept'])
      assert.equal(fixture.controller.phase, 'ended')
      assert.equal(failure().type, 'read-only')
      await fixture.controller.opener.reopen('load', reference)
      assert.deepEqual(textsOf(fixture), ['kept'])
      assert.equal(failure().type, 'read-only')
    })

    it('keeps it if the agent loads without a replay, and appends new messages', async () => {
      await onlyLoads()
      const loading = fixture.controller.opener.reopen('load', reference)
      await until(() => fixture.agent.loads.length === 1)
      fixture.agent.loads[0]?.resolve({ sessionId: 's9' })
      await loading
      assert.deepEqual(textsOf(fixture), ['kept'])
      await sendPrompt(fixture.controller, 'more')
      await until(() => fixture.agent.prompts.length === 1)
      fixture.agent.endTurn(fixture.agent.prompts[0]!)
      fixture.controller.leave()
      await fixture.manager.openSessions.close(fixture.manager.list()[0]!)
      const kept = fixture.transcripts.read('one', 's9')?.entries
      assert.deepEqual(
        kept?.map(entry => entry.kind),
        ['message', 'notice', 'message', 'turn_end'],
      )
    })

    it('shows it until the replay is complete, and then merges them, even on disk', async () => {
      await onlyLoads()
      const restoring = fixture.controller.opener.restore(reference)
      await until(() => fixture.started.length > 0 && fixture.agent.loads.length === 1)
      fixture.agent.say('s9', {
        type: 'message_chunk',
        role: 'agent',
        content: { type: 'text', text: 'replayed' },
      })
      assert.deepEqual(textsOf(fixture), ['kept'])
      fixture.agent.loads[0]?.resolve({ sessionId: 's9' })
      await restoring
      assert.deepEqual(textsOf(fixture), ['kept', 'replayed'])
      await until(() => fixture.transcripts.writes.length > 0)
      assert.equal(fixture.transcripts.writes[0]?.replace, true)
      assert.equal(fixture.transcripts.read('one', 's9')?.entries.length, 3)
    })

    it("keeps an interrupted turn if the agent can only load and doesn't replay it", async () => {
      const message = (position: number, turn: number, role: 'user' | 'agent', text: string) => ({
        position,
        entry: {
          kind: 'message' as const,
          id: `e${position}`,
          turn,
          role,
          blocks: [{ type: 'text' as const, text }],
        },
      })
      fixture.transcripts.write('one', 's9', {
        replace: true,
        entries: [
          message(0, 1, 'user', 'fix it'),
          message(1, 1, 'agent', 'It is fixed.'),
          message(2, 2, 'user', 'and the other one'),
          message(3, 2, 'agent', 'Half of the ans'),
        ],
        terminals: [],
        head: { working: true },
      })
      await onlyLoads()
      const restoring = fixture.controller.opener.restore(reference)
      await until(() => fixture.started.length > 0 && fixture.agent.loads.length === 1)
      for (const [role, text] of [
        ['user', 'fix it'],
        ['agent', 'It is fixed.'],
      ] as const) {
        fixture.agent.say('s9', { type: 'message_chunk', role, content: { type: 'text', text } })
      }
      fixture.agent.loads[0]?.resolve({ sessionId: 's9' })
      await restoring
      const shown = () => fixture.controller.current?.session.state.entries.map(({ kind }) => kind)
      const whole = ['message', 'message', 'message', 'message', 'turn_end', 'notice']
      assert.deepEqual(shown(), whole)
      assert.deepEqual(textsOf(fixture), ['fix it', 'It is fixed.', 'and the other one', 'Half of the ans'])
      await until(
        () => fixture.transcripts.read('one', 's9')?.entries.length === whole.length,
        'it is on disk',
      )
    })

    it('continues with an agent that can only resume', async () => {
      await fixture.runners.get('one').ensure()
      fixture.agent.capabilities.load = false
      const restoring = fixture.controller.opener.restore(reference)
      await until(() => fixture.agent.resumes.length === 1)
      fixture.agent.resumes[0]?.resolve({ sessionId: 's9' })
      await restoring
      fixture.agent.say('s9', {
        type: 'message_chunk',
        role: 'agent',
        content: { type: 'text', text: 'more' },
      })
      assert.deepEqual(textsOf(fixture), ['kept', 'more'])
      await until(() => fixture.transcripts.read('one', 's9')?.entries.length === 2)
      assert.ok(fixture.transcripts.writes.every(write => !write.replace))
    })

    it('saves it as it grows, even after the disk was temporarily full', async () => {
      await ready('s1')
      fixture.transcripts.fails = true
      await sendPrompt(fixture.controller, 'hello')
      await until(() => fixture.agent.prompts.length === 1)
      const call = fixture.agent.prompts[0]
      assert.ok(call)
      fixture.agent.say('s1', { type: 'message_chunk', role: 'agent', content: { type: 'text', text: 'hi' } })
      fixture.agent.endTurn(call)
      fixture.transcripts.fails = false
      fixture.agent.say('s1', { type: 'info', title: 'T' })
      await until(() => fixture.transcripts.read('one', 's1')?.entries.length === 2)
    })
  })

  it('reports a slow agent until it responds, and offers actions', async () => {
    fixture.slowAfterMs = 1
    fixture.plan!.mcpServers = [
      { name: 'git', type: 'stdio', source: 'mine', passed: true },
      { name: 'web', type: 'http', source: 'mine', passed: false, reason: 'no' },
    ]
    const place = fixture.place()
    const starting = place.opener.start('one')
    await until(
      () => place.failures.size > 0 && fixture.started.length > 0 && fixture.agent.newSessions.length > 0,
    )
    const [slow] = place.failures.values()
    assert.ok(slow?.type === 'slow')
    assert.deepEqual(slow.servers, ['git'])
    assert.equal(place.failures.size, 1)
    assert.equal(place.phase, 'starting')
    fixture.agent.newSessions[0]?.resolve({ sessionId: 's1' })
    await starting
    assert.equal(place.failures.size, 0)

    void place.opener.start('one')
    await until(() => place.failures.size > 0)
    place.cancel()
    assert.equal(place.failures.size, 0)
    assert.equal(place.key, 'one/s1')
  })

  it('retries unanswered requests when the agent is restarted', async () => {
    void fixture.controller.opener.reopen('load', { agentId: 'one', sessionId: 'other', cwd: '/w/a' })
    await until(() => fixture.started.length === 1 && fixture.agent.loads.length === 1)
    const restarting = fixture.controller.opener.restart()
    await until(() => fixture.started.length === 2 && fixture.agent.loads.length === 1)
    fixture.agent.loads[0]?.resolve({ sessionId: 'other' })
    await restarting
    assert.equal(fixture.controller.key, 'one/other')
  })

  it('restarts the agent and continues the conversation', async () => {
    await ready()
    const restarting = fixture.controller.opener.restart()
    await until(() => fixture.started.length === 2 && fixture.agent.resumes.length === 1)
    fixture.agent.resumes[0]?.resolve({ sessionId: 's1' })
    await restarting
    assert.equal(fixture.controller.phase, 'ready')
    assert.equal(fixture.controller.key, 'one/s1')
  })

  it('reports a config option that the agent refused', async () => {
    const open = await ready()
    fixture.agent.say('s1', {
      type: 'config_options',
      options: [
        {
          id: 'mode',
          name: 'Mode',
          type: 'select',
          currentValue: 'a',
          choices: [
            { value: 'a', name: 'A' },
            { value: 'b', name: 'B' },
          ],
        },
      ],
    })
    const setting = fixture.controller.configOptions.set('mode', 'b')
    fixture.agent.options[0]?.answer.reject(new Error('not now'))
    await setting
    const failed = failure()
    assert.ok(failed.type === 'option' && failed.optionName === 'Mode')
    const [option] = open.session.state.configOptions
    assert.ok(option?.type === 'select' && option.currentValue === 'a')
    // the next turn reports the current value
    await sendPrompt(fixture.controller, 'hello')
    assert.equal(fixture.controller.failures.size, 0)
  })

  it("reports an unanswered config option, and shows the agent's value if the user stops waiting", async () => {
    fixture.slowAfterMs = 1
    const place = fixture.place()
    const starting = place.opener.start('one')
    await until(() => fixture.started.length > 0 && fixture.agent.newSessions.length > 0)
    fixture.agent.newSessions[0]?.resolve({ sessionId: 's1' })
    await starting
    const reported = () => [...place.failures].filter(([, { type }]) => type === 'slow-option')
    const shown = () => {
      const [option] = place.current?.session.state.configOptions ?? []
      return option?.type === 'boolean' ? option.currentValue : undefined
    }
    const option = (currentValue: boolean) =>
      fixture.agent.say('s1', {
        type: 'config_options',
        options: [{ id: 'web', name: 'Web', type: 'boolean', currentValue }],
      })
    option(false)
    void place.configOptions.set('web', true)
    await until(() => reported().length === 1)
    fixture.agent.options[0]?.answer.resolve()
    await until(() => reported().length === 0)
    assert.equal(shown(), true)

    const given = place.configOptions.set('web', false)
    await until(() => reported().length === 1)
    assert.equal(shown(), false)
    place.configOptions.giveUp(reported()[0]?.[0] ?? '')
    await given
    assert.deepEqual([shown(), place.failures.size, place.current?.session.optionChanges.ids], [true, 0, []])
    // the agent responds later, and its value counts from then on
    option(false)
    fixture.agent.options[1]?.answer.resolve()
    assert.equal(shown(), false)

    place.dispose()
  })

  it('keeps two sessions of one agent apart', async () => {
    const first = await ready('s1')
    const starting = fixture.controller.opener.start('one')
    await until(() => fixture.agent.newSessions.length === 2)
    fixture.agent.newSessions[1]?.resolve({ sessionId: 's2' })
    await starting
    fixture.agent.say('s1', {
      type: 'message_chunk',
      role: 'agent',
      content: { type: 'text', text: 'for one' },
    })
    assert.equal(fixture.controller.current?.session.state.entries.length, 0)
    assert.equal(first.session.state.entries.length, 1)
    assert.equal(fixture.manager.list().length, 2)
    fixture.controller.show(first)
    assert.equal(fixture.controller.key, 'one/s1')
  })
})
