import assert from 'node:assert/strict'
import { Session } from '../../../src/conversation/session.ts'
import { onAgentLocation } from '../../../src/sessions/agent-location.ts'
import { FakeAgent } from '../conversation/fake-agent.ts'
import { running, tool } from '../conversation/updates.ts'

function make(phase: 'ready' | 'loading' = 'ready') {
  const session = new Session({
    agent: new FakeAgent(),
    sessionId: 's',
    setup: { cwd: '/w', additionalDirectories: [], mcpServers: [] },
    phase,
  })
  const heard: string[] = []
  onAgentLocation(session, ({ path, line }) => heard.push(`${path}:${line ?? ''}`))
  session.receive(running)
  return { session, heard }
}

describe('where an agent works', () => {
  it('is heard once for each place, the newest of a tool call', () => {
    const { session, heard } = make()
    session.receive(tool('a', { locations: [{ path: '/w/a', line: 3 }] }))
    session.receive(tool('a', { status: 'in_progress' }))
    session.receive(tool('a', { locations: [{ path: '/w/a', line: 3 }, { path: '/w/b' }] }))
    session.receive(tool('b', { title: 'nowhere' }))
    session.receive(tool('c', { locations: [{ path: '/w/a', line: 3 }] }))
    assert.deepEqual(heard, ['/w/a:3', '/w/b:', '/w/a:3'])
  })

  it('is not heard of a replay', () => {
    const { session, heard } = make('loading')
    session.receive(tool('a', { locations: [{ path: '/w/a', line: 3 }] }))
    assert.deepEqual(heard, [])
  })
})
