import assert from 'node:assert/strict'
import { AgentStartError } from '../../../../src/acp/agent.ts'
import { CancelledError } from '../../../../src/common/errors.ts'
import { RECONNECT_MS } from '../../../../src/common/limits.ts'
import { silentLogger } from '../../../../src/common/logger.ts'
import { AgentRunner } from '../../../../src/sessions/runners/agent-runner.ts'
import { until } from '../../../support/until.ts'
import { Deferred, type FakeAgent } from '../../conversation/fake-agent.ts'
import { SessionsFixture } from '../sessions-fixture.ts'

describe('AgentRunner', () => {
  it('starts one process for concurrent callers', async () => {
    const fixture = new SessionsFixture()
    const runner = fixture.runners.get('one')
    const [first, second] = await Promise.all([runner.ensure(), runner.ensure()])
    assert.equal(first, second)
    assert.equal(fixture.started.length, 1)
  })

  it('keeps starting while any caller waits, and stops when none does', async () => {
    const fixture = new SessionsFixture()
    const gate = new Deferred<void>()
    fixture.onStart = () => gate.promise
    const runner = fixture.runners.get('one')
    const one = new AbortController()
    const two = new AbortController()
    const first = runner.ensure(one.signal)
    const second = runner.ensure(two.signal)
    one.abort()
    await assert.rejects(first, CancelledError)
    assert.equal(runner.isStarting, true)
    two.abort()
    await assert.rejects(second, CancelledError)
    gate.resolve()
    await until(() => !runner.isStarting)
    assert.equal(runner.running, undefined)
  })

  it('starts again while a canceled start is still ending', async () => {
    const fixture = new SessionsFixture()
    const gates = [new Deferred<void>(), new Deferred<void>()]
    let starts = 0
    fixture.onStart = async () => gates[starts++]?.promise
    const runner = fixture.runners.get('one')
    const abort = new AbortController()
    const first = runner.ensure(abort.signal)
    await until(() => starts === 1)
    abort.abort()
    await assert.rejects(first, CancelledError)
    const second = runner.ensure()
    await until(() => starts === 2)
    gates[0]?.resolve()
    await new Promise(resolve => setImmediate(resolve))
    assert.equal(runner.isStarting, true)
    gates[1]?.resolve()
    assert.equal(runner.running, undefined)
    assert.equal(await second, runner.running)
  })

  it('restarts after the process exited', async () => {
    const fixture = new SessionsFixture()
    const runner = fixture.runners.get('one')
    await runner.ensure()
    fixture.agent.exit()
    assert.equal(runner.running, undefined)
    await runner.ensure()
    assert.equal(fixture.started.length, 2)
  })

  it('gives up a server that closes each connection soon, and tries it again when the user wants', async () => {
    const pauses = [...RECONNECT_MS]
    RECONNECT_MS.fill(0)
    try {
      const fixture = new SessionsFixture()
      const { controller } = fixture
      const opening = controller.opener.start('one')
      await until(() => fixture.started.length === 1 && fixture.agent.newSessions.length === 1)
      fixture.agent.newSessions[0]!.resolve({ sessionId: 's1' })
      await opening
      const reopened = async (count: number) => {
        await until(() => fixture.started.length === count && fixture.agent.resumes.length === 1)
        fixture.agent.resumes[0]!.resolve({ sessionId: 's1' })
        await until(() => controller.phase === 'ready')
      }
      for (let lost = 1; lost <= pauses.length; lost++) {
        fixture.agent.exit({ reason: 'connection' })
        await reopened(lost + 1)
      }
      fixture.agent.exit({ reason: 'connection' })
      await until(() => [...controller.failures.values()].some(({ type }) => type === 'ended'))
      assert.equal(controller.phase, 'ended')
      assert.equal(fixture.started.length, pauses.length + 1)
      const retrying = controller.opener.restart()
      await reopened(pauses.length + 2)
      await retrying
    } finally {
      RECONNECT_MS.splice(0, pauses.length, ...pauses)
    }
  })

  it('forgets a stopped agent immediately', async () => {
    const fixture = new SessionsFixture()
    const runner = fixture.runners.get('one')
    const { sessions } = await runner.ensure()
    runner.stop()
    assert.equal(runner.running, undefined)
    assert.equal(sessions.sessions.size, 0)
  })

  describe('with preparation of a new process', () => {
    function runnerOf(fixture: SessionsFixture, prepare: (agent: FakeAgent) => Promise<void>): AgentRunner {
      return new AgentRunner({
        agentId: 'one',
        name: () => 'One',
        resolveLaunch: () => fixture.directory.resolveLaunch('one'),
        start: fixture.start,
        client: () => fixture.clients.of('one', () => undefined),
        connectOptions: () => ({
          clientInfo: { name: 'test', title: 'Test', version: '0' },
          initializeTimeoutMs: 1000,
          maxFrameBytes: 1000,
          log: silentLogger,
        }),
        prepare: agent => prepare(agent as FakeAgent),
      })
    }

    it('returns the agent only after the preparation', async () => {
      const fixture = new SessionsFixture()
      const reported = new Deferred<void>()
      const runner = runnerOf(fixture, () => reported.promise)
      const starting = runner.ensure()
      await until(() => fixture.started.length === 1)
      assert.equal(runner.running, undefined)
      reported.resolve()
      assert.equal((await starting).agent, fixture.agent)
    })

    it("can be abandoned while the agent doesn't respond, and restarted", async () => {
      const fixture = new SessionsFixture()
      const never = new Deferred<void>()
      let disposed = 0
      fixture.prepare = agent => Object.assign(agent, { dispose: () => disposed++ })
      let first = true
      const runner = runnerOf(fixture, async () => {
        if (first) await never.promise
      })
      const abort = new AbortController()
      const starting = runner.ensure(abort.signal)
      await until(() => fixture.started.length === 1)
      abort.abort()
      await assert.rejects(starting, CancelledError)
      assert.equal(runner.isStarting, false)
      await until(() => disposed === 1)
      first = false
      await runner.ensure()
      assert.equal(fixture.started.length, 2)
    })

    it('reports that the process exited during the preparation', async () => {
      const fixture = new SessionsFixture()
      const runner = runnerOf(fixture, async agent => agent.exit({ exitCode: 3 }))
      await assert.rejects(runner.ensure(), AgentStartError)
      assert.equal(runner.running, undefined)
    })
  })
})
