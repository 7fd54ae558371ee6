import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { ConversationStorage } from '../../../src/history/conversation-storage.ts'
import { REOPEN_AFTER_MS, StorageTrouble } from '../../../src/history/database.ts'
import { StoredUnsentTexts, type UnsentText } from '../../../src/history/unsent-texts.ts'
import type { Windows } from '../../../src/history/windows.ts'
import { hasSqlite } from '../../support/changes-on-disk.ts'
import { unsentTextsContract } from '../../support/contracts/unsent-texts.ts'
import { SmallDisk } from '../../support/small-disk.ts'

describe('the unsent texts in the database', () => {
  let directory = ''
  const opened = new Map<StoredUnsentTexts, ConversationStorage & { own: Windows }>()
  /** while old texts are being removed */
  let meanwhile = () => {}
  before(function () {
    if (!hasSqlite) this.skip()
  })
  beforeEach(() => {
    directory = mkdtempSync(path.join(tmpdir(), 'unsent-'))
    meanwhile = () => {}
  })
  afterEach(() => {
    for (const texts of opened.keys()) close(texts)
    rmSync(directory, { recursive: true, force: true })
  })

  function open(workspace = 'one', folder = directory, now = Date.now): StoredUnsentTexts {
    const storage = new ConversationStorage({
      now,
      file: path.join(folder, 'conversations.db'),
      trouble: new StorageTrouble(() => {}),
      maxAgeMs: () => 30 * 86_400_000,
      pinned: () => {
        meanwhile()
        return new Set(['a/2'])
      },
    })
    const { database, windows } = storage
    const own = windows.another()
    const texts = new StoredUnsentTexts({ database, windows: own, workspace, now })
    opened.set(texts, Object.assign(storage, { own }))
    return texts
  }
  /** As if it had been silent for long. */
  const kill = (texts: StoredUnsentTexts) => {
    const { database, own } = opened.get(texts)!
    database.run('DELETE FROM windows WHERE id = ?', own.own)
  }

  unsentTextsContract(() => ({
    open: workspace => open(workspace),
    kill: texts => kill(texts as StoredUnsentTexts),
  }))

  const text = (id: string, more: Partial<UnsentText> = {}): UnsentText => ({
    ...{ id, kind: 'draft', conversation: 'a/1', text: `{"text":"${id}","chips":[]}` },
    ...more,
  })
  const ids = (texts: readonly UnsentText[]) => texts.map(({ id }) => id)

  it('are written again if the file was damaged', () => {
    const one = open()
    one.write([text('a'), text('b')], new Map())
    const { database } = opened.get(one)!
    database.run('DELETE FROM unsent')
    one.write([text('a'), text('b')], new Map())
    assert.deepEqual([one.takeLoss(), database.all('SELECT id FROM unsent').length], [false, 2])
  })

  /** As if the window had closed. */
  function close(texts: StoredUnsentTexts): void {
    const storage = opened.get(texts)!
    for (const one of [texts, storage.own, storage]) one.dispose()
    opened.delete(texts)
  }

  it('are taken over later if the database is in use when the window starts', () => {
    const one = open()
    one.write([text('a')], new Map())
    close(one)
    const { DatabaseSync } = process.getBuiltinModule('node:sqlite')
    const other = new DatabaseSync(path.join(directory, 'conversations.db'))
    other.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN IMMEDIATE; DELETE FROM clock; COMMIT')
    let time = 0
    const two = open('one', directory, () => time)
    assert.deepEqual([two.takeOver(), two.hasOthers], [[], true])
    other.close()
    time += REOPEN_AFTER_MS
    assert.deepEqual([ids(two.takeOver()), two.hasOthers], [['a'], false])
  })

  it('are taken over from a file that turns out to be damaged', () => {
    const one = open()
    one.write([text('a', { items: 'i' })], new Map([['i', '["x"]']]))
    const file = path.join(directory, 'conversations.db')
    const { database } = opened.get(one)!
    const [found] = database.all("SELECT rootpage FROM sqlite_schema WHERE name = 'windows'")
    const [{ page_size: bytes } = {}] = database.all('PRAGMA page_size')
    close(one)
    const pages = readFileSync(file)
    pages.fill(7, (Number(found?.rootpage) - 1) * Number(bytes), Number(found?.rootpage) * Number(bytes))
    writeFileSync(file, pages)
    const two = open()
    opened.get(two)!.database.run("UPDATE unsent SET owner = 'gone'")
    assert.deepEqual(ids(two.takeOver()), ['a'])
    assert.equal(two.items('i'), '["x"]')
  })

  it('go with the conversations that are too old, if no window has them and theirs is not pinned', () => {
    const day = 86_400_000
    let now = Date.now()
    const one = open('one', directory, () => now)
    const two = open('two', directory, () => now)
    one.write([text('here', { items: 'i' })], new Map([['i', '["x"]']]))
    two.write([text('gone', { items: 'j' }), text('pinned', { conversation: 'a/2' })], new Map([['j', '[]']]))
    one.handOver([text('never opened')], new Map())
    close(two)
    const storage = opened.get(one)!
    const left = () => storage.database.all('SELECT id FROM unsent ORDER BY id').map(({ id }) => id)
    for (let days = 0; days < 29; days++) {
      now += day
      storage.trim()
    }
    assert.deepEqual(left(), ['gone', 'here', 'never opened', 'pinned'])
    for (let days = 0; days < 3; days++) {
      now += day
      storage.trim()
    }
    assert.deepEqual(left(), ['here', 'pinned'])
    assert.deepEqual([one.items('i'), one.items('j')], ['["x"]', undefined])
  })

  for (const [how, end] of [
    ['closes', close],
    ['crashes', kill],
  ] as const)
    it(`stay for as long after their window, which had them unchanged for longer, ${how}`, () => {
      let now = Date.now()
      const one = open('one', directory, () => now)
      const two = open('two', directory, () => now)
      one.write([text('a')], new Map())
      two.write([text('b')], new Map())
      const storage = opened.get(two)!
      const pass = (days: number) => {
        for (; days > 0; days--) {
          now += 86_400_000
          storage.trim()
        }
      }
      pass(40)
      end(one)
      pass(28)
      assert.deepEqual(ids(open('one', directory, () => now).takeOver()), ['a'])
    })

  it('stay with a window that takes them over, or was only silent, while old ones are removed', () => {
    let now = Date.now()
    const one = open('one', directory, () => now)
    const two = open('two', directory, () => now)
    const three = open('three', directory, () => now)
    one.write([text('a', { items: 'i' })], new Map([['i', '["x"]']]))
    two.write([text('b')], new Map())
    close(one)
    kill(two)
    const storage = opened.get(two)!
    for (let days = 0; days < 33; days++) {
      now += 86_400_000
      opened.get(three)!.clock.look()
    }
    const next = open('one', directory, () => now)
    meanwhile = () => assert.deepEqual(ids(next.takeOver()), ['a'])
    three.handOver([text('never opened')], new Map())
    storage.trim()
    const left = storage.database.all('SELECT id FROM unsent ORDER BY id').map(({ id }) => id)
    assert.deepEqual([left, next.items('i')], [['a', 'b', 'never opened'], '["x"]'])
  })

  it('write nothing but what has changed', () => {
    const one = open()
    one.write([text('a', { items: 'i' }), text('b')], new Map([['i', '[]']]))
    const { database } = opened.get(one)!
    const changes = () => Number(database.all('SELECT total_changes() AS n')[0]?.n)
    const before = changes()
    one.write([text('a', { items: 'i' }), text('b', { text: '{"text":"B","chips":[]}' })], new Map())
    assert.equal(changes() - before, 1)
  })

  describe('on a full disk', () => {
    const disk = hasSqlite ? SmallDisk.create(4) : undefined
    before(function () {
      // mounting needs the rights of an administrator
      if (!disk) this.skip()
    })
    afterEach(() => disk?.empty())
    after(() => disk?.dispose())

    it('are shown, and belong to the window as soon as they can be written', () => {
      const folder = mkdtempSync(path.join(disk!.folder, 'unsent-'))
      const one = open('one', folder)
      one.write([text('a', { items: 'i' })], new Map([['i', '["x"]']]))
      close(one)
      disk!.fill()
      const two = open('one', folder)
      assert.deepEqual(ids(two.takeOver()), ['a'])
      assert.deepEqual([two.takeOver(), two.items('i')], [[], '["x"]'])
      const large = '"'.padEnd(500_000, 'x')
      assert.equal(
        two.write([text('a', { items: 'i' }), text('b', { items: 'j' })], new Map([['j', `[${large}"]`]])),
        false,
      )
      disk!.empty()
      opened.get(two)!.database.dispose()
      const three = open('one', folder)
      assert.deepEqual(ids(three.takeOver()), ['a'])
    })

    it('are written without new items if there is no space for those', () => {
      const folder = mkdtempSync(path.join(disk!.folder, 'unsent-'))
      const one = open('one', folder)
      one.write([text('a', { items: 'i' })], new Map([['i', '["x"]']]))
      disk!.fill(200_000)
      const texts = [text('a', { text: '{"text":"A"}', items: 'j' }), text('b')]
      const items = new Map([['j', `["${'y'.repeat(1_000_000)}"]`]])
      assert.equal(one.write(texts, items), false)
      const rows = () => opened.get(one)!.database.all('SELECT id, text, items FROM unsent ORDER BY id')
      const stored = [
        { id: 'a', text: '{"text":"A"}', items: 'i' },
        { id: 'b', text: texts[1]!.text, items: null },
      ]
      assert.deepEqual(JSON.parse(JSON.stringify(rows())), stored)
      disk!.empty()
      assert.equal(one.write(texts, items), true)
      assert.deepEqual([one.items('i'), one.items('j')], [undefined, items.get('j')])
    })

    it("don't come back if they were sent or removed meanwhile", () => {
      const folder = mkdtempSync(path.join(disk!.folder, 'unsent-'))
      const one = open('one', folder)
      one.write([text('a', { items: 'i' }), text('b')], new Map([['i', '["x"]']]))
      close(one)
      disk!.fill()
      let time = 0
      const two = open('one', folder, () => time)
      assert.deepEqual(ids(two.takeOver()), ['a', 'b'])
      assert.equal(two.write([], new Map()), false)
      disk!.empty()
      time += REOPEN_AFTER_MS
      assert.equal(two.write([], new Map()), true)
      assert.deepEqual([two.takeOver(), two.items('i')], [[], undefined])
    })
  })
})
