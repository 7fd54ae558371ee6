import assert from 'node:assert/strict'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { AgentCatalog, type AgentCatalogOptions } from '../../../src/agents/agent-catalog.ts'
import type { LaunchEnvironment } from '../../../src/agents/launch-environment.ts'
import { agentPresets, demoAgent } from '../../../src/agents/presets.ts'
import type { InstalledAgent } from '../../../src/agents/registry/installed-agents.ts'
import type { SettingLayer } from '../../../src/agents/setting-layers.ts'
import { describeProblem } from '../../../src/agents/setting-problem.ts'
import { Emitter } from '../../../src/common/event.ts'
import { silentLogger } from '../../../src/common/logger.ts'

const { platform } = process

describe('AgentCatalog', () => {
  let bin: string
  let shellBin: string
  let values: Record<string, SettingLayer[]>
  let lastUsed: string | undefined
  let trusted: boolean
  let shellAsked: number
  const settingsChanged = new Emitter<void>()
  const trustChanged = new Emitter<void>()
  const put = (directory: string, name: string) => {
    writeFileSync(join(directory, name), '#!/bin/sh\n')
    chmodSync(join(directory, name), 0o755)
  }
  const environment = (path: string): LaunchEnvironment => ({
    env: { PATH: path },
    platform,
    source: 'process',
  })
  const catalog = (more: Partial<AgentCatalogOptions> = {}) =>
    new AgentCatalog({
      settings: { layers: key => values[key] ?? [], onDidChange: settingsChanged.event },
      environment: {
        current: () => environment(bin),
        async get() {
          shellAsked++
          return environment(`${shellBin}:${bin}`)
        },
        refresh() {},
      },
      trust: {
        get trusted() {
          return trusted
        },
        onDidChange: trustChanged.event,
      },
      lastUsed: {
        get: () => lastUsed,
        set: id => {
          lastUsed = id
        },
      },
      log: silentLogger,
      demo: demoAgent('/parley/demo-agent.js'),
      ...more,
    })
  const installedAgent = (id: string, type: 'program' | 'script' = 'program'): InstalledAgent => ({
    ...{ format: 1, id, name: id, version: '1.0.0', description: '', distribution: 'npx', source: id },
    ...{ installedAt: 0, directory: `/storage/${id}`, canRollBack: false },
    launch: { type, path: 'bin/run', args: ['--acp'], env: { A: 'a' } },
  })
  const installedAre = (...agents: InstalledAgent[]) => ({
    installed: { agents, onDidChange: new Emitter<void>().event, ready: async () => {} },
  })
  const user = (value: unknown): SettingLayer[] => [{ scope: 'user', value }]
  const ids = (of: AgentCatalog) => of.agents.map(agent => agent.id)

  before(function () {
    if (platform === 'win32') this.skip()
  })
  beforeEach(() => {
    bin = mkdtempSync(join(tmpdir(), 'parley-bin-'))
    shellBin = mkdtempSync(join(tmpdir(), 'parley-bin-'))
    values = {}
    lastUsed = undefined
    trusted = true
    shellAsked = 0
  })
  afterEach(() => {
    for (const directory of [bin, shellBin]) rmSync(directory, { recursive: true, force: true })
  })

  it('lists installed agents under the ids of their presets', async () => {
    values = { agents: [{ scope: 'user', value: { claude: { env: { B: 'b' } } } }] }
    put(bin, 'claude-agent-acp')
    const agents = catalog({
      ...installedAre(installedAgent('claude-acp'), installedAgent('other', 'script')),
      execPath: '/editor/node',
    })
    await agents.ready()
    const claude = agents.get('claude')
    assert.deepEqual(
      [claude?.source, claude?.name, claude?.command, claude?.args, claude?.env, claude?.version],
      ['installed', 'Claude Code', '/storage/claude-acp/bin/run', ['--acp'], { A: 'a', B: 'b' }, '1.0.0'],
    )
    const other = agents.get('other')
    assert.deepEqual(
      [other?.command, other?.args, other?.env],
      ['/editor/node', ['/storage/other/bin/run', '--acp'], { ELECTRON_RUN_AS_NODE: '1', A: 'a' }],
    )
  })

  it("shows a codicon for each agent until the registry's icon is known", async () => {
    put(bin, 'codex-acp')
    const drawn = new Map<string, string>()
    const changed = new Emitter<void>()
    const icons = { get: (id: string) => drawn.get(id), load: async () => {}, onDidChange: changed.event }
    const agents = catalog({ ...installedAre(installedAgent('claude-acp'), installedAgent('other')), icons })
    await agents.ready()
    const shown = () => ['claude', 'other', 'codex'].map(id => agents.get(id)?.icon)
    assert.deepEqual(shown(), ['sparkle', 'sparkle', 'sparkle'])
    let changes = 0
    agents.onDidChange(() => changes++)
    for (const id of ['claude-acp', 'other', 'codex-acp']) drawn.set(id, `data:${id}`)
    changed.fire()
    assert.equal(changes, 1)
    assert.deepEqual(shown(), ['data:claude-acp', 'data:other', 'data:codex-acp'])
  })

  it("starts a preset with its own command and the user's changes", async () => {
    put(bin, 'codex-acp')
    values.agents = [{ scope: 'user', value: { codex: { protocol: 'latest', env: { A: '1' } } } }]
    const agents = catalog()
    await agents.ready()
    const codex = agents.get('codex')
    assert.equal(codex?.source, 'preset')
    assert.equal(codex?.command, 'codex-acp')
    assert.equal(codex?.protocol, 'latest')
    assert.deepEqual(codex?.env, { A: '1' })
    assert.deepEqual(agents.problems, [])
    agents.dispose()
  })

  it('lists the demo agent if there is no other', async () => {
    const agents = catalog()
    await agents.ready()
    assert.deepEqual(ids(agents), ['demo'])
    const defaultId = () => agents.defaultAgent?.id
    assert.equal(defaultId(), undefined, 'nobody chose the demo agent')
    await agents.markUsed('demo')
    assert.equal(defaultId(), undefined, 'it was tried')
    lastUsed = 'demo'
    assert.equal(defaultId(), undefined, 'it was tried with an earlier version')
    values.defaultAgent = user('demo')
    assert.equal(defaultId(), 'demo')
    assert.deepEqual(agents.problems, [])
  })

  it('lists the agents in the settings, then presets found on the PATH, then the demo agent', async () => {
    put(bin, 'gemini')
    put(shellBin, 'claude-code-acp')
    values.agents = user({ mine: { command: 'x' } })
    const agents = catalog()
    assert.deepEqual(ids(agents), ['mine', 'demo'])
    await agents.ready()
    assert.deepEqual(ids(agents), ['mine', 'claude', 'gemini', 'demo'])
    const gemini = agents.get('gemini')
    assert.deepEqual(
      [gemini?.command, gemini?.args, gemini?.source, gemini?.startable],
      ['gemini', ['--acp'], 'preset', true],
    )
    assert.equal(agents.get('claude')?.command, 'claude-code-acp')
  })

  it("prefers the newer of a preset's commands", async () => {
    put(bin, 'claude-code-acp')
    put(shellBin, 'claude-agent-acp')
    const agents = catalog()
    await agents.ready()
    assert.equal(agents.get('claude')?.command, 'claude-agent-acp')
  })

  it('lets the settings override a preset and the demo agent', async () => {
    put(bin, 'gemini')
    values.agents = user({ gemini: { command: 'node', args: ['gemini.js'] }, demo: { command: 'mine' } })
    const agents = catalog()
    await agents.ready()
    assert.deepEqual(ids(agents), ['gemini', 'demo'])
    assert.equal(agents.get('gemini')?.command, 'node')
    assert.equal(agents.get('gemini')?.name, 'Gemini CLI')
    assert.equal(agents.get('demo')?.source, 'settings')
  })

  it('reports changes of the settings', () => {
    const agents = catalog()
    let reported = 0
    agents.onDidChange(() => reported++)
    values.agents = user({ mine: { command: 'x' }, bad: {} })
    settingsChanged.fire()
    assert.equal(reported, 1)
    assert.deepEqual(ids(agents), ['mine', 'demo'])
    assert.deepEqual(agents.problems.map(describeProblem), [
      'parley.agents › bad › command (user settings): expected a string, found nothing.',
    ])
    agents.dispose()
    settingsChanged.fire()
    assert.equal(reported, 1)
  })

  it('finds newly installed agents when refreshed', async () => {
    const agents = catalog()
    await agents.ready()
    put(shellBin, 'codex-acp')
    await agents.ready()
    assert.deepEqual(ids(agents), ['demo'])
    let reported = 0
    agents.onDidChange(() => reported++)
    await agents.refresh()
    assert.deepEqual(ids(agents), ['codex', 'demo'])
    assert.equal(reported, 1)
  })

  it('lists agents in Restricted Mode but starts none, and runs no shell', async () => {
    trusted = false
    put(bin, 'gemini')
    put(shellBin, 'codex-acp')
    const agents = catalog()
    await agents.ready()
    assert.deepEqual(ids(agents), ['gemini', 'demo'])
    assert.ok(agents.agents.every(agent => !agent.startable && agent.reason?.includes('trusted')))
    assert.equal(shellAsked, 0)

    const found = new Promise<void>(resolve =>
      agents.onDidChange(() => {
        if (agents.get('codex')) resolve()
      }),
    )
    trusted = true
    trustChanged.fire()
    await found
    assert.deepEqual(ids(agents), ['codex', 'gemini', 'demo'])
    assert.ok(agents.agents.every(agent => agent.startable))
  })

  it('keeps its agents if the search fails', async () => {
    put(bin, 'gemini')
    const agents = catalog({
      environment: {
        current: () => environment(bin),
        get: () => Promise.reject(new Error('no')),
        refresh() {},
      },
    })
    await agents.ready()
    assert.deepEqual(ids(agents), ['gemini', 'demo'])
  })

  describe('with settings of the workspace', () => {
    const startedByWorkspace = (workspace: object, ofUser: object = {}) => {
      values.agents = [
        { scope: 'user', value: ofUser },
        { scope: 'workspace', value: workspace },
      ]
      const agents = catalog()
      const names = agents.agents.filter(agent => agent.startedByWorkspace).map(({ id }) => id)
      agents.dispose()
      return names
    }
    const mine = { mine: { command: 'x', args: ['--acp'], env: { A: 'b' } } }

    it('knows the agents that they define or start differently', () => {
      assert.deepEqual(startedByWorkspace({ theirs: { command: 'y' } }, mine), ['theirs'])
      for (const change of [
        { command: 'y' },
        { args: ['--acp', '--yolo'] },
        { args: [] },
        { env: { NODE_OPTIONS: '--require ./evil.js' } },
        { env: { A: 'c' } },
        { cwd: 'elsewhere' },
      ])
        assert.deepEqual(startedByWorkspace({ mine: change }, mine), ['mine'], JSON.stringify(change))
      const remote = { mine: { url: 'wss://example.com', headers: { A: 'b' } } }
      for (const change of [
        { url: 'wss://example.org' },
        { headers: { A: 'c' } },
        { sharesFiles: true },
        { pathMappings: [{ localRoot: '/a', remoteRoot: '/b' }] },
      ])
        assert.deepEqual(startedByWorkspace({ mine: change }, remote), ['mine'], JSON.stringify(change))
      assert.deepEqual(startedByWorkspace({ mine: { color: 'charts.red' } }, remote), [])
    })

    it("distinguishes the workspace's system prompt from the user's", () => {
      const prompts = (workspace: object, ofUser: object, forAll: SettingLayer[] = []) => {
        values.agents = [
          { scope: 'user', value: ofUser },
          { scope: 'workspace', value: workspace },
        ]
        values.systemPrompt = forAll
        const agents = catalog()
        const { chosen, ofUser: own } = agents.systemPrompts('mine')
        agents.dispose()
        return [chosen?.text, own?.text]
      }
      const all: SettingLayer[] = [
        { scope: 'default', value: '' },
        { scope: 'user', value: 'mine' },
      ]
      const workspace: SettingLayer = { scope: 'workspace', value: 'theirs' }
      const spoken = { mine: { ...mine.mine, systemPrompt: 'agent' } }
      assert.deepEqual(prompts({}, mine, all), ['mine', 'mine'])
      assert.deepEqual(prompts({}, mine, [...all, workspace]), ['theirs', 'mine'])
      assert.deepEqual(prompts({}, spoken, [...all, workspace]), ['agent', 'agent'])
      assert.deepEqual(prompts({ mine: { systemPrompt: 'evil' } }, spoken, all), ['evil', 'agent'])
      assert.deepEqual(prompts({ mine: { systemPrompt: 'evil' } }, mine, all), ['evil', 'mine'])
      assert.deepEqual(prompts({ mine: { systemPrompt: '' } }, spoken, all), [undefined, 'agent'])
      assert.deepEqual(prompts({ mine: { command: 'x', systemPrompt: 'evil' } }, {}, all), ['evil', 'mine'])
    })

    it('knows the default options with and without the workspace', () => {
      values.agents = [
        { scope: 'user', value: { ...mine, demo: { defaultOptions: { mode: 'plan', model: 'a' } } } },
        { scope: 'workspace', value: { demo: { defaultOptions: { mode: 'yolo' } } } },
      ]
      const agents = catalog()
      assert.deepEqual(agents.defaultOptions('demo'), {
        chosen: { mode: 'yolo', model: 'a' },
        ofUser: { mode: 'plan', model: 'a' },
      })
      assert.deepEqual(agents.defaultOptions('mine'), { chosen: {}, ofUser: {} })
      assert.deepEqual(agents.defaultOptions('gone'), { chosen: {}, ofUser: {} })
      assert.equal(agents.get('demo')?.startedByWorkspace, undefined)
      assert.deepEqual(agents.problems, [])
      agents.dispose()
    })

    it("don't take away the user's default options, which may be what keeps an agent from acting without asking", () => {
      const user = { demo: { defaultOptions: { mode: 'plan', model: 'a' } } }
      for (const ofWorkspace of [5, { defaultOptions: null }, { defaultOptions: { mode: 5, model: 'b' } }]) {
        values.agents = [
          { scope: 'user', value: user },
          { scope: 'workspace', value: { demo: ofWorkspace } },
        ]
        const agents = catalog()
        assert.equal(agents.defaultOptions('demo').chosen.mode, 'plan')
        agents.dispose()
      }
    })

    it('knows well-known agents that they change', async () => {
      put(bin, 'gemini')
      values.agents = [
        { scope: 'folder', folder: 'one', value: { gemini: { env: { NODE_OPTIONS: '-r x' } } } },
      ]
      const agents = catalog()
      await agents.ready()
      assert.equal(agents.get('gemini')?.startedByWorkspace, true)
    })

    it('knows that names and icons start nothing, and that the same values change nothing', () => {
      assert.deepEqual(startedByWorkspace({ mine: { name: 'Other', icon: 'bug' } }, mine), [])
      assert.deepEqual(startedByWorkspace(mine, mine), [])
    })
  })

  describe('the default agent', () => {
    beforeEach(() => {
      put(bin, 'gemini')
      values.agents = user({ mine: { command: 'x' }, other: { command: 'y' } })
    })

    it('is the first agent, then the most recently used one', async () => {
      const agents = catalog()
      await agents.ready()
      assert.equal(agents.defaultAgent?.id, 'mine')
      let reported = 0
      agents.onDidChange(() => reported++)
      await agents.markUsed('other')
      await agents.markUsed('other')
      assert.equal(agents.defaultAgent?.id, 'other')
      assert.equal(reported, 1)
      await agents.markUsed('demo')
      assert.equal(agents.defaultAgent?.id, 'other')
      lastUsed = 'gone'
      assert.equal(agents.defaultAgent?.id, 'mine')
    })

    it('is the agent in the settings, preferably of the nearest scope', async () => {
      lastUsed = 'other'
      values.defaultAgent = [
        { scope: 'default', value: '' },
        { scope: 'user', value: 'mine' },
        { scope: 'workspace', value: 'gemini' },
      ]
      const agents = catalog()
      await agents.ready()
      assert.equal(agents.defaultAgent?.id, 'gemini')
      assert.deepEqual(agents.problems, [])
    })

    const wrong: Array<[string, unknown, string]> = [
      ['an unknown id', 'nope', 'unknown agent ID "nope" (available: mine, other, gemini, demo)'],
      [
        'a preset that is not installed',
        'codex',
        "Codex is a well-known agent, but codex-acp isn't on the PATH",
      ],
      ['no text', 7, 'expected the ID of an agent, found a number'],
    ]
    for (const [what, value, message] of wrong) {
      it(`is undefined if the setting contains ${what}, with a problem`, async () => {
        lastUsed = 'other'
        values.defaultAgent = [{ scope: 'workspace', value }]
        const agents = catalog()
        await agents.ready()
        assert.equal(agents.defaultAgent, undefined)
        assert.ok(agents.isSearched)
        assert.ok(agents.defaultProblem)
        assert.equal(
          describeProblem(agents.defaultProblem.problem),
          `parley.defaultAgent (workspace settings): ${message}.`,
        )
        assert.deepEqual(agents.problems, [])
      })
    }

    it("isn't reported as missing before the whole PATH was searched", async () => {
      put(shellBin, 'codex-acp')
      values.defaultAgent = user('codex')
      const agents = catalog()
      assert.deepEqual(
        [agents.defaultAgent, agents.defaultProblem, agents.isSearched],
        [undefined, undefined, false],
      )
      await agents.ready()
      assert.equal(agents.defaultProblem, undefined)
      assert.equal(agents.defaultAgent?.id, 'codex')
    })

    it('is sure only with the PATH of the login shell', async () => {
      const found = (source: LaunchEnvironment['source']) => ({
        current: () => environment(bin),
        get: async () => ({ ...environment(bin), source }),
        refresh() {},
      })
      for (const [source, isSure] of [
        ['fallback', false],
        ['login-shell', true],
      ] as const) {
        const agents = catalog({ environment: found(source) })
        assert.equal(agents.isSearchSure, false)
        await agents.ready()
        assert.deepEqual([agents.isSearched, agents.isSearchSure], [true, isSure])
      }
    })
  })
})

describe('agent presets', () => {
  it('have unique ids and a command on the PATH', () => {
    const all = agentPresets.map(preset => preset.id)
    assert.equal(new Set(all).size, all.length)
    assert.ok(!all.includes('demo'))
    for (const { launches } of agentPresets) {
      assert.ok(launches.length > 0)
      for (const { command } of launches) assert.match(command, /^[a-z][a-z-]*$/)
    }
  })
})
