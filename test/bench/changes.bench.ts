/**
 * The cost of tracking changes: 1,000 changed files, a turn that changes 200, keeping and reverting one change, a save
 * and an agent's write, 200 moved files, finding 1,000 files that a command changed in a repository with 50,000 and in
 * a folder with 10,000 without a repository, and the longest time that any of it blocks the extension host. Prints
 * times and ratios of one run. Fails if
 * - the last files cost much more than the first ones,
 * - an agent's write, or undoing one, needs many more requests to the file system than a plain write,
 * - finding changes costs much more than `git status`, or than reading names and stats,
 * - or something blocks the extension host much longer than writing the same files.
 *
 *   npm run bench -- changes
 */
import { createHook } from 'node:async_hooks'
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { lstat, readdir, rename, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { ChangeTracker } from '../../src/changes/change-tracker.ts'
import { WorkTree } from '../../src/changes/detect/work-tree.ts'
import { ChangeScope, SessionChanges } from '../../src/changes/session-changes.ts'
import { noDocuments } from '../../src/editor/files/documents.ts'
import { disk } from '../../src/editor/files/file-system.ts'
import { filesShared } from '../../src/editor/files/files.ts'
import { ChangesOnDisk } from '../support/changes-on-disk.ts'

const CHANGED = 1000
const TOUCHED = 200
const LINES = 300
/** One more file costs at most this many times as much after 1,000 changed files as after 100. */
const BOUND = 2
const REPOSITORY_FILES = 50_000
const FOLDER_FILES = 10_000
/**
 * Finding the changes of a turn without a repository costs at most this many times as much as reading names and stats.
 */
const SCAN_BOUND = 8
/** Finding the changes of a turn costs at most this many times as much as `git status` before and after it. */
const FIND_BOUND = 3.5
/** An agent's write needs at most this many times as many requests to the file system as a plain one. */
const REQUEST_BOUND = 6.5
/** Undoing a file needs at most this many times as many as a plain write. */
const UNDO_BOUND = 15
/** How much longer the longest task can be than while the same files are written without a tracker. Milliseconds. */
const MAX_BLOCK_MS = 50

const root = mkdtempSync(path.join(tmpdir(), 'parley-changes-bench-'))
const store = new ChangesOnDisk(path.join(root, '.store'))
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

/** The longest time in which this process was working between two iterations of the event loop. */
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

/** Milliseconds to write one of the files without a tracker: the unit of all other costs. */
let plain: number | undefined

/** Milliseconds per file. */
async function measure(name: string, count: number, work: (i: number) => Promise<unknown>): Promise<number> {
  global.gc?.()
  const ended = watchTasks()
  const start = performance.now()
  for (let i = 0; i < count; i++) {
    await work(i)
    // each is a separate task
    await new Promise(setImmediate)
  }
  const each = (performance.now() - start) / count
  const block = ended()
  longest = Math.max(longest, block)
  const times = plain === undefined ? '' : `${(each / plain).toFixed(1)} plain writes, `
  console.log(
    `${name.padEnd(44)} ${each.toFixed(2).padStart(8)} ms each, ${times}longest task ${block.toFixed(0)} ms`,
  )
  return each
}

/** How many requests to the file system it makes: unlike its time, the same on a busy machine. */
async function requestsOf(work: () => Promise<unknown>): Promise<number> {
  let requests = 0
  const counting = createHook({
    init: (_, type) => {
      if (/^(FSREQ|FILEHANDLECLOSEREQ)/.test(type)) requests++
    },
  }).enable()
  await work()
  counting.disable()
  return requests
}

const write = (i: number, mark: string) =>
  changes.writing(file(i), text(mark), () => writeFile(file(i), text(mark)))

/** Finding the changes of a command in a large repository, compared with Git's own status before and after. */
async function repository(): Promise<number> {
  const top = path.join(root, 'repository')
  const named = (i: number) => path.join(top, `folder${i % 500}`, `file${i}.txt`)
  // Git must not continue in the background
  const settings = [
    'user.name=bench',
    'user.email=bench@bench.example',
    'gc.auto=0',
    'maintenance.auto=false',
  ]
  const git = (...args: string[]) =>
    execFileSync('git', [...settings.flatMap(setting => ['-c', setting]), ...args], { cwd: top })
  for (let i = 0; i < 500; i++) mkdirSync(path.join(top, `folder${i}`), { recursive: true })
  for (let i = 0; i < REPOSITORY_FILES; i++) writeFileSync(named(i), `file ${i}\n`)
  git('init', '-q')
  git('add', '.')
  git('commit', '-q', '-m', 'all')
  const tree = new WorkTree(changes)
  const status = async () => git('status', '--porcelain', '--untracked-files=all')
  // once without measuring, so that Git updates its index
  await status()
  const gitBefore = await measureOther('git status, 50,000 files', status)
  let snapshot: Awaited<ReturnType<typeof tree.snapshot>> | undefined
  const before = await measure('a look before a turn, 50,000 files', 1, async () => {
    snapshot = await tree.snapshot([top])
  })
  for (let i = 0; i < CHANGED; i++) writeFileSync(named(i), `file ${i}\nby a command\n`)
  const gitAfter = await measureOther('git status, 1,000 of them changed', status)
  let seen = 0
  const after = await measure('what changed, 1,000 of 50,000 files', 1, async () => {
    seen = (await tree.changed(snapshot!)).changes.length
  })
  if (seen !== CHANGED) throw new Error(`${seen} changed files were found, not ${CHANGED}`)
  git('rm', '-r', '-q', '--cached', '.')
  await measure('a look at 50,000 untracked files', 1, async () => {
    snapshot = await tree.snapshot([top])
  })
  await measure('what changed among them', 1, () => tree.changed(snapshot!))
  return (before + after) / (gitBefore + gitAfter)
}

/** The same without Git, compared with reading all names and stats before and after. */
async function folder(): Promise<number> {
  const top = path.join(root, 'folder')
  const named = (i: number) => path.join(top, `folder${i % 100}`, `file${i}.txt`)
  for (let i = 0; i < 100; i++) mkdirSync(path.join(top, `folder${i}`), { recursive: true })
  for (let i = 0; i < FOLDER_FILES; i++) writeFileSync(named(i), `file ${i}\n`)
  const stamps = async () => {
    for (const name of await readdir(top, { recursive: true })) await lstat(path.join(top, name))
  }
  const tree = new WorkTree(changes)
  await measure('the first look without a repository, a file', 1, () => tree.prepare([top]))
  let snapshot: Awaited<ReturnType<typeof tree.snapshot>> | undefined
  const plainBefore = await measureOther('names and stamps of 10,000 files', stamps)
  const before = await measure('a look before a turn, 10,000 files', 1, async () => {
    snapshot = await tree.snapshot([top])
  })
  for (let i = 0; i < CHANGED; i++) writeFileSync(named(i), `file ${i}\nby a command\n`)
  const plainAfter = await measureOther('names and stamps, 1,000 of them changed', stamps)
  let seen = 0
  const after = await measure('what changed, 1,000 of 10,000 files', 1, async () => {
    seen = (await tree.changed(snapshot!)).changes.length
  })
  if (seen !== CHANGED) throw new Error(`${seen} changed files were found, not ${CHANGED}`)
  return (before + after) / (plainBefore + plainAfter)
}

/** Milliseconds that another process takes. */
async function measureOther(name: string, work: () => Promise<unknown>): Promise<number> {
  const start = performance.now()
  await work()
  const time = performance.now() - start
  console.log(`${name.padEnd(44)} ${time.toFixed(2).padStart(8)} ms`)
  return time
}

try {
  await tracker.files.ready
  // warm-up: compiles the code and creates the store's folders
  for (let i = 0; i < 20; i++) await write(i, 'warm')
  await changes.undo()
  await store.flushed()
  plain = await measure('the same writes without a tracker', 400, i =>
    writeFile(file(i % CHANGED), text('before')),
  )
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
    tracker.edits.saved(file(i + 100), saved)
    return tracker.reader.textOf(file(i + 100))
  })
  await tracker.disk.refresh()
  await measure('undo of one change', 50, i => {
    const [hunk] = all.hunks(file(i + 300))
    return all.undo({ hunks: { path: file(i + 300), ids: new Set([hunk!.id]) } })
  })
  await measure('keep of one change', 50, async i => {
    const [hunk] = all.hunks(file(i + 400))
    all.keep({ hunks: { path: file(i + 400), ids: new Set([hunk!.id]) } })
  })
  await measure('a refresh of 1,000 files', 1, () => tracker.disk.refresh())
  const moved = Array.from({ length: TOUCHED }, (_, i) => file(i + 600))
  const target = (one: string) => path.join(root, 'moved', path.basename(one))
  mkdirSync(path.join(root, 'moved'))
  const named = moved.flatMap(one => [one, target(one)])
  await changes.tool({ toolCallId: 'move', begun: true, done: false }, [], named)
  for (const one of moved) await rename(one, target(one))
  await measure('200 files that were moved', 1, () =>
    changes.tool({ toolCallId: 'move', begun: true, done: true }, [], named),
  )
  await measure('the list with 200 moved files', 20, async () => changes.list())
  if (changes.list().filter(({ status }) => status === 'renamed').length !== TOUCHED)
    throw new Error('The moved files are not listed as such.')
  await measure('undo of all', 1, () => changes.undo())
  await store.flushed()
  // as after some days of work, when the folders for contents are there
  for (let i = 0; i < CHANGED; i++) await write(i, `another ${i}`)
  const plainRequests = await requestsOf(() => writeFile(file(0), text('agent')))
  const requests = (await requestsOf(() => write(CHANGED - 1, 'counted'))) / plainRequests
  await store.flushed()
  const undone = Array.from({ length: 100 }, (_, i) => file(i))
  const undoing = await requestsOf(async () => {
    await changes.undo({ paths: undone })
    await store.flushed()
  })
  const undoRequests = undoing / undone.length / plainRequests
  const scanned = await folder()
  const scansSlowly = scanned > SCAN_BOUND
  const found = await repository()
  const findsSlowly = found > FIND_BOUND
  const ratio = last / first
  const slow = ratio > BOUND
  const blocks = longest > MAX_BLOCK_MS + quiet
  const asksOften = requests > REQUEST_BOUND
  const undoesOften = undoRequests > UNDO_BOUND
  failed = slow || blocks || findsSlowly || scansSlowly || asksOften || undoesOften
  console.log(
    `the last hundred writes cost ${ratio.toFixed(2)} times the first hundred (at most ${BOUND})${slow ? ': TOO MUCH' : ''}`,
  )
  console.log(
    `an agent’s write needs ${requests.toFixed(2)} times the requests of a plain one to the file system (at most ${REQUEST_BOUND})${asksOften ? ': TOO MANY' : ''}`,
  )
  console.log(
    `undoing a file needs ${undoRequests.toFixed(2)} times the requests of a plain write (at most ${UNDO_BOUND})${undoesOften ? ': TOO MANY' : ''}`,
  )
  console.log(
    `finding what a turn changed costs ${found.toFixed(2)} times git status before and after (at most ${FIND_BOUND})${findsSlowly ? ': TOO MUCH' : ''}`,
  )
  console.log(
    `without a repository it costs ${scanned.toFixed(2)} times reading names and stamps before and after (at most ${SCAN_BOUND})${scansSlowly ? ': TOO MUCH' : ''}`,
  )
  console.log(
    `the longest task took ${longest.toFixed(0)} ms (at most ${(MAX_BLOCK_MS + quiet).toFixed(0)})${blocks ? ': TOO LONG' : ''}`,
  )
} finally {
  tracker.dispose()
  store.dispose()
  rmSync(root, { recursive: true, force: true, maxRetries: 5 })
}
if (failed) process.exitCode = 1
