import assert from 'node:assert/strict'
import { conversationAttachment } from '../../../src/app/conversation/conversation-context.ts'
import { MAX_CONVERSATION_CONTEXT } from '../../../src/common/limits.ts'
import { createSessionState, reduce } from '../../../src/conversation/reducer/reduce.ts'
import type { OpenSession } from '../../../src/sessions/open-session.ts'
import { chunk } from '../conversation/updates.ts'

describe('a conversation as context for another agent', () => {
  const labelOf = (answers: string[]) => {
    const state = createSessionState()
    for (const answer of answers) {
      reduce(state, chunk('user', 'ask'), 1)
      reduce(state, chunk('agent', answer), 1)
    }
    const open = { session: { state, conversation: {} }, agentName: 'A', plan: { setup: { cwd: '/w' } } }
    return conversationAttachment(open as unknown as OpenSession, true).detail
  }

  it('says what of it was left out', () => {
    const long = 'x'.repeat(MAX_CONVERSATION_CONTEXT)
    assert.equal(labelOf(['short', 'short']), 'Conversation with A')
    assert.equal(labelOf([long, 'short']), 'Conversation with A (last 1 of 2 turns)')
    assert.equal(labelOf(['short', long]), 'Conversation with A (end of the last turn)')
    assert.equal(labelOf([long]), 'Conversation with A (end of the last turn)')
  })
})
