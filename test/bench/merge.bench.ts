/**
 * Merging a replay with the saved conversation: the cost must be linear and small, and other work must run between the
 * steps. Prints three ratios: 10,000 entries compared with 1,000, also if a replay has new ids for all tool calls of one long turn,
 * and the longest step of 10,000 entries compared with all of 1,000, without warm-up.
 */
import { mergeEntries, mergeInSteps } from '../../src/conversation/replay/merge-entries.ts'
import type { Entry } from '../../src/conversation/state.ts'

const BOUND = 2.5
const STEP_BOUND = 3
const ANSWER = 'The parser reads one token at a time and keeps what follows. '.repeat(10)
const OUTPUT = 'a line of a file\n'.repeat(60)

/** Turns with a prompt, answers, and tool calls with output. */
function conversation(length: number): Entry[] {
  let turn = 0
  return Array.from({ length }, (_, i): Entry => {
    if (i % 100 === 0) turn++
    const base = { id: `e${i}`, turn }
    if (i % 100 === 0) {
      const text = `Prompt ${turn}: mend what is broken in the parser`
      return { ...base, kind: 'message', role: 'user', blocks: [{ type: 'text', text }] }
    }
    if (i % 3 === 0)
      return { ...base, kind: 'message', role: 'agent', blocks: [{ type: 'text', text: `${i}. ${ANSWER}` }] }
    return {
      ...base,
      kind: 'tool_call',
      toolCallId: `t${i}`,
      title: `Read ${i}.ts`,
      toolKind: 'read',
      status: 'completed',
      content: [{ type: 'content', content: { type: 'text', text: OUTPUT } }],
      locations: [{ path: `/w/${i}.ts` }],
      rawInput: { path: `/w/${i}.ts` },
      canCancel: false,
    }
  })
}

/** One turn of tool calls, whose files come in the opposite order if it is replayed. */
function longTurn(length: number, isReplayed = false): Entry[] {
  const [prompt, ...others] = conversation(length)
  const tools = others.filter(entry => entry.kind === 'tool_call')
  const inTurn = tools.map((tool, i): Entry => {
    const path = `/w/${isReplayed ? tools.length - 1 - i : i}.ts`
    return {
      ...tool,
      turn: 1,
      locations: [{ path }],
      ...(isReplayed && { toolCallId: `r${i}`, title: 'Read' }),
    }
  })
  return [prompt!, ...inTurn]
}

/** Milliseconds of CPU time, the best of several rounds after one for warm-up. */
function cost(known: Entry[], replay: Entry[]): number {
  const times: number[] = []
  for (let run = 0; run < 8; run++) {
    globalThis.gc?.()
    const before = process.cpuUsage()
    const { entries } = mergeEntries(known, replay)
    const { user, system } = process.cpuUsage(before)
    if (entries.length !== known.length)
      throw new Error(`${entries.length} entries instead of ${known.length}`)
    if (run > 0) times.push((user + system) / 1000)
  }
  return Math.min(...times)
}

/** Milliseconds of CPU time of each step. */
function steps(length: number): number[] {
  const merge = mergeInSteps(conversation(length), conversation(length))
  const times: number[] = []
  for (let isDone = false; !isDone; ) {
    const before = process.cpuUsage()
    isDone = merge.next().done === true
    const { user, system } = process.cpuUsage(before)
    times.push((user + system) / 1000)
  }
  return times
}

const [whole, longest] = [sum(steps(1_000)), Math.max(...steps(10_000))]
const step = longest / whole
console.log(
  `merge a replay in steps: all of 1,000 entries ${whole.toFixed(1)} ms, longest step of 10,000 ${longest.toFixed(1)} ms, ratio ${step.toFixed(2)}`,
)
if (step > STEP_BOUND) {
  console.error(`A step takes more than ${STEP_BOUND} times the merge of 1,000 entries.`)
  process.exitCode = 1
}

for (const [what, of] of [
  ['a replay', (length: number) => cost(conversation(length), conversation(length))],
  ['a long turn with new ids', (length: number) => cost(longTurn(length), longTurn(length, true))],
] as const) {
  of(1_000)
  const few = of(1_000)
  const many = of(10_000)
  const ratio = many / 10 / few
  console.log(
    `merge ${what}: 1,000 entries ${few.toFixed(1)} ms, 10,000 entries ${many.toFixed(1)} ms, ratio ${ratio.toFixed(2)}`,
  )
  if (ratio > BOUND) {
    console.error(`An entry of 10,000 costs more than ${BOUND} times one of 1,000.`)
    process.exitCode = 1
  }
}

function sum(times: readonly number[]): number {
  return times.reduce((all, one) => all + one, 0)
}
