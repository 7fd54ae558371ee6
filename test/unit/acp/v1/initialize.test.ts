import assert from 'node:assert/strict'
import { readCapabilities } from '../../../../src/acp/v1/agent-v1.ts'
import { initializeSchema, readAuthMethods } from '../../../../src/acp/wire/initialize.ts'

const capabilities = (agentCapabilities: unknown) =>
  readCapabilities(initializeSchema.parse({ protocolVersion: 1, agentCapabilities }))

const NONE = {
  load: false,
  resume: false,
  list: false,
  close: false,
  delete: false,
  additionalDirectories: false,
  logout: false,
  mcp: { stdio: true, http: false, sse: false },
  prompt: { image: false, audio: false, embeddedContext: false },
}

describe('the response to initialize in v1', () => {
  it('without capabilities allows only stdio servers', () => {
    for (const raw of [
      undefined,
      null,
      {},
      'x',
      { sessionCapabilities: null, auth: {}, promptCapabilities: 5 },
    ]) {
      assert.deepEqual(capabilities(raw), NONE)
    }
  })

  it('enables a capability for an object, not for null', () => {
    assert.deepEqual(
      capabilities({
        loadSession: true,
        sessionCapabilities: {
          list: {},
          resume: { x: 1 },
          close: null,
          delete: {},
          additionalDirectories: {},
          fork: {},
        },
        auth: { logout: {} },
        mcpCapabilities: { http: true, sse: false, acp: true },
        promptCapabilities: { image: true, embeddedContext: true },
        _meta: {},
      }),
      {
        load: true,
        resume: true,
        list: true,
        close: false,
        delete: true,
        additionalDirectories: true,
        logout: true,
        mcp: { stdio: true, http: true, sse: false, acp: true },
        prompt: { image: true, audio: false, embeddedContext: true },
        fork: true,
      },
    )
  })

  const parts: Array<[agent: object, can: object]> = [
    [{ loadSession: true }, { load: true }],
    [{ sessionCapabilities: { resume: {} } }, { resume: true }],
    [{ sessionCapabilities: { list: {} } }, { list: true }],
    [{ sessionCapabilities: { close: {} } }, { close: true }],
    [{ sessionCapabilities: { delete: {} } }, { delete: true }],
    [{ sessionCapabilities: { additionalDirectories: {} } }, { additionalDirectories: true }],
    [{ auth: { logout: {} } }, { logout: true }],
    [{ mcpCapabilities: { http: true } }, { mcp: { ...NONE.mcp, http: true } }],
    [{ mcpCapabilities: { sse: true } }, { mcp: { ...NONE.mcp, sse: true } }],
    [{ promptCapabilities: { image: true } }, { prompt: { ...NONE.prompt, image: true } }],
    [{ promptCapabilities: { audio: true } }, { prompt: { ...NONE.prompt, audio: true } }],
    [
      { promptCapabilities: { embeddedContext: true } },
      { prompt: { ...NONE.prompt, embeddedContext: true } },
    ],
  ]
  for (const [agent, can] of parts) {
    it(`enables only what ${JSON.stringify(agent)} says`, () => {
      assert.deepEqual(capabilities(agent), { ...NONE, ...can })
    })
  }

  it('contains the version as a number or as text', () => {
    assert.equal(initializeSchema.parse({ protocolVersion: 2 }).protocolVersion, 2)
    assert.equal(initializeSchema.parse({ protocolVersion: '1' }).protocolVersion, 1)
    for (const raw of [{}, null, { protocolVersion: 'v1' }, { protocolVersion: null }]) {
      assert.equal(initializeSchema.safeParse(raw).success, false)
    }
  })

  it("runs the agent's program with the method's arguments in a terminal, or the command in _meta", () => {
    const _meta = {
      'terminal-auth': { command: 'kimi', args: ['login'], env: { OWN: '1' }, label: 'Log in' },
    }
    const method = { id: 'login', name: 'Log in', type: 'terminal', _meta }
    const [standard, variables, old] = readAuthMethods(
      [{ ...method, args: ['login'], env: { A: '1' } }, { ...method, env: { A: '1' } }, method],
      () => {},
    )
    assert.deepEqual(standard?.terminal, { args: ['login'], env: { A: '1' }, label: 'Log in' })
    assert.deepEqual(variables?.terminal, { args: [], env: { A: '1' }, label: 'Log in' })
    assert.deepEqual(old?.terminal, { command: 'kimi', args: ['login'], env: { OWN: '1' }, label: 'Log in' })
  })

  it('contains sign-in methods of all shapes (quirk 23)', () => {
    const problems: string[] = []
    const keyOf = (name: string) => [{ name, secret: true, optional: false }]
    const methods = readAuthMethods(
      [
        { id: 'oauth', name: 'Log in', description: null },
        { id: 'cli', name: 'Terminal', type: 'terminal', args: ['login'], env: { A: '1' } },
        {
          id: 'claude',
          name: 'Claude',
          _meta: { 'terminal-auth': { command: '/bin/claude', args: ['/login'], label: 'Claude login' } },
        },
        {
          id: 'key',
          name: 'Key',
          type: 'env_var',
          vars: [{ name: 'API_KEY', label: 'Key' }, { name: 'BASE_URL', secret: false, optional: true }, {}],
        },
        { name: 'without an id' },
        { id: 'bare' },
        { id: 'gemini', name: 'Gemini API key', _meta: { 'api-key': { provider: 'google' } } },
        { id: 'droid', name: 'API key', description: 'Set FACTORY_API_KEY before you start Droid' },
        { id: 'either', name: 'Key', description: 'OPENAI_API_KEY or ANTHROPIC_API_KEY' },
        { id: 'new', name: 'Key', _meta: { 'api-key': { provider: 'constructor' } } },
        {
          id: 'qwen',
          name: 'Use OpenAI API key',
          description: 'Requires setting the `OPENAI_API_KEY` variable',
        },
        { id: 'gateway', name: 'Gateway', _meta: { gateway: { protocol: 'google' } } },
      ],
      problem => problems.push(problem),
    )
    assert.deepEqual(methods, [
      { methodId: 'oauth', type: 'agent', name: 'Log in' },
      { methodId: 'cli', type: 'terminal', name: 'Terminal', terminal: { args: ['login'], env: { A: '1' } } },
      {
        methodId: 'claude',
        type: 'terminal',
        name: 'Claude',
        terminal: { command: '/bin/claude', args: ['/login'], env: {}, label: 'Claude login' },
      },
      {
        methodId: 'key',
        type: 'env_var',
        name: 'Key',
        vars: [
          { name: 'API_KEY', label: 'Key', secret: true, optional: false },
          { name: 'BASE_URL', secret: false, optional: true },
        ],
      },
      { methodId: 'bare', type: 'agent', name: 'bare' },
      { methodId: 'gemini', type: 'agent', name: 'Gemini API key', vars: keyOf('GEMINI_API_KEY') },
      {
        methodId: 'droid',
        type: 'agent',
        name: 'API key',
        description: 'Set FACTORY_API_KEY before you start Droid',
        vars: keyOf('FACTORY_API_KEY'),
      },
      { methodId: 'either', type: 'agent', name: 'Key', description: 'OPENAI_API_KEY or ANTHROPIC_API_KEY' },
      { methodId: 'new', type: 'agent', name: 'Key' },
      {
        methodId: 'qwen',
        type: 'agent',
        name: 'Use OpenAI API key',
        description: 'Requires setting the `OPENAI_API_KEY` variable',
        vars: keyOf('OPENAI_API_KEY'),
      },
      { methodId: 'gateway', type: 'agent', name: 'Gateway', gateway: true },
    ])
    assert.equal(problems.length, 2)
    assert.deepEqual(
      readAuthMethods(undefined, () => assert.fail()),
      [],
    )
  })
})
