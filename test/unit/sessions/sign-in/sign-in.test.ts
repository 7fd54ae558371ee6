import assert from 'node:assert/strict'
import { AgentRequestError } from '../../../../src/acp/agent.ts'
import type { AuthMethod } from '../../../../src/acp/model.ts'
import { CancelledError } from '../../../../src/common/errors.ts'
import { signOut } from '../../../../src/sessions/sign-in/sign-in.ts'
import { SignInValues } from '../../../../src/sessions/sign-in/sign-in-values.ts'
import { until } from '../../../support/until.ts'
import { MemorySecrets } from '../memory-secrets.ts'
import { SessionsFixture } from '../sessions-fixture.ts'

const method: AuthMethod = {
  methodId: 'key',
  type: 'env_var',
  name: 'API key',
  vars: [
    { name: 'API_KEY', secret: true, optional: false },
    { name: 'API_URL', secret: false, optional: true },
  ],
}
const never = new AbortController().signal
let launch: string | undefined = 'as defined'

describe('signing in by environment variables', () => {
  it('stores values by agent and method, and uses those of the last method', async () => {
    const secrets = new MemorySecrets()
    const given: Record<string, string> = { API_KEY: 's3cret', API_URL: '', OTHER: 'o' }
    const values = new SignInValues(
      secrets,
      () => launch,
      async (_agent, _method, variable) => given[variable.name],
    )
    await values.signIn('one', method, never)
    assert.deepEqual(await values.environment('one'), { API_KEY: 's3cret' })
    assert.deepEqual(await values.environment('two'), {})
    const vars = [{ name: 'OTHER', secret: true, optional: false }]
    await values.signIn('one', { ...method, methodId: 'other', vars }, never)
    assert.deepEqual(await values.environment('one'), { OTHER: 'o' })
    assert.equal(await values.forget('one'), true)
    assert.equal(await values.forget('one'), false)
    assert.deepEqual(await values.environment('one'), {})
  })

  it('stores nothing if a value is missing or has an invalid name', async () => {
    const secrets = new MemorySecrets()
    const answers = ['s3cret', undefined]
    const values = new SignInValues(
      secrets,
      () => launch,
      async () => answers.shift(),
    )
    await assert.rejects(values.signIn('one', method, never), CancelledError)
    const vars = [{ name: 'A=B', secret: true, optional: false }]
    await assert.rejects(
      values.signIn('one', { ...method, vars }, never),
      /invalid environment variable: A=B/,
    )
    assert.equal(secrets.values.size, 0)
  })

  it("keeps values for the original agent if another command has the agent's id", async () => {
    const values = new SignInValues(
      new MemorySecrets(),
      () => launch,
      async () => 's3cret',
    )
    await values.signIn('one', method, never)
    launch = 'as a workspace defines it'
    try {
      assert.deepEqual(await values.environment('one'), {})
      await values.signIn('one', { ...method, vars: [] }, never)
      launch = undefined
      assert.deepEqual(await values.environment('one'), {})
    } finally {
      launch = 'as defined'
    }
    assert.deepEqual(await values.environment('one'), { API_KEY: 's3cret', API_URL: 's3cret' })
  })

  it('ignores unreadable values', async () => {
    const secrets = new MemorySecrets()
    const values = new SignInValues(
      secrets,
      () => launch,
      async () => 'x',
    )
    for (const text of [
      '{',
      '[]',
      '{"launches":[["as defined",{"current":"a","methods":{"a":{"X":1}}}]]}',
      '{"launches":[["as defined",{"current":"toString","methods":{}}]]}',
      '{"launches":{}}',
    ]) {
      secrets.values.set('parley.signIn/one', text)
      assert.deepEqual(await values.environment('one'), {}, text)
    }
  })
})

describe('ConversationController: signing in', () => {
  async function refused(fixture: SessionsFixture, methods = [method]) {
    const starting = fixture.controller.opener.start()
    await until(() => fixture.started.length > 0 && fixture.agent.newSessions.length > 0)
    Object.assign(fixture.agent, { authMethods: methods })
    const error = { code: -32000, message: 'Authentication required' }
    fixture.agent.newSessions[0]?.reject(new AgentRequestError('session/new', 'auth-required', error))
    await starting
    return [...fixture.controller.failures.keys()][0]!
  }

  it('asks for variables, restarts the agent, and retries', async () => {
    const fixture = new SessionsFixture()
    const id = await refused(fixture)
    const signing = fixture.controller.signIn.signIn(id, 'key')
    await until(() => fixture.started.length === 2 && fixture.agent.newSessions.length === 1)
    fixture.agent.newSessions[0]?.resolve({ sessionId: 's2' })
    await signing
    assert.deepEqual(fixture.variableSignIns, ['one key'])
    assert.equal(fixture.controller.key, 'one/s2')
    assert.equal(fixture.controller.failures.size, 0)
  })

  it('asks for the key of a simple method, restarts the agent with it, and signs in', async () => {
    const fixture = new SessionsFixture()
    fixture.prepare = agent => Object.assign(agent, { authMethods: [plain] })
    const plain: AuthMethod = { ...method, type: 'agent' }
    const id = await refused(fixture, [plain])
    const signing = fixture.controller.signIn.signIn(id, 'key')
    await until(() => fixture.started.length === 2 && fixture.agent.newSessions.length === 1)
    fixture.agent.newSessions[0]?.resolve({ sessionId: 's2' })
    await signing
    assert.deepEqual(fixture.variableSignIns, ['one key'])
    assert.equal(fixture.controller.key, 'one/s2')
  })

  it("doesn't restart the agent if the user enters no values", async () => {
    const fixture = new SessionsFixture()
    const id = await refused(fixture)
    fixture.variablesFail = new CancelledError()
    await fixture.controller.signIn.signIn(id, 'key')
    assert.equal(fixture.started.length, 1)
    assert.equal(fixture.controller.failures.get(id)?.type, 'sign-in')
  })

  it('explains which method failed and why, unless the user canceled it', async () => {
    const fixture = new SessionsFixture()
    const id = await refused(fixture)
    const reported = () => {
      const failure = fixture.controller.failures.get(id)
      return failure?.type === 'sign-in' ? [failure.tried, failure.message, failure.running] : undefined
    }
    fixture.variablesFail = new CancelledError()
    await fixture.controller.signIn.signIn(id, 'key')
    assert.deepEqual(reported(), [undefined, 'Authentication required', undefined])
    fixture.variablesFail = new Error('Nobody answered')
    await fixture.controller.signIn.signIn(id, 'key')
    assert.deepEqual(reported(), ['key', 'Nobody answered', undefined])
  })

  for (const [what, more, message] of [
    ['is not known to the agent', {}, 'Method not found'],
    ['needs what only its own settings hold', { gateway: true as const }, 'it requires a gateway URL'],
  ] as const)
    it(`says where to sign in if a method ${what}`, async () => {
      const fixture = new SessionsFixture()
      const plain: AuthMethod = { methodId: 'plain', type: 'agent', name: 'Log in', ...more }
      const id = await refused(fixture, [plain])
      Object.assign(fixture.agent, {
        authenticate: async () => {
          throw new AgentRequestError('authenticate', 'other', { code: -32601, message: 'Method not found' })
        },
      })
      await fixture.controller.signIn.signIn(id, 'plain')
      const failure = fixture.controller.failures.get(id)
      assert.ok(failure?.type === 'sign-in')
      assert.deepEqual([failure.tried, failure.unavailable, failure.message], ['plain', true, message])
      assert.equal(fixture.accounts.get('one')?.state, 'unauthenticated')
    })

  it('offers the sign-in methods on request, and restores the conversation with the new process', async () => {
    const fixture = new SessionsFixture()
    const starting = fixture.controller.opener.start()
    await until(() => fixture.started.length > 0 && fixture.agent.newSessions.length > 0)
    fixture.agent.newSessions[0]?.resolve({ sessionId: 's1' })
    await starting
    Object.assign(fixture.agent, { authMethods: [method] })
    await fixture.controller.signIn.offer('one')
    const [id, failure] = [...fixture.controller.failures][0]!
    assert.ok(failure.type === 'sign-in' && failure.asked)
    const signing = fixture.controller.signIn.signIn(id, 'key')
    await until(() => fixture.started.length === 2 && fixture.agent.resumes.length === 1)
    fixture.agent.resumes[0]?.resolve({ sessionId: 's1' })
    await signing
    assert.equal(fixture.controller.phase, 'ready')
    assert.equal(fixture.controller.key, 'one/s1')
    assert.equal(fixture.controller.failures.size, 0)
  })

  it('signs out with the agent, and stops the process if it has stored values', async () => {
    const fixture = new SessionsFixture()
    const starting = fixture.controller.opener.start()
    await until(() => fixture.started.length > 0 && fixture.agent.newSessions.length > 0)
    fixture.agent.newSessions[0]?.resolve({ sessionId: 's1' })
    await starting
    let logouts = 0
    Object.assign(fixture.agent, {
      capabilities: { ...fixture.agent.capabilities, logout: true },
      logout: async () => void logouts++,
    })
    const runner = fixture.runners.get('one')
    assert.equal(await signOut(runner, async () => false), true)
    assert.equal(fixture.controller.phase, 'ready')
    assert.equal(await signOut(runner, async () => true), true)
    assert.equal(logouts, 2)
    assert.equal(runner.running, undefined)
    assert.equal(fixture.controller.phase, 'ended')
    assert.deepEqual(
      [...fixture.controller.failures.values()].map(failure => failure.type),
      ['ended'],
    )
  })

  it('stops a process with stored values if the user stops waiting for it to sign out', async () => {
    const fixture = await SessionsFixture.withSession()
    let asked = 0
    Object.assign(fixture.agent, {
      capabilities: { ...fixture.agent.capabilities, logout: true },
      logout: () => {
        asked++
        return new Promise(() => {})
      },
    })
    const runner = fixture.runners.get('one')
    const [values, none] = [new AbortController(), new AbortController()]
    void signOut(runner, async () => false, none.signal)
    void signOut(runner, async () => true, values.signal)
    await until(() => asked === 2)
    none.abort()
    assert.notEqual(runner.running, undefined)
    values.abort()
    assert.equal(runner.running, undefined)
  })

  it('also asks for a sign-in if a config option requires it, and then changes the option', async () => {
    const fixture = new SessionsFixture()
    fixture.prepare = agent =>
      Object.assign(agent, { authMethods: [{ methodId: 'plain', type: 'agent', name: 'Sign in' }] })
    const starting = fixture.controller.opener.start()
    await until(() => fixture.started.length > 0 && fixture.agent.newSessions.length > 0)
    const option = { id: 'model', name: 'Model', type: 'boolean', currentValue: false } as const
    fixture.agent.newSessions[0]?.resolve({ sessionId: 's1', configOptions: [option] })
    await starting
    const changing = fixture.controller.configOptions.set('model', true)
    const refusal = { code: -32000, message: 'Authentication required' }
    fixture.agent.options[0]?.answer.reject(
      new AgentRequestError('session/set_config_option', 'auth-required', refusal),
    )
    await changing
    const [id, failure] = [...fixture.controller.failures][0]!
    assert.equal(failure.type, 'sign-in')
    await fixture.controller.signIn.signIn(id, 'plain')
    await until(() => fixture.agent.options.length === 2)
    assert.deepEqual(fixture.agent.options[1]?.value, true)
    assert.equal(fixture.controller.failures.size, 0)
  })
})
