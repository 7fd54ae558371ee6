import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { FrameView } from '../../../src/app/inspector/frame-view.ts'
import { importFrames, lineOf } from '../../../src/app/inspector/import-frames.ts'
import { ProtocolRecorder } from '../../../src/app/inspector/protocol-recorder.ts'
import { RecordedFrames } from '../../../src/app/inspector/recorded-frames.ts'
import { SecretRegistry } from '../../../src/common/secrets.ts'

const asIs = (text: string, length: number) => text.slice(0, length)
const source = { connection: 1, agentId: 'a', agent: 'Agent A' }
const other = { connection: 2, agentId: 'b', agent: 'Agent B' }

describe('recorded protocol messages', () => {
  let frames: RecordedFrames
  let at: number

  beforeEach(() => {
    frames = new RecordedFrames(asIs)
    at = 1000
  })

  function add(direction: 'send' | 'receive', message: object, from = source): number {
    const json = JSON.stringify(message)
    frames.add(from, { at: at++, direction, message, json, isCut: false })
    return frames.next - 1
  }
  const request = (id: unknown, method: string, params: object = {}) => ({ id, method, params })

  it('pair a request with its response, whose method and session it has', () => {
    const asked = add('send', request(1, 'session/prompt', { sessionId: 's' }))
    assert.equal(frames.get(asked)?.row.pending, true)
    at += 250
    const answered = add('receive', { id: 1, result: { stopReason: 'end_turn' } })
    const { method, sessionId, duration, pair } = frames.get(answered)!
    assert.deepEqual(
      { method, sessionId, duration, pair },
      {
        method: 'session/prompt',
        sessionId: 's',
        duration: 251,
        pair: asked,
      },
    )
    assert.equal(frames.get(asked)?.row.pending, undefined)
    assert.equal(frames.get(asked)?.duration, 251)
    assert.equal(frames.get(asked)?.pair, answered)
  })

  it("don't mix the ids of both sides, of two connections, or of a number and a text", () => {
    const ours = add('send', request(1, 'session/new'))
    const theirs = add('receive', request(1, 'fs/read_text_file'))
    const others = add('send', request(1, 'session/load'), other)
    const text = add('send', request('1', 'session/list'))
    const pairOf = (n: number) => frames.get(n)?.pair
    assert.equal(pairOf(add('send', { id: 1, result: {} })), theirs)
    assert.equal(pairOf(add('receive', { id: '1', result: {} })), text)
    assert.equal(pairOf(add('receive', { id: 1, result: {} }, other)), others)
    assert.equal(pairOf(add('receive', { id: 1, result: { sessionId: 'new' } })), ours)
    assert.equal(frames.get(ours)?.sessionId, 'new')
    assert.equal(pairOf(add('receive', { id: 1, result: {} })), undefined)
  })

  it('mark both when the response is an error', () => {
    const asked = add('send', request(1, 'session/new'))
    const answered = add('receive', { id: 1, error: { code: -32603, message: 'No' } })
    assert.deepEqual([frames.get(asked)?.failed, frames.get(answered)?.failed], [true, true])
  })

  it('are not waited for after a pause, in which their responses came', () => {
    const asked = add('send', request(1, 'session/new'))
    frames.interrupt()
    assert.equal(frames.get(asked)?.row.pending, undefined)
    assert.equal(frames.get(add('receive', { id: 1, result: {} }))?.pair, undefined)
  })

  it('stay below the limit of memory: the oldest are removed, and so are their names', () => {
    frames = new RecordedFrames(asIs, 100_000)
    add('send', request(1, 'session/new'))
    for (let i = 0; i < 1000; i++) add('receive', { method: 'x', params: { text: 'a'.repeat(500) } })
    assert.ok(frames.bytes <= 100_000, `${frames.bytes}`)
    assert.equal(frames.count + frames.dropped, 1001)
    assert.ok(frames.count > 50)
    assert.equal(frames.get(1), undefined)
    assert.equal(frames.get(frames.first)?.n, frames.first)
    assert.deepEqual(
      frames.methods.list.map(({ name }) => name),
      ['x'],
    )
    const late = add('receive', { id: 1, result: {} })
    assert.equal(frames.get(late)?.pair, undefined)
    frames.clear()
    assert.deepEqual([frames.count, frames.bytes, frames.dropped], [0, 0, 0])
  })

  it('count the names of their connections, of which a file may have very many', () => {
    frames = new RecordedFrames(asIs, 100_000)
    for (let i = 0; i < 1000; i++)
      add('send', { method: 'x' }, { connection: i, agentId: 'a'.repeat(500), agent: 'b'.repeat(500) })
    assert.ok(frames.count < 50, `${frames.count}`)
    frames.clear()
    assert.equal(frames.bytes, 0)
    for (const message of [{ method: 'x' }, { method: 'y' }]) add('send', message)
    assert.ok(frames.bytes < 900, `${frames.bytes}`)
  })

  it('are filtered by everything that they have, also where JSON escapes a text', () => {
    add('send', request(1, 'session/prompt', { sessionId: 's', prompt: 'Say "Hello" in C:\\src' }))
    add('receive', { id: 1, result: {} })
    add('receive', { id: 2, error: { code: 1, message: 'no' } })
    add('send', request(1, 'session/new'), other)
    const shown = (filter: object) => {
      const view = new FrameView(frames, { text: '', ...filter })
      while (!view.advance(1));
      return view.slice(view.start, view.end).frames.map(({ n }) => n)
    }
    assert.deepEqual(shown({}), [1, 2, 3, 4])
    assert.deepEqual(shown({ text: 'say "HELLO"' }), [1])
    assert.deepEqual(shown({ text: 'C:\\src' }), [1])
    assert.deepEqual(shown({ text: '.*' }), [])
    assert.deepEqual(shown({ text: 'session/prompt' }), [1, 2])
    assert.deepEqual(shown({ method: 'session/prompt' }), [1, 2])
    assert.deepEqual(shown({ agentId: 'b' }), [4])
    assert.deepEqual(shown({ sessionId: 's', direction: 'receive' }), [2])
    assert.deepEqual(shown({ errors: true }), [3])
  })

  it('keep their positions in a filter while older ones are removed', () => {
    frames = new RecordedFrames(asIs, 50_000)
    const view = new FrameView(frames, { text: '', method: 'odd' })
    for (let i = 0; i < 5000; i++) {
      add('send', { method: i % 2 === 1 ? 'odd' : 'even' })
      if (i % 100 === 0) view.advance(1000)
    }
    assert.equal(view.advance(1000), true)
    // one that was removed before the filter saw it has no position
    assert.ok(view.end > 0 && view.end <= 2500)
    const { from, frames: rows } = view.slice(0, view.end)
    assert.equal(from, view.start)
    assert.equal(rows.length, view.end - view.start)
    assert.ok(rows.length > 10)
    assert.ok(rows.every(({ method, n }, i) => method === 'odd' && view.positionOf(n) === from + i))
    assert.equal(view.positionOf(rows[0]!.n + 1), undefined)
  })
})

describe('the protocol recorder', () => {
  it('inspects no message while it is off', () => {
    const recorder = new ProtocolRecorder(new SecretRegistry())
    const tap = recorder.tapFor('a', 'A')
    const isInspected = () => tap.current !== undefined
    assert.equal(isInspected(), false)
    recorder.isOn = true
    tap.current?.({ at: 1, direction: 'send', message: { method: 'x' } })
    assert.equal(recorder.frames.count, 1)
    recorder.isOn = false
    assert.equal(isInspected(), false)
  })

  it('keeps no secret, neither in the message nor in its method or IDs', () => {
    const secrets = new SecretRegistry()
    secrets.add('open-sesame')
    const recorder = new ProtocolRecorder(secrets)
    recorder.isOn = true
    const message = {
      id: 1,
      method: `_x/open-sesame/${'a'.repeat(180)}open-sesame`,
      params: { sessionId: 'open-sesame', env: [{ name: 'A', value: 'hidden' }], text: 'open-sesame' },
    }
    recorder.tapFor('a', 'A').current?.({ at: 1, direction: 'send', message })
    const kept = JSON.stringify(recorder.frames.get(1))
    assert.doesNotMatch(kept, /sesam|hidden/)
    assert.match(kept, /•••/)
  })

  it('shows no secret that became known after the message', () => {
    const secrets = new SecretRegistry()
    const recorder = new ProtocolRecorder(secrets)
    recorder.isOn = true
    recorder
      .tapFor('a', 'A')
      .current?.({ at: 1, direction: 'send', message: { method: 'x', params: 'later-secret' } })
    secrets.add('later-secret')
    assert.doesNotMatch(recorder.jsonOf(recorder.frames.get(1)!), /later-secret/)
  })

  it('records a part of a message that is too long, with the id and method after it', () => {
    const recorder = new ProtocolRecorder(new SecretRegistry())
    recorder.isOn = true
    const tap = recorder.tapFor('a', 'A').current
    tap?.({
      at: 1,
      direction: 'send',
      message: { params: { text: 'word '.repeat(1e6) }, method: 'x', id: 5 },
    })
    tap?.({ at: 2, direction: 'receive', message: { id: 5, result: {} } })
    const frame = recorder.frames.get(1)!
    assert.equal(frame.isCut, true)
    assert.ok(frame.json.length < 150_000)
    JSON.parse(frame.json)
    assert.equal(recorder.frames.get(2)?.method, 'x')
    assert.equal(recorder.frames.get(2)?.isCut, false)
  })

  it('records a part of a message that is too long for its names, and for what is redacted', () => {
    const recorder = new ProtocolRecorder(new SecretRegistry())
    recorder.isOn = true
    const tap = recorder.tapFor('a', 'A').current
    const params = [
      { ['k'.repeat(3e6)]: 1 },
      { env: Object.fromEntries(Array.from({ length: 1e5 }, (_, i) => [`NAME_${i}`, 'value'])) },
      { token: Array(1e6).fill('') },
    ]
    for (const one of params)
      tap?.({ at: 1, direction: 'receive', message: { jsonrpc: '2.0', id: 5, method: 'x', params: one } })
    for (const n of [1, 2, 3]) {
      const { json, isCut, method } = recorder.frames.get(n)!
      assert.deepEqual([isCut, method], [true, 'x'])
      assert.ok(json.length < 1e6, `${json.length}`)
      assert.equal(JSON.parse(json).id, 5)
    }
  })

  const initialize = [
    {
      direction: 'send',
      message: { jsonrpc: '2.0', id: 0, method: 'initialize', params: { protocolVersion: 1 } },
    },
    { direction: 'receive', message: { jsonrpc: '2.0', id: 0, result: { protocolVersion: 1 } } },
  ] as const

  it('says how a message differs from the schema of its version, without secrets', async () => {
    const secrets = new SecretRegistry()
    secrets.add('open-sesame')
    const recorder = new ProtocolRecorder(secrets)
    recorder.isOn = true
    const tap = recorder.tapFor('a', 'A').current!
    // also of those that came before the schemas were loaded
    for (const frame of initialize) tap({ at: 1, ...frame })
    tap({ at: 1, direction: 'receive', message: { jsonrpc: '2.0', id: 0, method: 'open-sesame' } })
    await recorder.loadSchemas()
    tap({ at: 2, direction: 'send', message: { jsonrpc: '2.0', id: 1, method: 'session/new', params: {} } })
    tap({ at: 2, direction: 'receive', message: { jsonrpc: '2.0', id: 1, result: { sessionId: 5 } } })
    const found = [1, 2, 3, 4, 5].map(n => recorder.frames.get(n)?.violations)
    assert.deepEqual(found.slice(0, 2), [undefined, undefined])
    assert.match(found[2]?.problems[0] ?? '', /define a request •••\./)
    assert.deepEqual(found[3], {
      version: 1,
      problems: ['params.cwd is missing.', 'params.mcpServers is missing.'],
    })
    assert.deepEqual(found[4]?.problems, ['result.sessionId must be of type string, but is number.'])
    const view = new FrameView(recorder.frames, { text: '', errors: true })
    view.advance(1000)
    assert.deepEqual(
      view.slice(0, view.end).frames.map(({ n }) => n),
      [3, 4, 5],
    )
  })

  it('keeps only a few of the messages that come before the schemas are loaded', async () => {
    const recorder = new ProtocolRecorder(new SecretRegistry())
    recorder.isOn = true
    const tap = recorder.tapFor('a', 'A')
    tap.version = 1
    const text = 'word '.repeat(10_000)
    for (let id = 0; id < 200; id++)
      tap.current?.({
        at: 1,
        direction: 'send',
        message: { jsonrpc: '2.0', id, method: 'session/new', params: { text } },
      })
    await recorder.loadSchemas()
    const checked = Array.from({ length: 200 }, (_, i) => recorder.frames.get(i + 1)?.violations).filter(
      Boolean,
    )
    assert.ok(checked.length > 50 && checked.length <= 100, `${checked.length}`)
  })

  it('says nothing about a value that the message itself is shown without', async () => {
    const recorder = new ProtocolRecorder(new SecretRegistry())
    recorder.isOn = true
    await recorder.loadSchemas()
    const tap = recorder.tapFor('a', 'A')
    tap.version = 1
    const env = [{ name: 'PIN', value: 839201 }, 'hunter2hunter2']
    const params = { sessionId: 's', command: 'x', env }
    const message = { jsonrpc: '2.0', id: 1, method: 'terminal/create', params }
    tap.current?.({ at: 1, direction: 'receive', message })
    assert.deepEqual(recorder.frames.get(1)?.violations?.problems, [
      'params.env[0].value must be of type string, but is number.',
      'params.env[1] must be of type object, but is string.',
    ])
  })

  it('checks no message of a connection whose version is unknown, until the connection tells it', async () => {
    const recorder = new ProtocolRecorder(new SecretRegistry())
    recorder.isOn = true
    await recorder.loadSchemas()
    const tap = recorder.tapFor('a', 'A')
    const message = { jsonrpc: '2.0', id: 1, method: 'session/new', params: {} }
    tap.current?.({ at: 1, direction: 'send', message })
    tap.version = 2
    tap.current?.({ at: 1, direction: 'send', message })
    assert.deepEqual(
      [1, 2].map(n => recorder.frames.get(n)?.violations?.version),
      [undefined, 2],
    )
  })

  it('reads what it exported, and skips lines that are none of it', async () => {
    const exported = new ProtocolRecorder(new SecretRegistry())
    exported.isOn = true
    await exported.loadSchemas()
    const taps = ['a', 'b'].map(id => exported.tapFor(id, id.toUpperCase()).current!)
    for (const tap of taps) for (const frame of initialize) tap({ at: 1, ...frame })
    taps[0]!({
      at: 5,
      direction: 'receive',
      message: { jsonrpc: '2.0', method: 'x', params: 'p'.repeat(200_000) },
    })
    const all = (recorder: ProtocolRecorder) =>
      Array.from({ length: recorder.frames.count }, (_, i) => recorder.frames.get(i + 1)!)
    const file = path.join(mkdtempSync(path.join(tmpdir(), 'parley-frames-')), 'a.jsonl')
    const odd = [
      '',
      'no JSON',
      '[1]',
      '{"at":-1,"agent":"A","direction":"send","message":{}}',
      '{"message":{}}',
    ]
    writeFileSync(file, [...all(exported).map(frame => lineOf(exported, frame)), ...odd].join('\n'))

    const secrets = new SecretRegistry()
    secrets.add('initialize')
    const imported = new ProtocolRecorder(secrets)
    await imported.loadSchemas()
    const skipped = await importFrames(imported, file, new AbortController().signal)
    rmSync(path.dirname(file), { recursive: true })
    assert.equal(skipped, 4)
    const facts = (recorder: ProtocolRecorder) =>
      all(recorder).map(({ row: { at, agent, direction, kind, pair }, isCut, version }) => [
        ...[at, agent, direction, kind, pair, isCut, version],
      ])
    assert.deepEqual(facts(imported), facts(exported))
    assert.equal(imported.frames.get(5)?.isCut, true)
    assert.deepEqual(imported.frames.get(5)?.violations, undefined)
    assert.doesNotMatch(JSON.stringify(all(imported)), /initialize/)
  })

  it('reads no more of a file once its messages were cleared', async () => {
    const file = path.join(mkdtempSync(path.join(tmpdir(), 'parley-frames-')), 'a.jsonl')
    const line = { at: 1, agent: 'A', direction: 'send', message: { method: 'x', params: 'p'.repeat(1000) } }
    writeFileSync(file, `${JSON.stringify(line)}\n`.repeat(1000))
    const recorder = new ProtocolRecorder(new SecretRegistry())
    const listener = recorder.onDidRecord(() => {
      listener.dispose()
      recorder.frames.clear()
      recorder.record(source, { at: 2, direction: 'send', message: { method: 'recorded' } })
    })
    await importFrames(recorder, file, new AbortController().signal)
    rmSync(path.dirname(file), { recursive: true })
    assert.deepEqual([recorder.frames.count, recorder.frames.get(2)?.method], [1, 'recorded'])
  })
})
