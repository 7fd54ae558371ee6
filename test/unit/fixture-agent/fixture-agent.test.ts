import assert from 'node:assert/strict'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { type Frame, listOf, RawClient, readLog, textOf } from './raw-client.ts'

describe('fixture agent', () => {
  let client: RawClient
  const start = (script?: string, env?: Record<string, string>) => {
    client = new RawClient(script, env)
    return client
  }
  afterEach(() => client.stop())

  it('follows the protocol unless told otherwise', async () => {
    start()
    const { result } = await client.request('initialize', { protocolVersion: 1 })
    assert.equal(result?.protocolVersion, 1)
    const { result: opened } = await client.request('session/new', { cwd: '/workspace', mcpServers: [] })
    const sessionId = String(opened?.sessionId)
    assert.deepEqual((await client.prompt(sessionId, 'hello')).result, { stopReason: 'end_turn' })
    assert.equal(client.messageText, 'You said: hello')
    assert.equal((await client.request('no/such')).error?.code, -32601)
    const { result: list } = await client.request('session/list')
    assert.deepEqual(
      listOf<{ sessionId: string }>(list?.sessions).map(session => session.sessionId),
      [sessionId],
    )
    client.child.stdin?.end()
    assert.deepEqual(await client.exited, { code: 0, signal: null })
  })

  it('gives no session the id of one that is there after another was deleted', async () => {
    const client = start()
    const [first, second] = [await client.open(), await client.open()]
    await client.request('session/delete', { sessionId: first })
    const third = await client.open()
    assert.equal(new Set([first, second, third]).size, 3)
  })

  it('plays several scenarios in the order in the prompt', async () => {
    start()
    const sessionId = await client.open()
    await client.prompt(sessionId, '[[think so so]] [[tool a]] then [[say all\\ndone]] [[no-such]]')
    assert.deepEqual(
      client.updates().map(update => update.sessionUpdate),
      ['agent_thought_chunk', 'tool_call', 'tool_call_update', 'agent_message_chunk', 'agent_message_chunk'],
    )
    assert.match(client.messageText, /^all\ndoneThere is no scenario no-such/)
  })

  it('sends many chunks of the requested size', async () => {
    start()
    const sessionId = await client.open()
    await client.prompt(sessionId, '[[flood 500 24]]')
    const chunks = client
      .updates('agent_message_chunk')
      .map(({ content }) => (content as { text: string }).text)
    assert.equal(chunks.length, 501)
    assert.ok(
      chunks.slice(0, 500).every((chunk, index) => chunk.length === 24 && chunk.startsWith(`c${index} `)),
    )
    assert.equal(chunks.at(-1), '\n\n[end of flood]')
  })

  it('writes one huge frame in pieces that split characters', async () => {
    start()
    const sessionId = await client.open()
    client.chunks.length = 0
    await client.prompt(sessionId, '[[huge 2]]')
    assert.ok(
      Buffer.byteLength(client.messageText) > 2 * 1024 * 1024 && client.messageText.endsWith('[end of huge]'),
    )
    assert.ok(client.chunks.length > 20)
    assert.ok(
      client.chunks.some(chunk => chunk.toString('utf8').includes('\ufffd')),
      'a piece ends inside a character',
    )
  })

  it('writes invalid frames and continues', async () => {
    start()
    const sessionId = await client.open()
    const names = [
      'garbage',
      'binary',
      'noise-inside',
      'crlf',
      'bom',
      'split',
      'half',
      'wrong-types',
      'batch',
    ]
    for (const name of [...names, 'wrong-answers']) {
      const before = client.messageText
      assert.equal((await client.prompt(sessionId, `[[${name}]]`)).result?.stopReason, 'end_turn', name)
      assert.ok(client.messageText.length > before.length, name)
    }
    assert.match(client.messageText, /żółć 日本語 👩‍💻\./)
    assert.ok(client.noise.some(line => line.includes('http://127.0.0.1:4096')))
    assert.ok(client.noise.includes('null') && client.noise.includes(''))
    assert.ok(client.chunks.some(chunk => chunk.includes('\r\n')))
    assert.ok(client.chunks.some(chunk => chunk.includes(Buffer.from([0xef, 0xbb, 0xbf]))))
  })

  it('exits in every supported way', async () => {
    for (const [text, ending] of [
      ['[[crash 7]]', { code: 7, signal: null }],
      ['[[signal SIGTERM]]', { code: null, signal: 'SIGTERM' }],
      ['[[unfinished]]', { code: 0, signal: null }],
    ] as const) {
      start()
      const sessionId = await client.open()
      void client.prompt(sessionId, text)
      assert.deepEqual(await client.exited, ending, text)
    }
    for (const [preset, ending] of [
      ['exit-start', { code: 3, signal: null }],
      ['crash-start', { code: null, signal: 'SIGSEGV' }],
      ['garbage-start', { code: 0, signal: null }],
      ['crash-initialize', { code: 1, signal: null }],
    ] as const) {
      start(preset)
      client.send({ id: 1, method: 'initialize', params: { protocolVersion: 1 } })
      assert.deepEqual(await client.exited, ending, preset)
    }
  })

  it('responds `cancelled` when canceled, and not at all when it hangs', async () => {
    start()
    const sessionId = await client.open()
    const slow = client.prompt(sessionId, '[[slow 600000]]')
    await client.waitUntil(() => client.messageText !== '')
    client.send({ method: 'session/cancel', params: { sessionId } })
    assert.equal((await slow).result?.stopReason, 'cancelled')

    let answered = false
    void client.prompt(sessionId, '[[say two]] [[hang]]').then(() => {
      answered = true
    })
    await client.waitUntil(() => client.messageText.endsWith('two'))
    client.send({ method: 'session/cancel', params: { sessionId } })
    // the response to another request shows that it's running and has received the cancellation
    await client.request('session/list')
    assert.equal(answered, false)
  })

  it('replays a long session', async () => {
    start()
    await client.request('initialize', { protocolVersion: 1 })
    await client.request('session/load', { sessionId: 'big-100-10', cwd: '/workspace', mcpServers: [] })
    assert.equal(client.updates().length, 1000)
    assert.equal(client.updates('user_message_chunk').length, 100)
    assert.equal(client.updates('tool_call').length, 100)
  })

  it('sends updates to two sessions at the same time', async () => {
    start()
    const one = await client.open()
    const { result } = await client.request('session/new', { cwd: '/other', mcpServers: [] })
    await client.prompt(one, '[[interleave 3]]')
    const of = (sessionId: unknown) =>
      client.frames
        .filter(frame => frame.params?.sessionId === sessionId)
        .map(frame => textOf(frame.params?.update))
        .join('')
    assert.equal(of(one), 's1r0 s1r1 s1r2 ')
    assert.equal(of(result?.sessionId), 's2r0 s2r1 s2r2 ')
  })

  it('uses files, requests and terminals of the client', async () => {
    start()
    const sessionId = await client.open()
    const asked: string[] = []
    client.answer = frame => {
      asked.push(String(frame.method))
      if (frame.method === 'session/request_permission') return select(frame, 'allow_once')
      if (frame.method === 'terminal/create') return { result: { terminalId: 't1' } }
      if (frame.method === 'terminal/wait_for_exit') return { result: { exitCode: 0 } }
      if (frame.method === 'terminal/output') return { result: { output: 'abc', truncated: false } }
      return { result: { content: 'text' } }
    }
    await client.prompt(sessionId, '[[read a]] [[write b]] [[permission c]] [[run echo abc]]')
    assert.deepEqual(asked, [
      'fs/read_text_file',
      'fs/write_text_file',
      'session/request_permission',
      'fs/write_text_file',
      'terminal/create',
      'terminal/wait_for_exit',
      'terminal/output',
      'terminal/release',
    ])
    assert.equal(client.messageText, 'read 4writtenIt was allowed.exit 0, 3 characters')
  })

  it('is controlled by a script', async () => {
    start(
      JSON.stringify({
        results: { initialize: { agentCapabilities: { loadSession: null }, extra: true } },
        on: { authenticate: { first: [{ fail: { code: 401, message: 'no' } }] } },
        prompts: [[{ say: 'in $cwd' }, { reply: { stopReason: 'refusal' } }]],
        prompt: [{ frame: { jsonrpc: '2.0', method: 'later', params: { of: '$session' } } }],
      }),
    )
    const { result } = await client.request('initialize', { protocolVersion: 1 })
    assert.equal(result?.extra, true)
    assert.equal(Object.hasOwn(result?.agentCapabilities as object, 'loadSession'), false)
    assert.equal((await client.request('authenticate', { methodId: 'x' })).error?.code, 401)
    assert.deepEqual((await client.request('authenticate', { methodId: 'x' })).result, {})
    const opened = await client.request('session/new', { cwd: '/here', mcpServers: [] })
    const sessionId = String(opened.result?.sessionId)
    assert.equal((await client.prompt(sessionId, '')).result?.stopReason, 'refusal')
    assert.equal(client.messageText, 'in /here')
    await client.prompt(sessionId, '')
    assert.deepEqual(client.frames.find(frame => frame.method === 'later')?.params, { of: sessionId })
  })

  it('waits at a gate until it is opened once, or the turn is canceled', async () => {
    const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'fixture-log-'))
    const file = path.join(directory, 'log.ndjson')
    start(undefined, { FIXTURE_LOG: file })
    const sessionId = await client.open()
    fs.writeFileSync(`${file}.gate`, '')
    await client.prompt(sessionId, '[[gate]] [[say one]]')
    assert.equal(client.messageText, 'one')
    const second = client.prompt(sessionId, '[[say two]] [[gate]] [[say three]]')
    await client.waitUntil(() => client.messageText === 'onetwo')
    client.send({ method: 'session/cancel', params: { sessionId } })
    assert.equal((await second).result?.stopReason, 'cancelled')
    fs.rmSync(directory, { recursive: true })
  })

  it('logs what it received and did', async () => {
    const file = path.join(fs.mkdtempSync(path.join(os.tmpdir(), 'fixture-log-')), 'log.ndjson')
    start(undefined, { FIXTURE_LOG: file })
    const sessionId = await client.open()
    await client.prompt(sessionId, '[[paced 1000 0.02]]')
    client.child.stdin?.end()
    await client.exited
    const log = readLog(file)
    assert.deepEqual(
      log.flatMap(entry => (entry.received ? [(entry.received as Frame).method] : [])),
      ['initialize', 'session/new', 'session/prompt'],
    )
    assert.equal(log.filter(entry => entry.event === 'paced').length, 20)
    assert.equal(log.at(-1)?.event, 'stdin-end')
    fs.rmSync(path.dirname(file), { recursive: true })
  })
})

/** The response that selects the first option of a kind. */
function select(frame: Frame, kind: string): Record<string, unknown> {
  const options = frame.params?.options as Array<{ optionId: string; kind: string }>
  const option = options.find(candidate => candidate.kind === kind)
  return { result: { outcome: { outcome: 'selected', optionId: option?.optionId } } }
}
