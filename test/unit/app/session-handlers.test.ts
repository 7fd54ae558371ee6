import assert from 'node:assert/strict'
import { sessionHandlers } from '../../../src/app/conversation/session-handlers.ts'
import type { StoredPrompt } from '../../../src/conversation/attachment.ts'

describe('a rejection with a reason', () => {
  const rejected = (isPending: boolean) => {
    const sent: string[] = []
    const returned: string[] = []
    const requests = { answerPermission: () => isPending }
    const handlers = sessionHandlers({
      controller: {
        shownAs: () => ({ session: { requests } }),
        prompts: {
          enqueue: (_: string, { draft }: StoredPrompt) => void sent.push(draft.text),
          giveBack: (_: string, { draft }: StoredPrompt) => void returned.push(draft.text),
        },
      },
      workbench: {},
    } as unknown as Parameters<typeof sessionHandlers>[0])
    const reason = { id: 'p', text: 'Use tabs' }
    handlers['conversation/permission']({ key: 'k', requestId: 'r', optionId: 'no', reason })
    return { sent, returned }
  }

  it('sends the reason', () => {
    assert.deepEqual(rejected(true), { sent: ['Use tabs'], returned: [] })
  })

  it('leaves the reason in the composer if the request was answered in another way or canceled meanwhile', () => {
    assert.deepEqual(rejected(false), { sent: [], returned: ['Use tabs'] })
  })
})
