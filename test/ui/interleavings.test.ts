import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { SETUPS } from '../agents/agents.ts'
import { installAgent } from '../agents/install.ts'
import type { Script } from '../agents/mock-model/answer.ts'
import type { Step } from '../agents/mock-model/model.ts'
import { type MockModel, startMockModel } from '../agents/mock-model/server.ts'
import { waitFor } from '../host/wait-for.ts'
import type { Workbench } from '../host/workbench.ts'
import { ConversationPage } from './support/conversation-page.ts'
import { goTo } from './support/editor.ts'
import { VsCodeSuite } from './support/vscode-suite.ts'

/** Real agents with a model on loopback; they write and run commands without asking for permission. */
const AGENTS = [
  { name: 'codex', writes: 'by itself', args: [], env: { INITIAL_AGENT_MODE: 'agent-full-access' } },
  { name: 'gemini', writes: 'through the client', args: ['--approval-mode', 'yolo'], env: {} },
] as const

const WORDS = ['alpha', 'bravo', 'charlie', 'delta', 'echo', 'foxtrot', 'golf', 'hotel', 'india', 'juliett']
const LAST = 'juliett'
/** The file: a word in each line, some of them replaced. */
const text = (...changed: Array<[word: string, by: string]>) =>
  WORDS.map(word => `${changed.find(([of]) => of === word)?.[1] ?? word}\n`).join('')
/** An edit of the agent. It changes the file's size, since VS Code can miss a change that doesn't. */
const by = (word: string): [string, string] => [word, `${word.toUpperCase()} too`]
/** The user's edit, at the end of the file. */
const MINE: [string, string] = [LAST, `${LAST} mine`]

for (const { name: agent, writes, args, env } of AGENTS) {
  const byItself = writes === 'by itself'

  describe(`a file that the user and ${agent} (which writes ${writes}) both edit`, () => {
    let model: MockModel
    let folder = ''
    const scripts: Script[] = []
    before(async function () {
      this.timeout(300_000)
      folder = await installAgent(agent)
      model = await startMockModel(scripts)
    })
    after(() => model?.close())
    const vscode = new VsCodeSuite({
      settings: async root => {
        const home = join(root.directory, 'agent-home')
        mkdirSync(home)
        const setup = await SETUPS[agent]({ home, folder, port: model.port, byCommand: false })
        const setting = {
          name: agent,
          command: setup.command,
          args: [...(setup.args ?? []), ...args],
          env: { ...setup.env, ...env },
        }
        return {
          'parley.agents': { tested: setting },
          '[json]': { 'editor.formatOnSave': true, 'files.insertFinalNewline': true },
        }
      },
    })

    let name = ''
    let tries = 0
    let workbench: Workbench
    let conversation: ConversationPage
    const place = () => join(dirname(vscode.workspace), 'planets-api')
    const file = () => join(place(), name)
    const disk = () => (existsSync(file()) ? readFileSync(file(), 'utf8') : undefined)
    const holds = (content: string | undefined) =>
      waitFor('the text on the disk', () => disk() === content).catch(() =>
        assert.equal(disk(), content, 'on the disk'),
      )

    async function begin(content = text(), extension = 'txt'): Promise<void> {
      name = `${agent}-${++tries}.${extension}`
      writeFileSync(file(), content)
      workbench = await vscode.sharedWindow()
      conversation = await ConversationPage.startSession(workbench, agent)
    }

    // ---- what the agent does ---------------------------------------------------------------------------------------

    const replace = (oldText: string, newText: string, after?: Promise<unknown>): Step => ({
      work: [{ do: 'edit', path: file(), oldText, newText }],
      ...(after && { after }),
    })
    const edit = (word: string, after?: Promise<unknown>) => replace(...by(word), after)
    const run = (command: string, after: Promise<unknown>): Step => ({
      work: [{ do: 'shell', command }],
      after,
    })
    /** A promise that the test resolves. */
    function gate(): { opened: Promise<void>; open: () => void } {
      let open = () => {}
      const opened = new Promise<void>(resolve => {
        open = resolve
      })
      return { opened, open }
    }
    /** Sends a prompt whose turn takes these steps. */
    async function send(scenario: string, ...steps: Step[]): Promise<void> {
      const prompt = `Play ${scenario} in ${name}.`
      scripts.unshift({ prompt, steps: [...steps, { text: [`Finished ${scenario}.`] }] })
      await conversation.send(prompt)
    }
    async function finished(scenario: string): Promise<void> {
      await conversation.frame
        .locator('.row-markdown', { hasText: `Finished ${scenario}.` })
        .last()
        .waitFor()
      await conversation.button(/^Stop/).waitFor({ state: 'detached' })
    }
    async function play(scenario: string, ...steps: Step[]): Promise<void> {
      await send(scenario, ...steps)
      await finished(scenario)
    }

    // ---- what the user does ----------------------------------------------------------------------------------------

    const editor = () => workbench.page.locator('.editor-group-container.active .editor-instance').first()
    /** A regular expression, since text would match in any case, and editors use non-breaking spaces. */
    const line = (content: string) =>
      editor()
        .locator('.view-line', { hasText: new RegExp(content.replaceAll(' ', '\\s')) })
        .first()
    async function open(): Promise<void> {
      // by its path, since the search may take seconds to find a new file by its name
      const row = workbench.palette.locator('.monaco-list-row.focused').and(workbench.page.getByLabel(name))
      const tab = workbench.page.locator('.tabs-container .tab.active', { hasText: name })
      await waitFor(`the editor of ${name}`, async () => {
        await workbench.page.keyboard.press('Control+P')
        try {
          await workbench.paletteInput.fill(file(), { timeout: 3000 })
          await row.waitFor({ timeout: 5000 })
          await workbench.paletteInput.press('Enter')
          await tab.waitFor({ timeout: 5000 })
          return true
        } catch {
          await workbench.closePalette()
          return false
        }
      })
      await line('alpha').waitFor()
    }
    async function cursorAt(content: string, number: number): Promise<void> {
      await line(content).waitFor()
      await goTo(workbench, number)
    }
    /** Types at the end of the last line. */
    async function type(): Promise<void> {
      await cursorAt(LAST, WORDS.length)
      await workbench.page.keyboard.press('End')
      await workbench.page.keyboard.type(' mine')
      await line(MINE[1]).waitFor()
    }
    const save = () => workbench.page.keyboard.press('Control+S')

    // ---- the review ------------------------------------------------------------------------------------------------

    const bar = () => conversation.frame.getByRole('region', { name: 'Changed files' })
    /** Waits until only this file is listed, with this number of added lines. */
    async function changed(lines: number): Promise<void> {
      await bar().getByText('1 file').waitFor()
      await bar().getByText(`+${lines}`).first().waitFor()
    }
    async function revertAll(): Promise<void> {
      await bar().getByRole('button', { name: 'Revert All Changes…' }).click()
      const dialog = workbench.page.locator('.monaco-dialog-box')
      await dialog
        .getByRole('button', { name: 'Revert', exact: true })
        .and(dialog.locator(':focus'))
        .waitFor()
      await workbench.page.keyboard.press('Enter')
      await dialog.waitFor({ state: 'detached' })
    }
    const nothingChanged = () => bar().waitFor({ state: 'detached' })
    /** Expects that reverting is refused, since it would discard unsaved text. */
    async function revertIsRefused(): Promise<void> {
      const before = disk()
      await revertAll()
      await workbench.notification('Save these files or discard their unsaved changes').waitFor()
      await workbench.runCommand('Notifications: Clear All Notifications')
      assert.equal(disk(), before)
      await line(MINE[1]).waitFor()
    }

    it("keeps what the user types, and doesn't save, while the agent writes", async () => {
      await begin()
      await open()
      const { opened, open: go } = gate()
      await send('typing', edit('bravo', opened))
      await type()
      go()
      await finished('typing')
      await changed(1)
      await line(MINE[1]).waitFor()
      if (byItself) {
        // saving would make VS Code ask which version to keep
        await holds(text(by('bravo')))
        await workbench.notification('on disk while it has unsaved changes').waitFor()
        await workbench.runCommand('Notifications: Clear All Notifications')
        await revertAll()
        await workbench
          .notification('Merge both to revert the changes')
          .getByRole('button', { name: 'Merge and Revert' })
          .click()
        await holds(text(MINE))
        await workbench.page.locator('.tab.active:not(.dirty)', { hasText: name }).waitFor()
      } else {
        await holds(text(by('bravo'), MINE))
        await revertAll()
        await holds(text(MINE))
      }
      await nothingChanged()
    })

    it('keeps what the user saves between two writes of the agent', async () => {
      await begin()
      await open()
      const { opened, open: go } = gate()
      await send('saving', edit('bravo'), edit('foxtrot', opened))
      await line('BRAVO').waitFor()
      await type()
      await save()
      await holds(text(by('bravo'), MINE))
      await workbench.page.locator('.tab.active:not(.dirty)', { hasText: name }).waitFor()
      go()
      await finished('saving')
      await holds(text(by('bravo'), by('foxtrot'), MINE))
      await changed(2)
      await revertAll()
      await holds(text(MINE))
      await nothingChanged()
    })

    it('keeps what the user typed and saves it after the agent deleted the file', async () => {
      await begin()
      await open()
      const { opened, open: go } = gate()
      await send('deleting', edit('bravo'), run(`rm ${name}`, opened))
      await line('BRAVO').waitFor()
      await type()
      go()
      await finished('deleting')
      await holds(undefined)
      // both notice the deletion a moment later, and would restore the file until then
      await bar().getByText('−10').first().waitFor()
      await workbench.page.locator('.tab.active .strikethrough', { hasText: name }).waitFor()
      await revertIsRefused()
      await cursorAt(LAST, WORDS.length)
      await save()
      await holds(text(by('bravo'), MINE))
      await changed(1)
      await revertAll()
      await holds(text(MINE))
      await nothingChanged()
    })

    it('allows one change to be reverted while another turn writes', async () => {
      await begin()
      await open()
      await play('first', edit('bravo'), edit('hotel'))
      await changed(2)
      const { opened, open: go } = gate()
      await send('second', edit('echo', opened))
      await line('BRAVO').waitFor()
      await cursorAt('BRAVO', 2)
      await workbench.runCommand('Parley: Revert Change')
      await holds(text(by('hotel')))
      go()
      await finished('second')
      await holds(text(by('echo'), by('hotel')))
      await changed(2)
      await revertAll()
      await holds(text())
      await nothingChanged()
    })

    it("keeps the user's later lines when the turn is reverted and restored", async () => {
      await begin()
      await open()
      await play('before', edit('bravo'))
      await line('BRAVO').waitFor()
      await type()
      await save()
      await holds(text(by('bravo'), MINE))
      await changed(1)
      await revertAll()
      await holds(text(MINE))
      await nothingChanged()
      await workbench.runCommand('Parley: Restore Last Reverted Changes')
      await holds(text(by('bravo'), MINE))
      await changed(1)
      await bar().getByRole('button', { name: 'Keep All Changes' }).click()
      await nothingChanged()
    })

    it('can be changed by two sessions, each of which reverts only its own changes', async () => {
      await begin()
      const { opened, open: go } = gate()
      await send('one', edit('bravo'), edit('echo', opened))
      await holds(text(by('bravo')))
      conversation = await ConversationPage.startSession(workbench, agent)
      await play('two', edit('hotel'))
      await holds(text(by('bravo'), by('hotel')))
      await changed(1)
      await revertAll()
      await holds(text(by('bravo')))
      await nothingChanged()
      go()
      await holds(text(by('bravo'), by('echo')))
      await open()
      await line('ECHO').waitFor()
      await workbench.runCommand('Parley: Revert Agent Changes…')
      await workbench.page.locator('.monaco-dialog-box').getByRole('button', { name: 'Revert' }).waitFor()
      await workbench.page.keyboard.press('Enter')
      await holds(text())
    })

    it('can be restored to a checkpoint while it has unsaved changes', async () => {
      await begin()
      await open()
      await play('restoring', edit('bravo'))
      await line('BRAVO').waitFor()
      await type()
      const prompt = conversation.frame.locator('.row-prompt').last()
      await prompt.hover()
      await prompt.getByRole('button', { name: 'Restore to Here…' }).click()
      const dialog = workbench.page.locator('.monaco-dialog-box')
      await dialog.getByText(`Restore ${name} (+1 −1)`).waitFor()
      await workbench.page.keyboard.press('Enter')
      await line('bravo').waitFor()
      await line(MINE[1]).waitFor()
      await cursorAt(LAST, WORDS.length)
      await save()
      await holds(text(MINE))
      await conversation.button('Undo Restore').click()
      await holds(text(by('bravo'), MINE))
    })

    it('can be reverted after a reload in the middle of the turn', async () => {
      await begin()
      const { opened, open: go } = gate()
      await send('reloading', edit('bravo'), edit('echo', opened))
      await holds(text(by('bravo')))
      await changed(1)
      await workbench.reload()
      go()
      await open()
      await line('BRAVO').waitFor()
      await type()
      await save()
      await holds(text(by('bravo'), MINE))
      await cursorAt('BRAVO', 2)
      await workbench.runCommand('Parley: Revert Change')
      await holds(text(MINE))
    })

    it('can be formatted when the user saves it after the agent wrote it', async () => {
      const json = (bravo: string, last: string) =>
        `{\n  "alpha": 1,\n  "bravo":${bravo},\n  "charlie": 3,\n  "delta": ${last}\n}\n`
      await begin(json(' 2', '4'), 'json')
      await open()
      await play('formatting', replace('  "bravo": 2,', '  "bravo":22,'))
      await line('22').waitFor()
      await changed(1)
      // VS Code saves without formatting if the formatter takes too long, as it may while it starts
      const isFormattedByUser = disk() !== json(' 22', '4')
      await cursorAt('delta', 5)
      await workbench.page.keyboard.press('End')
      await workbench.page.keyboard.type('2')
      await save()
      await holds(json(' 22', '42'))
      await changed(1)
      await revertAll()
      if (isFormattedByUser) {
        await workbench
          .notification("so they weren't reverted")
          .getByRole('button', { name: 'Revert Anyway' })
          .click()
      }
      await holds(json(' 2', '42'))
      await nothingChanged()
    })

    it('can be stashed and restored by the user with Git during the turn', async () => {
      await begin()
      const git = (...words: string[]) =>
        execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b.c', ...words], {
          cwd: place(),
          encoding: 'utf8',
        })
      try {
        git('init', '-q')
        git('add', '-A')
        git('commit', '-qm', 'all')
        const head = git('rev-parse', 'HEAD')
        const { opened, open: go } = gate()
        await send('stashing', edit('bravo'), edit('foxtrot', opened))
        await holds(text(by('bravo')))
        await changed(1)
        git('stash')
        await holds(text())
        git('stash', 'pop', '-q')
        writeFileSync(file(), text(by('bravo'), MINE))
        git('stash')
        git('checkout', '-q', '-b', 'other')
        git('stash', 'pop', '-q')
        go()
        await finished('stashing')
        await holds(text(by('bravo'), by('foxtrot'), MINE))
        await open()
        await line('FOXTROT').waitFor()
        for (const [word, number] of [
          ['FOXTROT', 6],
          ['BRAVO', 2],
        ] as const) {
          await cursorAt(word, number)
          await workbench.runCommand('Parley: Revert Change')
          await line(word.toLowerCase()).waitFor()
        }
        await waitFor('the agent’s changes undone', () => !/[A-Z]/.test(disk() ?? 'A'))
        assert.equal(git('rev-parse', 'HEAD'), head)
        assert.equal(git('stash', 'list'), '')
      } finally {
        rmSync(join(place(), '.git'), { recursive: true, force: true })
      }
    })
  })
}
