import assert from 'node:assert/strict'
import type { AuthStatus } from '../../../../src/acp/model.ts'
import { Emitter } from '../../../../src/common/event.ts'
import { silentLogger } from '../../../../src/common/logger.ts'
import { Accounts, describeAccount } from '../../../../src/sessions/sign-in/accounts.ts'
import { until } from '../../../support/until.ts'
import { SessionsFixture } from '../sessions-fixture.ts'

const ada: AuthStatus = {
  state: 'authenticated',
  accounts: [
    { label: 'old' },
    { label: 'a', active: true, email: 'ada@example.org', organization: 'Engines' },
  ],
}

describe('Accounts', () => {
  it("requests an agent's status when it starts, follows changes, and knows nothing after it exited", async () => {
    const fixture = new SessionsFixture()
    const reported = new Emitter<AuthStatus>()
    let status: AuthStatus = { state: 'unauthenticated', accounts: [] }
    let changes = 0
    const accounts = new Accounts(fixture.directory, fixture.runners, silentLogger)
    accounts.onDidChange(() => changes++)
    fixture.prepare = agent =>
      Object.assign(agent, {
        capabilities: { ...agent.capabilities, authStatus: true },
        authStatus: async () => status,
        onAuthStatus: reported.event,
      })
    await fixture.runners.get('one').ensure()
    await until(() => accounts.get('one') !== undefined)
    assert.equal(describeAccount(accounts.get('one')), 'Not signed in')
    reported.fire(ada)
    assert.equal(describeAccount(accounts.get('one')), 'Signed in as ada@example.org (Engines)')
    status = { state: 'authenticated', accounts: [] }
    await accounts.refresh('one')
    assert.equal(describeAccount(accounts.get('one')), 'Signed in')
    fixture.runners.get('one').stop()
    await until(() => accounts.get('one') === undefined)
    assert.ok(changes >= 4)
    assert.equal(describeAccount(undefined), undefined)
  })

  it('requests nothing from an agent without the capability', async () => {
    const fixture = new SessionsFixture()
    const accounts = new Accounts(fixture.directory, fixture.runners, silentLogger)
    await fixture.runners.get('one').ensure()
    await accounts.refresh('one')
    assert.equal(accounts.get('one'), undefined)
    assert.deepEqual(accounts.describe('one'), { text: 'Sign-in status not reported' })
  })

  it('infers the status from requests if the agent lacks the capability', async () => {
    const fixture = new SessionsFixture()
    const accounts = new Accounts(fixture.directory, fixture.runners, silentLogger)
    let changes = 0
    accounts.onDidChange(() => changes++)
    const words = () => accounts.describe('one').text
    assert.equal(words(), 'Sign-in status not checked yet')
    accounts.refused('one')
    assert.equal(words(), 'Not signed in')
    accounts.signedIn('one')
    assert.equal(words(), 'Signed in')
    await accounts.signedOut('one')
    assert.equal(words(), 'Not signed in')
    assert.equal(changes, 3)
    assert.equal(accounts.get('two'), undefined)
  })
})
