import assert from 'node:assert/strict'
import { AgentRequestError, AgentStartError } from '../../../src/acp/agent.ts'
import type { Failure } from '../../../src/sessions/failures/failure.ts'
import { until } from '../../support/until.ts'
import { Deferred } from '../conversation/fake-agent.ts'
import { House } from './house.ts'

describe('ConversationController', () => {
  let house: House

  beforeEach(() => {
    house = new House()
  })

  function failure(): Failure {
    const [only, ...more] = [...house.controller.failures.values()]
    assert.ok(only, 'nothing failed')
    assert.deepEqual(more, [])
    return only
  }
  function failureId(): string {
    const [id] = [...house.controller.failures.keys()]
    assert.ok(id)
    return id
  }

  /** A session of the first agent, ready to be used. */
  async function ready(sessionId = 's1') {
    const starting = house.controller.start()
    await until(() => house.started.length > 0 && house.agent.news.length > 0)
    house.agent.news.at(-1)?.resolve({ sessionId })
    await starting
    assert.equal(house.controller.phase, 'ready')
    const open = house.controller.current
    assert.ok(open)
    return open
  }

  it('starts the default agent and shows its session', async () => {
    const phases: string[] = []
    house.controller.onDidChange(() => phases.push(house.controller.phase))
    const open = await ready()
    assert.equal(open.agentId, 'one')
    assert.equal(house.controller.key, 'one/s1')
    assert.equal(phases[0], 'starting')
    assert.equal(phases.at(-1), 'ready')
    assert.deepEqual(house.used, ['one'])
    assert.equal(house.records.list('one')[0]?.cwd, '/w/a')
  })

  it('starts nothing in an untrusted workspace, and says so', async () => {
    house.trusted = false
    await house.controller.start()
    assert.equal(failure().type, 'untrusted')
    assert.equal(house.started.length, 0)
  })

  it('says that there is no agent, and that an agent is unknown', async () => {
    await house.controller.start('nobody')
    assert.deepEqual(failure(), { type: 'unknown-agent', agentId: 'nobody', agentName: 'nobody' })
    house.entries.length = 0
    await house.controller.start()
    assert.deepEqual(failure(), { type: 'no-agent' })
  })

  it('makes a card of a start that fails, and does it again on Retry', async () => {
    let tries = 0
    house.onStart = () => {
      tries += 1
      if (tries > 1) return
      throw new AgentStartError({ kind: 'command-missing', command: 'x', searched: ['/bin'] }, 'gone')
    }
    await house.controller.start()
    const failed = failure()
    assert.ok(failed.type === 'start' && failed.failure.kind === 'command-missing')
    assert.equal(house.controller.phase, 'empty')
    const again = house.controller.retry(failed.attempt)
    await until(() => house.started.length > 0 && house.agent.news.length > 0)
    house.agent.news[0]?.resolve({ sessionId: 's1' })
    await again
    assert.equal(house.controller.phase, 'ready')
    assert.equal(house.controller.failures.size, 0)
  })

  it('keeps the conversation on the screen when another session cannot be begun', async () => {
    const open = await ready()
    house.onStart = () => {
      throw new AgentStartError({ kind: 'spawn', command: 'two', message: 'no' }, 'no')
    }
    await house.controller.start('two')
    assert.equal(house.controller.current, open)
    assert.equal(house.controller.phase, 'ready')
    assert.equal(failure().type, 'start')
  })

  it('goes back when the person cancels a start, without a card', async () => {
    void house.controller.start()
    await until(() => house.started.length > 0 && house.agent.news.length > 0)
    house.controller.cancel()
    assert.equal(house.controller.phase, 'empty')
    assert.equal(house.controller.failures.size, 0)
  })

  it('does nothing when the person does not choose a folder', async () => {
    house.plan = undefined
    await house.controller.start()
    assert.equal(house.controller.phase, 'empty')
    assert.equal(house.controller.failures.size, 0)
  })

  it('begins a session for a prompt that comes without one, then sends it', async () => {
    const sent = house.controller.prompt({ text: 'hello', attachments: [] })
    await until(() => house.started.length > 0 && house.agent.news.length > 0)
    house.agent.news[0]?.resolve({ sessionId: 's1' })
    await sent
    await until(() => house.agent.prompts.length === 1)
    assert.deepEqual(house.agent.prompts[0]?.content, [{ type: 'text', text: 'hello' }])
  })

  it('waits with a prompt for the session that is being begun, whichever agent that is', async () => {
    void house.controller.start('two')
    const sent = house.controller.prompt({ text: 'hello', attachments: [] })
    await until(() => house.started.length > 0 && house.agent.news.length > 0)
    house.agent.news[0]?.resolve({ sessionId: 's1' })
    await sent
    await until(() => house.agent.prompts.length === 1)
    assert.deepEqual(
      house.started.map(({ agentId }) => agentId),
      ['two'],
    )
  })

  it('gives back the prompt when the session that it waited for cannot be had', async () => {
    house.onStart = () => {
      throw new AgentStartError({ kind: 'spawn', command: 'two', message: 'no' }, 'no')
    }
    void house.controller.start('two')
    await assert.rejects(house.controller.prompt({ text: 'hello', attachments: [] }), /no session/)
    assert.equal(failure().type, 'start')
    assert.equal(house.started.length, 0)
  })

  it('tells which conversation went on under a key of its own', async () => {
    assert.equal(house.controller.key, 'new')
    const first = await ready()
    assert.equal(house.controller.keyBefore, 'new')
    const starting = house.controller.start('two')
    assert.equal(house.controller.key, 'new')
    assert.equal(house.controller.keyBefore, undefined)
    await until(() => house.started.length === 2 && house.agent.news.length > 0)
    house.agent.news[0]?.resolve({ sessionId: 's2' })
    await starting
    assert.equal(house.controller.keyBefore, 'new')
    house.controller.show(first)
    assert.equal(house.controller.key, 'one/s1')
    assert.equal(house.controller.keyBefore, undefined)
  })

  it('has the key of the conversation that is coming back from the beginning', async () => {
    house.kept.set('parley.lastSession', { agentId: 'one', sessionId: 's1', cwd: '/w/a' })
    const keys = new Set<string>()
    house.controller.onDidSwitch(() => keys.add(house.controller.key))
    house.onStart = () => new Promise(() => {})
    void house.controller.restore()
    assert.equal(house.controller.key, 'one/s1')
    await until(() => house.controller.attempt?.type === 'restore')
    assert.equal(house.controller.key, 'one/s1')
    assert.deepEqual([...keys], ['one/s1'])
    house.controller.cancel()
    assert.equal(house.controller.key, 'new')
    assert.deepEqual([...keys], ['one/s1', 'new'])
  })

  it('keeps the prompt with the person when no session can be had', async () => {
    house.trusted = false
    await assert.rejects(house.controller.prompt({ text: 'hello', attachments: [] }))
  })

  it('asks to sign in on -32000, and then does what was asked for', async () => {
    const starting = house.controller.start()
    await until(() => house.started.length > 0 && house.agent.news.length > 0)
    house.agent.news[0]?.reject(authRequired('session/new'))
    await starting
    assert.equal(failure().type, 'sign-in')
    const signing = house.controller.signIn(failureId(), 'login')
    await until(() => house.agent.news.length === 2)
    house.agent.news[1]?.resolve({ sessionId: 's2' })
    await signing
    assert.equal(house.controller.key, 'one/s2')
  })

  it('sends a prompt again that was refused for want of a sign-in', async () => {
    await ready()
    await house.controller.prompt({ text: 'hello', attachments: [] })
    await until(() => house.agent.prompts.length === 1)
    house.agent.prompts[0]?.answer.reject(authRequired('session/prompt'))
    await until(() => house.controller.failures.size === 1)
    assert.equal(failure().type, 'sign-in')
    await house.controller.signIn(failureId(), 'login')
    await until(() => house.agent.prompts.length === 2)
    assert.deepEqual(house.agent.prompts[1]?.content, [{ type: 'text', text: 'hello' }])
    assert.equal(house.controller.failures.size, 0)
  })

  it('sends a prompt again whose turn ended for want of a sign-in, as in v2', async () => {
    await ready()
    await house.controller.prompt({ text: 'hello', attachments: [] })
    await until(() => house.agent.prompts.length === 1)
    house.agent.say('s1', { type: 'state', state: 'running' })
    house.agent.prompts[0]?.answer.resolve({ messageId: 'u' })
    const error = { code: -32000, message: 'Authentication required', detail: 'no token' }
    house.agent.say('s1', { type: 'state', state: 'idle', stopReason: 'error', error })
    await until(() => house.controller.failures.size === 1)
    const asked = failure()
    assert.ok(asked.type === 'sign-in')
    assert.deepEqual([asked.message, asked.detail], ['Authentication required', 'no token'])
    await house.controller.signIn(failureId(), 'login')
    await until(() => house.agent.prompts.length === 2)
    assert.deepEqual(house.agent.prompts[1]?.content, [{ type: 'text', text: 'hello' }])
  })

  it('signs in by terminal, and does what was asked for with a new process', async () => {
    const starting = house.controller.start()
    await until(() => house.started.length > 0 && house.agent.news.length > 0)
    const methods = [{ methodId: 'login', type: 'terminal', name: 'Log in' }]
    Object.assign(house.agent, { authMethods: methods })
    house.agent.news[0]?.reject(authRequired('session/new'))
    await starting
    const signing = house.controller.signIn(failureId(), 'login')
    await until(() => house.started.length === 2 && house.agent.news.length === 1)
    house.agent.news[0]?.resolve({ sessionId: 's2' })
    await signing
    assert.deepEqual(house.terminalSignIns, ['one login'])
    assert.equal(house.controller.key, 'one/s2')
  })

  it('sends the refused prompt on the new process after a sign-in by terminal', async () => {
    await ready()
    Object.assign(house.agent, { authMethods: [{ methodId: 'login', type: 'terminal', name: 'Log in' }] })
    await house.controller.prompt({ text: 'hello', attachments: [] })
    await until(() => house.agent.prompts.length === 1)
    house.agent.prompts[0]?.answer.reject(authRequired('session/prompt'))
    await until(() => house.controller.failures.size === 1)
    const signing = house.controller.signIn(failureId(), 'login')
    await until(() => house.started.length === 2 && house.agent.resumes.length === 1)
    house.agent.resumes[0]?.resolve({ sessionId: 's1' })
    await signing
    await until(() => house.agent.prompts.length === 1)
    assert.deepEqual(house.agent.prompts[0]?.content, [{ type: 'text', text: 'hello' }])
  })

  it('says why a sign-in by terminal failed', async () => {
    const starting = house.controller.start()
    await until(() => house.started.length > 0 && house.agent.news.length > 0)
    Object.assign(house.agent, { authMethods: [{ methodId: 'login', type: 'terminal', name: 'Log in' }] })
    house.agent.news[0]?.reject(authRequired('session/new'))
    await starting
    house.terminalFails = new Error('The command ended with 3.')
    await house.controller.signIn(failureId(), 'login')
    const failed = failure()
    assert.ok(failed.type === 'sign-in' && failed.message === 'The command ended with 3.')
    assert.equal(house.started.length, 1)
  })

  it('keeps a sign-in that fails open to be tried again', async () => {
    const starting = house.controller.start()
    await until(() => house.started.length > 0 && house.agent.news.length > 0)
    house.agent.news[0]?.reject(authRequired('session/new'))
    await starting
    house.agent.authenticate = async () => {
      throw new AgentRequestError('authenticate', 'other', { code: 1, message: 'wrong key', detail: 'd' })
    }
    await house.controller.signIn(failureId(), 'login')
    const failed = failure()
    assert.ok(failed.type === 'sign-in')
    assert.equal(failed.message, 'wrong key')
    assert.equal(failed.running, undefined)
  })

  it('lets the person cancel a sign-in that never answers', async () => {
    const starting = house.controller.start()
    await until(() => house.started.length > 0 && house.agent.news.length > 0)
    house.agent.news[0]?.reject(authRequired('session/new'))
    await starting
    let asked = false
    house.agent.authenticate = (async (_id: string, signal?: AbortSignal) => {
      asked = true
      await new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)))
    }) as typeof house.agent.authenticate
    const signing = house.controller.signIn(failureId(), 'login')
    const running = failure()
    assert.ok(running.type === 'sign-in' && running.running === 'login')
    await until(() => asked)
    house.controller.cancelSignIn()
    await signing
    const failed = failure()
    assert.ok(failed.type === 'sign-in' && failed.running === undefined)
  })

  it('keeps the conversation of an agent that dies and continues it on a new process', async () => {
    const open = await ready()
    await house.controller.prompt({ text: 'first', attachments: [] })
    await until(() => house.agent.prompts.length === 1)
    house.agent.exit({ stderrTail: 'boom' })
    await until(() => house.controller.phase === 'ended')
    assert.equal(house.controller.current, open)
    const failed = failure()
    assert.ok(failed.type === 'ended' && failed.attempt?.type === 'resume')
    const again = house.controller.retry(failed.attempt)
    await until(() => house.started.length === 2 && house.agent.resumes.length === 1)
    house.agent.resumes[0]?.resolve({ sessionId: 's1' })
    await again
    assert.equal(house.controller.phase, 'ready')
    const texts = house.controller.current?.session.state.entries.flatMap(entry =>
      entry.kind === 'message' ? entry.blocks : [],
    )
    assert.deepEqual(texts, [{ type: 'text', text: 'first' }])
  })

  it('starts an agent that ended anew for the next prompt, and sends it', async () => {
    await ready()
    house.agent.exit({ stderrTail: 'boom' })
    await until(() => house.controller.phase === 'ended')
    const prompting = house.controller.prompt({ text: 'go on', attachments: [] })
    await until(() => house.started.length === 2 && house.agent.resumes.length === 1)
    assert.equal(house.agent.prompts.length, 0)
    house.agent.resumes[0]?.resolve({ sessionId: 's1' })
    await prompting
    await until(() => house.agent.prompts.length === 1)
    assert.deepEqual(house.agent.prompts[0]?.content, [{ type: 'text', text: 'go on' }])
    assert.equal(house.controller.failures.size, 0)
  })

  it('sends nothing to an agent that ended and cannot be started anew', async () => {
    await ready()
    house.agent.exit({ stderrTail: 'boom' })
    await until(() => house.controller.phase === 'ended')
    house.onStart = () => {
      throw new Error('not today')
    }
    await assert.rejects(house.controller.prompt({ text: 'go on', attachments: [] }), /no session/)
    assert.equal(house.controller.phase, 'ended')
    assert.ok(house.controller.failures.size > 0)
  })

  it('asks for what a prompt holds once it knows the agent, and sends nothing when it cannot be had', async () => {
    const asked: unknown[] = []
    const prompting = house.controller.prompt(async ({ agentName, can, roots }) => {
      asked.push(agentName, can.prompt.image, roots.cwd)
      return [{ type: 'text', text: 'made' }]
    })
    await until(() => house.started.length > 0 && house.agent.news.length > 0)
    assert.deepEqual(asked, [])
    house.agent.news.at(-1)?.resolve({ sessionId: 's1' })
    await prompting
    await until(() => house.agent.prompts.length === 1)
    const { image } = house.agent.capabilities.prompt
    assert.deepEqual(asked, [house.controller.agentName, image, '/w/a'])
    assert.deepEqual(house.agent.prompts[0]?.content, [{ type: 'text', text: 'made' }])
    await assert.rejects(
      house.controller.prompt(async () => {
        throw new Error('No images, please.')
      }),
      /No images/,
    )
    assert.equal(house.controller.current?.session.queued.length, 0)
  })

  it('gives prompts that were never sent back to the composer, and keeps none of them in the queue', async () => {
    const open = await ready()
    const given: unknown[] = []
    house.controller.onDidGiveBack(prompts => given.push(...prompts))
    for (const text of ['first', 'second', 'third']) await house.controller.prompt({ text, attachments: [] })
    await until(() => house.agent.prompts.length === 1 && open.session.queued.length === 2)
    house.agent.exit()
    await until(() => house.controller.phase === 'ended')
    assert.deepEqual(given, [[{ type: 'text', text: 'second' }], [{ type: 'text', text: 'third' }]])
    assert.deepEqual(open.session.queued, [])
    assert.equal(house.drafts.get('one/s1')?.text, 'second\n\nthird')
  })

  it('takes what is being written along to the session of the same agent that takes the place of an ended one', async () => {
    const starting = house.controller.start('two')
    await until(() => house.started.length > 0 && house.agent.news.length > 0)
    house.agent.news[0]?.resolve({ sessionId: 's1' })
    await starting
    house.drafts.set('two/s1', { text: 'half a thought', marks: [], items: [] })
    house.agent.exit()
    await until(() => house.controller.phase === 'ended')
    const again = house.controller.startInstead()
    assert.equal(house.drafts.get('new')?.text, 'half a thought')
    await until(() => house.started.length === 2 && house.agent.news.length > 0)
    house.agent.news[0]?.resolve({ sessionId: 's2' })
    await again
    assert.equal(house.controller.key, 'two/s2')
    assert.equal(house.controller.keyBefore, 'new', 'which the draft goes along with')
  })

  it('puts the chips and pictures of prompts that were never sent back, too', async () => {
    await ready()
    await house.controller.prompt({ text: 'first', attachments: [] })
    const link = { type: 'resource_link' as const, uri: 'file:///w/a/b.ts', name: 'b.ts' }
    const image = { type: 'image' as const, data: 'AA==', mimeType: 'image/png' }
    await house.controller.prompt(async () => [
      { type: 'text', text: 'see ' },
      link,
      { type: 'text', text: ' now' },
      image,
    ])
    await until(() => house.agent.prompts.length === 1)
    house.agent.exit()
    await until(() => house.controller.phase === 'ended')
    const kept = house.drafts.get('one/s1')
    assert.equal(kept?.text, 'see @b.ts now')
    assert.deepEqual(
      kept?.items.map(({ content }) => content),
      [link, image],
    )
    assert.deepEqual(
      kept?.marks.map(({ from, to }) => [from, to]),
      [[4, 9]],
    )
  })

  it('puts prompts that were never sent back into the composer when the agent dies', async () => {
    await ready()
    await house.controller.prompt({ text: 'first', attachments: [] })
    await house.controller.prompt({ text: 'second', attachments: [] })
    await until(() => house.agent.prompts.length === 1)
    house.agent.exit()
    await until(() => house.controller.phase === 'ended')
    assert.equal(house.drafts.get('one/s1')?.text, 'second')
  })

  it('shows the conversation as it was when its load fails', async () => {
    const open = await ready()
    const loading = house.controller.reopen('load', {
      agentId: 'one',
      sessionId: 'other',
      cwd: '/w/a',
    })
    await until(() => house.agent.loads.length === 1)
    assert.equal(house.controller.phase, 'loading')
    assert.equal(house.controller.key, 'one/other')
    house.agent.loads[0]?.reject(
      new AgentRequestError('session/load', 'not-found', { code: -32002, message: 'no such session' }),
    )
    await loading
    assert.equal(house.controller.current, open)
    assert.equal(house.controller.phase, 'ready')
    assert.equal(failure().type, 'request')
  })

  it('restores the session of before a reload, by load', async () => {
    house.kept.set('parley.lastSession', { agentId: 'two', sessionId: 's9', cwd: '/w/a' })
    const restoring = house.controller.restore()
    await until(() => house.started.length > 0 && house.agent.loads.length === 1)
    house.agent.say('s9', {
      type: 'message_chunk',
      role: 'agent',
      content: { type: 'text', text: 'as before' },
    })
    house.agent.loads[0]?.resolve({ sessionId: 's9' })
    await restoring
    assert.equal(house.controller.key, 'two/s9')
    assert.equal(house.controller.current?.session.state.entries.length, 1)
  })

  it('restores by resume with an agent that cannot load, and not at all with one that can neither', async () => {
    house.kept.set('parley.lastSession', { agentId: 'two', sessionId: 's9', cwd: '/w/a' })
    await house.hosts.get('two').ensure()
    house.agent.capabilities.load = false
    const restoring = house.controller.restore()
    await until(() => house.agent.resumes.length === 1)
    house.agent.resumes[0]?.resolve({ sessionId: 's9' })
    await restoring
    assert.equal(house.controller.phase, 'ready')

    const other = new House()
    other.kept.set('parley.lastSession', { agentId: 'two', sessionId: 's9', cwd: '/w/a' })
    await other.hosts.get('two').ensure()
    other.agent.capabilities.load = false
    other.agent.capabilities.resume = false
    await other.controller.restore()
    assert.equal(other.controller.phase, 'empty')
    assert.equal(other.controller.failures.size, 0)
  })

  describe('with a conversation that was kept', () => {
    const reference = { agentId: 'one', sessionId: 's9', cwd: '/w/a' }
    const textsOf = (of: House) =>
      of.controller.current?.session.state.entries.flatMap(entry =>
        entry.kind === 'message'
          ? entry.blocks.flatMap(block => (block.type === 'text' ? [block.text] : []))
          : [],
      )

    beforeEach(() => {
      house.transcripts.write('one', 's9', {
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
      house.transcripts.writes.length = 0
    })

    async function onlyLoads(): Promise<void> {
      await house.hosts.get('one').ensure()
      house.agent.capabilities.resume = false
    }

    it('is resumed rather than replayed: it knows more than a replay', async () => {
      const restoring = house.controller.restore(reference)
      await until(() => house.started.length > 0 && house.agent.resumes.length === 1)
      house.agent.resumes[0]?.resolve({ sessionId: 's9' })
      await restoring
      assert.deepEqual(textsOf(house), ['kept'])
      assert.equal(house.controller.phase, 'ready')
    })

    it('shows it before the agent has started', async () => {
      const gate = new Deferred<void>()
      house.onStart = () => gate.promise
      void house.controller.restore(reference)
      await until(() => house.controller.phase === 'starting')
      assert.deepEqual(textsOf(house), ['kept'])
      assert.equal(house.controller.current?.session.state.title, 'Kept title')
      gate.resolve()
      await until(() => house.started.length === 1)
    })

    it('keeps it on the screen and on disk when the agent cannot give it back', async () => {
      await onlyLoads()
      const restoring = house.controller.restore(reference)
      await until(() => house.started.length > 0 && house.agent.loads.length === 1)
      house.agent.loads[0]?.reject(
        new AgentRequestError('session/load', 'not-found', { code: -32002, message: 'no such session' }),
      )
      await restoring
      assert.deepEqual(textsOf(house), ['kept'])
      assert.equal(house.controller.phase, 'ended')
      assert.equal(failure().type, 'request')
      assert.deepEqual(house.transcripts.writes, [])
      assert.equal(house.transcripts.read('one', 's9')?.entries.length, 1)
    })

    it('keeps it when the agent cannot even be started', async () => {
      house.onStart = () => {
        throw new AgentStartError({ kind: 'spawn', command: 'one', message: 'no' }, 'no')
      }
      await house.controller.restore(reference)
      assert.deepEqual(textsOf(house), ['kept'])
      assert.equal(failure().type, 'start')
    })

    it('is read at once when it is opened from a list, also when its agent cannot be started or is gone', async () => {
      const open = await ready()
      house.onStart = () => {
        throw new AgentStartError({ kind: 'spawn', command: 'one', message: 'no' }, 'no')
      }
      house.agent.exit()
      await until(() => house.controller.phase === 'ended')
      await house.controller.reopen('load', reference)
      assert.deepEqual(textsOf(house), ['kept'])
      assert.equal(house.controller.phase, 'ended')
      assert.equal(failure().type, 'start')

      house.entries.length = 0
      house.controller.take(open)
      await house.controller.reopen('load', reference)
      assert.deepEqual(textsOf(house), ['kept'])
      assert.equal(house.controller.phase, 'ended')
      assert.equal(failure().type, 'unknown-agent')
    })

    it('gives way to what was on the screen before when the person gives up', async () => {
      const open = await ready()
      await onlyLoads()
      void house.controller.reopen('load', reference)
      await until(() => house.agent.loads.length === 1)
      assert.deepEqual(textsOf(house), ['kept'])
      house.controller.cancel()
      assert.equal(house.controller.current, open)
      assert.equal(house.controller.phase, 'ready')
    })

    it('is shown with a word of it when the agent can neither load nor resume', async () => {
      await onlyLoads()
      house.agent.capabilities.load = false
      await house.controller.restore(reference)
      assert.deepEqual(textsOf(house), ['kept'])
      assert.equal(house.controller.phase, 'ended')
      assert.equal(failure().type, 'read-only')
      await house.controller.reopen('load', reference)
      assert.deepEqual(textsOf(house), ['kept'])
      assert.equal(failure().type, 'read-only')
    })

    it('stays when the agent answers a load and replays nothing, and what is said next stands after it', async () => {
      await onlyLoads()
      const loading = house.controller.reopen('load', reference)
      await until(() => house.agent.loads.length === 1)
      house.agent.loads[0]?.resolve({ sessionId: 's9' })
      await loading
      assert.deepEqual(textsOf(house), ['kept'])
      await house.controller.prompt({ text: 'more', attachments: [] })
      await until(() => house.agent.prompts.length === 1)
      house.agent.endTurn(house.agent.prompts[0]!)
      house.controller.leave()
      await house.manager.close(house.manager.list()[0]!)
      const kept = house.transcripts.read('one', 's9')?.entries
      assert.deepEqual(
        kept?.map(entry => entry.kind),
        ['message', 'notice', 'message'],
      )
    })

    it('stays until the replay is whole, which then takes its place, on disk too', async () => {
      await onlyLoads()
      const restoring = house.controller.restore(reference)
      await until(() => house.started.length > 0 && house.agent.loads.length === 1)
      house.agent.say('s9', {
        type: 'message_chunk',
        role: 'agent',
        content: { type: 'text', text: 'replayed' },
      })
      assert.deepEqual(textsOf(house), ['kept'])
      house.agent.loads[0]?.resolve({ sessionId: 's9' })
      await restoring
      assert.deepEqual(textsOf(house), ['replayed'])
      await until(() => house.transcripts.writes.length > 0)
      assert.equal(house.transcripts.writes[0]?.replace, true)
      assert.equal(house.transcripts.read('one', 's9')?.entries.length, 1)
    })

    it('goes on with an agent that can only resume', async () => {
      await house.hosts.get('one').ensure()
      house.agent.capabilities.load = false
      const restoring = house.controller.restore(reference)
      await until(() => house.agent.resumes.length === 1)
      house.agent.resumes[0]?.resolve({ sessionId: 's9' })
      await restoring
      house.agent.say('s9', { type: 'message_chunk', role: 'agent', content: { type: 'text', text: 'more' } })
      assert.deepEqual(textsOf(house), ['kept', 'more'])
      await until(() => house.transcripts.read('one', 's9')?.entries.length === 2)
      assert.ok(house.transcripts.writes.every(write => !write.replace))
    })

    it('is written as the conversation grows, and not lost to a disk that was full for a while', async () => {
      await ready('s1')
      house.transcripts.fails = true
      await house.controller.prompt({ text: 'hello', attachments: [] })
      await until(() => house.agent.prompts.length === 1)
      const call = house.agent.prompts[0]
      assert.ok(call)
      house.agent.endTurn(call)
      house.transcripts.fails = false
      house.agent.say('s1', { type: 'info', title: 'T' })
      await until(() => house.transcripts.read('one', 's1')?.entries.length === 1)
    })
  })

  it('says that an agent takes its time, and what can be done, until it answers', async () => {
    house.patienceMs = 1
    const place = house.place()
    const starting = place.start('one')
    await until(() => place.failures.size > 0 && house.started.length > 0 && house.agent.news.length > 0)
    assert.equal([...place.failures.values()][0]?.type, 'slow')
    assert.equal(place.phase, 'starting')
    house.agent.news[0]?.resolve({ sessionId: 's1' })
    await starting
    assert.equal(place.failures.size, 0)

    void place.start('one')
    await until(() => place.failures.size > 0)
    place.cancel()
    assert.equal(place.failures.size, 0)
    assert.equal(place.key, 'one/s1')
  })

  it('begins anew what an agent never answered when it is restarted', async () => {
    void house.controller.reopen('load', { agentId: 'one', sessionId: 'other', cwd: '/w/a' })
    await until(() => house.started.length === 1 && house.agent.loads.length === 1)
    const restarting = house.controller.restart()
    await until(() => house.started.length === 2 && house.agent.loads.length === 1)
    house.agent.loads[0]?.resolve({ sessionId: 'other' })
    await restarting
    assert.equal(house.controller.key, 'one/other')
  })

  it('restarts the agent and continues the conversation', async () => {
    await ready()
    const restarting = house.controller.restart()
    await until(() => house.started.length === 2 && house.agent.resumes.length === 1)
    house.agent.resumes[0]?.resolve({ sessionId: 's1' })
    await restarting
    assert.equal(house.controller.phase, 'ready')
    assert.equal(house.controller.key, 'one/s1')
  })

  it('tells of an option that the agent refused', async () => {
    const open = await ready()
    house.agent.say('s1', {
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
    const setting = house.controller.setConfigOption('mode', 'b')
    house.agent.options[0]?.answer.reject(new Error('not now'))
    await setting
    const failed = failure()
    assert.ok(failed.type === 'option' && failed.optionName === 'Mode')
    const [option] = open.session.state.configOptions
    assert.ok(option?.type === 'select' && option.currentValue === 'a')
  })

  it('says that an option is not answered, and shows what the agent has when that is given up', async () => {
    house.patienceMs = 1
    const place = house.place()
    const starting = place.start('one')
    await until(() => house.started.length > 0 && house.agent.news.length > 0)
    house.agent.news[0]?.resolve({ sessionId: 's1' })
    await starting
    const told = () => [...place.failures].filter(([, { type }]) => type === 'slow-option')
    const shown = () => {
      const [option] = place.current?.session.state.configOptions ?? []
      return option?.type === 'boolean' ? option.currentValue : undefined
    }
    const option = (currentValue: boolean) =>
      house.agent.say('s1', {
        type: 'config_options',
        options: [{ id: 'web', name: 'Web', type: 'boolean', currentValue }],
      })
    option(false)
    void place.setConfigOption('web', true)
    await until(() => told().length === 1)
    house.agent.options[0]?.answer.resolve()
    await until(() => told().length === 0)
    assert.equal(shown(), true)

    const given = place.setConfigOption('web', false)
    await until(() => told().length === 1)
    assert.equal(shown(), false)
    place.giveUpOption(told()[0]?.[0] ?? '')
    await given
    assert.deepEqual([shown(), place.failures.size, place.current?.session.pendingOptions], [true, 0, []])
    // it answers after all, and tells what it has from then on
    option(false)
    house.agent.options[1]?.answer.resolve()
    assert.equal(shown(), false)

    place.dispose()
  })

  it('never mixes two sessions of one agent', async () => {
    const first = await ready('s1')
    const starting = house.controller.start('one')
    await until(() => house.agent.news.length === 2)
    house.agent.news[1]?.resolve({ sessionId: 's2' })
    await starting
    house.agent.say('s1', {
      type: 'message_chunk',
      role: 'agent',
      content: { type: 'text', text: 'for one' },
    })
    assert.equal(house.controller.current?.session.state.entries.length, 0)
    assert.equal(first.session.state.entries.length, 1)
    assert.equal(house.manager.list().length, 2)
    house.controller.show(first)
    assert.equal(house.controller.key, 'one/s1')
  })
})

function authRequired(method: string): AgentRequestError {
  return new AgentRequestError(method, 'auth-required', { code: -32000, message: 'Authentication required' })
}
