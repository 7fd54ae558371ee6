import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { waitFor } from '../host/wait-for.ts'
import type { Workbench } from '../host/workbench.ts'
import { ConversationPage } from './support/conversation-page.ts'
import { fixtureAgent } from './support/fixture-agent.ts'
import { VsCodeSuite } from './support/vscode-suite.ts'

const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)
const notebook = (text: string) =>
  JSON.stringify({
    cells: [{ cell_type: 'code', execution_count: null, metadata: {}, outputs: [], source: [text] }],
    metadata: {},
    nbformat: 4,
    nbformat_minor: 5,
  })

/** Files of four languages, after the others in the order of the review. */
const SOURCES = Array.from({ length: 22 }, (_, at) => `u-${10 + at}.${['ts', 'py', 'go', 'rs'][at % 4]}`)
const FILES = 7 + SOURCES.length

describe('a review of files of every kind', () => {
  const vscode = new VsCodeSuite({
    settings: root => ({ 'parley.agents': { liar: fixtureAgent(root, 'Liar') } }),
  })
  let workbench: Workbench
  let conversation: ConversationPage
  const folder = () => join(dirname(vscode.workspace), 'planets-api', 'kinds')
  const file = (name: string) => join(folder(), name)
  const editor = () => workbench.page.locator('.part.editor')
  const bar = () => conversation.frame.getByRole('region', { name: 'Changed files' })
  const press = async (key: string) => {
    await workbench.page.keyboard.press("Control+'")
    await workbench.page.keyboard.press(key)
  }
  const commandIsThere = (title: string) =>
    waitFor(title, async () => (await workbench.commandTitles(title)).includes(title))
  const tabs = () => editor().locator('.tab').count()

  beforeEach(async () => {
    workbench = await vscode.sharedWindow()
    await workbench.runCommand('View: Close All Editors')
    mkdirSync(folder(), { recursive: true })
    writeFileSync(file('b-binary.bin'), Buffer.from([0, 1, 2, 3, 255, 254]))
    writeFileSync(file('d-deleted.txt'), 'one\ntwo\nthree\n')
    writeFileSync(file('i-image.png'), PIXEL)
    symlinkSync('d-deleted.txt', file('l-link'))
    writeFileSync(file('n-notebook.ipynb'), notebook('1 + 1'))
    writeFileSync(file('o-old-name.txt'), 'a name\nand more\nof it\n')
    writeFileSync(file('t-text.txt'), 'Mercury\nVenus\n')
    for (const name of SOURCES) writeFileSync(file(name), 'old = 1\n')
    writeFileSync(
      file('change.sh'),
      `cd "$(dirname "$0")" && printf '\\000\\001\\377' > b-binary.bin && rm d-deleted.txt && printf '\\211PNG\\000\\001' > i-image.png &&
      ln -sf t-text.txt l-link && sed -i 's/1 + 1/2 + 2/' n-notebook.ipynb && mv o-old-name.txt p-new-name.txt && sed -i s/Mercury/Hermes/ t-text.txt && sed -i s/old/new/ u-*\n`,
    )
    conversation = await ConversationPage.startSession(workbench, 'Liar')
    await conversation.runTurn(`[[run sh kinds/change.sh]]`)
    await bar().getByText(`${FILES} files`).waitFor()
  })
  afterEach(() => rmSync(folder(), { recursive: true, force: true }))

  it('is finished with one key for each of 29 files, without leaving its tab', async () => {
    await commandIsThere('Parley: Review Agent Changes')
    await press('r')
    const review = editor().locator('.tab.active', { hasText: 'Agent Changes' })
    await review.waitFor()
    const entry = (name: string) => workbench.page.locator('.multiDiffEntry', { hasText: name }).first()
    await entry('b-binary.bin').waitFor()
    const counted = (text: string) => workbench.page.locator('.part.statusbar').getByText(text).waitFor()
    await counted(`0 of ${FILES} decided`)
    await workbench.screenshot('review-kinds')
    const keep = async (decided: number) => {
      await workbench.page.keyboard.press('Control+y')
      await counted(decided === FILES ? 'All reviewed' : `${decided} of ${FILES} decided`)
    }
    for (const decided of [1, 2, 3, 4, 5]) {
      await keep(decided)
      await bar()
        .getByText(`${FILES - decided} files`)
        .waitFor()
      await review.waitFor()
      assert.equal(await tabs(), 1)
    }
    await workbench.screenshot('review-kinds-later')
    await workbench.page.keyboard.press('Control+n')
    await counted(`6 of ${FILES} decided`)
    assert.equal(existsSync(file('o-old-name.txt')), true)
    assert.equal(existsSync(file('p-new-name.txt')), false)
    await review.waitFor()
    await workbench.page.keyboard.press('Control+z')
    await waitFor('the name restored', () => existsSync(file('p-new-name.txt')))
    await counted(`5 of ${FILES} decided`)
    await workbench.page.locator('.part.statusbar').getByText(`5 of ${FILES} decided`).click()
    const tree = workbench.page.getByRole('tree', { name: 'Agent Changes' })
    await tree.getByRole('treeitem', { name: /^d-deleted\.txt, Kept/ }).waitFor()
    const labels = tree.getByRole('treeitem')
    const names = await labels.evaluateAll(items => items.map(item => item.getAttribute('aria-label') ?? ''))
    assert.deepEqual(
      names.slice(0, 4).map(name => name.split(',')[0]),
      ['b-binary.bin', 'd-deleted.txt', 'i-image.png', 'l-link'],
    )
    await workbench.screenshot('review-tree')
    await tree.getByRole('treeitem', { name: /^p-new-name\.txt/ }).click()
    await press('k')
    await counted(`6 of ${FILES} decided`)
    await press('k')
    await counted(`7 of ${FILES} decided`)
    // each has a key, and the next one is in sight
    for (let decided = 8; decided <= FILES; decided++) await keep(decided)
    const told = workbench.notification(`All changes reviewed: ${FILES} kept, 0 reverted.`)
    await told.hover()
    await review.waitFor()
    await workbench.screenshot('review-done')
    await told.getByRole('button', { name: 'Undo Last' }).click()
    await counted(`${FILES - 1} of ${FILES} decided`)
    await press('k')
    await counted('All reviewed')
    assert.equal(await tabs(), 1)
    assert.equal(existsSync(file('d-deleted.txt')), false)
    assert.match(readFileSync(file('t-text.txt'), 'utf8'), /Hermes/)
  })

  it('leaves Source Control to Git, whose branch is in the status bar after a reload', async () => {
    const git = (...args: string[]) => execFileSync('git', args, { cwd: dirname(folder()) })
    try {
      git('init', '-q', '-b', 'trunk')
      git('add', 'package.json')
      git('-c', 'user.name=t', '-c', 'user.email=t@t.example', 'commit', '-q', '-m', 'first')
      await workbench.reload()
      conversation = await ConversationPage.find(workbench)
      await workbench.page.locator('.part.statusbar').getByText('trunk').first().waitFor()
      await bar().getByText(`${FILES} files`).waitFor()
      await workbench.page.getByRole('tab', { name: /^Source Control/ }).click()
      const view = workbench.page.locator('.scm-view')
      await view.getByText('trunk').first().waitFor()
      assert.equal(await view.getByText('Parley').count(), 0)
    } finally {
      rmSync(join(dirname(folder()), '.git'), { recursive: true, force: true })
    }
  })
})
