import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { IsolatedRoot } from '../host/isolated-root.ts'
import { waitFor } from '../host/wait-for.ts'
import { PageSuite } from '../support/page/page-suite.ts'
import { ConversationPage } from '../ui/support/conversation-page.ts'
import { fixtureAgent, INITIALIZE_V2, receivedParams } from '../ui/support/fixture-agent.ts'

const text = (value: string) => [{ type: 'text', text: value }]

/** A v2 agent: reports its turns as states, and can stop a single tool call. */
const second = {
  results: {
    initialize: INITIALIZE_V2,
  },
  prompt: [
    { reply: { messageId: 'p1' } },
    { update: { sessionUpdate: 'state_update', state: 'running' } },
    { update: { sessionUpdate: 'agent_message', messageId: 'a1', content: text('On it.') } },
    {
      update: {
        sessionUpdate: 'tool_call_update',
        toolCallId: 't1',
        title: 'A long look',
        kind: 'execute',
        status: 'in_progress',
        capabilities: { cancel: {} },
      },
    },
    { untilCancelled: true },
  ],
  on: {
    'tool_call/cancel': [
      {
        update: {
          sessionUpdate: 'tool_call_update',
          toolCallId: 't1',
          status: 'cancelled',
          capabilities: null,
        },
      },
      { update: { sessionUpdate: 'agent_message', messageId: 'a2', content: text('Looked enough.') } },
      { update: { sessionUpdate: 'state_update', state: 'idle', stopReason: 'end_turn' } },
      { reply: {} },
    ],
  },
}

/** A v2 agent that leaves a command running in its own terminal after the turn. */
const leaving = {
  ...second,
  prompt: [
    { reply: { messageId: 'p1' } },
    { update: { sessionUpdate: 'state_update', state: 'running' } },
    {
      update: {
        sessionUpdate: 'tool_call_update',
        toolCallId: 't1',
        title: 'npm run serve',
        kind: 'execute',
        status: 'in_progress',
        content: [{ type: 'terminal', terminalId: 'x' }],
      },
    },
    { update: { sessionUpdate: 'terminal_update', terminalId: 'x', command: 'npm run serve' } },
    {
      update: {
        sessionUpdate: 'state_update',
        state: 'idle',
        stopReason: 'end_turn',
        background: [{ type: 'terminal', terminalId: 'x' }],
      },
    },
  ],
}

const prompted = { systemPrompt: { mode: { override: {} } } }
const taking = { results: { initialize: { agentCapabilities: { sessionCapabilities: prompted } } } }
const reopening = (agentCapabilities: object) => ({ results: { initialize: { agentCapabilities } } })

const agents = (root: IsolatedRoot) => ({
  first: fixtureAgent(root, 'First'),
  second: { ...fixtureAgent(root, 'Second', second), protocol: 'latest' },
  leaving: { ...fixtureAgent(root, 'Leaving', leaving), protocol: 'latest' },
  reported: {
    ...fixtureAgent(root, 'Told', taking),
    systemPrompt: { text: 'You are a poet.', mode: 'override' },
  },
  adding: fixtureAgent(root, 'Adding', taking),
  loading: fixtureAgent(
    root,
    'Loading',
    reopening({ loadSession: true, sessionCapabilities: { ...prompted, resume: null } }),
  ),
  resuming: fixtureAgent(root, 'Resuming', reopening({ sessionCapabilities: { ...prompted, resume: {} } })),
  // changes only these properties of the preset
  codex: { protocol: 'latest', name: 'My Codex' },
})

describe('an agent with a configured protocol version or system prompt', () => {
  const vscode = new PageSuite({
    settings: root => {
      // the command of the preset, on the PATH
      const { command, args = [], env = {} } = fixtureAgent(root, 'Codex')
      const bin = join(root.home, 'bin')
      mkdirSync(bin)
      writeFileSync(join(root.home, '.profile'), 'export PATH="$HOME/bin:$PATH"\n')
      const variables = Object.entries(env).map(([name, value]) => `export ${name}='${value}'\n`)
      writeFileSync(
        join(bin, 'codex-acp'),
        `#!/bin/sh\n${variables.join('')}exec '${command}' '${args[0]}'\n`,
      )
      chmodSync(join(bin, 'codex-acp'), 0o755)
      return { 'parley.agents': agents(root), 'parley.systemPrompt': 'Be brief.' }
    },
  })
  const received = (agent: string, method: string) => receivedParams(vscode.root, agent, method)

  it("starts with that version, whether it's a custom agent or a preset", async () => {
    const workbench = await vscode.sharedWindow()
    const empty = await ConversationPage.open(workbench)
    await empty.button(/^My Codex/).waitFor()
    await ConversationPage.startSession(workbench, 'First')
    await ConversationPage.startSession(workbench, 'My Codex')
    assert.equal(received('First', 'initialize')[0]?.protocolVersion, 1)
    assert.equal(received('Codex', 'initialize')[0]?.protocolVersion, 2)
  })

  it('can stop a single tool call in version 2', async () => {
    const workbench = await vscode.sharedWindow()
    await ConversationPage.open(workbench)
    const conversation = await ConversationPage.startSession(workbench, 'Second')
    assert.equal(received('Second', 'initialize')[0]?.protocolVersion, 2)
    await conversation.send('have a look')
    await conversation.text('On it.').waitFor()
    const stop = conversation.button('Stop Tool Call')
    await stop.waitFor()
    await workbench.screenshot('protocol-second-version')
    await stop.click()
    await conversation.text('Looked enough.').waitFor()
    await stop.waitFor({ state: 'detached' })
    assert.deepEqual(
      received('Second', 'tool_call/cancel').map(({ toolCallId }) => toolCallId),
      ['t1'],
    )
    assert.deepEqual(received('Second', 'session/cancel'), [])
  })

  it('can work in the background in version 2, which the conversation shows', async () => {
    const workbench = await vscode.sharedWindow()
    await ConversationPage.open(workbench)
    const conversation = await ConversationPage.startSession(workbench, 'Leaving')
    await conversation.send('serve it')
    await conversation.text('1 background task').waitFor()
    await workbench.screenshot('protocol-background')
    assert.equal(await conversation.text('canceled').count(), 0)
    const details = await conversation.openDetails()
    await details.getByText('protocol version 2').waitFor()
  })

  it("gets the user's system prompt in the form that it supports", async () => {
    const workbench = await vscode.sharedWindow()
    await ConversationPage.open(workbench)
    await ConversationPage.startSession(workbench, 'Told')
    await ConversationPage.startSession(workbench, 'Adding')
    const conversation = await ConversationPage.find(workbench)
    await (await conversation.openDetails())
      .getByText("Your system prompt is added to the agent's.")
      .waitFor()
    await waitFor('both sessions', () => received('Adding', 'session/new').length > 0)
    assert.deepEqual(received('Told', 'session/new')[0]?.systemPrompt, {
      mode: 'override',
      content: text('You are a poet.'),
    })
    assert.deepEqual(received('Adding', 'session/new')[0]?.systemPrompt, {
      mode: 'append',
      content: text('Be brief.'),
    })
    assert.equal(received('First', 'session/new')[0]?.systemPrompt, undefined)
  })

  for (const [agent, method] of [
    ['Loading', 'session/load'],
    ['Resuming', 'session/resume'],
  ] as const)
    it(`gets the session's own system prompt in ${method}, not the current one`, async () => {
      // opens a window, reloads it, and starts two sessions
      const own = { mode: 'append', content: text('Be brief.') }
      const workbench = await vscode.open()
      await ConversationPage.open(workbench)
      const conversation = await ConversationPage.startSession(workbench, agent)
      await conversation.runTurn('[[say Here I am.]]')
      assert.deepEqual(received(agent, 'session/new')[0]?.systemPrompt, own)
      try {
        vscode.root.updateSettings({ 'parley.systemPrompt': 'Take your time.' })
        await workbench.reload()
        const restored = await ConversationPage.open(workbench)
        await restored.waitForAgent(agent)
        await restored.waitForPhase('ready')
        const [reopened] = await waitFor(method, () => {
          const all = received(agent, method)
          return all.length > 0 && all
        })
        assert.deepEqual(reopened?.systemPrompt, own)
        await ConversationPage.startSession(workbench, agent)
        assert.deepEqual(received(agent, 'session/new')[1]?.systemPrompt, {
          mode: 'append',
          content: text('Take your time.'),
        })
      } finally {
        vscode.root.updateSettings({ 'parley.systemPrompt': 'Be brief.' })
      }
    })
})
