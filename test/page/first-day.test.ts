import assert from 'node:assert/strict'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { waitFor } from '../host/wait-for.ts'
import { CountedTasks } from '../support/page/counted-tasks.ts'
import { PageSuite } from '../support/page/page-suite.ts'
import type { PageWindow } from '../support/page/page-window.ts'
import { ConversationPage } from '../ui/support/conversation-page.ts'
import { fixtureAgent, openGate } from '../ui/support/fixture-agent.ts'
import { HistoryPage } from '../ui/support/history-page.ts'

describe('the tasks of the first day and the second week', () => {
  const vscode = new PageSuite({
    settings: root => ({
      'parley.agents': { ada: fixtureAgent(root, 'Ada') },
      'parley.mcpServers': { servers: { clock: { command: 'node', args: ['clock.mjs'] } } },
    }),
  })
  const DEMO = 'Demo Agent'
  const file = () => join(dirname(vscode.workspace), 'planets-api', 'planets.js')
  const { task } = new CountedTasks()

  /** Starts a session in the shared window, with the cursor in the input. */
  async function begin(agent: string): Promise<{ workbench: PageWindow; conversation: ConversationPage }> {
    const workbench = await vscode.sharedWindow()
    const conversation = await ConversationPage.startSession(workbench, agent)
    await conversation.composer.click()
    await conversation.waitForFocus(conversation.composer)
    return { workbench, conversation }
  }
  const idle = (conversation: ConversationPage) =>
    conversation.button(/^Stop \(/).waitFor({ state: 'detached' })

  it('gets a first answer', async () => {
    const workbench = await vscode.sharedWindow()
    const icon = workbench.page.locator('.activitybar').getByRole('button', { name: 'Parley' })
    await icon.waitFor()
    await task('first answer', workbench, { clicks: 2, keys: 6 }, async hands => {
      await hands.click(icon)
      const conversation = await ConversationPage.find(workbench)
      await hands.click(conversation.button(/^Try the Demo Agent/))
      await conversation.waitForPhase('ready')
      await conversation.waitForFocus(conversation.composer)
      await hands.ask('/help')
      await conversation.text(/\/compact/).waitFor()
    })
  })

  it('allows a request', async () => {
    const { workbench, conversation } = await begin(DEMO)
    await task('allow', workbench, { clicks: 0, keys: 11 }, async hands => {
      await hands.ask('/run date')
      const allow = conversation.permission.getByRole('button', { name: 'Allow once' })
      await conversation.waitForFocus(allow)
      await hands.press('Enter')
      await conversation.text('exit code 0').waitFor()
    })
  })

  it('rejects a request', async () => {
    const { workbench, conversation } = await begin(DEMO)
    await task('reject', workbench, { clicks: 1, keys: 9 }, async hands => {
      await hands.ask('/run pwd')
      await hands.click(conversation.permission.getByRole('button', { name: 'Reject', exact: true }))
      await conversation.text('You rejected the command').waitFor()
    })
  })

  it('creates a rule that always allows', async () => {
    const { workbench, conversation } = await begin(DEMO)
    await task('always allow', workbench, { clicks: 3, keys: 28 }, async hands => {
      await hands.ask('/run echo one')
      await hands.click(conversation.permission.getByRole('button', { name: 'Create Rule…' }))
      const offers = conversation.frame.getByRole('dialog', { name: 'Create Permission Rule' })
      await hands.click(offers.getByRole('radio', { name: 'Commands that start with echo' }))
      await hands.click(offers.getByRole('button', { name: 'Save in Workspace Settings' }))
      await offers.waitFor({ state: 'detached' })
      await conversation.text('exit code 0').waitFor()
      await idle(conversation)
      await conversation.waitForFocus(conversation.composer)
      await hands.ask('/run echo two')
      await conversation.button(/allowed by your rule/).waitFor()
    })
  })

  it('changes the model', async () => {
    const { workbench, conversation } = await begin(DEMO)
    await task('change model', workbench, { clicks: 2, keys: 0 }, async hands => {
      await hands.click(conversation.button(/^Model: /))
      await hands.click(conversation.frame.getByRole('option', { name: /^Demo Thorough/ }))
      await conversation.button('Model: Demo Thorough').waitFor()
    })
  })

  it('finds an earlier message', async () => {
    const { workbench, conversation } = await begin('Ada')
    await conversation.send('[[replay 40 2]]')
    await conversation.text('Answer 40').waitFor()
    await idle(conversation)
    await conversation.composer.click()
    await conversation.waitForFocus(conversation.composer)
    await task('find', workbench, { clicks: 0, keys: 14 }, async hands => {
      await hands.press('Control+f')
      const widget = conversation.frame.getByRole('search', { name: 'Find in Conversation' })
      await conversation.waitForFocus(widget.getByRole('textbox', { name: 'Find' }))
      await hands.type('Question 7 of')
      await widget.locator('.find-count', { hasText: '1 of 1' }).waitFor()
    })
    await workbench.page.keyboard.press('Escape')
  })

  it('renames a session', async () => {
    const { workbench, conversation } = await begin('Ada')
    await conversation.runTurn('to be named')
    await conversation.frame.getByRole('button', { name: 'to be named' }).first().waitFor()
    await task('rename', workbench, { clicks: 0, keys: 9 }, async hands => {
      await hands.press('F2')
      const field = conversation.frame.getByRole('textbox', { name: 'Session title' })
      await conversation.waitForFocus(field)
      // the current title is selected
      await hands.type('Renamed')
      await hands.press('Enter')
      await conversation.frame.getByRole('heading', { name: /^Renamed/ }).waitFor()
    })
  })

  it("reopens yesterday's session", async () => {
    const prompt = `Help with the work of ${Date.now()}`
    const yesterday = await vscode.open()
    const first = await ConversationPage.startSession(yesterday, DEMO)
    await first.send(prompt)
    await first.text(/\/compact/).waitFor()
    await idle(first)
    // otherwise the next window restores it
    const history = await HistoryPage.open(yesterday)
    await history.clickAction(prompt, 'Close')
    await history.back()
    await first.waitForPhase('empty')
    await yesterday.close()

    const workbench = await vscode.open()
    const icon = workbench.page.locator('.activitybar').getByRole('button', { name: 'Parley' })
    await icon.waitFor()
    await task('resume a session', workbench, { clicks: 2, keys: 0 }, async hands => {
      await hands.click(icon)
      const start = await ConversationPage.find(workbench)
      const sessions = start.frame.getByRole('region', { name: 'Sessions' })
      await hands.click(sessions.getByRole('button', { name: prompt }))
      const conversation = await ConversationPage.find(workbench)
      await conversation.frame.locator('.row-prompt', { hasText: prompt }).waitFor()
      await conversation.waitForPhase('ready')
    })
  })

  it('starts another agent', async () => {
    const { workbench, conversation: before } = await begin(DEMO)
    await task('switch agent', workbench, { clicks: 2, keys: 0 }, async hands => {
      await hands.click(before.frame.locator('.header').getByRole('button', { name: DEMO }))
      await hands.click(before.frame.getByRole('option', { name: 'Ada' }))
      const conversation = await ConversationPage.find(workbench)
      await conversation.waitForAgent('Ada')
      await conversation.waitForPhase('ready')
    })
  })

  it('stops and corrects a turn', async () => {
    const { workbench, conversation } = await begin('Ada')
    await task('stop and correct', workbench, { clicks: 0, keys: 27 }, async hands => {
      await hands.ask('[[gate]]')
      await conversation.button(/^Stop \(/).waitFor()
      await hands.press('Escape')
      await idle(conversation)
      await conversation.waitForFocus(conversation.composer)
      await hands.ask('[[say Better]]')
      await conversation.frame.locator('.row-markdown', { hasText: 'Better' }).waitFor()
    })
  })

  it('adds a file to a prompt, and goes to it from there', async () => {
    const { workbench, conversation } = await begin('Ada')
    await task('add a file', workbench, { clicks: 0, keys: 14 }, async hands => {
      await hands.type('@planets')
      const suggested = conversation.frame.getByRole('listbox', { name: 'Context' }).getByRole('option')
      const selected = conversation.frame.locator('[aria-selected="true"]')
      await suggested.filter({ hasText: 'planets.js' }).and(selected).waitFor()
      await hands.press('Enter')
      await conversation.composer.getByText('planets.js').waitFor()
      await hands.ask('why?')
    })
    const sent = conversation.frame.locator('.row-prompt').last()
    await task('open a file of the conversation', workbench, { clicks: 1, keys: 0 }, async hands => {
      await hands.click(sent.getByRole('button', { name: 'planets.js' }))
      await workbench.page.locator('.tabs-container .tab', { hasText: 'planets.js' }).waitFor()
    })
    await idle(conversation)
  })

  it('writes the next prompt while the agent works', async () => {
    const { workbench, conversation } = await begin('Ada')
    await conversation.send('[[say I begin.]] [[gate]]')
    await conversation.agentMessage('I begin.').waitFor()
    await task('next prompt', workbench, { clicks: 0, keys: 13 }, async hands => {
      await hands.ask('[[say Next]]')
      await conversation.frame.getByRole('listitem').filter({ hasText: 'Next' }).waitFor()
      openGate(vscode.root, 'Ada')
      await conversation.agentMessage('Next').waitFor()
    })
    await idle(conversation)
  })

  // The second week

  it('restores files to before a prompt, and sends another one', async () => {
    const before = readFileSync(file(), 'utf8')
    const { workbench, conversation } = await begin('Ada')
    await conversation.send('[[edit planets.js Mars Ares]]')
    await conversation.frame.getByRole('region', { name: 'Changed files' }).getByText('1 file').waitFor()
    await idle(conversation)
    const prompt = conversation.frame.locator('.row-prompt').first()
    await task('restore and resend', workbench, { clicks: 1, keys: 17 }, async hands => {
      await prompt.hover()
      await hands.click(prompt.getByRole('button', { name: 'Restore to Here…' }))
      await waitFor('the file as it was', () => readFileSync(file(), 'utf8') === before)
      await conversation.waitForFocus(conversation.composer)
      await conversation.composer.filter({ hasText: 'Mars Ares' }).waitFor()
      await hands.press('ControlOrMeta+A')
      await hands.ask('[[say Instead]]')
      await conversation.agentMessage('Instead').waitFor()
    })
  })

  it('keeps the changes of four of five files, and reverts those of one', async () => {
    const { workbench, conversation } = await begin('Ada')
    const made = (name: string) => join(dirname(file()), `review-${name}.txt`)
    const names = ['a', 'b', 'c', 'd', 'e']
    await conversation.runTurn(names.map(name => `[[write review-${name}.txt ${name}]]`).join(' '))
    const bar = conversation.frame.getByRole('region', { name: 'Changed files' })
    await bar.getByText('5 files').waitFor()
    await task('review five files', workbench, { clicks: 3, keys: 0 }, async hands => {
      const list = bar.getByRole('button', { name: /5 files/ })
      await hands.click(list)
      await hands.click(bar.getByRole('button', { name: 'Revert Changes in review-c.txt' }))
      await bar.getByRole('button', { name: /^Reverted: review-c/ }).waitFor()
      await hands.click(bar.getByRole('button', { name: 'Keep All Changes' }))
      await bar.waitFor({ state: 'detached' })
    })
    for (const name of names) {
      assert.equal(existsSync(made(name)), name !== 'c')
      rmSync(made(name), { force: true })
    }
  })

  it('copies the answer of a turn, and reverts what the turn did', async () => {
    const { workbench, conversation } = await begin('Ada')
    const tools = ['a', 'b', 'c', 'd', 'e'].map(name => `[[tool ${name}]]`).join(' ')
    await conversation.runTurn(`${tools} [[write copied.txt one]] [[say The answer is forty-two.]]`)
    const end = conversation.frame.getByRole('group', { name: 'End of turn' })
    await task('copy an answer', workbench, { clicks: 1, keys: 0 }, async hands => {
      await hands.click(end.getByRole('button', { name: 'Copy Answer' }))
      await waitFor('the answer', async () =>
        String(await workbench.host.call('clipboard')).includes('The answer is forty-two.'),
      )
    })
    await task('revert a turn', workbench, { clicks: 2, keys: 0 }, async hands => {
      await hands.click(end.getByRole('button', { name: 'Revert Changes of This Turn…' }))
      await hands.click(workbench.page.locator('.monaco-dialog-box').getByRole('button', { name: 'Revert' }))
      await waitFor('no file', () => !existsSync(join(dirname(file()), 'copied.txt')))
    })
  })

  it('stops what still runs after the turn', async () => {
    const { workbench, conversation } = await begin('Ada')
    await conversation.runTurn('[[leave echo Listening on 8080; exec sleep 600]] [[say Served.]]')
    const running = conversation.frame.getByRole('region', { name: 'Background tasks' }).first()
    await task('stop a command', workbench, { clicks: 2, keys: 0 }, async hands => {
      await hands.click(running.getByRole('button', { name: '1 background task' }))
      await hands.click(running.getByRole('button', { name: /^Stop echo/ }))
      await running.waitFor({ state: 'detached' })
    })
  })

  it('goes to the one of three sessions that waits', async () => {
    const first = await begin('Ada')
    await first.conversation.send('[[permissions 1]]')
    await first.conversation.permission.waitFor()
    const second = await begin('Ada')
    await second.conversation.runTurn('[[say Nothing more to do.]]')
    const { workbench, conversation } = await begin('Ada')
    await task('which session waits', workbench, { clicks: 2, keys: 0 }, async hands => {
      await hands.click(conversation.frame.getByRole('button', { name: /^New session/ }))
      const waiting = conversation.frame
        .getByRole('listbox', { name: 'Switch Session' })
        .getByRole('option', { name: /Needs your answer/ })
      await hands.click(waiting.first())
      await (await ConversationPage.find(workbench)).permission.waitFor()
    })
    const shown = await ConversationPage.find(workbench)
    await shown.permission.getByRole('button', { name: 'Reject', exact: true }).click()
    await idle(shown)
  })

  it('finds something said last week', async () => {
    const said = await begin('Ada')
    await said.conversation.send('[[say The sphinx is made of quartz.]]')
    await said.conversation.agentMessage('quartz').waitFor()
    await idle(said.conversation)
    const { workbench } = await begin('Ada')
    await task('find what was said', workbench, { clicks: 0, keys: 9 }, async hands => {
      await hands.press("Control+'", 'h')
      const history = await HistoryPage.find(workbench)
      await history.search.and(history.frame.locator(':focus')).waitFor()
      await hands.type('quartz')
      await history.frame.locator('mark', { hasText: 'quartz' }).first().waitFor()
      await hands.press('Enter')
      await (await ConversationPage.find(workbench)).agentMessage('quartz').waitFor()
    })
  })

  it('shows what the session costs', async () => {
    const { workbench, conversation } = await begin(DEMO)
    await conversation.runTurn('/think about costs')
    await task('cost of a session', workbench, { clicks: 1, keys: 0 }, async hands => {
      await hands.click(conversation.button(/^Context:/))
      await conversation.frame.getByRole('dialog', { name: 'Usage' }).getByText('Total cost').waitFor()
    })
    await workbench.page.keyboard.press('Escape')
  })

  it('shows the MCP servers of the session', async () => {
    const { workbench, conversation } = await begin('Ada')
    await task('MCP state', workbench, { clicks: 1, keys: 0 }, async hands => {
      await hands.click(conversation.frame.getByTitle('Session Details'))
      const details = conversation.frame.getByRole('dialog', { name: 'Session Details' })
      await details.getByText('clock').first().waitFor()
      await details.getByLabel('Passed to the agent').first().waitFor()
    })
    await workbench.page.keyboard.press('Escape')
  })

  it('continues a turn that a reload interrupted', async () => {
    const { workbench, conversation } = await begin('Ada')
    await conversation.send('[[say I begin.]] [[gate]]')
    await conversation.agentMessage('I begin.').waitFor()
    await workbench.reload()
    await task('reload in mid-turn', workbench, { clicks: 0, keys: 15 }, async hands => {
      const restored = await ConversationPage.find(workbench)
      await restored.agentMessage('I begin.').waitFor()
      await restored.waitForPhase('ready')
      await restored.composer.click()
      await restored.waitForFocus(restored.composer)
      await hands.ask('[[say Go on.]]')
      await restored.agentMessage('Go on.').waitFor()
    })
    openGate(vscode.root, 'Ada')
  })
})
