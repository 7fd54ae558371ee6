import assert from 'node:assert/strict'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { waitFor } from '../host/wait-for.ts'
import { PageSuite } from '../support/page/page-suite.ts'
import { ConversationPage } from '../ui/support/conversation-page.ts'
import { fixtureAgent, INITIALIZE_V2, openGate, receivedParams } from '../ui/support/fixture-agent.ts'

const update = (sessionUpdate: string, more: object) => ({ update: { sessionUpdate, ...more } })
const background = [
  { type: 'terminal', terminalId: 'x' },
  { type: 'tool_call', toolCallId: 'watch' },
  { type: 'subagent', sessionId: 'child' },
]
const ended = (list: object[]) =>
  update('state_update', { state: 'idle', stopReason: 'end_turn', background: list })

/** A v2 agent that leaves a command, a tool call and a subagent running; it doesn't stop the tool call, although it says so. */
const leaving = (sessionId: string) => ({
  results: { initialize: INITIALIZE_V2, 'session/new': { sessionId } },
  prompt: [
    { reply: { messageId: 'p1' } },
    update('state_update', { state: 'running' }),
    update('terminal_update', {
      terminalId: 'x',
      command: 'npm run serve',
      output: { data: Buffer.from('Starting\nListening on port 8080\n').toString('base64') },
      capabilities: { cancel: {} },
    }),
    update('tool_call_update', {
      toolCallId: 'serve',
      title: 'npm run serve',
      kind: 'execute',
      status: 'completed',
      content: [{ type: 'terminal', terminalId: 'x' }],
    }),
    update('tool_call_update', {
      toolCallId: 'watch',
      title: 'Watch the files',
      status: 'in_progress',
      content: [{ type: 'content', content: { type: 'text', text: '3 files watched' } }],
      capabilities: { cancel: {} },
    }),
    update('subagent_update', { sessionId: 'child', title: 'Reviewer', state: { state: 'running' } }),
    ended(background),
  ],
  on: {
    'terminal/cancel': [
      update('terminal_update', { terminalId: 'x', exitStatus: { exitCode: null, signal: 'SIGTERM' } }),
      ended(background.slice(1)),
      { reply: {} },
    ],
    'tool_call/cancel': [{ reply: {} }],
  },
})

describe('what still runs', () => {
  const vscode = new PageSuite({
    settings: root => ({
      'parley.agents': {
        plain: fixtureAgent(root, 'Plain'),
        leaving: { ...fixtureAgent(root, 'Leaving', leaving('s1')), protocol: 'latest' },
        reloaded: { ...fixtureAgent(root, 'Reloaded', leaving('s2')), protocol: 'latest' },
      },
    }),
  })
  const strip = (conversation: ConversationPage) =>
    conversation.frame.getByRole('region', { name: 'Background tasks' }).first()
  const line = (conversation: ConversationPage, count: number) =>
    strip(conversation).getByRole('button', {
      name: count === 1 ? '1 background task' : `${count} background tasks`,
    })
  const focused = (conversation: ConversationPage) =>
    conversation.frame.evaluate<string>(
      '(document.activeElement.getAttribute("aria-label") ?? "") + "|" + document.activeElement.className',
    )

  it("is a command of the agent's terminal, with its last line, its output and a way to stop it, by keyboard", async () => {
    const workbench = await vscode.clearedWindow()
    const conversation = await ConversationPage.startSession(workbench, 'Plain')
    const file = join(vscode.root.directory, 'pid')
    const command = `echo $$ > ${file}; echo Listening on 8080; exec sleep 600`
    await conversation.runTurn(`[[leave ${command}]] [[say Served.]]`)
    await line(conversation, 1).waitFor()
    await waitFor('the command', () => existsSync(file))

    const { keyboard } = workbench.page
    await line(conversation, 1).focus()
    await keyboard.press('Enter')
    await strip(conversation).getByText('Listening on 8080', { exact: true }).waitFor()
    const row = strip(conversation).getByRole('button', { name: /^Command.*echo/ })
    await row.focus()
    await keyboard.press('Enter')
    await strip(conversation).locator('.terminal-line', { hasText: 'Listening on 8080' }).waitFor()

    await strip(conversation)
      .getByRole('button', { name: /^Stop echo/ })
      .focus()
    await keyboard.press('Enter')
    await strip(conversation).waitFor({ state: 'detached' })
    const pid = Number(readFileSync(file, 'utf8'))
    await waitFor('the end of the command', () => {
      try {
        process.kill(pid, 0)
        return false
      } catch {
        return true
      }
    })
    // the focus isn't lost with the strip
    await waitFor('the focus', async () => (await focused(conversation)).includes('cm-content'))
  })

  it("doesn't contain the command that the turn waits for", async () => {
    const workbench = await vscode.clearedWindow()
    const conversation = await ConversationPage.startSession(workbench, 'Plain')
    const file = join(vscode.root.directory, 'go')
    await conversation.send(
      `[[leave sleep 600]] [[gate]] [[run while ! test -e ${file}; do sleep 0.05; done]] [[say Done.]]`,
    )
    openGate(vscode.root, 'Plain')
    await conversation.frame.locator('.working', { hasText: 'Running' }).waitFor()
    assert.equal(await strip(conversation).count(), 0)
    writeFileSync(file, '')
    await conversation.agentMessage('exit 0').waitFor()
    await line(conversation, 1).waitFor()
    await conversation.send('[[say More.]]')
    await conversation.agentMessage('More.').waitFor()
    await line(conversation, 1).waitFor()
  })

  it("lists the agent's work; stopped work disappears, and work that didn't stop can be stopped again", async () => {
    const workbench = await vscode.clearedWindow()
    const conversation = await ConversationPage.startSession(workbench, 'Leaving')
    await conversation.send('serve it')
    await line(conversation, 3).click()
    const tasks = strip(conversation)
    await tasks.getByText('Listening on port 8080').waitFor()
    await tasks.getByText('3 files watched').waitFor()
    assert.equal(await tasks.getByRole('button', { name: 'Stop Reviewer' }).count(), 0)

    await tasks.getByRole('button', { name: 'Stop Watch the files' }).click()
    await tasks.getByLabel('Stopping Watch the files').waitFor()
    await waitFor(
      'the request',
      () => receivedParams(vscode.root, 'Leaving', 'tool_call/cancel').length === 1,
    )
    assert.deepEqual(receivedParams(vscode.root, 'Leaving', 'tool_call/cancel')[0], {
      sessionId: 's1',
      toolCallId: 'watch',
    })
    await tasks.getByRole('button', { name: 'Stop npm run serve' }).click()
    await line(conversation, 2).waitFor()
    assert.equal(await tasks.getByText('npm run serve').count(), 0)
    await tasks.getByRole('button', { name: 'Stop Watch the files' }).waitFor()

    // what has no terminal is shown where it is in the conversation
    await tasks.getByRole('button', { name: /^Tool call Watch the files|^Watch the files/ }).click()
    await conversation.frame.locator('.transcript .work-body', { hasText: '3 files watched' }).waitFor()
  })

  it('is nothing in a session that is loaded from History', async () => {
    const workbench = await vscode.clearedWindow()
    const conversation = await ConversationPage.startSession(workbench, 'Reloaded')
    await conversation.send('serve it')
    await line(conversation, 3).waitFor()
    await workbench.reload()
    const after = await ConversationPage.find(workbench)
    await after.text('serve it').first().waitFor()
    const phase = () => after.frame.evaluate<string>('document.body.dataset.phase')
    await waitFor('the end of the load', async () => !['starting', 'loading'].includes(await phase()))
    assert.equal(await strip(after).count(), 0)
  })
})
