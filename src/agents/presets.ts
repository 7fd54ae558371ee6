import * as l10n from '@vscode/l10n'
import { AGENT_ICON } from '../common/agent-icon.ts'
import type { AgentDefinition } from './definition.ts'

/**
 * Well-known agents, which are offered if their command is on the PATH. Users who need another command line add an agent with the same id
 * to `parley.agents`. The command lines come from the ACP registry (the `cmd`, or the npm package and its `args`), the `bin` names of npm
 * packages, and the agents' documentation, as noted at each preset.
 */
export interface AgentPreset {
  id: string
  name: string
  /** Returns a short sentence for the user. */
  description: () => string
  /** The alternative command lines; the first whose command is found is used. */
  launches: ReadonlyArray<{
    command: string
    args: readonly string[]
    env?: Readonly<Record<string, string>>
  }>
  /** The name of a codicon. */
  icon: string
  /**
   * For an agent that keeps its sign-in in a folder: returns the environment that makes the agent use `folder`, and no sign-in outside of
   * it. This was measured with the agents' own programs. Agents without this member use the system's keychain or have no such variable.
   */
  accountEnvironment?: (folder: string) => Readonly<Record<string, string>>
  /** The agent's current and former ids in the ACP registry. An agent installed from the registry gets this preset's id. */
  registryIds: readonly string[]
}

export const agentPresets: readonly AgentPreset[] = [
  {
    // The package's earlier name is @zed-industries/claude-code-acp.
    id: 'claude',
    name: 'Claude Code',
    description: () => l10n.t("Anthropic's agent, through its ACP adapter"),
    launches: [
      { command: 'claude-agent-acp', args: [] },
      { command: 'claude-code-acp', args: [] },
    ],
    icon: AGENT_ICON,
    // On macOS, the name of the keychain item depends on the folder, so each account has its own sign-in.
    accountEnvironment: folder => ({ CLAUDE_CONFIG_DIR: folder }),
    registryIds: ['claude-acp', 'claude-code-acp'],
  },
  {
    id: 'codex',
    name: 'Codex',
    description: () => l10n.t("OpenAI's agent, through its ACP adapter"),
    launches: [{ command: 'codex-acp', args: [] }],
    icon: AGENT_ICON,
    accountEnvironment: folder => ({ CODEX_HOME: folder }),
    registryIds: ['codex-acp'],
  },
  {
    // Before version 0.33, the option was --experimental-acp.
    id: 'gemini',
    name: 'Gemini CLI',
    description: () => l10n.t("Google's agent"),
    launches: [{ command: 'gemini', args: ['--acp'] }],
    icon: AGENT_ICON,
    // `GEMINI_FORCE_FILE_STORAGE`: otherwise, the API key would be in the keychain, and all accounts would share it.
    accountEnvironment: folder => ({ GEMINI_CLI_HOME: folder, GEMINI_FORCE_FILE_STORAGE: 'true' }),
    registryIds: ['gemini'],
  },
  {
    id: 'copilot',
    name: 'GitHub Copilot CLI',
    description: () => l10n.t("GitHub's agent"),
    launches: [{ command: 'copilot', args: ['--acp'] }],
    icon: 'copilot',
    registryIds: ['github-copilot-cli'],
  },
  {
    id: 'opencode',
    name: 'OpenCode',
    description: () => l10n.t('Open-source agent for many models'),
    launches: [{ command: 'opencode', args: ['acp'] }],
    icon: AGENT_ICON,
    registryIds: ['opencode'],
  },
  {
    id: 'qwen',
    name: 'Qwen Code',
    description: () => l10n.t("Alibaba's agent"),
    launches: [{ command: 'qwen', args: ['--acp'] }],
    icon: AGENT_ICON,
    accountEnvironment: folder => ({ QWEN_HOME: folder }),
    registryIds: ['qwen-code'],
  },
  {
    id: 'cursor',
    name: 'Cursor',
    description: () => l10n.t("Cursor's command-line agent"),
    launches: [{ command: 'cursor-agent', args: ['acp'] }],
    icon: AGENT_ICON,
    registryIds: ['cursor'],
  },
  {
    id: 'goose',
    name: 'Goose',
    description: () => l10n.t('Open-source agent for many models'),
    launches: [{ command: 'goose', args: ['acp'] }],
    icon: AGENT_ICON,
    registryIds: ['goose'],
  },
  {
    id: 'kimi',
    name: 'Kimi CLI',
    description: () => l10n.t("Moonshot AI's agent"),
    launches: [{ command: 'kimi', args: ['acp'] }],
    icon: AGENT_ICON,
    registryIds: ['kimi'],
  },
  {
    id: 'auggie',
    name: 'Auggie',
    description: () => l10n.t("Augment Code's agent"),
    launches: [{ command: 'auggie', args: ['--acp'], env: { AUGMENT_DISABLE_AUTO_UPDATE: '1' } }],
    icon: AGENT_ICON,
    registryIds: ['auggie'],
  },
  {
    // The agent's documentation has the same command.
    id: 'grok',
    name: 'Grok',
    description: () => l10n.t("xAI's agent"),
    launches: [{ command: 'grok', args: ['agent', 'stdio'] }],
    icon: AGENT_ICON,
    accountEnvironment: folder => ({ GROK_HOME: folder }),
    registryIds: ['grok-build'],
  },
  {
    id: 'kilo',
    name: 'Kilo',
    description: () => l10n.t('Open-source agent for many models'),
    launches: [{ command: 'kilo', args: ['acp'] }],
    icon: AGENT_ICON,
    registryIds: ['kilo'],
  },
  {
    id: 'junie',
    name: 'Junie',
    description: () => l10n.t("JetBrains' agent"),
    launches: [{ command: 'junie', args: ['--acp=true'] }],
    icon: AGENT_ICON,
    registryIds: ['junie', 'junie-acp'],
  },
  {
    id: 'vibe',
    name: 'Mistral Vibe',
    description: () => l10n.t("Mistral AI's agent"),
    launches: [{ command: 'vibe-acp', args: [] }],
    icon: AGENT_ICON,
    registryIds: ['mistral-vibe'],
  },
  {
    id: 'cline',
    name: 'Cline',
    description: () => l10n.t('Open-source agent for many models'),
    launches: [{ command: 'cline', args: ['--acp'] }],
    icon: AGENT_ICON,
    registryIds: ['cline'],
  },
  {
    id: 'droid',
    name: 'Factory Droid',
    description: () => l10n.t("Factory's agent"),
    launches: [
      {
        command: 'droid',
        args: ['exec', '--output-format', 'acp-daemon'],
        env: { DROID_DISABLE_AUTO_UPDATE: 'true', FACTORY_DROID_AUTO_UPDATE_ENABLED: 'false' },
      },
    ],
    icon: AGENT_ICON,
    registryIds: ['factory-droid'],
  },
]

/**
 * Returns the id that a registry agent has in Parley. An agent with a preset gets the preset's id, so that it keeps its sessions and keys.
 */
export function agentIdOf(registryId: string, presets: readonly AgentPreset[] = agentPresets): string {
  return presets.find(preset => preset.registryIds.includes(registryId))?.id ?? registryId
}

/**
 * Returns the bundled demo agent, with which users try Parley without an account. It runs on the Node that the editor includes.
 *
 * @param script absolute path of the bundled program
 * @param execPath a Node executable, or Electron running as Node
 */
export function demoAgent(script: string, execPath: string = process.execPath): AgentDefinition {
  return {
    id: 'demo',
    name: l10n.t('Demo Agent'),
    description: l10n.t('Shows what an agent can do. No account required.'),
    command: execPath,
    args: [script],
    // With this variable, Electron runs the script as Node instead of opening a window. Plain Node ignores the variable.
    env: { ELECTRON_RUN_AS_NODE: '1' },
    icon: 'beaker',
    source: 'demo',
  }
}
