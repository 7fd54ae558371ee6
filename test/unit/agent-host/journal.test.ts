import assert from 'node:assert/strict'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { mock } from 'node:test'
import fc from 'fast-check'
import { Journal, type JournalFrame, readJournal } from '../../../src/agent-host/journal.ts'
import { JOURNAL_RETRY_MS } from '../../../src/common/limits.ts'

describe("the journal of an agent's frames", () => {
  let folder: string
  const journals: Journal[] = []
  before(() => {
    folder = mkdtempSync(path.join(os.tmpdir(), 'parley-journal-'))
  })
  afterEach(() => {
    for (const journal of journals.splice(0)) journal.dispose()
  })
  after(() => rmSync(folder, { recursive: true, force: true }))

  const create = (options: { file?: string; maxMemory?: number; maxFile?: number } = {}) => {
    const file = path.join(folder, options.file ?? 'one.journal')
    const journal = new Journal({ maxMemory: 10, maxFile: 20, ...options, file })
    journals.push(journal)
    return { journal, file }
  }
  const frame = (text: string) => Buffer.from(text)

  it('keeps frames in memory, then in a private file, then asks to read nothing more', () => {
    const { journal, file } = create()
    journal.append(frame('12345678'), true)
    assert.ok(!existsSync(file))
    journal.append(frame('in the file'), true)
    assert.ok(existsSync(file))
    if (process.platform !== 'win32') assert.equal(statSync(file).mode & 0o777, 0o600)
    assert.equal(journal.isFull, false)
    journal.append(frame('also there'), true)
    journal.append(frame('more'), true)
    assert.equal(journal.isFull, true)
    assert.deepEqual(
      [1, 2, 3, 4].map(number => journal.read(number).toString()),
      ['12345678', 'in the file', 'also there', 'more'],
    )
    journal.confirm(3)
    assert.equal(journal.isFull, false)
    assert.ok(!existsSync(file), 'the file is deleted when it has only confirmed frames')
    assert.equal(journal.read(4).toString(), 'more')
    assert.throws(() => journal.read(3), RangeError)
  })

  it("stays in memory and is full if the file can't be written", () => {
    const { journal } = create({ file: 'missing/one.journal' })
    for (const text of ['12345678', 'abc', 'def']) journal.append(frame(text), true)
    assert.equal(journal.isFull, true)
    assert.equal(journal.read(3).toString(), 'def')
  })

  it('loses nothing if the disk is full, and asks to read nothing more until some is confirmed', function () {
    // its writes fail as on a full disk
    if (!existsSync('/dev/full')) this.skip()
    const link = path.join(folder, 'full.journal')
    symlinkSync('/dev/full', link)
    const { journal } = create({ file: 'full.journal' })
    const texts = ['12345678', 'abc', 'def', 'ghi']
    for (const text of texts) journal.append(frame(text), true)
    assert.equal(journal.isFull, true)
    assert.deepEqual(
      [1, 2, 3, 4].map(number => journal.read(number).toString()),
      texts,
    )
    journal.confirm(3)
    assert.equal(journal.isFull, false)
    assert.equal(journal.read(4).toString(), 'ghi')
  })

  it('tells whether it keeps something of a conversation', () => {
    const { journal } = create()
    journal.append(frame('response'), false)
    assert.equal(journal.keepsConversation, false)
    journal.append(frame('update'), true)
    journal.append(frame('response'), false)
    journal.confirm(1)
    assert.equal(journal.keepsConversation, true)
    journal.confirm(2)
    assert.equal(journal.keepsConversation, false)
    assert.equal(journal.last, 3)
  })

  describe('that outlives its process', () => {
    const outliving = (state = { isOn: true, text: '{}' }) => ({
      isOn: () => state.isOn,
      state: () => state.text,
      delayMs: () => 100,
      written: (frames: readonly JournalFrame[]) => frames.map(({ bytes }) => bytes),
    })
    const createOutliving = (name: string, state?: { isOn: boolean; text: string }) => {
      const file = path.join(folder, name)
      rmSync(file, { force: true })
      const journal = new Journal({ file, maxMemory: 1000, maxFile: 10_000, outliving: outliving(state) })
      journals.push(journal)
      return { journal, file }
    }
    const texts = (file: string) => {
      const contents = readJournal(file)
      const bytes = readFileSync(file)
      const said = contents?.frames.map(({ offset, length }) => `${bytes.subarray(offset, offset + length)}`)
      return contents && { state: contents.state, before: contents.before, said }
    }
    beforeEach(() => mock.timers.enable({ apis: ['setTimeout'] }))
    afterEach(() => mock.timers.reset())

    it('soon writes unconfirmed frames together, after the state that they need', () => {
      const state = { isOn: true, text: '{"a":1}' }
      const { journal, file } = createOutliving('outliving', state)
      for (const text of ['one', 'two', 'three']) journal.append(frame(text), true)
      journal.confirm(1)
      mock.timers.tick(99)
      assert.ok(!existsSync(file))
      mock.timers.tick(1)
      assert.deepEqual(texts(file), { state: '{"a":1}', before: 1, said: ['two', 'three'] })
      if (process.platform !== 'win32') assert.equal(statSync(file).mode & 0o777, 0o600)
      state.text = '{"a":2}'
      journal.stateChanged()
      journal.append(frame('four'), true)
      mock.timers.tick(100)
      assert.deepEqual(texts(file), { state: '{"a":2}', before: 1, said: ['two', 'three', 'four'] })
      journal.confirm(4)
      mock.timers.tick(100)
      assert.deepEqual(texts(file), { state: '{"a":2}', before: 4, said: [] })
      journal.append(frame('five'), true)
      journal.dispose(true)
      assert.deepEqual(texts(file), { state: '{"a":2}', before: 4, said: ['five'] })
    })

    it('writes nothing as long as it need not, and says so when it need not anymore', () => {
      const state = { isOn: false, text: '1' }
      const { journal, file } = createOutliving('off', state)
      journal.append(frame('one'), true)
      mock.timers.tick(1000)
      assert.ok(!existsSync(file))
      state.isOn = true
      journal.stateChanged()
      mock.timers.tick(100)
      assert.equal(texts(file)?.said?.length, 1)
      Object.assign(state, { isOn: false, text: '2' })
      journal.stateChanged()
      assert.equal(texts(file)?.state, '2')
      journal.confirm(1)
      assert.ok(!existsSync(file))
    })

    it('goes on with what another process has written, up to the first record that is not whole', () => {
      const { journal, file } = createOutliving('other', { isOn: true, text: '"state"' })
      journal.append(frame('one'), true)
      journal.flush()
      journal.append(frame('two'), true)
      journal.dispose(true)
      const whole = readFileSync(file)
      for (let length = 0; length <= whole.length; length++) {
        writeFileSync(file, whole.subarray(0, length))
        const contents = readJournal(file)
        if (!contents) continue
        const next = new Journal({ file, maxMemory: 10, maxFile: 100, outliving: outliving() }, contents)
        assert.ok(next.last >= (length === whole.length ? 2 : length > whole.length - 12 ? 1 : 0))
        const all = Array.from({ length: next.last }, (_, i) => next.read(i + 1).toString())
        assert.deepEqual(all, ['one', 'two'].slice(0, next.last))
        next.append(frame('more'), true)
        next.flush()
        assert.deepEqual(texts(file)?.said, [...all, 'more'])
        next.confirm(1)
        next.dispose(true)
      }
      const damaged = Buffer.from(whole)
      damaged[whole.length - 1]! ^= 1
      writeFileSync(file, damaged)
      assert.deepEqual(texts(file)?.said, ['one'])
    })

    it('keeps all in memory while the disk is full, and writes it once it is not', () => {
      const state = { isOn: true, text: '{}' }
      const { journal, file } = createOutliving('missing-yet/one', state)
      for (const text of ['one', 'two']) journal.append(frame(text), true)
      mock.timers.tick(100)
      assert.equal(journal.read(2).toString(), 'two')
      assert.equal(journal.isFull, false)
      mkdirSync(path.dirname(file))
      mock.timers.tick(JOURNAL_RETRY_MS)
      assert.deepEqual(texts(file)?.said, ['one', 'two'])
    })

    it('leaves the last frames out as long as what is written of them depends on the next', () => {
      const { file } = createOutliving('held')
      const held = { count: 1 }
      const journal = new Journal({
        ...{ file, maxMemory: 1000, maxFile: 10_000 },
        outliving: {
          ...outliving(),
          written: (frames, isLast) =>
            frames.slice(0, isLast ? frames.length : held.count).map(({ bytes }) => bytes),
        },
      })
      journals.push(journal)
      for (const text of ['one', 'two']) journal.append(frame(text), true)
      mock.timers.tick(100)
      assert.deepEqual(texts(file)?.said, ['one'])
      mock.timers.tick(100)
      assert.deepEqual(texts(file)?.said, ['one', 'two'], 'nothing more has come')
    })
  })

  it('gives back every frame once it was appended, until it is confirmed', () => {
    const step = fc.oneof(
      fc.record({ append: fc.uint8Array({ minLength: 1, maxLength: 12 }) }),
      fc.record({ confirm: fc.nat(60) }),
    )
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), steps => {
        const { journal } = create({ maxFile: 100 })
        const all: Uint8Array[] = []
        let confirmed = 0
        for (const one of steps) {
          if ('append' in one) {
            all.push(one.append)
            journal.append(Buffer.from(one.append), true)
          } else {
            journal.confirm(one.confirm)
            confirmed = Math.max(confirmed, Math.min(one.confirm, all.length))
          }
          assert.equal(journal.last, all.length)
          assert.equal(journal.confirmed, confirmed)
          for (let number = confirmed + 1; number <= all.length; number++)
            assert.deepEqual([...journal.read(number)], [...all[number - 1]!])
        }
        journal.dispose()
      }),
    )
  })
})
