import * as z from 'zod'
import { EDITOR_TOOL_NAMES } from './editor-tool-names.ts'

/**
 * Where VS Code allows a setting. `machine-overridable`: each machine has its own user settings, so a remote window uses only the value on
 * the remote machine. `window`: the user's value applies on all machines. `application`: only the value in the local user settings applies.
 */
export type ConfigurationScope = 'application' | 'window' | 'machine-overridable'

interface Setting<T> {
  schema: z.ZodType<T>
  default: T
  scope: ConfigurationScope
}

const setting = <T>(schema: z.ZodType<T>, scope: ConfigurationScope, otherwise: NoInfer<T>): Setting<T> => ({
  schema,
  scope,
  default: otherwise,
})

/** Checks only the outer shape: code that uses such a setting validates its value in each scope. */
const layered = z.record(z.string(), z.unknown())

/** `stable`: the released version. `latest`: the draft of the next version, or the released one for agents that don't support the draft. */
export const protocolChoices = ['stable', 'latest'] as const
export type ProtocolChoice = (typeof protocolChoices)[number]

/** Whether agents continue without their window; `untilDone`: until their turn ends. */
export const keepAgentsRunningChoices = ['off', 'whileReloading', 'untilDone'] as const
export type KeepAgentsRunning = (typeof keepAgentsRunningChoices)[number]

/** The default of `parley.agentRegistry`; `media/registry.json` is a copy of this registry. */
export const OFFICIAL_REGISTRY = 'https://cdn.agentclientprotocol.com/registry/v1/latest/registry.json'

/** All settings, by name without the prefix `parley.`. Their descriptions for the Settings editor are in `contributions/settings.ts`. */
export const SETTINGS = {
  agents: setting(layered, 'machine-overridable', {}),
  defaultAgent: setting(z.string(), 'window', ''),
  /** Whether new sessions start with the options that the user chose last. */
  useLastOptions: setting(z.boolean(), 'application', false),
  /** Whether agents get the environment from direnv, mise and the selected Python environment. */
  projectEnvironment: setting(z.boolean(), 'application', true),
  agentRegistry: setting(z.string(), 'application', OFFICIAL_REGISTRY),
  mcpServers: setting(layered, 'machine-overridable', {}),
  mcpDiscovery: setting(z.record(z.string(), z.boolean()), 'application', {
    vscodeFolder: true,
    vscodeWorkspace: true,
    vscodeUser: true,
    mcpJson: true,
  }),
  /** The tools of the editor's own MCP server that agents get; empty: none. */
  editorTools: setting(z.array(z.string()), 'window', [...EDITOR_TOOL_NAMES]),
  /** Whether VS Code's own chat also gets the editor tools. */
  editorToolsInChat: setting(z.boolean(), 'application', false),
  /** Whether agents that run in terminals can use the editor. */
  'terminalAgents.claude': setting(z.boolean(), 'application', false),
  'terminalAgents.gemini': setting(z.boolean(), 'application', false),
  /** Whether *Accept Everything* is offered for a session. */
  acceptEverything: setting(z.boolean(), 'application', true),
  /** How much a session may use before the user is asked. The lowest value of all scopes applies. */
  sessionLimit: setting(layered, 'window', {}),
  permissionRules: setting(z.array(z.unknown()), 'machine-overridable', []),
  workingDirectory: setting(z.enum(['ask', 'activeEditor', 'first']), 'window', 'activeEditor'),
  /** The folder of worktrees: absolute, with `~` or relative to the repository; empty: beside the repository. */
  'worktrees.folder': setting(z.string(), 'window', ''),
  /** A command that prepares a new worktree; empty: none. */
  'worktrees.setupCommand': setting(z.string(), 'machine-overridable', ''),
  addActiveContext: setting(z.boolean(), 'window', false),
  lineComments: setting(z.boolean(), 'window', false),
  codeActions: setting(z.boolean(), 'window', true),
  sendCodeActions: setting(z.boolean(), 'window', false),
  /** The key that sends a prompt; the other key inserts a line break. */
  sendKey: setting(z.enum(['enter', 'ctrlEnter']), 'window', 'enter'),
  diffLayout: setting(z.enum(['sideBySide', 'unified']), 'window', 'sideBySide'),
  sounds: setting(z.boolean(), 'window', false),
  'changes.codeLens': setting(z.boolean(), 'window', true),
  /** Whether Source Control lists agents' changes, and other lists mark their files. */
  'changes.sourceControl': setting(z.boolean(), 'window', false),
  agentLineHighlights: setting(z.boolean(), 'window', true),
  keepAgentsRunning: setting(z.enum(keepAgentsRunningChoices), 'application', 'untilDone'),
  protocol: setting(z.enum(protocolChoices), 'window', 'stable'),
  /** seconds */
  initializeTimeout: setting(z.number().min(1).max(600), 'window', 30),
  /** megabytes of 1024 × 1024 bytes */
  maximumFrameSize: setting(z.number().min(1).max(512), 'window', 64),
  systemPrompt: setting(z.string(), 'window', ''),
  /** days; 0: no limit */
  'history.maximumAge': setting(z.number().min(0), 'application', 0),
  /** megabytes of 1,000,000 bytes; 0: no limit */
  'history.maximumSize': setting(z.number().min(0), 'application', 1000),
  /** days; 0: no limit */
  'checkpoints.maximumAge': setting(z.number().min(0), 'application', 30),
  /** megabytes of 1,000,000 bytes; 0: no limit */
  'checkpoints.maximumSize': setting(z.number().min(0), 'application', 100),
} satisfies Record<string, Setting<unknown>>

export type SettingName = keyof typeof SETTINGS
export type SettingValue<N extends SettingName> = (typeof SETTINGS)[N]['default']

export const SETTING_NAMES = Object.keys(SETTINGS) as SettingName[]

export function isSettingName(name: unknown): name is SettingName {
  return typeof name === 'string' && Object.hasOwn(SETTINGS, name)
}

/** Returns the value if it's valid; otherwise the default. */
export function readSettingValue<N extends SettingName>(name: N, value: unknown): SettingValue<N> {
  const { schema, default: otherwise } = SETTINGS[name]
  const parsed = schema.safeParse(value)
  return (parsed.success ? parsed.data : otherwise) as SettingValue<N>
}
