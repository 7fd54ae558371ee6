import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
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

// What needs no keyboard, no click and no reload is in `test/integration/interleavings.test.ts`.
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
    const holds = (content: string) =>
      waitFor('the text on the disk', () => disk() === content).catch(() =>
        assert.equal(disk(), content, 'on the disk'),
      )

    async function begin(): Promise<void> {
      name = `${agent}-${++tries}.txt`
      writeFileSync(file(), text())
      workbench = await vscode.sharedWindow()
      conversation = await ConversationPage.startSession(workbench, agent)
    }

    // ---- what the agent does ---------------------------------------------------------------------------------------

    function edit(word: string, after?: Promise<unknown>): Step {
      const [oldText, newText] = by(word)
      return { work: [{ do: 'edit', path: file(), oldText, newText }], ...(after && { after }) }
    }
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
  })
}
