import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { appendFileSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Locator, Page } from 'playwright-core'
import { succeeds, waitFor } from '../host/wait-for.ts'
import type { Workbench } from '../host/workbench.ts'
import { ConversationPage } from './support/conversation-page.ts'
import { openFile, selectLines } from './support/editor.ts'
import { fixtureAgent, receivedParams } from './support/fixture-agent.ts'
import { VsCodeSuite } from './support/vscode-suite.ts'

/** One that really answers. */
const mcpServer = fileURLToPath(new URL('../fixtures/mcp/stdio-server.mjs', import.meta.url))

/** Counts what a user does in a window. */
class Hands {
  readonly #page: Page
  clicks = 0
  keys = 0

  constructor(workbench: Workbench) {
    this.#page = workbench.page
  }

  /** @throws if the target isn't there within `timeout` milliseconds */
  async click(target: Locator, timeout?: number): Promise<void> {
    await target.click(timeout === undefined ? {} : { timeout })
    this.clicks += 1
  }

  /** Counts again from 0. */
  startAgain(): void {
    this.clicks = 0
    this.keys = 0
  }

  /** Keys pressed one after the other, such as a chord; a key with its modifiers counts once. */
  async press(...keys: string[]): Promise<void> {
    for (const key of keys) await this.#page.keyboard.press(key)
    this.keys += keys.length
  }

  async type(text: string): Promise<void> {
    await this.#page.keyboard.type(text)
    this.keys += text.length
  }

  /** A prompt, typed in the focused input. */
  async ask(prompt: string): Promise<void> {
    await this.type(prompt)
    await this.press('Enter')
  }
}

/** The limits of a task. Seconds are printed but not limited, since they depend on the machine. */
interface Limits {
  clicks: number
  keys: number
}

describe('the tasks of the first day and the second week', () => {
  const vscode = new VsCodeSuite({
    settings: root => ({
      'parley.agents': { ada: fixtureAgent(root, 'Ada') },
      'parley.mcpServers': { servers: { clock: { command: 'node', args: ['clock.mjs'] } } },
      // of the commit message
      'parley.defaultAgent': 'ada',
      // otherwise settings.json opens above the editors
      'workbench.editor.useModal': 'off',
    }),
  })
  const DEMO = 'Demo Agent'
  const file = () => join(dirname(vscode.workspace), 'planets-api', 'planets.js')
  const results: Array<{ task: string; clicks: number; keys: number; seconds: string }> = []

  async function task(
    name: string,
    workbench: Workbench,
    limits: Limits,
    work: (hands: Hands) => Promise<void>,
  ) {
    const hands = new Hands(workbench)
    const start = performance.now()
    await work(hands)
    const seconds = ((performance.now() - start) / 1000).toFixed(1)
    const { clicks, keys } = hands
    results.push({ task: name, clicks, keys, seconds })
    assert.ok(clicks <= limits.clicks, `${name}: ${clicks} clicks, at most ${limits.clicks}`)
    assert.ok(keys <= limits.keys, `${name}: ${keys} keystrokes, at most ${limits.keys}`)
  }

  /** Starts a session in the shared window, with the cursor in the input. */
  async function begin(agent: string): Promise<{ workbench: Workbench; conversation: ConversationPage }> {
    const workbench = await vscode.sharedWindow()
    const conversation = await ConversationPage.startSession(workbench, agent)
    await conversation.composer.click()
    await conversation.waitForFocus(conversation.composer)
    return { workbench, conversation }
  }
  const idle = (conversation: ConversationPage) =>
    conversation.button(/^Stop \(/).waitFor({ state: 'detached' })

  after(() => {
    const width = Math.max(...results.map(({ task }) => task.length))
    console.log(`\n      ${'task'.padEnd(width)}  clicks  keystrokes  seconds`)
    for (const { task, clicks, keys, seconds } of results)
      console.log(
        `      ${task.padEnd(width)}  ${String(clicks).padStart(6)}  ${String(keys).padStart(10)}  ${seconds.padStart(7)}`,
      )
  })

  it('adds the selection to the conversation', async () => {
    const { workbench } = await begin(DEMO)
    await openFile(workbench, 'planets.js')
    await selectLines(workbench, 2)
    await task('add the selection', workbench, { clicks: 0, keys: 2 }, async hands => {
      await hands.press("Control+'", 'a')
      const conversation = await ConversationPage.find(workbench)
      await conversation.frame.locator('.composer .chip', { hasText: 'planets.js:1-2' }).waitFor()
      await conversation.waitForFocus(conversation.composer)
    })
  })

  it('reviews and reverts changes', async () => {
    const before = readFileSync(file(), 'utf8')
    const { workbench, conversation } = await begin('Ada')
    const bar = conversation.frame.getByRole('region', { name: 'Changed files' })
    await conversation.send('[[edit planets.js Mars Ares]]')
    await bar.getByText('1 file').waitFor()
    await task('review and undo', workbench, { clicks: 3, keys: 0 }, async hands => {
      await hands.click(bar.getByRole('button', { name: 'Review' }))
      await workbench.page.locator('.multiDiffEntry', { hasText: 'planets.js' }).waitFor()
      await hands.click(bar.getByRole('button', { name: 'Revert All Changes…' }))
      await hands.click(workbench.page.locator('.monaco-dialog-box').getByRole('button', { name: 'Revert' }))
      await bar.waitFor({ state: 'detached' })
      await waitFor('the file as it was', () => readFileSync(file(), 'utf8') === before)
    })
  })

  // The second week

  it('writes a commit message', async () => {
    const { workbench } = await begin('Ada')
    const folder = dirname(file())
    const before = readFileSync(file(), 'utf8')
    const git = (...args: string[]) => execFileSync('git', args, { cwd: folder })
    git('init', '-q')
    git('add', '.')
    git('-c', 'user.name=t', '-c', 'user.email=t@t.example', 'commit', '-q', '-m', 'Count the planets')
    try {
      appendFileSync(file(), '// [[say Named the ninth planet]]\n')
      const { page } = workbench
      const icon = page.locator('.activitybar').getByRole('tab', { name: /^Source Control/ })
      const header = page.locator('.pane-header', { hasText: 'Changes' }).first()
      await task('commit message', workbench, { clicks: 2, keys: 0 }, async hands => {
        await hands.click(icon)
        // the buttons of a view are visible while it's hovered
        await header.hover()
        await hands.click(page.getByRole('button', { name: /^Generate Commit Message/ }).first())
        await page.locator('.scm-editor .view-line', { hasText: 'Named the ninth planet' }).waitFor()
      })
    } finally {
      rmSync(join(folder, '.git'), { recursive: true })
      writeFileSync(file(), before)
    }
    await ConversationPage.open(workbench)
  })

  it('fixes a diagnostic', async () => {
    const broken = join(dirname(file()), 'broken.json')
    writeFileSync(broken, 'nonsense\n')
    const { workbench, conversation } = await begin('Ada')
    const { page } = workbench
    await openFile(workbench, 'broken.json')
    await page.locator('.squiggly-error').first().waitFor()
    const line = page.locator('.editor-group-container.active .view-line', { hasText: 'nonsense' })
    const fix = page.locator('.action-widget .monaco-list-row', { hasText: 'Fix with Parley' }).first()
    await task('fix a diagnostic', workbench, { clicks: 2, keys: 2 }, async hands => {
      // the menu never gets an action that is missing when it opens, since the language service is still at work
      await waitFor('the code action', async () => {
        hands.startAgain()
        await hands.click(line)
        await hands.press('Control+.')
        const isChosen = await succeeds(hands.click(fix, 10_000))
        if (!isChosen) await page.keyboard.press('Escape')
        return isChosen
      })
      await conversation.waitForFocus(conversation.composer)
      await waitFor('the prompt', async () => (await conversation.composerText()) !== '')
      await hands.press('Enter')
      await conversation.frame.locator('.row-prompt', { hasText: 'Fix this problem.' }).waitFor()
    })
    await idle(conversation)
    await workbench.runCommand('View: Revert and Close Editor')
    rmSync(broken)
  })

  it('adds an MCP server', async () => {
    const { workbench } = await begin('Ada')
    const { page, paletteInput, palette } = workbench
    const title = (text: string) => palette.locator('.quick-input-title', { hasText: text })
    await task('add an MCP server', workbench, { clicks: 1, keys: 19 }, async hands => {
      await hands.press('F1')
      await paletteInput.waitFor()
      await hands.type('add mcp')
      await workbench.paletteRow('Parley: Add MCP Server…').waitFor()
      await hands.press('Enter')
      await title('Add MCP Server').waitFor()
      // pasted, as from a server's documentation
      await page.keyboard.insertText(`node ${JSON.stringify(mcpServer)}`)
      await hands.press('Enter')
      await palette.getByText('Name of the server').first().waitFor()
      await hands.type('tides')
      await hands.press('Enter')
      // it was connected before it's saved
      await palette.locator('input[placeholder*="tool"]').waitFor()
      await workbench.paletteRow('Save in User Settings').waitFor()
      await hands.press('Enter')
      await workbench.notification('MCP server "tides" added').waitFor()
      await hands.press("Control+'", 'n')
      await waitFor('a session with it', () =>
        JSON.stringify(receivedParams(vscode.server.root, 'Ada', 'session/new').at(-1)).includes('"tides"'),
      )
      const conversation = await ConversationPage.find(workbench)
      await conversation.waitForPhase('ready')
      await conversation.waitForFocus(conversation.composer)
      await hands.click(conversation.frame.getByTitle('Session Details'))
      const details = conversation.frame.getByRole('dialog', { name: 'Session Details' })
      await details.getByText('tides', { exact: true }).waitFor()
    })
    await page.keyboard.press('Escape')
    vscode.server.root.updateSettings({})
  })

  it('exports the conversation', async () => {
    const exported = join(vscode.server.root.directory, 'week.md')
    const { workbench, conversation } = await begin('Ada')
    await conversation.send('[[say All is well.]]')
    await conversation.agentMessage('All is well.').waitFor()
    await idle(conversation)
    const { paletteInput, palette } = workbench
    await task('export', workbench, { clicks: 0, keys: 14 + exported.length }, async hands => {
      await hands.press('F1')
      await paletteInput.waitFor()
      await hands.type('export conv')
      await workbench.paletteRow('Parley: Export Conversation…').waitFor()
      await hands.press('Enter')
      await waitFor('dialog', async () => (await paletteInput.inputValue()).endsWith('.md'))
      await paletteInput.fill('')
      await hands.type(exported)
      // the dialog ignores Enter until it has listed the folder
      await palette.locator('.monaco-list-row', { hasText: 'user-data' }).waitFor()
      await hands.press('Enter')
      await waitFor(
        'the file',
        () => existsSync(exported) && readFileSync(exported, 'utf8').includes('All is well.'),
      )
    })
  })
})
