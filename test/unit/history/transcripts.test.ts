import { strict as assert } from 'node:assert'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { Entry } from '../../../src/conversation/state.ts'
import { readEntry, readHead, readTerminal } from '../../../src/history/transcript-schema.ts'
import { Transcripts, type TranscriptsOptions } from '../../../src/history/transcripts.ts'

const sqlite: typeof import('node:sqlite') | undefined = process.getBuiltinModule('node:sqlite')
const entry = (position: number, text: string): { position: number; entry: Entry } => ({
  position,
  entry: { kind: 'message', id: `e${position}`, turn: 1, role: 'agent', blocks: [{ type: 'text', text }] },
})

describe('Transcripts', () => {
  let directory: string
  let file: string
  let problems: string[]
  const open: Transcripts[] = []

  beforeEach(() => {
    directory = mkdtempSync(path.join(tmpdir(), 'parley-transcripts-'))
    file = path.join(directory, 'state', 'conversations.db')
    problems = []
  })
  afterEach(() => {
    for (const transcripts of open.splice(0)) transcripts.dispose()
    rmSync(directory, { recursive: true, force: true })
  })

  function make(options: Partial<TranscriptsOptions> = {}): Transcripts {
    const transcripts = new Transcripts({ file, onProblem: message => problems.push(message), ...options })
    open.push(transcripts)
    return transcripts
  }
  const textsOf = (transcripts: Transcripts, sessionId = 's') =>
    transcripts
      .read('a', sessionId)
      ?.entries.map(kept =>
        kept.kind === 'message' && kept.blocks[0]?.type === 'text' ? kept.blocks[0].text : '?',
      )

  it('goes on without SQLite, and says so once', () => {
    const transcripts = make({ sqlite: undefined })
    const write = () =>
      transcripts.write('a', 's', { replace: false, entries: [entry(0, 'x')], terminals: [] })
    assert.equal(write(), false)
    assert.equal(write(), false)
    assert.equal(transcripts.read('a', 's'), undefined)
    assert.equal(problems.length, 1)
  })

  it('takes a row that is damaged for what it is, and keeps its place', () => {
    for (const json of ['', '{', 'null', '[]', '{"kind":"message"}', '{"kind":"toString"}']) {
      const read = readEntry(json, 3)
      assert.deepEqual([read.kind, read.id], ['unknown', 'e3'], json)
    }
    assert.equal(readTerminal('{"terminalId":1}'), undefined)
    assert.deepEqual(readHead('nonsense'), {})
    assert.equal(readHead('{"title":3,"usage":{"used":1,"size":2}}').title, undefined)
    assert.equal(readHead('{"title":3,"usage":{"used":1,"size":2}}').usage?.size, 2)
  })

  describe('on disk', () => {
    before(function () {
      if (!sqlite) this.skip()
    })

    it('gives back what another window wrote', () => {
      const first = make()
      first.write('a', 's', {
        replace: false,
        entries: [entry(0, 'one'), entry(1, 'two')],
        terminals: [{ terminalId: 't', output: 'out', truncated: false }],
        head: { title: 'Title' },
      })
      first.write('a', 's', { replace: false, entries: [entry(1, 'two and more')], terminals: [] })
      const second = make()
      assert.deepEqual(textsOf(second), ['one', 'two and more'])
      assert.equal(second.read('a', 's')?.terminals[0]?.output, 'out')
      assert.equal(second.read('a', 's')?.head.title, 'Title')
      assert.equal(second.read('a', 'other'), undefined)
      assert.equal(second.read('b', 's'), undefined)
      assert.deepEqual(problems, [])
    })

    it('replaces all of one conversation, and forgets one', () => {
      const transcripts = make()
      for (const id of ['s', 'u']) {
        transcripts.write('a', id, {
          replace: false,
          entries: [entry(0, 'one'), entry(1, 'two')],
          terminals: [],
        })
      }
      transcripts.write('a', 's', { replace: true, entries: [entry(0, 'new')], terminals: [] })
      assert.deepEqual(textsOf(transcripts), ['new'])
      assert.deepEqual(textsOf(transcripts, 'u'), ['one', 'two'])
      transcripts.forget('a', 'u')
      assert.equal(transcripts.read('a', 'u'), undefined)
    })

    it('goes on without a file that is no database, and leaves it as it is', () => {
      make().dispose()
      writeFileSync(file, 'this is no database'.repeat(100))
      const transcripts = make()
      assert.equal(
        transcripts.write('a', 's', { replace: false, entries: [entry(0, 'x')], terminals: [] }),
        false,
      )
      assert.equal(problems.length, 1)
    })
  })
})
