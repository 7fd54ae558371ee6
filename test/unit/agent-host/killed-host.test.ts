import assert from 'node:assert/strict'
import { once } from 'node:events'
import {
  appendFileSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import path from 'node:path'
import type { HostedProcess } from '../../../src/acp/transport/host/hosted-process.ts'
import { SecretRegistry } from '../../../src/common/secrets.ts'
import { AgentHostProgram, TAG } from '../../support/agent-host-program.ts'
import { isRunning, QUICK_STOP, script } from '../../support/contracts/running-process.ts'
import { HeldConnections } from '../../support/held-connections.ts'
import { until } from '../../support/until.ts'

/** Answers `initialize`; after that, says a number every few milliseconds. */
const COUNTER = `
  let next = 1
  process.stdin.once('data', () => {
    console.log(JSON.stringify({ id: 0, result: { protocolVersion: 1 } }))
    setInterval(() => console.log(JSON.stringify({ method: 'said', params: next++ })), 2)
  })
`
const A_WHILE = 600_000

describe('what an agent host that was killed had received', () => {
  const program = new AgentHostProgram()
  const attached: HostedProcess[] = []
  before(function () {
    if (process.platform === 'win32') this.skip()
    return program.build()
  })
  afterEach(async () => {
    await Promise.all(attached.splice(0).map(agent => agent.stop(QUICK_STOP)))
    for (const { id } of await program.hosts.list()) await program.hosts.end(id)
  })
  after(() => program.end())

  const start = async (window = program.hosts, source = COUNTER, secrets = new SecretRegistry()) => {
    const agent = await window.start(script(source), TAG, { secrets })
    attached.push(agent)
    agent.keep({ silentMs: A_WHILE })
    agent.note('s1', {})
    const said = saidBy(agent)
    agent.stdin.write(`${JSON.stringify({ id: 0, method: 'initialize', params: {} })}\n`)
    await until(() => said.length > 10)
    return { agent, said }
  }
  const attach = async (id: string, confirmed = 0, window = program.window()) => {
    const agent = await window.attach(id, confirmed)
    if (agent) attached.push(agent)
    return agent && { agent, said: saidBy(agent) }
  }
  const listed = async (id: string) => (await program.window().list()).find(one => one.id === id)
  const saidBy = (agent: HostedProcess) => {
    const numbers: number[] = []
    let rest = ''
    agent.stdout.on('data', chunk => {
      const lines = (rest + chunk).split('\n')
      rest = lines.pop()!
      for (const line of lines.filter(line => line.includes('said'))) numbers.push(JSON.parse(line).params)
    })
    return numbers
  }
  const journal = () => {
    const name = readdirSync(program.entries).find(name => /^journal-.*[0-9a-f]$/.test(name))
    return name && path.join(program.entries, name)
  }
  const onDisk = () => {
    const file = journal()
    const text = file ? readFileSync(file, 'latin1') : ''
    return Math.max(0, ...[...text.matchAll(/"params":(\d+)\}/g)].map(one => Number(one[1])))
  }
  const killHosts = async () => {
    const pids = await program.pids()
    for (const pid of pids) process.kill(pid, 'SIGKILL')
    await until(() => pids.every(pid => !isRunning(pid)), 'the end of the host')
  }
  const isWithoutHole = (numbers: readonly number[]) =>
    assert.deepEqual(
      numbers,
      numbers.map((_, i) => numbers[0]! + i),
    )

  it('is there for the next window, in a private file until then', async () => {
    const { agent, said } = await start()
    agent.confirm(10)
    await agent.detach()
    await until(() => onDisk() > said.length + 50)
    const last = onDisk()
    assert.equal(statSync(journal()!).mode & 0o777, 0o600)
    await killHosts()
    const info = await listed(agent.id)
    assert.deepEqual([info?.hasExited, info?.isAttached, info?.tag], [true, false, TAG])
    const next = await attach(agent.id, 20)
    await until(() => next!.agent.stdout.readableEnded)
    // the first frame is the answer to initialize
    assert.equal(next!.said[0], 20)
    isWithoutHole(next!.said)
    assert.ok(next!.said.at(-1)! >= last)
    assert.deepEqual(await next!.agent.exited, { exitCode: null, signal: null })
    assert.equal(next!.agent.state.isOver, true)
    next!.agent.confirm(next!.agent.received)
    await next!.agent.detach()
    await until(async () => (await listed(agent.id)) === undefined, 'nothing is kept of it')
    assert.equal(journal(), undefined)
  })

  it('is there again if the next host is killed, too, or no window needs it for a while', async () => {
    const { agent } = await start()
    await agent.detach()
    const before = onDisk()
    await until(() => onDisk() > before + 50)
    const last = onDisk()
    for (let i = 0; i < 3; i++) {
      await killHosts()
      assert.equal((await listed(agent.id))?.hasExited, true)
    }
    const [pid] = await program.pids()
    process.kill(pid!, 'SIGTERM')
    await until(() => !isRunning(pid!))
    const next = await attach((await listed(agent.id))!.id)
    await until(() => next!.agent.stdout.readableEnded)
    isWithoutHole(next!.said)
    assert.ok(next!.said.at(-1)! >= last)
  })

  it('is there also if the host was told to end', async () => {
    const { agent, said } = await start()
    await agent.detach()
    const count = said.length
    await until(() => onDisk() > count + 20)
    const [pid] = await program.pids()
    process.kill(pid!, 'SIGTERM')
    await until(() => !isRunning(pid!) && !isRunning(agent.pid))
    assert.ok(await listed(agent.id))
    const next = await attach(agent.id)
    await until(() => next!.agent.stdout.readableEnded)
    isWithoutHole(next!.said)
    assert.ok(next!.said.length > count + 20)
  })

  it('is there up to the last whole record, if it was killed while it wrote', async () => {
    const { agent } = await start()
    await agent.detach()
    const before = onDisk()
    await until(() => onDisk() > before + 50)
    await killHosts()
    const file = journal()!
    const bytes = readFileSync(file)
    const whole = onDisk()
    for (const damage of [
      () => truncateSync(file, bytes.length - 3),
      () => appendFileSync(file, bytes.subarray(0, 100)),
      () => appendFileSync(file, Buffer.alloc(1000)),
    ]) {
      if (journal()) rmSync(journal()!)
      writeFileSync(file, bytes, { mode: 0o600 })
      damage()
      const next = (await listed(agent.id)) && (await attach(agent.id))
      await until(() => next!.agent.stdout.readableEnded)
      isWithoutHole(next!.said)
      assert.ok(next!.said.at(-1)! >= whole - 1)
      await next!.agent.detach()
      await killHosts()
    }
  })

  it('is whole whenever it was killed', async () => {
    for (let round = 0; round < 4; round++) {
      const { agent } = await start()
      await agent.detach()
      const before = onDisk()
      await until(() => onDisk() > before + round * 7)
      const last = onDisk()
      await killHosts()
      assert.ok(await listed(agent.id))
      const next = await attach(agent.id)
      await until(() => next!.agent.stdout.readableEnded)
      isWithoutHole(next!.said)
      assert.equal(next!.said[0], 1)
      assert.ok(next!.said.at(-1)! >= last)
      await next!.agent.stop(QUICK_STOP)
      await program.hosts.end(agent.id)
    }
  })

  it('reaches a window that hung meanwhile and goes on', async () => {
    const connections = new HeldConnections()
    const { agent, said } = await start(program.window({ connect: connections.connect }))
    connections.isHeld = true
    const before = onDisk()
    await until(() => onDisk() > before + 100)
    const last = onDisk()
    await killHosts()
    connections.isHeld = false
    await until(() => agent.stdout.readableEnded)
    isWithoutHole(said)
    assert.equal(said[0], 1)
    assert.ok(said.at(-1)! >= last)
    agent.confirm(agent.received)
    await agent.stop(QUICK_STOP)
    await until(async () => (await listed(agent.id)) === undefined)
  })

  it('reaches the next window after a hanging window is killed, from the last stored frame on', async () => {
    const { agent } = await start()
    await agent.detach()
    const stored = path.join(program.folder, 'stored-hung')
    writeFileSync(stored, '')
    const lines = () => readFileSync(stored, 'utf8').split('\n').length - 1
    const window = program.startWindow(agent.id, stored, Number.MAX_SAFE_INTEGER, true)
    await until(() => lines() > 50)
    process.kill(window.pid!, 'SIGSTOP')
    const before = onDisk()
    await until(() => onDisk() > before + 100)
    const last = onDisk()
    await killHosts()
    const exited = once(window, 'exit')
    process.kill(window.pid!, 'SIGKILL')
    await exited
    assert.ok(await listed(agent.id))
    const next = await attach(agent.id, lines())
    await until(() => next!.agent.stdout.readableEnded)
    const numbers = readFileSync(stored, 'utf8')
      .split('\n')
      .filter(line => /^\d+$/.test(line))
      .map(Number)
    const all = [...numbers, ...next!.said]
    isWithoutHole(all)
    assert.ok(all.at(-1)! >= last)
  })

  it('goes to one of two windows that come at the same time', async () => {
    const { agent } = await start()
    await agent.detach()
    const before = onDisk()
    await until(() => onDisk() > before + 20)
    await killHosts()
    const windows = [program.window(), program.window()]
    const claims = await Promise.all(
      windows.map(async window => {
        const found = (await window.list()).find(({ id }) => id === agent.id)
        // a window that lists the agents late may find that the other one has it
        if (!found || found.isAttached) return undefined
        return window.attach(agent.id, 0, {}, { attachments: found.attachments })
      }),
    )
    const agents = claims.filter(one => one !== undefined)
    attached.push(...agents)
    assert.equal(agents.length, 1)
    const said = saidBy(agents[0]!)
    await until(() => agents[0]!.stdout.readableEnded)
    isWithoutHole(said)
  })

  it('has none of the secrets that a window knows, also if they came in pieces', async () => {
    const secret = 'sk-0123456789abcdef'
    const secrets = new SecretRegistry()
    const source = `
      process.stdin.once('data', () => {
        console.log(JSON.stringify({ id: 0, result: { protocolVersion: 1 } }))
        let next = 1
        setInterval(() => {
          const pieces = ['The key: sk-01', '23456789a', 'bcdef, and ${secret} again. ']
          const update = { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: pieces[next % 3] } }
          console.log(JSON.stringify({ method: 'session/update', params: { sessionId: 's1', update } }))
          console.log(JSON.stringify({ method: 'said', params: next++ }))
        }, 2)
      })`
    const { agent } = await start(program.hosts, source, secrets)
    secrets.add(secret)
    // not before the host knows it
    await agent.serve(1)
    agent.confirm(agent.received)
    await agent.detach()
    const before = onDisk()
    await until(() => onDisk() > before + 100)
    await killHosts()
    const texts = readFileSync(journal()!, 'utf8')
    assert.ok(!texts.includes(secret))
    const joined = [...texts.matchAll(/"text":"([^"]*)"/g)].map(one => one[1]).join('')
    assert.ok(!joined.includes(secret), joined)
    assert.match(joined, /The key: •••, and ••• again\. The key: •••/)
  })

  it('is not there of an agent that ends with its window, or that no window knows a session of', async () => {
    for (const change of [
      (agent: HostedProcess) => agent.note('s1', undefined),
      (agent: HostedProcess) => agent.keep({ silentMs: 0 }),
    ]) {
      const { agent } = await start()
      await until(() => onDisk() > 0)
      change(agent)
      // it has arrived
      await agent.serve(1)
      await killHosts()
      assert.equal(await listed(agent.id), undefined)
      assert.equal(journal(), undefined)
    }
  })
})
