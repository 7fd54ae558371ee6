import assert from 'node:assert/strict'
import { SchemaCheck } from '../../support/schema-check.ts'

const frame = (direction: 'send' | 'receive', message: object) => ({
  at: 0,
  direction,
  message: { jsonrpc: '2.0', ...message },
})

describe('SchemaCheck', () => {
  it('accepts messages that match the schema', () => {
    const check = new SchemaCheck({ directions: ['send', 'receive'] })
    check.see(
      frame('send', { id: 0, method: 'initialize', params: { protocolVersion: 1, clientInfo: undefined } }),
    )
    check.see(frame('receive', { id: 0, result: { protocolVersion: 1 } }))
    check.see(frame('send', { method: 'session/cancel', params: { sessionId: 's' } }))
    check.see(frame('send', { method: '$/cancel_request', params: { requestId: 1 } }))
    check.see(
      frame('receive', { id: 'x', method: 'fs/read_text_file', params: { sessionId: 's', path: '/a' } }),
    )
    check.see(frame('send', { id: 'x', result: { content: '' } }))
    check.see(
      frame('receive', { id: 'y', method: 'terminal/kill', params: { sessionId: 's', terminalId: 't' } }),
    )
    check.see(frame('send', { id: 'y', error: { code: -32603, message: 'no' } }))
    check.assertClean()
    assert.deepEqual(
      [...check.checked.keys()],
      [
        'InitializeRequest',
        'InitializeResponse',
        'CancelNotification',
        'CancelRequestNotification',
        'ReadTextFileRequest',
        'ReadTextFileResponse',
        'KillTerminalRequest',
        'Error',
      ],
    )
  })

  const bad: Array<[string, object[]]> = [
    [
      'a request without what it needs',
      [frame('send', { id: 0, method: 'session/new', params: { cwd: '/w' } })],
    ],
    ['a member of the wrong type', [frame('send', { method: 'session/cancel', params: { sessionId: 5 } })]],
    ['a method that there is not', [frame('send', { id: 0, method: 'session/no_such', params: {} })]],
    ['a request sent as a notification', [frame('send', { method: 'session/prompt', params: {} })]],
    ['a method of the other side', [frame('send', { id: 0, method: 'fs/read_text_file', params: {} })]],
    ['an answer to nothing', [frame('send', { id: 9, result: {} })]],
    [
      'an answer that is not what the method answers',
      [
        frame('receive', { id: 1, method: 'fs/read_text_file', params: {} }),
        frame('send', { id: 1, result: { text: '' } }),
      ],
    ],
    [
      'an error without a code',
      [
        frame('receive', { id: 1, method: 'x', params: {} }),
        frame('send', { id: 1, error: { message: 'no' } }),
      ],
    ],
    [
      'no version of JSON-RPC',
      [{ at: 0, direction: 'send', message: { method: 'session/cancel', params: { sessionId: 's' } } }],
    ],
  ]
  for (const [what, frames] of bad) {
    it(`reports ${what}`, () => {
      const check = new SchemaCheck()
      for (const one of frames) check.see(one as Parameters<SchemaCheck['see']>[0])
      assert.equal(check.problems.length, 1)
      assert.throws(() => check.assertClean(), /Not as the schema has it/)
    })
  }

  it('checks v2 and unstable methods', () => {
    const v2 = new SchemaCheck({ version: 2 })
    v2.see(frame('send', { id: 0, method: 'auth/login', params: { methodId: 'x' } }))
    v2.assertClean()
    const stable = new SchemaCheck()
    stable.see(
      frame('send', { id: 0, method: 'session/fork', params: { sessionId: 's', cwd: '/w', mcpServers: [] } }),
    )
    assert.equal(stable.problems.length, 1)
    const unstable = new SchemaCheck({ unstable: true })
    unstable.see(
      frame('send', { id: 0, method: 'session/fork', params: { sessionId: 's', cwd: '/w', mcpServers: [] } }),
    )
    unstable.assertClean()
  })

  it('accepts extensions and requested exceptions', () => {
    const check = new SchemaCheck({ alsoAllowed: ['session/set_model'] })
    check.see(frame('send', { id: 0, method: '_own/thing', params: {} }))
    check.see(frame('send', { id: 1, method: 'session/set_model', params: {} }))
    check.assertClean()
  })
})
