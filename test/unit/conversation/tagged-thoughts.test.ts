import { strict as assert } from 'node:assert'
import fc from 'fast-check'
import { createSessionState, type ReducingState, reduce } from '../../../src/conversation/reducer/reduce.ts'
import { reduceLocal } from '../../../src/conversation/reducer/reduce-local.ts'
import { continueState } from '../../../src/conversation/replay/restore-state.ts'
import type { Entry } from '../../../src/conversation/state.ts'
import { chunk, idle, running, snapshotOf, text, tool } from './updates.ts'

/** The messages as `role: text`. */
function messages({ entries }: ReducingState): string[] {
  return entries.map(shown)
}

function shown(entry: Entry): string {
  if (entry.kind !== 'message') return entry.kind
  const texts = entry.blocks.map(block => (block.type === 'text' ? block.text : block.type))
  return `${entry.role}: ${texts.join('|')}`
}

function said(pieces: readonly string[], messageId?: string): ReducingState {
  const state = createSessionState()
  for (const piece of pieces) reduce(state, chunk('agent', piece, messageId))
  reduce(state, { type: 'message_end' })
  return state
}

const ANSWERS: ReadonlyArray<[answer: string, messages: string[]]> = [
  ['<think>\nHm.\n</think>\n\nYes.', ['thought: Hm.\n', 'agent: Yes.']],
  ['<thinking>Hm.</thinking>Yes.', ['thought: Hm.', 'agent: Yes.']],
  ['<think>a <thinking> b</thinking> c</think>Yes.', ['thought: a <thinking> b</thinking> c', 'agent: Yes.']],
  ['One. <think>Hm.</think> Two.', ['agent: One. ', 'thought: Hm.', 'agent: Two.']],
  ['<think>Not over', ['thought: Not over']],
  ['<think>Not over </thi', ['thought: Not over </thi']],
  ['<think>\n\n</think>\n\nYes.', ['agent: Yes.']],
  ['The `<think>` tag.', ['agent: The `<think>` tag.']],
  ['The ``<think> ` `` tag.', ['agent: The ``<think> ` `` tag.']],
  ['A \\<think> tag.', ['agent: A \\<think> tag.']],
  ['A \\` and <think>Hm.</think>', ['agent: A \\` and ', 'thought: Hm.']],
  ['Code:\n```html\n<think>\n\n</think>\n```\n', ['agent: Code:\n```html\n<think>\n\n</think>\n```\n']],
  ['1. ~~~~\n   ~~~\n   <think>\n', ['agent: 1. ~~~~\n   ~~~\n   <think>\n']],
  ['```\n``` no end\n<think>\n', ['agent: ```\n``` no end\n<think>\n']],
  ['```\na\n```\n<think>Hm.', ['agent: ```\na\n```\n', 'thought: Hm.']],
  ['```a```\n<think>Hm.', ['agent: ```a```\n', 'thought: Hm.']],
  ['A stray ` mark.\n\nThen <think>Hm.', ['agent: A stray ` mark.\n\nThen ', 'thought: Hm.']],
  ['if a <b and <thin', ['agent: if a <b and <thin']],
  ['<<think>Hm.', ['agent: <', 'thought: Hm.']],
]

describe('thoughts that a model writes into its answer', () => {
  for (const [answer, expected] of ANSWERS) {
    it(`are recognized in ${JSON.stringify(answer)}, wherever it's cut`, () => {
      assert.deepEqual(messages(said([answer])), expected)
      assert.deepEqual(messages(said([answer], 'm')), expected)
      assert.deepEqual(messages(said([...answer])), expected)
      assert.deepEqual(messages(said([...answer], 'm')), expected)
      for (let at = 1; at < answer.length; at++)
        assert.deepEqual(messages(said([answer.slice(0, at), answer.slice(at)])), expected)
    })
  }

  it('are the same however text is cut, and each change is reported once', () => {
    const token = fc.constantFrom(
      ...[
        '<think>',
        '</think>',
        '<thinking>',
        '</thinking>',
        '<',
        'th',
        'a',
        ' ',
        '\n',
        '\n\n',
        '`',
        '```',
        '~~~',
      ],
      ...['\\', '> ', '- '],
    )
    const id = fc.option(fc.constantFrom('m1', 'm2'), { nil: undefined })
    const piece = fc.tuple(id, fc.array(token, { minLength: 1, maxLength: 12 }), fc.array(fc.nat(30)))
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 8 }), list => {
        const [one, two] = [createSessionState(), createSessionState()]
        const [whole, cut] = [snapshotOf(one), snapshotOf(two)]
        const say = (state: ReducingState, into: typeof whole, piece: string, messageId?: string) => {
          const changes = reduce(state, chunk('agent', piece, messageId))
          const entries = new Set(changes.flatMap(change => (change.type === 'entry' ? [change.id] : [])))
          for (const change of changes) assert(change.type !== 'text' || !entries.has(change.id))
          into.apply(state, changes)
        }
        for (const [messageId, tokens, cuts] of list) {
          const answer = tokens.join('')
          say(one, whole, answer, messageId)
          const at = [0, ...cuts.map(at => at % answer.length).sort((a, b) => a - b), answer.length]
          at.slice(1).forEach((end, i) => void say(two, cut, answer.slice(at[i], end), messageId))
        }
        assert.deepEqual(two, one)
        for (const state of [one, two]) {
          const into = state === one ? whole : cut
          into.apply(state, reduce(state, { type: 'message_end' }))
          assert.deepEqual(into, snapshotOf(state))
        }
      }),
    )
  })

  it('have times', () => {
    const state = createSessionState()
    reduce(state, running, 1000)
    reduce(state, chunk('agent', '<think>Hm.'), 2000)
    reduce(state, chunk('agent', '</think>Yes.'), 5000)
    const [thought] = state.entries
    assert.equal(thought?.startedAt, 2000)
    assert.equal(thought?.endedAt, 5000)
    assert(thought?.kind === 'message' && !('tag' in thought))
  })

  it('end with a tool call and with the turn', () => {
    const state = createSessionState()
    reduceLocal(state, { type: 'prompt', content: [text('Go')] }, 1)
    reduce(state, chunk('agent', '<think>First'), 2)
    reduce(state, tool('t', { title: 'Read' }), 3)
    reduce(state, chunk('agent', 'Answer <thi'), 4)
    reduce(state, { type: 'usage', usage: { used: 1, size: 2 } }, 5)
    reduce(state, chunk('agent', 'nk>Second <'), 6)
    reduce(state, idle('end_turn'), 7)
    assert.deepEqual(messages(state), [
      ...['user: Go', 'thought: First', 'tool_call', 'agent: Answer ', 'thought: Second <'],
    ])
    assert.equal(state.entries[1]?.endedAt, 3)
    assert.equal(state.entries[4]?.endedAt, 7)
  })

  it('go on with the id of their message below other work', () => {
    const state = createSessionState()
    reduce(state, chunk('agent', '<think>One', 'm'))
    reduce(state, tool('t', { title: 'Read' }))
    reduce(state, chunk('agent', ' two</think>Yes', 'm'))
    reduce(state, chunk('agent', '.', 'm'))
    assert.deepEqual(messages(state), ['thought: One', 'tool_call', 'thought:  two', 'agent: Yes.'])
  })

  it('are recognized in a whole message, and not repeated by it', () => {
    const state = createSessionState()
    const content = [text('<think>Hm.</think>Yes. `<think>`')]
    reduce(state, chunk('agent', '<think>Hm.</think>Y', 'm'))
    reduce(state, { type: 'message', role: 'agent', messageId: 'm', content })
    reduce(state, { type: 'message', role: 'agent', messageId: 'n', content })
    const expected = ['thought: Hm.', 'agent: Yes. `<think>`']
    assert.deepEqual(messages(state), [...expected, ...expected])
  })

  it('go on after the window was reloaded', () => {
    for (const messageId of [undefined, 'm']) {
      const state = createSessionState()
      reduceLocal(state, { type: 'prompt', content: [text('Go')] })
      reduce(state, chunk('agent', '```\n<think>\n```\n<think>Hm', messageId))
      const saved = structuredClone(state.entries)
      const reloaded = continueState({ entries: saved, terminals: [], head: { working: true } })
      for (const at of [state, reloaded]) reduce(at, chunk('agent', '.</think>Yes.', messageId))
      assert.deepEqual(messages(reloaded), messages(state))
      assert.deepEqual(messages(reloaded).slice(2), ['thought: Hm.', 'agent: Yes.'])
    }
  })

  it("aren't looked for in what the user and thoughts say", () => {
    const state = createSessionState()
    reduce(state, chunk('user', '<think>a</think>'))
    reduce(state, chunk('thought', '<think>b</think>'))
    assert.deepEqual(messages(state), ['user: <think>a</think>', 'thought: <think>b</think>'])
  })

  it('cost the same for each chunk', () => {
    const state = createSessionState()
    reduce(state, chunk('agent', `${'`'.repeat(3)}\n`))
    for (let i = 0; i < 1000; i++) reduce(state, chunk('agent', '<think>\n'))
    const answer = state.memory.answers.get('')
    assert(JSON.stringify(answer).length < 400)
    assert.equal(state.entries.length, 1)
  })
})
