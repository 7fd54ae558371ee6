import assert from 'node:assert/strict'
import { mock } from 'node:test'
import type { ConfigOption } from '../../../src/acp/model.ts'
import type { Session } from '../../../src/conversation/session.ts'
import { defaultOptionKey, optionOf, type StartOptions } from '../../../src/sessions/start-options.ts'
import { until } from '../../support/until.ts'
import { SessionsFixture } from './sessions-fixture.ts'

const settle = async () => {
  for (let i = 0; i < 5; i++) await new Promise(setImmediate)
}
const select = (id: string, values: string[], category?: string): ConfigOption => ({
  ...{ id, name: id.toUpperCase(), type: 'select', currentValue: values[0] ?? '' },
  choices: values.map(value => ({ value, name: value })),
  ...(category !== undefined && { category }),
})
const OPTIONS: ConfigOption[] = [
  select('parley:mode', ['ask', 'plan'], 'mode'),
  select('m', ['small', 'large'], 'model'),
  select('m2', ['tiny'], 'model'),
  { id: 'web', name: 'Web', type: 'boolean', currentValue: false },
]

describe('the key of a default', () => {
  it('is the category of the option, or the id of one that is not the first of its category', () => {
    assert.deepEqual(
      OPTIONS.map(option => defaultOptionKey(OPTIONS, option)),
      ['mode', 'model', 'm2', 'web'],
    )
    for (const option of OPTIONS) assert.equal(optionOf(OPTIONS, defaultOptionKey(OPTIONS, option)), option)
  })

  it('is the key in the settings, if any, so that the default can be changed and removed there', () => {
    const [mode] = OPTIONS
    assert.equal(defaultOptionKey(OPTIONS, mode!, { 'parley:mode': 'plan', m2: 'tiny' }), 'parley:mode')
    // the last one counts
    assert.equal(defaultOptionKey(OPTIONS, mode!, { mode: 'ask', 'parley:mode': 'plan' }), 'parley:mode')
    assert.equal(defaultOptionKey(OPTIONS, mode!, { m2: 'tiny' }), 'mode')
  })

  it("is the id where another option's id is the category", () => {
    const odd = [select('a', ['x'], 'b'), select('b', ['y'])]
    assert.deepEqual(
      odd.map(option => defaultOptionKey(odd, option)),
      ['a', 'b'],
    )
  })
})

describe('a new session', () => {
  let fixture: SessionsFixture
  const begin = async (
    options: Partial<StartOptions>,
    configOptions: ConfigOption[] | undefined = OPTIONS,
  ) => {
    fixture.startOptions = { defaults: {}, lastUsed: {}, ...options }
    const { controller } = fixture
    void controller.opener.start('one')
    await until(() => fixture.started.length > 0 && fixture.agent.newSessions.length > 0)
    mock.timers.enable({ apis: ['setTimeout'] })
    fixture.agent.newSessions.at(-1)?.resolve({ sessionId: 's', ...(configOptions && { configOptions }) })
    await settle()
    assert.equal(controller.phase, 'ready')
    const { session } = controller.current!
    return { controller, session }
  }
  const again = async (sessionId: string, configOptions: ConfigOption[]) => {
    const { controller } = fixture
    const { length } = fixture.agent.newSessions
    void controller.opener.start('one')
    await until(() => fixture.agent.newSessions.length > length)
    fixture.agent.newSessions.at(-1)?.resolve({ sessionId, configOptions })
    await until(() => controller.current?.session.sessionId === sessionId)
    await settle()
    return { session: controller.current!.session }
  }
  const sent = () => fixture.agent.options.map(({ optionId, value }) => [optionId, value])
  const answer = async () => {
    fixture.agent.options.at(-1)?.answer.resolve()
    await settle()
  }
  const notices = ({ state }: Session) =>
    state.entries.flatMap(entry => (entry.kind === 'notice' ? [[entry.title, entry.description]] : []))

  beforeEach(() => {
    fixture = new SessionsFixture()
  })
  afterEach(() => {
    mock.timers.reset()
    void fixture.close()
  })

  it('gets the defaults one after the other, the model first, before the first prompt', async () => {
    const { session } = await begin({ defaults: { web: true, mode: 'plan', model: 'large' } })
    void session.prompt([{ type: 'text', text: 'Hi' }])
    for (const [i, set] of [
      ['m', 'large'],
      ['web', true],
      ['parley:mode', 'plan'],
    ].entries()) {
      assert.deepEqual([sent().length, sent().at(-1)], [i + 1, set])
      assert.equal(fixture.agent.prompts.length, 0)
      await answer()
    }
    assert.equal(fixture.agent.prompts.length, 1)
    assert.deepEqual(notices(session), [])
  })

  it('gets nothing that it has already, and no prompt waits then', async () => {
    const { session } = await begin({ defaults: { mode: 'ask', web: 'false' } })
    void session.prompt([{ type: 'text', text: 'Hi' }])
    assert.deepEqual([sent(), fixture.agent.prompts.length], [[], 1])
  })

  it('starts without options and values that the agent does not have, which is said once', async () => {
    const defaults = { model: 'huge', web: 'maybe', effort: 'high' }
    const { session } = await begin({ defaults })
    assert.deepEqual(sent(), [])
    assert.deepEqual(
      notices(session).map(([title]) => title),
      [
        "M “huge” isn't available. Agent One uses its own default.",
        "Web “maybe” isn't available. Agent One uses its own default.",
        "Agent One has no option “effort”, so your default for it isn't used.",
      ],
    )
    void session.prompt([{ type: 'text', text: 'Hi' }])
    assert.equal(fixture.agent.prompts.length, 1)
    // that of an agent, not of each session
    mock.timers.reset()
    const { session: second } = await again('second', OPTIONS)
    assert.deepEqual(notices(second), [])
    const better = [...OPTIONS, select('effort', ['low', 'high'])]
    const { session: third } = await again('third', better)
    fixture.agent.options.at(-1)?.answer.resolve()
    await settle()
    assert.deepEqual([notices(third), sent()], [[], [['effort', 'high']]])
    const { session: fourth } = await again('fourth', OPTIONS)
    assert.equal(notices(fourth).length, 1)
  })

  it('starts without a default that the agent refuses', async () => {
    const { session } = await begin({ defaults: { model: 'large', mode: 'plan' } })
    void session.prompt([{ type: 'text', text: 'Hi' }])
    fixture.agent.options[0]?.answer.reject(new Error('no credit'))
    await settle()
    assert.deepEqual(notices(session), [['Agent One refused M “large”.', 'no credit']])
    assert.deepEqual(sent().at(-1), ['parley:mode', 'plan'])
    await answer()
    assert.equal(fixture.agent.prompts.length, 1)
    assert.deepEqual(
      session.state.configOptions.slice(0, 2).map(option => option.type === 'select' && option.currentValue),
      ['plan', 'small'],
    )
  })

  it('sends the first prompt if the agent never answers', async () => {
    const { session } = await begin({ defaults: { model: 'large' } })
    void session.prompt([{ type: 'text', text: 'Hi' }])
    mock.timers.tick(60_000)
    await settle()
    assert.equal(fixture.agent.prompts.length, 1)
    assert.deepEqual(notices(session), [["Agent One hasn't confirmed M “large”.", undefined]])
  })

  it('keeps what the user chose meanwhile', async () => {
    const { session } = await begin({ defaults: { model: 'large', mode: 'plan' } })
    void session.optionChanges.set('parley:mode', 'ask')
    await answer()
    fixture.agent.options[0]?.answer.resolve()
    await settle()
    assert.deepEqual(sent(), [
      ['m', 'large'],
      ['parley:mode', 'ask'],
    ])
  })

  it('has a default that depends on the model', async () => {
    const { session } = await begin({ defaults: { thought_level: 'high', model: 'large' } })
    const options = [...session.state.configOptions, select('effort', ['low', 'high'], 'thought_level')]
    fixture.agent.say('s', { type: 'config_options', options })
    await answer()
    assert.deepEqual(sent().at(-1), ['effort', 'high'])
    assert.deepEqual(notices(session), [])
  })

  it('gets what was used last instead of a default, unless that is gone', async () => {
    const { session } = await begin({
      defaults: { mode: 'plan', model: 'large' },
      lastUsed: { web: 'true', gone: 'x', m: 'huge', 'parley:mode': 'ask' },
    })
    await answer()
    await answer()
    assert.deepEqual(sent(), [
      ['m', 'large'],
      ['web', true],
    ])
    assert.deepEqual(notices(session), [])
  })

  it('says that what was used last is gone if there is no default', async () => {
    const { session } = await begin({ lastUsed: { gone: 'x', m: 'huge' } })
    assert.deepEqual(
      notices(session).map(([title]) => title),
      ["M “huge” isn't available. Agent One uses its own default."],
    )
  })

  it('has no defaults after the agent exited', async () => {
    const { session } = await begin({ defaults: { model: 'large', mode: 'plan' } })
    fixture.agent.exit()
    await settle()
    assert.deepEqual([sent().length, session.phase], [1, 'ended'])
  })

  for (const how of ['load', 'resume'] as const)
    it(`isn't one that the user ${how}s`, async () => {
      fixture.startOptions = { defaults: { model: 'large' }, lastUsed: {} }
      const { controller } = fixture
      const reference = { agentId: 'one', sessionId: 's', cwd: '/w/a' }
      void controller.opener.reopen(how, reference)
      const all = () => ({ load: fixture.agent.loads, resume: fixture.agent.resumes })
      await until(() => fixture.started.length > 0 && all()[how].length > 0)
      all()[how][0]?.resolve({ sessionId: 's', configOptions: OPTIONS })
      await until(() => controller.phase === 'ready')
      assert.deepEqual(sent(), [])
    })
})
