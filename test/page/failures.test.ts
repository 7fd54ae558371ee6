import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Locator } from 'playwright-core'
import type { IsolatedRoot } from '../host/isolated-root.ts'
import { waitFor } from '../host/wait-for.ts'
import { PageSuite } from '../support/page/page-suite.ts'
import type { PageWindow } from '../support/page/page-window.ts'
import { ConversationPage } from '../ui/support/conversation-page.ts'
import { outputLine } from '../ui/support/editor.ts'
import { fixtureAgent, openGate, receivedParams } from '../ui/support/fixture-agent.ts'
import { HistoryPage } from '../ui/support/history-page.ts'

const agents = (root: IsolatedRoot) => ({
  absent: { name: 'Absent', command: 'an-agent-that-comes-later' },
  misplaced: { name: 'Misplaced', command: '/nowhere/agent' },
  broken: { name: 'Broken', command: 5 },
  exits: fixtureAgent(root, 'Exits', 'exit-start'),
  talks: fixtureAgent(root, 'Talks', 'garbage-start'),
  newer: fixtureAgent(root, 'Newer', 'version-99'),
  silent: fixtureAgent(root, 'Silent', 'hang-initialize'),
  honest: fixtureAgent(root, 'Honest'),
  full: fixtureAgent(root, 'Full', {
    results: {
      'session/new': {
        sessionId: '$session',
        modes: {
          currentModeId: 'ask',
          availableModes: [
            { id: 'ask', name: 'Ask' },
            { id: 'plan', name: 'Plan' },
          ],
        },
      },
      'session/set_mode': {},
    },
    on: {
      'session/new': [
        {
          update: {
            sessionUpdate: 'available_commands_update',
            availableCommands: [{ name: 'compact', description: 'Makes the conversation shorter' }],
          },
        },
      ],
    },
  }),
})

describe('an agent that fails', () => {
  const vscode = new PageSuite({
    settings: root => {
      writeFileSync(join(root.home, '.profile'), 'export PATH="$HOME/bin:$PATH"\n')
      mkdirSync(join(root.home, 'bin'))
      return { 'parley.agents': agents(root) }
    },
  })
  let workbench: PageWindow
  let conversation: ConversationPage

  beforeEach(async () => {
    workbench = await vscode.sharedWindow()
    conversation = await ConversationPage.open(workbench)
  })

  /** Selects an agent like a user: in the empty view if that's visible, else in the quick pick. */
  async function pick(name: string): Promise<void> {
    const inView = conversation.button(new RegExp(`^${name} `))
    if (await inView.isVisible()) return inView.click()
    await workbench.runAndPick('Parley: New Session with Agent…', name)
  }

  /** The texts of the prompts that an agent received. */
  function prompts(agent: string): Array<string | undefined> {
    return receivedParams(vscode.root, agent, 'session/prompt').map(
      ({ prompt }) => (prompt as Array<{ text?: string }>)[0]?.text,
    )
  }

  async function detailsOf(card: Locator): Promise<Locator> {
    await card.waitFor()
    // the details contain the last output of the process
    if (!(await card.locator('details[open]').isVisible())) await card.getByText('Details').click()
    return card.locator('.card-detail')
  }

  it('is reported if its setting is invalid, and the other agents stay available', async () => {
    const card = conversation.card('Invalid Setting')
    await card.getByText(/parley\.agents › broken › command.*user settings/).waitFor()
    await card.getByRole('button', { name: 'Open Settings' }).waitFor()
    await conversation.button(/^Honest/).waitFor()
    assert.equal(await conversation.button(/^Broken/).count(), 0)
  })

  it('is searched for again on Retry', async () => {
    await pick('Absent')
    const card = conversation.card("Absent isn't installed")
    await card.getByText("The command “an-agent-that-comes-later” wasn't found.").waitFor()
    const details = await detailsOf(card)
    const place = join(vscode.root.home, 'bin')
    await details.filter({ hasText: 'Searched in' }).getByText(place).waitFor()

    const { command, args, env } = agents(vscode.root).honest
    const program = join(place, 'an-agent-that-comes-later')
    writeFileSync(program, `#!/bin/sh\nexec '${command}' '${args?.join("' '")}'\n`)
    chmodSync(program, 0o755)
    assert.ok(env)
    await card.getByRole('button', { name: 'Retry' }).click()
    await conversation.waitForPhase('ready')
    await card.waitFor({ state: 'detached' })
  })

  it('shows its last output when it exits immediately, and goes back to the conversation before', async () => {
    await ConversationPage.startSession(workbench, 'Honest')
    await conversation.runTurn('remember me')
    await pick('Exits')
    const card = conversation.card('Exits stopped during startup')
    await card.getByText('exited with code 3').waitFor()
    await (await detailsOf(card)).getByText('fixture: no configuration found').waitFor()
    assert.equal(await conversation.text('You said: remember me').count(), 0)
    await card.getByRole('button', { name: 'Go Back' }).click()
    await card.waitFor({ state: 'detached' })
    await conversation.text('You said: remember me').waitFor()
    await conversation.waitForAgent('Honest')
  })

  it('shows what it printed instead of protocol messages', async () => {
    await pick('Talks')
    const card = conversation.card('Talks stopped during startup')
    const noise = (await detailsOf(card)).filter({ hasText: 'Non-protocol output' })
    await noise.getByText(/Usage: fixture \[options\]/).waitFor()
  })

  it('is reported if it uses an unsupported version', async () => {
    await pick('Newer')
    await conversation
      .card('Newer uses an unsupported protocol version')
      .getByText(/protocol version 99/)
      .waitFor()
  })

  it('keeps the conversation if it exits during a turn, and can continue it', async () => {
    await ConversationPage.startSession(workbench, 'Honest')
    await conversation.runTurn('remember me')
    await conversation.send('[[gate]] [[crash 7]]')
    await conversation.send('never sent')
    await conversation.text('1 prompt queued').waitFor()
    openGate(vscode.root, 'Honest')
    const card = conversation.card('Honest stopped')
    await card.getByText(/exited with code 7\. The conversation was saved\./).waitFor()
    await conversation.text('You said: remember me').waitFor()
    // the queued prompt is back in the composer, and nowhere else
    await waitFor('the prompt', async () => (await conversation.composerText()) === 'never sent')
    await conversation.text('1 prompt queued').waitFor({ state: 'detached' })
    await card.getByRole('button', { name: 'Restart and Continue' }).click()
    await card.waitFor({ state: 'detached' })
    await conversation.waitForPhase('ready')
    await waitFor('the prompt', async () => (await conversation.composerText()) === 'never sent')
    await conversation.text('You said: remember me').waitFor()
    await conversation.send('still there?')
    await conversation.text('You said: still there?').waitFor()
  })

  const continued = () =>
    conversation.frame.locator('.notice-title', { hasText: 'Continued with Full in a new session' })

  it('because the context is full can compact the conversation, or continue in a new session, with the same prompt', async () => {
    const prompt = '[[error -32603 Prompt is too long: 214,000 tokens > 200,000 maximum]]'
    const inComposer = (text: string) =>
      waitFor('the prompt in the input', async () => (await conversation.composerText()).includes(text))
    conversation = await ConversationPage.startSession(workbench, 'Full')
    await conversation.runTurn('hello planets')
    await conversation.runTurn('[[mode plan]]')
    await conversation.send(prompt)
    await conversation.text('The context is full').waitFor()
    await conversation.button('Compact Conversation').click()
    await waitFor('the command', () => prompts('Full').includes('/compact'))
    await inComposer(prompt)
    await conversation.composer.press('Enter')
    const again = conversation.button('Continue in a New Session')
    await again.waitFor()
    const sessions = () => receivedParams(vscode.root, 'Full', 'session/new').length
    const before = sessions()
    await again.click()
    await waitFor('the new session', () => sessions() === before + 1)
    await continued().waitFor()
    await conversation.waitForPhase('ready')
    await inComposer(prompt)
    // the mode is the one that the conversation had
    const modes = () => receivedParams(vscode.root, 'Full', 'session/set_mode').map(({ modeId }) => modeId)
    await waitFor('the mode', () => modes().includes('plan'))
    assert.equal(prompts('Full').filter(text => text === prompt).length, 2)
    // what was said stays above it
    await conversation.text('You said: hello planets').waitFor()
    const history = await HistoryPage.open(workbench)
    const rows = history.rows.filter({ hasText: 'hello planets' })
    await rows.first().waitFor()
    assert.equal(await rows.count(), 1)
    await history.back()
  })

  it('because the context is full goes on with a summary of what a new session has no room for', async () => {
    conversation = await ConversationPage.startSession(workbench, 'Full')
    for (const name of ['first', 'second', 'third'])
      await conversation.runTurn(
        `[[usage 900 1000]] [[say About planets.]] ${name} ${'and more '.repeat(100)}`,
      )
    await conversation.send('[[error -32603 Prompt is too long]]')
    await conversation.button('Continue in a New Session').click()
    await waitFor('what the agent is asked to summarize', () =>
      prompts('Full').some(text => /^Below is the earlier part .* first and more/s.test(text ?? '')),
    )
    await continued().waitFor()
    await conversation.frame.locator('.notice', { hasText: 'About planets.' }).waitFor()
    await conversation.waitForPhase('ready')
    await waitFor('the prompt in the input', async () =>
      (await conversation.composerText()).includes('too long'),
    )
    await conversation.composer.press('ControlOrMeta+A')
    await conversation.composer.pressSequentially('carry on')
    await conversation.composer.press('Enter')
    const asked = () => JSON.stringify(receivedParams(vscode.root, 'Full', 'session/prompt').at(-1) ?? '')
    await waitFor('the prompt', () => asked().includes('carry on'))
    assert.match(asked(), /## Summary of the Earlier Turns\\n\\nAbout planets\./)
  })

  it('works once its setting is corrected', async () => {
    await pick('Misplaced')
    const card = conversation.card(/(Misplaced|Mended) isn't installed/)
    await card.waitFor()
    const { root } = vscode
    root.updateSettings({ 'parley.agents': { ...agents(root), misplaced: fixtureAgent(root, 'Mended') } })
    const agent = conversation.frame.locator('.header-agent')
    await waitFor('session of the mended agent', async () => {
      // VS Code reads the settings file a moment after it's written
      await card
        .getByRole('button', { name: 'Retry' })
        .click({ timeout: 2000 })
        .catch(() => {})
      return agent.getByText('Mended').isVisible()
    })
    await conversation.waitForPhase('ready')
  })

  it("is stopped if it doesn't respond within the configured time", async () => {
    const { root } = vscode
    const silent = fixtureAgent(root, 'Silent now', 'hang-initialize')
    root.updateSettings({ 'parley.agents': { ...agents(root), silent }, 'parley.initializeTimeout': 5 })
    // 5 seconds, because processes start slowly on a slow machine
    // the new name shows that the settings were read
    await pick('Silent now')
    const card = conversation.card("Silent now didn't respond")
    await card.getByText(/within 5 seconds/).waitFor()
    await (await detailsOf(card)).getByText('fixture: thinking about it').waitFor()
    await card.getByRole('button', { name: 'Open Log' }).click()
    await outputLine(workbench, 'fixture: thinking about it').waitFor()
    await card.getByRole('button', { name: 'Open Settings' }).click()
    await waitFor('the settings', async () =>
      (await workbench.host.call('builtInCommands')).some(command =>
        command.startsWith('workbench.action.openS'),
      ),
    )
  })
})
