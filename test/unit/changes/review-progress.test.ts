import assert from 'node:assert/strict'
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ChangeTracker } from '../../../src/changes/change-tracker.ts'
import { decidedCount } from '../../../src/changes/review/review-progress.ts'
import { ChangeScope, SessionChanges } from '../../../src/changes/session-changes.ts'
import { MemoryStore, memoryTracker } from '../../support/memory-tracker.ts'
import { useTemporaryFolder } from '../editor/temporary-folder.ts'

describe('the progress of a review', () => {
  const folder = useTemporaryFolder()
  let store: MemoryStore
  /** by session: those that its conversation was in before */
  let earlier: Record<string, string[]>
  let tracker: ChangeTracker
  let all: ChangeScope
  const file = (name: string) => join(folder(), name)
  const count = (scope = all) => {
    const { decided, total } = decidedCount(tracker.progress.files(scope))
    return `${decided}/${total}`
  }
  const edit = async (session: string, name: string, ...words: string[]) => {
    const changes = new SessionChanges(tracker, session, { cwd: folder(), additionalDirectories: [] })
    for (const word of words) {
      const oldText = readFileSync(file(name), 'utf8')
      const newText = oldText.replace(word, word.toUpperCase())
      writeFileSync(file(name), newText)
      const diffs = [{ changes: [{ operation: 'modify' as const, path: file(name), oldText, newText }] }]
      await changes.tool({ toolCallId: `${name} ${word}`, begun: true, done: true }, diffs, [])
    }
    return changes
  }

  beforeEach(async () => {
    store = new MemoryStore()
    earlier = {}
    tracker = memoryTracker(undefined, store, { earlierSessions: session => earlier[session] ?? [] })
    all = new ChangeScope(tracker)
    for (const name of ['b.txt', 'a.txt']) writeFileSync(file(name), 'one\ntwo\nthree\nfour\nfive\n')
    await edit('first', 'b.txt', 'one', 'three', 'five')
    await edit('first', 'a.txt', 'two')
  })
  afterEach(() => tracker.dispose())

  it('counts each change that is kept or reverted, and lists the files in the order of the review', async () => {
    assert.equal(count(), '0/4')
    const [first] = all.hunks(file('b.txt'))
    all.keep({ hunks: { path: file('b.txt'), ids: new Set([first!.id]) } })
    assert.equal(count(), '1/4')
    await all.undo({ paths: [file('a.txt')] })
    assert.equal(count(), '2/4')
    const listed = tracker.progress
      .files(all)
      .map(({ path, undecided, kept, reverted }) => ({ path, undecided, kept, reverted }))
    assert.deepEqual(listed, [
      { path: file('a.txt'), undecided: 0, kept: 0, reverted: 1 },
      { path: file('b.txt'), undecided: 2, kept: 1, reverted: 0 },
    ])
    all.keep()
    assert.equal(count(), '4/4')
  })

  it('counts nothing twice after a decision was undone', async () => {
    const kept = all.keep({ paths: [file('b.txt')] })
    const { undone } = await all.undo({ paths: [file('a.txt')] })
    assert.equal(count(), '4/4')
    assert.deepEqual(await kept.undo(), [])
    assert.equal(count(), '1/4')
    assert.deepEqual(await tracker.review.restore(undone!.id), [])
    assert.equal(count(), '0/4')
    // the decision stands if the file has changed since
    const again = all.keep({ paths: [file('b.txt')] })
    await edit('first', 'b.txt', 'two')
    assert.deepEqual(await again.undo(), [file('b.txt')])
    assert.equal(count(), '3/5')
  })

  it("counts neither changes that another program reverts, nor other sessions' changes", async () => {
    const second = await edit('second', 'a.txt', 'four')
    assert.equal(count(second), '0/1')
    second.keep()
    assert.equal(count(second), '1/1')
    assert.equal(count(new ChangeScope(tracker, 'first')), '0/4')
    rmSync(file('b.txt'))
    await all.refresh()
    assert.equal(count(), '1/2')
  })

  it('begins anew with the turn that follows a finished review, not with one during it', async () => {
    const first = new SessionChanges(tracker, 'first', { cwd: folder(), additionalDirectories: [] })
    all.keep({ paths: [file('a.txt')] })
    first.beginTurn(2, () => false)
    await tracker.files.ready
    assert.equal(count(), '1/4')
    all.keep()
    first.beginTurn(3, () => false)
    await tracker.files.ready
    assert.equal(count(), '0/0')
    await edit('first', 'a.txt', 'five')
    assert.equal(count(), '0/1')
  })

  it("begins anew in a session alone that has nothing left, while others' changes are", async () => {
    const second = await edit('second', 'a.txt', 'four')
    second.keep()
    assert.equal(`${count(second)} ${count()}`, '1/1 1/5')
    second.beginTurn(2, () => false)
    await tracker.files.ready
    assert.equal(`${count(second)} ${count()}`, '0/0 1/5')
    await edit('second', 'a.txt', 'five')
    assert.equal(`${count(second)} ${count()}`, '0/1 1/6')
  })

  it('keeps a change that two sessions made in the review of one when the other begins a turn', async () => {
    const { progress } = tracker
    const first = new SessionChanges(tracker, 'first', { cwd: folder(), additionalDirectories: [] })
    const second = new SessionChanges(tracker, 'second', { cwd: folder(), additionalDirectories: [] })
    progress.add({ path: file('a.txt'), outcome: 'kept', changes: [['first', 'second'], ['second']] })
    assert.equal(`${count(first)} ${count(second)} ${count()}`, '1/5 2/2 2/6')
    second.beginTurn(2, () => false)
    await tracker.files.ready
    assert.equal(`${count(first)} ${count(second)} ${count()}`, '1/5 0/0 2/6')
  })

  it('follows a file that the user renames after keeping it, and knows which files are gone', async () => {
    const paths = () =>
      tracker.progress
        .files(all)
        .map(({ path, isGone }) => `${path.slice(folder().length + 1)}${isGone ? ' gone' : ''}`)
    all.keep({ paths: [file('a.txt')] })
    renameSync(file('a.txt'), file('c.txt'))
    await tracker.renames.renamed(file('a.txt'), file('c.txt'))
    assert.deepEqual(paths(), ['b.txt', 'c.txt'])

    const changes = new SessionChanges(tracker, 'first', { cwd: folder(), additionalDirectories: [] })
    writeFileSync(file('new.txt'), 'new')
    const added = { operation: 'add' as const, path: file('new.txt'), newText: 'new' }
    await changes.tool({ toolCallId: 'add', begun: true, done: true }, [{ changes: [added] }], [])
    await all.undo({ paths: [file('new.txt')] })
    assert.deepEqual(paths(), ['b.txt', 'c.txt', 'new.txt gone'])
    await all.undo({ paths: [file('b.txt')] })
    assert.deepEqual(paths(), ['b.txt', 'c.txt', 'new.txt gone'])
  })

  it('follows a file that an agent moves after changes in it were kept, also once the move is kept', async () => {
    const shown = () =>
      tracker.progress
        .files(all)
        .map(({ path, kept, undecided }) => `${path.slice(folder().length + 1)} ${kept}/${kept + undecided}`)
    const [first] = all.hunks(file('b.txt'))
    all.keep({ hunks: { path: file('b.txt'), ids: new Set([first!.id]) } })
    assert.deepEqual(shown(), ['a.txt 0/1', 'b.txt 1/3'])
    const changes = new SessionChanges(tracker, 'first', { cwd: folder(), additionalDirectories: [] })
    const text = readFileSync(file('b.txt'), 'utf8')
    renameSync(file('b.txt'), file('c.txt'))
    const diffs = [
      { operation: 'delete' as const, path: file('b.txt'), oldText: text },
      { operation: 'add' as const, path: file('c.txt'), newText: text },
    ]
    await changes.tool({ toolCallId: 'move', begun: true, done: true }, [{ changes: diffs }], [])
    assert.deepEqual(shown(), ['a.txt 0/1', 'c.txt 1/2'])
    const kept = all.keep({ paths: [file('b.txt'), file('c.txt')] })
    assert.deepEqual(shown(), ['a.txt 0/1', 'c.txt 2/2'])
    await kept.undo()
    assert.deepEqual(shown(), ['a.txt 0/1', 'c.txt 1/2'])
  })

  it('goes on after a reload, also when what was reverted before it is restored', async () => {
    all.keep({ paths: [file('a.txt')] })
    const [first] = all.hunks(file('b.txt'))
    const { undone } = await all.undo({ hunks: { path: file('b.txt'), ids: new Set([first!.id]) } })
    assert.equal(count(), '2/4')
    tracker.dispose()
    tracker = memoryTracker(undefined, store)
    all = new ChangeScope(tracker)
    // a turn that begins meanwhile is in the same review
    const session = new SessionChanges(tracker, 'first', { cwd: folder(), additionalDirectories: [] })
    session.beginTurn(2, () => false)
    await tracker.files.ready
    assert.equal(count(), '2/4')
    assert.deepEqual(await tracker.review.restore(undone!.id), [])
    assert.equal(count(), '1/4')
    all.keep()
    session.beginTurn(3, () => false)
    await tracker.files.ready
    assert.equal(count(), '0/0')
    assert.equal(store.decided.size, 0)
  })

  it('counts a change once that is reverted twice at the same time', async () => {
    const b = { paths: [file('b.txt')] }
    await Promise.all([all.undo(b), all.undo(b)])
    assert.equal(count(), '3/4')
  })

  it("counts what is reverted of a file of which the user's own edits keep the rest", async () => {
    writeFileSync(file('b.txt'), readFileSync(file('b.txt'), 'utf8').replace('THREE', 'mine'))
    await all.refresh()
    const { undone, unchanged } = await all.undo({ paths: [file('b.txt')] })
    assert.deepEqual(unchanged, [{ path: file('b.txt'), why: 'user' }])
    assert.equal(readFileSync(file('b.txt'), 'utf8'), 'one\ntwo\nmine\nfour\nfive\n')
    assert.equal(count(), '2/4')
    await tracker.review.restore(undone!.id)
    assert.equal(count(), '0/4')
  })

  it("takes back a decision after the user's own edit, which stays", async () => {
    const text = () => readFileSync(file('b.txt'), 'utf8')
    const kept = all.keep({ paths: [file('b.txt')] })
    writeFileSync(file('b.txt'), text().replace('two', 'mine'))
    await all.refresh()
    assert.deepEqual(await kept.undo(), [])
    assert.equal(count(), '0/4')
    const { undone } = await all.undo({ paths: [file('b.txt')] })
    assert.equal(text(), 'one\nmine\nthree\nfour\nfive\n')
    writeFileSync(file('b.txt'), text().replace('four', 'mine, too'))
    await all.refresh()
    assert.deepEqual(await tracker.review.restore(undone!.id), [])
    assert.equal(text(), 'ONE\nmine\nTHREE\nmine, too\nFIVE\n')
    assert.equal(count(), '0/4')
    await all.undo({ paths: [file('b.txt')] })
    assert.equal(text(), 'one\nmine\nthree\nmine, too\nfive\n')
  })

  it('counts what the session before decided about in a conversation that was continued', async () => {
    const second = await edit('second', 'a.txt', 'four')
    second.origins = () => [{ session: 'first', turn: 9, continued: true }]
    assert.equal(count(second), '0/5')
    second.keep({ paths: [file('b.txt')] })
    assert.equal(count(second), '3/5')
  })

  it('compares a conversation that was continued with the text before all of its sessions', async () => {
    await edit('second', 'a.txt', 'four')
    earlier = { second: ['first'] }
    const textBefore = async (session: string) => (await tracker.views.before(file('a.txt'), session))?.text
    assert.equal(await textBefore('second'), 'one\ntwo\nthree\nfour\nfive\n')
    assert.equal(await textBefore('first'), 'one\ntwo\nthree\nFOUR\nfive\n')
  })

  it("doesn't count what a new session of the same id replaces", async () => {
    new SessionChanges(tracker, 'first', { cwd: folder(), additionalDirectories: [] }).clear()
    await tracker.files.ready
    await all.refresh()
    assert.equal(count(), '0/0')
  })
})
