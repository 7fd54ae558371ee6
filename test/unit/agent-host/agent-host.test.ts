import assert from 'node:assert/strict'
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import path from 'node:path'
import { mock } from 'node:test'
import { HOST_VERSION, HostChannel, type HostMessage } from '../../../src/acp/transport/host/channel.ts'
import {
  type HostEntry,
  journalsIn,
  processStartTime,
  readEntries,
} from '../../../src/acp/transport/host/endpoint.ts'
import { greetHost, greetWindow, MAX_HANDSHAKE_BYTES } from '../../../src/acp/transport/host/handshake.ts'
import type { HostedProcess } from '../../../src/acp/transport/host/hosted-process.ts'
import { delay } from '../../../src/common/async.ts'
import { operatingSystem } from '../../../src/common/processes/process-system.ts'
import type { CommandEvents, CommandExit } from '../../../src/common/processes/run-command.ts'
import { AgentHostProgram, TAG } from '../../support/agent-host-program.ts'
import { isRunning, QUICK_STOP, script } from '../../support/contracts/running-process.ts'
import { HeldConnections } from '../../support/held-connections.ts'
import { until } from '../../support/until.ts'

/** An agent that says as many numbers as it's told, and exits when it's told. */
const COUNTER = `
  let next = 1
  require('node:readline').createInterface({ input: process.stdin }).on('line', line => {
    const { say = 0, exit } = JSON.parse(line)
    for (let i = 0; i < say; i++) console.log(JSON.stringify({ method: 'said', params: next++ }))
    if (exit) process.exit(exit)
  })
`
const A_WHILE = 600_000

const canLimit = process.platform === 'linux' && spawnSync('prlimit', ['--version']).status === 0

/** The files that a process writes stay empty, as on a full disk. */
function limitFiles(pid: number): void {
  execFileSync('prlimit', ['--pid', String(pid), '--fsize=0:0'])
}

describe('the agent host', () => {
  const program = new AgentHostProgram()
  const attached: HostedProcess[] = []
  before(() => program.build())
  afterEach(async () => {
    await Promise.all(attached.splice(0).map(agent => agent.stop(QUICK_STOP)))
    for (const { id } of await program.hosts.list()) await program.hosts.end(id)
  })
  after(() => program.end())

  const start = async (source = COUNTER) => {
    const agent = await program.hosts.start(script(source), TAG, {})
    attached.push(agent)
    return { agent, said: saidBy(agent) }
  }
  const attach = async (id: string) => {
    const agent = await program.window().attach(id)
    assert.ok(agent)
    attached.push(agent)
    return { agent, said: saidBy(agent) }
  }
  /** The numbers that the agent says. */
  const saidBy = (agent: HostedProcess) => {
    const numbers: number[] = []
    let rest = ''
    agent.stdout.on('data', chunk => {
      const lines = (rest + chunk).split('\n')
      rest = lines.pop()!
      for (const line of lines) numbers.push(JSON.parse(line).params)
    })
    return numbers
  }
  const tell = (agent: HostedProcess, what: { say?: number; exit?: number }) =>
    agent.stdin.write(`${JSON.stringify(what)}\n`)
  const upTo = (last: number, first = 1) => Array.from({ length: last - first + 1 }, (_, i) => first + i)
  const info = async (id: string) => (await program.hosts.list()).find(one => one.id === id)

  it('ends an agent with its window, unless the window says how long to keep it', async () => {
    const { agent } = await start()
    agent.detach()
    await until(() => !isRunning(agent.pid), 'the end of the agent')

    const { agent: kept, said } = await start()
    kept.keep({ silentMs: A_WHILE })
    tell(kept, { say: 1 })
    await until(() => said.length === 1)
    kept.detach()
    await until(async () => (await info(kept.id))?.isAttached === false)
    assert.ok(isRunning(kept.pid))
  })

  it('ends a kept agent that says nothing for that long', async () => {
    const { agent, said } = await start()
    agent.keep({ silentMs: 20 })
    tell(agent, { say: 1 })
    await until(() => said.length === 1)
    agent.confirm(1)
    agent.detach()
    await until(() => !isRunning(agent.pid), 'the end of the agent')
    await until(async () => (await info(agent.id)) === undefined)
  })

  describe('with the port of a window that its agents expect to be served again', () => {
    let window: Server
    let port: number
    let server: object
    let agents: HostedProcess[]
    beforeEach(async () => {
      window = await listen(0)
      port = (window.address() as AddressInfo).port
      server = { name: 'vscode', port, path: '/x', token: 'secret', mark: 'm' }
      agents = [await start(), await start()].map(({ agent }) => agent)
      for (const agent of agents) {
        agent.keep({ silentMs: A_WHILE })
        agent.note('s1', { server })
      }
    })
    afterEach(() => window.close())
    const listen = (at: number) =>
      new Promise<Server>((resolve, reject) => {
        const server = createServer()
        server.once('error', reject)
        server.listen({ host: '127.0.0.1', port: at }, () => resolve(server))
      })
    const isFree = () =>
      listen(port).then(
        server => new Promise<boolean>(resolve => server.close(() => resolve(true))),
        () => false,
      )
    const held = (what: string) => until(async () => !(await isFree()), what)
    /** The host has received what was sent. */
    const arrived = (agent: HostedProcess) => agent.serve(1)

    it('keeps others from it until a window is about to serve it, as long as an agent waits', async () => {
      const [one, two] = agents as [HostedProcess, HostedProcess]
      await Promise.all(agents.map(agent => agent.detach()))
      // the window closes it last
      window.close()
      await held('the port')
      const stranger = connect(port, '127.0.0.1')
      await once(stranger, 'close')
      const next = await attach(one.id)
      next.agent.note('s1', { server })
      await arrived(next.agent)
      assert.ok(!(await isFree()), 'the window does not serve it yet')
      await next.agent.serve(port)
      assert.ok(await isFree(), 'the window can serve it, whatever the other agent waits for')
      await next.agent.detach()
      await held('the port of a window that is gone')
      await program.hosts.end(one.id)
      assert.ok(!(await isFree()), 'the other agent waits')
      const again = await attach(two.id)
      assert.ok(!(await isFree()))
      await again.agent.detach()
      await program.hosts.end(two.id)
      await until(isFree, 'the port of no agent')
    })

    it('keeps others from it when the window stops to serve it, and an agent is left', async () => {
      const [one, two] = agents as [HostedProcess, HostedProcess]
      await two.detach()
      // its session is closed
      one.note('s1', undefined)
      await arrived(one)
      window.close()
      await held('the port')
      const next = await attach(two.id)
      await next.agent.serve(port)
      window = await listen(port)
      // it can't serve the session
      next.agent.note('s1', {})
      await arrived(next.agent)
      window.close()
      await held('the port that the agent still knows')
      next.agent.note('s1', undefined)
      await until(isFree, 'the port of no session')
    })

    it('leaves it to others after an agent was stopped', async () => {
      window.close()
      await Promise.all(agents.map(agent => agent.stop(QUICK_STOP)))
      await until(async () => (await program.hosts.list()).length === 0)
      assert.ok(await isFree())
    })

    it('occupies the port when another window has taken over the agents', async () => {
      for (const { id } of agents) await attach(id)
      window.close()
      await held('the port')
    })
  })

  it("ends an agent without a window soon after its last turn, also after a closed window's turn", async function () {
    if (process.platform === 'win32') this.skip()
    // answers the prompt once it's signaled
    const { agent } = await start(`
      let id
      process.on('SIGUSR2', () => console.log(JSON.stringify({ id, result: { stopReason: 'end_turn' } })))
      require('node:readline').createInterface({ input: process.stdin }).on('line', line => {
        id = JSON.parse(line).id
        console.log(JSON.stringify({ method: 'begun' }))
      })`)
    agent.keep({ silentMs: A_WHILE, idleMs: 100 })
    agent.stdin.write(`${JSON.stringify({ id: 1, method: 'session/prompt', params: { sessionId: 's' } })}\n`)
    await until(() => agent.received === 1)
    const { pid } = agent
    agent.detach()
    await until(async () => (await info(agent.id))?.isAttached === false)
    assert.ok(isRunning(pid))
    process.kill(pid, 'SIGUSR2')
    await until(() => !isRunning(pid), 'the end of the agent')
    // what it said stays for the next window
    const next = await attach(agent.id)
    await until(() => next.agent.received === 2)
    next.agent.confirm(2)
  })

  it('stores the output of an agent without a window until a window has confirmed it', async () => {
    const { agent, said } = await start()
    agent.keep({ silentMs: 20 })
    tell(agent, { say: 2 })
    await until(() => said.length === 2)
    agent.confirm(1)
    agent.detach()
    await until(() => !isRunning(agent.pid), 'the end of the agent')
    await until(async () => (await info(agent.id))?.hasExited === true)
    const next = await attach(agent.id)
    await until(() => next.said.length === 1)
    assert.deepEqual(next.said, [2])
    next.agent.confirm(2)
    next.agent.detach()
    await until(async () => (await info(agent.id)) === undefined, 'nothing is kept of it')
  })

  it('sends the next window the unconfirmed frames, each once, and then new ones', async () => {
    const { agent, said } = await start()
    agent.keep({ silentMs: A_WHILE })
    tell(agent, { say: 5 })
    await until(() => said.length === 5)
    agent.confirm(3)
    // it's said while nobody is attached, or is sent to the first window: both is right
    tell(agent, { say: 4000 })
    agent.detach()
    const next = await attach(agent.id)
    assert.equal(next.agent.pid, agent.pid)
    assert.equal(next.agent.state.confirmed, 3)
    await until(() => next.said.length === 4002)
    assert.deepEqual(next.said, upTo(4005, 4))
    assert.equal(next.agent.received, 4005)
    tell(next.agent, { say: 1 })
    await until(() => next.said.at(-1) === 4006)
  })

  describe('runs commands that', () => {
    const env = { PATH: process.env.PATH ?? '' }
    const listen = () => {
      const heard = { text: '', truncated: false, exit: undefined as CommandExit | undefined }
      const events: CommandEvents = {
        onOutput: text => {
          heard.text += text
        },
        onWholeOutput: (text, truncated) => Object.assign(heard, { text, truncated }),
        onExit: exit => {
          heard.exit = exit
        },
      }
      return { heard, events }
    }
    const run = (agent: HostedProcess, command: string, id: string, events: CommandEvents) =>
      agent.commandsOf('s').run(
        {
          ...{ command, args: [], cwd: program.folder, env },
          terminal: { id, shown: command, cwd: program.folder, outputLimit: 1000 },
        },
        events,
      )
    const isThere = (name: string) => existsSync(path.join(program.folder, name))

    it('go on while no window is attached, and are in the next one as if it had started them', async () => {
      const { agent } = await start()
      agent.keep({ silentMs: A_WHILE })
      const first = listen()
      const line =
        'echo one; until [ -e left ]; do sleep 0.02; done; echo two; touch said; until [ -e back ]; do sleep 0.02; done; echo three; exit 3'
      const running = await run(agent, line, 'c1', first.events)
      await until(() => first.heard.text === 'one\n')
      // the agent learns the terminal's id
      agent.stdin.write(`${JSON.stringify({ id: 1, result: { terminalId: 'c1' } })}\n`)
      await agent.detach()
      running.killNow()
      writeFileSync(path.join(program.folder, 'left'), '')
      await until(() => isThere('said'))
      assert.equal(first.heard.exit, undefined, 'it only left')

      const { agent: next } = await attach(agent.id)
      const host = next.commandsOf('s')
      assert.deepEqual(
        host.earlier.map(({ id, shown, outputLimit, isAnswered }) => [id, shown, outputLimit, isAnswered]),
        [['c1', line, 1000, true]],
      )
      assert.deepEqual(next.commandsOf('another').earlier, [])
      const second = listen()
      const resumed = host.resume('c1', second.events)
      await until(() => second.heard.text === 'one\ntwo\n')
      writeFileSync(path.join(program.folder, 'back'), '')
      await until(() => second.heard.exit !== undefined)
      assert.deepEqual([second.heard.text, second.heard.exit?.exitCode], ['one\ntwo\nthree\n', 3])
      await resumed.kill(100)
      resumed.forget?.()
      await next.detach()
      assert.deepEqual((await attach(agent.id)).agent.commandsOf('s').earlier, [])
    })

    it("are there as long as no answer about them has reached the agent, also if their window doesn't need them", async () => {
      const { agent } = await start(`
        console.log(JSON.stringify({ id: 'r', method: 'terminal/release', params: { terminalId: 'c6' } }))
        process.stdin.resume()`)
      agent.keep({ silentMs: A_WHILE })
      await until(() => agent.received === 1)
      const { heard, events } = listen()
      const running = await run(agent, 'echo said; exit 4', 'c6', events)
      await until(() => heard.exit !== undefined)
      running.forget?.()
      await agent.detach()
      const { agent: next } = await attach(agent.id)
      const second = listen()
      const resumed = next.commandsOf('s').resume('c6', second.events)
      await until(() => second.heard.exit?.exitCode === 4 && second.heard.text === 'said\n')
      resumed.forget?.()
      next.stdin.write(`${JSON.stringify({ id: 'r', result: {} })}\n`)
      await next.detach()
      assert.deepEqual((await attach(agent.id)).agent.commandsOf('s').earlier, [])
    })

    it('end if they are stopped while they start', async () => {
      const { agent } = await start()
      const { heard, events } = listen()
      const starting = run(agent, 'echo $$; exec sleep 300', 'c5', events)
      const early = agent.commandsOf('s').resume('c5', events)
      await early.kill(5000)
      await starting
      await until(() => heard.exit !== undefined, 'the end of the command')
      assert.ok(heard.exit?.signal ?? heard.exit?.exitCode !== 0)
    })

    it('have exited before the next window came', async () => {
      const { agent } = await start()
      agent.keep({ silentMs: A_WHILE })
      const { heard, events } = listen()
      await run(agent, 'echo done', 'c2', events)
      await until(() => heard.exit !== undefined)
      await agent.detach()
      const { agent: next } = await attach(agent.id)
      const second = listen()
      next.commandsOf('s').resume('c2', second.events)
      await until(() => second.heard.exit?.exitCode === 0 && second.heard.text === 'done\n')
      assert.equal(next.commandsOf('s').earlier.length, 0)
    })

    it("end with their agent, and with a window that doesn't leave it", async () => {
      for (const end of [
        (agent: HostedProcess) => agent.stop(QUICK_STOP),
        (agent: HostedProcess) => agent.detach(),
        (agent: HostedProcess) => void process.kill(agent.pid, 'SIGKILL'),
      ]) {
        const { agent } = await start()
        const { heard, events } = listen()
        await run(agent, 'echo $$; exec sleep 300', 'c3', events)
        await until(() => heard.text.endsWith('\n'))
        await end(agent)
        await until(() => !isRunning(Number(heard.text)), 'the end of the command')
      }
    })

    it('write more than a window reads: it gets what is kept once it has read the rest', async () => {
      const { agent } = await start()
      const { heard, events } = listen()
      const line = 'for i in $(seq 40); do head -c 1000000 /dev/zero | tr "\\0" "x"; done; echo; echo end'
      await run(agent, line, 'c4', events)
      // this process reads nothing meanwhile
      const begun = performance.now()
      while (performance.now() - begun < 300);
      await until(() => heard.exit !== undefined)
      assert.ok(heard.text.endsWith('x\nend\n'))
    })
  })

  it('tells the next window of the exchange of initialize, the sessions and the open requests', async () => {
    const { agent } = await start(`
      const send = message => console.log(JSON.stringify({ jsonrpc: '2.0', ...message }))
      require('node:readline').createInterface({ input: process.stdin }).on('line', line => {
        const { id, method } = JSON.parse(line)
        if (method === 'session/prompt') send({ id: 'ask', method: 'session/request_permission', params: { id } })
        else send({ id, result: { sessionId: 'one', method } })
      })`)
    agent.keep({ silentMs: A_WHILE })
    for (const [id, method] of ['initialize', 'session/new', 'session/prompt'].entries())
      agent.stdin.write(`${JSON.stringify({ id, method, params: { method } })}\n`)
    await until(() => agent.received === 3)
    agent.detach()
    const { agent: next } = await attach(agent.id)
    assert.deepEqual(next.state, {
      initialize: { params: { method: 'initialize' }, result: { sessionId: 'one', method: 'initialize' } },
      sessions: [
        { sessionId: 'one', method: 'session/new', result: { sessionId: 'one', method: 'session/new' } },
      ],
      toAgent: [{ id: 2, method: 'session/prompt', params: { method: 'session/prompt' } }],
      toWindow: [{ id: 'ask', method: 'session/request_permission', params: { id: 2 } }],
      lastId: 2,
      confirmed: 0,
      last: 3,
      notes: {},
    })
  })

  it('keeps what an agent said last that exited while nobody was attached, until it is confirmed', async () => {
    const { agent } = await start()
    agent.keep({ silentMs: A_WHILE })
    tell(agent, { say: 3, exit: 4 })
    agent.detach()
    await until(async () => (await info(agent.id))?.hasExited === true, 'the end of the agent')
    const next = await attach(agent.id)
    assert.deepEqual(await next.agent.exited, { exitCode: 4, signal: null })
    await until(() => next.agent.stdout.readableEnded)
    assert.deepEqual(next.said, [1, 2, 3])
    next.agent.confirm(2)
    next.agent.detach()
    const last = await attach(agent.id)
    await until(() => last.said.length === 1)
    assert.deepEqual(last.said, [3])
    last.agent.confirm(3)
    last.agent.detach()
    await until(async () => (await info(agent.id)) === undefined, 'that it is forgotten')
  })

  it('loses no frame and repeats none, whenever a window is killed', async function () {
    if (process.platform === 'win32') this.skip()
    const last = 8000
    const { agent } = await start(`
      let said = 0
      const timer = setInterval(() => {
        for (let i = 0; i < 50; i++) console.log(JSON.stringify({ method: 'said', params: ++said }))
        if (said === ${last}) clearInterval(timer)
      }, 2)
      process.stdin.resume()`)
    agent.keep({ silentMs: A_WHILE })
    agent.detach()
    const stored = path.join(program.folder, 'stored')
    writeFileSync(stored, '')
    const lines = () => readFileSync(stored, 'utf8').split('\n').length - 1
    for (let round = 0; lines() < last; round++) {
      const next = Math.min(last, lines() + [1, 2999, 37, 800, 1500][round % 5]!)
      // in turns before and after it confirms the frame
      const window = program.startWindow(agent.id, stored, next, round % 2 === 0)
      const [, signal] = await once(window, 'exit')
      assert.equal(signal, 'SIGKILL')
    }
    assert.deepEqual(readFileSync(stored, 'utf8').trimEnd().split('\n').map(Number), upTo(last))
  })

  it('lets the last window have an agent that two of them attach to', async () => {
    const { agent } = await start()
    agent.keep({ silentMs: A_WHILE })
    const { agent: second, said } = await attach(agent.id)
    await agent.exited
    assert.ok(isRunning(second.pid))
    tell(second, { say: 1 })
    await until(() => said.length === 1)
    assert.equal(await program.hosts.attach('nothing'), undefined)
  })

  it('passes on input from before the window left, also waiting input, and none from later', async () => {
    const { agent, said } = await start()
    agent.keep({ silentMs: A_WHILE })
    tell(agent, { say: 1 })
    await until(() => said.length === 1)
    agent.confirm(1)
    const count = 5000
    for (let i = 0; i < count; i++) tell(agent, { say: 1 })
    const left = agent.detach()
    tell(agent, { say: 1 })
    await left
    const next = await attach(agent.id)
    await until(() => next.said.length === count)
    tell(next.agent, { say: 1 })
    await until(() => next.said.length === count + 1)
    assert.deepEqual(next.said, upTo(count + 2, 2))
  })

  describe('connects while it is asked for its agents', () => {
    const sockets: Socket[] = []
    const window = () =>
      program.window({
        connect: socket => {
          const made = connect(socket)
          sockets.push(made)
          return made
        },
      })
    afterEach(() => sockets.splice(0))

    it('to attach to one of them, once', async () => {
      const agents = [await start(), await start()]
      const next = window()
      assert.equal((await next.list(true)).length, 2)
      assert.equal(sockets.length, 2)
      for (const [i, { agent }] of agents.entries()) {
        const found = await next.attach(agent.id)
        assert.ok(found)
        attached.push(found)
        assert.equal(sockets.length, 2 + i, 'the second one gets another connection')
      }
    })

    it('and attaches in another way if that connection has closed', async () => {
      const { agent } = await start()
      const next = window()
      await next.list(true)
      for (const socket of sockets) socket.destroy()
      const found = await next.attach(agent.id)
      assert.ok(found)
      attached.push(found)
    })

    it('and closes what nobody needs', async () => {
      await start()
      await window().list(true)
      await until(() => sockets.every(({ destroyed }) => destroyed), 'the end of the connections')
    })
  })

  it('belongs to the workspace of the window that attached last', async () => {
    const { agent } = await start()
    agent.keep({ silentMs: A_WHILE })
    let lost = 0
    agent.onDidLose(() => lost++)
    const claim = { workspace: 'file:///other', attachments: 1 }
    const next = await program.window().attach(agent.id, 0, {}, claim)
    attached.push(next!)
    await until(() => lost === 1)
    assert.equal((await info(agent.id))?.tag.workspace, 'file:///other')
  })

  it("doesn't give an agent to a window that doesn't know of a later attachment", async () => {
    const { agent } = await start()
    agent.keep({ silentMs: A_WHILE })
    const { attachments } = (await info(agent.id))!
    const next = await program.window().attach(agent.id, 0, {}, { attachments })
    attached.push(next!)
    assert.equal(await program.window().attach(agent.id, 0, {}, { attachments }), undefined)
    assert.equal((await info(agent.id))?.attachments, attachments + 1)
    const { said } = await attach(agent.id)
    assert.deepEqual(said, [])
  })

  it('tells a window that lost the agent what did not reach it', async () => {
    const connections = new HeldConnections()
    const agent = await program.window({ connect: connections.connect }).start(script(COUNTER), TAG, {})
    attached.push(agent)
    const said = saidBy(agent)
    agent.keep({ silentMs: A_WHILE })
    tell(agent, { say: 1 })
    await until(() => said.length === 1)
    agent.confirm(1)
    const left = new Promise<string>(resolve => {
      agent.onDidLose(() => {
        tell(agent, { say: 4 })
        resolve(agent.detach())
      })
    })
    // it doesn't hear of the next window yet
    connections.isHeld = true
    const next = await attach(agent.id)
    for (const say of [2, 3]) tell(agent, { say })
    connections.isHeld = false
    const unsent = (await left).split('\n').slice(0, -1)
    assert.deepEqual(
      unsent.map(line => JSON.parse(line)),
      [{ say: 2 }, { say: 3 }, { say: 4 }],
    )
    tell(next.agent, { say: 1 })
    await until(() => next.said.length === 1)
    assert.deepEqual(next.said, [2])
  })

  it('loses nothing of an agent that writes more than fits into memory while the disk is full', async function () {
    // a real limit: what the host writes to a file fails
    if (!canLimit) this.skip()
    const count = 200
    const { agent } = await start(`
      const pad = 'x'.repeat(64 * 1024)
      process.stdin.once('data', () => {
        for (let params = 1; params <= ${count}; params++) {
          process.stdout.write(JSON.stringify({ params, pad }) + '\\n')
          process.stderr.write(params + '\\n')
        }
      })
    `)
    agent.keep({ silentMs: A_WHILE })
    for (const pid of await program.pids()) limitFiles(pid)
    agent.stdin.write('go\n')
    await agent.detach()
    const next = await attach(agent.id)
    await until(() => {
      // as a window that stores it
      next.agent.confirm(next.agent.received)
      return next.said.at(-1) === count
    }, 'all that it wrote')
    assert.deepEqual(next.said, upTo(count))
    assert.equal((await program.pids()).length, 1, 'the host goes on')
  })

  it('reads no more from an agent that floods than a window takes', async () => {
    const agent = await program.hosts.start(
      script(`
        const line = JSON.stringify({ method: 'said', params: 'x'.repeat(10000) }) + '\\n'
        let written = 0
        const write = () => process.stdout.write(line, () => { console.error(written += line.length); write() })
        write()`),
      TAG,
      {},
    )
    attached.push(agent)
    // once the host has sent all that it sends without being told to go on, the agent can't write more
    const written = () => Number(agent.stderrTail.split('\n').at(-1))
    await until(() => written() > 1 << 20)
    let before = -1
    await until(async () => {
      const same = written() === before
      before = written()
      await delay(100)
      return same
    }, 'that the agent waits')
    assert.ok(before < 3 << 20, `${before} bytes`)
    let bytes = 0
    agent.stdout.on('data', chunk => {
      bytes += chunk.length
    })
    await until(() => bytes > 10 << 20, 'that the agent goes on')
  })

  it('is known to this user only', async function () {
    if (process.platform === 'win32') this.skip()
    await start()
    const [entry] = await readEntries(program.entries)
    assert.ok(entry)
    const mode = (file: string) => statSync(file).mode & 0o777
    assert.equal(mode(program.entries), 0o700)
    assert.equal(mode(path.join(program.entries, `host-${entry.pid}.json`)), 0o600)
    assert.equal(mode(path.dirname(entry.socket)), 0o700)
    assert.ok(Buffer.byteLength(entry.socket) < 104)
    assert.ok(!readFileSync(`/proc/${entry.pid}/cmdline`, 'latin1').includes(entry.secret))
  })

  it('runs from a copy, so that an update of the extension can delete the original', async () => {
    await start()
    const [entry] = await readEntries(program.entries)
    assert.equal(path.dirname(entry!.program), program.entries)
    assert.deepEqual(readdirSync(entry!.program).sort(), ['agent-host.mjs', 'process-guard.mjs'])
  })

  it("sends nothing to who doesn't know the secret, and closes the connection", async () => {
    await start()
    const [entry] = await readEntries(program.entries)
    const stranger = new HostChannel(connect(entry!.socket), MAX_HANDSHAKE_BYTES)
    assert.equal(await greetHost(stranger, 'wrong'), false)
    const tries: Array<(socket: Socket) => void> = [
      socket => socket.write('GET / HTTP/1.1\r\n\r\n'),
      socket => socket.write(Buffer.alloc(100_000, 255)),
      socket => new HostChannel(socket, 1000).send({ type: 'list' }),
    ]
    for (const attempt of tries) {
      const socket = connect(entry!.socket)
      socket.on('error', () => {})
      attempt(socket)
      socket.resume()
      await new Promise(resolve => socket.once('close', resolve))
    }
    assert.equal((await program.hosts.list()).length, 1)
  })

  it('refuses each malformed message of an attached window, and goes on', async () => {
    const { agent } = await start()
    agent.keep({ silentMs: A_WHILE })
    agent.detach()
    await until(async () => (await info(agent.id))?.isAttached === false)
    const [entry] = await readEntries(program.entries)
    const window = new HostChannel(connect(entry!.socket), MAX_HANDSHAKE_BYTES)
    assert.ok(await greetHost(window, entry!.secret))
    window.maxBytes = 2 ** 20
    window.send({ type: 'attach', id: agent.id, confirmed: 0 })
    assert.equal((await window.next())?.type, 'attached')
    const refused: string[] = []
    const failed: unknown[] = []
    window.listen(message => {
      if (message.type === 'refused') refused.push(String(message.reason))
      if (message.type === 'commandFailed') failed.push(message.id)
    })
    const malformed: HostMessage[] = [
      { type: 'keep', times: null },
      { type: 'secrets' },
      { type: 'taken', number: 'x' },
      { type: 'confirm' },
      { type: 'note', sessionId: 7 },
      { type: 'serve', port: -1 },
      { type: 'stop', times: {} },
      { type: 'runCommand', info: null, request: null },
      { type: 'runCommand', info: { id: 'one' }, request: {} },
      { type: 'killCommand', id: 'two' },
      { type: 'forgetCommand', id: 3 },
      { type: 'fly' },
    ]
    for (const message of malformed) window.send(message)
    await until(() => refused.length === malformed.length, 'the answers')
    assert.ok(refused.every((reason, at) => reason.endsWith(`: ${malformed[at]!.type}`)))
    assert.deepEqual(failed, ['one', 'two'])
    window.dispose()
    await until(async () => (await info(agent.id))?.isAttached === false)
    // it's kept as long as before, and answers the next window
    const next = new HostChannel(connect(entry!.socket), MAX_HANDSHAKE_BYTES)
    assert.ok(await greetHost(next, entry!.secret))
    next.send({ type: 'attach', id: agent.id, confirmed: 0 })
    assert.equal((await next.next())?.type, 'attached')
    next.dispose()
  })

  it('is used again by another window, and ends its agents when it is told to end', async () => {
    const { agent: first } = await start()
    const second = await program.window().start(script(COUNTER), TAG, {})
    attached.push(second)
    const [pid, ...others] = await program.pids()
    assert.deepEqual(others, [])
    process.kill(pid!, 'SIGTERM')
    await Promise.all([first.exited, second.exited])
    await until(() => ![first.pid, second.pid, pid!].some(isRunning))
    assert.deepEqual(
      readdirSync(program.entries).map(name => name.replace(/[0-9a-f]{16}$/, '…')),
      ['program-…'],
    )
  })

  it('takes its agents with it when it is killed, and is replaced', async () => {
    const { agent } = await start()
    agent.keep({ silentMs: A_WHILE })
    const [entry] = await readEntries(program.entries)
    process.kill(entry!.pid, 'SIGKILL')
    await agent.exited
    await until(() => !isRunning(agent.pid), 'the end of the agent')
    const { said, agent: next } = await start()
    tell(next, { say: 1 })
    await until(() => said.length === 1)
    assert.equal((await program.pids()).length, 1)
    assert.ok(!existsSync(path.dirname(entry!.socket)), 'nothing of it is left')
  })
})

describe('an agent host whose Node would never exit', () => {
  const program = new AgentHostProgram()
  before(async () => {
    await program.build()
    const file = path.join(program.folder, 'agent-host.mjs')
    const never = `process.on('exit', () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0))`
    writeFileSync(file, `${never}\n${readFileSync(file, 'utf8')}`)
  })
  after(() => program.end())

  it('ends when it is told to', async () => {
    const agent = await program.hosts.start(script(COUNTER), TAG, {})
    const [pid] = await program.pids()
    try {
      process.kill(pid!, 'SIGTERM')
      await agent.exited
      await until(() => !isRunning(pid!), 'the end of the agent host')
    } finally {
      operatingSystem.signal(pid!, 'SIGKILL')
    }
  })
})

describe('a host that this window does not use', () => {
  const program = new AgentHostProgram()
  before(() => program.build())
  after(() => program.end())

  it('has another version or another secret, keeps its agents, and a second host starts', async () => {
    const first = await program.hosts.start(script(COUNTER), TAG, {})
    first.keep({ silentMs: A_WHILE })
    const [entry] = await readEntries(program.entries)
    const file = path.join(program.entries, `host-${entry!.pid}.json`)
    for (const change of [{ version: entry!.version + 1 }, { secret: 'another' }]) {
      writeFileSync(file, JSON.stringify({ ...entry!, ...change }))
      assert.deepEqual(await program.hosts.list(), [])
      assert.equal(await program.hosts.attach(first.id), undefined)
      const second = await program.hosts.start(script(COUNTER), TAG, {})
      assert.equal((await program.hosts.list()).length, 1)
      await second.stop(QUICK_STOP)
      assert.ok(isRunning(first.pid) && existsSync(file))
      assert.deepEqual(
        (await program.hosts.others()).map(({ pid }) => pid),
        change.version === undefined ? [] : [entry!.pid],
      )
    }
    writeFileSync(file, JSON.stringify(entry))
    const [found] = await program.hosts.list()
    assert.equal(found?.id, first.id)
    await first.stop(QUICK_STOP)
  })

  it('is of another version, and ends with its agents if the user wants that', async () => {
    await until(async () => (await readEntries(program.entries)).length === 0, 'the end of earlier hosts')
    const agent = await program.hosts.start(script(COUNTER), TAG, {})
    agent.keep({ silentMs: A_WHILE })
    const [entry] = await readEntries(program.entries)
    const file = path.join(program.entries, `host-${entry!.pid}.json`)
    // not the host of this version, also if a caller names it
    await program.hosts.endOther(entry!.pid)
    assert.ok(isRunning(entry!.pid))
    writeFileSync(file, JSON.stringify({ ...entry!, version: entry!.version + 1 }))
    await program.hosts.endOther(entry!.pid)
    assert.deepEqual(await program.hosts.others(), [])
    await until(() => !isRunning(entry!.pid), 'the end of the host')
    await until(() => !isRunning(agent.pid), 'the end of the agent')
  })
})

describe('the entries of agent hosts', () => {
  const program = new AgentHostProgram()
  afterEach(() => rmSync(program.entries, { recursive: true, force: true }))
  after(() => program.end())
  const write = (name: string, entry: Partial<HostEntry> | string, mode = 0o600) => {
    mkdirSync(program.entries, { recursive: true, mode: 0o700 })
    const file = path.join(program.entries, name)
    writeFileSync(file, typeof entry === 'string' ? entry : JSON.stringify(entry))
    chmodSync(file, mode)
    return file
  }

  it('that are damaged, readable for others, or of an earlier process with the same id are not used', async function () {
    if (process.platform === 'win32') this.skip()
    const socket = path.join(program.entries, 's')
    const entry = { pid: process.pid, started: 1, version: 1, socket, secret: 'x', program: program.folder }
    const old = write('host-1.json', entry)
    const left = write(`journal-${process.pid}-1-abc`, 'what an agent said')
    write('host-2.json', '{"pid":')
    write('host-3.json', { ...entry, secret: undefined })
    const rows = [{ pid: process.pid, ppid: 1, pgid: 1, started: 2, zombie: false }]
    const system = { platform: process.platform, list: async () => rows, exists: () => true } as never
    assert.deepEqual(await readEntries(program.entries, system), [])
    assert.ok(!existsSync(old), 'the dead one is deleted')
    assert.deepEqual(journalsIn(program.entries), [
      { file: left, pid: process.pid, started: 1, agentId: 'abc', isUnfinished: false },
    ])
    chmodSync(left, 0o644)
    assert.deepEqual(journalsIn(program.entries), [])
    write('host-4.json', { ...entry, started: 2 }, 0o644)
    assert.deepEqual(await readEntries(program.entries, system), [])
    write('host-5.json', { ...entry, started: 2 })
    assert.equal((await readEntries(program.entries, system)).length, 1)
    chmodSync(program.entries, 0o755)
    assert.deepEqual(await readEntries(program.entries, system), [], 'others can reach the socket')
    assert.deepEqual(await readEntries(path.join(program.entries, 'none'), system), [])
  })

  it('of a program that answers and then says nothing cost no time at the next start', async function () {
    if (process.platform === 'win32') this.skip()
    const socket = path.join(program.entries, 'silent')
    const file = write('host-7.json', {
      ...{ pid: process.pid, started: (await processStartTime(process.pid))!, version: HOST_VERSION, socket },
      ...{ secret: 'x', program: path.join(program.folder, 'none') },
    })
    chmodSync(program.entries, 0o700)
    const silent = createServer(connection => {
      connection.on('error', () => {})
      new HostChannel(connection, 1024).send({ type: 'challenge', version: HOST_VERSION, nonce: 'n' })
    }).listen(socket)
    try {
      await once(silent, 'listening')
      assert.deepEqual(await program.hosts.list(), [])
      assert.ok(!existsSync(file))
      assert.ok(existsSync(socket))
    } finally {
      silent.close()
    }
  })

  it('never end another process that has the id of a host, also if processes cannot be listed', async function () {
    if (process.platform === 'win32') this.skip()
    const other = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'])
    const exited = once(other, 'exit')
    try {
      await once(other, 'spawn')
      const socket = path.join(program.entries, 's')
      write('host-6.json', {
        ...{ pid: other.pid!, started: 1, version: HOST_VERSION + 1, socket },
        ...{ secret: 'x', program: program.folder },
      })
      chmodSync(program.entries, 0o700)
      mock.method(operatingSystem, 'list', async () => undefined)
      assert.deepEqual(await program.hosts.others(), [{ pid: other.pid, sessions: [] }])
      await program.hosts.endOther(other.pid!)
      assert.deepEqual([other.exitCode, other.signalCode], [null, null])
    } finally {
      mock.restoreAll()
      other.kill('SIGKILL')
      await exited
    }
  })
})

describe('the proof of both sides', () => {
  const pair = async (ofHost: string, ofWindow: string) => {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const accepted = once(server, 'connection')
    const window = new HostChannel(connect((server.address() as AddressInfo).port), 1024)
    const host = new HostChannel((await accepted)[0], 1024)
    const known = await Promise.all([greetWindow(host, ofHost), greetHost(window, ofWindow)])
    for (const channel of [window, host]) channel.dispose()
    server.close()
    return known
  }

  it('needs the same secret', async () => {
    assert.deepEqual(await pair('secret', 'secret'), [true, true])
    assert.deepEqual(await pair('secret', 'another'), [false, false])
  })
})
