import assert from 'node:assert/strict'
import { mock } from 'node:test'
import { Emitter } from '../../../src/common/event.ts'
import type { OpenSession } from '../../../src/sessions/open-session.ts'
import { type NotificationAnswer, RequestNotifications } from '../../../src/sessions/request-notifications.ts'
import { until } from '../../support/until.ts'
import { Deferred } from '../conversation/fake-agent.ts'
import { permissionRequest } from '../conversation/updates.ts'
import { SessionsFixture, sendPrompt } from './sessions-fixture.ts'

const never = new AbortController().signal

describe('notifications of a pending request', () => {
  let fixture: SessionsFixture
  let open: OpenSession
  let seen: boolean
  let calls: Array<{
    text: string | undefined
    answer: Deferred<NotificationAnswer | undefined>
    over: AbortSignal
  }>
  let revealed: OpenSession[]
  let late: number
  const look = new Emitter<void>()
  let subject: RequestNotifications

  beforeEach(async () => {
    fixture = new SessionsFixture()
    seen = false
    calls = []
    revealed = []
    late = 0
    subject = new RequestNotifications({
      manager: fixture.manager,
      isSeen: () => seen,
      onDidChangeVisibility: look.event,
      call: (_open, question, over) => {
        const answer = new Deferred<NotificationAnswer | undefined>()
        calls.push({ text: question?.text, answer, over })
        return answer.promise
      },
      reveal: async session => void revealed.push(session),
      tooLate: () => late++,
    })
    const starting = fixture.controller.opener.start()
    await until(() => fixture.started.length > 0 && fixture.agent.newSessions.length > 0)
    fixture.agent.newSessions[0]!.resolve({ sessionId: 's1' })
    await starting
    open = fixture.controller.current!
    await sendPrompt(fixture.controller, 'go')
    await until(() => fixture.agent.prompts.length === 1)
    mock.timers.enable({ apis: ['setTimeout'] })
  })
  afterEach(() => {
    subject.dispose()
    mock.timers.reset()
  })

  const ask = (title: string) => open.session.requests.requestPermission(permissionRequest({ title }), never)
  const first = () => open.session.requests.open[0]!.requestId
  const optionId = permissionRequest().options[0]!.optionId
  /** Lets enough time pass for everything that is due. */
  const settled = async () => {
    mock.timers.tick(60_000)
    await new Promise(resolve => setImmediate(resolve))
  }

  it("are shown once if it isn't visible", async () => {
    void ask('One?')
    assert.deepEqual(
      calls.map(call => call.text),
      ['One?'],
    )
    calls[0]!.answer.resolve(undefined)
    look.fire()
    await settled()
    assert.equal(calls.length, 1, 'not again to one that was waved away')
  })

  it("are shown when the request is hidden, but not if it's visible again", async () => {
    seen = true
    void ask('One?')
    look.fire()
    await settled()
    assert.equal(calls.length, 0)
    seen = false
    look.fire()
    await settled()
    assert.equal(calls.length, 1)
    seen = true
    look.fire()
    await settled()
    seen = false
    look.fire()
    await settled()
    assert.equal(calls.length, 1)
  })

  it("aren't shown for a request that was hidden only for a moment", async () => {
    seen = true
    void ask('One?')
    seen = false
    look.fire()
    seen = true
    look.fire()
    await settled()
    assert.equal(calls.length, 0)
  })

  it('answer it and continue with the next', async () => {
    const one = ask('One?')
    void ask('Two?')
    assert.equal(calls.length, 1)
    calls[0]!.answer.resolve({ optionId })
    assert.deepEqual(await one, { type: 'selected', optionId })
    await settled()
    assert.equal(calls.length, 2)
    assert.equal(calls[1]!.text, 'Two?')
    calls[1]!.answer.resolve('show')
    await settled()
    assert.deepEqual(revealed, [open])
  })

  it('report an already answered request, and reveal the next hidden one', async () => {
    void ask('One?')
    void ask('Two?')
    open.session.requests.answerPermission(first(), optionId)
    assert.deepEqual(
      calls.map(call => call.text),
      ['One?', 'Two?'],
    )
    calls[0]!.answer.resolve({ optionId })
    await settled()
    assert.equal(late, 1)
    assert.equal(open.session.requests.open.length, 1)
  })

  it('close when the request is answered elsewhere or canceled', async () => {
    const withdrawn = new AbortController()
    void open.session.requests.requestPermission(permissionRequest({ title: 'One?' }), withdrawn.signal)
    void ask('Two?')
    assert.equal(calls[0]!.over.aborted, false)
    withdrawn.abort()
    assert.equal(calls[0]!.over.aborted, true)
    assert.deepEqual([calls.length, calls[1]!.over.aborted], [2, false])
    seen = true
    open.session.requests.answerPermission(first(), optionId)
    assert.equal(calls[1]!.over.aborted, true)
  })

  it('close when the request is visible, and are shown for it only once', async () => {
    void ask('One?')
    seen = true
    look.fire()
    await settled()
    assert.equal(calls[0]!.over.aborted, true)
    seen = false
    look.fire()
    await settled()
    assert.equal(calls.length, 1)
  })

  it('are shown again for a later request', async () => {
    void ask('One?')
    open.session.requests.answerPermission(first(), optionId)
    void ask('Two?')
    await settled()
    assert.equal(calls.length, 2)
  })

  it('are shown if an agent only reports that it waits', async () => {
    fixture.agent.say('s1', { type: 'state', state: 'requires_action' })
    assert.deepEqual(
      calls.map(call => call.text),
      [undefined],
    )
  })
})
