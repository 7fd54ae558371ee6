import assert from 'node:assert/strict'
import {
  type ConversationSurface,
  ConversationSurfaces,
} from '../../../src/app/conversation/conversation-surface.ts'
import type { ConversationController } from '../../../src/sessions/conversation-controller.ts'
import { referenceOf } from '../../../src/sessions/open-session.ts'
import { until } from '../../support/until.ts'
import { SessionsFixture } from './sessions-fixture.ts'

describe('a session is shown in only one place per window', () => {
  let fixture: SessionsFixture
  let revealed: ConversationController[]
  let surfaces: ConversationSurfaces
  let sideBar: ConversationController
  let tab: ConversationController

  const surface = (controller: ConversationController): ConversationSurface => ({
    controller,
    isVisible: true,
    reveal: async () => void revealed.push(controller),
    attach() {},
    commentChanged: () => false,
    write() {},
    sendToPage: () => true,
    sendTo: () => true,
    showMatch() {},
    showRequest() {},
  })

  beforeEach(async () => {
    fixture = new SessionsFixture()
    revealed = []
    sideBar = fixture.controller
    tab = fixture.place()
    surfaces = new ConversationSurfaces()
    surfaces.add(surface(sideBar))
    surfaces.add(surface(tab))
    fixture.elsewhere = (reference, mine) => surfaces.elsewhere(reference, mine)
    const starting = tab.opener.start()
    await until(() => fixture.started.length > 0 && fixture.agent.newSessions.length > 0)
    fixture.agent.newSessions[0]!.resolve({ sessionId: 's1' })
    await starting
  })
  afterEach(() => surfaces.dispose())

  const reference = () => referenceOf(tab.current!)

  for (const how of ['load', 'resume', 'restore'] as const) {
    it(`however it's opened elsewhere (${how})`, async () => {
      await sideBar.opener.reopen(how, reference())
      assert.deepEqual(revealed, [tab])
      assert.equal(sideBar.current, undefined)
      assert.equal(sideBar.phase, 'empty')
      assert.equal(fixture.agent.loads.length + fixture.agent.resumes.length, 0)
    })
  }

  it('even if its agent exited, and is restored there', async () => {
    fixture.agent.exit()
    await until(() => tab.phase === 'ended')
    await sideBar.opener.retry({ type: 'load', ...reference() })
    assert.deepEqual(revealed, [tab])
    assert.equal(sideBar.phase, 'empty')
    const back = tab.opener.retry({ type: 'resume', ...reference() })
    await until(() => fixture.started.length === 2 && fixture.agent.resumes.length === 1)
    fixture.agent.resumes[0]!.resolve({ sessionId: 's1' })
    await back
    assert.equal(tab.phase, 'ready')
    assert.deepEqual(revealed, [tab])
  })

  it('after a reload that left it in two places', async () => {
    const last = reference()
    const other = fixture.place(new Map([['parley.lastSession', last]]))
    surfaces.add(surface(other))
    await other.opener.restore()
    assert.equal(other.phase, 'empty')
    assert.equal(other.current, undefined)
  })

  it('even while it is being opened', async () => {
    const { sessionId: _, ...rest } = reference()
    void sideBar.opener.reopen('load', { ...rest, sessionId: 's2' })
    await until(() => fixture.agent.loads.length === 1)
    await tab.opener.reopen('load', { ...rest, sessionId: 's2' })
    assert.deepEqual(revealed, [sideBar])
    assert.equal(fixture.agent.loads.length, 1)
    assert.equal(tab.key, 'one/s1')
  })

  it('even by the new key that it gets when opened', async () => {
    await surfaces.reveal(tab.current!)
    assert.deepEqual(revealed, [tab])
    assert.equal(sideBar.current, undefined)
  })
})
