import assert from 'node:assert/strict'
import fc from 'fast-check'
import {
  type Agent,
  type AgentClient,
  type AgentExit,
  AgentRequestError,
  AgentStartError,
  type ConnectOptions,
} from '../../../src/acp/agent.ts'
import { startAgent } from '../../../src/acp/start-agent.ts'
import { silentLogger } from '../../../src/common/logger.ts'
import { SecretRegistry } from '../../../src/common/secrets.ts'
import { scaledRuns } from '../../support/property-tests.ts'

/** An agent that sends the secret in its environment in every possible way. */
const TELLTALE = `
const secret = process.env.TELLTALE
const chunks = (stream, text) => { for (const part of text.match(/[^]{1,5}/g)) stream.write(part) }
const send = message => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n')
const forms = [secret, JSON.stringify(secret), encodeURIComponent(secret), Buffer.from('a' + secret).toString('base64')]
process.stdout.write('noise ' + forms.join(' ') + '\\n')
process.stdout.write('x'.repeat(1995 - 6) + secret + '\\n')
chunks(process.stderr, 'started with ' + forms.join(' ') + '\\n')
if (process.env.REFUSE) chunks(process.stderr, 'no end ' + secret)
require('readline').createInterface({ input: process.stdin }).on('line', line => {
  const { id, method } = JSON.parse(line)
  if (method === 'initialize' && process.env.REFUSE) send({ id, error: { code: -32603, message: 'No ' + secret, data: { details: forms } } })
  else if (method === 'initialize') send({ id, result: { protocolVersion: 1 } })
  else if (method === 'session/new') send({ id, error: { code: 401, message: 'Refused ' + secret, data: { message: forms.join(' ') } } })
  else process.exit(1)
})`

describe('a secret that Parley holds', () => {
  const secrets = fc
    .string({ minLength: 8, maxLength: 30, unit: fc.constantFrom(...'abcXYZ019-_.~"\\/+=%&é') })
    .filter(text => new Set(text).size > 4)

  async function tell(secret: string, refuse: boolean): Promise<string> {
    const held = new SecretRegistry()
    held.add(secret)
    const said: string[] = []
    const hear = (text: string) => void said.push(text)
    const options: ConnectOptions = {
      clientInfo: { name: 'parley-test', title: 'Test', version: '0.0.0' },
      initializeTimeoutMs: 180_000,
      maxFrameBytes: 1 << 20,
      log: { ...silentLogger, info: hear, warn: hear, debug: hear, error: hear },
      onStderr: hear,
      secrets: held,
    }
    const env = { ...process.env, TELLTALE: secret, ...(refuse && { REFUSE: '1' }) } as Record<string, string>
    const launch = { command: process.execPath, args: ['-e', TELLTALE], env, cwd: process.cwd() }
    let agent: Agent
    try {
      agent = await startAgent(launch, {} as AgentClient, options)
    } catch (error) {
      assert.ok(error instanceof AgentStartError)
      return [error.message, JSON.stringify(error.failure), ...said].join('\n')
    }
    const closed = new Promise<AgentExit>(resolve => agent.onDidClose(resolve))
    const setup = { cwd: process.cwd(), additionalDirectories: [], mcpServers: [] }
    const refused: unknown = await agent.newSession(setup).catch((error: unknown) => error)
    assert.ok(refused instanceof AgentRequestError)
    await agent.authenticate('any').catch(() => {})
    const exit = await closed
    return [refused.message, refused.detail, JSON.stringify(exit), ...said].join('\n')
  }

  it("never appears in an error, the log or an agent's output, even if the agent repeats it", async () => {
    await fc.assert(
      fc.asyncProperty(secrets, fc.boolean(), async (secret, refuse) => {
        const text = await tell(secret, refuse)
        assert.match(text, /•••/)
        assert.ok(!text.includes(secret), text)
        assert.ok(!text.includes(JSON.stringify(secret).slice(1, -1)), text)
        assert.ok(!text.includes(encodeURIComponent(secret)), text)
        for (const run of text.match(/[\w+/]{6,}={0,2}/g) ?? []) {
          assert.ok(!Buffer.from(run, 'base64').toString().includes(secret), text)
        }
      }),
      { numRuns: scaledRuns(12) },
    )
  })
})
