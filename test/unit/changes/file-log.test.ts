import assert from 'node:assert/strict'
import fc from 'fast-check'
import type { AgentAuthor } from '../../../src/changes/model/change-versions.ts'
import { FileLog } from '../../../src/changes/model/file-log.ts'
import { lineEdits, mergeLines, splitLines, withLineEndsOf } from '../../../src/editor/line-edits.ts'

const agent = (session: string, turn = 1): AgentAuthor => ({ turns: [{ session, turn }] })
const of = (session: string) => (author: AgentAuthor) => author.turns.some(turn => turn.session === session)
const all = () => true

describe('the author of each line', () => {
  it("is still known after the user edits next to an agent's change", () => {
    const log = FileLog.of('one\ntwo\nthree\n')
    log.edit('one\n2\nthree\n', agent('a'))
    log.edit('ONE\n2\nthree\nfour\n', 'user')
    assert.equal(log.base, 'ONE\ntwo\nthree\nfour\n')
    assert.deepEqual(
      log.hunks(all).map(({ start, before, after }) => [start, before, after]),
      [[1, ['two\n'], ['2\n']]],
    )
    log.undo(all)
    assert.equal(log.text, 'ONE\ntwo\nthree\nfour\n')
    assert.equal(log.hasChanges, false)
  })

  it("is the user within an agent's lines, unless the user's text is discarded", () => {
    const log = FileLog.of('a\n')
    log.edit('a\n1\n2\n3\n', agent('a'))
    log.edit('a\n1\nmine\n3\n', 'user')
    assert.equal(log.hunks(all)[0]?.conflict, 'user')
    log.undo(all)
    assert.equal(log.text, 'a\n1\nmine\n3\n')
    log.undo(all, { force: true })
    assert.equal(log.text, 'a\n')
  })

  it('changes when one of several changes is kept or reverted', () => {
    const log = FileLog.of('a\nb\nc\nd\ne\n')
    log.edit('A\nb\nc\nd\nE\n', agent('a'))
    const [first, second] = log.hunks(all)
    log.keep(all, new Set([first!.id]))
    assert.equal(log.base, 'A\nb\nc\nd\ne\n')
    log.undo(all, { ids: new Set([second!.id]) })
    assert.equal(log.text, 'A\nb\nc\nd\ne\n')
    assert.equal(log.hasChanges, false)
  })

  it("is known when a change below another session's is reverted, unless they overlap", () => {
    const log = FileLog.of('1\n2\n3\n4\n5\n')
    log.edit('1\nx\ny\nz\n5\n', agent('a'))
    log.edit('1\nx\nother\nz\n5\nafter\n', agent('b'))
    assert.equal(log.without(of('b')), '1\nx\ny\nz\n5\n')
    assert.equal(log.hunks(of('a'))[0]?.conflict, 'agent')
    log.undo(of('a'), { force: true })
    assert.equal(log.text, '1\nx\nother\nz\n5\nafter\n')
    log.undo(of('b'))
    assert.equal(log.text, '1\nx\ny\nz\n5\n')
    log.undo(of('a'))
    assert.equal(log.text, '1\n2\n3\n4\n5\n')
  })

  it('changes when single turns are reverted and kept', () => {
    const log = FileLog.of('1\n')
    log.edit('2\n', agent('a', 1))
    log.edit('3\n', agent('a', 2))
    const turn = (n: number) => (author: AgentAuthor) => author.turns.some(one => one.turn === n)
    const other = log.clone()
    log.undo(turn(2))
    assert.equal(log.text, '2\n')
    other.keep(turn(1))
    assert.equal(other.base, '2\n')
    assert.equal(other.text, '3\n')
  })

  it('is the same for lines that reappear where an agent removed them', () => {
    const log = FileLog.of('one\ntwo\nthree\n')
    log.edit('one\nthree\n', agent('a'))
    const other = log.clone()
    log.edit('one\nbefore\ntwo\nafter\nthree\n', 'user')
    assert.equal(log.hasChanges, false)
    assert.equal(log.base, 'one\nbefore\ntwo\nafter\nthree\n')
    other.edit('ONE\ntwo\nthree\n', 'user')
    assert.equal(other.hasChanges, false)
    const part = FileLog.of('one\ntwo\nmore\nthree\n')
    part.edit('one\nthree\n', agent('a'))
    const between = part.clone()
    between.edit('one\ntwo\nmine\nmore\nthree\n', 'user')
    assert.equal(between.hasChanges, false)
    part.edit('one\nmine\nmore\nthree\n', 'user')
    assert.equal(part.base, 'one\nmine\ntwo\nmore\nthree\n')
    assert.equal(part.hunks(all)[0]?.conflict, 'user')
    const two = FileLog.of('1\n2\n3\n4\n5\n6\n')
    two.edit('1\n3\n4\n6\n', agent('a'))
    two.edit('1\nx\n2\n3\n4\n5\ny\n6\n', 'user')
    assert.equal(two.hasChanges, false)
    assert.equal(two.base, '1\nx\n2\n3\n4\n5\ny\n6\n')
    const beside = FileLog.of('one\n')
    beside.edit('a1\na2\na3\none\n', agent('a'))
    beside.edit('a2\none\n', agent('b'))
    const after = beside.clone()
    beside.edit('mine\na1\na2\none\n', 'user')
    assert.deepEqual(
      beside.hunks(of('a')).map(hunk => [hunk.start, hunk.after]),
      [[1, ['a1\n', 'a2\n']]],
    )
    after.edit('a2\na3\nmine\none\n', 'user')
    assert.deepEqual(
      after.hunks(of('a')).map(hunk => [hunk.start, hunk.after]),
      [[0, ['a2\n', 'a3\n']]],
    )
    const added = FileLog.of('one\n\nthree\n')
    added.edit('one\nthree\n', agent('a'))
    added.edit('one\nb1\n\nb2\nthree\n', agent('b'))
    added.undo(of('b'))
    assert.equal(added.text, 'one\nthree\n')
  })

  const lines = fc.array(fc.constantFrom('a\n', 'b\n', 'c\n', '\n', 'd\r\n'), { maxLength: 12 })

  it('is still known for each line if a program was seen to empty the file before it wrote', () => {
    const text = (...changed: number[]) =>
      Array.from({ length: 10 }, (_, at) => `${changed.includes(at) ? 'new' : 'old'} ${at}\n`).join('')
    const uncertain: AgentAuthor = { ...agent('a'), uncertain: true }
    for (const before of [[], [1], [1, 9]]) {
      const log = FileLog.of(text())
      log.edit(text(...before), agent('a'))
      log.edit('', uncertain)
      log.edit(text(1, 5, 9), uncertain)
      const hunks = log.hunks(all)
      assert.deepEqual(
        hunks.map(({ start, before, after }) => [start, before, after]),
        [1, 5, 9].map(at => [at, [`old ${at}\n`], [`new ${at}\n`]]),
      )
      log.undo(all, { ids: new Set([hunks[1]!.id]) })
      assert.equal(log.text, text(1, 9))
    }
  })

  it("isn't what it was before a program emptied the text if the user has kept that", () => {
    const log = FileLog.of('one\n')
    log.edit('', agent('a'))
    log.keep(all)
    log.edit('one\n', agent('a'))
    assert.deepEqual(
      log.hunks(all).map(({ before, after }) => [before, after]),
      [[[], ['one\n']]],
    )
  })

  it('includes an agent that emptied the text before another agent or the user filled it', () => {
    for (const by of [agent('b'), 'user' as const]) {
      const log = FileLog.of('one\ntwo\n')
      log.edit('', agent('a'))
      log.edit('one\n2\n', by)
      const emptied = (author: AgentAuthor) => author.turns[0]?.session === 'a' && author.turns[0].turn === 1
      assert.deepEqual(log.hunks(emptied)[0]?.before, ['one\n', 'two\n'])
    }
  })

  it('is found from the edits between two texts, with adjacent edits merged', () => {
    fc.assert(
      fc.property(lines, lines, (before, after) => {
        const result: string[] = [...before]
        for (const { start, end, lines: given } of lineEdits(before, after).reverse())
          result.splice(start, end - start, ...given)
        assert.deepEqual(result, after)
        assert.deepEqual(mergeLines(before, after, before), after)
        assert.deepEqual(mergeLines(before, before, after), after)
      }),
    )
    assert.deepEqual(mergeLines(['1', '2', '3'], ['x', '2', '3'], ['1', '2', 'y']), ['x', '2', 'y'])
    assert.equal(mergeLines(['1', '2', '3'], ['x', '2', '3'], ['y', '2', '3']), undefined)
  })

  it('is known in a text with the line endings of a file', () => {
    assert.equal(withLineEndsOf('a\nb\nc', 'a\r\nc'), 'a\r\nb\nc')
    assert.equal(withLineEndsOf('a\nb\n', 'a\r\nb'), 'a\r\nb\n')
    assert.equal(withLineEndsOf('', 'a\r\n'), '')
  })

  it("is never lost for the user's lines, and every agent's change can be reverted or kept", () => {
    /** Replaces `count` lines from `at` by `add` new ones; positions wrap around. */
    const step = fc.record({
      who: fc.constantFrom('user', 'user', 'a', 'b'),
      at: fc.nat(30),
      count: fc.nat(4),
      add: fc.nat(3),
    })
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 14 }), fc.nat(12), (steps, length) => {
        let next = 0
        const fresh = (who: string, count: number) => Array.from({ length: count }, () => `${who}${next++}\n`)
        let now = fresh('user', length)
        const log = FileLog.of(now.join(''))
        for (const { who, at, count, add } of steps) {
          const start = at % (now.length + 1)
          const gone = who === 'user' ? now.slice(start, start + count) : []
          now = [...now]
          now.splice(start, count, ...fresh(who, add))
          log.edit(now.join(''), who === 'user' ? 'user' : agent(who))
          assert.equal(log.text, now.join(''))
          const restored = FileLog.restore(log.text, JSON.parse(JSON.stringify(log.store())))
          assert.equal(restored?.base, log.base)
          // what the user removed next to the agents' changes isn't restored
          const base = splitLines(log.base)
          for (const line of gone.filter(one => one.startsWith('user') && base.includes(one)))
            assert.ok(
              log.hunks(all).some(({ conflict, before }) => conflict && before.includes(line)),
              line,
            )
        }
        // every line of an agent is in some change
        const starts = new Set(log.hunks(all).flatMap(({ start, after }) => after.map((_, i) => start + i)))
        for (const [i, line] of now.entries()) if (!line.startsWith('user')) assert.ok(starts.has(i))
        const before = new Set(splitLines(log.base))
        for (const session of ['a', 'b']) {
          const undone = log.clone()
          undone.undo(of(session))
          const text = splitLines(undone.text)
          const other = session === 'a' ? 'b' : 'a'
          for (const line of now) if (!line.startsWith(session)) assert.ok(text.includes(line), line)
          for (const hunk of undone.hunks(of(session))) assert.ok(hunk.conflict)
          assert.ok(undone.hunks(of(other)).length >= 0)
        }
        const undone = log.clone()
        undone.undo(all, { force: true })
        assert.equal(undone.hasChanges, false)
        assert.deepEqual(new Set(splitLines(undone.text)), before)
        const kept = log.clone()
        kept.keep(all)
        assert.equal(kept.text, log.text)
        assert.equal(kept.base, log.text)
        assert.equal(kept.hasChanges, false)
      }),
    )
  })
})
