import assert from 'node:assert/strict'
import { mock } from 'node:test'
import { Failures, SlowOptions } from '../../../src/sessions/failures.ts'
import type { OpenSession } from '../../../src/sessions/open-session.ts'

/** A conversation that consists only of pending options. */
function conversation(...pendingOptions: string[]): OpenSession {
  const state = { configOptions: [{ id: 'mode', name: 'Mode', type: 'unknown' }] }
  const session = { pendingOptions, phase: 'ready', state }
  return { agentId: 'a', agentName: 'Agent', session } as unknown as OpenSession
}

describe('SlowOptions', () => {
  let failures: Failures
  let slow: SlowOptions
  const reported = () =>
    [...failures.all.values()].map(failure => 'optionName' in failure && failure.optionName)

  beforeEach(() => {
    mock.timers.enable({ apis: ['setTimeout'] })
    failures = new Failures(() => {})
    slow = new SlowOptions(failures)
  })
  afterEach(() => mock.timers.reset())

  it('reports each waiting option once', () => {
    const open = conversation('mode', 'web')
    slow.look(open)
    mock.timers.tick(10_000)
    slow.look(open)
    assert.deepEqual(reported(), [])
    mock.timers.tick(5000)
    assert.deepEqual(reported(), ['Mode', 'web'])
    open.session.pendingOptions.shift()
    slow.look(open)
    assert.deepEqual(reported(), ['web'])
  })

  it("reports nothing for a conversation that isn't displayed", () => {
    slow.look(conversation('mode'))
    mock.timers.tick(14_000)
    slow.look(conversation('mode'))
    mock.timers.tick(14_000)
    assert.deepEqual(reported(), [])
    mock.timers.tick(1000)
    assert.deepEqual(reported(), ['Mode'])
    slow.look(undefined)
    assert.deepEqual(reported(), [])
  })
})
