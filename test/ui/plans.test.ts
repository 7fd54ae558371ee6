import assert from 'node:assert/strict'
import { waitFor } from '../host/wait-for.ts'
import { beginComment } from './support/comment-input.ts'
import { ConversationPage } from './support/conversation-page.ts'
import { agentLog, fixtureAgent, receivedParams } from './support/fixture-agent.ts'
import { VsCodeSuite } from './support/vscode-suite.ts'

const PLAN = '# Plan\n\n1. Read the parser\n2. Rewrite it\n'
const asks = {
  request: 'session/request_permission',
  params: {
    sessionId: '$session',
    toolCall: {
      toolCallId: 'plan-1',
      title: 'Approve Plan',
      kind: 'switch_mode',
      status: 'pending',
      rawInput: { plan: PLAN },
    },
    options: [
      { optionId: 'yes', name: 'Yes, implement this plan', kind: 'allow_once' },
      { optionId: 'no', name: 'No, keep planning', kind: 'reject_once' },
    ],
  },
}
const initialize = { agentCapabilities: { promptCapabilities: { embeddedContext: true } } }

describe('the document of a plan', () => {
  const vscode = new VsCodeSuite({
    settings: root => ({
      'parley.agents': {
        planner: fixtureAgent(root, 'Planner', {
          results: { initialize },
          prompt: [asks, { say: 'Done.' }],
        }),
      },
    }),
  })

  it('has buttons for the answers and lines that can be commented, until it was answered', async () => {
    const workbench = await vscode.sharedWindow()
    const conversation = await ConversationPage.startSession(workbench, 'Planner')
    await conversation.send('Plan it')
    await conversation.button('Open Plan').click()
    const { page } = workbench
    const editor = page.locator('.editor-instance').filter({ hasText: 'Rewrite it' })
    await editor.waitFor()
    const actions = page.locator('.editor-actions')
    await actions.getByRole('button', { name: /Accept Plan/ }).waitFor()
    await editor.getByRole('button', { name: 'Send Comments' }).waitFor()
    assert.equal(await actions.getByRole('button', { name: /Cleared Context/ }).count(), 0)

    await editor.locator('.view-line', { hasText: 'Rewrite it' }).click()
    await beginComment(workbench)
    await page.keyboard.type('Only its lexer.')
    await page.keyboard.press('Control+Enter')
    await conversation.frame.getByRole('list', { name: 'Attached' }).getByRole('listitem').first().waitFor()
    await page.locator('.review-widget').getByText('Sent with your next prompt').waitFor()
    await workbench.screenshot('plan-comment')
    await actions.getByRole('button', { name: /Send Comments.*\(Ctrl\+Enter\)/ }).waitFor()
    // VS Code removes the input that had the focus
    await waitFor('the focus of the text', () =>
      editor.evaluate(
        one => one.contains(document.activeElement) && !document.activeElement?.closest('.review-widget'),
      ),
    )
    await page.keyboard.press('Control+Enter')
    const prompts = () => receivedParams(vscode.server.root, 'Planner', 'session/prompt')
    await waitFor('the comments', () => prompts().length === 2)
    assert.match(JSON.stringify(prompts()[1]), /Comment on your plan:4:\\n\\nOnly its lexer\./)
    const answers = (option: string) =>
      agentLog(vscode.server.root, 'Planner').filter(({ received }) =>
        JSON.stringify(received?.result)?.includes(`"optionId":"${option}"`),
      ).length
    const accepted = () => answers('yes')
    assert.equal(answers('no'), 1)

    // the agent asks about the same plan again: answered in the conversation
    await actions.getByRole('button', { name: /Accept Plan/ }).waitFor()
    await conversation.frame.getByRole('button', { name: /Yes, implement this plan/ }).click()
    await editor.getByText('Allowed once: Yes, implement this plan').waitFor()
    await actions.getByRole('button', { name: /Accept Plan/ }).waitFor({ state: 'detached' })

    await conversation.send('Plan again')
    await conversation.button('Open Plan').last().click()
    await actions.getByRole('button', { name: /Accept Plan \(Ctrl\+Shift\+Enter\)/ }).waitFor()
    await editor.locator('.view-line', { hasText: 'Rewrite it' }).click()
    await page.keyboard.press('Control+Shift+Enter')
    await actions.getByRole('button', { name: /Accept Plan/ }).waitFor({ state: 'detached' })
    await waitFor('the answer', () => accepted() === 2)
  })
})
