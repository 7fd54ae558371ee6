// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables in settings have this syntax
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { readAgentSettings } from '../../../src/agents/agent-settings.ts'
import type { SettingLayer } from '../../../src/agents/setting-layers.ts'
import { describeProblem } from '../../../src/agents/setting-problem.ts'

const user = (value: unknown): SettingLayer => ({ scope: 'user', value })
const workspace = (value: unknown): SettingLayer => ({ scope: 'workspace', value })
const problemsOf = (...layers: SettingLayer[]) => readAgentSettings(layers).problems.map(describeProblem)

describe('the setting parley.agents', () => {
  it('fills in defaults for omitted properties', () => {
    const { agents, problems } = readAgentSettings([user({ mine: { command: ' my-agent ' } })])
    assert.deepEqual(problems, [])
    assert.deepEqual(agents, [
      { id: 'mine', name: 'mine', command: 'my-agent', args: [], env: {}, source: 'settings' },
    ])
  })

  it('accepts every property', () => {
    const entry = {
      name: 'My agent',
      command: '/opt/agent',
      args: ['--acp', ''],
      env: { KEY: '${env:KEY}' },
      cwd: '${workspaceFolder}/sub',
      icon: 'rocket',
      protocol: 'latest',
    }
    const { agents } = readAgentSettings([user({ mine: entry })])
    assert.deepEqual(agents, [{ id: 'mine', ...entry, source: 'settings' }])
  })

  it('accepts a system prompt with or without a mode', () => {
    const { agents } = readAgentSettings([
      user({
        a: { command: 'a', systemPrompt: 'Be brief.' },
        b: { command: 'b', systemPrompt: { text: 'Be long.', mode: 'override' } },
        c: { command: 'c', systemPrompt: 5 },
      }),
    ])
    assert.deepEqual(
      agents.map(({ systemPrompt }) => systemPrompt),
      [{ text: 'Be brief.', mode: 'append' }, { text: 'Be long.', mode: 'override' }, undefined],
    )
  })

  it('drops an invalid default option alone', () => {
    const defaultOptions = { mode: 'plan', web: true, model: 5, effort: null }
    const { agents, problems } = readAgentSettings([
      user({
        mine: { command: 'mine', defaultOptions },
        other: { command: 'other', defaultOptions: 'plan' },
      }),
    ])
    assert.deepEqual(
      agents.map(agent => agent.defaultOptions),
      [{ mode: 'plan', web: true }, undefined],
    )
    assert.deepEqual(problems.map(describeProblem), [
      'parley.agents › mine › defaultOptions › model (user settings): expected a string, true or false, found a number.',
      'parley.agents › mine › defaultOptions › effort (user settings): expected a string, true or false, found null.',
      'parley.agents › other › defaultOptions (user settings): expected an object, found a string.',
    ])
  })

  it('reads the folders that an agent on a server has at other paths', () => {
    const folder = { localRoot: '${workspaceFolder}', remoteRoot: 'C:\\app' }
    const url = 'wss://agents.example.com/acp'
    const { agents, problems } = readAgentSettings([
      user({
        mapped: { url, pathMappings: [folder, { localRoot: '/a ', remoteRoot: '/srv/app' }] },
        none: { url, pathMappings: [] },
        wrong: { url, pathMappings: [{ localRoot: '/a', remoteRoot: 'app' }] },
        relative: { url, pathMappings: [{ localRoot: 'a', remoteRoot: '/b' }] },
        half: { url, pathMappings: [{ localRoot: '/a' }] },
        list: { url, pathMappings: { '/a': '/b' } },
        local: { command: 'x', pathMappings: [folder] },
      }),
    ])
    assert.deepEqual(
      agents.map(({ id, remote }) => [id, remote?.pathMappings]),
      [
        ['mapped', [folder, { localRoot: '/a', remoteRoot: '/srv/app' }]],
        ['none', undefined],
        ['local', undefined],
      ],
    )
    assert.deepEqual(problems.map(describeProblem), [
      'parley.agents › wrong › pathMappings[0] › remoteRoot (user settings): expected an absolute path.',
      'parley.agents › relative › pathMappings[0] › localRoot (user settings): expected an absolute path.',
      'parley.agents › half › pathMappings[0] › remoteRoot (user settings): expected a string, found nothing.',
      'parley.agents › list › pathMappings (user settings): expected an array, found an object.',
      'parley.agents › local › pathMappings (user settings): has no effect for an agent without a "url".',
    ])
  })

  it('reads agents on servers', () => {
    const headers = { Authorization: 'Bearer ${input:key}' }
    const { agents, problems } = readAgentSettings([
      user({
        cloud: {
          name: 'Cloud',
          url: ' wss://agents.example.com/acp ',
          headers,
          sharesFiles: true,
          args: ['x'],
        },
        here: { url: 'http://localhost:8080/acp' },
        variable: { url: '${env:AGENT_URL}' },
        local: { command: 'x', headers },
      }),
    ])
    assert.deepEqual(
      agents.map(({ id, name, command, remote }) => ({ id, name, command, remote })),
      [
        {
          ...{ id: 'cloud', name: 'Cloud', command: '' },
          remote: { url: 'wss://agents.example.com/acp', headers, sharesFiles: true },
        },
        { id: 'here', name: 'here', command: '', remote: { url: 'http://localhost:8080/acp', headers: {} } },
        { id: 'variable', name: 'variable', command: '', remote: { url: '${env:AGENT_URL}', headers: {} } },
        { id: 'local', name: 'local', command: 'x', remote: undefined },
      ],
    )
    assert.deepEqual(problems.map(describeProblem), [
      'parley.agents › cloud › args (user settings): has no effect for an agent with a "url".',
      'parley.agents › local › headers (user settings): has no effect for an agent without a "url".',
    ])
  })

  it("doesn't connect to what isn't encrypted, except on this machine, nor to what isn't a server of agents", () => {
    const urls = [
      'ws://example.com',
      'http://10.0.0.1/acp',
      'https://me:pw@example.com',
      'ftp://example.com',
      'x',
      'file:///a',
    ]
    for (const url of urls) {
      const { agents, problems } = readAgentSettings([user({ a: { url } })])
      assert.deepEqual(agents, [], url)
      assert.equal(problems.length, 1, url)
      assert.match(describeProblem(problems[0]!), /expected a wss or https URL/)
      assert.doesNotMatch(describeProblem(problems[0]!), /me:pw/)
    }
    assert.deepEqual(problemsOf(user({ a: { url: 'wss://x.org' } }), workspace({ a: { command: 'x' } })), [
      'parley.agents › a (workspace settings): expected either a "command" or a "url", found both.',
    ])
  })

  it('keeps the default options of an agent that was removed', () => {
    const { agents, problems } = readAgentSettings([user({ gone: { defaultOptions: { mode: 'plan' } } })])
    assert.deepEqual([agents, problems], [[], []])
  })

  it('leaves out what a scope has if that is huge, and says so once', () => {
    const many = Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`k${i}`, 5]))
    for (const huge of [many, { a: { command: 'x', env: many } }, { a: many }]) {
      const { agents, problems } = readAgentSettings([user({ mine: { command: 'mine' } }), workspace(huge)])
      assert.deepEqual(
        agents.map(({ id }) => id),
        ['mine'],
      )
      assert.deepEqual(problems.map(describeProblem), [
        'parley.agents (workspace settings): expected at most 10000 values in all, found more.',
      ])
    }
  })

  it('changes the preset if the entry has no command', () => {
    const wellKnown = (id: string) => (id === 'codex' ? { name: 'Codex', icon: 'sparkle' } : undefined)
    const layers = [
      user({ codex: { protocol: 'latest', env: { A: '1' } }, mine: { protocol: 'latest' } }),
      workspace({ codex: { args: ['--x', 5] } }),
    ]
    const { agents, changes, problems } = readAgentSettings(layers, wellKnown)
    assert.deepEqual(agents, [])
    assert.deepEqual([...changes], [])
    assert.equal(problems.length, 2)
    const good = readAgentSettings(layers.slice(0, 1), wellKnown)
    assert.deepEqual([...good.changes], [['codex', { env: { A: '1' }, protocol: 'latest' }]])
    assert.match(good.problems.map(describeProblem).join(), /mine › command/)
    const whole = readAgentSettings([user({ codex: { command: 'my-codex' } })], wellKnown)
    assert.equal(whole.changes.size, 0)
    assert.equal(whole.agents[0]?.command, 'my-codex')
  })

  it('ignores an unknown protocol and reports it', () => {
    const layers = [user({ mine: { command: 'mine', protocol: 'v2' } })]
    const { agents, problems } = readAgentSettings(layers)
    assert.equal(agents[0]?.protocol, undefined)
    assert.equal(agents.length, 1)
    assert.deepEqual(
      problems.map(problem => [problem.where, problem.fatal]),
      [['parley.agents › mine › protocol', false]],
    )
  })

  it('reports an invalid entry and keeps the others', () => {
    const layers = [
      user({
        good: { command: 'good' },
        claude: { command: 'claude-agent-acp', args: ['--acp', 'x', 3] },
        also: { command: 'also' },
      }),
    ]
    const { agents, problems } = readAgentSettings(layers)
    assert.deepEqual(
      agents.map(agent => agent.id),
      ['good', 'also'],
    )
    assert.equal(problems.length, 1)
    assert.equal(problems[0]?.where, 'parley.agents › claude › args[2]')
    assert.equal(problems[0]?.fatal, true)
    assert.deepEqual(problems.map(describeProblem), [
      'parley.agents › claude › args[2] (user settings): expected a string, found a number.',
    ])
  })

  const bad: Array<[string, unknown, string]> = [
    [
      'no command',
      { a: {} },
      'parley.agents › a › command (user settings): expected a string, found nothing.',
    ],
    [
      'an empty command',
      { a: { command: '  ' } },
      'parley.agents › a › command (user settings): expected a non-empty string, found an empty one.',
    ],
    [
      'a command with a NUL',
      { a: { command: 'a\0b' } },
      'parley.agents › a › command (user settings): expected a string without NUL characters, found one.',
    ],
    [
      'args that are a string',
      { a: { command: 'x', args: '--acp' } },
      'parley.agents › a › args (user settings): expected an array, found a string.',
    ],
    [
      'env that is an array',
      { a: { command: 'x', env: ['A=1'] } },
      'parley.agents › a › env (user settings): expected an object, found an array.',
    ],
    [
      'an env value that is a number',
      { a: { command: 'x', env: { A: 1 } } },
      'parley.agents › a › env › A (user settings): expected a string, found a number.',
    ],
    [
      'an env name that cannot be',
      { a: { command: 'x', env: { 'A=B': '1' } } },
      'parley.agents › a › env › A=B (user settings): expected the name of an environment variable, found an invalid name.',
    ],
    [
      'a cwd of null',
      { a: { command: 'x', cwd: null } },
      'parley.agents › a › cwd (user settings): expected a string, found null.',
    ],
    [
      'an entry that is a string',
      { a: 'claude --acp' },
      'parley.agents › a (user settings): expected an object with a "command" or a "url", found a string.',
    ],
    [
      'an empty id',
      { '': { command: 'x' } },
      'parley.agents ›  (user settings): expected a non-empty ID, found an empty one.',
    ],
    [
      'a list of agents',
      [{ command: 'x' }],
      'parley.agents (user settings): expected an object with agents by ID, found an array.',
    ],
  ]
  for (const [what, value, sentence] of bad) {
    it(`reports ${what}`, () => {
      const { agents, problems } = readAgentSettings([user(value)])
      assert.deepEqual(agents, [])
      assert.deepEqual(problems.map(describeProblem), [sentence])
      assert.ok(problems[0]?.fatal)
    })
  }

  it('reports an unknown property and uses the agent anyway', () => {
    const { agents, problems } = readAgentSettings([user({ a: { command: 'x', arguments: [] } })])
    assert.equal(agents.length, 1)
    assert.equal(problems[0]?.where, 'parley.agents › a › arguments')
    assert.equal(problems[0]?.fatal, false)
  })

  it('ignores an invalid name or icon, and reports it', () => {
    const { agents, problems } = readAgentSettings([user({ a: { command: 'x', name: 3, icon: '' } })])
    assert.deepEqual(agents, [{ id: 'a', name: 'a', command: 'x', args: [], env: {}, source: 'settings' }])
    assert.deepEqual(
      problems.map(({ where, fatal }) => [where, fatal]),
      [
        ['parley.agents › a › name', false],
        ['parley.agents › a › icon', false],
      ],
    )
  })

  it('uses the name of the preset with the same id if the entry has none', () => {
    const { agents } = readAgentSettings([user({ gemini: { command: 'x' } })], id =>
      id === 'gemini' ? { name: 'Gemini CLI', icon: 'sparkle' } : undefined,
    )
    assert.equal(agents[0]?.name, 'Gemini CLI')
    assert.equal(agents[0]?.icon, 'sparkle')
  })

  it('merges scopes like VS Code: objects are merged by key, and the nearer scope wins', () => {
    const { agents, problems } = readAgentSettings([
      user({ a: { command: 'x', args: ['1', '2'], env: { A: '1', B: '1' } }, b: { command: 'y' } }),
      workspace({ a: { args: ['3'], env: { B: '2' } }, c: { command: 'z' } }),
    ])
    assert.deepEqual(problems, [])
    assert.deepEqual(
      agents.map(({ id, command, args, env }) => ({ id, command, args, env })),
      [
        { id: 'a', command: 'x', args: ['3'], env: { A: '1', B: '2' } },
        { id: 'b', command: 'y', args: [], env: {} },
        { id: 'c', command: 'z', args: [], env: {} },
      ],
    )
  })

  it('names the scope of an invalid value', () => {
    const layers = [user({ a: { command: 'x', cwd: 1 } }), workspace({ a: { args: [1] } })]
    assert.deepEqual(problemsOf(...layers), [
      'parley.agents › a › args[0] (workspace settings): expected a string, found a number.',
      'parley.agents › a › cwd (user settings): expected a string, found a number.',
    ])
    assert.deepEqual(problemsOf({ scope: 'folder', folder: 'api', value: 7 }), [
      'parley.agents (settings of the folder "api"): expected an object with agents by ID, found a number.',
    ])
  })

  it("keeps the other scopes if one isn't an object", () => {
    const { agents, problems } = readAgentSettings([user({ a: { command: 'x' } }), workspace('nonsense')])
    assert.deepEqual(
      agents.map(agent => agent.id),
      ['a'],
    )
    assert.equal(problems[0]?.scope, 'workspace')
  })

  it('never repeats a string from the settings, which may be a secret', () => {
    const secret = 'sk-0123456789'
    for (const value of [
      { a: secret },
      { a: { command: 'x', env: secret } },
      { a: { command: 'x', args: secret } },
    ]) {
      assert.ok(!problemsOf(user(value)).join().includes(secret))
    }
  })

  it('never throws, and returns only usable agents', () => {
    fc.assert(
      fc.property(fc.array(fc.jsonValue(), { maxLength: 3 }), values => {
        const layers = values.map(value => user(value))
        const { agents, problems } = readAgentSettings(layers)
        for (const agent of agents) {
          assert.ok(agent.command.trim() !== '' || agent.remote)
          assert.ok([...agent.args, ...Object.values(agent.env)].every(text => typeof text === 'string'))
        }
        for (const problem of problems)
          assert.match(describeProblem(problem), /^parley\.agents.* \(user settings\): .+\.$/s)
      }),
    )
  })

  const text = fc.string().filter(value => !value.includes('\0'))
  const filled = text.filter(value => value.trim() !== '')
  const goodEntry = fc.record(
    {
      command: filled,
      args: fc.array(text),
      env: fc.dictionary(
        filled.filter(name => !name.includes('=')),
        text,
        { noNullPrototype: true },
      ),
    },
    { requiredKeys: ['command'] },
  )
  it('keeps valid entries next to invalid ones', () => {
    fc.assert(
      fc.property(
        fc.dictionary(filled, goodEntry, { noNullPrototype: true }),
        fc.dictionary(filled, fc.oneof(fc.string(), fc.constant({ command: 1 }), fc.constant(null)), {
          noNullPrototype: true,
        }),
        (good, bad) => {
          const both = { ...bad, ...good }
          const { agents } = readAgentSettings([user(both)])
          assert.deepEqual(agents.map(agent => agent.id).sort(), Object.keys(good).sort())
        },
      ),
    )
  })
})
