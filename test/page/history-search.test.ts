import assert from 'node:assert/strict'
import { waitFor } from '../host/wait-for.ts'
import { PageSuite } from '../support/page/page-suite.ts'
import { ConversationPage } from '../ui/support/conversation-page.ts'
import { fixtureAgent } from '../ui/support/fixture-agent.ts'
import { HistoryPage } from '../ui/support/history-page.ts'

describe('the search of History', () => {
  const vscode = new PageSuite({
    settings: root => ({
      'parley.agents': { plain: fixtureAgent(root, 'Plain'), other: fixtureAgent(root, 'Other') },
    }),
  })

  it('finds what was said in every conversation, and opens the conversation there', async () => {
    const workbench = await vscode.open()
    const say = async (agent: string, ...prompts: string[]) => {
      const conversation = await ConversationPage.startSession(workbench, agent)
      for (const prompt of prompts) {
        await conversation.runTurn(prompt)
      }
      return conversation
    }
    await say('Plain', '[[title First]] [[say The tokenizer is slow.]]', '[[say 分词器很慢]]')
    const filler = Array.from({ length: 12 }, (_, i) => `filler number ${i} ${'and more words '.repeat(30)}`)
    await say('Other', '[[title Second]] [[say Nothing of note.]]', 'please repair the tokenizer', ...filler)

    const history = await HistoryPage.open(workbench)
    await history.search.fill('tokeni')
    await waitFor('both sessions', async () => (await history.rows.count()) === 2)
    const excerpts = history.frame.locator('.history-excerpt')
    await waitFor('their excerpts', async () => (await excerpts.count()) === 2)
    assert.deepEqual(await history.frame.locator('mark').allTextContents(), ['tokeni', 'tokeni'])
    await history.search.fill('分词')
    await history.row('First').locator('mark', { hasText: '分词' }).waitFor()
    await history.search.fill('tokenizer agent:plain')
    await waitFor('the session of the agent', async () => (await history.rows.count()) === 1)
    await history.search.fill('tokenizer after:2999')
    await history.frame.getByText('No sessions match').waitFor()

    // in a new window, where the conversation isn't open
    await workbench.reload()
    const after = await HistoryPage.open(workbench)
    await after.search.fill('repair tokenizer')
    await after.row('Second').locator('mark').first().waitFor()
    await workbench.page.keyboard.press('Enter')
    const conversation = await ConversationPage.find(workbench)
    const widget = conversation.frame.getByRole('search')
    await widget.waitFor()
    const inSight = () =>
      conversation.frame.evaluate<string>(`(() => {
        const [range] = CSS.highlights.get('parley-find-current') ?? []
        const box = range?.getBoundingClientRect()
        return box && box.top >= 0 && box.bottom <= innerHeight ? String(range) : ''
      })()`)
    await waitFor('the match in sight', async () => /^(repair|tokenizer)$/.test(await inSight()))
    assert.match(await widget.getByRole('textbox').inputValue(), /tokenizer\|repair/)
  })
})
