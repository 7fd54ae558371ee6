import assert from 'node:assert/strict'
import { compactCommand, isContextFull, isContextFullAnswer } from '../../../src/conversation/context-full.ts'

describe('a full context', () => {
  it('is recognized by what agents and services say', () => {
    const said = [
      'Prompt is too long',
      'prompt is too long: 214000 tokens > 200000 maximum',
      'input length and `max_tokens` exceed context limit: 199000 + 8192 > 200000',
      "Codex ran out of room in the model's context window. Start a new thread.",
      'The input token count (1048577) exceeds the maximum number of tokens allowed (1048576).',
      "This model's maximum context length is 131072 tokens. However, you requested 140000 tokens.",
      'Your input exceeds the context window of this model. Please adjust your input and try again.',
      'the request exceeds the available context size, try increasing it',
      'Invalid request: Your request exceeded model token limit: 262144',
    ]
    for (const message of said) {
      assert.ok(isContextFull({ code: -32603, message }), message)
      assert.ok(isContextFull({ code: -32603, message: 'Internal error', detail: message }), message)
    }
    const detail = '{"error":{"code":"context_length_exceeded"}}'
    assert.ok(isContextFull({ code: 400, message: 'Bad request', detail }))
  })

  it('is not what other errors are about', () => {
    for (const message of [
      'Internal error',
      'Rate limit exceeded: 1000000 tokens per minute',
      'You exceeded your current quota',
      'The command line is too long.',
      'max_tokens must be at least 1',
      'The file name is too long',
    ])
      assert.ok(!isContextFull({ code: -32603, message }), message)
  })

  it('may be all that an agent answers', () => {
    const json = JSON.stringify({ error: { message: 'Too much.', code: 'context_length_exceeded' } })
    assert.ok(isContextFullAnswer(`${json}\n\n`))
    assert.ok(isContextFullAnswer("Codex ran out of room in the model's context window. Start a new thread."))
    for (const text of [
      `The service said ${json}.`,
      'The prompt is too long, so I would split it.',
      '{"error": "not found"}',
    ])
      assert.ok(!isContextFullAnswer(text), text)
  })

  it("is made shorter with the agent's command, if there is one", () => {
    assert.equal(compactCommand([{ name: 'init' }, { name: 'compact' }]), 'compact')
    assert.equal(compactCommand([{ name: 'compress' }]), 'compress')
    assert.equal(compactCommand([{ name: 'compact-mode' }]), undefined)
  })
})
