import { strict as assert } from 'node:assert'
import fc from 'fast-check'
import type { SessionUpdate } from '../../../src/acp/model.ts'
import { reduce } from '../../../src/conversation/reducer/reduce.ts'
import { reduceLocal } from '../../../src/conversation/reducer/reduce-local.ts'
import { createSessionState, type ReducingState } from '../../../src/conversation/reducer/reducing-state.ts'
import { mergeEntries } from '../../../src/conversation/replay/merge-entries.ts'
import type { Entry } from '../../../src/conversation/state.ts'
import { chunk, idle, permissionRequest, running, text, tool } from './updates.ts'

type Item = { type: 'agent' | 'thought'; said: string } | { type: 'tool'; asks: boolean }
interface TurnPlan {
  prompt: string
  items: Item[]
}

const said = fc.array(fc.constantFrom('yes', 'the', 'file', 'is', 'now', 'mended', '.', '\n\n'), {
  minLength: 1,
  maxLength: 6,
})
const item: fc.Arbitrary<Item> = fc.oneof(
  fc.record({
    type: fc.constantFrom('agent' as const, 'thought' as const),
    said: said.map(a => a.join(' ')),
  }),
  fc.record({ type: fc.constant('tool' as const), asks: fc.boolean() }),
)
const turnPlan: fc.Arbitrary<TurnPlan> = fc.record({
  // some begin like others
  prompt: fc.constantFrom(
    ...['go on', 'go on with it', 'yes', 'now write a test for it', 'now write a test for it, too'],
    ...['fix the bug in the parser', 'fix the bug in the parser and the lexer'],
  ),
  items: fc.array(item, { maxLength: 5 }),
})

/** Generates turns in which every text and every tool call is unique. */
function unique(plans: readonly TurnPlan[]): TurnPlan[] {
  return plans.map(({ prompt, items }, turn) => ({
    prompt,
    items: items.map((one, i) =>
      one.type === 'tool' ? one : { ...one, said: `<${turn}.${i} ${one.said}>` },
    ),
  }))
}

/** The conversation as it's shown live; `cut`: the agent exits in the middle of the last text. */
function seen(plans: readonly TurnPlan[], cut: boolean): ReducingState {
  const state = createSessionState()
  plans.forEach(({ prompt, items }, turn) => {
    const isCut = cut && turn === plans.length - 1
    reduceLocal(state, { type: 'prompt', content: [text(prompt)] }, 1000)
    reduce(state, running, 1000)
    items.forEach((one, i) => {
      const ends = isCut && i === items.length - 1
      if (one.type === 'tool') {
        const toolCallId = `t${turn}.${i}`
        reduce(state, tool(toolCallId, { title: `Edit ${turn}.${i}`, status: 'pending' }), 1000)
        if (one.asks) {
          const request = permissionRequest({ subject: { type: 'tool_call', toolCall: { toolCallId } } })
          reduceLocal(state, { type: 'permission_asked', requestId: toolCallId, request }, 1000)
          const outcome = { type: 'selected' as const, optionId: 'yes' }
          reduceLocal(state, { type: 'request_answered', requestId: toolCallId, outcome }, 1000)
        }
        if (!ends) reduce(state, tool(toolCallId, { status: 'completed' }), 1000)
        return
      }
      const half = ends ? one.said.slice(0, Math.ceil(one.said.length / 2)) : one.said
      for (const piece of half.match(/[\s\S]{1,3}/g) ?? []) reduce(state, chunk(one.type, piece), 1000)
    })
    if (isCut) reduceLocal(state, { type: 'agent_gone' }, 1000)
    else reduce(state, idle('end_turn'), 1000)
  })
  return state
}

interface Loss {
  thoughts: boolean
  tools: boolean
  /** the number of omitted turns at the start, which were compacted */
  first: number
  /** how the last turn is replayed */
  last: 'whole' | 'prompt' | 'none'
  /** whether texts arrive in one chunk, with different line breaks, after all tool calls */
  regroups: boolean
  newIds: boolean
}

const loss: fc.Arbitrary<Loss> = fc.record({
  thoughts: fc.boolean(),
  tools: fc.boolean(),
  first: fc.nat(2),
  last: fc.constantFrom('whole', 'prompt', 'none'),
  regroups: fc.boolean(),
  newIds: fc.boolean(),
})

/** The conversation as an inaccurate agent replays it. */
function replayed(plans: readonly TurnPlan[], how: Loss): ReducingState {
  const state = createSessionState()
  plans.forEach(({ prompt, items }, turn) => {
    const isLast = turn === plans.length - 1
    if (turn < how.first || (isLast && how.last === 'none')) return
    reduce(state, chunk('user', prompt))
    if (isLast && how.last === 'prompt') return
    const tools = items.flatMap((one, i) => (one.type === 'tool' && !how.tools ? [[one, i] as const] : []))
    const texts = items.flatMap((one, i) =>
      one.type === 'agent' || (one.type === 'thought' && !how.thoughts) ? [[one, i] as const] : [],
    )
    const inOrder = how.regroups ? [...tools, ...texts] : [...tools, ...texts].sort((a, b) => a[1] - b[1])
    for (const [one, i] of inOrder) {
      if (one.type === 'tool') {
        const toolCallId = how.newIds ? `new ${turn}.${i}` : `t${turn}.${i}`
        reduce(state, tool(toolCallId, { title: `Edit ${turn}.${i}`, status: 'completed' }))
      } else reduce(state, chunk(one.type, how.regroups ? one.said.replace(/ /g, '\n') : one.said))
    }
  })
  reduceLocal(state, { type: 'load_finished' })
  return state
}

const squeezed = (entry: Entry) =>
  entry.kind === 'message'
    ? entry.blocks.map(block => (block.type === 'text' ? block.text.replace(/\s/g, '') : '')).join('')
    : ''
const messages = (entries: readonly Entry[], role: string) =>
  entries.flatMap(entry => (entry.kind === 'message' && entry.role === role ? squeezed(entry) : []))
const mark = (turn: number): Entry => ({
  kind: 'notice',
  id: '',
  turn,
  severity: 'info',
  title: 'Saved copy',
  savedCopy: true,
})
const isMark = (entry: Entry) => entry.kind === 'notice' && entry.savedCopy === true
const unplaced = ({ id: _id, turn: _turn, ...entry }: Entry) => entry

const conversation = fc.array(turnPlan, { minLength: 1, maxLength: 6 }).map(unique)

describe('merging a replay with the known conversation (property)', () => {
  it('keeps everything that was shown, in order', () => {
    fc.assert(
      fc.property(conversation, fc.boolean(), loss, (plans, cut, how) => {
        const known = seen(plans, cut).entries
        const { entries } = mergeEntries(known, replayed(plans, how).entries, mark)
        let at = 0
        for (const entry of known) {
          const found = entries.findIndex((merged, i) => {
            if (i < at || merged.kind !== entry.kind) return false
            if (entry.kind === 'message' && merged.kind === 'message')
              return merged.role === entry.role && squeezed(merged).startsWith(squeezed(entry))
            if (entry.kind === 'tool_call' && merged.kind === 'tool_call')
              return merged.toolCallId === entry.toolCallId
            return JSON.stringify(unplaced(merged)) === JSON.stringify(unplaced(entry))
          })
          assert.notEqual(found, -1, `${JSON.stringify(entry)} is gone`)
          at = found + 1
        }
      }),
    )
  })

  it('duplicates no prompt, no text and no tool call', () => {
    fc.assert(
      fc.property(conversation, fc.boolean(), loss, (plans, cut, how) => {
        const known = seen(plans, cut).entries
        const replay = replayed(plans, how).entries
        const { entries } = mergeEntries(known, replay, mark)
        assert.deepEqual(
          messages(entries, 'user'),
          plans.map(({ prompt }) => prompt.replace(/\s/g, '')),
        )
        const whole = (role: string) =>
          plans.flatMap(({ items }) =>
            items.flatMap(one =>
              one.type !== 'tool' && one.type === role ? one.said.replace(/\s/g, '') : [],
            ),
          )
        const isWhole = !cut || (how.last === 'whole' && how.first < plans.length)
        for (const role of ['agent', 'thought']) {
          const got = messages(entries, role).join('')
          const expected = whole(role).join('')
          if (isWhole && (role === 'agent' || !how.thoughts)) assert.equal(got, expected)
          else assert.ok(expected.startsWith(got), `${got} is not the beginning of ${expected}`)
        }
        const tools = plans.flatMap(({ items }) => items.filter(({ type }) => type === 'tool'))
        assert.equal(entries.filter(({ kind }) => kind === 'tool_call').length, tools.length)
        assert.deepEqual(
          entries.map(({ id }) => id),
          entries.map((_, i) => `e${i}`),
        )
      }),
    )
  })

  it("doesn't change anything if the same is replayed again", () => {
    fc.assert(
      fc.property(conversation, fc.boolean(), loss, (plans, cut, how) => {
        const known = seen(plans, cut).entries
        const replay = replayed(plans, how).entries
        const once = mergeEntries(known, replay, mark).entries
        assert.deepEqual(mergeEntries(once, replay, mark).entries, once)
        assert.deepEqual(
          mergeEntries(known, known, mark).entries.map(unplaced),
          known.map(unplaced),
          'what is known is nothing new',
        )
      }),
    )
  })

  it('marks only entries that the replay lacks, and adds a note below them', () => {
    fc.assert(
      fc.property(conversation, loss, (plans, how) => {
        const known = seen(plans, false).entries
        const { entries } = mergeEntries(known, replayed(plans, how).entries, mark)
        const marked = entries.filter(isMark).length
        const lacksTurns = how.first > 0 || how.last === 'none'
        const lacksAnswer =
          how.last === 'prompt' && (plans.at(-1)?.items ?? []).some(one => one.type !== 'thought')
        if (lacksTurns) assert.ok(marked > 0)
        if (!lacksTurns && !lacksAnswer && !how.tools) assert.equal(marked, 0)
        assert.ok(marked <= 3)
      }),
    )
  })

  it('keeps every prompt of both copies, also if one prompt is the beginning of another', () => {
    const prompt = fc
      .tuple(
        fc.constantFrom(
          'fix the bug in the parser',
          'fix the bug in the parser and the lexer',
          'fix the bug',
        ),
        fc.constantFrom('', ' and the lexer', ' again', '\nplease'),
      )
      .map(parts => parts.join(''))
    const answer = fc.constantFrom(
      '',
      'Done.',
      'I fixed the bug in the parser.',
      'I fixed the bug in the parser and in the lexer.',
      'The parser had no bug; a test of it was wrong.',
    )
    const copy = fc.array(fc.record({ prompt, answer, usesTool: fc.boolean() }), { maxLength: 5 })
    const read = (turns: Array<{ prompt: string; answer: string; usesTool: boolean }>) => {
      const state = createSessionState()
      turns.forEach((turn, i) => {
        reduce(state, chunk('user', turn.prompt, `p${i}`))
        // an agent that counts its tool calls in each turn
        if (turn.usesTool)
          reduce(state, { ...tool('call_1', { title: 'Read' }), isNew: true } as SessionUpdate)
        if (turn.answer) reduce(state, chunk('agent', turn.answer))
        reduceLocal(state, { type: 'load_finished' })
      })
      return state.entries
    }
    fc.assert(
      fc.property(copy, copy, (ours, theirs) => {
        const [known, replay] = [read(ours), read(theirs)]
        const { entries } = mergeEntries(known, replay, mark)
        const prompts = messages(entries, 'user')
        const count = (of: readonly string[], text: string) => of.filter(one => one === text).length
        for (const side of [known, replay]) {
          const own = messages(side, 'user')
          for (const text of own) assert.ok(count(prompts, text) >= count(own, text), `${text} is gone`)
        }
        // a prompt is followed by its own answer
        for (const turn of [...ours, ...theirs]) {
          const at = entries.findIndex(
            (entry, i) =>
              squeezed(entry) === turn.prompt.replace(/\s/g, '') &&
              (turn.answer === '' ||
                entries
                  .slice(i + 1)
                  .some(
                    next =>
                      next.turn === entry.turn && squeezed(next).startsWith(turn.answer.replace(/\s/g, '')),
                  )),
          )
          assert.notEqual(at, -1, `${turn.prompt} lost its answer`)
        }
      }),
    )
  })
})
