import assert from 'node:assert/strict'
import { mock } from 'node:test'
import type { SessionUpdate } from '../../../src/acp/model.ts'
import { FindSearch } from '../../../src/app/conversation/find-search.ts'
import { FIND_LIMIT, type FindResult } from '../../../src/bridge/conversation.ts'
import type { FindQuery } from '../../../src/common/find-pattern.ts'
import { reduce } from '../../../src/conversation/reducer/reduce.ts'
import { createSessionState } from '../../../src/conversation/reducer/reducing-state.ts'

function query(text: string, more: Partial<FindQuery> = {}): FindQuery {
  return { text, matchCase: false, wholeWord: false, regex: false, ...more }
}
function said(text: string, messageId: string): SessionUpdate {
  return { type: 'message_chunk', role: 'agent', messageId, content: { type: 'text', text } }
}

describe('finding in a conversation', () => {
  let state = createSessionState()
  let reported: FindResult[] = []
  let search: FindSearch
  const update = (one: SessionUpdate) => search.note(reduce(state, one, Date.now()))
  const last = () => reported.at(-1)!

  beforeEach(() => {
    state = createSessionState()
    reported = []
    search = new FindSearch(
      () => state,
      result => void reported.push(result),
    )
  })
  afterEach(() => {
    search.dispose()
    mock.timers.reset()
  })

  it('searches text without its markup, thoughts, tool calls, output and diffs', async () => {
    update(said('The **pars**er is [here](parser.ts).', 'm1'))
    update({ type: 'message_chunk', role: 'thought', content: { type: 'text', text: 'a parser, a parser' } })
    update({
      type: 'tool_call',
      toolCall: {
        toolCallId: 't',
        title: 'Edit parser.ts',
        content: [
          {
            type: 'diff',
            changes: [
              {
                operation: 'modify',
                path: '/p/x.ts',
                oldText: 'old parser\nsame',
                newText: 'new parser\nsame',
              },
            ],
          },
          { type: 'terminal', terminalId: 'x' },
        ],
      },
    })
    update({ type: 'terminal', terminal: { terminalId: 'x', output: '\u001b[31mpar\u001b[0mser ok' } })
    await search.start(1, query('parser'))
    assert.deepEqual(last().hits, [0, 1, 1, 1, 0, 2, 2, 1, 4])
    assert.equal(last().searching, false)
  })

  it("searches the literal text of a tool's output", async () => {
    const call = (toolCallId: string, kind: string, text: string) =>
      update({
        type: 'tool_call',
        toolCall: {
          toolCallId,
          title: 'x',
          kind,
          content: [{ type: 'content', content: { type: 'text', text } }],
        },
      })
    call('a', 'read', 'def __main__(): \u001b[31mred\u001b[0m line')
    call('b', 'other', '__main__ and red line')
    await search.start(1, query('__main__'))
    assert.deepEqual(last().hits, [0, 0, 1])
    await search.start(2, query('red line'))
    assert.deepEqual(last().hits, [0, 0, 1, 1, 0, 1])
  })

  it('follows changes, and stops when the widget closes', async () => {
    mock.timers.enable({ apis: ['setTimeout'] })
    /** lets enough time pass for everything that is due */
    const later = () => mock.timers.tick(60_000)
    update(said('one', 'm1'))
    await search.start(1, query('word'))
    assert.deepEqual(last().hits, [])
    update(said(' word', 'm1'))
    update({
      type: 'tool_call',
      toolCall: { toolCallId: 't', content: [{ type: 'terminal', terminalId: 'x' }] },
    })
    later()
    assert.equal(last().part, 'change')
    assert.deepEqual(last().hits.slice(0, 3), [0, 1, 1])
    update({ type: 'terminal', terminal: { terminalId: 'x' } })
    later()
    update({ type: 'terminal_output', terminalId: 'x', text: 'word word' })
    later()
    assert.deepEqual(last().hits, [1, 0, 2])
    const before = reported.length
    search.setVisible(false)
    update(said(' word', 'm2'))
    later()
    assert.equal(reported.length, before, 'nothing for a view that nobody sees')
    search.setVisible(true)
    later()
    assert.deepEqual(last().hits, [2, 1, 1])
    search.stop()
    const end = reported.length
    update(said(' word', 'm3'))
    later()
    assert.equal(reported.length, end)
  })

  it('reports an invalid expression, and stops one that takes too long', async () => {
    update(said(`${'a'.repeat(40)}!`, 'm1'))
    await search.start(1, query('(', { regex: true }))
    assert.match(last().problem!, /Invalid regular expression/)
    await search.start(2, query('(a+)+$', { regex: true }))
    assert.match(last().problem!, /timed out/)
    await search.start(3, query('a{40}', { regex: true }))
    assert.deepEqual(last().hits, [0, 1, 1])
  })

  it('limits the number of matches', async () => {
    for (let i = 0; i < 3; i++) update(said('a'.repeat(9000), `m${i}`))
    await search.start(1, query('a'))
    assert.equal(last().limited, true)
    const { hits } = last()
    assert.equal(hits[2]! + hits[5]! + hits[8]!, FIND_LIMIT)
  })

  it('finds all matches in 10,000 entries, and again with one more letter', async () => {
    for (let i = 0; i < 10_000; i++) update(said(`Message **${i}** says \`value_${i}\`.`, `m${i}`))
    assert.equal(state.entries.length, 10_000)
    await search.start(1, query('says'))
    assert.deepEqual([last().part, last().hits.length], ['whole', 30_000])
    await search.start(2, query('value_99'))
    // 99, 990 to 999, 9900 to 9999
    assert.deepEqual([last().part, last().hits.length], ['whole', 111 * 3])
  })
})
