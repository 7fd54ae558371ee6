/**
 * Whether a chunk costs the same at the end of a long session as at its start: 100,000 chunks go through the reducer
 * and into the change set, which a view takes from time to time. Prints the time of the first and the last tenth and
 * their ratio, and fails above the limit.
 *
 *   npm run bench -- reduce
 */
import type { SessionUpdate } from '../../src/acp/model.ts'
import { ChangeSet } from '../../src/conversation/change-set.ts'
import { createSessionState, reduce } from '../../src/conversation/reducer/reduce.ts'

const CHUNKS = 100_000
/** Chunks between two frames: one at 40 chunks per second, hundreds at full speed. */
const FRAME = 50
/** The maximum ratio. The first tenth includes warm-up, the last one garbage collection. */
const BOUND = 1.5
const ROUNDS = 15

const text = 'twenty-four characters, '

/** The update at an index, for each kind of session. */
const sessions: Record<string, (at: number) => SessionUpdate> = {
  'one message': () => ({
    type: 'message_chunk',
    role: 'agent',
    messageId: 'm',
    content: { type: 'text', text },
  }),
  'a new message every 100 chunks': at => ({
    type: 'message_chunk',
    role: Math.floor(at / 100) % 2 === 0 ? 'agent' : 'thought',
    content: { type: 'text', text },
  }),
  'a new tool call every 20 updates': at => ({
    type: 'tool_call',
    toolCall: {
      toolCallId: `t${Math.floor(at / 20)}`,
      title: text,
      status: at % 20 === 19 ? 'completed' : 'in_progress',
    },
  }),
  'one terminal': () => ({ type: 'terminal_output', terminalId: 'x', text: `${text}\n` }),
}

function run(make: (at: number) => SessionUpdate): { first: number; last: number; all: number } {
  const state = createSessionState()
  const changes = new ChangeSet()
  const tenth = CHUNKS / 10
  const marks: number[] = []
  for (let at = 0; at < CHUNKS; at++) {
    if (at % tenth === 0) marks.push(performance.now())
    changes.add(reduce(state, make(at), 1))
    if (at % FRAME === 0) changes.take()
  }
  marks.push(performance.now())
  return { first: marks[1]! - marks[0]!, last: marks[10]! - marks[9]!, all: marks[10]! - marks[0]! }
}

let failed = false
for (const [name, make] of Object.entries(sessions)) {
  run(make)
  const runs = Array.from({ length: ROUNDS }, () => run(make))
  // the minimum of each, since other processes only add to it
  const [first = 0, last = 0, all = 0] = (['first', 'last', 'all'] as const).map(key =>
    Math.min(...runs.map(one => one[key])),
  )
  const ratio = last / first
  failed ||= ratio > BOUND
  const rate = Math.round(CHUNKS / (all / 1000)).toLocaleString('en')
  console.log(
    `${name}: first tenth ${first.toFixed(2)} ms, last tenth ${last.toFixed(2)} ms, ratio ${ratio.toFixed(2)}, ${rate} chunks/s`,
  )
}
if (failed) {
  console.error(`The last tenth took more than ${BOUND} times as long as the first.`)
  process.exitCode = 1
}
