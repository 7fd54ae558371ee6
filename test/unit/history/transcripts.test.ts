import { strict as assert } from 'node:assert'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { Entry } from '../../../src/conversation/state.ts'
import { StorageTrouble } from '../../../src/history/storage-trouble.ts'
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
    const trouble = new StorageTrouble(message => problems.push(message))
    const transcripts = new Transcripts({ file, trouble, ...options })
    open.push(transcripts)
    return transcripts
  }
  const textsOf = (transcripts: Transcripts, sessionId = 's') =>
    transcripts
      .read('a', sessionId)
      ?.entries.map(kept =>
        kept.kind === 'message' && kept.blocks[0]?.type === 'text' ? kept.blocks[0].text : '?',
      )

  it('touches no disk before it is asked for something', () => {
    make()
    assert(!existsSync(path.dirname(file)))
    assert.deepEqual(problems, [])
  })

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
    const write = (window: Transcripts, replace: boolean, ...texts: Array<[number, string]>) =>
      window.write('a', 's', {
        replace,
        entries: texts.map(([at, text]) => entry(at, text)),
        terminals: [],
      })

    it('are never mixed by two windows that have the same session', () => {
      const one = make()
      assert.equal(write(one, true, [0, 'first']), true)
      const two = make()
      assert.deepEqual(textsOf(two), ['first'])
      assert.equal(write(two, false, [1, 'of two']), true, 'it goes on with what it read')
      assert.equal(write(one, false, [1, 'of one']), false)
      const more = {
        replace: false,
        entries: [],
        terminals: [],
        texts: [{ position: 0, block: 0, text: '!' }],
      }
      assert.equal(one.write('a', 's', more), false)
      assert.deepEqual(textsOf(make()), ['first', 'of two'])
      assert.equal(write(one, true, [0, 'first'], [1, 'of one']), true, 'as a whole')
      assert.equal(write(one, false, [2, 'and more']), true)
      assert.equal(write(two, false, [2, 'of two']), false)
      textsOf(two)
      assert.equal(write(two, false, [2, 'of two']), false, 'reading it is not having it')
      assert.deepEqual(textsOf(make()), ['first', 'of one', 'and more'])
    })

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

    it('puts texts and output together that were written in pieces', () => {
      const transcripts = make()
      const nothing = { replace: false, entries: [], terminals: [] }
      transcripts.write('a', 's', {
        replace: false,
        entries: [entry(0, 'one'), entry(1, 'two')],
        terminals: [{ terminalId: 't', output: 'out', truncated: false }],
      })
      transcripts.write('a', 's', { ...nothing, texts: [{ position: 1, block: 0, text: ' and' }] })
      transcripts.write('a', 's', {
        ...nothing,
        texts: [
          { position: 1, block: 0, text: ' more' },
          { position: 0, block: 7, text: 'of no block' },
          { position: 9, block: 0, text: 'of no entry' },
        ],
        outputs: [
          { terminalId: 't', text: 'put' },
          { terminalId: 'gone', text: 'of no terminal' },
        ],
      })
      assert.deepEqual(textsOf(make()), ['one', 'two and more'])
      assert.equal(make().read('a', 's')?.terminals[0]?.output, 'output')
      const whole = { terminalId: 't', output: 'new', truncated: true }
      transcripts.write('a', 's', { replace: false, entries: [entry(1, 'three')], terminals: [whole] })
      assert.deepEqual(textsOf(make()), ['one', 'three'], 'what was appended before is in it')
      assert.equal(make().read('a', 's')?.terminals[0]?.output, 'new')
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
      transcripts.write('a', 's', {
        replace: false,
        entries: [],
        texts: [{ position: 0, block: 0, text: ' and more' }],
        terminals: [],
      })
      transcripts.write('a', 's', { replace: true, entries: [entry(0, 'new')], terminals: [] })
      assert.deepEqual(textsOf(transcripts), ['new'])
      assert.deepEqual(textsOf(transcripts, 'u'), ['one', 'two'])
      transcripts.forget('a', 'u')
      assert.equal(transcripts.read('a', 'u'), undefined)
    })

    const damaged = () =>
      readdirSync(path.dirname(file)).filter(name => /conversations\.db\.damaged-\d+$/.test(name))

    it('sets a file that is no database aside, says so, and begins anew', () => {
      mkdirSync(path.dirname(file), { recursive: true })
      const bytes = 'this is no database'.repeat(100)
      writeFileSync(file, bytes)
      assert.equal(write(make(), false, [0, 'x']), true)
      assert.deepEqual(textsOf(make()), ['x'])
      assert.equal(problems.length, 1)
      const [aside = ''] = damaged()
      assert.equal(readFileSync(path.join(path.dirname(file), aside), 'utf8'), bytes, 'nothing of it is lost')
      assert(problems[0]?.includes(aside))
    })

    it('writes a conversation as a whole again where what it wrote is lost', () => {
      let broken = false
      class Breaking extends sqlite!.DatabaseSync {
        override exec(sql: string): void {
          if (broken) throw Object.assign(new Error('database disk image is malformed'), { errcode: 11 })
          super.exec(sql)
        }
      }
      const transcripts = make({ sqlite: { ...sqlite!, DatabaseSync: Breaking } })
      assert.equal(write(transcripts, false, [0, 'first'], [1, 'second']), true)
      for (const part of ['', '-wal', '-shm']) rmSync(file + part, { force: true })
      broken = true
      assert.equal(write(transcripts, false, [2, 'third']), false)
      broken = false
      assert.equal(write(transcripts, false, [2, 'third']), false, 'what comes before is not there')
      assert.equal(write(transcripts, true, [0, 'first'], [1, 'second'], [2, 'third']), true)
      assert.deepEqual(textsOf(make()), ['first', 'second', 'third'])
    })

    it('finds damage inside of a file that opens, and loses no more than what was in it', () => {
      const first = make()
      for (let at = 0; at < 500; at++) write(first, false, [at, 'x'.repeat(100)])
      first.dispose()
      const bytes = readFileSync(file)
      bytes.fill(0xff, 8 * 4096, bytes.length - 4096)
      writeFileSync(file, bytes)
      const transcripts = make()
      assert.equal(transcripts.read('a', 's'), undefined)
      assert.equal(write(transcripts, true, [0, 'said since']), true)
      assert.deepEqual(textsOf(make()), ['said since'])
      assert.equal(damaged().length, 1)
      assert.equal(problems.length, 1)
    })
  })
})
