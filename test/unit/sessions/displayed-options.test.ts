import assert from 'node:assert/strict'
import { mock } from 'node:test'
import { DisplayedOptions } from '../../../src/sessions/displayed-options.ts'
import { Failures } from '../../../src/sessions/failures.ts'
import type { OpenSession } from '../../../src/sessions/open-session.ts'

/** A conversation that consists only of pending options. */
function conversation(...pendingOptions: string[]): OpenSession {
  const state = { configOptions: [{ id: 'mode', name: 'Mode', type: 'unknown' }] }
  const session = { pendingOptions, phase: 'ready', state }
  return { agentId: 'a', agentName: 'Agent', session } as unknown as OpenSession
}

describe('DisplayedOptions', () => {
  let failures: Failures
  let displayed: { current: OpenSession | undefined; onDidSwitch: () => { dispose(): void } }
  let options: DisplayedOptions
  const reported = () =>
    [...failures.all.values()].map(failure => 'optionName' in failure && failure.optionName)

  beforeEach(() => {
    mock.timers.enable({ apis: ['setTimeout'] })
    failures = new Failures(() => {})
    displayed = { current: undefined, onDidSwitch: () => ({ dispose() {} }) }
    options = new DisplayedOptions({ displayed, failures, askToSignIn: () => assert.fail('nothing is set') })
  })
  afterEach(() => mock.timers.reset())

  const display = (open: OpenSession | undefined) => {
    displayed.current = open
    options.update()
  }

  it('reports each waiting option once', () => {
    const open = conversation('mode', 'web')
    display(open)
    mock.timers.tick(10_000)
    display(open)
    assert.deepEqual(reported(), [])
    mock.timers.tick(5000)
    assert.deepEqual(reported(), ['Mode', 'web'])
    open.session.pendingOptions.shift()
    display(open)
    assert.deepEqual(reported(), ['web'])
  })

  it("reports nothing for a conversation that isn't displayed", () => {
    display(conversation('mode'))
    mock.timers.tick(14_000)
    display(conversation('mode'))
    mock.timers.tick(14_000)
    assert.deepEqual(reported(), [])
    mock.timers.tick(1000)
    assert.deepEqual(reported(), ['Mode'])
    display(undefined)
    assert.deepEqual(reported(), [])
  })
})
