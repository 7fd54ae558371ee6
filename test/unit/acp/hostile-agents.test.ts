import assert from 'node:assert/strict'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { Agent, AgentClient, AgentExit, ConnectOptions } from '../../../src/acp/agent.ts'
import type { SessionUpdate } from '../../../src/acp/model.ts'
import { startAgent } from '../../../src/acp/start-agent.ts'
import { deferred } from '../../../src/common/async.ts'
import { MAX_DEPTH, UNREAD_ANSWERS_MS } from '../../../src/common/limits.ts'
import { silentLogger } from '../../../src/common/logger.ts'
import { until } from '../../support/until.ts'

/** The code of an agent that runs `then` after it created a session. */
const agentThat = (then: string) => `
const write = text => process.stdout.write(text + '\\n')
const send = message => write(JSON.stringify({ jsonrpc: '2.0', ...message }))
const lines = require('readline').createInterface({ input: process.stdin })
lines.on('line', line => {
  const { id, method } = JSON.parse(line)
  if (method === 'initialize') send({ id, result: { protocolVersion: 1, agentCapabilities: {} } })
  if (method === 'session/new') {
    send({ id, result: { sessionId: 's' } })
    ${then}
  }
})`

const options: ConnectOptions = {
  clientInfo: { name: 'parley-test', title: 'Test', version: '0.0.0' },
  initializeTimeoutMs: 180_000,
  maxFrameBytes: 1 << 20,
  log: silentLogger,
}

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

describe('a hostile agent', () => {
  let agent: Agent
  let updates: SessionUpdate[]
  afterEach(() => agent.dispose())

  async function start(then: string, client: Partial<AgentClient> = {}): Promise<Promise<AgentExit>[]> {
    const env = { ...process.env } as Record<string, string>
    const launch = { command: process.execPath, args: ['-e', agentThat(then)], env, cwd: process.cwd() }
    agent = await startAgent(launch, client as AgentClient, options)
    updates = []
    agent.onUpdate(({ update }) => updates.push(update))
    const closed = new Promise<AgentExit>(resolve => agent.onDidClose(resolve))
    await agent.newSession({ cwd: process.cwd(), additionalDirectories: [], mcpServers: [] })
    return [closed]
  }

  /** Bytes that this process holds in addition, at most, while `work` runs and right after. Garbage isn't counted: how much there is depends on the machine. */
  async function growthOf(work: () => Promise<void>): Promise<number> {
    const held = () => {
      collectGarbage()
      const { heapUsed, external } = process.memoryUsage()
      return heapUsed + external
    }
    const before = held()
    let most = 0
    const measure = () => {
      most = Math.max(most, held() - before)
    }
    // where much is held already, a measurement takes long: what is measured gets most of the time
    let watch: NodeJS.Timeout
    const again = (wait: number) => {
      watch = setTimeout(() => {
        const begun = performance.now()
        measure()
        again(Math.max(UNREAD_ANSWERS_MS / 4, 4 * (performance.now() - begun)))
      }, wait)
    }
    again(UNREAD_ANSWERS_MS / 4)
    try {
      await work()
      measure()
    } finally {
      clearTimeout(watch!)
    }
    return most
  }

  it('that nests a value 3,000 levels deep has only that value cut', async () => {
    await start(`
      const deep = '['.repeat(3000) + '1' + ']'.repeat(3000)
      const object = '{"a":'.repeat(3000) + '1' + '}'.repeat(3000)
      const update = fields => '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":' + fields + '}}'
      write(update('{"sessionUpdate":"tool_call","toolCallId":"t","title":"Deep","rawInput":{"command":"ls"},"rawOutput":' + deep + '}'))
      write(update('{"sessionUpdate":"tool_call_update","toolCallId":"t","rawInput":{"kept":1,"__proto__":' + object + '}}'))
      write(update('{"sessionUpdate":"tool_call_update","toolCallId":"t","status":"completed"}'))`)
    await until(() => updates.length === 3, 'three updates')
    const text = JSON.stringify(updates)
    assert.match(text, /"command":"ls"/)
    assert.match(text, /"kept":1/)
    assert.match(text, /"status":"completed"/)
    let depth = 0
    let deepest = 0
    for (const character of text) {
      if (character === '[' || character === '{') deepest = Math.max(deepest, ++depth)
      else if (character === ']' || character === '}') depth--
    }
    assert.ok(deepest <= MAX_DEPTH + 5, `${deepest} levels`)
  })

  it("that doesn't read responses to its requests is disconnected with a reason before memory fills up", async () => {
    const growth = await growthOf(async () => {
      const [closed] = await start(`
        lines.close()
        process.stdin.pause()
        let count = 0
        const flood = () => {
          let text = ''
          for (let i = 0; i < 500; i++) text += '{"jsonrpc":"2.0","id":' + ++count + ',"method":"fs/nothing","params":{}}\\n'
          process.stdout.write(text, flood)
        }
        flood()`)
      const exit = await closed!
      assert.equal(exit.reason, 'protocol')
      assert.match(exit.message ?? '', /doesn't read the responses/)
    })
    assert.ok(growth < 300e6, `${Math.round(growth / 1e6)} MB`)
  })

  it("that requests thousands of large files and doesn't read them is disconnected before memory fills up", async () => {
    let open = 0
    const all = deferred()
    let last = all.promise
    const growth = await growthOf(async () => {
      const [closed] = await start(
        `
        lines.close()
        process.stdin.pause()
        setInterval(() => {}, 1000)
        for (let id = 1; id <= 900; id++) send({ id, method: 'fs/read_text_file', params: { sessionId: 's', path: '/' + id } })`,
        {
          readTextFile: async () => {
            // all are open before the first one is answered, and each is answered right after the one before
            last = last.then(() => new Promise(setImmediate))
            const turn = last
            if (++open === 900) all.resolve()
            await turn
            return Buffer.alloc(2_000_000, 'x').toString('latin1')
          },
        },
      )
      assert.match((await closed!).message ?? '', /doesn't read the responses/)
    })
    assert.ok(growth < 500e6, `${Math.round(growth / 1e6)} MB`)
  })

  it('that sends large requests faster than they can be handled gets errors for the excess', async () => {
    const growth = await growthOf(async () => {
      let writes = 0
      await start(
        `
        let refused = 0
        lines.on('line', line => {
          const { id, error } = JSON.parse(line)
          if (id >= 1000 && error && ++refused === 20) send({ method: 'session/update', params: { sessionId: 's', update: { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: 'refused' } } } })
        })
        const content = 'x'.repeat(1000000)
        for (let id = 1000; id < 1100; id++) send({ id, method: 'fs/write_text_file', params: { sessionId: 's', path: '/a', content } })`,
        {
          writeTextFile: () => {
            writes++
            return new Promise(() => {})
          },
        },
      )
      await until(() => updates.length === 1, 'the refusals')
      assert.ok(writes >= 10 && writes <= 80, `${writes} requests`)
    })
    assert.ok(growth < 500e6, `${Math.round(growth / 1e6)} MB`)
  })

  it("that uses thousands of session ids doesn't make Parley forget the user's session", async () => {
    await start(`
      const update = (sessionId, update) => send({ method: 'session/update', params: { sessionId, update } })
      const mode = { id: 'o', name: 'O', type: 'select', currentValue: 'a', options: [{ value: 'a', name: 'A' }, { value: 'b', name: 'B' }] }
      update('s', { sessionUpdate: 'config_option_update', configOptions: [mode] })
      for (let i = 0; i < 20000; i++) update('other' + i, { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: 'x' } })
      lines.on('line', line => {
        const { id, method } = JSON.parse(line)
        if (method === 'session/set_config_option') send({ id, result: {} })
      })`)
    await until(() => updates.length > 20_000, 'all updates')
    await agent.setConfigOption('s', 'o', 'b')
    const last = updates.at(-1)
    assert.ok(last?.type === 'config_options')
    assert.match(JSON.stringify(last.options[0]), /"currentValue":"b"/)
  })

  it('that sends thousands of requests at once gets errors for the excess and answers to the rest', async () => {
    const answers: Array<() => void> = []
    await start(
      `
      let refused = 0
      lines.on('line', line => {
        const { id, error } = JSON.parse(line)
        if (id >= 1000 && error && ++refused === 500) send({ method: 'session/update', params: { sessionId: 's', update: { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: 'refused' } } } })
      })
      for (let i = 0; i < 1500; i++) send({ id: 1000 + i, method: 'fs/read_text_file', params: { sessionId: 's', path: '/a' } })`,
      {
        readTextFile: () => new Promise(resolve => answers.push(() => resolve(''))),
      },
    )
    await until(() => updates.length === 1, 'the refusals')
    assert.equal(answers.length, 1000)
    for (const answer of answers) answer()
  })
})
