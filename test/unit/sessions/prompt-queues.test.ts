import assert from 'node:assert/strict'
import { AgentRequestError, AgentStartError } from '../../../src/acp/agent.ts'
import { deferred } from '../../../src/common/async.ts'
import { EMPTY_DRAFT } from '../../../src/common/draft.ts'
import { Emitter } from '../../../src/common/event.ts'
import type { StoredPrompt } from '../../../src/conversation/attachment.ts'
import { PromptQueues } from '../../../src/sessions/prompt-queues.ts'
import { until } from '../../support/until.ts'
import { type FakeAgent, settle } from '../conversation/fake-agent.ts'
import { SessionsFixture } from './sessions-fixture.ts'

describe('the prompts of a conversation', () => {
  let fixture: SessionsFixture

  beforeEach(() => {
    fixture = new SessionsFixture()
  })

  const prompt = (id: string, text = id): StoredPrompt => ({ id, draft: { ...EMPTY_DRAFT, text } })
  const changes = {
    id: 'i1',
    label: 'Changes',
    icon: 'diff',
    content: { type: 'changes', staged: true },
  } as const
  const received = () =>
    fixture.agent.prompts.map(({ content }) =>
      content.map(block => (block.type === 'text' ? block.text : '')).join(),
    )
  const states = (key: string) => fixture.queues.of(key).prompts.map(({ id, state }) => [id, state])
  const stored = () => fixture.unsent.prompts.map(({ id, key }) => [id, key])
  const begin = async (agentId: string, sessionId: string) => {
    const starting = fixture.controller.opener.start(agentId)
    await until(() => fixture.started.length > 0 && fixture.agent.newSessions.length > 0)
    fixture.agent.newSessions.at(-1)?.resolve({ sessionId })
    await starting
  }

  it('start a session, and are sent together with those written meanwhile', async () => {
    const { controller } = fixture
    controller.prompts.enqueue('new', prompt('p1', 'one'))
    controller.prompts.enqueue('new', prompt('p2', 'two'))
    await until(() => fixture.started.length > 0 && fixture.agent.newSessions.length > 0)
    assert.deepEqual(states('new'), [
      ['p1', 'sending'],
      ['p2', 'sending'],
    ])
    assert.deepEqual(stored(), [
      ['p1', 'new'],
      ['p2', 'new'],
    ])
    fixture.agent.newSessions[0]?.resolve({ sessionId: 's1' })
    await until(() => received().length === 1 && controller.prompts.queue.queued.length === 1)
    // the page doesn't know the session yet
    controller.prompts.enqueue('new', prompt('p3', 'three'))
    await until(() => controller.prompts.queue.queued.length === 2)
    assert.deepEqual(received(), ['one'])
    assert.deepEqual(stored(), [
      ['p2', 'one/s1'],
      ['p3', 'one/s1'],
    ])
    assert.deepEqual(states('new'), [])
    fixture.agent.endTurn(fixture.agent.prompts[0]!)
    await until(() => received().length === 2 && stored()?.length === 1)
    assert.deepEqual(received(), ['one', 'two'])
  })

  it('return to the composer together with a refused one before them', async () => {
    const { controller } = fixture
    fixture.sources.changes = async () => {
      throw new Error('No changes, please.')
    }
    controller.prompts.enqueue('new', { id: 'p1', draft: { ...EMPTY_DRAFT, items: [changes] } })
    controller.prompts.enqueue('new', prompt('p2', 'two'))
    await until(() => fixture.started.length > 0 && fixture.agent.newSessions.length > 0)
    fixture.agent.newSessions[0]?.resolve({ sessionId: 's1' })
    await until(() => controller.prompts.queue.returned.length === 2)
    controller.prompts.enqueue('one/s1', prompt('p3', 'three'))
    assert.deepEqual(
      controller.prompts.queue.returned.map(({ id, reason }) => [id, reason]),
      ['p1', 'p2', 'p3'].map(id => [id, 'No changes, please.']),
    )
    controller.prompts.movedToComposer('one/s1', ['p1', 'p2', 'p3'], { ...EMPTY_DRAFT, text: 'p1 p2 p3' })
    assert.deepEqual([stored(), states('one/s1')], [[], []])
    assert.equal(fixture.drafts.get('one/s1').text, 'p1 p2 p3')
    controller.prompts.enqueue('one/s1', prompt('p4', 'four'))
    await until(() => received().length === 1)
    assert.deepEqual(received(), ['four'])
  })

  it('are sent in their own conversation, even if another one is shown meanwhile', async () => {
    await begin('one', 's1')
    const { controller } = fixture
    let go = () => {}
    const waits = new Promise<string>(resolve => (go = () => resolve('one')))
    fixture.sources.changes = () => waits
    controller.prompts.enqueue('one/s1', { id: 'p1', draft: { ...EMPTY_DRAFT, items: [changes] } })
    controller.leave()
    go()
    await until(() => received().length === 1)
    assert.deepEqual(fixture.agent.prompts[0]?.sessionId, 's1')
  })

  it("wait in their conversation while it's neither shown nor open", async () => {
    fixture.controller.prompts.enqueue('two/s9', prompt('p1', 'one'))
    await until(() => states('two/s9')[0]?.[1] === 'refused')
    assert.deepEqual(stored(), [['p1', 'two/s9']])
    assert.equal(fixture.started.length, 0)
  })

  it('return if they are empty, or if no session starts', async () => {
    fixture.controller.prompts.enqueue('new', prompt('p1', '  \n'))
    await until(() => fixture.started.length > 0 && fixture.agent.newSessions.length > 0)
    fixture.controller.cancel()
    await until(() => fixture.controller.prompts.queue.returned.length === 1)
    assert.match(fixture.controller.prompts.queue.returned[0]?.reason ?? '', /nothing was sent/)
    fixture = new SessionsFixture()
    await begin('one', 's1')
    fixture.controller.prompts.enqueue('one/s1', prompt('p2', '  \n'))
    await until(() => fixture.controller.prompts.queue.returned.length === 1)
    assert.match(fixture.controller.prompts.queue.returned[0]?.reason ?? '', /prompt is empty/)
  })

  it('return to their own input, with the reason, if the user stops waiting for their session', async () => {
    await begin('one', 's1')
    const { controller } = fixture
    const opens = [
      { begin: () => controller.opener.start('one'), key: 'new' },
      {
        begin: () => controller.opener.reopen('load', { agentId: 'one', sessionId: 's9', cwd: '/w/a' }),
        key: 'one/s9',
      },
    ]
    for (const { begin, key } of opens) {
      const opening = begin()
      await until(() => controller.opener.attempt !== undefined && controller.key === key)
      controller.prompts.enqueue(key, prompt(`p1 ${key}`, 'one'))
      controller.prompts.enqueue(key, prompt(`p2 ${key}`, 'two'))
      controller.cancel()
      await opening
      await until(() => fixture.queues.of(key).returned.length === 2)
      assert.equal(controller.key, 'one/s1')
      assert.deepEqual(
        fixture.queues.of(key).returned.map(({ id, reason }) => [id, reason]),
        [`p1 ${key}`, `p2 ${key}`].map(id => [
          id,
          "The session wasn't opened, so nothing was sent. Try again.",
        ]),
      )
      assert.ok(!fixture.queues.of(key).isPaused)
      assert.deepEqual(states('one/s1'), [])
    }
    controller.prompts.enqueue('one/s1', prompt('p3', 'three'))
    await until(() => received().length === 1)
    assert.deepEqual(received(), ['three'])
    assert.deepEqual(states('one/s1'), [])
  })

  it('have their own draft and queue in each place without a conversation', async () => {
    const tab = fixture.place(undefined, 'new 2')
    fixture.drafts.set('new', { ...EMPTY_DRAFT, text: 'in the side bar' })
    assert.deepEqual([tab.key, fixture.drafts.get(tab.key).text], ['new 2', ''])
    tab.prompts.enqueue('new 2', prompt('p1', 'one'))
    await until(() => fixture.started.length > 0 && fixture.agent.newSessions.length > 0)
    assert.deepEqual([fixture.controller.phase, states('new')], ['empty', []])
    fixture.agent.newSessions[0]?.resolve({ sessionId: 's1' })
    await until(() => received().length === 1)
    assert.equal(tab.key, 'one/s1')
    assert.equal(fixture.drafts.get('new').text, 'in the side bar')
  })

  it('that were queued in another window are sent before those written here while the session was on its way', async () => {
    const left = deferred<boolean>()
    const queues = new PromptQueues({
      storage: {
        save() {},
        forget() {},
        holds: () => true,
        claim: () => [],
        handOver: () => true,
        arrive: () => [prompt('p1'), prompt('p2')],
        onDidTakeOver: new Emitter<string>().event,
      },
      sources: fixture.sources,
      continuing: { continues: () => left.promise, sessionOf: () => undefined },
    })
    const queue = queues.of('one/s1')
    queues.arrive('one/s1')
    queue.enqueue(prompt('p3'), () => new Promise(() => {}))
    left.resolve(true)
    await until(() => queue.prompts.length === 3)
    assert.deepEqual(
      queue.prompts.map(({ id }) => id),
      ['p1', 'p2', 'p3'],
    )
    queues.dispose()
  })

  it('are taken over from another window after it closes', async () => {
    fixture.controller.prompts.enqueue('two/s9', prompt('p1', 'one'))
    await until(() => states('two/s9')[0]?.[1] === 'refused')
    const { queues } = fixture.nextWindow()
    assert.deepEqual(
      queues.of('two/s9').returned.map(({ id, reason }) => [id, reason]),
      [['p1', 'The window closed before the prompt was sent.']],
    )
  })

  describe('while the agent requires sign-in', () => {
    const required = () =>
      new AgentRequestError('session/new', 'auth-required', { code: -32000, message: 'Sign in' })
    const failureId = () => [...fixture.controller.failures.keys()][0] ?? assert.fail('nothing failed')
    const texts = (agent: FakeAgent) => agent.prompts.map(({ content }) => content)
    /** Selects the second agent, while there is a conversation with the first. */
    const refuse = async () => {
      await begin('one', 's1')
      const starting = fixture.controller.opener.start('two')
      await until(() => fixture.started.length === 2 && fixture.agent.newSessions.length === 1)
      fixture.controller.prompts.enqueue('new', prompt('before'))
      fixture.agent.newSessions[0]?.reject(required())
      await starting
    }

    it('stay with that agent, and are sent after the sign-in (quirk 32)', async () => {
      await refuse()
      const { controller } = fixture
      assert.deepEqual([controller.agentId, controller.key, controller.current], ['two', 'new', undefined])
      controller.prompts.enqueue('new', prompt('after'))
      await settle()
      assert.deepEqual(states('new'), [
        ['before', 'sending'],
        ['after', 'sending'],
      ])
      const signing = controller.signIn.signIn(failureId(), 'login')
      await until(() => fixture.agent.newSessions.length === 2)
      fixture.agent.newSessions[1]?.resolve({ sessionId: 's2' })
      await signing
      await until(() => fixture.agent.prompts.length === 1 && controller.prompts.queue.queued.length === 1)
      fixture.agent.endTurn(fixture.agent.prompts[0]!)
      await until(() => fixture.agent.prompts.length === 2)
      assert.deepEqual(texts(fixture.agent), [
        [{ type: 'text', text: 'before' }],
        [{ type: 'text', text: 'after' }],
      ])
      assert.deepEqual(texts(fixture.started[0]!.agent), [])
      assert.equal(controller.key, 'two/s2')
    })

    it("return to that agent's composer if the user doesn't sign in", async () => {
      await refuse()
      const { controller } = fixture
      controller.dismiss(failureId())
      await until(() => controller.prompts.queue.returned.length === 1)
      controller.prompts.movedToComposer('new', ['before'], EMPTY_DRAFT)
      controller.prompts.enqueue('new', prompt('again'))
      await until(() => fixture.agent.newSessions.length === 2)
      assert.deepEqual(states('new'), [['again', 'sending']])
      fixture.agent.newSessions[1]?.resolve({ sessionId: 's2' })
      await until(() => fixture.agent.prompts.length === 1)
      assert.deepEqual(texts(fixture.started[0]!.agent), [])
    })

    it("don't follow to another agent: they go back to the composer, with the reason", async () => {
      await refuse()
      const { controller } = fixture
      controller.prompts.enqueue('new', prompt('after'))
      await settle()
      const starting = controller.opener.start('one')
      await until(() => fixture.queues.of('new').returned.length === 2)
      assert.match(controller.prompts.queue.returned[0]?.reason ?? '', /written for Agent Two/)
      const first = fixture.started[0]!.agent
      await until(() => first.newSessions.length === 2)
      first.newSessions[1]?.resolve({ sessionId: 's2' })
      await starting
      assert.equal(controller.key, 'one/s2')
      controller.prompts.enqueue('one/s2', prompt('for one'))
      await until(() => first.prompts.length === 1)
      assert.deepEqual(texts(first), [[{ type: 'text', text: 'for one' }]])
      assert.deepEqual(stored(), [
        ['before', 'one/s2'],
        ['after', 'one/s2'],
      ])
    })

    it("don't follow from an agent that is being prepared to one that the user selects meanwhile", async () => {
      const { controller } = fixture
      void controller.opener.startAfter('Agent Two', new Promise(() => {}))
      controller.prompts.enqueue('new', prompt('p1', 'one'))
      void controller.opener.start('one')
      await until(() => controller.prompts.queue.returned.length === 1)
      await until(() => fixture.started.length === 1 && fixture.agent.newSessions.length === 1)
      fixture.agent.newSessions[0]?.resolve({ sessionId: 's1' })
      await until(() => controller.phase === 'ready')
      await settle()
      assert.deepEqual(received(), [])
    })

    it('are stored from the refusal until the agent accepts them', async () => {
      await begin('one', 's1')
      const { controller } = fixture
      controller.prompts.enqueue('one/s1', prompt('p1', 'one'))
      controller.prompts.enqueue('one/s1', prompt('p2', 'two'))
      await until(() => received().length === 1 && controller.prompts.queue.queued.length === 1)
      fixture.agent.prompts[0]!.answer.reject(required())
      await until(() => controller.failures.size === 1)
      assert.deepEqual(stored(), [
        ['p1', 'one/s1'],
        ['p2', 'one/s1'],
      ])
      // after a crash
      assert.deepEqual(
        fixture
          .nextWindow()
          .queues.of('one/s1')
          .returned.map(({ id }) => id),
        ['p1', 'p2'],
      )
      // the card is back when the conversation is
      const [open] = fixture.manager.list()
      controller.leave()
      assert.equal(controller.failures.size, 0)
      controller.show(open!)
      await controller.signIn.signIn(failureId(), 'login')
      await until(() => received().length === 2)
      fixture.agent.endTurn(fixture.agent.prompts[1]!)
      await until(() => received().length === 3)
      assert.deepEqual(received(), ['one', 'one', 'two'])
      assert.deepEqual(stored(), [])
    })

    it("move to a new session if the refusing one ended and can't continue", async () => {
      fixture.prepare = agent => Object.assign(agent.capabilities, { load: false, resume: false })
      await begin('one', 's1')
      const { controller } = fixture
      controller.prompts.enqueue('one/s1', prompt('p1', 'one'))
      await until(() => received().length === 1)
      fixture.agent.prompts[0]!.answer.reject(required())
      await until(() => controller.failures.size === 1)
      const card = failureId()
      fixture.agent.exit()
      await until(() => controller.phase === 'ended')
      const signing = controller.signIn.signIn(card, 'login')
      await until(() => fixture.started.length === 2 && fixture.agent.newSessions.length === 1)
      assert.deepEqual(stored(), [['p1', 'one/s1']])
      fixture.agent.newSessions[0]?.resolve({ sessionId: 's2' })
      await signing
      await until(() => received().length === 1)
      assert.deepEqual([controller.key, received(), states('one/s1')], ['one/s2', ['one'], []])
    })

    it('return to the composer if the user dismisses the sign-in in a conversation', async () => {
      await begin('one', 's1')
      const { controller } = fixture
      controller.prompts.enqueue('one/s1', prompt('p1', 'one'))
      await until(() => received().length === 1)
      fixture.agent.prompts[0]!.answer.reject(required())
      await until(() => controller.failures.size === 1)
      controller.dismiss(failureId())
      assert.deepEqual(
        controller.prompts.queue.returned.map(({ id }) => id),
        ['p1'],
      )
      assert.equal(controller.failures.size, 0)
    })

    it('also wait if the agent refuses to start', async () => {
      fixture.onStart = () => {
        const failure = {
          kind: 'initialize-error' as const,
          command: 'two',
          error: { code: -32000, message: 'Sign in' },
          authMethods: [{ methodId: 'login', type: 'terminal' as const, name: 'Log in' }],
          stderrTail: '',
        }
        throw new AgentStartError(failure, 'Sign in')
      }
      const { controller } = fixture
      controller.prompts.enqueue('new', prompt('p1', 'one'))
      await until(() => controller.failures.size === 1)
      const failure = controller.failures.get(failureId())
      assert.ok(failure?.type === 'sign-in')
      assert.deepEqual(
        failure.methods.map(({ methodId }) => methodId),
        ['login'],
      )
      fixture.onStart = () => {}
      const signing = controller.signIn.signIn(failureId(), 'login')
      await until(() => fixture.started.length === 1 && fixture.agent.newSessions.length === 1)
      fixture.agent.newSessions[0]?.resolve({ sessionId: 's1' })
      await signing
      await until(() => fixture.agent.prompts.length === 1)
      assert.deepEqual(received(), ['one'])
    })

    it("aren't shown elsewhere after the user opened another conversation", async () => {
      await refuse()
      const { controller } = fixture
      controller.show(fixture.manager.list()[0]!)
      await until(() => states('new')[0]?.[1] === 'refused')
      assert.deepEqual(states('one/s1'), [])
      controller.leave()
      assert.equal(controller.agentId, undefined)
      assert.equal(controller.prompts.queue.returned.length, 1)
    })
  })

  it('leave the stored draft alone if they come from a command', async () => {
    await begin('one', 's1')
    fixture.drafts.set('one/s1', { ...EMPTY_DRAFT, text: 'half a thought' })
    fixture.controller.prompts.enqueue('one/s1', prompt('p1', 'one'))
    assert.equal(fixture.drafts.get('one/s1').text, 'half a thought')
    fixture.controller.prompts.enqueue('one/s1', prompt('p2', 'two'), { composer: EMPTY_DRAFT })
    assert.equal(fixture.drafts.get('one/s1').text, '')
  })

  it('stay with an agent that failed to start', async () => {
    await begin('one', 's1')
    const starting = fixture.controller.opener.start('two')
    await until(() => fixture.started.length === 2 && fixture.agent.newSessions.length === 1)
    fixture.controller.prompts.enqueue('new', prompt('p1', 'one'))
    fixture.agent.exit()
    await starting
    await until(() => fixture.controller.prompts.queue.returned.length === 1)
    assert.deepEqual([fixture.controller.key, fixture.controller.agentId], ['new', 'two'])
  })

  it("stop the turn's commands if one is sent now, like Stop", async () => {
    if (fixture.plan) fixture.plan.setup.cwd = process.cwd()
    await begin('one', 's1')
    const { controller } = fixture
    for (const id of ['p1', 'p2']) controller.prompts.enqueue('one/s1', prompt(id))
    await until(() => controller.prompts.queue.queued.length === 1)
    const client = fixture.clients.of('one', () => undefined)
    const terminal = await client.createTerminal({
      sessionId: 's1',
      command: 'sleep',
      args: ['600'],
      env: [],
    })
    controller.current?.sendNow(controller.prompts.queue.queued[0]!.id)
    const exit = await client.waitForTerminalExit('s1', terminal.terminalId)
    assert.notEqual(exit.exitCode, 0)
    fixture.agent.endTurn(fixture.agent.prompts[0]!, 'cancelled')
    await until(() => received().length === 2)
    assert.deepEqual(received(), ['p1', 'p2'])
  })
})
