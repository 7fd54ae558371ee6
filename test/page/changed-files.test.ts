import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Locator } from 'playwright-core'
import { waitFor } from '../host/wait-for.ts'
import { openFile, replaceWord } from '../support/page/editor.ts'
import { PageSuite } from '../support/page/page-suite.ts'
import type { PageWindow } from '../support/page/page-window.ts'
import { ConversationPage } from '../ui/support/conversation-page.ts'
import { fixtureAgent } from '../ui/support/fixture-agent.ts'

describe('the changes of a session', () => {
  const vscode = new PageSuite({
    settings: root => ({ 'parley.agents': { liar: fixtureAgent(root, 'Liar') } }),
  })
  const file = (name: string) => join(dirname(vscode.workspace), 'planets-api', name)
  const planets = () => readFileSync(file('planets.js'), 'utf8')
  let workbench: PageWindow
  let conversation: ConversationPage

  beforeEach(async () => {
    workbench = await vscode.sharedWindow()
    conversation = await ConversationPage.startSession(workbench, 'Liar')
  })
  const bar = () => conversation.frame.getByRole('region', { name: 'Changed files' })
  const write = async (name: string, words: string) => {
    await conversation.send(`[[write ${name} ${words}]]`)
    await waitFor(`change of ${name}`, () => read(name)?.includes(words))
  }
  const read = (name: string) => (existsSync(file(name)) ? readFileSync(file(name), 'utf8') : undefined)
  const isBack = (name: string, text: string) => waitFor(`${name} as it was`, () => read(name) === text)
  const isGone = (name: string) => waitFor(`the end of ${name}`, () => !existsSync(file(name)))
  const confirm = () =>
    workbench.page.locator('.monaco-dialog-box').getByRole('button', { name: 'Revert' }).click()

  it('include those of a command in a repository, marked as uncertain and reverted only after a warning', async () => {
    const before = planets()
    const git = (...args: string[]) => execFileSync('git', args, { cwd: dirname(file('planets.js')) })
    git('init', '-q')
    git('add', '.')
    git('-c', 'user.name=t', '-c', 'user.email=t@t.example', 'commit', '-q', '-m', 'first')
    // a model takes at least this long for its first word
    await conversation.send('[[paced 10 3]] [[run echo changed >> planets.js; echo new > made.txt]]')
    await bar().getByText('2 files').waitFor()
    const list = bar().getByRole('button', { name: /2 files/ })
    // the list may still be open from the previous session
    if ((await list.getAttribute('aria-expanded')) === 'false') await list.click()
    await bar()
      .getByRole('button', { name: /^Modified: planets\.js.*Changed on disk during the turn/ })
      .waitFor()
    await bar().getByRole('button', { name: 'Revert All Changes…' }).click()
    await workbench.page
      .locator('.monaco-dialog-box')
      .getByText(/weren't reported by the agent/)
      .waitFor()
    await confirm()
    await bar().waitFor({ state: 'detached' })
    await isBack('planets.js', before)
    await isGone('made.txt')
    rmSync(join(dirname(file('planets.js')), '.git'), { recursive: true })
  })

  it('are a list of any length, of which the rows near the view are drawn, and a reverted new file offers nothing', async () => {
    const names = Array.from({ length: 70 }, (_, i) => `made-${i + 10}.txt`)
    await conversation.runTurn(names.map(name => `[[write ${name} x]]`).join(' '))
    await bar().getByText('70 files').waitFor()
    const line = bar().getByRole('button', { name: /70 files/ })
    if ((await line.getAttribute('aria-expanded')) === 'false') await line.click()
    const area = bar().getByRole('group', { name: 'Changed files' })
    const row = (name: string) => area.getByRole('listitem').filter({ hasText: name })
    const search = bar().getByRole('searchbox', { name: 'Search changed files' })
    await search.pressSequentially('TXT made-7')
    await waitFor('the found files', async () => (await area.getByRole('listitem').count()) === 10)
    assert.equal(await row('made-70.txt').getAttribute('aria-setsize'), '10')
    await search.fill('elsewhere')
    await bar().getByText('No results').waitFor()
    await search.press('Escape')
    await conversation.waitForFocus(search)
    await row('made-10.txt').getByRole('button').first().focus()
    assert.equal(await row('made-10.txt').getAttribute('aria-setsize'), '70')
    assert.equal(await row('made-79.txt').count(), 0)
    await area.evaluate(list => list.scrollTo(0, list.scrollHeight))
    await row('made-79.txt').waitFor()
    assert.equal(await row('made-79.txt').getAttribute('aria-posinset'), '70')
    assert.equal(await row('made-10.txt').count(), 0)
    await conversation.waitForFocus(area)

    // a decision with the keyboard keeps the focus, although its button goes
    const kept = row('made-60.txt')
    await kept.getByRole('button', { name: 'Keep Changes in made-60.txt' }).press('Enter')
    await conversation.waitForFocus(kept.getByRole('button', { name: /^Kept: made-60/ }))
    await row('made-79.txt').hover()
    await row('made-79.txt').getByRole('button', { name: 'Revert Changes in made-79.txt' }).click()
    const reverted = row('made-79.txt').getByRole('button', { name: /^Reverted: made-79/ })
    await reverted.waitFor()
    assert.equal(await reverted.getAttribute('aria-disabled'), 'true')
    assert.doesNotMatch((await reverted.getAttribute('title')) ?? '', /Open/)
    await bar().getByRole('button', { name: 'Revert All Changes…' }).click()
    await confirm()
    await bar().waitFor({ state: 'detached' })
  })

  it('get the focus back after a question, and pass it on with the last decision', async () => {
    await conversation.runTurn('[[write a.txt a]] [[write b.txt b]]')
    const line = bar().getByRole('button', { name: /2 files/ })
    if ((await line.getAttribute('aria-expanded')) === 'false') await line.click()
    const dialog = workbench.page.locator('.monaco-dialog-box')
    const answer = async (asks: Locator, button: string) => {
      await dialog.getByRole('button', { name: button }).press('Enter')
      await dialog.waitFor({ state: 'detached' })
      await conversation.waitForFocus(asks)
    }
    const all = bar().getByRole('button', { name: 'Revert All Changes…' })
    await all.press('Enter')
    await answer(all, 'Cancel')
    const row = (name: string) => bar().getByRole('listitem').filter({ hasText: name })
    await bar().getByRole('button', { name: 'Revert Changes in a.txt' }).press('Enter')
    await row('a.txt').getByText('Reverted').first().waitFor()
    await conversation.waitForFocus(row('a.txt').getByRole('button').first())
    await bar().getByRole('button', { name: 'Keep Changes in b.txt' }).press('Enter')
    await bar().waitFor({ state: 'detached' })
    await conversation.waitForFocus(conversation.composer)
    rmSync(file('b.txt'))
  })

  it('have counts of lines that are whole or left out in a narrow side bar', async () => {
    const before = planets()
    await workbench.setSideBarWidth(280 + 48)
    await conversation.send(`[[paced 10 3]] [[run seq 54321 > planets.js]]`)
    await bar().getByText('1 file').waitFor()
    const counts = bar().locator('.changes-bar .diff-counts')
    await counts.getByText('+54,321').waitFor({ state: 'attached' })
    const state = () =>
      counts.evaluate(shown => {
        const [inner, outer] = [shown, shown.closest('.line-title')!].map(one => one.getBoundingClientRect())
        if (inner!.top >= outer!.bottom) return 'left out'
        return inner!.right <= outer!.right + 1 ? 'whole' : 'cut'
      })
    await waitFor('no room for counts', async () => (await state()) === 'left out')
    await workbench.setSideBarWidth(460 + 48)
    await waitFor('whole counts', async () => (await state()) === 'whole')
    await bar().getByRole('button', { name: 'Revert All Changes…' }).click()
    await confirm()
    await isBack('planets.js', before)
  })

  it('include a file that a command moved, even without a repository, and its old name can be restored', async () => {
    const before = planets()
    await conversation.send('[[paced 10 3]] [[run mv planets.js worlds.js]]')
    await bar().getByText('1 file').waitFor()
    const list = bar().getByRole('button', { name: /1 file/ })
    if ((await list.getAttribute('aria-expanded')) === 'false') await list.click()
    await bar()
      .getByRole('button', { name: /^Renamed: worlds\.js.*was planets\.js/ })
      .click()
    await workbench.page.locator('.tab.active', { hasText: 'worlds.js' }).waitFor()
    await bar().getByRole('button', { name: 'Revert All Changes…' }).click()
    await workbench.page
      .locator('.monaco-dialog-box')
      .getByText(/get their old names back/)
      .waitFor()
    await confirm()
    await bar().waitFor({ state: 'detached' })
    await isBack('planets.js', before)
    await isGone('worlds.js')
  })

  it('can be reviewed after their agent exited', async () => {
    const before = planets()
    await write('planets.js', 'last words')
    await bar().getByText('1 file').waitFor()
    await conversation.send('[[crash 7]]')
    await conversation.card('Liar stopped').waitFor()
    await bar().getByRole('button', { name: 'Review', exact: true }).click()
    await workbench.page.locator('.tab.active', { hasText: 'Changed Files (1 file)' }).waitFor()
    writeFileSync(file('planets.js'), before)
  })

  it("can be kept, and aren't reverted where the user edited them later", async () => {
    const before = planets()
    await write('planets.js', 'mine')
    await bar().getByText('1 file').waitFor()
    // in the editor: a change on disk at the end of the turn would count as the agent's
    await openFile(workbench, 'planets.js')
    await replaceWord(workbench, 'mine', 'yours')
    await isBack('planets.js', 'yours\n')
    await bar().getByRole('button', { name: 'Revert All Changes…' }).click()
    await confirm()
    await workbench.notification('You edited lines that the agent changed').waitFor()
    assert.equal(planets(), 'yours\n')
    await bar().getByRole('button', { name: 'Keep All Changes' }).click()
    await bar().waitFor({ state: 'detached' })
    writeFileSync(file('planets.js'), before)
  })

  it('are in the order of the review, and marked when they are decided, until all are', async () => {
    await conversation.send('[[write c.txt c]] [[write b.txt b]] [[write a.txt a]]')
    await bar().getByText('3 files').waitFor()
    const list = () => bar().getByRole('button', { name: /\d files?/ })
    if ((await list().getAttribute('aria-expanded')) === 'false') await list().click()
    const rows = () => bar().locator('.changes-file')
    const shows = (...names: RegExp[]) =>
      waitFor(names.join(), async () => {
        const all = await rows().evaluateAll(found =>
          found.map(row => row.querySelector('.line')!.textContent),
        )
        return all.length === names.length && all.every((row, i) => names[i]!.test(row ?? ''))
      })
    await shows(/Added: a\.txt/, /Added: b\.txt/, /Added: c\.txt/)
    const button = async (name: string) => {
      const found = bar().getByRole('button', { name })
      await found.focus()
      await found.press('Enter')
    }
    await button('Keep Changes in b.txt')
    await shows(/Added: a\.txt/, /Kept: b\.txt/, /Added: c\.txt/)
    await bar().getByText('1 of 3 decided').waitFor({ state: 'attached' })
    await workbench.reload()
    conversation = await ConversationPage.find(workbench)
    await list().click()
    await shows(/Added: a\.txt/, /Kept: b\.txt/, /Added: c\.txt/)
    await button('Revert Changes in c.txt')
    await shows(/Added: a\.txt/, /Kept: b\.txt/, /Reverted: c\.txt/)
    await isGone('c.txt')
    // also after a reload
    await workbench.reload()
    conversation = await ConversationPage.find(workbench)
    await list().click()
    await shows(/Added: a\.txt/, /Kept: b\.txt/, /Reverted: c\.txt/)
    await workbench.runCommand('Parley: Undo Last Keep or Revert')
    await shows(/Added: a\.txt/, /Kept: b\.txt/, /Added: c\.txt/)
    await waitFor('the restored file', () => existsSync(file('c.txt')))
    await button('Revert Changes in c.txt')
    await shows(/Added: a\.txt/, /Kept: b\.txt/, /Reverted: c\.txt/)
    await rows().nth(1).getByRole('button').click()
    await workbench.page.locator('.tab.active', { hasText: 'b.txt' }).waitFor()
    await button('Revert Changes in a.txt')
    await bar().waitFor({ state: 'detached' })
    await Promise.all([isGone('a.txt'), isGone('c.txt')])
    rmSync(file('b.txt'))
  })

  it('that are kept or reverted can be undone on the row of their file, a revert also after a reload', async () => {
    const before = planets()
    await conversation.runTurn('[[write planets.js agent]] [[write b.txt b]] [[write a.txt a]]')
    await bar().getByText('3 files').waitFor()
    const list = () => bar().getByRole('button', { name: /\d files?/ })
    if ((await list().getAttribute('aria-expanded')) === 'false') await list().click()
    const line = (name: RegExp) => bar().getByRole('button', { name })
    const press = (name: string) => bar().getByRole('button', { name }).press('Enter')
    const undo = (name: string) => bar().getByRole('button', { name: `Undo Keep or Revert in ${name}` })
    assert.equal(await undo('a.txt').count(), 0)
    await press('Keep Changes in a.txt')
    await line(/^Kept: a\.txt/).waitFor()
    await press('Revert Changes in b.txt')
    await line(/^Reverted: b\.txt/).waitFor()
    await isGone('b.txt')
    // not the latest decision
    await undo('a.txt').press('Enter')
    await line(/^Added: a\.txt/).waitFor()
    await conversation.waitForFocus(line(/^Added: a\.txt/))
    await undo('a.txt').waitFor({ state: 'detached' })
    assert.ok(!existsSync(file('b.txt')))
    // what the user types stays, also unsaved
    await press('Revert Changes in planets.js')
    await line(/^Reverted: planets\.js/).waitFor()
    await isBack('planets.js', before)
    await openFile(workbench, 'planets.js')
    await replaceWord(workbench, 'Mars', 'Pluto', false)
    await undo('planets.js').press('Enter')
    await workbench.notification("weren't restored because they have unsaved changes").waitFor()
    assert.equal(planets(), before)
    await replaceWord(workbench, 'Pluto', 'Mars')
    await undo('planets.js').press('Enter')
    await line(/^Modified: planets\.js/).waitFor()
    await isBack('planets.js', 'agent\n')
    await workbench.reload()
    conversation = await ConversationPage.find(workbench)
    await list().click()
    await line(/^Reverted: b\.txt/).waitFor()
    await undo('b.txt').press('Enter')
    await line(/^Added: b\.txt/).waitFor()
    await isBack('b.txt', 'b\n')
    await bar().getByRole('button', { name: 'Revert All Changes…' }).click()
    await confirm()
    await bar().waitFor({ state: 'detached' })
    await Promise.all([isGone('a.txt'), isGone('b.txt'), isBack('planets.js', before)])
  })

  it('are restored after a reload', async () => {
    await write('moons.txt', 'Titan')
    await bar().getByText('1 file').waitFor()
    await workbench.reload()
    conversation = await ConversationPage.find(workbench)
    await bar().getByText('1 file').waitFor()
    await bar().getByRole('button', { name: 'Revert All Changes…' }).click()
    await confirm()
    await bar().waitFor({ state: 'detached' })
    await isGone('moons.txt')
  })
})
