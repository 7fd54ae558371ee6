import assert from 'node:assert/strict'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import type { AgentClient } from '../../../src/acp/agent.ts'
import { startAgent } from '../../../src/acp/start-agent.ts'
import { silentLogger } from '../../../src/common/logger.ts'
import { AgentSessions } from '../../../src/conversation/agent-sessions.ts'
import { invalidMessages, type LogLine } from '../../ui/support/fixture-agent.ts'

const AGENT = path.resolve(import.meta.dirname, '../../fixtures/agent/main.mjs')

describe('the messages sent to the fixture agent, checked against the official schema', () => {
  let folder: string
  beforeEach(() => {
    folder = fs.mkdtempSync(path.join(os.tmpdir(), 'fixture-sent-'))
  })
  afterEach(() => fs.rmSync(folder, { recursive: true }))

  /** The log of a session in which the agent requests a permission. */
  async function played(): Promise<LogLine[]> {
    const log = path.join(folder, 'log.ndjson')
    let sessions: AgentSessions | undefined
    const client = {
      requestPermission: (request, signal) => sessions?.requestPermission(request, signal),
    } as AgentClient
    const agent = await startAgent(
      {
        command: process.execPath,
        args: [AGENT],
        env: { PATH: process.env.PATH ?? '', FIXTURE_LOG: log },
        cwd: folder,
      },
      client,
      {
        clientInfo: { name: 'parley-tests', title: 'Parley tests', version: '0.0.0' },
        initializeTimeoutMs: 180_000,
        maxFrameBytes: 1 << 20,
        log: silentLogger,
      },
    )
    sessions = new AgentSessions(agent)
    const session = await sessions.newSession({ cwd: folder, additionalDirectories: [], mcpServers: [] })
    const asked = new Promise<void>(resolve => {
      session.onDidChange(() => {
        const [question] = session.requests.open
        if (question?.kind !== 'permission') return
        session.requests.answerPermission(question.requestId, question.options[0]?.optionId)
        resolve()
      })
    })
    await Promise.all([asked, session.prompt([{ type: 'text', text: '[[permission]]' }])])
    const ended = new Promise<void>(resolve => agent.onDidClose(() => resolve()))
    agent.dispose()
    await ended
    return fs
      .readFileSync(log, 'utf8')
      .split('\n')
      .filter(line => line !== '')
      .map(line => JSON.parse(line))
  }

  it('are valid, and an invalid one is found', async () => {
    const lines = await played()
    assert.deepEqual(invalidMessages(lines), [])
    const methods = lines.flatMap(({ received }) => (received?.method ? [received.method] : []))
    assert.ok(methods.includes('initialize') && methods.includes('session/prompt'), methods.join())

    const wrongRequest = structuredClone(lines)
    const prompt = wrongRequest.find(({ received }) => received?.method === 'session/prompt')
    assert.ok(prompt?.received)
    prompt.received.params = { sessionId: 's', prompt: 'hello' }
    assert.match(invalidMessages(wrongRequest).join(), /PromptRequest\/prompt must be array/)

    const wrongAnswer = structuredClone(lines)
    const answer = wrongAnswer.find(({ received }) => received && 'result' in received)
    assert.ok(answer?.received, 'an answer to the permission')
    answer.received.result = { outcome: 'yes' }
    assert.match(invalidMessages(wrongAnswer).join(), /RequestPermissionResponse/)
  })
})
