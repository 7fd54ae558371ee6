import assert from 'node:assert/strict'
import { conversationPart, Envelope } from '../../../src/agent-host/envelope.ts'

describe('what the agent host knows of the protocol', () => {
  const bytes = (value: unknown) => Buffer.from(typeof value === 'string' ? value : JSON.stringify(value))
  const create = () => {
    const envelope = new Envelope()
    return {
      envelope,
      sends: (value: unknown) => envelope.sent(bytes(value)),
      receives: (value: unknown) => envelope.received(bytes(value), 1),
    }
  }

  it('keeps the exchange of initialize, and the last result of each session until it is closed', () => {
    const { envelope, sends, receives } = create()
    sends({ id: 0, method: 'initialize', params: { protocolVersion: 1 } })
    assert.equal(envelope.initialize, undefined)
    receives({ id: 0, result: { protocolVersion: 1 } })
    assert.deepEqual(envelope.initialize, { params: { protocolVersion: 1 }, result: { protocolVersion: 1 } })

    sends({ id: 1, method: 'session/new', params: { cwd: '/' } })
    sends({ id: 2, method: 'session/load', params: { sessionId: 'b' } })
    sends({ id: 3, method: 'session/fork', params: { sessionId: 'b' } })
    receives({ id: 2, result: { modes: 'loaded' } })
    receives({ id: 1, result: { sessionId: 'a' } })
    receives({ id: 3, result: { sessionId: 'c' } })
    sends({ id: 4, method: 'session/resume', params: { sessionId: 'b' } })
    receives({ id: 4, error: { code: 1, message: 'no' } })
    assert.deepEqual(envelope.sessions, [
      { sessionId: 'b', method: 'session/load', result: { modes: 'loaded' } },
      { sessionId: 'a', method: 'session/new', result: { sessionId: 'a' } },
      { sessionId: 'c', method: 'session/fork', result: { sessionId: 'c' } },
    ])
    sends({ id: 5, method: 'session/close', params: { sessionId: 'a' } })
    receives({ id: 5, result: {} })
    assert.deepEqual(
      envelope.sessions.map(({ sessionId }) => sessionId),
      ['b', 'c'],
    )
    assert.equal(envelope.lastId, 5)
  })

  it('keeps the requests that have no response, in both directions, with ids that are equal only in type', () => {
    const { envelope, sends, receives } = create()
    const params = { sessionId: 'a' }
    sends({ id: 7, method: 'session/prompt', params })
    receives({ id: 1, method: 'session/request_permission', params })
    receives({ id: '1', method: 'fs/read_text_file', params })
    sends({ id: '1', result: {} })
    receives({ id: 99, result: {} })
    assert.deepEqual(envelope.toAgent, [{ id: 7, method: 'session/prompt', params }])
    assert.deepEqual(envelope.toWindow, [{ id: 1, method: 'session/request_permission', params }])
    receives({ id: 7, result: { stopReason: 'end_turn' } })
    sends({ id: 1, error: { code: -32800, message: 'withdrawn' } })
    envelope.confirmed(1)
    assert.deepEqual([...envelope.toAgent, ...envelope.toWindow], [])
  })

  it('tells which frames belong to a conversation', () => {
    const { sends, receives } = create()
    sends({ id: 0, method: 'session/list', params: {} })
    sends({ id: 1, method: 'session/prompt', params: {} })
    assert.equal(receives({ id: 0, result: { sessions: [] } }), false)
    assert.equal(receives({ method: 'session/update', params: {} }), true)
    assert.equal(receives({ id: 5, method: 'terminal/create', params: {} }), true)
    assert.equal(receives({ id: 1, result: {} }), true)
    assert.equal(receives({ id: 1, result: {} }), false)
    assert.equal(receives([{ id: 9, result: {} }]), true)
    for (const noise of ['Loading…', '12', 'null', '{"id":', '']) assert.equal(receives(noise), false, noise)
  })

  it('reads a message after terminal escape codes, as a window does', () => {
    const { envelope, receives } = create()
    assert.equal(receives('\u001b[2K\u001b[1G{"id":4,"method":"fs/read_text_file"}\r\n'), true)
    assert.equal(envelope.toWindow[0]?.id, 4)
  })

  it('understands the messages of a batch', () => {
    const { envelope, sends, receives } = create()
    sends([{ id: 3, method: 'session/prompt', params: {} }])
    receives([
      { id: 'p', method: 'session/request_permission' },
      { id: 3, result: {} },
    ])
    envelope.confirmed(1)
    assert.deepEqual(envelope.toAgent, [])
    assert.deepEqual(
      envelope.toWindow.map(({ id }) => id),
      ['p'],
    )
  })

  it('keeps a prompt with the number of its answer until a window has stored that', () => {
    const { envelope, sends } = create()
    sends({ id: 4, method: 'session/prompt', params: { sessionId: 'a' } })
    envelope.received(bytes({ id: 4, result: { stopReason: 'end_turn' } }), 9)
    const answered = { id: 4, method: 'session/prompt', params: { sessionId: 'a' }, answeredBy: 9 }
    envelope.confirmed(8)
    assert.deepEqual(envelope.toAgent, [answered])
    envelope.confirmed(9)
    assert.deepEqual(envelope.toAgent, [])
  })

  it('keeps what a window noted about a session until it is opened again or closed', () => {
    const { envelope, sends, receives } = create()
    envelope.note('a', { isPaused: true })
    envelope.note('b', {})
    sends({ id: 1, method: 'session/load', params: { sessionId: 'a' } })
    receives({ id: 1, result: null })
    assert.deepEqual(Object.keys(envelope.notes), ['b'])
    sends({ id: 2, method: 'session/close', params: { sessionId: 'b' } })
    receives({ id: 2, result: {} })
    assert.deepEqual(envelope.notes, {})
  })

  it('stores what the next window needs of an agent that is gone, without what is secret or no answer reaches', () => {
    const { envelope, sends, receives } = create()
    sends({ id: 0, method: 'initialize', params: {} })
    receives({ id: 0, result: { protocolVersion: 1 } })
    sends({ id: 1, method: 'session/new', params: { mcpServers: [{ env: 'secret' }] } })
    receives({ id: 1, result: { sessionId: 'a' } })
    envelope.note('a', { commands: [], server: { port: 5000, token: 'secret' } })
    sends({ id: 2, method: 'providers/set', params: { headers: 'secret' } })
    sends({ id: 3, method: 'session/prompt', params: { sessionId: 'a', prompt: 'long' } })
    receives({
      method: 'session/update',
      params: { sessionId: 'b', update: { sessionUpdate: 'state_update' } },
    })
    receives({ id: 'x', method: 'fs/read_text_file' })
    const { changes, stored } = envelope
    assert.ok(!JSON.stringify(stored).includes('secret'))
    const restored = Envelope.restore(JSON.parse(JSON.stringify(stored)))
    assert.deepEqual(restored.stored, stored)
    assert.deepEqual(restored.toAgent, [{ id: 3, method: 'session/prompt', params: { sessionId: 'a' } }])
    assert.deepEqual(restored.toWindow, [])
    assert.deepEqual(restored.notes, { a: { commands: [] } })
    assert.equal(restored.isIdle, false)
    receives({ method: 'session/update', params: {} })
    assert.equal(envelope.changes, changes)
    receives({ id: 3, result: {} })
    assert.notEqual(envelope.changes, changes)
  })

  it('has no turn while an agent only listens for changes of the tools', () => {
    const { envelope, sends, receives } = create()
    const asks = (id: number, method: string) =>
      receives({ id, method: 'mcp/message', params: { serverId: 'x', requestId: `${id}`, method } })
    asks(1, 'subscriptions/listen')
    assert.equal(envelope.isIdle, true)
    asks(2, 'tools/call')
    assert.equal(envelope.isIdle, false)
    sends({ id: 2, result: { result: {} } })
    assert.equal(envelope.isIdle, true)
    assert.deepEqual(
      envelope.toWindow.map(({ id }) => id),
      [1],
    )
  })

  it('finds what an agent said in a frame, without its requests', () => {
    const said = (value: unknown) => conversationPart(bytes(value)).toString()
    const update = { method: 'session/update', params: { id: 1 } }
    assert.equal(said(update), JSON.stringify(update))
    assert.equal(said({ id: 1, result: {} }), '{"id":1,"result":{}}')
    assert.equal(said({ id: 1, method: 'fs/write_text_file', params: {} }), '\n')
    assert.equal(said([update, { id: 1, method: 'x' }]), `${JSON.stringify([update])}\n`)
    assert.equal(said('an "id"'), 'an "id"')
  })
})
