import assert from 'node:assert/strict'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { PRESETS } from '../../fixtures/agent/presets.mjs'
import { SCENARIOS } from '../../fixtures/agent/scenarios/index.mjs'
import { type Frame, listOf, RawClient, readLog } from './raw-client.ts'

const README = fs.readFileSync(path.resolve(import.meta.dirname, '../../fixtures/agent/README.md'), 'utf8')

describe('fixture agent: quirks', () => {
  let client: RawClient
  const start = (script?: string, env?: Record<string, string>) => {
    client = new RawClient(script, env)
    return client
  }
  afterEach(() => client?.stop())

  const allow = (frame: Frame) => {
    const options = (frame.params?.options ?? []) as Array<{ optionId: string; kind: string }>
    const option = options.find(candidate => candidate.kind.startsWith('allow'))
    return { result: { outcome: { outcome: 'selected', optionId: option?.optionId } } }
  }
  const play = async (preset: string, text = 'go') => {
    start(preset)
    client.answer = allow
    const sessionId = await client.open()
    const answer = await client.prompt(sessionId, text)
    return { sessionId, answer }
  }

  it('documents every scenario and every preset', () => {
    for (const name of [...Object.keys(SCENARIOS), ...Object.keys(PRESETS)]) {
      const quirk = /^quirk-(\d+)$/.exec(name)
      assert.match(
        README,
        quirk ? new RegExp(`^\\| ${quirk[1]}¹? \\|`, 'm') : new RegExp(`\`${name}\\b`),
        name,
      )
    }
    for (let number = 1; number <= 24; number++) assert.ok(`quirk-${number}` in PRESETS, `quirk-${number}`)
  })

  it('1: stops at a missing file, unless it reads as empty', async () => {
    await play('quirk-1')
    assert.match(client.messageText, /the file was not empty/)
    await client.stop()
    start('quirk-1')
    client.answer = frame =>
      frame.method === 'fs/read_text_file' ? { result: { content: '' } } : { result: null }
    await client.prompt(await client.open(), 'go')
    assert.equal(client.messageText, 'created')
  })

  it("3: doesn't release its terminal after a cancellation", async () => {
    start('quirk-3')
    client.answer = frame =>
      frame.method === 'terminal/create' ? { result: { terminalId: 't' } } : undefined
    const sessionId = await client.open()
    const turn = client.prompt(sessionId, 'go')
    await client.find(frame => frame.method === 'terminal/wait_for_exit')
    client.send({ method: 'session/cancel', params: { sessionId } })
    assert.equal((await turn).result?.stopReason, 'cancelled')
    const create = client.frames.find(frame => frame.method === 'terminal/create')
    assert.deepEqual(Object.keys(create?.params ?? {}).sort(), ['command', 'sessionId'])
    assert.ok(!client.frames.some(frame => /terminal\/(kill|release)/.test(frame.method ?? '')))
  })

  it('5: sends updates for a session before its id is known', async () => {
    start('quirk-5')
    await client.open()
    const first = client.frames.findIndex(frame => frame.method === 'session/update')
    const named = client.frames.findIndex(frame => frame.result?.sessionId !== undefined)
    assert.ok(first >= 0 && first < named)
    assert.equal(client.frames[first]?.params?.sessionId, client.frames[named]?.result?.sessionId)
  })

  it('6: requests permission, updates and creates a tool call in any order', async () => {
    await play('quirk-6')
    const traffic = client.frames.flatMap(({ method, params }) => {
      const toolCall = (params?.toolCall ?? params?.update) as { toolCallId?: string; sessionUpdate?: string }
      return toolCall?.toolCallId ? [`${toolCall.toolCallId} ${toolCall.sessionUpdate ?? method}`] : []
    })
    assert.deepEqual(traffic, [
      'permission-first session/request_permission',
      'permission-first tool_call',
      'permission-first tool_call_update',
      'permission-only session/request_permission',
      'update-first tool_call_update',
      'update-first tool_call',
      'twice tool_call',
      'twice tool_call',
      'twice tool_call_update',
    ])
  })

  it('10: offers options of every kind and handles a rejection in three ways', async () => {
    for (const [text, stopReason] of [
      ['[[quirk-10 two-always cancelled]]', 'cancelled'],
      ['[[quirk-10 reject-always end_turn]]', 'end_turn'],
      ['[[quirk-10 no-always goes-on]]', 'end_turn'],
    ] as const) {
      start()
      client.answer = frame => {
        const options = (frame.params?.options ?? []) as Array<{ optionId: string; kind: string }>
        const option = options.find(candidate => candidate.kind.startsWith('reject'))
        return { result: { outcome: { outcome: 'selected', optionId: option?.optionId } } }
      }
      const { result } = await client.prompt(await client.open(), text)
      assert.equal(result?.stopReason, stopReason, text)
      assert.equal(client.messageText.includes('another way'), text.includes('goes-on'))
      await client.stop()
    }
  })

  it("11: cancels its request when it's canceled", async () => {
    start()
    client.answer = () => undefined
    const sessionId = await client.open()
    const turn = client.prompt(sessionId, '[[quirk-11 withdraw]]')
    const question = await client.find(frame => frame.method === 'session/request_permission')
    client.send({ method: 'session/cancel', params: { sessionId } })
    const withdrawal = await client.find(frame => frame.method === '$/cancel_request')
    assert.equal(withdrawal.params?.requestId, question.id)
    client.send({ id: question.id, result: { outcome: { outcome: 'cancelled' } } })
    assert.equal((await turn).result?.stopReason, 'cancelled')
  })

  it('12: responds to session/load before it replays', async () => {
    start('quirk-12')
    await client.request('initialize')
    const answer = await client.request('session/load', { sessionId: 's', cwd: '/workspace', mcpServers: [] })
    assert.equal(answer.result, null)
    await client.find(frame => frame.params?.update?.sessionUpdate === 'usage_update')
    const first = client.frames.findIndex(frame => frame.method === 'session/update')
    assert.ok(first > client.frames.indexOf(answer))
  })

  it('14: queues, aborts or drops a second prompt', async () => {
    for (const [variant, first, second] of [
      ['queue', 'cancelled', 'end_turn'],
      ['abort', 'cancelled', 'end_turn'],
      ['never', 'cancelled', undefined],
    ] as const) {
      start()
      const sessionId = await client.open()
      const one = client.prompt(sessionId, `[[quirk-14 ${variant}]]`)
      await client.waitUntil(() => client.messageText !== '')
      const two = client.prompt(sessionId, `[[quirk-14 ${variant}]]`)
      if (second) assert.equal((await two).result?.stopReason, second, variant)
      else client.send({ method: 'session/cancel', params: { sessionId } })
      assert.equal((await one).result?.stopReason, first, variant)
      await client.stop()
    }
  })

  it('15: has config options for everything and reports a change in every way', async () => {
    start('quirk-15')
    const sessionId = await client.open()
    const opened = client.frames.find(frame => frame.result?.configOptions)?.result
    assert.equal(listOf<{ options: unknown[] }>(opened?.configOptions)[2]?.options.length, 384)
    const set = (value: string) =>
      client.request('session/set_config_option', { sessionId, configId: 'telling', value })
    const reported = await set('by-response')
    assert.ok(Array.isArray(reported.result?.configOptions))
    assert.deepEqual((await set('by-update')).result, {})
    await client.find(frame => frame.params?.update?.sessionUpdate === 'config_option_update')
    assert.equal((await set('fails')).error?.code, -32603)
    assert.deepEqual((await set('silent')).result, {})
  })

  it('16: fails in every way', async () => {
    start()
    const sessionId = await client.open()
    const codes: Record<string, number | undefined> = {}
    for (const variant of ['positive', 'positive-500', 'positive-1001', 'data-array', 'auth', 'silent']) {
      codes[variant] = (await client.prompt(sessionId, `[[quirk-16 ${variant}]]`)).error?.code
    }
    assert.deepEqual(codes, {
      positive: 401,
      'positive-500': 500,
      'positive-1001': 1001,
      'data-array': -32603,
      auth: -32000,
      silent: undefined,
    })
    await client.prompt(sessionId, '[[quirk-16 null-id]] [[quirk-16 no-id]]')
    assert.ok(client.frames.some(frame => frame.id === null && frame.error))
  })

  it('17: sends requests with ids of every type', async () => {
    await play('quirk-17')
    assert.equal(client.messageText.match(/same allow\. /g)?.length, 3)
  })

  it("20: doesn't exit when its stdin ends or on SIGTERM, and leaves child processes behind", async () => {
    const file = path.join(fs.mkdtempSync(path.join(os.tmpdir(), 'fixture-log-')), 'log.ndjson')
    start('quirk-20', { FIXTURE_LOG: file })
    const sessionId = await client.open()
    await client.prompt(sessionId, 'go')
    const pids = client.messageText.match(/\d+/g)?.map(Number) ?? []
    try {
      assert.equal(pids.length, 2)
      client.child.stdin?.end()
      client.child.kill('SIGTERM')
      while (!readLog(file).some(entry => entry.event === 'sigterm-ignored')) {
        await new Promise(resolve => setImmediate(resolve))
      }
      assert.equal(client.child.exitCode, null)
      await client.stop()
      for (const pid of pids) assert.ok(process.kill(pid, 0), `child ${pid} lives`)
    } finally {
      for (const pid of pids) process.kill(pid, 'SIGKILL')
      fs.rmSync(path.dirname(file), { recursive: true })
    }
  })

  it("23: requires sign-in, and doesn't respond to the first attempt", async () => {
    start('quirk-23')
    const { result } = await client.request('initialize')
    assert.equal(listOf(result?.authMethods).length, 5)
    assert.equal((await client.request('session/new', { cwd: '/', mcpServers: [] })).error?.code, -32000)
    client.send({ id: 1, method: 'authenticate', params: { methodId: 'plain' } })
    assert.deepEqual((await client.request('authenticate', { methodId: 'plain' })).result, {})
    assert.ok((await client.request('session/new', { cwd: '/', mcpServers: [] })).result?.sessionId)
    assert.ok(!client.frames.some(frame => frame.id === 1))
  })

  for (const number of [2, 4, 7, 8, 9, 13, 18, 19, 21]) {
    it(`${number}: runs to its end`, async () => {
      const { answer } = await play(`quirk-${number}`)
      assert.equal(answer.result?.stopReason, 'end_turn')
      await client.request('session/list')
      assert.ok(
        client.updates().length + client.frames.filter(frame => frame.method?.startsWith('fs/')).length > 0,
      )
    })
  }
})
