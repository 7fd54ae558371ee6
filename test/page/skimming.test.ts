import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { waitFor } from '../host/wait-for.ts'
import { PageSuite } from '../support/page/page-suite.ts'
import type { PageWindow } from '../support/page/page-window.ts'
import { ConversationPage } from '../ui/support/conversation-page.ts'
import { fixtureAgent } from '../ui/support/fixture-agent.ts'

describe('skimming a conversation', () => {
  const vscode = new PageSuite({
    settings: root => ({ 'parley.agents': { fixture: fixtureAgent(root, 'Fixture') } }),
  })
  const read = (name: string) => readFileSync(join(dirname(vscode.workspace), 'planets-api', name), 'utf8')
  let workbench: PageWindow
  let conversation: ConversationPage

  beforeEach(async () => {
    workbench = await vscode.sharedWindow()
    conversation = await ConversationPage.startSession(workbench, 'Fixture')
  })
  const line = () => conversation.frame.getByRole('group', { name: 'End of turn' })

  const tools = '[[tool a]] [[tool b]] [[tool c]] [[tool d]] [[tool e]]'

  it('ends a turn that did several things with a line that copies its whole answer and reverts its changes', async () => {
    await conversation.runTurn('[[cost 0.5]] [[say Hello.]]')
    assert.equal(await line().count(), 0)
    await conversation.runTurn(
      `[[say First.]] ${tools} [[write a.txt one]] [[write b.txt two]] [[cost 0.75]] [[say Last.]]`,
    )
    await line()
      .filter({ hasText: /5 tools · 2 files \+2 · \$0\.25/ })
      .waitFor()
    await conversation.runTurn('[[write c.txt three]]')

    await line().getByRole('button', { name: 'Copy Answer' }).click()
    await waitFor('the answer', async () =>
      /^First\..*Last\.$/s.test(String(await workbench.host.call('clipboard'))),
    )

    await line().getByRole('button', { name: 'Revert Changes of This Turn…' }).click()
    await workbench.page.locator('.monaco-dialog-box').getByRole('button', { name: 'Revert' }).click()
    await conversation.frame.getByRole('region', { name: 'Changed files' }).getByText('1 file').waitFor()
    assert.match(read('c.txt'), /three/)
  })

  it('shows completed edits in a row as one row, and each of them when it is expanded', async () => {
    await conversation.send('[[say Go.]] [[edits 5]] [[say Done.]]')
    const { frame } = conversation
    const lines = frame.locator('.row-tool')
    for (let i = 0; i < 5; i++) {
      const box = frame.getByRole('group', { name: /^Permission needed/ }).filter({ hasText: `e${i}.txt` })
      await box.getByRole('button', { name: 'Allow', exact: true }).click()
    }
    const run = frame.getByRole('button', { name: /^Edited 5 files/ })
    await run.filter({ hasText: '+10−5' }).waitFor()
    assert.equal(await lines.count(), 0)
    await run.press('Enter')
    await waitFor('each edit', async () => (await lines.count()) === 5)
    await lines.nth(3).getByRole('button').press('Enter')
    await lines.nth(3).getByText('new').waitFor()
    await run.press('Enter')
    await lines.first().waitFor({ state: 'detached' })
    assert.equal(await run.evaluate(element => element === element.ownerDocument.activeElement), true)
  })

  it('leaves the focus in an edit that becomes part of a row', async () => {
    await conversation.send('[[edits 4]]')
    const { frame } = conversation
    const lines = frame.locator('.row-tool')
    const box = (i: number) =>
      frame.getByRole('group', { name: /^Permission needed/ }).filter({ hasText: `e${i}.txt` })
    for (let i = 0; i < 3; i++) await box(i).getByRole('button', { name: 'Allow', exact: true }).click()
    // the last request takes the focus
    await box(3).locator(':focus').waitFor()
    await lines.nth(1).getByRole('button').focus()
    const last = box(3).getByRole('button', { name: 'Allow', exact: true })
    await last.evaluate(element => element instanceof HTMLElement && element.click())
    await frame.getByRole('button', { name: /^Edited 4 files/, expanded: true }).waitFor()
    const focused = lines.getByRole('button').and(frame.locator(':focus'))
    await focused.filter({ hasText: 'e1.txt' }).waitFor()
  })

  it('goes all the way with Home and End, and by pages, past rows that were never in view', async () => {
    for (let i = 0; i < 4; i++) await conversation.runTurn('[[paced 120 1 60]]')
    const list = conversation.frame.locator('.transcript')
    await list.focus()
    const above = () => list.evaluate(element => element.scrollTop)
    const below = () =>
      list.evaluate(element => element.scrollHeight - element.clientHeight - element.scrollTop)
    const { keyboard } = workbench.page
    await keyboard.press('PageUp')
    await waitFor('a page', async () => {
      const page = await list.evaluate(element => element.clientHeight)
      const distance = await below()
      return distance > page / 2 && distance < page
    })
    await keyboard.press('Home')
    await waitFor('the start', async () => (await above()) === 0)
    await keyboard.press('PageDown')
    await waitFor('the next page', async () => (await above()) > 0)
    await keyboard.press('End')
    await waitFor('the end', async () => (await below()) < 2)
  })

  it('keeps the prompt of the turn in view above it, moves nothing thereby, and goes there on a click', async () => {
    await conversation.runTurn('First question [[paced 100 1 60]]')
    await conversation.runTurn('Second question [[paced 100 1 60]]')
    const { frame } = conversation
    const list = frame.locator('.transcript')
    const prompt = frame.locator('.turn-prompt')
    await prompt.filter({ hasText: 'Second question' }).waitFor()
    await waitFor('the start', () =>
      list.evaluate(element => {
        element.scrollTop = 0
        return element.querySelector('.row-prompt')?.textContent?.includes('First question') ?? false
      }),
    )
    await prompt.waitFor({ state: 'detached' })
    const top = (text: string) =>
      list.evaluate((element, wanted) => {
        const rows = [...element.querySelectorAll('.row-markdown')]
        return rows.find(row => row.textContent?.includes(wanted))?.getBoundingClientRect().top
      }, text)
    const word = await list.evaluate(
      element => element.querySelectorAll('.row-markdown')[1]?.textContent ?? '',
    )
    const before = await top(word)
    await list.evaluate(element => element.scrollBy(0, 100))
    await prompt.filter({ hasText: 'First question' }).waitFor()
    const after = await top(word)
    assert.ok(
      before !== undefined && after !== undefined && Math.abs(before - after - 100) < 2,
      `${before} ${after}`,
    )
    await prompt.click()
    await prompt.waitFor({ state: 'detached' })
    await frame.locator('.row-prompt', { hasText: 'First question' }).waitFor()
  })

  it('keeps the prompt there although the entries between it and the view were never fetched', async () => {
    const many = Array.from({ length: 300 }, (_, at) => `[[tool t${at}]] [[think of it]]`).join(' ')
    await conversation.runTurn(`Far above ${many} [[say Done.]]`)
    await workbench.reload()
    const { frame } = await ConversationPage.find(workbench)
    await frame.locator('.turn-prompt', { hasText: 'Far above' }).waitFor()
    await frame.locator('.turn-prompt').click()
    await frame.locator('.row-prompt', { hasText: 'Far above' }).waitFor()
  })

  it('opens the outline at the turn in view', async () => {
    for (const name of ['One', 'Two', 'Three']) await conversation.runTurn(`${name} [[paced 60 1 60]]`)
    const list = conversation.frame.locator('.transcript')
    const { keyboard } = workbench.page
    const opens = async (prompt: RegExp) => {
      await workbench.palette.locator('.monaco-list-row.focused', { hasText: prompt }).waitFor()
      await keyboard.press('Escape')
      await workbench.palette.waitFor({ state: 'hidden' })
    }
    await list.focus()
    await keyboard.press('ControlOrMeta+Shift+o')
    await opens(/3: Three/)

    await list.focus()
    await keyboard.press('Home')
    await waitFor('the start', () => list.evaluate(element => element.scrollTop === 0))
    await workbench.runCommand('Parley: Go to Prompt (Outline)…')
    await opens(/1: One/)

    await list.focus()
    await keyboard.press('ControlOrMeta+Shift+o')
    await workbench.pick('2: Two')
    const prompt = conversation.frame.locator('.row-prompt', { hasText: 'Two' })
    const top = async () => (await list.boundingBox())?.y ?? Number.NaN
    await waitFor('the prompt at the upper edge', async () => {
      const box = await prompt.boundingBox()
      return box !== null && Math.abs(box.y - (await top())) < 40
    })
    await list.evaluate(element => element.scrollBy(0, 100))
    await conversation.frame.locator('.turn-prompt', { hasText: 'Two' }).waitFor()
    await list.focus()
    await keyboard.press('ControlOrMeta+Shift+o')
    await opens(/2: Two/)
  })

  it('collapses and expands all turns with the keys of the editor', async () => {
    for (const name of ['One', 'Two'])
      await conversation.runTurn(`${name}. ${tools} [[say Done with ${name}.]]`)
    await conversation.frame.locator('.transcript').focus()
    await workbench.page.keyboard.press('ControlOrMeta+k')
    await workbench.page.keyboard.press('ControlOrMeta+0')
    await waitFor('both collapsed', async () => {
      const folded = line().getByRole('button', { expanded: false })
      return (await folded.count()) === 2
    })
    assert.equal(await conversation.frame.locator('.row-markdown').count(), 0)
    assert.equal(await conversation.frame.locator('.row-prompt').count(), 2)
    await workbench.page.keyboard.press('ControlOrMeta+k')
    await workbench.page.keyboard.press('ControlOrMeta+j')
    await conversation.frame.locator('.row-markdown', { hasText: 'Done with Two.' }).waitFor()
  })

  it('covers no text with the button that scrolls to the end', async () => {
    await conversation.runTurn('[[paced 200 1 60]]')
    await conversation.frame.locator('.transcript').focus()
    await workbench.page.keyboard.press('Home')
    // its text may say what has come since
    const jump = conversation.frame.getByTitle('Scroll to Latest Message')
    await jump.waitFor()
    const [list, button] = await Promise.all([
      conversation.frame.locator('.transcript').boundingBox(),
      jump.boundingBox(),
    ])
    assert.ok(list && button && button.y >= list.y + list.height, JSON.stringify({ list, button }))
    await jump.click()
    await jump.waitFor({ state: 'detached' })
    await waitFor('the end', () =>
      conversation.frame
        .locator('.transcript')
        .evaluate(({ scrollHeight, clientHeight, scrollTop }) => scrollHeight - clientHeight - scrollTop < 5),
    )
  })

  it('collapses a turn to its prompt and that line, and find expands it', async () => {
    await conversation.runTurn(`One. ${tools} [[say A needle in it.]]`)
    await conversation.runTurn('Two. [[say Nothing.]]')
    await line().getByRole('button', { expanded: true }).click()
    const needle = conversation.frame.locator('.row-markdown', { hasText: 'A needle in it.' })
    await needle.waitFor({ state: 'detached' })
    await line().getByRole('button', { expanded: false }).waitFor()
    await workbench.page.keyboard.press('ControlOrMeta+f')
    await conversation.frame.getByRole('textbox', { name: 'Find' }).fill('A needle')
    // the first one is in the prompt
    await conversation.frame.locator('.find-count', { hasText: '1 of 2' }).waitFor()
    await workbench.page.keyboard.press('Enter')
    await needle.waitFor()
    await line().getByRole('button', { expanded: true }).waitFor()
  })
})
