import { homedir } from 'node:os'
import * as l10n from '@vscode/l10n'
import type { ConnectOptions } from '../../acp/agent.ts'
import type { AgentCapabilities } from '../../acp/model.ts'
import { redactText } from '../../acp/redact-text.ts'
import { AgentCatalog, type LastUsedAgent, type Trust } from '../../agents/agent-catalog.ts'
import { demoAgent } from '../../agents/presets.ts'
import { ProjectEnvironments } from '../../agents/project-environment/project-environments.ts'
import { InstallManager } from '../../agents/registry/install-manager.ts'
import { configuredLaunch, launchFingerprint } from '../../agents/resolve-launch.ts'
import type { SettingsSource } from '../../agents/setting-layers.ts'
import { WorkspaceConsent } from '../../agents/workspace-consent.ts'
import { withTimeout } from '../../common/async.ts'
import type { DisposableStore } from '../../common/disposable.ts'
import { SEARCH_PROJECT_MS } from '../../common/limits.ts'
import { type Logger, loggerTo } from '../../common/logger.ts'
import { plainMessage } from '../../common/plain-message.ts'
import { visible } from '../../common/visible.ts'
import type { ProtectedFiles } from '../../editor/protected-files.ts'
import { PermissionRules } from '../../sessions/permission-rules/permission-rules.ts'
import { ProviderConfigs } from '../../sessions/sign-in/provider-configs.ts'
import { type AskVariable, SignInValues } from '../../sessions/sign-in/sign-in-values.ts'
import { sentence } from '../cards/card-content.ts'
import { CheckedSecrets } from '../checked-secrets.ts'
import { CommandId } from '../ids.ts'
import { createMcpServices } from '../mcp/mcp-services.ts'
import type { Platform } from '../platform.ts'
import type { ProcessScope } from '../process-scope.ts'
import { ruleConsent } from '../rule-settings.ts'
import { onDidChangeIn } from '../window-settings.ts'
import { type Dialogs, settingOf, type Workbench } from '../workbench.ts'
import { AgentDefaults } from './agent-defaults.ts'
import { agentDirectory } from './agent-directory.ts'
import { AgentEnvironments } from './agent-environments.ts'
import { installConfirmation } from './install-confirmation.ts'
import { launchConsent } from './launch-consent.ts'
import { MiB } from './machine-agents.ts'

interface AgentServicesOptions {
  platform: Platform
  process: ProcessScope
  settings: SettingsSource
  trust: Trust
  /** Files that no permission rule lets an agent change. */
  protectedFiles: ProtectedFiles
  own: DisposableStore
}

export type AgentServices = ReturnType<typeof createAgentServices>

/** Creates the agent services of a window, from the machine's agents and MCP servers and the workspace's settings, trust and folders. */
export function createAgentServices(options: AgentServicesOptions) {
  const { platform, process, settings, trust, protectedFiles, own } = options
  const { workbench, storage, log, secrets } = platform
  const { environment, guard, icons, installed, records } = process
  const { dialogs } = workbench
  const trusted = () => trust.trusted
  const secretStore = new CheckedSecrets(platform.secretStore, storage.global, dialogs, log)
  /** The environments that the projects of folders add to the login shell's environment. */
  const projects = own.add(
    new ProjectEnvironments({
      base: () => environment.get(),
      isOn: () => trusted() && settingOf(workbench, 'projectEnvironment'),
      python: platform.selectedPython,
      ...{ guard, log },
    }),
  )
  const environments = own.add(new AgentEnvironments(projects))
  const onDidChangeNetwork = onDidChangeIn(workbench, state => state.network)
  const confirmation = installConfirmation(dialogs)
  const installs = own.add(new InstallManager({ ...process, onDidChangeNetwork, confirmation, trusted }))
  const searched = () => workbench.folders[0]?.path ?? homedir()
  const catalog = own.add(
    new AgentCatalog({
      ...{ installed, icons, settings, trust, log },
      environment: {
        current: () => environment.current(),
        get: async () =>
          (await withTimeout(projects.environmentFor(searched()), SEARCH_PROJECT_MS)) ??
          (await environment.get()),
        refresh: () => environment.refresh(),
      },
      lastUsed: lastUsedAgent(storage),
      demo: demoAgent(platform.fileInExtension('dist', 'demo-agent.js')),
    }),
  )
  own.add(
    projects.onDidChange(folder => {
      // if the environment may differ, a search would run programs of the project that may have changed
      if (folder === searched() && catalog.isSearched && !projects.mayDiffer(folder))
        void catalog.searchAgain()
    }),
  )
  const nameOf = (agentId: string) => catalog.get(agentId)?.name ?? records.agent(agentId)?.name ?? agentId
  const launchOf = (agentId: string) => {
    const definition = catalog.get(agentId)
    return definition && launchFingerprint(definition)
  }
  const signInValues = new SignInValues(secretStore, launchOf, askVariable(dialogs, nameOf), secrets)
  const consent = launchConsent(new WorkspaceConsent(storage.workspace), dialogs)
  const mcpServices = createMcpServices({
    ...{ ...process, platform, own, secretStore, settings, trusted },
    environmentIn: folder => projects.environmentFor(folder ?? searched()),
    allow: consent.mcpServers,
  })
  const { inputs, mcp } = mcpServices
  const rulesConsent = ruleConsent(dialogs, platform.ruleSettings, storage.workspace)
  const accountOf = (agentId: string) => catalog.get(agentId)?.account?.of
  const rules = own.add(
    new PermissionRules({ settings, trusted, log, consent: rulesConsent, protectedFiles, accountOf }),
  )
  return {
    ...mcpServices,
    ...{ consent, environments, installs, nameOf, projects, rules, signInValues },
    ruleConsent: rulesConsent,
    providers: new ProviderConfigs(secretStore, launchOf, secrets),
    /** The agents of the catalog, with how they start. */
    definitions: () => catalog.agents,
    agents: agentDirectory({
      ...{ catalog, consent, environment, environments, installed, mcp, rules },
      folders: () => workbench.folders,
      remote: { inputs, secrets, network: () => workbench.network },
      logFor: agentId => agentLogger(platform, agentId, nameOf(agentId)),
      signInEnvironment: agentId => signInValues.environment(agentId),
    }),
    /** Whether the search for agents has found what the user's terminal would find. */
    isSearchSure: () => catalog.isSearchSure,
    /** Returns a fingerprint of the agent's configured launch. An update of the agent also changes the fingerprint. */
    configuredStart: (agentId: string) => {
      const definition = catalog.get(agentId)
      return definition && launchFingerprint(configuredLaunch(definition))
    },
    /** The protocol version in the agent's settings, if any. */
    protocolOf: (agentId: string) => catalog.get(agentId)?.protocol,
    /** Resolves to additional instructions for the agent: the workspace's if the user allows them, else the user's. */
    systemPromptOf: (agentId: string, can: AgentCapabilities) =>
      consent.systemPrompt(nameOf(agentId), catalog.systemPrompts(agentId), can),
    /** Resolves to the initial options of the agent's new sessions: the workspace's if the user allows them, else the user's. */
    defaultOptionsOf: (agentId: string) =>
      consent.defaultOptions({ agentId, agentName: nameOf(agentId), ...catalog.defaultOptions(agentId) }),
    agentDefaults: new AgentDefaults({
      ...{ catalog, dialogs, consent },
      source: settings,
      settings: workbench.settings,
    }),
  }
}

/** Returns the log of an agent, which redacts secrets. */
export function agentLogger(
  { logs, secrets }: Pick<Platform, 'logs' | 'secrets'>,
  agentId: string,
  name: string,
): Logger {
  return loggerTo((level, message) => logs.write(agentId, name, level, redactText(secrets.redact(message))))
}

/** Stores the agent used last: reads the last one of this workspace, or else the last one of all workspaces. */
function lastUsedAgent({ workspace, global }: Platform['storage']): LastUsedAgent {
  const key = 'lastUsedAgent'
  return {
    get: () => workspace.get<string>(key) ?? global.get<string>(key),
    set(id) {
      workspace.set(key, id)
      global.set(key, id)
    },
  }
}

/** Returns the options of all connections: Parley's client info, the limits of the settings, and the logs. */
export function connectOptions(
  { version, workbench, logs, secrets }: Platform,
  { guard, recorder }: Pick<ProcessScope, 'guard' | 'recorder'>,
  { nameOf, protocolOf }: Pick<AgentServices, 'nameOf' | 'protocolOf'>,
  startProcess: (agentId: string) => ConnectOptions['startProcess'],
): (agentId: string) => Omit<ConnectOptions, 'signal'> {
  return agentId => {
    const name = nameOf(agentId)
    const log = agentLogger({ logs, secrets }, agentId, name)
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

/** Returns a function that shows, once, that agents run in this window because the agent host isn't available. */
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
      // the user has read the warning, so a failure to store that is ignored
    }
  }
}

/** Returns a function that warns, once for each agent, that the agent may have to wait until the disk can be written. */
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

/** Shows that agents run in a host of another version of Parley. */
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
