import assert from 'node:assert/strict'
import { CancelledError } from '../../../src/common/errors.ts'
import { until } from '../../support/until.ts'
import { Deferred } from '../conversation/fake-agent.ts'
import { House } from './house.ts'

describe('AgentHost', () => {
  it('starts one process for all who ask at once', async () => {
    const house = new House()
    const host = house.hosts.get('one')
    const [first, second] = await Promise.all([host.ensure(), host.ensure()])
    assert.equal(first, second)
    assert.equal(house.started.length, 1)
  })

  it('goes on starting while one still waits, and stops when nobody does', async () => {
    const house = new House()
    const gate = new Deferred<void>()
    house.onStart = () => gate.promise
    const host = house.hosts.get('one')
    const one = new AbortController()
    const two = new AbortController()
    const first = host.ensure(one.signal)
    const second = host.ensure(two.signal)
    one.abort()
    await assert.rejects(first, CancelledError)
    assert.equal(host.isStarting, true)
    two.abort()
    await assert.rejects(second, CancelledError)
    gate.resolve()
    await until(() => !host.isStarting)
    assert.equal(host.running, undefined)
  })

  it('starts anew after the process ended', async () => {
    const house = new House()
    const host = house.hosts.get('one')
    await host.ensure()
    house.agent.exit()
    assert.equal(host.running, undefined)
    await host.ensure()
    assert.equal(house.started.length, 2)
  })

  it('forgets a stopped agent at once', async () => {
    const house = new House()
    const host = house.hosts.get('one')
    const { sessions } = await host.ensure()
    host.stop()
    assert.equal(host.running, undefined)
    assert.equal(sessions.sessions.size, 0)
  })
})
