/**
 * Installs the agent of `agent-installer.test.ts` like an extension host: `install-in-host.ts <storage> <guard script>`.
 */
import { AgentInstaller } from '../../../../src/agents/registry/agent-installer.ts'
import { InstalledAgents } from '../../../../src/agents/registry/installed-agents.ts'
import { readRegistry } from '../../../../src/agents/registry/registry-format.ts'
import { silentLogger as log } from '../../../../src/common/logger.ts'
import { createProcessGuard } from '../../../../src/common/processes/process-guard.ts'
import { processWindow } from '../../../support/process-windows.ts'

const [, , storage = '', script = ''] = process.argv
const { PATH = '', HOME = '', ...others } = process.env
const own = Object.entries(others).filter(([name]) => /^(npm_config_|PARLEY_)/.test(name))
const env = { PATH, HOME, ...(Object.fromEntries(own) as Record<string, string>) }
const mine = { id: 'mine', name: 'Mine', version: '1.0.0', distribution: { npx: { package: 'mine@1.0.0' } } }
const installer = new AgentInstaller({
  installed: new InstalledAgents(storage, processWindow(), log),
  environment: async () => ({ env, platform: process.platform }),
  guard: createProcessGuard({ script, graceMs: 0, log }),
  ...{ fetch, log },
})
const [agent] = readRegistry({ agents: [mine] }).agents
await installer.install(agent!, await installer.plan(agent!))
