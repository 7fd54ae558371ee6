import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, connect, createServer } from 'node:net'
import os from 'node:os'
import path from 'node:path'
import { mock } from 'node:test'
import { AgentHosts, startHosted } from '../../../src/acp/start-hosted.ts'
import { HostChannel } from '../../../src/acp/transport/host/channel.ts'
import { HostedProcess } from '../../../src/acp/transport/host/hosted-process.ts'
import { messageOf } from '../../../src/common/errors.ts'
import { SpawnError, type SpawnRequest } from '../../../src/common/processes/spawn-process.ts'
import { AgentHostProgram, TAG } from '../../support/agent-host-program.ts'
import { QUICK_STOP, ready, script } from '../../support/contracts/running-process.ts'

describe('an agent without an agent host', () => {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'parley-start-hosted-test-'))
  const program = new AgentHostProgram()
  after(async () => {
    await program.end()
    rmSync(folder, { recursive: true, force: true })
  })

  /** Starts an agent as a window does; resolves to what the user is told. */
  const start = async (hosts: Pick<AgentHosts, 'start'>, launch: SpawnRequest) => {
    const reasons: string[] = []
    const startProcess = startHosted({
      hosts,
      tag: TAG,
      keep: () => ({ silentMs: 1000 }),
      onUnavailable: error => void reasons.push(messageOf(error)),
    })
    return { agent: await startProcess(launch, {}), reasons }
  }
  const runsHere = async (hosts: Pick<AgentHosts, 'start'>) => {
    const { agent, reasons } = await start(hosts, script(`console.log('ready'); process.stdin.resume()`))
    try {
      assert.equal(await ready(agent), 'ready')
      assert.equal(agent.hosted, undefined, 'it ends with its window')
    } finally {
      await agent.stop(QUICK_STOP)
    }
    assert.equal(reasons.length, 1)
    return reasons[0]!
  }
  /** Hosts whose program is this script. */
  const hostsOf = (name: string, source: string, entries = path.join(folder, name)) => {
    const program = path.join(folder, `${name}.mjs`)
    writeFileSync(program, source)
    return new AgentHosts({
      folder: entries,
      script: program,
      guardScript: program,
      maxFrameBytes: () => 1 << 20,
    })
  }

  it("runs in the window if the folder of the hosts can't be made", async () => {
    const file = path.join(folder, 'file')
    writeFileSync(file, '')
    assert.match(await runsHere(hostsOf('unused', '', path.join(file, 'hosts'))), /ENOTDIR|EEXIST|ENOENT/)
  })

  it('runs in the window if the program is missing', async () => {
    const options = { folder: path.join(folder, 'missing'), maxFrameBytes: () => 1 << 20 }
    const hosts = new AgentHosts({ ...options, script: path.join(folder, 'none.mjs'), guardScript: '' })
    assert.match(await runsHere(hosts), /ENOENT/)
  })

  it('waits as long as it should for the host, also if the clock is set ahead meanwhile', async () => {
    const full = 'ENOSPC: no space left on device, write'
    const now = Date.now
    let looks = 0
    mock.method(Date, 'now', () => now() + 3_600_000 * looks++)
    try {
      const reason = await runsHere(
        hostsOf('late', `import { writeSync } from 'node:fs'; writeSync(2, '${full}')`),
      )
      assert.match(reason, /ENOSPC/)
    } finally {
      mock.restoreAll()
    }
  })

  it('runs in the window if the host exits at its start, and the reason is told', async () => {
    const full = 'ENOSPC: no space left on device, write'
    const source = `import { writeSync } from 'node:fs'; writeSync(2, '${full}')`
    assert.equal(
      await runsHere(hostsOf('full', source)),
      `The program that runs agents in the background didn't start: ${full}`,
    )
    // the many lines of a crash are for the log
    assert.equal(
      await runsHere(hostsOf('crash', 'throw new Error("no")')),
      "The program that runs agents in the background didn't start.",
    )
  })

  it('runs in the window if the disk is full, and the reason is told', async function () {
    const limit = ['--pid', String(process.pid)]
    if (process.platform !== 'linux' || spawnSync('prlimit', limit).status !== 0) this.skip()
    await program.build()
    const source = `
      import { execFileSync } from 'node:child_process'
      execFileSync('prlimit', ['--pid', String(process.pid), '--fsize=0:0'])
      await import(${JSON.stringify(path.join(program.folder, 'agent-host.mjs'))})`
    const reason = await runsHere(hostsOf('no-space', source))
    assert.match(
      reason,
      /^The program that runs agents in the background didn't start: E(FBIG|NOSPC): .+, write$/,
    )
    assert.deepEqual(
      readdirSync(path.join(folder, 'no-space')).filter(name => /^host-/.test(name)),
      [],
    )
  })

  it('runs in the window if the host exits while it starts the agent, or starts none anymore', async () => {
    const answers = [undefined, { type: 'failed', message: 'The agent host is ending.' }]
    for (const answer of answers) {
      const server = createServer(socket => {
        const channel = new HostChannel(socket, 1 << 20)
        void channel.next().then(() => {
          if (answer) channel.send(answer)
          channel.end()
        })
      }).listen(0, '127.0.0.1')
      await once(server, 'listening')
      const hosts = {
        start: (launch: SpawnRequest) => {
          const channel = new HostChannel(connect((server.address() as AddressInfo).port), 1 << 20)
          return HostedProcess.spawn(channel, launch, { maxFrameBytes: 1 << 20, tag: TAG })
        },
      }
      assert.match(
        await runsHere(hosts),
        answer ? /is ending/ : /in the background was ended from outside or crashed/,
      )
      server.close()
    }
  })

  it("isn't tried again in the window if the agent itself can't be started", async () => {
    const missing = new SpawnError('command-missing', 'The command none does not exist.')
    const hosts = { start: () => Promise.reject(missing) }
    await assert.rejects(start(hosts, script('')), missing)
  })
})
