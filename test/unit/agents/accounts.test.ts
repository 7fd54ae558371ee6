import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { AgentCatalog } from '../../../src/agents/agent-catalog.ts'
import { readAgentSettings } from '../../../src/agents/agent-settings.ts'
import { launchFingerprint, resolveLaunch } from '../../../src/agents/resolve-launch.ts'
import type { SettingLayer } from '../../../src/agents/setting-layers.ts'
import { describeProblem } from '../../../src/agents/setting-problem.ts'
import { Emitter } from '../../../src/common/event.ts'
import { silentLogger } from '../../../src/common/logger.ts'

const user = (value: unknown): SettingLayer => ({ scope: 'user', value })
const workspace = (value: unknown): SettingLayer => ({ scope: 'workspace', value })
const claude = { command: 'claude-agent-acp', args: ['--x'], env: { A: '1' }, icon: 'robot', cwd: '/c' }
const work = {
  account: { of: 'claude', folder: '/accounts/work' },
  name: 'Work (Claude)',
  color: 'charts.blue',
}

describe('accounts of agents', () => {
  let layers: SettingLayer[]
  let path: string
  const changed = new Emitter<void>()

  beforeEach(() => {
    layers = []
    path = ''
  })

  const catalog = () => {
    const environment = () => ({
      ...{ env: { PATH: path }, platform: process.platform, source: 'login-shell' as const },
    })
    return new AgentCatalog({
      settings: { layers: key => (key === 'agents' ? layers : []), onDidChange: changed.event },
      environment: { current: environment, get: async () => environment(), refresh() {} },
      trust: { trusted: true, onDidChange: new Emitter<void>().event },
      lastUsed: { get: () => undefined, set: () => {} },
      log: silentLogger,
    })
  }
  const ids = (agents: AgentCatalog) => agents.agents.map(({ id }) => id)
  const problemsOf = (...all: SettingLayer[]) => readAgentSettings(all).problems.map(describeProblem)

  it("take the properties that their entry doesn't set from their agent, also after a change", () => {
    layers = [user({ work, claude, other: { command: 'o' } })]
    const agents = catalog()
    assert.deepEqual(ids(agents), ['claude', 'work', 'other'], 'each follows its agent')
    const { startable, ...found } = agents.get('work')!
    assert.equal(startable, true)
    assert.deepEqual(found, {
      ...{ ...claude, id: 'work', name: 'Work (Claude)', color: 'charts.blue', source: 'settings' },
      env: { A: '1', CLAUDE_CONFIG_DIR: '/accounts/work' },
      account: { of: 'claude', folder: join('/accounts/work') },
    })

    layers = [
      user({
        claude: { ...claude, args: ['--new'], defaultOptions: { mode: 'plan', model: 'opus' } },
        work: { ...work, env: { B: '2' }, defaultOptions: { model: 'haiku' }, protocol: 'latest' },
      }),
    ]
    changed.fire()
    const later = agents.get('work')
    assert.deepEqual(later?.args, ['--new'])
    assert.deepEqual(later?.env, { A: '1', B: '2', CLAUDE_CONFIG_DIR: '/accounts/work' })
    assert.deepEqual(later?.defaultOptions, { mode: 'plan', model: 'haiku' })
    assert.equal(later?.protocol, 'latest')
    assert.equal(agents.get('claude')?.env.CLAUDE_CONFIG_DIR, undefined)
    assert.notEqual(launchFingerprint(later!), launchFingerprint(agents.get('claude')!))
  })

  it('use their folder, whatever the environment of an entry says', () => {
    const env = { CLAUDE_CONFIG_DIR: '/elsewhere', claude_config_dir: '/elsewhere' }
    layers = [
      user({ claude: { ...claude, env }, work: { ...work, env } }),
      workspace({ work: { env: { CLAUDE_CONFIG_DIR: '/hostile' } } }),
    ]
    assert.deepEqual(catalog().get('work')?.env, { CLAUDE_CONFIG_DIR: '/accounts/work' })
  })

  it('of an agent that is found on this machine are there when it is', async function () {
    if (process.platform === 'win32') this.skip()
    layers = [user({ work: { account: { of: 'codex', folder: '~/work' } } })]
    const agents = catalog()
    assert.deepEqual(ids(agents), [], 'it is not searched for yet')
    await agents.ready()
    assert.deepEqual(ids(agents), ['work'])
    assert.equal(agents.get('work')?.startable, false)
    assert.deepEqual(agents.problems.map(describeProblem), [
      "parley.agents › work › account › of (user settings): the agent of this account isn't available: codex.",
    ])

    path = mkdtempSync(join(tmpdir(), 'parley-bin-'))
    writeFileSync(join(path, 'codex-acp'), '#!/bin/sh\n', { mode: 0o755 })
    await agents.searchAgain()
    assert.deepEqual(ids(agents), ['codex', 'work'])
    const account = agents.get('work')
    assert.deepEqual(
      [account?.startable, account?.name, account?.command, account?.env],
      [true, 'work (Codex)', 'codex-acp', { CODEX_HOME: join(homedir(), 'work') }],
    )
    assert.deepEqual(agents.problems, [])
    rmSync(path, { recursive: true })
  })

  it('are not offered for an agent that is not known to keep its sign-in in a folder', () => {
    layers = [user({ mine: { command: 'mine' }, other: { account: { of: 'mine', folder: '/x' } } })]
    const agents = catalog()
    assert.equal(agents.get('other')?.startable, false)
    assert.match(agents.get('other')?.reason ?? '', /› account › of .*: mine can't have accounts/)
  })

  it('are neither defined nor redirected by a workspace', () => {
    const hostile = { account: { of: 'claude', folder: '/hostile' } }
    layers = [
      user({ claude, work }),
      workspace({ work: { ...hostile, name: 'Mine' }, new: hostile, claude: hostile }),
    ]
    const agents = catalog()
    assert.deepEqual(ids(agents), ['claude', 'work'])
    assert.equal(agents.get('work')?.env.CLAUDE_CONFIG_DIR, '/accounts/work')
    assert.equal(agents.get('work')?.startedByWorkspace, undefined)
    const refused = (...paths: string[]) =>
      paths.map(
        where => `parley.agents › ${where} (workspace settings): accounts are defined in user settings only.`,
      )
    assert.deepEqual(
      agents.problems.map(describeProblem),
      refused('work › account', 'work › name', 'new › account', 'claude › account'),
    )

    // it doesn't make one look like another, either
    const home = { name: 'Home (Claude)', icon: 'home', color: 'charts.red', args: ['--here'] }
    layers = [user({ claude, work }), workspace({ work: home })]
    changed.fire()
    const shown = agents.get('work')
    assert.deepEqual(
      [shown?.name, shown?.icon, shown?.color, shown?.args],
      ['Work (Claude)', 'robot', 'charts.blue', ['--here']],
    )
    assert.equal(shown?.startedByWorkspace, true)
    assert.deepEqual(
      agents.problems.map(describeProblem),
      refused('work › name', 'work › icon', 'work › color'),
    )

    layers = [user({ claude, work }), workspace({ work: null, claude: { args: ['--hostile'] } })]
    changed.fire()
    assert.equal(agents.get('work')?.startable, true)
    assert.equal(agents.get('work')?.startedByWorkspace, true, 'what it inherits needs consent, too')
  })

  it('that are wrong never start as something else', () => {
    layers = [
      user({
        claude,
        codex: { account: { of: 'claude', folder: 'relative' }, command: 'codex-acp' },
        work: { ...work, account: 5 },
        nested: { account: { of: 'codex', folder: '/x' } },
        own: { account: { of: 'own', folder: '/x' } },
        first: { account: { of: 'claude', folder: '/same' } },
        second: { account: { of: 'claude', folder: '/same/' } },
      }),
    ]
    const agents = catalog()
    const wrong = agents.agents.filter(({ id }) => id !== 'claude' && id !== 'first')
    assert.deepEqual(
      wrong.map(({ id, startable, env }) => [id, startable, env.CLAUDE_CONFIG_DIR]),
      ['second', 'codex', 'work', 'nested', 'own'].map(id => [id, false, undefined]),
    )
    for (const { reason } of wrong) assert.notEqual(reason ?? '', '')
  })

  it('report what is wrong with their entry', () => {
    const folder = 'expected an absolute path without variables, or one that begins with ~/.'
    const entry = (account: unknown, more = {}) => user({ a: { account, ...more } })
    const at = (where: string, what: string) => [`parley.agents › a › ${where} (user settings): ${what}`]
    const of = 'claude'
    assert.deepEqual(problemsOf(entry({ of, folder: 'x' })), at('account › folder', folder))
    assert.deepEqual(problemsOf(entry({ of, folder: `/\${userHome}` })), at('account › folder', folder))
    assert.deepEqual(problemsOf(entry({ of, folder: '~other/x' })), at('account › folder', folder))
    assert.deepEqual(
      problemsOf(entry({ folder: '/x' })),
      at('account › of', 'expected a string, found nothing.'),
    )
    assert.deepEqual(problemsOf(entry(null)), at('account', 'expected an object, found null.'))
    assert.deepEqual(
      problemsOf(entry({ of, folder: '/x' }, { command: 'x' })),
      at('command', 'expected no command: an account starts as its agent does.'),
    )
    const [color] = problemsOf(entry({ of, folder: '/x' }, { color: 'red' }))
    assert.match(color ?? '', /› color \(user settings\): expected one of "charts.blue"/)
  })

  it('hold for any settings: an account that can start has its own folder, and is from the user', () => {
    const id = fc.constantFrom('claude', 'codex', 'work', 'home', '__proto__', 'constructor', 'toString')
    const folder = fc.constantFrom('/a', '~/b', 'c', '', `/d/\${env:X}`, 7, null)
    const account = fc.oneof(
      { weight: 5, arbitrary: fc.record({ of: fc.oneof(id, fc.jsonValue()), folder }, { requiredKeys: [] }) },
      fc.jsonValue(),
    )
    const entry = fc.oneof(
      {
        weight: 5,
        arbitrary: fc.record(
          { account, command: fc.constant('x'), env: fc.jsonValue() },
          { requiredKeys: [] },
        ),
      },
      fc.jsonValue(),
    )
    // by parsing, so that `__proto__` is a member
    const agentsSetting = fc
      .array(fc.tuple(id, entry), { maxLength: 6 })
      .map(all =>
        JSON.parse(
          `{${all.map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`).join()}}`,
        ),
      )
    fc.assert(
      fc.property(agentsSetting, agentsSetting, (ofUser, ofWorkspace) => {
        layers = [user(ofUser), workspace(ofWorkspace)]
        const agents = catalog()
        const isRecord = (value: unknown): value is Record<string, unknown> =>
          typeof value === 'object' && value !== null && !Array.isArray(value)
        const accounts = Object.entries(ofUser).filter(
          ([, value]) => isRecord(value) && Object.hasOwn(value, 'account'),
        )
        for (const [key, value] of accounts) {
          const found = agents.agents.find(one => one.id === key)
          if (!found?.startable) continue
          const written = (value as { account: { folder: string } }).account.folder
          const expected = written === '~/b' ? join(homedir(), 'b') : written
          assert.equal(found.account?.folder, expected)
          assert.equal(found.env.CLAUDE_CONFIG_DIR ?? found.env.CODEX_HOME, expected)
        }
        for (const { id: key, account: found } of agents.agents)
          assert.equal(
            found !== undefined,
            accounts.some(([one]) => one === key),
            key,
          )
        agents.dispose()
      }),
    )
  })

  describe('start', () => {
    let folder: string
    beforeEach(() => {
      folder = mkdtempSync(join(tmpdir(), 'parley-account-'))
    })
    afterEach(() => rmSync(folder, { recursive: true }))

    const start = (accountFolder: string) => {
      layers = [
        user({
          claude: { command: process.execPath },
          work: { account: { of: 'claude', folder: accountFolder }, name: 'Work (Claude)' },
        }),
      ]
      return resolveLaunch(catalog().get('work')!, {
        environment: { env: {}, platform: process.platform, source: 'process' },
        folders: [],
        userHome: homedir(),
      })
    }

    it('with a folder that only the user can read', async () => {
      const own = join(folder, 'new', 'one')
      const resolution = await start(own)
      assert.ok('ok' in resolution)
      assert.equal(resolution.ok.env.CLAUDE_CONFIG_DIR, own)
      if (process.platform !== 'win32') assert.equal(statSync(own).mode & 0o777, 0o700)
    })

    it('not at all if the folder cannot be used', async () => {
      const file = join(folder, 'file')
      writeFileSync(file, '')
      for (const wrong of [file, join(file, 'inside')]) {
        const resolution = await start(wrong)
        assert.ok('failure' in resolution)
        assert.equal(resolution.failure.kind, 'spawn')
        assert.match(resolution.message, /^The folder of the account can't be used: .+file/)
      }
    })
  })
})
