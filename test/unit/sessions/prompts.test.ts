import assert from 'node:assert/strict'
import { createSessionState, reduce } from '../../../src/conversation/reducer/reduce.ts'
import { lastAnswer, promptBefore, promptsBefore } from '../../../src/sessions/prompts.ts'

describe('the prompts of a conversation', () => {
  const state = createSessionState()
  const say = (role: 'user' | 'agent' | 'thought', text: string, messageId: string) =>
    reduce(state, { type: 'message_chunk', role, messageId, content: { type: 'text', text } }, 1)
  say('user', 'first', 'u1')
  say('agent', 'one', 'a1')
  say('user', 'second', 'u2')
  say('thought', 'hm', 't1')

  const textBefore = (entry?: string) => {
    const prompt = promptBefore(state, entry)
    const block = prompt?.blocks[0]
    return block?.type === 'text' ? block.text : undefined
  }

  it('can be found from the entries after them', () => {
    assert.equal(textBefore(state.entries[1]!.id), 'first')
    assert.equal(textBefore(state.entries[0]!.id), 'first')
    assert.equal(textBefore(state.entries[3]!.id), 'second')
    assert.equal(textBefore(), 'second')
    assert.equal(textBefore('nobody knows'), undefined)
    assert.equal(promptBefore(createSessionState()), undefined)
  })

  it('are returned page by page, nearest first', () => {
    const long = createSessionState()
    const write = (text: string, id: string) =>
      reduce(long, { type: 'message_chunk', role: 'user', messageId: id, content: { type: 'text', text } }, 1)
    for (let i = 0; i < 120; i++) write(i % 2 ? ' ' : `p${i}`, `m${i}`)
    const all: string[] = []
    let before = long.entries.length
    let rounds = 0
    while (before > 0) {
      const { prompts, from } = promptsBefore(long.entries, before)
      assert.ok(from < before && prompts.length <= 50)
      all.unshift(...prompts.map(([block]) => (block?.type === 'text' ? block.text : '')))
      before = from
      rounds++
    }
    assert.deepEqual(
      all,
      Array.from({ length: 60 }, (_, i) => `p${i * 2}`),
    )
    assert.equal(rounds, 2)
    assert.deepEqual(promptsBefore([], 7), { prompts: [], from: 0 })
    const picture = { type: 'image' as const, mimeType: 'image/png', data: 'A'.repeat(5_000_000) }
    for (const id of ['x', 'y']) {
      write('see', id)
      reduce(long, { type: 'message_chunk', role: 'user', messageId: id, content: picture }, 1)
    }
    assert.equal(promptsBefore(long.entries, long.entries.length).prompts.length, 1)
  })

  it('have responses', () => {
    const answer = lastAnswer(state)?.blocks[0]
    assert.equal(answer?.type === 'text' && answer.text, 'one')
    assert.equal(lastAnswer(createSessionState()), undefined)
  })
})
