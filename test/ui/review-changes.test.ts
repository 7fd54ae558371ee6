import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { succeeds, waitFor } from '../host/wait-for.ts'
import type { Workbench } from '../host/workbench.ts'
import { ConversationPage } from './support/conversation-page.ts'
import { openFile } from './support/editor.ts'
import { fixtureAgent } from './support/fixture-agent.ts'
import { VsCodeSuite } from './support/vscode-suite.ts'

const ORIGINAL = readFileSync(
  new URL('../fixtures/workspace/planets-api/planets.js', import.meta.url),
  'utf8',
)

describe("reviewing agents' changes in the editor", () => {
  const vscode = new VsCodeSuite({
    // a decision can be undone with a click for seconds
    env: { PARLEY_PATIENCE_MS: '60000' },
    settings: root => ({
      'parley.changes.sourceControl': true,
      'parley.agents': { liar: fixtureAgent(root, 'Liar') },
    }),
  })
  /** unique for each test and retry, because the server keeps a window's unsaved files and the agents' changes */
  let name = ''
  let tries = 0
  const file = () => join(dirname(vscode.workspace), 'planets-api', name)
  const planets = () => readFileSync(file(), 'utf8')
  let workbench: Workbench
  let conversation: ConversationPage

  beforeEach(async () => {
    name = `planets-${++tries}.js`
    writeFileSync(file(), ORIGINAL)
    workbench = await vscode.clearedWindow()
    conversation = await ConversationPage.startSession(workbench, 'Liar')
  })
  // a missing file isn't queried
  afterEach(() => rmSync(file(), { force: true }))
  const bar = () => conversation.frame.getByRole('region', { name: 'Changed files' })
  const editor = () => workbench.page.locator('.part.editor')
  /** What the status bar says of a decision. */
  const told = (text: string) => workbench.page.locator('.part.statusbar .statusbar-item', { hasText: text })
  const edit = async (more = '') => {
    await conversation.send(`[[edit ${name} Mercury Hermes ${more}Mars Ares]]`)
    await waitFor('the edit', () => planets().includes('Ares'))
    await bar().getByText('1 file').waitFor()
  }
  /** Waits until the editor has the focus. */
  const focused = () => editor().locator('.monaco-editor.focused').first().waitFor()
  /** Waits until the cursor is in this line, and the editor has the focus. */
  const cursorIn = async (line: number) => {
    await focused()
    await workbench.page.locator('.part.statusbar').getByText(`Ln ${line},`).waitFor()
  }
  const open = async () => {
    await openFile(workbench, name)
    await editor().locator('.view-line', { hasText: 'Hermes' }).first().waitFor()
    await cursorIn(1)
  }

  const entry = (of: string) => workbench.page.locator('.multiDiffEntry', { hasText: of }).first()
  /** Waits until the active editor shows this file with this text. */
  const shows = async (of: string, text: string) => {
    await editor().locator(`.tab.active[data-resource-name="${of}"]`).waitFor()
    await editor().locator('.view-line', { hasText: text }).first().waitFor()
  }
  /** The description next to a file's name on its tab. */
  const markOf = (of: string) =>
    workbench.page.evaluate<string>(
      `[...document.querySelectorAll('.tab[data-resource-name="${of}"] .monaco-icon-label')]
        .map(label => getComputedStyle(label, '::after').content).join(' ')`,
    )

  const lenses = () => editor().locator('.codelens-decoration')
  const lens = (text: string | RegExp) => lenses().getByText(text, { exact: true }).first()
  const press = async (key: string) => {
    await workbench.page.keyboard.press("Control+'")
    await workbench.page.keyboard.press(key)
  }

  /** VS Code knows late that there are changes. */
  const goToChange = async () => {
    await waitFor('the command', async () => {
      const review = 'Parley: Review Agent Changes'
      return (await workbench.commandTitles(review)).includes(review)
    })
    await press('ArrowDown')
  }

  it('decides on them with the keyboard, goes on to the next one, and undoes each decision', async () => {
    await edit('findPlanet seekPlanet ')
    await goToChange()
    await cursorIn(3)
    await lens('1 of 3').waitFor()
    await workbench.screenshot('review-lens')
    await press('d')
    const peek = editor().locator('.peekview-widget')
    await peek.locator('.view-line', { hasText: 'Mercury' }).first().waitFor()
    await workbench.screenshot('review-old')
    await workbench.page.keyboard.press('Escape')
    await peek.waitFor({ state: 'detached' })
    await cursorIn(3)
    await workbench.runCommand('Show or Focus Hover')
    await editor().locator('.monaco-hover', { hasText: 'Mercury' }).first().waitFor()
    await workbench.screenshot('review-hover')
    await workbench.page.keyboard.press('Escape')
    await focused()
    await press('u')
    await waitFor('the first change reverted', () => planets().includes('Mercury'))
    await told(`Reverted the change in planets-api/${name}.`).waitFor()
    await cursorIn(6)
    await lens('1 of 2').waitFor()
    await workbench.screenshot('review-decision')
    await press('k')
    await told(`Kept the change in planets-api/${name}.`).waitFor()
    await told('Reverted').waitFor({ state: 'detached' })
    await cursorIn(9)
    await waitFor('one change left', async () => (await lenses().count()) === 1)
    await press('z')
    await cursorIn(6)
    await lens('1 of 2').waitFor()
    await press('z')
    await waitFor('the first change restored', () => planets().includes('Hermes'))
    await cursorIn(3)
    await lens('1 of 3').waitFor()
    await press('k')
    await cursorIn(6)
    await press('k')
    await cursorIn(9)
    await editor()
      .getByRole('button', { name: /^Revert Changes in File/ })
      .click()
    const kept = ORIGINAL.replaceAll('Mercury', 'Hermes').replaceAll('Mars', 'Ares')
    await waitFor('the kept changes alone', () => planets() === kept)
    await bar().waitFor({ state: 'detached' })
  })

  it('decides on them with the mouse, in the review of all files, which stays open until the user leaves it', async () => {
    const second = join(dirname(file()), `second-${name}`)
    // so long that only one file fits into the review
    const lines = Array.from({ length: 60 }, (_, i) => `// line ${i}\n`)
    const long = (word: string) => `${word}\n${lines.join('')}${word}\n${lines.join('')}${word}\n`
    writeFileSync(file(), long('Mercury'))
    writeFileSync(second, long('Mercury'))
    try {
      await conversation.runTurn(`[[edit ${name} Mercury Hermes]]`)
      await conversation.runTurn(`[[edit second-${name} Mercury Hermes]]`)
      await bar().getByText('2 files').waitFor()
      await bar().getByRole('button', { name: 'Review' }).click()
      await entry(name).waitFor()
      await lens('1 of 6').waitFor()
      await workbench.screenshot('review-all-lenses')
      for (const next of ['1 of 5', '1 of 4', '1 of 3']) {
        await lens('Keep').click()
        await lens(next).waitFor()
      }
      // the other file was outside of the viewport
      await workbench.page
        .locator('.multiDiffEntry', { hasText: `second-${name}` })
        .locator('.view-line', { hasText: 'Hermes' })
        .first()
        .waitFor()
      await editor()
        .getByRole('button', { name: /^Keep All Agent Changes/ })
        .click()
      await bar().waitFor({ state: 'detached' })
      const review = workbench.page.locator('.tab.active', { hasText: 'Changed Files' })
      await review.waitFor()
      await told(`Kept the changes in planets-api/second-${name}.`).getByText('Undo').click()
      await bar().getByText('1 file').waitFor()
      await lens('1 of 3').waitFor()
      await editor()
        .getByRole('button', { name: /^Revert All Agent Changes/ })
        .click()
      await workbench.page.locator('.monaco-dialog-box').getByRole('button', { name: 'Revert' }).click()
      await waitFor('one file as it was', () => readFileSync(second, 'utf8') === long('Mercury'))
      assert.equal(planets(), long('Hermes'))
      await review.waitFor()
      await openFile(workbench, name)
      await review.waitFor({ state: 'detached' })
    } finally {
      rmSync(second, { force: true })
    }
  })

  it('decides on ten of them in three files with twelve keys, until the user types', async () => {
    const { keyboard } = workbench.page
    const names = ['a', 'b', 'c'].map(letter => `${letter}-${name}`)
    const paths = names.map(one => join(dirname(file()), one))
    const gap = '// a line\n'.repeat(10)
    /** so long that the review shows one or two of the files */
    const text = (of: number, word: (at: number) => string) =>
      Array.from({ length: of }, (_, at) => `${word(at)}\n${gap}`).join('')
    const hunks = [4, 3, 3]
    let keys = 0
    const key = async (...pressed: string[]) => {
      for (const one of pressed) await keyboard.press(one)
      keys += pressed.length
    }
    const counted = (text: string, timeout?: number) =>
      workbench.page
        .locator('.part.statusbar')
        .getByText(text)
        .waitFor(timeout === undefined ? {} : { timeout })
    try {
      for (const [at, path] of paths.entries())
        writeFileSync(
          path,
          text(hunks[at]!, one => `Mercury${one}`),
        )
      for (const [at, one] of names.entries()) {
        const words = Array.from({ length: hunks[at]! }, (_, line) => `Mercury${line} Hermes${line}`)
        await conversation.runTurn(`[[edit ${one} ${words.join(' ')}]]`)
      }
      await bar().getByText('3 files').waitFor()
      const isInSight = async (text: string) => {
        const [box, area] = await Promise.all([lens(text).boundingBox(), editor().boundingBox()])
        return box !== null && area !== null && box.y > area.y && box.y + box.height < area.y + area.height
      }
      await conversation.composer.click()
      await conversation.waitForFocus(conversation.composer)
      await key("Control+'", 'r')
      await entry(names[0]!).waitFor()
      await counted('0 of 10 decided')
      await lens('1 of 10').waitFor()
      for (let at = 1; at <= 10; at++) {
        await key(at % 5 === 0 ? 'Control+n' : 'Control+y')
        await counted(at < 10 ? `${at} of 10 decided` : 'All reviewed')
        if (at < 10)
          await waitFor('the next change in sight', () => isInSight(at === 9 ? 'Keep' : `1 of ${10 - at}`))
      }
      assert.equal(keys, 12)
      const decided = (from: number) => (at: number) =>
        (from + at + 1) % 5 === 0 ? `Mercury${at}` : `Hermes${at}`
      for (const [at, path] of paths.entries()) {
        const before = hunks.slice(0, at).reduce((sum, one) => sum + one, 0)
        await waitFor(path, () => readFileSync(path, 'utf8') === text(hunks[at]!, decided(before)))
      }

      await key('Control+z')
      await counted('9 of 10 decided')
      const last = () => readFileSync(paths[2]!, 'utf8')
      await waitFor('the last change restored', () => last().includes('Hermes2'))
      const line = entry(names[2]!).locator('.editor.modified .view-line', { hasText: 'Hermes2' })
      // once the editor has loaded the file, the review goes to the change, and takes the focus
      await line.waitFor()

      // keys of the input are not the review's
      await conversation.composer.click()
      await keyboard.type('two')
      const written = (text: string) =>
        waitFor(`“${text}” in the input`, async () => (await conversation.composerText()) === text)
      await written('two')
      await key('Control+z')
      await written('')
      await key('Control+y')
      await written('two')
      await counted('9 of 10 decided')
      await key('Control+n')
      await workbench.page.getByRole('tab', { name: /^Untitled-1/ }).waitFor()
      await counted('9 of 10 decided')
      await workbench.runCommand('View: Close Editor')

      // the keys are the text's from the first typed character to the next save
      await line.click()
      await keyboard.press('End')
      await keyboard.type('!')
      await workbench.page.locator('.tab.active.dirty').waitFor()
      await keyboard.press('Control+z')
      await entry(names[2]!).locator('.view-line', { hasText: 'Hermes2!' }).waitFor({ state: 'detached' })
      await keyboard.press('Control+Shift+z')
      await entry(names[2]!).locator('.view-line', { hasText: 'Hermes2!' }).waitFor()
      await counted('9 of 10 decided')
      await keyboard.press('Control+s')
      await waitFor('the typed character saved', () => last().includes('Hermes2!'))
      await workbench.page.locator('.tab.active.dirty').waitFor({ state: 'detached' })
      // text that was edited after a decision is undone first, also if it's saved
      await keyboard.press('Control+z')
      await entry(names[2]!).locator('.view-line', { hasText: 'Hermes2!' }).waitFor({ state: 'detached' })
      await counted('9 of 10 decided')
      await keyboard.type('!')
      await keyboard.press('Control+s')
      await workbench.page.locator('.tab.active.dirty').waitFor({ state: 'detached' })
      // VS Code knows a moment later that the text isn't edited anymore
      await waitFor('the last change kept', async () => {
        await keyboard.press('Control+y')
        return succeeds(counted('All reviewed', 3000))
      })
      assert.ok(last().includes('Hermes2!'))
    } finally {
      for (const path of paths) rmSync(path, { force: true })
    }
  })

  it('lists them in Source Control and marks their lines, where they can be kept and reverted', async () => {
    await edit('findPlanet seekPlanet ')
    await open()
    const marks = (count: number) =>
      waitFor(
        `${count} marked changes`,
        async () => (await editor().locator('.dirty-diff-glyph').count()) === count,
      )
    await marks(3)
    await workbench.page.locator('.activitybar [aria-label^="Source Control"]').first().click()
    const list = workbench.page.locator('.scm-view')
    await list.getByText(name).first().waitFor()
    await workbench.screenshot('review-source-control')
    const peek = editor().locator('.peekview-actions')
    /** Opens the first change. */
    const look = async () => {
      await editor().locator('.view-line', { hasText: 'Distances' }).first().click()
      await cursorIn(1)
      await workbench.page.keyboard.press('Alt+F3')
      await peek.getByLabel('Keep Change').first().waitFor()
    }
    await look()
    await workbench.screenshot('review-peek')
    await peek.getByLabel('Revert Change').first().click()
    await waitFor('the first change reverted', () => planets().includes('Mercury'))
    assert.ok(planets().includes('Ares'))
    await marks(2)
    await look()
    await peek.getByLabel('Keep Change').first().click()
    await bar().getByText('+1').first().waitFor()
    await marks(1)
    assert.ok(planets().includes('Ares') && planets().includes('seekPlanet'))
    await list.getByText(name).first().hover()
    await list.getByRole('button', { name: 'Keep Changes in File' }).click()
    await list.getByText(name).first().waitFor({ state: 'detached' })
    assert.ok(planets().includes('Ares') && planets().includes('seekPlanet'))
  })

  it('groups changes by session, counts them, marks files, and moves to the next change in another file', async () => {
    const second = `other-${name}`
    const third = `third-${name}`
    const others = [second, third].map(one => join(dirname(file()), one))
    // before the first turn: what is written while it ends would count as its change
    for (const other of others) writeFileSync(other, ORIGINAL)
    try {
      await edit()
      conversation = await ConversationPage.startSession(workbench, 'Liar')
      await conversation.send(`[[edit ${second} Venus Aphrodite]]`)
      await bar().getByText('1 file').waitFor()
      await workbench.page.getByRole('tab', { name: /^Source Control.* - 2 pending changes/ }).waitFor()
      await goToChange()
      await shows(second, 'Aphrodite')
      await waitFor('the mark of the tab', async () => (await markOf(second)).includes('P'))

      const next = editor().getByRole('button', { name: /^Next Agent Change/ })
      await next.click()
      await shows(name, 'Hermes')
      await cursorIn(3)
      await next.click()
      await cursorIn(6)
      await next.click()
      await shows(second, 'Aphrodite')
      await editor()
        .getByRole('button', { name: /^Previous Agent Change/ })
        .click()
      await shows(name, 'Ares')
      await cursorIn(6)

      await bar().getByRole('button', { name: 'Review' }).click()
      await entry(second).waitFor()
      await workbench.runCommand('View: Keep Editor')
      await openFile(workbench, 'server.js')
      await editor().locator('.tab.active[data-resource-name="server.js"]').waitFor()
      await cursorIn(1)
      await conversation.send(`[[edit ${third} Earth Gaia]]`)
      await bar().getByText('2 files').waitFor()
      await editor().locator('.tab', { hasText: 'Changed Files' }).click()
      await entry(third).waitFor()

      await workbench.page.getByRole('tab', { name: /^Source Control/ }).click()
      const groups = workbench.page.locator('.scm-view .resource-group')
      const counts = async () => (await groups.locator('.count').allInnerTexts()).sort().join(' ')
      await waitFor('a group of each session', async () => (await counts()) === '1 2')
      await workbench.screenshot('review-groups')
    } finally {
      for (const other of others) rmSync(other, { force: true })
    }
  })

  it('counts no file twice that Git lists, too', async () => {
    const folder = dirname(file())
    const own = join(folder, `mine-${name}`)
    const git = (...args: string[]) => execFileSync('git', args, { cwd: folder })
    const pending = (count: number) =>
      workbench.page
        .getByRole('tab', { name: new RegExp(`^Source Control.* - ${count} pending change`) })
        .waitFor()
    try {
      // before the turn, whose changes are what changes until its end
      git('init', '-q')
      git('add', '.', `:!${name}`)
      git('-c', 'user.name=t', '-c', 'user.email=t@t.example', 'commit', '-q', '-m', 'first')
      await edit()
      await pending(1)
      writeFileSync(own, 'mine\n')
      // Git lists both, and Parley one of them
      await pending(2)
      rmSync(own)
      await pending(1)
    } finally {
      rmSync(join(folder, '.git'), { recursive: true, force: true })
      rmSync(own, { force: true })
    }
  })

  it('keeps unsaved text', async () => {
    await edit()
    await open()
    await editor().locator('.view-line', { hasText: 'Distances' }).click()
    await cursorIn(1)
    await workbench.page.keyboard.press('End')
    await workbench.page.keyboard.type(' mine')
    await editor().locator('.view-line', { hasText: '*/ mine' }).waitFor()
    await bar().getByRole('button', { name: 'Review' }).click()
    await workbench.page.locator('.multiDiffEntry', { hasText: name }).waitFor()
    // without the number of files, which VS Code appends
    await workbench.page.locator('.tab', { hasText: /^Liar: Changed Files/ }).waitFor()
    await workbench.screenshot('review-all')
    await workbench.runCommand('Parley: Revert Changes of Last Turn…')
    await workbench.page.locator('.monaco-dialog-box').getByRole('button', { name: 'Revert' }).click()
    await bar().waitFor({ state: 'detached' })
    await workbench.runCommand('File: Save All Files')
    await waitFor(
      'the user’s text alone',
      () => planets() === ORIGINAL.replace('kilometres. */', 'kilometres. */ mine'),
    )
  })
})
