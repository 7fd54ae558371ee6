import assert from 'node:assert/strict'
import fc from 'fast-check'
import { conversationMessages } from '../../../src/views/bridge/conversation-messages.ts'
import { historyAct } from '../../../src/views/bridge/incoming.ts'

const fits = (name: keyof typeof conversationMessages, value: unknown) => {
  const message = conversationMessages[name]
  return ('answer' in message ? message.params : message).safeParse(value).success
}

describe('what a webview may send', () => {
  it('is never taken for something else: any value is accepted or refused, none throws', () => {
    fc.assert(
      fc.property(fc.anything(), value => {
        for (const name of Object.keys(conversationMessages) as Array<keyof typeof conversationMessages>)
          fits(name, value)
      }),
    )
  })

  it('has no keys but those of its message', () => {
    const parsed = conversationMessages['conversation/file'].parse({ path: '/a', line: 3, extra: 'x' })
    assert.deepEqual(parsed, { path: '/a', line: 3 })
  })

  it('is refused when it is out of bounds', () => {
    assert.equal(fits('conversation/file', { path: '/a', line: 0 }), false)
    assert.equal(fits('conversation/file', { path: '' }), false)
    assert.equal(fits('conversation/file', { path: '/a', line: 1, column: 0 }), false)
    assert.equal(fits('conversation/applyCode', { text: '', language: '', from: 0 }), false)
    assert.equal(fits('conversation/openText', { text: 'x' }), false)
    assert.equal(fits('conversation/entries', { key: 'k', from: 5, to: 4 }), false)
    assert.equal(fits('conversation/entries', { key: 'k', from: 0, to: 2001 }), false)
    assert.equal(fits('conversation/command', { command: 'x'.repeat(257) }), false)
    assert.equal(historyAct.safeParse({ action: 'format', agentId: 'a', sessionId: 's' }).success, false)
  })

  it('answers a form with plain values alone', () => {
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

  it('takes the ids that agents really use: any text, the empty one too', () => {
    const answer = { key: 'k', requestId: 'p1', optionId: '' }
    assert.deepEqual(conversationMessages['conversation/permission'].parse(answer), answer)
  })
})
