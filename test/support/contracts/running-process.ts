import assert from 'node:assert/strict'
import { once } from 'node:events'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import type {
  AgentProcessOptions,
  RunningProcess,
  StartProcess,
  StopTimes,
} from '../../../src/acp/transport/running-process.ts'
import { SpawnError, type SpawnRequest } from '../../../src/common/processes/spawn-process.ts'
import { until } from '../until.ts'

export const QUICK_STOP: StopTimes = { terminateAfterMs: 300, killAfterMs: 300 }

/** An agent that runs a script of Node. */
export function script(source: string): SpawnRequest {
  return {
    command: process.execPath,
    args: ['-e', source],
    env: { ...process.env } as Record<string, string>,
    cwd: process.cwd(),
  }
}

/** Resolves with the first line of output, which shows that the agent is ready. */
export async function ready(agent: RunningProcess): Promise<string> {
  return String((await once(agent.stdout, 'data'))[0]).trim()
}

export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

/** The contract of whatever runs an agent: this process, or another one. */
export function runningProcessContract(startProcess: StartProcess): void {
  const started: RunningProcess[] = []
  const start = async (source: string, options: AgentProcessOptions = {}): Promise<RunningProcess> => {
    const agent = await startProcess(script(source), options)
    started.push(agent)
    return agent
  }

  afterEach(async () => {
    await Promise.all(started.splice(0).map(agent => agent.stop(QUICK_STOP)))
  })

  it("passes on the agent's input and output, byte for byte and in order", async () => {
    const agent = await start(`process.stdin.pipe(process.stdout)`)
    const all = agent.stdout.toArray()
    const lines = Array.from({ length: 2000 }, (_, i) => `${i} ${'żó'.repeat(i % 300)}`)
    for (const line of lines) agent.stdin.write(`${line}\n`)
    const rest = Buffer.from([0, 255, 13, 10, 10, 0xc5])
    agent.stdin.end(rest)
    const expected = Buffer.concat([Buffer.from(lines.map(line => `${line}\n`).join('')), rest])
    assert.ok(Buffer.concat(await all).equals(expected))
    assert.deepEqual(await agent.exited, { exitCode: 0, signal: null })
  })

  it('lets an agent exit by itself when its input ends', async () => {
    const agent = await start(
      `process.on('SIGTERM', () => process.exit(9)); process.stdin.on('end', () => process.exit(7)).resume(); console.log('ready')`,
    )
    await ready(agent)
    await agent.stop({ terminateAfterMs: 20_000, killAfterMs: 1 })
    assert.deepEqual(await agent.exited, { exitCode: 7, signal: null })
  })

  it('terminates an agent that keeps running (quirk 20)', async () => {
    const agent = await start(
      `process.on('SIGTERM', () => process.exit(9)); setInterval(() => {}, 1000); console.log('ready')`,
    )
    await ready(agent)
    await agent.stop({ terminateAfterMs: 50, killAfterMs: 20_000 })
    assert.deepEqual(await agent.exited, { exitCode: 9, signal: null })
  })

  it('kills an agent that ignores termination', async () => {
    const agent = await start(
      `process.on('SIGTERM', () => {}); setInterval(() => {}, 1000); console.log('ready')`,
    )
    await ready(agent)
    await agent.stop({ terminateAfterMs: 20, killAfterMs: 50 })
    assert.deepEqual(await agent.exited, { exitCode: null, signal: 'SIGKILL' })
  })

  it("stops the agent's child processes and their children (quirk 20)", async () => {
    const child = `process.on('SIGTERM', () => {}); setInterval(() => {}, 1000); process.stdout.write('up')`
    const agent = await start(
      `const c = require('child_process').spawn(process.execPath, ['-e', ${JSON.stringify(child)}], { stdio: ['ignore', 'pipe', 'ignore'] });
       c.stdout.once('data', () => console.log(c.pid)); setInterval(() => {}, 1000)`,
    )
    const grandchild = Number(await ready(agent))
    assert.ok(isRunning(grandchild))
    await agent.stop(QUICK_STOP)
    await until(() => !isRunning(grandchild))
    assert.equal(isRunning(-agent.pid), false)
  })

  it('stops shells in separate process groups, even if the agent left them behind when its input ended', async function () {
    if (process.platform === 'win32') this.skip()
    const child = `process.on('SIGTERM', () => {}); setInterval(() => {}, 1000); process.stdout.write('up')`
    const agent = await start(
      `const c = require('child_process').spawn(process.execPath, ['-e', ${JSON.stringify(child)}], { detached: true, stdio: ['ignore', 'pipe', 'ignore'] });
       c.stdout.once('data', () => console.log(c.pid)); process.stdin.on('end', () => process.exit(0)).resume()`,
    )
    const shell = Number(await ready(agent))
    await agent.stop({ terminateAfterMs: 20_000, killAfterMs: 200 })
    assert.deepEqual(await agent.exited, { exitCode: 0, signal: null })
    await until(() => !isRunning(shell))
  })

  it('stops what an agent left behind that exited by itself', async () => {
    const child = `setInterval(() => {}, 1000); process.stdout.write('up')`
    const agent = await start(
      `const c = require('child_process').spawn(process.execPath, ['-e', ${JSON.stringify(child)}], { stdio: ['ignore', 'pipe', 'ignore'] });
       c.stdout.once('data', () => { console.log(c.pid); process.exit(3) })`,
    )
    const grandchild = Number(await ready(agent))
    assert.deepEqual(await agent.exited, { exitCode: 3, signal: null })
    await until(() => !isRunning(grandchild))
  })

  it("stops an agent whose output isn't read", async () => {
    const agent = await start(
      `process.stdin.on('end', () => process.exit(5)).resume(); process.stdout.write('x'.repeat(4 << 20)); console.error('written')`,
      {},
    )
    await agent.stop({ terminateAfterMs: 20_000, killAfterMs: 1 })
    assert.deepEqual(await agent.exited, { exitCode: 5, signal: null })
  })

  it('keeps output that the agent wrote before it exited', async () => {
    const agent = await start(`process.stdout.write('last words', () => process.exit(1))`)
    const words = agent.stdout.toArray()
    await agent.exited
    assert.equal((await words).join(''), 'last words')
  })

  it('reports stderr in whole lines and keeps its last part', async () => {
    const lines: string[] = []
    const agent = await start(
      `process.stderr.write('zażółć ');
       process.stderr.write(Buffer.from([0xc5])); setTimeout(() => process.stderr.write(Buffer.concat([Buffer.from([0xbc]), Buffer.from('\\nsecond\\r\\nlast')])), 20)`,
      { onStderr: line => lines.push(line) },
    )
    await agent.exited
    await agent.stderrRead(20_000)
    assert.deepEqual(lines, ['zażółć ż', 'second', 'last'])
    assert.equal(agent.stderrTail, 'zażółć ż\nsecond\r\nlast')
  })

  it('stops only once, however often `stop` is called', async () => {
    const agent = await start(`process.stdin.on('end', () => process.exit(0)).resume()`)
    const stops = [agent.stop(QUICK_STOP), agent.stop(QUICK_STOP)]
    agent.dispose()
    await Promise.all(stops)
    await agent.stop(QUICK_STOP)
    assert.equal(agent.hasExited, true)
  })

  describe("that can't be started", () => {
    let folder: string
    before(async () => {
      folder = await mkdtemp(path.join(os.tmpdir(), 'parley-process-'))
    })
    after(() => rm(folder, { recursive: true, force: true }))

    const failure = async (launch: Partial<SpawnRequest>): Promise<SpawnError> => {
      try {
        started.push(await startProcess({ ...script(''), ...launch }, {}))
      } catch (error) {
        assert.ok(error instanceof SpawnError)
        return error
      }
      assert.fail('it was started')
    }

    it('reports the folders searched for a missing command', async () => {
      const env = { PATH: [folder, '/usr/bin'].join(path.delimiter) }
      const error = await failure({ command: 'parley-no-such-command', env })
      assert.equal(error.kind, 'command-missing')
      assert.deepEqual(error.searched, [folder, '/usr/bin'])
    })

    it("reports a path that doesn't exist", async () => {
      const error = await failure({ command: path.join(folder, 'nothing') })
      assert.equal(error.kind, 'command-missing')
      assert.deepEqual(error.searched, [])
    })

    it('reports a missing working directory instead of the command', async () => {
      const cwd = path.join(folder, 'gone')
      const error = await failure({ cwd })
      assert.equal(error.kind, 'folder-missing')
      assert.ok(error.message.includes(cwd))
    })

    it("reports a file that isn't executable, or a missing interpreter", async function () {
      if (process.platform === 'win32') this.skip()
      const file = path.join(folder, 'agent')
      await writeFile(file, '#!/no/such/interpreter\n')
      const denied = await failure({ command: file })
      assert.equal(denied.kind, 'not-executable')
      assert.match(denied.message, /isn't executable/)
      await chmod(file, 0o755)
      const missing = await failure({ command: file })
      assert.equal(missing.kind, 'interpreter-missing')
      assert.match(missing.message, /isn't installed/)
    })
  })
}
