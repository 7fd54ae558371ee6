import assert from 'node:assert/strict'
import { AgentClosedError, AgentRequestError } from '../../../src/acp/agent.ts'
import {
  errorDetail,
  InvalidResponseError,
  NotSupportedError,
  RpcError,
  toAgentError,
} from '../../../src/acp/errors.ts'
import { readError } from '../../../src/acp/wire/state.ts'
import { CancelledError } from '../../../src/common/errors.ts'

describe('an error from an agent', () => {
  const details: Array<[string, unknown, string | undefined]> = [
    ['a string', 'unknown session id', 'unknown session id'],
    ['details', { details: 'Directory does not exist: /x' }, 'Directory does not exist: /x'],
    ['a message in an object', { error: { message: 'quota used up' } }, 'quota used up'],
    [
      'a list of problems',
      [{ message: 'expected string', path: ['cwd'] }, { message: 'expected array' }],
      'expected string\nexpected array',
    ],
    ['an object without words', { sessionId: 'nope' }, '{"sessionId":"nope"}'],
    ['nothing', undefined, undefined],
    ['null', null, undefined],
    ['an empty object', {}, undefined],
    ['a number', 5, undefined],
    ['an empty list', [], undefined],
  ]
  for (const [what, data, expected] of details) {
    it(`includes the details of its data: ${what}`, () => assert.equal(errorDetail(data), expected))
  }

  it('says what a service answered, not its JSON, which is in the details', () => {
    const json = '{"error":{"message":"Too many tokens.","code":"context_length_exceeded"}}'
    const error = new RpcError(-32603, json)
    assert.deepEqual([error.message, error.detail], ['Too many tokens.', json])
    for (const other of ['{"code":1}', '{broken', '{}']) assert.equal(new RpcError(1, other).message, other)
  })

  it('shortens very long details', () => {
    assert.equal(errorDetail('x'.repeat(10_000))?.length, 4001)
  })

  it('has a message even if the agent sent none', () => {
    assert.equal(new RpcError(-32603, '', 'disk full').message, 'disk full')
    assert.equal(new RpcError(-32603, '', 'disk full').detail, undefined)
    assert.equal(new RpcError(1001, '').message, 'The agent answered error 1001.')
  })
})

describe('toAgentError', () => {
  const kinds: Array<[string, string, RpcError, AgentRequestError['kind']]> = [
    ['sign-in needed', 'session/new', new RpcError(-32000, 'Authentication required'), 'auth-required'],
    ['sign-in needed', 'session/prompt', new RpcError(-32000, 'x'), 'auth-required'],
    ['no resource', 'session/load', new RpcError(-32002, 'Session nope not found'), 'not-found'],
    ['words', 'session/load', new RpcError(-32602, 'Session not found: nope'), 'not-found'],
    ['a name of a parameter', 'session/load', new RpcError(-32602, 'Unknown sessionId: s1'), 'not-found'],
    ['another such name', 'session/load', new RpcError(-32603, 'invalid session_id'), 'not-found'],
    [
      'a conversation',
      'session/resume',
      new RpcError(-32603, 'Internal error', 'No conversation found with session ID: s1'),
      'not-found',
    ],
    [
      'words in the data',
      'session/load',
      new RpcError(-32602, 'Invalid params', 'unknown session id'),
      'not-found',
    ],
    [
      'other words in the data',
      'session/resume',
      new RpcError(-32603, 'Internal error', { details: 'No previous sessions found for this project.' }),
      'not-found',
    ],
    [
      'an id of the wrong form',
      'session/load',
      new RpcError(-32603, 'Internal error', { details: 'invalid session id: invalid character' }),
      'not-found',
    ],
    ['no such words', 'session/load', new RpcError(-32603, 'Internal error', 'disk full'), 'other'],
    ['another code', 'session/prompt', new RpcError(500, 'terminated'), 'other'],
    ['cancelled', 'session/prompt', new RpcError(-32800, 'Cancelled'), 'cancelled'],
    ['no method', 'logout', new RpcError(-32601, '"Method not found": logout'), 'unsupported'],
  ]
  for (const [what, method, error, kind] of kinds) {
    it(`maps ${error.code} of ${method} to ${kind} (${what})`, () => {
      const made = toAgentError(method, error) as AgentRequestError
      assert.ok(made instanceof AgentRequestError)
      assert.deepEqual(
        [made.kind, made.method, made.code, made.message, made.detail],
        [kind, method, error.code, error.message, error.detail],
      )
    })
  }

  it("maps Parley's own errors", () => {
    const kind = (error: unknown) => (toAgentError('m', error) as AgentRequestError).kind
    assert.equal(kind(new CancelledError()), 'cancelled')
    assert.equal(kind(new NotSupportedError('no')), 'unsupported')
    assert.equal(kind(new InvalidResponseError('no')), 'invalid-response')
    assert.equal(kind(new TypeError('x')), 'other')
    assert.equal(kind('thrown text'), 'other')
  })

  it('keeps an error that is already mapped', () => {
    const closed = new AgentClosedError({ reason: 'exited', stderrTail: '' })
    assert.equal(toAgentError('m', closed), closed)
    const made = toAgentError('m', new RpcError(1, 'x'))
    assert.equal(toAgentError('n', made), made)
  })
})

describe('the message of an error that only has a generic text', () => {
  for (const [data, message] of [
    [{ details: 'The key is not valid.' }, 'The key is not valid.'],
    [{ message: 'The key is not valid.' }, 'The key is not valid.'],
    ['The key is not valid.', 'The key is not valid.'],
    [[{ error: { message: 'One' } }, { reason: 'Two' }], 'One\nTwo'],
  ] as const) {
    it(`comes from its data: ${JSON.stringify(data)} (quirk 28)`, () => {
      const error = new RpcError(-32603, 'Internal error', data)
      assert.deepEqual([error.message, error.detail], [message, undefined])
      assert.deepEqual(readError({ code: -32603, message: 'Internal error', data }), {
        code: -32603,
        message,
      })
    })
  }

  it('is kept if the data has no text or the message is specific', () => {
    const tree = new RpcError(-32603, 'Internal error', { code: 7 })
    assert.deepEqual([tree.message, tree.detail], ['Internal error', '{"code":7}'])
    const said = new RpcError(401, 'Unauthorized', { details: 'no key' })
    assert.deepEqual([said.message, said.detail], ['Unauthorized', 'no key'])
  })
})
