import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import fs from 'node:fs/promises'
import path from 'node:path'
import type { PromptResponse, SessionUpdate } from '@agentclientprotocol/sdk'
import { type SessionMeta, SessionStore } from '../../../src/demo-agent/store.ts'
import { type Rig, spawnDemo, startDemo, temporary, text } from './support.ts'

describe('demo agent: sessions', () => {
  let rig: Rig

  beforeEach(async () => {
    rig = await startDemo()
  })
  afterEach(() => rig.close())

  const open = async (cwd = rig.workspace) =>
    (await rig.agent.request('session/new', { cwd, mcpServers: [] })).sessionId
  const prompt = (sessionId: string, words: string): Promise<PromptResponse> =>
    rig.agent.request('session/prompt', { sessionId, prompt: [text(words)] })

  it('reports its commands only after the response with the session id', async () => {
    const sessionId = await open()
    assert.deepEqual(rig.client.updates(sessionId), [])
    await rig.client.waitUntil(() => rig.client.updatesOfKind('available_commands_update').length === 1)
    const commands = rig.client.updatesOfKind('available_commands_update')[0]?.availableCommands ?? []
    assert.deepEqual(commands.find(({ name }) => name === 'slow')?.input, { hint: 'seconds' })
    for (const name of ['help', 'plan', 'edit', 'run', 'fail', 'slow', 'think', 'long', 'markdown']) {
      assert.ok(
        commands.some(command => command.name === name),
        name,
      )
    }
  })

  it('derives the title of a session from its first prompt', async () => {
    const sessionId = await open()
    await prompt(sessionId, `/think about ${'everything '.repeat(20)}\nand more`)
    await prompt(sessionId, '/help')
    const titles = rig.client.updatesOfKind('session_info_update').map(update => update.title)
    assert.equal(titles.length, 2)
    assert.equal(titles[0], titles[1])
    assert.equal([...(titles[0] ?? '')].length, 60)
  })

  it('forks a session, after which both continue separately from the same conversation', async () => {
    const source = await open()
    await prompt(source, '/think about it')
    const before = rig.client.updates(source).length
    const place = { cwd: rig.workspace, mcpServers: [], additionalDirectories: [rig.workspace] }
    const forked = await rig.agent.request('session/fork', { sessionId: source, ...place })
    const { sessionId } = forked as { sessionId: string }
    assert.notEqual(sessionId, source)
    await prompt(sessionId, '/where')
    assert.equal(rig.client.updates(source).length, before)

    const said = async (id: string) => {
      await rig.agent.request('session/close', { sessionId: id })
      rig.client.clear()
      await rig.agent.request('session/load', { sessionId: id, ...place })
      return textOf(rig.client.updates(id), 'user_message_chunk')
    }
    assert.equal(await said(source), '/think about it')
    assert.equal(await said(sessionId), '/think about it/where')
    const unknown = { sessionId: randomUUID(), ...place }
    await assert.rejects(rig.agent.request('session/fork', unknown), /not found/i)
  })

  it('replays prompts, thoughts, tool calls and the plan on load', async () => {
    const sessionId = await open()
    await prompt(sessionId, 'tour')
    const live = rig.client.updates(sessionId)
    await rig.agent.request('session/close', { sessionId })
    rig.client.clear()

    const loaded = await rig.agent.request('session/load', { sessionId, cwd: rig.workspace, mcpServers: [] })
    assert.equal(loaded.configOptions?.[0]?.currentValue, 'ask')
    const replayed = rig.client.updates(sessionId)
    assert.deepEqual(replayed[0]?.sessionUpdate, 'user_message_chunk')
    for (const kind of ['agent_message_chunk', 'agent_thought_chunk'] as const) {
      assert.equal(textOf(replayed, kind), textOf(live, kind))
    }
    assert.deepEqual(lastPlan(replayed), lastPlan(live))
    assert.deepEqual(
      replayed.filter(update => update.sessionUpdate === 'tool_call'),
      live.filter(update => update.sessionUpdate === 'tool_call'),
    )
    assert.ok(replayed.length < live.length / 4, 'words are joined')
    const contents = replayed.flatMap(update =>
      update.sessionUpdate === 'tool_call_update' ? (update.content ?? []) : [],
    )
    assert.ok(!contents.some(content => content.type === 'terminal'), 'a terminal that is gone is not shown')
    assert.match(JSON.stringify(contents), /```console/)
  })

  it('resumes without a replay, and keeps the options', async () => {
    const sessionId = await open()
    await prompt(sessionId, '/help')
    await rig.agent.request('session/set_config_option', { sessionId, configId: 'mode', value: 'plan' })
    await rig.agent.request('session/close', { sessionId })
    rig.client.clear()
    const resumed = await rig.agent.request('session/resume', { sessionId, cwd: rig.workspace })
    assert.equal(resumed.configOptions?.[0]?.currentValue, 'plan')
    assert.deepEqual(rig.client.updates(), [])
    assert.equal((await prompt(sessionId, '/help')).stopReason, 'end_turn')
  })

  it('lists prompted sessions, newest first, filtered by folder', async () => {
    const store = new SessionStore(rig.state)
    for (let index = 0; index < 5; index++) {
      const sessionId = randomUUID()
      const meta: SessionMeta = {
        sessionId,
        cwd: index % 2 === 0 ? '/even' : '/odd',
        additionalDirectories: [],
        title: `Session ${index}`,
        updatedAt: new Date(Date.UTC(2026, 0, 1, 0, index)).toISOString(),
        prompts: 1,
        settings: { mode: 'ask', model: 'demo-steady', thoughts: true },
        credits: 0,
      }
      store.append(sessionId, [{ meta }])
    }
    await open()
    const titles = async (cwd?: string) => {
      const { sessions } = await rig.agent.request('session/list', { cwd })
      return sessions.map(({ title }) => title)
    }
    assert.deepEqual(
      await titles(),
      [4, 3, 2, 1, 0].map(index => `Session ${index}`),
    )
    assert.deepEqual(await titles('/odd'), ['Session 3', 'Session 1'])
  })

  it('deletes a session permanently', async () => {
    const sessionId = await open()
    await prompt(sessionId, '/help')
    await rig.agent.request('session/delete', { sessionId })
    assert.deepEqual((await rig.agent.request('session/list', {})).sessions, [])
    await assert.rejects(
      rig.agent.request('session/load', { sessionId, cwd: rig.workspace, mcpServers: [] }),
      {
        code: -32002,
      },
    )
  })

  it('leaves nothing of a session that was closed before its first prompt', async () => {
    const sessionId = await open()
    await rig.agent.request('session/close', { sessionId })
    assert.deepEqual(await fs.readdir(path.join(rig.state, 'sessions')), [])
  })

  it("responds with the protocol's error for an unknown session id, and doesn't use it as a path", async () => {
    for (const sessionId of ['00000000-0000-4000-8000-000000000000', '../../etc', '']) {
      await assert.rejects(
        rig.agent.request('session/load', { sessionId, cwd: rig.workspace, mcpServers: [] }),
        {
          code: -32002,
        },
      )
      await assert.rejects(prompt(sessionId, 'hi'), { code: -32002 })
    }
    await assert.rejects(rig.agent.request('session/new', { cwd: 'relative', mcpServers: [] }), {
      code: -32602,
    })
  })

  it('uses the folders of the latest load, and reports folders and MCP servers', async () => {
    const sessionId = await open()
    await prompt(sessionId, '/help')
    await rig.agent.request('session/load', {
      sessionId,
      cwd: rig.workspace,
      additionalDirectories: ['/second'],
      mcpServers: [
        { name: 'files', command: '/bin/files', args: ['--all'], env: [{ name: 'TOKEN', value: 'secret' }] },
        { type: 'http', name: 'web', url: 'https://mcp.example/', headers: [{ name: 'X', value: 'secret' }] },
      ],
    })
    rig.client.clear()
    await prompt(sessionId, '/where')
    assert.match(rig.client.messageText, /- `\/second`/)
    assert.match(rig.client.messageText, /\*\*files\*\*: stdio, `\/bin\/files --all`/)
    assert.match(rig.client.messageText, /\*\*web\*\*: http, https:\/\/mcp\.example\//)
    assert.doesNotMatch(rig.client.messageText, /secret/)
    assert.match(rig.client.messageText, /doesn't connect to MCP servers/)
  })

  it('cancels the running turn when its session is closed or reloaded', async () => {
    const sessionId = await open()
    const turn = prompt(sessionId, '/slow 3600')
    await rig.client.waitUntil(() => rig.client.updatesOfKind('tool_call').length === 1)
    await rig.agent.request('session/load', { sessionId, cwd: rig.workspace, mcpServers: [] })
    assert.equal((await turn).stopReason, 'cancelled')
    const again = prompt(sessionId, '/slow 3600')
    await rig.client.waitUntil(() => rig.client.toolStatuses['Work for 3600 seconds'] === 'in_progress')
    await rig.agent.request('session/close', { sessionId })
    assert.equal((await again).stopReason, 'cancelled')
  })

  it('keeps two running sessions apart', async () => {
    const [one, two] = [await open(), await open()]
    await Promise.all([prompt(one, '/plan count sheep'), prompt(two, '/markdown')])
    const [first, second] = [rig.client.updates(one), rig.client.updates(two)]
    assert.match(textOf(first, 'agent_message_chunk'), /count sheep/)
    assert.doesNotMatch(textOf(second, 'agent_message_chunk'), /sheep/)
    assert.match(textOf(second, 'agent_message_chunk'), /That was all of it/)
  })
})

describe('demo agent: as a process', () => {
  it('keeps its sessions when restarted, exits when its stdin ends, and marks what a kill interrupted', async () => {
    const state = await temporary('state')
    const workspace = await temporary('workspace')
    try {
      const first = await spawnDemo({ state })
      const { sessionId } = await first.agent.request('session/new', { cwd: workspace, mcpServers: [] })
      await first.agent.request('session/prompt', { sessionId, prompt: [text('/think before the kill')] })
      const cut = first.agent.request('session/prompt', { sessionId, prompt: [text('/slow 3600')] })
      cut.catch(() => {})
      await first.client.waitUntil(() => first.client.toolStatuses['Work for 3600 seconds'] === 'in_progress')
      first.child.kill('SIGKILL')
      await first.exited

      const second = await spawnDemo({ state })
      const { sessions } = await second.agent.request('session/list', { cwd: workspace })
      assert.deepEqual(
        sessions.map(({ sessionId: id, title }) => [id, title]),
        [[sessionId, '/think before the kill']],
      )
      await second.agent.request('session/load', { sessionId, cwd: workspace, mcpServers: [] })
      assert.match(second.client.messageText, /Then I had a second thought/)
      assert.equal(second.client.toolStatuses['Work for 3600 seconds'], 'failed')
      second.child.stdin?.end()
      assert.deepEqual(await second.exited, { code: 0, signal: null })
    } finally {
      await fs.rm(state, { recursive: true, force: true })
      await fs.rm(workspace, { recursive: true, force: true })
    }
  })
})

function textOf(
  updates: SessionUpdate[],
  kind: 'user_message_chunk' | 'agent_message_chunk' | 'agent_thought_chunk',
): string {
  return updates
    .map(update =>
      update.sessionUpdate === kind && update.content.type === 'text' ? update.content.text : '',
    )
    .join('')
}

function lastPlan(updates: SessionUpdate[]): unknown {
  return updates.filter(update => update.sessionUpdate === 'plan').at(-1)
}
