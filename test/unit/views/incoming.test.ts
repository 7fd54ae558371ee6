import assert from 'node:assert/strict'
import fc from 'fast-check'
import * as incoming from '../../../src/views/bridge/incoming.ts'
import * as incomingCode from '../../../src/views/bridge/incoming-code.ts'

describe('what a webview may send', () => {
  const schemas = [...Object.entries(incoming), ...Object.entries(incomingCode)]

  it('is never taken for something else: any value is accepted or refused, none throws', () => {
    fc.assert(
      fc.property(fc.anything(), value => {
        for (const [, schema] of schemas) schema.safeParse(value)
      }),
    )
  })

  it('has no keys but those of its message', () => {
    const parsed = incoming.openFile.parse({ path: '/a', line: 3, extra: 'x' })
    assert.deepEqual(parsed, { path: '/a', line: 3 })
  })

  it('is refused when it is out of bounds', () => {
    assert.equal(incoming.openFile.safeParse({ path: '/a', line: 0 }).success, false)
    assert.equal(incoming.openFile.safeParse({ path: '' }).success, false)
    assert.equal(incoming.openFile.safeParse({ path: '/a', line: 1, column: 0 }).success, false)
    assert.equal(incomingCode.applyCode.safeParse({ text: '', language: '', from: 0 }).success, false)
    assert.equal(incomingCode.openText.safeParse({ text: 'x' }).success, false)
    assert.equal(incoming.fetchEntries.safeParse({ key: 'k', from: 5, to: 4 }).success, false)
    assert.equal(incoming.fetchEntries.safeParse({ key: 'k', from: 0, to: 2001 }).success, false)
    assert.equal(incoming.runCommand.safeParse({ command: 'x'.repeat(257) }).success, false)
    assert.equal(
      incoming.historyAct.safeParse({ action: 'format', agentId: 'a', sessionId: 's' }).success,
      false,
    )
  })

  it('answers a form with plain values alone', () => {
    const answer = (content: unknown) =>
      incoming.answerElicitation.safeParse({
        key: 'k',
        requestId: 'f1',
        answer: { action: 'accept', content },
      }).success
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
    assert.equal(incoming.answerElicitation.safeParse(odd).success, false)
  })

  it('takes the ids that agents really use: any text, the empty one too', () => {
    const answer = { key: 'k', requestId: 'p1', optionId: '' }
    assert.deepEqual(incoming.answerPermission.parse(answer), answer)
  })
})
