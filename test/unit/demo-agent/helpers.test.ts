import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import fs from 'node:fs/promises'
import path from 'node:path'
import fc from 'fast-check'
import { proposeEdit } from '../../../src/demo-agent/scenes/files.ts'
import { interruptions } from '../../../src/demo-agent/session.ts'
import { type SessionMeta, SessionStore, stateDirectory } from '../../../src/demo-agent/store.ts'
import { promptTitle } from '../../../src/demo-agent/take-turn.ts'
import { fenced, ToolCall } from '../../../src/demo-agent/tool-call.ts'
import { pieces, TurnCancelled } from '../../../src/demo-agent/turn.ts'
import { temporary } from './support.ts'

const META: SessionMeta = {
  sessionId: '3f0c1c1e-6f0e-4c0e-9a55-0d3c2b1a0f9e',
  cwd: '/workspace',
  additionalDirectories: [],
  updatedAt: '2026-01-01T00:00:00.000Z',
  prompts: 1,
  settings: { mode: 'ask', model: 'demo-steady', thoughts: true },
  credits: 0,
}

describe('demo agent: helpers', () => {
  it('split any text into pieces that join to the same text', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary' }), text => pieces(text).join('') === text))
    assert.deepEqual(pieces('one two\n\nthree'), ['one ', 'two\n\n', 'three'])
  })

  it('change only their own comment', () => {
    const proposed = (file: string, text: string) =>
      proposeEdit(file, text) ?? assert.fail(`no edit for ${file}`)
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), text => {
        const once = proposed('a.ts', text)
        assert.ok(once.startsWith(text))
        assert.equal(proposed('a.ts', once), once.replace(/1 visit(?=\r?\n$)/, '2 visits'))
      }),
    )
    assert.equal(proposed('a.py', 'x = 1\r\n'), 'x = 1\r\n\r\n# The demo agent was here: 1 visit\r\n')
    assert.equal(proposed('a.css', ''), '/* The demo agent was here: 1 visit */\n')
    assert.equal(proposeEdit('package.json', '{}'), undefined)
  })

  it('derive the title of a session from its first line', () => {
    const resource = { uri: 'file:///p/my%20planets.js', text: '' }
    assert.equal(
      promptTitle([
        { type: 'text', text: 'Look at ' },
        { type: 'resource', resource },
        { type: 'text', text: ' and ' },
        { type: 'resource_link', name: 'sun.js', uri: 'file:///p/sun.js' },
        { type: 'text', text: ', please\nNow' },
        { type: 'image', data: '', mimeType: 'image/png' },
      ]),
      'Look at my planets.js and sun.js, please',
    )
    assert.equal(promptTitle([{ type: 'resource', resource }]), 'Untitled')
    assert.equal([...promptTitle([{ type: 'text', text: '🪐'.repeat(100) }])].length, 60)
  })

  it('fence text that contains code fences', () => {
    const block = fenced('```js\n1\n```')
    assert.deepEqual(block, { type: 'content', content: { type: 'text', text: '````\n```js\n1\n```\n````' } })
  })

  it('find the state directory on every system', () => {
    assert.equal(stateDirectory({ PARLEY_DEMO_STATE: '/x' }, 'linux'), path.resolve('/x'))
    assert.match(stateDirectory({ XDG_STATE_HOME: '/s' }, 'linux'), /^[/\\]s[/\\]parley-demo-agent$/)
    assert.match(stateDirectory({}, 'darwin'), /Application Support/)
    assert.match(stateDirectory({ LOCALAPPDATA: 'C:\\L' }, 'win32'), /^C:\\L/)
  })

  it('close the tool calls that a transcript leaves open', () => {
    const ends = interruptions([
      { sessionUpdate: 'tool_call', toolCallId: 'a', title: 'A', status: 'pending' },
      { sessionUpdate: 'tool_call', toolCallId: 'b', title: 'B', status: 'pending' },
      { sessionUpdate: 'tool_call_update', toolCallId: 'a', status: 'completed' },
    ])
    assert.deepEqual(
      ends.map(update => 'toolCallId' in update && [update.toolCallId, update.status]),
      [['b', 'failed']],
    )
  })
})

describe('demo agent: store', () => {
  let directory: string
  let store: SessionStore
  let errors: unknown[] = []
  beforeEach(async () => {
    directory = await temporary('store')
    errors = []
    store = new SessionStore(directory, error => errors.push(error))
  })
  afterEach(() => fs.rm(directory, { recursive: true, force: true }))

  const file = () => path.join(directory, 'sessions', `${META.sessionId}.ndjson`)

  it('skips damaged lines, and sessions without metadata', async () => {
    store.append(META.sessionId, [{ sessionUpdate: 'plan', entries: [] }])
    assert.deepEqual(store.list(), [])
    assert.equal(store.read(META.sessionId), undefined)
    store.append(META.sessionId, [{ meta: META }])
    const damaged = ['{"sessionUpdate": "pl', 'null', '[]', '"text"', '', '{"meta":{}}']
    for (const meta of [{ cwd: 7 }, { settings: { mode: 'gone' } }, { sessionId: randomUUID() }])
      damaged.push(JSON.stringify({ meta: { ...META, title: 'damaged', ...meta } }))
    await fs.appendFile(file(), damaged.map(line => `${line}\n`).join(''))
    store.append(META.sessionId, [{ sessionUpdate: 'session_info_update', title: 'T' }])
    assert.deepEqual(store.read(META.sessionId), {
      meta: META,
      updates: [
        { sessionUpdate: 'plan', entries: [] },
        { sessionUpdate: 'session_info_update', title: 'T' },
      ],
    })
  })

  it('finds a session by the last line with its metadata', () => {
    store.append(META.sessionId, [{ meta: META }, { meta: { ...META, title: 'Second' } }])
    assert.deepEqual(
      store.list().map(({ title }) => title),
      ['Second'],
    )
    assert.equal(store.delete(META.sessionId), true)
    assert.equal(store.delete(META.sessionId), false)
    assert.deepEqual(store.list(), [])
  })

  it("reports that the disk can't be written, and continues", async () => {
    await fs.writeFile(path.join(directory, 'sessions'), 'a file where the folder should be')
    store.append(META.sessionId, [{ sessionUpdate: 'plan', entries: [] }])
    assert.equal(errors.length, 1)
    assert.deepEqual(store.list(), [])
  })
})

describe('demo agent: tool calls', () => {
  it("stay open if their end couldn't be reported", async () => {
    let cancelled = true
    const call = new ToolCall({ title: 'Run', kind: 'execute' }, async () => {
      if (cancelled) throw new TurnCancelled()
    })
    await assert.rejects(call.end('failed'), TurnCancelled)
    assert.equal(call.isOpen, true)
    cancelled = false
    await call.end('completed')
    assert.equal(call.isOpen, false)
  })
})
