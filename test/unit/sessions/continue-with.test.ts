import assert from 'node:assert/strict'
import { AgentRequestError } from '../../../src/acp/agent.ts'
import { draftOf, EMPTY_DRAFT, isEmptyDraft } from '../../../src/common/draft.ts'
import { attachmentOf } from '../../../src/conversation/attachment.ts'
import { textOf } from '../../../src/conversation/blocks.ts'
import { sessionsBefore } from '../../../src/sessions/continuation.ts'
import type { Failure } from '../../../src/sessions/failures.ts'
import { titleOf } from '../../../src/sessions/session-title.ts'
import { until } from '../../support/until.ts'
import type { FakeAgent } from '../conversation/fake-agent.ts'
import { chunk, summarize, tool } from '../conversation/updates.ts'
import { authRequired, SessionsFixture, sendPrompt } from './sessions-fixture.ts'

describe('continuing a conversation with another agent', () => {
  let fixture: SessionsFixture

  beforeEach(async () => {
    fixture = await SessionsFixture.withSession()
    await turn('hello', 'Hi, the word is swordfish')
  })

  const shown = () => summarize(fixture.controller.current!.session.state)
  const agentOf = (agentId: string): FakeAgent =>
    fixture.started.findLast(one => one.agentId === agentId)!.agent

  /** A turn of the displayed session. */
  async function turn(prompt: string, answer: string): Promise<string> {
    const { agentId, session } = fixture.controller.current!
    const agent = agentOf(agentId)
    const before = agent.prompts.length
    await sendPrompt(fixture.controller, prompt)
    await until(() => agent.prompts.length > before)
    agent.say(session.sessionId, chunk('agent', answer))
    agent.endTurn(agent.prompts.at(-1)!)
    await until(() => session.state.activity === 'idle')
    return textOf(agent.prompts.at(-1)!.content) + JSON.stringify(agent.prompts.at(-1)!.content)
  }

  async function starting(agentId: string): Promise<FakeAgent> {
    const known = fixture.started.filter(one => one.agentId === agentId).at(-1)?.agent.newSessions.length ?? 0
    await until(
      () =>
        fixture.started.some(one => one.agentId === agentId) && agentOf(agentId).newSessions.length > known,
    )
    return agentOf(agentId)
  }

  async function continueWithTwo(sessionId = 't1'): Promise<void> {
    const done = fixture.controller.continueWith('two')
    const agent = await starting('two')
    agent.newSessions.at(-1)!.resolve({ sessionId })
    await done
  }

  async function backToOne(): Promise<void> {
    const agent = agentOf('one')
    const before = agent.resumes.length
    const done = fixture.controller.continueWith('one')
    await until(() => agent.resumes.length > before)
    agent.resumes.at(-1)!.resolve({ sessionId: 's1' })
    await done
  }

  it('keeps what was said, tells the new agent once, and closes the session that it left', async () => {
    await continueWithTwo()
    assert.equal(fixture.controller.key, 'two/t1')
    assert.equal(fixture.controller.keyBefore, 'one/s1')
    assert.deepEqual(shown().slice(0, 2), ['user: hello', 'agent: Hi, the word is swordfish'])
    assert.match(shown().at(-1)!, /^notice: Continued with Agent Two/)
    assert.equal(fixture.manager.find('one', 's1'), undefined)
    assert.deepEqual(agentOf('one').closes, ['s1'])
    assert.match(await turn('go on', 'Sure'), /go on.*swordfish/s)
    assert.doesNotMatch(await turn('more', 'Done'), /swordfish/)
    assert.equal(shown().filter(line => line.startsWith('user: go on')).length, 1)
    // a reload finds all of it
    await until(() => fixture.transcripts.kept.get('two/t1')?.entries.length === shown().length)
  })

  it('keeps the title, the pin and the changes', async () => {
    const reference = { agentId: 'one', sessionId: 's1', cwd: '/w/a' }
    fixture.organizer.setPinned(reference, true)
    const title = titleOf(fixture.controller.current!.session)
    await continueWithTwo()
    agentOf('two').say('t1', { type: 'info', title: 'A title of its own' })
    assert.equal(titleOf(fixture.controller.current!.session), title)
    assert.equal(fixture.records.get('two', 't1')?.pinned, true)
    assert.deepEqual(fixture.records.get('one', 's1')?.continuedIn, { agentId: 'two', sessionId: 't1' })
    assert.deepEqual(sessionsBefore('two/t1', fixture.records), ['one/s1'])
    assert.deepEqual(fixture.controller.current!.changes.origins(), [
      { session: 'one/s1', turn: 1, continued: true },
    ])
  })

  it('goes back to the session that the agent had, and tells it only what it missed', async () => {
    const usage = { used: 20, size: 100 }
    agentOf('one').say('s1', { type: 'usage', usage })
    await continueWithTwo()
    assert.equal(fixture.controller.current!.session.state.usage, undefined)
    await turn('go on', 'The color is teal')
    await backToOne()
    assert.deepEqual(fixture.controller.current!.session.state.usage, usage)
    assert.equal(fixture.controller.key, 'one/s1')
    assert.equal(shown().filter(line => /^notice: Continued with/.test(line)).length, 2)
    assert.equal(fixture.records.get('one', 's1')?.continuedIn, undefined)
    assert.deepEqual(fixture.records.get('two', 't1')?.continuedIn, { agentId: 'one', sessionId: 's1' })
    const sent = await turn('and now?', 'Fine')
    assert.match(sent, /teal/)
    assert.doesNotMatch(sent, /swordfish/)
    await until(() => fixture.transcripts.kept.get('one/s1')?.entries.length === shown().length)
  })

  it('starts anew with all of the conversation if the agent has lost its session', async () => {
    await continueWithTwo()
    await turn('go on', 'The color is teal')
    const agent = agentOf('one')
    const before = agent.newSessions.length
    const done = fixture.controller.continueWith('one')
    await until(() => agent.resumes.length > 0)
    agent.resumes
      .at(-1)!
      .reject(new AgentRequestError('session/resume', 'other', { code: -32603, message: 'gone' }))
    await until(() => agent.newSessions.length > before)
    agent.newSessions.at(-1)!.resolve({ sessionId: 's2' })
    await done
    assert.equal(fixture.controller.key, 'one/s2')
    const sent = await turn('and now?', 'Fine')
    assert.match(sent, /swordfish/)
    assert.match(sent, /teal/)
    // one row: all of the others lead to it
    for (const [agentId, sessionId] of [
      ['one', 's1'],
      ['two', 't1'],
    ] as const)
      assert.deepEqual(fixture.records.get(agentId, sessionId)?.continuedIn, {
        agentId: 'one',
        sessionId: 's2',
      })
  })

  it("merges the replay of an agent that can't resume, and keeps the other agent's messages", async () => {
    Object.assign(agentOf('one').capabilities, { resume: false })
    await continueWithTwo()
    await turn('go on', 'The color is teal')
    const agent = agentOf('one')
    const done = fixture.controller.continueWith('one')
    await until(() => agent.loads.length > 0)
    agent.say('s1', chunk('user', 'hello'), chunk('agent', 'Hi, the word is swordfish'))
    agent.loads.at(-1)!.resolve({ sessionId: 's1' })
    await done
    const lines = shown().map(line => line.replace(/:.*/s, ''))
    assert.deepEqual(
      shown().filter(line => /^(user|agent)/.test(line)),
      [
        'user: hello',
        'agent: Hi, the word is swordfish',
        'user: go on|[resource]',
        'agent: The color is teal',
      ],
      lines.join(),
    )
    assert.match(shown().at(-1)!, /^notice: Continued with Agent One/)
    assert.ok(!shown().some(line => /saved copy/.test(line)), shown().join('\n'))
  })

  it("doesn't mix what two agents give the same id", async () => {
    agentOf('one').say('s1', tool('call-1', { title: 'Read the first' }))
    await continueWithTwo()
    agentOf('two').say('t1', tool('call-1', { title: 'Read the second' }))
    const titles = fixture.controller.current!.session.state.entries.flatMap(entry =>
      entry.kind === 'tool_call' ? entry.title : [],
    )
    assert.deepEqual(titles, ['Read the first', 'Read the second'])
  })

  it('sends the queue to the new agent, with the conversation before the first prompt, and stops the turn', async () => {
    const one = agentOf('one')
    await sendPrompt(fixture.controller, 'long work')
    await until(() => one.prompts.length === 2)
    await sendPrompt(fixture.controller, 'queued 1')
    await sendPrompt(fixture.controller, 'queued 2')
    const done = fixture.controller.continueWith('two')
    await until(() => one.cancels.length === 1)
    one.endTurn(one.prompts.at(-1)!, 'cancelled')
    const two = await starting('two')
    two.newSessions.at(-1)!.resolve({ sessionId: 't1' })
    await done
    await until(() => two.prompts.length === 1)
    assert.match(JSON.stringify(two.prompts[0]!.content), /queued 1.*swordfish/s)
    two.say('t1', chunk('agent', 'Working'))
    two.endTurn(two.prompts[0]!)
    await until(() => two.prompts.length === 2)
    assert.doesNotMatch(JSON.stringify(two.prompts[1]!.content), /swordfish/)
    assert.equal(one.prompts.length, 2)
  })

  it('sends nothing to the agent that it leaves when the user selects the other one twice', async () => {
    const { controller } = fixture
    const one = agentOf('one')
    await sendPrompt(controller, 'long work')
    await until(() => one.prompts.length === 2)
    await sendPrompt(controller, 'for two')
    await until(() => controller.prompts.queue.queued.length === 1)
    const first = controller.continueWith('two', { afterTurn: new AbortController().signal })
    one.say('s1', chunk('agent', 'The last word'))
    one.endTurn(one.prompts.at(-1)!)
    const two = await starting('two')
    const second = controller.continueWith('two')
    await Promise.all([first, until(() => two.newSessions.length === 2)])
    two.newSessions.at(-1)!.resolve({ sessionId: 't1' })
    await second
    await until(() => two.prompts.length === 1)
    assert.equal(one.prompts.length, 2)
    assert.equal(shown().filter(line => /^notice: Continued with/.test(line)).length, 1)
  })

  it('waits for the turn if the user wants that, and keeps the next prompt from the agent that it leaves', async () => {
    const one = agentOf('one')
    await sendPrompt(fixture.controller, 'long work')
    await until(() => one.prompts.length === 2)
    const done = fixture.controller.continueWith('two', { afterTurn: new AbortController().signal })
    await sendPrompt(fixture.controller, 'for two')
    one.say('s1', chunk('agent', 'The last word'))
    one.endTurn(one.prompts.at(-1)!)
    const two = await starting('two')
    assert.deepEqual(one.cancels, [])
    two.newSessions.at(-1)!.resolve({ sessionId: 't1' })
    await done
    await until(() => two.prompts.length === 1)
    assert.match(JSON.stringify(two.prompts[0]!.content), /for two.*The last word/s)
    assert.equal(one.prompts.length, 2)
  })

  it('keeps the next prompt from an agent that is removed meanwhile, also if the user stays with it', async () => {
    const { controller, runners } = fixture
    const one = agentOf('one')
    await sendPrompt(controller, 'long work')
    await until(() => one.prompts.length === 2)
    const { session } = controller.current!
    const waiting = new AbortController()
    const done = controller.continueWith('two', { afterTurn: waiting.signal })
    await sendPrompt(controller, 'next')
    await until(() => controller.prompts.queue.queued.length === 1)
    runners.get('one').endAfterTurns(one)
    waiting.abort()
    await done
    one.endTurn(one.prompts.at(-1)!)
    await until(() => session.phase === 'closed')
    assert.equal(one.prompts.length, 2)
    assert.deepEqual(
      controller.prompts.queue.returned.map(({ draft }) => draft.text),
      ['next'],
    )
  })

  for (const [how, fail] of [
    [
      "doesn't start",
      () => {
        fixture.onStart = () => Promise.reject(new Error('not there'))
      },
    ],
    [
      "isn't known anymore",
      () => {
        fixture.entries.pop()
      },
    ],
  ] as const)
    it(`stays where it is if the other agent ${how}, with its draft, and sends nothing to the wrong one`, async () => {
      const { controller } = fixture
      const open = controller.current!
      const draft = draftOf([{ type: 'text', text: 'half a thought' }], attachmentOf)
      fixture.drafts.set(open.key, draft)
      fail()
      await controller.continueWith('two')
      assert.equal(controller.current, open)
      assert.equal(controller.phase, 'ready')
      assert.equal(controller.failures.size, 1)
      assert.equal(fixture.drafts.get(open.key).text, 'half a thought')
      assert.equal(fixture.records.get('one', 's1')?.continuedIn, undefined)
      await turn('still there?', 'Yes')
    })

  it('goes on with an agent that the user must sign in to first, with its draft and the prompt to send again', async () => {
    const { controller } = fixture
    const draft = draftOf([{ type: 'text', text: 'half a thought' }], attachmentOf)
    fixture.drafts.set('one/s1', draft)
    const again = { id: 'p1', draft: draftOf([{ type: 'text', text: 'again' }], attachmentOf) }
    const done = controller.continueWith('two', { again })
    const two = await starting('two')
    two.newSessions.at(-1)!.reject(authRequired('session/new'))
    await done
    const [[id, failure]] = [...controller.failures] as [[string, Failure]]
    assert.equal(failure.type, 'sign-in')
    assert.equal(controller.key, 'one/s1')
    const signing = controller.signIn.signIn(id, 'login')
    await until(() => two.newSessions.length === 2)
    two.newSessions.at(-1)!.resolve({ sessionId: 't1' })
    await signing
    assert.equal(controller.key, 'two/t1')
    assert.equal(fixture.drafts.get('two/t1').text, 'half a thought')
    assert.deepEqual(
      controller.prompts.queue.returned.map(one => one.draft.text),
      ['again'],
    )
  })

  it('gives a prompt back that was written for the agent that failed', async () => {
    const { controller } = fixture
    const open = controller.current!
    const done = controller.continueWith('two')
    const two = await starting('two')
    const sending = sendPrompt(controller, 'for two')
    await until(() => controller.prompts.queue.prompts.length === 1)
    two.newSessions
      .at(-1)!
      .reject(new AgentRequestError('session/new', 'other', { code: -32603, message: 'no' }))
    await assert.rejects(sending, /Agent Two/)
    await done
    assert.equal(controller.current, open)
    assert.equal(agentOf('one').prompts.length, 1)
  })

  it('tells again what an agent never got, since its first turn failed', async () => {
    await continueWithTwo()
    const two = agentOf('two')
    await sendPrompt(fixture.controller, 'go on')
    await until(() => two.prompts.length === 1)
    two.prompts[0]!.answer.reject(new Error('overloaded'))
    await until(() => fixture.controller.current!.session.state.activity === 'idle')
    assert.match(await turn('again', 'Sure'), /swordfish/)
  })

  it('leaves alone a session that the user has opened as a conversation of its own meanwhile', async () => {
    await continueWithTwo()
    await turn('go on', 'The color is teal')
    // for example from a link
    const elsewhere = fixture.place(new Map(), 'new 2')
    const one = agentOf('one')
    const reopening = elsewhere.opener.reopen('restore', { agentId: 'one', sessionId: 's1', cwd: '/w/a' })
    await until(() => one.resumes.length > 0)
    one.resumes.at(-1)!.resolve({ sessionId: 's1' })
    await reopening
    const before = one.newSessions.length
    const done = fixture.controller.continueWith('one')
    await until(() => one.newSessions.length > before)
    one.newSessions.at(-1)!.resolve({ sessionId: 's2' })
    await done
    assert.equal(fixture.controller.key, 'one/s2')
    assert.equal(elsewhere.key, 'one/s1')
    assert.equal(fixture.records.get('one', 's1')?.continuedIn, undefined)
  })

  it('tells what was said with the first prompt that is more than a slash command', async () => {
    await continueWithTwo()
    assert.doesNotMatch(await turn('/status', 'All fine'), /swordfish/)
    assert.match(await turn('go on', 'Sure'), /swordfish/)
    assert.doesNotMatch(await turn('more', 'Sure'), /swordfish/)
  })

  it('tells all of it to an agent that got nothing but a slash command before', async () => {
    await continueWithTwo()
    await turn('/status', 'All fine')
    await backToOne()
    await turn('and now?', 'The color is teal')
    const two = agentOf('two')
    const done = fixture.controller.continueWith('two')
    await until(() => two.resumes.length > 0)
    two.resumes.at(-1)!.resolve({ sessionId: 't1' })
    await done
    assert.match(await turn('go on', 'Sure'), /swordfish.*teal/)
  })

  it('goes on in a new session of its agent with what fits, without the turn of the prompt that is sent again', async () => {
    await turn('go on', `The color is teal${'x'.repeat(500)}`)
    await sendPrompt(fixture.controller, 'too long')
    const one = agentOf('one')
    await until(() => one.prompts.length === 3)
    one.prompts.at(-1)!.answer.reject(new Error('full'))
    await until(() => fixture.controller.current!.session.state.activity === 'idle')
    const before = one.newSessions.length
    const done = fixture.controller.continueWith('one', { max: 530, without: 3, summary: 'About words.' })
    await until(() => one.newSessions.length > before)
    one.newSessions.at(-1)!.resolve({ sessionId: 's2' })
    await done
    assert.match(shown().at(-1)!, /^notice: Continued with Agent One in a new session/)
    const sent = await turn('and now?', 'Fine')
    assert.match(sent, /About words.*teal/s)
    assert.doesNotMatch(sent, /swordfish|too long/)
    assert.deepEqual(fixture.records.get('one', 's1')?.continuedIn, { agentId: 'one', sessionId: 's2' })
    // the full session is never gone back to
    await continueWithTwo()
    await turn('go on', 'Sure')
    const resumed = one.resumes.length
    const back = fixture.controller.continueWith('one')
    await until(() => one.resumes.length > resumed)
    one.resumes.at(-1)!.resolve({ sessionId: 's2' })
    await back
    assert.equal(fixture.controller.key, 'one/s2')
  })

  it('is pinned as it was last', async () => {
    fixture.organizer.setPinned({ agentId: 'one', sessionId: 's1', cwd: '/w/a' }, true)
    await continueWithTwo()
    fixture.organizer.setPinned({ agentId: 'two', sessionId: 't1', cwd: '/w/a' }, false)
    await turn('go on', 'Sure')
    await backToOne()
    assert.ok(!fixture.records.get('one', 's1')?.pinned)
  })

  it("is stored before lists show only the session that it is in now, and both of them if it can't be", async () => {
    await continueWithTwo()
    assert.ok(fixture.transcripts.kept.get('two/t1')?.entries.some(({ kind }) => kind === 'message'))
    await turn('go on', 'Sure')
    fixture.transcripts.fails = true
    await backToOne()
    assert.equal(fixture.records.get('two', 't1')?.continuedIn, undefined)
  })

  it('stays on its page while the agent reopens its session, which may be gone, with what is written meanwhile', async () => {
    await continueWithTwo()
    await turn('go on', 'The color is teal')
    const one = agentOf('one')
    const before = one.newSessions.length
    const done = fixture.controller.continueWith('one')
    await until(() => one.resumes.length > 0)
    assert.equal(fixture.controller.key, 'two/t1')
    const sending = sendPrompt(fixture.controller, 'for one')
    await until(() => fixture.controller.prompts.queue.prompts.length === 1)
    one.resumes
      .at(-1)!
      .reject(new AgentRequestError('session/resume', 'other', { code: -32603, message: 'gone' }))
    await until(() => one.newSessions.length > before)
    one.newSessions.at(-1)!.resolve({ sessionId: 's2' })
    await Promise.all([done, sending])
    await until(() => one.prompts.some(({ content }) => textOf(content).includes('for one')))
    assert.equal(one.prompts.at(-1)?.sessionId, 's2')
  })

  it('includes messages since the failed first attempt, also with another process of the agent', async () => {
    const { controller } = fixture
    const one = agentOf('one')
    fixture.onStart = () => Promise.reject(new Error('not there'))
    await controller.continueWith('two')
    const [failure] = controller.failures.values()
    fixture.onStart = () => {}
    one.exit()
    await until(() => controller.phase === 'ended')
    const restarting = controller.opener.restart()
    await until(() => agentOf('one') !== one && agentOf('one').resumes.length > 0)
    agentOf('one').resumes.at(-1)!.resolve({ sessionId: 's1' })
    await restarting
    await turn('go on', 'The color is teal')
    assert.ok(failure && 'attempt' in failure && failure.attempt)
    const done = controller.opener.retry(failure.attempt)
    const two = await starting('two')
    two.newSessions.at(-1)!.resolve({ sessionId: 't1' })
    await done
    assert.equal(fixture.manager.find('one', 's1'), undefined)
    assert.match(await turn('and now?', 'Sure'), /swordfish.*teal/)
  })

  it('stays in the folder of the conversation, such as a worktree', async () => {
    const starting = fixture.controller.opener.start('one', { cwd: '/w/a.worktrees/apart' })
    await until(() => agentOf('one').newSessions.length === 2)
    agentOf('one').newSessions[1]!.resolve({ sessionId: 's2' })
    await starting
    await turn('hello', 'Hi')
    await continueWithTwo()
    assert.equal(fixture.controller.current!.plan.setup.cwd, '/w/a.worktrees/apart')
    assert.equal(fixture.records.get('two', 't1')?.cwd, '/w/a.worktrees/apart')
  })

  it('starts no agent in Restricted Mode', async () => {
    const open = fixture.controller.current
    fixture.trusted = false
    await fixture.controller.continueWith('two')
    assert.deepEqual(
      [...fixture.controller.failures.values()].map(({ type }) => type),
      ['untrusted'],
    )
    assert.equal(fixture.controller.current, open)
    assert.ok(!fixture.started.some(({ agentId }) => agentId === 'two'))
  })

  it("has the folder of an imported conversation confirmed, which its agent hasn't opened", async () => {
    const { planner, records } = fixture
    const asked: unknown[] = []
    const { forNew } = planner
    planner.forNew = (...args) => {
      asked.push(args[3])
      return forNew(...args)
    }
    const known = records.get('one', 's1')!
    records.get = (agentId, sessionId) =>
      sessionId === 's1' ? { ...known, agentId, sessionId, imported: true } : undefined
    await continueWithTwo()
    assert.deepEqual(asked, [true])
  })

  it("doesn't decide about what another conversation changed because an entry says so", async () => {
    await continueWithTwo()
    const open = fixture.controller.current!
    assert.equal(open.changes.origins()[0]?.continued, true)
    // a fork, or what a file said
    fixture.records.noted(
      'one',
      { sessionId: 's1', cwd: '/w/a' },
      { continuedIn: { agentId: 'two', sessionId: 'other' } },
    )
    assert.deepEqual(open.changes.origins(), [{ session: 'one/s1', turn: 1 }])
  })

  it('is found with what was written for it, in a window that closed while it was in the session before', async () => {
    await continueWithTwo()
    fixture.drafts.set('one/s1', { ...EMPTY_DRAFT, text: 'half a thought' })
    fixture.queues.of('one/s1').addReturned([{ id: 'p1', draft: { ...EMPTY_DRAFT, text: 'not sent' } }])
    const last = { agentId: 'one', sessionId: 's1', cwd: '/w/a' }
    fixture.controller.leave()
    const reloaded = fixture.place(new Map([['parley.lastSession', last]]))
    void reloaded.opener.restore()
    await until(() => reloaded.current?.key === 'two/t1')
    assert.equal(fixture.drafts.get('two/t1').text, 'half a thought')
    assert.deepEqual(
      fixture.queues.of('two/t1').returned.map(({ draft }) => draft.text),
      ['not sent'],
    )
    assert.ok(isEmptyDraft(fixture.drafts.get('one/s1')))
  })
})
