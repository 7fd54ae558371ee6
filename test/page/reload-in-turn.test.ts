import assert from 'node:assert/strict'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { Socket } from 'node:net'
import path from 'node:path'
import type { IsolatedRoot } from '../host/isolated-root.ts'
import { testDirectory } from '../host/paths.ts'
import { waitFor } from '../host/wait-for.ts'
import { agentHostsOf, endAgentHosts, journalsOf } from '../support/agent-hosts-of.ts'
import { isRunning } from '../support/contracts/running-process.ts'
import { HttpProbe } from '../support/mcp/http-server.ts'
import { PageSuite } from '../support/page/page-suite.ts'
import type { PageWindow } from '../support/page/page-window.ts'
import { connect } from '../support/tool-rig.ts'
import { ConversationPage } from '../ui/support/conversation-page.ts'
import {
  agentLog,
  fixtureAgent,
  INITIALIZE_V2,
  openGate,
  receivedParams,
} from '../ui/support/fixture-agent.ts'
import { storedDrafts, storedRows } from '../ui/support/stored.ts'

/** What is saved of all conversations, as JSON, once it contains a text. */
const savedText = (root: IsolatedRoot, awaited: string): Promise<string> =>
  waitFor('the saved text', () => {
    const rows = storedRows(root, 'SELECT entry FROM entries ORDER BY position')
    const text = rows.map(({ entry }) => entry).join('\n')
    return text.includes(awaited) && text
  })

/** Resolves once somebody listens at the port. */
const isListenedAt = (port: number) =>
  waitFor('the port', async () => {
    const socket = new Socket().on('error', () => {})
    const connected = once(socket, 'connect').then(
      () => true,
      () => false,
    )
    socket.connect(port, '127.0.0.1')
    const is = await connected
    socket.destroy()
    return is
  })

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

/** A v2 agent that leaves a tool call and a subagent running, and reports the end of the tool call when its gate is open. */
const leaving = {
  results: { initialize: INITIALIZE_V2 },
  prompt: [
    { reply: { messageId: 'p1' } },
    update('state_update', { state: 'running' }),
    update('tool_call_update', { toolCallId: 'watch', title: 'Watch the files', status: 'in_progress' }),
    update('subagent_update', { sessionId: 'child', title: 'Reviewer', state: { state: 'running' } }),
    update('state_update', {
      state: 'idle',
      stopReason: 'end_turn',
      background: [
        { type: 'tool_call', toolCallId: 'watch' },
        { type: 'subagent', sessionId: 'child' },
      ],
    }),
    { do: 'gate' },
    update('tool_call_update', { toolCallId: 'watch', status: 'completed' }),
    update('state_update', {
      state: 'idle',
      stopReason: 'end_turn',
      background: [{ type: 'subagent', sessionId: 'child' }],
    }),
  ],
}

describe('an agent that outlives its window', () => {
  const vscode = new PageSuite({
    settings: root => ({
      // the default
      'parley.keepAgentsRunning': undefined,
      'parley.agents': {
        fixture: fixtureAgent(root, 'Fixture'),
        second: fixtureAgent(root, 'Second'),
        bridging: fixtureAgent(root, 'Bridging', {
          results: { initialize: { agentCapabilities: { mcpCapabilities: { http: false, sse: false } } } },
        }),
        resuming: fixtureAgent(root, 'Resuming', {
          results: { initialize: { agentCapabilities: { sessionCapabilities: { resume: {} } } } },
        }),
        inward: fixtureAgent(root, 'Inward', {
          results: { initialize: { agentCapabilities: { mcpCapabilities: { acp: true } } } },
        }),
        draft: { ...fixtureAgent(root, 'Draft', second), protocol: 'latest' },
        leaving: { ...fixtureAgent(root, 'Leaving', leaving), protocol: 'latest' },
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

  it('has the same background tasks after a reload, without those that ended meanwhile', async () => {
    await start('Leaving')
    await conversation.send('watch and review')
    const tasks = () => conversation.frame.getByRole('region', { name: 'Background tasks' }).first()
    await tasks().getByRole('button', { name: '2 background tasks' }).waitFor()
    await reload()
    // the agent has reported nothing since
    await tasks().getByRole('button', { name: '2 background tasks' }).click()
    await tasks().getByText('Watch the files').waitFor()
    await tasks().getByText('Reviewer').waitFor()
    assert.deepEqual(methods('Leaving').filter(method => method === 'initialize').length, 1)

    await workbench.close()
    openGate(vscode.root, 'Leaving')
    workbench = await vscode.open()
    await find()
    await tasks().getByRole('button', { name: '1 background task' }).click()
    await tasks().getByText('Reviewer').waitFor()
    assert.equal(await tasks().getByText('Watch the files').count(), 0)
    assert.deepEqual(methods('Leaving').filter(method => method === 'initialize').length, 1)
  })

  it('is in the same turn after a reload: its text goes on, and queued prompts and the draft are there', async () => {
    await start('Fixture')
    await conversation.send('[[say One two]] [[gate]] [[say three four.]]')
    await conversation.agentMessage('One two').waitFor()
    await conversation.send('[[say Second answer.]]')
    await conversation.send('[[say Third answer.]]')
    const twoQueued = () => conversation.frame.getByText('2 prompts queued').waitFor()
    await twoQueued()
    await conversation.composer.click()
    await workbench.page.keyboard.type('not sent')
    await waitFor('the stored draft', () => storedDrafts(vscode.root).includes('not sent'))
    await reload()
    await conversation.agentMessage('One two').waitFor()
    await twoQueued()
    assert.equal(await conversation.composerText(), 'not sent')
    await conversation.button('Stop (Escape)').waitFor()
    openGate(vscode.root, 'Fixture')
    await conversation.agentMessage(/One two\s*three four\./).waitFor()
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
    assert.ok((await agentHostsOf(vscode.root.directory)).length > 0)
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
    const text = await savedText(vscode.root, 'c899 ')
    const numbers = [...text.matchAll(/c(\d+) /g)].map(([, number]) => Number(number))
    assert.deepEqual(
      numbers,
      Array.from({ length: 900 }, (_, i) => i),
    )
  })

  it('has the commands that it runs in terminals, with all of their output, and learns how they end', async () => {
    await start('Second')
    const gate = (name: string) => path.join(vscode.root.directory, name)
    const waits = (name: string) => `while ! test -e ${gate(name)}; do sleep 0.05; done`
    const begun = gate('begun')
    await conversation.send(
      `[[run echo one; ${waits('reloaded')}; echo two; touch ${begun}; ${waits('crashed')}; echo three; exit 3]]`,
    )
    const seen = (output: RegExp) => conversation.frame.locator('.tail', { hasText: output }).waitFor()
    await seen(/^one/)
    await reload()
    await seen(/^one/)
    writeFileSync(gate('reloaded'), '')
    await conversation.text(/one\s*two/).waitFor()
    await waitFor('the command', () => existsSync(begun))
    await workbench.close()
    writeFileSync(gate('crashed'), '')
    workbench = await vscode.open()
    await find()
    await conversation.text(/exit 3, 14 characters/).waitFor()
    await conversation.text(/one\s*two\s*three/).waitFor()
    await conversation.button('Stop (Escape)').waitFor({ state: 'detached' })
  })

  it('gets the answer of a tool of the editor, which it reaches through its connection, after a reload and a crash', async () => {
    await start('Inward')
    const [setup] = receivedParams(vscode.root, 'Inward', 'session/new')
    const [server, ...others] = setup!.mcpServers as Array<{ type: string; name: string }>
    assert.deepEqual([server!.type, server!.name, others.length], ['acp', 'vscode', 0])
    await conversation.send('[[acp-ask Tabs or spaces?]]')
    const question = () => conversation.frame.getByRole('group', { name: /^Answer required/ })
    const field = () => question().getByRole('textbox')
    await field().waitFor()
    await reload()
    await field().waitFor()
    await workbench.crash()
    await find()
    await field().fill('Tabs')
    await question().getByRole('button', { name: 'Submit' }).click()
    await conversation.text(/Its result: The user answered: Tabs/).waitFor()
    await conversation.button('Stop (Escape)').waitFor({ state: 'detached' })
    assert.equal(prompts('Inward').length, 1)
  })

  it('reaches the tools of the editor after a reload and a crash, and while there is no window, with the connection that it has', async () => {
    await start('Resuming')
    const [setup] = receivedParams(vscode.root, 'Resuming', 'session/new')
    const [server] = setup!.mcpServers as Array<{ url: string; headers: Array<{ value: string }> }>
    const client = await connect({
      url: server!.url,
      token: server!.headers[0]!.value.slice('Bearer '.length),
    })
    try {
      const tools = async () => (await client.listTools()).tools.map(({ name }) => name)
      const before = await tools()
      assert.ok(before.includes('diagnostics'))
      const areThere = async () =>
        assert.deepEqual(await waitFor('the tools', () => tools().catch(() => false as const)), before)
      await conversation.runTurn('[[say Once.]]')
      await savedText(vscode.root, 'Once.')
      await reload()
      await conversation.agentMessage('Once.').waitFor()
      await areThere()
      const details = await conversation.openDetails()
      await details.locator('.details-row', { hasText: 'vscode' }).getByLabel('Passed to the agent').waitFor()
      await workbench.page.keyboard.press('Escape')
      await conversation.send('[[say Twice]] [[gate]] [[say and again.]]')
      await conversation.text(/^Twice/).waitFor()
      let asked: ReturnType<typeof tools> | undefined
      await workbench.crash(async () => {
        await isListenedAt(Number(new URL(server!.url).port))
        asked = tools()
      })
      assert.deepEqual(await asked, before)
      await find()
      await areThere()
      openGate(vscode.root, 'Resuming')
      await conversation.text(/^Twice\s*and again\./).waitFor()
      assert.deepEqual(
        methods('Resuming').filter(method => method === 'session/resume'),
        [],
      )
      const called = await client.callTool({ name: 'open_editors', arguments: {} })
      assert.ok(!called.isError, JSON.stringify(called))
    } finally {
      await client.close()
    }
  })

  for (const [how, isBridged] of [
    ['that runs a command', false],
    ['over HTTP through the bridge', true],
  ] as const)
    it(`gets the result of a call of an MCP server ${how} that goes on during a reload and a crash, once`, async () => {
      const calls = path.join(vscode.root.directory, `calls-${isBridged}`)
      const probe = await HttpProbe.start({ calls })
      const program = path.join(testDirectory, 'fixtures/mcp/stdio-server.mjs')
      vscode.root.updateSettings({
        'parley.mcpServers': {
          probe: isBridged
            ? { type: 'http', url: probe.url }
            : { command: process.execPath, args: [program, '0', 'legacy', calls] },
        },
      })
      try {
        await start('Bridging')
        await conversation.send('[[mcp-ask]]')
        await conversation.text(/The server asks/).waitFor()
        await reload()
        await workbench.crash()
        await find()
        await conversation.text(/The server asks/).waitFor()
        const server = (await conversation.openDetails()).locator('.details-row', { hasText: 'probe' })
        await server.getByLabel(isBridged ? 'Bridged to the agent' : 'Passed to the agent').waitFor()
        await workbench.page.keyboard.press('Escape')
        openGate(vscode.root, 'Bridging')
        await conversation.text(/Its result: accept: Go on\? Yes/).waitFor()
        await conversation.waitForPhase('ready')
        assert.equal(await conversation.frame.getByText(/Its result/).count(), 1)
        assert.equal(readFileSync(calls, 'utf8'), 'ask Go on?\n')
      } finally {
        vscode.root.updateSettings({ 'parley.mcpServers': undefined })
        await probe.stop()
      }
    })

  it('says in the next window what it said while none was open', async () => {
    await start('Fixture')
    await conversation.send('[[say Begun]] [[gate]] [[tool]] [[say and finished.]]')
    await conversation.text(/^Begun/).waitFor()
    await workbench.close()
    openGate(vscode.root, 'Fixture')
    workbench = await vscode.open()
    await find()
    await conversation.agentMessage('and finished.').waitFor()
    await conversation.button('Stop (Escape)').waitFor({ state: 'detached' })
    await conversation.send('[[say Still there.]]')
    await conversation.agentMessage('Still there.').waitFor()
    assert.equal(methods('Fixture').filter(method => /session\/(load|resume)/.test(method)).length, 0)
  })

  it('shows in the next window its output from in between, and why its turn ended, after the agent host was killed', async () => {
    await start('Second')
    await conversation.send('[[say Begun]] [[gate]] [[say and more.]] [[gate]]')
    await conversation.text(/^Begun/).waitFor()
    await workbench.close()
    openGate(vscode.root, 'Second')
    await waitFor('what it said', () => journalsOf(vscode.root.directory).includes('and more.'))
    for (const pid of await agentHostsOf(vscode.root.directory)) process.kill(pid, 'SIGKILL')
    workbench = await vscode.open()
    await find()
    await conversation.text(/and more\./).waitFor()
    await conversation
      .text('The program that runs agents in the background was ended from outside or crashed.')
      .waitFor()
    await conversation.waitForPhase('ready')
    await conversation.runTurn('[[say Here again.]]')
  })

  it('is marked in the next window as if its turn had just ended, or just begun to wait, unless it is shown', async () => {
    await start('Fixture')
    await conversation.send('[[title Ended]] [[gate]] [[say All done.]]')
    await conversation.frame.getByRole('heading', { name: 'Ended', exact: true }).waitFor()
    conversation = await ConversationPage.startSession(workbench, 'Second')
    await conversation.send('[[title Waits]] [[gate]] [[permission notes.txt]]')
    await conversation.frame.getByRole('heading', { name: 'Waits', exact: true }).waitFor()
    await workbench.runCommand('Parley: New Session')
    await conversation.frame.getByRole('heading', { name: 'New session' }).waitFor()
    await conversation.send('[[title Shown]] [[say Seen.]]')
    await conversation.agentMessage('Seen.').waitFor()
    await workbench.close()
    const ended = (agent: string) =>
      agentLog(vscode.root, agent).filter(({ event }) => event === 'scenario-end').length
    const before = ended('Fixture')
    for (const agent of ['Fixture', 'Second']) openGate(vscode.root, agent)
    await waitFor('the end of the turn', () => ended('Fixture') >= before + 2)
    await waitFor('the request', () =>
      agentLog(vscode.root, 'Second').some(({ asked }) => asked?.method === 'session/request_permission'),
    )

    workbench = await vscode.open()
    await find()
    await workbench.notification(/Second asks:/).waitFor()
    await workbench.runCommand('Parley: Open Session…')
    const row = (title: string) => workbench.palette.locator('.monaco-list-row', { hasText: title })
    await row('Ended').getByText('Done · Fixture').waitFor()
    await row('Waits').getByText('Needs your answer · Second').waitFor()
    assert.equal(await row('Shown').getByText('Done').count(), 0)
    await row('Ended').click()
    await conversation.agentMessage('All done.').waitFor()
    await workbench.runCommand('Parley: Open Session…')
    await row('Waits').waitFor()
    await row('Ended').getByText('Done').waitFor({ state: 'detached' })
    await workbench.paletteInput.press('Escape')
  })

  it('is replaced if it exited while no window was open, and its last words are there', async () => {
    await start('Second')
    await conversation.send('[[say Begun]] [[gate]] [[say and last words.]] [[crash 3]]')
    await conversation.text(/^Begun/).waitFor()
    await workbench.close()
    openGate(vscode.root, 'Second')
    const starts = () => methods('Second').filter(method => method === 'initialize').length
    const before = starts()
    const pids = agentLog(vscode.root, 'Second').flatMap(({ pid }) => pid ?? [])
    await waitFor('the end of the agent', () => !pids.some(isRunning))
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
    // shows the conversation, in which the turn goes on
    await row.click()
    await workbench.palette.waitFor({ state: 'hidden' })
    await conversation.frame.getByRole('button', { name: /^Stop/ }).first().waitFor()
    await workbench.runCommand('Parley: Show Background Sessions')
    await workbench.palette.getByRole('button', { name: 'Stop', exact: true }).click()
    const dialog = workbench.page.locator('.monaco-dialog-box')
    await dialog.getByText('A turn is running. It ends, too.').waitFor()
    await dialog.getByRole('button', { name: 'Stop', exact: true }).click()
    await conversation.card('Fixture stopped').waitFor()
    await workbench.runCommand('Parley: Show Background Sessions')
    await workbench.notification('No agents are kept running.').waitFor()
  })

  it('says so if the program that runs it exits', async () => {
    await start('Second')
    await conversation.send('[[say Begun]] [[gate]]')
    await conversation.text(/^Begun/).waitFor()
    for (const pid of await agentHostsOf(vscode.root.directory)) process.kill(pid, 'SIGKILL')
    const card = conversation.card('Second stopped')
    await card
      .getByText('The program that runs agents in the background was ended from outside or crashed.')
      .waitFor()
    await card.getByRole('button', { name: 'Restart and Continue' }).click()
    await conversation.waitForPhase('ready')
    await conversation.runTurn('[[say Here again.]]')
  })

  it("starts in the window if there can't be such a program, which one message says", async () => {
    const hosts = path.join(vscode.root.userData, 'User/globalStorage/parley.parley/hosts')
    mkdirSync(path.dirname(hosts), { recursive: true })
    // what ends of the test before may still create the folder
    await waitFor('a file in place of the folder', () => {
      try {
        rmSync(hosts, { recursive: true, force: true })
        writeFileSync(hosts, '')
        return true
      } catch {
        return false
      }
    })
    await start('Fixture')
    const notice = workbench.notification(/Fixture stops when this window closes or reloads/)
    await notice.waitFor()
    await conversation.runTurn('[[say At work.]]')
    conversation = await ConversationPage.startSession(workbench, 'Second')
    await conversation.runTurn('[[say At work, too.]]')
    assert.equal(await workbench.notification(/stops when this window/).count(), 1)
    assert.deepEqual(await agentHostsOf(vscode.root.directory), [])
    await workbench.close()
    rmSync(hosts)
  })
})

describe('an agent that may only outlive a reload', () => {
  const vscode = new PageSuite({
    settings: root => ({
      'parley.keepAgentsRunning': 'whileReloading',
      'parley.agents': { fixture: fixtureAgent(root, 'Fixture') },
    }),
  })

  afterEach(() => endAgentHosts(vscode.root.directory))

  it('is in the same turn after a reload', async () => {
    const workbench = await vscode.open()
    let conversation = await ConversationPage.startSession(workbench, 'Fixture')
    await conversation.send('[[say One]] [[gate]] [[say two.]]')
    await conversation.text(/^One/).waitFor()
    await workbench.reload()
    await workbench.openViewContainer('Parley')
    conversation = await ConversationPage.find(workbench)
    await conversation.button('Stop (Escape)').waitFor()
    openGate(vscode.root, 'Fixture')
    await conversation.text(/^One\s*two\.$/).waitFor()
    assert.equal(receivedParams(vscode.root, 'Fixture', 'session/prompt').length, 1)
  })

  it('stops when its window is closed, which the next window says, and continues when the user asks', async () => {
    // so long a reload may take
    let workbench = await vscode.open({ env: { PARLEY_PATIENCE_MS: '300' } })
    let conversation = await ConversationPage.startSession(workbench, 'Fixture')
    await conversation.send('[[say One]] [[gate]] [[say two.]]')
    await conversation.text(/^One/).waitFor()
    const pids = () => agentLog(vscode.root, 'Fixture').flatMap(({ pid }) => pid ?? [])
    await workbench.close()
    await waitFor('the end of the agent', () => pids().every(pid => !isRunning(pid)))
    workbench = await vscode.open()
    await workbench.openViewContainer('Parley')
    conversation = await ConversationPage.find(workbench)
    await conversation.text(/^One$/).waitFor()
    await conversation.text('The turn was interrupted').waitFor()
    await conversation.waitForPhase('ready')
    await conversation.runTurn('[[say Here again.]]')
  })
})
