import { readFile } from 'node:fs/promises'
import { homedir, hostname } from 'node:os'
import path from 'node:path'
import * as l10n from '@vscode/l10n'
import * as vscode from 'vscode'
import type { ConnectOptions } from '../../acp/agent.ts'
import { AgentCatalog, type CatalogAgent } from '../../agents/agent-catalog.ts'
import { chooseSystemPrompt, type SystemPrompt } from '../../agents/definition.ts'
import { withNetworkSettings } from '../../agents/environment.ts'
import { LaunchEnvironmentSource } from '../../agents/launch-environment.ts'
import { missingLocalSettings } from '../../agents/local-settings.ts'
import { demoAgent } from '../../agents/presets.ts'
import { AgentIcons } from '../../agents/registry/agent-icons.ts'
import { InstallManager } from '../../agents/registry/install-manager.ts'
import { InstalledAgents } from '../../agents/registry/installed-agents.ts'
import { RegistryClient } from '../../agents/registry/registry-client.ts'
import { launchFingerprint } from '../../agents/resolve-launch.ts'
import { agentDirectory } from '../../app/agents/agent-directory.ts'
import { installConfirmation } from '../../app/agents/install-confirmation.ts'
import type { WindowStorage } from '../../app/storage/stores.ts'
import type { Disposable } from '../../common/disposable.ts'
import type { Logger } from '../../common/logger.ts'
import { plainMessage } from '../../common/plain-message.ts'
import type { ProcessGuard } from '../../common/processes/process-guard.ts'
import type { SecretRegistry } from '../../common/secrets.ts'
import { OFFICIAL_REGISTRY, type ProtocolChoice } from '../../common/settings.ts'
import type { ProtectedFiles } from '../../editor/protected-files.ts'
import { McpInputs } from '../../mcp/inputs.ts'
import { McpServers } from '../../mcp/mcp-servers.ts'
import { ProviderConfigs } from '../../sessions/hosts/provider-configs.ts'
import { PermissionRules, type RuleConsent } from '../../sessions/permission-rules/permission-rules.ts'
import type { AgentDirectory } from '../../sessions/ports.ts'
import { type AskVariable, SignInValues } from '../../sessions/sign-in/sign-in-values.ts'
import { dialogs } from '../dialogs.ts'
import { vscodeInputPrompter, workspaceIdentity } from '../mcp-inputs.ts'
import { ruleConsent } from '../rule-settings.ts'
import {
  inspectSetting,
  lastUsedAgent,
  localFolders,
  networkSettings,
  openSetting,
  readSetting,
  VsCodeSettings,
  workspaceTrust,
} from '../settings.ts'
import type { AgentLogs, ProtocolTraffic } from './agent-logs.ts'

interface AgentServicesOptions {
  context: vscode.ExtensionContext
  storage: WindowStorage
  /** the bundled demo agent's program */
  demoScript: string
  log: Logger
  logs: AgentLogs
  /** Receives every resolved secret, to redact it. */
  secrets: SecretRegistry
  /** Called when something is installed. */
  guard: () => ProcessGuard
  /** Files that no permission rule lets an agent change. */
  protectedFiles: ProtectedFiles
  own: { add<T extends Disposable>(item: T): T }
}

interface AgentServices {
  installed: InstalledAgents
  installs: InstallManager
  /** The agents of the catalog, with how they start. */
  definitions: () => readonly CatalogAgent[]
  agents: AgentDirectory
  mcp: McpServers
  rules: PermissionRules
  ruleConsent: RuleConsent
  inputs: McpInputs
  signInValues: SignInValues
  providers: ProviderConfigs
  nameOf: (agentId: string) => string
  /** The protocol version in the agent's settings, if any. */
  protocolOf: (agentId: string) => ProtocolChoice | undefined
  /** The user's additional instructions for the agent. */
  systemPromptOf: (agentId: string) => SystemPrompt | undefined
  /** The environment of the agents' commands: that of the last start. */
  commandEnvironment: () => Record<string, string>
}

/** `undefined` if the user turned the registry off. */
function registryUrl(): string | undefined {
  const url = readSetting('agentRegistry').trim()
  return url === '' ? undefined : url
}

/** VS Code's own `fetch` obeys its proxy settings and the system's certificates, but not `http.proxyStrictSSL`. */
const fetchAsSet: typeof fetch = async (input, init) => {
  const address = String(input)
  if (networkSettings().strictSSL !== false || !address.startsWith('https:')) return fetch(input, init)
  const { lenientFetch } = await import('../../agents/registry/lenient-fetch.ts')
  return lenientFetch(address, init)
}

/** Provides the agents and MCP servers of the settings and the machine. */
export function createAgentServices(options: AgentServicesOptions): AgentServices {
  const { context, storage, demoScript, log, logs, secrets, protectedFiles, own } = options
  const settings = own.add(new VsCodeSettings())
  own.add(noticeLocalSettings(storage, settings))
  const environment = own.add(new LaunchEnvironmentSource({ log }))
  const installed = own.add(new InstalledAgents(path.join(storage.globalFolder, 'agents'), log))
  const registry = new RegistryClient({
    url: registryUrl,
    directory: storage.globalFolder,
    bundled: async () => {
      if (registryUrl() !== OFFICIAL_REGISTRY) return '{"agents":[]}'
      return readFile(vscode.Uri.joinPath(context.extensionUri, 'media', 'registry.json').fsPath, 'utf8')
    },
    fetch: fetchAsSet,
    log,
  })
  const icons = own.add(new AgentIcons({ directory: storage.globalFolder, fetch: fetchAsSet, log }))
  const installs = own.add(
    new InstallManager({
      registry,
      installed,
      icons,
      installer: async () => {
        const { AgentInstaller } = await import('../../agents/registry/agent-installer.ts')
        return new AgentInstaller({
          environment: async ({ fresh } = { fresh: false }) => {
            if (fresh) environment.refresh()
            const { env, platform } = await environment.get()
            return { env: withNetworkSettings(env, networkSettings()), platform }
          },
          guard: options.guard(),
          ...{ installed, log },
          fetch: fetchAsSet,
        })
      },
      confirmation: installConfirmation(dialogs),
      trusted: () => workspaceTrust.trusted,
      log,
    }),
  )
  const catalog = own.add(
    new AgentCatalog({
      installed,
      icons,
      settings,
      environment,
      trust: workspaceTrust,
      lastUsed: lastUsedAgent(context),
      demo: demoAgent(demoScript),
      log,
    }),
  )
  const inputs = new McpInputs(vscodeInputPrompter, context.secrets, workspaceIdentity(), secrets)
  const launchOf = (agentId: string) => {
    const definition = catalog.get(agentId)
    return definition && launchFingerprint(definition)
  }
  const providers = new ProviderConfigs(context.secrets, launchOf, secrets)
  const signInValues = new SignInValues(
    context.secrets,
    launchOf,
    askVariable(agentId => nameOf(agentId)),
    secrets,
  )
  const mcp = own.add(
    new McpServers({ settings, environment, inputs, folders: localFolders, userHome: homedir(), log }),
  )
  const consent = ruleConsent(storage.workspace)
  const rules = own.add(
    new PermissionRules({
      settings,
      trusted: () => workspaceTrust.trusted,
      log,
      consent,
      protectedFiles,
    }),
  )
  const nameOf = (agentId: string) => catalog.get(agentId)?.name ?? agentId
  let commandEnvironment = environment.current().env
  const agents = agentDirectory({
    folders: localFolders,
    catalog,
    mcp,
    rules,
    environment,
    logFor: agentId => logs.logger(agentId, nameOf(agentId)),
    signInEnvironment: agentId => signInValues.environment(agentId),
    onEnvironment: env => {
      commandEnvironment = env
    },
  })
  const protocolOf = (agentId: string) => catalog.get(agentId)?.protocol
  const systemPromptOf = (agentId: string) =>
    chooseSystemPrompt(catalog.get(agentId)?.systemPrompt, readSetting('systemPrompt'))
  return {
    installed,
    installs,
    definitions: () => catalog.agents,
    agents,
    mcp,
    rules,
    ruleConsent: consent,
    inputs,
    signInValues,
    providers,
    nameOf,
    protocolOf,
    systemPromptOf,
    commandEnvironment: () => commandEnvironment,
  }
}

const MiB = 1024 * 1024

/** The options of all connections: Parley's client info, the limits of the settings, the logs. */
export function connectOptions(
  context: vscode.ExtensionContext,
  parts: {
    logs: AgentLogs
    traffic: ProtocolTraffic
    guard: ConnectOptions['guard']
    secrets: SecretRegistry
    nameOf: (agentId: string) => string
    /** The agent's own setting, if any. */
    protocolOf: (agentId: string) => ProtocolChoice | undefined
  },
): (agentId: string) => Omit<ConnectOptions, 'signal'> {
  const { version } = context.extension.packageJSON as { version: string }
  return agentId => {
    const name = parts.nameOf(agentId)
    const log = parts.logs.logger(agentId, name)
    return {
      clientInfo: { name: 'parley', title: 'Parley', version },
      initializeTimeoutMs: readSetting('initializeTimeout') * 1000,
      maxFrameBytes: readSetting('maximumFrameSize') * MiB,
      log,
      onStderr: line => log.info(line),
      tap: parts.traffic.tapFor(agentId, name),
      guard: parts.guard,
      secrets: parts.secrets,
      protocol: parts.protocolOf(agentId) ?? readSetting('protocol'),
      features: { terminalAuth: true },
    }
  }
}

/** Asks for a variable's value with an input box, which hides secrets. */
function askVariable(nameOf: (agentId: string) => string): AskVariable {
  return async (agentId, method, variable, signal) => {
    const source = new vscode.CancellationTokenSource()
    const cancel = () => source.cancel()
    signal.addEventListener('abort', cancel, { once: true })
    if (signal.aborted) cancel()
    const label = variable.label ? `${variable.label} (${variable.name})` : variable.name
    try {
      return await vscode.window.showInputBox(
        {
          title: l10n.t('Sign in to {0}: {1}', nameOf(agentId), method.name),
          prompt: variable.optional
            ? l10n.t("{0}, optional. Stored in VS Code's secret storage.", label)
            : l10n.t("{0}. Stored in VS Code's secret storage.", label),
          password: variable.secret,
          ignoreFocusOut: true,
          validateInput: value => {
            if (value.includes('\0')) return l10n.t('Invalid environment variable value.')
            return value.trim() === '' && !variable.optional ? l10n.t('A value is required.') : undefined
          },
        },
        source.token,
      )
    } finally {
      signal.removeEventListener('abort', cancel)
      source.dispose()
    }
  }
}

/** On a remote machine, reports once which of the user's local settings don't apply there. */
function noticeLocalSettings({ global }: WindowStorage, settings: VsCodeSettings): Disposable {
  const look = () => {
    const { remoteName } = vscode.env
    const missing = missingLocalSettings({
      state: global,
      remote: remoteName ? `${remoteName} ${hostname()}` : undefined,
      userValue: name => inspectSetting(name)?.globalValue,
    })
    if (missing.length > 0) void tell(missing)
  }
  look()
  return settings.onDidChange(look)
}

async function tell(missing: readonly string[]): Promise<void> {
  const open = l10n.t('Open Remote Settings')
  const text = l10n.t(
    "These local settings don't apply in this remote window: {0}. Agents, MCP servers and permission rules are set on each machine.",
    missing.join(', '),
  )
  const answer = await vscode.window.showInformationMessage(plainMessage(text), open)
  if (answer === open) await openSetting('agents')
}
