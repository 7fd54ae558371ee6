import assert from 'node:assert/strict'
import { AgentRequestError, AgentStartError } from '../../../src/acp/agent.ts'
import type { AuthMethod } from '../../../src/acp/model.ts'
import type { ConversationController } from '../../../src/sessions/conversation-controller.ts'
import { until } from '../../support/until.ts'
import { SessionsFixture, sendPrompt } from './sessions-fixture.ts'

const methods: AuthMethod[] = [
  { methodId: 'plain', type: 'agent', name: 'Sign in' },
  { methodId: 'terminal', type: 'terminal', name: 'In a terminal' },
  { methodId: 'key', type: 'env_var', name: 'With a key', vars: [] },
]

function refusal(method: string): AgentRequestError {
  return new AgentRequestError(method, 'auth-required', { code: -32000, message: 'Authentication required' })
}

describe('an agent that is restarted for a sign-in', () => {
  let fixture: SessionsFixture
  let here: ConversationController
  let there: ConversationController

  beforeEach(async () => {
    fixture = new SessionsFixture()
    fixture.prepare = agent => Object.assign(agent, { authMethods: methods })
    here = fixture.controller
    there = fixture.place()
    await begin(here, 's1')
    await begin(there, 's2')
  })

  async function begin(place: ConversationController, sessionId: string): Promise<void> {
    const starting = place.opener.start()
    await until(() => fixture.started.length > 0 && fixture.agent.newSessions.length > 0)
    fixture.agent.newSessions.pop()!.resolve({ sessionId })
    await starting
    assert.equal(place.key, `one/${sessionId}`)
  }
  const kinds = (place: ConversationController) => [...place.failures.values()].map(({ type }) => type)
  const write = (place: ConversationController, text: string) => sendPrompt(place, text)
  /** Signs in from a conversation without a refused request. */
  async function signIn(place: ConversationController, methodId: string, then?: () => Promise<void>) {
    await place.signIn.offer('one', then)
    const [id] = [...place.failures.keys()]
    return place.signIn.signIn(id!, methodId)
  }
  /** Checks that both conversations are restored with the new process. */
  async function resumed(count = 2): Promise<void> {
    await until(() => fixture.started.length === 2 && fixture.agent.resumes.length === count)
    for (const resume of fixture.agent.resumes) resume.resolve({ sessionId: 'whatever' })
    await until(() => here.phase === 'ready' && there.phase === 'ready')
  }

  for (const methodId of ['terminal', 'key']) {
    it(`continues with all idle conversations, wherever they are (${methodId})`, async () => {
      const signing = signIn(here, methodId)
      await resumed()
      await signing
      assert.deepEqual([kinds(here), kinds(there)], [[], []])
      assert.deepEqual([here.key, there.key], ['one/s1', 'one/s2'])
      assert.equal(fixture.started.length, 2)
      await write(there, 'go on')
      await until(() => fixture.agent.prompts.length === 1)
      assert.equal(fixture.agent.prompts[0]?.sessionId, 's2')
    })
  }

  it('first completes a running turn and the prompts queued behind it', async () => {
    const before = fixture.agent
    await write(there, 'work')
    await write(there, 'and more')
    await until(() => before.prompts.length === 1)
    const session = there.current?.session
    void signIn(here, 'terminal')
    await until(() => fixture.started.length === 2 && fixture.agent.resumes.length === 1)
    fixture.agent.resumes[0]!.resolve({ sessionId: 's1' })
    await until(() => here.phase === 'ready')
    assert.equal(there.phase, 'ready')
    assert.equal(there.current?.session, session, 'it is still with the process of before')
    before.endTurn(before.prompts[0]!)
    await until(() => before.prompts.length === 2)
    before.endTurn(before.prompts[1]!)
    await until(() => fixture.agent.resumes.length === 2)
    fixture.agent.resumes[1]!.resolve({ sessionId: 's2' })
    await until(() => there.phase === 'ready' && there.current?.session !== session)
    assert.deepEqual(kinds(there), [])
    const said = there.current?.session.state.entries.filter(entry => entry.kind === 'message')
    assert.equal(said?.length, 2, 'nothing of the conversation is lost')
    assert.equal(there.current?.session.state.activity, 'idle')
  })

  it('sends a waiting prompt when the conversation is restored', async () => {
    const signing = signIn(here, 'terminal')
    await until(() => there.phase === 'starting')
    const sent = write(there, 'soon')
    await resumed()
    await Promise.all([signing, sent])
    await until(() => fixture.agent.prompts.length === 1)
  })

  it("reports that it was restarted if it can't continue conversations", async () => {
    Object.assign(fixture.agent.capabilities, { load: false, resume: false })
    await signIn(here, 'terminal')
    assert.equal(there.phase, 'ended')
    const [failure] = there.failures.values()
    assert.ok(failure?.type === 'ended' && /can't continue/.test(failure.exit.message ?? ''))
  })

  it('continues all conversations if one of them restarts it', async () => {
    void here.opener.restart()
    await resumed()
    assert.deepEqual([kinds(here), kinds(there)], [[], []])
  })

  it('keeps the card of a failed sign-in, and the conversations', async () => {
    fixture.variablesFail = new Error('no')
    await signIn(here, 'key')
    assert.deepEqual([kinds(here), kinds(there)], [['sign-in'], []])
    fixture.variablesFail = undefined
    fixture.onStart = () => {
      throw new AgentStartError({ kind: 'spawn', command: 'one', message: 'no' }, 'no')
    }
    const [id] = [...here.failures.keys()]
    await here.signIn.signIn(id!, 'key')
    await until(() => here.phase === 'ended' && there.phase === 'ended')
    assert.ok(kinds(here).includes('sign-in'))
    assert.deepEqual(kinds(there), ['start'])
    assert.deepEqual([here.key, there.key], ['one/s1', 'one/s2'])
  })

  describe('and refused requests before', () => {
    async function refused(place: ConversationController): Promise<void> {
      const count = fixture.agent.prompts.length
      await write(place, 'refused')
      await until(() => fixture.agent.prompts.length === count + 1)
      fixture.agent.prompts.at(-1)!.answer.reject(refusal('session/prompt'))
      await until(() => place.failures.size === 1)
    }

    for (const methodId of ['plain', 'terminal', 'key']) {
      it(`retries them in every conversation (${methodId})`, async () => {
        await refused(here)
        await refused(there)
        const before = fixture.agent.prompts.length
        const [id] = [...here.failures.keys()]
        const signing = here.signIn.signIn(id!, methodId)
        if (methodId !== 'plain') await resumed()
        await signing
        const all = () => fixture.agent.prompts.length - (methodId === 'plain' ? before : 0)
        await until(() => all() === 2)
        assert.deepEqual(
          fixture.agent.prompts
            .slice(-2)
            .map(({ sessionId }) => sessionId)
            .sort(),
          ['s1', 's2'],
        )
        assert.deepEqual([kinds(here), kinds(there)], [[], []])
      })
    }

    it("retries them in a new session if it can't continue the old one", async () => {
      Object.assign(fixture.agent.capabilities, { load: false, resume: false })
      await refused(here)
      const [id] = [...here.failures.keys()]
      const signing = here.signIn.signIn(id!, 'terminal')
      await until(() => fixture.started.length === 2 && fixture.agent.newSessions.length === 1)
      fixture.agent.newSessions[0]!.resolve({ sessionId: 's3' })
      await signing
      await until(() => fixture.agent.prompts.length === 1)
      assert.equal(fixture.agent.prompts[0]?.sessionId, 's3')
    })

    it('retries them outside of conversations once the process knows of the sign-in', async () => {
      let done = 0
      const deleted = async () => {
        assert.ok(fixture.runners.get('one').running, 'an agent runs for it')
        done++
      }
      const signing = signIn(here, 'terminal', deleted)
      await resumed()
      await signing
      assert.equal(done, 1)
      // even with the card of another conversation
      await here.signIn.offer('one', deleted)
      await there.signIn.offer('one')
      const [id] = [...there.failures.keys()]
      await there.signIn.signIn(id!, 'plain')
      await until(() => done === 2)
      assert.deepEqual([kinds(here), kinds(there)], [[], []])
    })
  })
})

describe('an agent without a conversation', () => {
  it('starts again after a sign-in in a terminal, so that its sessions can be listed', async () => {
    const fixture = new SessionsFixture()
    fixture.prepare = agent => Object.assign(agent, { authMethods: methods })
    await fixture.controller.signIn.offer('one')
    const [id] = [...fixture.controller.failures.keys()]
    await fixture.controller.signIn.signIn(id!, 'terminal')
    await until(() => fixture.started.length === 2 && fixture.runners.get('one').running !== undefined)
    assert.equal(fixture.controller.phase, 'empty')
    assert.equal(fixture.controller.failures.size, 0)
  })
})

describe('a conversation whose agent exited', () => {
  it('still says so when the user goes back after something else fails', async () => {
    const fixture = new SessionsFixture()
    const starting = fixture.controller.opener.start()
    await until(() => fixture.started.length > 0 && fixture.agent.newSessions.length > 0)
    fixture.agent.newSessions[0]!.resolve({ sessionId: 's1' })
    await starting
    fixture.agent.exit()
    await until(() => fixture.controller.phase === 'ended')
    fixture.onStart = () => {
      throw new AgentStartError({ kind: 'spawn', command: 'two', message: 'no' }, 'no')
    }
    const shown = () => [...fixture.controller.failures.values()].map(({ type }) => type)
    const ended = fixture.controller.current!
    await fixture.controller.opener.start('two')
    assert.deepEqual(shown(), ['start'])
    fixture.controller.show(ended)
    assert.deepEqual(shown(), ['ended'])
  })
})
