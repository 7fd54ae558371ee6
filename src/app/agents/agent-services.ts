import { readFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import path from 'node:path'
import * as l10n from '@vscode/l10n'
import type { ConnectOptions } from '../../acp/agent.ts'
import type { AgentCapabilities } from '../../acp/model.ts'
import { AgentHosts } from '../../acp/start-hosted.ts'
import { AgentCatalog, type CatalogAgent } from '../../agents/agent-catalog.ts'
import type { DefaultOptions, SystemPrompt } from '../../agents/definition.ts'
import { withNetworkSettings } from '../../agents/environment.ts'
import { LaunchEnvironmentSource } from '../../agents/launch-environment.ts'
import { demoAgent } from '../../agents/presets.ts'
import { ProjectEnvironments } from '../../agents/project-environment/project-environments.ts'
import { AgentIcons } from '../../agents/registry/agent-icons.ts'
import { InstallManager } from '../../agents/registry/install-manager.ts'
import { InstalledAgents } from '../../agents/registry/installed-agents.ts'
import { RegistryClient } from '../../agents/registry/registry-client.ts'
import { configuredLaunch, launchFingerprint } from '../../agents/resolve-launch.ts'
import { WorkspaceConsent } from '../../agents/workspace-consent.ts'
import { withTimeout } from '../../common/async.ts'
import type { Disposable } from '../../common/disposable.ts'
import { SEARCH_PROJECT_MS } from '../../common/limits.ts'
import { plainMessage } from '../../common/plain-message.ts'
import type { ProcessGuard } from '../../common/processes/process-guard.ts'
import { OFFICIAL_REGISTRY, type ProtocolChoice } from '../../common/settings.ts'
import { visible } from '../../common/visible.ts'
import type { ProtectedFiles } from '../../editor/protected-files.ts'
import type { Windows } from '../../history/windows.ts'
import { PermissionRules, type RuleConsent } from '../../sessions/permission-rules/permission-rules.ts'
import type { AgentDirectory } from '../../sessions/ports.ts'
import { ProviderConfigs } from '../../sessions/sign-in/provider-configs.ts'
import { type AskVariable, SignInValues } from '../../sessions/sign-in/sign-in-values.ts'
import { sentence } from '../cards/card-content.ts'
import { CheckedSecrets } from '../checked-secrets.ts'
import { CommandId } from '../ids.ts'
import type { ProtocolRecorder } from '../inspector/protocol-recorder.ts'
import { createMcpServices, type McpServices } from '../mcp/mcp-services.ts'
import type { Platform, ProcessPlatform } from '../platform.ts'
import { ruleConsent } from '../rule-settings.ts'
import { type Dialogs, settingOf, type Workbench } from '../workbench.ts'
import { AgentDefaults } from './agent-defaults.ts'
import { agentDirectory } from './agent-directory.ts'
import { AgentEnvironments } from './agent-environments.ts'
import { installConfirmation } from './install-confirmation.ts'
import { type LaunchConsent, launchConsent } from './launch-consent.ts'

interface AgentServicesOptions {
  platform: Platform
  guard: ProcessGuard
  windows: Windows
  /** The name that an agent had when it was used last. */
  lastName: (agentId: string) => string | undefined
  /** Files that no permission rule lets an agent change. */
  protectedFiles: ProtectedFiles
  own: { add<T extends Disposable>(item: T): T }
}

export interface AgentServices extends McpServices {
  installed: InstalledAgents
  installs: InstallManager
  /** The agents of the catalog, with how they start. */
  definitions: () => readonly CatalogAgent[]
  agents: AgentDirectory
  rules: PermissionRules
  ruleConsent: RuleConsent
  consent: LaunchConsent
  signInValues: SignInValues
  providers: ProviderConfigs
  nameOf: (agentId: string) => string
  /** Whether the search for agents has found what the user's terminal would find. */
  isSearchSure: () => boolean
  /** Identifies the agent's configured start, which an update of the agent also changes. */
  configuredStart: (agentId: string) => string | undefined
  /** The protocol version in the agent's settings, if any. */
  protocolOf: (agentId: string) => ProtocolChoice | undefined
  /** Additional instructions for the agent: the user's, or the workspace's if the user allows them. */
  systemPromptOf: (agentId: string, can: AgentCapabilities) => Promise<SystemPrompt | undefined>
  /** The initial options of the agent's new sessions: the user's, or the workspace's if the user allows them. */
  defaultOptionsOf: (agentId: string) => Promise<DefaultOptions>
  agentDefaults: AgentDefaults
  environments: AgentEnvironments
  /** The environments that the projects of folders add to that of the login shell. */
  projects: ProjectEnvironments
}

/** `undefined` if the user turned the registry off. */
function registryUrl(workbench: Workbench): string | undefined {
  const url = settingOf(workbench, 'agentRegistry').trim()
  return url === '' ? undefined : url
}

/** VS Code's own `fetch` obeys its proxy settings and the system's certificates, but not `http.proxyStrictSSL`. */
function fetchAsSet(network: Platform['network']): typeof fetch {
  return async (input, init) => {
    const address = String(input)
    if (network().strictSSL !== false || !address.startsWith('https:')) return fetch(input, init)
    const { lenientFetch } = await import('../../agents/registry/lenient-fetch.ts')
    return lenientFetch(address, init)
  }
}

/** Provides the agents of the settings and the machine, with the MCP servers for their sessions. */
export function createAgentServices(options: AgentServicesOptions): AgentServices {
  const { platform, protectedFiles, windows, own } = options
  const { workbench, storage, log, logs, secrets, settings, trust, network } = platform
  const { dialogs } = workbench
  const secretStore = new CheckedSecrets(platform.secretStore, storage.global, dialogs, log)
  const registryAddress = () => registryUrl(workbench)
  const fetch = fetchAsSet(network)
  const environment = own.add(new LaunchEnvironmentSource({ log }))
  const projects = own.add(
    new ProjectEnvironments({
      base: () => environment.get(),
      isOn: () => trust.trusted && settingOf(workbench, 'projectEnvironment'),
      python: platform.selectedPython,
      guard: options.guard,
      log,
    }),
  )
  const environments = own.add(new AgentEnvironments(projects))
  const installed = own.add(new InstalledAgents(path.join(storage.globalFolder, 'agents'), windows, log))
  const registry = new RegistryClient({
    url: registryAddress,
    directory: storage.globalFolder,
    bundled: async () => {
      if (registryAddress() !== OFFICIAL_REGISTRY) return '{"agents":[]}'
      return readFile(platform.fileInExtension('media', 'registry.json'), 'utf8')
    },
    fetch,
    log,
  })
  const icons = own.add(
    new AgentIcons({
      directory: storage.globalFolder,
      bundledFile: platform.fileInExtension('dist', 'agent-icons.json'),
      registryUrl: registryAddress,
      fetch,
      log,
    }),
  )
  const installs = own.add(
    new InstallManager({
      registry,
      onDidChangeNetwork: platform.onDidChangeNetwork,
      installed,
      icons,
      installer: async () => {
        const { AgentInstaller } = await import('../../agents/registry/agent-installer.ts')
        return new AgentInstaller({
          environment: async ({ fresh } = { fresh: false }) => {
            if (fresh) environment.refresh()
            const { env, platform } = await environment.get()
            return { env: withNetworkSettings(env, network()), platform }
          },
          guard: options.guard,
          ...{ installed, log },
          fetch,
        })
      },
      confirmation: installConfirmation(dialogs),
      trusted: () => trust.trusted,
      log,
    }),
  )
  const searched = () => workbench.folders[0]?.path ?? homedir()
  const catalog = own.add(
    new AgentCatalog({
      installed,
      icons,
      settings,
      environment: {
        current: () => environment.current(),
        get: async () =>
          (await withTimeout(projects.in(searched()), SEARCH_PROJECT_MS)) ?? (await environment.get()),
        refresh: () => environment.refresh(),
      },
      trust,
      lastUsed: platform.lastUsedAgent,
      demo: demoAgent(platform.fileInExtension('dist', 'demo-agent.js')),
      log,
    }),
  )
  own.add(
    projects.onDidChange(folder => {
      // the search would run what only may have changed
      if (folder === searched() && catalog.isSearched && !projects.mayDiffer(folder))
        void catalog.searchAgain()
    }),
  )
  const nameOf = (agentId: string) => catalog.get(agentId)?.name ?? options.lastName(agentId) ?? agentId
  const launchOf = (agentId: string) => {
    const definition = catalog.get(agentId)
    return definition && launchFingerprint(definition)
  }
  const providers = new ProviderConfigs(secretStore, launchOf, secrets)
  const signInValues = new SignInValues(secretStore, launchOf, askVariable(dialogs, nameOf), secrets)
  const launches = launchConsent(new WorkspaceConsent(storage.workspace), dialogs)
  const mcpServices = createMcpServices({
    ...{ platform, own, environment, secretStore, fetch },
    environmentIn: folder => projects.in(folder ?? searched()),
    allow: launches.mcpServers,
    guard: options.guard,
  })
  const consent = ruleConsent(dialogs, platform.ruleSettings, storage.workspace)
  const rules = own.add(
    new PermissionRules({
      settings,
      trusted: () => trust.trusted,
      log,
      consent,
      protectedFiles,
      accountOf: agentId => catalog.get(agentId)?.account?.of,
    }),
  )
  const agents = agentDirectory({
    folders: () => workbench.folders,
    consent: launches,
    catalog,
    installed,
    mcp: mcpServices.mcp,
    rules,
    environment,
    environments,
    remote: { inputs: mcpServices.inputs, secrets, network },
    logFor: agentId => logs.logger(agentId, nameOf(agentId)),
    signInEnvironment: agentId => signInValues.environment(agentId),
  })
  const protocolOf = (agentId: string) => catalog.get(agentId)?.protocol
  const systemPromptOf = (agentId: string, can: AgentCapabilities) =>
    launches.systemPrompt(nameOf(agentId), catalog.systemPrompts(agentId), can)
  const defaultOptionsOf = (agentId: string) =>
    launches.defaultOptions({ agentId, agentName: nameOf(agentId), ...catalog.defaultOptions(agentId) })
  return {
    installed,
    installs,
    definitions: () => catalog.agents,
    agents,
    ...mcpServices,
    rules,
    ruleConsent: consent,
    consent: launches,
    signInValues,
    providers,
    nameOf,
    isSearchSure: () => catalog.isSearchSure,
    configuredStart: agentId => {
      const definition = catalog.get(agentId)
      return definition && launchFingerprint(configuredLaunch(definition))
    },
    protocolOf,
    systemPromptOf,
    defaultOptionsOf,
    agentDefaults: new AgentDefaults({
      ...{ catalog, dialogs, consent: launches },
      source: settings,
      settings: workbench.settings,
    }),
    projects,
    environments,
  }
}

const MiB = 1024 * 1024

/** The options of all connections: Parley's client info, the limits of the settings, the logs. */
export function connectOptions(
  { version, workbench, logs, secrets }: Platform,
  recorder: ProtocolRecorder,
  guard: ConnectOptions['guard'],
  { nameOf, protocolOf }: Pick<AgentServices, 'nameOf' | 'protocolOf'>,
  startProcess: (agentId: string) => ConnectOptions['startProcess'],
): (agentId: string) => Omit<ConnectOptions, 'signal'> {
  return agentId => {
    const name = nameOf(agentId)
    const log = logs.logger(agentId, name)
    return {
      clientInfo: { name: 'parley', title: 'Parley', version },
      initializeTimeoutMs: settingOf(workbench, 'initializeTimeout') * 1000,
      maxFrameBytes: settingOf(workbench, 'maximumFrameSize') * MiB,
      log,
      onStderr: line => log.info(line),
      tap: recorder.tapFor(agentId, name),
      guard,
      startProcess: startProcess(agentId),
      secrets,
      protocol: protocolOf(agentId) ?? settingOf(workbench, 'protocol'),
      features: { terminalAuth: true },
    }
  }
}

/** The programs that run agents beside the windows of this user. */
export function agentHosts({ storage, setting, fileInExtension }: ProcessPlatform): AgentHosts {
  return new AgentHosts({
    folder: path.join(storage.globalFolder, 'hosts'),
    script: fileInExtension('dist', 'agent-host.mjs'),
    guardScript: fileInExtension('dist', 'process-guard.cjs'),
    maxFrameBytes: () => setting('maximumFrameSize') * MiB,
  })
}

/** Says once that agents run in this window, since there is no host. */
export function noticeWithoutHost({ dialogs, settings }: Pick<Workbench, 'dialogs' | 'settings'>) {
  let isReported = false
  return async (agentName: string, reason: string) => {
    if (isReported) return
    isReported = true
    const open = l10n.t('Open Settings')
    const text = l10n.t(
      "{0} stops when this window closes or reloads, because Parley can't run it in a separate process. {1}",
      visible(agentName),
      sentence(reason),
    )
    try {
      if ((await dialogs.warn(plainMessage(text), open)) === open) await settings.open('keepAgentsRunning')
    } catch {
      // the user has read the warning
    }
  }
}

/** Says once of each agent that it may have to wait until the disk can be written. */
export function noticeOfUnsaved({ dialogs }: Pick<Workbench, 'dialogs'>) {
  const names = new Set<string>()
  return (agentName: string) => {
    if (names.has(agentName)) return
    names.add(agentName)
    const text = l10n.t(
      '{0} has sent more than Parley can keep without writing it to disk. Make sure that the disk can be written: until then, {0} may have to wait.',
      visible(agentName),
    )
    void dialogs.warn(plainMessage(text))
  }
}

/** Says that agents run in a host of another version of Parley. */
export async function noticeOfOtherHost({
  dialogs,
  execute,
}: Pick<Workbench, 'dialogs' | 'execute'>): Promise<void> {
  const show = l10n.t('Show Background Sessions')
  const text = l10n.t(
    "Agents that were started by another version of Parley are still running. This window can't connect to them. They stop after their turns.",
  )
  if ((await dialogs.info(text, show)) === show) await execute(CommandId.showBackgroundSessions)
}

/** Asks for a variable's value with an input box, which hides secrets. */
function askVariable(dialogs: Dialogs, nameOf: (agentId: string) => string): AskVariable {
  return (agentId, method, variable, signal) => {
    const label = variable.label ? `${variable.label} (${variable.name})` : variable.name
    return dialogs.input({
      title: l10n.t('Sign in to {0}: {1}', nameOf(agentId), method.name),
      prompt: variable.optional
        ? l10n.t("{0}, optional. Stored in VS Code's secret storage.", label)
        : l10n.t("{0}. Stored in VS Code's secret storage.", label),
      password: variable.secret,
      ignoreFocusOut: true,
      signal,
      validate: value => {
        if (value.includes('\0')) return l10n.t('Invalid environment variable value.')
        return value.trim() === '' && !variable.optional ? l10n.t('A value is required.') : undefined
      },
    })
  }
}
