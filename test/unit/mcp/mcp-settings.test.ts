// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables in settings have this syntax
import assert from 'node:assert/strict'
import fc from 'fast-check'
import type { SettingLayer } from '../../../src/agents/setting-layers.ts'
import { describeProblem } from '../../../src/agents/setting-problem.ts'
import { readMcpSource } from '../../../src/mcp/mcp-settings.ts'
import { planServers } from '../../../src/mcp/plan-servers.ts'

const user = (value: unknown): SettingLayer => ({ scope: 'user', value })
const workspace = (value: unknown): SettingLayer => ({ scope: 'workspace', value })
const sentences = (value: unknown) => readMcpSettings([user(value)]).problems.map(describeProblem)
/** What counts of these scopes, the outermost first. */
function readMcpSettings(layers: readonly SettingLayer[]) {
  const sources = layers.map(({ value, ...place }) =>
    readMcpSource({ kind: 'settings', label: 'parley.mcpServers', ...place }, value),
  )
  const planned = planServers(sources.toReversed(), { isOff: () => undefined, trusted: true })
  return {
    servers: planned.flatMap(({ server, exclusion }) =>
      server && (!exclusion || exclusion.because === 'disabled') ? [server] : [],
    ),
    inputs: sources.flatMap(({ inputs }) => inputs),
    problems: sources.flatMap(({ problems }) => problems),
  }
}
const inUser = { scope: 'user', disabled: false }

describe('the setting parley.mcpServers', () => {
  it("reads VS Code's own format", () => {
    const { servers, inputs, problems } = readMcpSettings([
      user({
        inputs: [
          { id: 'key', type: 'promptString', description: 'API key', password: true },
          {
            id: 'region',
            type: 'pickString',
            options: ['eu', { label: 'America', value: 'us' }],
            default: 'eu',
          },
        ],
        servers: {
          files: {
            type: 'stdio',
            command: 'npx',
            args: ['-y', 'server'],
            env: { KEY: '${input:key}', PORT: 8080, UNSET: null },
            envFile: '${workspaceFolder}/.env',
            cwd: '${workspaceFolder}',
          },
          docs: {
            type: 'http',
            url: 'https://example.com/mcp',
            headers: { Authorization: 'Bearer ${input:key}' },
          },
          old: { type: 'sse', url: 'https://example.com/sse' },
        },
      }),
    ])
    assert.deepEqual(problems, [])
    assert.deepEqual(servers, [
      {
        name: 'files',
        type: 'stdio',
        ...inUser,
        command: 'npx',
        args: ['-y', 'server'],
        env: { KEY: '${input:key}', PORT: '8080' },
        envFile: '${workspaceFolder}/.env',
        cwd: '${workspaceFolder}',
      },
      {
        name: 'docs',
        type: 'http',
        ...inUser,
        url: 'https://example.com/mcp',
        headers: { Authorization: 'Bearer ${input:key}' },
      },
      { name: 'old', type: 'sse', ...inUser, url: 'https://example.com/sse', headers: {} },
    ])
    assert.deepEqual(inputs, [
      { id: 'key', scope: 'user', type: 'promptString', description: 'API key', password: true, options: [] },
      {
        id: 'region',
        scope: 'user',
        type: 'pickString',
        password: false,
        default: 'eu',
        options: [
          { label: 'eu', value: 'eu' },
          { label: 'America', value: 'us' },
        ],
      },
    ])
  })

  for (const [what, wrap] of [
    ['under mcpServers, as other clients have it', (servers: object) => ({ mcpServers: servers })],
    ['as a bare map', (servers: object) => servers],
  ] as const) {
    it(`reads servers ${what}`, () => {
      const { servers, problems } = readMcpSettings([
        user(wrap({ a: { command: 'x' }, b: { url: 'http://b/' } })),
      ])
      assert.deepEqual(problems, [])
      assert.deepEqual(
        servers.map(({ name, type }) => [name, type]),
        [
          ['a', 'stdio'],
          ['b', 'http'],
        ],
      )
    })
  }

  it("accepts other clients' names for streamable HTTP, and their additional properties", () => {
    const { servers, problems } = readMcpSettings([
      user({
        mcpServers: {
          a: { type: 'streamable-http', url: 'http://a/', autoApprove: [], disabled: false, timeout: 60 },
          b: { type: 'streamableHttp', url: 'http://b/', disabled: true },
        },
      }),
    ])
    assert.deepEqual(problems, [])
    assert.deepEqual(
      servers.map(({ type, disabled }) => [type, disabled]),
      [
        ['http', false],
        ['http', true],
      ],
    )
  })

  const bad: Array<[string, unknown, string]> = [
    ['an array', [], 'parley.mcpServers (user settings): expected an object with "servers", found an array.'],
    [
      'servers that are an array',
      { servers: [] },
      'parley.mcpServers › servers (user settings): expected an object with servers by name, found an array.',
    ],
    [
      'a server that is a string',
      { servers: { a: 'npx server' } },
      'parley.mcpServers › servers › a (user settings): expected an object with a "command" or a "url", found a string.',
    ],
    [
      'neither command nor url',
      { servers: { a: {} } },
      'parley.mcpServers › servers › a (user settings): expected a "command" or a "url", found neither.',
    ],
    [
      'both command and url',
      { servers: { a: { command: 'x', url: 'http://x/' } } },
      'parley.mcpServers › servers › a (user settings): expected either a "command" or a "url", found both; set "type" to choose one.',
    ],
    [
      'an unknown type',
      { servers: { a: { type: 'ws', url: 'ws://x/' } } },
      'parley.mcpServers › servers › a › type (user settings): expected "stdio", "http" or "sse", found another string.',
    ],
    [
      'a type without its url',
      { servers: { a: { type: 'http', command: 'x' } } },
      'parley.mcpServers › servers › a › url (user settings): expected a string, found nothing.',
    ],
    [
      'an argument that is a number',
      { mcpServers: { a: { command: 'x', args: ['a', 1] } } },
      'parley.mcpServers › mcpServers › a › args[1] (user settings): expected a string, found a number.',
    ],
    [
      'an env value that is an object',
      { a: { command: 'x', env: { A: {} } } },
      'parley.mcpServers › a › env › A (user settings): expected a string, a number or null, found another value.',
    ],
    [
      'inputs that are an object',
      { inputs: {} },
      'parley.mcpServers › inputs (user settings): expected an array, found an object.',
    ],
    [
      'an input of an unknown type',
      { inputs: [{ id: 'x', type: 'command' }] },
      'parley.mcpServers › inputs[0] › type (user settings): expected one of "promptString", "pickString", found a string.',
    ],
    [
      'a pick without options',
      { inputs: [{ id: 'x', type: 'pickString' }] },
      'parley.mcpServers › inputs[0] › options (user settings): expected at least one option, found none.',
    ],
    [
      'an id that is there twice',
      {
        inputs: [
          { id: 'x', type: 'promptString' },
          { id: 'x', type: 'promptString' },
        ],
      },
      'parley.mcpServers › inputs[1] › id (user settings): expected a unique ID, found one that another input already uses.',
    ],
  ]
  for (const [what, value, sentence] of bad) {
    it(`reports ${what}`, () => assert.ok(sentences(value).includes(sentence), sentences(value).join('\n')))
  }

  it('leaves out invalid servers and keeps the others', () => {
    const { servers, problems } = readMcpSettings([
      user({ servers: { a: { command: 'x' }, b: {}, c: { url: 'http://c/' } } }),
    ])
    assert.deepEqual(
      servers.map(server => server.name),
      ['a', 'c'],
    )
    assert.equal(problems.length, 1)
  })

  it('reports an unknown property, and uses the server anyway', () => {
    const { servers, problems } = readMcpSettings([
      user({ servers: { a: { command: 'x', header: {} } }, nonsense: 1 }),
    ])
    assert.equal(servers.length, 1)
    assert.deepEqual(
      problems.map(({ where, fatal }) => [where, fatal]),
      [
        ['parley.mcpServers › servers › a › header', false],
        ['parley.mcpServers › nonsense', false],
      ],
    )
  })

  it('replaces a whole server with one of a nearer scope', () => {
    const { servers } = readMcpSettings([
      user({
        servers: {
          a: { url: 'https://mine/', headers: { Authorization: '${input:key}' } },
          b: { command: 'b' },
        },
      }),
      workspace({ servers: { a: { url: 'https://theirs/' } } }),
    ])
    assert.deepEqual(servers, [
      { name: 'a', type: 'http', scope: 'workspace', disabled: false, url: 'https://theirs/', headers: {} },
      { name: 'b', type: 'stdio', ...inUser, command: 'b', args: [], env: {} },
    ])
  })

  it("doesn't use the server of the outer scope if the nearer one is invalid", () => {
    const { servers, problems } = readMcpSettings([
      user({ servers: { a: { command: 'x' } } }),
      { scope: 'folder', folder: 'api', value: { servers: { a: { command: 1 } } } },
    ])
    assert.deepEqual(servers, [])
    assert.equal(problems[0]?.folder, 'api')
  })

  it('never repeats a string from the settings', () => {
    const secret = 'sk-0123456789'
    for (const server of [
      secret,
      { command: 'x', env: secret },
      { command: 'x', type: secret },
      { url: secret, headers: [secret] },
    ]) {
      const problems = sentences({ servers: { a: server } })
      assert.ok(!problems.join().includes(secret))
    }
  })

  it('never throws', () => {
    const entry = fc.oneof(
      fc.jsonValue(),
      fc.record(
        {
          type: fc.oneof(fc.constantFrom('stdio', 'http', 'sse'), fc.jsonValue()),
          command: fc.oneof(fc.string(), fc.jsonValue()),
          args: fc.jsonValue(),
          env: fc.jsonValue(),
          url: fc.oneof(fc.string(), fc.jsonValue()),
          headers: fc.jsonValue(),
        },
        { requiredKeys: [], noNullPrototype: true },
      ),
    )
    const value = fc.oneof(
      fc.jsonValue(),
      fc.record(
        {
          servers: fc.dictionary(fc.string(), entry, { noNullPrototype: true }),
          mcpServers: fc.jsonValue(),
          inputs: fc.oneof(fc.jsonValue(), fc.array(fc.jsonValue())),
        },
        { requiredKeys: [], noNullPrototype: true },
      ),
    )
    fc.assert(
      fc.property(fc.array(value, { maxLength: 3 }), values => {
        const { servers } = readMcpSettings(values.map(user))
        assert.equal(new Set(servers.map(server => server.name)).size, servers.length)
        for (const server of servers) {
          if (server.type !== 'stdio') assert.ok(server.url !== '')
          else
            assert.ok(
              [server.command, ...server.args, ...Object.values(server.env)].every(
                text => typeof text === 'string',
              ),
            )
        }
      }),
    )
  })
})
