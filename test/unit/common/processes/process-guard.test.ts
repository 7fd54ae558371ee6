import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { mock } from 'node:test'
import { build } from 'esbuild'
import { createProcessGuard } from '../../../../src/common/processes/process-guard.ts'
import { operatingSystem } from '../../../../src/common/processes/process-system.ts'
import { until } from '../../../support/until.ts'

const SOURCE = path.resolve(import.meta.dirname, '../../../../src/common/processes')

const treeIsAlive = (pid: number) => operatingSystem.exists(-pid)

/** An agent that ignores the end of its input and SIGTERM. */
const STUBBORN = `process.on('SIGTERM', () => {}); process.stdin.resume(); setInterval(() => {}, 1000); console.log('ready')`

/**
 * The parent: starts two such process groups and a guard that watches both, removes the second, and prints their ids.
 * Then it runs until it's killed, or disposes its guard on request.
 */
const PARENT = `
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createProcessGuard } from ${JSON.stringify(path.join(SOURCE, 'process-guard.ts'))}
import { operatingSystem } from ${JSON.stringify(path.join(SOURCE, 'process-system.ts'))}
const log = { trace() {}, debug() {}, info() {}, warn: text => console.error(text), error: text => console.error(text) }
const guard = createProcessGuard({ script: process.argv[2], graceMs: Number(process.argv[3]), closeMs: Number(process.argv[4]), log })
const pids = []
for (let i = 0; i < 2; i++) {
  const child = spawn(process.execPath, ['-e', ${JSON.stringify(STUBBORN)}], { detached: true, stdio: ['pipe', 'pipe', 'ignore'] })
  guard.add(child.pid)
  await once(child.stdout, 'data')
  pids.push(child.pid)
}
guard.remove(pids[1])
// one in a group of its own, whose parent exits with the input
const code = \`const { pid } = require('node:child_process').spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { detached: true, stdio: 'ignore' })
console.log(pid); process.stdin.resume(); process.stdin.on('end', () => process.exit(0))\`
const root = spawn(process.execPath, ['-e', code], { detached: true, stdio: ['pipe', 'pipe', 'ignore'] })
guard.add(root.pid)
const [output] = await once(root.stdout, 'data')
const daemon = Number(output)
const { started } = (await operatingSystem.list()).find(({ pid }) => pid === daemon)
guard.follow(root.pid, new Map([[daemon, started]]), started)
pids.push(daemon)
process.stdin.on('data', text => { if (String(text).includes('dispose')) { guard.dispose(); void guard.closed.then(() => { console.log('closed'); process.exit(0) }) }
  if (String(text).includes('gone')) for (const pid of [pids[0], root.pid]) guard.remove(pid) })
console.log(pids.join(' '))
`

/**
 * An agent that starts two daemons in groups of their own, each by way of a process that exits at once. The first has left
 * the agent when its processes are looked at; the second starts after that. Prints their ids, and runs until it's killed.
 */
const NEWBORN = `
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createProcessGuard } from ${JSON.stringify(path.join(SOURCE, 'process-guard.ts'))}
import { operatingSystem } from ${JSON.stringify(path.join(SOURCE, 'process-system.ts'))}
const log = { trace() {}, debug() {}, info() {}, warn: text => console.error(text), error: text => console.error(text) }
const guard = createProcessGuard({ script: process.argv[2], graceMs: 0, log })
const helper = \`const { pid } = require('node:child_process').spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { detached: true, stdio: 'ignore' })
console.log(pid); process.exit(0)\`
const agent = \`process.stdin.on('data', () => require('node:child_process').spawn(process.execPath, ['-e', \${JSON.stringify(helper)}], { stdio: ['ignore', 'inherit', 'ignore'] }))
process.stdin.on('end', () => process.exit(0))\`
const variable = 'PARLEY_TEST=' + process.pid
const env = { ...process.env, PARLEY_TEST: String(process.pid) }
const root = spawn(process.execPath, ['-e', agent], { detached: true, stdio: ['pipe', 'pipe', 'ignore'], env })
guard.add(root.pid, variable)
const start = async () => {
  root.stdin.write('start')
  return Number((await once(root.stdout, 'data'))[0])
}
const left = await start()
const { started } = (await operatingSystem.list()).find(({ pid }) => pid === left)
guard.follow(root.pid, new Map(), started + 1)
console.log(left, await start())
`

describe('the process guard', () => {
  let folder: string
  let guardScript: string
  let parentScript: string

  before(async function () {
    if (process.platform === 'win32') this.skip()
    folder = await mkdtemp(path.join(os.tmpdir(), 'parley-guard-'))
    guardScript = path.join(folder, 'process-guard.cjs')
    parentScript = path.join(folder, 'parent.mjs')
    await writeFile(path.join(folder, 'parent.ts'), PARENT)
    const common = { bundle: true, platform: 'node', logLevel: 'warning' } as const
    await build({
      ...common,
      entryPoints: [path.join(SOURCE, 'process-guard-main.ts')],
      outfile: guardScript,
      format: 'cjs',
    })
    await build({
      ...common,
      entryPoints: [path.join(folder, 'parent.ts')],
      outfile: parentScript,
      format: 'esm',
    })
  })
  after(() => rm(folder, { recursive: true, force: true }))

  async function withParent(
    use: (parent: ChildProcess, watched: number, forgotten: number, daemon: number) => Promise<void>,
    { graceMs = 100, closeMs = 100 } = {},
  ): Promise<void> {
    const parent = spawn(process.execPath, [parentScript, guardScript, String(graceMs), String(closeMs)], {
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    let pids: number[] = []
    try {
      const [output] = await once(parent.stdout!, 'data')
      pids = String(output).trim().split(' ').map(Number)
      await use(parent, pids[0]!, pids[1]!, pids[2]!)
    } finally {
      parent.kill('SIGKILL')
      for (const pid of pids) if (treeIsAlive(pid)) process.kill(-pid, 'SIGKILL')
    }
  }

  it('stops the agents of a killed process that it still watches, and no others', async () => {
    await withParent(async (parent, watched, forgotten) => {
      assert.ok(treeIsAlive(watched))
      parent.kill('SIGKILL')
      await until(() => !treeIsAlive(watched))
      assert.ok(treeIsAlive(forgotten))
    })
  })

  it('stops what an agent started in a group of its own and that exited with the killed process', async () => {
    await withParent(async (parent, _, __, daemon) => {
      assert.ok(treeIsAlive(daemon))
      parent.kill('SIGKILL')
      await until(() => !treeIsAlive(daemon))
    })
  })

  it('stops new processes of an agent, also without their parent, but none that left the agent earlier', async function () {
    if (process.platform !== 'linux') this.skip()
    const file = path.join(folder, 'newborn.ts')
    await writeFile(file, NEWBORN)
    const outfile = path.join(folder, 'newborn.mjs')
    await build({ entryPoints: [file], outfile, bundle: true, platform: 'node', format: 'esm' })
    const parent = spawn(process.execPath, [outfile, guardScript], { stdio: ['pipe', 'pipe', 'inherit'] })
    let pids: number[] = []
    try {
      pids = String((await once(parent.stdout!, 'data'))[0])
        .trim()
        .split(' ')
        .map(Number)
      const [left, newborn] = pids
      parent.kill('SIGKILL')
      await until(() => !treeIsAlive(newborn!))
      assert.ok(treeIsAlive(left!))
    } finally {
      parent.kill('SIGKILL')
      for (const pid of pids) if (treeIsAlive(pid)) process.kill(-pid, 'SIGKILL')
    }
  })

  it('stops remaining processes some time after it was disposed', async () => {
    await withParent(
      async (parent, watched, forgotten) => {
        parent.stdin?.write('dispose\n')
        await until(() => !treeIsAlive(watched))
        assert.ok(treeIsAlive(forgotten))
      },
      { graceMs: 600_000 },
    )
  })

  it('exits as soon as all processes have exited by themselves', async () => {
    await withParent(
      async (parent, watched) => {
        const said = once(parent.stdout!, 'data')
        parent.stdin?.write('dispose\n')
        parent.stdin?.write('gone\n')
        assert.match(String((await said)[0]), /closed/)
        assert.ok(treeIsAlive(watched))
      },
      { graceMs: 600_000, closeMs: 600_000 },
    )
  })

  it('gives processes 3 s to exit after the window was closed, and 5 s after it was killed', async () => {
    const told = path.join(folder, 'told.txt')
    const script = path.join(folder, 'tell.cjs')
    await writeFile(
      script,
      `require('fs').writeFileSync(${JSON.stringify(told)}, process.argv[2]); process.stdin.resume()`,
    )
    const quiet = () => {}
    const log = { trace: quiet, debug: quiet, info: quiet, warn: quiet, error: quiet }
    mock.timers.enable({ apis: ['setTimeout'] })
    try {
      const guard = createProcessGuard({ script, log })
      let isClosed = false
      void guard.closed.then(() => {
        isClosed = true
      })
      guard.add(process.pid + 1_000_000)
      guard.dispose()
      mock.timers.tick(2999)
      await new Promise(setImmediate)
      assert.equal(isClosed, false)
      mock.timers.tick(1)
      await guard.closed
    } finally {
      mock.timers.reset()
    }
    await until(() => existsSync(told) && readFileSync(told, 'utf8') === '5000')
  })

  it("doesn't keep its parent process alive", async () => {
    const source = `
import { createProcessGuard } from ${JSON.stringify(path.join(SOURCE, 'process-guard.ts'))}
const log = { trace() {}, debug() {}, info() {}, warn() {}, error() {} }
createProcessGuard({ script: process.argv[2], log }).add(process.pid + 1_000_000)
`
    await writeFile(path.join(folder, 'short.ts'), source)
    const outfile = path.join(folder, 'short.mjs')
    await build({
      entryPoints: [path.join(folder, 'short.ts')],
      outfile,
      bundle: true,
      platform: 'node',
      format: 'esm',
    })
    const child = spawn(process.execPath, [outfile, guardScript], { stdio: 'inherit' })
    assert.deepEqual(await once(child, 'exit'), [0, null])
  })
})
