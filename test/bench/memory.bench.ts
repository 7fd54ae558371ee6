/**
 * How much memory a series of attacks takes, with the heap limited: an agent that floods and doesn't read, one that uses
 * files without an end or in great numbers, a hostile repository and a hostile folder without one, and `git add` with
 * sparse files. Each round does all of them, since what one of them leaves behind adds up. Prints the peak of each; fails if
 * one is above the limit, or if the last round leaves much more than the first.
 *
 *   npm run bench -- memory
 */
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { AgentClient, AgentExit } from '../../src/acp/agent.ts'
import { startAgent } from '../../src/acp/start-agent.ts'
import { ChangeTracker } from '../../src/changes/change-tracker.ts'
import { WorkTree } from '../../src/changes/detect/work-tree.ts'
import { SessionChanges } from '../../src/changes/session-changes.ts'
import { silentLogger } from '../../src/common/logger.ts'
import { AgentSessions } from '../../src/conversation/agent-sessions.ts'
import { noDocuments } from '../../src/editor/files/documents.ts'
import { disk } from '../../src/editor/files/file-system.ts'
import { filesShared, SessionFiles } from '../../src/editor/files/files.ts'
import { branchOf } from '../../src/editor/git-branch.ts'
import { listOnDisk } from '../../src/editor/list-files.ts'
import { ChangesOnDisk } from '../support/changes-on-disk.ts'

const ROUNDS = Number(process.env.PARLEY_BENCH_ROUNDS ?? 3)
/** Resident memory. What one attack leaves behind adds up over the series. */
const MAX_PEAK_MB = 1500
/** What the rounds after the first may leave behind. */
const MAX_LEFT_MB = 150
const SPARSE_BYTES = 4 * 1024 ** 3
/** Git reads all of a sparse file that is added, which takes half a minute for 4 GB. */
const ADDED_BYTES = Number(process.env.PARLEY_BENCH_ADDED_BYTES ?? 256 * 1024 ** 2)

const top = mkdtempSync(path.join(tmpdir(), 'parley-memory-'))
const shared = filesShared({ documents: noDocuments, fileSystem: disk })
const store = new ChangesOnDisk(path.join(top, 'store'))
const tracker = new ChangeTracker({ files: shared, store })
const peaks: number[] = []
const rss = () => process.memoryUsage().rss / 1e6

async function measure(round: number, name: string, work: () => Promise<void>): Promise<void> {
  let peak = rss()
  const watch = setInterval(() => {
    peak = Math.max(peak, rss())
    // before it takes all memory of the system
    if (peak < 4 * MAX_PEAK_MB) return
    console.error(`${name}: ${peak.toFixed(0)} MB`)
    process.exit(1)
  }, 20)
  const start = performance.now()
  await work()
  clearInterval(watch)
  peaks.push(peak)
  const seconds = ((performance.now() - start) / 1000).toFixed(1)
  console.log(
    `round ${round}  ${name.padEnd(44)} ${seconds.padStart(6)} s, peak ${peak.toFixed(0).padStart(5)} MB`,
  )
}

/** Runs an agent whose code is `then`, after it created a session, until `done` resolves or it exits. */
async function attack(
  then: string,
  client: Partial<AgentClient>,
  done: (sessions: AgentSessions) => Promise<unknown>,
): Promise<void> {
  const code = `
    const write = text => process.stdout.write(text + '\\n')
    const send = message => write(JSON.stringify({ jsonrpc: '2.0', ...message }))
    const lines = require('readline').createInterface({ input: process.stdin })
    const update = update => send({ method: 'session/update', params: { sessionId: 's', update } })
    lines.on('line', line => {
      const { id, method } = JSON.parse(line)
      if (method === 'initialize') send({ id, result: { protocolVersion: 1, agentCapabilities: {} } })
      if (method === 'session/new') { send({ id, result: { sessionId: 's' } }); ${then} }
    })`
  const agent = await startAgent(
    {
      command: process.execPath,
      args: ['-e', code],
      env: { ...process.env } as Record<string, string>,
      cwd: top,
    },
    client as AgentClient,
    {
      clientInfo: { name: 'parley-bench', title: 'Parley benchmark', version: '0.0.0' },
      initializeTimeoutMs: 60_000,
      maxFrameBytes: 64 << 20,
      log: silentLogger,
    },
  )
  const sessions = new AgentSessions(agent)
  const closed = new Promise<AgentExit>(resolve => agent.onDidClose(resolve))
  await sessions.newSession({ cwd: top, additionalDirectories: [], mcpServers: [] })
  await Promise.race([done(sessions), closed])
  sessions.dispose()
  await agent.dispose()
}

const until = async (isDone: () => boolean) => {
  while (!isDone()) await new Promise(resolve => setTimeout(resolve, 20))
}

const never = () => new Promise<never>(() => {})

/** Its requests are never read: their answers are what fills up. */
const floods = () =>
  attack(
    `
    lines.close()
    process.stdin.pause()
    let count = 0
    const flood = () => {
      let text = ''
      for (let i = 0; i < 500; i++) text += '{"jsonrpc":"2.0","id":' + ++count + ',"method":"fs/nothing","params":{}}\\n'
      process.stdout.write(text, flood)
    }
    flood()`,
    {},
    never,
  )

/** The same tool call again and again, with another large content each time. */
const replaces = () =>
  attack(
    `for (let i = 0; i < 100; i++) update({ sessionUpdate: i ? 'tool_call_update' : 'tool_call', toolCallId: 't', title: 'T' + i, content: [{ type: 'content', content: { type: 'text', text: String(i % 10).repeat(1000000) } }] })`,
    {},
    sessions => until(() => JSON.stringify(sessions.get('s')?.state.entries[0] ?? '').includes('"T99"')),
  )

/** Files that are large, sparse, have no end, never answer or don't exist. */
async function triesFiles(root: string): Promise<void> {
  const files = new SessionFiles(shared, {
    roots: { cwd: root, additionalDirectories: [] },
    askAccess: async () => 'once',
  })
  const names = ['sparse', 'large', 'zero', 'pipe', 'growing', 'missing'].map(name => path.join(root, name))
  const paths = [...names, '/dev/zero', '/proc/kcore', '/proc/self/mem']
  const content = 'x'.repeat(1_000_000)
  const tries = Array.from({ length: 30 }, () => paths).flat()
  await Promise.allSettled(
    tries.flatMap((file, i) => [
      files.readTextFile({ path: file }),
      files.readTextFile({ path: file, line: 10 ** 9, limit: 1 }),
      ...(i < 100 ? [files.writeTextFile({ path: path.join(root, `made${i % 7}`), content })] : []),
    ]),
  )
  files.dispose()
}

/** Everything that Parley reads of a folder before and after a turn, in which the sparse file appears. */
async function turnIn(root: string, change: () => void): Promise<void> {
  const changes = new SessionChanges(tracker, `bench/${root}`, { cwd: root, additionalDirectories: [] })
  const tree = new WorkTree(changes)
  await tree.prepare([root])
  await branchOf(root)
  await listOnDisk(root)
  const before = await tree.snapshot([root])
  change()
  await changes.noticed((await tree.changed(before, { ranGit: true })).changes)
  changes.list()
  await changes.undo()
  changes.clear()
}

function makeHostile(root: string): void {
  mkdirSync(path.join(root, 'sub'), { recursive: true })
  for (const name of ['sparse', 'large', 'growing', 'sub/one']) writeFileSync(path.join(root, name), '')
  truncateSync(path.join(root, 'sparse'), SPARSE_BYTES)
  writeFileSync(path.join(root, 'large'), 'l'.repeat(45_000_000))
  if (process.platform === 'win32') return
  symlinkSync('/dev/zero', path.join(root, 'zero'))
  symlinkSync('/dev/zero', path.join(root, 'sub/.gitignore'))
  execFileSync('mkfifo', [path.join(root, 'pipe')])
}

const git = (root: string, ...args: string[]) =>
  execFileSync('git', ['-c', 'user.name=bench', '-c', 'user.email=bench@bench.example', ...args], {
    cwd: root,
    stdio: 'ignore',
  })

const left: number[] = []
let failed = false
try {
  await tracker.files.ready
  for (let round = 1; round <= ROUNDS; round++) {
    const root = path.join(top, `round${round}`)
    const folder = path.join(root, 'folder')
    const repository = path.join(root, 'repository')
    makeHostile(folder)
    makeHostile(repository)
    for (let i = 0; i < 3000; i++) writeFileSync(path.join(repository, 'sub', `${'n'.repeat(200)}${i}`), '')
    git(repository, 'init', '-q')
    for (let i = 0; i < 30; i++) git(repository, 'init', '-q', `nested${i}`)
    await measure(round, 'an agent that floods and reads no answers', floods)
    await measure(round, 'a tool call of 1 MB, replaced 100 times', replaces)
    await measure(round, 'files without an end, sparse and large', () => triesFiles(folder))
    await measure(round, 'a hostile folder', () =>
      turnIn(folder, () => {
        for (const name of ['growing', 'sub/one']) truncateSync(path.join(folder, name), SPARSE_BYTES)
      }),
    )
    await measure(round, 'a hostile repository', () =>
      turnIn(repository, () => truncateSync(path.join(repository, 'growing'), SPARSE_BYTES)),
    )
    rmSync(path.join(repository, 'pipe'), { force: true })
    for (const name of ['growing', 'sparse']) truncateSync(path.join(repository, name), ADDED_BYTES)
    await measure(round, 'git add with sparse files', () =>
      turnIn(repository, () => git(repository, 'add', '--', 'growing', 'sparse', 'large', 'zero', 'sub/one')),
    )
    rmSync(root, { recursive: true, force: true })
    await store.flushed()
    global.gc?.()
    left.push(rss())
  }
  const peak = Math.max(...peaks)
  const grown = left.at(-1)! - left[0]!
  failed = peak > MAX_PEAK_MB || grown > MAX_LEFT_MB
  console.log(
    `peak ${peak.toFixed(0)} MB (at most ${MAX_PEAK_MB}), after each round ${left.map(one => one.toFixed(0)).join(', ')} MB${failed ? ': TOO MUCH' : ''}`,
  )
} finally {
  tracker.dispose()
  store.dispose()
  rmSync(top, { recursive: true, force: true, maxRetries: 5 })
}
process.exit(failed ? 1 : 0)
