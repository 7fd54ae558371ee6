import { execFileSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { testDirectory } from '../host/paths.ts'
import { waitFor } from '../host/wait-for.ts'
import { HistoryPage } from '../ui/support/history-page.ts'
import { inSession, type State } from './studio.ts'

/** Everything around the transcript: the header, requests, forms, options, sign-in, History. */
export const aroundStates: State[] = [
  inSession('around-header', 'Account', async (conversation, studio) => {
    await conversation.runTurn(
      '[[title Find out why the parser test fails one time in ten]] [[usage 41000 200000]]',
    )
    const title = conversation.frame.getByRole('button', { name: /Find out why/ })
    await title.waitFor()
    await studio.captureSideBar('header')
    await conversation.openDetails()
    await studio.captureSideBar('details-account')
    await studio.workbench.page.keyboard.press('Escape')
    await title.click()
    await conversation.frame.getByRole('listbox', { name: 'Switch Session' }).waitFor()
    await conversation.frame.locator('.switcher .session-text').first().waitFor()
    await studio.captureWidths('session-switcher')
    await studio.workbench.page.keyboard.press('Escape')
    await title.press('F2')
    await conversation.frame.getByRole('textbox', { name: 'Session title' }).waitFor()
    await studio.captureSideBar('header-rename')
    await studio.workbench.page.keyboard.press('Escape')
    await conversation.button(/^Context:/).click()
    await conversation.frame.getByRole('dialog', { name: 'Usage' }).waitFor()
    await studio.captureSideBar('usage')
    await studio.workbench.page.keyboard.press('Escape')
  }),
  inSession('around-menus', 'Demo Agent', async (conversation, studio) => {
    const { workbench } = studio
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
  }),
  inSession('around-permission-long', 'Careful', async (conversation, studio) => {
    await conversation.send('Run everything')
    await conversation.permission.waitFor()
    await studio.captureWidths('permission-long')
    await conversation.permission.getByRole('button', { name: 'Never' }).click()
    await studio.waitForTurnEnd(conversation)
    await studio.captureSideBar('permission-answered')
  }),
  inSession('around-questions-wait', 'Fixture', async (conversation, studio) => {
    await conversation.send(`[[say ${'A line of the answer. '.repeat(120)}]] [[permissions 2]]`)
    await conversation.permission.nth(1).waitFor()
    await conversation.frame.locator('.transcript').hover()
    await studio.workbench.page.mouse.wheel(0, -3000)
    await conversation.frame.locator('.jump-question').waitFor()
    await studio.captureWidths('questions-wait')
    await studio.stopTurn(conversation)
  }),
  inSession('around-form', 'Asking', async (conversation, studio) => {
    await conversation.send('Release it')
    const question = conversation.frame.getByRole('group', { name: /^Answer required/ })
    await question.getByText('About the release').waitFor()
    await studio.captureWidths('form')
    await question.getByRole('button', { name: 'Submit' }).click()
    await question.locator('[data-invalid]').first().waitFor()
    await studio.captureSideBar('form-problems')
    await question.getByRole('button', { name: 'Decline' }).click()
    await studio.waitForTurnEnd(conversation)
    await conversation.send('Link it')
    await question.locator('.address-warning').first().waitFor()
    await studio.captureWidths('form-address')
    await question.getByRole('button', { name: 'Decline' }).click()
    await studio.waitForTurnEnd(conversation)
  }),
  {
    name: 'around-sign-in',
    async take(studio) {
      const conversation = await studio.startSession('Patient')
      const card = conversation.card('Patient requires sign-in')
      await card.waitFor()
      await card.getByText('Details').click()
      await studio.captureWidths('sign-in-ways')
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
      await studio.captureWidths('history-states')
      await studio.pin(history, 'Fix the flaky parser test')
      await history.frame.getByText('Pinned', { exact: true }).waitFor()
      await studio.captureWidths('history-pinned')
      await history.search.press('F2')
      await history.frame.getByRole('textbox', { name: 'Session title' }).waitFor()
      await studio.captureSideBar('history-rename')
      await workbench.page.keyboard.press('Escape')
      await history.search.press('Shift+ArrowDown')
      await history.search.press('Shift+ArrowDown')
      await history.frame.locator('.history-bar', { hasText: '3 sessions selected' }).waitFor()
      await studio.captureWidths('history-several')
      await history.search.press('Escape')
      await history.search.fill('everything')
      await history.frame.locator('mark').first().waitFor()
      await studio.captureWidths('history-search')
      await history.search.fill('nothing is called like this')
      await waitFor('no rows', async () => (await history.rows.count()) === 0)
      await studio.captureSideBar('history-nothing')
      // not all sessions may be drawn
      await history.find('Explain the build')
      await history.clickAction('Explain the build', 'Delete')
      const undo = history.frame.getByRole('button', { name: 'Undo' })
      await undo.waitFor()
      await studio.captureWidths('history-delete')
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
      for (const name of ['account', 'not installed']) {
        await search.fill(name)
        const agent = page.locator('.agent').first()
        await agent.locator('.act-check').click()
        await agent.locator('.agent-check').waitFor()
        await studio.captureTabWidths(`manage-agents-${name.replace(' ', '-')}`)
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
    name: 'inspector',
    async take(studio) {
      const { workbench } = studio
      await studio.startReadySession('Fixture')
      await workbench.runCommand('Parley: Show Protocol Traffic')
      const page = await workbench.webview('body[data-view="inspector"] input')
      const conversation = await studio.startReadySession('Fixture')
      await conversation.runTurn('[[tool a]] [[write moons.txt Io]] [[say All moons are in moons.txt now.]]')
      const messages = page.getByRole('listbox', { name: 'Messages' })
      await messages
        .getByRole('option', { name: /session\/prompt/ })
        .first()
        .click()
      await page.getByRole('treeitem').first().waitFor()
      await studio.captureTabWidths('inspector')
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
        await page.locator('.compare-files summary').first().waitFor()
        await page.getByText('Authentication required').waitFor()
        await page.getByText('Needs your answer').first().waitFor()
        await studio.captureTabWidths('compare')
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
        await studio.captureTabWidths('mcp-servers-checked')
      } finally {
        root.updateSettings({ 'parley.mcpServers': undefined })
        await workbench.runCommand('View: Close All Editors')
      }
    },
  },
]
