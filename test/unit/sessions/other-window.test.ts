import { strict as assert } from 'node:assert'
import { mock } from 'node:test'
import { EMPTY_DRAFT } from '../../../src/common/draft.ts'
import { CancelledError, UnavailableError } from '../../../src/common/errors.ts'
import { HeldSessions } from '../../../src/sessions/session-leases.ts'
import { until } from '../../support/until.ts'
import { type SessionsFixture, sendPrompt, twoWindows } from './sessions-fixture.ts'

const reference = { agentId: 'one', sessionId: 's1', cwd: '/w/a' }
const chunk = (text: string) =>
  ({ type: 'message_chunk', role: 'agent', content: { type: 'text', text } }) as const

describe('a session that is open in another window', () => {
  let first: SessionsFixture
  let second: SessionsFixture
  const failure = () => [...second.controller.failures].map(([id, failure]) => ({ id, ...failure }))[0]
  const texts = (fixture: SessionsFixture) =>
    fixture.controller.current?.session.state.entries.flatMap(entry =>
      entry.kind === 'message' && entry.blocks[0]?.type === 'text' ? [entry.blocks[0].text] : [],
    )

  async function turn(fixture: SessionsFixture, prompt: string, answer: string): Promise<void> {
    const { length } = fixture.agent.prompts
    await sendPrompt(fixture.controller, prompt)
    await until(() => fixture.agent.prompts.length === length + 1)
    fixture.agent.say('s1', chunk(answer))
    fixture.agent.endTurn(fixture.agent.prompts[length]!)
  }

  beforeEach(async () => {
    ;[first, second] = twoWindows()
    const starting = first.controller.opener.start('one')
    await until(() => first.started.length > 0 && first.agent.newSessions.length > 0)
    first.agent.newSessions[0]?.resolve({ sessionId: 's1' })
    await starting
    await turn(first, 'hello', 'The first answer.')
    await until(() => first.transcripts.read('one', 's1')?.entries.length === 2)
  })

  it('is read-only and updated as it grows, without starting its agent', async () => {
    await second.controller.opener.reopen('resume', reference)
    assert.equal(failure()?.type, 'elsewhere')
    assert.deepEqual(texts(second), ['hello', 'The first answer.'])
    assert.equal(second.started.length, 0)
    await turn(first, 'and more', 'The second answer.')
    await until(() => texts(second)?.length === 4)
    assert.equal(second.controller.phase, 'ended')
    // prompts are refused with a reason
    await assert.rejects(sendPrompt(second.controller, 'mine'))
    assert.equal(failure()?.type, 'elsewhere')
    second.controller.dispose()
  })

  it('continues with another agent only in the window that has it, or once none has it', async () => {
    await second.controller.opener.reopen('resume', reference)
    second.controller.dismiss(failure()!.id)
    second.drafts.set('one/s1', { ...EMPTY_DRAFT, text: 'a draft' })
    await assert.rejects(second.controller.continueWith('two'), UnavailableError)
    await assert.rejects(second.controller.continueWith('two'), UnavailableError)
    // with its button, once
    assert.deepEqual(
      [...second.controller.failures.values()].map(({ type }) => type),
      ['elsewhere'],
    )
    assert.equal(second.started.length, 0)
    assert.equal(second.controller.key, 'one/s1')
    assert.equal(second.drafts.get('one/s1').text, 'a draft')
    await turn(first, 'and more', 'The second answer.')
    await until(() => texts(second)?.length === 4)
    first.leases.release('one', 's1')
    const continuing = second.controller.continueWith('two')
    await until(() => second.started.length > 0 && second.agent.newSessions.length > 0)
    second.agent.newSessions[0]?.resolve({ sessionId: 't1' })
    await continuing
    assert.equal(second.controller.key, 'two/t1')
    assert.equal(second.drafts.get('two/t1').text, 'a draft')
    assert.equal(failure(), undefined)
    second.controller.dispose()
  })

  it('can be taken over, after which the turn is stopped and both windows show the whole conversation', async () => {
    await sendPrompt(first.controller, 'and more')
    await until(() => first.agent.prompts.length === 2)
    first.agent.say('s1', chunk('Half of the ans'))
    await second.controller.opener.reopen('resume', reference)
    const reported = failure()
    assert.ok(reported?.type === 'elsewhere' && !reported.taken)
    const taking = second.controller.opener.takeOver(reported.id)
    await until(() => first.agent.cancels.length === 1)
    first.agent.endTurn(first.agent.prompts[1]!, 'cancelled')
    await until(() => second.started.length > 0 && second.agent.resumes.length === 1)
    assert.deepEqual(first.agent.closes, ['s1'])
    second.agent.resumes[0]?.resolve({ sessionId: 's1' })
    await taking
    assert.deepEqual(texts(second), ['hello', 'The first answer.', 'and more', 'Half of the ans'])
    assert.deepEqual(
      [...first.controller.failures.values()].map(({ type }) => type),
      ['elsewhere'],
    )
    await turn(second, 'here', 'The third answer.')
    await until(() => texts(first)?.at(-1) === 'The third answer.', 'the first window follows')
    first.controller.dispose()
  })

  it("isn't opened if the user opens something else during the takeover", async () => {
    await sendPrompt(first.controller, 'and more')
    await until(() => first.agent.prompts.length === 2)
    await second.controller.opener.reopen('resume', reference)
    const taking = assert.rejects(second.controller.opener.takeOver(failure()!.id), CancelledError)
    await until(() => first.agent.cancels.length === 1)
    const starting = second.controller.opener.start('one')
    await until(() => second.started.length > 0 && second.agent.newSessions.length > 0)
    second.agent.newSessions[0]?.resolve({ sessionId: 's2' })
    await starting
    first.agent.endTurn(first.agent.prompts[1]!, 'cancelled')
    await taking
    assert.equal(second.controller.key, 'one/s2')
    assert.equal(second.agent.resumes.length, 0)
  })

  it('can be taken over from a window that is gone, whose turn is marked as interrupted', async () => {
    await second.controller.opener.reopen('resume', reference)
    await sendPrompt(first.controller, 'and more')
    await until(() => first.agent.prompts.length === 2)
    first.agent.say('s1', {
      type: 'tool_call',
      toolCall: { toolCallId: 't', title: 'Work', status: 'in_progress' },
    })
    const shown = () => second.controller.current!.session.state.entries
    await until(() => shown().some(({ kind }) => kind === 'tool_call'))
    // the window's process was killed, so nothing more is saved
    first.leases.release('one', 's1')
    const reported = failure()
    assert.ok(reported?.type === 'elsewhere')
    const taking = second.controller.opener.takeOver(reported.id)
    await until(() => second.started.length > 0 && second.agent.resumes.length === 1)
    second.agent.resumes[0]?.resolve({ sessionId: 's1' })
    await taking
    const [tool, end] = shown().slice(-2)
    assert.ok(tool?.kind === 'tool_call' && end?.kind === 'turn_end')
    assert.deepEqual([tool.status, end.stopReason], ['cancelled', 'interrupted'])
    await turn(second, 'here', 'The third answer.')
    await until(() => texts(second)?.at(-1) === 'The third answer.')
    const turns = shown().flatMap(entry =>
      entry.kind === 'message' && entry.role === 'user' ? [entry.turn] : [],
    )
    assert.deepEqual(turns, [1, 2, 3])
  })

  it('can be forked if the agent supports that, and can be opened when the other window has closed it', async () => {
    second.records.agentRuns('one', { list: true, load: true, resume: true, fork: true })
    await second.controller.opener.reopen('resume', reference)
    const reported = failure()
    assert.ok(reported?.type === 'elsewhere' && reported.canFork)
    await first.manager.openSessions.close(first.manager.list()[0]!)
    const opening = second.controller.opener.reopen('resume', reference)
    await until(() => second.started.length > 0 && second.agent.resumes.length === 1)
    second.agent.resumes[0]?.resolve({ sessionId: 's1' })
    await opening
    assert.equal(second.controller.phase, 'ready')
    assert.equal(first.leases.acquire('one', 's1'), false)
  })

  it('is restored after a reload as soon as the earlier window has closed it', async () => {
    const restoring = second.controller.opener.restore(reference)
    await until(() => second.controller.phase === 'starting')
    assert.equal(second.controller.failures.size, 0)
    await first.manager.openSessions.close(first.manager.list()[0]!)
    await until(() => second.started.length > 0 && second.agent.resumes.length === 1)
    second.agent.resumes[0]?.resolve({ sessionId: 's1' })
    await restoring
    assert.equal(second.controller.phase, 'ready')
  })

  it("is released if it couldn't be opened", async () => {
    await first.manager.openSessions.close(first.manager.list()[0]!)
    second.onStart = () => {
      throw new Error('no')
    }
    await second.controller.opener.reopen('load', reference)
    assert.equal(first.leases.acquire('one', 's1'), true)
  })

  describe('while the clock is set back', () => {
    beforeEach(() => {
      const { now } = Date
      let looks = 0
      // an hour earlier each time that anything looks at it
      mock.method(Date, 'now', () => now() - 3_600_000 * looks++)
    })
    afterEach(() => mock.restoreAll())

    it("is taken from a window that doesn't respond", async () => {
      first.leases.hangs = true
      const held = new HeldSessions(second.leases, 50)
      await held.takeOver(reference, new AbortController().signal)
      assert.ok(held.takeSeized(reference))
      assert.equal(first.leases.acquire('one', 's1'), false)
    })

    it('is reported as open there after the time that a window needs to close', async () => {
      await second.controller.opener.restore(reference)
      assert.equal(failure()?.type, 'elsewhere')
      second.controller.dispose()
    })
  })
})
