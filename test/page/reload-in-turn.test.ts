import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import path from 'node:path'
import { installVsCode } from '../host/install-vscode.ts'
import { current } from '../host/vscode-versions.ts'
import { waitFor } from '../host/wait-for.ts'
import { agentHostsOf, endAgentHosts } from '../support/agent-hosts-of.ts'
import { PageSuite } from '../support/page/page-suite.ts'
import type { PageWindow } from '../support/page/page-window.ts'
import { ConversationPage } from '../ui/support/conversation-page.ts'
import {
  agentLog,
  fixtureAgent,
  INITIALIZE_V2,
  openGate,
  receivedParams,
} from '../ui/support/fixture-agent.ts'
import { storedDrafts } from '../ui/support/stored.ts'

/** What is saved of all conversations, as JSON, once it contains a text. VS Code's own Node has SQLite. */
async function savedText(folder: string, awaited: string): Promise<string> {
  const { node } = await installVsCode(current)
  const names = readdirSync(folder, { recursive: true }).map(String)
  const file = path.join(folder, names.find(name => name.endsWith('conversations.db')) ?? '')
  const script = `
    const { DatabaseSync } = require('node:sqlite')
    const db = new DatabaseSync(process.argv[1], { readOnly: true })
    for (const { entry } of db.prepare('SELECT entry FROM entries ORDER BY position').all()) console.log(entry)`
  return waitFor('the saved text', () => {
    const text = execFileSync(node, ['-e', script, file], { encoding: 'utf8' })
    return text.includes(awaited) && text
  })
}

const update = (sessionUpdate: string, more: object) => ({ update: { sessionUpdate, ...more } })
const says = (messageId: string, text: string) =>
  update('agent_message', { messageId, content: [{ type: 'text', text }] })

/** A v2 agent: it answers a prompt when it begins with it, and reports the end of the turn as a state. */
const second = {
  results: {
    initialize: INITIALIZE_V2,
  },
  prompts: [
    [
      { reply: { messageId: 'p1' } },
      update('state_update', { state: 'running' }),
      says('a1', 'On it.'),
      { do: 'gate' },
      says('a1', 'On it. It is done.'),
      update('state_update', { state: 'idle', stopReason: 'end_turn' }),
    ],
    [
      { reply: { messageId: 'p2' } },
      update('state_update', { state: 'running' }),
      says('a2', 'And the next one.'),
      update('state_update', { state: 'idle', stopReason: 'end_turn' }),
    ],
  ],
}

describe('an agent that outlives its window', () => {
  const vscode = new PageSuite({
    settings: root => ({
      'parley.keepAgentsRunning': 'untilDone',
      'parley.agents': {
        fixture: fixtureAgent(root, 'Fixture'),
        second: fixtureAgent(root, 'Second'),
        draft: { ...fixtureAgent(root, 'Draft', second), protocol: 'latest' },
      },
    }),
  })
  let workbench: PageWindow
  let conversation: ConversationPage

  afterEach(() => endAgentHosts(vscode.root.directory))

  const start = async (agent: string) => {
    workbench = await vscode.open()
    conversation = await ConversationPage.startSession(workbench, agent)
  }
  const reload = async () => {
    await workbench.reload()
    await find()
  }
  const find = async () => {
    await workbench.openViewContainer('Parley')
    conversation = await ConversationPage.find(workbench)
    await conversation.waitForPhase('ready')
  }
  const prompts = (agent: string) =>
    receivedParams(vscode.root, agent, 'session/prompt').map(({ prompt }) =>
      (prompt as Array<{ text?: string }>).map(({ text }) => text).join(),
    )
  const methods = (agent: string) =>
    agentLog(vscode.root, agent).flatMap(({ received }) => received?.method ?? [])

  it('is in the same turn after a reload: its text goes on, and queued prompts and the draft are there', async () => {
    await start('Fixture')
    await conversation.send('[[say One two]] [[gate]] [[say three four.]]')
    await conversation.text(/One two/).waitFor()
    await conversation.send('[[say Second answer.]]')
    await conversation.send('[[say Third answer.]]')
    const twoQueued = () => conversation.frame.getByText('2 prompts queued').waitFor()
    await twoQueued()
    await conversation.composer.click()
    await workbench.page.keyboard.type('not sent')
    await waitFor('the stored draft', () => storedDrafts(vscode.root).includes('not sent'))
    await reload()
    await conversation.text(/One two/).waitFor()
    await twoQueued()
    assert.equal(await conversation.composerText(), 'not sent')
    await conversation.button('Stop (Escape)').waitFor()
    openGate(vscode.root, 'Fixture')
    await conversation.text(/One two.*three four\./s).waitFor()
    await waitFor('all prompts', () => prompts('Fixture').length === 3)
    await conversation.text(/^Third answer\.$/).waitFor()
    assert.equal(await conversation.frame.getByText(/^One two/).count(), 1)
    assert.deepEqual(
      methods('Fixture').filter(method => /initialize|session\/(new|load|resume)/.test(method)),
      ['initialize', 'session/new'],
    )
    assert.equal(await conversation.composerText(), 'not sent')
  })

  it('still asks for the permission, which can be answered after a reload', async () => {
    await start('Second')
    await conversation.send('[[permission notes.txt]]')
    await conversation.permission.getByRole('button', { name: 'Allow', exact: true }).waitFor()
    await reload()
    await conversation.permission.getByRole('button', { name: 'Allow', exact: true }).click()
    await conversation.text(/allow/).last().waitFor()
    assert.equal(prompts('Second').length, 1)
    assert.ok(agentHostsOf(vscode.root.directory).length > 0)
  })

  it('has each chunk once, however often the extension host crashes', async () => {
    await start('Fixture')
    await conversation.send('[[flood 900 10 100]]')
    await conversation.text(/c9 /).waitFor()
    for (const seen of ['c99 ', 'c\\d+ ']) {
      await conversation.text(new RegExp(seen)).waitFor()
      await workbench.crash()
      await find()
    }
    await conversation.text('[end of flood]').waitFor()
    await conversation.button('Stop (Escape)').waitFor({ state: 'detached' })
    const text = await savedText(vscode.root.directory, 'c899 ')
    const numbers = [...text.matchAll(/c(\d+) /g)].map(([, number]) => Number(number))
    assert.deepEqual(
      numbers,
      Array.from({ length: 900 }, (_, i) => i),
    )
  })

  it('says in the next window what it said while none was open', async () => {
    await start('Fixture')
    await conversation.send('[[say Begun]] [[gate]] [[tool]] [[say and finished.]]')
    await conversation.text(/^Begun/).waitFor()
    await workbench.close()
    openGate(vscode.root, 'Fixture')
    workbench = await vscode.open()
    await find()
    await conversation.text(/and finished\./).waitFor()
    await conversation.button('Stop (Escape)').waitFor({ state: 'detached' })
    await conversation.send('[[say Still there.]]')
    await conversation.text('Still there.').waitFor()
    assert.equal(methods('Fixture').filter(method => /session\/(load|resume)/.test(method)).length, 0)
  })

  it('is replaced if it exited while no window was open, and its last words are there', async () => {
    await start('Second')
    await conversation.send('[[say Begun]] [[gate]] [[say and last words.]] [[crash 3]]')
    await conversation.text(/^Begun/).waitFor()
    await workbench.close()
    openGate(vscode.root, 'Second')
    const starts = () => methods('Second').filter(method => method === 'initialize').length
    const before = starts()
    workbench = await vscode.open()
    await find()
    await conversation.text(/^Begun\s*and last words\./).waitFor()
    await conversation.text('The turn ended with an error').waitFor()
    await conversation.send('[[say Here again.]]')
    await conversation.text(/^Here again\.$/).waitFor()
    assert.equal(starts(), before + 1)
  })

  it('ends its turn after a reload with a state, if it speaks version 2 of the protocol', async () => {
    await start('Draft')
    await conversation.send('one')
    await conversation.text('On it.').waitFor()
    await conversation.send('two')
    await conversation.frame.getByText('1 prompt queued').waitFor()
    await reload()
    await conversation.frame.getByText('1 prompt queued').waitFor()
    openGate(vscode.root, 'Draft')
    await conversation.text('On it. It is done.').waitFor()
    await conversation.text('And the next one.').waitFor()
    await conversation.button('Stop (Escape)').waitFor({ state: 'detached' })
    assert.deepEqual(prompts('Draft'), ['one', 'two'])
  })

  it('is listed by Show Background Sessions, which stops it', async () => {
    await start('Fixture')
    await conversation.send('[[title In the back]] [[gate]]')
    await conversation.frame.getByText('In the back', { exact: true }).first().waitFor()
    await workbench.runCommand('Parley: Show Background Sessions')
    const row = workbench.palette.getByText(/Fixture/)
    await row.waitFor()
    await workbench.palette.getByText('In the back').waitFor()
    await workbench.palette.getByText(/connected to a window · since .* MB · /).waitFor()
    await row.click()
    await conversation.card('Fixture stopped').waitFor()
    await workbench.runCommand('Parley: Show Background Sessions')
    await workbench.notification('No agents are kept running.').waitFor()
  })
})
