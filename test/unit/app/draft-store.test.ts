import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { mock } from 'node:test'
import fc from 'fast-check'
import { DraftStore, editKey } from '../../../src/app/storage/draft-store.ts'
import { EMPTY_DRAFT } from '../../../src/common/draft.ts'
import { REWRITE_AFTER_MS } from '../../../src/common/limits.ts'
import type { Attachment } from '../../../src/conversation/attachment.ts'
import { MemoryUnsentTexts, UnsentTable } from '../../support/memory-unsent-texts.ts'
import { scaledRuns } from '../../support/property-tests.ts'

describe('DraftStore', () => {
  let table: UnsentTable
  /** the ids of the running windows; removing one simulates a crash */
  const running = new Set<string>()
  const opened: DraftStore[] = []
  let last = ''
  const open = (workspace = 'w') => {
    last = randomUUID()
    running.add(last)
    const texts = new MemoryUnsentTexts(table, { own: last, workspace, isListed: id => running.has(id) })
    const store = new DraftStore(texts)
    opened.push(store)
    return store
  }
  /** The store of the next window. */
  const reopen = () => {
    running.delete(last)
    return open()
  }
  const image = (id: string): Attachment => ({
    id,
    label: 'Image',
    icon: 'file-media',
    content: { type: 'image', data: 'AAAA', mimeType: 'image/png' },
  })
  const file = (id: string): Attachment => ({
    id,
    label: 'a.ts',
    icon: 'file-code',
    content: { type: 'file', uri: 'file:///a.ts' },
  })

  beforeEach(() => {
    table = new UnsentTable()
  })
  afterEach(() => {
    for (const store of opened.splice(0)) store.dispose()
    running.clear()
  })

  it('has what is written while the disk is full, and stores it once there is space', () => {
    mock.timers.enable({ apis: ['setTimeout'] })
    try {
      const drafts = open()
      const draft = (text: string) => ({ text, chips: [], items: [image(text)] })
      drafts.set('one', draft('before'))
      table.isWritable = false
      drafts.set('one', draft('meanwhile'))
      drafts.save('two', [{ id: 'p1', draft: draft('a prompt') }])
      assert.deepEqual(drafts.get('one'), draft('meanwhile'))
      assert.deepEqual(drafts.prompts('two'), [draft('a prompt')])
      mock.timers.tick(REWRITE_AFTER_MS)
      // as if it had been killed while the disk was full
      const killed = new DraftStore(new MemoryUnsentTexts(table.copy()))
      assert.deepEqual(killed.get('one'), draft('before'))
      table.isWritable = true
      mock.timers.tick(REWRITE_AFTER_MS)
      assert.equal(table.items.size, 2)
      const next = reopen()
      assert.deepEqual(next.get('one'), draft('meanwhile'))
      assert.deepEqual(next.claim('two'), [{ id: 'p1', draft: draft('a prompt') }])
    } finally {
      mock.timers.reset()
    }
  })

  it('hands prompts with their items over to the window that continues their session', () => {
    const one = open('workspace one')
    const draft = (text: string) => ({ text, chips: [], items: [image(text)] })
    one.save('a/1', [
      { id: 'p1', draft: draft('one') },
      { id: 'p2', draft: draft('two') },
    ])
    assert.equal(one.handOver('a/1', [{ id: 'p2', draft: draft('two') }]), true)
    one.save('a/1', [{ id: 'p1', draft: draft('one') }])
    const two = open('workspace two')
    assert.deepEqual(two.arrive('a/1'), [{ id: 'p2', draft: draft('two') }])
    assert.deepEqual(two.arrive('a/1'), [])
    assert.deepEqual(two.prompts('a/1'), [draft('two')])
    table.isWritable = false
    assert.equal(two.handOver('a/1', two.claim('a/1')), false)
  })

  it('reports a prompt that moves to another conversation for both', () => {
    const drafts = open()
    const draft = { text: 'a prompt', chips: [], items: [file('x')] }
    drafts.save('before', [{ id: 'p1', draft }])
    const changed: string[] = []
    drafts.onDidChangeItems(key => changed.push(key))
    drafts.save('after', [{ id: 'p1', draft }])
    assert.deepEqual(changed, ['before', 'after'])
    assert.deepEqual(drafts.prompts('before'), [])
    assert.deepEqual(drafts.prompts('after'), [draft])
  })

  it('restores drafts with chips and images', () => {
    const drafts = open()
    const draft = { text: 'see @a.ts', chips: [{ from: 4, to: 9, id: 'x' }], items: [image('y'), file('x')] }
    drafts.set('one', draft)
    drafts.setText('two', 'plain', [])
    drafts.dispose()
    const again = open()
    assert.deepEqual(again.get('one'), draft)
    assert.deepEqual(again.get('two'), { text: 'plain', chips: [], items: [] })
    assert.deepEqual(again.get('three'), { text: '', chips: [], items: [] })
  })

  it("removes a draft when it's sent", () => {
    const drafts = open()
    drafts.set('one', { text: 'a', chips: [], items: [image('y')] })
    assert.equal(table.items.size, 1)
    drafts.set('one', { text: '', chips: [], items: [] })
    drafts.dispose()
    assert.equal(table.items.size, 0)
    assert.deepEqual(open().get('one'), { text: '', chips: [], items: [] })
  })

  it('keeps an image without text', () => {
    const drafts = open()
    drafts.setItems('one', [image('y')])
    drafts.setText('one', '', [])
    drafts.dispose()
    assert.deepEqual(
      open()
        .get('one')
        .items.map(({ id }) => id),
      ['y'],
    )
  })

  it('moves a prompt out of its draft and back in a single write', () => {
    const drafts = open()
    const draft = { text: 'see @a.ts', chips: [{ from: 4, to: 9, id: 'x' }], items: [file('x'), image('y')] }
    drafts.set('one', draft)
    drafts.save('one', [{ id: 'p1', draft }], EMPTY_DRAFT)
    assert.deepEqual([drafts.get('one'), drafts.claim('one')], [EMPTY_DRAFT, []])
    const next = reopen()
    assert.deepEqual(next.get('one'), EMPTY_DRAFT)
    assert.deepEqual(next.claim('one'), [{ id: 'p1', draft }])
    assert.deepEqual(next.claim('one'), [], 'once')
    next.save('two', [{ id: 'p1', draft }])
    next.save('two', [], { ...draft, text: 'see @a.ts, and more' })
    const last = reopen()
    assert.deepEqual([last.claim('one'), last.claim('two')], [[], []])
    assert.equal(last.get('two').text, 'see @a.ts, and more')
    last.set('two', EMPTY_DRAFT)
    assert.equal(table.items.size, 0)
  })

  it('stores prompts that are edited in the conversation without making them its draft', () => {
    const first = open()
    first.setItems(editKey('a/1', 'p1'), [image('x')])
    first.setText(editKey('a/1', 'p1'), 'one', [])
    first.setText(editKey('a/1', 'p2'), 'two', [])
    first.setText(editKey('a/2', 'p1'), 'other', [])
    first.dispose()
    const next = reopen()
    assert.deepEqual(next.edits('a/1'), [
      { entryId: 'p1', draft: { text: 'one', chips: [], items: [image('x')] } },
      { entryId: 'p2', draft: { text: 'two', chips: [], items: [] } },
    ])
    assert.deepEqual(next.keys(), [])
    assert.deepEqual(next.get('a/1'), EMPTY_DRAFT)
    next.set(editKey('a/1', 'p2'), EMPTY_DRAFT)
    assert.deepEqual(
      next.edits('a/1').map(({ entryId }) => entryId),
      ['p1'],
    )
    next.forget('a/1')
    assert.deepEqual(next.edits('a/1'), [])
    assert.equal(next.edits('a/2').length, 1)
    assert.equal(table.items.size, 0)
  })

  it('leaves nothing in any file of what was written for a deleted session', () => {
    const drafts = open()
    const draft = (text: string) => ({ text, chips: [], items: [image(text)] })
    drafts.set('one', draft('secret draft'))
    drafts.save('one', [{ id: 'p1', draft: draft('secret prompt') }])
    drafts.set('two', draft('kept'))
    const next = reopen()
    assert.equal(table.items.size, 3)
    next.forget('one')
    const stored = JSON.stringify([table.rows, [...table.items]])
    assert.doesNotMatch(stored, /secret/)
    assert.match(stored, /kept/)
    assert.equal(table.items.size, 1)
    assert.deepEqual([next.keys(), next.claim('one')], [['two'], []])
  })

  it("doesn't touch the drafts and prompts of a running window", () => {
    const first = open()
    const draft = { text: 'mine', chips: [], items: [] }
    first.save('one', [{ id: 'p1', draft }], EMPTY_DRAFT)
    first.set('two', draft)
    const windows = [...running]
    const second = open()
    assert.deepEqual([second.claim('one'), second.get('two')], [[], EMPTY_DRAFT])
    second.set('two', { text: 'yours', chips: [], items: [] })
    first.dispose()
    running.delete(windows[0] ?? '')
    const reported: string[] = []
    second.onDidTakeOver(key => reported.push(key))
    second.takeOver()
    assert.deepEqual(reported, ['one', 'two'])
    assert.deepEqual(second.claim('one'), [{ id: 'p1', draft }])
    // the composer has its own draft
    assert.deepEqual(
      second.claim('two').map(prompt => prompt.draft),
      [draft],
    )
    assert.equal(second.get('two').text, 'yours')
  })

  it("doesn't send a prompt that another window took over", () => {
    const first = open()
    const draft = { text: 'p', chips: [], items: [] }
    first.save('one', [{ id: 'p1', draft }])
    assert.equal(first.holds('p1'), true)
    const second = reopen()
    assert.deepEqual(second.claim('one'), [{ id: 'p1', draft }])
    assert.equal(first.holds('p1'), false)
    first.save('one', [
      { id: 'p1', draft },
      { id: 'p2', draft },
    ])
    assert.equal(first.holds('p2'), true)
    first.dispose()
    second.takeOver()
    assert.deepEqual(
      second.claim('one').map(({ id }) => id),
      ['p2'],
    )
  })

  it('after another window took over the stored drafts, has only later ones', () => {
    mock.timers.enable({ apis: ['setTimeout'] })
    try {
      const late = open()
      const draft = (text: string) => ({ text, chips: [], items: [image(text)] })
      late.set('one', draft('one'))
      late.set('two', draft('two'))
      late.save('two', [{ id: 'p1', draft: draft('stored') }])
      table.isWritable = false
      const prompts = ['p1', 'p2'].map(id => ({ id, draft: draft(id === 'p1' ? 'stored' : 'not stored') }))
      late.save('two', prompts)
      table.isWritable = true
      const other = reopen()
      late.setText('one', 'typed later', [])
      assert.equal(late.handOver('two', [prompts[0]!]), true)
      assert.deepEqual([late.holds('p1'), late.holds('p2')], [false, true])
      mock.timers.tick(REWRITE_AFTER_MS)
      assert.deepEqual([late.get('one').text, late.get('two').text], ['typed later', ''])
      assert.deepEqual(late.prompts('two'), [draft('not stored')])
      assert.deepEqual([other.get('one'), other.claim('two')], [draft('one'), [prompts[0]]])
      other.dispose()
      late.dispose()
      const texts = table.rows.map(row => JSON.parse(row.text).text)
      assert.deepEqual(texts.sort(), ['not stored', 'one', 'stored', 'two', 'typed later'])
    } finally {
      mock.timers.reset()
    }
  })

  it('has a prompt again that comes back from the window that took it over', () => {
    const draft = { text: 'a prompt', chips: [], items: [] }
    const late = open()
    late.save('one', [{ id: 'p1', draft }])
    const lateId = last
    const other = reopen()
    assert.equal(late.holds('p1'), false)
    assert.equal(other.handOver('one', other.claim('one')), true)
    other.save('one', [])
    assert.deepEqual(late.arrive('one'), [{ id: 'p1', draft }])
    assert.equal(late.holds('p1'), true)
    // each takes over what the other one had, before that one knows
    other.save('two', [{ id: 'p2', draft }])
    running.delete(last)
    late.takeOver()
    running.delete(lateId)
    other.takeOver()
    const ids = (store: DraftStore) => ['one', 'two'].flatMap(key => store.claim(key).map(({ id }) => id))
    assert.deepEqual([ids(other), late.holds('p1'), late.holds('p2')], [['p1', 'p2'], false, false])
    assert.deepEqual(table.prompts.map(({ id }) => id).sort(), ['p1', 'p2'])
  })

  it('keeps a hundred drafts, and deletes older ones with their images', () => {
    const drafts = open()
    for (let i = 0; i <= 100; i++) drafts.set(`k${i}`, { text: `t${i}`, chips: [], items: [image('y')] })
    assert.equal(drafts.get('k0').text, '')
    assert.equal(drafts.get('k100').text, 't100')
    assert.equal(table.items.size, 100)
    drafts.dispose()
  })

  it('restores the text and the items of a draft that an earlier build stored', () => {
    open().set('one', { text: 'see @a.ts', chips: [{ from: 4, to: 9, id: 'x' }], items: [file('x')] })
    opened.splice(0).forEach(store => void store.dispose())
    for (const row of table.rows) row.text = row.text.replace('"chips":', '"marks":')
    assert.deepEqual(open().get('one'), { text: 'see @a.ts', chips: [], items: [file('x')] })
  })

  it('restores a draft as text if its items are missing or damaged', () => {
    const drafts = open()
    drafts.set('one', { text: 'see @a.ts', chips: [{ from: 4, to: 9, id: 'x' }], items: [file('x')] })
    drafts.dispose()
    for (const name of table.items.keys()) table.items.set(name, '[{"id": 7}]')
    assert.deepEqual(open().get('one'), { text: 'see @a.ts', chips: [], items: [] })
  })

  it('accepts any key and text', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1 }), fc.string({ minLength: 1 }), (key, text) => {
        const drafts = open()
        drafts.set(key, { text, chips: [], items: [file('x')] })
        drafts.dispose()
        assert.equal(open().get(key).text, text)
      }),
      { numRuns: scaledRuns(30) },
    )
  })
})
