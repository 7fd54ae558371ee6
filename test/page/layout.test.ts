import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { waitFor } from '../host/wait-for.ts'
import { names, screenshotAgents } from '../screenshots/agents.ts'
import { openFile } from '../support/page/editor.ts'
import { PageSuite } from '../support/page/page-suite.ts'
import type { PageWindow } from '../support/page/page-window.ts'
import { ConversationPage } from '../ui/support/conversation-page.ts'
import { HistoryPage } from '../ui/support/history-page.ts'
import { animatedElements, layoutProblems } from '../ui/support/layout.ts'

/** Its width in pixels is a part of the side bar's here. */
const ACTIVITY_BAR = 48

describe('the views', () => {
  const vscode = new PageSuite({
    settings: root => {
      // as many commands as the palette shows in a small window
      const { fixture, rtl, ...others } = screenshotAgents(root)
      return { 'parley.agents': { fixture, rtl, long: others['long-names'] } }
    },
  })

  const fits = async ({ frame }: { frame: ConversationPage['frame'] }, where: string) =>
    assert.deepEqual(await layoutProblems(frame), [], where)
  const ended = (conversation: ConversationPage) =>
    conversation.button(/^Stop \(/).waitFor({ state: 'detached' })

  /** A turn with a plan (its entries, and how many are done) and new files, which don't exist yet on a retry either. */
  async function planAndWrite(conversation: ConversationPage, plan: string, count: number): Promise<void> {
    const id = randomUUID()
    const files = Array.from({ length: count }, (_, at) => `[[write moon-${id}-${at}.txt Io]]`).join(' ')
    await conversation.send(`[[plan ${plan}]] ${files} [[say All is written.]]`)
    await conversation.agentMessage('All is written.').waitFor()
    await ended(conversation)
  }

  /** Shows the states with the most content, one after the other. */
  async function look(workbench: PageWindow, where: string): Promise<void> {
    const empty = await ConversationPage.open(workbench)
    await workbench.setSideBarWidth(280 + ACTIVITY_BAR)
    await empty.button(/Try the Demo Agent/).waitFor()
    await fits(empty, `${where}: empty`)

    const conversation = await ConversationPage.startSession(workbench, 'Demo Agent')
    await conversation.send('Look at planets.js, please')
    for (const question of ['Allow this edit?', 'Allow running this command?']) {
      const permission = conversation.permission.filter({ hasText: question })
      await permission.waitFor()
      await fits(conversation, `${where}: ${question}`)
      if (question === 'Allow this edit?') {
        await permission.locator('.diff-line').first().waitFor()
        const lines = await conversation.frame.evaluate(linesOfDiff)
        assert.deepEqual(lines, { wrapped: true, sideways: 0 }, where)
      } else {
        await permission.getByRole('button', { name: 'Create Rule…' }).click()
        const save = conversation.button('Save in User Settings')
        await save.waitFor()
        const seen = () => conversation.frame.evaluate<boolean>(buttonsSeen)
        await waitFor(`${where}: the buttons that save a rule`, seen)
        await workbench.page.keyboard.press('Escape')
        await save.waitFor({ state: 'detached' })
      }
      await permission.getByRole('button', { name: 'Allow once' }).click()
      await permission.waitFor({ state: 'detached' })
    }
    await ended(conversation)
    await conversation.openDetails()
    await fits(conversation, `${where}: details`)
    await workbench.page.keyboard.press('Escape')
    for (const row of [/^Command: ls -la/, /^Edit: Edit planets\.js/]) {
      const button = conversation.button(row).first()
      // a small view draws only the last rows
      await waitFor(`${row}`, async () => {
        if ((await button.count()) > 0) return true
        await conversation.frame.locator('.transcript').evaluate(list => list.scrollBy(0, -100))
        return false
      })
      await button.click()
    }
    await conversation.send('/ask')
    await conversation.text('How do you like your demo?').waitFor()
    await fits(conversation, `${where}: form`)
    await conversation.button(/^Stop \(/).click()
    await ended(conversation)

    const long = await ConversationPage.startSession(workbench, names.long.slice(0, 30))
    await long.send('Begin')
    await long.text(/averylongword/).waitFor()
    await ended(long)
    await fits(long, `${where}: long names`)

    const history = await HistoryPage.open(workbench)
    await history.rows.first().waitFor()
    await fits(history, `${where}: History`)
    // so that the next window doesn't restore this state
    await history.back()
  }

  it('fit into a side bar of 280 pixels', async () => {
    await look(await vscode.open(), '280 pixels')
  })

  it('fit at a zoom of 200 %', async () => {
    // another folder, in which no session of an earlier window is restored
    const workspace = join(dirname(vscode.workspace), 'planets-api')
    // at double size there is half the space
    await look(await vscode.open({ workspace, viewport: { width: 700, height: 450 } }), '200 %')
  })

  it('keep a request and the composer visible in a short view, whatever is open above the composer', async () => {
    const workbench = await vscode.clearedWindow({ width: 700, height: 450 })
    await ConversationPage.open(workbench)
    const conversation = await ConversationPage.startSession(workbench, 'Fixture')
    const { frame } = conversation
    await planAndWrite(conversation, '12 7', 12)
    const plan = frame.getByRole('region', { name: 'Plan' }).getByRole('button')
    await plan.click()
    await conversation.button(/^12 files/).click()
    await conversation.composer.fill('A line\n'.repeat(20))
    await fits(conversation, 'all open')
    await conversation.composer.fill('')
    await conversation.send('[[permissions 1]]')
    await conversation.permission.waitFor()
    await plan.and(frame.locator('[aria-expanded="false"]')).waitFor()
    for (const prompt of ['One more', 'And another', 'Thanks']) await conversation.send(prompt)
    await frame.getByRole('listitem').filter({ hasText: 'Thanks' }).waitFor()
    await fits(conversation, 'a question')
    await plan.click()
    await fits(conversation, 'a question, and the plan opened')
    await conversation.button(/^12 files/).click()
    await conversation.composer.fill('A line\n'.repeat(20))
    await waitFor('a queue that nothing covers', () => frame.evaluate<boolean>(queueSeen))
    await fits(conversation, 'a question, a queue, and all open')
    await conversation.composer.fill('')
    await conversation.button(/^Stop \(/).click()
    await ended(conversation)
    await plan.and(frame.locator('[aria-expanded="true"]')).waitFor()
  })

  it("leave room for the conversation in a window of 800 pixels, and for the input's menus and hints in a narrow one", async () => {
    // VS Code's title bar, and that of its side bar, take 70 of the 800 pixels
    const workbench = await vscode.clearedWindow({ width: 1280, height: 730 })
    await ConversationPage.open(workbench)
    await workbench.setSideBarWidth(300 + ACTIVITY_BAR)
    // the composer also suggests the active file there
    await openFile(workbench, 'planets.js')
    const demo = await ConversationPage.startSession(workbench, 'Demo Agent')
    await demo.waitUntilReady()
    await demo.button(/^Mode: /).waitFor()
    await demo.button(/^Add planets\.js/).waitFor()
    const menus = await demo.frame.evaluate<string[]>(`
      [...document.querySelectorAll('.options > .option')].slice(0, 2).map(option => {
        const { width } = option.querySelector('.option-chevron').getBoundingClientRect()
        return option.getAttribute('aria-label') + ': ' + (width > 0 ? 'a menu' : 'bare')
      })`)
    assert.equal(menus.length, 2)
    for (const menu of menus) assert.match(menu, /: a menu$/)
    const whole = () =>
      demo.frame.evaluate<boolean>(
        "((words = document.querySelector('.cm-placeholder')) => words?.scrollWidth <= words?.clientWidth)()",
      )
    for (const width of [280, 300]) {
      await workbench.setSideBarWidth(width + ACTIVITY_BAR)
      await waitFor(`hints that are not cut off at ${width} pixels`, whole)
      await demo.composer.getByText(/^Ask Demo Agent… @ for context/).waitFor()
      await fits(demo, `${width} pixels`)
    }

    const conversation = await ConversationPage.startSession(workbench, 'Fixture')
    const { frame } = conversation
    await planAndWrite(conversation, '5 3', 3)
    const plan = frame.getByRole('region', { name: 'Plan' })
    const changed = frame.getByRole('region', { name: 'Changed files' })
    await waitFor(
      'both bars in one row',
      async () => (await plan.boundingBox())?.y === (await changed.boundingBox())?.y,
    )
    await plan.getByRole('button').click()
    await conversation.send('[[permissions 1]]')
    await conversation.permission.waitFor()
    for (const prompt of ['One more', 'And another']) await conversation.send(prompt)
    await frame.getByRole('listitem').filter({ hasText: 'And another' }).waitFor()
    await plan.locator('[aria-expanded="false"]').waitFor()
    const seen = () =>
      frame.evaluate<number>(`(() => {
      const around = document.querySelector('.body').getBoundingClientRect()
      const question = document.querySelector('.permission').getBoundingClientRect()
      const covered = Math.min(question.bottom, around.bottom) - Math.max(question.top, around.top)
      return around.height - Math.max(0, covered)
    })()`)
    await waitFor('240 pixels of conversation', async () => (await seen()) >= 240)
    await fits(conversation, 'a question, a queue, a plan and changed files')
    // a long draft also makes room
    await conversation.composer.fill('A line\n'.repeat(20))
    await waitFor('the whole question above a long draft', () => frame.evaluate<boolean>(questionSeen))
    await fits(conversation, 'a question, a queue and a long draft')
    await conversation.composer.fill('')
    await conversation.button(/^Stop \(/).click()
    await ended(conversation)
  })

  it('show the name of the suggested file in a side bar of any width', async () => {
    const workbench = await vscode.clearedWindow()
    const long = `a-file-whose-name-is-much-too-long-for-a-side-bar-${randomUUID().slice(0, 8)}.test.ts`
    writeFileSync(join(dirname(vscode.workspace), 'planets-api', long), '')
    await ConversationPage.open(workbench)
    const conversation = await ConversationPage.startSession(workbench, 'Demo Agent')
    await conversation.waitUntilReady()
    for (const [file, end] of [
      ['planets.js', 'planets.js'],
      [long, long.slice(-14)],
    ] as const) {
      await openFile(workbench, file)
      const offered = conversation.frame.getByRole('button', { name: `Add ${file} (Alt+Enter)` })
      for (const width of [280, 300, 400, 460, 560]) {
        await workbench.setSideBarWidth(width + ACTIVITY_BAR)
        await offered.waitFor()
        const seen = () => conversation.frame.evaluate<string>(nameOffered)
        await waitFor(`${end} at ${width} pixels`, async () => (await seen()).endsWith(end))
        await fits(conversation, `${file} at ${width} pixels`)
      }
    }
  })

  it('lay out every block in its own text direction', async () => {
    const workbench = await vscode.clearedWindow()
    await ConversationPage.open(workbench)
    const conversation = await ConversationPage.startSession(workbench, 'Right to Left')
    await conversation.send('اقرأ الملف وشغّل الاختبارات من فضلك')
    await conversation.text(names.endOfRightToLeft).waitFor()
    await ended(conversation)
    const { frame } = conversation
    const direction = (text: string) => frame.getByText(text).last().evaluate(directionOf)
    for (const [text, wanted] of [
      ['اقرأ الملف', 'rtl'],
      ['مرحبا! سأقرأ', 'rtl'],
      ['البند الثاني', 'rtl'],
      ['שלום, זוהי', 'rtl'],
      ['And a paragraph in English', 'ltr'],
      [names.endOfRightToLeft, 'ltr'],
    ])
      assert.equal(await direction(text!), wanted, text)
    assert.equal(await frame.locator('h1').evaluate(directionOf), 'rtl')
    await fits(conversation, 'right to left')
  })

  it("don't move if the user prefers reduced motion", async () => {
    const workbench = await vscode.open({ motion: true })
    const conversation = await ConversationPage.startSession(workbench, 'Fixture')
    await conversation.send('[[gate]]')
    const moves = () => waitFor('motion', async () => (await animatedElements(conversation.frame)).length > 0)
    // the page updates in its next frame
    const stands = () =>
      waitFor('standstill', async () => (await animatedElements(conversation.frame)).length === 0)
    // VS Code's own setting is a class of the page
    const inVsCode = (isReduced: boolean) =>
      conversation.frame.evaluate(`document.body.classList.toggle('vscode-reduce-motion', ${isReduced})`)
    await inVsCode(false)
    await moves()
    await workbench.page.emulateMedia({ reducedMotion: 'reduce' })
    await stands()
    await workbench.page.emulateMedia({ reducedMotion: 'no-preference' })
    await moves()
    await inVsCode(true)
    await stands()
    await conversation.button(/^Stop \(/).click()
    await ended(conversation)
  })
})

/** Whether the buttons that save a rule are in the view, and nothing covers them. */
const buttonsSeen = `[...document.querySelectorAll('.popup-buttons button')].every(button => {
  const { left, right, top, bottom } = button.getBoundingClientRect()
  const there = document.elementFromPoint((left + right) / 2, (top + bottom) / 2)
  return top >= 0 && bottom <= innerHeight && button.contains(there)
})`

/** Whether the pending request is in the view from its title to its last option, in a conversation of 240 pixels or more. */
const questionSeen = `(() => {
  const around = document.querySelector('.body').getBoundingClientRect()
  const { top, bottom } = document.querySelector('.permission.first').getBoundingClientRect()
  return around.height >= 240 && top >= around.top && bottom <= around.bottom
})()`

/** Whether none of the open bars reaches into the queue. */
const queueSeen = `[...document.querySelectorAll('.queue-title, .queue li')].every(line => {
  const { left, right, top, bottom } = line.getBoundingClientRect()
  const there = [0.2, 0.5, 0.8].flatMap(part =>
    document.elementsFromPoint((left + right) / 2, top + part * (bottom - top)))
  return !there.some(element => element.closest('.bars'))
})`

/** The visible part of the suggested file name in the input: the parts that aren't cut off, or an ellipsis. */
const nameOffered = `[...document.querySelectorAll('.offered-name > span')].map(part => {
  const { right } = part.getBoundingClientRect()
  const cut = part.scrollWidth > part.clientWidth || right > part.closest('button').getBoundingClientRect().right
  return cut ? '…' : part.textContent
}).join('')`

/** Whether any line of a requested diff is wrapped, and how much of it is hidden at the side. */
const linesOfDiff = `(() => {
  const all = selector => [...document.querySelectorAll('.permission.first ' + selector)]
  const heights = all('.diff-line').map(line => line.offsetHeight)
  const hidden = all('.diff *').map(box => box.scrollWidth - box.clientWidth)
  return { wrapped: Math.max(...heights) > 1.5 * Math.min(...heights), sideways: Math.max(0, ...hidden) }
})()`

/** Runs in the page, whose types aren't available here. */
function directionOf(element: unknown): string {
  const { getComputedStyle } = globalThis as unknown as {
    getComputedStyle(element: unknown): { direction: string }
  }
  return getComputedStyle(element).direction
}
