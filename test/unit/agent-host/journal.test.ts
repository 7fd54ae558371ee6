import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, rmSync, statSync, symlinkSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import fc from 'fast-check'
import { Journal } from '../../../src/agent-host/journal.ts'

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
