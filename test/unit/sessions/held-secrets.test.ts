import assert from 'node:assert/strict'
import type { Agent } from '../../../src/acp/agent.ts'
import type { AuthMethod } from '../../../src/acp/model.ts'
import { silentLogger } from '../../../src/common/logger.ts'
import { SecretRegistry } from '../../../src/common/secrets.ts'
import { McpInputs } from '../../../src/mcp/inputs.ts'
import type { McpInput, McpServerDefinition } from '../../../src/mcp/mcp-settings.ts'
import { ProviderConfigs } from '../../../src/sessions/sign-in/provider-configs.ts'
import { SignInValues } from '../../../src/sessions/sign-in/sign-in-values.ts'
import { MemorySecrets } from './memory-secrets.ts'

const SECRET = 'hunter2-hunter2'

/** Registered secrets are redacted everywhere, even in a window that only reads them from the secret storage. */
describe('a secret that Parley resolves itself is registered', () => {
  let store: MemorySecrets
  let held: SecretRegistry
  const isHeld = () => held.redact(`it is ${SECRET}!`) === 'it is •••!'

  beforeEach(() => {
    store = new MemorySecrets()
    held = new SecretRegistry()
  })

  it('for inputs of MCP servers, when they are entered or read, but not for values in the settings', async () => {
    const input: McpInput = { id: 'i', scope: 'user', type: 'promptString', password: false, options: [] }
    const server = { name: 's', scope: 'user' } as McpServerDefinition
    const resolve = (value: string, more: Partial<McpInput> = {}) =>
      new McpInputs({ prompt: async () => value }, store, 'w', held).value('i', server, [
        { ...input, ...more },
      ])
    await resolve(SECRET, { default: SECRET })
    assert.ok(!isHeld())
    await resolve(SECRET, { type: 'pickString', options: [{ label: 'One', value: SECRET }] })
    assert.ok(!isHeld())
    await resolve(SECRET)
    assert.ok(isHeld())
    held = new SecretRegistry()
    await resolve('never asked for')
    assert.ok(isHeld())
  })

  it('for sign-in values', async () => {
    const method: AuthMethod = {
      methodId: 'm',
      name: 'Key',
      type: 'env_var',
      vars: [{ name: 'KEY', secret: true, optional: false }],
    } as AuthMethod
    const values = () =>
      new SignInValues(
        store,
        () => 'launch',
        async () => SECRET,
        held,
      )
    await values().signIn('a', method, new AbortController().signal)
    assert.ok(isHeld())
    held = new SecretRegistry()
    await values().environment('a')
    assert.ok(isHeld())
  })

  it("for providers' headers, including the token alone", async () => {
    const agent = { capabilities: { providers: true }, setProvider: async () => {} } as unknown as Agent
    const configs = () => new ProviderConfigs(store, () => 'launch', held)
    const headers = { Authorization: `Bearer ${SECRET}` }
    await configs().set('a', agent, 'main', { apiType: 'openai', baseUrl: 'https://proxy.test', headers })
    assert.ok(isHeld())
    held = new SecretRegistry()
    await configs().apply('a', agent, silentLogger)
    assert.ok(isHeld())
  })
})
