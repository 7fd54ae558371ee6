import { execFileSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { testDirectory } from '../host/paths.ts'
import { runCommand } from '../host/run-command.ts'
import { waitFor } from '../host/wait-for.ts'
import type { Workbench } from '../host/workbench.ts'
import { ConversationPage } from '../ui/support/conversation-page.ts'
import { HistoryPage } from '../ui/support/history-page.ts'
import { waitForTabIndicator } from '../ui/support/tab-indicator.ts'
import type { State, Studio } from './studio.ts'

/** Everything around the transcript: the header, requests, forms, options, sign-in, History. */
export const aroundStates: State[] = [
  {
    name: 'around-header',
    async take(studio) {
      const conversation = await studio.startReadySession('Account')
      await conversation.send(
        '[[title Find out why the parser test fails one time in ten]] [[usage 41000 200000]]',
      )
      await studio.waitForTurnEnd(conversation)
      const title = conversation.frame.getByRole('button', { name: /Find out why/ })
      await title.waitFor()
      await studio.captureSideBar('header')
      await conversation.openDetails()
      await studio.captureSideBar('details-account')
      await studio.workbench.page.keyboard.press('Escape')
      await title.click()
      await conversation.frame.getByRole('listbox', { name: 'Switch Session' }).waitFor()
      await conversation.frame.locator('.switcher .session-text').first().waitFor()
      await studio.captureSideBar('session-switcher')
      await studio.captureNarrow('session-switcher')
      await studio.workbench.page.keyboard.press('Escape')
      await title.press('F2')
      await conversation.frame.getByRole('textbox', { name: 'Session title' }).waitFor()
      await studio.captureSideBar('header-rename')
      await studio.workbench.page.keyboard.press('Escape')
      await conversation.button(/^Context:/).click()
      await conversation.frame.getByRole('dialog', { name: 'Usage' }).waitFor()
      await studio.captureSideBar('usage')
      await studio.workbench.page.keyboard.press('Escape')
    },
  },
  {
    name: 'around-menus',
    async take(studio) {
      const { workbench } = studio
      const conversation = await studio.startReadySession('Demo Agent')
      await conversation.frame.locator('.header-agent').click()
      await conversation.text('New session with').waitFor()
      await studio.captureSideBar('agent-menu')
      // from the first entry to the last
      await workbench.page.keyboard.press('ArrowUp')
      await studio.captureSideBar('agent-menu-end')
      await workbench.page.keyboard.press('Escape')
      await workbench.runCommand('Parley: Manage Permission Rules')
      await workbench.palette.locator('.monaco-list-row').first().waitFor()
      await studio.capturePart('rules', workbench.palette)
      await workbench.closePalette()
    },
  },
  {
    name: 'around-permission-long',
    async take(studio) {
      const conversation = await studio.startReadySession('Careful')
      await conversation.send('Run everything')
      await conversation.permission.waitFor()
      await studio.captureSideBar('permission-long')
      await studio.captureNarrow('permission-long')
      await conversation.permission.getByRole('button', { name: 'Never' }).click()
      await studio.waitForTurnEnd(conversation)
      await studio.captureSideBar('permission-answered')
    },
  },
  {
    name: 'around-questions-wait',
    async take(studio) {
      const conversation = await studio.startReadySession('Fixture')
      await conversation.send(`[[say ${'A line of the answer. '.repeat(120)}]] [[permissions 2]]`)
      await conversation.permission.nth(1).waitFor()
      await scrollUp(studio)
      await conversation.frame.locator('.jump-question').waitFor()
      await studio.captureSideBar('questions-wait')
      await studio.captureNarrow('questions-wait')
      await conversation.button(/^Stop \(/).click()
      await studio.waitForTurnEnd(conversation)
    },
  },
  {
    name: 'around-form',
    async take(studio) {
      const conversation = await studio.startReadySession('Asking')
      await conversation.send('Release it')
      const question = conversation.frame.getByRole('group', { name: /^Answer required/ })
      await question.getByText('About the release').waitFor()
      await studio.captureSideBar('form')
      await studio.captureNarrow('form')
      await question.getByRole('button', { name: 'Submit' }).click()
      await question.locator('[data-invalid]').first().waitFor()
      await studio.captureSideBar('form-problems')
      await question.getByRole('button', { name: 'Decline' }).click()
      await studio.waitForTurnEnd(conversation)
      await conversation.send('Link it')
      await question.locator('.address-warning').first().waitFor()
      await studio.captureSideBar('form-address')
      await studio.captureNarrow('form-address')
      await question.getByRole('button', { name: 'Decline' }).click()
      await studio.waitForTurnEnd(conversation)
    },
  },
  {
    name: 'around-options',
    async take(studio) {
      const conversation = await studio.startReadySession('Optional')
      await conversation.button(/^Model: /).waitFor()
      await studio.captureSideBar('options')
      await studio.captureNarrow('options')
      await conversation.button('More Options').click()
      await studio.captureSideBar('options-more')
      await studio.workbench.page.keyboard.press('Escape')
      await conversation.button(/^Add/).first().click()
      await studio.captureSideBar('add-menu')
      await studio.workbench.page.keyboard.press('Escape')
    },
  },
  {
    name: 'around-sign-in',
    async take(studio) {
      const conversation = await studio.startSession('Patient')
      const card = conversation.card('Patient requires sign-in')
      await card.waitFor()
      await studio.captureSideBar('sign-in-ways')
      await card.getByText('Details').click()
      await studio.captureNarrow('sign-in-ways')
      await card.getByRole('button', { name: 'Sign in with your browser' }).click()
      const under = conversation.card('Signing in to Patient')
      await under.waitFor()
      await studio.captureSideBar('sign-in-under-way')
      await under.getByRole('button', { name: 'Cancel' }).click()
      await card.getByRole('button', { name: 'Use an API key' }).click()
      await studio.workbench.paletteInput.waitFor()
      await studio.captureWindow('sign-in-key')
      await studio.workbench.page.keyboard.press('Escape')
    },
  },
  {
    name: 'around-tabs',
    isSlow: true,
    async take(studio) {
      const { workbench } = studio
      const tabs = workbench.page.locator('.part.editor .tab')
      for (const [title, prompt] of [
        ['Fix the parser', '[[say It is fixed.]]'],
        ['Update the docs', '[[slow 600000]]'],
        ['Write the tests', '[[permissions 1]]'],
        ['Try it out', '[[error -32603 It broke]]'],
        ['Look around', '[[say Here I am.]]'],
      ] as const) {
        const before = await tabs.count()
        await workbench.runCommand('Parley: Open Conversation in Editor Tab')
        await waitFor('another tab', async () => (await tabs.count()) > before)
        // a new tab takes the focus, which would close the list
        const agents = workbench.palette.getByPlaceholder('Select an agent')
        await waitFor('the list of agents', async () => {
          await workbench.runCommand('Parley: New Session with Agent…')
          return agents.fill('Fixture', { timeout: 3000 }).then(
            () => true,
            () => false,
          )
        })
        await workbench.palette.locator('.monaco-list-row', { hasText: 'Fixture' }).first().click()
        const conversation = await untitled(studio)
        await conversation.waitForPhase('ready')
        await conversation.send(`[[title ${title}]] [[slow 4000]] ${prompt}`)
        await workbench.page.getByRole('tab', { name: new RegExp(title) }).waitFor()
      }
      // a session whose turn ended while another one was displayed has an indicator
      for (const [name, mark] of [
        ['Fix the parser', 'done'],
        ['Write the tests', 'waiting'],
        ['Try it out', 'failed'],
      ] as const)
        await waitForTabIndicator(workbench, name, mark)
      await workbench.page.locator('.tab.active', { hasText: /^Look around/ }).waitFor()
      await studio.captureWindow('tabs')
      await workbench.runCommand('View: Close All Editors')
    },
  },
  {
    name: 'around-cost',
    needsWorkbench: true,
    async take(studio) {
      const { workbench } = studio
      const picture = async (name: string) => {
        await studio.capturePart(`cost-${name}`, workbench.palette)
        const { width, height } = workbench.page.viewportSize()!
        await workbench.page.setViewportSize({ width: 480, height })
        await studio.captureWindow(`narrow-cost-${name}`)
        await workbench.page.setViewportSize({ width, height })
      }
      const conversation = await studio.startReadySession('Demo Agent')
      await conversation.send('/think about costs')
      await studio.waitForTurnEnd(conversation)
      await rememberUsage(workbench.server)
      await workbench.runCommand('Parley: Show Usage and Cost')
      await workbench.palette.getByText('Last 12 Months').first().waitFor()
      await picture('agents')
      await workbench.paletteInput.fill('Careful')
      await workbench.pick('Careful')
      await workbench.palette.getByText('Usage and Cost of Careful').waitFor()
      await picture('days')
      await workbench.closePalette()
      // the narrow window also narrowed the side bar
      await studio.resetWidth()
    },
  },
  {
    name: 'around-history',
    async take(studio) {
      const { workbench } = studio
      await studio.startReadySession('Archivist')
      const able = await studio.startReadySession('Account')
      await able.send('[[title Fix the flaky parser test]] [[slow 600000]]')
      await able.button(/^Stop/).waitFor()
      const waiting = await studio.startReadySession('Careful')
      await waiting.send('Run everything that there is')
      await waiting.permission.waitFor()
      const history = await HistoryPage.open(workbench)
      await history.rows.first().waitFor()
      await studio.captureSideBar('history-states')
      await studio.captureNarrow('history-states')
      await studio.pin(history, 'Fix the flaky parser test')
      await history.frame.getByText('Pinned', { exact: true }).waitFor()
      await studio.captureSideBar('history-pinned')
      await studio.captureNarrow('history-pinned')
      await history.search.press('F2')
      await history.frame.getByRole('textbox', { name: 'Session title' }).waitFor()
      await studio.captureSideBar('history-rename')
      await workbench.page.keyboard.press('Escape')
      await history.search.press('Shift+ArrowDown')
      await history.search.press('Shift+ArrowDown')
      await history.frame.locator('.history-bar', { hasText: '3 sessions selected' }).waitFor()
      await studio.captureSideBar('history-several')
      await studio.captureNarrow('history-several')
      await history.search.press('Escape')
      await history.search.fill('everything')
      await history.frame.locator('mark').first().waitFor()
      await studio.captureSideBar('history-search')
      await studio.captureNarrow('history-search')
      await history.search.fill('nothing is called like this')
      await waitFor('no rows', async () => (await history.rows.count()) === 0)
      await studio.captureSideBar('history-nothing')
      // not all sessions may be drawn
      await history.find('Explain the build')
      await history.clickAction('Explain the build', 'Delete')
      const undo = history.frame.getByRole('button', { name: 'Undo' })
      await undo.waitFor()
      await studio.captureSideBar('history-delete')
      await studio.captureNarrow('history-delete')
      await history.search.fill('')
      // a check of all sizes can take longer than a deletion can be undone
      if (await undo.isVisible()) await undo.click()
      await history.back()
    },
  },
  {
    name: 'manage-agents',
    async take(studio) {
      const { workbench } = studio
      await workbench.runCommand('Parley: Manage Agents')
      const page = await workbench.webview('body[data-view="agents"]')
      await page.getByRole('button', { name: 'Refresh', disabled: false }).waitFor()
      const search = page.getByRole('textbox')
      await studio.captureWindow('manage-agents')
      // one that works and one that fails
      for (const name of ['account', 'absent']) {
        await search.fill(name)
        const agent = page.locator('.agent').first()
        await agent.locator('.act-check').click()
        await agent.locator('.agent-check').waitFor()
        await studio.captureWindow(`manage-agents-${name}`)
        await studio.captureEditorNarrow(`manage-agents-${name}`)
      }
      await search.fill('its makers')
      await studio.captureWindow('manage-agents-long')
      await search.fill('nothing like it')
      await page.getByText('No agents match').waitFor()
      await studio.captureWindow('manage-agents-no-match')
      await search.fill('')
      await workbench.runCommand('View: Close All Editors')
    },
  },
  {
    name: 'compare',
    async take(studio) {
      const { workbench, root } = studio
      const top = join(root.directory, 'workspace', 'planets-api')
      const git = (...args: string[]) =>
        execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.com', ...args], { cwd: top })
      git('init', '-q', '-b', 'main')
      git('add', '.')
      git('commit', '-q', '-m', 'first')
      try {
        // the repository is noticed when a session starts
        const conversation = await studio.startReadySession('Fixture')
        const long = `${Array.from({ length: 9 }, (_, at) => `folder-${at}`).join('/')}/a-file-with-a-name.test.ts`
        await conversation.composer.fill(
          `Add the moons to planets.js, and say which planets have none. [[write moons.txt Io]] [[write planets.js x]] [[write ${long} y]] [[usage 100 1000]] [[say All moons are in moons.txt now. Mercury and Venus have none.]]`,
        )
        await workbench.runCommand('Parley: Send to Several Agents…')
        for (const name of ['Fixture', 'Demo Agent', 'Members Only', 'Broken']) {
          await workbench.paletteInput.fill(name)
          await workbench.paletteRow(name).click()
        }
        await workbench.paletteInput.press('Enter')
        const page = await workbench.webview('body[data-view="compare"]')
        await page.getByText('All moons are in moons.txt').first().waitFor()
        await page.getByText('3 files').waitFor()
        await page.getByText('Authentication required').waitFor()
        await page.getByText('Needs your answer').first().waitFor()
        await studio.captureWindow('compare')
        await studio.captureEditorNarrow('compare')
      } finally {
        rmSync(join(top, '.git'), { recursive: true, force: true })
        await workbench.runCommand('View: Close All Editors')
      }
    },
  },
  {
    name: 'mcp-servers',
    async take(studio) {
      const { workbench, root } = studio
      const program = (file: string, ...args: string[]) => ({
        command: process.execPath,
        args: [join(testDirectory, 'fixtures/mcp', file), ...args],
      })
      root.updateSettings({
        'parley.mcpServers': {
          servers: {
            good: program('stdio-server.mjs'),
            bad: program('bad-server.mjs', 'exits'),
            'a-server-whose-name-is-as-long-as-the-width-of-most-views': {
              type: 'http',
              url: 'https://a-host-with-a-long-name.invalid/and/a/path/without/any/break/in/it/mcp',
            },
          },
        },
      })
      try {
        await workbench.runCommand('Parley: MCP Servers')
        const page = await workbench.webview('body[data-view="mcp"]')
        const server = (name: string) => page.getByRole('listitem').filter({ hasText: name }).first()
        await server('a-server-whose').waitFor()
        await studio.captureWindow('mcp-servers')
        for (const name of ['good', 'bad'])
          await server(name).getByTitle('Connects to the server once').click()
        await server('good').locator('summary').waitFor()
        await server('bad').getByText('starting with no token').waitFor()
        await server('good').locator('summary').first().click()
        await server('good').getByText('reverse_text').waitFor()
        await studio.captureWindow('mcp-servers-checked')
        await studio.captureEditorNarrow('mcp-servers-checked')
      } finally {
        root.updateSettings({ 'parley.mcpServers': undefined })
        await workbench.runCommand('View: Close All Editors')
      }
    },
  },
]

/** The new conversation: the visible one without a title. Hidden tabs have pages, too. */
async function untitled({ workbench }: Studio): Promise<ConversationPage> {
  const frame = await waitFor('a new session', async () => {
    for (const one of workbench.page.frames()) {
      const title = one.locator('.header-title.untitled')
      if (await title.isVisible().catch(() => false)) return one
    }
  })
  return ConversationPage.inFrame(frame)
}

async function scrollUp(studio: Studio): Promise<void> {
  const { frame } = await studio.conversation()
  await frame.locator('.transcript').hover()
  await studio.workbench.page.mouse.wheel(0, -3000)
}

/** Usage of many agents and days, as from earlier sessions. */
async function rememberUsage({ root, vscode }: Workbench['server']): Promise<void> {
  const day = (before: number) => new Date(Date.now() - before * 86_400_000).toISOString().slice(0, 10)
  const rows = [
    ...Array.from({ length: 40 }, (_, at) => [day(at * 3), 'careful', 'USD', 0.017 * (at + 1), 0]),
    ...Array.from({ length: 40 }, (_, at) => [day(at * 3), 'careful', '', 0, 12_345 * (at + 1)]),
    [day(0), 'account', 'EUR', 1234.5, 0],
    [day(2), 'account', 'USD', 0.0042, 0],
    [day(0), 'account', '', 0, 1_234_567_890],
    [day(0), 'archivist', '', 0, 1],
    [day(40), 'gone-from-the-settings', 'USD', 3, 0],
    [day(0), 'long-names', 'A unit with quite a long name', 12, 5000],
  ]
  const script = `
    const { DatabaseSync } = require('node:sqlite')
    const db = new DatabaseSync(process.argv[1])
    const put = db.prepare('INSERT OR REPLACE INTO daily_usage VALUES (?, ?, ?, ?, ?, 0, 0)')
    for (const row of JSON.parse(process.argv[2])) put.run(...row)`
  const file = join(root.userData, 'User/globalStorage/parley.parley/sessions.db')
  await runCommand(vscode.node, ['-e', script, file, JSON.stringify(rows)], {})
}
