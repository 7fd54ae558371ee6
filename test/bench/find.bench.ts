/**
 * How long it takes to find text in a conversation of 10,000 entries, and whether a search that follows 100,000 chunks
 * of one message costs the same at the end as at the start. Prints times and ratios. Fails if a search takes long
 * enough for a user to notice, or if the end costs more than the start.
 *
 *   npm run bench -- find
 */
import type { SessionUpdate } from '../../src/acp/model.ts'
import { FindSearch } from '../../src/app/conversation/find-search.ts'
import type { FindQuery } from '../../src/common/find-pattern.ts'
import { createSessionState, reduce } from '../../src/conversation/reducer/reduce.ts'

const ENTRIES = 10_000
const CHUNKS = 100_000
/** Chunks per iteration of the event loop. */
const BATCH = 100
const LONGEST_MS = 100
/** The maximum ratio of the end to the start. It should be 1; the rest is noise. */
const BOUND = 1.6

const said = (text: string, messageId: string): SessionUpdate => ({
  type: 'message_chunk',
  role: 'agent',
  messageId,
  content: { type: 'text', text },
})
const query = (text: string): FindQuery => ({ text, matchCase: false, wholeWord: false, regex: false })

async function timed(work: () => unknown): Promise<number> {
  const start = performance.now()
  await work()
  return performance.now() - start
}

async function searches(): Promise<{ first: number; again: number }> {
  const state = createSessionState()
  for (let i = 0; i < ENTRIES; i++) {
    const prose = 'some prose that says nothing of note, '.repeat(10)
    reduce(
      state,
      said(`Message **${i}** names \`value_${i}\` of [it](src/file-${i}.ts). ${prose}`, `m${i}`),
      1,
    )
  }
  const search = new FindSearch(
    () => state,
    () => {},
  )
  const first = await timed(() => search.start(1, query('names')))
  const again = await timed(() => search.start(2, query('value_99')))
  search.dispose()
  return { first, again }
}

async function following(): Promise<{ first: number; last: number }> {
  const state = createSessionState()
  const search = new FindSearch(
    () => state,
    () => {},
  )
  reduce(state, said('begin', 'm'), 1)
  await search.start(1, query('needle'))
  const marks: number[] = []
  for (let at = 0; at < CHUNKS; at++) {
    if (at % (CHUNKS / 10) === 0) marks.push(performance.now())
    search.note(reduce(state, said(at % 50 === 0 ? 'a **needle** \n\n' : 'twenty-four characters, ', 'm'), 1))
    if (at % BATCH === 0) await new Promise(resolve => setImmediate(resolve))
  }
  marks.push(performance.now())
  search.dispose()
  return { first: marks[1]! - marks[0]!, last: marks[10]! - marks[9]! }
}

const least = (values: number[]) => Math.min(...values)
const rounds = []
for (let i = 0; i < 5; i++) rounds.push({ ...(await searches()), stream: await following() })
const first = rounds[0]!.first
const warm = least(rounds.map(round => round.first))
const again = least(rounds.map(round => round.again))
const ratio = least(rounds.map(({ stream }) => stream.last / stream.first))
console.log(
  `find in ${ENTRIES} entries: ${first.toFixed(0)} ms the very first time, ${warm.toFixed(0)} ms warm, ` +
    `${again.toFixed(0)} ms with the next letter; following ${CHUNKS} chunks: last tenth / first tenth ${ratio.toFixed(2)}`,
)
if (warm > LONGEST_MS || again > LONGEST_MS || ratio > BOUND) {
  console.error('too slow')
  process.exitCode = 1
}
