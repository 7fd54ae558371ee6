import assert from 'node:assert/strict'
import type { Locator } from 'playwright-core'
import { waitFor } from '../host/wait-for.ts'
import { PageSuite } from '../support/page/page-suite.ts'
import type { PageWindow } from '../support/page/page-window.ts'
import { ConversationPage } from '../ui/support/conversation-page.ts'
import { fixtureAgent } from '../ui/support/fixture-agent.ts'

describe('find in a conversation of 1,000 turns', () => {
  const vscode = new PageSuite({
    settings: root => ({ 'parley.agents': { fixture: fixtureAgent(root, 'Fixture') } }),
  })
  let workbench: PageWindow
  let conversation: ConversationPage

  beforeEach(async () => {
    workbench = await vscode.sharedWindow()
    conversation = await ConversationPage.startSession(workbench, 'Fixture')
  })

  const widget = () => conversation.frame.getByRole('search', { name: 'Find in Conversation' })
  const input = () => widget().getByRole('textbox', { name: 'Find' })
  const count = () => widget().locator('.find-count')
  /** The text of the current match, and whether it's visible. */
  const current = (): Promise<string | undefined> =>
    conversation.frame.evaluate(`(() => {
      const [range] = CSS.highlights.get('parley-find-current') ?? []
      if (!range) return undefined
      const list = document.querySelector('.transcript').getBoundingClientRect()
      const at = range.getBoundingClientRect()
      const seen = at.height > 0 && at.top >= list.top && at.bottom <= list.bottom
      return seen ? range.startContainer.parentElement?.closest('.row')?.textContent ?? '' : undefined
    })()`)
  const shows = (text: string | RegExp) =>
    waitFor(`match in ${text}`, async () => {
      const row = await current()
      return row !== undefined && (typeof text === 'string' ? row.includes(text) : text.test(row))
    })
  const open = async (focused: Locator) => {
    // VS Code learns a moment later that the conversation has the focus, and ignores the key until then
    await waitFor('the find widget', async () => {
      await focused.press('ControlOrMeta+f')
      return input()
        .waitFor({ timeout: 5000 })
        .then(
          () => true,
          () => false,
        )
    })
    await conversation.waitForFocus(input())
  }

  it('finds all matches, expands collapsed entries, and follows new messages', async () => {
    await conversation.send('[[replay 1000 10]]')
    await conversation.text('Answer 1000').waitFor({ timeout: 60_000 })
    await conversation.button(/^Stop/).waitFor({ state: 'detached', timeout: 60_000 })

    await open(conversation.composer)
    await input().fill('question 5')
    await count()
      .filter({ hasText: /of 111$/ })
      .waitFor()
    await input().fill('Question 517 of')
    await count().filter({ hasText: '1 of 1' }).waitFor()
    await shows('Question 517 of 1000')

    // matches the rendered text of Markdown
    await input().fill('Answer 12')
    await count()
      .filter({ hasText: /of 11$/ })
      .waitFor()
    await shows(/Answer 12/)
    const first = await count().innerText()
    await input().press('Enter')
    await waitFor('the next match', async () => (await count().innerText()) !== first)
    await shows(/Answer 12/)
    await input().press('Shift+Enter')
    await count().filter({ hasText: first }).waitFor()

    // matches inside a collapsed tool call
    await input().fill('export const file = 770')
    await count().filter({ hasText: '1 of 1' }).waitFor()
    await shows('export const file = 770')

    await input().fill('xyzzy')
    await count().filter({ hasText: 'No results' }).waitFor()
    await conversation.composer.fill('[[say now xyzzy is there]]')
    await conversation.composer.press('Enter')
    await count().filter({ hasText: /of 2$/ }).waitFor()

    await input().press('Escape')
    await widget().waitFor({ state: 'detached' })
    const isMarked = (name: string) => conversation.frame.evaluate<boolean>(`CSS.highlights.has('${name}')`)
    await waitFor('no marks but the found one', async () => !(await isMarked('parley-find')))
    assert.ok(await isMarked('parley-find-current'))
    await conversation.agentMessage('now xyzzy is there').click()
    await waitFor('no mark', async () => !(await isMarked('parley-find-current')))
  })

  it('receives text typed right after the shortcut, and shows no scroll button while the end is visible', async () => {
    await conversation.send('[[say a word to find]]')
    await conversation.text(/^a word to find/).waitFor()
    await conversation.composer.focus()
    await workbench.page.keyboard.press('ControlOrMeta+f')
    await workbench.page.keyboard.type('word')
    await count().filter({ hasText: '1 of 2' }).waitFor()
    await waitFor('what was typed', async () => (await input().inputValue()) === 'word')
    assert.equal(await conversation.composerText(), '')
    await shows('a word to find')
    await conversation.waitForFocus(input())
    await conversation.button('Scroll to Latest Message').waitFor({ state: 'detached' })
    await input().press('Escape')
    await widget().waitFor({ state: 'detached' })
  })

  it('works in an editor tab, with the shortcut and the command', async () => {
    await conversation.send('[[say something to look for]]')
    await conversation.text(/^something to look for/).waitFor()
    await workbench.runCommand('Parley: Open Conversation in Editor Tab')
    const frame = await waitFor('tab', async () => {
      for (const one of workbench.page.frames()) {
        const wide = 'document.body?.dataset.view === "conversation" ? innerWidth : 0'
        if (Number(await one.evaluate(wide).catch(() => 0)) > 500) return one
      }
    })
    conversation = await ConversationPage.inFrame(frame)
    await conversation.text(/^something to look for/).waitFor()
    await open(conversation.composer)
    await input().fill('look')
    await shows('something to look for')
    await input().press('Escape')
    await conversation.waitForFocus(conversation.composer)
    await workbench.runCommand('Parley: Find in Conversation')
    await input().waitFor()
    await count().filter({ hasText: /of 2$/ }).waitFor()
    await workbench.runCommand('View: Close Editor')
  })
})
