import assert from 'node:assert/strict'
import { mock } from 'node:test'
import fc from 'fast-check'
import { AgentProcess, LineDecoder, Tail } from '../../../../src/acp/transport/agent-process.ts'
import type { AgentProcessOptions } from '../../../../src/acp/transport/running-process.ts'
import { operatingSystem } from '../../../../src/common/processes/process-system.ts'
import { isRunning, QUICK_STOP, ready, script } from '../../../support/contracts/running-process.ts'
import { until } from '../../../support/until.ts'

describe('AgentProcess', () => {
  const started: AgentProcess[] = []
  const start = async (source: string, options?: AgentProcessOptions): Promise<AgentProcess> => {
    const agent = await AgentProcess.start(script(source), options)
    started.push(agent)
    return agent
  }
  afterEach(async () => {
    await Promise.all(started.splice(0).map(agent => agent.stop(QUICK_STOP)))
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

  it("tells the guard its descendants, which the guard couldn't find once this process is killed", async function () {
    if (process.platform === 'win32') this.skip()
    const followed = new Set<number>()
    const agent = await start(
      `const { spawn } = require('node:child_process')
      const daemon = spawn('sleep', ['300'], { detached: true, stdio: 'ignore' })
      console.log(daemon.pid)
      process.stdin.on('end', () => process.exit(0)).resume()`,
      {
        guard: {
          add() {},
          follow(pid, descendants) {
            assert.equal(pid, agent.pid)
            for (const one of descendants.keys()) followed.add(one)
          },
          remove() {},
          dispose() {},
        },
      },
    )
    let said = ''
    agent.stdout.on('data', chunk => {
      said += chunk
    })
    await until(() => followed.has(Number(said)), 'the process of its own group')
    await agent.stop(QUICK_STOP)
    await until(() => !isRunning(Number(said)))
  })

  it('registers with the guard while it runs', async () => {
    const calls: string[] = []
    const agent = await start(`process.stdin.on('end', () => process.exit(0)).resume()`, {
      guard: {
        add: pid => calls.push(`add ${pid}`),
        follow() {},
        remove: pid => calls.push(`remove ${pid}`),
        dispose() {},
      },
    })
    assert.deepEqual(calls, [`add ${agent.pid}`])
    await agent.stop(QUICK_STOP)
    assert.deepEqual(calls, [`add ${agent.pid}`, `remove ${agent.pid}`])
  })
})

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
