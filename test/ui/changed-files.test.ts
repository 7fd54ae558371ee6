import { existsSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { waitFor } from '../host/wait-for.ts'
import type { Workbench } from '../host/workbench.ts'
import { ConversationPage } from './support/conversation-page.ts'
import { fixtureAgent } from './support/fixture-agent.ts'
import { VsCodeSuite } from './support/vscode-suite.ts'

describe('the changes of a session', () => {
  const vscode = new VsCodeSuite({
    settings: root => ({ 'parley.agents': { liar: fixtureAgent(root, 'Liar') } }),
  })
  const file = (name: string) => join(dirname(vscode.workspace), 'planets-api', name)
  const planets = () => readFileSync(file('planets.js'), 'utf8')
  let workbench: Workbench
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

  it('are listed above the composer, and open as diffs and in one review editor', async () => {
    const before = planets()
    await write('planets.js', 'flat now')
    await write('moons.txt', 'Io Europa')
    await bar().getByText('2 files').waitFor()
    await bar()
      .getByRole('button', { name: /2 files/ })
      .click()
    await bar()
      .getByRole('button', { name: /^Modified: planets\.js/ })
      .click()
    await workbench.page.locator('.tab', { hasText: 'planets.js (Since Start of Session)' }).waitFor()
    await workbench.page
      .locator('.part.editor .modified .view-line', { hasText: /flat.now/ })
      .first()
      .waitFor()
    await workbench.page.locator('.part.editor .original .view-line').first().waitFor()
    await bar().getByRole('button', { name: 'Review' }).click()
    await workbench.page.locator('.multiDiffEntry', { hasText: 'moons.txt' }).waitFor()
    await workbench.page.locator('.multiDiffEntry', { hasText: 'planets.js' }).waitFor()

    // clicking again shows later changes in the same editor
    await write('comets.txt', 'Halley')
    await bar().getByText('3 files').waitFor()
    await bar().getByRole('button', { name: 'Review' }).click()
    await workbench.page.locator('.multiDiffEntry', { hasText: 'comets.txt' }).waitFor()
    const reviews = workbench.page.locator('.tab', { hasText: 'Changed Files' })
    await waitFor('one editor for all', async () => (await reviews.count()) === 1)

    await bar().getByRole('button', { name: 'Revert All Changes…' }).click()
    await confirm()
    await bar().waitFor({ state: 'detached' })
    await isBack('planets.js', before)
    await isGone('moons.txt')
    await isGone('comets.txt')
  })

  it('disappear when the user undoes them in the diff, or renames or deletes a file that the agent added', async () => {
    const before = planets()
    await workbench.runCommand('View: Close All Editors')
    await write('planets.js', 'flat again')
    await write('moons.txt', 'Io Europa')
    await bar().getByText('2 files').waitFor()
    // a rename during a turn would count as the agent's, so first let a turn without changes end
    await conversation.runTurn('[[say All is written.]]')
    renameSync(file('moons.txt'), file('my-moons.txt'))
    await bar().getByText('1 file', { exact: true }).waitFor()
    const list = bar().getByRole('button', { name: /1 file/ })
    if ((await list.getAttribute('aria-expanded')) === 'false') await list.click()
    await bar()
      .getByRole('button', { name: /^Modified: planets\.js/ })
      .click()
    const editor = workbench.page.locator('.part.editor')
    await editor
      .locator('.modified .view-line', { hasText: /flat.again/ })
      .first()
      .waitFor()
    // the arrow between the two sides reverts the change
    await editor.locator('.gutterItem .action-label').first().click()
    await editor.locator('.modified .view-line', { hasText: /flat.again/ }).waitFor({ state: 'detached' })
    await workbench.runCommand('File: Save')
    await bar().waitFor({ state: 'detached' })
    await isBack('planets.js', before)
    rmSync(file('my-moons.txt'))
  })

  it('are shown in the editor while the agent works, if the user follows it', async () => {
    const demo = await ConversationPage.startSession(workbench, 'Demo Agent')
    await workbench.runCommand('View: Close All Editors')
    await demo.chooseFromAgentMenu('Follow Agent in Editor')
    await demo.button('Stop Following Agent in Editor').waitFor()
    await demo.send('/read server.js')
    await workbench.page.locator('.tab.active', { hasText: 'server.js' }).waitFor()
    await demo.composer.pressSequentially('still here')
    await waitFor('what was typed', async () => (await demo.composerText()) === 'still here')
    await workbench.runCommand('Parley: Follow Agent in Editor')
    // a narrow header has the button only while the agent is followed
    await demo.button('Stop Following Agent in Editor').waitFor({ state: 'detached' })
  })
})
