import assert from 'node:assert/strict'
import { waitFor } from '../host/wait-for.ts'
import { endAgentHosts } from '../support/agent-hosts-of.ts'
import { PageSuite } from '../support/page/page-suite.ts'
import type { PageWindow } from '../support/page/page-window.ts'
import { ConversationPage } from '../ui/support/conversation-page.ts'
import { agentLog, fixtureAgent, receivedParams } from '../ui/support/fixture-agent.ts'

type Block = { type: string; text?: string; resource?: { uri: string; text?: string } }
interface Shown {
  scheme?: string
  text?: string
  lenses: string[]
}

const PLAN = '# Plan\n\n1. Read the parser\n2. Rewrite it\n3. Test it\n'
const HOSTILE = `# [x](command:workbench.action.quit)\n\n<img src="https://example.invalid/x">\n\n${'-\n'.repeat(10_000)}`
const options = [
  { optionId: 'clear', name: 'Yes, clear context (41% used) and use auto mode', kind: 'allow_always' },
  { optionId: 'auto', name: 'Yes, and use auto mode', kind: 'allow_always' },
  { optionId: 'default', name: 'Yes, manually approve edits', kind: 'allow_once' },
  { optionId: 'reject', name: 'No, keep planning', kind: 'reject_once' },
]
const asks = (toolCallId: string, plan: string) => ({
  request: 'session/request_permission',
  params: {
    sessionId: '$session',
    toolCall: {
      toolCallId,
      title: 'Approve Plan',
      kind: 'switch_mode',
      status: 'pending',
      rawInput: { plan },
      content: [{ type: 'content', content: { type: 'text', text: plan } }],
    },
    options,
  },
})
const initialize = { agentCapabilities: { promptCapabilities: { embeddedContext: true } } }

describe('a plan that an agent presents', () => {
  const vscode = new PageSuite({
    settings: root => ({
      'parley.keepAgentsRunning': undefined,
      'parley.agents': {
        planner: fixtureAgent(root, 'Planner', {
          results: { initialize },
          prompt: [asks('plan-1', PLAN), { say: 'Go on.' }, asks('plan-2', HOSTILE), { say: 'Done.' }],
        }),
        once: fixtureAgent(root, 'Once', {
          results: { initialize },
          prompt: [asks('plan-1', PLAN), { say: 'Done.' }],
        }),
      },
    }),
  })
  afterEach(() => endAgentHosts(vscode.root.directory))

  let workbench: PageWindow
  let conversation: ConversationPage
  const begin = async (agent: string) => {
    workbench = await vscode.open()
    conversation = await ConversationPage.startSession(workbench, agent)
    await conversation.send('Plan it')
    await openPlan()
  }
  const openPlan = async () => {
    await conversation.button('Open Plan').click()
    await waitFor('the plan', async () => (await shown()).scheme === 'parley-plan')
  }
  const shown = async () => (await workbench.host.call('activeDocument')) as Shown
  const lensesAre = (...lenses: string[]) =>
    waitFor(`the lenses ${lenses.join(', ')}`, async () => (await shown()).lenses.join() === lenses.join())
  const answers = (agent: string) =>
    agentLog(vscode.root, agent).flatMap(({ received }) => {
      const { outcome } = (received?.result ?? {}) as { outcome?: { outcome: string; optionId?: string } }
      return outcome ? [outcome.optionId ?? outcome.outcome] : []
    })
  const ANSWERS = ['Accept', 'Accept with Cleared Context', 'Send Comments']

  it('opens as a document, whose comments outlast a reload and go to the agent as the reason for the rejection', async () => {
    await begin('Once')
    assert.equal((await shown()).text, PLAN)
    await lensesAre(...ANSWERS)
    await workbench.host.call('commentHere', 4, 4, 'Only its lexer.')
    await workbench.host.call('commentHere', 3, 5, 'In small steps.')
    const chips = () => conversation.frame.getByRole('list', { name: 'Attached' }).getByRole('listitem')
    await waitFor('two chips', async () => (await chips().count()) === 2)
    await workbench.reload()
    conversation = await ConversationPage.find(workbench)
    await conversation.permission.waitFor()
    await waitFor('two chips', async () => (await chips().count()) === 2)
    await openPlan()
    await lensesAre(...ANSWERS)
    await conversation.composer.click()
    await workbench.page.keyboard.type('Something else')
    const before = receivedParams(vscode.root, 'Once', 'session/prompt').length
    await workbench.host.call('pressLens', 'Send Comments')
    await waitFor(
      'the comments',
      () => receivedParams(vscode.root, 'Once', 'session/prompt').length === before + 1,
    )
    assert.deepEqual(answers('Once'), ['reject'])
    const prompt = receivedParams(vscode.root, 'Once', 'session/prompt').at(-1)?.prompt as Block[]
    assert.deepEqual(
      prompt.map(block => block.text ?? block.resource?.text),
      [
        'Revise the plan by these comments.',
        'Comment on your plan:4:\n\nOnly its lexer.\n\n```\n2. Rewrite it\n```',
        'Comment on your plan:3-5:\n\nIn small steps.\n\n```\n1. Read the parser\n2. Rewrite it\n3. Test it\n```',
      ],
    )
    // what the user was writing stays
    await waitFor('the draft', async () => (await conversation.composerText()).trim() === 'Something else')
    await waitFor('no chips', async () => (await chips().count()) === 0)
  })

  it('says that it was answered in the conversation, and the next one is another document', async () => {
    await begin('Planner')
    await conversation.frame.getByRole('button', { name: /Yes, manually approve edits/ }).click()
    await lensesAre('Allowed once: Yes, manually approve edits')
    await conversation.agentMessage('Go on.').waitFor()
    await conversation.button('Open Plan').click()
    await waitFor('the other plan', async () => (await shown()).text === HOSTILE)
    await lensesAre(...ANSWERS)
    await workbench.host.call('pressLens', 'Accept')
    await conversation.agentMessage('Done.').waitFor()
    assert.deepEqual(answers('Planner'), ['default', 'default'])
  })

  it('is accepted with more than the plan only after a question, and not by one that is over', async () => {
    await begin('Once')
    const pressed = workbench.host.call('pressLens', 'Accept with Cleared Context')
    const dialog = workbench.page.locator('.monaco-dialog-box', { hasText: 'Accept this plan' })
    await dialog.getByText('Yes, clear context (41% used) and use auto mode').waitFor()
    await dialog.getByRole('button', { name: 'Accept', exact: true }).click()
    await pressed
    await conversation.agentMessage('Done.').waitFor()
    assert.deepEqual(answers('Once').at(-1), 'clear')
    await lensesAre('Always allowed: Yes, clear context (41% used) and use auto mode')
  })

  it('can no longer be answered when the turn was stopped', async () => {
    await begin('Once')
    await conversation.composer.click()
    await workbench.page.keyboard.press('Escape')
    await lensesAre('This plan is no longer pending.')
  })
})
