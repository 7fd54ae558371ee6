import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { projectDirectory } from '../../../host/paths.ts'
import { AgentHostProgram } from '../../../support/agent-host-program.ts'
import { isRunning } from '../../../support/contracts/running-process.ts'
import { until } from '../../../support/until.ts'

/** Has a server in a process of its own, whose id it says in its only turn. */
const AGENT = `
  const { spawn } = require('node:child_process')
  const server = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' })
  const send = message => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n')
  require('node:readline').createInterface({ input: process.stdin }).on('line', line => {
    const { id, method, params } = JSON.parse(line)
    if (method === 'initialize') send({ id, result: { protocolVersion: 1, agentCapabilities: {} } })
    if (method === 'session/new') send({ id, result: { sessionId: 's' + server.pid } })
    if (method !== 'session/prompt') return
    const content = { type: 'text', text: 'Done.' }
    const update = { sessionUpdate: 'agent_message_chunk', content }
    send({ method: 'session/update', params: { sessionId: params.sessionId, update } })
    send({ id, result: { stopReason: 'end_turn' } })
  })
`

describe('an agent whose window was killed after its turn', () => {
  const program = new AgentHostProgram()
  before(() => program.build())
  after(() => program.end())

  /** The process ids of the host, the agent and its server, after the window was killed. */
  const killWindow = async (confirms: boolean) => {
    const file = path.join(projectDirectory, 'test/support/hosted-window.ts')
    const args = [program.folder, program.entries, AGENT, `${confirms}`]
    const window = fork(file, args, { execArgv: ['--import=tsx'] })
    const [said] = await Promise.race([once(window, 'message'), once(window, 'exit')])
    assert.equal(said, 'done')
    const [agent] = await program.hosts.list()
    const [host] = await program.pids()
    const pids = { host: host!, agent: agent!.pid, server: Number(agent!.sessions[0]!.slice(1)) }
    assert.ok(Object.values(pids).every(isRunning))
    const exited = once(window, 'exit')
    window.kill('SIGKILL')
    await exited
    return { ...pids, id: agent!.id }
  }

  it('ends like an idle agent, together with its host', async () => {
    const { host, agent, server } = await killWindow(true)
    await until(() => ![agent, server].some(isRunning), 'the end of the agent and its server')
    await until(() => !isRunning(host), 'the end of the host')
  })

  it("also ends if the window hadn't stored its output, which the host keeps", async () => {
    const { host, agent, server, id } = await killWindow(false)
    await until(() => ![agent, server].some(isRunning), 'the end of the agent and its server')
    assert.ok(isRunning(host))
    await program.hosts.end(id)
  })
})
