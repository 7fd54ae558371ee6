import fs from 'node:fs/promises'
import { createRequire } from 'node:module'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import type { AgentDefinition } from '../../src/agents/definition.ts'
import { type AgentName, grokProgram } from './install.ts'

/** The folders and ports of one run of an agent. Nothing in them belongs to the machine's owner. */
export interface AgentFolders {
  /** the agent's home directory */
  home: string
  /** where it is installed */
  folder: string
  /** the mock model's port on 127.0.0.1 */
  port: number
  /** Start it with the command that npm installs: a link, or a `.cmd` file on Windows. */
  byCommand: boolean
}

/** How each agent is configured to use the mock model and to start, as a user would write it in the settings. */
export const SETUPS: Record<AgentName, (room: AgentFolders) => Promise<AgentDefinition>> = {
  async grok({ home, folder, port }) {
    await write(
      path.join(home, '.grok', 'config.toml'),
      [
        '[models]',
        'default = "mock"',
        '[model.mock]',
        'model = "mock-model"',
        'name = "Mock"',
        `base_url = "http://127.0.0.1:${port}/v1"`,
        'env_key = "MOCK_KEY"',
        'context_window = 200000',
        'max_completion_tokens = 8000',
        '[cli]',
        'auto_update = false',
        'use_leader = false',
        '[telemetry]',
        'enabled = false',
        '',
      ].join('\n'),
    )
    return definition('grok', path.join(folder, grokProgram), ['agent', 'stdio'], {
      HOME: home,
      MOCK_KEY: 'mock',
      XAI_API_KEY: 'mock',
    })
  },

  async codex({ home, folder, port, byCommand }) {
    const settings = path.join(home, '.codex')
    await write(
      path.join(settings, 'config.toml'),
      [
        'model = "mock-model"',
        'model_provider = "mock"',
        'approval_policy = "on-request"',
        'sandbox_mode = "workspace-write"',
        'check_for_update_on_startup = false',
        '[tools.update_plan]',
        'enabled = true',
        '[analytics]',
        'enabled = false',
        '[model_providers.mock]',
        'name = "Mock"',
        `base_url = "http://127.0.0.1:${port}/v1"`,
        'wire_api = "responses"',
        'env_key = "MOCK_KEY"',
        'requires_openai_auth = false',
        'supports_websockets = false',
        'request_max_retries = 1',
        'stream_max_retries = 1',
        '',
      ].join('\n'),
    )
    const program = path.join(folder, 'node_modules', '@agentclientprotocol', 'codex-acp', 'dist', 'index.js')
    const start = byCommand ? installed(folder, 'codex-acp') : [process.execPath, program]
    return definition('codex', start[0]!, start.slice(1), {
      HOME: home,
      CODEX_HOME: settings,
      MOCK_KEY: 'mock',
      NO_BROWSER: '1',
    })
  },

  async claude({ home, folder, port }) {
    const settings = path.join(home, '.claude')
    await write(
      path.join(settings, 'settings.json'),
      JSON.stringify({ permissions: { defaultMode: 'default' } }),
    )
    const program = path.join(
      folder,
      'node_modules',
      '@agentclientprotocol',
      'claude-agent-acp',
      'dist',
      'index.js',
    )
    return definition('claude', process.execPath, [program], {
      HOME: home,
      ANTHROPIC_BASE_URL: `http://127.0.0.1:${port}`,
      ANTHROPIC_API_KEY: 'mock',
      CLAUDE_CONFIG_DIR: settings,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      // the mock model doesn't search for tools
      ENABLE_TOOL_SEARCH: 'false',
    })
  },

  async gemini({ home, folder, port, byCommand }) {
    await write(
      path.join(home, '.gemini', 'settings.json'),
      JSON.stringify({
        security: { auth: { selectedType: 'gemini-api-key' } },
        privacy: { usageStatisticsEnabled: false },
        telemetry: { enabled: false },
        general: { enableAutoUpdate: false, enableAutoUpdateNotification: false },
      }),
    )
    const program = path.join(folder, 'node_modules', '@google', 'gemini-cli', 'bundle', 'gemini.js')
    const start = byCommand ? installed(folder, 'gemini') : [process.execPath, program]
    return definition('gemini', start[0]!, [...start.slice(1), '--acp', '--model', 'gemini-2.5-flash'], {
      HOME: home,
      GEMINI_API_KEY: 'mock',
      GOOGLE_GEMINI_BASE_URL: `http://127.0.0.1:${port}`,
      GEMINI_CLI_NO_RELAUNCH: 'true',
      GEMINI_CLI_TRUST_WORKSPACE: 'true',
    })
  },

  /** Installed by Parley from the registry; see `registry.test.ts`. */
  async opencode({ home, folder, port }) {
    const model = 'mock/mock-model'
    await write(
      path.join(home, '.config', 'opencode', 'opencode.json'),
      JSON.stringify({
        ...{ model, small_model: model, autoupdate: false, share: 'disabled' },
        provider: {
          mock: {
            ...{ npm: '@ai-sdk/openai-compatible', name: 'Mock' },
            options: { baseURL: `http://127.0.0.1:${port}/v1`, apiKey: 'mock' },
            models: { 'mock-model': { name: 'Mock' } },
          },
        },
      }),
    )
    const program = path.join(folder, 'node_modules', '.bin', 'opencode')
    return definition('opencode', program, ['acp'], {
      HOME: home,
      OPENCODE_DISABLE_MODELS_FETCH: '1',
      OPENCODE_DISABLE_AUTOUPDATE: '1',
      OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
      OPENCODE_DISABLE_DEFAULT_PLUGINS: '1',
    })
  },

  async 'sdk-example'({ home, folder }) {
    const program = path.join(
      folder,
      'node_modules',
      '@agentclientprotocol',
      'sdk',
      'dist',
      'examples',
      'agent.js',
    )
    return definition('sdk-example', process.execPath, [program], { HOME: home })
  },

  async demo({ home, folder }) {
    const program = path.join(folder, 'src', 'demo-agent', 'main.ts')
    const tsx = pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href
    return definition('demo', process.execPath, ['--import', tsx, program], {
      PARLEY_DEMO_STATE: path.join(home, 'demo'),
      PARLEY_DEMO_PACE: '0',
    })
  },
}

function definition(
  id: AgentName,
  command: string,
  args: string[],
  env: Record<string, string>,
): AgentDefinition {
  return { id, name: id, command, args, env, source: 'preset' }
}

function installed(folder: string, command: string): string[] {
  const file = process.platform === 'win32' ? `${command}.cmd` : command
  return [path.join(folder, 'node_modules', '.bin', file)]
}

async function write(file: string, content: string): Promise<void> {
  await fs.mkdir(path.dirname(file), { recursive: true })
  await fs.writeFile(file, content)
}
