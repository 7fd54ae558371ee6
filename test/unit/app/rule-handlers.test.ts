import assert from 'node:assert/strict'
import { type RuleHandlersOptions, ruleHandlers } from '../../../src/app/conversation/rule-handlers.ts'
import type { ConversationController } from '../../../src/sessions/conversation-controller.ts'

describe('Offered permission rules', () => {
  it('belong to the workspace if they name a path in it, and to the user otherwise', async () => {
    const session = { requests: { permission: () => ({ request: {} }) } }
    const open = { agentId: 'a', agentName: 'A', plan: {}, session }
    const rules = [{ path: 'src/a.ts' }, { path: 'src/**' }, { path: '**' }, { command: 'npm test' }]
    const ofWorkspace = async (hasWorkspace: boolean) => {
      const handlers = ruleHandlers(
        { shownAs: () => open } as unknown as ConversationController,
        {
          rules: {
            suggest: async () => rules.map(rule => ({ text: '', rule: { ...rule, action: 'allow' } })),
          },
          settings: { hasWorkspace },
        } as unknown as RuleHandlersOptions,
      )
      const { offers } = await handlers['conversation/offerRules']({ key: 'k', requestId: 'r' })
      return offers.map(({ isOfWorkspace }) => isOfWorkspace === true)
    }
    assert.deepEqual(await ofWorkspace(true), [true, true, false, false])
    assert.deepEqual(await ofWorkspace(false), [false, false, false, false])
  })
})
