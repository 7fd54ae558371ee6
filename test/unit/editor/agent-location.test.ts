import assert from 'node:assert/strict'
import { Session } from '../../../src/conversation/session.ts'
import {
  chooseEditorGroup,
  type EditorGroup,
  IDLE_AFTER_MS,
  onAgentLocation,
} from '../../../src/editor/agent-location.ts'
import { FakeAgent } from '../conversation/fake-agent.ts'
import { chunk, running, tool } from '../conversation/updates.ts'

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

describe("the location of an agent's work", () => {
  it("is reported once per place, and is a tool call's latest", () => {
    const { session, heard } = make()
    session.receive(tool('a', { locations: [{ path: '/w/a', line: 3 }] }))
    session.receive(tool('a', { status: 'in_progress' }))
    session.receive(tool('a', { locations: [{ path: '/w/a', line: 3 }, { path: '/w/b' }] }))
    session.receive(tool('b', { title: 'nowhere' }))
    session.receive(tool('c', { locations: [{ path: '/w/a', line: 3 }] }))
    assert.deepEqual(heard, ['/w/a:3', '/w/b:', '/w/a:3'])
  })

  it("isn't reported if it's on another machine", () => {
    const { session, heard } = make()
    Object.assign(session.agent.capabilities, { isRemote: true, pathMappings: [] })
    session.receive(tool('a', { locations: [{ path: '/w/a' }] }))
    assert.deepEqual(heard, [])
  })

  it('is reported if it is in a folder that both machines have', () => {
    const { session, heard } = make()
    const pathMappings = [{ localRoot: '/w', remoteRoot: '/srv' }]
    Object.assign(session.agent.capabilities, { isRemote: true, pathMappings })
    session.receive(tool('a', { locations: [{ path: '/w/a' }] }))
    session.receive(tool('b', { locations: [{ path: '/elsewhere:/w/a' }] }))
    session.receive(tool('c', { locations: [{ path: '/etc/hosts' }] }))
    assert.deepEqual(heard, ['/w/a:'])
  })

  it('is reported again for a tool call of a later turn with the same id', () => {
    const { session, heard } = make()
    const locations = [{ path: '/w/a' }]
    for (const prompt of ['one', 'two']) {
      session.receive(chunk('user', prompt))
      const toolCall = { toolCallId: 'a', status: 'completed', locations }
      session.receive({ type: 'tool_call', toolCall, isNew: true })
    }
    assert.deepEqual(heard, ['/w/a:', '/w/a:'])
  })

  it("isn't reported in a replay", () => {
    const { session, heard } = make('loading')
    session.receive(tool('a', { locations: [{ path: '/w/a', line: 3 }] }))
    assert.deepEqual(heard, [])
  })
})

const now = 100_000
const group = (viewColumn: number, more: Partial<EditorGroup> = {}): EditorGroup => ({
  viewColumn,
  isActive: false,
  shows: 'text',
  isDirty: false,
  ...more,
})

describe('the editor group that follows an agent', () => {
  it("is the active group if the user isn't working in it", () => {
    assert.equal(chooseEditorGroup([group(1), group(2, { isActive: true })], now), 2)
    assert.equal(chooseEditorGroup([group(1, { isActive: true, shows: 'nothing' })], now), 1)
    assert.equal(chooseEditorGroup([group(1, { usedAt: now - IDLE_AFTER_MS })], now), 1)
  })

  it('is never a group in which the user types, or that has unsaved text', () => {
    assert.equal(chooseEditorGroup([group(1, { isActive: true, usedAt: now - 100 }), group(2)], now), 2)
    assert.equal(chooseEditorGroup([group(1, { isActive: true, isDirty: true }), group(2)], now), 2)
    assert.equal(chooseEditorGroup([group(1, { usedAt: now - 100 })], now), undefined)
  })

  it('is never a group with a conversation', () => {
    assert.equal(chooseEditorGroup([group(1, { isActive: true, shows: 'other' })], now), 'beside')
    assert.equal(chooseEditorGroup([group(1, { isActive: true, shows: 'other' }), group(2)], now), 2)
    assert.equal(
      chooseEditorGroup([group(1, { shows: 'other' }), group(2, { isDirty: true })], now),
      undefined,
    )
  })
})
