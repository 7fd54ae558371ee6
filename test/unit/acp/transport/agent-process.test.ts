import assert from 'node:assert/strict'
import { once } from 'node:events'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { mock } from 'node:test'
import fc from 'fast-check'
import type { AgentLaunch } from '../../../../src/acp/agent.ts'
import {
  AgentProcess,
  type AgentProcessOptions,
  LineDecoder,
  type StopTimes,
  Tail,
} from '../../../../src/acp/transport/agent-process.ts'
import { operatingSystem } from '../../../../src/common/processes/process-system.ts'
import { SpawnError } from '../../../../src/common/processes/spawn-process.ts'
import { until } from '../../../support/until.ts'

const QUICK: StopTimes = { terminateAfterMs: 300, killAfterMs: 300 }

function script(source: string): AgentLaunch {
  return {
    command: process.execPath,
    args: ['-e', source],
    env: { ...process.env } as Record<string, string>,
    cwd: process.cwd(),
  }
}

describe('AgentProcess', () => {
  const started: AgentProcess[] = []
  const start = async (source: string, options?: AgentProcessOptions): Promise<AgentProcess> => {
    const agent = await AgentProcess.start(script(source), options)
    started.push(agent)
    return agent
  }
  /** Resolves with the first line of output, which shows that the agent is ready. */
  const ready = async (agent: AgentProcess): Promise<string> =>
    String((await once(agent.stdout, 'data'))[0]).trim()

  afterEach(async () => {
    await Promise.all(started.splice(0).map(agent => agent.stop(QUICK)))
  })

  it('lets an agent exit by itself when its input ends', async () => {
    const agent = await start(
      `process.on('SIGTERM', () => process.exit(9)); process.stdin.on('end', () => process.exit(7)).resume(); console.log('ready')`,
    )
    await ready(agent)
    await agent.stop({ terminateAfterMs: 20_000, killAfterMs: 1 })
    assert.deepEqual(await agent.exited, { exitCode: 7, signal: null })
  })

  it('gives slow agents enough time to exit by themselves before the first signal (quirk 20)', async () => {
    const agent = await start(
      `process.on('SIGTERM', () => process.exit(9)); setInterval(() => {}, 1000); console.log('ready')`,
    )
    await ready(agent)
    const waits: unknown[] = []
    const inTime = globalThis.setTimeout
    // the process is real; only the wait before the signal is skipped
    const timers = mock.method(globalThis, 'setTimeout', (run: () => void, ms?: number) => {
      waits.push(ms)
      return inTime(run, ms === 5000 ? 0 : ms)
    })
    try {
      await agent.stop()
    } finally {
      timers.mock.restore()
    }
    assert.deepEqual(await agent.exited, { exitCode: 9, signal: null })
    assert.equal(waits[0], 5000)
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
    await agent.stop(QUICK)
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

  for (const [how, expected] of [
    ['is killed', { exitCode: null, signal: 'SIGKILL' }],
    ['crashes', { exitCode: 9, signal: null }],
  ] as const)
    it(`stops the daemons of an agent that ${how}, with what they started`, async function () {
      if (process.platform === 'win32') this.skip()
      const child = `setInterval(() => {}, 1000)`
      const daemon = `const c = require('child_process').spawn(process.execPath, ['-e', ${JSON.stringify(child)}], { detached: true, stdio: 'ignore' });
        console.log(process.pid, c.pid); setInterval(() => {}, 1000)`
      const agent = await start(
        `const d = require('child_process').spawn(process.execPath, ['-e', ${JSON.stringify(daemon)}], { detached: true, stdio: ['ignore', 'pipe', 'ignore'] });
         d.stdout.once('data', pids => { process.stdout.write(pids); d.unref(); d.stdout.destroy() });
         process.stdin.once('data', () => process.exit(9)); setInterval(() => {}, 1000)`,
      )
      const list = mock.method(operatingSystem, 'list')
      const pids = (await ready(agent)).split(' ').map(Number)
      assert.ok(pids.length === 2 && pids.every(isRunning))
      const listed = async (pid: number) => {
        const lists = await Promise.all(list.mock.calls.map(({ result }) => result))
        return lists.some(rows => rows?.some(row => row.pid === pid))
      }
      await until(async () => (await listed(pids[0]!)) && (await listed(pids[1]!)), 'a list of the daemons')
      list.mock.restore()
      if (how === 'is killed') process.kill(agent.pid, 'SIGKILL')
      else agent.stdin.write('now')
      assert.deepEqual(await agent.exited, expected)
      await until(() => !pids.some(isRunning), 'the end of the daemons')
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
    const stops = [agent.stop(QUICK), agent.stop(QUICK)]
    agent.dispose()
    await Promise.all(stops)
    await agent.stop(QUICK)
    assert.equal(agent.hasExited, true)
  })

  it('registers with the guard while it runs', async () => {
    const calls: string[] = []
    const agent = await start(`process.stdin.on('end', () => process.exit(0)).resume()`, {
      guard: {
        add: pid => calls.push(`add ${pid}`),
        remove: pid => calls.push(`remove ${pid}`),
        dispose() {},
      },
    })
    assert.deepEqual(calls, [`add ${agent.pid}`])
    await agent.stop(QUICK)
    assert.deepEqual(calls, [`add ${agent.pid}`, `remove ${agent.pid}`])
  })

  describe("that can't be started", () => {
    let folder: string
    before(async () => {
      folder = await mkdtemp(path.join(os.tmpdir(), 'parley-process-'))
    })
    after(() => rm(folder, { recursive: true, force: true }))

    const failure = async (launch: Partial<AgentLaunch>): Promise<SpawnError> => {
      try {
        started.push(await AgentProcess.start({ ...script(''), ...launch }))
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
})

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

describe('Tail', () => {
  it('keeps the end of a text, in whole lines if possible', () => {
    const tail = new Tail(20)
    for (let i = 0; i < 1000; i++) tail.append(`line ${i}\n`)
    assert.equal(tail.text, 'line 998\nline 999')
  })

  it('keeps the end of a long line without splitting a character', () => {
    const tail = new Tail(5)
    tail.append('👩'.repeat(50))
    assert.equal(tail.text, '👩👩')
  })

  it('uses little more memory than it keeps', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'grapheme' })), parts => {
        const tail = new Tail(30)
        for (const part of parts) tail.append(part)
        const whole = parts.join('')
        assert.ok(tail.text.length <= 30)
        assert.ok(whole.trimEnd().endsWith(tail.text))
      }),
    )
  })
})

describe('LineDecoder', () => {
  it('reports whole lines however the bytes are cut', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: 'grapheme' }).map(text => text.replaceAll(/[\r\n]/g, ' '))),
        fc.array(fc.nat(300), { maxLength: 10 }),
        (expected, cuts) => {
          const bytes = Buffer.from(expected.map(line => `${line}\r\n`).join(''))
          const places = [
            0,
            ...cuts.map(cut => Math.min(cut, bytes.length)).sort((a, b) => a - b),
            bytes.length,
          ]
          const lines: string[] = []
          const decoder = new LineDecoder(line => lines.push(line))
          let text = ''
          for (const [i, to] of places.slice(1).entries()) text += decoder.push(bytes.subarray(places[i], to))
          text += decoder.end()
          assert.deepEqual(lines, expected)
          assert.equal(text, bytes.toString())
        },
      ),
    )
  })

  it('reports a line without an end in pieces, and the rest at the end', () => {
    const lines: string[] = []
    const decoder = new LineDecoder(line => lines.push(line))
    decoder.push(Buffer.from('x'.repeat(40_000)))
    decoder.end()
    assert.deepEqual(
      lines.map(line => line.length),
      [16_384, 16_384, 7232],
    )
  })
})
