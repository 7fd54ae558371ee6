import assert from 'node:assert/strict'
import { waitFor } from '../host/wait-for.ts'
import { PageSuite } from '../support/page/page-suite.ts'
import type { PageWindow } from '../support/page/page-window.ts'
import { ConversationPage } from '../ui/support/conversation-page.ts'
import { fixtureAgent, receivedParams } from '../ui/support/fixture-agent.ts'

type Block = { type: string; text?: string; resource?: { uri: string; text?: string } }

const capable = { agentCapabilities: { promptCapabilities: { embeddedContext: true } } }
const plain = { agentCapabilities: { promptCapabilities: { embeddedContext: false } } }

describe('a mention of another session', () => {
  const vscode = new PageSuite({
    settings: root => ({
      'parley.agents': {
        capable: fixtureAgent(root, 'Capable', { results: { initialize: capable } }),
        plain: fixtureAgent(root, 'Plain', { results: { initialize: plain } }),
      },
    }),
  })
  let workbench: PageWindow
  let conversation: ConversationPage

  const prompts = (agent: string) =>
    receivedParams(vscode.root, agent, 'session/prompt').map(({ prompt }) => prompt as Block[])
  const rows = () => conversation.frame.getByRole('listbox', { name: 'Context' }).getByRole('option')
  const begin = async (agent: string) => {
    workbench = await vscode.sharedWindow()
    conversation = await ConversationPage.startSession(workbench, agent)
    await conversation.composer.click()
    await conversation.waitForFocus(conversation.composer)
  }

  it('adds its text to the prompt; the session itself is not offered', async () => {
    await begin('Plain')
    await conversation.runTurn('the moons of Neptune')
    await begin('Capable')
    await conversation.runTurn('the rings of Neptune')
    await conversation.composer.click()
    await conversation.waitForFocus(conversation.composer)
    await workbench.page.keyboard.type('Compare @neptu')
    const other = rows().filter({ hasText: 'the moons of Neptune' })
    await other.waitFor()
    assert.equal(await rows().filter({ hasText: 'the rings of Neptune' }).count(), 0)
    await other.click()
    const attached = conversation.frame.getByRole('list', { name: 'Attached' }).getByRole('listitem')
    await attached.filter({ hasText: 'the moons of Neptune' }).waitFor()
    await conversation.waitForFocus(conversation.composer)
    await workbench.page.keyboard.press('Enter')
    const [text, session] = await waitFor('prompt', () =>
      prompts('Capable').find(one => one[0]?.text?.startsWith('Compare')),
    )
    assert.equal(text?.text, 'Compare')
    assert.match(session?.resource?.uri ?? '', /^parley:.*Neptune\.md$/)
    assert.match(
      session?.resource?.text ?? '',
      /^# the moons of Neptune\n\nPlain · .*## You\n\nthe moons of Neptune.*You said: the moons of Neptune/s,
    )

    // an agent that can't embed gets it as text
    await begin('Plain')
    await workbench.page.keyboard.type('@session')
    await rows().filter({ hasText: 'the rings of Neptune' }).waitFor()
    await rows().filter({ hasText: 'the rings of Neptune' }).click()
    await attached.filter({ hasText: 'the rings of Neptune' }).waitFor()
    await conversation.waitForFocus(conversation.composer)
    await workbench.page.keyboard.press('Enter')
    const [only, ...rest] = await waitFor('prompt', () => prompts('Plain')[1])
    assert.match(only?.text ?? '', /# the rings of Neptune\n\nCapable · .*You said: the rings of Neptune/s)
    assert.deepEqual(rest, [])
  })
})
