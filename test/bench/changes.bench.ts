/**
 * What tracking changes costs: 1,000 changed files, a turn that touches 200, keeping and undoing one change, a save and an
 * agent's write, and the longest time that any of it holds up the extension host. Prints times and ratios of one run, and
 * fails when the last files cost much more than the first ones, or when something holds it up much longer than writing
 * the same files does.
 *
 *   npm run bench -- changes
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { silentLogger } from '../../src/common/logger.ts'
import { ChangeTracker } from '../../src/editor/changes/change-tracker.ts'
import { ChangeScope, SessionChanges } from '../../src/editor/changes/session-changes.ts'
import { noDocuments } from '../../src/editor/files/documents.ts'
import { disk } from '../../src/editor/files/file-system.ts'
import { filesShared } from '../../src/editor/files/files.ts'
import { ChangesStore } from '../../src/history/changes-store.ts'

const CHANGED = 1000
const TOUCHED = 200
const LINES = 300
/** With 1,000 changed files one more costs at most so many times what it costs with 100; the machine is never quiet. */
const BOUND = 2
/** How much longer the longest task may be than while the same files are written without a tracker. Milliseconds. */
const MAX_BLOCK_MS = 50

const root = mkdtempSync(path.join(tmpdir(), 'parley-changes-bench-'))
const store = new ChangesStore(path.join(root, '.store'), silentLogger)
const files = filesShared({ documents: noDocuments, fileSystem: disk })
const tracker = new ChangeTracker({ files, store })
const changes = new SessionChanges(tracker, 'bench/session', { cwd: root, additionalDirectories: [] })
const all = new ChangeScope(tracker)
const text = (mark: string) =>
  Array.from({ length: LINES }, (_, i) => (i % 100 === 50 ? `line ${i} ${mark}\n` : `line ${i}\n`)).join('')
const file = (i: number) => path.join(root, `folder${i % 20}`, `file${i}.txt`)
for (let i = 0; i < 20; i++) mkdirSync(path.join(root, `folder${i}`))
for (let i = 0; i < CHANGED; i++) writeFileSync(file(i), text('before'))

let failed = false
let longest = 0

/** The longest time between two turns of the event loop in which this process, and not another one, was at work. */
function watchTasks(): () => number {
  let most = 0
  let at = performance.now()
  let cpu = process.cpuUsage()
  const look = () => {
    const { user, system } = process.cpuUsage(cpu)
    most = Math.max(most, Math.min(performance.now() - at, (user + system) / 1000))
    at = performance.now()
    cpu = process.cpuUsage()
  }
  const timer = setInterval(look, 2)
  return () => {
    clearInterval(timer)
    look()
    return most
  }
}

/** Milliseconds for each of `count`. */
async function measure(name: string, count: number, work: (i: number) => Promise<unknown>): Promise<number> {
  global.gc?.()
  const ended = watchTasks()
  const start = performance.now()
  for (let i = 0; i < count; i++) {
    await work(i)
    // each is a task of its own
    await new Promise(setImmediate)
  }
  const each = (performance.now() - start) / count
  const block = ended()
  longest = Math.max(longest, block)
  console.log(
    `${name.padEnd(44)} ${each.toFixed(2).padStart(8)} ms each, longest task ${block.toFixed(0)} ms`,
  )
  return each
}

const write = (i: number, mark: string) =>
  changes.writing(file(i), text(mark), () => writeFile(file(i), text(mark)))

try {
  await tracker.ready
  // the code is compiled and the store's folders are there
  for (let i = 0; i < 20; i++) await write(i, 'warm')
  await changes.undo()
  await store.flushed()
  await measure('the same writes without a tracker', 400, i => writeFile(file(i % CHANGED), text('before')))
  const quiet = longest
  longest = 0
  const first = await measure('an agent’s write, 1 to 100 changed files', 100, i => write(i, 'agent'))
  await measure('an agent’s write, 101 to 900', 800, i => write(i + 100, 'agent'))
  const last = await measure('an agent’s write, 901 to 1,000', 100, i => write(i + 900, 'agent'))
  changes.beginTurn(2, () => true)
  await measure('a turn that touches 200 files, a file', TOUCHED, i => write(i, 'again'))
  await measure('the end of that turn', 1, () => changes.endTurn())
  await measure('the list of 1,000 files', 20, async () => changes.list())
  await measure('the list after one more change', 20, async i => {
    await write(i, `more ${i}`)
    return changes.list()
  })
  await measure('a save of a changed file', 100, async i => {
    const saved = `${text('again')}mine ${i}\n`
    await writeFile(file(i + 100), saved)
    tracker.saved(file(i + 100), saved)
    return tracker.textOf(file(i + 100))
  })
  await tracker.refresh()
  await measure('undo of one change', 50, i => {
    const [hunk] = all.hunks(file(i + 300))
    return all.undo({ hunks: { path: file(i + 300), ids: new Set([hunk!.id]) } })
  })
  await measure('keep of one change', 50, async i => {
    const [hunk] = all.hunks(file(i + 400))
    all.keep({ hunks: { path: file(i + 400), ids: new Set([hunk!.id]) } })
  })
  await measure('a look at 1,000 files', 1, () => tracker.refresh())
  await measure('undo of all', 1, () => changes.undo())
  await store.flushed()
  const ratio = last / first
  const slow = ratio > BOUND
  const blocks = longest > MAX_BLOCK_MS + quiet
  failed = slow || blocks
  console.log(
    `the last hundred writes cost ${ratio.toFixed(2)} times the first hundred (at most ${BOUND})${slow ? ': TOO MUCH' : ''}`,
  )
  console.log(
    `the longest task took ${longest.toFixed(0)} ms (at most ${(MAX_BLOCK_MS + quiet).toFixed(0)})${blocks ? ': TOO LONG' : ''}`,
  )
} finally {
  tracker.dispose()
  store.dispose()
  rmSync(root, { recursive: true, force: true })
}
if (failed) process.exitCode = 1
