import assert from 'node:assert/strict'
import { waitFor } from '../host/wait-for.ts'
import { endAgentHosts } from '../support/agent-hosts-of.ts'
import { PageSuite } from '../support/page/page-suite.ts'
import { ConversationPage } from '../ui/support/conversation-page.ts'
import { fixtureAgent, openGate, receivedParams } from '../ui/support/fixture-agent.ts'

describe("a session's limit", () => {
  const vscode = new PageSuite({
    settings: root => ({
      'parley.keepAgentsRunning': undefined,
      'parley.sessionLimit': { cost: 5, tokens: 5000 },
      'parley.agents': {
        costly: fixtureAgent(root, 'Costly'),
        counting: fixtureAgent(root, 'Counting', {
          results: {
            'session/prompt': {
              stopReason: 'end_turn',
              usage: { totalTokens: 3000, inputTokens: 2900, outputTokens: 100 },
            },
          },
        }),
        endless: fixtureAgent(root, 'Endless'),
        silent: fixtureAgent(root, 'Silent'),
      },
    }),
  })
  // each test has its window, since its agents end with it
  afterEach(() => endAgentHosts(vscode.root.directory))

  const prompts = (agent: string) => receivedParams(vscode.root, agent, 'session/prompt').length
  const question = (conversation: ConversationPage) =>
    conversation.frame.getByRole('group', { name: 'Session limit reached' })
  const usage = (conversation: ConversationPage) => conversation.frame.locator('button.usage')

  it('warns once, then asks in the middle of the turn, and holds what would follow it', async () => {
    const workbench = await vscode.open()
    const conversation = await ConversationPage.startSession(workbench, 'Costly')
    await conversation.runTurn('[[cost 4.2]] [[say Cheap.]]')
    await conversation.runTurn('[[cost 4.3]] [[say Cheap, too.]]')
    const warning = conversation.text(/Session limit nearly reached/)
    await conversation.text('Session limit nearly reached: $4.20 of $5.00').waitFor()
    assert.equal(await warning.count(), 1)
    await waitFor('the usage', async () =>
      (await usage(conversation).getAttribute('aria-label'))?.startsWith('Session limit: $4.30 of $5.00'),
    )

    await conversation.send('[[cost 5.5]] [[gate]] [[say Spent.]]')
    await question(conversation).waitFor()
    await question(conversation)
      .getByText(/\$5\.50 of \$5\.00/)
      .waitFor()
    await conversation.send('[[say More.]]')
    await conversation.text('1 prompt queued').waitFor()
    await workbench.reload()
    const after = await ConversationPage.find(workbench)
    await question(after).waitFor()
    await after.text('1 prompt queued').waitFor()
    openGate(vscode.root, 'Costly')
    await after.agentMessage('Spent.').waitFor()
    await after.text('Waiting for your answer').waitFor()
    assert.equal(await after.frame.locator('.card-title', { hasText: 'Session limit reached' }).count(), 1)
    assert.equal(prompts('Costly'), 3)
    await question(after).getByRole('button', { name: 'Continue to $10.00' }).click()
    await after.agentMessage('More.').waitFor()
    assert.equal(prompts('Costly'), 4)
    assert.equal(
      await after.frame.locator('.row-notice', { hasText: 'Session limit nearly reached' }).count(),
      1,
    )
  })

  it('stops the turn, and asks again only before the next prompt', async () => {
    const workbench = await vscode.open()
    const conversation = await ConversationPage.startSession(workbench, 'Endless')
    await conversation.send('[[cost 6]] [[gate]] [[say Never.]]')
    await question(conversation).getByRole('button', { name: 'Stop' }).click()
    await conversation.text('Stopped by you').waitFor()
    await waitFor('no question', async () => (await question(conversation).count()) === 0)
    await conversation.send('[[say Again.]]')
    await question(conversation).waitFor()
    assert.equal(prompts('Endless'), 1)
    await question(conversation).getByRole('button', { name: 'Set Limit…' }).click()
    await workbench.page.getByText('Cost', { exact: true }).click()
    await workbench.page.getByText('Set Session Limit: Cost').waitFor()
    await workbench.paletteInput.fill('20')
    await workbench.page.keyboard.press('Enter')
    await conversation.agentMessage('Again.').waitFor()
    assert.equal(prompts('Endless'), 2)
  })

  it('counts tokens at the end of a turn, and holds the prompt after it', async () => {
    const workbench = await vscode.open()
    const conversation = await ConversationPage.startSession(workbench, 'Counting')
    await conversation.runTurn('One')
    await conversation.send('Two')
    await question(conversation)
      .getByText(/6,000 of 5,000 tokens/)
      .waitFor()
    await conversation.send('Three')
    await conversation.text('1 prompt queued').waitFor()
    assert.equal(prompts('Counting'), 2)
    await question(conversation).getByRole('button', { name: 'Continue to 10,000 tokens' }).click()
    await waitFor('the third prompt', async () => prompts('Counting') === 3)
  })

  it('says once what the agent does not report, and holds nothing then', async () => {
    const workbench = await vscode.open()
    const conversation = await ConversationPage.startSession(workbench, 'Silent')
    await conversation.runTurn('[[cost NaN]] [[cost -3]] [[cost 1e308]] [[say Free.]]')
    await conversation.runTurn('[[say Still free.]]')
    await usage(conversation).click()
    const details = conversation.frame.getByRole('dialog', { name: 'Usage' })
    await details.getByText("This agent doesn't report its cost.").waitFor()
    assert.equal(await details.getByText("This agent doesn't report").count(), 2)
    await workbench.page.keyboard.press('Escape')
  })
})
