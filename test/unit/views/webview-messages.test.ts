import assert from 'node:assert/strict'
import fc from 'fast-check'
import { agentsMessages } from '../../../src/views/bridge/agents-messages.ts'
import { pageMessages } from '../../../src/views/bridge/contract.ts'
import { conversationMessages } from '../../../src/views/bridge/conversation-messages.ts'
import { historyMessages } from '../../../src/views/bridge/history-messages.ts'

const contracts = [pageMessages, conversationMessages, historyMessages, agentsMessages]
const messages = { ...pageMessages, ...conversationMessages, ...historyMessages, ...agentsMessages }
const names = Object.keys(messages) as Array<keyof typeof messages>
const fits = (name: keyof typeof messages, value: unknown) => {
  const message = messages[name]
  return ('answer' in message ? message.params : message).safeParse(value).success
}

describe('a message from a webview', () => {
  it('is accepted or rejected for any value, without an exception', () => {
    fc.assert(
      fc.property(fc.anything(), value => {
        for (const name of names) fits(name, value)
      }),
    )
  })

  it('has a unique name, since a webview can use several contracts', () => {
    assert.equal(names.length, contracts.flatMap(contract => Object.keys(contract)).length)
  })

  it("has only the message's own keys", () => {
    const parsed = conversationMessages['conversation/file'].parse({ path: '/a', line: 3, extra: 'x' })
    assert.deepEqual(parsed, { path: '/a', line: 3 })
  })

  it('is rejected if it exceeds a limit', () => {
    assert.equal(fits('conversation/file', { path: '/a', line: 0 }), false)
    assert.equal(fits('conversation/file', { path: '' }), false)
    assert.equal(fits('conversation/file', { path: '/a', line: 1, column: 0 }), false)
    assert.equal(fits('conversation/applyCode', { text: '', language: '', from: 0 }), false)
    assert.equal(fits('conversation/openText', { text: 'x' }), false)
    assert.equal(fits('conversation/entries', { key: 'k', from: 5, to: 4 }), false)
    assert.equal(fits('conversation/entries', { key: 'k', from: 0, to: 2001 }), false)
    assert.equal(fits('conversation/command', { command: 'x'.repeat(257) }), false)
    assert.equal(fits('history/act', { action: 'format', agentId: 'a', sessionId: 's' }), false)
    assert.equal(fits('history/act', { action: 'load', agentId: 'a', sessionId: 's' }), true)
    assert.equal(fits('manageAgents/act', { action: 'install', key: 'registry/other' }), true)
    for (const wrong of [{ action: 'run', key: 'x' }, { action: 'install' }, { action: 'install', key: '' }])
      assert.equal(fits('manageAgents/act', wrong), false)
  })

  it('answers a form with plain values only', () => {
    const answer = (content: unknown) =>
      fits('conversation/elicitation', {
        key: 'k',
        requestId: 'f1',
        answer: { action: 'accept', content },
      })
    assert.equal(answer({ a: 'x', b: 1, c: true, d: ['y'] }), true)
    assert.equal(answer(undefined), true)
    for (const content of [
      { a: {} },
      { a: [1] },
      { a: null },
      { a: Number.NaN },
      ['x'],
      'x',
      { a: 'x'.repeat(2 ** 20 + 1) },
    ])
      assert.equal(answer(content), false)
    const odd = { key: 'k', requestId: 'f1', answer: { action: 'shrug' } }
    assert.equal(fits('conversation/elicitation', odd), false)
  })

  it('accepts the ids that agents use: any text, also an empty one', () => {
    const answer = { key: 'k', requestId: 'p1', optionId: '' }
    assert.deepEqual(conversationMessages['conversation/permission'].parse(answer), answer)
  })
})
