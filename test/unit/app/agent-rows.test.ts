import assert from 'node:assert/strict'
import type { AgentDefinition } from '../../../src/agents/definition.ts'
import { readRegistry } from '../../../src/agents/registry/registry-format.ts'
import { settingProblem } from '../../../src/agents/setting-problem.ts'
import { type AgentRowsOptions, agentRows } from '../../../src/app/agents/agent-rows.ts'

const npx = (id: string, version = '2.0.0', more: object = {}) => ({
  ...{ id, name: id, version, description: `About ${id}`, ...more },
  distribution: { npx: { package: `@example/${id}` } },
})
const agent = (id: string, source: AgentDefinition['source'], more: Partial<AgentDefinition> = {}) => ({
  ...{ id, name: id, command: `/bin/${id}`, args: ['--acp'], env: {}, source },
  ...more,
})
const installed = (id: string, version: string) => ({
  ...{
    format: 1 as const,
    id,
    name: id,
    version,
    description: '',
    directory: `/x/${id}`,
    canRollBack: false,
  },
  ...{ distribution: 'npx' as const, source: `@example/${id}@${version}`, installedAt: 1 },
  launch: { type: 'program' as const, path: 'run', args: [], env: {} },
})

function rows(more: Partial<AgentRowsOptions> = {}, there: AgentRowsOptions['installs']['installed'] = []) {
  const { agents } = readRegistry({
    agents: [
      npx('codex-acp'),
      npx('other', '1.0.0', { license: 'MIT', repository: 'https://example.com/x' }),
    ],
  })
  return agentRows({
    installs: {
      agents,
      installed: there,
      find: id => agents.find(one => one.id === id),
      iconOf: id => `data:${id}`,
      updateOf: one => agents.find(({ id, version }) => id === one.id && version !== one.version),
      planOf: () => ({ distribution: 'npx', version: '2.0.0', action: 'npm install x', args: [], env: {} }),
      status: id =>
        id === 'other'
          ? { state: 'failed', message: 'No.', output: 'line', help: 'https://nodejs.org' }
          : undefined,
    },
    agents: [],
    defaultAgentId: undefined,
    isRunning: () => false,
    account: () => ({ text: 'Sign-in status not checked yet' }),
    checks: new Map(),
    ...more,
  })
}

describe('the rows of Manage Agents', () => {
  it('list agents that can start by source, without the demo agent, then the rest of the registry', () => {
    const agents = [
      agent('mine', 'settings'),
      agent('codex', 'installed', { version: '1.0.0' }),
      agent('gemini', 'preset'),
      agent('demo', 'demo'),
    ]
    const all = rows({ agents, defaultAgentId: 'mine' }, [installed('codex-acp', '1.0.0')])
    assert.deepEqual(
      all.map(({ section, key }) => [section, key]),
      [
        ['settings', 'agent/mine'],
        ['installed', 'agent/codex'],
        ['found', 'agent/gemini'],
        ['registry', 'registry/other'],
      ],
    )
    const [mine, codex] = all
    assert.equal(mine?.isDefault, true)
    assert.equal(mine?.command, '/bin/mine --acp')
    assert.deepEqual(mine?.account, { text: 'Sign-in status not checked yet' })
    assert.deepEqual(
      [codex?.registryId, codex?.version, codex?.update, codex?.source],
      ['codex-acp', '1.0.0', '2.0.0', '@example/codex-acp@1.0.0'],
    )
  })

  it('keep an installed agent that the settings override, so that it can be uninstalled', () => {
    const all = rows({ agents: [agent('codex', 'settings')] }, [installed('codex-acp', '1.0.0')])
    assert.deepEqual(
      all.map(({ section, key }) => [section, key]),
      [
        ['settings', 'agent/codex'],
        ['installed', 'installed/codex-acp'],
        ['registry', 'registry/other'],
      ],
    )
  })

  it('describe what an installation runs, and how it failed', () => {
    const other = rows().find(({ registryId }) => registryId === 'other')
    assert.equal(other?.plan, 'Runs: npm install x')
    assert.deepEqual([other?.license, other?.hasRepository], ['MIT', true])
    assert.deepEqual(other?.failed, {
      message: 'No.',
      output: 'line',
      help: { href: 'https://nodejs.org', label: 'Get Node.js' },
    })
  })

  it("don't show the result of a check after the agent was updated or configured otherwise", () => {
    const codex = agent('codex', 'installed', {
      version: '1.0.0',
      command: '/x/codex-acp/1.0.0-00000000/run',
    })
    const check = { ok: true, summary: 'codex 1.0.0 started.', details: [] }
    const shown = (now: AgentDefinition) => {
      const checks = new Map([['codex', { agent: codex, check }]])
      return rows({ agents: [now], checks }).find(({ agentId }) => agentId === 'codex')?.check
    }
    assert.deepEqual(shown({ ...codex, name: 'Other', env: {} }), check)
    for (const change of [
      { version: '1.1.0', command: '/x/codex-acp/1.1.0-00000000/run' },
      { args: ['--other'] },
      { env: { A: 'b' } },
    ])
      assert.equal(shown({ ...codex, ...change }), undefined, JSON.stringify(change))
  })

  it('of accounts say of which agent they are, where they are stored, and why they cannot start', () => {
    const account = { of: 'codex', folder: '/accounts/work' }
    const problem = settingProblem('parley.agents', ['b', 'account'], { scope: 'user' }, 'expected one')
    const agents = [
      agent('codex', 'installed'),
      agent('work', 'installed', { account, color: 'charts.blue' }),
      { ...agent('b', 'settings', { command: '', account: { of: '', folder: '' } }), problem },
      agent('mine', 'settings'),
    ]
    const [codex, work, broken, mine] = rows({ agents }, [installed('codex-acp', '2.0.0')])
    assert.deepEqual([codex?.canAddAccount, codex?.folder], [true, undefined])
    assert.deepEqual(
      [work?.section, work?.source, work?.folder, work?.icon, work?.registryId, work?.canAddAccount],
      ['installed', 'Account of codex', '/accounts/work', 'sparkle~charts.blue', undefined, undefined],
    )
    assert.deepEqual(
      [broken?.source, broken?.command, broken?.problem],
      ['Account', undefined, 'parley.agents › b › account (user settings): expected one.'],
    )
    assert.equal(mine?.canAddAccount, undefined)
  })
})
