import assert from 'node:assert/strict'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, realpathSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Agent, AgentClient } from '../../src/acp/agent.ts'
import { startAgent } from '../../src/acp/start-agent.ts'
import { withAccounts } from '../../src/agents/account-definitions.ts'
import { agentPresets } from '../../src/agents/presets.ts'
import { resolveLaunch } from '../../src/agents/resolve-launch.ts'
import { silentLogger } from '../../src/common/logger.ts'
import { SETUPS } from './agents.ts'
import { installAgent } from './install.ts'

const NAMES = ['claude', 'codex', 'gemini', 'grok'] as const

/** Each agent in a home directory of its own, without a sign-in or settings. */
describe('an account of a real agent', () => {
  let root: string
  let home: string
  let workspace: string
  const running: Agent[] = []

  beforeEach(() => {
    root = realpathSync(mkdtempSync(join(tmpdir(), 'parley-accounts-')))
    home = join(root, 'home')
    workspace = join(root, 'workspace')
    for (const folder of [home, workspace, join(root, 'setup')]) mkdirSync(folder)
  })
  afterEach(async () => {
    const closed = running.map(agent => new Promise(resolve => agent.onDidClose(resolve)))
    for (const agent of running.splice(0)) agent.dispose()
    await Promise.all(closed)
    await rm(root, { recursive: true, maxRetries: 20 })
  })

  async function start(name: (typeof NAMES)[number], folder: string): Promise<Agent> {
    const setup = { home: join(root, 'setup'), folder: await installAgent(name), port: 9, byCommand: false }
    const agent = await SETUPS[name](setup)
    const env = { ...agent.env, HOME: home, OPENAI_API_KEY: 'mock' }
    const agents = new Map([[name, { ...agent, env }]])
    const account = { id: 'work', account: { of: name, folder }, change: {} }
    const definition = withAccounts(agents, [account], agentPresets, true).find(({ id }) => id === 'work')!
    const resolution = await resolveLaunch(definition, {
      environment: { env: { PATH: process.env.PATH ?? '' }, platform: process.platform, source: 'process' },
      folders: [{ name: 'workspace', path: workspace }],
      userHome: home,
    })
    assert.ok('ok' in resolution, JSON.stringify(resolution))
    const started = await startAgent(resolution.ok, {} as AgentClient, {
      clientInfo: { name: 'test', title: 'Test', version: '1' },
      initializeTimeoutMs: 180_000,
      maxFrameBytes: 2 ** 24,
      log: silentLogger,
    })
    running.push(started)
    return started
  }
  const newSession = (agent: Agent) =>
    agent.newSession({ cwd: workspace, additionalDirectories: [], mcpServers: [] })

  for (const name of NAMES) {
    it(`keeps everything in its folder: ${name}`, async () => {
      const agent = await start(name, join(root, 'work'))
      await newSession(agent).catch(() => {})
      assert.notDeepEqual(readdirSync(join(root, 'work')), [])
      assert.deepEqual(readdirSync(home), [])
    })
  }

  it('signs in for itself: codex', async () => {
    const [work, personal] = [
      await start('codex', join(root, 'work')),
      await start('codex', join(root, 'own')),
    ]
    await work.authenticate('api-key')
    assert.ok(existsSync(join(root, 'work', 'auth.json')))
    assert.ok(!existsSync(join(root, 'own', 'auth.json')))
    await assert.rejects(newSession(personal), /Authentication required/)
    assert.deepEqual(readdirSync(home), [])
  })
})
