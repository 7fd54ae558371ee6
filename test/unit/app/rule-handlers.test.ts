import assert from 'node:assert/strict'
import { type RuleHandlersOptions, ruleHandlers } from '../../../src/app/conversation/rule-handlers.ts'
import type { ConversationController } from '../../../src/sessions/conversation-controller.ts'
import { SessionAllowance } from '../../../src/sessions/permission-rules/session-allowance.ts'

describe('Offered permission rules', () => {
  it('belong to the workspace if they name a path in it, and to the user otherwise', async () => {
    const session = { requests: { permission: () => ({ request: {} }) } }
    const open = { agentId: 'a', agentName: 'A', placeOf: () => ({}), session }
    const rules = [{ path: 'src/a.ts' }, { path: 'src/**' }, { path: '**' }, { command: 'npm test' }]
    const ofWorkspace = async (hasWorkspace: boolean) => {
      const handlers = ruleHandlers(
        { shownAs: () => open } as unknown as ConversationController,
        {
          rules: {
            suggest: async () => rules.map(rule => ({ text: '', rule: { ...rule, action: 'allow' } })),
          },
          hasWorkspace: () => hasWorkspace,
        } as unknown as RuleHandlersOptions,
      )
      const { offers } = await handlers['conversation/offerRules']({ key: 'k', requestId: 'r' })
      return offers.map(({ isOfWorkspace }) => isOfWorkspace === true)
    }
    assert.deepEqual(await ofWorkspace(true), [true, true, false, false])
    assert.deepEqual(await ofWorkspace(false), [false, false, false, false])
  })

  it('can be kept for the session alone, and answer the request', async () => {
    const allowance = new SessionAllowance()
    const answered: unknown[] = []
    const requests = {
      permission: () => ({ request: { options: [{ optionId: 'yes', kind: 'allow_once', name: 'Yes' }] } }),
      answerPermission: (...answer: unknown[]) => answered.push(answer),
    }
    const open = { agentId: 'a', agentName: 'A', placeOf: () => ({}), session: { requests }, allowance }
    const rule = { command: 'npm test', action: 'allow' }
    const saved: unknown[] = []
    const handlers = ruleHandlers(
      { shownAs: () => open } as unknown as ConversationController,
      {
        rules: { suggest: async () => [{ text: '', rule }] },
        consent: { accept: (...rules: unknown[]) => saved.push(rules) },
        hasWorkspace: () => true,
        settings: { add: async (...added: unknown[]) => void saved.push(added) },
      } as unknown as RuleHandlersOptions,
    )
    const json = JSON.stringify(rule, undefined, 2)
    const save = (shown: string) =>
      handlers['conversation/saveRule']({
        key: 'k',
        requestId: 'r',
        offer: 0,
        json: shown,
        target: 'session',
      })
    await assert.rejects(save('{}'), /has changed/)
    await save(json)
    assert.deepEqual(
      allowance.rules.map(({ source, scope }) => [source, scope]),
      [[rule, 'session']],
    )
    assert.deepEqual([saved, answered], [[], [['r', 'yes']]])
  })
})
