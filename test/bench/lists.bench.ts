/**
 * Whether one change costs the same among 10,000 items as among 100: a session in the page of History, and a tool call
 * that changes in a folded run or is added to it. Prints times and ratios, and fails if 10,000 cost more. Also checks
 * that the extension host sends only the changed session, and makes the first rows of History without all others.
 *
 *   npm run bench -- lists
 */
import { signal } from '@preact/signals'
import { HistoryPageState, historyState } from '../../src/app/history/rows.ts'
import type { HistoryChanges, HistoryRow } from '../../src/bridge/history.ts'
import type { HistoryItem } from '../../src/sessions/listing/history-item.ts'
import type { HistoryList } from '../../src/sessions/listing/history-list.ts'
import { RowModel } from '../../src/webview/conversation/rows/rows.ts'
import { EntrySlot } from '../../src/webview/conversation/slot.ts'
import { HistoryLines } from '../../src/webview/history/items.ts'
import { toolCall } from '../unit/webview/conversation/entries.ts'
import { historyRow, plainSummary } from '../unit/webview/history/rows.ts'

const FEW = 100
const MANY = 10_000
const CHANGES = 2000
/** The maximum ratio. It should be 1; work on all items would make it 100, and the rest is noise. */
const BOUND = 4

const numbers = (count: number) => Array.from({ length: count }, (_, i) => i)

/** A session that starts and ends its turn. */
function history(count: number): () => void {
  const now = Date.now()
  const row = (i: number, more?: Partial<HistoryRow>) =>
    historyRow(String(i), { updatedAt: now - i * 1000, ...more })
  const tell = (rows: HistoryRow[], more?: Partial<HistoryChanges>) =>
    lines.update({ ...plainSummary, rows, ...more })
  const lines = new HistoryLines()
  lines.show({ text: '', here: false, archived: false }, now)
  tell(numbers(count).map(i => row(i)))
  let isRunning = false
  return () => {
    isRunning = !isRunning
    tell([row(count / 2, { activity: isRunning ? 'running' : 'idle' })], { removed: [] })
  }
}

function runOf(count: number) {
  const read = (i: number, status: 'completed' | 'failed' = 'completed') =>
    toolCall(`t${i}`, { toolKind: 'read', status })
  const rows = new RowModel({
    run: () => signal(false),
    hides: () => false,
    asideAt: () => undefined,
    hiddenAsideAt: () => undefined,
  })
  const slots = numbers(count).map(i => new EntrySlot(i, read(i), signal(false)))
  rows.reset(slots)
  return { read, rows, slots }
}

function changeInRun(count: number): () => void {
  const { read, rows, slots } = runOf(count)
  const at = count / 2
  let hasFailed = false
  return () => {
    hasFailed = !hasFailed
    slots[at]!.replace(read(at, hasFailed ? 'failed' : 'completed'))
    rows.changed(at, at + 1)
  }
}

function growingRun(count: number): () => void {
  const { read, rows } = runOf(count)
  return () => {
    const at = rows.slots.length
    rows.slots.push(new EntrySlot(at, read(at), signal(false)))
    rows.changed(at, at + 1)
  }
}

/** Microseconds for one change, the best of several rounds. */
function cost(make: (count: number) => () => void, count: number): number {
  const rounds = numbers(5).map(() => {
    const change = make(count)
    for (let i = 0; i < 200; i++) change()
    const begun = performance.now()
    for (let i = 0; i < CHANGES; i++) change()
    return ((performance.now() - begun) * 1000) / CHANGES
  })
  return Math.min(...rounds)
}

let failed = false
const works = {
  'a session of History changes': history,
  'a tool call of a folded run changes': changeInRun,
  'a tool call comes to a folded run': growingRun,
}
for (const [name, make] of Object.entries(works)) {
  // the first rounds are for warm-up
  cost(make, FEW)
  const [few, many] = [cost(make, FEW), cost(make, MANY)]
  const ratio = many / few
  failed ||= ratio > BOUND
  console.log(
    `${name}: ${few.toFixed(1)} µs among ${FEW}, ${many.toFixed(1)} µs among ${MANY} (ratio ${ratio.toFixed(2)}, at most ${BOUND})`,
  )
}

const items = numbers(MANY).map(
  (i): HistoryItem => ({
    agentId: 'a',
    agentName: 'Agent',
    sessionId: String(i),
    cwd: '/work/project',
    open: false,
    archived: false,
    pinned: false,
    canLoad: true,
    canResume: true,
    canClose: false,
    canDelete: false,
    deletesCopy: false,
    canFork: false,
    canArchive: false,
  }),
)
const list = { items: () => items, agents: () => [] } as unknown as HistoryList
const around = {
  isHere: () => true,
  worktreeOf: () => undefined,
  endedOf: () => undefined,
  isShown: () => false,
  accountOf: () => undefined,
  iconOf: () => undefined,
  others: [],
}
/** Milliseconds until a new page gets its first rows, and the same with the rows of all sessions. The best of several rounds. */
function firstRows(isAll: boolean): number {
  const rounds = numbers(10).map(() => {
    const fresh = structuredClone(items)
    const own = { ...list, items: () => fresh } as unknown as HistoryList
    const begun = performance.now()
    new HistoryPageState().update(most =>
      historyState(own, { ...plainSummary, ...around }, isAll ? undefined : most),
    )
    return performance.now() - begun
  })
  return Math.min(...rounds)
}
const [whole, first] = [firstRows(true), firstRows(false)]
failed ||= first * BOUND > whole
console.log(
  `the first rows of ${MANY} sessions: ${first.toFixed(1)} ms, all of them ${whole.toFixed(1)} ms (ratio ${(whole / first).toFixed(0)}, at least ${BOUND})`,
)

const sent = new HistoryPageState()
const send = () => sent.update(most => historyState(list, { ...plainSummary, ...around }, most))
// the first rows come before the others, which come in parts
let all = 0
for (let changes = send(); changes; changes = changes.more && send()) all += JSON.stringify(changes).length
items[MANY / 2] = { ...items[MANY / 2]!, open: true, activity: 'running' }
const begun = performance.now()
const changes = send()
const took = performance.now() - begun
const one = JSON.stringify(changes).length
failed ||= changes?.rows.length !== 1
console.log(
  `sent of ${MANY} sessions: ${all} bytes at first, ${one} when one changed (ratio ${(all / one).toFixed(0)}), found in ${took.toFixed(0)} ms`,
)

if (failed) {
  console.error('A change costs more among many.')
  process.exitCode = 1
}
