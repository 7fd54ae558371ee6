import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { HOST_VERSION } from '../../../../src/acp/transport/host/channel.ts'
import { until } from '../../../support/until.ts'
import { type Hosting, type SessionsFixture, sendPrompt } from '../sessions-fixture.ts'
import { HostedSuite } from './hosted-suite.ts'

/** Says something, and something else once its file is there; then it exits. */
const AGENT = `
  const send = message => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n')
  const say = text => send({
    method: 'session/update',
    params: { sessionId: 's1', update: { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } } },
  })
  const agentCapabilities = { sessionCapabilities: { resume: {} } }
  require('node:readline').createInterface({ input: process.stdin }).on('line', line => {
    const { id, method, params } = JSON.parse(line)
    if (method === 'initialize') send({ id, result: { protocolVersion: 1, agentCapabilities } })
    if (method === 'session/new') send({ id, result: { sessionId: 's1' } })
    if (method === 'session/resume') send({ id, result: {} })
    if (method !== 'session/prompt') return
    say('Begun. ')
    const timer = setInterval(() => {
      if (!require('node:fs').existsSync(params.prompt[0].text)) return
      clearInterval(timer)
      say('Done.')
      send({ id, result: { stopReason: 'end_turn' } })
      setTimeout(() => process.exit(0), 50)
    }, 10)
  })
`

describe('a session whose agent runs in a host of another version', () => {
  const suite = new HostedSuite()
  const { program, folder } = suite
  const last = { agentId: 'one', sessionId: 's1', cwd: '/w/a' }
  const newer = HOST_VERSION + 1
  let open: () => SessionsFixture
  let hosting: Hosting
  before(() => program.buildVersion(newer))
  beforeEach(() => {
    hosting = suite.hosting(AGENT)
    open = suite.opener(hosting)
  })
  const text = ({ controller }: SessionsFixture) =>
    JSON.stringify(controller.current?.session.state.entries ?? [])
  const failures = ({ controller }: SessionsFixture) =>
    [...controller.failures.values()].map(failure =>
      failure.type === 'elsewhere' ? failure.place : failure.type,
    )

  for (const how of ['restore', 'resume'] as const)
    it(`is readable, and gets no second agent until that one is done: ${how}`, async () => {
      const gate = path.join(folder, `gate-${how}`)
      const earlier = open()
      await earlier.controller.opener.start('one')
      await sendPrompt(earlier.controller, gate)
      await until(() => text(earlier).includes('Begun.'), 'a part of the turn')
      await until(() => JSON.stringify(earlier.transcripts.read('one', 's1') ?? '').includes('Begun.'))
      await earlier.close()

      hosting.version = newer
      const next = open()
      await next.hosted!.start()
      if (how === 'restore') await next.controller.opener.restore(last)
      else await next.controller.opener.reopen('resume', last)
      assert.deepEqual(failures(next), ['otherVersion'])
      assert.deepEqual([next.manager.list(), (await program.hosts.list()).length], [[], 1])
      assert.match(text(next), /Begun/)
      assert.doesNotMatch(text(next), /interrupted|ended from outside/i)

      writeFileSync(gate, '')
      await until(async () => (await program.hosts.list()).every(({ hasExited }) => hasExited), 'its end')
      await next.controller.opener.retry({ type: how, ...last })
      assert.deepEqual(failures(next), [])
      await until(() => next.controller.phase === 'ready', 'the session')
      assert.match(text(next), /Begun. Done\./)
      assert.deepEqual(await program.hosts.list(), [], 'the other host has ended')
      for (const { id: agent } of await program.window({ version: newer }).list())
        await program.window({ version: newer }).end(agent)
    })
})
