import assert from 'node:assert/strict'
import { AgentRequestError, type AgentStartFailure } from '../../../src/acp/agent.ts'
import { cardFor, lostOptionsCard, settingsCard } from '../../../src/app/cards/cards.ts'
import type { CardButton } from '../../../src/bridge/conversation.ts'
import type { LostOption } from '../../../src/conversation/option-changes.ts'
import type { Failure } from '../../../src/sessions/failures.ts'

const attempt = { type: 'new' as const, agentId: 'a' }
const start = (failure: AgentStartFailure): Failure => ({
  type: 'start',
  agentId: 'a',
  agentName: 'Agent',
  failure,
  attempt,
})
const exit = { reason: 'exited' as const, exitCode: 3, stderrTail: 'last words' }

describe('cards', () => {
  const failures: Array<[string, Failure]> = [
    ['no agent', { type: 'no-agent' }],
    ['untrusted', { type: 'untrusted' }],
    ['unknown agent', { type: 'unknown-agent', agentId: 'x', agentName: 'X' }],
    ['missing command', start({ kind: 'command-missing', command: 'agent', searched: ['/bin', '/usr/bin'] })],
    ['spawn', start({ kind: 'spawn', command: 'agent', message: 'not allowed' })],
    ['exited', start({ kind: 'exited', command: 'agent', exit, stdoutNoise: 'hello' })],
    [
      'timeout',
      start({ kind: 'initialize-timeout', command: 'agent', seconds: 30, stderrTail: 'e', stdoutNoise: 'o' }),
    ],
    [
      'refused',
      start({
        kind: 'initialize-error',
        command: 'agent',
        error: { code: 1, message: 'no' },
        stderrTail: '',
      }),
    ],
    ['version', start({ kind: 'version', command: 'agent', offered: 9, supported: [1] })],
    ['ended', { type: 'ended', agentId: 'a', agentName: 'Agent', exit, attempt }],
    [
      'slow option',
      {
        type: 'slow-option',
        agentId: 'a',
        agentName: 'Agent',
        optionId: 'mode',
        optionName: 'Mode',
        seconds: 15,
      },
    ],
    ['unresponsive', { type: 'unresponsive', agentName: 'Agent' }],
    [
      'request',
      {
        type: 'request',
        agentId: 'a',
        agentName: 'Agent',
        attempt,
        error: new AgentRequestError('session/new', 'other', {
          code: 401,
          message: 'refused',
          detail: 'why',
        }),
      },
    ],
    [
      'sign-in',
      {
        type: 'sign-in',
        agentId: 'a',
        agentName: 'Agent',
        message: 'm',
        methods: [{ methodId: 'key', type: 'agent', name: 'API key' }],
      },
    ],
  ]

  it('say what happened in a full sentence, and offer a next step', () => {
    const titles = new Set<string>()
    for (const [name, failure] of failures) {
      const card = cardFor('id', failure)
      assert.ok(card.title.length > 0, name)
      assert.match(card.text, /[.!?]$/, name)
      assert.ok(card.buttons.length + (card.choices?.length ?? 0) > 0, name)
      titles.add(card.title)
    }
    assert.equal(titles.size, failures.length, 'each failure has a card of its own')
  })

  it('mention the installation of agents only if that is possible', () => {
    const text = (canInstall: boolean) => cardFor('id', { type: 'no-agent' }, canInstall).text
    assert.match(text(true), /^Install /)
    assert.doesNotMatch(text(false), /install/i)
    const problem = { message: 'OpenCode is not here.', installable: { id: 'opencode', name: 'OpenCode' } }
    const buttons = (canInstall: boolean) =>
      cardFor('id', { type: 'default-agent', problem }, canInstall).buttons.map(({ label }) => label)
    assert.deepEqual(buttons(true), ['Install OpenCode', 'Choose an Agent', 'Open Settings'])
    assert.deepEqual(buttons(false), ['Choose an Agent', 'Open Settings'])
  })

  it('have separate texts for one and several seconds', () => {
    const named = { agentId: 'a', agentName: 'Agent' }
    const said = (seconds: number) => [
      cardFor('id', { type: 'slow', ...named, seconds, servers: [] }).text,
      cardFor('id', { type: 'slow-option', ...named, optionId: 'mode', optionName: 'Mode', seconds }).text,
    ]
    for (const text of said(1)) assert.match(text, /for 1 second\./)
    for (const text of said(15)) assert.match(text, /for 15 seconds\./)
  })

  it('name the MCP servers that a slow agent may be waiting for', () => {
    const slow = (...servers: string[]) =>
      cardFor('id', { type: 'slow', agentId: 'a', agentName: 'Agent', seconds: 15, servers })
    assert.doesNotMatch(slow().text, /MCP/)
    assert.match(slow('git').text, /Agent may be waiting for the MCP server “git” to start\.$/)
    assert.match(slow('git', 'web').text, /waiting for an MCP server to start: git, web\.$/)
    assert.match(slow('a', 'b', 'c', 'd', 'e').text, /start: a, b, c, d….$/)
    const opensServers = ({ action }: CardButton) =>
      action.type === 'openSettings' && action.setting === 'mcpServers'
    assert.deepEqual(
      [slow(), slow('git')].map(({ buttons }) => buttons.some(opensServers)),
      [false, true],
    )
  })

  it('show where a missing command was searched for, with Retry and Open Settings', () => {
    const card = cardFor('id', failures[3]?.[1] as Failure)
    assert.ok(card.details?.some(detail => detail.text === '/bin\n/usr/bin'))
    assert.deepEqual(
      card.buttons.map(button => button.action),
      [{ type: 'retry' }, { type: 'openSettings', setting: 'agents' }, { type: 'dismiss' }],
    )
  })

  it('offer to continue in a new session if the agent refuses the one that is shown', () => {
    const failing = (kind: 'not-found' | 'other', isShown: boolean): Failure => ({
      ...{ type: 'request', agentId: 'a', agentName: 'Agent', isShown },
      attempt: { type: 'load', agentId: 'a', sessionId: 's', cwd: '/w' },
      error: new AgentRequestError('session/load', kind, { code: -32602, message: 'Unknown sessionId: s' }),
    })
    const shown = (failure: Failure) => {
      const { title, buttons } = cardFor('id', failure)
      return [title, ...buttons.map(({ action }) => action.type)]
    }
    const title = "Agent couldn't load the session"
    assert.deepEqual(
      [failing('not-found', true), failing('other', true), failing('not-found', false)].map(shown),
      [
        ['Agent no longer has this session', 'continueInNew', 'openLog', 'dismiss'],
        [title, 'retry', 'continueInNew', 'openLog', 'dismiss'],
        [title, 'retry', 'openLog', 'dismiss'],
      ],
    )
  })

  it('can be dismissed if something else is displayed', () => {
    const named = ['unknown agent', 'missing command', 'exited', 'timeout', 'refused', 'version', 'sign-in']
    for (const [name, failure] of failures) {
      const { buttons } = cardFor('id', failure)
      if (named.includes(name)) assert.equal(buttons.at(-1)?.action.type, 'dismiss', name)
    }
  })

  it('show the last output of an agent that exited', () => {
    const card = cardFor('id', failures[5]?.[1] as Failure)
    assert.match(card.text, /code 3/)
    assert.equal(card.details?.[0]?.text, 'last words')
    assert.ok(card.unfolded)
    const silent = start({
      kind: 'exited',
      command: 'agent',
      exit: { ...exit, stderrTail: '' },
      stdoutNoise: '',
    })
    assert.equal(cardFor('id', silent).unfolded, undefined)
  })

  it('show the part after a colon, and keep the rest of a long message in the details', () => {
    const refused = (message: string) =>
      cardFor(
        'id',
        start({ kind: 'initialize-error', command: 'agent', error: { code: 1, message }, stderrTail: '' }),
      )
    const two = refused('It exited with code 1:\n\nno home')
    assert.equal(two.text, 'It exited with code 1: no home.')
    assert.deepEqual(
      two.details?.map(({ text }) => text),
      ['agent'],
    )
    const three = refused('It failed.\nAt start\nof all')
    assert.equal(three.text, 'It failed.')
    assert.equal(three.details?.[0]?.text, 'It failed.\nAt start\nof all')
  })

  it('offer each sign-in method, and Cancel while one is in progress', () => {
    const signIn = failures.at(-1)?.[1] as Extract<Failure, { type: 'sign-in' }>
    assert.deepEqual(cardFor('id', signIn).choices?.[0]?.action, { type: 'signIn', methodId: 'key' })
    assert.deepEqual(
      cardFor('id', { ...signIn, running: 'key' }).buttons.map(button => button.action.type),
      ['cancelSignIn'],
    )
  })

  it('explain which sign-in method failed, and why', () => {
    const signIn = failures.at(-1)?.[1] as Extract<Failure, { type: 'sign-in' }>
    const card = cardFor('id', { ...signIn, tried: 'key', message: 'Nobody answered' })
    assert.equal(card.text, '“API key” failed: Nobody answered. Choose how to sign in.')
  })

  it("explain what to do if a sign-in method can't be used", () => {
    const signIn = failures.at(-1)?.[1] as Extract<Failure, { type: 'sign-in' }>
    const card = cardFor('id', { ...signIn, tried: 'key', message: 'Method not found', unavailable: true })
    assert.equal(
      card.text,
      "“API key” isn't available from VS Code: Method not found. Sign in with Agent's command line or its own settings, then select Retry.",
    )
    assert.deepEqual(
      card.buttons.map(({ action }) => action.type),
      ['openTerminal', 'retry', 'openLog', 'dismiss'],
    )
    const none = cardFor('id', { ...signIn, methods: [], asked: true })
    assert.match(none.text, /^m\. Sign in with Agent's command line or its own settings\.$/)
    assert.equal(none.buttons[0]?.action.type, 'openTerminal')
    const gateway = cardFor('id', {
      ...signIn,
      methods: [
        { methodId: 'g', type: 'agent', name: 'Gateway', description: 'Use a gateway', gateway: true },
      ],
    })
    assert.equal(gateway.choices?.[0]?.description, "Set up in the agent's own settings")
  })

  it('explain why sign-in is required if the agent gives a reason', () => {
    const signIn = failures.at(-1)?.[1] as Extract<Failure, { type: 'sign-in' }>
    const said = (message: string) => cardFor('id', { ...signIn, message }).text
    assert.equal(said('Authentication required'), 'Choose how to sign in.')
    assert.equal(said(''), 'Choose how to sign in.')
    assert.equal(said('The API key is missing'), 'The API key is missing. Choose how to sign in.')
  })

  it('open the setting with a problem, or all if there are several', () => {
    const leadsTo = (...problems: string[]) => settingsCard(problems).buttons[0]?.action
    const agents = 'parley.agents › mine (user settings): expected an object, found a number.'
    const size = 'parley.mcpServers (user settings): expected an object, found a number.'
    assert.deepEqual(leadsTo(agents), { type: 'openSettings', setting: 'agents' })
    assert.deepEqual(leadsTo(agents, agents), { type: 'openSettings', setting: 'agents' })
    assert.deepEqual(leadsTo(agents, size), { type: 'openSettings' })
    assert.deepEqual(leadsTo('parley.nothing: unknown.'), { type: 'openSettings' })
  })

  it('show every problem in the settings', () => {
    const card = settingsCard(['first.', 'second.'])
    assert.equal(card.text, 'first.')
    assert.match(card.details?.[0]?.text ?? '', /second/)
  })

  it('name the option that lost its value, and offer to restore the value if it still exists', () => {
    const mode = (currentValue: string, ...values: string[]): LostOption['now'] => ({
      ...{ type: 'select', id: 'mode', name: 'Mode', currentValue },
      choices: values.map(value => ({ value, name: value.toUpperCase() })),
    })
    const web = (currentValue: boolean): LostOption['now'] => ({
      ...{ type: 'boolean', id: 'web', name: 'Web', currentValue },
    })
    const say = (...lost: LostOption[]) => {
      const { title, text, buttons } = lostOptionsCard(lost)
      return [title, text, ...buttons.map(({ label }) => label)]
    }
    const before = mode('plan', 'plan', 'default')
    assert.deepEqual(say({ before, now: mode('default', 'plan', 'default') }), [
      'Mode is now “DEFAULT”. It was “PLAN” before.',
      ...['', 'Switch Back', 'Dismiss'],
    ])
    assert.deepEqual(say({ before, now: mode('default', 'default') }), [
      'Mode is now “DEFAULT”. “PLAN” is no longer available.',
      ...['', 'Dismiss'],
    ])
    assert.deepEqual(
      say({ before, now: mode('default', 'default') }, { before: web(true), now: web(false) }),
      [
        'Mode is now “DEFAULT”. “PLAN” is no longer available. Web is now “Off”. It was “On” before.',
        ...['', 'Switch Back', 'Dismiss'],
      ],
    )
  })
})
