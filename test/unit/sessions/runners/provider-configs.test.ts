import assert from 'node:assert/strict'
import { launchFingerprint } from '../../../../src/agents/resolve-launch.ts'
import { silentLogger } from '../../../../src/common/logger.ts'
import { ProviderConfigs } from '../../../../src/sessions/sign-in/provider-configs.ts'
import { FakeAgent } from '../../conversation/fake-agent.ts'
import { MemorySecrets } from '../memory-secrets.ts'

describe('ProviderConfigs', () => {
  let launch = 'as defined'
  let reported: unknown[][]
  let secrets: MemorySecrets
  let configs: ProviderConfigs
  let refuse: boolean

  function agent(providers = true): FakeAgent {
    const fake = new FakeAgent()
    return Object.assign(fake, {
      capabilities: { ...fake.capabilities, providers },
      setProvider: async (...args: unknown[]) => {
        if (refuse) throw new Error('no')
        reported.push(args)
      },
      disableProvider: async (...args: unknown[]) => void reported.push(args),
    })
  }
  const proxy = { apiType: 'openai', baseUrl: 'https://proxy', headers: { Authorization: 'Bearer s3cret' } }

  beforeEach(() => {
    launch = 'as defined'
    reported = []
    refuse = false
    secrets = new MemorySecrets()
    configs = new ProviderConfigs(secrets, () => launch)
  })

  it('configures an agent, and again each time it starts', async () => {
    await configs.set('one', agent(), 'main', proxy)
    await configs.set('one', agent(), 'plain', { ...proxy, headers: {} })
    await configs.disable('one', agent(), 'other')
    const first = reported.splice(0)
    assert.deepEqual(first, [
      ['main', proxy],
      ['plain', { apiType: 'openai', baseUrl: 'https://proxy' }],
      ['other'],
    ])
    await configs.apply('one', agent(), silentLogger)
    assert.deepEqual(reported, first)
    assert.deepEqual(await configs.get('one', 'main'), proxy)
    assert.equal(await configs.get('one', 'other'), undefined)
  })

  it('stores nothing that the agent refused, and lets the agent start anyway', async () => {
    refuse = true
    await assert.rejects(configs.set('one', agent(), 'main', proxy), /no/)
    assert.equal(secrets.values.size, 0)
    refuse = false
    await configs.set('one', agent(), 'main', proxy)
    refuse = true
    await configs.apply('one', agent(), silentLogger)
  })

  it("doesn't configure an agent without the capability or a configuration, or with another command", async () => {
    await configs.set('one', agent(), 'main', proxy)
    reported = []
    await configs.apply('one', agent(false), silentLogger)
    launch = 'as a workspace defines it'
    await configs.apply('one', agent(), silentLogger)
    launch = 'as defined'
    await configs.reset('one', 'main')
    await configs.apply('one', agent(), silentLogger)
    assert.deepEqual(reported, [])
  })
})

describe('launchFingerprint', () => {
  const plain = { command: 'agent', args: ['--acp'], env: { A: '1', B: '2' } }

  it('is equal only for equal launches', () => {
    assert.equal(launchFingerprint(plain), launchFingerprint({ ...plain, env: { B: '2', A: '1' } }))
    const others = [
      { ...plain, command: './agent' },
      { ...plain, args: ['--acp', ''] },
      { ...plain, env: { ...plain.env, PATH: './bin' } },
      { ...plain, cwd: '/elsewhere' },
    ]
    const all = new Set([plain, ...others].map(launchFingerprint))
    assert.equal(all.size, 5)
  })

  it('ignores only the version of an installed agent', () => {
    const installed = (path: string, more: object = {}) => {
      const all = { command: '/node', args: [path], env: {}, source: 'installed' as const, ...more }
      return launchFingerprint(all)
    }
    const first = installed('/storage/agents/mine/1.0.0-0123abcd/run.js')
    assert.equal(first, installed('/storage/agents/mine/1.1.0-4567ef01/run.js'))
    assert.notEqual(first, installed('/storage/agents/other/1.0.0-0123abcd/run.js'))
    assert.notEqual(first, installed('/storage/agents/mine/1.0.0-0123abcd/other.js'))
    assert.notEqual(first, installed('/storage/agents/mine/1.0.0-0123abcd/run.js', { env: { A: '1' } }))
    assert.notEqual(
      launchFingerprint({ command: '/storage/agents/mine/1.0.0-0123abcd/run', args: [], env: {} }),
      launchFingerprint({ command: '/storage/agents/mine/1.1.0-4567ef01/run', args: [], env: {} }),
    )
  })
})
