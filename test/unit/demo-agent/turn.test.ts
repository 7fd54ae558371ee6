import assert from 'node:assert/strict'
import fs from 'node:fs/promises'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import type { PromptResponse } from '@agentclientprotocol/sdk'
import { type Rig, select, startDemo, text } from './support.ts'

describe('demo agent: turns', () => {
  let rig: Rig
  let sessionId: string

  beforeEach(async () => {
    rig = await startDemo()
    sessionId = (await rig.agent.request('session/new', { cwd: rig.workspace, mcpServers: [] })).sessionId
  })
  afterEach(() => rig.close())

  const prompt = (words: string): Promise<PromptResponse> =>
    rig.agent.request('session/prompt', { sessionId, prompt: [text(words)] })

  it('runs the whole tour for an unknown prompt', async () => {
    const { stopReason } = await prompt('Please look at my project')
    assert.equal(stopReason, 'end_turn')
    const command = process.platform === 'win32' ? 'dir' : 'ls -la'
    assert.deepEqual(rig.client.toolStatuses, {
      'Read README.md': 'completed',
      'Edit README.md': 'completed',
      [command]: 'completed',
    })
    const file = path.join(rig.workspace, 'README.md')
    assert.equal(
      await fs.readFile(file, 'utf8'),
      '# Sample\n\nA sample project.\n\n<!-- The demo agent was here: 1 visit -->\n',
    )
    assert.deepEqual(rig.client.writes, [file])
    assert.deepEqual(new Set(rig.client.reads), new Set([file]))
    assert.deepEqual(rig.client.released, ['terminal-1'])
    assert.deepEqual(
      rig.client.permissions.map(request => request.toolCall.title),
      ['Edit README.md', command],
    )
    assert.ok(rig.client.updatesOfKind('agent_thought_chunk').length > 10)
    const plans = rig.client
      .updatesOfKind('plan')
      .map(({ entries }) => entries.map(entry => entry.status).join(' '))
    assert.equal(plans[0], 'pending pending pending pending')
    assert.equal(plans[1], 'in_progress pending pending pending')
    assert.equal(plans.at(-1), 'completed completed completed completed')
    const usage = rig.client.updatesOfKind('usage_update').at(-1)
    assert.ok(usage && usage.used > 0 && usage.size === 200_000)
    assert.equal(usage.cost?.currency, 'credits')
    assert.ok(usage.cost.amount > 0)
    assert.match(rig.client.messageText, /\| Edit \| written \|/)
  })

  it('answers a greeting and a request for help with its commands', async () => {
    for (const words of ['hi', 'Hello!', 'Help with the work', 'What can you do?']) {
      rig.client.clear()
      await prompt(words)
      assert.match(rig.client.messageText, /`\/compact`/, words)
    }
  })

  it('answers a request for a commit message with only the message', async () => {
    await prompt('Write the message of a Git commit for …\n\ndiff --git a/src/one.ts b/src/one.ts\n+1')
    assert.equal(rig.client.messageText, 'Update src/one.ts')
  })

  it("counts tokens per turn and the session's cost, which a fork continues", async () => {
    const first = (await prompt('/think')) as PromptResponse & { usage: { totalTokens: number } }
    const cost = () => rig.client.updatesOfKind('usage_update').at(-1)?.cost?.amount
    assert.equal(cost(), first.usage.totalTokens / 1000)
    const second = (await prompt('/think')) as PromptResponse & { usage: { totalTokens: number } }
    const both = Math.round(first.usage.totalTokens + second.usage.totalTokens) / 1000
    assert.equal(cost(), both)
    const told = rig.client.updatesOfKind('usage_update').length
    await rig.agent.request('session/fork', { sessionId, cwd: rig.workspace })
    await rig.client.waitUntil(() => rig.client.updatesOfKind('usage_update').length > told)
    assert.equal(cost(), both)
  })

  it('sends nothing more when the user stops the turn instead of answering a question', async () => {
    for (const question of ['/ask', '/visit']) {
      rig.client.clear()
      rig.client.elicited = async () => {
        await rig.agent.notify('session/cancel', { sessionId })
        return { action: 'cancel' }
      }
      assert.equal((await prompt(question)).stopReason, 'cancelled')
      assert.equal(rig.client.messageText, '')
    }
  })

  it('keeps the size of its context in a fork', async () => {
    await prompt('/media')
    await prompt('/compact')
    const size = () => rig.client.updatesOfKind('usage_update').at(-1)?.used
    const compacted = size()
    rig.client.clear()
    await rig.agent.request('session/fork', { sessionId, cwd: rig.workspace })
    await rig.client.waitUntil(() => size() !== undefined)
    assert.equal(size(), compacted)
  })

  it('names the longest line of a file', async () => {
    await fs.writeFile(path.join(rig.workspace, 'a.md'), 'one\nthe longest\nthree\n')
    await prompt('/read a.md')
    assert.match(rig.client.messageText, /Its longest line is `a\.md:2`\./)
  })

  it('shows the diff with the request and again when the edit is done', async () => {
    await prompt('/edit README.md')
    const [asked] = rig.client.permissions
    const oldText = '# Sample\n\nA sample project.\n'
    const diff = {
      type: 'diff',
      path: path.join(rig.workspace, 'README.md'),
      oldText,
      newText: `${oldText}\n<!-- The demo agent was here: 1 visit -->\n`,
    }
    assert.deepEqual(asked?.toolCall.content, [diff])
    assert.deepEqual(
      rig.client.updatesOfKind('tool_call_update').find(update => update.status === 'completed')?.content,
      [diff],
    )
  })

  it('edits what the file contains when the user answers', async () => {
    const file = path.join(rig.workspace, 'README.md')
    rig.client.answer = async request => {
      await fs.writeFile(file, 'Typed meanwhile.\n')
      return select(request, 'allow_once')
    }
    await prompt('/edit README.md')
    assert.equal(
      await fs.readFile(file, 'utf8'),
      'Typed meanwhile.\n\n<!-- The demo agent was here: 1 visit -->\n',
    )
  })

  it('reports a rejection and continues', async () => {
    rig.client.answer = request => select(request, 'reject_once')
    const { stopReason } = await prompt('a tour please')
    assert.equal(stopReason, 'end_turn')
    assert.equal(rig.client.toolStatuses['Edit README.md'], 'failed')
    assert.match(rig.client.messageText, /You rejected the edit/)
    assert.match(rig.client.messageText, /You rejected the command/)
    assert.equal(
      await fs.readFile(path.join(rig.workspace, 'README.md'), 'utf8'),
      '# Sample\n\nA sample project.\n',
    )
  })

  it(`doesn't ask again after "always", nor after "reject always"`, async () => {
    rig.client.answer = request => select(request, 'allow_always')
    await prompt('/edit README.md')
    await prompt('/edit README.md')
    assert.equal(rig.client.permissions.length, 1)
    assert.match(await fs.readFile(path.join(rig.workspace, 'README.md'), 'utf8'), /here: 2 visits/)
    rig.client.answer = request => select(request, 'reject_always')
    await prompt('/run echo one')
    await prompt('/run echo two')
    assert.equal(rig.client.permissions.length, 2)
    assert.equal(rig.client.toolStatuses['echo two'], 'failed')
  })

  it('ends the turn as canceled when the request is canceled', async () => {
    rig.client.answer = () => ({ outcome: { outcome: 'cancelled' } })
    assert.equal((await prompt('/edit README.md')).stopReason, 'cancelled')
    assert.equal(rig.client.toolStatuses['Edit README.md'], 'failed')
  })

  it('runs a command in a terminal of the client and releases it', async () => {
    await prompt('/run echo out && exit 3')
    const embedded = rig.client
      .updatesOfKind('tool_call_update')
      .flatMap(update => update.content ?? [])
      .find(content => content.type === 'terminal')
    assert.deepEqual(embedded, { type: 'terminal', terminalId: 'terminal-1' })
    assert.equal(rig.client.toolStatuses['echo out && exit 3'], 'failed')
    assert.match(rig.client.messageText, /exit code 3/)
    assert.deepEqual(rig.client.released, ['terminal-1'])
  })

  it('cancels slow work immediately, and closes its tool call', async () => {
    const turn = prompt('/slow 3600')
    await rig.client.waitUntil(() => rig.client.toolStatuses['Work for 3600 seconds'] === 'in_progress')
    await rig.agent.notify('session/cancel', { sessionId })
    assert.equal((await turn).stopReason, 'cancelled')
    assert.equal(rig.client.toolStatuses['Work for 3600 seconds'], 'failed')
  })

  it('kills the command when the turn is canceled', async () => {
    const line = `"${process.execPath}" -e "setInterval(() => {}, 1000)"`
    const turn = prompt(`/run ${line}`)
    await rig.client.waitUntil(() => rig.client.toolStatuses[line] === 'in_progress')
    await rig.agent.notify('session/cancel', { sessionId })
    assert.equal((await turn).stopReason, 'cancelled')
    assert.deepEqual(rig.client.released, ['terminal-1'])
    assert.deepEqual(new Set(rig.client.killed), new Set(['terminal-1']))
  })

  it('cancels an open request when the turn is canceled, also if the client never responds', async () => {
    rig.client.answer = () => new Promise(() => {})
    const turn = prompt('/edit README.md')
    await rig.client.waitUntil(() => rig.client.permissions.length === 1)
    await rig.agent.notify('session/cancel', { sessionId })
    assert.equal((await turn).stopReason, 'cancelled')
  })

  it('refuses a second prompt while one is running', async () => {
    const turn = prompt('/slow 3600')
    await rig.client.waitUntil(() => rig.client.updatesOfKind('tool_call').length === 1)
    await assert.rejects(prompt('hello'), { code: -32600 })
    await rig.agent.notify('session/cancel', { sessionId })
    await turn
  })

  it('shows a failed tool call, and continues', async () => {
    assert.equal((await prompt('/fail')).stopReason, 'end_turn')
    assert.deepEqual(rig.client.toolStatuses, { 'Fetch https://demo.invalid/data.json': 'failed' })
    assert.match(rig.client.messageText, /The turn continues\.$/)
  })

  it('lists the attachments of a prompt', async () => {
    const uri = pathToFileURL(path.join(rig.workspace, 'README.md')).href
    await rig.agent.request('session/prompt', {
      sessionId,
      prompt: [
        text('/think'),
        { type: 'resource_link', uri, name: 'README.md' },
        { type: 'resource', resource: { uri: 'file:///a.txt', text: 'one\ntwo' } },
        { type: 'image', mimeType: 'image/png', data: 'AAAA' },
      ],
    })
    assert.match(rig.client.messageText, /a link to `README\.md`/)
    assert.match(rig.client.messageText, /file:\/\/\/a\.txt \(2 lines\)/)
    assert.match(rig.client.messageText, /an image \(image\/png, about 3 bytes\)/)
  })

  it("doesn't touch files outside of the session's folders", async () => {
    await prompt('/read ../outside.txt')
    await prompt('/edit /etc/hosts.txt')
    assert.deepEqual(rig.client.reads, [])
    assert.deepEqual(rig.client.writes, [])
    assert.deepEqual(new Set(Object.values(rig.client.toolStatuses)), new Set(['failed']))
  })

  it('can end a turn with every stop reason of the protocol', async () => {
    for (const reason of ['max_tokens', 'max_turn_requests', 'refusal', 'end_turn']) {
      assert.equal((await prompt(`/stop ${reason}`)).stopReason, reason)
    }
  })

  it('runs every other command to its end', async () => {
    for (const words of [
      '/help',
      '/plan bake bread',
      '/think',
      '/long 12',
      '/markdown',
      '/media',
      '/where',
      '/notice',
      '/compact',
      '/ask',
      '/read',
      '/run',
      '/nothing',
      'hi',
    ]) {
      rig.client.clear()
      assert.equal((await prompt(words)).stopReason, 'end_turn', words)
      assert.ok(rig.client.messageText.length > 20, words)
    }
  })

  it('sends rare kinds of updates with its optional commands', async () => {
    await prompt('/notice')
    assert.deepEqual(
      rig.client.updatesOfKind('notice').map(update => update.severity),
      ['info', 'warning', 'error'],
    )
    await prompt('/compact')
    assert.deepEqual(
      rig.client.updatesOfKind('compaction_update').map(update => update.status),
      ['in_progress', 'completed'],
    )
    assert.equal(rig.client.updatesOfKind('compaction_summary_chunk').length, 3)
    await prompt('/ask')
    assert.match(rig.client.messageText, /"name": "Ada"/)
    await prompt('/visit')
    assert.match(rig.client.messageText, /The page was opened/)
    assert.match((await rig.client.visits[0]) ?? '', /close this page/)
    assert.equal(rig.client.completed.length, 1)
    await prompt('/media')
    const kinds = rig.client.updatesOfKind('agent_message_chunk').map(({ content }) => content.type)
    for (const kind of ['image', 'audio', 'resource_link', 'resource'] as const)
      assert.ok(kinds.includes(kind), kind)
  })
})

describe('demo agent: modes', () => {
  let rig: Rig
  let sessionId: string

  beforeEach(async () => {
    rig = await startDemo()
    sessionId = (await rig.agent.request('session/new', { cwd: rig.workspace, mcpServers: [] })).sessionId
  })
  afterEach(() => rig.close())

  const prompt = (words: string): Promise<PromptResponse> =>
    rig.agent.request('session/prompt', { sessionId, prompt: [text(words)] })

  it('ask for permission to run a command, but not to edit, in "Edit freely"', async () => {
    await rig.agent.request('session/set_config_option', { sessionId, configId: 'mode', value: 'edit' })
    await prompt('tour')
    assert.deepEqual(
      rig.client.permissions.map(request => request.toolCall.kind),
      ['execute'],
    )
    assert.equal(rig.client.writes.length, 1)
  })

  it('change nothing in "Plan"', async () => {
    await rig.agent.request('session/set_config_option', { sessionId, configId: 'mode', value: 'plan' })
    for (const words of ['tour', '/edit README.md', '/run echo hi']) {
      rig.client.clear()
      assert.equal((await prompt(words)).stopReason, 'end_turn')
      assert.match(rig.client.messageText, /I'm in \*Plan\* mode/)
    }
    assert.deepEqual(rig.client.permissions, [])
    assert.deepEqual(rig.client.writes, [])
  })

  it("don't affect thoughts, which an option disables", async () => {
    await rig.agent.request('session/set_config_option', {
      sessionId,
      configId: 'thoughts',
      type: 'boolean',
      value: false,
    })
    await prompt('/think')
    assert.equal(rig.client.updatesOfKind('agent_thought_chunk').length, 0)
  })

  it('are rejected if they are unknown, like options and values', async () => {
    await assert.rejects(
      rig.agent.request('session/set_config_option', { sessionId, configId: 'mode', value: 'root' }),
      { code: -32602 },
    )
    await assert.rejects(
      rig.agent.request('session/set_config_option', { sessionId, configId: 'model', value: 'gpt' }),
      { code: -32602 },
    )
    await assert.rejects(
      rig.agent.request('session/set_config_option', { sessionId, configId: 'color', value: 'red' }),
      { code: -32602 },
    )
  })
})

describe('demo agent: a client without capabilities', () => {
  let rig: Rig
  let sessionId: string

  beforeEach(async () => {
    rig = await startDemo({ capabilities: {} })
    const started = await rig.agent.request('session/new', { cwd: rig.workspace, mcpServers: [] })
    sessionId = started.sessionId
    assert.deepEqual(
      started.configOptions?.map(option => option.type),
      ['select', 'select'],
    )
  })
  afterEach(() => rig.close())

  it('makes the agent read and edit by itself, and run nothing', async () => {
    await rig.agent.request('session/prompt', { sessionId, prompt: [text('tour')] })
    assert.deepEqual(rig.client.reads, [])
    assert.deepEqual(rig.client.writes, [])
    assert.match(await fs.readFile(path.join(rig.workspace, 'README.md'), 'utf8'), /here: 1 visit/)
    const command = process.platform === 'win32' ? 'dir' : 'ls -la'
    assert.equal(rig.client.toolStatuses[command], 'failed')
    assert.deepEqual(
      rig.client.permissions.map(request => request.toolCall.kind),
      ['edit'],
    )
  })

  it('receives no notice, compaction or form', async () => {
    for (const words of ['/notice', '/compact', '/ask']) {
      await rig.agent.request('session/prompt', { sessionId, prompt: [text(words)] })
    }
    assert.equal(rig.client.updatesOfKind('notice').length, 0)
    assert.equal(rig.client.updatesOfKind('compaction_update').length, 0)
    assert.match(rig.client.messageText, /doesn't support forms/)
  })
})
