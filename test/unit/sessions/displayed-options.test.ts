import assert from 'node:assert/strict'
import { mock } from 'node:test'
import type { ConfigOption } from '../../../src/acp/model.ts'
import { DisplayedOptions } from '../../../src/sessions/displayed-options.ts'
import { Failures } from '../../../src/sessions/failures.ts'
import type { OpenSession } from '../../../src/sessions/open-session.ts'
import { until } from '../../support/until.ts'
import { twoWindows } from './sessions-fixture.ts'

/** A conversation that consists only of pending options. */
function conversation(...pendingOptions: string[]): OpenSession {
  const state = { configOptions: [{ id: 'mode', name: 'Mode', type: 'unknown' }] }
  const session = { optionChanges: { ids: pendingOptions }, phase: 'ready', state }
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
    open.session.optionChanges.ids.shift()
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

describe('the options of a session', () => {
  const modes = (currentValue: string): ConfigOption => ({
    ...{ type: 'select', id: 'mode', name: 'Mode', category: 'mode', currentValue },
    choices: ['a', 'b', 'c'].map(value => ({ value, name: value })),
  })

  it('are stored with it, for an agent that reports none when another window opens the session', async () => {
    const [first, second] = twoWindows()
    const starting = first.controller.opener.start()
    await until(() => first.started.length > 0 && first.agent.newSessions.length > 0)
    first.agent.newSessions[0]!.resolve({ sessionId: 's1', configOptions: [modes('a')] })
    await starting
    first.agent.say(
      's1',
      { type: 'message_chunk', role: 'agent', content: { type: 'text', text: 'Hello' } },
      { type: 'config_value', category: 'mode', value: 'b' },
    )
    await first.close()
    const reference = { agentId: 'one', sessionId: 's1', cwd: '/w/a', title: 'One' }
    const opening = second.controller.opener.reopen('load', reference)
    await until(() => second.started.length > 0 && second.agent.loads.length > 0)
    const last = second.agent.lastOptions?.()
    assert.deepEqual(last, [modes('b')])
    second.agent.loads[0]!.resolve({ sessionId: 's1', configOptions: [modes('c')] })
    await opening
    assert.deepEqual(second.controller.current?.session.state.configOptions, [modes('c')])
    // the agent's process is replaced: what is open here is newer than what is stored
    const restarting = second.controller.opener.restart()
    await until(() => second.started.length > 1 && second.agent.resumes.length > 0)
    assert.deepEqual(second.agent.lastOptions?.(), [modes('c')])
    second.agent.resumes[0]!.resolve({ sessionId: 's1' })
    await restarting
    await second.close()
  })

  it('that lost their value when the session was reopened are known until the user sets them', async () => {
    const [first, second] = twoWindows()
    const web = (currentValue: boolean): ConfigOption => ({
      ...{ type: 'boolean', id: 'web', name: 'Web', currentValue },
    })
    const starting = first.controller.opener.start()
    await until(() => first.started.length > 0 && first.agent.newSessions.length > 0)
    first.agent.newSessions[0]!.resolve({ sessionId: 's1', configOptions: [modes('b'), web(true)] })
    await starting
    first.agent.say('s1', {
      ...{ type: 'message_chunk', role: 'agent', content: { type: 'text', text: 'Hello' } },
    })
    await first.close()
    const reference = { agentId: 'one', sessionId: 's1', cwd: '/w/a', title: 'One' }
    const opening = second.controller.opener.reopen('load', reference)
    await until(() => second.started.length > 0 && second.agent.loads.length > 0)
    second.agent.loads[0]!.resolve({ sessionId: 's1', configOptions: [modes('a'), web(false)] })
    await opening
    const { session } = second.controller.current!
    const lost = () =>
      session.optionChanges.lost.map(({ before, now }) => [before.currentValue, now.currentValue])
    assert.deepEqual(lost(), [
      ['b', 'a'],
      [true, false],
    ])
    // some agents say only after they have answered what the session has
    second.agent.say('s1', { type: 'config_options', options: [modes('a'), web(true)] })
    assert.deepEqual(lost(), [['b', 'a']])
    void session.prompt([{ type: 'text', text: 'Go on' }])
    await until(() => session.turns.isWorking)
    second.agent.say('s1', { type: 'config_options', options: [modes('a'), web(false)] })
    assert.deepEqual(lost(), [['b', 'a']])
    void second.controller.configOptions.set('mode', 'b')
    assert.deepEqual(lost(), [])
    await second.close()
  })
})
