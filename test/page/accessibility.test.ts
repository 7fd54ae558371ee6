import assert from 'node:assert/strict'
import type { Frame } from 'playwright-core'
import { waitFor } from '../host/wait-for.ts'
import { screenshotAgents } from '../screenshots/agents.ts'
import { PageSuite } from '../support/page/page-suite.ts'
import type { PageWindow } from '../support/page/page-window.ts'
import { axeViolations, evaluateInThemes, readThemeLooks, type ThemeLook } from '../ui/support/axe.ts'
import { pasteImage } from '../ui/support/clipboard.ts'
import { ConversationPage } from '../ui/support/conversation-page.ts'
import { HistoryPage } from '../ui/support/history-page.ts'

describe('axe finds no problems in four themes with', () => {
  const vscode = new PageSuite({ settings: root => ({ 'parley.agents': screenshotAgents(root) }) })
  let workbench: PageWindow
  let looks: ThemeLook[] | undefined

  beforeEach(async () => {
    workbench = await vscode.sharedWindow()
    if (looks) return
    await workbench.openViewContainer('Parley')
    looks = await readThemeLooks(workbench, 'body[data-view="conversation"]')
  })

  const passes = async (frame: Frame) => {
    const found = await axeViolations(frame, looks ?? [])
    assert.equal(found.length, 0, `\n${found.join('\n')}`)
  }
  const stands = async (frame: Frame, selector: string, least: number) => {
    const ratio = `parleyLook.contrast(${JSON.stringify(selector)})`
    for (const { kind, seen } of await evaluateInThemes<number>(frame, looks ?? [], ratio))
      assert.ok(seen >= least && seen < 22, `${selector} in ${kind}: ${seen}`)
  }
  const begin = (agent: string) => ConversationPage.startSession(workbench, agent)
  const ended = (conversation: ConversationPage) =>
    conversation.button(/^Stop \(/).waitFor({ state: 'detached' })

  /** Starts a session with an agent, sends a prompt, and waits for the end of the turn. */
  async function answered(agent: string, prompt: string, text: string | RegExp): Promise<ConversationPage> {
    const conversation = await begin(agent)
    await conversation.send(prompt)
    await conversation.text(text).waitFor()
    await ended(conversation)
    return conversation
  }

  it('the empty view', async () => {
    const { frame } = await ConversationPage.open(workbench)
    await frame.getByRole('button', { name: /Try the Demo Agent/ }).waitFor()
    await passes(frame)
  })

  it('the session switcher, with a session that needs an answer', async () => {
    const conversation = await begin('Demo Agent')
    await conversation.send('Look at planets.js, please')
    await conversation.permission.waitFor()
    await conversation.frame.locator('.header-sessions').click()
    await conversation.frame.locator('.switcher .state-waiting').waitFor()
    // the colors of a row that isn't selected
    await workbench.page.keyboard.press('End')
    await passes(conversation.frame)
    await workbench.page.keyboard.press('Escape')
    await conversation.button(/^Stop \(/).click()
    await ended(conversation)
  })

  it('requests for an edit and a command, then expanded tool calls, answered requests and the plan', async () => {
    const conversation = await begin('Demo Agent')
    await passes(conversation.frame)
    await conversation.send('Look at planets.js, please')
    for (const question of ['Allow this edit?', 'Allow running this command?']) {
      const permission = conversation.permission.filter({ hasText: question })
      await permission.waitFor()
      // opened once, it stays open
      if (question === 'Allow this edit?')
        await conversation.frame.getByRole('region', { name: 'Plan' }).getByRole('button').click()
      await passes(conversation.frame)
      await stands(conversation.frame, '.permission-options .key', 4.5)
      await permission.getByRole('button', { name: 'Create Rule…' }).click()
      await conversation.frame.getByRole('dialog').getByRole('radio').first().waitFor()
      await passes(conversation.frame)
      await workbench.page.keyboard.press('Escape')
      await permission.getByRole('button', { name: 'Allow once' }).click()
      await permission.waitFor({ state: 'detached' })
    }
    await conversation.text('exit code 0').waitFor()
    await ended(conversation)
    const { frame } = conversation
    for (const row of [/^Read: Read planets/, /^Edit: Edit planets/, /^Command: ls -la/])
      await conversation.button(row).first().click()
    await frame.locator('.terminal').first().waitFor()
    await frame.getByRole('region', { name: 'Changed files' }).getByRole('button').first().click()
    for (const fold of await frame.locator('details.fold > summary').all()) await fold.click()
    await passes(frame)
  })

  it('open details, menus and command lists', async () => {
    const conversation = await begin('Demo Agent')
    const { frame } = conversation
    await conversation.openDetails()
    await passes(frame)
    await frame.getByRole('dialog').press('Escape')
    await conversation.button(/^Mode: /).click()
    await frame.getByRole('listbox').waitFor()
    await passes(frame)
    await workbench.page.keyboard.press('Escape')
    await frame.getByRole('listbox').waitFor({ state: 'detached' })
    await conversation.composer.focus()
    await workbench.page.keyboard.type('/')
    await frame.getByRole('option').first().waitFor()
    await passes(frame)
    await workbench.page.keyboard.press('Escape')
    await workbench.page.keyboard.press('Backspace')
  })

  it('thoughts, streaming text and queued prompts', async () => {
    const conversation = await begin('Fixture')
    const { frame } = conversation
    await conversation.send('[[think about it]] [[plan 3]] [[tool a]] [[paced 4 600 40]]')
    await conversation.text(/c2 /).waitFor()
    await conversation.send('Then run the tests.')
    await conversation.text('Then run the tests.').waitFor()
    await stands(frame, '.thought-line .line-chevron', 3)
    await conversation.button(/^Thought/).click()
    await passes(frame)
    await conversation.button(/^Stop \(/).click()
    // the turn has ended when the queue as a whole can be sent
    await frame.locator('.queue-title').getByRole('button', { name: 'Send Now', exact: true }).waitFor()
    await passes(frame)
  })

  it('a form, its errors and its answers', async () => {
    const conversation = await begin('Demo Agent')
    await conversation.send('/ask')
    const question = conversation.frame.getByRole('group', { name: /^Answer required/ })
    await question.getByRole('button', { name: 'Submit' }).click()
    await question.getByText('A value is required.').waitFor()
    await passes(conversation.frame)
    await question.getByRole('textbox', { name: 'Your name' }).fill('Ada')
    await question.getByRole('button', { name: 'Submit' }).click()
    await conversation.button(/^Answered/).click()
    await ended(conversation)
    await conversation.send('/visit')
    await question.getByRole('button', { name: /^Open / }).waitFor()
    await passes(conversation.frame)
    await question.getByRole('button', { name: 'Decline' }).click()
    await ended(conversation)
  })

  it('a permission request, with one primary option and none that looks disabled', async () => {
    const conversation = await begin('Fixture')
    await conversation.send('[[permissions 1]]')
    const { frame, permission } = conversation
    await permission.waitFor()
    await passes(frame)
    const seen = await evaluateInThemes<SeenOption[]>(frame, looks ?? [], optionsOfPermission)
    assert.equal(seen.length, 4)
    for (const { kind, seen: options } of seen) {
      const [first, ...others] = options
      assert.ok(first && others.length > 0, kind)
      assert.equal(first.isPrimary, true, kind)
      assert.deepEqual([...new Set(others.map(({ isPrimary }) => isPrimary))], [false], kind)
      // it must look different, not only come first: it's filled, or has a wider border
      const marked = first.background !== others[0]!.background || first.border !== others[0]!.border
      assert.ok(marked, `${kind}: ${JSON.stringify([first, others[0]])}`)
      assert.equal(new Set(others.map(({ background, border }) => `${background} ${border}`)).size, 1, kind)
      for (const { opacity, hasBorder, color, text } of options) {
        assert.equal(opacity, 1, kind)
        assert.ok(hasBorder || color !== text, `${kind}: no edge`)
      }
      for (const { color, text } of others)
        assert.equal(color, text, `${kind}: a color of what can't be used`)
    }
    await conversation.button(/^Stop \(/).click()
    await ended(conversation)
  })

  it('markdown', async () => {
    const { frame } = await answered('Demo Agent', '/markdown', 'That was all of it.')
    await passes(frame)
    await frame.locator('.transcript').press('Home')
    await waitFor('the beginning', () => frame.locator('.row-prompt').isVisible())
    await passes(frame)
  })

  it('images, audio, resources, notices and a failed tool call', async () => {
    const conversation = await begin('Demo Agent')
    for (const prompt of ['/media', '/notice', '/fail', '/compact']) {
      await conversation.runTurn(prompt)
    }
    await conversation.button(/compacted/).waitFor()
    await passes(conversation.frame)
  })

  for (const [what, agent] of [
    ['the card of an agent that is not installed', 'Not Installed'],
    ['the card of an agent that requires sign-in', 'Members Only'],
  ] as const)
    it(what, async () => {
      await begin('Demo Agent')
      await workbench.runAndPick('Parley: New Session with Agent…', agent)
      const { frame } = await ConversationPage.find(workbench)
      await frame.locator('.card').filter({ hasText: agent }).waitFor()
      await passes(frame)
    })

  it('formulas, diagrams and colored diffs', async () => {
    const { frame } = await answered('Formulas', 'Explain', /./)
    await frame.locator('.diagram[data-state="drawn"] img').waitFor()
    await frame.locator('.katex').first().waitFor()
    await passes(frame)
    const conversation = await answered('Edits', 'Edit', 'Done.')
    await conversation.button(/^Edit: Edit parser/).click()
    await conversation.frame.locator('.diff .hljs-keyword').first().waitFor()
    await passes(conversation.frame)
  })

  it('suggested, attached and sent context', async () => {
    const conversation = await begin('Capable')
    const { frame } = conversation
    const { keyboard } = workbench.page
    await conversation.composer.click()
    await keyboard.type('Look at @plan')
    const rows = frame.getByRole('listbox', { name: 'Context' }).getByRole('option')
    await rows.filter({ hasText: 'planets.js' }).first().waitFor()
    await passes(frame)
    await keyboard.press('Enter')
    await pasteImage(frame, 640, 400)
    await frame.getByRole('list', { name: 'Attached' }).getByRole('img').waitFor()
    await passes(frame)
    await conversation.frame.getByRole('button', { name: 'Add Context', exact: true }).click()
    await frame.getByRole('dialog').getByRole('option').first().waitFor()
    await passes(frame)
    await keyboard.press('Escape')
    await conversation.button('Send (Enter)').click()
    await conversation.text('You said').waitFor()
    await ended(conversation)
    await passes(frame)
  })

  it('the find widget', async () => {
    const conversation = await answered('Demo Agent', '/markdown', 'That was all of it.')
    await conversation.composer.press('ControlOrMeta+f')
    await conversation.waitForFocus(conversation.frame.getByRole('search').getByRole('textbox'))
    await workbench.page.keyboard.type('line')
    await conversation.frame.locator('.find-count', { hasText: / of / }).waitFor()
    await passes(conversation.frame)
    await workbench.page.keyboard.press('Escape')
  })

  it('subagents', async () => {
    const { frame } = await answered('Demo Agent', '/delegate', 'Both are done')
    await passes(frame)
  })

  it('the card of an agent that crashed', async () => {
    const conversation = await begin('Crashing')
    await conversation.send('Go')
    const card = conversation.frame.locator('.card')
    await card.first().waitFor()
    for (const fold of await card.locator('summary').all()) await fold.click()
    await passes(conversation.frame)
  })

  it('History, with and without a search', async () => {
    await answered('Demo Agent', '/where is everything', /working directory/)
    const history = await HistoryPage.open(workbench)
    await history.row('/where is everything').waitFor()
    await passes(history.frame)
    await history.search.fill('is everything')
    await waitFor('the only match', async () => (await history.rows.count()) === 1)
    await history.rows.first().hover()
    await passes(history.frame)
    await history.search.fill('nothing of that kind')
    await history.frame.getByText(/No sessions match/).waitFor()
    await passes(history.frame)
    await history.search.fill('')
    const preview = history.frame.getByRole('button', { name: 'Preview Selected Session' })
    await preview.click()
    await history.frame.locator('.history-preview p').first().waitFor()
    await passes(history.frame)
    await preview.click()
    await history.frame.getByRole('button', { name: 'Filter and Group' }).click()
    await history.frame.locator('.menu').waitFor()
    await passes(history.frame)
    await workbench.page.keyboard.press('Escape')
  })
})

/** The style of an option: `text` is its visible text color. */
interface SeenOption {
  isPrimary: boolean
  background: string
  border: string
  color: string
  text: string
  opacity: number
  hasBorder: boolean
}

/** The options of the displayed permission request. */
const optionsOfPermission = `[...document.querySelectorAll('.permission.first .button[data-option]')].map(option => {
  const { backgroundColor, borderTopWidth, borderTopColor, color, opacity } = getComputedStyle(option)
  return {
    isPrimary: option.hasAttribute('data-primary'),
    background: backgroundColor,
    border: borderTopWidth + ' ' + borderTopColor,
    color,
    text: getComputedStyle(document.body).color,
    opacity: Number(opacity),
    hasBorder: parseFloat(borderTopWidth) > 0 && !/, 0\\)$|transparent/.test(borderTopColor),
  }
})`
