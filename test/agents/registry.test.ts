import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import fs from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { gzipSync } from 'node:zlib'
import { create, replace } from 'tar'
import type { StartAgent } from '../../src/acp/agent.ts'
import { startAgent } from '../../src/acp/start-agent.ts'
import { AgentCatalog } from '../../src/agents/agent-catalog.ts'
import { agentIdOf } from '../../src/agents/presets.ts'
import { AgentIcons } from '../../src/agents/registry/agent-icons.ts'
import { AgentInstaller } from '../../src/agents/registry/agent-installer.ts'
import { InstallManager } from '../../src/agents/registry/install-manager.ts'
import { InstalledAgents, startInstalled } from '../../src/agents/registry/installed-agents.ts'
import { RegistryClient } from '../../src/agents/registry/registry-client.ts'
import { platformTarget } from '../../src/agents/registry/registry-format.ts'
import { Emitter } from '../../src/common/event.ts'
import { silentLogger } from '../../src/common/logger.ts'
import { LoopbackServer } from '../support/loopback-server.ts'
import { processWindow } from '../support/process-windows.ts'
import { assertSettled, messageTexts } from './expect.ts'
import { type AgentName, installAgent } from './install.ts'
import { AGENTS_CACHE } from './paths.ts'
import { AgentRig } from './rig.ts'

const icon = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><path d="M0 0h16v16H0z"/></svg>'

/** Adds a file to the server and returns its URL. */
type Serve = (name: string, archive: Buffer) => string

interface Candidate {
  name: AgentName
  /** its id in the registry */
  id: string
  distribution: (serve: Serve) => Promise<object>
  /** its last message */
  says: RegExp
  /** a mode that isn't the one of its new sessions */
  mode?: string
}

const candidates: Candidate[] = [
  {
    name: 'opencode',
    id: 'opencode',
    distribution: async () => ({ npx: { package: 'opencode-ai@1.18.33', args: ['acp'] } }),
    says: /^Hello from the \*\*mock\*\* model\. .* done\.\s/,
    mode: 'plan',
  },
  {
    name: 'codex',
    id: 'codex-acp',
    distribution: async () => ({ npx: { package: '@agentclientprotocol/codex-acp@2.6.0' } }),
    says: /^Hello from the \*\*mock\*\* model\. .* done\.\s/,
  },
  {
    name: 'gemini',
    id: 'gemini',
    distribution: async () => ({ npx: { package: '@google/gemini-cli@0.61.0', args: ['--acp'] } }),
    says: /^Hello from the \*\*mock\*\* model\. .* done\.\s/,
  },
  {
    // its npm package has no program, so it's packed as an archive
    name: 'sdk-example',
    id: 'sdk-example',
    distribution: packSdkExample,
    says: /successfully updated/,
  },
]

/** The SDK from npm with its dependencies and a program that runs the example. */
async function packSdkExample(serve: Serve): Promise<object> {
  const folder = await installAgent('sdk-example')
  const draft = await fs.mkdtemp(path.join(os.tmpdir(), 'parley-pack-'))
  try {
    const example = './node_modules/@agentclientprotocol/sdk/dist/examples/agent.js'
    await fs.writeFile(path.join(draft, 'run.mjs'), `#!/usr/bin/env node\nawait import('${example}')\n`)
    const file = path.join(draft, 'archive.tar')
    await create({ file, cwd: folder }, ['node_modules'])
    await replace({ file, cwd: draft }, ['run.mjs'])
    const archive = gzipSync(await fs.readFile(file))
    const target = {
      archive: serve('sdk-example.tar.gz', archive),
      cmd: './run.mjs',
      sha256: createHash('sha256').update(archive).digest('hex'),
    }
    const here = platformTarget(process.platform, process.arch)
    assert.ok(here, 'The registry has a name for this machine')
    return { binary: { [here]: target } }
  } finally {
    await fs.rm(draft, { recursive: true })
  }
}

/**
 * Installs npm's real packages from a registry on loopback in the real format and runs a turn, with all of Parley
 * except the editor.
 */
describe('agents from the registry, installed by Parley', function () {
  this.timeout(600_000)
  let root: string
  let server: LoopbackServer
  const archives = new Map<string, Buffer>()
  let installed: InstalledAgents
  let installs: InstallManager
  let start: StartAgent
  const settings: Record<string, { env: Record<string, string> }> = {}
  const settingsChange = new Emitter<void>()
  let catalog: AgentCatalog

  before(async () => {
    root = await fs.realpath(await fs.mkdtemp(path.join(os.tmpdir(), 'parley-registry-')))
    server = await LoopbackServer.start(({ url = '', headers }, response) => {
      const archive = archives.get(url)
      if (archive) return void response.writeHead(200, { 'content-length': archive.length }).end(archive)
      if (url.endsWith('.svg')) return void response.end(icon)
      if (headers['if-none-match'] === '"1"') return void response.writeHead(304).end()
      response.writeHead(200, { etag: '"1"' }).end(body)
    })
    const serve = (name: string, archive: Buffer) => {
      archives.set(`/${name}`, archive)
      return `${server.origin}/${name}`
    }
    const agents = candidates.map(async ({ id, distribution }) => ({
      ...{
        id,
        name: id,
        version: '1.0.0',
        description: `About ${id}`,
        license: 'MIT',
        authors: ['Somebody'],
      },
      ...{ repository: 'https://example.com/agent', icon: `${server.origin}/${id}.svg`, new_field: 1 },
      distribution: await distribution(serve),
    }))
    const body = JSON.stringify({ version: '1.0.0', agents: await Promise.all(agents), extensions: [] })
    const { PATH = '' } = process.env
    const npm = { npm_config_cache: path.join(AGENTS_CACHE, 'npm'), npm_config_prefer_offline: 'true' }
    const environment = {
      env: { PATH, HOME: root, ...npm },
      platform: process.platform,
      source: 'process' as const,
    }
    installed = new InstalledAgents(path.join(root, 'agents'), processWindow(), silentLogger)
    const log = silentLogger
    const icons = new AgentIcons({ directory: root, registryUrl: () => server?.origin, fetch, log })
    installs = new InstallManager({
      registry: new RegistryClient({
        url: () => `${server.origin}/registry.json`,
        bundled: async () => '{"agents":[]}',
        ...{ directory: root, fetch, log },
      }),
      ...{ installed, icons, log },
      onDidChangeNetwork: new Emitter<void>().event,
      installer: async () =>
        new AgentInstaller({ installed, environment: async () => environment, fetch, log }),
      confirmation: { plan: async () => true, scripts: async () => 'run' },
      trusted: () => true,
    })
    start = startInstalled(startAgent, installed, log)
    const none = new Emitter<void>().event
    catalog = new AgentCatalog({
      ...{ installed, icons, log },
      settings: {
        layers: key => (key === 'agents' ? [{ scope: 'user', value: settings }] : []),
        onDidChange: settingsChange.event,
      },
      environment: { get: async () => environment, current: () => environment, refresh() {} },
      trust: { trusted: true, onDidChange: none },
      lastUsed: { get: () => undefined, set() {} },
    })
    await catalog.ready()
    await installs.refresh()
    assert.equal(installs.problem, undefined)
    await installs.plan(candidates.map(({ id }) => id))
  })
  after(async () => {
    installs?.dispose()
    catalog?.dispose()
    installed?.dispose()
    await server?.stop()
    await fs.rm(root, { recursive: true, force: true, maxRetries: 5 })
  })

  for (const { name, id, says, mode } of candidates)
    it(`${id}: installs, runs a turn, and is uninstalled with all its files`, async () => {
      const plan = installs.planOf(id)
      assert.ok(plan && !(plan instanceof Error), String(plan))
      assert.equal(await installs.install(id), 'installed', JSON.stringify(installs.status(id)))
      assert.equal(plan.sha256 !== undefined, name === 'sdk-example')
      const agentId = agentIdOf(id)
      const rig = await AgentRig.create(name, {
        name: `registry-${name}`,
        installed: {
          start,
          // like the user's settings for the agent
          define: ({ env }) => {
            Object.assign(settings, { [agentId]: { env } })
            settingsChange.fire()
            assert.deepEqual(catalog.problems, [])
            const definition = catalog.get(agentId)
            assert.equal(definition?.source, 'installed')
            return definition
          },
        },
      })
      try {
        await rig.startScenario('turn')
        if (mode !== undefined) rig.defaults = { mode }
        const open = await rig.create()
        assert.deepEqual(await rig.promptScenario(open, 'hello'), { type: 'ended', stopReason: 'end_turn' })
        assert.match(messageTexts(open.session.state).at(-1) ?? '', says)
        assertSettled(open.session.state)
        if (mode !== undefined) {
          const option = open.session.state.configOptions.find(({ category }) => category === 'mode')
          assert.equal(option?.type === 'select' && option.currentValue, mode)
        }
      } finally {
        await rig.close()
      }
      await installs.remove(id)
      assert.ok(!existsSync(path.join(root, 'agents', id)))
    })
})
