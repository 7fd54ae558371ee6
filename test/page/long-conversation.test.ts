import assert from 'node:assert/strict'
import { waitFor } from '../host/wait-for.ts'
import { PageSuite } from '../support/page/page-suite.ts'
import type { PageWindow } from '../support/page/page-window.ts'
import { ConversationPage } from '../ui/support/conversation-page.ts'
import { fixtureAgent } from '../ui/support/fixture-agent.ts'
import { HistoryPage } from '../ui/support/history-page.ts'

interface Snapshot {
  more: boolean
  first: number
  total: number
  atEnd: boolean
  leavesHistory: boolean
}

describe('a long conversation opened from History', () => {
  const vscode = new PageSuite({
    settings: root => ({ 'parley.agents': { fixture: fixtureAgent(root, 'Fixture') } }),
  })

  /** A window that shows another session after a reload. */
  async function withLongSession(): Promise<PageWindow> {
    const workbench = await vscode.open()
    const conversation = await ConversationPage.startSession(workbench, 'Fixture')
    await conversation.send('[[title Long]] [[replay 150 10]]')
    await conversation.text('Answer 150').waitFor()
    await conversation.button(/^Stop/).waitFor({ state: 'detached' })
    const other = await ConversationPage.startSession(workbench, 'Fixture')
    await other.runTurn('[[title Other]] [[say Nothing of note.]]')
    await workbench.reload()
    return workbench
  }

  async function choose(workbench: PageWindow): Promise<ConversationPage> {
    // without a search, which would lead to a match in it
    const history = await HistoryPage.open(workbench)
    await history.row('Long').waitFor()
    // what the page gets, and whether it's still at the end then
    await history.frame.evaluate(`
      window.snapshots = []
      addEventListener('message', ({ data }) => {
        if (data?.method !== 'conversation/snapshot') return
        const { more = false, first, total, leavesHistory = false } = [data.params].flat()[0]
        const list = document.querySelector('.transcript')
        const atEnd = !list || list.scrollHeight - list.clientHeight - list.scrollTop < 2
        if (total > 100) window.snapshots.push({ more, first, total, atEnd, leavesHistory })
      })`)
    await history.row('Long').click()
    return ConversationPage.find(workbench)
  }

  it('shows its end before the rest of it was read, stays there, and then has all of it', async () => {
    const workbench = await withLongSession()
    const conversation = await choose(workbench)
    await conversation.agentMessage('Answer 150').waitFor()
    await conversation.waitForPhase('ready')
    const snapshots = await waitFor('the whole conversation', async () => {
      const all = await conversation.frame.evaluate<Snapshot[]>('window.snapshots')
      return all.length > 1 && all
    })
    const [end, whole] = snapshots
    assert.equal(end?.more, true, JSON.stringify(snapshots))
    assert.equal(end.leavesHistory, true, 'drawn in the frame in which History goes')
    // what the agent reports when it loads the session may be in it already
    assert.ok(whole?.more === false && whole.total >= end.total, JSON.stringify(snapshots))
    assert.ok(snapshots.every(({ atEnd }) => atEnd))

    await conversation.frame.locator('.transcript').focus()
    await workbench.page.keyboard.press('ControlOrMeta+f')
    const widget = conversation.frame.getByRole('search', { name: 'Find in Conversation' })
    await widget.getByRole('textbox', { name: 'Find' }).fill('Question 7')
    await widget
      .locator('.find-count')
      .filter({ hasText: /of 11$/ })
      .waitFor()
    await widget.getByRole('textbox', { name: 'Find' }).fill('Question 1 of 150')
    await conversation.text('Question 1 of 150').waitFor()
  })

  it('has an outline of its prompts, which leads to the one that is chosen', async () => {
    const workbench = await withLongSession()
    const conversation = await choose(workbench)
    await conversation.agentMessage('Answer 150').waitFor()
    await conversation.waitForPhase('ready')
    await conversation.frame.locator('.transcript').focus()
    await workbench.page.keyboard.press('ControlOrMeta+Shift+o')
    await workbench.paletteInput.fill('Question 42 of')
    await workbench.pick('Question 42 of 150')
    await waitFor('the prompt at the upper edge', () =>
      conversation.frame.evaluate<boolean>(`(() => {
        const prompt = [...document.querySelectorAll('.prompt')].find(one => one.textContent.includes('Question 42 of 150'))
        const top = document.querySelector('.transcript').getBoundingClientRect().top
        return prompt !== undefined && Math.abs(prompt.getBoundingClientRect().top - top) < 40
      })()`),
    )
  })

  it('gets a prompt that is written before its agent runs, and is opened again after the window closed', async () => {
    const workbench = await withLongSession()
    const conversation = await choose(workbench)
    await conversation.agentMessage('Answer 150').waitFor()
    await workbench.reload()
    const again = await choose(workbench)
    await again.agentMessage('Answer 150').waitFor()
    await again.send('[[say I have read it.]]')
    await again.agentMessage('I have read it.').waitFor()
    await workbench.runCommand('Parley: Go to First Turn')
    await again.text('Question 1 of 150').waitFor()
  })

  it('is shown at what was found by the search, far above its end', async () => {
    const workbench = await withLongSession()
    const history = await HistoryPage.open(workbench)
    await history.search.fill('"Question 12 of 150"')
    await history.row('Long').locator('mark').first().waitFor()
    await workbench.page.keyboard.press('Enter')
    const conversation = await ConversationPage.find(workbench)
    await waitFor('the match in sight', () =>
      conversation.frame.evaluate<boolean>(`(() => {
        const [range] = CSS.highlights.get('parley-find-current') ?? []
        const box = range?.getBoundingClientRect()
        return Boolean(box && box.top >= 0 && box.bottom <= innerHeight && box.height > 0)
      })()`),
    )
  })
})
