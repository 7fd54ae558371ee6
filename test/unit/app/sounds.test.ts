import assert from 'node:assert/strict'
import { Sounds } from '../../../src/app/sounds.ts'
import { Emitter } from '../../../src/common/event.ts'
import { Session } from '../../../src/conversation/session.ts'
import type { OpenSession } from '../../../src/sessions/open-session.ts'
import { FakeAgent, settle } from '../conversation/fake-agent.ts'
import { permissionRequest, text } from '../conversation/updates.ts'

describe('sounds', () => {
  let isOn: boolean
  let agent: FakeAgent
  let session: Session
  let heard: unknown[]
  let sounds: Sounds

  beforeEach(() => {
    isOn = true
    heard = []
    agent = new FakeAgent()
    const setup = { cwd: '/w', additionalDirectories: [], mcpServers: [] }
    session = new Session({ agent, sessionId: 's', setup, phase: 'ready' })
    agent.onUpdate(({ update }) => session.receive(update))
    const open = { session } as OpenSession
    const page = (name: string) => ({
      sendToPage: (message: string, params?: unknown) => heard.push([name, message, params]) > 0,
    })
    sounds = new Sounds({
      manager: { list: () => [open], onDidChange: new Emitter<void>().event },
      workbench: {
        get settingValues() {
          return { sounds: isOn }
        },
      },
      surfaces: { showing: () => page('its page'), active: page('another page') },
    })
  })
  afterEach(() => sounds.dispose())

  const turn = async () => {
    void session.prompt([text('Hello')])
    void session.requests.requestPermission(permissionRequest(), new AbortController().signal)
    await settle()
    session.requests.answerPermission(session.requests.open[0]!.requestId, 'yes')
    await settle()
    agent.endTurn(agent.prompts.at(-1)!)
    await settle()
  }

  it("play on the session's page when it waits, and when its turn is over", async () => {
    await turn()
    assert.deepEqual(heard, [
      ['its page', 'view/sound', { kind: 'waiting' }],
      ['its page', 'view/sound', { kind: 'done' }],
    ])
  })

  it('are off unless the user turns them on, and not for a replay', async () => {
    isOn = false
    await turn()
    isOn = true
    session.beginLoad(session.setup)
    agent.say('s', { type: 'state', state: 'running' }, { type: 'state', state: 'idle' })
    await session.loaded()
    assert.deepEqual(heard, [])
  })
})
