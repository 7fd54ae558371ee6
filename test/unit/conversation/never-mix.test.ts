import assert from 'node:assert/strict'
import type { Agent, AgentClient } from '../../../src/acp/agent.ts'
import { startAgent } from '../../../src/acp/start-agent.ts'
import { silentLogger } from '../../../src/common/logger.ts'
import { AgentSessions } from '../../../src/conversation/agent-sessions.ts'
import type { Session } from '../../../src/conversation/session.ts'
import { SchemaCheck } from '../../support/schema-check.ts'

const CHUNKS = 400

/**
 * An agent that answers each prompt with numbered chunks and a permission request. It writes a few at a time, so that
 * its sessions are mixed on the wire, and ends a turn in the same write as the last chunk. Its ids are the same in
 * every session and every process.
 */
const AGENT = `
const [name, version] = process.argv.slice(-2)
const write = (...messages) => process.stdout.write(messages.map(m => JSON.stringify({ jsonrpc: '2.0', ...m }) + '\\n').join(''))
const asked = new Map()
let sessions = 0, questions = 0
const update = (sessionId, update) => ({ method: 'session/update', params: { sessionId, update } })
const chunk = (sessionId, text) => update(sessionId, { sessionUpdate: 'agent_message_chunk', messageId: 'm', content: { type: 'text', text } })
async function turn(id, sessionId) {
  const say = i => chunk(sessionId, name + '/' + sessionId + '/' + i + ';')
  if (version === '2') write({ id, result: { messageId: 'u' } }, update(sessionId, { sessionUpdate: 'state_update', state: 'running' }))
  for (let i = 0; i < ${CHUNKS} - 1; i++) {
    write(say(i))
    if (i % 7 === 0) await new Promise(setImmediate)
    if (i !== 100) continue
    const toolCall = { toolCallId: 't', title: name + '/' + sessionId }
    const options = [{ optionId: name + '/' + sessionId, name: 'Yes', kind: 'allow_once' }]
    const question = { sessionId, options, ...(version === '2' ? { title: toolCall.title, subject: { type: 'tool_call', toolCall } } : { toolCall }) }
    const number = questions++
    const answered = new Promise(resolve => asked.set(number, resolve))
    write({ id: number, method: 'session/request_permission', params: question })
    const { outcome } = await answered
    if (outcome.optionId !== toolCall.title) process.exit(3)
  }
  const end = version === '2'
    ? update(sessionId, { sessionUpdate: 'state_update', state: 'idle', stopReason: 'end_turn' })
    : { id, result: { stopReason: 'end_turn' } }
  write(say(${CHUNKS} - 1), end)
}
require('readline').createInterface({ input: process.stdin }).on('line', line => {
  const { id, method, params, result } = JSON.parse(line)
  if (method === 'initialize') write({ id, result: { protocolVersion: Number(version), ...(version === '2' ? { info: { name, version }, capabilities: { session: {} } } : { agentCapabilities: {} }) } })
  else if (method === 'session/new') { const sessionId = 's' + sessions++; write(chunk(sessionId, 'early;'), { id, result: { sessionId } }) }
  else if (method === 'session/prompt') void turn(id, params.sessionId)
  else if (method === undefined) asked.get(id)?.(result)
}).on('close', () => process.exit(0))
`

describe('two sessions and two agents at once', () => {
  const running: Agent[] = []
  const checks: SchemaCheck[] = []
  afterEach(() => {
    for (const agent of running.splice(0)) agent.dispose()
    for (const check of checks.splice(0)) check.assertClean()
  })

  async function start(name: string, version: 1 | 2): Promise<AgentSessions> {
    const check = new SchemaCheck()
    checks.push(check)
    let sessions: AgentSessions | undefined
    const client = {
      requestPermission: (request, signal) => sessions?.requestPermission(request, signal),
    } as AgentClient
    const agent = await startAgent(
      {
        command: process.execPath,
        args: ['-e', AGENT, '--', name, String(version)],
        env: { PATH: process.env.PATH ?? '' },
        cwd: process.cwd(),
      },
      client,
      {
        clientInfo: { name: 'parley-tests', title: 'Parley tests', version: '0.0.0' },
        initializeTimeoutMs: 180_000,
        maxFrameBytes: 1 << 20,
        log: silentLogger,
        tap: { current: check.tap },
        protocol: version === 2 ? 'latest' : 'stable',
      },
    )
    assert.equal(agent.protocolVersion, version)
    running.push(agent)
    sessions = new AgentSessions(agent)
    return sessions
  }

  const text = ({ state }: Session): string =>
    state.entries
      .flatMap(entry => (entry.kind === 'message' && entry.role === 'agent' ? entry.blocks : []))
      .map(block => (block.type === 'text' ? block.text : ''))
      .join('')

  /** Runs a turn and allows its requests; returns the conversation at the moment when the turn ends. */
  async function played(name: string, session: Session): Promise<{ said: string; own: string }> {
    session.onDidChange(() => {
      for (const question of session.requests.open) {
        if (question.kind === 'permission') {
          session.requests.answerPermission(question.requestId, question.options[0]?.optionId)
        }
      }
    })
    const outcome = await session.prompt([{ type: 'text', text: 'go' }])
    assert.deepEqual(outcome, { type: 'ended', stopReason: 'end_turn' })
    const own = Array.from({ length: CHUNKS }, (_, i) => `${name}/${session.sessionId}/${i};`).join('')
    return { said: text(session), own: `early;${own}` }
  }

  it('are kept apart in v1 and v2, where responses are handled after earlier updates', async () => {
    const names = ['one', 'two', 'three'] as const
    const agents = await Promise.all([start('one', 1), start('two', 1), start('three', 2)])
    const setup = { cwd: process.cwd(), additionalDirectories: [], mcpServers: [] }
    const turns = await Promise.all(
      agents.flatMap((sessions, at) =>
        [0, 1, 2].map(async () => played(names[at]!, await sessions.newSession(setup))),
      ),
    )
    assert.equal(turns.length, 9)
    for (const { said, own } of turns) assert.equal(said, own)
  })
})
