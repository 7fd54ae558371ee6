import assert from 'node:assert/strict'
import {
  type Agent,
  type AgentClient,
  AgentClosedError,
  type AgentExit,
  AgentStartError,
  type AgentStartFailure,
  type ConnectOptions,
  type TraceFrame,
} from '../../../src/acp/agent.ts'
import { startAgent } from '../../../src/acp/start-agent.ts'
import type { StartProcess } from '../../../src/acp/transport/running-process.ts'
import { initializeRequest } from '../../../src/acp/wire/initialize.ts'
import { silentLogger } from '../../../src/common/logger.ts'
import { AgentHostProgram, TAG } from '../../support/agent-host-program.ts'
import { SchemaCheck } from '../../support/schema-check.ts'
import { until } from '../../support/until.ts'

/**
 * The first lines of every agent in this file: `send`, and `on` to handle requests by method. Writes its process id
 * to stderr.
 */
const PRELUDE = `
const handlers = {}
const on = (method, handle) => { handlers[method] = handle }
const send = message => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n')
const chunk = text => ({ method: 'session/update', params: { sessionId: 's', update: { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } } } })
on('initialize', id => send({ id, result: { protocolVersion: 1, agentInfo: { name: 'test', version: '1' }, agentCapabilities: { loadSession: true } } }))
on('session/new', id => send({ id, result: { sessionId: 's' } }))
require('readline').createInterface({ input: process.stdin }).on('line', line => {
  const { id, method, params } = JSON.parse(line)
  handlers[method]?.(id, params)
})
process.stderr.write('pid ' + process.pid + '\\n')
`

const client = {} as AgentClient
const SETUP = { cwd: process.cwd(), additionalDirectories: [], mcpServers: [] }
const PROMPT = [{ type: 'text' as const, text: 'go' }]

const program = new AgentHostProgram()

describe('startAgent', () => startAgentTests())

describe('startAgent in the agent host', () => {
  before(() => program.build())
  after(() => program.end())

  startAgentTests((launch, options) => program.hosts.start(launch, TAG, options))
})

function startAgentTests(startProcess?: StartProcess): void {
  const running: Agent[] = []
  let pids: number[] = []
  let check: SchemaCheck

  beforeEach(() => {
    pids = []
    check = new SchemaCheck()
  })
  afterEach(async () => {
    for (const agent of running.splice(0)) agent.dispose()
    check.assertClean()
    await until(() => pids.every(pid => !isRunning(pid)), 'the end of the agents')
  })

  const options = (more: Partial<ConnectOptions> = {}): ConnectOptions => ({
    clientInfo: { name: 'parley-test', title: 'Test', version: '0.0.0' },
    initializeTimeoutMs: 180_000,
    maxFrameBytes: 1 << 20,
    log: silentLogger,
    startProcess,
    tap: { current: check.tap },
    onStderr: line => {
      if (line.startsWith('pid ')) pids.push(Number(line.slice(4)))
    },
    ...more,
  })

  async function start(source: string, more?: Partial<ConnectOptions>): Promise<Agent> {
    const agent = await startAgent(
      {
        command: process.execPath,
        args: ['-e', source],
        env: { ...process.env } as Record<string, string>,
        cwd: process.cwd(),
      },
      client,
      options(more),
    )
    running.push(agent)
    return agent
  }

  async function failure(source: string, more?: Partial<ConnectOptions>): Promise<AgentStartFailure> {
    try {
      await start(source, more)
    } catch (error) {
      assert.ok(error instanceof AgentStartError)
      assert.notEqual(error.message, '')
      // when it rejects, no process is running
      for (const pid of pids) assert.equal(isRunning(pid), false)
      return error.failure
    }
    assert.fail('it started')
  }

  const closed = (agent: Agent) => new Promise<AgentExit>(resolve => agent.onDidClose(resolve))

  function texts(agent: Agent): string[] {
    const seen: string[] = []
    agent.onUpdate(({ update }) => {
      if (update.type === 'message_chunk' && update.content.type === 'text') seen.push(update.content.text)
      else if (update.type === 'state') seen.push(`<${update.state}>`)
    })
    return seen
  }

  it('introduces Parley as v1 requires, with its capabilities', async () => {
    let asked: unknown
    const agent = await start(PRELUDE, {
      tap: {
        current: frame => {
          check.see(frame)
          if (frame.direction === 'send') asked ??= frame.message
        },
      },
    })
    assert.deepEqual(asked, {
      jsonrpc: '2.0',
      id: 0,
      method: 'initialize',
      params: initializeRequest(1, client, options()),
    })
    assert.deepEqual(agent.info, { name: 'test', version: '1' })
    assert.equal(agent.capabilities.load, true)
  })

  describe('negotiates the version and uses', () => {
    const V2 = `result: { protocolVersion: 2, info: { name: 'two', version: '1' }, capabilities: { session: {} } }`
    const refuse = (supported: number[]) =>
      `error: { code: -32022, message: 'Unsupported', data: { requested: params.protocolVersion, supported: ${JSON.stringify(supported)} } }`
    const answering = (expression: string) =>
      `${PRELUDE}; on('initialize', (id, params) => send({ id, ${expression} }))`
    const offers = () => asked.map(params => params.protocolVersion)
    let asked: Array<{ protocolVersion: number }> = []
    const tap = {
      current: (frame: TraceFrame) => {
        const { method, params } = frame.message as { method?: string; params: { protocolVersion: number } }
        if (method === 'initialize') asked.push(params)
      },
    }
    beforeEach(() => {
      asked = []
    })

    it('v1 unless the setting prefers the draft', async () => {
      assert.equal((await start(PRELUDE, { tap })).protocolVersion, 1)
      assert.equal((await start(PRELUDE, { tap, protocol: 'stable' })).protocolVersion, 1)
      assert.deepEqual(offers(), [1, 1])
    })

    it('the draft if both support it', async () => {
      const agent = await start(answering(V2), { tap, protocol: 'latest' })
      assert.equal(agent.protocolVersion, 2)
      assert.equal(agent.info.name, 'two')
      assert.deepEqual(offers(), [2])
    })

    it("v1 if the agent doesn't support the draft", async () => {
      assert.equal((await start(PRELUDE, { tap, protocol: 'latest' })).protocolVersion, 1)
      assert.deepEqual(offers(), [2])
    })

    it('v1 if the agent refuses the draft', async () => {
      const v1 = `result: { protocolVersion: 1 }`
      for (const error of [refuse([1]), refuse([1, 3]), `error: { code: -32602, message: 'What?' }`]) {
        asked = []
        const source = answering(`...(params.protocolVersion === 2 ? { ${error} } : { ${v1} })`)
        assert.equal((await start(source, { tap, protocol: 'latest' })).protocolVersion, 1)
        assert.deepEqual(offers(), [2, 1])
      }
    })

    it('the draft if the agent supports only that', async () => {
      const source = answering(`...(params.protocolVersion === 2 ? { ${V2} } : { ${refuse([2])} })`)
      assert.equal((await start(source, { tap })).protocolVersion, 2)
      assert.deepEqual(offers(), [1, 2])
    })

    it("no version if they have none in common, and the error names the agent's", async () => {
      const failed = await failure(answering(refuse([3, 4])), { protocol: 'latest' })
      assert.deepEqual(failed, { kind: 'version', command: process.execPath, offered: 4, supported: [1, 2] })
    })
  })

  describe('fails with a specific error', () => {
    it("if the command doesn't exist", async () => {
      const launch = {
        command: 'parley-no-such-agent',
        args: [],
        env: { PATH: '/usr/bin' },
        cwd: process.cwd(),
      }
      await assert.rejects(startAgent(launch, client, options()), (error: unknown) => {
        assert.ok(error instanceof AgentStartError)
        assert.deepEqual(error.failure, {
          kind: 'command-missing',
          command: 'parley-no-such-agent',
          searched: ['/usr/bin'],
        })
        return true
      })
    })

    it("if the process can't be spawned", async () => {
      const launch = { command: process.execPath, args: [], env: {}, cwd: '/no/such/folder' }
      await assert.rejects(startAgent(launch, client, options()), (error: unknown) => {
        assert.ok(error instanceof AgentStartError && error.failure.kind === 'spawn')
        assert.match(error.failure.message, /\/no\/such\/folder/)
        return true
      })
    })

    it('if the agent exits immediately', async () => {
      const failed = await failure(`console.log('Usage: agent'); console.error('bad flag'); process.exit(3)`)
      assert.ok(failed.kind === 'exited')
      assert.deepEqual(
        [failed.exit.reason, failed.exit.exitCode, failed.exit.stderrTail, failed.stdoutNoise],
        ['exited', 3, 'bad flag', 'Usage: agent'],
      )
      assert.match(failed.exit.message ?? '', /exited with code 3/)
    })

    it('if the agent is killed', async () => {
      const failed = await failure(`process.kill(process.pid, 'SIGKILL')`)
      assert.ok(failed.kind === 'exited')
      assert.equal(failed.exit.signal, 'SIGKILL')
      assert.match(failed.exit.message ?? '', /SIGKILL/)
    })

    it("if the agent doesn't respond", async () => {
      const failed = await failure(`console.error('pid ' + process.pid); setInterval(() => {}, 1000)`, {
        initializeTimeoutMs: 300,
      })
      assert.ok(failed.kind === 'initialize-timeout')
      assert.equal(failed.seconds, 0.3)
    })

    it('if the agent prints something other than messages', async () => {
      const source = `console.log('\\x1b[1mWelcome!\\x1b[0m'); console.log('{"level":"info"}'); console.log('see https://x.test'); setInterval(() => {}, 1000)`
      let noise: string | undefined
      // on a busy machine, it takes longer to print anything
      for (const initializeTimeoutMs of [500, 2000, 8000]) {
        const failed = await failure(source, { initializeTimeoutMs })
        assert.ok(failed.kind === 'initialize-timeout')
        noise = failed.stdoutNoise
        if (noise?.includes('x.test')) break
      }
      assert.equal(noise, '\u001b[1mWelcome!\u001b[0m\n{"level":"info"}\nsee https://x.test')
    })

    it('if the agent responds with another version', async () => {
      const failed = await failure(
        `${PRELUDE}; on('initialize', id => send({ id, result: { protocolVersion: 7 } }))`,
      )
      assert.deepEqual(failed, { kind: 'version', command: process.execPath, offered: 7, supported: [1, 2] })
    })

    it('if the agent refuses the version with an error', async () => {
      const failed = await failure(
        `${PRELUDE}; on('initialize', id => send({ id, error: { code: -32022, message: 'Unsupported protocol version', data: { requested: 1, supported: [2, 3] } } }))`,
      )
      assert.deepEqual(failed, { kind: 'version', command: process.execPath, offered: 3, supported: [1, 2] })
    })

    it('if the agent responds with an error', async () => {
      const failed = await failure(
        `${PRELUDE}; on('initialize', id => { console.error('no key'); send({ id, error: { code: -32000, message: 'Authentication required', data: { details: 'run login' } } }) })`,
      )
      assert.ok(failed.kind === 'initialize-error')
      assert.deepEqual(failed.error, {
        code: -32000,
        message: 'Authentication required',
        detail: 'run login',
      })
      assert.match(failed.stderrTail, /no key/)
      assert.deepEqual(failed.authMethods, [])
    })

    it('if the agent requires sign-in, with its sign-in methods', async () => {
      const failed = await failure(
        `${PRELUDE}; on('initialize', id => send({ id, error: { code: -32000, message: 'Sign in', data: { authMethods: [{ id: 'key', name: 'API key' }] } } }))`,
      )
      assert.ok(failed.kind === 'initialize-error')
      assert.deepEqual(
        failed.authMethods?.map(({ methodId, name }) => [methodId, name]),
        [['key', 'API key']],
      )
    })

    for (const result of ['null', '{}', '"x"', '{ protocolVersion: null }']) {
      it(`if the response is ${result}`, async () => {
        const failed = await failure(`${PRELUDE}; on('initialize', id => send({ id, result: ${result} }))`)
        assert.ok(failed.kind === 'initialize-error')
        assert.match(failed.error.message, /malformed/)
      })
    }

    it('if the user cancels', async () => {
      const controller = new AbortController()
      const failed = failure(
        `console.error('pid ' + process.pid); process.on('SIGTERM', () => {}); setInterval(() => {}, 1000)`,
        {
          signal: controller.signal,
          onStderr: line => {
            pids.push(Number(line.slice(4)))
            controller.abort()
          },
        },
      )
      assert.deepEqual(await failed, { kind: 'cancelled' })
      assert.deepEqual(await failure(PRELUDE, { signal: AbortSignal.abort() }), { kind: 'cancelled' })
    })
  })

  it('ignores other output before and between messages', async () => {
    const agent = await start(
      `console.log('Loading…'); process.stdout.write('\\x1b[?25l\\n\\r\\n'); ${PRELUDE}; on('session/new', id => { console.log('debug: new'); send({ id, result: { sessionId: 's' } }) })`,
    )
    assert.deepEqual(await agent.newSession(SETUP), { sessionId: 's' })
  })

  it('reads characters that arrive in pieces', async () => {
    const agent = await start(
      `${PRELUDE}; on('session/prompt', id => {
        const bytes = Buffer.from(JSON.stringify({ jsonrpc: '2.0', ...chunk('żółć 日本 👩‍💻') }) + '\\n')
        let at = 0
        const next = () => {
          if (at === bytes.length) return send({ id, result: { stopReason: 'end_turn' } })
          process.stdout.write(bytes.subarray(at, ++at), () => setImmediate(next))
        }
        next()
      })`,
    )
    const seen = texts(agent)
    await agent.prompt('s', PROMPT)
    assert.deepEqual(seen, ['<running>', 'żółć 日本 👩‍💻', '<idle>'])
  })

  it('reads a replay that arrives after the response to session/load', async () => {
    const agent = await start(
      `${PRELUDE}; on('session/load', id => { send({ id, result: null }); for (let i = 0; i < 50; i++) send(chunk('late ' + i)) })`,
    )
    const seen = texts(agent)
    await agent.loadSession('s', SETUP)
    seen.push('loaded')
    await until(() => seen.length === 51)
    assert.deepEqual(seen.slice(0, 3), ['loaded', 'late 0', 'late 1'])
  })

  it('handles a response after all updates that precede it, however many there are', async () => {
    const agent = await start(
      `${PRELUDE}; on('session/load', id => { for (let i = 0; i < 20000; i++) send(chunk(String(i))); send({ id, result: null }); send(chunk('after')) })`,
    )
    const seen = texts(agent)
    await agent.loadSession('s', SETUP)
    assert.equal(seen.length, 20_000)
    await until(() => seen.length === 20_001)
    assert.deepEqual(seen.slice(-2), ['19999', 'after'])
  })

  it('handles the last messages of an agent that exits during a turn', async () => {
    const agent = await start(
      `${PRELUDE}; on('session/prompt', () => { send(chunk('half a sen')); process.stderr.write('panic: out of cheese\\n'); process.stdout.write('', () => process.exit(101)) })`,
    )
    const seen = texts(agent)
    const ended = closed(agent)
    await assert.rejects(agent.prompt('s', PROMPT), (error: unknown) => {
      assert.ok(error instanceof AgentClosedError)
      assert.deepEqual([error.exit.reason, error.exit.exitCode], ['exited', 101])
      assert.match(error.exit.stderrTail, /out of cheese/)
      return true
    })
    assert.deepEqual(seen, ['<running>', 'half a sen', '<idle>'])
    assert.equal((await ended).exitCode, 101)
    // listeners that are added later are also called
    assert.equal((await closed(agent)).exitCode, 101)
    await assert.rejects(agent.newSession(SETUP), AgentClosedError)
  })

  it('handles a response that the agent sent just before it exited', async () => {
    const agent = await start(
      `${PRELUDE}; on('session/prompt', id => { send(chunk('bye')); process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result: { stopReason: 'end_turn' } }), () => process.exit(0)) })`,
    )
    const seen = texts(agent)
    await agent.prompt('s', PROMPT)
    assert.deepEqual(seen, ['<running>', 'bye', '<idle>'])
    assert.equal((await closed(agent)).exitCode, 0)
  })

  it('reads everything that an agent sent before it exited, however long that takes', async () => {
    const agent = await start(
      `${PRELUDE}; on('session/prompt', id => { for (let i = 0; i < 400; i++) { send({ id: i, method: '_test/ping', params: {} }); send(chunk(String(i))) } send({ id, result: { stopReason: 'end_turn' } }); process.stdout.write('', () => process.exit(0)) })`,
    )
    const seen = texts(agent)
    // in a busy editor, the process exits and its other streams end before everything is read
    const never = new Int32Array(new SharedArrayBuffer(4))
    agent.onUpdate(() => void Atomics.wait(never, 0, 0, 5))
    await agent.prompt('s', PROMPT)
    assert.equal(seen.length, 402)
    assert.equal((await closed(agent)).exitCode, 0)
  })

  it('closes the connection at a frame above the limit, and reports it', async () => {
    const agent = await start(
      `${PRELUDE}; on('session/prompt', () => { send(chunk('before')); send(chunk('x'.repeat(5000))) })`,
      { maxFrameBytes: 2000 },
    )
    const seen = texts(agent)
    await assert.rejects(agent.prompt('s', PROMPT), /more than 2000 bytes/)
    assert.equal((await closed(agent)).reason, 'protocol')
    assert.deepEqual(seen, ['<running>', 'before', '<idle>'])
  })

  it('stops an agent that closed its output', async () => {
    const agent = await start(
      `${PRELUDE}; on('session/prompt', () => { require('fs').closeSync(1); setInterval(() => {}, 1000) })`,
    )
    await assert.rejects(agent.prompt('s', PROMPT), /closed its output/)
    assert.equal((await closed(agent)).reason, 'stream')
  })

  it("stops an agent when it's disposed", async () => {
    const agent = await start(PRELUDE)
    const waiting = agent.authenticate('never')
    agent.dispose()
    agent.dispose()
    await assert.rejects(waiting, AgentClosedError)
    assert.equal((await closed(agent)).reason, 'disposed')
    await until(() => pids.length === 1 && !isRunning(pids[0]!))
  })

  it('keeps several agents apart', async () => {
    const say = (word: string) =>
      `${PRELUDE}; on('session/prompt', id => { for (let i = 0; i < 100; i++) send(chunk('${word}')); send({ id, result: {} }) })`
    const [one, two] = await Promise.all([start(say('one')), start(say('two'))])
    const seen = [texts(one), texts(two)]
    await Promise.all([one.prompt('s', PROMPT), two.prompt('s', PROMPT)])
    assert.deepEqual(
      seen.map(words => new Set(words)),
      [new Set(['<running>', 'one', '<idle>']), new Set(['<running>', 'two', '<idle>'])],
    )
  })

  it("isn't blocked by an agent that reads nothing", async () => {
    const agent = await start(
      `process.stdin.once('data', () => { process.stdin.pause(); process.stdout.write('{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1}}\\n') }); setInterval(() => {}, 1000); process.stderr.write('pid ' + process.pid + '\\n')`,
    )
    const prompts = Array.from({ length: 20 }, () =>
      agent.prompt('s', [{ type: 'text', text: 'x'.repeat(1 << 20) }]),
    )
    agent.dispose()
    for (const prompt of prompts) await assert.rejects(prompt, AgentClosedError)
  })
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
