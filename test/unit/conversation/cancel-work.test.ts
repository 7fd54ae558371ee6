import { strict as assert } from 'node:assert'
import { cancelWork } from '../../../src/conversation/cancel-work.ts'
import { Session } from '../../../src/conversation/session.ts'
import { FakeAgent } from './fake-agent.ts'
import { tool } from './updates.ts'

describe('Session: stopping a single tool call or terminal', () => {
  it('asks the agent only if it can be stopped', async () => {
    const asked: string[] = []
    const agent = Object.assign(new FakeAgent(), {
      cancelToolCall: async (sessionId: string, id: string) => void asked.push(`${sessionId} tool ${id}`),
      cancelTerminal: async (sessionId: string, id: string) => void asked.push(`${sessionId} terminal ${id}`),
    })
    const setup = { cwd: '/w', additionalDirectories: [], mcpServers: [] }
    const session = new Session({ agent, sessionId: 's', setup, phase: 'ready' })
    session.receive(tool('t1', { canCancel: true }))
    session.receive(tool('t2'))
    session.receive({ type: 'terminal', terminal: { terminalId: 'x1', canCancel: true } })
    session.receive({ type: 'terminal', terminal: { terminalId: 'x2' } })
    for (const toolCallId of ['t1', 't2', 'none']) await cancelWork(session, { toolCallId })
    for (const terminalId of ['x1', 'x2', 'none']) await cancelWork(session, { terminalId })
    assert.deepEqual(asked, ['s tool t1', 's terminal x1'])
    for (const [id, canCancel] of [
      ['a1', true],
      ['a2', false],
    ] as const)
      session.receive({ type: 'subagent', subagent: { sessionId: id, canCancel } })
    asked.length = 0
    session.receive({ type: 'terminal', terminal: { terminalId: 'y1', canCancel: true } }, 'a1')
    await cancelWork(session, { terminalId: 'y1' })
    assert.deepEqual(asked, ['a1 terminal y1'])
    // an id that the session and a subagent use
    session.receive(tool('t1', { canCancel: true }), 'a1')
    await cancelWork(session, { toolCallId: 't1', within: 'a1' })
    await cancelWork(session, { toolCallId: 't1', within: 'a2' })
    assert.deepEqual(asked, ['a1 terminal y1', 'a1 tool t1'])
    for (const subagentId of ['a1', 'a2', 'none']) await cancelWork(session, { subagentId })
    assert.deepEqual(agent.cancels, ['a1'])
  })
})
