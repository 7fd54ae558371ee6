import assert from 'node:assert/strict'
import { readBlock } from '../../../../src/acp/wire/content.ts'
import { appendBlock } from '../../../../src/conversation/blocks.ts'

describe('the audience of content', () => {
  const text = (annotations?: unknown) => readBlock({ type: 'text', text: 'x', annotations })!

  it('is only the model if it contains the assistant without the user', () => {
    assert.deepEqual(text({ audience: ['assistant'] }), { type: 'text', text: 'x', agentOnly: true })
    for (const annotations of [
      undefined,
      null,
      {},
      { audience: [] },
      { audience: ['user'] },
      { audience: ['user', 'assistant'] },
      { audience: 'assistant' },
    ])
      assert.deepEqual(text(annotations), { type: 'text', text: 'x' })
  })

  it('separates content for the model from content for the user', () => {
    const blocks = [text()]
    assert.equal(appendBlock(blocks, text()), 0)
    assert.equal(appendBlock(blocks, text({ audience: ['assistant'] })), -1)
    assert.equal(appendBlock(blocks, text({ audience: ['assistant'] })), 1)
    assert.equal(appendBlock(blocks, text()), -1)
    assert.deepEqual(
      blocks.map(block => block.type === 'text' && block.text),
      ['xx', 'xx', 'x'],
    )
  })
})
