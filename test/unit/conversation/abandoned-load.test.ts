import { strict as assert } from 'node:assert'
import { AgentSessions } from '../../../src/conversation/agent-sessions.ts'
import { memoryAgent } from '../../support/memory-agent.ts'
import { until } from '../../support/until.ts'
import { summarize, text } from './updates.ts'

const setup = { cwd: '/w', additionalDirectories: [], mcpServers: [] }
const ABLE = {
  agentCapabilities: { loadSession: true, sessionCapabilities: { resume: {}, close: {} } },
}
const replayed = (said: string, sessionUpdate = 'user_message_chunk') => ({
  method: 'session/update',
  params: { sessionId: 's', update: { sessionUpdate, content: { type: 'text', text: said } } },
})

describe('a canceled load', () => {
  function make(answer: object = ABLE) {
    const wire = memoryAgent(answer)
    const sessions = new AgentSessions(wire.agent)
    const asked = (method: string) => wire.pipe.sent.filter(frame => frame.method === method)
    const replay = (...said: string[]) =>
      wire.pipe.send(
        ...said.flatMap(words => [replayed(words), replayed(`re ${words}`, 'agent_message_chunk')]),
      )
    return { ...wire, sessions, asked, replay }
  }
  const entries = (...said: string[]) => said.flatMap(words => [`user: ${words}`, `agent: re ${words}`])

  it("doesn't mix its replay with that of the next load, however the agent handles the cancellation", async () => {
    const { pipe, sessions, asked, replay } = make()
    const abort = new AbortController()
    const first = sessions.loadSession('s', setup, abort.signal)
    await pipe.waitForMethod('session/load')
    replay('1', '2')
    await until(() => first.session.state.entries.length === 4)
    abort.abort()
    await assert.rejects(first.opened, { kind: 'cancelled' })

    const second = sessions.loadSession('s', setup)
    replay('3', '4')
    pipe.send({ id: asked('session/load')[0]!.id, result: {} })
    await until(() => asked('session/load').length === 2, 'the second load')
    assert.deepEqual(summarize(second.session.state), [])
    replay('1', '2', '3', '4')
    pipe.send({ id: asked('session/load')[1]!.id, result: {} })
    await second.opened
    assert.deepEqual(summarize(second.session.state), entries('1', '2', '3', '4'))
  })

  it('keeps the open conversation and delays its next prompt until the load ends', async () => {
    const { pipe, sessions, asked, replay } = make()
    const opening = sessions.loadSession('s', setup)
    await pipe.waitForMethod('session/load')
    replay('1')
    pipe.send({ id: asked('session/load')[0]!.id, result: {} })
    await opening.opened
    const abort = new AbortController()
    const again = sessions.loadSession('s', setup, abort.signal)
    await until(() => asked('session/load').length === 2)
    abort.abort()
    await assert.rejects(again.opened, { kind: 'cancelled' })
    replay('1')
    void again.session.prompt([text('and now')])
    replay('2')
    pipe.send({ id: asked('session/load')[1]!.id, result: {} })
    await pipe.waitForMethod('session/prompt')
    pipe.send(replayed('done', 'agent_message_chunk'), {
      id: asked('session/prompt')[0]!.id,
      result: { stopReason: 'end_turn' },
    })
    await until(() => again.session.state.activity === 'idle')
    assert.deepEqual(summarize(again.session.state), [...entries('1'), 'user: and now', 'agent: done'])
  })

  it('waits for the end of a replay that arrives after the response', async () => {
    const { pipe, sessions, asked, replay } = make()
    const abort = new AbortController()
    const first = sessions.loadSession('s', setup, abort.signal)
    await pipe.waitForMethod('session/load')
    abort.abort()
    await assert.rejects(first.opened, { kind: 'cancelled' })
    const second = sessions.loadSession('s', setup)
    pipe.send({ id: asked('session/load')[0]!.id, result: {} })
    replay('1', '2')
    await until(() => asked('session/load').length === 2, 'the second load')
    assert.deepEqual(summarize(second.session.state), [])
    pipe.send({ id: asked('session/load')[1]!.id, result: {} })
    replay('1', '2', '3')
    await second.opened
    await until(() => JSON.stringify(second.session.state.entries).includes('re 3'))
    assert.deepEqual(summarize(second.session.state), entries('1', '2', '3'))
  })

  it("is never sent if it's canceled while it waits for an earlier one", async () => {
    const { pipe, sessions, asked, replay } = make()
    const aborts = [new AbortController(), new AbortController()]
    const first = sessions.loadSession('s', setup, aborts[0]!.signal)
    await pipe.waitForMethod('session/load')
    aborts[0]!.abort()
    await assert.rejects(first.opened, { kind: 'cancelled' })
    const second = sessions.loadSession('s', setup, aborts[1]!.signal)
    aborts[1]!.abort()
    await assert.rejects(second.opened, { kind: 'cancelled' })
    const third = sessions.resumeSession('s', setup)
    replay('1')
    pipe.send({ id: asked('session/load')[0]!.id, error: { code: -32800, message: 'cancelled' } })
    pipe.send({ id: (await pipe.waitForMethod('session/resume')).id, result: {} })
    await third.opened
    assert.equal(asked('session/load').length, 1)
    assert.deepEqual(summarize(third.session.state), [])
  })

  it('still reports properties of the session that the agent sends only once', async () => {
    const { pipe, sessions, asked } = make()
    const abort = new AbortController()
    const first = sessions.loadSession('s', setup, abort.signal)
    await pipe.waitForMethod('session/load')
    abort.abort()
    await assert.rejects(first.opened, { kind: 'cancelled' })
    const second = sessions.loadSession('s', setup)
    const availableCommands = [{ name: 'init', description: 'x' }]
    const sessionUpdate = 'available_commands_update'
    pipe.send(
      { method: 'session/update', params: { sessionId: 's', update: { sessionUpdate, availableCommands } } },
      { id: asked('session/load')[0]!.id, error: { code: -32800, message: 'cancelled' } },
    )
    await until(() => asked('session/load').length === 2)
    pipe.send({ id: asked('session/load')[1]!.id, result: null })
    await second.opened
    assert.deepEqual(
      second.session.state.commands.map(({ name }) => name),
      ['init'],
    )
    const third = sessions.loadSession('s', setup)
    await until(() => asked('session/load').length === 3)
    pipe.send({ id: asked('session/load')[2]!.id, result: {} })
    await third.opened
    assert.deepEqual(
      third.session.state.commands.map(({ name }) => name),
      ['init'],
      'the agent listed them once',
    )
  })
})
